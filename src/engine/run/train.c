/* The spans of a run's steps and their rows. All sums are taken a step at a time, in the order of
 * steps and units: where spans are cut, by their length, a pause or a kill, leaves no trace but in
 * the times. */
#include "engine/run/trainer_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_ROOM 1024
#define EVENT_NS  50000000 /* at most 20 events of steps a second */

/* Training time goes on from here: what lay in between is not counted. */
static void start_clock(struct trainer *t)
{
    t->mark = clock_work_ns();
}

static void count_clock(struct trainer *t)
{
    uint64_t now = clock_work_ns();

    t->s->at.n.train_ns += (int64_t)(now - t->mark);
    t->mark = now;
}

double train_lr(const struct trainer *t, int64_t step)
{
    return spec_lr_at(t->spec, t->plan->base_lr, step, t->plan->steps_per_epoch);
}

/* The mean since the row before, one row a member; in data-parallel one over all replicas. */
void train_add_row(struct trainer *t, int64_t train_ns)
{
    struct standing_counts *n = &t->s->at.n;
    struct sums *sums = &t->s->sums;

    for (int m = 0; m < sums->rows; m++) {
        t->row = mem_grow(t->row, &t->row_room, t->rows + 1, sizeof *t->row);
        t->row[t->rows++] = (struct record_step){
            .step = n->step,
            .epoch = n->epoch + 1,
            .member = m,
            .images = n->step * t->spec->batch,
            .train_seconds = train_seconds(train_ns),
            .loss = sums->row_loss[m] / (double)sums->row_images,
            .acc = (double)sums->row_right[m] / (double)sums->row_images,
            .lr = train_lr(t, n->step - 1),
        };
        sums->row_loss[m] = 0;
        sums->row_right[m] = 0;
    }
    sums->row_images = 0;
    n->row_step = n->step;
}

/* Adds one step. Returns whether every loss was finite. */
static bool add_step(struct trainer *t, const struct backend_step *results)
{
    struct sums *sums = &t->s->sums;
    bool finite = true;

    for (int u = 0; u < t->units; u++) {
        const struct backend_step *r = &results[u];
        const uint64_t ns[4] = {r->input_ns, r->compute_ns, r->reduce_ns, r->wait_ns};
        int row = sums->rows > 1 ? u : 0;

        sums->loss[u] += r->loss_sum;
        sums->right[u] += r->right;
        sums->row_loss[row] += r->loss_sum;
        sums->row_right[row] += r->right;
        t->since[u].loss += r->loss_sum;
        t->since[u].right += r->right;
        for (int k = 0; k < 4; k++) {
            sums->ns[4 * u + k] += (int64_t)ns[k];
            t->since[u].ns[k] += (int64_t)ns[k];
        }
        finite = finite && !r->not_finite && isfinite(r->loss_sum);
    }
    sums->row_images += t->spec->batch;
    t->since_steps++;
    t->s->at.n.step++;
    t->s->at.n.batch++;
    return finite;
}

static struct wire_event step_event(struct trainer *t)
{
    const struct standing_counts *n = &t->s->at.n;
    struct wire_event event = {.kind = WIRE_STEP, .run = t->s->run->number};
    double images = (double)(t->since_steps * t->unit_images * t->units), loss = 0, right = 0;
    double passed = train_seconds(n->train_ns - t->since_train_ns);

    for (int u = 0; u < t->units; u++) {
        loss += t->since[u].loss;
        right += (double)t->since[u].right;
    }
    event.u.step.step = n->step;
    event.u.step.epoch = (int32_t)n->epoch + 1;
    event.u.step.steps_per_epoch = (int32_t)t->plan->steps_per_epoch;
    event.u.step.loss = (float)(loss / images);
    event.u.step.acc = (float)(right / images);
    event.u.step.images_per_second = (float)(passed > 0 ? images / passed : 0);
    event.u.step.lr = train_lr(t, n->step - 1);
    event.u.step.train_seconds = train_seconds(n->train_ns);
    return event;
}

static struct wire_event unit_event(struct trainer *t, int u)
{
    struct wire_event event = {.kind = WIRE_UNIT, .run = t->s->run->number};
    double images = (double)(t->since_steps * t->unit_images), all = 0;
    const int64_t *ns = t->since[u].ns;

