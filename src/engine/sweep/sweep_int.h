/* engine/sweep/sweep_int.h: what sweep.c (its course, and what is told), sweep_command.c (commands), claim.c
 * (which cell runs, and what became of it), sweep_wait.c (what it waits for), cells.c (what the cells are),
 * book.c (the sweep's folder), cell_order.c (the order that the user chose) and sweep_time_left.c (how long it will
 * take) share. */
#ifndef CHORUS_ENGINE_SWEEP_SWEEP_INT_H
#define CHORUS_ENGINE_SWEEP_SWEEP_INT_H

#include "engine/engine_int.h"
#include "record/sweep/ledger.h"
#include "record/sweep/order.h"
#include "record/sweep/sweeps.h"
#include "spec/sweep.h"

#include <sys/types.h>

struct cell {
    size_t number;           /* spec_sweep_cell's */
    char hash[17], bare[17]; /* bare: its name where it cannot be planned */
    int kind;                /* of cost: index of sweep.kind; -1: it cannot be planned */
    bool too_large;          /* for this machine's memory: it costs nothing */
    char *reason;            /* why it cannot be planned, or how it ended; NULL */
    enum err_code why;       /* of a cell that cannot be planned */

    /* The engine thread's from the moment when it was found out what the cell is. */
    enum wire_state state;
    bool elsewhere; /* running: another program computes it */
    bool again;     /* its result was there before */
    bool unsaved;   /* the ledger does not know yet how it ended */
    bool retried;   /* a failure that may pass ended it here once */
    bool with_all;  /* stopped: with all of the sweep, and not alone */
    int64_t place;
    int64_t
        ended_as; /* ended here: the how many-th of the sweep; 0: the ledger does not know it yet */
    double acc, val_acc, seconds; /* of the best epoch; nan: none */
    char folder[256];             /* of its run; empty: none */
    struct run *run;
    enum record_claim how; /* run: what the ledger said when it began, and the run it named */
    char before[256];
};

struct left_out { /* a cell that is impossible */
    size_t number;
    char hash[17], *reason;
};

struct kind { /* of cells that should take equally long: seeds and learning rates do not matter */
    double cost; /* model-images * FLOPs / threads; no more than compared */
    int64_t batch, steps, epochs;
    int devices, members, threads;
    const struct backend *backend;
    double forecast; /* seconds, by earlier runs; nan */
    int64_t waiting; /* cells, of those that sweep_time_left.c counts */
    double seconds;  /* sum over those that are done */
    int64_t done;
};

struct sweep {
    struct sweep *next;
    struct engine *engine;
    uint32_t number;
    uint64_t turn;
    char name[128];
    bool grid, failed, prepare_only;
    int jobs, asked_jobs;
    bool alone; /* one cell at a time, whoever computes it: their seconds are compared */
    int64_t max_cells;
    struct spec_sweep spec; /* the cells' thread reads it only */
    char begun_utc[32];     /* a result that is younger is not had anew by --failed */

    /* cells.c: its thread adds cells behind `counted`, and makes that larger under the lock. */
    pthread_t thread;
    pthread_mutex_t lock;
    atomic_bool stop;
    size_t counted, left_out, planned; /* planned: of those counted; guarded by lock */
    size_t twins;                      /* of those left out: the same as another; by lock */
    struct left_out *impossible;       /* (left_out - twins); by lock */
    size_t impossible_room;
    bool counting;     /* guarded by lock */
    bool cut;          /* max_cells left some of the lists' out; by lock */
    struct err first;  /* why the first one that cannot be planned cannot; by lock */
    struct cell *cell; /* (spec_sweep_cells) */
    struct kind *kind; /* grown under the lock, the engine thread reads under it */
    size_t kinds, kind_room;

