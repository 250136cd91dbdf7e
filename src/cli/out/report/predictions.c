#include "cli/out/report/predictions.h"

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/report/averaged.h"
#include "data/data.h"
#include "data/picture.h"
#include "engine/backend.h"
#include "engine/plan.h"
#include "engine/run/metrics.h"
#include "record/run/checkpoint.h"
#include "record/run/export.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"
#include "study/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_DATA "chorus.data_hash"

char *predictions_path(const struct record_entry *run)
{
    return io_path(run->folder, "predictions.safetensors");
}

void predictions_free(struct predictions *p)
{
    for (int c = 0; p->class_names && c < p->classes; c++)
        free(p->class_names[c]);
    free(p->class_names);
    free(p->columns);
    free(p->size);
    free(p->images);
    free(p->labels);
    free(p->p);
    free(p->log_p);
    free(p->mean);
    *p = (struct predictions){0};
}

static size_t pixels_of(const struct predictions *p)
{
    return (size_t)p->shape.h * (size_t)p->shape.w * (size_t)p->shape.c;
}

static enum err_code take_memory(struct predictions *p, struct err *e)
{
    size_t classes = (size_t)p->classes, element = p->bytes ? 1 : sizeof(float);

    p->p = mem_try((size_t)p->members * p->n, classes * sizeof *p->p);
    p->mean = mem_try(p->n, classes * sizeof *p->mean);
    p->labels = mem_try(p->n, sizeof *p->labels);
    p->images = mem_try(p->n, pixels_of(p) * element);
    if (p->p && p->mean && p->labels && p->images)
        return ERR_OK;
    return err_set(e, ERR_NOMEM, "no memory for %d x %zu x %d probabilities", p->members, p->n,
                   p->classes);
}

static void average(struct predictions *p)
{
    for (size_t i = 0; i < p->n * (size_t)p->classes; i++) {
        double sum = 0;

        for (size_t m = 0; m < (size_t)p->members; m++)
            sum += (double)p->p[m * p->n * (size_t)p->classes + i];
        p->mean[i] = sum / p->members;
    }
}

/* ---- made ---- */

/* Lines part the names. */
static void add_name(struct text *out, const char *name)
{
    size_t from = out->n;

    text_add(out, name);
    for (size_t i = from; i < out->n; i++)
        if (out->s[i] == '\n')
            out->s[i] = ' ';
}

static void copy_columns(struct predictions *p, const struct data_set *data)
{
    struct text names = {0};

    for (int k = 0; data->column_names && k < data->shape.c; k++) {
        text_add(&names, k ? "\n" : "");
        add_name(&names, data->column_names[k]);
    }
    p->columns = names.s;
}

static void copy_names(struct predictions *p, const struct data_set *data)
{
    copy_columns(p, data);
    if (!data->class_names)
        return;
    p->class_names = mem_new((size_t)p->classes, sizeof *p->class_names);
    for (int c = 0; c < p->classes; c++)
        p->class_names[c] = data->class_names[c] ? mem_text(data->class_names[c]) : NULL;
}

static void copy_data(struct predictions *p, const struct data_set *data)
{
    const struct data_part *part = &data->test;

    for (size_t i = 0; i < p->n; i++)
        p->labels[i] = part->labels[i];
    if (p->bytes)
        memcpy(p->images, part->bytes, p->n * pixels_of(p));
    for (size_t i = 0; !p->bytes && i < p->n; i++)
        data_image(data, part, i, (float *)p->images + i * pixels_of(p));
    copy_names(p, data);
}

static enum err_code load(struct backend_session *session, const struct plan *plan,
                          const struct record_weights *w, struct err *e)
{
    const struct backend *b = plan->backend;

    for (int m = 0; m < w->members; m++) {
        TRY(b->state(session, m, BACKEND_PARAMS, true, record_weights_params(w, plan->net, m), e));
        if (plan->net->stat_count)
            TRY(b->state(session, m, BACKEND_STATS, true, record_weights_stats(w, plan->net, m),
                         e));
    }
    return ERR_OK;
}