    for (int k = 0; k < 4; k++)
        all += (double)ns[k];
    all = all > 0 ? all : 1;
    event.u.unit.unit = u;
    event.u.unit.device = t->spec->mode == SPEC_ENSEMBLE ? t->plan->session.member_device[u] : u;
    event.u.unit.loss = (float)(t->since[u].loss / images);
    event.u.unit.acc = (float)((double)t->since[u].right / images);
    event.u.unit.input_share = (float)((double)ns[0] / all);
    event.u.unit.compute_share = (float)((double)ns[1] / all);
    event.u.unit.reduce_share = (float)((double)ns[2] / all);
    event.u.unit.wait_share = (float)((double)ns[3] / all);
    return event;
}

/* Sends the rows that there are, and tells of the steps where it is time to. */
void train_send_rows(struct trainer *t)
{
    uint64_t now = clock_ns();
    bool tell = t->since_steps > 0 && now - t->event_ns >= EVENT_NS;
    struct message *m;

    if (!t->rows && !tell)
        return;
    m = message_new(MESSAGE_ROWS, &t->s->at);
    m->step = t->row;
    m->steps = t->rows;
    t->row = NULL;
    t->rows = t->row_room = 0;
    if (tell) {
        m->events = 1 + (size_t)t->units;
        m->event = mem_new(m->events, sizeof *m->event);
        m->event[0] = step_event(t);
        for (int u = 0; u < t->units; u++)
            m->event[1 + u] = unit_event(t, u);
        memset(t->since, 0, (size_t)t->units * sizeof *t->since);
        t->since_steps = 0;
        t->since_train_ns = t->s->at.n.train_ns;
        t->event_ns = now;
    }
    run_send(t->s->run, m);
}

static enum err_code diverged(const struct trainer *t, struct err *e)
{
    const struct standing_counts *n = &t->s->at.n;
    char room[TEXT_NUMBER_ROOM];

    return err_set(e, ERR_DIVERGED,
                   "the loss is not finite at step %lld (epoch %lld, lr %s): try a smaller lr, "
                   "warmup or grad_clip",
                   (long long)n->step, (long long)n->epoch + 1,
                   text_double(room, train_lr(t, n->step - 1)));
}

static size_t span_length(const struct trainer *t)
{
    const struct engine_config *c = &t->s->run->engine->config;
    const struct standing_counts *n = &t->s->at.n;
    double span_ns = (c->span_ms > 0 ? c->span_ms : 20) * 1e6;
    int64_t left = t->plan->steps_per_epoch - n->batch, count;

    count = t->step_ns > 0 && span_ns / t->step_ns < SPAN_ROOM ? (int64_t)(span_ns / t->step_ns)
                                                               : SPAN_ROOM;
    if (t->step_ns <= 0 || count < 1)
        count = 1;
    if (c->max_span_steps > 0 && count > c->max_span_steps)
        count = c->max_span_steps;
    if (t->spec->max_steps && left > t->spec->max_steps - n->step)
        left = t->spec->max_steps - n->step;
    count = count < left ? count : left;
    return (size_t)(count < (int64_t)t->span_room ? count : (int64_t)t->span_room);
}

/* Of a span that a stop cut: a step that it left half done is made again, and its time counted then. Returns
 * what the others took, by those before. */
static int64_t drop_half_step(struct trainer *t, int64_t before, size_t done)
{
    int64_t *ns = &t->s->at.n.train_ns, made = (int64_t)(t->step_ns * (double)done);

    if (made < *ns - before)
        *ns = before + made;
    return *ns - before;
}

static enum err_code train_span(struct trainer *t, struct err *e)
{
    struct session *s = t->s;
    struct standing_counts *n = &s->at.n;
    struct backend_span span = {.first_step = (uint64_t)n->step,
                                .count = span_length(t),
                                .first_batch = (size_t)n->batch,
                                .order = t->order,
                                .next = order_next,
                                .next_user = t->orders,
                                .lr = t->lr,
                                .order_key = t->order_key,
                                .stop = &s->run->stop};
    int64_t before = n->train_ns, spent;
    size_t done = 0;
    enum err_code code;

    for (size_t i = 0; i < span.count; i++)
        t->lr[i] = train_lr(t, n->step + (int64_t)i);
    code = t->plan->backend->train(s->backend, &span, t->results, &done, e);
    count_clock(t);
    spent = n->train_ns - before;
    if (done < span.count)
        spent = drop_half_step(t, before, done);
    else
        t->step_ns = (double)spent / (double)done;
    for (size_t i = 0; i < done; i++) {
        bool finite = add_step(t, t->results + i * (size_t)t->units);

        if (!finite || n->step % t->spec->log_every == 0 || n->batch == t->plan->steps_per_epoch)
            train_add_row(t, before + (int64_t)((double)spent * (double)(i + 1) / (double)done));
        if (!finite) {
            train_send_rows(t);
            return diverged(t, e);
        }
    }
    train_send_rows(t);
    return code;
}

