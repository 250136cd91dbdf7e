/* cli/predict.c: chorus predict RUN: the test images through the trained models. */
#include "cli/cli.h"

#include "base/io.h"
#include "base/mem.h"
#include "engine/metrics.h"
#include "engine/plan.h"
#include "record/checkpoint.h"
#include "record/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "predict RUN [--first N] [--at best, last or N]",
    "Predictions of a run's models for the test images, against their labels.",
    "Prints the first ones and the accuracy over all; writes all of them to the run's folder as\n"
    "predictions.safetensors: images, labels, probabilities (members, images, classes).\n"};

struct predict {
    struct record_entry run;
    struct plan *plan;
    struct safetensors file;
    struct record_weights weights;
    int64_t epoch; /* of the weights; -1: the file does not say */
    float *logits; /* (members, n, classes), later probabilities */
    int members;
    size_t n, classes;
    struct metrics metrics;
    int64_t first;
    const char *at;
    bool json;
};

static enum err_code read_all(struct predict *p, struct err *e)
{
    struct spec *spec = mem_new(1, sizeof *spec);
    char *path = io_path(p->run.folder, "experiment.ini");
    const struct backend_plan *s;
    enum err_code code;

    spec_default(spec);
    code = spec_read(spec, path, e);
    if (code == ERR_OK)
        code = plan_make(&p->plan, spec, cli_places(), cli_backends(), true, e);
    free(path);
    free(spec);
    TRY(code);
    s = &p->plan->session;
    p->members = s->mode == SPEC_ENSEMBLE ? s->members : 1;
    p->n = p->plan->data->test.count;
    p->classes = (size_t)p->plan->net->classes;
    TRY(record_read_at(p->run.folder, p->at, &p->file, e));
    if (!record_unpack_int(&p->file, RECORD_NOTE_EPOCH, &p->epoch))
        p->epoch = -1;
    TRY(record_weights_new(&p->weights, p->plan->net, p->members, s->mode == SPEC_ENSEMBLE,
                           backend_element(s), 0, e));
    return record_unpack_weights(&p->file, p->run.name, p->plan->net, &p->weights, e);
}

static enum err_code evaluate(struct predict *p, struct backend_session *session, struct err *e)
{
    const struct backend *b = p->plan->backend;
    const struct net *net = p->plan->net;

    for (int m = 0; m < p->members; m++) {
        TRY(b->state(session, m, BACKEND_PARAMS, true, record_weights_params(&p->weights, net, m),
                     e));
        if (net->stat_count)
            TRY(b->state(session, m, BACKEND_STATS, true, record_weights_stats(&p->weights, net, m),
                         e));
    }
    return b->evaluate(session, &p->plan->data->test, 0, p->n, NULL, p->logits, e);
}

static enum err_code compute(struct predict *p, struct err *e)
{
    struct backend_session *session = NULL;
    size_t count = (size_t)p->members * p->n;
    enum err_code code;

    if (p->n == 0)
        return err_set(e, ERR_INPUT, "there are no test images");
    p->logits = mem_try(count, p->classes * sizeof *p->logits);
    if (!p->logits)
        return err_set(e, ERR_NOMEM, "no memory for %zu x %zu probabilities", count, p->classes);
    TRY(p->plan->backend->open(&p->plan->session, &session, e));
    code = evaluate(p, session, e);
    p->plan->backend->close(session);
    TRY(code);
    metrics_compute(&p->metrics, p->logits, p->members, p->n, (int)p->classes,
                    p->plan->data->test.labels);
    for (size_t i = 0; i < count; i++) {
        double row[65536 / sizeof(double)];
        float *to = p->logits + i * p->classes;

        if (p->classes > MEM_COUNT(row))
            return err_set(e, ERR_INPUT, "%zu classes are more than the %zu that predict takes",
                           p->classes, MEM_COUNT(row));
        metrics_softmax(to, (int)p->classes, row);
        for (size_t c = 0; c < p->classes; c++)
            to[c] = (float)row[c];
    }
    return ERR_OK;
}

static double probability(const struct predict *p, int member, size_t image, size_t class)
{
    return (double)p->logits[((size_t)member * p->n + image) * p->classes + class];
}

