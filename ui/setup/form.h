/* ui/setup/form.h: an experiment as a form: what stands in its fields, what of that is new, which fields are
 * seen, and what a person does in an open one. Nothing here knows a screen, an engine or a thread. */
#ifndef CHORUS_UI_SETUP_FORM_H
#define CHORUS_UI_SETUP_FORM_H

#include "base/err.h"
#include "base/text.h"
#include "spec/sweep.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum form_kind {
    FORM_CHOICE, /* one of a few words, or a list of them */
    FORM_NUMBER,
    FORM_PATH, /* a name, or a path that Tab completes */
    FORM_WORDS
};

struct form_key { /* a row of the table of all fields, in the order in which they are shown */
    const char *name;
    enum form_kind kind;
    bool always;                /* shown in a folded form too */
    const char *const *choices; /* to choose from; NULL: none. Others may be allowed too */
    int step;                   /* what Left and Right do to a number: enum form_step */
};
enum form_step { FORM_STEP_NONE, FORM_STEP_ONE, FORM_STEP_DOUBLE, FORM_STEP_DECADE };
extern const struct form_key form_keys[]; /* ends with a NULL name */
#define FORM_KEYS (SPEC_KEYS + 2)         /* those of spec_keys, and zip and samples */

struct form_field {
    char key[64];              /* "lr", "model.width" */
    const struct form_key *is; /* of model.NAME: that of its kind */
    enum spec_group group;
    char *text;     /* as it was typed, lists too; NULL: the default */
    char *saved;    /* the same in what was loaded */
    char *wrong;    /* a sentence about what was loaded and could not be taken; NULL */
    char *normal;   /* of a model's parameter: what the model says */
    uint32_t order; /* of what is given, by what came first: lists vary in this order */
    uint32_t saved_order;
    bool list, saved_list; /* text and saved are lists */
    bool applies;          /* under the others' values; of a sweep: in some cell */
};

enum form_from { FORM_DEFAULTS, FORM_BUILTIN, FORM_FILE, FORM_RUN, FORM_QUEUE };
enum form_file_is { FORM_AS_READ, FORM_CHANGED, FORM_GONE }; /* since it was read or written */

struct form_undo {
    char key[64];
    char *text; /* what it was before */
};

struct form {
    struct form_field *field; /* (fields), as they are shown */
    size_t fields;
    enum form_from from;
    char *source; /* what `run` takes for it: "first", a path, a run's name; "" for the defaults; of
                     FORM_QUEUE the name under which it waits */
    char *path;   /* FORM_FILE: of the file */
    enum form_file_is file_is;
    char *remark; /* its comment on top, with the '#'; "" */
    char *notes;  /* lines about what of it could not be taken; "" */
    uint32_t last_order;
    uint64_t turn; /* grows with each change */
    struct form_undo *undo;
    size_t undos, undo_room;
    struct form_model *model; /* files of models that were read: they are asked at each keystroke */
    size_t models, model_room;
    /* Reads such a file on another thread, and tells by form_model_read; NULL: here and now. */
    void (*read_model)(void *user, const char *path);
    struct form_list *list; /* long ones that were checked */
    size_t lists, list_room;
    /* Checks such a list on another thread, and tells by form_list_checked; NULL: here and now. */
    void (*check_list)(void *user, const char *key, const char *value);
    void *user;
    bool building;
    bool waits; /* what it comes to, for the check of a list: problem is none */
    bool asked; /* the same of what was tried last */
    /* What it comes to, kept up by every function here. Where good is false problem says why, and
     * blamed is the field that it is about (-1: none); the sweep is closed otherwise. */
    struct spec_sweep sweep;
    bool good;
    struct err problem;
    int blamed;
};

void form_start(struct form *f); /* the defaults */
void form_end(struct form *f);

/* What its fields come to, after a change of one, or of a file that it names. */
void form_build(struct form *f);

/* Takes an experiment's text as far as it can be taken. file: its path or "first.ini", for messages
 * and for relative paths in it. What cannot be taken stands in notes and beside its field. Of
 * FORM_DEFAULTS all that is given is a change that nobody has saved. */
void form_load(struct form *f, enum form_from from, const char *source, const char *file,
               const char *text, size_t n);
