/* cuda/kernels/grid.h: how work is laid out over blocks; plain C, for those who launch and for kernels. */
#ifndef CHORUS_CUDA_KERNELS_GRID_H
#define CHORUS_CUDA_KERNELS_GRID_H

#include <stddef.h>
#include <stdint.h>

/* Blocks that a kernel with a fixed number of parts aims at: four on each of an H200's processors.
 * A constant, because sums are cut by it: the same bits on every GPU. */
#define GRID_BLOCKS 528

/* Division by a number that is known when a kernel is launched, for dividends below 2^31. */
struct grid_divisor {
    uint32_t by, factor, shift;
};

static inline struct grid_divisor grid_divisor(size_t by)
{
    struct grid_divisor d = {(uint32_t)by, 0, 0};
    uint32_t bits = 0;

    while (((uint64_t)1 << bits) < by)
        bits++;
    if (by > 1) { /* ceil(2^(31 + bits) / by), which is below 2^32 */
        d.factor = (uint32_t)((((uint64_t)1 << (31 + bits)) + by - 1) / by);
        d.shift = bits - 1;
    }
    return d;
}

static inline size_t grid_parts(size_t n, size_t of)
{
    return (n + of - 1) / of;
}

/* Whether all models' parts of a view begin at a multiple of `bytes`; NULL does. */
static inline int grid_aligned(const void *p, size_t stride, size_t element, size_t bytes)
{
    return (uintptr_t)p % bytes == 0 && stride * element % bytes == 0;
}

#endif
