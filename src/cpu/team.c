/* cpu/team.c: what each thread does with a span of steps or a stretch of test images. */
#include "cpu/session_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static bool stop_wanted(const struct cpu_job *job)
{
    return job->stop && atomic_load_explicit(job->stop, memory_order_relaxed);
}

/* Groups place, ..., place + n - 1 of a training batch into the team's buffer. */
static void take_batch(struct cpu_worker *w, const struct backend_span *span, int model,
                       size_t batch, int place, int n)
{
    struct backend_session *s = w->team->s;

    for (int g = place; g < place + n; g++) {
        size_t first;
        int lanes;
        cpu_group(s, g, &first, &lanes);
        first += batch * s->plan.batch;
        cpu_take_group(w, &s->plan.data->train, span->order[model] + first, lanes, span, first, g);
    }
}

static void take_losses(struct cpu_worker *w, const struct backend_span *span, int model,
                        size_t batch, int place, int n)
{
    struct backend_session *s = w->team->s;
    int last = s->layers - 1, classes = (int)s->layer[last].out;
    /* the mean over devices of the mean, or the sum, within a device */
    float scale = s->plan.mode == SPEC_ENSEMBLE
                      ? (s->plan.sum_loss ? 1.0f : 1.0f / (float)s->plan.batch)
                      : 1.0f / (float)(s->plan.sum_loss ? (size_t)s->plan.devices : s->plan.batch);

    for (int g = place; g < place + n; g++) {
        uint16_t labels[CPU_LANES] = {0};
        size_t first;
        int lanes;
        cpu_group(s, g, &first, &lanes);
        const uint32_t *image = span->order[model] + batch * s->plan.batch + first;
        for (int lane = 0; lane < lanes; lane++)
            labels[lane] = s->plan.data->train.labels[image[lane]];
        s->k->loss(classes, cpu_act(w, last, g), labels, lanes, scale, cpu_grad(w, last, g),
                   w->team->image_loss + first, w->team->image_right + first);
    }
}

/* Rows that one model fills: its own, or those of all devices. */
static int units_of(const struct backend_plan *p)
{
    return p->mode == SPEC_ENSEMBLE ? 1 : p->devices;
}

/* Sums in the order of the images, so that threads do not matter. Returns whether all are finite. */
static bool sum_up(struct cpu_team *t, struct backend_step *row)
{
    const struct backend_plan *p = &t->s->plan;
    size_t each = p->batch / (size_t)units_of(p);
    bool finite = true;

    for (int u = 0; u < units_of(p); u++, row++) {
        *row = (struct backend_step){0};
        for (size_t i = (size_t)u * each; i < (size_t)(u + 1) * each; i++) {
            row->loss_sum += (double)t->image_loss[i];
            row->right += t->image_right[i];
        }
        row->not_finite = !isfinite(row->loss_sum);
        finite = finite && !row->not_finite;
    }
    return finite;
}

/* ns: of input, compute, wait and reduce, in equal parts to all rows. */
static void note_times(const struct backend_plan *p, struct backend_step *row, const uint64_t ns[4])
{
    uint64_t units = (uint64_t)units_of(p);

    for (int u = 0; u < units_of(p); u++, row++) {
        row->input_ns = ns[0] / units;
        row->compute_ns = ns[1] / units;
        row->wait_ns = ns[2] / units;
        row->reduce_ns = ns[3] / units;
    }
}

/* No team begins a step that others will not make: after a stop all teams end at the step that the
 * furthest has begun. */
static bool may_begin(struct backend_session *s, const struct cpu_job *job, int64_t step)
{
    pthread_mutex_lock(&s->lock);
    if (stop_wanted(job))
        s->ending = true;
    bool may = step <= s->furthest || !s->ending;
    if (may && step > s->furthest)
        s->furthest = step;
    pthread_mutex_unlock(&s->lock);
    return may;
}

static void end_span(struct backend_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_mutex_unlock(&s->lock);
}

/* The pictures' layers go chunk by chunk through the cache: forward in order, backward the other
 * way, so that what was there last is used first. */
