/* Augmentation against the words of docs/keys.md, carried out one after the other on a padded copy. */
#include "tests/unit/data/kit.h"

enum { H = 9, W = 6, C = 2, SIZE = H * W * C };

static struct data_set make_set(uint8_t *bytes, float *lut)
{
    struct data_set set = {.shape = {H, W, C}, .lut = lut, .classes = 2};

    for (int i = 0; i < 3 * SIZE; i++)
        bytes[i] = (uint8_t)(1 + (i * 7) % 250);
    for (int c = 0; c < C; c++)
        for (int v = 0; v < 256; v++)
            lut[c * 256 + v] = (float)(v + 1000 * c);
    set.train = (struct data_part){3, bytes, NULL, NULL};
    return set;
}

static void by_hand(const float *image, unsigned augment, int pad, const uint32_t b[6], float *out)
{
    int ph = H + 2 * pad, pw = W + 2 * pad;
    float *padded = mem_new((size_t)(ph * pw * C), sizeof *padded);
    float crop[SIZE], flip[SIZE];

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < C; c++)
                padded[((y + pad) * pw + x + pad) * C + c] = image[(y * W + x) * C + c];
    int oy = augment & SPEC_CROP ? (int)(b[1] % (uint32_t)(2 * pad + 1)) : pad;
    int ox = augment & SPEC_CROP ? (int)(b[2] % (uint32_t)(2 * pad + 1)) : pad;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < C; c++)
                crop[(y * W + x) * C + c] = padded[((y + oy) * pw + x + ox) * C + c];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < C; c++)
                flip[(y * W + x) * C + c] =
                    crop[(y * W + ((augment & SPEC_FLIP) && b[0] >= 0x80000000u ? W - 1 - x : x)) *
                             C +
                         c];
    if ((augment & SPEC_ERASE) && b[3] >= 0x80000000u) {
        int side = H / 4, top = (int)(b[4] % (uint32_t)(H - H / 4 + 1));
        int left = (int)(b[5] % (uint32_t)(W - W / 4 + 1));

        for (int y = top; y < top + side; y++)
            for (int x = left; x < left + side && x < W; x++)
                for (int c = 0; c < C; c++)
                    flip[(y * W + x) * C + c] = 0;
    }
    memcpy(out, flip, sizeof flip);
    free(padded);
}

TEST(none_is_the_image)
{
    uint8_t bytes[3 * SIZE];
    float lut[C * 256], plain[SIZE], out[SIZE];
    struct data_set set = make_set(bytes, lut);

    data_image(&set, &set.train, 2, plain);
    data_image_augmented(&set, &set.train, 2, 0, 0, rng_key(3), 5, out);
    CHECK(!memcmp(plain, out, sizeof out));
    for (int p = 0; p < SIZE; p++)
        CHECK(plain[p] == (float)(bytes[2 * SIZE + p] + 1000 * (p % C)));
}

TEST(all_combinations_by_hand)
{
    uint8_t bytes[3 * SIZE];
    float lut[C * 256], image[SIZE], out[SIZE], want[SIZE];
    struct data_set set = make_set(bytes, lut);
    struct rng_key order = net_order_key(7, 3);
    int moved = 0, flipped = 0, erased = 0;

    for (unsigned augment = 1; augment < 8; augment++) {
        for (uint64_t place = 0; place < 60; place++) {
            size_t i = place % 3;
            uint32_t b[6];

            rng_bits(rng_fold_in(rng_fold_in(order, 1), (uint32_t)place), 0, 6, b);
            data_image(&set, &set.train, i, image);
            by_hand(image, augment, 2, b, want);
            data_image_augmented(&set, &set.train, i, augment, 2, order, place, out);
            if (memcmp(want, out, sizeof out))
                TEST_FAILED("augment %u at place %llu differs", augment, (unsigned long long)place);
            moved += augment == SPEC_CROP && memcmp(image, out, sizeof out) != 0;
            flipped += augment == SPEC_FLIP && memcmp(image, out, sizeof out) != 0;
            erased += augment == SPEC_ERASE && memcmp(image, out, sizeof out) != 0;
        }
    }
    CHECK(moved > 50); /* all but the 1 in 25 that stays in the middle */
    CHECK(flipped > 20 && flipped < 40);
    CHECK(erased > 20 && erased < 40);
}

/* The bits themselves, from numbers that JAX gives: the flip is the top bit of the first word. */
TEST(bits_are_those_of_the_place)
{
    uint8_t bytes[3 * SIZE];
    float lut[C * 256], image[SIZE], out[SIZE];
    struct data_set set = make_set(bytes, lut);
    struct rng_key order = rng_key(0);

    data_image(&set, &set.train, 0, image);
    for (uint64_t place = 0; place < 32; place++) {
        uint32_t first = rng_bits_at(rng_fold_in(rng_fold_in(order, 1), (uint32_t)place), 0);

        data_image_augmented(&set, &set.train, 0, SPEC_FLIP, 0, order, place, out);
        for (int c = 0; c < C; c++)
            CHECK(out[c] == image[(first >> 31 ? (W - 1) * C : 0) + c]);
    }
}

/* Values (a CSV) go the same way as bytes. */
TEST(values_as_bytes)
{
    uint8_t bytes[3 * SIZE];
    float lut[C * 256], values[3 * SIZE], a[SIZE], b[SIZE];
    struct data_set set = make_set(bytes, lut), other;

    for (size_t i = 0; i < 3; i++)
        data_image(&set, &set.train, i, values + i * SIZE);
    other = set;
    other.lut = NULL;
    other.train = (struct data_part){3, NULL, values, NULL};
    for (uint64_t place = 0; place < 20; place++) {
        data_image_augmented(&set, &set.train, place % 3, 7, 3, rng_key(1), place, a);
        data_image_augmented(&other, &other.train, place % 3, 7, 3, rng_key(1), place, b);
        CHECK(!memcmp(a, b, sizeof a));
    }
}
