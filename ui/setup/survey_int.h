/* ui/setup/survey_int.h: what the account may see of a survey, and how cells' kinds are told apart. */
#ifndef CHORUS_UI_SETUP_SURVEY_INT_H
#define CHORUS_UI_SETUP_SURVEY_INT_H

#include "ui/setup/survey.h"

#include <math.h>

/* Of a cell that is left out, and of one for whose kind no place was left. */
enum { KIND_NONE = SURVEY_KINDS, KIND_OTHER };

struct kind {
    struct spec *spec;
    uint64_t hash;
    size_t cells;
};

/* survey_kinds.c: cells that cost the same are one kind. */
struct kinds {
    struct kind kind[SURVEY_KINDS];
    size_t count;
    struct spec *normal;
    uint64_t free_keys; /* those that cost nothing: bits as in spec.given */
};
void kinds_start(struct kinds *k);
void kinds_free(struct kinds *k);
/* The number of a cell's kind, or KIND_OTHER. What costs nothing is normal in the cell afterwards. */
size_t kinds_find(struct kinds *k, struct spec *cell);
/* Whether a key's values make no cell another kind, and none impossible: it costs nothing, and what
 * spec_check compares it with is the same in all cells. */
bool kinds_alike(const struct spec_sweep *s, const char *key);

/* Cells that differ by what matters to none of this: all of them are what the first one is. */
struct alike {
    bool seen;
    uint8_t reason; /* of KIND_NONE */
    uint16_t kind;
    double lr; /* of each; of 1, where lr is what they differ by */
};

struct survey {
    struct spec_sweep sweep;
    size_t *place; /* (axes) of the cell at hand; of lists that walk together the first one's */
    bool *leads;   /* (axes) whether it is that */
    size_t *step;  /* (axes) to the next value's number in alike; 0: its values are alike */
    size_t number; /* of the cell that is looked at, */
    struct alike *alike; /* by the number of those that are */
    size_t lr_axis;      /* axes: none whose values are alike */
    size_t lr_leader;    /* the first of those that walk with it */
    double *lr_value;    /* (values of that) as numbers, from when they are needed; 0 before */
    struct spec *cell;
    size_t cells, seen, made, left_out, other; /* made: not those like an earlier one */
    struct kinds kinds;
    struct survey_reason reason[SURVEY_REASONS];
    size_t reasons;
    struct survey_range lr;
    size_t most;       /* 0: all */
    bool spread;       /* not as the lists stand */
    size_t *order;     /* (cells) where spread is set, from the first look on */
    uint16_t *kind_of; /* (cells) in that order */
};

/* Returns its place. Of each fate one is kept for all reasons that have none of their own. */
size_t survey_add_reason(struct survey_reason *list, size_t *n, enum survey_fate fate,
                         const char *text, size_t cells);
void survey_free_reasons(struct survey_reason *list, size_t n);

static inline void survey_widen(struct survey_range *r, double lo, double hi)
{
    if (isnan(lo))
        return;
    r->lo = isnan(r->lo) || lo < r->lo ? lo : r->lo;
    r->hi = isnan(r->hi) || hi > r->hi ? hi : r->hi;
}

#endif
