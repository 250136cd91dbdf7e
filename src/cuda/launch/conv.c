/* cuda/launch/conv.c: launches of convolution and dense layers. */
#include "cuda/launch/conv.h"

#include "cuda/launch/conv_plan.h"

#include <assert.h>
#include <string.h>

static struct conv_by by(int n)
{
    struct conv_by d = {.by = (uint32_t)(n > 0 ? n : 1)};
    int bits = 0;

    while ((uint64_t)1 << bits < d.by)
        bits++;
    d.shift = 31 + bits;
    d.times = (uint32_t)((((uint64_t)1 << d.shift) + d.by - 1) / d.by);
    return d;
}

/* How much of a tensor can be copied at once: its rows of `contiguous` elements begin, in each model,
 * where the address allows it. */
static int copy_bytes(struct cuda_view v, int contiguous, size_t element)
{
    size_t at = (size_t)(uintptr_t)v.p | (v.stride | (size_t)contiguous) * element;

    return at % 16 == 0 ? 16 : at % 8 == 0 ? 8 : at % 4 == 0 ? 4 : 2;
}

static bool pairs(struct cuda_view v, int contiguous, size_t element)
{
    return (((size_t)(uintptr_t)v.p | v.stride * element | (size_t)contiguous * element) %
            (2 * element)) == 0;
}

static struct conv_args product(const struct cuda_conv *c, enum conv_op op)
{
    struct conv_size s = conv_size_of(c, op);
    bool input = op == CONV_INPUT;
    struct conv_args a = {
        .rows = (uint32_t)s.rows,
        .cols = (uint32_t)s.cols,
        .depth = (uint32_t)s.depth,
        .n = c->n,
        .h = input ? c->oh : c->h,
        .w = input ? c->ow : c->w,
        .c = input ? c->oc : c->c,
        .th = input ? c->h : c->oh,
        .tw = input ? c->w : c->ow,
        .k = c->k,
        .stride = c->stride,
        .pad_top = c->pad_top,
        .pad_left = c->pad_left,
    };
    int step = input ? c->stride : 1;

    assert((size_t)c->n * (size_t)c->h * (size_t)c->w < 0x7fff0000u);
    assert((size_t)c->n * (size_t)c->oh * (size_t)c->ow < 0x7fff0000u);
    assert(s.rows < 0x7fff0000u && s.depth < 0x7fff0000u);
    a.by_c = by(a.c);
    a.by_k = by((c->k + step - 1) / step);
    a.by_k_less = by(c->k / step);
    a.by_tw = by(a.tw);
    a.by_pixels = by(a.th * a.tw);
    return a;
}

static void launch(struct cuda_list *l, const struct cuda_conv *c, enum conv_op op,
                   const struct conv_plan *p, struct conv_args *a)
{
    struct conv_size s = conv_size_of(c, op);
    size_t row_tiles = (s.rows + (size_t)p->tile->rows - 1) / (size_t)p->tile->rows;
    size_t col_tiles = (s.cols + (size_t)p->tile->cols - 1) / (size_t)p->tile->cols;

    size_t depth = p->chunk < s.depth ? p->chunk : s.depth;

    a->col_tiles = (uint32_t)col_tiles;
    a->chunk = (uint32_t)p->chunk;
    cuda_list_add(l, p->tile->kernel[op][c->math], row_tiles * col_tiles,
                  (size_t)s.remainders * p->parts, (size_t)c->models,
                  conv_tile_shared(p->tile, op, c->math, depth), a, sizeof *a);
}

void conv_forward_by(struct cuda_list *l, const struct cuda_conv *c, const struct conv_plan *p,
                     struct cuda_view x, struct cuda_view weight, struct cuda_view bias,
                     enum cuda_act act, struct cuda_view y)
{
    struct conv_args a = product(c, CONV_FORWARD);
    size_t element = cuda_element(c->math);

    a.from = x.p;
    a.from_stride = x.stride;
    a.from_bytes = copy_bytes(x, c->c, element);
    a.with = weight.p;
    a.with_stride = weight.stride;
    a.with_bytes = copy_bytes(weight, c->oc, element);
    a.bias = bias.p;
    a.bias_stride = bias.stride;
    a.act = (int)act;
    a.to = y.p;
    a.to_stride = y.stride;
    a.pair = pairs(y, c->oc, element);
    launch(l, c, CONV_FORWARD, p, &a);
}

void conv_input_by(struct cuda_list *l, const struct cuda_conv *c, const struct conv_plan *p,
                   struct cuda_view dy, struct cuda_view weight, struct cuda_view gate,
                   enum cuda_act act, bool add, struct cuda_view dx)
{
    struct conv_args a = product(c, CONV_INPUT);
    size_t element = cuda_element(c->math);

    a.from = dy.p;
    a.from_stride = dy.stride;
    a.from_bytes = copy_bytes(dy, c->oc, element);
    a.with = weight.p;
    a.with_stride = weight.stride;
    a.with_bytes = copy_bytes(weight, c->oc, element);
    a.gate = gate.p;
    a.gate_stride = gate.stride;
    a.act = (int)act;
    a.add = add;
    a.to = dx.p;
    a.to_stride = dx.stride;
    a.pair = pairs(dx, c->c, element) && pairs(gate, c->c, element);
    launch(l, c, CONV_INPUT, p, &a);
}

