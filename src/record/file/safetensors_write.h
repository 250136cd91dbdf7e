/* record/file/safetensors_write.h: what the files of safetensors share, and how they are written. */
#ifndef CHORUS_RECORD_FILE_SAFETENSORS_WRITE_H
#define CHORUS_RECORD_FILE_SAFETENSORS_WRITE_H

#include "record/file/safetensors.h"

/* The file's bytes under a temporary name, synced; the file is gone where it failed. */
enum err_code record_write_safetensors(const char *temp, const char *path,
                                       const struct safetensors_tensor *tensors, size_t count,
                                       const struct safetensors_note *notes, size_t note_count,
                                       struct err *e) MUST_USE;

bool safetensors_type_find(const char *name, enum safetensors_type *type);
/* Bytes of a tensor; false on overflow. */
bool safetensors_bytes(enum safetensors_type type, int dims, const size_t *shape, size_t *bytes);
/* Where in the header the 64 digits of the checksum stand; 0: it has none. */
size_t safetensors_seal_place(const char *header, size_t n);

#endif
