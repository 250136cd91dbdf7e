/* cuda/load.h: the program's side of its part for GPUs: found beside the program, then in
 * PREFIX/lib/chorus (CHORUS_CUDA names another), opened when first asked. */
#ifndef CHORUS_CUDA_LOAD_H
#define CHORUS_CUDA_LOAD_H

#include "cuda/part.h"

#include <stdlib.h>

/* NVLink's switch adds in whatever order numbers come by: it is left out of NCCL's choice, so that a run
 * can be repeated bit for bit. Who sets the variable decides. For the start of a program: the library
 * reads its environment when it makes its first communicator, beside threads that read theirs. */
static inline void cuda_pin_order(void)
{
    setenv("NCCL_ALGO", "^NVLS,NVLSTree", 0);
}

/* The part, or NULL and one sentence why there is none. Opened once; any thread. */
const struct cuda_part *cuda_load(struct err *why);
/* What was found: asked once, kept. Never NULL. */
const struct cuda_survey *cuda_survey(void);
/* How many GPUs can be used; 0 and why. */
int cuda_usable(struct err *why);

/* The backend of the part behind a table that is always there. */
extern const struct backend cuda_backend;

#endif
