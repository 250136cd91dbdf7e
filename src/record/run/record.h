/* record/run/record.h: the writer of one run's folder. Its owner holds the lock for as long as the
 * record is open. Rows are written at once; whoever reads along sees only whole rows. Used by one
 * thread at a time, but that a second one may be in record_checkpoint or record_sync meanwhile. */
#ifndef CHORUS_RECORD_RUN_RECORD_H
#define CHORUS_RECORD_RUN_RECORD_H

#include "base/err.h"
#include "base/text.h"
#include "record/file/safetensors.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <float.h>
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

struct record;

/* Makes the folder under a dotted name, with experiment.ini, model.net, run.csv and the headers of
 * the CSV files, then renames it: whoever lists results sees whole runs. run->run is filled in:
 * UTC stamp, name (of the experiment, cleaned for a path), four hex digits of a hash. members: also
 * members.csv. */
enum err_code record_create(struct record **out, const char *results, struct record_run *run,
                            const char *ini, const char *net_text, bool members,
                            struct err *e) MUST_USE;
/* Removes the hidden folders of runs that dead processes began and did not finish making. */
void record_remove_begun(const char *results);

/* Opens an existing run to go on with it: takes the lock (ERR_FAILED, naming the owner, where it is
 * held), cuts torn last lines and rows newer than the checkpoint: epochs, members and devices above
 * `epochs`, steps above `step`. */
enum err_code record_open(struct record **out, const char *folder, struct err *e) MUST_USE;
/* The rows of epochs.csv by a checkpoint's copy, which is believed more than the file: record_write_run names
 * them from now on, and record_cut writes the file again where it differs. */
void record_trust(struct record *r, const struct text *rows); /* empty: there are none yet */
enum err_code record_cut(struct record *r, int64_t epochs, int64_t step, struct err *e) MUST_USE;
void record_close(struct record *r); /* gives the lock back */
const char *record_folder(const struct record *r);

enum err_code record_add_epoch(struct record *r, const struct record_epoch *row,
                               struct err *e) MUST_USE;
enum err_code record_add_member(struct record *r, const struct record_member *row,
                                struct err *e) MUST_USE;
enum err_code record_add_device(struct record *r, const struct record_device *row,
                                struct err *e) MUST_USE;
enum err_code record_add_step(struct record *r, const struct record_step *row,
                              struct err *e) MUST_USE;
/* By rename. tags and note are not the owner's: those that users wrote stay. */
enum err_code record_write_run(struct record *r, const struct record_run *run,
                               struct err *e) MUST_USE;
/* experiment.ini again: of a run that is extended to more epochs. By rename. */
enum err_code record_write_ini(struct record *r, const char *ini, struct err *e) MUST_USE;
enum err_code record_sync(struct record *r, struct err *e) MUST_USE; /* fdatasync of the CSVs */
/* Rows whose file was removed or replaced are written again; names: of those files. */
enum err_code record_mend(struct record *r, struct text *names, struct err *e) MUST_USE;
void record_log(struct record *r, const char *line); /* log.txt, with the time in front */

/* One more time that a program starts itself anew because of this run: how often that has been, this
 * one among them, since it was forgotten last. */
enum err_code record_count_restart(struct record *r, int *count, struct err *e) MUST_USE;
void record_forget_restarts(struct record *r);

/* The checkpoint: the CSVs synced first, then checkpoint -> checkpoint.prev, then the new one in
 * place, each by rename. as: "checkpoint", "best", "epoch-0012". */
enum err_code record_checkpoint(struct record *r, const char *as,
                                const struct safetensors_tensor *tensors, size_t count,
                                const struct safetensors_note *notes, size_t note_count,
                                struct err *e) MUST_USE;
/* The newest checkpoint of the folder that reads whole. found = false: there is none. Where there
 * are some and none reads whole, an error. */
enum err_code record_read_checkpoint(const char *folder, struct safetensors *s, bool *found,
                                     struct err *e) MUST_USE;

/* Lines that others wrote into RUN/control since the last call: "pause", "go", "stop now", "stop
 * epoch", "stop step". Returns false where there is none; line is cut to room. Lines that change
 * tags or note are obeyed here. */
bool record_next_control(struct record *r, char *line, size_t room);

#endif
