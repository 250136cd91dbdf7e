#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static uint32_t rotl(uint32_t x, int r)
{
    return x << r | x >> (32 - r);
}

static uint32_t rotr(uint32_t x, int r)
{
    return x >> r | x << (32 - r);
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_big_endian(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        p[i] = (uint8_t)value;
}

/* FIPS 180-4, section 6.1.2 */
static void sha1_block(uint32_t h[5], const uint8_t *block)
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

    for (int t = 0; t < 16; t++)
        w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 80; t++)
        w[t] = rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        uint32_t f, k;
        if (t < 20)
            f = (b & c) | (~b & d), k = 0x5a827999;
        else if (t < 40)
            f = b ^ c ^ d, k = 0x6ed9eba1;
        else if (t < 60)
            f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        else
            f = b ^ c ^ d, k = 0xca62c1d6;
        uint32_t next = rotl(a, 5) + f + e + k + w[t];
        e = d, d = c, c = rotl(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void hash_sha1(const void *bytes, size_t n, uint8_t out[20])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const uint8_t *p = bytes;
    size_t left = n;
    uint8_t last[128] = {0};

    for (; left >= 64; left -= 64, p += 64)
        sha1_block(h, p);
    if (left)
        memcpy(last, p, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    put_big_endian(last + end - 8, (uint64_t)n * 8, 8);
    for (size_t at = 0; at < end; at += 64)
        sha1_block(h, last + at);
    for (int i = 0; i < 5; i++)
        put_big_endian(out + 4 * i, h[i], 4);
}

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* FIPS 180-4, section 6.2.2: instead of moving eight words along in every round, rounds name them
 * in turn. */
static inline void sha256_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e,
                                uint32_t f, uint32_t g, uint32_t *h, uint32_t key)
{
    uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    uint32_t t1 = *h + s1 + (g ^ (e & (f ^ g))) + key;

    *d += t1;
    *h = t1 + s0 + ((a & b) | (c & (a | b)));
}

static void sha256_block(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64], v[8];

    for (int t = 0; t < 16; t++)
        w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    memcpy(v, h, sizeof v);
    for (int t = 0; t < 64; t += 8) {
        const uint32_t *k = sha256_k + t, *x = w + t;

        sha256_round(v[0], v[1], v[2], &v[3], v[4], v[5], v[6], &v[7], k[0] + x[0]);
        sha256_round(v[7], v[0], v[1], &v[2], v[3], v[4], v[5], &v[6], k[1] + x[1]);
        sha256_round(v[6], v[7], v[0], &v[1], v[2], v[3], v[4], &v[5], k[2] + x[2]);
        sha256_round(v[5], v[6], v[7], &v[0], v[1], v[2], v[3], &v[4], k[3] + x[3]);
        sha256_round(v[4], v[5], v[6], &v[7], v[0], v[1], v[2], &v[3], k[4] + x[4]);
        sha256_round(v[3], v[4], v[5], &v[6], v[7], v[0], v[1], &v[2], k[5] + x[5]);
        sha256_round(v[2], v[3], v[4], &v[5], v[6], v[7], v[0], &v[1], k[6] + x[6]);
        sha256_round(v[1], v[2], v[3], &v[4], v[5], v[6], v[7], &v[0], k[7] + x[7]);
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static void sha256_plain(uint32_t h[8], const uint8_t *p, size_t blocks)
{
    for (; blocks; blocks--, p += 64)
        sha256_block(h, p);
}

#if defined __x86_64__
/* The same with the processor's own instructions for it, about seven times as fast. They want the
 * state as two vectors, (f, e, b, a) and (h, g, d, c) from the lowest lane up, and do two rounds at a
 * time; m[i % 4] holds the words 4 i to 4 i + 3. */
__attribute__((target("sha,sse4.1"))) static void sha256_sha(uint32_t h[8], const uint8_t *p,
                                                             size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const void *)h), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const void *)(h + 4)), 0x1b);
    __m128i x = _mm_alignr_epi8(abcd, efgh, 8), y = _mm_blend_epi16(efgh, abcd, 0xf0);

    for (; blocks; blocks--, p += 64) {
        __m128i m[4], was_x = x, was_y = y;

#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            __m128i *now = &m[i % 4], key;

            if (i < 4) {
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(p + 16 * i)), swap);
            } else {
                __m128i seventh = _mm_alignr_epi8(m[(i + 3) % 4], m[(i + 2) % 4], 4);

                *now = _mm_add_epi32(_mm_sha256msg1_epu32(*now, m[(i + 1) % 4]), seventh);
                *now = _mm_sha256msg2_epu32(*now, m[(i + 3) % 4]);
            }
            key = _mm_add_epi32(*now, _mm_loadu_si128((const void *)(sha256_k + 4 * i)));
            y = _mm_sha256rnds2_epu32(y, x, key);
            x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(key, 0x0e));
        }
        x = _mm_add_epi32(x, was_x);
        y = _mm_add_epi32(y, was_y);
    }
    x = _mm_shuffle_epi32(x, 0x1b); /* a b e f */
    y = _mm_shuffle_epi32(y, 0xb1); /* g h c d */
    _mm_storeu_si128((void *)h, _mm_blend_epi16(x, y, 0xf0));
    _mm_storeu_si128((void *)(h + 4), _mm_alignr_epi8(y, x, 8));
}