/* Logits of the part's images, and in their place probabilities. */
static enum err_code evaluate(struct predictions *p, const struct plan *plan,
                              const struct data_part *part, const struct record_weights *w,
                              struct err *e)
{
    struct backend_session *session = NULL;
    size_t classes = (size_t)p->classes;
    double *row;
    enum err_code code;

    TRY(plan->backend->open(&plan->session, &session, e));
    code = load(session, plan, w, e);
    if (code == ERR_OK)
        code = plan->backend->evaluate(session, part, 0, p->n, NULL, p->p, e);
    plan->backend->close(session);
    TRY(code);
    row = mem_new(classes, sizeof *row);
    p->log_p = mem_new((size_t)p->members * p->n, sizeof *p->log_p);
    for (size_t i = 0; i < (size_t)p->members * p->n; i++) {
        p->log_p[i] = metrics_log_p(p->p + i * classes, p->classes, (int)p->labels[i % p->n]);
        metrics_softmax(p->p + i * classes, p->classes, row);
        for (size_t c = 0; c < classes; c++)
            p->p[i * classes + c] = (float)row[c];
    }
    free(row);
    return ERR_OK;
}

struct pictures { /* instead of the test images; count 0: none */
    int count;
    char **files;
    bool invert;
};

static enum err_code make_of_test(struct predictions *p, const struct plan *plan,
                                  const struct record_weights *w, struct err *e)
{
    p->n = plan->data->test.count;
    p->bytes = plan->data->test.bytes != NULL;
    if (p->n == 0)
        return err_set(e, ERR_INPUT, "there are no test images");
    TRY(take_memory(p, e));
    copy_data(p, plan->data);
    return evaluate(p, plan, &plan->data->test, w, e);
}

static enum err_code make_of_pictures(struct predictions *p, const struct plan *plan,
                                      const struct pictures *from, const struct record_weights *w,
                                      struct err *e)
{
    uint16_t *labels;
    enum err_code code;

    p->n = (size_t)from->count;
    p->bytes = true;
    if (!plan->data->lut)
        return err_set(e, ERR_INPUT,
                       "this run was trained on numbers, not on pictures: there is "
                       "no telling what a picture's pixels would be among them");
    TRY(take_memory(p, e));
    copy_names(p, plan->data);
    p->size = mem_new(p->n, sizeof *p->size);
    for (int i = 0; i < from->count; i++)
        TRY(data_read_picture(from->files[i], p->shape, from->invert,
                              (uint8_t *)p->images + (size_t)i * pixels_of(p), p->size[i], e));
    labels = mem_new(p->n, sizeof *labels);
    code = evaluate(p, plan,
                    &(struct data_part){.count = p->n, .bytes = p->images, .labels = labels}, w, e);
    free(labels);
    return code;
}

static enum err_code make_from(struct predictions *p, const struct plan *plan,
                               const struct record_entry *run, const struct safetensors *file,
                               const struct pictures *from, struct record_weights *w, struct err *e)
{
    const struct backend_plan *s = &plan->session;
    bool ensemble = s->mode == SPEC_ENSEMBLE;

    if (!record_unpack_int(file, RECORD_NOTE_EPOCH, &p->epoch))
        p->epoch = -1;
    p->members = ensemble ? s->members : 1;
    p->classes = plan->net->classes;
    p->shape = plan->data->shape;
    TRY(record_weights_new(w, plan->net, p->members, ensemble, backend_element(s), 0, e));
    TRY(record_unpack_weights(file, run->name, plan->net, w, e));
    TRY(from->count ? make_of_pictures(p, plan, from, w, e) : make_of_test(p, plan, w, e));
    average(p);
    return ERR_OK;
}

