/* base/hash.h: SHA-1 (parameter keys are made with it), SHA-256 (checksums, names of cells), and a
 * quick one for tables in memory. */
#ifndef CHORUS_BASE_HASH_H
#define CHORUS_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hash_sha1(const void *bytes, size_t n, uint8_t out[20]);

struct hash_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};
void hash_sha256_start(struct hash_sha256 *h);
void hash_sha256_add(struct hash_sha256 *h, const void *bytes, size_t n);
void hash_sha256_end(struct hash_sha256 *h, uint8_t out[32]);
/* Whether the processor's instructions for it are used from now on, if it has them (as they are when
 * nobody asks). For tests: the result is the same. */
bool hash_sha256_own(bool own);

/* Lower-case hexadecimal of n bytes, terminated: out holds 2 n + 1. */
void hash_hex(char *out, const uint8_t *bytes, size_t n);
/* The first digits of the SHA-256 of n bytes: as many as fit into `room` with their 0, at most 64. */
void hash_digits(char *out, size_t room, const void *bytes, size_t n);

/* FNV-1a: nothing that is kept may depend on it. */
uint64_t hash_quick(const void *bytes, size_t n);

#endif