/* The same in two parts: the form is made by any thread, and f becomes it; made is freed. */
struct form *form_make(enum form_from from, const char *source, const char *file, const char *text,
                       size_t n);
void form_take(struct form *f, struct form *made);
/* The form is what was saved under that path. */
void form_saved(struct form *f, const char *path);
/* INI text of what is given, in the order of the fields, the remark on top; the lists behind all else, in
 * the order in which they vary. */
void form_write(const struct form *f, struct text *out);
/* The keys that are given and have no effect, which form_write leaves out. */
void form_add_dropped(const struct form *f, struct text *out);
/* "run first lr=0.05": the command line that starts the same. */
void form_command(const struct form *f, struct text *out);
/* The name under which a sweep of it goes. */
void form_sweep_name(const struct form *f, char name[SPEC_NAME]);

int form_find(const struct form *f, const char *key); /* -1: no such field */
bool form_changed(const struct form *f, size_t i);    /* from what was loaded */
bool form_dirty(const struct form *f);                /* any is */
/* What is seen in a field: its text, or the default (*is_default), in words where it depends. */
void form_shown(const struct form *f, size_t i, struct text *out, bool *is_default);
/* What the field would be opened with: as shown, empty where the default is no value. */
void form_value(const struct form *f, size_t i, struct text *out);
/* A sentence of what is wrong with the field; NULL: nothing. */
const char *form_wrong(const struct form *f, size_t i);

/* Whether the field could hold this text; "": the default. In the command line's words. */
enum err_code form_try(struct form *f, size_t i, const char *text, struct err *e) MUST_USE;
/* Gives it a text (NULL or "": the default). Kept as it is, with e, where it cannot. */
enum err_code form_set(struct form *f, size_t i, const char *text, struct err *e) MUST_USE;
/* The default, as what was loaded has it: that is no change then. */
enum err_code form_set_default(struct form *f, size_t i, struct err *e) MUST_USE;
/* As set, but no step for undo: while somebody types. */
enum err_code form_follow(struct form *f, size_t i, const char *text, struct err *e) MUST_USE;
/* A text that it had: a long list that has been forgotten is checked behind that. */
bool form_put_back(struct form *f, size_t i, const char *text);
bool form_same_text(const char *a, const char *b); /* or both are none */
/* One choice or one step further (by: 1 or -1). False: there is none. */
bool form_step(struct form *f, size_t i, int by, const char *const *choices);
/* Takes the last change back: the field that it was in, or -1. */
int form_undo(struct form *f);
void form_keep_undo(struct form *f, size_t i,
                    const char *before); /* a change that followed typing */

/* Which fields are seen, by their numbers; returns how many. Where a folded form has more than there is
 * room for, those that are always shown stand before all others. keep: one that is seen in any case; -1. */
size_t form_rows(const struct form *f, bool folded, size_t room, int keep, size_t *row);
extern const char *const form_group_names[5];

/* ---- files of models ---- */

/* Of a list of models so many are looked into for their parameters, at each keystroke; as many files are
 * remembered. */
#define FORM_MODELS 32

struct form_file {
    char *path, *text; /* text: NULL where it cannot be had */
    bool there;
    struct stat st; /* as it was read */
};
/* Reads the file at x->path, where it is another one than x says. For any thread. */
void form_read_file(struct form_file *x);
/* What was read, given to the form; false: it is as it was. */
bool form_model_read(struct form *f, struct form_file *x);

/* ---- long lists ---- */

struct form_checked {
    char key[64], *value;
    struct spec_axis list;
    enum err_code code;
    struct err e;
};
/* Fills in what is behind the value. For any thread. */
void form_check_list(struct form_checked *x);
/* What was checked, given to the form. False: nobody waits for it any more. */
bool form_list_checked(struct form *f, struct form_checked *x);

/* ---- an open field ---- */

/* out: the text with what Tab adds to the last value of a list at its end: of the words (NULL at the
 * end; may be NULL) and, where no word fits, of files. False: nothing. several: names of all that would
 * fit, where they are more than one and none of them is there whole. */
bool form_complete(const char *text, const char *const *words, struct text *out,
                   struct text *several);
/* The same of what is one path whatever stands in it; more: what is added. */
void form_complete_path(const char *text, struct text *more, struct text *several);

#endif
