/* cuda/span.c: steps of training. A span's learning rates and clock go up, graphs of steps are started
 * one behind the other, results come down: the host waits once, at the end. An epoch's order goes up
 * while the epoch before it runs, where it is made by then. Between graphs the
 * stop flag is read; as no more than CUDA_DEPTH of them are under way, a stop takes effect soon. */
#include "cuda/cuda_int.h"

#include "base/clock.h"
#include "cuda/rt/work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEASURE_NS 1000000000u /* a step is measured part by part at most once a second */
#define LATE_NS    1000000000u

struct span_work {
    const struct backend_span *span;
    size_t first, count; /* steps of it */
    bool measure;
};

static enum err_code run_failed(struct cuda_place *p, int error, struct err *e)
{
    return cuda_rt_fail(e, error, "running steps on GPU %d", p->share.gpu);
}

/* ---- what goes up ---- */

static int member_of(const struct cuda_place *p, int model)
{
    return p->session->plan.mode == SPEC_ENSEMBLE ? p->share.model[model] : 0;
}

static bool own_orders(const struct cuda_place *p, const struct backend_span *span)
{
    for (int m = 1; m < p->share.models; m++)
        if (span->order[member_of(p, m)] != span->order[member_of(p, 0)])
            return true;
    return false;
}

static int orders_of(const struct cuda_place *p)
{
    return p->own ? p->share.models : 1;
}

/* Whether images from ... of every order are those that `held` has. */
static bool holds(const struct cuda_place *p, const uint32_t *held, const uint32_t *const *order,
                  size_t from, size_t n)
{
    size_t images = p->session->plan.data->train.count;

    for (int m = 0; m < orders_of(p); m++)
        if (memcmp(held + (size_t)m * images + from, order[member_of(p, m)] + from,
                   n * sizeof *held) != 0)
            return false;
    return true;
}

/* The order that went up ahead becomes the one that steps read. */
static enum err_code take_next(struct cuda_place *p, struct err *e)
{
    size_t n = (size_t)orders_of(p) * p->session->plan.data->train.count;
    uint32_t *was = p->order;

    p->order = p->next;
    p->next = was;
    p->sent = NULL;
    return cuda_place_copy(p, p->memory + p->layout.order, p->memory + p->layout.next,
                           n * sizeof *p->order, "the order of images", e);
}

/* The next epoch's order, as soon as it is made: steps never wait for it. */
static enum err_code send_next(struct cuda_place *p, const struct backend_span *span, struct err *e)
{
    const uint32_t *const *next = span->next ? span->next(span->next_user) : NULL;
    size_t images = p->session->plan.data->train.count;

    if (!next || p->sent == next[member_of(p, 0)])
        return ERR_OK;
    for (int m = 0; m < orders_of(p); m++)
        memcpy(p->next + (size_t)m * images, next[member_of(p, m)], images * sizeof *p->next);
    TRY(cuda_place_copy(p, p->memory + p->layout.next, p->next,
                        (size_t)orders_of(p) * images * sizeof *p->next, "the next order of images",
                        e));
    p->sent = next[member_of(p, 0)];
    return ERR_OK;
}

/* The images that these steps take. What the device holds is compared, not where it came from: an
 * epoch's order may lie where another one's lay. */
static enum err_code upload_order(struct cuda_place *p, const struct span_work *w, struct err *e)
{
    const struct backend_plan *plan = &p->session->plan;
    size_t images = plan->data->train.count, batch = plan->batch;
    size_t from = batch * (w->span->first_batch + w->first), n = batch * w->count;

    if (from + n > images)
        return err_set(e, ERR_FAILED, "cuda: steps up to image %zu of an epoch of %zu images",
                       from + n, images);
    if (holds(p, p->order, w->span->order, from, n))
        return ERR_OK;
    if (p->sent && holds(p, p->next, w->span->order, 0, images))
        return take_next(p, e);
    for (int m = 0; m < orders_of(p); m++) {
        const uint32_t *order = w->span->order[member_of(p, m)] + from;
        size_t at = (size_t)m * images + from;

        memcpy(p->order + at, order, n * sizeof *order);
        TRY(cuda_place_copy(p, p->memory + p->layout.order + at * sizeof *order, p->order + at,
                            n * sizeof *order, "the order of images", e));
    }
    return ERR_OK;
}

