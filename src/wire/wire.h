/* wire/wire.h: what the engine and its readers say to each other. Messages are values of at most 128
 * bytes without pointers; what is larger goes into a numbered slot and the message carries the
 * number. The engine never waits for a reader: where the ring is full the event is dropped and
 * counted, and the reader reads the run's files again. States of runs stand in a snapshot too, which
 * cannot be lost. Every function here may be called from any thread. */
#ifndef CHORUS_WIRE_H
#define CHORUS_WIRE_H

#include "base/err.h"
#include "spec/spec.h"
#include "wire/wish.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_state {
    WIRE_WAITING,
    WIRE_RUNNING,
    WIRE_PAUSED,
    WIRE_STOPPED,
    WIRE_DONE,
    WIRE_DIVERGED,
    WIRE_OOM,
    WIRE_FAILED,
    WIRE_SKIPPED
};
const char *wire_state_name(enum wire_state state);  /* "waiting", "oom" */
const char *wire_state_words(enum wire_state state); /* in a sentence: "out of memory" */
bool wire_state_find(const char *name, enum wire_state *state);
bool wire_state_ended(enum wire_state state);    /* stopped and whatever comes after it */
bool wire_state_is_final(enum wire_state state); /* ended, and not to go on as stopped is */
bool wire_state_is_bad(enum wire_state state);   /* diverged, oom, failed: never the best of any */

enum wire_event_kind {
    WIRE_STARTED = 1, /* slot: struct wire_facts */
    WIRE_STEP,
    WIRE_UNIT,     /* one for each member or replica, with some of the steps */
    WIRE_EPOCH,    /* its row is on disk: whoever wants it reads the run's files */
    WIRE_STATE,    /* slot: text of the reason, or 0 */
    WIRE_LOG,      /* slot: text */
    WIRE_FORECAST, /* slot: struct wire_forecast, an answer to WIRE_ASK: the last one is final */
    WIRE_REFUSED,  /* a command that could not be obeyed; slot: text */
    WIRE_CELL,  /* a sweep's cell has changed; slot: text of the reason, or 0. run: the sweep's */
    WIRE_TAKEN, /* from results/queue, by the engine; run: its number from here on; slot: text, the
                     name of its file */
};

struct wire_event {
    enum wire_event_kind kind;
    uint32_t run;    /* the number that the WIRE_START command carried */
    uint32_t slot;   /* 0: none */
    uint32_t serial; /* counts the events that the engine made, dropped ones too */
    union {
        struct {
            int64_t step;
            int32_t epoch, steps_per_epoch;
            float loss, acc; /* since the event before */
            float images_per_second;
            double lr, train_seconds;
        } step;
        struct {
            int32_t unit, device;
            float loss, acc;
            float input_share, compute_share, reduce_share, wait_share;
        } unit;
        struct {
            enum wire_state state;
            enum err_code code;
        } state;
        struct {
            int32_t level; /* enum log_level */
        } log;
        struct {
            enum err_code code;
        } refused;
        struct {
            uint32_t cell, run;    /* spec_sweep_cell's number; run: of its own events, 0: none */
            enum wire_state state; /* running: this or (run 0) another program computes it */
        } cell;
        struct {
            bool sweep; /* it became a sweep */
        } taken;
    } u;
};
_Static_assert(sizeof(struct wire_event) <= 128, "events are small values");

struct wire_facts {  /* of a run that starts */
    char path[1024]; /* its folder */
    char name[128];  /* the last part of it */
    char backend[32], isa[32], precision[16];
    int32_t mode; /* enum spec_mode */
    int32_t devices, real_devices, members, threads;
    int64_t batch, batch_per_device, epochs, epochs_done, steps_per_epoch, steps_done, dropped;
    int64_t train_images, valid_images, test_images;
    int64_t max_steps; /* 0: no such limit */
    uint64_t parameters;
    double flops_per_image, lr;
    char equal_run[128]; /* an earlier run of the same settings, or empty */
    bool queued;         /* the engine took it from results/queue */
};

