/* spec/spec.h: an experiment as a plain value: it can be copied, compared and sent about. One table
 * (spec_keys) knows every key: its name, kind, limits, default and help. */
#ifndef CHORUS_SPEC_H
#define CHORUS_SPEC_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spec_normalize {
    SPEC_NORMALIZE_AUTO,
    SPEC_NORMALIZE_255,
    SPEC_NORMALIZE_STANDARD,
    SPEC_NORMALIZE_NONE
};
enum spec_mode { SPEC_DATA_PARALLEL, SPEC_ENSEMBLE };
enum spec_backend { SPEC_AUTO, SPEC_CPU, SPEC_CUDA, SPEC_REF, SPEC_FAKE };
enum spec_optimizer { SPEC_SGD, SPEC_MOMENTUM, SPEC_NESTEROV, SPEC_ADAM, SPEC_ADAMW };
enum spec_lr_rule { SPEC_LR_NONE, SPEC_LR_LINEAR, SPEC_LR_SQRT };
enum spec_schedule { SPEC_CONSTANT, SPEC_COSINE, SPEC_STEP };
enum spec_loss { SPEC_MEAN, SPEC_SUM };
enum spec_order { SPEC_SAME, SPEC_OWN };
enum spec_init {
    SPEC_INIT_MODEL,
    SPEC_INIT_NORMAL,
    SPEC_INIT_NORMAL_BIAS,
    SPEC_INIT_LECUN,
    SPEC_INIT_HE,
    SPEC_INIT_XAVIER
};
enum spec_precision { SPEC_FP32, SPEC_TF32, SPEC_BF16, SPEC_FP64 };
enum { SPEC_FLIP = 1, SPEC_CROP = 2, SPEC_ERASE = 4 }; /* augment */
enum { SPEC_KEEP_LAST = 1, SPEC_KEEP_BEST = 2, SPEC_KEEP_ALL = 4, SPEC_KEEP_EVERY = 8 };
enum spec_threads { SPEC_THREADS_ALL, SPEC_THREADS_COUNT, SPEC_THREADS_PER_DEVICE };

#define SPEC_PATH    1024
#define SPEC_NAME    128
#define SPEC_PARAMS  16
#define SPEC_DEVICES 64 /* GPUs that can be named */
#define SPEC_KEYS    46 /* rows of spec_keys */

struct spec {
    char name[SPEC_NAME]; /* empty: made from model and mode */
    char model[SPEC_PATH];
    struct {
        char name[32], value[32];
        int32_t line;     /* as below */
    } param[SPEC_PARAMS]; /* model.NAME = value */
    int params;
    char data[2 * SPEC_PATH];
    enum spec_normalize normalize;
    double valid; /* a count, or per cent */
    bool valid_per_cent;
    enum spec_mode mode;
    enum spec_backend backend;
    int devices;
    int gpu[SPEC_DEVICES]; /* gpu:0+2 */
    int gpus;              /* 0: none named */
    enum spec_threads threads_kind;
    int threads;
    int members; /* 0: as many as devices */
    int64_t batch;
    bool batch_per_device;
    int64_t epochs;
    enum spec_optimizer optimizer;
    double momentum, beta1, beta2, epsilon, weight_decay;
    double lr;
    enum spec_lr_rule lr_rule;
    int64_t lr_batch;
    enum spec_schedule schedule;
    double warmup, lr_min, step_epochs, step_factor; /* warmup and step_epochs in epochs */
    double grad_clip;                                /* 0: none */
    enum spec_loss loss_reduction;
    bool shuffle;
    enum spec_order member_order;
    enum spec_init init;
    double init_std;
    char weights[SPEC_PATH]; /* empty: none */
    enum spec_precision precision;
    bool sync_bn;
    unsigned augment;
    int crop_pad;
    uint64_t seed;
    int64_t repeats;
    int64_t train_limit, test_limit; /* 0: all */
    int64_t log_every;
    unsigned keep;
    int64_t keep_every;
    double target_acc;  /* 0: none */
    int64_t max_steps;  /* 0: none */
    double max_minutes; /* 0: none */
    int64_t patience;   /* 0: none */
    char on_end[SPEC_PATH];
    uint64_t given; /* bit i: spec_keys[i] was given, not taken from the defaults */

