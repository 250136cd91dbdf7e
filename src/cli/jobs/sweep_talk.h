/* cli/jobs/sweep_talk.h: what is said of a sweep as it goes: a line for each cell that ends, and on a terminal
 * one for each that runs. All of it comes from the engine's snapshot, so that nothing is lost where
 * events are. */
#ifndef CHORUS_CLI_WORK_SWEEP_TALK_H
#define CHORUS_CLI_WORK_SWEEP_TALK_H

#include "base/err.h"
#include "cli/jobs/drive.h"
#include "cli/out/progress.h"
#include "cli/jobs/sweep.h"

struct sweep_shown {
    bool ended;
    bool heard; /* the event of its end has come, with the reason if there is one, or never will */
    char *reason;
};

struct sweep_live {
    uint32_t run, cell;
    struct progress progress;
};

struct sweeper {
    const struct spec_sweep *spec;
    const struct sweep_wish *wish;
    struct wire *wire;
    uint32_t number;
    struct drive_signals signals;
    struct wire_sweep_status status;
    struct wire_cell *cell; /* (cells) as last seen */
    size_t cells, cell_room;
    struct sweep_shown *shown; /* (cells) */
    size_t shown_room, shown_count;
    struct sweep_live *live;
    size_t lives, live_room;
    int64_t ended;           /* cells whose line was printed or which were there before */
    int64_t before, skipped; /* of those that were there: how many, and without a result */
    bool look, missed, named, told_before, draws, refused;
    struct err refusal;
    uint64_t drawn;
};

/* Says what has changed since the last look. */
void sweep_talk_look(struct sweeper *w);
/* Takes what came with the event. */
void sweep_talk_event(struct sweeper *w, const struct wire_event *ev);
/* Events were dropped, maybe those of cells' ends. */
void sweep_talk_missed(struct sweeper *w);
/* The lines of what runs, where there is a terminal for them. */
void sweep_talk_draw(struct sweeper *w);
/* What became of it all, and how to go on. */
void sweep_talk_end(struct sweeper *w);
void sweep_talk_free(struct sweeper *w);

#endif
