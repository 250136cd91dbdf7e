/* spell KEY=VALUE...: opens a session of chorus for an experiment and works as it is told on stdin, a
 * command a line, an answer in JSON a line, so that spells of several programs can be taken in turn:
 *
 *   train N        N steps; seconds of these alone, each step's mean loss, and ns: of all rows of
 *                  results the sums of input, compute, reduce and wait
 *   touch          bytes that the session holds by its estimate, data apart, and the nanoseconds a
 *                  byte of writing as many and reading them again backwards
 *   evaluate       all test images; seconds, the mean loss over images and members
 *   export FOLDER  what others need to do the same work: weights as they are now, images, order
 *   peak N         fp32 operations a second of 1 ... N threads
 *
 * Every answer carries the age of the process in seconds and the peak of its resident memory. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cpu/peak.h"
#include "engine/plan.h"
#include "record/file/safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench {
    struct plan *plan;
    struct backend_session *session;
    uint32_t *order; /* of epoch 1, which is gone through again and again */
    const uint32_t **orders;
    uint64_t step;
    size_t held; /* bytes that the session holds, data apart */
};

static int fail(const struct err *e)
{
    fprintf(stderr, "%s\n", e->text);
    return err_exit_code(e->code);
}

/* The process's own start, in seconds since the machine's. */
static double age(void)
{
    unsigned long long start = 0;
    double now = 0;
    FILE *f = fopen("/proc/self/stat", "r");

    if (f && fscanf(f,
                    "%*d (%*[^)]) %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                    "%*s %*s %*s %*s %llu",
                    &start) != 1)
        start = 0;
    if (f)
        fclose(f);
    f = fopen("/proc/uptime", "r");
    if (f && fscanf(f, "%lf", &now) != 1)
        now = 0;
    if (f)
        fclose(f);
    return now - (double)start / (double)sysconf(_SC_CLK_TCK);
}

static long peak_memory(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}

static void answer(struct text *t)
{
    text_addf(t, "%s\"age\": %.3f, \"memory\": %ld}\n", t->n > 1 ? ", " : "", age(), peak_memory());
    fputs(text_str(t), stdout);
    fflush(stdout);
    text_free(t);
}

static enum err_code hold(struct bench *b, struct err *e)
{
    struct backend_plan without = b->plan->session;
    struct backend_estimate estimate = {0};

    without.data = NULL;
    TRY(b->plan->backend->estimate(&without, &estimate, e));
    b->held = estimate.bytes[0];
    return ERR_OK;
}

static enum err_code open_session(struct bench *b, struct err *e)
{
    const struct plan *p = b->plan;
    float *param = mem_new(p->net->parameter_count, sizeof *param);
    float *stat = mem_new(p->net->stat_count + 1, sizeof *stat);

    TRY(p->backend->open(&p->session, &b->session, e));
    TRY(hold(b, e));
    for (int m = 0; m < p->session.members; m++) {
        net_init(p->net, p->spec.init, p->spec.init_std, p->session.model_key[m], param, stat);
        TRY(p->backend->state(b->session, m, BACKEND_PARAMS, true, param, e));
        if (p->net->stat_count)
            TRY(p->backend->state(b->session, m, BACKEND_STATS, true, stat, e));
    }
    free(param);
    free(stat);
    return ERR_OK;
}

static enum err_code make_order(struct bench *b, struct err *e)
{
    const struct plan *p = b->plan;
    size_t n = (size_t)p->train_images;

    b->order = mem_new(n, sizeof *b->order);
    b->orders = mem_new((size_t)p->session.members, sizeof *b->orders);
    for (int m = 0; m < p->session.members; m++)
        b->orders[m] = b->order;
    for (size_t i = 0; i < n; i++)
        b->order[i] = (uint32_t)i;
    if (p->spec.shuffle && !rng_permutation(net_order_key(p->spec.seed, 1), n, b->order))
        return err_set(e, ERR_NOMEM, "no memory to shuffle %zu images", n);
    return ERR_OK;
}

