/* cuda/rt/rt.c: what errors of the runtime mean to a run. */
#include "cuda/rt/rt.h"

#include <stdarg.h>
#include <stdio.h>

bool cuda_rt_sticks(int error)
{
    switch (error) {
    case 214: /* memory that its error correction could not mend */
    case 220: /* NVLink, likewise */
    case 226: /* an error that the GPU contained */
    case CUDA_RT_ILLEGAL:
    case 702: /* a kernel ran too long */
    case 709: /* the context is gone */
    case 710: /* an assertion of a kernel */
    case 714: /* of the hardware's stack */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* address of the wrong kind of memory */
    case 718: /* program counter */
    case 719: /* a kernel failed */
    case 721: /* tensor memory that a kernel left taken */
    case 810: /* the client of a GPU's shared server was ended */
    case 911: /* a device outside of CUDA */
        return true;
    default:
        return false;
    }
}

enum err_code cuda_rt_fail(struct err *e, int error, const char *doing, ...)
{
    char what[400];
    va_list ap;

    va_start(ap, doing);
    vsnprintf(what, sizeof what, doing, ap);
    va_end(ap);
    return err_set(e,
                   error == CUDA_RT_NOMEM  ? ERR_NOMEM
                   : cuda_rt_sticks(error) ? ERR_STUCK
                                           : ERR_FAILED,
                   "cuda: %s: %s (%d)%s", what, cuda_rt()->text(error), error,
                   cuda_rt_sticks(error) ? "; this process can compute no more on that GPU" : "");
}
