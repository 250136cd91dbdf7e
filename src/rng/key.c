#include "rng/rng.h"

/* Threefry-2x32 with 20 rounds (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3). */
static struct rng_key threefry(struct rng_key key, uint32_t x0, uint32_t x1)
{
    static const int rotation[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const uint32_t k[3] = {key.w[0], key.w[1], key.w[0] ^ key.w[1] ^ 0x1BD11BDAu};

    x0 += k[0];
    x1 += k[1];
    for (uint32_t group = 0; group < 5; group++) {
        for (int j = 0; j < 4; j++) {
            int r = rotation[group % 2][j];

            x0 += x1;
            x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
        }
        x0 += k[(group + 1) % 3];
        x1 += k[(group + 2) % 3] + group + 1;
    }
    return (struct rng_key){{x0, x1}};
}

struct rng_key rng_key(uint64_t seed)
{
    return (struct rng_key){{(uint32_t)(seed >> 32), (uint32_t)seed}};
}

struct rng_key rng_split(struct rng_key key, uint64_t i)
{
    return threefry(key, (uint32_t)(i >> 32), (uint32_t)i);
}

struct rng_key rng_fold_in(struct rng_key key, uint32_t data)
{
    return threefry(key, 0, data);
}

uint32_t rng_bits_at(struct rng_key key, uint64_t i)
{
    struct rng_key two = threefry(key, (uint32_t)(i >> 32), (uint32_t)i);

    return two.w[0] ^ two.w[1];
}
