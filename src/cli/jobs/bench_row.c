/* cli/jobs/bench_row.c: one row of `chorus bench`: steps are timed in spans for as long as the row may take,
 * and the median of their rates is shown beside what the arithmetic allows. */
#include "cli/jobs/bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/thread.h"
#include "cli/args/cpu.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/args/signals.h"
#include "cpu/peak.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPANS        64 /* at most that a row's median is taken of */
#define OVERTIME     4  /* a step that takes longer than so many rows' times is given up */
#define MODEL_COLUMN 9

struct row {
    const struct plan *plan;
    int64_t batch;
    double rate; /* images a second; 0: not one step within its time */
    int64_t steps;
    double seconds;
    bool not_finite;   /* a loss was: no figure */
    struct text plans; /* of a library, by which the backend computes */
};

/* Signals reach this thread alone. */
static void *watch(void *user)
{
    struct bench *b = user;

    cli_signals_unblock();
    while (!atomic_load(&b->done)) {
        struct pollfd fd = {.fd = cli_wake, .events = POLLIN};

        poll(&fd, 1, 20);
        uint64_t deadline = atomic_load(&b->deadline);
        if (cli_interrupts || cli_terminated || cli_hung_up) {
            atomic_store(&b->over, true);
            atomic_store(&b->stop, true);
            return NULL;
        }
        if (deadline && clock_ns() > deadline)
            atomic_store(&b->stop, true);
    }
    return NULL;
}

bool bench_leaving(const struct bench *b)
{
    return atomic_load(&b->over) || b->broken;
}

enum err_code bench_begin(struct bench *b, struct err *e)
{
    if (getloadavg(&b->load, 1) != 1)
        b->load = 0;
    cli_signals_start();
    cli_signals_block();
    if (thread_start(&b->watch, watch, b)) {
        cli_signals_unblock();
        return err_set(e, ERR_FAILED, "cannot start a thread");
    }
    return ERR_OK;
}

void bench_end(struct bench *b)
{
    atomic_store(&b->done, true);
    pthread_join(b->watch, NULL);
}