static enum err_code upload_clock(struct cuda_place *p, size_t rates, struct err *e)
{
    return cuda_place_copy(p, p->memory + p->layout.clock, p->clock,
                           sizeof *p->clock + rates * sizeof *p->rate, "the clock", e);
}

/* ---- steps ---- */

static struct cuda_list part_of(const struct cuda_list *l, size_t from, size_t to)
{
    return (struct cuda_list){.at = l->at + from, .n = to - from};
}

/* One step, launch by launch, with a mark between its parts: event[1] ... event[4]. */
static enum err_code measured_step(struct cuda_place *p, struct err *e)
{
    const struct cuda_program *program = &p->program;
    const size_t from[5] = {0, program->cut[0], program->cut[1], program->cut[2], program->step.n};

    for (int i = 0; i < 4; i++) {
        const struct cuda_list part = part_of(&program->step, from[i], from[i + 1]);
        int error;

        TRY(cuda_list_run(&part, p->share.gpu, p->stream, e));
        error = cuda_rt()->event_record(p->event[i + 1], p->stream);
        if (error)
            return run_failed(p, error, e);
    }
    return ERR_OK;
}

/* After the stream was waited for. */
static enum err_code read_measured(struct cuda_place *p, struct err *e)
{
    float ms[4] = {0};

    for (int i = 0; i < 4; i++) {
        int error = cuda_rt()->event_ms(p->event[i], p->event[i + 1], &ms[i]);

        if (error)
            return run_failed(p, error, e);
    }
    if (p->program.begin.n) /* steps fetch images beside their work: no time is for them alone */
        ms[0] = 0;
    p->times.input = (double)ms[0];
    p->times.reduce = p->group ? (double)ms[2] : 0;
    p->times.all = (double)ms[0] + (double)ms[1] + p->times.reduce + (double)ms[3];
    return ERR_OK;
}

static enum err_code capture(struct cuda_place *p, int size, struct err *e)
{
    const struct cuda_rt *rt = cuda_rt();
    enum err_code code = ERR_OK;
    int error;

    if (p->graph[size])
        return ERR_OK;
    error = rt->capture_begin(p->stream);
    if (error)
        return cuda_rt_fail(e, error, "capturing steps on GPU %d", p->share.gpu);
    for (int i = 0; i < 1 << size && code == ERR_OK; i++)
        code = cuda_list_run(&p->program.step, p->share.gpu, p->stream, e);
    error = rt->capture_end(p->stream, &p->graph[size]);
    if (code != ERR_OK) { /* what came before it is no graph of these steps */
        (void)rt->graph_close(p->graph[size]);
        p->graph[size] = NULL;
        return code;
    }
    return error ? cuda_rt_fail(e, error, "making a graph of %d step%s on GPU %d", 1 << size,
                                size ? "s" : "", p->share.gpu)
                 : ERR_OK;
}

/* With CUDA's own switch the launch of a failing kernel returns the error. A graph would not name the kernel. */
static bool launch_by_launch(void)
{
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

    return blocking && !strcmp(blocking, "1");
}

static enum err_code start_graph(struct cuda_place *p, int size, struct err *e)
{
    int error;

    if (launch_by_launch()) {
        for (int i = 0; i < 1 << size; i++)
            TRY(cuda_list_run(&p->program.step, p->share.gpu, p->stream, e));
        return ERR_OK;
    }
    TRY(capture(p, size, e));
    error = cuda_rt()->graph_launch(p->graph[size], p->stream);
    return error ? run_failed(p, error, e) : ERR_OK;
}

/* Until the work in front of the event is done. */
enum err_code cuda_place_pace(struct cuda_place *p, int i, struct err *e)
{
    const struct timespec nap = {.tv_nsec = 50000};
    uint64_t since = cuda_work_ns();

