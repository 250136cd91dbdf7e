/* ui/feed_files.c: epochs.csv, members.csv, devices.csv and steps.csv as points of curves. A file that
 * shrank was cut by a resume: all of it is read again. */
#include "ui/feed_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    E_EPOCH,
    E_STEP,
    E_IMAGES,
    E_MODEL_IMAGES,
    E_SECONDS,
    E_EVAL,
    E_DEVICE_SECONDS,
    E_TRAIN_LOSS,
    E_TRAIN_ACC,
    E_VAL_LOSS,
    E_VAL_ACC,
    E_TEST_LOSS,
    E_TEST_ACC,
    E_MEAN,
    E_MAX,
    E_SPEED
};
static const char *const epochs_columns[] = {"epoch",          "step",
                                             "images",         "model_images",
                                             "train_seconds",  "eval_seconds",
                                             "device_seconds", "train_loss",
                                             "train_acc",      "val_loss",
                                             "val_acc",        "test_loss",
                                             "test_acc",       "member_acc_mean",
                                             "member_acc_max", "images_per_second"};

enum { M_EPOCH, M_MEMBER, M_DEVICE, M_LOSS, M_ACC, M_PREFIX, M_TRAIN_LOSS };
static const char *const members_columns[] = {"epoch",    "member",     "device",     "test_loss",
                                              "test_acc", "prefix_acc", "train_loss", NULL};

enum { D_EPOCH, D_DEVICE, D_LOSS, D_ACC, D_INPUT, D_COMPUTE, D_REDUCE, D_WAIT };
static const char *const devices_columns[] = {"epoch",          "device",        "train_loss",
                                              "train_acc",      "input_seconds", "compute_seconds",
                                              "reduce_seconds", "wait_seconds",  NULL};

enum { S_STEP, S_EPOCH, S_MEMBER, S_IMAGES, S_SECONDS, S_LOSS, S_ACC, S_LR };
static const char *const steps_columns[] = {"step", "epoch", "member", "images", "train_seconds",
                                            "loss", "acc",   "lr",     NULL};

struct at { /* places on all x axes */
    double epoch, step, images, model_images, seconds, device_seconds;
};

static void add_point(struct feed_points *p, const struct at *at, double value)
{
    if (p->n == p->room) {
        size_t room = p->room ? 2 * p->room : 64;

        p->epoch = mem_resize(p->epoch, room, sizeof(double));
        p->step = mem_resize(p->step, room, sizeof(double));
        p->images = mem_resize(p->images, room, sizeof(double));
        p->model_images = mem_resize(p->model_images, room, sizeof(double));
        p->seconds = mem_resize(p->seconds, room, sizeof(double));
        p->device_seconds = mem_resize(p->device_seconds, room, sizeof(double));
        p->value = mem_resize(p->value, room, sizeof(double));
        p->room = room;
    }
    p->epoch[p->n] = at->epoch;
    p->step[p->n] = at->step;
    p->images[p->n] = at->images;
    p->model_images[p->n] = at->model_images;
    p->seconds[p->n] = at->seconds;
    p->device_seconds[p->n] = at->device_seconds;
    p->value[p->n++] = value;
}

static void free_points(struct feed_points *p)
{
    free(p->epoch);
    free(p->step);
    free(p->images);
    free(p->model_images);
    free(p->seconds);
    free(p->device_seconds);
    free(p->value);
    *p = (struct feed_points){0};
}

static double real_devices(const struct feed_run *run)
{
    return run->facts.real_devices > 0 ? run->facts.real_devices : 1;
}

static double members(const struct feed_run *run)
{
    return run->spec.mode == SPEC_ENSEMBLE
               ? (run->spec.members ? run->spec.members : run->spec.devices)
               : 1;
}

static struct feed_unit *unit_at(struct feed_run *run, double number)
{
    size_t n = number >= 0 && number < 65536 ? (size_t)number : 0;

    while (run->units <= n) {
        run->unit = mem_resize(run->unit, run->units + 1, sizeof *run->unit);
        run->unit[run->units] = (struct feed_unit){.unit = (int)run->units,
                                                   .loss = NAN,
                                                   .acc = NAN,
                                                   .prefix = NAN,
                                                   .input = NAN,
                                                   .compute = NAN,
                                                   .reduce = NAN,
                                                   .wait = NAN};
        run->units++;
    }
    return &run->unit[n];
}

static void see_best(struct feed_run *run, double acc, double epoch)
{
    if (isfinite(acc) && (!(run->best_acc >= acc))) {
        run->best_acc = acc;
        run->best_epoch = (int64_t)epoch;
    }
}

