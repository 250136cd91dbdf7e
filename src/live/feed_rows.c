/* live/feed_rows.c: what the columns of a run's files mean, and what becomes of their rows. */
#include "live/feed_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MOST 4096

static const char *const epoch_names[] = {"epoch",
                                          "step",
                                          "images",
                                          "model_images",
                                          "train_seconds",
                                          "device_seconds",
                                          "train_loss",
                                          "train_acc",
                                          "val_loss",
                                          "val_acc",
                                          "test_loss",
                                          "test_acc",
                                          "member_acc_min",
                                          "member_acc_mean",
                                          "member_acc_max",
                                          "member_loss_mean",
                                          "eval_seconds",
                                          "images_per_second",
                                          "lr",
                                          NULL};
/* The first ones are the axes. */
enum { EPOCH_VALUE = FEED_AXES, EPOCH_EVAL = EPOCH_VALUE + FEED_VALUES, EPOCH_SPEED, EPOCH_LR };

enum {
    MEMBER_UNIT,
    MEMBER_DEVICE,
    MEMBER_TRAIN_LOSS,
    MEMBER_TRAIN_ACC,
    MEMBER_TEST_LOSS,
    MEMBER_TEST_ACC,
    MEMBER_PREFIX,
    MEMBER_COLUMNS
};
static const char *const member_names[MEMBER_COLUMNS + 1] = {
    [MEMBER_UNIT] = "member",           [MEMBER_DEVICE] = "device",
    [MEMBER_TRAIN_LOSS] = "train_loss", [MEMBER_TRAIN_ACC] = "train_acc",
    [MEMBER_TEST_LOSS] = "test_loss",   [MEMBER_TEST_ACC] = "test_acc",
    [MEMBER_PREFIX] = "prefix_acc"};

enum {
    DEVICE_UNIT,
    DEVICE_LOSS,
    DEVICE_ACC,
    DEVICE_INPUT,
    DEVICE_COMPUTE,
    DEVICE_REDUCE,
    DEVICE_WAIT,
    DEVICE_GPU,
    DEVICE_CELSIUS,
    DEVICE_WATTS,
    DEVICE_MEMORY,
    DEVICE_COLUMNS
};
static const char *const device_names[DEVICE_COLUMNS + 1] = {[DEVICE_UNIT] = "device",
                                                             [DEVICE_LOSS] = "train_loss",
                                                             [DEVICE_ACC] = "train_acc",
                                                             [DEVICE_INPUT] = "input_seconds",
                                                             [DEVICE_COMPUTE] = "compute_seconds",
                                                             [DEVICE_REDUCE] = "reduce_seconds",
                                                             [DEVICE_WAIT] = "wait_seconds",
                                                             [DEVICE_GPU] = "gpu_percent",
                                                             [DEVICE_CELSIUS] = "temperature_c",
                                                             [DEVICE_WATTS] = "power_watts",
                                                             [DEVICE_MEMORY] = "memory_bytes"};

enum { STEP_AT, STEP_SECONDS, STEP_LOSS, STEP_ACC, STEP_LR, STEP_COLUMNS };
static const char *const step_names[STEP_COLUMNS + 1] = {[STEP_AT] = "step",
                                                         [STEP_SECONDS] = "train_seconds",
                                                         [STEP_LOSS] = "loss",
                                                         [STEP_ACC] = "acc",
                                                         [STEP_LR] = "lr"};

/* ---- epochs ---- */

static void judge_best(struct feed_run *run, int64_t epoch, const double *y)
{
    bool valid = isfinite(y[FEED_VAL_ACC]);
    double acc = valid ? y[FEED_VAL_ACC] : y[FEED_TEST_ACC];
    double loss = valid ? y[FEED_VAL_LOSS] : y[FEED_TEST_LOSS];

    if (!isfinite(loss) || !isfinite(acc))
        return;
    if (run->best_epoch &&
        (acc < run->best_picked || (acc == run->best_picked && loss >= run->best_loss)))
        return;
    run->best_epoch = epoch;
    run->best_picked = acc;
    run->best_loss = loss;
    run->best_acc = y[FEED_TEST_ACC];
    run->by_valid = valid;
}

