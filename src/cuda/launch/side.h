/* cuda/launch/side.h: products of a step's backward half as jobs, two of which may share a launch. */
#ifndef CHORUS_CUDA_LAUNCH_SIDE_H
#define CHORUS_CUDA_LAUNCH_SIDE_H

#include "cuda/launch/block.h"
#include "cuda/kernels/gather_args.h"

struct cuda_job {
    enum { CUDA_JOB_INPUT, CUDA_JOB_WEIGHTS } kind;
    bool block;          /* a convolution with its pool, or one without (block.conv) */
    struct cuda_block b; /* tile 0 */
    struct cuda_view x, dy, mask, weight, gate, dx;
    enum cuda_act act;
    bool add;
    struct cuda_turn turn; /* of x */
    struct cuda_weights to;
};

/* In a launch of its own. */
void cuda_job_write(struct cuda_list *l, const struct cuda_job *j);
/* Both in one launch, where there is a kernel for it and it costs less than two. They must not share
 * memory that either writes: scratch and turns neither. */
bool cuda_jobs_write(struct cuda_list *l, const struct cuda_job *a, const struct cuda_job *b);
/* Bytes that the weights' gradient needs in any launch. */
size_t cuda_job_scratch(const struct cuda_job *j);
size_t cuda_job_turns(const struct cuda_job *j);

/* Whether the list's last launch is of two jobs; then it can fetch images, and end the step. */
bool cuda_jobs_last(const struct cuda_list *l);
void cuda_jobs_gather(struct cuda_list *l, const struct gather_args *g, int images);
void cuda_jobs_tick(struct cuda_list *l, const struct tick_args *tick);

#endif
