/* record/file/safetensors.h: the file format of checkpoints, weights and predictions, as Python's
 * safetensors package reads it: an 8-byte length, a JSON header, the tensors' bytes. */
#ifndef CHORUS_RECORD_FILE_SAFETENSORS_H
#define CHORUS_RECORD_FILE_SAFETENSORS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum safetensors_type {
    SAFETENSORS_F32,
    SAFETENSORS_F64,
    SAFETENSORS_U8,
    SAFETENSORS_I32,
    SAFETENSORS_I64,
    SAFETENSORS_U16
};
size_t safetensors_size(enum safetensors_type type);
const char *safetensors_type_name(enum safetensors_type type); /* "F32" */

struct safetensors_tensor {
    char name[128];
    enum safetensors_type type;
    int dims;
    size_t shape[8];
    const void *bytes; /* writing: the caller's; reading: into the file's memory */
    /* Writing: the bytes are so many equal pieces, this far apart in memory; 0: they lie in one. */
    size_t pieces, apart;
    size_t size; /* bytes; reading fills it in, writing computes it */
};
struct safetensors_note {
    char *key, *value; /* __metadata__ */
};

/* By temporary file, sync and rename, which replaces a link. The same input gives the same bytes: tensors in the order
 * given, no date. A note "sha256", over the whole file, is added in front of the notes. */
enum err_code safetensors_write(const char *path, const struct safetensors_tensor *tensors,
                                size_t count, const struct safetensors_note *notes,
                                size_t note_count, struct err *e) MUST_USE;

struct safetensors {
    struct safetensors_tensor *tensor;
    size_t tensors;
    struct safetensors_note *note;
    size_t notes;
    char *memory;
    bool sealed; /* it carried a checksum, which fits; false: another program's file */
};
/* Every length is compared with the bytes there are before it is believed; gaps, overlaps and
 * unknown types are errors. */
enum err_code safetensors_read(const char *path, struct safetensors *s, struct err *e) MUST_USE;
/* Its header alone, in the same words: no tensor has bytes, and nobody has looked at the checksum. */
enum err_code safetensors_read_header(const char *path, struct safetensors *s,
                                      struct err *e) MUST_USE;
void safetensors_free(struct safetensors *s);
const struct safetensors_tensor *safetensors_find(const struct safetensors *s, const char *name);
const char *safetensors_note(const struct safetensors *s, const char *key);

#endif