static void clear_epochs(struct feed_run *run)
{
    run->epochs.n = 0;
    run->best_epoch = 0;
    run->best_acc = run->best_picked = run->best_loss = NAN;
    run->gain_mean = run->gain_best = run->member_acc_mean = NAN;
    run->files->last_eval = 0;
}

static void judge_gain(struct feed_run *run, const double *y)
{
    if (run->facts.mode != SPEC_ENSEMBLE)
        return;
    run->member_acc_mean = y[FEED_MEMBER_MEAN];
    run->gain_mean = y[FEED_TEST_ACC] - y[FEED_MEMBER_MEAN];
    run->gain_best = y[FEED_TEST_ACC] - y[FEED_MEMBER_MAX];
}

static void take_epoch(struct feed_run *run, const double *v, char *line)
{
    struct feed_epochs *e = &run->epochs;
    struct feed_files *f = run->files;
    double y[FEED_VALUES];

    (void)line;
    if (!isfinite(v[FEED_EPOCH]))
        return;
    while (e->n && e->x[FEED_EPOCH][e->n - 1] >= v[FEED_EPOCH])
        e->n--;
    for (int k = 0; k < FEED_AXES; k++) {
        size_t room = e->room;

        e->x[k] = mem_grow(e->x[k], &room, e->n + 1, sizeof **e->x);
    }
    for (int k = 0; k < FEED_VALUES; k++) {
        size_t room = e->room;

        e->y[k] = mem_grow(e->y[k], &room, e->n + 1, sizeof **e->y);
        y[k] = e->y[k][e->n] = v[EPOCH_VALUE + k];
        if (k == FEED_VALUES - 1)
            e->room = room;
    }
    for (int k = 0; k < FEED_AXES; k++)
        e->x[k][e->n] = v[k];
    e->n++;
    judge_best(run, (int64_t)v[FEED_EPOCH], y);
    judge_gain(run, y);
    run->averaged = !isfinite(v[EPOCH_LR]); /* where an epoch was trained, it had a learning rate */
    time_left_evaluation(&f->pace, v[EPOCH_EVAL] - f->last_eval);
    f->last_eval = v[EPOCH_EVAL];
    if (!isfinite(v[FEED_STEP])) /* of an average: those averaged took different numbers of steps */
        return;
    if (v[FEED_EPOCH] > 0 && !f->steps_per_epoch)
        f->steps_per_epoch = (int64_t)(v[FEED_STEP] / v[FEED_EPOCH]);
    if ((int64_t)v[FEED_STEP] >= run->step) {
        run->step = (int64_t)v[FEED_STEP];
        run->train_seconds = v[FEED_SECONDS];
        run->loss = isfinite(y[FEED_TRAIN_LOSS]) ? y[FEED_TRAIN_LOSS] : run->loss;
        run->acc = isfinite(y[FEED_TRAIN_ACC]) ? y[FEED_TRAIN_ACC] : run->acc;
        if (v[EPOCH_SPEED] > 0)
            run->images_per_second = v[EPOCH_SPEED];
        if (isfinite(v[EPOCH_LR]))
            run->lr = v[EPOCH_LR];
    }
}

/* It is read from its begin. */
static void forget(struct feed_run *run, enum feed_file which)
{
    struct feed_files *f = run->files;

    free(f->fetched[which].bytes);
    f->fetched[which] = (struct feed_fetch){0};
    f->tail[which] = (struct feed_tail){0};
    f->dirty[which] = true;
}

/* ---- members and devices ---- */

