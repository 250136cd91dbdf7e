/* tests/twin/nccl.h: what tests tell the twin of NCCL, and ask of it. From the command line the
 * environment says the same: CHORUS_TWIN_NCCL="missing", "old", or "FAULT:RANK:N:RESULT" with the
 * words id, init, init-hangs, call, async, lost, leave-hangs, read when it is first used. */
#ifndef CHORUS_TESTS_TWIN_NCCL_H
#define CHORUS_TESTS_TWIN_NCCL_H

#include <stdbool.h>

enum twin_nccl_fault {
    TWIN_NCCL_FINE,
    TWIN_NCCL_MISSING,     /* there is no library */
    TWIN_NCCL_OLD,         /* it is 2.16.2 */
    TWIN_NCCL_ID,          /* no group can be made: result */
    TWIN_NCCL_INIT,        /* the rank's joining ends with result, after a while */
    TWIN_NCCL_INIT_HANGS,  /* it never ends */
    TWIN_NCCL_CALL,        /* the rank's n-th call of all_reduce (1: the first) gives result */
    TWIN_NCCL_ASYNC,       /* its n-th sum on the GPU stops, and the communicator tells result */
    TWIN_NCCL_LOST,        /* its n-th sum on the GPU never begins, and nobody says why */
    TWIN_NCCL_LEAVE_HANGS, /* its finalize stays in progress */
};

void twin_nccl_reset(void); /* no fault, all counts 0; communicators of before are forgotten */
void twin_nccl_fail(enum twin_nccl_fault fault, int rank, long n, int result);

struct twin_nccl_counts {
    int open; /* communicators that live */
    int destroyed, aborted;
    long sums;       /* of all ranks together, done */
    char wrong[200]; /* the last thing that the library must not be asked, or "" */
};
struct twin_nccl_counts twin_nccl_counted(void);
/* Whether a sum was asked for in a group that this GPU is of: what is loaded now may wait for it. */
bool twin_nccl_summing(int gpu);

#endif
