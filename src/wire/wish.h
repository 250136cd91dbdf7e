/* wire/wish.h: what somebody wants a run or a sweep to do. A wish is a state: the last word wins, saying it
 * twice changes nothing, and RUN cancels whatever was pending. A word to a sweep counts for all its cells; a
 * word to a cell counts for that cell until the next word to its sweep. What ends this process's part of the
 * work is no wish and changes none: a signal, the end of the program, a lost GPU. */
#ifndef CHORUS_WIRE_WISH_H
#define CHORUS_WIRE_WISH_H

#include <stdbool.h>

enum wire_wish {
    WIRE_WISH_RUN,
    WIRE_WISH_PAUSE,
    WIRE_WISH_STOP_CELLS, /* a sweep alone: when its running cells have ended */
    WIRE_WISH_STOP_EPOCH, /* when the epoch is complete */
    WIRE_WISH_STOP,       /* after the step */
    WIRE_WISH_STOP_NOW,   /* likewise, but without a checkpoint: a resume computes again what was
                             computed since the last one */
    WIRE_WISHES
};

/* The line of a control file that says it: "go", "stop epoch". */
const char *wire_wish_line(enum wire_wish wish);
bool wire_wish_find(const char *line, enum wire_wish *wish);
/* In a sentence: "stop after this epoch". */
const char *wire_wish_words(enum wire_wish wish);
bool wire_wish_stops(enum wire_wish wish);       /* any stop */
bool wire_wish_stops_later(enum wire_wish wish); /* a stop that cells or an epoch come before */
/* What each cell of a sweep is told where the sweep is told this. */
enum wire_wish wire_wish_of_cell(enum wire_wish of_sweep);

enum wire_place {                /* where a run or a sweep looks at its wish */
                  WIRE_AT_BEGIN, /* it waits: a run for its turn, a sweep for its next cell */
                  WIRE_AT_STEP,  /* between two steps, also while it is paused or evaluates */
                  WIRE_AT_EPOCH, /* an epoch is complete */
                  WIRE_AT_END,   /* it has obeyed a stop, which is final */
                  WIRE_PLACES
};
enum wire_deed { WIRE_GO_ON, WIRE_HOLD, WIRE_END, WIRE_END_NOW }; /* the later ones outweigh */
enum wire_deed wire_wish_deed(enum wire_wish wish, enum wire_place at);
/* The last word wins. False: a stop was obeyed, and no word changes that. */
bool wire_wish_take(enum wire_wish *wish, enum wire_wish word, enum wire_place at);

#endif