static void pictures(struct cpu_worker *w, struct cpu_model *m, int from, int to, bool back)
{
    struct backend_session *s = w->team->s;
    int n;

    if (s->dealt) { /* a single group, and all threads at every layer */
        if (back)
            cpu_backward(w, m, 0, s->pictures, from, to - from);
        else
            cpu_forward(w, m, 0, s->pictures, from, to - from, true);
        return;
    }
    for (int at = back ? to : from; s->pictures && (back ? at > from : at < to);
         at += back ? -n : n) {
        int left = back ? at - from : to - at;
        n = left < s->chunk ? left : s->chunk;
        cpu_look_for_stop(w);
        if (atomic_load_explicit(&w->team->abandon, memory_order_relaxed))
            return;
        w->chunk = back ? at - n : at;
        if (back)
            cpu_backward(w, m, 0, s->pictures, w->chunk, n);
        else
            cpu_forward(w, m, 0, s->pictures, at, n, true);
    }
}

/* A stop of the program may come between the two. */
static uint64_t between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* The batch of a step. */
struct batch {
    const struct backend_span *span;
    int model;
    size_t step, number; /* in the span, in the epoch */
    bool held;           /* its images are taken */
};

/* Groups [from, to), all layers forward and backward. */
static void go_through(struct cpu_worker *w, const struct batch *b, int from, int to,
                       uint64_t *input_ns)
{
    struct backend_session *s = w->team->s;
    struct cpu_model *m = &s->model[b->model];
    uint64_t begin = clock_work_ns();

    if (!b->held)
        take_batch(w, b->span, b->model, b->number, from, to - from);
    *input_ns += between(begin, clock_work_ns());
    cpu_draw_masks(w, m, from, to - from, b->span->first_step + b->step);
    pictures(w, m, from, to, false);
    cpu_look_for_stop(w);
    cpu_forward(w, m, s->pictures, s->layers, from, to - from, true);
    if (s->layer[s->layers - 1].units)
        cpu_barrier(w);
    if (!atomic_load_explicit(&w->team->abandon, memory_order_relaxed))
        take_losses(w, b->span, b->model, b->number, from, to - from);
    cpu_look_for_stop(w);
    cpu_backward(w, m, s->pictures, s->layers, from, to - from);
    if (s->pictures && s->layer[s->layer[s->pictures - 1].tail].wait_backward)
        cpu_barrier(w);
    pictures(w, m, from, to, true);
}

/* Forward and backward of this worker's groups. */
static void compute(struct cpu_worker *w, const struct cpu_job *job, int model, size_t i,
                    uint64_t *input_ns)
{
    struct backend_session *s = w->team->s;
    const struct backend_span *span = job->span;
    struct batch b = {span, model, i, span->first_batch + i, false};
    int from, to;

    if (w->rank > 0)
        memset(w->own, 0, s->own_kept * sizeof *w->own);
    for (int r = 0; w->rank == 0 && r < s->ranges; r++)
        memset(w->team->dparam + s->range[r].from, 0,
               (s->range[r].to - s->range[r].from) * sizeof *w->team->dparam);
    w->square = 0;
    w->committed = false;
    w->job = job;
    cpu_update_begin(w, span->lr[i], span->first_step + i);
    cpu_share(s->batch_groups, w->team->size, w->rank, &from, &to);
    if (s->spare)
        cpu_spare_begin(w, true, from);
    b.held = w->held_order == span->order[model] && w->held_batch == b.number;
    w->held_order = span->order[model];
    w->held_batch = b.number;
    if (!s->piece) {
        go_through(w, &b, from, to, input_ns);
        return;
    }
    for (int n, left = to - from; left > 0; left -= n, from += n) {
        cpu_look_for_stop(w);
        if (atomic_load_explicit(&w->team->abandon, memory_order_relaxed))
            return;
        int pieces = (left + s->piece - 1) / s->piece;
        n = (left + pieces - 1) / pieces;
        w->base = w->shift = from - w->rank * s->piece;
        go_through(w, &b, from, from + n, input_ns);
    }
}

/* Rank 0's word to the others, with a barrier behind it: whether step i is made. */
static void decide(struct cpu_team *t, const struct cpu_job *job, size_t i)
{
    t->go = i < job->span->count && may_begin(t->s, job, (int64_t)i);
    atomic_store_explicit(&t->abandon, false, memory_order_relaxed);
}

/* Returns false where the step was given up. The barrier that ends a model's step stands in front of
 * the next one's too. */
