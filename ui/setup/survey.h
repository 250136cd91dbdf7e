/* ui/setup/survey.h: what cells a form means, before it runs. A survey looks at the cells of a sweep, a few
 * or a million of them, as long as it is let, and tells which of them cost the same. */
#ifndef CHORUS_UI_SETUP_SURVEY_H
#define CHORUS_UI_SETUP_SURVEY_H

#include "spec/sweep.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SURVEY_KINDS   512 /* kinds of cells that are told apart; those of further ones are unknown */
#define SURVEY_REASONS 24
#define SURVEY_OTHERS  "other reasons" /* what further ones are counted under */

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

#endif