static void take_epoch(struct feed_watch *w, const double *v)
{
    struct feed_run *run = &w->run;
    struct at end = {v[E_EPOCH],        v[E_STEP],    v[E_IMAGES],
                     v[E_MODEL_IMAGES], v[E_SECONDS], v[E_DEVICE_SECONDS]};
    /* The mean over an epoch belongs into its middle. */
    struct at mid = {v[E_EPOCH] - 0.5,
                     (w->epoch_step + v[E_STEP]) / 2,
                     (w->epoch_images + v[E_IMAGES]) / 2,
                     (w->epoch_model_images + v[E_MODEL_IMAGES]) / 2,
                     (w->epoch_seconds + v[E_SECONDS]) / 2,
                     (w->epoch_device_seconds + v[E_DEVICE_SECONDS]) / 2};
    double steps = v[E_STEP] - w->epoch_step;

    add_point(&run->train_loss, &mid, v[E_TRAIN_LOSS]);
    add_point(&run->train_acc, &mid, v[E_TRAIN_ACC]);
    add_point(&run->test_loss, &end, v[E_TEST_LOSS]);
    add_point(&run->test_acc, &end, v[E_TEST_ACC]);
    if (isfinite(v[E_VAL_LOSS])) {
        add_point(&run->val_loss, &end, v[E_VAL_LOSS]);
        add_point(&run->val_acc, &end, v[E_VAL_ACC]);
        run->by_valid = true;
    }
    if (run->spec.mode == SPEC_ENSEMBLE) {
        add_point(&run->member_mean, &end, v[E_MEAN]);
        run->member_acc_mean = v[E_MEAN];
        run->gain_mean = v[E_TEST_ACC] - v[E_MEAN];
        run->gain_best = v[E_TEST_ACC] - v[E_MAX];
    }
    see_best(run, isfinite(v[E_VAL_LOSS]) ? v[E_VAL_ACC] : v[E_TEST_ACC], v[E_EPOCH]);
    if (steps > 0)
        w->step_seconds = (v[E_SECONDS] - w->epoch_seconds) / steps;
    w->eval_seconds = v[E_EVAL] - w->epoch_eval_seconds;
    w->epoch_eval_seconds = v[E_EVAL];
    w->epoch_step = v[E_STEP];
    w->epoch_images = v[E_IMAGES];
    w->epoch_model_images = v[E_MODEL_IMAGES];
    w->epoch_seconds = v[E_SECONDS];
    w->epoch_device_seconds = v[E_DEVICE_SECONDS];
    run->epoch = (int64_t)v[E_EPOCH];
    if ((int64_t)v[E_STEP] > run->step)
        run->step = (int64_t)v[E_STEP];
    if (!(run->images_per_second > 0))
        run->images_per_second = v[E_SPEED];
    if (!run->facts.steps_per_epoch && v[E_EPOCH] > 0)
        run->facts.steps_per_epoch = (int64_t)(v[E_STEP] / v[E_EPOCH]);
    run->facts.epochs_done = (int64_t)v[E_EPOCH];
}

static void take_member(struct feed_watch *w, const double *v)
{
    struct feed_unit *unit = unit_at(&w->run, v[M_MEMBER]);
    struct at at = {.epoch = v[M_EPOCH]};
    double spe = (double)w->run.facts.steps_per_epoch, batch = (double)spec_batch(&w->run.spec);

    /* The same rows of epochs.csv may not have been read yet: what an epoch is, is known. */
    at.step = v[M_EPOCH] * spe;
    at.images = at.step * batch;
    at.model_images = at.images * members(&w->run);
    at.seconds = w->epoch_seconds;
    at.device_seconds = w->epoch_device_seconds;
    unit->device = (int)v[M_DEVICE];
    unit->loss = isfinite(v[M_TRAIN_LOSS]) ? v[M_TRAIN_LOSS] : v[M_LOSS];
    unit->acc = v[M_ACC];
    unit->prefix = v[M_PREFIX];
    add_point(&unit->acc_at, &at, v[M_ACC]);
}

