/* engine/run/trainer_int.h: what train.c (spans of steps) and epoch.c (their ends) share. */
#ifndef CHORUS_ENGINE_RUN_TRAINER_INT_H
#define CHORUS_ENGINE_RUN_TRAINER_INT_H

#include "engine/engine_int.h"
#include "engine/run/metrics.h"
#include "engine/run/order.h"
#include "record/run/run.h"

struct trainer {
    struct session *s;
    const struct plan *plan;
    const struct spec *spec;
    int units, members;
    int64_t unit_images; /* of one step */

    struct order *orders;
    struct rng_key order_key;     /* this epoch's */
    const uint32_t *const *order; /* (members) this epoch's */
    size_t span_room;
    struct backend_step *results; /* (span_room, units) */
    double *lr;                   /* (span_room) */
    double step_ns;               /* measured; 0: not yet */
    uint64_t mark;                /* training time is counted up to here */
    float *logits;
    size_t logit_room;

    struct record_step *row; /* of the span */
    size_t rows, row_room;
    struct { /* since the event before: (units) */
        double loss;
        int64_t right, ns[4];
    } * since;
    int64_t since_steps, since_train_ns;
    uint64_t event_ns;
};

struct results { /* of an epoch, or of the initial weights */
    struct metrics test, valid;
    bool has_valid;
    double loss, acc; /* what best is chosen by */
};

static inline double train_seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* The learning rate of the update with `step` updates done. */
double train_lr(const struct trainer *t, int64_t step);
/* The means since the row before as rows of steps.csv, to be sent by train_send_rows. */
void train_add_row(struct trainer *t, int64_t train_ns);
/* Sends the rows that there are, and tells of the steps where it is time to. */
void train_send_rows(struct trainer *t);

/* Test and validation data. Pauses and stops are obeyed, the evaluation begun anew behind them. */
enum err_code epoch_evaluate(struct trainer *t, struct results *r, struct err *e) MUST_USE;
/* Its rows, whether it was the best; a snapshot. */
enum err_code epoch_end(struct trainer *t, struct results *r, struct err *e) MUST_USE;
/* Its snapshot, for all files that are kept of it. */
enum err_code epoch_send(struct session *s, struct err *e) MUST_USE;
void epoch_free(struct results *r);

#endif
