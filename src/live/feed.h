/* live/feed.h: runs as they go: one model for those of this process, whose events come over the wire, and
 * for those of others. Rows are read from the run's files, which are the truth and tell of both alike;
 * events say when to look, and what happened since the last row. The main thread alone. */
#ifndef CHORUS_LIVE_FEED_H
#define CHORUS_LIVE_FEED_H

#include "base/text.h"
#include "record/run/reader.h"
#include "record/working.h"
#include "study/members.h"
#include "study/tables.h"
#include "wire/time_left.h"
#include "base/system/tasks.h"
#include "wire/sweep.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed;

enum feed_axis {
    FEED_EPOCH,
    FEED_STEP,
    FEED_IMAGES,
    FEED_MODEL_IMAGES,
    FEED_SECONDS,
    FEED_DEVICE_SECONDS,
    FEED_AXES
};
enum feed_value {
    FEED_TRAIN_LOSS,
    FEED_TRAIN_ACC,
    FEED_VAL_LOSS,
    FEED_VAL_ACC,
    FEED_TEST_LOSS,
    FEED_TEST_ACC,
    FEED_MEMBER_MIN,
    FEED_MEMBER_MEAN,
    FEED_MEMBER_MAX,
    FEED_MEMBER_LOSS,
    FEED_EVAL_SECONDS, /* cumulative */
    FEED_SPEED,        /* images per second */
    FEED_VALUES
};

struct feed_epochs { /* rows of epochs.csv; nan: does not apply */
    size_t n, room;
    double *x[FEED_AXES], *y[FEED_VALUES];
};
struct feed_steps { /* rows of steps.csv, their mean over members */
    size_t n, room;
    int64_t count; /* members in the last one */
    double *step, *seconds, *loss, *acc;
};

struct feed_unit { /* a device or a member, as of the last rows or events */
    int unit, device;
    double loss, acc;                    /* of training; nan: none yet */
    double test_loss, test_acc, prefix;  /* of a member, as of its last epoch */
    double input, compute, reduce, wait; /* shares of its time; nan: unknown */
    /* of its GPU, at the end of an epoch; memory: bytes in use on it; nan: unknown */
    double gpu_percent, gpu_memory, celsius, watts;
    size_t n, room; /* of a member: an epoch each, as feed_epochs */
    double *test_loss_at, *test_acc_at;
};

#define FEED_LOG_LINES 40

struct feed_run {
    uint64_t id;     /* never another run's; see feed_by_id */
    uint32_t number; /* on the wire; 0: another process's */
    char path[1024], name[256];
    bool own, live, dead, known; /* known: facts below are filled in */
    bool broken;                 /* its files cannot be read: reason says why */
    bool weights;                /* of one that ended: whether there may be some */
    bool removed;                /* and its folder is gone */
    bool full;                   /* of another process's: it waits for room on the disk */
    enum wire_wish wish;         /* likewise: what it was told */
    enum wire_state state;
    char reason[512];
    struct wire_facts facts;
    struct spec spec;
    size_t left_out_told;           /* rows of its files */
    bool rows_changed, change_told; /* its epochs.csv was changed since it was written */
    char started_utc[32], ended_utc[32];
    char sweep_name[128];       /* of the sweep it is a cell of, or empty */
    uint32_t sweep, cell;       /* that sweep's number here, or 0; the cell's number in it */
    int64_t step, steps_in_all; /* steps_in_all: 0 is unknown */
    int64_t epoch, steps_of_epoch_done; /* epoch: the one that runs, from 1 */
    double loss, acc, images_per_second, lr, train_seconds;
    double left_seconds, epoch_share, run_share; /* nan: unknown */
    double best_acc;                             /* and what it was picked on; nan: none yet */
    bool by_valid;
    int64_t best_epoch;
    double best_picked, best_loss;                /* what the best was picked by */
    double gain_mean, gain_best, member_acc_mean; /* nan: no ensemble, or no epoch yet */
    bool averaged;                                /* of runs that had been trained before, */
    struct study_unlike unlike;                   /* which may differ */
    struct feed_epochs epochs;
    struct feed_steps steps;
    struct feed_unit *unit; /* members of an ensemble, else devices */
    size_t units;
    char *log[FEED_LOG_LINES]; /* its newest lines, oldest first */
    size_t logs;
    bool reading;     /* its files are long: there is more to come */
    uint64_t changed; /* counts changes: for redrawing */
    uint64_t cut; /* counts how often rows were taken back, as by a resume: what was made of them
                         must be made anew */
    struct feed_files *files; /* feed's own */
};

