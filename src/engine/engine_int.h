/* engine/engine_int.h: what the files of this room share.
 *
 * Two threads work on a run. The session thread (session.c, snapshot.c, train.c) makes the plan, opens the
 * backend, trains and evaluates; it sends messages. The engine thread (engine.c, run.c, checkpoint.c)
 * obeys commands and owns the record: it writes what the messages bring, first to the disk, then to
 * the wire. A sweep has a thread that finds out what its cells are (cells.c); which of them run is
 * the engine thread's business (sweep.c). The planner only answers questions (planner.c). */
#ifndef CHORUS_ENGINE_INT_H
#define CHORUS_ENGINE_INT_H

#include "base/log.h"
#include "engine/cores.h"
#include "engine/engine.h"
#include "engine/plan.h"
#include "record/run/checkpoint.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"

#include <pthread.h>
#include <stdatomic.h>

struct sweep;
struct ender;

enum run_end { /* why a run is complete: session_end works it out */
               RUN_GOES_ON,
               RUN_EPOCHS,
               RUN_MAX_STEPS,
               RUN_MAX_MINUTES,
               RUN_PATIENCE,
};

/* Where a run stands. All of it goes into the checkpoint and counts from the run's very first
 * start; the two halves are stored as they lie in memory. */
struct standing {
    struct standing_counts {
        int64_t step;     /* updates done */
        int64_t epoch;    /* epochs evaluated: rows of epochs.csv */
        int64_t batch;    /* updates done of the epoch behind them */
        int64_t row_step; /* step of the newest row of steps.csv */
        int64_t train_ns, eval_ns, wall_ns;
        int64_t epoch_ns;   /* train_ns where the epoch that runs began */
        int64_t best_epoch; /* 0: none */
        int64_t bad_epochs; /* since the loss was least: for patience */
        int64_t unused;     /* 0; keeps the files that were written with an end here readable */
    } n;
    struct standing_numbers {
        double best_acc, best_loss; /* of the data that best is chosen on */
        double best_test_acc, best_test_loss, last_test_acc, last_test_loss;
        double least_loss;
        double target_seconds; /* RECORD_EMPTY: not crossed */
    } x;
};

/* Sums over the steps since something: exact in doubles or whole numbers, added in the order of
 * steps and units, so that no byte of a row depends on where spans were cut. */
struct sums {
    int units, rows;    /* rows: members, 1 in data-parallel */
    double *loss;       /* (units) of this epoch */
    int64_t *right;     /* (units) of this epoch */
    int64_t *ns;        /* (units, 4) input, compute, reduce, wait; of the whole run */
    double *row_loss;   /* (rows) since the newest row of steps.csv */
    int64_t *row_right; /* (rows) */
    int64_t row_images; /* each row's, since then */
};
void sums_new(struct sums *s, const struct backend_plan *p);
void sums_free(struct sums *s);
void sums_copy(struct sums *to, const struct sums *from); /* of equal sizes */

/* A copy of everything that a run needs to go on, made by the session thread. Of one that is wanted by
 * nobody the run has the weights back for another; the run outlives it. */
struct snapshot {
    struct run *of;
    struct record_weights weights;
    struct standing at;
    struct sums sums;
    int wanted; /* by checkpoint.c: the places that hold it, and who writes it. Guarded by of->lock */
};
enum err_code snapshot_pack(const struct snapshot *s, const struct net *net,
                            struct record_pack *pack, struct err *e) MUST_USE;
/* The engine's part of a checkpoint back; sums must have their sizes. */
enum err_code standing_unpack(const struct safetensors *s, struct standing *at, struct sums *sums,
                              struct err *e) MUST_USE;
void snapshot_free(struct snapshot *s);
void snapshot_end(struct snapshot *s); /* the same where of->lock is held */

enum message_kind {
    MESSAGE_PLANNED,  /* the plan is made, or error says why not: the session waits for an answer */
    MESSAGE_OPENED,   /* the backend stands ready */
    MESSAGE_ROWS,     /* rows and the events that tell of them */
    MESSAGE_SNAPSHOT, /* of an epoch's end, a pause or an end: urgent says which */
    MESSAGE_PAUSED,
    MESSAGE_WENT_ON,
    MESSAGE_ENDED, /* the last one */
};

