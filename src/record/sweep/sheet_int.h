/* record/sweep/sheet_int.h: what the files of sweep.csv share. */
#ifndef CHORUS_RECORD_SWEEP_SHEET_INT_H
#define CHORUS_RECORD_SWEEP_SHEET_INT_H

#include "record/sweep/sheet.h"

/* sheet.c: what sweep.csv tells of a cell's run, by run.csv's names; ends with NULL. */
extern const char *const ledger_results[];
/* And behind these, by epochs.csv's names: of the best epoch; empty without validation data. */
extern const char *const ledger_valid_results[];

#endif
