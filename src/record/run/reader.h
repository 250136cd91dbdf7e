/* record/run/reader.h: whoever reads runs: verbs, screens, other programs' processes. Writes nothing of
 * a run but RUN/control, and tags and notes under its lock; never needs the owner. A broken file
 * spoils its own run alone. */
#ifndef CHORUS_RECORD_RUN_READER_H
#define CHORUS_RECORD_RUN_READER_H

#include "base/err.h"
#include "base/sheet.h"
#include "record/run/record.h"

#include <stdbool.h>
#include <sys/stat.h>

struct record_entry {
    char *folder; /* path */
    char *name;   /* last part of it */
    bool broken;  /* run.csv could not be read: problem says why */
    char problem[256];
    bool live;             /* its lock is held by somebody */
    bool dead;             /* running or paused, but nobody holds the lock */
    struct record_run run; /* run.csv */
};

/* All runs of a results folder, oldest first. An empty or missing folder is an empty list. */
enum err_code record_list(const char *results, struct record_entry **out, size_t *count,
                          struct err *e) MUST_USE;
void record_free_list(struct record_entry *list, size_t count);

/* A list that is looked at again and again. A run is the text of run.csv's fields; what the caller
 * holds already is not read again. */
struct record_stamp { /* which content of a file it was */
    int64_t mtime_ns, ctime_ns, size, inode;
};
void record_stamp_of(struct record_stamp *stamp, const struct stat *st);
bool record_stamp_same(const struct record_stamp *a, const struct record_stamp *b);
/* Whether it is old enough that a later change must show in it: a file that was written twice
 * within one tick of the disk's clock has the same times. now: clock_wall before the file was read. */
bool record_stamp_settled(const struct record_stamp *stamp, double now);
struct record_look {
    const char *name;
    struct record_stamp stamp;
    const char *const *cells; /* by record_run_columns; NULL: broken, or as the caller holds it */
    const char *problem;      /* why it is broken; NULL: it is not, or as the caller holds it */
    bool live, dead;
};
struct record_looker {
    bool first; /* the caller holds next to nothing: then the index is worth its reading */
    /* Whether the caller holds the run's content with this stamp, the state it is in, and whether it
     * was dead then. */
    bool (*known)(void *user, const char *name, const struct record_stamp *stamp,
                  enum wire_state *state, bool *dead);
    void (*seen)(void *user, const struct record_look *run); /* each run, oldest first */
    void *user;
};
enum err_code record_look(const char *results, const struct record_looker *looker,
                          struct err *e) MUST_USE;

/* The name of the newest run of this cell that is done; false where there is none. Only runs whose
 * file holds the cell's text are read as runs: this is asked at every start. */
bool record_find_done(const char *results, const char *cell, char *name, size_t room);

/* Whether somebody holds the run's lock. Never keeps an owner from it. */
bool record_is_owned(const char *folder);
/* Whether the folder is a run's, whole or broken. */
bool record_is_run(const char *folder);
/* Whether a word among names of runs is a filter, such as lr=0.1, and no path. */
bool record_is_filter(const char *word);
/* Whether a resume would go on from somewhere, and not begin again. */
bool record_has_checkpoint(const char *folder);
/* The run in a folder; ERR_INPUT where it is none. A broken one is no error. */
enum err_code record_read_entry(const char *folder, struct record_entry *out,
                                struct err *e) MUST_USE;

/* Why a broken run can be used for nothing, and what to do with it. ERR_INPUT where it is broken. */
enum err_code record_check_whole(const struct record_entry *entry, struct err *e) MUST_USE;

/* Runs by the RUN names of docs/design.md: a folder, what runs or a sweep were called, a part of one run's
 * name, @, @2, @best, or a filter (record/filter.h). Filters choose among all runs, one after the
 * other; the others are looked up in what they leave; several of these unite. In the order of the
 * names, each run once, the oldest first where one name stands for many. Without names: all runs.
 * An error says what was looked for and where. listing: to find nothing is none, and a part of
 * several names stands for all of them. Freed by record_free_list. */
enum err_code record_find_all(const char *results, char *const *names, size_t count, bool listing,
                              struct record_entry **out, size_t *found, struct err *e) MUST_USE;
