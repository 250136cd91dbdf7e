/* One image as floats, plain or through the augmentation of docs/keys.md. */
#include "data/data.h"

#include <string.h>

void data_image(const struct data_set *set, const struct data_part *part, size_t i, float *out)
{
    const size_t channels = (size_t)set->shape.c;
    const size_t pixels = (size_t)set->shape.h * (size_t)set->shape.w;
    const float *lut = set->lut;
    const uint8_t *from;

    if (part->values) {
        memcpy(out, part->values + i * pixels * channels, pixels * channels * sizeof *out);
        return;
    }
    from = part->bytes + i * pixels * channels;
    if (channels == 1) {
        for (size_t p = 0; p < pixels; p++)
            out[p] = lut[from[p]];
        return;
    }
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            *out++ = lut[c * 256 + *from++];
}

static float value_at(const struct data_set *set, const struct data_part *part, size_t at, size_t c)
{
    return part->values ? part->values[at] : set->lut[c * 256 + part->bytes[at]];
}

void data_image_augmented(const struct data_set *set, const struct data_part *part, size_t i,
                          unsigned augment, int crop_pad, struct rng_key order_key, uint64_t place,
                          float *out)
{
    const long h = set->shape.h, w = set->shape.w, channels = set->shape.c;
    const size_t base = i * (size_t)h * (size_t)w * (size_t)channels;
    long dy = 0, dx = 0, side = 0, top = 0, left = 0;
    bool flip = false;
    uint32_t b[6];

    if (!augment) {
        data_image(set, part, i, out);
        return;
    }
    rng_bits(rng_fold_in(rng_fold_in(order_key, 1), (uint32_t)place), 0, 6, b);
    if ((augment & SPEC_CROP) && crop_pad > 0) {
        uint32_t span = 2 * (uint32_t)crop_pad + 1;

        dy = (long)(b[1] % span) - crop_pad;
        dx = (long)(b[2] % span) - crop_pad;
    }
    if (augment & SPEC_FLIP)
        flip = b[0] >> 31;
    if ((augment & SPEC_ERASE) && b[3] >> 31) {
        side = h / 4;
        top = (long)(b[4] % (uint32_t)(h - h / 4 + 1));
        left = (long)(b[5] % (uint32_t)(w - w / 4 + 1));
    }
    for (long y = 0; y < h; y++) {
        for (long x = 0; x < w; x++) {
            long sy = y + dy, sx = (flip ? w - 1 - x : x) + dx;
            bool gone = sy < 0 || sy >= h || sx < 0 || sx >= w ||
                        (y >= top && y < top + side && x >= left && x < left + side);

            for (long c = 0; c < channels; c++) {
                size_t at = base + (size_t)((sy * w + sx) * channels + c);

                *out++ = gone ? 0.0f : value_at(set, part, at, (size_t)c);
            }
        }
    }
}
