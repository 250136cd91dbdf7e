/* cli/out/progress.h: a run as lines of text: one that is redrawn while it computes, one an epoch, and
 * what is said when it ends. The lines themselves are pure functions. */
#ifndef CHORUS_CLI_OUT_PROGRESS_H
#define CHORUS_CLI_OUT_PROGRESS_H

#include "base/err.h"
#include "base/text.h"
#include "record/run/reader.h"
#include "wire/time_left.h"

#include <stdbool.h>
#include <stdint.h>

/* "27 s left" behind those words; nothing where it is not known. */
void progress_add_left(struct text *out, const char *before, double seconds);

struct progress_view {
    int64_t step, steps;   /* of the run */
    int64_t epoch, epochs; /* the one that runs, from 1 */
    int64_t steps_per_epoch;
    double loss, acc;         /* nan: none yet */
    double images_per_second; /* 0: unknown */
    double left_seconds;      /* nan: unknown */
    const char *doing;        /* "paused", "evaluating": in place of the bar; NULL */
};
/* At most columns - 1 wide, so that the cursor stays on the line. Less important parts go first. */
void progress_line(const struct progress_view *v, int columns, bool utf8, struct text *out);

struct progress_row { /* an epoch; nan: does not apply */
    int64_t epoch;
    double train_loss, train_acc, val_loss, val_acc, test_loss, test_acc;
    double member_acc_min, member_acc_mean, member_acc_max;
    double images_per_second, train_seconds, eval_seconds; /* of this epoch */
};
/* At most columns wide: less important parts go first. */
void progress_epoch_line(const struct progress_row *row, int64_t epochs, int members, int columns,
                         struct text *out);

struct progress {
    bool quiet;
    bool live; /* the line is redrawn: stderr is a terminal */
    bool utf8;
    int members;
    int64_t max_steps;
    struct progress_view view;
    struct time_left pace;
    double last_train_seconds, last_eval_seconds; /* cumulative, of the epoch before */
    uint64_t drawn;                               /* clock_ns of the last redraw */
    const char *label; /* in front of its lines, where several are shown; NULL */
    bool unread;       /* that epochs.csv cannot be read was said */
};
void progress_start(struct progress *p, bool quiet);
/* epochs_done, steps_done: where it goes on. max_steps: 0 none. */
void progress_set(struct progress *p, int64_t epochs, int64_t steps_per_epoch, int64_t steps_done,
                  int members, int64_t max_steps);
void progress_step(struct progress *p, int64_t step, double loss, double acc,
                   double images_per_second, double train_seconds);
/* row's seconds are cumulative, as in epochs.csv. */
void progress_epoch(struct progress *p, const struct progress_row *row, int64_t step);
/* The rows of RUN/epochs.csv above epoch `shown`; returns the last one shown. */
int64_t progress_epochs(struct progress *p, const char *folder, int64_t shown);
void progress_doing(struct progress *p, const char *doing); /* NULL: training */
void progress_draw(struct progress *p);                     /* at most 10 times a second */
void progress_end(struct progress *p);                      /* takes the line away */

/* What is said of a run that has ended: state, a small table, and on a terminal its curves. */
void progress_summary(const struct record_entry *run, bool curves);

#endif
