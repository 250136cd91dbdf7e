/* tests/torture/dice.h: random numbers that a seed and a case repeat on every machine. */
#ifndef CHORUS_TORTURE_DICE_H
#define CHORUS_TORTURE_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t dice_roll(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline struct dice dice_of(uint64_t seed, uint64_t number)
{
    struct dice d = {seed * 0x2545f4914f6cdd1du + number};

    (void)dice_roll(&d);
    return d;
}

/* From 0 to n - 1. */
static inline size_t dice_below(struct dice *d, size_t n)
{
    return n ? (size_t)(dice_roll(d) % n) : 0;
}

static inline bool dice_percent(struct dice *d, unsigned percent)
{
    return dice_below(d, 100) < percent;
}

#endif
