/* The keys of a model and its initial weights, which are Flax's bit for bit. */
#include "net/net.h"

#include <math.h>

struct rng_key net_model_key(uint64_t seed, int members, int m)
{
    struct rng_key init = rng_split(rng_key(seed), 1);

    return members ? rng_split(init, (uint64_t)m) : init;
}

struct rng_key net_order_key(uint64_t seed, int64_t epoch)
{
    struct rng_key rng = rng_split(rng_key(seed), 0);

    for (int64_t i = 1; i < epoch; i++)
        rng = rng_split(rng, 0);
    return rng_split(rng, 1);
}

static void scale(float *x, size_t n, float by)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= by;
}

static void fill(float *x, size_t n, float value)
{
    for (size_t i = 0; i < n; i++)
        x[i] = value;
}

/* variance_scaling with a truncated normal: the divisor is the standard deviation that is left of a
 * normal cut at two of its own. */
static void draw_scaled(struct rng_key key, double variance, size_t n, float *x)
{
    rng_truncated_normal(key, n, x);
    scale(x, n, sqrtf((float)variance) / 0.87962566103423978f);
}

static void draw_kernel(const struct net_tensor *t, enum spec_init init, double std,
                        struct rng_key key, float *x)
{
    double in = (double)t->fan_in, out = (double)t->fan_out;

    switch (init) {
    case SPEC_INIT_NORMAL:
    case SPEC_INIT_NORMAL_BIAS:
        rng_normal(key, t->count, x);
        scale(x, t->count, (float)std);
        break;
    case SPEC_INIT_HE:
        draw_scaled(key, 2.0 / in, t->count, x);
        break;
    case SPEC_INIT_XAVIER: /* uniform, as Glorot and Bengio have it */
        rng_uniform(key, t->count, -1.0f, 1.0f, x);
        scale(x, t->count, sqrtf(3.0f * (float)(1.0 / ((in + out) / 2))));
        break;
    case SPEC_INIT_LECUN:
    case SPEC_INIT_MODEL:
        draw_scaled(key, 1.0 / in, t->count, x);
        break;
    }
}

void net_init(const struct net *net, enum spec_init init, double init_std, struct rng_key key,
              float *params, float *stats)
{
    if (init == SPEC_INIT_MODEL) {
        init = net->init;
        init_std = net->init_std;
    }
    for (int i = 0; i < net->params; i++) {
        const struct net_tensor *t = &net->param[i];
        bool normed = net->layer[t->layer].op == NET_BATCHNORM;
        float *x = params + t->offset;

        if (t->kind == NET_KERNEL || (init == SPEC_INIT_NORMAL_BIAS && !normed))
            draw_kernel(t, init, init_std, rng_fold_in(key, t->fold), x);
        else
            fill(x, t->count, t->kind == NET_SCALE ? 1.0f : 0.0f);
    }
    for (int i = 0; stats && i < net->stats; i++)
        fill(stats + net->stat[i].offset, net->stat[i].count,
             net->stat[i].kind == NET_VAR ? 1.0f : 0.0f);
}
