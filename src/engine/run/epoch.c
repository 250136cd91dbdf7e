/* The end of an epoch: evaluation, rows, whether it was the best. */
#include "engine/run/trainer_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pauses and stops are obeyed, the evaluation begun anew behind them. */
static enum err_code evaluate(struct trainer *t, const struct data_part *part, struct metrics *m,
                              struct err *e)
{
    struct session *s = t->s;
    size_t room = (size_t)t->members * part->count * (size_t)t->plan->net->classes;
    enum err_code code;
    uint64_t start;

    if (room > t->logit_room) {
        free(t->logits);
        t->logit_room = 0;
        t->logits = mem_try(room, sizeof *t->logits);
        if (!t->logits)
            return err_set(e, ERR_NOMEM, "no memory for the answers to %zu images, %zu bytes",
                           part->count, room * sizeof *t->logits);
        t->logit_room = room;
    }
    do {
        TRY(session_obey(s, e));
        start = clock_work_ns();
        code = t->plan->backend->evaluate(s->backend, part, 0, part->count, &s->run->stop,
                                          t->logits, e);
    } while (code == ERR_STOPPED);
    if (code != ERR_OK)
        return code;
    metrics_compute(m, t->logits, t->members, part->count, t->plan->net->classes, part->labels);
    s->at.n.eval_ns += (int64_t)(clock_work_ns() - start);
    return ERR_OK;
}

enum err_code epoch_evaluate(struct trainer *t, struct results *r, struct err *e)
{
    const struct data_set *data = t->plan->data;

    r->has_valid = data->valid.count > 0;
    TRY(evaluate(t, &data->test, &r->test, e));
    if (r->has_valid)
        TRY(evaluate(t, &data->valid, &r->valid, e));
    r->loss = r->has_valid ? r->valid.loss : r->test.loss;
    r->acc = r->has_valid ? r->valid.acc : r->test.acc;
    return ERR_OK;
}

static void judge(struct trainer *t, const struct results *r)
{
    struct standing *at = &t->s->at;
    bool none = at->n.best_epoch == 0, best;

    at->x.last_test_acc = r->test.acc;
    at->x.last_test_loss = r->test.loss;
    best = isfinite(r->loss) && (none || r->acc > at->x.best_acc ||
                                 (r->acc == at->x.best_acc && r->loss < at->x.best_loss));
    if (best) {
        at->n.best_epoch = at->n.epoch;
        at->x.best_acc = r->acc;
        at->x.best_loss = r->loss;
        at->x.best_test_acc = r->test.acc;
        at->x.best_test_loss = r->test.loss;
    }
    if (isfinite(r->loss) && (at->x.least_loss == RECORD_EMPTY || r->loss < at->x.least_loss)) {
        at->x.least_loss = r->loss;
        at->n.bad_epochs = 0;
    } else {
        at->n.bad_epochs++;
    }
    if (t->spec->target_acc > 0 && at->x.target_seconds == RECORD_EMPTY &&
        r->acc >= t->spec->target_acc)
        at->x.target_seconds = train_seconds(at->n.train_ns);
}

static double unit_seconds(const struct trainer *t, int device, int k)
{
    int64_t ns = 0;

    for (int u = 0; u < t->units; u++)
        if (device < 0 || u % t->spec->devices == device)
            ns += t->s->sums.ns[4 * u + k];
    return train_seconds(ns);
}

static double known(double x)
{
    return isnan(x) ? RECORD_EMPTY : x;
}

/* What the device is, and what its GPU says of itself. */
static void fill_gauge(struct trainer *t, int device, struct record_device *row)
{
    struct backend_gauge g = {0, NAN, NAN, NAN, NAN};

    snprintf(row->real, sizeof row->real, "cpu");
    g.memory = t->s->run->bytes_per_device; /* where the backend can say no better */
    if (t->plan->backend->gauge) {
        t->plan->backend->gauge(t->s->backend, device, &g);
        snprintf(row->real, sizeof row->real, "gpu:%d", g.gpu);
    }
    row->memory_bytes = known(g.memory);
    row->gpu_percent = known(g.percent);
    row->temperature_c = known(g.celsius);
    row->power_watts = known(g.watts);
}

/* Rows of devices: in data-parallel a unit is a device; in an ensemble the members u with
 * u mod devices. */
static void fill_devices(struct trainer *t, struct message *m, int64_t steps)
{
    const struct standing_counts *n = &t->s->at.n;

    m->devices = (size_t)t->spec->devices;
    m->device = mem_new(m->devices, sizeof *m->device);
    for (int d = 0; d < t->spec->devices; d++) {
        struct record_device *row = &m->device[d];
        double loss = 0, right = 0;
        int count = 0;

        for (int u = d; u < t->units; u += t->spec->devices, count++) {
            loss += t->s->sums.loss[u];
            right += (double)t->s->sums.right[u];
        }
        *row = (struct record_device){
            .epoch = n->epoch,
            .device = d,
            .images = n->step * t->unit_images * count,
            .train_loss = loss / (double)(steps * t->unit_images * count),
            .train_acc = right / (double)(steps * t->unit_images * count),
            .input_seconds = unit_seconds(t, d, 0),
            .compute_seconds = unit_seconds(t, d, 1),
            .reduce_seconds = unit_seconds(t, d, 2),
            .wait_seconds = unit_seconds(t, d, 3),
        };
        fill_gauge(t, d, row);
    }
}