static double mean_probability(const struct predict *p, size_t image, size_t class)
{
    double sum = 0;

    for (int m = 0; m < p->members; m++)
        sum += probability(p, m, image, class);
    return sum / p->members;
}

/* The class with the highest probability, of one member or (-1) of the mean; ties: the lowest. */
static size_t answer(const struct predict *p, int member, size_t image)
{
    size_t best = 0;
    double most = -1;

    for (size_t c = 0; c < p->classes; c++) {
        double q = member < 0 ? mean_probability(p, image, c) : probability(p, member, image, c);

        if (q > most) {
            most = q;
            best = c;
        }
    }
    return best;
}

static void *copy_images(const struct predict *p, enum safetensors_type *type)
{
    const struct data_part *part = &p->plan->data->test;
    const struct net_shape *s = &p->plan->data->shape;
    size_t pixels = (size_t)s->h * (size_t)s->w * (size_t)s->c;
    float *out;

    *type = SAFETENSORS_U8;
    if (part->bytes)
        return NULL;
    *type = SAFETENSORS_F32;
    out = mem_try(part->count, pixels * sizeof *out);
    for (size_t i = 0; out && i < part->count; i++)
        data_image(p->plan->data, part, i, out + i * pixels);
    return out;
}

static enum err_code write_file(const struct predict *p, const char *path, struct err *e)
{
    const struct data_part *part = &p->plan->data->test;
    const struct net_shape *s = &p->plan->data->shape;
    struct safetensors_tensor t[3] = {
        {.name = "images", .dims = 4, .shape = {p->n, (size_t)s->h, (size_t)s->w, (size_t)s->c}},
        {.name = "labels", .type = SAFETENSORS_I64, .dims = 1, .shape = {p->n}},
        {.name = "probabilities",
         .type = SAFETENSORS_F32,
         .dims = 3,
         .shape = {(size_t)p->members, p->n, p->classes},
         .bytes = p->logits},
    };
    char epoch[32];
    struct safetensors_note note = {RECORD_NOTE_EPOCH, epoch};
    int64_t *labels = mem_try(p->n, sizeof *labels);
    void *images = copy_images(p, &t[0].type);
    enum err_code code;

    snprintf(epoch, sizeof epoch, "%lld", (long long)p->epoch);
    t[0].bytes = images ? images : part->bytes;
    t[1].bytes = labels;
    if (!labels || !t[0].bytes) {
        code = err_set(e, ERR_NOMEM, "no memory for a copy of %zu test images", p->n);
    } else {
        for (size_t i = 0; i < p->n; i++)
            labels[i] = part->labels[i];
        code = safetensors_write(path, t, 3, &note, 1, e);
    }
    free(labels);
    free(images);
    return code;
}

static void add_class(const struct predict *p, size_t class, struct text *out)
{
    char **names = p->plan->data->class_names;

    text_addf(out, "%zu", class);
    if (names && names[class])
        text_addf(out, " %s", names[class]);
}

static void add_table(const struct predict *p, struct text *out)
{
    struct cli_table t;
    struct text head = {0};

    text_add(&head, "-image|label|prediction||-probability");
    for (int m = 0; p->members > 1 && m < p->members; m++)
        text_addf(&head, "|member %d", m);
    cli_table_start(&t, text_str(&head));
    for (size_t i = 0; i < p->n && (int64_t)i < p->first; i++) {
        size_t label = p->plan->data->test.labels[i], said = answer(p, -1, i);
        struct text cell = {0};

        cli_table_addf(&t, "%zu", i);
        add_class(p, label, &cell);
        cli_table_add(&t, text_str(&cell));
        text_clear(&cell);
        add_class(p, said, &cell);
        cli_table_add(&t, text_str(&cell));
        cli_table_add(&t, said == label ? "" : "wrong");
        cli_table_addf(&t, "%.4f", mean_probability(p, i, said));
        for (int m = 0; p->members > 1 && m < p->members; m++) {
            size_t own = answer(p, m, i);

            cli_table_addf(&t, "%zu %.4f", own, probability(p, m, i, own));
        }
        text_free(&cell);
    }
    cli_table_text(&t, out);
    cli_table_free(&t);
    text_free(&head);
}

