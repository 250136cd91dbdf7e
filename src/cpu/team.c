/* cpu/team.c: what each thread does with a span of steps or a stretch of test images. */
#include "cpu/cpu_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static bool stop_wanted(const struct cpu_job *job)
{
    return job->stop && atomic_load_explicit(job->stop, memory_order_relaxed);
}

/* One image into its lane; index: of the part; place: in the epoch, for augmentation. */
static void take_image(struct cpu_worker *w, const struct data_part *part, size_t index,
                       uint64_t place, const struct backend_span *span, float *to)
{
    const struct backend_plan *p = &w->team->s->plan;
    const struct data_set *set = p->data;
    struct net_shape shape = set->shape;
    size_t pixels = (size_t)shape.h * (size_t)shape.w, c = (size_t)shape.c;

    if (c == 1 && part->bytes && !(span && p->augment)) {
        const uint8_t *bytes = part->bytes + index * pixels;
        for (size_t i = 0; i < pixels; i++)
            to[i * CPU_LANES] = set->lut[bytes[i]];
        return;
    }
    if (span && p->augment)
        data_image_augmented(set, part, index, p->augment, p->crop_pad, span->order_key, place,
                             w->picture);
    else
        data_image(set, part, index, w->picture);
    for (size_t ch = 0; ch < c; ch++) {
        for (size_t i = 0; i < pixels; i++)
            to[(ch * pixels + i) * CPU_LANES] = w->picture[i * c + ch];
    }
}

/* Groups from, ..., from + n - 1 of a training batch into w->images. */
static void take_batch(struct cpu_worker *w, const struct backend_span *span, int model,
                       size_t batch, int from, int n)
{
    struct backend_session *s = w->team->s;
    size_t floats = (size_t)s->plan.net->input.h * (size_t)s->plan.net->input.w *
                    (size_t)s->plan.net->input.c * CPU_LANES;

    for (int g = 0; g < n; g++) {
        float *to = w->images + (size_t)g * floats;
        size_t first;
        int lanes;
        cpu_group(s, from + g, &first, &lanes);
        if (lanes < CPU_LANES)
            memset(to, 0, floats * sizeof *to);
        for (int lane = 0; lane < lanes; lane++) {
            size_t place = batch * s->plan.batch + first + (size_t)lane;
            take_image(w, &s->plan.data->train, span->order[model][place], place, span, to + lane);
        }
    }
}

/* Softmax cross entropy of one lane: its loss, whether it is right, and the gradient to the logits
 * times scale. logits and gradient: stride CPU_LANES. */
static float lane_loss(const float *logits, int classes, int label, float scale, float *gradient,
                       uint8_t *right)
{
    float top = logits[0], sum = 0;
    int best = 0;

    for (int c = 1; c < classes; c++) {
        if (logits[c * CPU_LANES] > top) {
            top = logits[c * CPU_LANES];
            best = c;
        }
    }
    for (int c = 0; c < classes; c++) {
        gradient[c * CPU_LANES] = expf(logits[c * CPU_LANES] - top);
        sum += gradient[c * CPU_LANES];
    }
    for (int c = 0; c < classes; c++)
        gradient[c * CPU_LANES] =
            (gradient[c * CPU_LANES] / sum - (c == label ? 1.0f : 0.0f)) * scale;
    *right = best == label;
    return logf(sum) + top - logits[label * CPU_LANES];
}

static void take_losses(struct cpu_worker *w, const struct backend_span *span, int model,
                        size_t batch, int from, int n)
{
    struct backend_session *s = w->team->s;
    int last = s->layers - 1, classes = (int)s->layer[last].out;
    /* the mean over devices of the mean, or the sum, within a device */
    float scale = s->plan.mode == SPEC_ENSEMBLE
                      ? (s->plan.sum_loss ? 1.0f : 1.0f / (float)s->plan.batch)
                      : 1.0f / (float)(s->plan.sum_loss ? (size_t)s->plan.devices : s->plan.batch);

    for (int g = 0; g < n; g++) {
        const float *logits = w->act[last] + (size_t)g * (size_t)classes * CPU_LANES;
        float *gradient = w->grad[last] + (size_t)g * (size_t)classes * CPU_LANES;
        size_t first;
        int lanes;
        cpu_group(s, from + g, &first, &lanes);
        if (lanes < CPU_LANES)
            memset(gradient, 0, (size_t)classes * CPU_LANES * sizeof *gradient);
        for (int lane = 0; lane < lanes; lane++) {
            size_t at = first + (size_t)lane;
            uint32_t image = span->order[model][batch * s->plan.batch + at];
            w->team->image_loss[at] =
                lane_loss(logits + lane, classes, s->plan.data->train.labels[image], scale,
                          gradient + lane, &w->team->image_right[at]);
        }
    }
}

