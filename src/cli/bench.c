/* cli/bench.c: `chorus bench`: how fast each backend trains each model here, beside what the arithmetic
 * allows. Nothing but images per second: no run is kept, the images are made up. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cpu/peak.h"
#include "engine/plan.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "bench [KEY=VALUE...] [--seconds N] [--json]",
    "Measures images per second of each backend, model, mode and precision on this machine.",
    "backend, model, mode and precision take lists, which choose the rows: model=lenet,cnn\n"
    "backend=cpu. Any other key holds for all rows: batch=128 threads=1 devices=4 members=8.\n"
    "Ensembles have 4 members unless told otherwise. The naive backend ref trains smaller batches\n"
    "and 2 members, and resnet18 smaller batches too, unless told otherwise.\n"
    "\n"
    "img/s counts what all members see, in training alone. The limit is what the processor could\n"
    "do if it multiplied and added without a pause: its measured fp32 peak, from registers, by the\n"
    "model's work per image (`chorus models`). Methods that multiply less, and bf16, can pass it.\n"};

#define ROW_SECONDS  1.5
#define LISTS        4 /* keys that choose rows */
#define LIST_ROOM    16
#define SPANS        64   /* at most that a row's median is taken of */
#define NAIVE_FLOPS  1e9  /* a second, about, of ref: from it follows its batch */
#define FAST_FLOPS   3e11 /* and of the others: only resnet18 gets less than the usual batch */
#define OVERTIME     4    /* a step that takes longer than so many rows' times is given up */
#define MODEL_COLUMN 9

static const char *const list_keys[LISTS] = {"backend", "model", "mode", "precision"};

struct bench {
    double seconds; /* a row */
    bool json;
    char *list[LISTS]; /* what the command line says, cut at its commas; NULL: the usual ones */
    char *word[LISTS][LIST_ROOM];
    int words[LISTS];
    char **keys; /* (key_count) KEY=VALUE for all rows */
    int key_count;
    struct text out;
    double peak[2]; /* of one thread and of `threads` */
    int threads, rows;
    bool broken; /* stdout took no more */
    struct err last;
    /* The watch sets stop at the deadline and when the user wants to leave. */
    atomic_bool stop, over, done;
    _Atomic uint64_t deadline; /* of clock_ns; 0: none */
};

