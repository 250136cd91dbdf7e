/* record/sweep/ledger.h: the book of a sweep, results/sweeps/NAME: ledger.csv (append-only: time, cell, run,
 * state, reason) and sweep.csv (a row a cell, replaced by rename). Several programs may work on one
 * sweep: whatever is read in order to be appended to is read under the lock of the folder, so that
 * each cell is run once. The newest line of a cell counts; a line that says running counts for as
 * long as somebody owns that run; one that says waiting, and names no run, takes the cell back, as if
 * it never had a line. A torn last line is cut. */
#ifndef CHORUS_RECORD_SWEEP_LEDGER_H
#define CHORUS_RECORD_SWEEP_LEDGER_H

#include "base/err.h"
#include "wire/wire.h"

#include <stdbool.h>

struct record_ledger;

struct record_cell { /* where a cell stands */
    char cell[32];   /* its hash */
    char run[256];   /* folder's name; empty: none */
    enum wire_state state;
    char reason[512];
    char time[32]; /* of the newest line */
    bool owned;    /* not ended, and somebody holds the run's lock */
};

enum record_claim {
    RECORD_CLAIM_NEW,    /* nobody has it: this program makes a run for it */
    RECORD_CLAIM_RESUME, /* its run is unfinished and nobody's: this program goes on with it */
    RECORD_CLAIM_OTHER,  /* another program computes it */
    RECORD_CLAIM_ENDED   /* it has a result */
};

/* Made where it is missing. Whoever has it waits for others up to half a minute, in open and begin. */
enum err_code record_ledger_open(struct record_ledger **out, const char *results, const char *name,
                                 struct err *e) MUST_USE;
/* For one that has no time: up to so many milliseconds, here and in begin. */
enum err_code record_ledger_open_within(struct record_ledger **out, const char *results,
                                        const char *name, int wait_ms, struct err *e) MUST_USE;
/* To read alone: nothing is made or locked, and nobody waited for. Only for cells, and close. */
enum err_code record_ledger_open_to_read(struct record_ledger **out, const char *results,
                                         const char *name, struct err *e) MUST_USE;
void record_ledger_close(struct record_ledger *l);

/* Between begin and end this program alone works on the ledger, and what is read is new. Where others
 * have it for too long: ERR_FAILED, with EWOULDBLOCK as its sys. A handle is used by one thread at a
 * time. */
enum err_code record_ledger_begin(struct record_ledger *l, struct err *e) MUST_USE;
void record_ledger_end(struct record_ledger *l);
/* What a start that failed has made of a sweep's folder. Where somebody has the ledger, or the sweep has
 * its text and so has begun, nothing is taken. */
void record_ledger_take_away(const char *results, const char *name);

/* Where a cell stands; failed_again: failed, diverged, oom and skipped ones are to be had anew. A cell
 * whose run is gone (`rm`), or went on beyond it, is had anew too. */
enum record_claim record_ledger_look(struct record_ledger *l, const char *cell, bool failed_again,
                                     struct record_cell *found);
/* From now on the cell is one of those that record_ledger_ended counts: ended says whether it has a
 * result now (by look), lines that are read later say the rest. */
void record_ledger_count(struct record_ledger *l, const char *cell, bool ended);
int64_t record_ledger_ended(const struct record_ledger *l);
/* One whole line, on the disk when it returns, or none. Outside of begin and end it takes the lock
 * for itself. */
enum err_code record_ledger_add(struct record_ledger *l, const char *cell, const char *run,
                                enum wire_state state, const char *reason, struct err *e) MUST_USE;
/* Whether somebody is at work on a run of it, and on which: computing, or paused. */
bool record_ledger_is_worked_on(const struct record_ledger *l, char run[256]);
/* All cells of the ledger, in the order in which they came up first; one whose run is gone waits, and
 * has none. The caller frees the array. */
enum err_code record_ledger_cells(struct record_ledger *l, struct record_cell **out, size_t *count,
                                  struct err *e) MUST_USE;
/* The sweeps of a results folder by name, sorted; the caller frees the strings and the array. */
enum err_code record_sweeps(const char *results, char ***names, size_t *count,
                            struct err *e) MUST_USE;

#endif
