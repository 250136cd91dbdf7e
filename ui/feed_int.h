/* ui/feed_int.h: a run's files, read as they grow. */
#ifndef CHORUS_UI_FEED_INT_H
#define CHORUS_UI_FEED_INT_H

#include "ui/feed.h"

#include <sys/types.h>

#define FEED_COLUMNS 16

struct feed_tail {             /* a CSV of numbers whose rows are read once */
    const char *file;          /* "epochs.csv" */
    const char *const *column; /* names that are wanted, NULL at the end */
    int place[FEED_COLUMNS];   /* of each in a row; -1: the file has none */
    bool headed;
    off_t at;
};

struct feed_watch { /* a run and how far its files were read */
    struct feed_run run;
    struct feed_tail epochs, members, devices, steps;
    uint64_t looked, asked; /* clock_ns: at the files, at the state */
    double mean_step, mean_loss, mean_acc, mean_n, mean_images,
        mean_seconds; /* members of a step */
    double epoch_step, epoch_images, epoch_model_images, epoch_seconds, epoch_device_seconds;
    double epoch_eval_seconds, eval_seconds; /* all, of the last one */
    double step_seconds;                     /* what a step took lately; nan: unknown */
    double first_step, first_seconds; /* seen by events, since this program or run began; nan */
    bool finished;                    /* it had ended when its files were last read */
};

void feed_watch_begin(struct feed_watch *w, const char *folder);
void feed_watch_free(struct feed_watch *w);
/* Reads what the files grew by, at most about `bytes` of each. True: something changed. */
bool feed_watch_read(struct feed_watch *w, size_t bytes);
/* From step, epoch and seconds: shares done and what is left. */
void feed_watch_count(struct feed_watch *w);

#endif
