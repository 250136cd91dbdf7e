/* ui/setup/account.h: what a form means before it runs: which of the cells that a survey has seen are worth a
 * question to the planner (those that cost the same are one), and what the answers come to. */
#ifndef CHORUS_UI_SETUP_ACCOUNT_H
#define CHORUS_UI_SETUP_ACCOUNT_H

#include "ui/setup/survey.h"
#include "wire/wire.h"

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
