/* cli/jobs/watch.h: a run that another process computes, followed by its files. */
#ifndef CHORUS_CLI_WORK_WATCH_H
#define CHORUS_CLI_WORK_WATCH_H

#include "cli/out/progress.h"
#include "record/run/reader.h"

#include <sys/types.h>

struct watch {
    const char *folder;
    struct progress progress;
    int64_t shown;   /* the last epoch that has its line; -1: none */
    off_t steps_end; /* what of steps.csv was read */
    int columns[5];  /* of steps.csv: step, images, train_seconds, loss, acc */
};

/* folder is borrowed. */
void watch_start(struct watch *w, const char *folder, bool quiet);
void watch_begin(struct watch *w, const struct record_entry *entry);
/* Lines of epochs that are new, and the line that is redrawn. */
void watch_look(struct watch *w, const struct record_entry *entry);

#endif
