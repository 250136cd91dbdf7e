/* ui/survey.h: what a form means before it runs. A survey looks at the cells of a sweep, a few or a
 * million of them, as long as it is let; whoever asks the planner sees in an account which cells are
 * worth a question (those that cost the same are one) and what the answers come to. */
#ifndef CHORUS_UI_SURVEY_H
#define CHORUS_UI_SURVEY_H

#include "spec/sweep.h"
#include "wire/wire.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SURVEY_KINDS   512 /* kinds of cells that are told apart; those of further ones are unknown */
#define SURVEY_REASONS 24

struct survey_range {
    double lo, hi; /* nan: nothing is known */
};

enum survey_fate {                   /* of a cell that does not train */
                   SURVEY_OUT,       /* left out: it is no cell of the sweep */
                   SURVEY_SKIPPED,   /* it is one, and no run of it can begin */
                   SURVEY_TOO_LARGE, /* for the memory, which is its result */
                   SURVEY_FATES
};

struct survey_reason {
    enum survey_fate fate;
    char *text;
    size_t cells;
};

struct survey;

/* Takes the sweep, which is closed; *s is empty afterwards. */
struct survey *survey_new(struct spec_sweep *s);
void survey_free(struct survey *v);
/* Before it looks: no more than so many (0: all) of the cells that can run are taken, the first ones of
 * the order in which they run; grid: as the lists stand. */
void survey_cut(struct survey *v, int64_t most, bool grid);
/* Looks on for so long, at one cell at least; stop (may be NULL) ends it sooner. True: all are seen. */
bool survey_look(struct survey *v, uint64_t ns, const atomic_bool *stop);
/* How many cells it made for that: one of those that differ by nothing that costs or that is checked. */
size_t survey_made(const struct survey *v);

struct account_kind {
    const struct spec *spec; /* the survey's, which must outlive the account */
    size_t cells;
    bool asked, answered;
    struct wire_plan plan;
};

struct account {                  /* all zeros is empty */
    size_t cells, seen, left_out; /* left_out: by what the cells themselves say */
    size_t other;                 /* of unknown kind */
    struct account_kind *kind;    /* (kinds) */
    size_t kinds;
    struct survey_reason reason[SURVEY_REASONS]; /* with the planner's */
    size_t reasons;
    struct survey_range lr;
    int jobs;                /* the caller's: so many side by side; 0: one after the other */
    size_t most;             /* as survey_cut has it; 0: all */
    const uint16_t *kind_of; /* (seen) the survey's */
    const size_t *order;     /* (seen) the survey's: the cells' numbers; NULL: 0, 1, ... */
    uint8_t *had; /* (cells) by their numbers: enum wire_state of a result; NULL: none has */
};
void account_free(struct account *a);
/* Takes over what the survey has seen since; only while nobody looks. */
void account_update(struct account *a, const struct survey *v);
/* A kind that nobody has asked about; -1: none. */
int account_next(const struct account *a);
void account_answer(struct account *a, size_t kind, const struct wire_plan *plan);
/* Runs have ended: the kinds whose seconds are not known, or guessed, are to be asked about again. What
 * they have holds until that is answered. */
void account_ask_again(struct account *a);
/* What cells had before, in place of what was known of that. */
void account_had(struct account *a, const struct wire_ended *cell, size_t count);

struct account_sum {
    bool complete;         /* all cells are seen and all kinds answered */
    size_t runs;           /* cells that would train, as far as is known */
    size_t too_large, had; /* that would end at once; that have a result, and are not run again */
    size_t skipped, dropped_before; /* dropped_before: of those skipped, by a person */
    size_t left_out;
    bool cut;                     /* further cells can run, which survey_cut leaves */
    const struct wire_plan *plan; /* of the first cell that can run; NULL: no answer yet */
    const struct spec *spec;      /* its settings */
    const char *problem;          /* nothing can run: why; NULL */
    const char *crowding;         /* a cell has more threads than there are cores; NULL: none has */
    struct survey_range per_device, batch, steps, dropped, lr, parameters, bytes, members, as_one;
    struct survey_range devices, threads, images, test_images;
    struct survey_range unused; /* free bytes of GPUs that have too few now; nan: enough */
    double model_images, flops; /* of all runs */
    double longest;             /* seconds of the one that takes longest */
    double seconds;             /* nan: unknown */
    bool guessed;               /* of some from runs unlike them */
    size_t unknown;             /* runs whose seconds are unknown: seconds leaves them out */
};
void account_sum(const struct account *a, struct account_sum *out);

#endif