static void add_accuracy(const struct predict *p, struct text *out)
{
    char number[TEXT_NUMBER_ROOM];

    text_add(out, "accuracy ");
    cli_add_fraction(out, p->metrics.acc);
    text_add(out, ", loss ");
    cli_add_fraction(out, p->metrics.loss);
    text_addf(out, " over %s test image%s", text_count(number, p->n), p->n == 1 ? "" : "s");
    if (p->epoch >= 0)
        text_addf(out, ", weights of epoch %lld", (long long)p->epoch);
    if (p->members > 1) {
        text_addf(out, "; %d members ", p->members);
        cli_add_fraction(out, p->metrics.member_acc_min);
        text_add(out, " to ");
        cli_add_fraction(out, p->metrics.member_acc_max);
    }
    text_add(out, "\n");
}

static void add_row(const struct predict *p, int member, size_t image, struct text *out)
{
    text_add(out, "[");
    for (size_t c = 0; c < p->classes; c++) {
        text_add(out, c ? ", " : "");
        text_add_json_double(out, member < 0 ? mean_probability(p, image, c)
                                             : probability(p, member, image, c));
    }
    text_add(out, "]");
}

static void add_json(const struct predict *p, const char *path, struct text *out)
{
    text_add(out, "{\"run\": ");
    text_add_json(out, p->run.name);
    text_addf(out, ", \"epoch\": %lld, \"images\": %zu, \"members\": %d, \"test_acc\": ",
              (long long)p->epoch, p->n, p->members);
    text_add_json_double(out, p->metrics.acc);
    text_add(out, ", \"test_loss\": ");
    text_add_json_double(out, p->metrics.loss);
    text_add(out, ", \"file\": ");
    text_add_json(out, path);
    text_add(out, ", \"first\": [");
    for (size_t i = 0; i < p->n && (int64_t)i < p->first; i++) {
        text_addf(out, "%s{\"image\": %zu, \"label\": %d, \"prediction\": %zu, \"mean\": ",
                  i ? ", " : "", i, p->plan->data->test.labels[i], answer(p, -1, i));
        add_row(p, -1, i, out);
        text_add(out, ", \"members\": [");
        for (int m = 0; m < p->members; m++) {
            text_add(out, m ? ", " : "");
            add_row(p, m, i, out);
        }
        text_add(out, "]}");
    }
    text_add(out, "]}\n");
}

static int predict(struct predict *p, const char *run)
{
    struct text out = {0}, shown = {0};
    char *path;
    struct err e;
    int code;

    if (cli_find_run(run, &p->run, &e) != ERR_OK || read_all(p, &e) != ERR_OK ||
        compute(p, &e) != ERR_OK)
        return cli_fail(&e);
    path = io_path(p->run.folder, "predictions.safetensors");
    if (write_file(p, path, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        if (p->json) {
            add_json(p, path, &out);
        } else {
            add_table(p, &out);
            add_accuracy(p, &out);
            text_add_clean(&shown, path);
            cli_talk("all of them: %s", text_str(&shown));
        }
        code = cli_print(&out);
    }
    text_free(&out);
    text_free(&shown);
    free(path);
    return code;
}

int cli_predict(int argc, char **argv)
{
    struct predict p = {.first = 10};
    const char *first = NULL;
    const struct cli_option options[] = {
        {"--first", "N", "how many predictions are printed (10)", &first},
        {"--at", "WHEN", "weights of the best epoch, the last, or epoch N if kept (last)", &p.at},
        {"--json", NULL, "as an object", &p.json},
        {NULL, NULL, NULL, NULL},
    };
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc != 2)
        return cli_refuse("predict needs one RUN, such as @ for the newest");
    if (!cli_number("--first", first, 0, INT64_C(1) << 40, &p.first))
        return err_exit_code(ERR_INPUT);
    code = predict(&p, argv[1]);
    metrics_free(&p.metrics);
    free(p.logits);
    record_weights_free(&p.weights);
    safetensors_free(&p.file);
    plan_free(p.plan);
    record_free_entry(&p.run);
    return code;
}