/* Answers to other images are none to those that the run's own accuracies are of. */
static void take_data_hash(struct predictions *p, const struct record_entry *run,
                           const struct plan *plan)
{
    const char *was = record_run_data_hash(&run->run);

    plan_data_hash(plan, p->data_hash);
    if (*was && strcmp(was, p->data_hash) != 0)
        cli_talk(
            "%s has changed since %s was trained on it (data_hash was %s, is %s): these answers "
            "are to other images or labels than those in its own files",
            run->run.spec.data, run->name, was, p->data_hash);
}

/* The weights are of one network; one with other layers may take them too, and answers otherwise. Where the data
 * have changed, their shape may be what changes the layers. */
static enum err_code check_network(const struct record_entry *run, const struct plan *plan,
                                   struct err *e)
{
    const char *was = run->run.network_hash, *data = record_run_data_hash(&run->run);
    char network[PLAN_PART_ROOM], now[PLAN_PART_ROOM];

    plan_network_hash(plan, network);
    plan_data_hash(plan, now);
    if (*was != '#' || !strcmp(was, network) || (*data && strcmp(data, now) != 0))
        return ERR_OK;
    return err_set(e, ERR_INPUT,
                   "%s/model.net has changed since that run began (network_hash was %s, is %s): "
                   "put the old one back",
                   run->folder, was, network);
}

/* Whether there is what a run was trained on; *why: what there is not. */
static bool has_gpus(const struct spec *s, struct err *why)
{
    const struct backend *const *b = cli_backends();

    while (*b && !(*b)->gpus)
        b++;
    if (!*b || (*b)->gpus(why) < 1)
        return false;
    for (int i = 0; i < s->gpus; i++)
        if ((*b)->gpu(s->gpu[i], why) != ERR_OK)
            return false;
    return true;
}

/* The answers of a run that was trained on GPUs are wanted where these are not, too: whatever can gives
 * them, and where its models sat says nothing of them. */
static void leave_gpus(struct spec *s, const char *run)
{
    struct err why = {0};

    if (s->backend != SPEC_CUDA || has_gpus(s, &why))
        return;
    cli_talk("%s was trained on a GPU, and %.300s: these answers are computed without it, the same "
             "up to rounding",
             run, why.text);
    if (s->mode == SPEC_ENSEMBLE && !s->members)
        s->members = s->devices;
    s->backend = SPEC_AUTO;
    s->devices = 1;
    s->gpus = 0;
}

static enum err_code make(struct predictions *p, const struct record_entry *run, const char *at,
                          const struct pictures *from, struct err *e)
{
    struct spec *spec = mem_new(1, sizeof *spec);
    struct safetensors file = {0};
    struct record_weights weights = {0};
    struct plan *plan = NULL;
    enum err_code code;

    *p = (struct predictions){0};
    code = averaged_check_at(run, at, e);
    if (code == ERR_OK)
        code = record_read_spec(run->folder, spec, e);
    if (code == ERR_OK)
        leave_gpus(spec, run->name);
    if (code == ERR_OK)
        code = plan_make(&plan, spec, cli_places(), cli_backends(), true, e);
    if (code == ERR_OK)
        code = check_network(run, plan, e);
    if (code == ERR_OK)
        code = record_read_at(run->folder, at, &file, e);
    if (code == ERR_OK && !from->count)
        take_data_hash(p, run, plan);
    if (code == ERR_OK)
        code = make_from(p, plan, run, &file, from, &weights, e);
    if (code != ERR_OK)
        predictions_free(p);
    record_weights_free(&weights);
    safetensors_free(&file);
    plan_free(plan);
    free(spec);
    return code;
}

enum err_code predictions_make(struct predictions *p, const struct record_entry *run,
                               const char *at, struct err *e)
{
    return make(p, run, at, &(struct pictures){0}, e);
}

enum err_code predictions_of_pictures(struct predictions *p, const struct record_entry *run,
                                      const char *at, int count, char **files, bool invert,
                                      struct err *e)
{
    return make(p, run, at, &(struct pictures){count, files, invert}, e);
}

/* ---- kept ---- */

