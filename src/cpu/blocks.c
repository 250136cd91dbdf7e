/* cpu/blocks.c: parts of pictures in lanes (blocks.h). Of one image in 8 lanes a convolution computes
 * 7 lanes of nothing; of 8 blocks of that image it computes what is wanted, and what lies around the
 * blocks a second time.
 *
 * Going forward the blocks' inputs are gathered ([group][cin][y][x][lane], zero outside the picture and
 * in lanes without a block), outputs are put back where they belong. Going backward inputs are gathered
 * again, with them the gradients to the outputs; the gradients to the inputs, which overlap around the
 * blocks, are added up in a fixed order. The bits of pass stay as the blocks' kernels write them. A
 * pixel's images lie side by side in both layouts, so that what is copied is a run of floats a pixel:
 * for a single image one float, to another place in every line of the cache, which all fit its first
 * level. */
#include "cpu/blocks.h"

#include "cpu/cpu_int.h"

#include <math.h>
#include <string.h>

#define BLOCKS_MOST 16  /* of a picture, for each thread */
#define BLOCKS_TILE 4   /* outputs of Winograd's larger tiles */
#define BLOCKS_COPY 1.3 /* cycles of a float that is gathered or put back */

/* Five waits, and weights that each thread packs, multiplies and sums by itself. */
double cpu_blocks_meet = 1.2e5;

/* A layer's input or output, as blocks see it. */
struct grid {
    int channels;
    int h, w; /* of a picture */
    int block_h, block_w;
    int step_h, step_w; /* from a block to the next */
    int top, left;      /* outside the picture, of the first */
};

static struct grid grid_in(const struct cpu_conv_layer *c)
{
    const struct cpu_conv_layer *p = &c->blocks->part;

    return (struct grid){.channels = c->cin,
                         .h = c->in_h,
                         .w = c->in_w,
                         .block_h = p->in_h,
                         .block_w = p->in_w,
                         .step_h = p->conv_h * c->stride,
                         .step_w = p->conv_w * c->stride,
                         .top = c->pad_top,
                         .left = c->pad_left};
}

static struct grid grid_out(const struct cpu_conv_layer *c)
{
    int h = cpu_conv_out_h(&c->blocks->part), w = cpu_conv_out_w(&c->blocks->part);

    return (struct grid){.channels = c->cout,
                         .h = cpu_conv_out_h(c),
                         .w = cpu_conv_out_w(c),
                         .block_h = h,
                         .block_w = w,
                         .step_h = h,
                         .step_w = w};
}

static size_t floats_of(const struct grid *g, const struct cpu_blocks *b)
{
    return (size_t)(b->groups * b->lanes) * (size_t)g->channels * (size_t)g->block_h *
           (size_t)g->block_w;
}

/* Some images of a block: where its pixels inside the picture begin in both layouts. */
struct run {
    int rows, pixels, images;
    ptrdiff_t picture, block;         /* floats from the channel's first */
    ptrdiff_t picture_row, block_row; /* floats of a row, ... */
    ptrdiff_t apart, lanes;           /* ... of a pixel */
};

/* Those of a group's lanes; returns how many. */
static int runs_of(const struct cpu_blocks *b, const struct grid *g, int group,
                   struct run run[CPU_LANES])
{
    int n = 0;

    for (int lane = 0; lane < b->lanes; lane += run[n++].images) {
        int at = group * b->lanes + lane, block = at / b->images, image = at % b->images;
        int y = block / b->across * g->step_h - g->top, x = block % b->across * g->step_w - g->left;
        int top = y < 0 ? -y : 0, left = x < 0 ? -x : 0;
        int rows = (y + g->block_h < g->h ? g->block_h : g->h - y) - top;
        int pixels = (x + g->block_w < g->w ? g->block_w : g->w - x) - left;
        int images = b->images - image;
        if (block >= b->down * b->across)
            break;
        run[n] = (struct run){
            .rows = pixels > 0 ? rows : 0,
            .pixels = pixels,
            .images = images < b->lanes - lane ? images : b->lanes - lane,
            .picture = ((ptrdiff_t)(y + top) * g->w + x + left) * b->apart + image,
            .block = ((ptrdiff_t)top * g->block_w + left) * b->lanes + lane,
            .picture_row = (ptrdiff_t)g->w * b->apart,
            .block_row = (ptrdiff_t)g->block_w * b->lanes,
            .apart = b->apart,
            .lanes = b->lanes,
        };
    }
    return n;
}

