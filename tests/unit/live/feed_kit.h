/* tests/unit/live/feed_kit.h: runs on the disk and on the wire, for what follows them. */
#ifndef CHORUS_TESTS_UNIT_LIVE_FEED_KIT_H
#define CHORUS_TESTS_UNIT_LIVE_FEED_KIT_H

#include "record/run/run.h"
#include "tests/unit/record/help.h"
#include "live/feed_int.h"

static uint64_t kit_now = 1000000000000u;
static uint64_t kit_ns(void)
{
    return kit_now;
}

static inline void kit_pass(double seconds)
{
    kit_now += (uint64_t)(seconds * 1e9);
}

struct kit {
    char *results;
    struct wire *wire;
    struct feed *feed;
};

static inline void kit_open(struct kit *k, size_t events)
{
    k->results = help_folder();
    k->wire = wire_new(events);
    k->feed = feed_new(k->wire, k->results);
    feed_set_clock(k->feed, kit_ns);
}

static inline void kit_close(struct kit *k)
{
    feed_free(k->feed);
    wire_free(k->wire);
    help_remove(k->results);
}

/* A run's folder, owned by this process until its record is closed. */
static inline struct record *kit_run(struct kit *k, struct record_run *run)
{
    struct record *record = NULL;
    struct err e;

    run->real_devices = 1;
    if (record_create(&record, k->results, run, "model = lenet\n", "# net\n",
                      run->spec.mode == SPEC_ENSEMBLE, &e) != ERR_OK) {
        printf("  %s\n", e.text);
        exit(1);
    }
    return record;
}

static inline void kit_epoch(struct record *r, int64_t epoch, int64_t steps, double loss,
                             double acc)
{
    struct record_epoch row = {.epoch = epoch,
                               .step = epoch * steps,
                               .images = epoch * steps * 10,
                               .model_images = epoch * steps * 10,
                               .train_seconds = 10.0 * (double)epoch,
                               .eval_seconds = 2.0 * (double)epoch,
                               .device_seconds = 10.0 * (double)epoch,
                               .train_loss = loss + 0.1,
                               .train_acc = acc - 0.1,
                               .val_loss = RECORD_EMPTY,
                               .val_acc = RECORD_EMPTY,
                               .test_loss = loss,
                               .test_acc = acc,
                               .member_acc_min = acc - 0.02,
                               .member_acc_mean = acc - 0.01,
                               .member_acc_max = acc - 0.005,
                               .member_loss_mean = loss + 0.05,
                               .lr = 0.1,
                               .images_per_second = 1000};

    snprintf(row.ended_utc, sizeof row.ended_utc, "2026-11-20T10:15:30.412Z");
    if (record_add_epoch(r, &row, NULL) != ERR_OK)
        exit(1);
}

static inline void kit_step(struct record *r, int64_t step, int64_t member, double loss)
{
    struct record_step row = {.step = step,
                              .epoch = 1,
                              .member = member,
                              .images = step * 10,
                              .train_seconds = 0.1 * (double)step,
                              .loss = loss,
                              .acc = 0.5,
                              .lr = 0.1};

    if (record_add_step(r, &row, NULL) != ERR_OK)
        exit(1);
}

static inline void kit_started(struct kit *k, uint32_t number, const char *path,
                               const struct spec *s, int64_t steps)
{
    struct wire_event event = {.kind = WIRE_STARTED, .run = number};
    struct wire_facts f = {.mode = (int32_t)s->mode,
                           .devices = s->devices,
                           .real_devices = 1,
                           .members = s->mode == SPEC_ENSEMBLE ? s->members : 1,
                           .batch = 10,
                           .epochs = s->epochs,
                           .steps_per_epoch = steps};

    snprintf(f.path, sizeof f.path, "%s", path);
    snprintf(f.backend, sizeof f.backend, "cpu");
    event.slot = wire_slot_put(k->wire, &f, sizeof f);
    wire_post(k->wire, &event);
}

static inline void kit_state(struct kit *k, uint32_t number, const char *path,
                             enum wire_state state, const char *reason)
{
    struct wire_event event = {.kind = WIRE_STATE, .run = number, .u.state.state = state};
    struct wire_status status = {.run = number, .state = state};

    snprintf(status.path, sizeof status.path, "%s", path);
    snprintf(status.reason, sizeof status.reason, "%s", reason);
    wire_set_status(k->wire, &status);
    if (*reason)
        event.slot = wire_slot_put(k->wire, reason, strlen(reason) + 1);
    wire_post(k->wire, &event);
}

static inline void kit_told_step(struct kit *k, uint32_t number, int64_t step, double seconds)
{
    struct wire_event event = {.kind = WIRE_STEP, .run = number};

    event.u.step.step = step;
    event.u.step.loss = 0.5f;
    event.u.step.acc = 0.75f;
    event.u.step.images_per_second = 1234;
    event.u.step.train_seconds = seconds;
    wire_post(k->wire, &event);
}

#endif