enum err_code predictions_save(const struct predictions *p, const char *path, struct err *e)
{
    const struct net_shape *s = &p->shape;
    const struct safetensors_tensor t[4] = {
        {.name = "images",
         .type = p->bytes ? SAFETENSORS_U8 : SAFETENSORS_F32,
         .dims = 4,
         .shape = {p->n, (size_t)s->h, (size_t)s->w, (size_t)s->c},
         .bytes = p->images},
        {.name = "labels", .type = SAFETENSORS_I64, .dims = 1, .shape = {p->n}, .bytes = p->labels},
        {.name = "probabilities",
         .type = SAFETENSORS_F32,
         .dims = 3,
         .shape = {(size_t)p->members, p->n, (size_t)p->classes},
         .bytes = p->p},
        {.name = "label_log_probabilities",
         .type = SAFETENSORS_F64,
         .dims = 2,
         .shape = {(size_t)p->members, p->n},
         .bytes = p->log_p},
    };
    struct text epoch = {0}, names = {0};
    struct safetensors_note note[4];
    int notes = 1;
    enum err_code code;

    text_addf(&epoch, "%lld", (long long)p->epoch);
    for (int c = 0; p->class_names && c < p->classes; c++) {
        text_add(&names, c ? "\n" : "");
        add_name(&names, p->class_names[c] ? p->class_names[c] : "");
    }
    note[0] = (struct safetensors_note){(char *)RECORD_NOTE_EPOCH, epoch.s};
    if (names.n)
        note[notes++] = (struct safetensors_note){(char *)"chorus.class_names", names.s};
    if (p->columns)
        note[notes++] = (struct safetensors_note){(char *)"chorus.column_names", p->columns};
    if (p->data_hash[0])
        note[notes++] = (struct safetensors_note){(char *)NOTE_DATA, (char *)p->data_hash};
    code = safetensors_write(path, t, p->log_p ? 4 : 3, note, notes, e);
    text_free(&epoch);
    text_free(&names);
    return code;
}

static enum err_code unpack(struct predictions *p, const struct safetensors *s, const char *path,
                            struct err *e)
{
    const struct safetensors_tensor *images = safetensors_find(s, "images"),
                                    *labels = safetensors_find(s, "labels"),
                                    *probs = safetensors_find(s, "probabilities"),
                                    *logs = safetensors_find(s, "label_log_probabilities");
    const char *names = safetensors_note(s, "chorus.class_names");
    const char *data = safetensors_note(s, NOTE_DATA);

    if (!images || !labels || !probs || images->dims != 4 || labels->dims != 1 ||
        probs->dims != 3 || labels->type != SAFETENSORS_I64 || probs->type != SAFETENSORS_F32 ||
        (images->type != SAFETENSORS_U8 && images->type != SAFETENSORS_F32) ||
        images->shape[0] != labels->shape[0] || probs->shape[1] != labels->shape[0] ||
        !labels->shape[0] || !probs->shape[0] || !probs->shape[2] || probs->shape[0] > 4096 ||
        probs->shape[2] > 65536 || images->shape[1] > 4096 || images->shape[2] > 4096 ||
        images->shape[3] > 4096)
        return err_set(e, ERR_INPUT, "%s holds no images, labels and probabilities that fit", path);
    p->n = labels->shape[0];
    p->members = (int)probs->shape[0];
    p->classes = (int)probs->shape[2];
    p->shape.h = (int)images->shape[1];
    p->shape.w = (int)images->shape[2];
    p->shape.c = (int)images->shape[3];
    p->bytes = images->type == SAFETENSORS_U8;
    if (!record_unpack_int(s, RECORD_NOTE_EPOCH, &p->epoch))
        p->epoch = -1;
    snprintf(p->data_hash, sizeof p->data_hash, "%s", data ? data : "");
    TRY(take_memory(p, e));
    memcpy(p->images, images->bytes, images->size);
    memcpy(p->labels, labels->bytes, labels->size);
    memcpy(p->p, probs->bytes, probs->size);
    if (logs && logs->type == SAFETENSORS_F64 && logs->dims == 2 &&
        logs->shape[0] == (size_t)p->members && logs->shape[1] == p->n) {
        p->log_p = mem_new((size_t)p->members * p->n, sizeof *p->log_p);
        memcpy(p->log_p, logs->bytes, logs->size);
    }
    for (size_t i = 0; i < p->n; i++)
        if (p->labels[i] < 0 || p->labels[i] >= p->classes)
            return err_set(e, ERR_INPUT, "%s: label %lld of image %zu is none of %d classes", path,
                           (long long)p->labels[i], i, p->classes);
    if (names) {
        char *copy = mem_text(names), *rest = copy, *name;

        p->class_names = mem_new((size_t)p->classes, sizeof *p->class_names);
        for (int c = 0; c < p->classes && (name = strsep(&rest, "\n")); c++)
            p->class_names[c] = *name ? mem_text(name) : NULL;
        free(copy);
    }
    average(p);
    return ERR_OK;
}

