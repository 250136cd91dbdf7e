/* Image files of all kinds, written by hand, against the pixels they must give. */
#include "base/io.h"
#include "base/mem.h"
#include "data/picture.h"
#include "tests/test.h"

#include <unistd.h>
#include <zlib.h>

static char path[64];

static void write_file(const void *bytes, size_t n)
{
    struct err e;

    snprintf(path, sizeof path, "/tmp/chorus-picture-%ld", (long)getpid());
    if (io_replace_file(path, bytes, n, &e) != ERR_OK)
        abort();
}

static bool reads_as(struct net_shape s, bool invert, const uint8_t *want)
{
    uint8_t got[100];
    struct net_shape head;
    int64_t size[2];
    struct err e;

    if (data_read_picture(path, s, invert, got, size, &e) != ERR_OK ||
        data_picture_shape(path, &head, &e) != ERR_OK) {
        printf("  %s\n", e.text);
        return false;
    }
    if (head.w != size[0] || head.h != size[1]) {
        printf("  its head says %d x %d\n", head.w, head.h);
        return false;
    }
    for (int i = 0; i < s.h * s.w * s.c; i++)
        if (got[i] != want[i]) {
            printf("  value %d is %d, not %d\n", i, got[i], want[i]);
            return false;
        }
    return true;
}

static void refused(const void *bytes, size_t n, const char *part)
{
    uint8_t got[64];
    struct err e;

    write_file(bytes, n);
    CHECK(data_read_picture(path, (struct net_shape){.h = 2, .w = 2, .c = 1}, false, got, NULL,
                            &e) == ERR_INPUT);
    CHECK_HAS(e.text, part);
    unlink(path);
}

static const struct net_shape two = {.h = 2, .w = 2, .c = 1}, one = {.h = 1, .w = 1, .c = 1};

TEST(pgm_plain_binary_and_deep)
{
    static const uint8_t want[] = {0, 255, 127, 51};

    write_file("P2\n# a comment\n2 2\n255\n0 255\n127 51\n", 36);
    CHECK(reads_as(two, false, want));
    write_file("P5 2 2 255\n\x00\xff\x7f\x33", 15);
    CHECK(reads_as(two, false, want));
    CHECK(reads_as(two, true, (const uint8_t[]){255, 0, 128, 204}));
    write_file("P5 2 2 65535\n\x00\x00\xff\xff\x7f\xff\x33\x33", 21);
    CHECK(reads_as(two, false, want));
    unlink(path);
}

TEST(scaled_by_the_area_that_is_covered)
{
    write_file("P2 4 2 255 0 100 200 200 100 0 200 200", 38);
    CHECK(reads_as(two, false, (const uint8_t[]){50, 200, 50, 200}));
    CHECK(reads_as(one, false, (const uint8_t[]){125}));
    /* a third of the middle pixel on each side: (0 + 150 / 2) / 1.5 */
    write_file("P2 3 1 255 0 150 255", 20);
    CHECK(reads_as((struct net_shape){.h = 1, .w = 2, .c = 1}, false, (const uint8_t[]){50, 220}));
    unlink(path);
}

TEST(colours_to_grey_and_grey_to_colours)
{
    write_file("P6 1 1 255\n\xff\x00\x00", 14);
    CHECK(reads_as(one, false, (const uint8_t[]){76}));
    CHECK(
        reads_as((struct net_shape){.h = 1, .w = 1, .c = 3}, false, (const uint8_t[]){255, 0, 0}));
    write_file("P2 1 1 255 9", 12);
    CHECK(reads_as((struct net_shape){.h = 1, .w = 1, .c = 3}, false, (const uint8_t[]){9, 9, 9}));
    unlink(path);
}

/* ---- PNG ---- */