static bool train_model(struct cpu_worker *w, const struct cpu_job *job, int model, size_t i)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    uint64_t ns[4] = {0}, begin = clock_work_ns();
    struct backend_step *row = job->results + i * (size_t)backend_units(&s->plan);
    bool last = model + t->model_step >= s->plan.members;

    if (s->plan.mode == SPEC_ENSEMBLE)
        row += model;
    compute(w, job, model, i, &ns[0]);
    uint64_t computed = clock_work_ns();
    ns[1] = between(begin + ns[0], computed);
    cpu_barrier(w);
    if (atomic_load_explicit(&t->abandon, memory_order_relaxed))
        return false;
    uint64_t reducing = clock_work_ns();
    ns[2] = between(computed, reducing);
    if (w->rank == 0 && !sum_up(t, row))
        end_span(s);
    cpu_update(w, &s->model[model]);
    if (w->rank == 0 && last)
        decide(t, job, i + 1);
    cpu_barrier(w);
    ns[3] = between(reducing, clock_work_ns());
    if (w->rank == 0)
        note_times(&s->plan, row, ns);
    return true;
}

void cpu_train(struct cpu_worker *w, const struct cpu_job *job)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;

    w->held_order = NULL; /* an address may hold another epoch's order by now */
    if (w->rank == 0)
        decide(t, job, 0);
    cpu_barrier(w);
    for (size_t i = 0; t->go; i++) {
        for (int m = t->first_model; m < s->plan.members; m += t->model_step) {
            if (train_model(w, job, m, i))
                continue;
            if (w->rank == 0) { /* only ever with one team and one model */
                pthread_mutex_lock(&s->lock);
                s->furthest = (int64_t)i - 1;
                pthread_mutex_unlock(&s->lock);
            }
            return;
        }
    }
}

/* Models [model, end), in the order of the images; places [place, place + each) are this worker's. */
static void evaluate_models(struct cpu_worker *w, const struct cpu_job *job, int model, int end,
                            int place, int each)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    int groups = (int)((job->count + s->lanes - 1) / s->lanes), from, to;
    size_t classes = s->layer[s->layers - 1].out;

    cpu_share(groups, t->size, w->rank, &from, &to);
    for (int n; from < to; from += n) {
        n = to - from < each ? to - from : each;
        for (int g = 0; g < n; g++) {
            uint32_t index[CPU_LANES];
            size_t first = (size_t)(from + g) * s->lanes;
            size_t left = job->count - first;
            int lanes = (int)(left < s->lanes ? left : s->lanes);
            for (int lane = 0; lane < lanes; lane++)
                index[lane] = (uint32_t)(job->first + first) + (uint32_t)lane;
            cpu_take_group(w, job->part, index, lanes, NULL, 0, place + g);
        }
        for (int m = model; m < end; m += t->model_step) {
            for (int g = 0; s->pictures && g < n; g += s->chunk)
                cpu_forward(w, &s->model[m], 0, s->pictures, place + g,
                            n - g < s->chunk ? n - g : s->chunk, false);
            cpu_forward(w, &s->model[m], s->pictures, s->layers, place, n, false);
            if (w->stopped) {
                end_span(s);
                return;
            }
            const float *act = cpu_act(w, s->layers - 1, place);
            for (size_t at = (size_t)from * s->lanes;
                 at < (size_t)(from + n) * s->lanes && at < job->count; at++) {
                size_t g = at / s->lanes - (size_t)from, lane = at % s->lanes;
                float *to_logits = job->logits + ((size_t)m * job->count + at) * classes;
                for (size_t c = 0; c < classes; c++)
                    to_logits[c] = act[(g * classes + c) * s->lanes + lane];
            }
        }
    }
}

/* Each thread by itself, in its own part of the team's buffers. */
void cpu_evaluate(struct cpu_worker *w, const struct cpu_job *job)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    int each = t->places / t->size, place = each * w->rank, members = s->plan.members;

    w->held_order = NULL;
    w->job = job;
    w->stopped = false;
    w->base = w->shift = 0;
    if (!s->spare) {
        for (int m = t->first_model; m < members && !s->packed; m += t->model_step)
            cpu_pack_to_evaluate(w, &s->model[m]);
        cpu_barrier(w);
        evaluate_models(w, job, t->first_model, members, place, each);
        return;
    }
    cpu_spare_begin(w, false, place);
    for (int m = t->first_model; m < members; m += t->model_step) {
        cpu_spare_pack_all(w, &s->model[m]); /* by all threads, stopped or not */
        if (!w->stopped)
            evaluate_models(w, job, m, m + 1, place, each);
    }
}