struct row {
    const struct plan *plan;
    int64_t batch;
    double rate; /* images a second; 0: not one step within its time */
    int64_t steps;
    double seconds;
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

static bool leaving(const struct bench *b)
{
    return atomic_load(&b->over) || b->broken;
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
 * there is time for more. */
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
    int rates = 0;
    bool cold = true;
    enum err_code code = ERR_OK;

    set_deadline(b, b->seconds * OVERTIME);
    while (rates < SPANS && !leaving(b)) {
        struct backend_span span = {
            .first_step = step, .count = count, .order = order, .lr = lr, .stop = &b->stop};
        uint64_t from = clock_ns();
        double took;

        code = p->backend->train(s, &span, results, &done, e);
        took = (double)(clock_ns() - from) * 1e-9;
        if (code != ERR_OK || done < count)
            break;
        step += done;
        if (cold && took < b->seconds / 2) {
            cold = false;
        } else {
            rate[rates++] = (double)done * images / took;
            r->steps += (int64_t)done;
            r->seconds += took;
        }
        if ((double)clock_ns() * 1e-9 - begin > b->seconds)
            break;
        took /= (double)done;
        count = took > 0 && b->seconds / 10 / took > 1 ? (size_t)(b->seconds / 10 / took) : 1;
        count = count < per_epoch ? count : per_epoch;
    }
    if (rates) {
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
    if (code == ERR_OK)
        code = time_steps(b, r, s, orders, e);
    atomic_store(&b->deadline, 0);
    p->backend->close(s);
    free(orders);
    free(order);
    return code;
}

static void add_row_json(struct bench *b, const struct row *r, double limit)
{
    const struct plan *p = r->plan;
    bool ensemble = p->spec.mode == SPEC_ENSEMBLE;

    text_addf(&b->out, "%s\n  {\"backend\": ", b->rows ? "," : "");
    text_add_json(&b->out, p->backend->name);
    text_add(&b->out, ", \"isa\": ");
    text_add_json(&b->out, p->backend->isa());
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
    text_add(&b->out, ", \"limit_images_per_second\": ");
    text_add_json_double(&b->out, limit);
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

static void add_row_line(struct bench *b, const struct row *r, double limit)
{
    const struct plan *p = r->plan;
    char mode[32], number[TEXT_NUMBER_ROOM], most[TEXT_NUMBER_ROOM];
    const char *model = p->spec.model;
    int n = (int)strlen(model);
    struct text name = {0};

    if (p->spec.mode == SPEC_ENSEMBLE)
        snprintf(mode, sizeof mode, "ensemble of %d", p->session.members);
    else if (p->session.devices > 1)
        snprintf(mode, sizeof mode, "%d devices", p->session.devices);
    else
        snprintf(mode, sizeof mode, "data-parallel");
    text_add_clean(&name, n > MODEL_COLUMN ? model + n - MODEL_COLUMN : model);
    text_addf(&b->out, "%-7s  %-*s  %-14s  %-4s  %5lld", p->backend->name, MODEL_COLUMN,
              text_str(&name), mode, p->precision_used, (long long)r->batch);
    if (r->steps)
        text_addf(&b->out, "  %10s  %10s  %5.1f %%\n", rate_text(number, r->rate),
                  rate_text(most, limit), 100 * r->rate / limit);
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
        text_addf(&b->out, "\n\n%-7s  %-*s  %-14s  %-4s  %5s  %10s  %10s  %7s\n", "backend",
                  MODEL_COLUMN, "model", "mode", "in", "batch", "img/s", "limit", "reached");
    }
    text_free(&cpu);
}

/* A row must not drive the machine out of memory: at most half of what is free now. */
static enum err_code check_memory(const struct plan *p, struct err *e)
{
    struct backend_estimate wants = {0};
    char bytes[TEXT_NUMBER_ROOM];
    double half = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;

    TRY(p->backend->estimate(&p->session, &wants, e));
    if ((double)wants.bytes[0] > half)
        return err_set(e, ERR_NOMEM,
                       "%s: %s of memory would be wanted, more than half of what is free",
                       p->spec.model, text_bytes(bytes, wants.bytes[0]));
    return ERR_OK;
}

static enum err_code do_row(struct bench *b, const struct plan *p)
{
    struct row r = {.plan = p, .batch = p->spec.batch};
    double limit =
        peak_of(b, !strcmp(p->backend->name, "ref") ? 1 : p->session.threads) / p->net->flops;

    if (check_memory(p, &b->last) != ERR_OK) {
        cli_talk("left out: %s, %s, %d members, batch %lld: %s", p->backend->name,
                 p->precision_used, p->session.members, (long long)r.batch, b->last.text);
        return ERR_OK;
    }
    TRY(measure(b, &r, &b->last));
    if (leaving(b) && !r.steps)
        return ERR_OK;
    if (!b->rows)
        add_head(b);
    if (b->json)
        add_row_json(b, &r, limit);
    else
        add_row_line(b, &r, limit);
    b->rows++;
    if (!b->json)
        flush(b);
    return ERR_OK;
}

static bool was_given(const struct bench *b, const char *key)
{
    size_t n = strlen(key);

    for (int i = 0; i < b->key_count; i++)
        if (!strncmp(b->keys[i], key, n) && b->keys[i][n] == '=')
            return true;
    return false;
}

static enum err_code set(struct spec *s, const char *key, const char *value, struct err *e)
{
    return spec_set(s, key, value, "command line", NULL, e);
}

static enum err_code fill_spec(const struct bench *b, struct spec *s, const char *const word[LISTS],
                               int64_t batch, struct err *e)
{
    bool naive = !strcmp(word[0], "ref"), ensemble = !strcmp(word[2], "ensemble");
    char number[32];

    spec_default(s);
    for (int k = 0; k < LISTS; k++)
        TRY(set(s, list_keys[k], word[k], e));
    TRY(set(s, "data", "synthetic", e));
    for (int i = 0; i < b->key_count; i++) {
        char *equals = strchr(b->keys[i], '=');
        enum err_code code;

        if (!ensemble && !strncmp(b->keys[i], "members=", 8))
            continue;
        *equals = 0;
        code = set(s, b->keys[i], equals + 1, e);
        *equals = '=';
        TRY(code);
    }
    if (ensemble && !was_given(b, "members")) {
        int least = naive ? 2 : 4;

        snprintf(number, sizeof number, "%d", least > s->devices ? least : s->devices);
        TRY(set(s, "members", number, e));
    }
    if (batch) {
        snprintf(number, sizeof number, "%lld", (long long)batch);
        TRY(set(s, "batch", number, e));
    }
    /* Enough images for some steps, no more: making them takes time too. */
    if (!was_given(b, "train_limit")) {
        int64_t images = spec_batch(s) < 4096 ? 8 * spec_batch(s) : spec_batch(s);

        images = images > 8192 && spec_batch(s) < 8192 ? 8192 : images;
        snprintf(number, sizeof number, "%lld", (long long)images);
        TRY(set(s, "train_limit", number, e));
    }
    if (!was_given(b, "test_limit"))
        TRY(set(s, "test_limit", "1", e));
    return ERR_OK;
}

static enum err_code plan_row(const struct bench *b, struct plan **p, const char *const word[LISTS],
                              int64_t batch, bool open_data, struct err *e)
{
    struct spec *s = mem_new(1, sizeof *s);
    enum err_code code = fill_spec(b, s, word, batch, e);

    if (code == ERR_OK)
        code = plan_make(p, s, cli_places(), cli_backends(), open_data, e);
    free(s);
    return code;
}

/* As many images as are done in half a row's time, where the usual batch takes longer; a multiple of
 * the devices. Less than 32 would leave threads without work. */
static int64_t batch_within(const struct bench *b, const struct plan *p, bool naive)
{
    double images =
        b->seconds / 2 * (naive ? NAIVE_FLOPS : FAST_FLOPS) / p->net->flops / p->session.members;
    int64_t batch = p->spec.batch;

    if (naive)
        batch = images < 1 ? 1 : images < (double)batch ? (int64_t)images : batch;
    else
        while (batch > 32 && (double)batch > images)
            batch /= 2;
    return (batch + p->spec.devices - 1) / p->spec.devices * p->spec.devices;
}

/* One combination; one that no backend can do is left out and kept in b->last. */
static enum err_code try_row(struct bench *b, const char *const word[LISTS])
{
    struct plan *p = NULL;
    int64_t batch = 0;
    enum err_code code;

    if (!was_given(b, "batch")) {
        if (plan_row(b, &p, word, 0, false, &b->last) != ERR_OK)
            return ERR_OK;
        batch = batch_within(b, p, !strcmp(word[0], "ref"));
        plan_free(p);
    }
    if (plan_row(b, &p, word, batch, true, &b->last) != ERR_OK)
        return ERR_OK;
    code = do_row(b, p);
    plan_free(p);
    return code;
}

static enum err_code all_rows(struct bench *b)
{
    int at[LISTS];

    for (at[0] = 0; at[0] < b->words[0]; at[0]++)
        for (at[1] = 0; at[1] < b->words[1]; at[1]++)
            for (at[2] = 0; at[2] < b->words[2]; at[2]++)
                for (at[3] = 0; at[3] < b->words[3]; at[3]++) {
                    const char *word[LISTS];

                    if (leaving(b))
                        return ERR_OK;
                    for (int k = 0; k < LISTS; k++)
                        word[k] = b->word[k][at[k]];
                    TRY(try_row(b, word));
                }
    return ERR_OK;
}

static void measure_peak(struct bench *b)
{
    struct plan *p = NULL;
    static const char *const any[LISTS] = {"cpu", "tiny", "data-parallel", "fp32"};

    b->threads = 1;
    if (plan_row(b, &p, any, 0, false, NULL) == ERR_OK)
        b->threads = p->session.threads;
    plan_free(p);
    b->peak[0] = b->peak[1] = cpu_peak_flops(1, 0.2);
    if (b->threads > 1)
        b->peak[1] = cpu_peak_flops(b->threads, 0.3);
}

/* backend=cpu,ref and its like are taken out of the operands and cut. */
static int take_operands(struct bench *b, int argc, char **argv)
{
    static const char *const usual[LISTS] = {"", "lenet,cnn,mlp,resnet18", "data-parallel,ensemble",
                                             "fp32,bf16,fp64"};
    struct text backends = {0}, shown = {0};

    b->keys = argv + 1;
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        int k = 0;

        if (!equals) {
            int code;

            text_add_clean(&shown, argv[i]);
            code = cli_refuse("bench takes KEY=VALUE, not %s", text_str(&shown));
            text_free(&shown);
            return code;
        }
        while (k < LISTS && (strncmp(argv[i], list_keys[k], (size_t)(equals - argv[i])) ||
                             list_keys[k][equals - argv[i]]))
            k++;
        if (k == LISTS) {
            b->keys[b->key_count++] = argv[i];
            continue;
        }
        free(b->list[k]);
        b->list[k] = mem_text(equals + 1);
    }
    for (const struct backend *const *one = cli_backends(); *one; one++)
        if (strcmp((*one)->name, "fake") != 0)
            text_addf(&backends, "%s%s", backends.n ? "," : "", (*one)->name);
    for (int k = 0; k < LISTS; k++) {
        char *rest, *word;

        if (!b->list[k])
            b->list[k] = mem_text(k ? usual[k] : text_str(&backends));
        for (rest = b->list[k]; (word = strsep(&rest, ",")) && b->words[k] < LIST_ROOM;)
            b->word[k][b->words[k]++] = text_trim(word);
        if (word) {
            text_free(&backends);
            return cli_refuse("%s: %d values at most", list_keys[k], LIST_ROOM);
        }
    }
    text_free(&backends);
    return CLI_ON;
}

/* Every word of every list, before the first row: nonsense is refused at once. */
static int check(struct bench *b)
{
    struct spec *s = mem_new(1, sizeof *s);
    struct err e = {0};
    enum err_code code = ERR_OK;

    for (int k = 0; k < LISTS && code == ERR_OK; k++)
        for (int i = 0; i < b->words[k] && code == ERR_OK; i++) {
            const char *word[LISTS] = {"cpu", "tiny", "ensemble", "fp32"};
            struct net *net = NULL;

            word[k] = b->word[k][i];
            code = fill_spec(b, s, word, 0, &e);
            if (code == ERR_OK && k == 0 && !strcmp(word[0], "auto"))
                code = err_set(&e, ERR_INPUT, "backend = auto: bench wants the name of one");
            if (code == ERR_OK && k == 1 &&
                (code = net_open(&net, s->model, &(struct net_wants){.spec = s}, &e)) == ERR_OK)
                net_free(net);
        }
    free(s);
    return code == ERR_OK ? CLI_ON : cli_fail(&e);
}

static int finish(struct bench *b, enum err_code code)
{
    if (code == ERR_OK && !b->rows && !leaving(b))
        code = b->last.code;
    if (code != ERR_OK && !leaving(b)) {
        return cli_fail(&b->last);
    }
    if (b->json && b->rows) {
        text_addf(&b->out, "\n ], \"stopped\": %s}\n", leaving(b) ? "true" : "false");
        flush(b);
    }
    if (cli_terminated || cli_hung_up)
        return err_exit_code(ERR_TERMINATED);
    if (cli_interrupts)
        return err_exit_code(ERR_STOPPED);
    return b->broken ? 1 : 0;
}

static int run_all(struct bench *b)
{
    pthread_t watcher;
    enum err_code code;

    cli_signals_start();
    cli_signals_block();
    if (pthread_create(&watcher, NULL, watch, b)) {
        cli_signals_unblock();
        err_set(&b->last, ERR_FAILED, "cannot start a thread");
        return cli_fail(&b->last);
    }
    measure_peak(b);
    code = all_rows(b);
    atomic_store(&b->done, true);
    pthread_join(watcher, NULL);
    return finish(b, code);
}

int cli_bench(int argc, char **argv)
{
    struct bench *b = mem_new(1, sizeof *b);
    const char *seconds = NULL;
    const struct cli_option options[] = {
        {"--seconds", "N", "a row (1.5); parts of one are fine", &seconds},
        {"--json", NULL, "one object instead of a table", &b->json},
        {NULL, NULL, NULL, NULL}};
    int code = cli_options(&usage, options, &argc, argv);

    b->seconds = ROW_SECONDS;
    if (code == CLI_ON && seconds &&
        !(text_to_double(seconds, &b->seconds) && b->seconds >= 0.01 && b->seconds <= 3600)) {
        struct text shown = {0};

        text_add_clean(&shown, seconds);
        code = cli_refuse("--seconds %s is not a number from 0.01 to 3600", text_str(&shown));
        text_free(&shown);
    }
    if (code == CLI_ON)
        code = take_operands(b, argc, argv);
    if (code == CLI_ON)
        code = check(b);
    if (code == CLI_ON)
        code = run_all(b);
    for (int k = 0; k < LISTS; k++)
        free(b->list[k]);
    text_free(&b->out);
    free(b);
    return code;
}
