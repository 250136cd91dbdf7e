/* cuda/launch/side.c: which two products share a launch: those of a network's small layers, whose kernels are
 * as short as a launch. */
#include "cuda/launch/side.h"

#include "cuda/launch/conv_plan.h"
#include "cuda/kernels/products/side_args.h"

#include <assert.h>
#include <string.h>

#define LAUNCH 4000 /* clocks that a launch costs */

/* Numbers of CONV_TILES. */
enum { TILE_64x64 = 2, TILE_128x32 = 3, TILE_32x32 = 4 };

static const struct pair {
    struct {
        bool input, block;
        int tile;
    } of[2];
    const struct dev_kernel *kernel[CUDA_MATHS];
} pairs[] = {
#define KERNELS(NAME, END)                                                                         \
    {                                                                                              \
        &NAME##_fp32##END, &NAME##_tf32##END, &NAME##_bf16##END                                    \
    }
    {{{true, false, TILE_32x32}, {false, false, TILE_32x32}}, KERNELS(k_side_conv_input, _32x32)},
    {{{true, false, TILE_64x64}, {false, false, TILE_32x32}}, KERNELS(k_side_conv_input, _64x64)},
    {{{true, true, TILE_128x32}, {false, false, TILE_64x64}}, KERNELS(k_side_block_input, )},
    {{{false, false, TILE_64x64}, {false, false, TILE_64x64}}, KERNELS(k_side_conv_weights, )},
    {{{false, true, TILE_32x32}, {false, true, TILE_32x32}}, KERNELS(k_side_block_weights, )},
};
#define PAIRS (sizeof pairs / sizeof *pairs)

static enum conv_op op_of(const struct cuda_job *j)
{
    return j->kind == CUDA_JOB_INPUT ? CONV_INPUT : CONV_WEIGHTS;
}

static struct cuda_conv conv_of(const struct cuda_job *j)
{
    return j->block ? cuda_block_conv(&j->b) : j->b.conv;
}

/* Clocks by one tile; by the best one where tile is -1. */
static double cost_of(const struct cuda_job *j, int tile)
{
    struct cuda_conv c = conv_of(j);
    double cost, best = 0;

    if (tile >= 0) {
        conv_plan_by(&c, op_of(j), tile, &cost);
        return cost;
    }
    for (int i = j->block ? BLOCK_TILE : 0; i < CONV_TILE_COUNT; i++) {
        conv_plan_by(&c, op_of(j), i, &cost);
        best = best <= 0 || cost < best ? cost : best;
    }
    return best;
}

/* By a tile, -1: by the plan. */
static void write_by(struct cuda_list *l, const struct cuda_job *j, int tile)
{
    struct cuda_block b = j->b;
    struct conv_plan p;
    double cost;

    b.tile = tile + 1;
    p = tile < 0 ? conv_plan_of(&b.conv, op_of(j)) : conv_plan_by(&b.conv, op_of(j), tile, &cost);
    if (j->kind == CUDA_JOB_INPUT && j->block)
        cuda_block_input(l, &b, j->dy, j->mask, j->weight, j->gate, j->act, j->add, j->dx);
    else if (j->kind == CUDA_JOB_INPUT)
        conv_input_by(l, &b.conv, &p, j->dy, j->weight, j->gate, j->act, j->add, j->dx);
    else if (j->block)
        cuda_block_weights(l, &b, j->x, j->dy, j->mask, &j->to);
    else
        conv_weights_by(l, &b.conv, &p, j->x, j->dy, &j->to);
    if (j->kind == CUDA_JOB_WEIGHTS)
        cuda_conv_turn(l, &j->turn);
}

void cuda_job_write(struct cuda_list *l, const struct cuda_job *j)
{
    write_by(l, j, -1);
}

static bool is_of(const struct cuda_job *j, const struct pair *p, int i)
{
    return p->of[i].input == (j->kind == CUDA_JOB_INPUT) && p->of[i].block == j->block;
}

/* Side by side one computes while the other waits: half of the shorter job is taken to vanish. */
static double cost_beside(double a, double b)
{
    return a > b ? a + b / 2 : b + a / 2;
}

