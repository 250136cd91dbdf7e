/* cpu/kernels/amx/amx.h: the tile registers of AMX and its product in bf16, for kernels that are compiled twice:
 * with the processor's instructions (-mamx-tile -mamx-bf16), or with what stands here for them in
 * plain C, operation by operation as the manual describes it, so that processors without tiles run
 * the very same kernels in tests. There are eight tiles of up to 16 rows of 64 bytes; their numbers
 * must be constants. */
#ifndef CHORUS_CPU_KERNELS_AMX_AMX_H
#define CHORUS_CPU_KERNELS_AMX_AMX_H

#include <stddef.h>
#include <stdint.h>

#define AMX_TILE 1024 /* bytes of a full tile */

struct amx_config { /* as the instruction reads it */
    uint8_t palette, start_row, unused[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} __attribute__((aligned(64)));

#if defined __AMX_TILE__ && defined __AMX_BF16__

#include <immintrin.h>

#define AMX_EMULATED 0

/* Stores in front of it are done before what follows: the compiler does not know what tiles read. */
static inline void amx_fence(void)
{
    __asm__ volatile("" ::: "memory");
}

static inline void amx_configure(const struct amx_config *c)
{
    __asm__ volatile("ldtilecfg\t%0" ::"m"(*c));
}

#define amx_release()                 _tile_release()
#define amx_zero(tile_)               _tile_zero(tile_)
#define amx_load(tile_, from_, step_) _tile_loadd(tile_, from_, step_)
#define amx_store(tile_, to_, step_)  _tile_stored(tile_, to_, step_)
#define amx_multiply(sum_, a_, b_)    _tile_dpbf16ps(sum_, a_, b_)

#else

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#define AMX_EMULATED 1

struct amx_tile {
    int rows, row_bytes;
    uint8_t row[16][64];
};

static _Thread_local struct amx_tile amx_tiles[8] __attribute__((aligned(64), unused));

static inline void amx_fence(void)
{
}

/* What the processor refuses ends the program here too. */
static inline void amx_expect(bool so)
{
    if (!so)
        abort();
}

static inline void amx_configure(const struct amx_config *c)
{
    amx_expect(c->palette == 1 && !c->start_row);
    for (int i = 0; i < 8; i++) {
        amx_expect(c->rows[i] <= 16 && c->row_bytes[i] <= 64 && c->row_bytes[i] % 4 == 0 &&
                   !c->rows[i] == !c->row_bytes[i]);
        amx_tiles[i] = (struct amx_tile){.rows = c->rows[i], .row_bytes = c->row_bytes[i]};
    }
}

static inline void amx_release(void)
{
    memset(amx_tiles, 0, sizeof amx_tiles);
}

static inline void amx_zero(int tile)
{
    amx_expect(amx_tiles[tile].rows > 0);
    memset(amx_tiles[tile].row, 0, sizeof amx_tiles[tile].row);
}

/* What lies behind a tile's rows and bytes becomes zero. */
static inline void amx_load(int tile, const void *from, size_t step)
{
    struct amx_tile *t = &amx_tiles[tile];

    amx_zero(tile);
    for (int m = 0; m < t->rows; m++)
        memcpy(t->row[m], (const char *)from + (size_t)m * step, (size_t)t->row_bytes);
}

static inline void amx_store(int tile, void *to, size_t step)
{
    const struct amx_tile *t = &amx_tiles[tile];

    amx_expect(t->rows > 0);
    for (int m = 0; m < t->rows; m++)
        memcpy((char *)to + (size_t)m * step, t->row[m], (size_t)t->row_bytes);
}

static inline float amx_half(const uint8_t *from, int i) /* the bf16 number at place i */
{
    uint16_t bits;
    float x;

    memcpy(&bits, from + 2 * i, sizeof bits);
    uint32_t wide = (uint32_t)bits << 16;
    memcpy(&x, &wide, sizeof x);
    return x;
}

/* sum[m][n] += over pairs k of a[m][2k] * b[k][2n] and a[m][2k + 1] * b[k][2n + 1]: the first of the
 * pairs, and the second, each summed from zero by fused operations, then both added, then that to
 * the sum; all rounded to nearest even, denormals being zero, going in and coming out. */
static inline void amx_multiply(int sum, int a, int b)
{
    struct amx_tile *s = &amx_tiles[sum], *left = &amx_tiles[a], *right = &amx_tiles[b];
    int pairs = left->row_bytes / 4, columns = s->row_bytes / 4;
    unsigned kept = _mm_getcsr();

    amx_expect(s->rows > 0 && s->rows == left->rows && right->rows == pairs &&
               right->row_bytes == s->row_bytes && sum != a && sum != b && a != b);
    _mm_setcsr(0x9fc0); /* flush, denormals are zero, nearest even, no traps */
    float low[16][16], high[16][16];
    for (int k = 0; k < pairs; k++) {
        for (int n = 0; n < 16; n++) {
            low[k][n] = amx_half(right->row[k], 2 * n);
            high[k][n] = amx_half(right->row[k], 2 * n + 1);
        }
    }
    for (int m = 0; m < s->rows; m++) {
        float first[16] = {0}, second[16] = {0}, was[16];
        for (int k = 0; k < pairs; k++) {
            float x = amx_half(left->row[m], 2 * k), y = amx_half(left->row[m], 2 * k + 1);
            for (int n = 0; n < 16; n++) {
                first[n] = fmaf(x, low[k][n], first[n]);
                second[n] = fmaf(y, high[k][n], second[n]);
            }
        }
        memcpy(was, s->row[m], sizeof was);
        for (int n = 0; n < columns; n++)
            was[n] += first[n] + second[n];
        memcpy(s->row[m], was, sizeof was);
    }
    _mm_setcsr(kept);
}

#endif
#endif
