/* record/start_weights.h: the weights that a run starts from. */
#ifndef CHORUS_RECORD_START_WEIGHTS_H
#define CHORUS_RECORD_START_WEIGHTS_H

#include "record/run/checkpoint.h"

/* The key `weights`: parameters and running statistics (no slots) from a safetensors file (exported
 * by `weights`, written by Python with the same names, or a checkpoint) or from a run, whose newest
 * checkpoint is taken. F32 and F64 are converted. A file of a single model starts every member; a
 * file of N members starts an ensemble of N. results: where a RUN name is looked for; may be NULL. */
enum err_code record_read_start(const char *results, const char *from, const struct net *net,
                                struct record_weights *w, struct err *e) MUST_USE;
bool record_start_is_file(const char *from); /* no run */
/* Whether a file could start so many members, in the same words and by its header alone. */
enum err_code record_check_start_file(const char *path, const struct net *net, int members,
                                      bool ensemble, struct err *e) MUST_USE;

/* `weights` may name a run as @ or by a part of its name, which will mean another one tomorrow:
 * what is recorded is the run's folder. */
enum err_code record_name_weights(const char *results, struct spec *spec, struct err *e) MUST_USE;

#endif
