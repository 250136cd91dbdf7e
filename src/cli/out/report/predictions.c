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
#include "study/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *predictions_path(const struct record_entry *run)
{
    return io_path(run->folder, "predictions.safetensors");
}

/* ---- made ---- */

static char **copy_names(char *const *from, int count)
{
    char **names = from ? mem_new((size_t)count, sizeof *names) : NULL;

    for (int i = 0; from && i < count; i++)
        names[i] = from[i] ? mem_text(from[i]) : NULL;
    return names;
}

static void copy_data(struct study_answers *p, const struct data_set *data)
{
    const struct data_part *part = &data->test;

    for (size_t i = 0; i < p->n; i++)
        p->labels[i] = part->labels[i];
    if (p->bytes)
        memcpy(p->images, part->bytes, p->n * study_answers_pixels(p));
    for (size_t i = 0; !p->bytes && i < p->n; i++)
        data_image(data, part, i, (float *)p->images + i * study_answers_pixels(p));
    p->class_names = copy_names(data->class_names, p->classes);
    p->column_names = copy_names(data->column_names, p->shape.c);
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
static enum err_code evaluate(struct study_answers *p, const struct plan *plan,
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

static enum err_code make_of_test(struct study_answers *p, const struct plan *plan,
                                  const struct record_weights *w, struct err *e)
{
    p->n = plan->data->test.count;
    p->bytes = plan->data->test.bytes != NULL;
    if (p->n == 0)
        return err_set(e, ERR_INPUT, "there are no test images");
    TRY(study_answers_room(p, e));
    copy_data(p, plan->data);
    return evaluate(p, plan, &plan->data->test, w, e);
}

static enum err_code make_of_pictures(struct study_answers *p, const struct plan *plan,
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
    TRY(study_answers_room(p, e));
    p->class_names = copy_names(plan->data->class_names, p->classes);
    p->size = mem_new(p->n, sizeof *p->size);
    for (int i = 0; i < from->count; i++)
        TRY(data_read_picture(from->files[i], p->shape, from->invert,
                              (uint8_t *)p->images + (size_t)i * study_answers_pixels(p),
                              p->size[i], e));
    labels = mem_new(p->n, sizeof *labels);
    code = evaluate(p, plan,
                    &(struct data_part){.count = p->n, .bytes = p->images, .labels = labels}, w, e);
    free(labels);
    return code;
}

static enum err_code make_from(struct study_answers *p, const struct plan *plan,
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
    study_answers_average(p);
    return ERR_OK;
}

/* Answers to other images are none to those that the run's own accuracies are of. */
static void take_data_hash(struct study_answers *p, const struct record_entry *run,
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

static enum err_code make(struct study_answers *p, const struct record_entry *run, const char *at,
                          const struct pictures *from, struct err *e)
{
    struct spec *spec = mem_new(1, sizeof *spec);
    struct safetensors file = {0};
    struct record_weights weights = {0};
    struct plan *plan = NULL;
    enum err_code code;

    *p = (struct study_answers){0};
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
        study_answers_free(p);
    record_weights_free(&weights);
    safetensors_free(&file);
    plan_free(plan);
    free(spec);
    return code;
}

enum err_code predictions_make(struct study_answers *p, const struct record_entry *run,
                               const char *at, struct err *e)
{
    return make(p, run, at, &(struct pictures){0}, e);
}

enum err_code predictions_of_pictures(struct study_answers *p, const struct record_entry *run,
                                      const char *at, int count, char **files, bool invert,
                                      struct err *e)
{
    return make(p, run, at, &(struct pictures){count, files, invert}, e);
}

/* Of the run's last epoch, and of the data that it was trained on as far as both know it. */
static bool is_of(const struct study_answers *p, const struct record_entry *run)
{
    const char *data = record_run_data_hash(&run->run);

    return p->epoch == run->run.epochs_done &&
           (!*p->data_hash || !*data || !strcmp(p->data_hash, data));
}

enum err_code predictions_get(struct study_answers *p, const struct record_entry *run,
                              struct err *e)
{
    char *path = predictions_path(run);
    struct study_answers kept = {0};
    bool fits =
        io_exists(path) && study_answers_read(&kept, path, e) == ERR_OK && is_of(&kept, run);
    enum err_code code = ERR_OK;
    struct err ignored;

    *p = (struct study_answers){0};
    if (!fits || !kept.log_p) {
        code = predictions_make(p, run, "last", e);
        if (code == ERR_OK && study_answers_save(p, path, &ignored) != ERR_OK)
            cli_talk("the predictions could not be kept: %s", ignored.text);
    }
    if (fits && (kept.log_p || code != ERR_OK)) { /* of an older version: better than nothing */
        *p = kept;
        code = ERR_OK;
    } else {
        study_answers_free(&kept);
    }
    free(path);
    return code;
}