enum wire_command_kind {
    WIRE_START = 1, /* slot: struct wire_start */
    WIRE_WISH,      /* wish: what the run or sweep shall do from now on */
    WIRE_HAND_OVER, /* the run or sweep ends here after its step, and another process goes on with it
                       at once: that is no end for on_end, and nothing more is taken from the queue */
    WIRE_ASK, /* slot: struct wire_sweep; run: the number of the question, which takes the place of
                   the one before. What it would cost */
    WIRE_QUIT, /* end everything that runs after its step, then the engine thread; now: commands of on_end
                   too, and the run or sweep of that number (0: none) at once, without a checkpoint */
    WIRE_SWEEP, /* slot: struct wire_sweep. WISH and HAND_OVER take its number as a run's */
    WIRE_SKIP,  /* cell: it gets no result but `skipped`, whether it waits or runs */
    WIRE_MOVE,  /* cell: by so many places later in the queue, or (below 0) earlier */
    WIRE_CLOSE, /* nothing more is taken from the queue */
    WIRE_LEAVE, /* all that runs ends here after its epoch, whatever is wished, and nothing more begins */
    WIRE_STAY, /* takes WIRE_LEAVE back */
};
struct wire_command {
    enum wire_command_kind kind;
    uint32_t run; /* chosen by the reader for WIRE_START and WIRE_SWEEP (below WIRE_OWN_RUNS), its
                     number afterwards */
    uint32_t slot;
    enum wire_wish wish;
    bool now;      /* WIRE_QUIT */
    uint32_t cell; /* WIRE_SKIP, WIRE_MOVE: of sweep `run`, by spec_sweep_cell's number */
    int32_t by;    /* WIRE_MOVE */
};
_Static_assert(sizeof(struct wire_command) <= 128, "commands are small values");

struct wire_start {
    struct spec spec;  /* of a new run */
    char resume[1024]; /* folder of the run to go on with; empty: a new one */
    int64_t epochs;    /* resume: extend to as many epochs; 0: as it was */
    bool prepare_only; /* make the run's folder in state waiting, do not train (--background) */
};

/* From here on, numbers that the engine gives to cells' runs and to what it takes from the queue. */
#define WIRE_OWN_RUNS 0x80000000u

struct wire_sweep {
    char name[128];         /* results/sweeps/NAME */
    bool grid;              /* in the grid's order instead of the spread one */
    bool failed;            /* those without a good end (diverged, oom, failed, skipped) again */
    char failed_before[32]; /* failed: if they are older than this UTC; "": than the command */
    int32_t jobs;           /* cells side by side; 0: one at a time */
    int64_t max_cells;      /* 0: all */
    bool prepare_only;      /* make the sweep's folder, run nothing (--background) */
    char text[];            /* what spec_sweep_write writes, terminated */
};

struct wire_sweep_status {
    uint32_t sweep;
    enum wire_state state; /* done: every cell has a result */
    enum err_code code;
    char name[128], path[1024]; /* of its folder; empty: none yet */
    char reason[512];
    char failed_before[32]; /* of the command: "" or as in wire_sweep */
    bool counting;          /* the numbers still grow */
    enum wire_wish wish;
    bool closing;  /* whatever its wish is, its part in this process ends: no further cell begins */
    bool full;     /* a cell that runs here waits for room on the disk */
    int64_t cells; /* without those left out: the sum of the next six lines */
    int64_t waiting, running;
    int64_t elsewhere; /* another program computes them */
    int64_t stopped;   /* unfinished, and not begun again */
    int64_t done;
    int64_t diverged, oom, failed, skipped;
    int64_t paused;      /* of those that run here */
    int64_t left_out;    /* impossible, or the same as another cell */
    double left_seconds; /* for all that waits and runs here; nan: unknown */
};

struct wire_cell { /* of a sweep's snapshot */
    uint32_t cell; /* spec_sweep_cell's number */
    uint32_t run;  /* of its events; 0: it does not run here */
    bool known;    /* false: not looked at yet, or left out */
    enum wire_state state;
    bool again;    /* it had its result before this command came */
    int64_t place; /* waiting: the lower the earlier */
    int64_t
        ended_as; /* ended: the how many-th of the sweep; 0: its ledger does not know that yet */
    char hash[17];
    double acc, val_acc; /* test and validation accuracy of the best epoch; nan: none */
    double seconds;      /* nan: none */
};

