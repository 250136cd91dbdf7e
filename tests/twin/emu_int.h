/* tests/twin/emu_int.h: what the twin runtime asks of the emulator. */
#ifndef CHORUS_TESTS_TWIN_EMU_INT_H
#define CHORUS_TESTS_TWIN_EMU_INT_H

#include "cuda/kernels/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_launch {
    const struct dev_kernel *kernel;
    unsigned grid[3], block;
    size_t shared;
    const void *args;
    uint64_t seed; /* of every order that CUDA leaves open */
};

/* Runs a kernel in this thread, one block after another, blocks and warps in random order. False and
 * a sentence that begins with the kernel's name where the kernel did what it may not. */
bool emu_run(const struct emu_launch *l, char *report, size_t room);

#ifdef __cplusplus
#include "tests/twin/emu.h"

#include <string.h>

struct emu_meeting { /* what a lane brings to work of its warp, and takes away */
    enum emu_kind kind;
    uint64_t value;
    int from;
    float *c;
    const uint32_t *a, *b;
    uint32_t *r;
    const void *row;
};

/* warp.cpp: what a warp does together, once all 32 lanes have come for the same. */
void emu_work(emu_meeting *const of[32]);

static inline float emu_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, 4);
    return f;
}
#endif

#endif
