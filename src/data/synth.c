/* Made-up images of ten classes, for trying things out without any file. A class is a pattern of
 * blobs; an image is its class's pattern moved about, its contrast varied, another class's pattern
 * laid thinly over it, and noise. All of it in integers, from keys of the image's own number, so that
 * image i is the same bytes on every machine and under every limit. */
#include "data/data_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CLASSES     10
#define TEST_IMAGES 10000
#define CELLS       6  /* a pattern's random grid, at most; stretched smoothly over the image */
#define NOISE_WORDS 64 /* noise is drawn in pieces of this many words */

/* What the keys fold in, so that no key is used for two things. */
enum { KEY_SYNTH = 0x73796e74, KEY_PATTERN = 0, KEY_TRAIN = 1, KEY_TEST = 2 };

struct patterns {
    struct net_shape shape;
    int move_y, move_x;   /* an image shows a window of a pattern this much larger on either side */
    int high, wide;       /* of a pattern */
    uint8_t *of[CLASSES]; /* (high, wide, c) */
};

/* Cells along a side of n pixels: about five pixels each, so that pooling does not lose them. */
static int cells_along(int n)
{
    int cells = n / 4;

    return cells < 1 ? 1 : cells > CELLS ? CELLS : cells;
}

/* Where pixel i of n falls between the cells: the left cell and the share of the right one. */
static int between(int i, int n, int cells, int *share)
{
    int64_t at = ((int64_t)(2 * i + 1) * cells * 128) / n - 128; /* in 256ths of a cell */

    at = at < 0 ? 0 : at > (cells - 1) * 256 ? (cells - 1) * 256 : at;
    *share = (int)(at & 255);
    return (int)(at >> 8);
}

/* Random cells, stretched bilinearly and then steepened, so that blobs have edges. */
static void draw_pattern(struct rng_key key, const struct patterns *p, int tint, uint8_t *out)
{
    int rows = cells_along(p->high), columns = cells_along(p->wide);
    int cell[CELLS + 1][CELLS + 1];

    for (int c = 0; c < p->shape.c; c++) {
        uint32_t bits[CELLS * CELLS];

        rng_bits(rng_fold_in(key, (uint32_t)c), 0, (size_t)(rows * columns), bits);
        for (int y = 0; y <= rows; y++)
            for (int x = 0; x <= columns; x++)
                cell[y][x] = (int)(bits[(y < rows ? y : rows - 1) * columns +
                                        (x < columns ? x : columns - 1)] >>
                                   24);
        for (int y = 0; y < p->high; y++) {
            int fy, cy = between(y, p->high, rows, &fy);

            for (int x = 0; x < p->wide; x++) {
                int fx, cx = between(x, p->wide, columns, &fx);
                int above = cell[cy][cx] * (256 - fx) + cell[cy][cx + 1] * fx;
                int below = cell[cy + 1][cx] * (256 - fx) + cell[cy + 1][cx + 1] * fx;
                int v = (above * (256 - fy) + below * fy) >> 16;

                v = tint + (v - 128) * 3;
                v = v < 0 ? 0 : v > 255 ? 255 : v;
                out[((size_t)y * (size_t)p->wide + (size_t)x) * (size_t)p->shape.c + (size_t)c] =
                    (uint8_t)v;
            }
        }
    }
}

static void free_patterns(struct patterns *p)
{
    for (int k = 0; k < CLASSES; k++)
        free(p->of[k]);
}

static enum err_code make_patterns(struct patterns *p, struct rng_key key, struct net_shape shape,
                                   struct err *e)
{
    *p = (struct patterns){.shape = shape, .move_y = shape.h / 7, .move_x = shape.w / 7};
    p->high = shape.h + 2 * p->move_y;
    p->wide = shape.w + 2 * p->move_x;
    for (int k = 0; k < CLASSES; k++) {
        size_t size = (size_t)p->high * (size_t)p->wide * (size_t)shape.c;

        p->of[k] = mem_try(size, 1);
        if (!p->of[k]) {
            free_patterns(p);
            return err_set(e, ERR_NOMEM, "no memory for %zu bytes of synthetic patterns", size);
        }
        draw_pattern(rng_fold_in(rng_fold_in(key, KEY_PATTERN), (uint32_t)k), p, 16 + 25 * k,
                     p->of[k]);
    }
    return ERR_OK;
}

/* A window of a pattern, its corner drawn. */
static const uint8_t *window(const struct patterns *p, int k, uint32_t bits)
{
    uint32_t y = (bits & 0xffff) % (2 * (uint32_t)p->move_y + 1);
    uint32_t x = (bits >> 16) % (2 * (uint32_t)p->move_x + 1);

    return p->of[k] + ((size_t)y * (size_t)p->wide + x) * (size_t)p->shape.c;
}