static bool has_sha(void)
{
    unsigned a, b, c, d;

    return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (b >> 29 & 1);
}
#endif

enum { UNKNOWN, PLAIN, OWN };
static atomic_int sha256_how;

bool hash_sha256_own(bool own)
{
#if defined __x86_64__
    own = own && has_sha();
#else
    own = false;
#endif
    atomic_store(&sha256_how, own ? OWN : PLAIN);
    return own;
}

static void sha256_blocks(uint32_t h[8], const uint8_t *p, size_t blocks)
{
    int how = atomic_load_explicit(&sha256_how, memory_order_relaxed);

    if (how == UNKNOWN)
        how = hash_sha256_own(true) ? OWN : PLAIN;
#if defined __x86_64__
    if (how == OWN) {
        sha256_sha(h, p, blocks);
        return;
    }
#endif
    sha256_plain(h, p, blocks);
}

void hash_sha256_start(struct hash_sha256 *h)
{
    *h = (struct hash_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void hash_sha256_add(struct hash_sha256 *h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t held = h->length % 64;

    h->length += n;
    if (held) {
        size_t take = n < 64 - held ? n : 64 - held;
        memcpy(h->block + held, p, take);
        p += take, n -= take, held += take;
        if (held < 64)
            return;
        sha256_blocks(h->state, h->block, 1);
    }
    sha256_blocks(h->state, p, n / 64);
    p += n / 64 * 64, n %= 64;
    if (n)
        memcpy(h->block, p, n);
}

void hash_sha256_end(struct hash_sha256 *h, uint8_t out[32])
{
    uint64_t bits = h->length * 8;
    uint8_t pad[72] = {0x80};
    size_t held = h->length % 64, fill = (held < 56 ? 56 : 120) - held;

    put_big_endian(pad + fill, bits, 8);
    hash_sha256_add(h, pad, fill + 8);
    for (int i = 0; i < 8; i++)
        put_big_endian(out + 4 * i, h->state[i], 4);
}

void hash_hex(char *out, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = 0;
}

void hash_digits(char *out, size_t room, const void *bytes, size_t n)
{
    struct hash_sha256 h;
    uint8_t digest[32];
    char hex[65];

    hash_sha256_start(&h);
    hash_sha256_add(&h, bytes, n);
    hash_sha256_end(&h, digest);
    hash_hex(hex, digest, sizeof digest);
    memcpy(out, hex, room - 1);
    out[room - 1] = '\0';
}

uint64_t hash_quick(const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t hash = 14695981039346656037u;

    for (; n; n--)
        hash = (hash ^ *at++) * 1099511628211u;
    return hash;
}