static void take_device(struct feed_watch *w, const double *v)
{
    struct feed_run *run = &w->run;
    double all = v[D_INPUT] + v[D_COMPUTE] + v[D_REDUCE] + v[D_WAIT];
    bool ensemble = run->spec.mode == SPEC_ENSEMBLE;

    /* In an ensemble a row of a device speaks for all of its members. */
    for (size_t i = 0; ensemble && i < run->units; i++) {
        if (run->unit[i].device != (int)v[D_DEVICE] || !(all > 0))
            continue;
        run->unit[i].input = v[D_INPUT] / all;
        run->unit[i].compute = v[D_COMPUTE] / all;
        run->unit[i].reduce = v[D_REDUCE] / all;
        run->unit[i].wait = v[D_WAIT] / all;
    }
    if (!ensemble) {
        struct feed_unit *unit = unit_at(run, v[D_DEVICE]);

        unit->device = (int)v[D_DEVICE];
        unit->loss = v[D_LOSS];
        unit->acc = v[D_ACC];
        unit->input = all > 0 ? v[D_INPUT] / all : NAN;
        unit->compute = all > 0 ? v[D_COMPUTE] / all : NAN;
        unit->reduce = all > 0 ? v[D_REDUCE] / all : NAN;
        unit->wait = all > 0 ? v[D_WAIT] / all : NAN;
    }
}

static void end_step(struct feed_watch *w)
{
    struct feed_run *run = &w->run;
    double spe = (double)run->facts.steps_per_epoch;
    struct at at = {.epoch = spe > 0 ? w->mean_step / spe : NAN,
                    .step = w->mean_step,
                    .images = w->mean_images,
                    .model_images = w->mean_images * members(run),
                    .seconds = w->mean_seconds,
                    .device_seconds = w->mean_seconds * real_devices(run)};

    if (w->mean_n > 0) {
        add_point(&run->step_loss, &at, w->mean_loss / w->mean_n);
        add_point(&run->step_acc, &at, w->mean_acc / w->mean_n);
        if (!run->own || run->step < (int64_t)w->mean_step) {
            run->loss = w->mean_loss / w->mean_n;
            run->acc = w->mean_acc / w->mean_n;
            if ((int64_t)w->mean_step > run->step)
                run->step = (int64_t)w->mean_step;
            if (w->mean_seconds > 0 && !run->own)
                run->images_per_second = at.model_images / w->mean_seconds;
        }
    }
    w->mean_n = w->mean_loss = w->mean_acc = 0;
}

/* A row a member: the mean of those of one step is a point. */
static void take_step(struct feed_watch *w, const double *v)
{
    if (v[S_STEP] != w->mean_step)
        end_step(w);
    w->mean_step = v[S_STEP];
    w->mean_images = v[S_IMAGES];
    w->mean_seconds = v[S_SECONDS];
    w->mean_loss += v[S_LOSS];
    w->mean_acc += v[S_ACC];
    w->mean_n++;
    w->run.lr = v[S_LR];
    if (w->mean_n >= members(&w->run))
        end_step(w);
}

/* All curves anew: a resume has cut the files. */
static void forget(struct feed_watch *w)
{
    struct feed_run *run = &w->run;
    struct feed_points *all[] = {&run->train_loss, &run->test_loss, &run->train_acc,
                                 &run->test_acc,   &run->val_loss,  &run->val_acc,
                                 &run->step_loss,  &run->step_acc,  &run->member_mean};
    struct feed_tail *tails[] = {&w->epochs, &w->members, &w->devices, &w->steps};

    for (size_t i = 0; i < MEM_COUNT(all); i++)
        free_points(all[i]);
    for (size_t i = 0; i < run->units; i++)
        free_points(&run->unit[i].acc_at);
    free(run->unit);
    run->unit = NULL;
    run->units = 0;
    for (size_t i = 0; i < MEM_COUNT(tails); i++) {
        tails[i]->at = 0;
        tails[i]->headed = false;
    }
    w->epoch_step = w->epoch_images = w->epoch_model_images = w->epoch_seconds = 0;
    w->epoch_device_seconds = w->epoch_eval_seconds = w->eval_seconds = 0;
    w->mean_n = w->mean_loss = w->mean_acc = w->mean_step = 0;
    w->step_seconds = NAN;
    run->best_acc = run->gain_mean = run->gain_best = run->member_acc_mean = NAN;
    run->best_epoch = run->epoch = run->step = 0;
}

void feed_watch_begin(struct feed_watch *w, const char *folder)
{
    const char *name = strrchr(folder, '/');

    *w = (struct feed_watch){.epochs = {"epochs.csv", epochs_columns, {0}, false, 0},
                             .members = {"members.csv", members_columns, {0}, false, 0},
                             .devices = {"devices.csv", devices_columns, {0}, false, 0},
                             .steps = {"steps.csv", steps_columns, {0}, false, 0},
                             .first_step = NAN,
                             .first_seconds = NAN};
    snprintf(w->run.path, sizeof w->run.path, "%s", folder);
    snprintf(w->run.name, sizeof w->run.name, "%s", name ? name + 1 : folder);
    w->run.loss = w->run.acc = w->run.left_seconds = w->run.epoch_share = w->run.run_share = NAN;
    forget(w);
}

