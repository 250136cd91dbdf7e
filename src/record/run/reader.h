/* record/run/reader.h: whoever reads runs: verbs, screens, other programs' processes. Writes nothing of
 * a run but RUN/control, and tags and notes under its lock; never needs the owner. A broken file
 * spoils its own run alone. */
#ifndef CHORUS_RECORD_RUN_READER_H
#define CHORUS_RECORD_RUN_READER_H

#include "base/err.h"
#include "base/sheet.h"
#include "record/run/run.h"

#include <stdbool.h>

struct record_entry {
    char *folder; /* path */
    char *name;   /* last part of it */
    bool broken;  /* run.csv could not be read: problem says why */
    char problem[256];
    bool live;             /* its lock is held by somebody */
    bool dead;             /* running or paused, but nobody holds the lock */
    struct record_run run; /* run.csv */
};

void record_free_list(struct record_entry *list, size_t count);

/* Whether somebody holds the run's lock. Never keeps an owner from it. */
bool record_is_owned(const char *folder);
/* Whether the folder is a run's, whole or broken. */
bool record_is_run(const char *folder);
/* Whether a resume would go on from somewhere, and not begin again. */
bool record_has_checkpoint(const char *folder);
/* The run in a folder; ERR_INPUT where it is none. A broken one is no error. */
enum err_code record_read_entry(const char *folder, struct record_entry *out,
                                struct err *e) MUST_USE;

/* Why a broken run can be used for nothing, and what to do with it. ERR_INPUT where it is broken. */
enum err_code record_check_whole(const struct record_entry *entry, struct err *e) MUST_USE;

void record_free_entry(struct record_entry *entry);
/* The experiment of a run, from its experiment.ini; ERR_INPUT where that no longer says what run.csv
 * says was trained. */
enum err_code record_read_spec(const char *folder, struct spec *spec, struct err *e) MUST_USE;
/* "epochs", "members", "devices" or "steps" of a run, by sheet_column's names. */
enum err_code record_read_sheet(const char *folder, const char *file, struct sheet *s,
                                struct err *e) MUST_USE;

/* Whether epochs.csv is not what its owner wrote, by run.csv: say "changed since it was written". Runs of versions
 * that named no checksum are taken as they are. */
bool record_rows_changed(const struct record_entry *entry);

/* Writes one line into RUN/control. ERR_FAILED where nobody owns the run. */
enum err_code record_control(const char *folder, const char *line, struct err *e) MUST_USE;
bool record_control_is_read(
    const char *folder); /* its owner has heard all that was written there */

/* Changes tags or note of a run, through its owner where it has one: "tag +paper -draft", "note
 * TEXT", "note" alone removes it. Returns when run.csv says so. */
enum err_code record_edit(const char *folder, const char *line, struct err *e) MUST_USE;

#endif
