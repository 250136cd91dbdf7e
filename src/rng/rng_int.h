/* rng/rng_int.h: the cipher itself, for the files of this room. */
#ifndef CHORUS_RNG_INT_H
#define CHORUS_RNG_INT_H

#include "rng/rng.h"

/* Inlined also where a function is compiled for a wider instruction set than the file. */
#define RNG_INLINE static inline __attribute__((always_inline))

/* Words are made this many at a time: a constant, so that the compiler turns the loops over a block
 * into vector code. */
enum { RNG_BLOCK = 128 };

enum rng_sample { RNG_BITS, RNG_UNIFORM, RNG_NORMAL, RNG_TRUNCATED };

/* n numbers of 4 bytes from counter `first` on, for any machine; lo and hi only where the kind of
 * sample has them. The functions of rng.h take a faster copy of it where the machine can. */
void rng_fill_plain(enum rng_sample what, struct rng_key key, uint64_t first, size_t n, float lo,
                    float hi, void *out);

/* One round for a whole block. */
RNG_INLINE void rng_round(uint32_t *a, uint32_t *b, int rotation)
{
    for (int j = 0; j < RNG_BLOCK; j++) {
        uint32_t x = a[j] + b[j], y = b[j];

        a[j] = x;
        b[j] = (y << rotation | y >> (32 - rotation)) ^ x;
    }
}

RNG_INLINE void rng_add_key(uint32_t *a, uint32_t *b, uint32_t to_a, uint32_t to_b)
{
    for (int j = 0; j < RNG_BLOCK; j++) {
        a[j] += to_a;
        b[j] += to_b;
    }
}

/* out[j] = bits(key, ...)[first + j]: the two words of threefry(key, counter) xor-ed, the counter's
 * high word first. */
RNG_INLINE void rng_block(struct rng_key key, uint64_t first, uint32_t out[RNG_BLOCK])
{
    const uint32_t k[3] = {key.w[0], key.w[1], key.w[0] ^ key.w[1] ^ 0x1BD11BDAu};
    uint32_t a[RNG_BLOCK], b[RNG_BLOCK];

    for (int j = 0; j < RNG_BLOCK; j++) {
        a[j] = (uint32_t)((first + (uint64_t)j) >> 32);
        b[j] = (uint32_t)first + (uint32_t)j;
    }
    rng_add_key(a, b, k[0], k[1]);
    for (uint32_t group = 0; group < 5; group++) {
        if (group % 2 == 0) {
            rng_round(a, b, 13);
            rng_round(a, b, 15);
            rng_round(a, b, 26);
            rng_round(a, b, 6);
        } else {
            rng_round(a, b, 17);
            rng_round(a, b, 29);
            rng_round(a, b, 16);
            rng_round(a, b, 24);
        }
        rng_add_key(a, b, k[(group + 1) % 3], k[(group + 2) % 3] + group + 1);
    }
    for (int j = 0; j < RNG_BLOCK; j++)
        out[j] = a[j] ^ b[j];
}

#endif
