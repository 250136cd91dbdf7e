/* The sums against those of the standards, and the two ways to SHA-256 against each other. */
#include "base/hash.h"
#include "base/mem.h"
#include "tests/test.h"

#include <stdint.h>

static void sha256_of(const void *bytes, size_t n, size_t step, char hex[65])
{
    struct hash_sha256 h;
    uint8_t out[32];

    hash_sha256_start(&h);
    for (size_t at = 0; at < n; at += step)
        hash_sha256_add(&h, (const char *)bytes + at, n - at < step ? n - at : step);
    hash_sha256_end(&h, out);
    hash_hex(hex, out, 32);
}

static void check_standard(void)
{
    static const char long_text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char a[1000000];
    char hex[65];

    sha256_of("", 0, 1, hex);
    CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_of("abc", 3, 3, hex);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_of(long_text, sizeof long_text - 1, 100, hex);
    CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(a, 'a', sizeof a);
    for (size_t step = 61; step < 2000000; step *= 9) {
        sha256_of(a, sizeof a, step, hex);
        CHECK_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(as_many_digits_as_there_is_room_for)
{
    char few[5], all[65];

    hash_digits(few, sizeof few, "abc", 3);
    CHECK_STR(few, "ba78");
    hash_digits(all, sizeof all, "abc", 3);
    CHECK_STR(all, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(the_quick_one_is_fnv_1a)
{
    CHECK(hash_quick("", 0) == 0xcbf29ce484222325u);
    CHECK(hash_quick("a", 1) == 0xaf63dc4c8601ec8cu);
    CHECK(hash_quick("foobar", 6) == 0x85944171f73967e8u);
}

TEST(sha256_in_plain_c)
{
    CHECK(!hash_sha256_own(false));
    check_standard();
    hash_sha256_own(true);
}

TEST(sha256_of_the_processor)
{
    if (!hash_sha256_own(true))
        SKIP("the processor has no instructions for SHA-256");
    check_standard();
}

TEST(sha256_of_every_length)
{
    uint8_t bytes[300];
    char own[65], plain[65];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167 + 13);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        hash_sha256_own(true);
        sha256_of(bytes, n, 1 + n % 67, own);
        hash_sha256_own(false);
        sha256_of(bytes, n, 64, plain);
        CHECK_STR(own, plain);
    }
    hash_sha256_own(true);
}

TEST(sha1)
{
    uint8_t out[20];
    char hex[41];

    hash_sha1("abc", 3, out);
    hash_hex(hex, out, 20);
    CHECK_STR(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    hash_sha1("", 0, out);
    hash_hex(hex, out, 20);
    CHECK_STR(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}