void feed_rows_units(struct feed_run *run)
{
    int64_t wish = run->facts.mode == SPEC_ENSEMBLE ? run->facts.members : run->facts.devices;
    size_t units = wish < 1 ? 1 : wish > UNITS_MOST ? UNITS_MOST : (size_t)wish;

    if (units == run->units)
        return;
    for (size_t i = 0; i < run->units; i++) {
        free(run->unit[i].test_loss_at);
        free(run->unit[i].test_acc_at);
    }
    free(run->unit);
    run->unit = mem_new(units, sizeof *run->unit);
    run->units = units;
    for (size_t i = 0; i < units; i++) {
        struct feed_unit *u = &run->unit[i];

        *u = (struct feed_unit){.unit = (int)i, .device = (int)i};
        if (run->facts.devices > 0)
            u->device = (int)i % run->facts.devices;
        u->loss = u->acc = u->test_loss = u->test_acc = u->prefix = NAN;
        u->input = u->compute = u->reduce = u->wait = NAN;
        u->gpu_percent = u->gpu_memory = u->celsius = u->watts = NAN;
    }
    run->cut++;
    feed_rows_units_again(run);
}

void feed_rows_units_again(struct feed_run *run)
{
    for (size_t i = 0; i < run->units; i++)
        run->unit[i].n = 0;
    run->files->units_told = false;
    forget(run, FEED_FILE_MEMBERS);
    forget(run, FEED_FILE_DEVICES);
}

static void take_member(struct feed_run *run, const double *v, char *line)
{
    struct feed_unit *u;
    size_t room;

    (void)line;
    if (!(v[MEMBER_UNIT] >= 0 && v[MEMBER_UNIT] < (double)run->units))
        return;
    u = &run->unit[(size_t)v[MEMBER_UNIT]];
    room = u->room;
    u->test_loss_at = mem_grow(u->test_loss_at, &room, u->n + 1, sizeof *u->test_loss_at);
    room = u->room;
    u->test_acc_at = mem_grow(u->test_acc_at, &room, u->n + 1, sizeof *u->test_acc_at);
    u->room = room;
    u->test_loss_at[u->n] = u->test_loss = v[MEMBER_TEST_LOSS];
    u->test_acc_at[u->n++] = u->test_acc = v[MEMBER_TEST_ACC];
    u->prefix = v[MEMBER_PREFIX];
    u->device = (int)v[MEMBER_DEVICE];
    if (!run->files->units_told) {
        u->loss = v[MEMBER_TRAIN_LOSS];
        u->acc = v[MEMBER_TRAIN_ACC];
    }
}

static void take_device(struct feed_run *run, const double *v, char *line)
{
    double all = v[DEVICE_INPUT] + v[DEVICE_COMPUTE] + v[DEVICE_REDUCE] + v[DEVICE_WAIT];
    bool gpu = strstr(line, ",gpu:") != NULL;

    for (size_t i = 0; i < run->units; i++) {
        struct feed_unit *u = &run->unit[i];

        if ((double)u->device != v[DEVICE_UNIT])
            continue;
        u->gpu_percent = v[DEVICE_GPU];
        u->celsius = v[DEVICE_CELSIUS];
        u->watts = v[DEVICE_WATTS];
        u->gpu_memory = gpu ? v[DEVICE_MEMORY] : NAN;
        if (run->files->units_told)
            continue;
        if (run->facts.mode != SPEC_ENSEMBLE) {
            u->loss = v[DEVICE_LOSS];
            u->acc = v[DEVICE_ACC];
        }
        if (all > 0) {
            u->input = v[DEVICE_INPUT] / all;
            u->compute = v[DEVICE_COMPUTE] / all;
            u->reduce = v[DEVICE_REDUCE] / all;
            u->wait = v[DEVICE_WAIT] / all;
        }
    }
}

/* ---- steps ---- */

static void grow_steps(struct feed_steps *s)
{
    double **const all[] = {&s->step, &s->seconds, &s->loss, &s->acc};

    if (s->n < s->room)
        return;
    s->room = s->room ? 2 * s->room : 256;
    for (size_t k = 0; k < MEM_COUNT(all); k++)
        *all[k] = mem_resize(*all[k], s->room, sizeof **all[k]);
}