static void add32(struct text *t, uint32_t v)
{
    const uint8_t b[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

    text_add_n(t, b, 4);
}

static void add_chunk(struct text *t, const char *name, const void *body, size_t n)
{
    size_t from;

    add32(t, (uint32_t)n);
    from = t->n;
    text_add_n(t, name, 4);
    text_add_n(t, body, n);
    add32(t, (uint32_t)crc32(0, (const uint8_t *)t->s + from, (uInt)(t->n - from)));
}

static int interlace; /* of the next PNG */

static struct text png(uint32_t w, uint32_t h, int depth, int type, const char *palette,
                       size_t palette_bytes, const char *alpha, size_t alpha_bytes,
                       const void *lines, size_t n)
{
    struct text t = {0}, head = {0};
    uint8_t packed[256];
    uLongf packed_bytes = sizeof packed;
    const uint8_t rest[5] = {(uint8_t)depth, (uint8_t)type, 0, 0, (uint8_t)interlace};

    text_add_n(&t, "\x89PNG\r\n\x1a\n", 8);
    add32(&head, w);
    add32(&head, h);
    text_add_n(&head, rest, 5);
    add_chunk(&t, "IHDR", head.s, head.n);
    if (palette)
        add_chunk(&t, "PLTE", palette, palette_bytes);
    if (alpha)
        add_chunk(&t, "tRNS", alpha, alpha_bytes);
    compress(packed, &packed_bytes, lines, n);
    add_chunk(&t, "IDAT", packed, packed_bytes / 2); /* in two pieces, as writers do */
    add_chunk(&t, "IDAT", packed + packed_bytes / 2, packed_bytes - packed_bytes / 2);
    add_chunk(&t, "IEND", "", 0);
    text_free(&head);
    return t;
}

static bool png_reads(struct text t, struct net_shape s, const uint8_t *want)
{
    write_file(t.s, t.n);
    text_free(&t);
    return reads_as(s, false, want);
}

TEST(png_of_every_filter)
{
    /* 2 x 5 greys: 10 20 / 13 25 / 12 22 / 14 30 / 20 40, each line told by another filter */
    static const char lines[] = {0, 10, 20, 1, 13, 12, 2, (char)-1, (char)-3, 3, 8, 12, 4, 6, 10};
    const struct net_shape s = {.h = 5, .w = 2, .c = 1};

    CHECK(png_reads(png(2, 5, 8, 0, NULL, 0, NULL, 0, lines, sizeof lines), s,
                    (const uint8_t[]){10, 20, 13, 25, 12, 22, 14, 30, 20, 40}));
    unlink(path);
}

TEST(png_of_every_kind)
{
    const struct net_shape row = {.h = 1, .w = 2, .c = 1}, rgb = {.h = 1, .w = 1, .c = 3};

    CHECK(
        png_reads(png(2, 1, 1, 0, NULL, 0, NULL, 0, "\0\x40", 2), row, (const uint8_t[]){0, 255}));
    CHECK(
        png_reads(png(2, 1, 4, 0, NULL, 0, NULL, 0, "\0\x3f", 2), row, (const uint8_t[]){51, 255}));
    CHECK(png_reads(png(2, 1, 16, 0, NULL, 0, NULL, 0, "\0\x80\x01\x10\x02", 5), row,
                    (const uint8_t[]){128, 16}));
    CHECK(png_reads(png(1, 1, 8, 2, NULL, 0, NULL, 0, "\0\x01\x02\x03", 4), rgb,
                    (const uint8_t[]){1, 2, 3}));
    /* alpha 0 is white, alpha 51 of 255 a fifth of the colour */
    CHECK(png_reads(png(2, 1, 8, 4, NULL, 0, NULL, 0, "\0\x00\x00\x05\x33", 5), row,
                    (const uint8_t[]){255, 205}));
    CHECK(png_reads(png(1, 1, 8, 6, NULL, 0, NULL, 0, "\0\x0a\x14\x1e\xff", 5), rgb,
                    (const uint8_t[]){10, 20, 30}));
    CHECK(png_reads(png(2, 1, 2, 3, "\xff\xff\xff\x09\x09\x09", 6, NULL, 0, "\0\x10", 2), row,
                    (const uint8_t[]){255, 9}));
    CHECK(png_reads(png(2, 1, 8, 3, "\x00\x00\x00\x09\x09\x09", 6, "\x00", 1, "\0\0\1", 3), row,
                    (const uint8_t[]){255, 9}));
    unlink(path);
}

/* Which pass a pixel of Adam7 comes in, by its place in a square of 8 x 8, as the standard has it. */
static const char passes[8][9] = {"16462646", "77777777", "56565656", "77777777",
                                  "36463646", "77777777", "56565656", "77777777"};

/* The lines of w x h pixels of depth bits, of which (y, x) is y * w + x, in passes. */
static size_t interlaced_lines(uint8_t *lines, int w, int h, int depth)
{
    size_t n = 0;

    for (char pass = '1'; pass <= '7'; pass++) {
        for (int y = 0; y < h; y++) {
            size_t begin = n, bits = 0;

            for (int x = 0; x < w; x++) {
                if (passes[y % 8][x % 8] != pass)
                    continue;
                if (n == begin)
                    lines[n++] = 0; /* its filter */
                if (bits % 8 == 0)
                    lines[n++] = 0;
                bits += (size_t)depth;
                lines[n - 1] |= (uint8_t)((y * w + x) << (7 - (bits - 1) % 8));
            }
        }
    }
    return n;
}

TEST(interlaced_png_of_every_size)
{
    uint8_t lines[256], want[100];
    char colours[48];

    interlace = 1;
    for (uint8_t i = 0; i < 100; i++)
        want[i] = i;
    memset(colours, 0, sizeof colours);
    for (int i = 0; i < 48; i++)
        colours[i] = (char)(i / 3);
    for (int h = 1; h <= 10; h++) {
        for (int w = 1; w <= 10; w++) { /* of the small ones some passes are empty */
            const struct net_shape s = {.h = h, .w = w, .c = 1};
            size_t n = interlaced_lines(lines, w, h, 8);

            CHECK(png_reads(png((uint32_t)w, (uint32_t)h, 8, 0, NULL, 0, NULL, 0, lines, n), s,
                            want));
            if (w * h > 16)
                continue;
            n = interlaced_lines(lines, w, h, 4);
            CHECK(png_reads(
                png((uint32_t)w, (uint32_t)h, 4, 3, colours, sizeof colours, NULL, 0, lines, n), s,
                want));
        }
    }
    interlace = 0;
    unlink(path);
}

TEST(filters_begin_anew_in_each_pass)
{
    /* 2 x 2: 10 in the first pass, 20 in the sixth, 30 40 in the seventh; above the first line of
     * each is nothing */
    static const char lines[] = {2, 10, 4, 20, 3, 30, 25};
    const struct net_shape s = {.h = 2, .w = 2, .c = 1};

    interlace = 1;
    CHECK(png_reads(png(2, 2, 8, 0, NULL, 0, NULL, 0, lines, sizeof lines), s,
                    (const uint8_t[]){10, 20, 30, 40}));
    interlace = 0;
    unlink(path);
}

TEST(what_is_no_picture_is_refused)
{
    struct text t = png(2, 1, 8, 0, NULL, 0, NULL, 0, "\0\1\2", 3);

    refused("", 0, "neither PNG nor PGM nor PPM");
    refused("GIF89a......", 12, "neither PNG nor PGM nor PPM");
    refused("P5 2 2 255\n\x00\xff", 13, "ends after 2 of 4 bytes");
    refused("P2 2 2 255 1 2 3", 16, "ends after 3 of 4 values");
    refused("P2 2 2 255 1 2 300 4", 20, "value 3 is 300, above the maximum of 255");
    refused("P5 2 2 51\n\x00\x33\x34\x00", 14, "value 3 is 52, above the maximum of 51");
    refused("P2 2 2 255 1 -2 x 4", 19, "value 2: -2 is no value from 0 to 255");
    refused("P5 99999999999 28 255\n", 22, "99999999999 x 28 pixels");
    refused("P5 99999999999999999999 28 255\n", 31, " x 28 pixels");
    refused("P5 0 2 255\n", 11, "its head is not");
    refused("P5 99999999 99999999 255\n", 25, "pixels");
    for (size_t cut = 9; cut < t.n - 12; cut += 7) /* anywhere in the middle */
        refused(t.s, cut, ": ");
    t.s[20] ^= 1;
    refused(t.s, t.n, "damaged at byte 8");
    text_free(&t);
    t = png(2, 1, 8, 3, "\x00\x00\x00", 3, NULL, 0, "\0\0\1", 3);
    refused(t.s, t.n, "colour 1 of a palette of 1");
    text_free(&t);
    t = png(2, 1, 8, 0, NULL, 0, NULL, 0, "\5\1\2", 3);
    refused(t.s, t.n, "unknown filter 5");
    text_free(&t);
    t = png(2, 1, 3, 0, NULL, 0, NULL, 0, "\0\1", 2);
    refused(t.s, t.n, "does not exist");
    text_free(&t);
    t = png(2, 2, 8, 0, NULL, 0, NULL, 0, "\0\1\2", 3);
    refused(t.s, t.n, "end or are damaged after 3 of 6 bytes");
    text_free(&t);
    interlace = 1; /* a line whole, where its pixels come in two passes */
    t = png(2, 1, 8, 0, NULL, 0, NULL, 0, "\0\1\2", 3);
    refused(t.s, t.n, "end or are damaged after 3 of 4 bytes");
    text_free(&t);
    interlace = 0; /* two lines, where there is one */
    t = png(2, 1, 8, 0, NULL, 0, NULL, 0, "\0\1\2\0\1\2", 6);
    refused(t.s, t.n, "more than the 3 bytes of 2 x 1");
    text_free(&t);
    interlace = 2;
    t = png(2, 1, 8, 0, NULL, 0, NULL, 0, "\0\1\2", 3);
    refused(t.s, t.n, "interlaced in way 2 does not exist");
    text_free(&t);
    interlace = 0;
}
