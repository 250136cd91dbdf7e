/* wire/forecast.h: what a request would cost before it runs: the answer to WIRE_ASK. */
#ifndef CHORUS_WIRE_FORECAST_H
#define CHORUS_WIRE_FORECAST_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct wire_plan {      /* of a run */
    enum err_code code; /* ERR_OK, or why it cannot begin: error says it */
    char error[1024];
    int64_t images, test_images, dropped, steps_per_epoch, batch, batch_per_device, epochs;
    int32_t h, w, c, classes, devices, real_devices, members, threads;
    bool ensemble;
    uint64_t parameters, bytes_per_device;
    uint64_t most_bytes;   /* of the place that takes the most, of so many */
    int32_t places;        /* 0: nobody knows */
    uint64_t unused_bytes; /* free on a GPU, where that is too few of them now */
    char lacking[300];     /* the same in a sentence; empty: there are enough */
    double flops_per_image, model_images, lr, seconds; /* seconds: nan where nothing is known yet */
    int32_t
        guessed_from; /* seconds are a guess from so many runs unlike this one; 0: they are not */
    char backend[32];
    char crowding[96]; /* more threads than cores: a sentence; empty where they are not */
};

enum wire_fate { /* what becomes of a cell */
                 WIRE_RUNS,
                 WIRE_LEFT_OUT,   /* it is no cell of the sweep, or the same as another one */
                 WIRE_NO_START,   /* no run of it can begin, or it was dropped before: skipped */
                 WIRE_TOO_LARGE,  /* for the memory, which is its result */
                 WIRE_NO_WEIGHTS, /* it fails at once: what it starts from does not fit */
                 WIRE_HAS_RESULT,
                 WIRE_BEYOND, /* --max-cells leaves it for another time */
                 WIRE_FATES
};

struct wire_range {
    double lo, hi; /* nan: nothing is known */
};

#define WIRE_REASONS       24
#define WIRE_OTHER_REASONS "other reasons" /* what further ones are counted under */

struct wire_reason { /* why cells do not train */
    enum wire_fate fate;
    uint64_t cells;
    char text[1024];
};

struct wire_forecast {
    uint32_t question;
    bool complete; /* all cells were seen, and what each costs is known */
    bool final;    /* and which have a result, and all runs that tell of time were read */
    uint64_t cells, left_out;
    uint64_t runs;      /* that would train, as far as is known */
    uint64_t too_large; /* that would end at once */
    uint64_t no_weights, with_result;
    uint64_t skipped, dropped_before; /* dropped_before: of those skipped, by a person */
    uint64_t possible;                /* neither left out nor such that no run of them can begin */
    uint64_t begin; /* of these, as far as --max-cells goes; with a result or without one */
    bool cut;       /* further cells can run, which --max-cells leaves */
    bool planned;   /* the rest is known: of the first cell that can run ... */
    struct wire_plan plan;
    /* ... and of all that can. */
    struct wire_range per_device, steps, dropped, lr, parameters, bytes, as_one, devices, threads,
        images, test_images;
    struct wire_range unused;   /* free bytes of GPUs that have too few now; nan: enough */
    double model_images, flops; /* of all runs */
    double seconds;             /* of those whose time is known; nan: of none is it */
    double seconds_of_all;      /* the same where the mean stands for those */
    uint64_t unknown;           /* runs whose time is not known */
    int32_t guessed_from;       /* the most runs unlike them that any time is a guess from */
    char crowding[96];          /* a cell has more threads than there are cores; empty: none has */
    char problem[1024];         /* nothing can run: why; else empty */
    uint32_t reasons;
    struct wire_reason reason[WIRE_REASONS];
};

#endif