static enum err_code train(struct bench *b, size_t count, struct text *out, struct err *e)
{
    const struct plan *p = b->plan;
    size_t units = (size_t)backend_units(&p->session), done = 0;
    size_t epoch = (size_t)p->steps_per_epoch;
    double images = (double)p->session.batch *
                    (p->session.mode == SPEC_ENSEMBLE ? (double)p->session.members : 1);
    struct backend_step *row = mem_new(count * units, sizeof *row);
    double *lr = mem_new(count, sizeof *lr);
    atomic_bool stop = false;
    uint64_t ns = 0, part[4] = {0};

    for (size_t i = 0; i < count; i++)
        lr[i] = p->base_lr;
    for (size_t i = 0; i < count; i += done) {
        size_t from = (size_t)(b->step % epoch), left = epoch - from;
        struct backend_span span = {.first_step = b->step,
                                    .count = count - i < left ? count - i : left,
                                    .first_batch = from,
                                    .order = b->orders,
                                    .lr = lr,
                                    .order_key = net_order_key(p->spec.seed, 1),
                                    .stop = &stop};
        uint64_t begin = clock_ns();

        TRY(p->backend->train(b->session, &span, row + i * units, &done, e));
        ns += clock_ns() - begin;
        if (!done)
            return err_set(e, ERR_FAILED, "no step was made");
        b->step += done;
    }
    text_addf(out, "\"seconds\": %.9f, \"losses\": [", (double)ns * 1e-9);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;

        for (size_t u = 0; u < units; u++) {
            const struct backend_step *r = &row[i * units + u];
            const uint64_t ns_of[4] = {r->input_ns, r->compute_ns, r->reduce_ns, r->wait_ns};

            sum += r->loss_sum;
            for (int k = 0; k < 4; k++)
                part[k] += ns_of[k];
        }
        text_add(out, i ? ", " : "");
        text_add_json_double(out, sum / images);
    }
    text_addf(out, "], \"ns\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "], \"held\": %zu",
              part[0], part[1], part[2], part[3], b->held);
    free(row);
    free(lr);
    return ERR_OK;
}

static enum err_code evaluate(struct bench *b, struct text *out, struct err *e)
{
    const struct plan *p = b->plan;
    const struct data_part *test = &p->data->test;
    size_t classes = (size_t)p->net->classes, rows = (size_t)p->session.members * test->count;
    float *logits = mem_new(rows * classes, sizeof *logits);
    uint64_t begin = clock_ns();
    double loss = 0;

    TRY(p->backend->evaluate(b->session, test, 0, test->count, NULL, logits, e));
    text_addf(out, "\"seconds\": %.9f", (double)(clock_ns() - begin) * 1e-9);
    for (size_t i = 0; i < rows; i++) {
        const float *l = logits + i * classes;
        double most = l[0], sum = 0;

        for (size_t c = 1; c < classes; c++)
            most = l[c] > most ? l[c] : most;
        for (size_t c = 0; c < classes; c++)
            sum += exp(l[c] - most);
        loss += log(sum) + most - l[test->labels[i % test->count]];
    }
    text_addf(out, ", \"images\": %zu, \"loss\": ", test->count);
    text_add_json_double(out, loss / (double)rows);
    free(logits);
    return ERR_OK;
}

