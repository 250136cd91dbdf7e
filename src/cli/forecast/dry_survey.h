/* cli/forecast/dry_survey.h: the cells of a sweep as they would run. */
#ifndef CHORUS_CLI_FORECAST_DRY_SURVEY_H
#define CHORUS_CLI_FORECAST_DRY_SURVEY_H

#include "cli/jobs/sweep.h"

#include <stddef.h>

struct dry_one { /* a cell */
    size_t cell;
    char *reason;  /* why it is left out, or skipped; NULL: it is not */
    bool skipped;  /* it is a cell, and no run of it can begin, or it was dropped before */
    char *at_once; /* why it is a cell that ends at once, by its code: too large for the memory, or
                        without the weights that it starts from; NULL: it is not */
    bool ended;    /* it has a result, and is not run again */
    bool seen;     /* as far as --max-cells goes */
    bool taken;    /* it would run */
    enum err_code code;
    double seconds; /* nan: unknown */
    int guessed_from;
    uint64_t hash; /* of its resolved settings; 0: not known */
    char name[17]; /* plan_hash's, which the sweep's folder knows it by; empty: not known */
};

struct dry_survey {
    const struct spec_sweep *s;
    struct dry_one *one; /* (cells) in the order in which they run */
    size_t cells, left_out;
    size_t refused;        /* no run of them can begin */
    size_t allowed;        /* by --max-cells, of those that can run */
    size_t ended, skipped; /* as far as it goes */
    size_t wanted;         /* that would run */
    size_t at_once;        /* of those: that end at once */
    size_t too_large;      /* of those: for the memory */
    int jobs;              /* side by side */
    double seconds;        /* of the wanted ones; nan */
    int guessed_from;      /* runs, where a cell is unlike all of them */
    size_t unknown;        /* wanted ones of which nothing is known */
    char *crowding;        /* of the first cell with more threads than cores; NULL: none has */
    bool moved;            /* they stand in another order than the sweep's own */
};

/* An error where no cell can run; v is to be freed then too. */
enum err_code dry_survey(struct dry_survey *v, const struct spec_sweep *s,
                         const struct sweep_wish *wish, struct err *e) MUST_USE;
void dry_survey_free(struct dry_survey *v);

#endif
