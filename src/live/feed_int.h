/* live/feed_int.h: what the files of feed share. feed.c keeps the runs, feed_event.c takes the wire's
 * events, feed_look.c has the files of runs read, feed_files.c reads them piece by piece, feed_rows.c
 * is what their rows mean, feed_facts.c what run.csv says and how far a run is, feed_work.c what is at
 * work here and elsewhere, feed_command.c what runs are told. */
#ifndef CHORUS_LIVE_FEED_INT_H
#define CHORUS_LIVE_FEED_INT_H

#include "record/run/reader.h"
#include "live/feed.h"

#include <sys/types.h>

#define FEED_COLUMNS 24
#define FEED_GUARD   48
#define DEAD_LOOKS   4 /* who hands a run on to another process leaves its lock free for a moment */

/* A file that grows by whole lines, read where it was left. */
struct feed_tail {
    off_t at;               /* what was taken */
    char guard[FEED_GUARD]; /* the bytes before it: others there mean that it is another file */
    size_t guards;
    struct timespec seen; /* time and size of the last look */
    off_t size;
    bool more;                /* there is more than was taken */
    int column[FEED_COLUMNS]; /* of the header, in the order of the names asked for; -1 */
    int fields;               /* of the header; 0: it was not seen yet */
    size_t lines;             /* that were taken */
    size_t left_out;          /* of these; the first one's number and fields: */
    size_t out_line;
    int out_fields;
};

enum feed_file {
    FEED_FILE_EPOCHS,
    FEED_FILE_MEMBERS,
    FEED_FILE_DEVICES,
    FEED_FILE_STEPS,
    FEED_FILE_LOG,
    FEED_FILES
};
extern const char *const feed_file_names[FEED_FILES];

enum feed_read { FEED_READ_NOTHING, FEED_READ_LINES, FEED_READ_AGAIN };

/* What is to be fetched of a file, and what was. */
struct feed_fetch {
    bool wanted;
    char path[1200];
    struct feed_tail was, from; /* where the run stood; from: where the bytes begin */
    enum feed_read got;         /* LINES: those behind; AGAIN: it is another file, from its begin */
    char *bytes;
    size_t n, taken;
    bool more; /* there are more behind them */
    bool over; /* all are taken */
};

struct feed_files {
    struct feed_tail tail[FEED_FILES];
    struct feed_fetch fetched[FEED_FILES]; /* bytes: that are not taken yet */
    struct time_left pace;
    double last_eval;            /* cumulative, of the last row; nan: none */
    int64_t steps_per_epoch;     /* 0: unknown */
    bool dirty[FEED_FILES];      /* to be looked at */
    uint64_t looked, run_looked; /* when the rows and when run.csv were looked at last */
    uint64_t told;               /* when a step was said to have changed something */
    bool asked;                  /* another thread looks at them */
    bool entry_due;              /* run.csv must be read */
    int dead_looks;              /* in a row that found it dead, DEAD_LOOKS settle it */
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
    uint64_t told;    /* of the run whose course the status line tells; 0: none */
    uint64_t last_id;
    uint32_t last_number;
    uint32_t sweep_begun; /* number of the sweep that was begun last, until it has a cell; 0 */
    struct feed_sweep elsewhere;
    size_t queued;    /* in results/queue */
    size_t next_look; /* the run at which the last look ran out of time */
    uint64_t (*ns)(void);
    struct tasks *tasks; /* NULL: files are read here */
    bool asked; /* for a run that is not watched: one at a time, so that the other waits for none */
    bool came;  /* something that was read has changed a run */
};

/* A sweep of others that is over is told of until something is at work. True: it was forgotten. */
bool feed_forget_over(struct feed *f);
/* The run of that number, new where there is none; NULL: a sweep has it. */
struct feed_run *feed_have_number(struct feed *f, uint32_t number);
void feed_drop(struct feed *f, size_t i);                   /* run[i] */
void feed_tell(struct feed *f, const struct feed_run *run); /* the status line, of that; NULL */
/* A cell that cannot begin while its sweep waits for room: it is begun anew every second. */
bool feed_only_tries(const struct feed *f, const struct feed_run *run);
void feed_set_path(struct feed_run *run, const char *path);
struct feed_run *feed_find_number(struct feed *f, uint32_t number); /* NULL: none */
/* The folder is this run's: whoever was followed there before it went on here is the same. */
void feed_take_folder(struct feed *f, struct feed_run *run, const char *path);

/* True: something changed. */
bool feed_take_event(struct feed *f, const struct wire_event *ev, feed_other *other, void *user);
void feed_read_missed(struct feed *f); /* events were dropped */
bool feed_judge_refused(struct feed *f, struct feed_run *run);

/* Has files read that are due, and takes what was read of them. True: something changed. */
bool feed_look(struct feed *f, uint64_t now);

/* What a line of a file says. value: (columns) fields as numbers, nan where one is none; line: the
 * whole, terminated. */
typedef void feed_line_fn(struct feed_run *run, const double *value, char *line);
/* Any thread: x->path, from x->from on, a megabyte at most. */
void feed_fetch(struct feed_fetch *x);
/* The next lines of what was fetched, up to x->over. names: NULL at the end; NULL: every line as it is.
 * False: there was none. */
bool feed_take_piece(struct feed_run *run, struct feed_tail *t, struct feed_fetch *x,
                     const char *const *names, feed_line_fn *take);
/* A decimal number as our files have them, fast; nan where it is none. */
double feed_number(const char *s, size_t n);

void feed_rows_all_due(struct feed_run *run); /* whatever was read of them before */
/* What is due, as it is to be fetched; all: not the epochs alone. */
void feed_rows_want(struct feed_run *run, bool all, struct feed_fetch fetch[FEED_FILES]);
/* Any thread. Of a run that nothing is known of its entry says whose members and devices there are. */
void feed_rows_fetch(struct feed_fetch fetch[FEED_FILES], bool known, bool ensemble);
/* What was fetched becomes the run's, and is freed; where the run has gone on since it is of no use. */
void feed_rows_keep(struct feed_run *run, struct feed_fetch fetch[FEED_FILES]);
/* Takes of it for so long. True: something changed. */
bool feed_rows_take(struct feed_run *run, uint64_t (*ns)(void), uint64_t until);
/* Takes over what run.csv says (NULL: it could not be read, for that reason). True: something changed. */
bool feed_facts_entry(struct feed_run *run, const struct record_entry *entry, const char *why);
/* Shares of what is done, and the time that is left. */
void feed_facts_progress(struct feed_run *run);
void feed_rows_free(struct feed_run *run);
void feed_rows_drop_steps(struct feed_run *run); /* and reads them again when they are wanted */
void feed_rows_units(struct feed_run *run);      /* makes them, once the facts are known */
/* Reads them anew: of an ended run the last epoch counts, not the last steps. */
void feed_rows_units_again(struct feed_run *run);

#endif