enum err_code predictions_read(struct predictions *p, const char *path, struct err *e)
{
    struct safetensors s;
    enum err_code code;

    *p = (struct predictions){0};
    TRY(safetensors_read(path, &s, e));
    code = unpack(p, &s, path, e);
    safetensors_free(&s);
    if (code != ERR_OK)
        predictions_free(p);
    return code;
}

/* Of the run's last epoch, and of the data that it was trained on as far as both know it. */
static bool is_of(const struct predictions *p, const struct record_entry *run)
{
    const char *data = record_run_data_hash(&run->run);

    return p->epoch == run->run.epochs_done &&
           (!*p->data_hash || !*data || !strcmp(p->data_hash, data));
}

enum err_code predictions_get(struct predictions *p, const struct record_entry *run, struct err *e)
{
    char *path = predictions_path(run);
    struct predictions kept = {0};
    bool fits = io_exists(path) && predictions_read(&kept, path, e) == ERR_OK && is_of(&kept, run);
    enum err_code code = ERR_OK;
    struct err ignored;

    *p = (struct predictions){0};
    if (!fits || !kept.log_p) {
        code = predictions_make(p, run, "last", e);
        if (code == ERR_OK && predictions_save(p, path, &ignored) != ERR_OK)
            cli_talk("the predictions could not be kept: %s", ignored.text);
    }
    if (fits && (kept.log_p || code != ERR_OK)) { /* of an older version: better than nothing */
        *p = kept;
        code = ERR_OK;
    } else {
        predictions_free(&kept);
    }
    free(path);
    return code;
}

/* ---- asked ---- */

void predictions_row(const struct predictions *p, int member, size_t image, double *row)
{
    size_t classes = (size_t)p->classes, n = (size_t)(member < 0 ? 0 : member);

    for (size_t c = 0; c < classes; c++)
        row[c] = member < 0 ? p->mean[image * classes + c]
                            : (double)p->p[(n * p->n + image) * classes + c];
}

bool predictions_same_images(const struct predictions *a, const struct predictions *b)
{
    return a->n == b->n && a->bytes == b->bytes && a->shape.h == b->shape.h &&
           a->shape.w == b->shape.w && a->shape.c == b->shape.c &&
           !memcmp(a->images, b->images, a->n * pixels_of(a) * (a->bytes ? 1 : sizeof(float)));
}

struct study_answers predictions_answers(const struct predictions *p)
{
    return (struct study_answers){p->members, p->classes, p->n, p->p, p->log_p, p->labels};
}

int predictions_answer(const struct predictions *p, int member, size_t image)
{
    size_t classes = (size_t)p->classes, best = 0;
    const float *row = member < 0 ? NULL : p->p + ((size_t)member * p->n + image) * classes;
    const double *mean = p->mean + image * classes;

    for (size_t c = 1; c < classes; c++)
        if (row ? row[c] > row[best] : mean[c] > mean[best])
            best = c;
    return (int)best;
}

double predictions_highest(const struct predictions *p, size_t image)
{
    return p->mean[image * (size_t)p->classes + (size_t)predictions_answer(p, -1, image)];
}