/* n pixels: own and other weighted in 256ths, and noise in -32..31. */
static void mix(uint8_t *out, const uint8_t *own, const uint8_t *other, const uint8_t *noise,
                size_t n, int a, int b)
{
    for (size_t i = 0; i < n; i++) {
        int v = ((own[i] * a + other[i] * b) >> 8) + (noise[i] >> 1) - 64;

        out[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

static uint16_t draw_image(const struct patterns *p, struct rng_key key, uint8_t *noise,
                           uint8_t *out)
{
    const size_t row = (size_t)p->shape.w * (size_t)p->shape.c;
    const size_t stride = (size_t)p->wide * (size_t)p->shape.c;
    const size_t words = (row * (size_t)p->shape.h + 3) / 4;
    uint32_t b[6];
    const uint8_t *own, *other;
    int label, second, strong, weak;

    rng_bits(key, 0, 6, b);
    label = (int)(b[0] % CLASSES);
    second = (label + 1 + (int)(b[1] % (CLASSES - 1))) % CLASSES;
    own = window(p, label, b[2]);
    other = window(p, second, b[3]);
    strong = 160 + (int)(b[4] % 97); /* 5/8 to all of its contrast */
    weak = (int)(b[5] % 113);        /* up to 7/16 of another's */
    for (size_t at = 0; at < words; at += NOISE_WORDS) {
        uint32_t bits[NOISE_WORDS];
        size_t n = words - at < NOISE_WORDS ? words - at : NOISE_WORDS;

        rng_bits(key, 6 + at, n, bits);
        for (size_t i = 0; i < n; i++) {
            noise[4 * (at + i)] = (uint8_t)bits[i];
            noise[4 * (at + i) + 1] = (uint8_t)(bits[i] >> 8);
            noise[4 * (at + i) + 2] = (uint8_t)(bits[i] >> 16);
            noise[4 * (at + i) + 3] = (uint8_t)(bits[i] >> 24);
        }
    }
    for (size_t y = 0; y < (size_t)p->shape.h; y++)
        mix(out + y * row, own + y * stride, other + y * stride, noise + y * row, row, strong,
            weak);
    return (uint16_t)label;
}

static enum err_code draw_part(struct data_raw_part *part, const struct patterns *p,
                               struct rng_key key, struct err *e)
{
    size_t size = (size_t)p->shape.h * (size_t)p->shape.w * (size_t)p->shape.c;
    uint8_t *noise = mem_try(size + 4, 1);

    part->bytes = mem_try(part->count, size);
    part->labels = mem_try(part->count, sizeof *part->labels);
    if (!part->bytes || !part->labels || !noise) {
        free(noise);
        return err_set(e, ERR_NOMEM, "no memory for %zu synthetic images of %zu bytes", part->count,
                       size);
    }
    for (size_t i = 0; i < part->count; i++)
        part->labels[i] = draw_image(p, rng_split(key, i), noise, part->bytes + i * size);
    free(noise);
    return ERR_OK;
}

enum err_code data_synth_load(struct data_raw *raw, uint64_t seed, int64_t train_limit,
                              int64_t test_limit, struct net_shape wanted, bool peek, struct err *e)
{
    struct rng_key key = rng_fold_in(rng_key(seed), KEY_SYNTH);
    struct patterns p;
    enum err_code code;
    size_t bytes;

    raw->shape = wanted.h > 0 ? wanted : (struct net_shape){28, 28, 1};
    raw->classes = CLASSES;
    raw->bytes = true;
    raw->train.all = DATA_SYNTHETIC_IMAGES;
    raw->test.all = TEST_IMAGES;
    TRY(data_limit("train_limit", train_limit, DATA_SYNTHETIC_IMAGES, "training", "synthetic",
                   &raw->train.count, e));
    TRY(data_limit("test_limit", test_limit, TEST_IMAGES, "test", "synthetic", &raw->test.count,
                   e));
    if (__builtin_mul_overflow((size_t)raw->shape.h, (size_t)raw->shape.w, &bytes) ||
        __builtin_mul_overflow(bytes, (size_t)raw->shape.c, &bytes) ||
        __builtin_mul_overflow(bytes, raw->train.count + raw->test.count, &bytes) ||
        bytes > DATA_BYTES_MAX) {
        return err_set(
            e, ERR_INPUT,
            "data = synthetic: %zu images of %dx%dx%d are more than 8 GiB; set train_limit "
            "and test_limit lower",
            raw->train.count + raw->test.count, raw->shape.h, raw->shape.w, raw->shape.c);
    }
    if (peek)
        return ERR_OK;
    TRY(make_patterns(&p, key, raw->shape, e));
    code = draw_part(&raw->train, &p, rng_fold_in(key, KEY_TRAIN), e);
    if (code == ERR_OK)
        code = draw_part(&raw->test, &p, rng_fold_in(key, KEY_TEST), e);
    free_patterns(&p);
    return code;
}
