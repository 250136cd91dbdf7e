/* cuda/kernels/update_rule.h: for kernels: from a gradient to a new weight by ref/ref_update.inc's formulas, who
 * is the last of several blocks, and the clock's tick. */
#ifndef CHORUS_CUDA_KERNELS_UPDATE_RULE_H
#define CHORUS_CUDA_KERNELS_UPDATE_RULE_H

#include "cuda/kernels/dev.h"
#include "cuda/kernels/update_args.h"

/* base^n by squaring; what rounding adds is far below what a float can tell of 1 - base^n. */
DEV double update_power(double base, uint64_t n)
{
    double out = 1;

    for (; n; n >>= 1, base *= base)
        if (n & 1)
            out *= base;
    return out;
}

struct update_rates {
    float lr, correct1, correct2, norm;
    int clip;
};

/* All threads of a block come here; correct: two floats that they share. */
DEV update_rates update_rates_of(const update_core &c, float *correct)
{
    update_rates r = {(float)c.lr[c.clock->row], 1, 1, 0, 0};

    if (c.rule >= UPDATE_ADAM) {
        if (threadIdx.x == 0) {
            correct[0] = (float)(1 - update_power(c.exact_beta1, c.clock->step + 1));
            correct[1] = (float)(1 - update_power(c.exact_beta2, c.clock->step + 1));
        }
        dev_sync();
        r.correct1 = correct[0];
        r.correct2 = correct[1];
    }
    return r;
}

/* Many kernels end with this, and give the same bits whichever a shape takes. */
DEV void update_one(const update_core &c, const update_rates &r, float g, float &p, float &slot1,
                    float &slot2)
{
    float step = 0;

    if (r.clip)
        g = dev_mul(g / r.norm, c.clip);
    if (c.decay != 0 && c.rule != UPDATE_ADAMW)
        g += dev_mul(c.decay, p);
    if (c.rule == UPDATE_SGD) {
        step = g;
    } else if (c.rule == UPDATE_MOMENTUM) {
        step = slot1 = g + dev_mul(c.momentum, slot1);
    } else if (c.rule == UPDATE_NESTEROV) {
        slot1 = g + dev_mul(c.momentum, slot1);
        step = g + dev_mul(c.momentum, slot1);
    } else {
        slot1 = dev_mul(c.rest1, g) + dev_mul(c.beta1, slot1);
        slot2 = dev_mul(c.rest2, dev_mul(g, g)) + dev_mul(c.beta2, slot2);
        step = slot1 / r.correct1 / (dev_sqrt(slot2 / r.correct2) + c.epsilon);
        if (c.rule == UPDATE_ADAMW)
            step += dev_mul(c.decay, p);
    }
    p -= dev_mul(r.lr, step);
}

/* Of N elements those that are `in`, their loads in front of their stores. */
template <int N>
DEV void update_some(const update_here &u, const update_rates &r, const size_t (&at)[N],
                     const bool (&in)[N], const float (&g)[N])
{
    const bool slot1 = u.core.rule != UPDATE_SGD, slot2 = u.core.rule >= UPDATE_ADAM;
    float p[N], s1[N], s2[N];

#pragma unroll
    for (int i = 0; i < N; i++) {
        p[i] = in[i] ? u.params[at[i]] : 0;
        s1[i] = in[i] && slot1 ? u.slot1[at[i]] : 0;
        s2[i] = in[i] && slot2 ? u.slot2[at[i]] : 0;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (!in[i])
            continue;
        update_one(u.core, r, g[i], p[i], s1[i], s2[i]);
        u.params[at[i]] = p[i];
        if (slot1)
            u.slot1[at[i]] = s1[i];
        if (slot2)
            u.slot2[at[i]] = s2[i];
        if (u.half)
            ((dev_bf16 *)u.half)[at[i]] = dev_to<dev_bf16>(p[i]);
    }
}

/* Whether this block is the last of n that come here; it then sees all that they wrote. said: a number
 * that the block's threads share. */
DEV bool turn_is_last(uint32_t *turn, uint32_t n, uint32_t *said)
{
    bool last;

    dev_fence();
    dev_sync();
    if (threadIdx.x == 0) {
        last = dev_atomic_add(turn, 1) + 1 == n;
        if (last)
            *turn = 0;
        *said = last;
    }
    dev_sync();
    last = *said != 0;
    dev_fence();
    return last;
}

DEV void tick_clock(struct dev_clock *clock, const float *flag)
{
    if (clock->halted)
        return;
    clock->halted = !(*flag == 0);
    clock->step++;
    clock->batch++;
    clock->row++;
    clock->done++;
}

/* A kernel's last act, of all its threads: once all blocks have come nobody looks at the clock. */
DEV void tick_at_end(const tick_args &t)
{
    if (!t.clock)
        return;
    dev_fence();
    dev_sync();
    if (threadIdx.x == 0 && dev_atomic_add(t.turn, 1) + 1 == gridDim.x * gridDim.y * gridDim.z) {
        *t.turn = 0;
        tick_clock(t.clock, t.flag);
    }
}

#endif