/* Elements of a part in the scratch: weights, then biases. */
static size_t part_size(const struct cuda_conv *c)
{
    return (size_t)c->k * (size_t)c->k * (size_t)c->c * (size_t)c->oc + (size_t)c->oc;
}

size_t conv_scratch_by(const struct cuda_conv *c, const struct conv_plan *p)
{
    return p->parts == 1 ? 0 : (size_t)c->models * p->parts * part_size(c) * sizeof(float);
}

size_t conv_turns_by(const struct cuda_conv *c, const struct conv_plan *p)
{
    struct conv_size s = conv_size_of(c, CONV_WEIGHTS);
    size_t rows = (s.rows + (size_t)p->tile->rows - 1) / (size_t)p->tile->rows;
    size_t cols = (s.cols + (size_t)p->tile->cols - 1) / (size_t)p->tile->cols;

    return p->parts == 1 ? 0 : (size_t)c->models * rows * cols * CONV_TURNS * sizeof(uint32_t);
}

static struct conv_end end_of(const struct cuda_conv *c, const struct conv_plan *p,
                              const struct cuda_weights *to)
{
    struct conv_end end = {
        .to = to->dweight.p,
        .to_stride = to->dweight.stride,
        .bias_to = to->dbias.p,
        .bias_to_stride = to->dbias.stride,
        .turns = to->turns,
        .parts = (uint32_t)p->parts,
        .tiles = (uint32_t)(conv_turns_by(c, p) / ((size_t)c->models * CONV_TURNS * 4)),
        .fan = 1,
    };

    while (end.fan * end.fan < end.parts)
        end.fan++;
    assert(end.fan <= CONV_FAN);
    if (to->update)
        end.update = *to->update;
    return end;
}

void conv_weights_by(struct cuda_list *l, const struct cuda_conv *c, const struct conv_plan *p,
                     struct cuda_view x, struct cuda_view dy, const struct cuda_weights *weights)
{
    struct conv_args a = product(c, CONV_WEIGHTS);
    size_t element = cuda_element(c->math), part = part_size(c), biases = (size_t)c->oc;
    struct cuda_view to = weights->dweight, bias_to = weights->dbias;

    if (p->parts > 1) {
        float *scratch = weights->scratch;

        to = (struct cuda_view){scratch, p->parts * part};
        bias_to = (struct cuda_view){bias_to.p ? scratch + (part - biases) : NULL, to.stride};
    }
    a.from = x.p;
    a.from_stride = x.stride;
    a.from_bytes = copy_bytes(x, c->c, element);
    a.with = dy.p;
    a.with_stride = dy.stride;
    a.with_bytes = copy_bytes(dy, c->oc, element);
    a.to = to.p;
    a.to_stride = to.stride;
    a.part = part;
    a.pair = pairs(to, c->oc, sizeof(float));
    a.bias_to = bias_to.p;
    a.bias_to_stride = bias_to.stride;
    a.end = end_of(c, p, weights);
    launch(l, c, CONV_WEIGHTS, p, &a);
}

void cuda_conv_forward(struct cuda_list *l, const struct cuda_conv *c, struct cuda_view x,
                       struct cuda_view weight, struct cuda_view bias, enum cuda_act act,
                       struct cuda_view y)
{
    struct conv_plan p = conv_plan_of(c, CONV_FORWARD);

    conv_forward_by(l, c, &p, x, weight, bias, act, y);
}

void cuda_conv_input(struct cuda_list *l, const struct cuda_conv *c, struct cuda_view dy,
                     struct cuda_view weight, struct cuda_view gate, enum cuda_act act, bool add,
                     struct cuda_view dx)
{
    struct conv_plan p = conv_plan_of(c, CONV_INPUT);

    conv_input_by(l, c, &p, dy, weight, gate, act, add, dx);
}

size_t cuda_conv_scratch(const struct cuda_conv *c)
{
    struct conv_plan p = conv_plan_of(c, CONV_WEIGHTS);

    return conv_scratch_by(c, &p);
}

size_t cuda_conv_turns(const struct cuda_conv *c)
{
    struct conv_plan p = conv_plan_of(c, CONV_WEIGHTS);

    return conv_turns_by(c, &p);
}

void cuda_conv_weights(struct cuda_list *l, const struct cuda_conv *c, struct cuda_view x,
                       struct cuda_view dy, const struct cuda_weights *to)
{
    struct conv_plan p = conv_plan_of(c, CONV_WEIGHTS);

    conv_weights_by(l, c, &p, x, dy, to);
}

/* What the last launch's arguments begin with, those of blocks too. */
static struct conv_args last_args(const struct cuda_list *l)
{
    struct conv_args a;

    memcpy(&a, l->at[l->n - 1].args, sizeof a);
    return a;
}

void cuda_conv_turn(struct cuda_list *l, const struct cuda_turn *t)
{
    struct conv_args a = last_args(l);

    a.turns = t->clock;
    a.from_turn = t->turn;
    memcpy(l->at[l->n - 1].args, &a, sizeof a);
}

void cuda_conv_tick(struct cuda_list *l, const struct tick_args *tick)
{
    struct conv_args a = last_args(l);

    a.end.tick = *tick;
    memcpy(l->at[l->n - 1].args, &a, sizeof a);
}