static enum err_code write_file(const char *folder, const char *name, const void *bytes, size_t n,
                                struct err *e)
{
    char *path = mem_textf("%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(bytes, 1, n, f) == n;

    if ((f && fclose(f)) || !good)
        return err_errno(e, "cannot write %s", path);
    free(path);
    return ERR_OK;
}

static enum err_code export_part(const struct data_set *set, const struct data_part *part,
                                 const char *folder, const char *name, struct err *e)
{
    size_t each = (size_t)set->shape.h * (size_t)set->shape.w * (size_t)set->shape.c;
    char *file = mem_textf("%s.images", name), *labels = mem_textf("%s.labels", name);

    TRY(write_file(folder, file, part->bytes, part->count * each, e));
    TRY(write_file(folder, labels, part->labels, part->count * sizeof *part->labels, e));
    free(file);
    free(labels);
    return ERR_OK;
}

/* weights.safetensors: members are the first axis. The images are bytes (n, h, w, c), table.f32 is
 * what a byte means (c, 256), labels are u16, order.u32 is epoch 1's. */
static enum err_code export_all(struct bench *b, const char *folder, struct err *e)
{
    const struct plan *p = b->plan;
    size_t members = (size_t)p->session.members, n = (size_t)p->net->params;
    struct safetensors_tensor *tensor = mem_new(n, sizeof *tensor);
    float *param = mem_new(p->net->parameter_count, sizeof *param);
    float *all = mem_new(members * p->net->parameter_count, sizeof *all);
    char *path = mem_textf("%s/weights.safetensors", folder);

    if (!p->data->lut)
        return err_set(e, ERR_INPUT, "only data of bytes can be exported");
    for (size_t m = 0; m < members; m++) {
        TRY(p->backend->state(b->session, (int)m, BACKEND_PARAMS, false, param, e));
        for (size_t i = 0; i < n; i++) {
            const struct net_tensor *t = &p->net->param[i];
            memcpy(all + members * t->offset + m * t->count, param + t->offset,
                   t->count * sizeof *all);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct net_tensor *t = &p->net->param[i];
        struct safetensors_tensor *to = &tensor[i];

        snprintf(to->name, sizeof to->name, "%s", t->name);
        to->type = SAFETENSORS_F32;
        to->dims = t->dims + 1;
        to->shape[0] = members;
        memcpy(to->shape + 1, t->shape, (size_t)t->dims * sizeof *t->shape);
        to->bytes = all + members * t->offset;
    }
    TRY(safetensors_write(path, tensor, n, NULL, 0, e));
    TRY(write_file(folder, "model.net", p->net->text, strlen(p->net->text), e));
    TRY(write_file(folder, "order.u32", b->order, (size_t)p->train_images * sizeof *b->order, e));
    TRY(write_file(folder, "table.f32", p->data->lut,
                   256 * (size_t)p->data->shape.c * sizeof *p->data->lut, e));
    TRY(export_part(p->data, &p->data->train, folder, "train", e));
    TRY(export_part(p->data, &p->data->test, folder, "test", e));
    free(tensor);
    free(param);
    free(all);
    free(path);
    return ERR_OK;
}

static void peaks(int threads, struct text *out)
{
    text_addf(out, "\"isa\": \"%s\", \"flops\": [", cpu_peak_isa());
    for (int t = 1; t <= threads; t++)
        text_addf(out, "%s%.6g", t > 1 ? ", " : "", cpu_peak_flops(t, 0.3));
    text_add(out, "]");
}

/* Activations are written layer by layer and read the other way round: so are these lines. */
typedef uint64_t line_of_8 __attribute__((vector_size(64)));

struct toucher {
    line_of_8 *line;
    size_t lines, passes;
    uint64_t ns, sum;
};

static void *touch_lines(void *argument)
{
    struct toucher *t = argument;
    uint64_t begin = clock_ns();

    for (t->passes = 0; t->passes < 3 || clock_ns() - begin < 30000000; t->passes++) {
        if (t->passes == 1)
            begin = clock_ns(); /* the first was to warm up */
        line_of_8 sum = {0};
        for (size_t i = 0; i < t->lines; i++)
            t->line[i] = sum + i;
        __asm__ volatile("" ::: "memory");
        for (size_t i = t->lines; i-- > 0;)
            sum ^= t->line[i];
        t->sum += sum[0];
    }
    t->passes--;
    t->ns = clock_ns() - begin;
    return NULL;
}

/* By as many threads as the session has, each its share, at the same time. */
static enum err_code touch(const struct bench *b, struct text *out, struct err *e)
{
    size_t threads = (size_t)b->plan->session.threads;
    size_t lines = b->held / sizeof(line_of_8) / threads + 1, bytes = lines * sizeof(line_of_8);
    struct toucher *all = mem_new(threads, sizeof *all);
    pthread_t *id = mem_new(threads, sizeof *id);
    double ns = 0;

