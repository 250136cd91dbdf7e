/* record/run/run.h: a run as run.csv has it, and the rows of its other CSV files, as values. */
#ifndef CHORUS_RECORD_RUN_RUN_H
#define CHORUS_RECORD_RUN_RUN_H

#include "base/text.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#define RECORD_EMPTY (-DBL_MAX) /* a number that does not apply: an empty field */

#define RECORD_NO_COUNT INT64_MIN /* the same of a step or of images of a row of epochs.csv */

struct record_epoch { /* a row of epochs.csv, in its columns' order */
    int64_t epoch, step, images, model_images;
    double train_seconds, eval_seconds, device_seconds;
    double train_loss, train_acc, val_loss, val_acc, test_loss, test_acc;
    double member_acc_min, member_acc_mean, member_acc_max, member_loss_mean, ece, disagreement;
    double lr, images_per_second;
    double input_seconds, compute_seconds, reduce_seconds, wait_seconds;
    char ended_utc[32];
};
struct record_member {
    int64_t epoch, member, device;
    double train_loss, train_acc, test_loss, test_acc, prefix_acc, images_per_second;
};
struct record_device {
    int64_t epoch;
    int64_t device;
    char real[16]; /* "cpu", "gpu:0" */
    int64_t images;
    double train_loss, train_acc, input_seconds, compute_seconds, reduce_seconds, wait_seconds;
    double memory_bytes, gpu_percent, temperature_c, power_watts;
};
struct record_step {
    int64_t step, epoch, member, images;
    double train_seconds, loss, acc, lr;
};

/* Three places whose plans differ, of ResNet-18: up to 260 characters each. */
#define RECORD_PLANS_ROOM 800

struct record_run { /* run.csv; the keys of spec stand in its middle under their own names */
    char run[256], sweep[128], cell[32];
    enum wire_state state;
    char reason[512];
    int64_t pid;
    char host[128], version[64], started_utc[32], ended_utc[32];
    struct spec spec; /* resolved */
    char backend_used[32], precision_used[16], isa[32];
    int64_t real_devices, threads_used, shared;
    double lr_used;
    int64_t batch_per_device, parameters;
    double flops_per_image;
    char network_hash[16], data_hash[16]; /* "#1b2c3d4e"; "" where it is not known, or has none */
    int64_t epochs_done, best_epoch;      /* best_epoch 0: none yet */
    char best_by[16];                     /* "test" or "valid" */
    double best_test_acc, best_test_loss, last_test_acc, last_test_loss;
    double train_seconds, eval_seconds, wall_seconds, device_seconds;
    int64_t images, model_images;
    double target_seconds; /* RECORD_EMPTY: not crossed */
    double peak_memory_bytes;
    char plans[RECORD_PLANS_ROOM];
    char epochs_check[40]; /* "2214-9f86d081884c7d65": bytes of epochs.csv, and their checksum */
    char tags[256], note[512];
    /* Bit i: column i holds no value of one run: those that were averaged differ in it. */
    uint64_t several[2];
};
/* What stands in such a column; where numbers stand and no words, nothing. */
#define RECORD_SEVERAL "several"
/* Stands in the folder of an average of runs, and in no other: the models that are in it. */
#define RECORD_AVERAGE "average.csv"
void record_run_set_several(struct record_run *run, const char *column);
bool record_run_is_several(const struct record_run *run, const char *column);
/* "" also where those that were averaged differ in it. */
const char *record_run_data_hash(const struct record_run *run);

/* run.csv's columns, in order, ending with NULL: for --json and tables. The value of one as text.
 * */
extern const char *const record_run_columns[];
#define RECORD_COLUMNS (SPEC_KEYS + 41) /* of record_run_columns, without its end */
void record_run_value(const struct record_run *run, const char *column, struct text *out);
/* Whether it is one of run.csv that holds numbers and is no key of an experiment. */
bool record_column_is_number(const char *name);

#endif
