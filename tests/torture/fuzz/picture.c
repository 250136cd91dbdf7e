/* A picture: its head and the whole agree, and turned over twice it is the same. In a case that begins with "PNG:" the
 * rest are a PNG's chunks whose pixels are not packed yet and whose checksums are missing: both are made here, which no
 * random change could. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "base/text.h"
#include "data/picture.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MOST_SIDE 2000 /* pixels: larger ones are read too, and take a second */

static void add_big32(struct text *out, size_t n)
{
    text_add_n(out, (const uint8_t[]){n >> 24 & 255, n >> 16 & 255, n >> 8 & 255, n & 255}, 4);
}

static void add_chunk(struct text *out, const uint8_t *name, const uint8_t *body, size_t n)
{
    uLong sum = crc32(crc32(0, name, 4), body, (uInt)n);

    add_big32(out, n);
    text_add_n(out, name, 4);
    text_add_n(out, body, n);
    add_big32(out, sum);
}

/* A chunk is its length in two bytes, its name and its bytes. */
static void make_png(struct text *out, const uint8_t *at, size_t n)
{
    static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    text_add_n(out, magic, sizeof magic);
    while (n >= 6) {
        size_t length = (size_t)at[0] << 8 | at[1];
        const uint8_t *name = at + 2, *body = at + 6;

        length = length < n - 6 ? length : n - 6;
        if (!memcmp(name, "IDAT", 4)) {
            uLongf packed = compressBound((uLong)length);
            uint8_t *to = mem_new(packed, 1);

            MUST(compress2(to, &packed, body, (uLong)length, 0) == Z_OK);
            add_chunk(out, name, to, packed);
            free(to);
        } else {
            add_chunk(out, name, body, length);
        }
        at = body + length;
        n -= 6 + length;
    }
}

static void read_picture(const char *path, struct net_shape shape)
{
    struct net_shape head;
    struct err e = {0};
    uint8_t pixels[48], turned[48];
    int64_t size[2] = {0, 0};
    bool known = fuzz_taken(data_picture_shape(path, &head, &e), &e);

    if (known && (head.h > MOST_SIDE || head.w > MOST_SIDE))
        return;
    if (!fuzz_taken(data_read_picture(path, shape, false, pixels, size, &e), &e))
        return;
    MUST(known && size[0] == head.w && size[1] == head.h);
    MUST(data_read_picture(path, shape, true, turned, NULL, &e) == ERR_OK);
    for (int i = 0; i < shape.h * shape.w * shape.c; i++) /* halves are rounded up both times */
        MUST(pixels[i] + turned[i] == 255 || pixels[i] + turned[i] == 256);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct text made = {0};

    fuzz_begin();
    if (n >= 4 && !memcmp(bytes, "PNG:", 4)) {
        make_png(&made, bytes + 4, n - 4);
        fuzz_put("/p/a.png", text_str(&made), made.n);
        text_free(&made);
    } else {
        fuzz_put("/p/a.png", bytes, n);
    }
    read_picture("/p/a.png", (struct net_shape){4, 3, n % 2 ? 3 : 1});
    return 0;
}