/* The cheapest kernel for both; NULL: they stay apart. A model's shape alone decides, since its sums
 * are taken in the order of a tile. */
static const struct pair *pair_of(const struct cuda_job *a, const struct cuda_job *b)
{
    const struct pair *found = NULL;
    double best = cost_of(a, -1) + cost_of(b, -1) + LAUNCH;

    for (size_t i = 0; i < PAIRS; i++) {
        const struct pair *p = &pairs[i];
        double now;

        if (!is_of(a, p, 0) || !is_of(b, p, 1))
            continue;
        now = cost_beside(cost_of(a, p->of[0].tile), cost_of(b, p->of[1].tile));
        if (now >= best)
            continue;
        best = now;
        found = p;
    }
    return found;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

bool cuda_jobs_write(struct cuda_list *l, const struct cuda_job *a, const struct cuda_job *b)
{
    const struct pair *p = pair_of(a, b);
    struct cuda_list apart = {0};
    struct side_args s;
    unsigned blocks = 0;

    if (!p)
        return false;
    _Static_assert(sizeof s <= CUDA_ARGS, "room for a kernel's arguments");
    memset(&s, 0, sizeof s);
    write_by(&apart, a, p->of[0].tile);
    write_by(&apart, b, p->of[1].tile);
    assert(apart.n == 2 && apart.at[0].grid[2] == apart.at[1].grid[2]);
    for (int i = 0; i < 2; i++) {
        const struct cuda_launch *at = &apart.at[i];

        assert(at->block == (unsigned)p->kernel[0]->threads);
        memcpy(&s.job[i], at->args, at->args_bytes);
        s.width[i] = at->grid[0];
        blocks += at->grid[0] * at->grid[1];
        s.first[i] = blocks;
    }
    cuda_list_add(l, p->kernel[a->b.conv.math], blocks, 1, apart.at[0].grid[2],
                  most(apart.at[0].shared, apart.at[1].shared), &s, sizeof s);
    cuda_list_free(&apart);
    return true;
}

/* Of the plan's tile and of those that pairs have. */
static size_t bytes_of(const struct cuda_job *j,
                       size_t (*bytes)(const struct cuda_conv *, const struct conv_plan *))
{
    struct cuda_conv c = conv_of(j);
    struct conv_plan p = conv_plan_from(&c, CONV_WEIGHTS, j->block ? BLOCK_TILE : 0);
    size_t n = bytes(&c, &p);
    double cost;

    for (int tile = TILE_64x64; tile <= TILE_32x32; tile += TILE_32x32 - TILE_64x64) {
        p = conv_plan_by(&c, CONV_WEIGHTS, tile, &cost);
        n = most(n, bytes(&c, &p));
    }
    return n;
}

size_t cuda_job_scratch(const struct cuda_job *j)
{
    return bytes_of(j, conv_scratch_by);
}

size_t cuda_job_turns(const struct cuda_job *j)
{
    return bytes_of(j, conv_turns_by);
}

/* ---- what a step's last launch does besides ---- */

bool cuda_jobs_last(const struct cuda_list *l)
{
    for (size_t i = 0; l->n > 0 && i < PAIRS; i++)
        for (int m = 0; m < CUDA_MATHS; m++)
            if (l->at[l->n - 1].kernel == pairs[i].kernel[m])
                return true;
    return false;
}

void cuda_jobs_gather(struct cuda_list *l, const struct gather_args *g, int images)
{
    struct cuda_launch *last = &l->at[l->n - 1];
    struct side_args s;

    memcpy(&s, last->args, sizeof s);
    s.gather = *g;
    s.gather.ahead = 1;
    last->grid[0] += (unsigned)images;
    memcpy(last->args, &s, sizeof s);
}

void cuda_jobs_tick(struct cuda_list *l, const struct tick_args *tick)
{
    struct cuda_launch *last = &l->at[l->n - 1];
    struct side_args s;

    memcpy(&s, last->args, sizeof s);
    s.tick = *tick;
    memcpy(last->args, &s, sizeof s);
}
