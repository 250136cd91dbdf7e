/* cli/jobs/run_lines.h: a run as lines: what it is, each of its epochs, and on a terminal one that is redrawn. */
#ifndef CHORUS_CLI_JOBS_RUN_LINES_H
#define CHORUS_CLI_JOBS_RUN_LINES_H

#include "cli/out/progress.h"
#include "live/feed.h"

struct run_lines {
    struct progress progress;
    int64_t shown; /* the last epoch that has its line; -1: none */
    bool named;    /* it was said what it is */
    bool left_out; /* and that rows of its files are none */
};

void run_lines_start(struct run_lines *l, bool quiet);
/* Says what is new of it. */
void run_lines_look(struct run_lines *l, const struct feed_run *run);
void run_lines_draw(struct run_lines *l);
void run_lines_end(struct run_lines *l); /* takes the line away */
/* The line that is redrawn, as far as it is known. */
void run_lines_view(const struct feed_run *run, struct progress_view *view);

#endif
