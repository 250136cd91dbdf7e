/* record/run/writer.h: the writer of one run's folder. Its owner holds the lock for as long as the
 * record is open. Rows are written at once; whoever reads along sees only whole rows. Used by one
 * thread at a time, but that a second one may be in record_checkpoint or record_sync meanwhile. */
#ifndef CHORUS_RECORD_RUN_WRITER_H
#define CHORUS_RECORD_RUN_WRITER_H

#include "base/err.h"
#include "base/text.h"
#include "record/file/safetensors.h"
#include "record/run/run.h"

#include <stdint.h>

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
/* Writes rows again whose file was removed or replaced, and experiment.ini and model.net, given as in
 * record_create, where they were removed. names: of the files that were written. */
enum err_code record_mend(struct record *r, const char *ini, const char *net_text,
                          struct text *names, struct err *e) MUST_USE;
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
/* The rows that the record has of epochs.csv, into a checkpoint of that epoch. */
struct record_pack;
enum err_code record_pack_rows(const struct record *r, int64_t epoch, struct record_pack *pack,
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
