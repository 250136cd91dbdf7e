/* cuda/kernels/gather_image.h: for kernels: an image of the resident data set into a batch: fetched, augmented,
 * normalised and cast. The arithmetic is data/image.c's. */
#ifndef CHORUS_CUDA_KERNELS_GATHER_IMAGE_H
#define CHORUS_CUDA_KERNELS_GATHER_IMAGE_H

#include "cuda/kernels/gather_args.h"
#include "cuda/kernels/wide.h"

struct gather_look { /* how an image is looked at */
    int augmented, dy, dx, flip, top, left, side;
};

/* Element e of the image as it is handed out comes from this one of the data set's; -1: it is 0. */
DEV int gather_source(const gather_args &a, const gather_look &v, int e)
{
    const int h = a.from.h, w = a.from.w, c = a.from.c;

    if (!v.augmented)
        return e;

    int pixel = (int)grid_divide((uint32_t)e, &a.by_c);
    int y = (int)grid_divide((uint32_t)pixel, &a.by_w), x = pixel - y * w;
    int sy = y + v.dy, sx = (v.flip ? w - 1 - x : x) + v.dx;

    if (sy < 0 || sy >= h || sx < 0 || sx >= w)
        return -1;
    if (y >= v.top && y < v.top + v.side && x >= v.left && x < v.left + v.side)
        return -1;
    return (sy * w + sx) * c + (e - pixel * c);
}

DEV float gather_value(const gather_args &a, size_t base, const gather_look &v, int e)
{
    int at = gather_source(a, v, e),
        channel = e - (int)grid_divide((uint32_t)e, &a.by_c) * a.from.c;

    if (at < 0)
        return 0;
    return a.from.values ? a.from.values[base + at]
                         : a.from.lut[channel * 256 + a.from.bytes[base + at]];
}

/* Four elements of an image that is not augmented. */
DEV void gather_values4(const gather_args &a, size_t base, int e, float (&out)[4])
{
    if (a.from.values) {
        wide_load(out, a.from.values + base + e);
        return;
    }

    uint32_t word = *(const uint32_t *)(a.from.bytes + base + e);
    int c = a.from.c, channel = e - (int)grid_divide((uint32_t)e, &a.by_c) * c;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[i] = a.from.lut[channel * 256 + (word >> 8 * i & 255)];
        channel = channel + 1 == c ? 0 : channel + 1;
    }
}

template <typename T>
DEV void gather_pixels(const gather_args &a, size_t i, const gather_look &v, T *to)
{
    const int size = (int)a.size, width = a.wide ? 4 : 1;
    size_t base = i * a.size;
    float out[4];

    for (int e = (int)threadIdx.x * width; e < size; e += (int)blockDim.x * width) {
        if (!a.wide) {
            to[e] = dev_to<T>(gather_value(a, base, v, e));
            continue;
        }
        if (v.augmented) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                out[j] = gather_value(a, base, v, e + j);
        } else {
            gather_values4(a, base, e, out);
        }
        wide_store(to + e, out);
    }
}

/* Image `number` of the batch, by all threads of a block; nothing where the epoch has no such batch. */
template <typename T> DEV void gather_image(const gather_args &a, uint32_t number)
{
    SHARED(uint32_t, bits);
    size_t m = blockIdx.z, batch = a.clock->batch + (size_t)a.ahead;
    size_t place = a.batch * batch + a.first + number, turn = batch & 1;
    gather_look v = {a.flip || a.crop || a.erase, 0, 0, 0, 0, 0, 0};

    if (a.clock->halted || a.batch * (batch + 1) > a.from.count)
        return;

    size_t i = a.order[m * a.order_stride + place];

    if (threadIdx.x == 0)
        a.label[turn * a.label_turn + m * a.label_stride + number] = a.from.labels[i];
    if (v.augmented) {
        if (threadIdx.x < 6) {
            uint32_t epoch[2], key[2];

            dev_fold_in(a.clock->key, 1, epoch);
            dev_fold_in(epoch, (uint32_t)place, key);
            bits[threadIdx.x] = dev_bits_at(key, threadIdx.x);
        }
        dev_sync();
        if (a.crop) {
            uint32_t span = 2 * (uint32_t)a.crop + 1;

            v.dy = (int)(bits[1] % span) - a.crop;
            v.dx = (int)(bits[2] % span) - a.crop;
        }
        v.flip = a.flip && bits[0] >> 31;
        if (a.erase && bits[3] >> 31) {
            v.side = a.from.h / 4;
            v.top = (int)(bits[4] % (uint32_t)(a.from.h - a.from.h / 4 + 1));
            v.left = (int)(bits[5] % (uint32_t)(a.from.w - a.from.w / 4 + 1));
        }
    }
    gather_pixels(a, i, v, (T *)a.x + turn * a.x_turn + m * a.x_stride + number * a.size);
}

#endif