    for (;;) {
        int error = cuda_rt()->event_query(p->paced[i]);

        if (!error)
            return ERR_OK;
        if (error != CUDA_RT_NOT_READY)
            return run_failed(p, error, e);
        if (cuda_work_since(since) > LATE_NS) /* who waits there sees that others failed */
            return cuda_place_wait(p, e);
        nanosleep(&nap, NULL);
    }
}

static int largest(const struct cuda_place *p, size_t steps)
{
    int size = 0;

    while (size < p->session->largest && (size_t)2 << size <= steps)
        size++;
    return size;
}

/* *started: steps that were put into the stream. */
static enum err_code start_steps(struct cuda_place *p, const struct span_work *w, size_t *started,
                                 struct err *e)
{
    *started = 0;
    TRY(cuda_list_run(&p->program.begin, p->share.gpu, p->stream, e));
    for (size_t i = 0; *started < w->count; i++) {
        int slot = (int)(i % CUDA_DEPTH), error;

        if (i >= CUDA_DEPTH)
            TRY(cuda_place_pace(p, slot, e));
        if (!cuda_session_may(p->session, i))
            break;
        if (w->measure && i == 0) {
            TRY(measured_step(p, e));
            *started += 1;
        } else {
            int size = largest(p, w->count - *started);

            TRY(start_graph(p, size, e));
            *started += (size_t)1 << size;
        }
        error = cuda_rt()->event_record(p->paced[slot], p->stream);
        if (error)
            return run_failed(p, error, e);
        TRY(send_next(p, w->span, e));
    }
    return ERR_OK;
}

static enum err_code record(struct cuda_place *p, int event, struct err *e)
{
    int error = cuda_rt()->event_record(p->event[event], p->stream);

    return error ? run_failed(p, error, e) : ERR_OK;
}

static enum err_code span_job(struct cuda_place *p, void *arg, struct err *e)
{
    const struct span_work *w = arg;
    const struct backend_span *span = w->span;
    uint64_t since = cuda_work_ns();
    size_t started;
    float ms = 0;

    p->done = 0;
    TRY(cuda_place_program(p, own_orders(p, span), e));
    TRY(upload_order(p, w, e));
    *p->clock = (struct dev_clock){.step = span->first_step + w->first,
                                   .batch = (uint32_t)(span->first_batch + w->first),
                                   .key = {span->order_key.w[0], span->order_key.w[1]}};
    memcpy(p->rate, span->lr + w->first, w->count * sizeof *p->rate);
    TRY(upload_clock(p, w->count, e));
    TRY(record(p, 0, e));
    TRY(start_steps(p, w, &started, e));
    TRY(record(p, 5, e));
    TRY(cuda_place_copy(p, p->clock, p->memory + p->layout.clock, sizeof *p->clock, "the clock",
                        e));
    TRY(cuda_place_wait(p, e));
    if (w->measure && started > 0)
        TRY(read_measured(p, e));
    p->wall_ms = (double)cuda_work_since(since) * 1e-6;
    if (cuda_rt()->event_ms(p->event[0], p->event[5], &ms) == 0) /* it counts a stop of ours too */
        p->busy_ms = (double)ms < p->wall_ms ? (double)ms : p->wall_ms;
    p->done = p->clock->done;
    return ERR_OK;
}

/* ---- what comes down ---- */

static int unit_of(const struct cuda_place *p, int i)
{
    return p->session->plan.mode == SPEC_ENSEMBLE ? p->share.model[i] : p->share.first_shard + i;
}

/* Devices of a GPU compute together: each is given an equal part of the time, and waits for the rest,
 * as virtual devices of a CPU do. */
static void fill_times(const struct cuda_place *p, struct backend_step *row)
{
    double units = cuda_units(&p->share), steps = (double)p->done;
    double busy = p->busy_ms / steps, wall = p->wall_ms / steps;
    double all = p->times.all > 0 ? p->times.all : 1;
    double input = busy * p->times.input / all, reduce = busy * p->times.reduce / all;
    double compute = busy - input - reduce, wait;

    input /= units;
    compute /= units;
    wait = wall - input - compute - reduce;
    row->input_ns = (uint64_t)(input * 1e6);
    row->compute_ns = (uint64_t)(compute > 0 ? compute * 1e6 : 0);
    row->reduce_ns = (uint64_t)(reduce * 1e6);
    row->wait_ns = (uint64_t)(wait > 0 ? wait * 1e6 : 0);
}