void feed_watch_free(struct feed_watch *w)
{
    forget(w);
    free(w);
}

static void find_columns(struct feed_tail *t, char *head)
{
    char *rest = head, *field;

    for (int k = 0; k < FEED_COLUMNS; k++)
        t->place[k] = -1;
    for (int i = 0; (field = strsep(&rest, ",")); i++)
        for (int k = 0; k < FEED_COLUMNS && t->column[k]; k++)
            if (!strcmp(field, t->column[k]))
                t->place[k] = i;
    t->headed = true;
}

static void split_row(const struct feed_tail *t, char *line, double *v)
{
    char *rest = line, *field;

    for (int k = 0; k < FEED_COLUMNS; k++)
        v[k] = NAN;
    for (int i = 0; (field = strsep(&rest, ",")); i++)
        for (int k = 0; k < FEED_COLUMNS; k++)
            if (t->place[k] == i && !text_to_double(field, &v[k]))
                v[k] = NAN;
}

/* Whole lines alone; what is torn is read when it is whole. *shrunk: nothing was read. */
static bool read_tail(struct feed_watch *w, struct feed_tail *t,
                      void (*take)(struct feed_watch *w, const double *v), size_t most,
                      bool *shrunk)
{
    char *path = io_path(w->run.path, t->file), *bytes = NULL, *line, *end;
    int fd = io.open(path, O_RDONLY | O_CLOEXEC, 0);
    double v[FEED_COLUMNS];
    struct stat st;
    ssize_t got = 0;

    free(path);
    if (fd < 0)
        return false;
    if (io.fstat(fd, &st) == 0 && st.st_size < t->at)
        *shrunk = true;
    else if (st.st_size > t->at && io.seek(fd, t->at, SEEK_SET) == t->at) {
        bytes = mem_new(most + 1, 1);
        got = io.read(fd, bytes, most);
    }
    io.close(fd);
    line = bytes;
    while (got > 0 && (end = memchr(line, '\n', (size_t)(bytes + got - line)))) {
        *end = 0;
        if (!t->headed) {
            find_columns(t, line);
        } else {
            split_row(t, line, v);
            if (isfinite(v[0]))
                take(w, v);
        }
        line = end + 1;
    }
    if (got > 0)
        t->at += line - bytes;
    got = line > bytes;
    free(bytes);
    return got > 0;
}

bool feed_watch_read(struct feed_watch *w, size_t bytes)
{
    bool shrunk = false, changed = false;

    /* Steps before epochs need the epoch's length: epochs first. */
    changed |= read_tail(w, &w->epochs, take_epoch, bytes, &shrunk);
    if (w->run.spec.mode == SPEC_ENSEMBLE)
        changed |= read_tail(w, &w->members, take_member, bytes, &shrunk);
    changed |= read_tail(w, &w->devices, take_device, bytes, &shrunk);
    changed |= read_tail(w, &w->steps, take_step, bytes, &shrunk);
    if (shrunk) {
        forget(w);
        changed = true;
    }
    if (changed)
        w->run.changed++;
    return changed;
}

void feed_watch_count(struct feed_watch *w)
{
    struct feed_run *run = &w->run;
    double spe = (double)run->facts.steps_per_epoch, epochs = (double)run->spec.epochs;
    double steps = spe * epochs, step = (double)run->step, evaluations;

    run->left_seconds = run->epoch_share = run->run_share = NAN;
    if (run->spec.max_steps > 0 && (double)run->spec.max_steps < steps)
        steps = (double)run->spec.max_steps;
    if (!(spe > 0) || !(steps > 0))
        return;
    run->steps_of_epoch_done = step > 0 ? (int64_t)(step - floor((step - 1) / spe) * spe) : 0;
    run->epoch_share = (double)run->steps_of_epoch_done / spe;
    run->run_share = fmin(step / steps, 1);
    if (wire_state_ended(run->state) && run->state != WIRE_STOPPED) {
        run->left_seconds = NAN;
        return;
    }
    evaluations = ceil(steps / spe) - (double)run->facts.epochs_done;
    if (w->step_seconds > 0)
        run->left_seconds = (steps - step) * w->step_seconds + evaluations * w->eval_seconds;
}