static inline __attribute__((always_inline)) void copy_pixels(const struct run *r, int images,
                                                              const float *picture, float *block)
{
    for (int y = 0; y < r->rows; y++) {
        const float *from = picture + r->picture + y * r->picture_row;
        float *to = block + r->block + y * r->block_row;
        for (int x = 0; x < r->pixels; x++, from += r->apart, to += r->lanes)
            memcpy(to, from, (size_t)images * sizeof *to);
    }
}

static inline __attribute__((always_inline)) void add_pixels(const struct run *r, int images,
                                                             const float *block, float *picture)
{
    for (int y = 0; y < r->rows; y++) {
        const float *from = block + r->block + y * r->block_row;
        float *to = picture + r->picture + y * r->picture_row;
        for (int x = 0; x < r->pixels; x++, from += r->lanes, to += r->apart) {
            for (int i = 0; i < images; i++)
                to[i] += from[i];
        }
    }
}

#define BY_IMAGES(what, r, from, to)                                                               \
    switch ((r)->images) {                                                                         \
    case 1:                                                                                        \
        return what(r, 1, from, to);                                                               \
    case 2:                                                                                        \
        return what(r, 2, from, to);                                                               \
    case 3:                                                                                        \
        return what(r, 3, from, to);                                                               \
    case 4:                                                                                        \
        return what(r, 4, from, to);                                                               \
    case 5:                                                                                        \
        return what(r, 5, from, to);                                                               \
    case 6:                                                                                        \
        return what(r, 6, from, to);                                                               \
    case 7:                                                                                        \
        return what(r, 7, from, to);                                                               \
    default:                                                                                       \
        return what(r, (r)->images, from, to);                                                     \
    }

static void copy_run(const struct run *r, const float *picture, float *block)
{
    BY_IMAGES(copy_pixels, r, picture, block)
}

static void add_run(const struct run *r, const float *block, float *picture)
{
    BY_IMAGES(add_pixels, r, block, picture)
}

static size_t plane_of(const struct cpu_blocks *b, const struct grid *g)
{
    return (size_t)(g->h * g->w * b->apart);
}

static size_t block_plane_of(const struct cpu_blocks *b, const struct grid *g)
{
    return (size_t)(g->block_h * g->block_w * b->lanes);
}

/* Groups from..to. */
static void gather(const struct cpu_blocks *b, const struct grid *g, int from, int to,
                   const float *picture, float *block)
{
    size_t plane = plane_of(b, g), block_plane = block_plane_of(b, g);

    for (int group = from; group < to; group++) {
        struct run run[CPU_LANES];
        int runs = runs_of(b, g, group, run);
        for (int i = 0; i < g->channels; i++, block += block_plane) {
            memset(block, 0, block_plane * sizeof *block);
            for (int r = 0; r < runs; r++)
                copy_run(&run[r], picture + (size_t)i * plane, block);
        }
    }
}

/* Groups from..to, channels first..last. Where blocks overlap, their numbers are added. */
static void put_back(const struct cpu_blocks *b, const struct grid *g, int from, int to,
                     const float *block, int first, int last, float *picture)
{
    size_t plane = plane_of(b, g), block_plane = block_plane_of(b, g);

    for (int group = from; group < to; group++, block += (size_t)g->channels * block_plane) {
        struct run run[CPU_LANES];
        int runs = runs_of(b, g, group, run);
        for (int i = first; i < last; i++) {
            for (int r = 0; r < runs; r++)
                add_run(&run[r], block + (size_t)i * block_plane, picture + (size_t)i * plane);
        }
    }
}