static void set_deadline(struct bench *b, double seconds)
{
    atomic_store(&b->deadline, clock_ns() + (uint64_t)(seconds * 1e9));
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static enum err_code set_weights(const struct plan *p, struct backend_session *s, struct err *e)
{
    size_t n = p->net->parameter_count, stats = p->net->stat_count;
    float *param = mem_new(n + 1, sizeof *param), *stat = mem_new(stats + 1, sizeof *stat);
    size_t size = backend_element(&p->session);
    double *wide = mem_new(n + stats + 1, sizeof *wide);
    enum err_code code = ERR_OK;

    for (int m = 0; m < p->session.members && code == ERR_OK; m++) {
        net_init(p->net, p->spec.init, p->spec.init_std, p->session.model_key[m], param, stat);
        for (size_t i = 0; i < n + stats; i++)
            wide[i] = i < n ? (double)param[i] : (double)stat[i - n];
        code = p->backend->state(s, m, BACKEND_PARAMS, true,
                                 size == sizeof(double) ? (void *)wide : (void *)param, e);
        if (code == ERR_OK && stats)
            code = p->backend->state(s, m, BACKEND_STATS, true,
                                     size == sizeof(double) ? (void *)(wide + n) : (void *)stat, e);
    }
    free(param);
    free(stat);
    free(wide);
    return code;
}

/* Spans of a tenth of the row's time, and the median of their rates. The first span warms up, where
 * there is time for more; one that the deadline cut short counts where there is no other. */
static enum err_code time_steps(struct bench *b, struct row *r, struct backend_session *s,
                                const uint32_t *const *order, struct err *e)
{
    const struct plan *p = r->plan;
    size_t per_epoch = (size_t)p->steps_per_epoch, count = 1, done = 0;
    size_t units = (size_t)backend_units(&p->session);
    double images = (double)r->batch * (p->spec.mode == SPEC_ENSEMBLE ? p->session.members : 1);
    struct backend_step *results = mem_new(per_epoch * units, sizeof *results);
    double *lr = mem_new(per_epoch, sizeof *lr), rate[SPANS], begin = (double)clock_ns() * 1e-9;
    uint64_t step = 0;
    int rates = 0; /* the newest SPANS are kept */
    bool cold = true;
    enum err_code code = ERR_OK;

    set_deadline(b, b->seconds * OVERTIME);
    while (!bench_leaving(b)) {
        struct backend_span span = {
            .first_step = step, .count = count, .order = order, .lr = lr, .stop = &b->stop};
        uint64_t from = clock_ns();
        double took;

        code = p->backend->train(s, &span, results, &done, e);
        took = (double)(clock_ns() - from) * 1e-9;
        for (size_t i = 0; code == ERR_OK && i < done * units; i++)
            r->not_finite = r->not_finite || results[i].not_finite;
        if (code != ERR_OK || r->not_finite)
            break;
        bool cut = done < count;
        step += done;
        if (cold && !cut && took < b->seconds / 2) {
            cold = false;
        } else if (done && (!cut || (!rates && !bench_leaving(b)))) {
            rate[rates++ % SPANS] = (double)done * images / took;
            r->steps += (int64_t)done;
            r->seconds += took;
        }
        if (cut)
            break;
        if ((double)clock_ns() * 1e-9 - begin > b->seconds)
            break;
        took /= (double)done;
        count = took > 0 && b->seconds / 10 / took > 1 ? (size_t)(b->seconds / 10 / took) : 1;
        count = count < per_epoch ? count : per_epoch;
    }
    if (r->not_finite)
        r->steps = 0;
    else if (rates) {
        rates = rates < SPANS ? rates : SPANS;
        qsort(rate, (size_t)rates, sizeof *rate, by_size);
        r->rate = rates % 2 ? rate[rates / 2] : (rate[rates / 2] + rate[rates / 2 - 1]) / 2;
    }
    free(results);
    free(lr);
    return code;
}

static enum err_code measure(struct bench *b, struct row *r, struct err *e)
{
    const struct plan *p = r->plan;
    struct backend_session *s = NULL;
    uint32_t *order = mem_new((size_t)p->train_images, sizeof *order);
    const uint32_t **orders = mem_new((size_t)p->session.members, sizeof *orders);
    enum err_code code;

    for (int64_t i = 0; i < p->train_images; i++)
        order[i] = (uint32_t)i;
    for (int m = 0; m < p->session.members; m++)
        orders[m] = order;
    atomic_store(&b->stop, atomic_load(&b->over));
    code = p->backend->open(&p->session, &s, e);
    if (code == ERR_OK)
        code = set_weights(p, s, e);
    if (code == ERR_OK && p->backend->plans)
        p->backend->plans(s, &r->plans);
    if (code == ERR_OK)
        code = time_steps(b, r, s, orders, e);
    atomic_store(&b->deadline, 0);
    p->backend->close(s);
    free(orders);
    free(order);
    return code;
}

static void add_row_json(struct bench *b, const struct row *r, double peak)
{
    const struct plan *p = r->plan;
    bool ensemble = p->spec.mode == SPEC_ENSEMBLE;

    text_addf(&b->out, "%s\n  {\"backend\": ", b->rows ? "," : "");
    text_add_json(&b->out, p->backend->name);
    text_add(&b->out, ", \"isa\": ");
    text_add_json(&b->out, plan_isa(p));
    text_add(&b->out, ", \"model\": ");
    text_add_json(&b->out, p->spec.model);
    text_addf(&b->out, ", \"mode\": \"%s\", \"precision\": \"%s\"",
              ensemble ? "ensemble" : "data-parallel", p->precision_used);
    text_addf(
        &b->out,
        ", \"batch\": %lld, \"devices\": %d, \"members\": %d, \"threads\": %d, \"steps\": %lld",
        (long long)r->batch, p->session.devices, p->session.members, p->session.threads,
        (long long)r->steps);
    text_add(&b->out, ", \"train_seconds\": ");
    text_add_json_double(&b->out, r->seconds);
    text_add(&b->out, ", \"flops_per_image\": ");
    text_add_json_double(&b->out, p->net->flops);
    text_add(&b->out, ", \"images_per_second\": ");
    if (r->steps)
        text_add_json_double(&b->out, r->rate);
    else
        text_add(&b->out, "null");
    text_addf(&b->out, ", \"finite\": %s", r->not_finite ? "false" : "true");
    text_add(&b->out, ", \"peak_images_per_second\": ");
    text_add_json_double(&b->out, peak);
    if (r->plans.n) {
        text_add(&b->out, ", \"plans\": ");
        text_add_json(&b->out, text_str(&r->plans));
    }
    text_add(&b->out, "}");
}

/* "8,123", "812.3", "8.12": three digits at least */
static const char *rate_text(char out[TEXT_NUMBER_ROOM], double rate)
{
    if (rate >= 1000)
        return text_count(out, (uint64_t)(rate + 0.5));
    snprintf(out, TEXT_NUMBER_ROOM, rate >= 100 ? "%.0f" : rate >= 10 ? "%.1f" : "%.2f", rate);
    return out;
}

static void add_row_line(struct bench *b, const struct row *r, double peak)
{
    const struct plan *p = r->plan;
    char mode[32], number[TEXT_NUMBER_ROOM], most[TEXT_NUMBER_ROOM];
    struct text name = {0};

    if (p->spec.mode == SPEC_ENSEMBLE)
        snprintf(mode, sizeof mode, "ensemble of %d", p->session.members);
    else if (p->session.devices > 1)
        snprintf(mode, sizeof mode, "%d devices", p->session.devices);
    else
        snprintf(mode, sizeof mode, "data-parallel");
    text_add_clean(&name, p->spec.model);
    cli_cut(&name, MODEL_COLUMN, true);
    text_addf(&b->out, "%-7s  %s%*s  %-14s  %-4s  %5lld", p->backend->name, text_str(&name),
              MODEL_COLUMN - text_width(text_str(&name)), "", mode, p->precision_used,
              (long long)r->batch);
    if (r->steps && isfinite(peak))
        text_addf(&b->out, "  %10s  %10s  %5.1f %%\n", rate_text(number, r->rate),
                  rate_text(most, peak), 100 * r->rate / peak);
    else if (r->steps)
        text_addf(&b->out, "  %10s\n", rate_text(number, r->rate));
    else if (r->not_finite)
        text_add(&b->out, "  no figure: the loss is not finite\n");
    else
        text_addf(&b->out, "  a step takes more than %.3g s\n", b->seconds * OVERTIME);
    text_free(&name);
}

static void flush(struct bench *b)
{
    if (cli_print(&b->out))
        b->broken = true;
    text_clear(&b->out);
}

/* The fp32 operations of the threads that this session uses. */
static double peak_of(struct bench *b, int threads)
{
    return threads <= 1 ? b->peak[0]
                        : b->peak[1] * (threads < b->threads ? threads : b->threads) / b->threads;
}

static void add_head(struct bench *b)
{
    struct text cpu = {0};

    cli_cpu_name(&cpu);
    if (b->json) {
        text_add(&b->out, "{\"cpu\": ");
        text_add_json(&b->out, text_str(&cpu));
        text_addf(&b->out,
                  ", \"threads\": %d, \"peak_isa\": \"%s\", \"peak_flops_1_thread\": %.6g, "
                  "\"peak_flops\": %.6g,\n \"rows\": [",
                  b->threads, cpu_peak_isa(), b->peak[0], b->peak[1]);
    } else {
        text_addf(&b->out, "%s\nfp32 from registers (%s): %.0f GFLOP/s on 1 thread", text_str(&cpu),
                  cpu_peak_isa(), b->peak[0] / 1e9);
        if (b->threads > 1)
            text_addf(&b->out, ", %.0f on %d", b->peak[1] / 1e9, b->threads);
        if (b->crowding[0])
            text_addf(&b->out, "\n%s", b->crowding);
        text_addf(&b->out, "\n\n%-7s  %-*s  %-14s  %-4s  %5s  %10s  %10s  %7s\n", "backend",
                  MODEL_COLUMN, "model", "mode", "in", "batch", "img/s", "fp32 peak", "of it");
    }
    text_free(&cpu);
}

/* A row must not drive the machine out of memory: at most half of what is free now. */
static enum err_code check_memory(const struct plan *p, struct err *e)
{
    struct backend_estimate wants = {0};
    struct plan_memory machine;
    char bytes[TEXT_NUMBER_ROOM];

    TRY(p->backend->estimate(&p->session, &wants, e));
    if (wants.lacking[0])
        return err_set(e, ERR_NOMEM, "%s: %s", p->spec.model, wants.lacking);
    if (!p->backend->gpus && plan_machine(&machine) && wants.bytes[0] > machine.unused / 2)
        return err_set(e, ERR_NOMEM,
                       "%s: %s of memory would be wanted, more than half of what is free",
                       p->spec.model, text_bytes(bytes, wants.bytes[0]));
    return ERR_OK;
}

static void tell_plans(struct bench *b, const struct row *r)
{
    const struct plan *p = r->plan;

    if (!b->tune || !r->plans.n)
        return;
    cli_talk("%s, %s, batch %lld: %s", p->spec.model, p->precision_used, (long long)r->batch,
             text_str(&r->plans));
    b->tuned = true;
}

static enum err_code show_row(struct bench *b, const struct plan *p, struct row *r)
{
    int threads = !strcmp(p->backend->name, "ref") ? 1 : p->session.threads;
    double peak = p->backend->gpus ? NAN : peak_of(b, threads) / p->net->flops;

    if (check_memory(p, &b->last) != ERR_OK) {
        cli_talk("left out: %s, %s, %d member%s, batch %lld: %s", p->backend->name,
                 p->precision_used, p->session.members, text_s(p->session.members),
                 (long long)r->batch, b->last.text);
        return ERR_OK;
    }
    TRY(measure(b, r, &b->last));
    tell_plans(b, r);
    if (bench_leaving(b) && !r->steps && !r->not_finite)
        return ERR_OK;
    if (!b->rows)
        add_head(b);
    if (b->json)
        add_row_json(b, r, peak);
    else
        add_row_line(b, r, peak);
    b->rows++;
    if (!b->json)
        flush(b);
    return ERR_OK;
}

enum err_code bench_row(struct bench *b, const struct plan *p)
{
    struct row r = {.plan = p, .batch = p->spec.batch};
    enum err_code code = show_row(b, p, &r);

    text_free(&r.plans);
    return code;
}

/* More than an earlier bench leaves behind. */
static bool is_busy(const struct bench *b, long cores)
{
    return cores > 0 && b->load > 1.25 * (double)cores;
}

static void add_busy(struct bench *b)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (is_busy(b, cores))
        text_addf(&b->out,
                  "busy machine (load %.1f on %ld core%s): measure again when nothing else runs\n",
                  b->load, cores, text_s(cores));
}

void bench_finish_rows(struct bench *b)
{
    if (!b->rows)
        return;
    if (!b->json) {
        add_busy(b);
        flush(b);
        return;
    }
    text_addf(&b->out, "\n ], \"stopped\": %s, \"load\": %.2f, \"busy\": %s}\n",
              bench_leaving(b) ? "true" : "false", b->load,
              is_busy(b, sysconf(_SC_NPROCESSORS_ONLN)) ? "true" : "false");
    flush(b);
}