static void fill_members(struct trainer *t, struct message *m, const struct results *r,
                         int64_t steps, double passed)
{
    double images = (double)(steps * t->unit_images);

    if (t->spec->mode != SPEC_ENSEMBLE)
        return;
    m->members = (size_t)t->members;
    m->member = mem_new(m->members, sizeof *m->member);
    for (int k = 0; k < t->members; k++)
        m->member[k] = (struct record_member){
            .epoch = t->s->at.n.epoch,
            .member = k,
            .device = t->plan->session.member_device[k],
            .train_loss = t->s->sums.loss[k] / images,
            .train_acc = (double)t->s->sums.right[k] / images,
            .test_loss = r->test.member_loss[k],
            .test_acc = r->test.member_acc[k],
            .prefix_acc = r->test.prefix_acc[k],
            .images_per_second = passed > 0 ? images / passed : 0,
        };
}

static void fill_epoch(struct trainer *t, struct message *m, const struct results *r, int64_t steps,
                       double passed)
{
    const struct standing_counts *n = &t->s->at.n;
    double images = (double)(steps * t->unit_images * t->units), loss = 0, right = 0;
    double devices = t->spec->devices;

    for (int u = 0; u < t->units; u++) {
        loss += t->s->sums.loss[u];
        right += (double)t->s->sums.right[u];
    }
    m->epoch = mem_new(1, sizeof *m->epoch);
    *m->epoch = (struct record_epoch){
        .epoch = n->epoch,
        .step = n->step,
        .images = n->step * t->spec->batch,
        .model_images = n->step * t->spec->batch * t->members,
        .train_seconds = train_seconds(n->train_ns),
        .eval_seconds = train_seconds(n->eval_ns),
        .device_seconds = train_seconds(n->train_ns) * t->plan->real_devices,
        .train_loss = loss / images,
        .train_acc = right / images,
        .val_loss = r->has_valid ? r->valid.loss : RECORD_EMPTY,
        .val_acc = r->has_valid ? r->valid.acc : RECORD_EMPTY,
        .test_loss = r->test.loss,
        .test_acc = r->test.acc,
        .member_acc_min = r->test.member_acc_min,
        .member_acc_mean = r->test.member_acc_mean,
        .member_acc_max = r->test.member_acc_max,
        .member_loss_mean = r->test.member_loss_mean,
        .ece = r->test.ece,
        .disagreement = r->test.disagreement,
        .lr = train_lr(t, n->step - 1),
        .images_per_second = passed > 0 ? images / passed : 0,
        .input_seconds = unit_seconds(t, -1, 0) / devices,
        .compute_seconds = unit_seconds(t, -1, 1) / devices,
        .reduce_seconds = unit_seconds(t, -1, 2) / devices,
        .wait_seconds = unit_seconds(t, -1, 3) / devices,
    };
    clock_utc(m->epoch->ended_utc, clock_wall());
}

static void tell_epoch(struct trainer *t, struct message *m)
{
    struct wire_event *event = mem_new(1, sizeof *event);

    event->kind = WIRE_EPOCH;
    event->run = t->s->run->number;
    m->event = event;
    m->events = 1;
}

/* None where epochs are shorter than the disk's moments, and the next one will do. */
enum err_code epoch_send(struct session *s, struct err *e)
{
    struct message *m = message_new(MESSAGE_SNAPSHOT, &s->at);
    enum err_code code;

    m->best = s->at.n.best_epoch == s->at.n.epoch && s->plan->spec.keep & SPEC_KEEP_BEST;
    code = session_snapshot(s, m->best, m->best || checkpoint_names(s->run, s->at.n.epoch),
                            &m->snapshot, e);
    if (!m->snapshot) {
        message_free(m);
        return code;
    }
    s->sent_epoch = s->at.n.epoch;
    run_send(s->run, m);
    return ERR_OK;
}

/* The epoch is evaluated: its rows, whether it was the best. */
enum err_code epoch_end(struct trainer *t, struct results *r, struct err *e)
{
    struct session *s = t->s;
    struct standing_counts *n = &s->at.n;
    struct message *m;
    int64_t steps = n->batch;
    double passed = train_seconds(n->train_ns - n->epoch_ns);

    if (n->row_step < n->step)
        train_add_row(t, n->train_ns);
    train_send_rows(t);
    n->epoch++;
    judge(t, r);
    m = message_new(MESSAGE_ROWS, NULL);
    fill_devices(t, m, steps);
    fill_members(t, m, r, steps, passed);
    fill_epoch(t, m, r, steps, passed);
    tell_epoch(t, m);
    n->batch = 0;
    n->epoch_ns = n->train_ns;
    memset(s->sums.loss, 0, (size_t)t->units * sizeof *s->sums.loss);
    memset(s->sums.right, 0, (size_t)t->units * sizeof *s->sums.right);
    m->at = s->at;
    run_send(s->run, m);
    if (!isfinite(r->test.loss) || !isfinite(r->loss))
        return err_set(e, ERR_DIVERGED,
                       "the %s loss is not finite after epoch %lld (step %lld): try a smaller lr, "
                       "warmup or grad_clip",
                       isfinite(r->test.loss) ? "validation" : "test", (long long)n->epoch,
                       (long long)n->step);
    return epoch_send(s, e);
}

void epoch_free(struct results *r)
{
    metrics_free(&r->test);
    metrics_free(&r->valid);
}
