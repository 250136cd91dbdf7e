/* What a run says: events and statuses on the wire, lines in its log. */
#include "engine/engine_int.h"

#include "base/io.h"
#include "base/loss.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "record/run/run.h"
#include "record/run/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t text_slot(struct run *r, const char *text)
{
    return text[0] ? wire_slot_put(r->engine->wire, text, strlen(text) + 1) : 0;
}

void run_log(struct run *r, enum log_level level, const char *fmt, ...)
{
    struct wire_event event = {.kind = WIRE_LOG, .run = r->number, .u.log.level = level};
    char line[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (r->record)
        record_log(r->record, line);
    event.slot = text_slot(r, line);
    wire_post(r->engine->wire, &event);
}

void run_refuse(struct engine *engine, uint32_t number, enum err_code code, const char *text)
{
    struct wire_event event = {.kind = WIRE_REFUSED, .run = number, .u.refused.code = code};

    event.slot = wire_slot_put(engine->wire, text, strlen(text) + 1);
    wire_post(engine->wire, &event);
}

void run_status(struct run *r, enum err_code code, const char *reason)
{
    struct wire_status status = {.run = r->number,
                                 .state = r->state,
                                 .code = code,
                                 .step = r->at.n.step,
                                 .epoch = r->at.n.epoch,
                                 .wish = run_wish(r),
                                 .closing = r->part || atomic_load(&r->engine->leaving)};

    snprintf(status.path, sizeof status.path, "%s", r->path);
    snprintf(status.reason, sizeof status.reason, "%s", reason);
    wire_set_status(r->engine->wire, &status);
}

void run_tell_state(struct run *r, enum wire_state state, enum err_code code, const char *reason)
{
    struct wire_event event = {
        .kind = WIRE_STATE, .run = r->number, .u.state = {.state = state, .code = code}};

    TRACE(ENGINE, 1, "%s is %s%s%s", r->path ? io_last_part(r->path) : "a run",
          wire_state_name(state), reason && *reason ? ": " : "", reason ? reason : "");
    r->state = state;
    run_status(r, code, reason);
    event.slot = text_slot(r, reason);
    wire_post(r->engine->wire, &event);
}

void run_tell_started(struct run *r)
{
    const struct plan *p = r->plan;
    struct wire_event event = {.kind = WIRE_STARTED, .run = r->number};
    struct wire_facts *f = mem_new(1, sizeof *f);

    snprintf(f->path, sizeof f->path, "%s", r->path);
    snprintf(f->name, sizeof f->name, "%.127s", r->row.run);
    snprintf(f->backend, sizeof f->backend, "%s", p->backend->name);
    snprintf(f->isa, sizeof f->isa, "%s", plan_isa(p));
    snprintf(f->precision, sizeof f->precision, "%s", p->precision_used);
    f->mode = p->spec.mode;
    f->devices = p->spec.devices;
    f->real_devices = p->real_devices;
    f->members = p->session.members;
    f->threads = p->spec.threads;
    f->batch = p->spec.batch;
    f->batch_per_device = p->batch_per_device;
    f->epochs = p->spec.epochs;
    f->epochs_done = r->at.n.epoch;
    f->steps_per_epoch = p->steps_per_epoch;
    f->steps_done = r->at.n.step;
    f->max_steps = p->spec.max_steps;
    f->dropped = p->dropped;
    f->train_images = p->train_images;
    f->valid_images = p->valid_images;
    f->test_images = p->test_images;
    f->parameters = p->net->parameter_count;
    f->flops_per_image = p->net->flops;
    f->lr = p->base_lr;
    f->queued = r->queued;
    snprintf(f->equal_run, sizeof f->equal_run, "%s", r->equal);
    event.slot = wire_slot_put(r->engine->wire, f, sizeof *f);
    free(f);
    wire_post(r->engine->wire, &event);
}

/* Who computes it, and what of it was found out. */
void run_log_start(struct run *r)
{
    const struct plan *p = r->plan;
    const struct spec *s = &p->spec;
    struct text t = {0};
    char number[TEXT_NUMBER_ROOM], steps[TEXT_NUMBER_ROOM];
    bool ensemble = s->mode == SPEC_ENSEMBLE;

    run_log(r, LOG_DEBUG,
            "%s on %s: %s training images, %s steps an epoch; %s (%s), threads = %d, process "
            "%ld on %s, chorus %s",
            r->model, p->data->name, text_count(number, (uint64_t)p->train_images),
            text_count(steps, (uint64_t)p->steps_per_epoch), p->backend->name, plan_isa(p),
            s->threads, (long)getpid(), r->row.host, r->engine->version);
    text_addf(&t, "batch %lld", (long long)s->batch);
    if (!ensemble && s->devices > 1)
        text_addf(&t, " (%lld each)", (long long)p->batch_per_device);
    text_addf(&t, ", lr %s, seed %llu, %lld epoch%s, %s", text_double(number, p->base_lr),
              (unsigned long long)s->seed, (long long)s->epochs, text_s(s->epochs),
              p->precision_used);
    if (ensemble)
        text_addf(&t, ", %d member%s", p->session.members, text_s(p->session.members));
    text_addf(&t, ", %d device%s (%d real)", s->devices, text_s(s->devices), p->real_devices);
    if (r->bytes_per_device > 0)
        text_addf(&t, ", %s a device", text_bytes(number, (uint64_t)r->bytes_per_device));
    if (p->why[0] && !p->note[0]) /* the note tells of it */
        text_addf(&t, "; backend = auto is %s: %s", p->backend->name, p->why);
    run_log(r, LOG_DEBUG, "%s", text_str(&t));
    text_free(&t);
}

static void drop_hashes(char *plans)
{
    for (char *at = strstr(plans, " #"), *end; at; at = strstr(at, " #")) {
        end = at + 2 + strcspn(at + 2, " ");
        memmove(at, end, strlen(end) + 1);
    }
}

/* Old checkpoints have plans without the hashes behind their numbers: of these nobody knows whether they
 * are the same. */
static bool other_plans(const struct record_run *before, const struct record_run *now)
{
    char was[RECORD_PLANS_ROOM], is[RECORD_PLANS_ROOM];

    snprintf(was, sizeof was, "%s", before->plans);
    snprintf(is, sizeof is, "%s", now->plans);
    if (!strchr(was, '#'))
        drop_hashes(is);
    return strcmp(was, is) != 0;
}

/* Bytes are promised for the same backend, instruction set, threads and number of GPUs alone. */
static void compare_with_before(struct run *r)
{
    const struct record_run *was = &r->found, *is = &r->row;
    const struct spec *s = &r->plan->spec;
    char room[2][TEXT_NUMBER_ROOM];

    if (strcmp(was->backend_used, is->backend_used) || strcmp(was->isa, is->isa) ||
        was->threads_used != is->threads_used)
        run_log(r, LOG_WARN,
                "until now this run was computed by %s (%s, threads = %lld), from here on by %s "
                "(%s, threads = %lld): bytes may differ from those of an unbroken run",
                was->backend_used, was->isa, (long long)was->threads_used, is->backend_used,
                is->isa, (long long)is->threads_used);
    else if (s->mode == SPEC_DATA_PARALLEL && was->real_devices != is->real_devices)
        run_log(
            r, LOG_WARN,
            "until now this run was computed by %lld real device%s, from here on by %lld, whose "
            "sums are others: bytes may differ from those of an unbroken run",
            (long long)was->real_devices, text_s(was->real_devices), (long long)is->real_devices);
    if (strcmp(was->version, is->version) != 0)
        run_log(
            r, LOG_WARN,
            "until now this run was computed by chorus %s, from here on by chorus %s: bytes may "
            "differ from those of an unbroken run where their kernels do",
            was->version, is->version);
    if (other_plans(was, is))
        run_log(r, LOG_WARN,
                "until now convolutions went by other plans (%s), from here on by these: %s; bytes "
                "may differ from those of an unbroken run",
                was->plans[0] ? was->plans : "none of a library's",
                is->plans[0] ? is->plans : "none of a library's");
    if (!r->extended && was->cell[0] && strncmp(was->cell, r->hash, strlen(r->hash)))
        run_log(r, LOG_WARN,
                "the data, the model or the settings are not those that this run began with");
    if (r->extended)
        run_log(r, LOG_INFO, "extended from %lld to %lld epochs", (long long)was->spec.epochs,
                (long long)s->epochs);
    if (r->extended && s->schedule == SPEC_COSINE)
        run_log(r, LOG_WARN,
                "schedule = cosine now ends at epoch %lld: the learning rate goes on at %s, under "
                "the old end it would be %s",
                (long long)s->epochs,
                text_double(room[0], spec_lr_at(s, r->plan->base_lr, r->at.n.step,
                                                r->plan->steps_per_epoch)),
                text_double(room[1], spec_lr_at(&was->spec, r->plan->base_lr, r->at.n.step,
                                                r->plan->steps_per_epoch)));
}

static void say_one_class(struct run *r)
{
    const struct data_set *data = r->plan->data;
    int class = data_only_class(&data->train);

    if (class >= 0)
        run_log(r, LOG_WARN,
                "all %lld training images are of class %d%s%s: the model learns to say that and "
                "nothing else; mix the rows, or take more of them",
                (long long)r->plan->train_images, class, data->class_names ? ", " : "",
                data->class_names ? data->class_names[class] : "");
}

static void say_crowded(struct run *r)
{
    char words[PLAN_CROWDING_ROOM];

    if (!*plan_crowding(r->plan, r->sweep ? sweep_at_once(r->sweep) : 1, plan_cores(), words))
        return;
    run_log(r, LOG_INFO, "%s", words);
    if (r->sweep)
        sweep_tell_crowding(r->sweep, words);
}

void run_log_opened(struct run *r)
{
    const struct plan *p = r->plan;

    if (r->resumed) {
        run_log(r, LOG_INFO, "goes on at step %lld, epoch %lld", (long long)r->at.n.step,
                (long long)r->at.n.epoch + 1);
        compare_with_before(r);
    }
    if (p->spec.devices > p->real_devices)
        run_log(r, LOG_INFO, "%d virtual devices on %d real one%s", p->spec.devices,
                p->real_devices, text_s(p->real_devices));
    say_crowded(r);
    if (p->note[0])
        run_log(r, LOG_INFO, "%s", p->note);
    if (p->lacking[0])
        run_log(r, LOG_WARN, "%s", p->lacking);
    if (p->data->note)
        run_log(r, LOG_INFO, "data: %s", p->data->note);
    say_one_class(r);
    if (r->equal[0])
        run_log(r, LOG_INFO, "an earlier run has the same settings: %s", r->equal);
}

void run_log_epoch(struct run *r, const struct record_epoch *row, bool best)
{
    struct text t = {0};
    char acc[TEXT_NUMBER_ROOM], loss[LOSS_ROOM];

    text_addf(&t, "epoch %lld of %lld: ", (long long)row->epoch, (long long)r->plan->spec.epochs);
    if (row->val_acc != RECORD_EMPTY)
        text_addf(&t, "valid %s loss %s, ", text_fixed(acc, row->val_acc, 4),
                  loss_text(loss, row->val_loss));
    text_addf(&t, "test %s loss %s, ", text_fixed(acc, row->test_acc, 4),
              loss_text(loss, row->test_loss));
    text_addf(&t, "train %s loss %s%s, %s images/s", text_fixed(acc, row->train_acc, 4),
              loss_text(loss, row->train_loss), best ? ", the best so far" : "",
              TEXT_COUNT(row->images_per_second + 0.5));
    run_log(r, LOG_DEBUG, "%s", text_str(&t));
    text_free(&t);
}
