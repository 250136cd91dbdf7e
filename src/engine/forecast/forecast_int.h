/* engine/forecast/forecast_int.h: what the files of a forecast share. */
#ifndef CHORUS_ENGINE_FORECAST_FORECAST_INT_H
#define CHORUS_ENGINE_FORECAST_FORECAST_INT_H

#include "engine/forecast/forecast.h"

/* Of a cell that is left out, and of one for whose kind no place was left. */
enum { KIND_NONE = UINT16_MAX - 1, KIND_OTHER = UINT16_MAX };

struct kind {
    struct spec *spec;
    uint64_t hash;
    size_t cells;
    bool priced, due; /* due: its price is to be asked for, were it once more */
    struct wire_plan plan;
};

/* forecast_kinds.c: cells that cost the same are one kind. */
struct kinds {
    struct kind **kind; /* (count) */
    size_t count, room, most;
    uint16_t *place; /* (places) open addressing by hash: a number and 1; 0: free */
    size_t places;
    size_t asked; /* none before this one is due */
    struct spec *normal;
    uint64_t free_keys; /* those that cost nothing: bits as in spec.given */
};
void kinds_start(struct kinds *k, size_t most);
void kinds_free(struct kinds *k);
/* The number of a cell's kind, or KIND_OTHER. What costs nothing is normal in the cell afterwards. */
size_t kinds_find(struct kinds *k, struct spec *cell);
/* Whether a key's values make no cell another kind, and none impossible: it costs nothing, and what
 * spec_check compares it with is the same in all cells. */
bool kinds_alike(const struct spec_sweep *s, const char *key);

/* Cells that differ by what matters to none of this: all of them are what the first one is. */
struct alike {
    bool seen;
    uint16_t kind;
    uint16_t reason; /* of KIND_NONE: in reasons.list, */
    char *text;      /* and where cells are asked for, whole */
    enum err_code code;
    double lr; /* of each; of 1, where lr is what they differ by */
};

struct reasons {
    struct wire_reason *list; /* (count) of WIRE_REASONS */
    size_t count;
};
/* Returns its place. Of each fate one is kept for all reasons that have none of their own. */
size_t reasons_add(struct reasons *r, enum wire_fate fate, const char *text, size_t cells);

struct forecast {
    struct spec_sweep sweep;
    struct forecast_wish wish;
    int jobs;      /* side by side, at least 1 */
    size_t *place; /* (axes) of the cell at hand; of lists that walk together the first one's */
    bool *leads;   /* (axes) whether it is that */
    size_t *step;  /* (axes) to the next value's number in alike; 0: its values are alike */
    size_t number; /* of the cell that is looked at, */
    struct alike *alike; /* (alikes) by the number of those that are */
    size_t alikes;
    size_t lr_axis;   /* axes: none whose values are alike */
    size_t lr_leader; /* the first of those that walk with it */
    double *lr_value; /* (values of that) as numbers, from when they are needed; 0 before */
    struct spec *spec;
    size_t cells, seen, made, left_out, other; /* made: not those like an earlier one */
    struct kinds kinds;
    struct reasons reasons; /* of those left out */
    struct wire_range lr;
    size_t most;   /* 0: all */
    size_t *order; /* (cells) where they do not run as the lists stand, from the first look on */
    uint16_t *kind_of; /* (cells) in that order */
    uint8_t *had;      /* (cells) by their numbers: enum wire_state of a result; NULL: none has */
    struct forecast_cell *cell; /* (cells); NULL: not asked for */
    bool moved;                 /* a person has changed the order */
};

static inline struct kind *kind_at(const struct forecast *f, size_t i)
{
    return f->kind_of[i] < f->kinds.count ? f->kinds.kind[f->kind_of[i]] : NULL;
}

#endif