struct feed *feed_new(struct wire *wire, const char *results);
void feed_free(struct feed *f);
/* Files are read by a thread of them from now on, not by whoever calls feed_take. */
void feed_use_tasks(struct feed *f, struct tasks *tasks);
/* For lines of text: of the run that is watched epochs alone are read, and steps where another process has
 * it; of the others nothing. */
void feed_read_little(struct feed *f);
/* Takes what the wire holds and what was read of the files that are followed, for some milliseconds at most;
 * all events but those of steps and units go to `other` too (slot: what came with it, n bytes, the
 * feed's). True: something changed. */
typedef void feed_other(void *user, const struct wire_event *event, const void *slot, size_t n);
bool feed_take(struct feed *f, feed_other *other, void *user);
bool feed_missed(const struct feed *f); /* events were dropped before the last feed_take */
/* All runs that are known: of this process in the order of their starts and followed ones. Pointers
 * hold until feed_take is called. */
size_t feed_count(const struct feed *f);
struct feed_run *feed_at(struct feed *f, size_t i);
/* By its folder, or its name alone; NULL: not known. */
struct feed_run *feed_find(struct feed *f, const char *path);
struct feed_run *feed_by_id(struct feed *f, uint64_t id);         /* NULL: gone */
struct feed_run *feed_by_number(struct feed *f, uint32_t number); /* on the wire; NULL: none */
/* The name of the run or sweep of that number, as far as it has one. */
void feed_add_name(struct feed *f, uint32_t number, struct text *out);
/* Follows a run of whatever process (or one that has ended) by its files. */
struct feed_run *feed_follow(struct feed *f, const char *folder);
/* Another reader has found that nobody holds the lock of this one: its files are read at once, and a
 * second look that finds the same settles it. */
void feed_found_dead(struct feed_run *run);
/* How many rows of its files are none, and in a sentence which; 0: none so far. */
size_t feed_add_left_out(const struct feed_run *run, struct text *out);
/* Of one that ended: whether no rows of its files are still to come. */
bool feed_is_read(const struct feed_run *run);
/* The run of which everything is read, members, devices, steps and log too; NULL: none. */
void feed_watch(struct feed *f, struct feed_run *run);
/* The one that computes here now, else what computes elsewhere, else the newest; NULL: none. */
struct feed_run *feed_current(struct feed *f);
/* What it shall do: through the wire where the run is ours, through its control file else, which may wait
 * for a second. ERR_FAILED: nobody works on it. */
enum err_code feed_wish(struct feed *f, struct feed_run *run, enum wire_wish wish,
                        struct err *e) MUST_USE;
/* Likewise, of a cell of this program all of its sweep. */
enum err_code feed_wish_all(struct feed *f, struct feed_run *run, enum wire_wish wish,
                            struct err *e) MUST_USE;
/* Whether this run was told to stop at the end of its epoch, */
bool feed_ends_epoch(const struct feed *f, const struct feed_run *run);
/* and whether it comes to a stop now, also since this program leaves. */
bool feed_is_stopping(const struct feed *f, const struct feed_run *run);
/* It is a cell of a sweep, which alone is told when to stop. */
bool feed_is_cell(const struct feed_run *run);
/* Whether it, or its sweep, was told to stop later: at the end of an epoch, after the cells that run. */
bool feed_stops_later(const struct feed *f, const struct feed_run *run);
/* How the sweep of this cell stands, whoever works on it. False: nobody does, or it is not known. */
bool feed_sweep_of(const struct feed *f, const struct feed_run *cell,
                   struct wire_sweep_status *out);
