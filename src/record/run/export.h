/* record/run/export.h: the models of a run as a file for others: which checkpoint, which member, whose
 * layout. What comes out depends on the model and its weights alone. */
#ifndef CHORUS_RECORD_RUN_EXPORT_H
#define CHORUS_RECORD_RUN_EXPORT_H

#include "base/err.h"
#include "net/net.h"
#include "record/run/checkpoint.h"
#include "record/file/safetensors.h"

#include <stdbool.h>

/* The checkpoint of a run: at is "last", "best" or the number of an epoch as text. NULL: the last,
 * or what there is where the run keeps none. An error says what is not there. */
enum err_code record_read_at(const char *folder, const char *at, struct safetensors *s,
                             struct err *e) MUST_USE;

/* The run's model.net, read with what the checkpoint's notes and experiment.ini say, so that no data
 * is needed. */
enum err_code record_read_net(const char *folder, const struct safetensors *s, struct net **net,
                              struct err *e) MUST_USE;

#define RECORD_ALL_MEMBERS (-1)
/* Parameters and running statistics of a checkpoint under the names of Flax, or with torch in
 * PyTorch's names and layouts (net is needed for that alone; may be NULL without). member: one of an
 * ensemble, without the members' axis. p is empty before. */
enum err_code record_export(struct record_pack *p, const struct safetensors *s, int member,
                            bool torch, const struct net *net, struct err *e) MUST_USE;

#endif
