/* cuda/launch/conv_plan.c: tiles are chosen by a rough model of an H200: 132 processors whose products are
 * limited by the tile's reuse of what it loads, or by the time that slabs take to arrive.
 *
 * Of an sm_90 processor, in tf32 and bf16 (bytes of a tile are the same, so are its blocks) of a deep
 * product; one of fewer slabs than stages has less, and more blocks at once, which is not counted in:
 *
 *     tile      threads  registers  shared memory  blocks at once
 *     128x128       256    118-128     72-83 KB          2
 *     128x64        128    117-128     56-63 KB          3
 *     64x64         128     71-96      40-42 KB          5
 *     128x32        128     70-80      48-53 KB          4
 *     32x32         128     70-80      69-84 KB          2
 *
 * What comes through shared memory bounds 128x128 at about 500 multiply-adds a clock in tf32 and 1000
 * in bf16, half of what the tensor cores do. The model expects 140 TFLOP/s in tf32 (280 in bf16) of
 * the large layers of resnet18 and cnn, 60 of layers of 50 channels, 15 to 60 of dense layers, which
 * wait for their slabs. Estimates: none was measured. */
#include "cuda/launch/conv_plan.h"

#include <stdbool.h>

#define FACTS(NAME, ROWS, COLS, SLICES, STAGES, ...)                                               \
    {ROWS,                                                                                         \
     COLS,                                                                                         \
     SLICES,                                                                                       \
     STAGES,                                                                                       \
     {{&k_conv_forward_fp32_##NAME, &k_conv_forward_tf32_##NAME, &k_conv_forward_bf16_##NAME},     \
      {&k_conv_input_fp32_##NAME, &k_conv_input_tf32_##NAME, &k_conv_input_bf16_##NAME},           \
      {&k_conv_weights_fp32_##NAME, &k_conv_weights_tf32_##NAME, &k_conv_weights_bf16_##NAME}}},
const struct conv_tile_facts conv_tiles[CONV_TILE_COUNT] = {CONV_TILES(FACTS, )};

#define PROCESSORS 132
#define ROOM       (227 * 1024) /* shared memory of a processor */
#define REGISTERS  65536
#define CHUNK      128 /* splits are multiples of it: of every tile's slab */
#define MOST_PARTS 256

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t up(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

struct conv_size conv_size_of(const struct cuda_conv *c, enum conv_op op)
{
    size_t taps = (size_t)c->k * (size_t)c->k, s = (size_t)c->stride, in = (size_t)c->c;
    size_t out = (size_t)c->oc, pixels = (size_t)c->n * (size_t)c->oh * (size_t)c->ow;

    if (op == CONV_FORWARD)
        return (struct conv_size){pixels, out, taps * in, 1};
    if (op == CONV_WEIGHTS)
        return (struct conv_size){taps * in, out, pixels, 1};
    return (struct conv_size){(size_t)c->n * up((size_t)c->h, s) * up((size_t)c->w, s), in,
                              up((size_t)c->k, s) * up((size_t)c->k, s) * out,
                              c->stride * c->stride};
}

size_t conv_tile_shared(const struct conv_tile_facts *t, enum conv_op op, enum cuda_math math,
                        size_t depth)
{
    int size = (int)cuda_element(math);
    size_t slabs = up(depth, (size_t)CONV_SLAB(size, t->slices)), stages = (size_t)t->stages;

    return CONV_SHARED(size, op, t->rows, t->cols, t->slices, slabs < stages ? slabs : stages);
}

/* Clocks that a tile needs for all blocks of `models` models. */
static double clocks(const struct conv_tile_facts *t, const struct cuda_conv *c, enum conv_op op,
                     const struct conv_size *s, size_t parts, size_t chunk, size_t models)
{
    static const double peak[CUDA_MATHS] = {120, 560, 1120}; /* fused multiply-adds a clock */
    size_t slab = (size_t)CONV_SLAB((int)cuda_element(c->math), t->slices), slabs = up(chunk, slab);
    size_t tiles = up(s->rows, (size_t)t->rows) * up(s->cols, (size_t)t->cols);
    size_t blocks = tiles * (size_t)s->remainders * parts * models;
    size_t threads = (size_t)t->kernel[op][c->math]->threads;
    size_t resident = ROOM / (conv_tile_shared(t, op, c->math, SIZE_MAX / 2) + 1024);
    size_t by_registers =
        REGISTERS / (threads * (t->rows * t->cols / (int)threads > 32 ? 128 : 80));
    /* What comes through shared memory limits: a product needs 1 / rows + 1 / cols operands. */
    double share = 1 / (1 + 28.0 / t->rows + 12.0 / t->cols);
    double products = (double)up(blocks, PROCESSORS) * t->rows * t->cols * (double)(slabs * slab);
    double arrivals;

    if (resident > by_registers)
        resident = by_registers;
    arrivals = (double)up(blocks, PROCESSORS * most(resident, 1)) * (1500 + 250.0 * (double)slabs);
    products /= peak[c->math] * share;
    return (products > arrivals ? products : arrivals) + (products + arrivals) / 4;
}

/* The sum of the parts, by the last block of each group of a tile, then by the last of all. */
static double sum_clocks(const struct conv_tile_facts *t, const struct conv_size *s, size_t parts)
{
    size_t rows = s->rows < (size_t)t->rows ? s->rows : (size_t)t->rows;
    size_t cols = s->cols < (size_t)t->cols ? s->cols : (size_t)t->cols;
    size_t fan = 1;

    if (parts == 1)
        return 0;
    while (fan * fan < parts)
        fan++;
    return 3000 + (double)(fan + up(parts, fan)) * (double)(rows * cols) * 4 / 48;
}

struct conv_plan conv_plan_by(const struct cuda_conv *c, enum conv_op op, int tile, double *cost)
{
    const struct conv_tile_facts *t = &conv_tiles[tile];
    struct conv_size s = conv_size_of(c, op);
    struct conv_plan plan = {0};

    for (size_t parts = 1; parts <= MOST_PARTS; parts += parts < 16 ? 1 : parts / 8) {
        size_t chunk = parts == 1 ? s.depth : up(up(s.depth, parts), CHUNK) * CHUNK;
        double now;

        if (parts > 1 && (op != CONV_WEIGHTS || up(s.depth, chunk) != parts))
            continue;
        now = clocks(t, c, op, &s, parts, chunk, 1) + sum_clocks(t, &s, parts);
        if (plan.tile && now >= *cost)
            continue;
        *cost = now;
        plan = (struct conv_plan){t, parts, chunk};
    }
    return plan;
}

struct conv_plan conv_plan_of(const struct cuda_conv *c, enum conv_op op)
{
    return conv_plan_from(c, op, 0);
}

struct conv_plan conv_plan_from(const struct cuda_conv *c, enum conv_op op, int first)
{
    struct conv_size s = conv_size_of(c, op);
    struct conv_plan plan = {0};
    double best = 0;

    for (int i = first; i < CONV_TILE_COUNT; i++) {
        double now;
        struct conv_plan by = conv_plan_by(c, op, i, &now);

        if (plan.tile && now >= best)
            continue;
        best = now;
        plan = by;
    }
    if (plan.tile->slices > 1 || c->models == 1)
        return plan;
    /* Tiles without slices add up in the same order, so that the number of models may choose. */
    best = 0;
    for (int i = first; i < CONV_TILE_COUNT; i++) {
        double now = clocks(&conv_tiles[i], c, op, &s, plan.parts, plan.chunk, (size_t)c->models);

        if (conv_tiles[i].slices > 1 || (best > 0 && now >= best))
            continue;
        best = now;
        plan.tile = &conv_tiles[i];
    }
    return plan;
}