/* What lies in scratch: inputs, outputs or the gradients to them, gradients to the inputs, and what
 * the blocks' kernels want. */
struct room {
    size_t out, dx, rest;
};

static struct room room_of(const struct cpu_conv_layer *c, bool dx)
{
    struct grid in = grid_in(c), out = grid_out(c);
    struct room r = {.out = cpu_round_up(floats_of(&in, c->blocks))};

    r.dx = r.out + cpu_round_up(floats_of(&out, c->blocks));
    r.rest = r.dx + (dx ? r.out : 0);
    return r;
}

static size_t blocks_scratch(const struct cpu_conv_layer *c, int groups, bool dx)
{
    (void)groups;
    return room_of(c, dx).rest + c->blocks->ops->scratch(&c->blocks->part, c->blocks->groups, dx);
}

static size_t blocks_packed(const struct cpu_conv_layer *c, bool dx)
{
    return c->blocks->ops->packed(&c->blocks->part, dx);
}

static void blocks_pack(const struct cpu_conv_layer *c, bool dx, const float *w, float *packed,
                        int part, int parts)
{
    c->blocks->ops->pack(&c->blocks->part, dx, w, packed, part, parts);
}

static size_t bits_of_group(const struct cpu_blocks *b)
{
    return (size_t)b->part.cout * (size_t)b->part.conv_h * (size_t)b->part.conv_w;
}

size_t cpu_blocks_bits(const struct cpu_blocks *b)
{
    return (size_t)b->groups * bits_of_group(b);
}

void cpu_blocks_forward(const struct cpu_conv_layer *c, int from, int to, const float *w,
                        const float *packed, const float *bias, const float *in, float *out,
                        uint16_t *pass, float *scratch)
{
    const struct cpu_blocks *b = c->blocks;
    struct grid inputs = grid_in(c), outputs = grid_out(c);
    struct room r = room_of(c, false);

    gather(b, &inputs, from, to, in, scratch);
    b->ops->forward(&b->part, to - from, w, packed, bias, scratch, scratch + r.out,
                    pass ? pass + (size_t)from * bits_of_group(b) : NULL, scratch + r.rest);
    put_back(b, &outputs, from, to, scratch + r.out, 0, c->cout, out);
}

void cpu_blocks_backward(const struct cpu_conv_layer *c, int from, int to, const float *packed,
                         const float *in, const float *dy, const uint16_t *pass, bool dx, float *dw,
                         float *db, float *scratch)
{
    const struct cpu_blocks *b = c->blocks;
    struct grid inputs = grid_in(c), outputs = grid_out(c);
    struct room r = room_of(c, dx);

    gather(b, &inputs, from, to, in, scratch);
    gather(b, &outputs, from, to, dy, scratch + r.out);
    b->ops->backward(&b->part, to - from, packed, scratch, scratch + r.out,
                     pass ? pass + (size_t)from * bits_of_group(b) : NULL,
                     dx ? scratch + r.dx : NULL, false, dw, db, scratch + r.rest);
}

void cpu_blocks_give(const struct cpu_conv_layer *c, int from, int to, const float *scratch,
                     int first, int last, bool add, float *dx)
{
    struct grid inputs = grid_in(c);
    size_t plane = plane_of(c->blocks, &inputs);

    if (!add && from == 0)
        memset(dx + (size_t)first * plane, 0, (size_t)(last - first) * plane * sizeof *dx);
    put_back(c->blocks, &inputs, from, to, scratch + room_of(c, true).dx, first, last, dx);
}

static void blocks_forward(const struct cpu_conv_layer *c, int groups, const float *w,
                           const float *packed, const float *bias, const float *in, float *out,
                           uint16_t *pass, float *scratch)
{
    struct grid outputs = grid_out(c);

    (void)groups;
    memset(out, 0, (size_t)c->cout * plane_of(c->blocks, &outputs) * sizeof *out);
    cpu_blocks_forward(c, 0, c->blocks->groups, w, packed, bias, in, out, pass, scratch);
}

