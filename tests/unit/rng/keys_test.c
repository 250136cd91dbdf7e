/* Every random number against JAX's, bit for bit. */
#include "rng/rng.h"
#include "rng/rng_int.h"

#include "tests/test.h"
#include "tests/unit/rng/keys_fixture.h"

static bool same_key(const struct fixture *f, int i, struct rng_key key)
{
    if (f->words == i + 2 && key.w[0] == fixture_bits(f, i) && key.w[1] == fixture_bits(f, i + 1))
        return true;
    printf("  %s:%d: %08" PRIx32 " %08" PRIx32 "\n", f->path, f->line, key.w[0], key.w[1]);
    return false;
}

static float as_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Draws what a line tells of; false where the line is of another test. */
static bool draw(const struct fixture *f, struct rng_key key, void *out, size_t n, int *at)
{
    *at = 2;
    if (!strcmp(f->word[0], "bits")) {
        rng_bits(key, 0, n, out);
    } else if (!strcmp(f->word[0], "uniform")) {
        *at = 4;
        rng_uniform(key, n, as_float(fixture_bits(f, 2)), as_float(fixture_bits(f, 3)), out);
    } else if (!strcmp(f->word[0], "normal")) {
        rng_normal(key, n, out);
    } else if (!strcmp(f->word[0], "truncated")) {
        rng_truncated_normal(key, n, out);
    } else if (!strcmp(f->word[0], "permutation")) {
        CHECK(rng_permutation(key, n, out));
    } else {
        return false;
    }
    return true;
}

TEST(every_number_is_jaxs)
{
    const size_t most = 3000000;
    uint32_t *array = malloc(4 * most);
    int keys = 0, arrays = 0;
    struct fixture f;

    REQUIRE(array && fixture_open(&f, "tests/fixtures/keys.txt"));
    while (fixture_next(&f)) {
        struct rng_key key = rng_key(fixture_number(&f, 1));
        size_t n;
        int at;

        if (!strcmp(f.word[0], "key")) {
            CHECK(same_key(&f, 2, key));
            keys++;
        } else if (!strcmp(f.word[0], "split")) {
            CHECK(same_key(&f, 3, rng_split(key, fixture_number(&f, 2))));
            keys++;
        } else if (!strcmp(f.word[0], "fold_in")) {
            CHECK(same_key(&f, 3, rng_fold_in(key, (uint32_t)fixture_number(&f, 2))));
            keys++;
        } else if (strcmp(f.word[0], "model") != 0 && strcmp(f.word[0], "order") != 0) {
            n = fixture_number(&f, !strcmp(f.word[0], "uniform") ? 4 : 2);
            arrays++;
            if (n > FIXTURE_MOST)
                continue;
            REQUIRE(n > 0 && n <= most);
            REQUIRE(draw(&f, key, array, n, &at));
            if (!fixture_same(&f, at, array, n))
                TEST_FAILED("%s:%d: %s of seed %s differs from JAX's", f.path, f.line, f.word[0],
                            f.word[1]);
        }
    }
    CHECK(keys > 150);
    CHECK(arrays > 70);
    free(array);
}

static void check_words(struct rng_key key, uint32_t a, uint32_t b)
{
    CHECK_INT(key.w[0], a);
    CHECK_INT(key.w[1], b);
}

TEST(known_keys)
{
    check_words(rng_key(12345), 0, 0x3039);
    check_words(rng_key(0xfedcba9876543210), 0xfedcba98, 0x76543210);
    check_words(rng_split(rng_key(0), 0), 0x6b200159, 0x99ba4efe);
    check_words(rng_split(rng_key(0), 1), 0x375f238f, 0xcddb151d);
    check_words(rng_split(rng_key(0), 2), 0xf71f4ea9, 0xa20e4081);
    check_words(rng_split(rng_key(12345), 7), 0xd94a5389, 0x4e5ac9c2);
    check_words(rng_fold_in(rng_key(12345), 4000000000u), 0x1d2938ea, 0x8c9b4356);
}

TEST(known_numbers)
{
    static const uint32_t bits[] = {0xf29a4fa7, 0xfa843692, 0x55110e28, 0x77faa835, 0x91e43bb7};
    static const uint32_t uniform[] = {0x3f729a4e, 0x3f7a8436, 0x3eaa221c};
    static const float normal[] = {1.62264216f, 2.02526474f, -0.433594435f, -0.0786173493f};
    static const float truncated[] = {1.4559592f, 1.71474874f, -0.412675351f, -0.0750334337f};
    uint32_t got[5];
    float f[4];

    rng_bits(rng_key(0), 0, 5, got);
    CHECK(!memcmp(got, bits, sizeof bits));
    rng_uniform(rng_key(0), 3, 0, 1, f);
    CHECK(!memcmp(f, uniform, sizeof uniform));
    rng_normal(rng_key(0), 4, f);
    CHECK(!memcmp(f, normal, sizeof normal));
    rng_truncated_normal(rng_key(0), 4, f);
    CHECK(!memcmp(f, truncated, sizeof truncated));
}

