/* engine/forecast/experience.h: how long a run will take, by what runs like it took on this machine. Training and
 * evaluation are priced apart, each for a floating point operation, and a run counts for as much as
 * it trained: one of two steps says nothing about an epoch. A step has a price of its own
 * beside that of its images. What beginning and ending cost comes once a run, whatever its size. */
#ifndef CHORUS_ENGINE_FORECAST_EXPERIENCE_H
#define CHORUS_ENGINE_FORECAST_EXPERIENCE_H

#include "record/run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_run;

struct
    experience_terms { /* of a run: logarithms but for the work, which is its training's operations */
    double work, used;   /* used: threads that had a part in it */
    double train, other; /* seconds, of training those of an operation */
    double flops, threads, batch;
};

struct experience { /* of an earlier run on this machine */
    char backend[32], isa[32], precision[16];
    double flops; /* an image */
    double parameters;
    double batch, threads;
    double train_seconds, model_images;
    double eval_seconds;
    double other_seconds; /* to begin, to write, to end: what is neither training nor evaluation */
    double evaluations;   /* of all members on all test images */
    double members;
    char data[256]; /* the end of its name; with test_limit, 0 for none: what it was evaluated on */
    int64_t test_limit;
    double valid_images;
    struct experience_terms
        terms; /* what does not depend on the question; work 0: computed with each */
};

/* Whether the run tells anything. */
bool experience_learn(struct experience *x, const struct record_run *run);
/* Its terms, for one that many questions are asked about and that stays as it is. */
void experience_weigh(struct experience *x);

struct experience_ask { /* what is planned */
    const char *backend, *isa, *precision, *data;
    double flops, parameters, batch, threads, members;
    double model_images; /* that will be trained */
    double evaluations;
    double test_images, valid_images; /* of an evaluation */
    int64_t test_limit;
};

/* Newest first. NAN where none of them has that backend, and ran long enough to tell. Work is taken to share
 * out evenly over the threads that have a part in it. *guessed: from so many runs, none of which is like what
 * is planned; 0: one of them is. */
double experience_seconds(const struct experience *known, size_t count,
                          const struct experience_ask *ask, int *guessed);

#endif