    /* The engine thread's alone. */
    size_t seen; /* cells that the engine thread knows of */
    size_t told; /* of those: their values are known to the ledger */
    size_t told_impossible;
    size_t looked;        /* of those: the ledger counts them, and what was there before is known */
    size_t live;          /* that run here */
    size_t unsaved;       /* cells */
    size_t first_waiting; /* no cell before this one waits */
    bool moved;           /* cells no longer wait in the order of the array */
    struct record_place *order; /* (orders) that the user chose; none: nobody moved a cell */
    size_t orders;
    bool order_old; /* the folder does not know it yet */
    bool *job;      /* (jobs): taken */
    bool begun, changed;
    enum wire_wish wish;
    bool ends;    /* whatever its wish: its part in this process */
    bool halted;  /* so because this process can compute no more, another one goes on */
    bool opened;  /* what the folder holds is there */
    char *folder; /* results/sweeps/NAME; NULL: nothing is written yet */
    struct record_ledger *ledger;
    int work;    /* descriptor; -1: none. Of a lock that all who work on the sweep share */
    int control; /* the same */
    off_t control_read;
    struct record_cell *orphan; /* (orphans): runs of a program that died before its claim */
    size_t orphans, orphan_room;
    bool sheet_old, sheet_whole;      /* whole: written when all cells were known */
    uint64_t sheet_ns, sheet_cost_ns; /* when it was written last, and what that took */
    uint64_t control_ns, look_ns, status_ns, opened_ns;
    /* The ledger cannot be had, or the disk is full: all is tried again at hold_ns. */
    uint64_t hold_ns, held_since_ns; /* since: 0 where there is no such trouble */
    bool held_told, busy;            /* busy: another program has the ledger */
    uint64_t turn_ns;                /* alone: another program's cell runs until then at least */
    bool turn_told;
    bool twins_told, crowding_told;
    bool unclaimed;     /* a run could not claim its cell, which waits on */
    struct err trouble; /* what ended the sweep */
    struct wire_sweep_status status;
};

static inline bool sweep_ends_here(const struct sweep *s)
{
    return s->ends || atomic_load(&s->engine->leaving);
}

static inline bool sweep_closes(const struct sweep *s)
{
    return sweep_ends_here(s) || wire_wish_deed(s->wish, WIRE_AT_BEGIN) >= WIRE_END;
}

static inline bool sweep_is_held(const struct sweep *s)
{
    return !sweep_ends_here(s) && s->wish == WIRE_WISH_PAUSE;
}

/* sweep.c */
void sweep_tell_cell(struct sweep *s, const struct cell *c);

/* claim.c. Returns whether a cell began. */
bool claim_next(struct sweep *s);
struct cell *claim_next_waiting(struct sweep *s);
void claim_again(
    struct sweep *s); /* cells that stopped with the sweep wait: it goes on after all */
void claim_take_ended(struct sweep *s);     /* cells that had their result before */
void claim_look_elsewhere(struct sweep *s); /* whether other programs' cells have ended */
/* Of a cell that waits: without a result, unless another program has one by now, or is at it. */
void claim_skip(struct sweep *s, struct cell *c);
void claim_save(struct sweep *s); /* ends that the ledger does not know */
/* At the end: what --failed did not have anew keeps the end that it had. */
void claim_keep_ends(struct sweep *s);

/* sweep_wait.c. What cannot be done now: a full disk, and a ledger that another program holds, are waited
 * for, and said; any other trouble ends the sweep, to be gone on with another day. */
void sweep_wait_for(struct sweep *s, const struct err *e);
void sweep_wait_over(struct sweep *s); /* it could be done */

/* cells.c */
bool cells_start(struct sweep *s);
void cells_stop(struct sweep *s);

/* book.c: the sweep's folder. */
enum err_code book_open(struct sweep *s, struct err *e) MUST_USE; /* may be called again */
void book_close(struct sweep *s);
bool book_next_control(struct sweep *s, char *line, size_t room);
/* The folder of a cell's run that nobody is at work on and that the ledger does not know, or NULL. */
const char *book_orphan(struct sweep *s, const char *hash);
void book_add_orphan(struct sweep *s, const char *hash, const char *run);
void book_write_sheet(struct sweep *s, bool last); /* last: whatever it costs */

/* cell_order.c: the order that the user chose. */
void cell_order_read(struct sweep *s);
void cell_order_apply(
    struct sweep *s); /* to the cells seen so far; those that he did not know stay */
/* While cells are still counted, those that he moved earlier and that are not found yet stay in it. */
void cell_order_write(struct sweep *s);

/* sweep_time_left.c: seconds until all is done that runs here, and that waits where it will begin; nan. */
double sweep_time_left(struct sweep *s);

#endif
