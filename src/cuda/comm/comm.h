/* cuda/comm/comm.h: sums over the GPUs of a session. NCCL is reached through a table of its functions: the
 * library's (comm_load.c finds libnccl.so.2 and asks for its version) or the twin's, over host memory.
 * One GPU needs neither. A thread of its own drives each rank; nobody waits without an end: who fails,
 * or sees another fail, or waits too long, has the group aborted, and everybody returns. */
#ifndef CHORUS_CUDA_COMM_COMM_H
#define CHORUS_CUDA_COMM_COMM_H

#include "cuda/rt/rt.h"

struct cuda_nccl_id {
    char bytes[128];
};

/* The library's ncclConfig_t as 2.18 had it; those that came after read its size and version, and take
 * what they know besides for unset. Integers that are INT_MIN are unset too. */
struct cuda_nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking;
    int cluster, least_blocks, most_blocks;
    const char *net;
    int split_share, unused;
};
#define CUDA_NCCL_MAGIC  0xcafebeefu
#define CUDA_NCCL_CONFIG 21800 /* its version */

enum { /* results, data types and operations that are used, as the library numbers them */
       CUDA_NCCL_OK = 0,
       CUDA_NCCL_CUDA_ERROR = 1,
       CUDA_NCCL_SYSTEM_ERROR = 2,
       CUDA_NCCL_USAGE = 5,
       CUDA_NCCL_REMOTE = 6,
       CUDA_NCCL_BUSY = 7, /* in progress */
       CUDA_NCCL_FLOAT = 7,
       CUDA_NCCL_SUM = 0,
};

/* NCCL's functions, results as the library numbers them. comm and stream are the library's own, config
 * is a struct cuda_nccl_config. */
struct cuda_nccl {
    int (*version)(int *version); /* 22809 */
    const char *(*text)(int result);
    int (*unique_id)(struct cuda_nccl_id *id);
    /* *comm is written before it returns and once more when joining has ended, by a thread of the
     * library's: it must be there as long as the communicator is. */
    int (*init)(void **comm, int ranks, const struct cuda_nccl_id *id, int rank, void *config);
    int (*async_error)(void *comm, int *result);
    int (*all_reduce)(const void *send, void *receive, size_t count, int type, int op, void *comm,
                      void *stream);
    int (*finalize)(void *comm);
    int (*destroy)(void *comm);
    int (*abort)(void *comm);
};

/* The table, or NULL and why it cannot be had ("libnccl.so.2 is not here; looked in ..."). */
const struct cuda_nccl *cuda_nccl(struct err *why);
/* What the part for GPUs has for it, where the twin has a table of its own: not kept. */
const struct cuda_nccl *cuda_nccl_load(struct err *why);
/* Whether its version is one that we can talk to; path: where it is, for the sentence. */
bool cuda_nccl_fits(const struct cuda_nccl *nccl, const char *path, struct err *why);
/* The library's version, 0 where there is none; as text: "2.28.9". */
int cuda_nccl_version(void);
void cuda_nccl_version_text(int version, char out[16]);

struct cuda_group; /* one session's communicators */

/* How long anything may take before it is given up: 0: the usual time, a minute. */
int cuda_limit_ms(int wanted);
/* Between two looks at something, longer from time to time, up to a fifth of a millisecond. */
void cuda_rest(unsigned tries);
/* The runtime's own wait has no end where a GPU hangs. This one's, after so many milliseconds, is
 * CUDA_RT_NOT_READY. */
int cuda_wait_within(struct cuda_stream *s, int limit_ms);

/* limit_ms: how long anything may take before the group is given up. */
enum err_code cuda_group_open(struct cuda_group **out, int ranks, int limit_ms, struct err *e);
/* By each rank's thread, all of them at once, after it has taken its GPU into use; non-blocking
 * underneath. */
enum err_code cuda_group_join(struct cuda_group *g, int rank, int gpu, struct err *e);
/* buffer += all others', count floats; put into the stream, may be captured. Every rank's sums come in
 * the same order and have the same counts. */
enum err_code cuda_group_sum(struct cuda_group *g, int rank, float *buffer, size_t count,
                             struct cuda_stream *s, struct err *e);
/* Waits for the stream: until it is done, the group fails, or the limit is over. Where the group has
 * failed the stream is idle when it returns, unless its GPU does not answer any more: ERR_STUCK. */
enum err_code cuda_group_wait(struct cuda_group *g, int rank, struct cuda_stream *s, struct err *e);
/* A rank failed for a reason of its own, an error's: the others' waits return its code (so that what ran
 * out of memory says so) and its text. The first failure counts. */
void cuda_group_fail(struct cuda_group *g, int rank, const struct err *why);
/* By each rank's thread, after its graphs are closed: the library waits for graphs that hold its
 * communicators, and so does the end of a group that was given up. Then close by anyone, after all
 * have left or will never come. */
void cuda_group_leave(struct cuda_group *g, int rank);
void cuda_group_close(struct cuda_group *g); /* NULL is fine */

#endif
