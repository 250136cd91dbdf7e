/* ui/feed_int.h: what the files of feed share. feed.c keeps the runs and takes the wire's events,
 * feed_files.c reads the files of a run piece by piece, feed_rows.c is what their rows mean,
 * feed_status.c what a line says of it all, feed_command.c what runs are told. */
#ifndef CHORUS_UI_FEED_INT_H
#define CHORUS_UI_FEED_INT_H

#include "ui/feed.h"

#include <sys/types.h>

#define FEED_COLUMNS 24
#define FEED_GUARD   48

/* A file that grows by whole lines, read where it was left. */
struct feed_tail {
    off_t at;               /* what was taken */
    char guard[FEED_GUARD]; /* the bytes before it: others there mean that it is another file */
    size_t guards;
    struct timespec seen; /* time and size of the last look */
    off_t size;
    bool more;                /* there is more than was taken */
    int column[FEED_COLUMNS]; /* of the header, in the order of the names asked for; -1 */
    bool headed;
};

enum feed_file {
    FEED_FILE_EPOCHS,
    FEED_FILE_MEMBERS,
    FEED_FILE_DEVICES,
    FEED_FILE_STEPS,
    FEED_FILE_LOG,
    FEED_FILES
};

struct feed_files {
    struct feed_tail tail[FEED_FILES];
    struct pace pace;
    double last_eval;            /* cumulative, of the last row; nan: none */
    int64_t steps_per_epoch;     /* 0: unknown */
    bool dirty[FEED_FILES];      /* to be looked at */
    uint64_t looked, run_looked; /* when the rows and when run.csv were looked at last */
    uint64_t told;               /* when a step was said to have changed something */
    bool entry_due;              /* run.csv must be read */
    int dead_looks;              /* in a row that found it dead */
    bool settled;                /* it ended, and all was read since */
    bool units_told;             /* events have told of units since the last row */
    bool refused;                /* something was refused to it: perhaps its start */
};

struct feed {
    struct wire *wire;
    char *results;
    struct feed_run **run; /* (count) */
    size_t count, room;
    uint64_t watched; /* id; 0: none */
    uint64_t last_id;
    uint32_t last_number;
    struct feed_sweep elsewhere;
    size_t next_look; /* the run at which the last look ran out of time */
    uint64_t (*ns)(void);
};

/* The run of that number, new where there is none; NULL: a sweep has it. */
struct feed_run *feed_have_number(struct feed *f, uint32_t number);
void feed_set_path(struct feed_run *run, const char *path);

/* What a line of a file says. value: (columns) fields as numbers, nan where one is none; line: the
 * whole, terminated. */
typedef void feed_line_fn(struct feed_run *run, const double *value, char *line);
enum feed_read { FEED_READ_NOTHING, FEED_READ_LINES, FEED_READ_AGAIN };
/* Reads what came since, but begins no further piece after `until`. AGAIN: it is another file, or was
 * cut: the caller throws away what it took, and calls again. names: NULL at the end; NULL: every line
 * as it is. */
enum feed_read feed_tail_read(struct feed_run *run, struct feed_tail *t, const char *name,
                              const char *const *names, feed_line_fn *take, uint64_t (*ns)(void),
                              uint64_t until);
/* A decimal number as our files have them, fast; nan where it is none. */
double feed_number(const char *s, size_t n);

/* Looks at the files that are due. True: something changed. */
bool feed_rows_look(struct feed_run *run, bool all, uint64_t (*ns)(void), uint64_t until);
/* Takes over what run.csv says. True: something changed. */
bool feed_rows_entry(struct feed_run *run);
/* Shares of what is done, and the time that is left. */
void feed_rows_progress(struct feed_run *run);
void feed_rows_free(struct feed_run *run);
void feed_rows_drop_steps(struct feed_run *run); /* and reads them again when they are wanted */
void feed_rows_units(struct feed_run *run);      /* makes them, once the facts are known */
/* Reads them anew: of an ended run the last epoch counts, not the last steps. */
void feed_rows_units_again(struct feed_run *run);

#endif
