/* record/record_int.h: what the files of this room share. */
#ifndef CHORUS_RECORD_INT_H
#define CHORUS_RECORD_INT_H

#include "base/err.h"
#include "base/text.h"
#include "record/file/safetensors.h"
#include "record/run/run.h"
#include "record/run/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file that a run wrote: one without a checksum was damaged in its header. */
enum err_code record_read_sealed(const char *path, struct safetensors *s, struct err *e) MUST_USE;

/* The newest checkpoint that reads whole, without a word. */
struct record_found {
    char name[64];     /* "": there is none */
    struct err broken; /* code: a newer one cannot be read, and text says why */
};
enum err_code record_find_checkpoint(const char *folder, struct safetensors *s,
                                     struct record_found *out, struct err *e) MUST_USE;
void record_say_stand_in(const struct record_found *found);

/* run.csv: its two lines, and back. */
void record_run_text(const struct record_run *run, struct text *out);
enum err_code record_read_run(const char *path, struct record_run *run, struct err *e) MUST_USE;
/* As record_read_run; cells (or NULL) gets the row's fields in the columns' order, each with its 0
 * byte: what record_take_cells makes the same run of. */
enum err_code record_read_cells(const char *path, struct record_run *run, struct text *cells,
                                struct err *e) MUST_USE;
/* like: a run read before from like_cells (or NULL); only what differs from it is read, which is
 * most of the time that a list of runs takes. */
enum err_code record_take_cells(struct record_run *run, const char *const *cells,
                                const struct record_run *like, const char *const *like_cells,
                                struct err *e) MUST_USE;

/* Of a run that died: what epochs.csv tells and run.csv does not yet, in these columns. False: nothing. */
bool record_catch_up(const char *folder, struct record_run *run);
extern const char *const record_caught_columns[]; /* NULL at the end */

/* What users write on a run: the part of run.csv that is not its owner's. */
struct record_marks {
    char tags[256], note[512];
};
enum record_edited { RECORD_NO_EDIT, RECORD_SAME, RECORD_CHANGED, RECORD_TOO_LONG };
/* Obeys a line of record_edit; RECORD_NO_EDIT: it is another. */
enum record_edited record_apply_edit(const char *line, struct record_marks *marks);
void record_marks_of(struct record_marks *marks, const struct record_run *run);
/* By whoever holds the lock. */
enum err_code record_write_marks(const char *folder, const struct record_marks *marks,
                                 struct err *e) MUST_USE;

/* What is not fit for a file's name becomes '-'; nothing may be left. */
void record_clean_name(const char *name, char *out, size_t room);
/* "cnn-ens4": the experiment's name, or model and mode, made fit for a folder's name. */
void record_label(const struct spec *spec, char *out, size_t room);

/* lock.c: takes the lock file and model.net, trying for a fifth of a second, since a reader that asks whether a
 * run lives holds one of them for a moment. ERR_FAILED names the owner. make: also where there is no lock file,
 * which is made then. */
struct record_hold {
    int lock, model; /* -1: not open */
};
enum err_code record_hold(const char *folder, bool make, struct record_hold *h,
                          struct err *e) MUST_USE;
/* Locks the model.net of an owner that wrote this file again. */
enum err_code record_hold_model(const char *folder, struct record_hold *h, struct err *e) MUST_USE;
void record_let_go(struct record_hold *h);
/* Who holds the lock, for whoever does not get it. Advice only: the lock itself is what counts. */
enum err_code record_write_owner(const struct record_hold *h, const char *folder,
                                 struct err *e) MUST_USE;
/* edit.c: whether one of the words between blanks is that one, with the sign in front of it (0: none). */
bool record_has_word(const char *words, char sign, const char *word, size_t n);
/* control.c */
enum err_code record_keep_control(struct record *r, struct err *e) MUST_USE;

/* A CSV of the run that rows are appended to. */
struct record_csv {
    const char *name; /* "epochs.csv" */
    char *path;
    int fd;     /* -1: the run has none */
    off_t size; /* whole rows */
    bool torn;  /* bytes behind size could not be taken back yet */
};
enum record_csvs { RECORD_EPOCHS, RECORD_MEMBERS, RECORD_DEVICES, RECORD_STEPS, RECORD_CSVS };
extern const char *const record_csv_name[RECORD_CSVS];
extern const char *const record_csv_header[RECORD_CSVS];

struct record {
    char *folder;
    struct record_hold hold;
    int log;
    int control;
    struct record_csv csv[RECORD_CSVS];
    struct text row;     /* being made */
    struct text rows;    /* of epochs.csv, its header among them */
    size_t synced;       /* bytes of them that are on the disk for certain */
    bool trusted;        /* a checkpoint says that these are its rows */
    bool checked;        /* run.csv says what they are: a checkpoint can give them back */
    struct text pending; /* lines read from control, not yet handed out */
    size_t taken;        /* bytes of pending that were handed out */
    struct record_marks marks;
};

/* Cuts everything behind the last LF. */
enum err_code record_cut_torn(struct record_csv *c, struct err *e) MUST_USE;
enum err_code record_cut_at(struct record_csv *c, off_t size, struct err *e) MUST_USE;
/* A new file gets its header; an old one must have it. */
enum err_code record_open_csv(struct record *r, enum record_csvs which, struct err *e) MUST_USE;

/* rows.c: epochs.csv as it is. */
enum err_code record_load_rows(struct record *r, struct err *e) MUST_USE;
/* Fills in epochs_check. */
void record_check_rows(const struct record *r, struct record_run *run);
/* epochs.csv as it was trusted: what is more is cut, and it is written again where it was changed. */
enum err_code record_put_rows(struct record *r, struct err *e) MUST_USE;

#endif
