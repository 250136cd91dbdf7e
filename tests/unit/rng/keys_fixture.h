/* tests/unit/rng/keys_fixture.h: reads the files that tests/parity/make_keys.py writes: words on lines,
 * arrays as their count, the SHA-256 of all their bytes and the bits of the first few. */
#ifndef CHORUS_TESTS_UNIT_RNG_KEYS_FIXTURE_H
#define CHORUS_TESTS_UNIT_RNG_KEYS_FIXTURE_H

#include "base/hash.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sanitizers make large arrays slow, and smaller ones run the same code: they stop here. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FIXTURE_MOST 200000
#else
#define FIXTURE_MOST SIZE_MAX
#endif

struct fixture {
    FILE *file;
    const char *path;
    int line;
    char bytes[4096];
    char *word[64];
    int words;
};

static bool fixture_open(struct fixture *f, const char *path)
{
    *f = (struct fixture){.file = fopen(path, "r"), .path = path};
    return f->file != NULL;
}

/* The next line that is no comment; false behind the last. */
static bool fixture_next(struct fixture *f)
{
    char *rest, *word;

    do {
        if (!fgets(f->bytes, sizeof f->bytes, f->file)) {
            fclose(f->file);
            return false;
        }
        f->line++;
    } while (f->bytes[0] == '#');
    f->words = 0;
    for (word = strtok_r(f->bytes, " \n", &rest); word && f->words < 64;
         word = strtok_r(NULL, " \n", &rest))
        f->word[f->words++] = word;
    return true;
}

static uint64_t fixture_number(const struct fixture *f, int i)
{
    return i < f->words ? strtoull(f->word[i], NULL, 10) : 0;
}

static uint32_t fixture_bits(const struct fixture *f, int i)
{
    return i < f->words ? (uint32_t)strtoull(f->word[i], NULL, 16) : 0;
}

/* Whether an array is the one that the words from i on tell of. */
static bool fixture_same(const struct fixture *f, int i, const void *array, size_t count)
{
    const uint32_t *bits = array;
    struct hash_sha256 h;
    uint8_t digest[32];
    char hex[65];

    for (int k = i + 2; k < f->words; k++) {
        if (bits[k - i - 2] == fixture_bits(f, k))
            continue;
        printf("  %s:%d: element %d is %08" PRIx32 ", not %s\n", f->path, f->line, k - i - 2,
               bits[k - i - 2], f->word[k]);
        return false;
    }
    hash_sha256_start(&h);
    hash_sha256_add(&h, array, 4 * count);
    hash_sha256_end(&h, digest);
    hash_hex(hex, digest, 32);
    return fixture_number(f, i) == count && i + 1 < f->words && !strcmp(hex, f->word[i + 1]);
}

#endif