/* The one run that they name; where there are several, the error names them. */
enum err_code record_find_one(const char *results, char *const *names, size_t count,
                              struct record_entry *out, struct err *e) MUST_USE;
enum err_code record_find(const char *results, const char *name, struct record_entry *out,
                          struct err *e) MUST_USE;
/* The newest run that is unfinished (stopped, paused or dead); ERR_INPUT where there is none. */
enum err_code record_find_unfinished(const char *results, struct record_entry *out,
                                     struct err *e) MUST_USE;
void record_free_entry(struct record_entry *entry);
/* The experiment of a run, from its experiment.ini; ERR_INPUT where that no longer says what run.csv
 * says was trained. */
enum err_code record_read_spec(const char *folder, struct spec *spec, struct err *e) MUST_USE;
/* `weights` may name a run as @ or by a part of its name, which will mean another one tomorrow:
 * what is recorded is the run's folder. */
enum err_code record_name_weights(const char *results, struct spec *spec, struct err *e) MUST_USE;
/* The sweep whose folder, sweep.csv or ledger.csv that path is. False: it is none of results. */
bool record_sweep_of_path(const char *results, const char *path, char name[128]);

/* "epochs", "members", "devices" or "steps" of a run, by sheet_column's names. */
enum err_code record_read_sheet(const char *folder, const char *file, struct sheet *s,
                                struct err *e) MUST_USE;

/* Whether epochs.csv is not what its owner wrote, by run.csv: say "changed since it was written". Runs of versions
 * that named no checksum are taken as they are. */
bool record_rows_changed(const struct record_entry *entry);

/* Writes one line into RUN/control. ERR_FAILED where nobody owns the run. */
enum err_code record_control(const char *folder, const char *line, struct err *e) MUST_USE;

/* Changes tags or note of a run, through its owner where it has one: "tag +paper -draft", "note
 * TEXT", "note" alone removes it. Returns when run.csv says so. */
enum err_code record_edit(const char *folder, const char *line, struct err *e) MUST_USE;
/* Moves a run that nobody works on to the folder trash beside it. *to: where it is now; freed by
 * the caller. */
enum err_code record_remove(const struct record_entry *entry, char **to, struct err *e) MUST_USE;

/* The parameters of a run's model, which are no columns of run.csv. */
struct record_params {
    size_t count;
    char **name, **value; /* "model.width" */
};
void record_read_params(const char *folder,
                        struct record_params *p); /* what cannot be read: none */
void record_free_params(struct record_params *p);
const char *record_param(const struct record_params *p,
                         const char *name); /* "" where it has none */
/* All of them, by their names: "width=64 depth=2"; "" without. */
#define RECORD_ALL_PARAMS "model.*"
void record_add_params(const struct record_params *p, struct text *out);
/* Adds a name that is not there yet; returns whether it did. */
bool record_params_add(struct record_params *to, const char *name);

/* run.csv's columns, in order, ending with NULL: for --json and tables. The value of one as text.
 * */
extern const char *const record_run_columns[];
bool record_is_run_column(const char *name);
void record_run_value(const struct record_run *run, const char *column, struct text *out);
/* Whether it is one of run.csv that holds numbers and is no key of an experiment. */
bool record_column_is_number(const char *name);

/* What runs are filtered and sorted by: run.csv's columns; those of epochs.csv, bare or as "best.X"
 * at the best epoch, as "last.X" at the last; "model.X", a parameter of the model,
 * RECORD_ALL_PARAMS, all of them. */
bool record_column_is(const char *name);
const char *record_column_nearest(const char *name); /* NULL: none is near */
/* Whether a column can hold the value; an error begins with text. */
enum err_code record_column_check(const char *column, const char *value, const char *text,
                                  struct err *e) MUST_USE;
/* "running", but "dead" where nobody is at work on it, "broken" where run.csv cannot be read. */
const char *record_entry_state(const struct record_entry *entry);
/* A column of record_column_is, empty where it does not apply; of a broken run only run and state.
 * */
void record_entry_value(const struct record_entry *entry, const char *column, struct text *out);
/* On validation data at its best epoch, which was picked by it; nan without. */
double record_entry_valid_acc(const struct record_entry *entry);

#endif
