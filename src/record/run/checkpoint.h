/* record/run/checkpoint.h: between the flat vectors of a session (the state of struct backend) and the named tensors of
 * a file. One place knows the names, so that what the engine saves, resume, `weights` and Python read
 * are the same words:
 *
 *   params/Conv_0/kernel            parameters
 *   batch_stats/BatchNorm_0/mean    running statistics
 *   slot1/Conv_0/kernel, slot2/...  the optimizer's state
 *   engine/...                      the engine's own (F64, I64), added by record_pack_tensor
 *   engine/epochs.csv               the rows of that file up to here (U8), added by record_pack_rows
 *
 * In a run of mode ensemble every tensor has the members as its first axis, also where there is one
 * member. Exported files (`weights`, the key weights) hold the parameters without "params/". */
#ifndef CHORUS_RECORD_RUN_CHECKPOINT_H
#define CHORUS_RECORD_RUN_CHECKPOINT_H

#include "base/err.h"
#include "net/net.h"
#include "record/file/safetensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes of a checkpoint (decimal). The engine sets them; `weights --at N` and resume read them. */
#define RECORD_NOTE_EPOCH "chorus.epoch" /* epochs done */
#define RECORD_NOTE_STEP  "chorus.step"  /* updates done */
#define RECORD_NOTE_PLANS "chorus.plans" /* run.csv's plans, where the backend has such */
#define RECORD_ROWS       "engine/epochs.csv"
/* Set by record_pack_weights: what model.net was read with, for whoever has no data at hand. */
#define RECORD_NOTE_INPUT   "chorus.input"   /* "28 28 1": h w c */
#define RECORD_NOTE_CLASSES "chorus.classes" /* "10" */
#define RECORD_NOTE_MEMBERS "chorus.members" /* "4" in an ensemble, "0" for a single model */

/* Member m's vector begins at element m * parameter_count (stat_count); elements are floats, or
 * doubles where element is 8. */
struct record_weights {
    int members;    /* models: 1 in data-parallel */
    bool ensemble;  /* the members are the first axis in files */
    size_t element; /* 4 or 8 */
    int slots;      /* 0 to 2 */
    void *params;   /* (members, parameter_count) */
    void *stats;    /* (members, stat_count); NULL where the net has none */
    void *slot[2];  /* (members, parameter_count) */
};

/* All zeros. ERR_NOMEM says how much was wanted. */
enum err_code record_weights_new(struct record_weights *w, const struct net *net, int members,
                                 bool ensemble, size_t element, int slots, struct err *e) MUST_USE;
void record_weights_free(struct record_weights *w); /* all zeros is fine */
/* Where member m's vector of a kind begins. */
void *record_weights_params(const struct record_weights *w, const struct net *net, int m);
void *record_weights_stats(const struct record_weights *w, const struct net *net, int m);
void *record_weights_slot(const struct record_weights *w, const struct net *net, int m, int slot);

/* What record_checkpoint is called with. All zeros is empty. Bytes that are added are copied, but those of
 * weights, which are borrowed: of an ensemble's tensor a piece a member. */
struct record_pack {
    struct safetensors_tensor *tensor;
    size_t tensors, tensor_room;
    struct safetensors_note *note;
    size_t notes, note_room;
    void **copy; /* those that are its own */
    size_t copies, copy_room;
};
enum err_code record_pack_weights(struct record_pack *p, const struct record_weights *w,
                                  const struct net *net, struct err *e) MUST_USE;
enum err_code record_pack_tensor(struct record_pack *p, const char *name,
                                 enum safetensors_type type, int dims, const size_t *shape,
                                 const void *bytes, struct err *e) MUST_USE;
void record_pack_note(struct record_pack *p, const char *key, const char *value);
void record_pack_int(struct record_pack *p, const char *key, int64_t value);
void record_pack_free(struct record_pack *p);

/* The exact bytes back into vectors made by record_weights_new. Type, shape and members of every
 * tensor are checked against the net; a sentence names the tensor and both. file: for errors. */
enum err_code record_unpack_weights(const struct safetensors *s, const char *file,
                                    const struct net *net, struct record_weights *w,
                                    struct err *e) MUST_USE;
/* A decimal note; false where it is missing or none. */
bool record_unpack_int(const struct safetensors *s, const char *key, int64_t *value);

#endif