struct message {
    struct message *next;
    enum message_kind kind;
    struct standing at;
    struct record_step *step; /* (steps) */
    size_t steps;
    struct record_device *device; /* (devices) */
    size_t devices;
    struct record_member *member; /* (members) */
    size_t members;
    struct record_epoch *epoch; /* NULL: none */
    size_t written;             /* rows that are on disk: a full disk is tried again from here */
    struct wire_event *event;   /* (events): posted when all rows are written */
    size_t events;
    struct snapshot *snapshot; /* guarded by of->lock once it is sent: a newer one may replace it */
    bool urgent;               /* snapshot: write it now, and what else waits */
    bool best;                 /* snapshot: to be kept as the best so far */
    enum wire_state state;     /* MESSAGE_ENDED */
    struct err *error;         /* PLANNED: NULL where all is well; ENDED: code and reason */
};
struct message *message_new(enum message_kind kind, const struct standing *at);
void message_free(struct message *m);

struct run {
    struct run *next; /* in the queue, or beside it */
    uint32_t number;
    uint64_t turn; /* when it came: of runs and sweeps that wait, the lowest is next */
    struct engine *engine;
    struct wire_start start;
    pthread_t thread;
    struct sweep *sweep; /* NULL: none */
    size_t cell;         /* of the sweep's */
    int share, shares;   /* its part of the cores; shares 0: all of them */

    /* Guarded by lock; changed is told of every change. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum wire_wish wish;
    enum wire_deed part; /* of this process, whatever the wish: WIRE_GO_ON, or how it ends */
    bool obeyed;         /* the session has come to its end by that: no wish changes it */
    bool hold;           /* the disk is full: wait */
    enum { ANSWER_NONE, ANSWER_GO, ANSWER_END } answer; /* to MESSAGE_PLANNED */
    struct message *first, *last;
    size_t messages;
    struct record_weights room[PLAN_STATE_COPIES]; /* (rooms) of snapshots that are no more */
    int rooms, copies;                             /* of all there are: plan_state_copies at most */
    bool no_more_copies;                           /* there was no memory for another one */
    bool wants_room;                               /* the session waits for one */
    bool skipped;                                  /* an epoch's end was not sent: there was none */
    struct snapshot *last_wanted, *best_wanted, *named_wanted; /* not on disk yet */
    atomic_bool stop; /* for the backend: there is something to obey. Set under lock */

    /* Written by the session thread until MESSAGE_PLANNED, read by both from then on. */
    struct plan *plan;
    char model[SPEC_PATH];   /* what run.csv calls it */
    struct record_run found; /* resume: run.csv as it stood */
    bool resumed, extended;
    bool ini_differs;     /* experiment.ini names other epochs than are wanted */
    struct err too_large; /* a sweep's: why the memory cannot hold it; code ERR_OK: it can */
    char equal[128];      /* an earlier run of the same settings */
    char hash[17];
    double bytes_per_device;
    char plans[RECORD_PLANS_ROOM]; /* what the backend says of them; complete at MESSAGE_OPENED */
    struct standing from;          /* where it starts; complete at MESSAGE_OPENED */
    struct text rows;              /* of epochs.csv up to there, by the checkpoint; as complete */

    /* The engine thread's alone. */
    struct record *record;
    char path[1024];       /* of its folder; empty: none yet */
    struct record_run row; /* run.csv */
    enum wire_state state;
    struct standing at;
    uint64_t kept_ns;  /* when a checkpoint was written last */
    int64_t told_kept; /* the step of the checkpoint that log.txt tells of last, and 1; 0: none */
    int64_t *named;    /* epochs whose own checkpoint this process wrote */
    size_t nameds, named_room;
    uint64_t opened_ns;
    bool disk_full, give_up;
    bool opened; /* MESSAGE_OPENED was there */
    uint64_t retry_ns;
    bool failed; /* rows can no longer be written: reason says why */
    struct err reason;
    int restarts;     /* because of it, the one to come among them; 0: not counted, -1: not to be */
    bool skip;        /* a stop is the cell's result */
    bool queued;      /* taken from the queue */
    uint64_t item;    /* what it was taken from; 0: nothing */
    bool handed_over; /* its end is none: another process goes on */
    bool halted;      /* so because this one can compute no more, and nobody had told it to end */
    bool ended;       /* may be joined */
    bool joined;      /* the session thread is gone */
    bool commands_end; /* on_end is to be run */
    enum err_code end_code;
    uint64_t sheet_until_ns; /* the end waits for its sweep's sheet; 0: it does not */
    struct ender *ender;
    uint64_t begun_ns, control_ns; /* when RUN/control was read last */
};

struct engine {
    struct engine_config config; /* its strings are the engine's own */
    char *results, *version, *data_dir;
    struct wire *wire;
    pthread_t thread;
    struct run *running, *waiting;
    struct sweep *sweeps; /* the first one has the machine, or waits for it */
    uint64_t turns;
    uint32_t own_runs;   /* numbers given to cells' runs and to what was taken from the queue */
    struct queue *queue; /* NULL: nothing is taken */
    struct record_work *work;
    int64_t others; /* runs that other programs computed on this machine at others_ns */
    uint64_t others_ns;
    struct planner *planner;
    bool quitting;
    atomic_bool stuck, over;
    atomic_bool leaving; /* all ends after its epoch: changed by the engine thread */
};