static void blocks_backward(const struct cpu_conv_layer *c, int groups, const float *packed,
                            const float *in, const float *dy, const uint16_t *pass, float *dx,
                            bool add, float *dw, float *db, float *scratch)
{
    int all = c->blocks->groups;

    (void)groups;
    cpu_blocks_backward(c, 0, all, packed, in, dy, pass, dx, dw, db, scratch);
    if (dx)
        cpu_blocks_give(c, 0, all, scratch, 0, c->cin, add, dx);
}

const struct cpu_conv_ops cpu_conv_blocks = {
    .packed = blocks_packed,
    .scratch = blocks_scratch,
    .pack = blocks_pack,
    .forward = blocks_forward,
    .backward = blocks_backward,
};

double cpu_blocks_group(int lanes)
{
    return lanes == CPU_LANES ? 1 : 0.6;
}

static int blocks_in(int outputs, int block)
{
    return (outputs + block - 1) / block;
}

/* Sizes worth a look: of as many blocks none smaller does; or whole tiles. */
static bool worth(int outputs, int block, int unit)
{
    int n = blocks_in(outputs, block), step = block % BLOCKS_TILE ? unit : BLOCKS_TILE;

    return block == step || blocks_in(outputs, block - step) > n;
}

/* Of the thread that has most groups. */
static double cost_of(const struct cpu_blocks *b, const struct cpu_conv_layer *c, int threads,
                      bool dx)
{
    struct cpu_conv_layer with = *c;

    with.blocks = b;
    struct grid in = grid_in(&with), out = grid_out(&with);
    double copied = (dx ? 3.5 : 2) * (double)floats_of(&in, b) + 2.5 * (double)floats_of(&out, b);
    double group =
        cpu_blocks_group(b->lanes) * b->ops->cost(&b->part, dx) + BLOCKS_COPY * copied / b->groups;
    return blocks_in(b->groups, threads) * group + (threads > 1 ? cpu_blocks_meet : 0);
}

struct cpu_blocks cpu_blocks_of(const struct cpu_conv_layer *c, const struct cpu_conv_ops *ops,
                                int lanes, int images, int apart, int h, int w)
{
    struct cpu_blocks b = {.ops = ops,
                           .lanes = lanes,
                           .part = *c,
                           .images = images,
                           .apart = apart,
                           .down = blocks_in(c->conv_h, h),
                           .across = blocks_in(c->conv_w, w)};

    b.groups = blocks_in(b.down * b.across * images, lanes);
    b.part.pad_top = b.part.pad_left = 0;
    b.part.conv_h = h;
    b.part.conv_w = w;
    b.part.in_h = (h - 1) * c->stride + c->k;
    b.part.in_w = (w - 1) * c->stride + c->k;
    return b;
}

double cpu_blocks_cut(struct cpu_blocks *b, const struct cpu_conv_layer *c,
                      const struct cpu_conv_ops *ops, int lanes, int images, int apart, int threads,
                      bool dx)
{
    double best = INFINITY;

    for (int h = c->pool; h <= c->conv_h; h += c->pool) {
        for (int w = c->pool; w <= c->conv_w; w += c->pool) {
            int blocks = blocks_in(c->conv_h, h) * blocks_in(c->conv_w, w);
            if (blocks > BLOCKS_MOST * threads || !worth(c->conv_h, h, c->pool) ||
                !worth(c->conv_w, w, c->pool))
                continue;
            struct cpu_blocks cut = cpu_blocks_of(c, ops, lanes, images, apart, h, w);
            double cost = ops->can(&cut.part) ? cost_of(&cut, c, threads, dx) : INFINITY;
            if (cost < best) {
                best = cost;
                *b = cut;
            }
        }
    }
    return best;
}
