/* spec/spec_int.h: what the files of this room share: the numbers of the keys, and how the plain
 * ones among them are read and written. */
#ifndef CHORUS_SPEC_INT_H
#define CHORUS_SPEC_INT_H

#include "spec/spec.h"

#define SPEC_THREADS_MOST 1024 /* of a run, over all its devices */

enum spec_id {
    KEY_NAME,
    KEY_MODEL,
    KEY_DATA,
    KEY_NORMALIZE,
    KEY_VALID,
    KEY_MODE,
    KEY_BACKEND,
    KEY_DEVICES,
    KEY_THREADS,
    KEY_MEMBERS,
    KEY_BATCH,
    KEY_EPOCHS,
    KEY_OPTIMIZER,
    KEY_MOMENTUM,
    KEY_BETA1,
    KEY_BETA2,
    KEY_EPSILON,
    KEY_WEIGHT_DECAY,
    KEY_LR,
    KEY_LR_RULE,
    KEY_LR_BATCH,
    KEY_SCHEDULE,
    KEY_WARMUP,
    KEY_LR_MIN,
    KEY_STEP_EPOCHS,
    KEY_STEP_FACTOR,
    KEY_GRAD_CLIP,
    KEY_LOSS_REDUCTION,
    KEY_SHUFFLE,
    KEY_MEMBER_ORDER,
    KEY_INIT,
    KEY_WEIGHTS,
    KEY_PRECISION,
    KEY_SYNC_BN,
    KEY_AUGMENT,
    KEY_SEED,
    KEY_REPEATS,
    KEY_TRAIN_LIMIT,
    KEY_TEST_LIMIT,
    KEY_LOG_EVERY,
    KEY_KEEP,
    KEY_TARGET_ACC,
    KEY_MAX_STEPS,
    KEY_MAX_MINUTES,
    KEY_PATIENCE,
    KEY_ON_END
};

/* One key's text on its way into the spec. */
struct spec_input {
    const char *key, *value; /* the value trimmed and without its quotes */
    const char *where, *folder;
    int id;
    const char *form; /* of a list that is refused, instead of the key's values; NULL */
};

/* Puts "WHERE: KEY = VALUE: " in front of the reason and "; allowed: VALUES" behind it. */
enum err_code spec_refuse(const struct spec_input *in, struct err *e, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Of a whole number that is none from lo to hi: "the least is 1", or "it is no count of devices". */
enum err_code spec_refuse_count(const struct spec_input *in, const char *what, int64_t lo,
                                int64_t hi, struct err *e);

typedef enum err_code spec_set_fn(struct spec *s, const struct spec_input *in, struct err *e);
typedef void spec_value_fn(const struct spec *s, struct text *out); /* empty where unset */

enum spec_field_kind {
    FIELD_WORD,  /* an enum: words[i] is value i */
    FIELD_YESNO, /* bool */
    FIELD_INT,   /* int from lo to hi */
    FIELD_COUNT, /* int64_t from lo to hi */
    FIELD_REAL,  /* double from min to max, without min where it says above */
    FIELD_OWN    /* functions of its own */
};

struct spec_field {
    enum spec_field_kind kind;
    size_t offset; /* in struct spec */
    const char *const *words;
    int64_t lo, hi;
    double min, max;
    bool above;
    const char *unset; /* the word for 0, "none" or "all"; NULL where 0 has none */
    spec_set_fn *set;
    spec_value_fn *value;
};
extern const struct spec_field spec_fields[SPEC_KEYS];

static inline bool spec_given(const struct spec *s, int key)
{
    return s->given >> key & 1;
}

/* values.c and paths.c */
spec_set_fn spec_set_name, spec_set_model, spec_set_data, spec_set_weights, spec_set_valid,
    spec_set_devices, spec_set_threads, spec_set_batch, spec_set_init, spec_set_augment,
    spec_set_seed, spec_set_keep, spec_set_on_end;
spec_value_fn spec_value_name, spec_value_model, spec_value_data, spec_value_weights,
    spec_value_valid, spec_value_devices, spec_value_threads, spec_value_batch, spec_value_init,
    spec_value_augment, spec_value_seed, spec_value_keep, spec_value_on_end;

/* parse.c: INI text for whoever takes its lines. A key twice is refused there. */
struct spec_line {
    const char *key, *value; /* trimmed; the value as it stands, but without its comment */
    const char *where, *folder;
    int32_t number;
};
typedef enum err_code spec_line_fn(void *user, const struct spec_line *line, struct err *e);
enum err_code spec_each_line(const char *text, size_t n, const char *file, spec_line_fn *line,
                             void *user, struct err *e) MUST_USE;
enum err_code spec_read_text(const char *path, char **text, size_t *n, struct err *e) MUST_USE;
void spec_start_file(struct spec *s, const char *file); /* lines are this file's from now on */
void spec_stands_at(struct spec *s, const char *key, int32_t line); /* a key that is set */

/* set.c. A key or a value in a message: safe on a terminal, cut where it is long or no text. */
void spec_add_shown(struct text *t, const char *value);
/* The keys of a sweep that no experiment has: "samples", "zip". */
extern const char *const spec_sweep_keys[2];
bool spec_is_list(const char *value);
bool spec_is_form(const char *value); /* "geom:...", "lin:...", "step:...", "loguniform:..." */

/* check.c: the key whose settings decide whether this one has an effect (optimizer for momentum);
 * *with: those that use it. -1: none does. */
int spec_used_by(int key, const char **with);

/* sweep_axis.c */
struct spec_sweep;
struct spec_axis;
struct spec_axis *spec_find_axis(const struct spec_sweep *s, const char *key); /* NULL: none */
struct spec_axis *spec_add_axis(struct spec_sweep *s, const char *key);
void spec_drop_axis(struct spec_sweep *s, struct spec_axis *axis);
/* Instead of those that it has: (n) texts, which become the axis's with the array. */
void spec_axis_take(struct spec_axis *axis, char **value, size_t n);
void spec_axis_count(struct spec_axis *axis, uint64_t first, size_t n); /* first, first + 1, ... */
/* Whether a sweep may have so many values of that key beside those of its other lists: lists that walk
 * together could be of any number of values for a million cells. */
enum err_code spec_check_values(const struct spec_sweep *s, const char *key, const char *where,
                                size_t values, struct err *e) MUST_USE;
void spec_axis_tell_apart(struct spec_axis *axis); /* its digits, where they are not known yet */

/* sweep_lists.c: the values that a list stands for. */
struct spec_list {
    char **value; /* (count) as spec_set takes them */
    size_t count, room;
    bool drawn; /* loguniform: no values yet, but between lo and hi */
    double lo, hi;
    bool whole; /* drawn as whole numbers */
};
enum err_code spec_list_read(struct spec_list *list, const struct spec_input *in,
                             struct err *e) MUST_USE;
/* Draws them. The first ones of more samples are those of fewer. */
enum err_code spec_list_draw(struct spec_list *list, size_t samples, const struct spec_input *in,
                             struct err *e) MUST_USE;
void spec_list_free(struct spec_list *list);
#endif