/* Its session's thread is started; false: there is none, and the run is freed. */
bool engine_begin(struct engine *e, struct run *r);

/* engine.c: signals are the main thread's business, every thread of this room blocks them all.
 * Returns 0 or the error number. */
int engine_thread(pthread_t *thread, void *(*main_function)(void *), void *user);

/* session.c: the session thread's main function, and its way to speak. run_send frees or keeps the
 * message; it waits where the engine thread is behind. */
void *session_main(void *run);
void run_send(struct run *r, struct message *m);

/* train.c, epoch.c: from a session whose state is set to the end of the run. ERR_OK: complete. */
struct session {
    struct run *run;
    const struct plan *plan;
    struct backend_session *backend;
    bool opened;    /* its state is set */
    bool stands_in; /* which a file of one epoch gave, without a checkpoint beside it */
    struct standing at;
    struct sums sums;
    int64_t sent_epoch; /* the newest whose end was sent as a snapshot; 0: none */
};
enum err_code session_train(struct session *s, struct err *e) MUST_USE;
/* Whether the run is complete where it stands, by the epochs and limits that are wanted now. No checkpoint
 * says so: more epochs may be wanted than when it was written. */
enum run_end session_end(const struct session *s);
/* Waits while it is wanted; ERR_STOPPED where the run shall end. */
enum err_code session_obey(struct session *s, struct err *e) MUST_USE;

/* snapshot.c: weights for a session of that plan, and its state into them, or (set) out of them. */
enum err_code session_new_weights(const struct plan *p, struct record_weights *w,
                                  struct err *e) MUST_USE;
enum err_code session_move_state(struct session *s, struct record_weights *w, bool set,
                                 struct err *e) MUST_USE;
/* Weights that nobody wants, for the next snapshot; *w is left empty. r->lock is held. */
void run_give_room(struct run *r, struct record_weights *w);
/* The whole state. Where there is no memory for it until another is on disk, it waits if it must be had;
 * else *out is NULL. */
enum err_code session_snapshot(struct session *s, bool best, bool must, struct snapshot **out,
                               struct err *e) MUST_USE;

/* run.c: the engine thread's side. */
struct run *run_new(struct engine *engine, uint32_t number, const struct wire_start *start);
void run_free(struct run *r);
void run_set_wish(struct run *r, enum wire_wish wish);
enum wire_wish run_wish(struct run *r);
/* This process's part of it ends (WIRE_END, WIRE_END_NOW), which no wish changes. */
void run_end_part(struct run *r, enum wire_deed how);
void run_hand_over(struct run *r); /* likewise, and another process goes on with it */
void run_skip(struct run *r);      /* a cell's: its end is its result */
/* What there is to do at that place: r->lock is held, or not yet. */
enum wire_deed run_deed_locked(const struct run *r, enum wire_place at);
enum wire_deed run_deed(struct run *r, enum wire_place at);
void run_hold(struct run *r, bool on); /* while the disk is full */
/* Works off messages; returns false when there was nothing to do. */
bool run_work(struct run *r);
enum err_code run_open_record(struct run *r, struct err *e) MUST_USE;
void run_tick(struct run *r); /* what waits for the clock: checkpoints, control, a full disk */

/* write_error.c: a full disk makes training wait, and is tried again every second, until there is room
 * or the user wants an end. Any other trouble ends the run; what is on disk is whole and can be
 * resumed. */
void write_error_take(struct run *r, const struct err *e);
/* Of a disk that was full: what waits to be kept is written, or it is not time yet (false). The row
 * that failed is still to be tried: until it is on disk there is no room. */
bool write_error_try(struct run *r);
void write_error_over(struct run *r); /* there is room: training goes on */
bool write_error_is_full(const struct err *e);
/* "the disk is full in results (12.0 kB free, 1.5 MB wanted)"; wanted: 0 where nobody knows. Any other
 * trouble in its own words. */
void write_error_words(const struct err *e, const char *folder, uint64_t wanted, struct text *out);
/* The same of a run, which wants room for a checkpoint. */
void write_error_add(const struct run *r, const struct err *e, struct text *out);

/* on_end.c: the command of the key on_end, by `sh -c` when the run's end is on the disk. True while
 * it runs; its failure is a warning. */
bool on_end_runs(struct run *r);
void on_end_stop(struct run *r);

/* stuck.c: the backend said ERR_STUCK. What becomes of the run, whose reason is completed; all else
 * that runs here is stopped, so that another process can go on with it. May be called again. */
