#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A random word and the image that it moves. */
struct entry {
    uint32_t bits, value;
};

/* One pass of a stable radix sort over 11 bits of the words; false where all of them are equal there,
 * so that nothing moved. */
static bool sort_pass(const struct entry *from, struct entry *to, size_t n, int shift)
{
    size_t start[2048] = {0}, sum = 0;

    for (size_t i = 0; i < n; i++)
        start[from[i].bits >> shift & 2047]++;
    for (int b = 0; b < 2048; b++) {
        size_t count = start[b];

        if (count == n)
            return false;
        start[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i].bits >> shift & 2047]++] = from[i];
    return true;
}

bool rng_permutation(struct rng_key key, size_t n, uint32_t *order)
{
    /* JAX's count: enough rounds that equal words hardly matter; 0 for a single image. */
    int rounds = n > 1 ? (int)ceil(3.0 * log((double)n) / log(4294967295.0)) : 0;
    struct entry *from, *to;

    if (n > SIZE_MAX / sizeof *from / 2 - 1)
        return false;
    from = malloc((2 * n + 1) * sizeof *from);
    if (!from)
        return false;
    to = from + n;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (int round = 0; round < rounds; round++) {
        struct rng_key sub = rng_split(key, 1);
        struct entry *a = from, *b = to;

        key = rng_split(key, 0);
        for (size_t i = 0; i < n; i += 256) {
            uint32_t bits[256];
            size_t count = n - i < 256 ? n - i : 256;

            rng_bits(sub, i, count, bits);
            for (size_t j = 0; j < count; j++)
                a[i + j] = (struct entry){bits[j], order[i + j]};
        }
        for (int shift = 0; shift < 32; shift += 11)
            if (sort_pass(a, b, n, shift)) {
                struct entry *swap = a;

                a = b;
                b = swap;
            }
        for (size_t i = 0; i < n; i++)
            order[i] = a[i].value;
    }
    free(from);
    return true;
}