struct wire_status { /* one line of the snapshot */
    uint32_t run;
    enum wire_state state;
    enum err_code code;
    int64_t step, epoch;
    enum wire_wish wish;
    bool closing; /* whatever its wish is, its part in this process ends */
    char path[1024];
    char reason[512];
};

enum wire_queue_state {
    WIRE_QUEUE_OFF,   /* this engine takes nothing from it, or nothing any more */
    WIRE_QUEUE_BUSY,  /* it comes behind what runs or waits here, or was not looked at yet */
    WIRE_QUEUE_EMPTY, /* nothing runs or waits here, and nothing stands in it */
    WIRE_QUEUE_HELD   /* its first one is not taken now: reason says why */
};

struct wire_queue { /* results/queue, and what the engine makes of it */
    enum wire_queue_state state;
    uint32_t run;   /* number of what was taken last, a run or a sweep; 0: nothing so far */
    bool sweep;     /* it is a sweep's */
    char item[256]; /* its file: "0003-lenet.ini" */
    int64_t taken, rejected; /* so far; rejected: files that are no experiments, now .ini.bad */
    int64_t waiting;         /* files that stand there, as last seen */
    int64_t pid;             /* held: by this process; 0: not by one, or unknown */
    bool lasts;              /* held: until somebody mends it, as where files can only be read */
    char reason[512];
};

struct wire;
struct wire *wire_new(size_t events); /* the ring's size */
void wire_free(struct wire *w);

/* Engine's side. */
void wire_post(struct wire *w, const struct wire_event *event);         /* never waits */
void wire_set_status(struct wire *w, const struct wire_status *status); /* by run number */
void wire_drop_status(struct wire *w, uint32_t run); /* of a cell's run, which others tell of */
void wire_set_sweep(struct wire *w, const struct wire_sweep_status *status);
void wire_set_cell(struct wire *w, uint32_t sweep, const struct wire_cell *cell);
void wire_set_queue(struct wire *w, const struct wire_queue *queue);
bool wire_next_command(struct wire *w, struct wire_command *command, int timeout_ms);
void wire_poke(struct wire *w); /* makes wire_next_command return early (false) */

/* Reader's side. */
int wire_fd(struct wire *w); /* readable while events wait: for poll */
bool wire_take(struct wire *w, struct wire_event *event);
uint64_t wire_missed(struct wire *w); /* events dropped since the last call */
bool wire_status(struct wire *w, uint32_t run, struct wire_status *out);
/* All n of them, in the order in which they were set first; the caller frees the list. No wire has none. */
struct wire_status *wire_statuses(struct wire *w, size_t *n);
bool wire_sweep_status(struct wire *w, uint32_t sweep, struct wire_sweep_status *out);
struct wire_sweep_status *wire_sweeps(struct wire *w, size_t *n); /* likewise */
/* The first room cells by their numbers; returns how many there are. */
size_t wire_cells(struct wire *w, uint32_t sweep, struct wire_cell *out, size_t room);
void wire_queue(struct wire *w, struct wire_queue *out);
/* false: the queue of commands (64) is full, nothing was sent, the slot is still the caller's. */
bool wire_send(struct wire *w, const struct wire_command *command);
/* With a copy of n bytes in its slot; false: there is no room for them, or none for the command. */
bool wire_send_with(struct wire *w, struct wire_command command, const void *bytes, size_t n);

/* Slots: a copy of n bytes under a number that is never 0 (0: the table of 1,024 slots is full and
 * nothing was kept). wire_slot_take gives it to the caller, who frees it, and clears the slot; NULL
 * where the number is not taken. */
uint32_t wire_slot_put(struct wire *w, const void *bytes, size_t n);
void *wire_slot_take(struct wire *w, uint32_t slot, size_t *n);

#endif