TEST(known_permutations)
{
    static const uint32_t ten[] = {0, 1, 8, 5, 6, 4, 3, 2, 7, 9};
    static const uint32_t head[] = {48820, 47051, 9095, 5778, 25367, 40208};
    static const uint32_t tail[] = {12795, 26370, 1520};
    static uint32_t order[60000];
    uint8_t digest[20];
    char hex[41];

    CHECK(rng_permutation(rng_key(0), 10, order));
    CHECK(!memcmp(order, ten, sizeof ten));
    CHECK(rng_permutation(rng_key(0), 60000, order));
    CHECK(!memcmp(order, head, sizeof head));
    CHECK(!memcmp(order + 59997, tail, sizeof tail));
    hash_sha1(order, sizeof order, digest);
    hash_hex(hex, digest, 20);
    CHECK_STR(hex, "c0762b66e30000e43332f61b46129361479a7b64");
}

/* The counter has 64 bits, and a place in the stream does not depend on where a call began. */
TEST(bits_at_any_place)
{
    static const uint64_t from[] = {
        0, 1, 127, 128, 0xfffffffe, 0xffffffff, 0x100000000, 0x123456789abcd, UINT64_MAX - 300};
    struct rng_key key = rng_key(7);
    uint32_t got[300];

    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        rng_bits(key, from[i], 300, got);
        for (uint64_t j = 0; j < 300; j++) {
            struct rng_key two = rng_split(key, from[i] + j);

            if (got[j] != rng_bits_at(key, from[i] + j) || got[j] != (two.w[0] ^ two.w[1]))
                TEST_FAILED("bits %" PRIu64 " of a call from %" PRIu64 " differ", j, from[i]);
        }
    }
}

/* A draw of n begins as a longer one does, and no byte behind it is touched. */
TEST(blocks_end_anywhere)
{
    float whole[400], part[401];

    rng_normal(rng_key(3), 400, whole);
    for (size_t n = 0; n <= 400; n += n < 130 ? 1 : 17) {
        memset(part, 0x5a, sizeof part);
        rng_normal(rng_key(3), n, part);
        CHECK(!memcmp(part, whole, 4 * n));
        for (size_t j = 4 * n; j < sizeof part; j++)
            if (((unsigned char *)part)[j] != 0x5a) {
                TEST_FAILED("byte %zu behind %zu numbers was written", j, n);
                break;
            }
    }
}

/* The loops for machines without fused multiply-add give the same bits. */
TEST(plain_loops_agree)
{
    enum { N = 20000 };
    static float fast[N], plain[N];
    struct rng_key key = rng_key(11);

    rng_normal(key, N, fast);
    rng_fill_plain(RNG_NORMAL, key, 0, N, nextafterf(-1, 0), 1, plain);
    CHECK(!memcmp(fast, plain, sizeof fast));
    rng_truncated_normal(key, N, fast);
    rng_fill_plain(RNG_TRUNCATED, key, 0, N, (float)erf(-sqrt(2)), (float)erf(sqrt(2)), plain);
    CHECK(!memcmp(fast, plain, sizeof fast));
    rng_uniform(key, N, -0.3f, 0.7f, fast);
    rng_fill_plain(RNG_UNIFORM, key, 0, N, -0.3f, 0.7f, plain);
    CHECK(!memcmp(fast, plain, sizeof fast));
    rng_bits(key, 5, N, (uint32_t *)fast);
    rng_fill_plain(RNG_BITS, key, 5, N, 0, 0, plain);
    CHECK(!memcmp(fast, plain, sizeof fast));
}

TEST(numbers_stay_within_limits)
{
    enum { N = 500000 };
    float *x = malloc(N * sizeof *x);
    double sum = 0, squares = 0;

    REQUIRE(x);
    rng_uniform(rng_key(1), N, 2, 2.5f, x);
    for (int i = 0; i < N; i++)
        CHECK(x[i] >= 2 && x[i] < 2.5f);
    rng_truncated_normal(rng_key(1), N, x);
    for (int i = 0; i < N; i++)
        CHECK(x[i] > -2 && x[i] < 2);
    rng_normal(rng_key(1), N, x);
    for (int i = 0; i < N; i++) {
        CHECK(isfinite(x[i]));
        sum += x[i];
        squares += (double)x[i] * x[i];
    }
    CHECK_NEAR(sum / N, 0, 0.006);
    CHECK_NEAR(squares / N, 1, 0.01);
    free(x);
}

TEST(permutations_are_permutations)
{
    static const size_t sizes[] = {0, 1, 2, 3, 255, 256, 257, 1625, 1626, 5000, 65536};
    uint32_t *order = malloc(65537 * sizeof *order);
    bool *seen = malloc(65536);

    REQUIRE(order && seen);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s], moved = 0;

        memset(seen, 0, 65536);
        order[n] = 0xabcdef;
        CHECK(rng_permutation(rng_key(s), n, order));
        for (size_t i = 0; i < n; i++) {
            REQUIRE(order[i] < n && !seen[order[i]]);
            seen[order[i]] = true;
            moved += order[i] != i;
        }
        CHECK(n < 255 || moved > n - n / 10);
        CHECK_INT(order[n], 0xabcdef);
    }
    free(order);
    free(seen);
}

TEST(no_memory_is_said)
{
    uint32_t order[4] = {9, 9, 9, 9};

    CHECK(!rng_permutation(rng_key(0), SIZE_MAX / 8, order));
    CHECK(!rng_permutation(rng_key(0), SIZE_MAX / 16, order));
    CHECK_INT(order[0], 9);
}
