/* record/sweep/sheet.h: sweep.csv, a row a cell, replaced by rename. */
#ifndef CHORUS_RECORD_SWEEP_SHEET_H
#define CHORUS_RECORD_SWEEP_SHEET_H

#include "record/run/run.h"
#include "record/sweep/ledger.h"

/* What is known of a cell beforehand: its values of the keys that write_sheet will be called with,
 * ending with NULL. Such cells have a row, in the order of the first calls, before the ledger has a
 * line of them: waiting, or with a reason skipped, for they cannot be run. The values of a run, which
 * are resolved, go before these. */
void record_ledger_expect(struct record_ledger *l, const char *cell, const char *const *values,
                          const char *reason);
/* sweep.csv anew from the ledger and the runs' run.csv: cell, run, state, reason, the keys that vary
 * (names, ending with NULL), then epochs_done, best_epoch, best_test_acc, ... as run.csv has them,
 * the best epoch's val_acc and val_loss, and whether the cell is among those expected: yes, or so far
 * while more may be told; no, where these are all of the sweep; else empty. */
#define RECORD_LISTED "listed"
enum record_told { RECORD_TOLD_SOME, RECORD_TOLD_ASKED, RECORD_TOLD_ALL }; /* ASKED: of a part */
enum err_code record_ledger_write_sheet(struct record_ledger *l, const char *const *keys,
                                        enum record_told told, struct err *e) MUST_USE;

struct record_run;
/* Whether a cell's run went on beyond it (`resume RUN epochs=N`): its accuracies are then those of other
 * settings than the sweep's. why: in words, as sweep.csv gives them as the reason. */
#define RECORD_LEFT_ROOM 80
bool record_cell_is_left(const struct record_run *run, const char *cell,
                         char why[RECORD_LEFT_ROOM]);
bool record_reason_is_left(const char *reason); /* whether it is such a why */
/* A run of a sweep that ended outside of it (`resume RUN epochs=N`): its row of sweep.csv, and its line
 * of the ledger where that says another end; a cell that it left waits again. Nothing where it is of no
 * sweep, or no cell of it. Where others have the ledger it soon gives up, as begin does. */
enum err_code record_sweep_take_run(const char *results, const struct record_run *run,
                                    struct err *e) MUST_USE;

/* A run that was removed: its row of sweep.csv waits. The ledger, which looks for the folder, stays:
 * moved back, it is the cell's again. *waits: whether a cell does; none where another run was made for
 * it since. */
enum err_code record_sweep_drop_run(const char *results, const struct record_run *run, bool *waits,
                                    struct err *e) MUST_USE;

#endif