static void take_step(struct feed_run *run, const double *v, char *line)
{
    struct feed_steps *s = &run->steps;

    (void)line;
    if (!isfinite(v[STEP_AT]))
        return;
    if (s->n && s->step[s->n - 1] == v[STEP_AT]) { /* of another member */
        double share = 1.0 / (double)++s->count;

        s->loss[s->n - 1] += (v[STEP_LOSS] - s->loss[s->n - 1]) * share;
        s->acc[s->n - 1] += (v[STEP_ACC] - s->acc[s->n - 1]) * share;
    } else {
        while (s->n && s->step[s->n - 1] > v[STEP_AT]) { /* taken back and computed again */
            s->n--;
            run->cut++;
        }
        grow_steps(s);
        s->step[s->n] = v[STEP_AT];
        s->seconds[s->n] = v[STEP_SECONDS];
        s->loss[s->n] = v[STEP_LOSS];
        s->acc[s->n] = v[STEP_ACC];
        s->count = 1;
        s->n++;
    }
    if (run->own && run->live)
        return; /* its events are newer */
    if ((int64_t)v[STEP_AT] > run->step) {
        run->step = (int64_t)v[STEP_AT];
        run->train_seconds = v[STEP_SECONDS];
        run->lr = v[STEP_LR];
        time_left_step(&run->files->pace, run->step, v[STEP_SECONDS]);
        if (run->files->pace.step_seconds > 0)
            run->images_per_second = (double)run->facts.batch *
                                     (run->facts.members > 1 ? run->facts.members : 1) /
                                     run->files->pace.step_seconds;
    }
    run->loss = s->loss[s->n - 1];
    run->acc = s->acc[s->n - 1];
}

/* ---- the log ---- */

static void take_log(struct feed_run *run, const double *v, char *line)
{
    const char *words = line, *steps = strstr(line, " steps an epoch"), *at = steps;
    int64_t number;

    (void)v;
    if (steps) { /* the line of its start tells what no other file does before the first epoch ends */
        char *copy;

        while (at > line && at[-1] >= '0' && at[-1] <= '9')
            at--;
        copy = mem_text_n(at, (size_t)(steps - at));
        if (text_to_int(copy, &number) && number > 0)
            run->files->steps_per_epoch = number;
        free(copy);
    }
    if (strlen(line) > 25 && line[10] == 'T' && line[23] == 'Z') /* without day and zone */
        words = line + 11;
    if (run->logs == FEED_LOG_LINES) {
        free(run->log[0]);
        memmove(run->log, run->log + 1, (FEED_LOG_LINES - 1) * sizeof *run->log);
        run->logs--;
    }
    run->log[run->logs++] =
        words == line ? mem_textf("%.999s", line) : mem_textf("%.8s%.990s", words, line + 24);
}

/* ---- all ---- */

static const struct {
    const char *const *columns;
    feed_line_fn *take;
} file_of[FEED_FILES] = {
    [FEED_FILE_EPOCHS] = {epoch_names, take_epoch},
    [FEED_FILE_MEMBERS] = {member_names, take_member},
    [FEED_FILE_DEVICES] = {device_names, take_device},
    [FEED_FILE_STEPS] = {step_names, take_step},
    [FEED_FILE_LOG] = {NULL, take_log},
};

static void clear(struct feed_run *run, enum feed_file which)
{
    run->cut++;
    if (which == FEED_FILE_EPOCHS)
        clear_epochs(run);
    if (which == FEED_FILE_STEPS)
        run->steps.n = 0;
    if (which == FEED_FILE_MEMBERS)
        for (size_t i = 0; i < run->units; i++)
            run->unit[i].n = 0;
    if (which == FEED_FILE_LOG) {
        for (size_t i = 0; i < run->logs; i++)
            free(run->log[i]);
        run->logs = 0;
    }
    if ((which == FEED_FILE_EPOCHS || which == FEED_FILE_STEPS) && !(run->own && run->live))
        run->step = 0;
}

void feed_rows_all_due(struct feed_run *run)
{
    memset(run->files->dirty, true, sizeof run->files->dirty);
    run->files->settled = false;
}

