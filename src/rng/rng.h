/* rng/rng.h: JAX's random numbers (Threefry-2x32, the partitionable form), bit for bit. Pure
 * functions of a key: nothing here has state. */
#ifndef CHORUS_RNG_H
#define CHORUS_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng_key {
    uint32_t w[2];
};

struct rng_key rng_key(uint64_t seed);
struct rng_key rng_split(struct rng_key key, uint64_t i); /* split(key, n)[i]: n does not matter */
struct rng_key rng_fold_in(struct rng_key key, uint32_t data);

uint32_t rng_bits_at(struct rng_key key, uint64_t i); /* bits(key, n)[i] */
void rng_bits(struct rng_key key, uint64_t first, size_t count, uint32_t *out);
void rng_uniform(struct rng_key key, size_t n, float lo, float hi, float *out);
void rng_normal(struct rng_key key, size_t n, float *out);
void rng_truncated_normal(struct rng_key key, size_t n, float *out); /* in (-2, 2) */

/* permutation(key, n) into order[0..n): n up to 2^32 - 1. Takes 16 n bytes while it works; false
 * where there is no memory for them. */
__attribute__((warn_unused_result)) bool rng_permutation(struct rng_key key, size_t n,
                                                         uint32_t *order);

#endif