/* Whether its sweep is known to begin another cell behind it. */
bool feed_goes_on(const struct feed *f, const struct feed_run *cell);
/* Of a sweep: this cell gets no result, the sweep goes on. */
enum err_code feed_skip(struct feed *f, struct feed_run *run, struct err *e) MUST_USE;
/* The wire holds this start already, under that number: the run is there from now on. */
void feed_expect(struct feed *f, uint32_t number, const struct wire_start *start);
void feed_expect_sweep(struct feed *f, uint32_t number); /* likewise */
/* Whether a sweep was begun here of which no cell is there yet, and its name, where it has one. */
bool feed_sweep_starts(struct feed *f, char *name, size_t room);
/* Starts; the number of the run or sweep on the wire, or 0 with e filled in. */
uint32_t feed_start_run(struct feed *f, const struct wire_start *start, struct err *e);
uint32_t feed_start_sweep(struct feed *f, const struct wire_sweep *sweep, size_t bytes,
                          struct err *e);
/* Grows with each run or sweep that is started here. */
uint32_t feed_started(const struct feed *f);
/* Whether a waiting run waits for nothing: it is being prepared. */
bool feed_starts(const struct feed *f, const struct feed_run *run);
/* Whether anything of this process runs, waits or is paused. */
bool feed_busy(struct feed *f);
/* The same, or a run of another program that this one knows of trains. */
bool feed_sees_busy(struct feed *f);
/* A sweep of another program, as its files told at the last look. */
struct feed_sweep {
    struct wire_sweep_status is; /* no name: there is none. Ended: nobody works on it any more */
    bool dead;                   /* ended, for its program died */
    bool told;                   /* by its own program */
    bool mean;                   /* best is of several seeds */
    double best;                 /* nan: unknown */
    bool by_valid;               /* the best is picked on validation data */
};
void feed_set_elsewhere(struct feed *f, const struct feed_sweep *sweep);
/* How many stand in results/queue, as the screen Setup has read it. */
void feed_set_queued(struct feed *f, size_t count);
/* What cannot go on here just now but will by itself, as on a full disk. False: nothing. */
struct feed_trouble {
    enum err_code code;
    bool sweep; /* it is a sweep's */
    char reason[512];
};
bool feed_trouble(const struct feed *f, struct feed_trouble *out);
/* The sweep to tell of beside (or instead of) that run, which is the current one: of this program or of
 * another. False: none. */
struct feed_shown {
    struct feed_sweep sweep;
    bool own;
    bool seeds;                  /* the best is of one of several seeds */
    const struct feed_run *cell; /* that is told of too; NULL: none */
};
bool feed_shows_sweep(const struct feed *f, const struct feed_run *run, struct feed_shown *out);
/* The sweep of this program that is at work: that of the run where the run is a live one of this program. */
bool feed_running_sweep(const struct feed *f, const struct feed_run *run,
                        struct wire_sweep_status *out);
/* The sweep of another program that computes; NULL: none. */
const struct wire_sweep_status *feed_sweep_elsewhere(const struct feed *f);
bool feed_trains_elsewhere(const struct feed_run *run);
void feed_queue(const struct feed *f, struct wire_queue *out);
/* How much waits here and in results/queue, without that run. */
size_t feed_waiting(const struct feed *f, const struct feed_run *but);
/* Whether that run waits for room on the disk; whether the run or sweep of that number waits for anything
 * so. */
bool feed_lacks_room(const struct feed *f, const struct feed_run *run);
struct feed_work { /* runs and sweeps that this program has at work */
    size_t goes_on, paused, no_room;
};
struct feed_work feed_work(const struct feed *f);
/* Some of them are paused, and none goes on or waits for room. */
static inline bool feed_all_paused(const struct feed *f)
{
    struct feed_work work = feed_work(f);

    return work.paused && !work.goes_on && !work.no_room;
}
bool feed_has_trouble(const struct feed *f, uint32_t number);
/* For tests: another clock than clock_ns. */
void feed_set_clock(struct feed *f, uint64_t (*ns)(void));

/* Of a run whose process died: what can be done. */
#define FEED_DEAD "its process is gone: R goes on from its last checkpoint, or begins again"
/* Of a run whose folder has gone. */
#define FEED_REMOVED "its folder is not there any more; chorus rm moves runs to results/trash"

#endif