enum err_code stuck_end(struct run *r, enum wire_state *state, struct err *why,
                        struct err *e) MUST_USE;

/* sweep.c */
void sweep_new(struct engine *e, uint32_t number, uint32_t slot);
void sweep_free(struct sweep *s);
struct sweep *sweep_find(struct engine *e, uint32_t number);
struct sweep *sweep_next(struct sweep *s);
const char *sweep_name(const struct sweep *s);
bool sweep_has_work(struct sweep *s);          /* not only to wait for other programs */
bool sweep_goes_on(struct sweep *s);           /* one of its cells is about to begin */
const char *sweep_held(const struct sweep *s); /* its folder, where it is paused; else NULL */
/* How it stands, for other programs too; NULL: nothing of it stands on the disk yet. */
const struct wire_sweep_status *sweep_told(const struct sweep *s);
void sweep_set_wish(struct sweep *s, enum wire_wish wish);
void sweep_command(struct sweep *s, const struct wire_command *c); /* of one of its cells */
/* No cell begins here any more, whatever is wished, and its runs end. */
void sweep_end_part(struct sweep *s);
/* No cell begins here any more, since this process can compute no more: another one goes on with it, or with
 * its cells alone where it was to stop after them. These are told to end by the caller. */
void sweep_halt(struct sweep *s);
bool sweep_is_before(const struct sweep *s, const struct run *r); /* by their turns */
void sweep_obey_control(struct sweep *s);                         /* the lines of its file */
/* What there is to do now. may_begin: the machine is free for it. False: it is over. */
bool sweep_work(struct sweep *s, bool may_begin);
/* Makes or opens the record of a cell whose plan is made, if the cell is still to be had. */
enum err_code sweep_claim(struct run *r, bool *mine, struct err *e) MUST_USE;
/* A cell's run has ended (or, without a record, could not begin): before its lock is given back. */
void sweep_take_end(struct run *r, enum wire_state state, const struct err *why);
/* Whether the run's cell begins once more after a failure that may be over by then. sweep_try_again says so
 * and makes it wait for that. */
bool sweep_tries_again(const struct run *r, const struct err *why);
void sweep_try_again(struct run *r, const struct err *why);
void sweep_forget(struct run *r); /* the run will be freed */
void sweep_tell(struct sweep *s, enum log_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);
void sweep_tell_crowding(struct sweep *s, const char *words); /* once */
int sweep_at_once(const struct sweep *s);                     /* so many cells, at most */

/* queue.c */
struct queue *queue_new(struct engine *e);
void queue_free(struct queue *q);
void queue_stop(struct engine *e); /* nothing more is taken */
void queue_go(struct engine *e);   /* takes that back */
/* Takes the next one where it may. True: something has begun. */
bool queue_work(struct engine *e);

/* run_events.c */
void run_log(struct run *r, enum log_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* What goes on by itself: LOG_DEBUG, since whoever shows a run line by line has facts and epochs
 * from events of their own. */
void run_log_start(struct run *r);
void run_log_epoch(struct run *r, const struct record_epoch *row, bool best);
/* What there is to know of one that begins or goes on. */
void run_log_opened(struct run *r);
void run_status(struct run *r, enum err_code code, const char *reason);
void run_tell_state(struct run *r, enum wire_state state, enum err_code code, const char *reason);
void run_tell_started(struct run *r);
void run_refuse(struct engine *engine, uint32_t number, enum err_code code, const char *text);

/* run_row.c: run.csv. */
void run_fill_row(struct run *r);                               /* what is known before training */
enum err_code run_write(struct run *r, struct err *e) MUST_USE; /* as things stand now */

/* checkpoint.c: which snapshots become files, and when. */
bool checkpoint_names(const struct run *r, int64_t epoch); /* a file of its own */
void checkpoint_take(struct run *r, struct message *m);
/* A snapshot that waits ends where the next one, of the best epoch or not, takes its place. The session
 * thread's; r->lock is held. */
void checkpoint_replace(struct run *r, bool best);
bool checkpoint_is_due(struct run *r);
enum err_code checkpoint_flush(struct run *r, struct err *e) MUST_USE;
void checkpoint_drop(struct run *r);
void checkpoint_say_removed(struct run *r); /* checkpoints of epochs that are gone at the end */
void checkpoint_tidy(struct run *r); /* of a run that is done: files that `keep` does not name */

/* planner.c */
struct planner *planner_start(struct engine *engine);
void planner_ask(struct planner *p, const struct wire_command *c);
void planner_learn(struct planner *p); /* a run has ended: look at the results again */
void planner_stop(struct planner *p);

#endif