    for (size_t i = 0; i < threads; i++) {
        all[i] = (struct toucher){.line = mem_try(lines, sizeof(line_of_8)), .lines = lines};
        if (!all[i].line)
            return err_set(e, ERR_NOMEM, "no memory for %zu bytes to go through", bytes);
    }
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&id[i], NULL, touch_lines, &all[i]))
            return err_set(e, ERR_FAILED, "cannot start %zu threads", threads);
    for (size_t i = 0; i < threads; i++) {
        pthread_join(id[i], NULL);
        double own = (double)all[i].ns / (double)all[i].passes / (double)(bytes * threads);
        ns = own > ns ? own : ns;
        free(all[i].line);
    }
    text_addf(out, "\"held\": %zu, \"ns_a_byte\": %.6g", b->held, ns);
    free(all);
    free(id);
    return ERR_OK;
}

static enum err_code obey(struct bench *b, char *line, struct text *out, struct err *e)
{
    char *rest = line + strcspn(line, " ");
    int64_t n = 0;

    if (*rest)
        *rest++ = 0;
    if (!strcmp(line, "evaluate"))
        return evaluate(b, out, e);
    if (!strcmp(line, "touch"))
        return touch(b, out, e);
    if (!strcmp(line, "export"))
        return export_all(b, rest, e);
    if (!text_to_int(rest, &n) || n < 1 || n > 1000000)
        return err_set(e, ERR_INPUT, "%s %s is no command of spell", line, rest);
    if (!strcmp(line, "train"))
        return train(b, (size_t)n, out, e);
    if (!strcmp(line, "peak")) {
        peaks((int)n, out);
        return ERR_OK;
    }
    return err_set(e, ERR_INPUT, "%s is no command of spell", line);
}

static enum err_code start(struct bench *b, int argc, char **argv, struct err *e)
{
    static const struct backend *const backends[] = {&cpu_backend, &ref_backend, NULL};
    struct data_places places = {.given = getenv("CHORUS_DATA")};
    struct spec *spec = mem_new(1, sizeof *spec);
    struct text out = {0};

    spec_default(spec);
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        if (!equals)
            return err_set(e, ERR_INPUT, "%s is not KEY=VALUE", argv[i]);
        *equals = 0;
        TRY(spec_set(spec, argv[i], equals + 1, "command line", NULL, e));
    }
    TRY(plan_make(&b->plan, spec, &places, backends, true, e));
    free(spec);
    if (backend_element(&b->plan->session) != sizeof(float))
        return err_set(e, ERR_INPUT, "fp64 is not timed here");
    TRY(make_order(b, e));
    TRY(open_session(b, e));
    text_addf(&out, "{\"flops\": %.1f, \"isa\": \"%s\", \"precision\": \"%s\", \"threads\": %d",
              b->plan->net->flops, plan_isa(b->plan), b->plan->precision_used,
              b->plan->session.threads);
    answer(&out);
    return ERR_OK;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct err e = {0};
    char line[4096];

    if (start(&b, argc, argv, &e) != ERR_OK)
        return fail(&e);
    while (fgets(line, sizeof line, stdin)) {
        struct text out = {0};

        line[strcspn(line, "\n")] = 0;
        text_add(&out, "{");
        if (obey(&b, line, &out, &e) != ERR_OK)
            return fail(&e);
        answer(&out);
    }
    b.plan->backend->close(b.session);
    return 0;
}