void feed_rows_want(struct feed_run *run, bool all, struct feed_fetch fetch[FEED_FILES])
{
    struct feed_files *f = run->files;

    for (int i = 0; i < FEED_FILES; i++) {
        struct feed_fetch *x = &fetch[i];

        x->wanted = run->path[0] && (all || i == FEED_FILE_EPOCHS) && !f->fetched[i].bytes &&
                    (f->dirty[i] || f->tail[i].more) &&
                    snprintf(x->path, sizeof x->path, "%s/%s", run->path, feed_file_names[i]) <
                        (int)sizeof x->path;
        if (x->wanted)
            f->dirty[i] = false;
        x->was = x->from = f->tail[i];
    }
}

void feed_rows_fetch(struct feed_fetch fetch[FEED_FILES], bool known, bool ensemble)
{
    for (int i = 0; i < FEED_FILES; i++) {
        if (i == FEED_FILE_DEVICES && !known)
            continue; /* nobody knows whose they are */
        if (i == FEED_FILE_MEMBERS && !(known && ensemble))
            continue;
        if (fetch[i].wanted)
            feed_fetch(&fetch[i]);
    }
}

static bool same_place(const struct feed_tail *a, const struct feed_tail *b)
{
    return a->at == b->at && a->guards == b->guards && a->fields == b->fields;
}

void feed_rows_keep(struct feed_run *run, struct feed_fetch fetch[FEED_FILES])
{
    struct feed_files *f = run->files;

    for (int i = 0; i < FEED_FILES; i++) {
        struct feed_fetch *x = &fetch[i];
        bool units = i == FEED_FILE_MEMBERS || i == FEED_FILE_DEVICES;

        if (!x->wanted || x->got == FEED_READ_NOTHING) {
            f->dirty[i] |= x->wanted && units && !run->known;
            if (x->wanted)
                f->tail[i].more = false;
        } else if (!same_place(&x->was, &f->tail[i]) || (units && !run->known)) {
            f->dirty[i] = true;
            free(x->bytes);
        } else {
            if (x->got == FEED_READ_AGAIN) {
                f->tail[i] = (struct feed_tail){0};
                clear(run, (enum feed_file)i);
                run->changed++;
            }
            f->tail[i].seen = x->from.seen;
            f->tail[i].size = x->from.size;
            f->tail[i].more = x->bytes != NULL;
            if (x->bytes)
                f->fetched[i] = *x;
        }
    }
}

bool feed_rows_take(struct feed_run *run, uint64_t (*ns)(void), uint64_t until)
{
    struct feed_files *f = run->files;
    bool changed = false;

    run->reading = false;
    for (int i = 0; i < FEED_FILES; i++) {
        struct feed_fetch *x = &f->fetched[i];

        while (x->bytes && !x->over) {
            changed |= feed_take_piece(run, &f->tail[i], x, file_of[i].columns, file_of[i].take);
            if (!x->over && ns() >= until)
                break;
        }
        if (x->over) {
            free(x->bytes);
            *x = (struct feed_fetch){0};
        }
        run->reading |= f->tail[i].more;
    }
    return changed;
}

static void free_steps(struct feed_steps *s)
{
    free(s->step);
    free(s->seconds);
    free(s->loss);
    free(s->acc);
    *s = (struct feed_steps){0};
}

void feed_rows_drop_steps(struct feed_run *run)
{
    free_steps(&run->steps);
    forget(run, FEED_FILE_STEPS);
    run->cut++;
}

void feed_rows_free(struct feed_run *run)
{
    for (int k = 0; k < FEED_AXES; k++)
        free(run->epochs.x[k]);
    for (int k = 0; k < FEED_VALUES; k++)
        free(run->epochs.y[k]);
    free_steps(&run->steps);
    for (size_t i = 0; i < run->units; i++) {
        free(run->unit[i].test_loss_at);
        free(run->unit[i].test_acc_at);
    }
    free(run->unit);
    for (size_t i = 0; i < run->logs; i++)
        free(run->log[i]);
    for (int i = 0; i < FEED_FILES; i++)
        free(run->files->fetched[i].bytes);
    free(run->files);
    free(run);
}
