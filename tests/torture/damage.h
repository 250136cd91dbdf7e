/* tests/torture/damage.h: what a bad disk, a bad cable or an editor makes of a file's bytes. */
#ifndef CHORUS_TORTURE_DAMAGE_H
#define CHORUS_TORTURE_DAMAGE_H

#include "base/mem.h"
#include "tests/torture/dice.h"

#include <stdlib.h>
#include <string.h>

enum damage_kind {
    DAMAGE_FLIP,   /* one bit */
    DAMAGE_FLIPS,  /* a few bits anywhere */
    DAMAGE_DIGIT,  /* a digit becomes another one */
    DAMAGE_RUN,    /* up to 64 bytes in a row become others */
    DAMAGE_CUT,    /* the end is missing */
    DAMAGE_ZERO,   /* a block becomes zeros */
    DAMAGE_TWICE,  /* a block is there twice */
    DAMAGE_GONE,   /* a block is missing */
    DAMAGE_MOVED,  /* two blocks have changed places */
    DAMAGE_LONGER, /* more bytes at the end */
    DAMAGE_KINDS
};
static const char *const damage_names[] = {
    "a flipped bit",  "flipped bits",    "another digit", "a run overwritten",  "a cut",
    "a zeroed block", "a doubled block", "a block gone",  "two blocks swapped", "bytes at the end"};

struct damage {
    enum damage_kind kind;
    size_t at; /* in front of it all is as it was */
    size_t n;  /* bytes that are there now */
    char *bytes;
};

static inline void damage_flip(struct damage *d, struct dice *dice)
{
    size_t bit = dice_below(dice, 8 * d->n);

    d->bytes[bit / 8] ^= (char)(1 << bit % 8);
}

static inline void damage_digit(struct damage *d, struct dice *dice)
{
    size_t at = dice_below(dice, d->n), tries = d->n;

    while (tries-- && (d->bytes[at] < '0' || d->bytes[at] > '9'))
        at = (at + 1) % d->n;
    d->bytes[at] = (char)('0' + (d->bytes[at] - '0' + 1 + (int)dice_below(dice, 9)) % 10);
}

static inline void damage_run(struct damage *d, struct dice *dice)
{
    size_t at = dice_below(dice, d->n), n = 1 + dice_below(dice, 64);
    bool text = dice_percent(dice, 50);

    for (; n-- && at < d->n; at++)
        d->bytes[at] = (char)(text ? ' ' + dice_below(dice, 95) : dice_below(dice, 256));
}

/* A block of the file's: mostly one of 16 to 512 bytes, as long as the file allows. */
static inline size_t damage_block(const struct damage *d, struct dice *dice, size_t *at)
{
    size_t n = (size_t)16 << dice_below(dice, 6);

    *at = dice_below(dice, d->n);
    return n < d->n - *at ? n : d->n - *at;
}

static inline void damage_blocks(struct damage *d, struct dice *dice)
{
    size_t at, n = damage_block(d, dice, &at), to;
    char *held = mem_new(n + 1, 1);

    memcpy(held, d->bytes + at, n);
    if (d->kind == DAMAGE_ZERO) {
        memset(d->bytes + at, 0, n);
    } else if (d->kind == DAMAGE_TWICE) {
        memmove(d->bytes + at + n, d->bytes + at, d->n - at);
        d->n += n;
    } else if (d->kind == DAMAGE_GONE) {
        memmove(d->bytes + at, d->bytes + at + n, d->n - at - n);
        d->n -= n;
    } else if (d->n >= 2 * n) {
        to = dice_below(dice, d->n - n + 1);
        memmove(d->bytes + at, d->bytes + to, n);
        memcpy(d->bytes + to, held, n);
    }
    free(held);
}

static inline void damage_apply(struct damage *d, struct dice *dice)
{
    switch (d->kind) {
    case DAMAGE_FLIP:
        damage_flip(d, dice);
        break;
    case DAMAGE_FLIPS:
        for (size_t i = 2 + dice_below(dice, 6); i > 0; i--)
            damage_flip(d, dice);
        break;
    case DAMAGE_DIGIT:
        damage_digit(d, dice);
        break;
    case DAMAGE_RUN:
        damage_run(d, dice);
        break;
    case DAMAGE_CUT:
        d->n = dice_below(dice, d->n);
        break;
    case DAMAGE_LONGER:
        for (size_t i = 1 + dice_below(dice, 64); i > 0; i--)
            d->bytes[d->n++] = (char)(dice_percent(dice, 50) ? 0 : dice_below(dice, 256));
        break;
    default:
        damage_blocks(d, dice);
    }
}

/* Of a file of n bytes, which is not empty. The bytes differ from what they were; the caller frees them. */
static inline struct damage damage_of(const char *bytes, size_t n, struct dice *dice)
{
    struct damage d = {.bytes = mem_new(2 * n + 1024, 1)};

    do {
        d.kind = (enum damage_kind)dice_below(dice, DAMAGE_KINDS);
        d.n = n;
        memcpy(d.bytes, bytes, n);
        damage_apply(&d, dice);
        for (d.at = 0; d.at < n && d.at < d.n && d.bytes[d.at] == bytes[d.at];)
            d.at++;
    } while (d.n == n && d.at == n);
    return d;
}

#endif
