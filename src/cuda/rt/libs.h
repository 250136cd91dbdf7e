/* cuda/rt/libs.h: finding the shared libraries that the part for GPUs uses where they are: none of them
 * needs to be here. What was opened stays open: they have threads of their own. */
#ifndef CHORUS_CUDA_RT_LIBS_H
#define CHORUS_CUDA_RT_LIBS_H

#include "base/err.h"

#include <stddef.h>

#define CUDA_LIB_ROOM 4096

/* Opens file ("libnccl.so.2"). The environment's variable ("CHORUS_NCCL"; NULL: none, and nobody asks
 * why) names it or its folder, and then nothing else is tried; else it is what the loader finds, what
 * lies in lib64, lib or targets/MACHINE/lib of $CUDA_HOME, or in nvidia/PACKAGE/lib of Python's packages.
 * path: which one it is.
 * NULL and why: ERR_INPUT where there is none and nobody named one, else ERR_FAILED. */
void *cuda_lib_open(const char *file, const char *variable, const char *package,
                    char path[CUDA_LIB_ROOM], struct err *why);

/* One function of an open library, by its name. */
struct cuda_lib_entry {
    void *where; /* the address of a function pointer */
    const char *name;
};
/* Fills all of them in; or ERR_FAILED and which one the library lacks. */
enum err_code cuda_lib_bind(void *library, const char *path, const struct cuda_lib_entry *entries,
                            size_t n, struct err *why);

#endif
