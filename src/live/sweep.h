/* live/sweep.h: a sweep as it is now, by its files: what each of its cells is and what it came to. The ledger
 * is the newest of these files; sweep.csv tells which values a cell has and how good it is; a run under way
 * tells how far it is. */
#ifndef CHORUS_LIVE_SWEEP_H
#define CHORUS_LIVE_SWEEP_H

#include "record/queue/queue.h"
#include "spec/sweep.h"
#include "wire/sweep.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_cell {
    bool known;    /* a file or a snapshot tells of it */
    bool left_out; /* impossible, or another's twin: why says so */
    bool twin;
    bool elsewhere;
    bool dead; /* stopped, for its process died */
    enum wire_state state;
    double acc, val_acc; /* test and validation accuracy of the best epoch; nan: none */
    double seconds;      /* nan: unknown, as the next ones */
    double train;        /* the training's part of them, as on Results */
    double share;        /* of a run, how much of it is done */
    bool full;           /* it waits for room on the disk */
    bool beyond;         /* known from before, but not among those that --max-cells takes */
    int64_t place;       /* in the queue; -1 */
    char time[32];       /* of its newest line in the ledger; "": it has none */
    char *run, *why;     /* the run's name; both NULL where there is none */
};

struct live_values;

struct live_sweep {
    char *name;
    struct spec_sweep spec; /* closed */
    struct record_queue_options options;
    bool live;                   /* a program is at work on it */
    bool tells;                  /* which tells how it stands; else its cells say what they can */
    struct wire_sweep_status is; /* how it stands */
    struct live_values *value;   /* (spec.axes), to find cells by */
    struct live_cell *cell;
    size_t cells;
    bool by_valid;   /* best epochs were picked on validation data */
    char newest[32]; /* time of the ledger's newest line; "": none */
    /* Of what its name stands for beside these cells: runs of other lists, or of data that have changed since; and
     * how many cells of all of them have ended. */
    size_t others, ended;
    uint64_t stamp; /* of the files that it was read from */
    char *problem;  /* it cannot be shown: why; there are no cells then */
};

/* Of results/sweeps/NAME, where a sweep of more than so many cells is a problem. */
struct live_sweep *live_sweep_read(const char *results, const char *name, size_t most_cells);
/* As its lists say, before anything is known of its cells. Takes spec over, which is closed. */
struct live_sweep *live_sweep_new(const char *name, struct spec_sweep *spec, size_t most_cells);
void live_sweep_free(struct live_sweep *s);
/* The cell with these values of the axes (resolved ones too: 32/device on 2 devices is 64); cells where
 * there is none, or more than one. */
size_t live_sweep_find(const struct live_sweep *s, const char *const *values);
void live_set_text(char **at, const char *text); /* NULL and "" are NULL */

/* Cells that wait for a result or are stopped on the way to one. */
size_t live_sweep_open(const struct live_sweep *s);
size_t live_sweep_possible(const struct live_sweep *s); /* all but those left out */
/* Those of them that --max-cells leaves, and that have no result from before. */
size_t live_sweep_beyond(const struct live_sweep *s);
/* Without a good end, within --max-cells or beyond it. */
size_t live_sweep_failed(const struct live_sweep *s, bool beyond);
/* How it stands by its cells alone. */
void live_sweep_stand(struct live_sweep *s);
/* From cells that have ended; nan: nothing is known. */
double live_sweep_left_seconds(const struct live_sweep *s);
/* Whether it may be the best: it is done, with an accuracy. */
bool live_cell_has_accuracy(const struct live_cell *c);

#endif