    /* For the errors of spec_check: the file that spec_parse read last, and in which of its lines
     * each key stands. 0: not there, or set otherwise since. */
    char file[SPEC_PATH];
    int32_t line[SPEC_KEYS];
    uint64_t dotted; /* bit i: the value of spec_keys[i] stands there with ./ in front */
};

enum spec_group {
    SPEC_GROUP_DATA,
    SPEC_GROUP_MODEL,
    SPEC_GROUP_TRAINING,
    SPEC_GROUP_DEVICES,
    SPEC_GROUP_STOP
};

struct spec_key {
    const char *name; /* "lr_rule" */
    enum spec_group group;
    const char *fallback; /* the default as text; in words where it depends on other keys */
    const char *values;   /* what is allowed, for error messages and help */
    const char *help;     /* one sentence */
};
extern const struct spec_key spec_keys[]; /* in the order of run.csv; ends with a NULL name */
const char *spec_backend_word(enum spec_backend backend); /* "cpu" */
int spec_key_find(const char *name); /* -1 where there is none; "model.X" finds "model" */
/* The key that is perhaps meant, or NULL: lr of LR, else the one whose letters are nearest. */
const char *spec_key_near(const char *name);
/* Whether a key is part of what determines a result: not a name, nor how often a row is written. */
bool spec_key_names(const char *key);

void spec_default(struct spec *s);
/* The keys whose default the optimizer decides. */
void spec_set_optimizer_default(struct spec *s, enum spec_optimizer optimizer);

/* Sets one key from its text. where ("file.ini:12", "command line"; NULL: nothing) goes in front of
 * an error, which names the key, the value and the values allowed. folder: what a relative path in
 * the value is relative to (NULL: the current folder); paths become absolute, so that an experiment
 * means the same wherever it is written to. A list of values is refused: spec/sweep.h
 * takes those. */
enum err_code spec_set(struct spec *s, const char *key, const char *value, const char *where,
                       const char *folder, struct err *e) MUST_USE;

/* INI text; errors name file and line. A key twice in one text is an error. Keys that are set in s
 * already are overwritten, so that defaults, a file and the command line can follow each other. */
enum err_code spec_parse(struct spec *s, const char *text, size_t n, const char *file,
                         struct err *e) MUST_USE;
enum err_code spec_read(struct spec *s, const char *path, struct err *e) MUST_USE;

/* Contradictions that can be seen without data or model: keys that the mode or the optimizer does
 * not use, a batch that the devices do not divide, members below devices, ... A key of a file lapses
 * without an error where the mode or optimizer that would have used it was changed behind the file,
 * on the command line. */
enum err_code spec_check(const struct spec *s, struct err *e) MUST_USE;

/* For errors that other rooms find: puts the file and line of a key in front of an input error that
 * begins with "KEY = " or "KEY: " or names model.NAME, where the key stands in a file. */
void spec_locate(const struct spec *s, struct err *e);

/* Whether the key has any effect under the other settings (momentum under sgd has none). */
bool spec_applies(const struct spec *s, int key);
/* The global batch: batch, or what stands in front of "/device" times the devices. */
int64_t spec_batch(const struct spec *s);
/* The value of one key as text that spec_set takes back; empty where unset or none. */
void spec_value(const struct spec *s, int key, struct text *out);
/* A value in double quotes where it needs them, and without those that it has. */
void spec_add_quoted(struct text *out, const char *value);
void spec_add_plain(struct text *out, const char *value);
/* The whole experiment as INI text, keys that do not apply left out, quoted where needed. */
void spec_write(const struct spec *s, struct text *out);

/* The learning rate after lr_rule. */
double spec_base_lr(const struct spec *s, int64_t batch);
/* The learning rate of the update with t updates done, by the schedules of docs/design.md. */
double spec_lr_at(const struct spec *s, double base_lr, int64_t t, int64_t steps_per_epoch);

/* Experiments built into the program: text of "flax-ensemble" or NULL. spec_builtin_name(i) is NULL
 * behind the last. */
const char *spec_builtin(const char *name);
const char *spec_builtin_name(int i);

#endif
