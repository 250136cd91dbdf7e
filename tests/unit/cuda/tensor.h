/* tests/unit/cuda/tensor.h: tensors of several models on the twin's GPU, as doubles on this side: in
 * what math stores, with room between the models, aligned or not. */
#ifndef CHORUS_TESTS_UNIT_CUDA_TENSOR_H
#define CHORUS_TESTS_UNIT_CUDA_TENSOR_H

#include "cuda/launch/launch.h"
#include "tests/twin/twin.h"

#include "tests/test.h"

#include <stdint.h>

#define TENSOR_GAP (-77.0) /* stands between the models and must stay there */

struct tensor {
    bool half;
    size_t models, n, stride, skip; /* skip: elements in front, which make it unaligned */
    void *base;
    struct cuda_view view;
};

static struct cuda_stream *tensor_stream;

/* A new GPU for each case: orders that CUDA leaves open are drawn from seed. */
static inline void tensor_begin(uint64_t seed)
{
    twin_reset(1);
    twin_seed(seed);
    if (cuda_rt()->use(0) || cuda_rt()->stream_open(&tensor_stream))
        TEST_FAILED("no twin: %s", twin_report());
}

static inline void *device_bytes(const void *from, size_t bytes)
{
    const struct cuda_rt *rt = cuda_rt();
    void *p = NULL;

    if (rt->take(&p, bytes ? bytes : 1) || (from && rt->copy(p, from, bytes, tensor_stream)) ||
        rt->stream_wait(tensor_stream))
        TEST_FAILED("%zu bytes of the device: %s", bytes, twin_report());
    return p;
}

static inline void device_read(void *to, const void *from, size_t bytes)
{
    if (cuda_rt()->copy(to, from, bytes, tensor_stream) || cuda_rt()->stream_wait(tensor_stream))
        TEST_FAILED("reading %zu bytes: %s", bytes, twin_report());
}

static inline void *device_zeros(size_t bytes)
{
    void *p = device_bytes(NULL, bytes);

    if (cuda_rt()->set(p, 0, bytes ? bytes : 1, tensor_stream))
        TEST_FAILED("clearing %zu bytes: %s", bytes, twin_report());
    return p;
}

static inline uint16_t bf16_of(float x) /* to nearest, halves to even */
{
    uint32_t u;

    memcpy(&u, &x, 4);
    return x != x ? 0x7fff : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline float float_of(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float x;

    memcpy(&x, &u, 4);
    return x;
}

/* As math stores it. */
static inline double stored(double x, bool half)
{
    return half ? (double)float_of(bf16_of((float)x)) : (double)(float)x;
}

/* values: (models, n), or NULL: filled with TENSOR_GAP. */
static inline struct tensor tensor_new(bool half, size_t models, size_t n, size_t skip,
                                       const double *values)
{
    struct tensor t = {half, models, n, n + (skip ? 3 : (8 - n % 8) % 8 + 8), skip, NULL, {0}};
    size_t count = skip + models * t.stride, element = half ? 2 : 4;
    char *bytes = malloc(count * element);

    for (size_t i = 0; i < count; i++) {
        size_t m = i < skip ? models : (i - skip) / t.stride,
               at = i < skip ? 0 : (i - skip) % t.stride;
        float v = (float)(m < models && at < n && values ? values[m * n + at] : TENSOR_GAP);
        uint16_t h = bf16_of(v);

        memcpy(bytes + i * element, half ? (void *)&h : (void *)&v, element);
    }
    t.base = device_bytes(bytes, count * element);
    t.view = (struct cuda_view){(char *)t.base + skip * element, t.stride};
    free(bytes);
    return t;
}

/* (models, n); what stands between must be untouched. */
static inline void tensor_read(const struct tensor *t, double *out)
{
    size_t count = t->skip + t->models * t->stride, element = t->half ? 2 : 4;
    char *bytes = malloc(count * element);

    device_read(bytes, t->base, count * element);
    for (size_t i = 0; i < count; i++) {
        size_t m = i < t->skip ? t->models : (i - t->skip) / t->stride;
        size_t at = i < t->skip ? 0 : (i - t->skip) % t->stride;
        uint16_t h;
        float v;

        memcpy(t->half ? (void *)&h : (void *)&v, bytes + i * element, element);
        v = t->half ? float_of(h) : v;
        if (m < t->models && at < t->n)
            out[m * t->n + at] = (double)v;
        else if (v != (float)stored(TENSOR_GAP, t->half))
            TEST_FAILED("what stands between models was overwritten at %zu: %g", i, (double)v);
    }
    free(bytes);
}

static inline void tensor_free(struct tensor *t)
{
    cuda_rt()->give(t->base);
    *t = (struct tensor){0};
}

/* Runs the list and empties it. */
static inline void run_list(struct cuda_list *l)
{
    struct err e = {0};

    if (cuda_list_run(l, 0, tensor_stream, &e) || cuda_rt()->stream_wait(tensor_stream))
        TEST_FAILED("%s%s", e.text, twin_report());
    cuda_list_free(l);
}

/* Small multiples of 1/8, whose sums and products are exact. */
static inline double eighths(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((int)(*seed >> 24) % 33 - 16) / 8.0;
}

static inline double *eighths_new(size_t n, uint32_t seed)
{
    double *v = malloc((n ? n : 1) * sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = eighths(&seed);
    return v;
}

/* Whether a and b are the same numbers, or both none. */
static inline bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

#endif