static void fill_results(const struct cuda_place *p, size_t steps, int units,
                         struct backend_step *results)
{
    int here = cuda_units(&p->share);

    for (size_t i = 0; i < steps; i++)
        for (int k = 0; k < here; k++) {
            const struct cuda_result *r = &p->result[i * (size_t)here + (size_t)k];
            struct backend_step *row = &results[i * (size_t)units + (size_t)unit_of(p, k)];

            *row = (struct backend_step){
                .loss_sum = r->loss_sum, .right = r->right, .not_finite = r->not_finite != 0};
            fill_times(p, row);
        }
}

enum err_code cuda_train(struct backend_session *s, const struct backend_span *span,
                         struct backend_step *results, size_t *done, struct err *e)
{
    int units = backend_units(&s->plan);

    *done = 0;
    while (*done < span->count) {
        size_t left = span->count - *done, steps;
        uint64_t now = clock_ns();
        struct span_work w = {.span = span,
                              .first = *done,
                              .count = left < CUDA_SPAN ? left : CUDA_SPAN,
                              .measure = !s->measured || now - s->measured > MEASURE_NS};

        s->stop = span->stop;
        s->allowed = 0;
        s->stopped = false;
        s->trained = false;
        TRY(cuda_session_all(s, span_job, &w, e));
        s->measured = w.measure ? now : s->measured;
        steps = s->place[0].done;
        for (int i = 1; i < s->places; i++)
            steps = s->place[i].done < steps ? s->place[i].done : steps;
        for (int i = 0; i < s->places && steps > 0; i++)
            fill_results(&s->place[i], steps, units, results + *done * (size_t)units);
        *done += steps;
        s->trained = steps > 0;
        if (steps < w.count)
            break;
    }
    return ERR_OK;
}

/* ---- before the first span ---- */

enum err_code cuda_load(struct cuda_place *p, void *arg, struct err *e)
{
    (void)arg;
    return cuda_place_program(p, p->session->plan.own_orders && p->share.models > 1, e);
}

/* A halted clock lets a step change nothing. The second run tells how many steps a graph may have; then
 * these are captured. */
enum err_code cuda_warm(struct cuda_place *p, void *arg, struct err *e)
{
    float ms = 0;

    (void)arg;
    *p->clock = (struct dev_clock){.halted = 1};
    TRY(upload_clock(p, 1, e));
    TRY(record(p, 0, e));
    TRY(measured_step(p, e));
    if (p->group) /* making a graph may wait for a GPU whose sum over all still waits for this one */
        TRY(cuda_place_wait(p, e));
    TRY(start_graph(p, 0, e)); /* captures it, which takes the host longer than a step */
    TRY(record(p, 5, e));
    TRY(start_graph(p, 0, e));
    TRY(record(p, 0, e));
    TRY(cuda_place_wait(p, e));
    if (cuda_rt()->event_ms(p->event[5], p->event[0], &ms) == 0)
        p->step_ms = (double)ms;
    return ERR_OK;
}

enum err_code cuda_capture_all(struct cuda_place *p, void *arg, struct err *e)
{
    (void)arg;
    for (int size = 0; size <= p->session->largest; size++)
        TRY(capture(p, size, e));
    return ERR_OK;
}

/* All places take graphs of the same sizes. */
void cuda_choose_graphs(struct backend_session *s)
{
    double ms = 0;

    for (int i = 0; i < s->places; i++)
        ms = s->place[i].step_ms > ms ? s->place[i].step_ms : ms;
    s->largest = 0;
    while (s->largest < CUDA_GRAPHS - 1 &&
           (s->hooks.graph ? 2 << s->largest <= s->hooks.graph
                           : ms > 0 && ms * (2 << s->largest) <= CUDA_GRAPH_MS))
        s->largest++;
}