/* Sums in the order of the images, so that threads do not matter. Returns whether all are finite. */
static bool sum_up(struct cpu_team *t, int model, struct backend_step *row, const uint64_t ns[4])
{
    const struct backend_plan *p = &t->s->plan;
    int units = p->mode == SPEC_ENSEMBLE ? 1 : p->devices;
    size_t each = p->batch / (size_t)units;
    bool finite = true;

    if (p->mode == SPEC_ENSEMBLE)
        row += model;
    for (int u = 0; u < units; u++, row++) {
        *row = (struct backend_step){.input_ns = ns[0] / (uint64_t)units,
                                     .compute_ns = ns[1] / (uint64_t)units,
                                     .wait_ns = ns[2] / (uint64_t)units,
                                     .reduce_ns = ns[3] / (uint64_t)units};
        for (size_t i = (size_t)u * each; i < (size_t)(u + 1) * each; i++) {
            row->loss_sum += (double)t->image_loss[i];
            row->right += t->image_right[i];
        }
        row->not_finite = !isfinite(row->loss_sum);
        finite = finite && !row->not_finite;
    }
    return finite;
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

/* Forward and backward of this worker's groups. A step of a single model can be given up in the
 * middle; members would get out of step with each other. */
static void compute(struct cpu_worker *w, const struct cpu_job *job, int model, size_t i,
                    uint64_t *input_ns)
{
    struct backend_session *s = w->team->s;
    const struct backend_span *span = job->span;
    const struct cpu_model *m = &s->model[model];
    size_t batch = span->first_batch + i;
    int from, to;

    memset(w->dparam, 0, s->params * sizeof *w->dparam);
    cpu_share(s->batch_groups, w->team->size, w->rank, &from, &to);
    do { /* once at least: batch norm's barriers count on everybody */
        int n = to - from < w->groups ? to - from : w->groups;
        if (s->plan.members == 1 && stop_wanted(job))
            atomic_store_explicit(&w->team->abandon, true, memory_order_relaxed);
        uint64_t begin = clock_ns();
        if (!(n == to - from && w->held_order == span->order[model] && w->held_batch == batch)) {
            take_batch(w, span, model, batch, from, n);
            w->held_order = n == to - from ? span->order[model] : NULL;
            w->held_batch = batch;
        }
        *input_ns += clock_ns() - begin;
        cpu_forward(w, m, from, n, true, span->first_step + i);
        take_losses(w, span, model, batch, from, n);
        cpu_backward(w, m, from, n);
        from += n;
    } while (from < to);
}

/* Returns false where the step was given up or the span ends with it. */
static bool train_model(struct cpu_worker *w, const struct cpu_job *job, int model, size_t i)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    uint64_t ns[4] = {0}, begin = clock_ns();
    struct backend_step *row = job->results + i * (size_t)backend_units(&s->plan);

    compute(w, job, model, i, &ns[0]);
    uint64_t computed = clock_ns();
    ns[1] = computed - begin - ns[0];
    cpu_barrier(w);
    if (atomic_load_explicit(&t->abandon, memory_order_relaxed))
        return false;
    ns[2] = clock_ns() - computed;
    uint64_t reducing = clock_ns();
    cpu_update(w, &s->model[model], job->span->lr[i], job->span->first_step + i);
    ns[3] = clock_ns() - reducing;
    if (w->rank == 0)
        t->finite = sum_up(t, model, row, ns);
    cpu_barrier(w);
    return t->finite;
}

void cpu_train(struct cpu_worker *w, const struct cpu_job *job)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;

    w->held_order = NULL; /* an address may hold another epoch's order by now */
    for (size_t i = 0; i < job->span->count; i++) {
        if (w->rank == 0) {
            t->go = may_begin(s, job, (int64_t)i);
            atomic_store_explicit(&t->abandon, false, memory_order_relaxed);
        }
        cpu_barrier(w);
        if (!t->go)
            return;
        for (int m = t->first_model; m < s->plan.members; m += t->model_step) {
            if (train_model(w, job, m, i))
                continue;
            if (w->rank == 0)
                end_span(s);
            if (atomic_load_explicit(&t->abandon, memory_order_relaxed)) {
                if (w->rank == 0) { /* only ever with one team and one model */
                    pthread_mutex_lock(&s->lock);
                    s->furthest = (int64_t)i - 1;
                    pthread_mutex_unlock(&s->lock);
                }
                return;
            }
        }
    }
}

void cpu_evaluate(struct cpu_worker *w, const struct cpu_job *job)
{
    struct cpu_team *t = w->team;
    struct backend_session *s = t->s;
    int groups = (int)((job->count + CPU_LANES - 1) / CPU_LANES), from, to;
    size_t classes = s->layer[s->layers - 1].out;
    size_t floats = (size_t)s->plan.net->input.h * (size_t)s->plan.net->input.w *
                    (size_t)s->plan.net->input.c * CPU_LANES;

    w->held_order = NULL;
    cpu_share(groups, t->size, w->rank, &from, &to);
    for (int n; from < to; from += n) {
        n = to - from < w->groups ? to - from : w->groups;
        if (stop_wanted(job)) {
            end_span(s); /* the flag may be down again before the others look */
            return;
        }
        for (int g = 0; g < n; g++) {
            float *images = w->images + (size_t)g * floats;
            for (size_t lane = 0; lane < CPU_LANES; lane++) {
                size_t at = (size_t)(from + g) * CPU_LANES + lane;
                if (at < job->count)
                    take_image(w, job->part, job->first + at, 0, NULL, images + lane);
                else
                    for (size_t k = 0; k < floats; k += CPU_LANES)
                        images[k + lane] = 0;
            }
        }
        for (int m = t->first_model; m < s->plan.members; m += t->model_step) {
            cpu_forward(w, &s->model[m], from, n, false, 0);
            const float *act = w->act[s->layers - 1];
            for (size_t at = (size_t)from * CPU_LANES;
                 at < (size_t)(from + n) * CPU_LANES && at < job->count; at++) {
                size_t g = at / CPU_LANES - (size_t)from, lane = at % CPU_LANES;
                float *to_logits = job->logits + ((size_t)m * job->count + at) * classes;
                for (size_t c = 0; c < classes; c++)
                    to_logits[c] = act[(g * classes + c) * CPU_LANES + lane];
            }
        }
    }
}