/* Whether the run is over before its epochs are. */
static enum run_end early_end(const struct session *s)
{
    const struct standing_counts *n = &s->at.n;
    const struct spec *spec = &s->plan->spec;

    if (spec->max_steps && n->step >= spec->max_steps)
        return RUN_MAX_STEPS;
    if (spec->max_minutes > 0 && train_seconds(n->train_ns + n->eval_ns) >= 60 * spec->max_minutes)
        return RUN_MAX_MINUTES;
    return RUN_GOES_ON;
}

enum run_end session_end(const struct session *s)
{
    const struct standing_counts *n = &s->at.n;
    const struct spec *spec = &s->plan->spec;

    if (!n->epoch || n->batch)
        return RUN_GOES_ON;
    if (n->epoch >= spec->epochs && n->step == n->epoch * s->plan->steps_per_epoch)
        return RUN_EPOCHS;
    if (early_end(s))
        return early_end(s);
    return spec->patience && n->bad_epochs >= spec->patience ? RUN_PATIENCE : RUN_GOES_ON;
}

/* Up to the end of the epoch, or of the run. */
static enum err_code train_epoch(struct trainer *t, struct err *e)
{
    struct standing_counts *n = &t->s->at.n;

    TRY(session_obey(t->s, e));
    start_clock(t);
    TRY(order_of(t->orders, n->epoch + 1, &t->order, e));
    t->order_key = net_order_key(t->spec->seed, n->epoch + 1);
    while (n->batch < t->plan->steps_per_epoch && !early_end(t->s)) {
        TRY(train_span(t, e));
        if (atomic_load(&t->s->run->stop)) {
            TRY(session_obey(t->s, e));
            start_clock(t);
        }
    }
    return ERR_OK;
}

/* What ends between two steps too is obeyed before the next one. */
static bool stops_after_epoch(struct run *r)
{
    bool stops;

    pthread_mutex_lock(&r->lock);
    stops = run_deed_locked(r, WIRE_AT_EPOCH) >= WIRE_END &&
            run_deed_locked(r, WIRE_AT_STEP) < WIRE_END;
    r->obeyed |= stops;
    pthread_mutex_unlock(&r->lock);
    return stops;
}

static enum err_code train_all(struct trainer *t, struct err *e)
{
    struct standing *at = &t->s->at;

    while (!session_end(t->s)) {
        struct results r = {0};
        bool trains = at->n.epoch < t->spec->epochs;
        enum err_code code = trains ? train_epoch(t, e) : ERR_OK;

        if (code == ERR_OK)
            code = epoch_evaluate(t, &r, e);
        if (code == ERR_OK && trains) {
            code = epoch_end(t, &r, e);
        } else if (code == ERR_OK) { /* epochs = 0 */
            at->x.last_test_acc = r.test.acc;
            at->x.last_test_loss = r.test.loss;
        }
        epoch_free(&r);
        if (code != ERR_OK || !trains)
            return code;
        if (!session_end(t->s) && stops_after_epoch(t->s->run))
            return err_set(e, ERR_STOPPED, "stopped after epoch %lld", (long long)at->n.epoch);
    }
    return ERR_OK;
}

enum err_code session_train(struct session *s, struct err *e)
{
    struct trainer t = {.s = s, .plan = s->plan, .spec = &s->plan->spec};
    enum err_code code;

    t.units = backend_units(&s->plan->session);
    t.members = s->plan->session.members;
    t.unit_images = t.spec->mode == SPEC_ENSEMBLE ? t.spec->batch : t.spec->batch / t.spec->devices;
    t.orders = order_open(s->plan, s->plan->backend->gpus != NULL);
    t.since = mem_new((size_t)t.units, sizeof *t.since);
    t.since_train_ns = s->at.n.train_ns;
    t.span_room = (size_t)(t.units < 64 ? SPAN_ROOM : SPAN_ROOM * 64 / t.units + 1);
    t.results = mem_new(t.span_room * (size_t)t.units, sizeof *t.results);
    t.lr = mem_new(t.span_room, sizeof *t.lr);
    code = s->stands_in ? epoch_send(s, e) : ERR_OK;
    if (code == ERR_OK)
        code = train_all(&t, e);
    order_close(t.orders);
    free(t.since);
    free(t.results);
    free(t.lr);
    free(t.row);
    free(t.logits);
    return code;
}
