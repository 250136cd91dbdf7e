/* cpu/cpu_int.h: the kernels. Layout of activations: batch in lanes. `lanes` images, 16 or 8, are a
 * group; a group's layer is [c][h][w][lanes] (dense layers: [unit][lanes]), so that one vector holds
 * one pixel of a group's images and all arithmetic is vertical, without padding of channels. Which of
 * both a session takes is layout.c's choice; weights do not know of it. Lanes without an image begin as
 * zeros, hold any numbers behind the first layer, and receive zero gradients. */
#ifndef CHORUS_CPU_INT_H
#define CHORUS_CPU_INT_H

#include "cpu/conv.h"
#include "engine/backend.h"

#define CPU_LANES 16 /* the most */

/* One channel of a batch norm, by lane; the first lane's numbers serve all unless they are mixed: images
 * of several devices in one group. */
struct cpu_norm {
    float mean[CPU_LANES], inverse[CPU_LANES];
    float scale[CPU_LANES], shift[CPU_LANES]; /* y, or the relu's input, is x * scale + shift */
    float a[CPU_LANES], b[CPU_LANES], c[CPU_LANES]; /* dx = a * dy + b * x + c */
    bool mixed;
    bool relu; /* behind it, done in the same step */
} __attribute__((aligned(64)));

/* What a kernel does to the numbers that it passes on, or is given and leaves rounded. */
enum cpu_rounding {
    CPU_ROUND_NOT,
    CPU_ROUND_BF16,        /* as rounded_bf16 */
    CPU_ROUND_BF16_AT_ONCE /* by the processor's instruction */
};

struct cpu_update { /* a step of an optimizer: w -= lr * what it makes of g */
    enum spec_optimizer optimizer;
    float lr, scale; /* g = gradient * scale + coupled * w */
    float momentum, b1, b2, epsilon;
    float coupled, decoupled; /* weight decay: in the gradient, beside it (adamw) */
    float fix1, fix2;         /* adam: 1 / (1 - b1^t), 1 / (1 - b2^t) */
};

/* Floats to whole lines of the cache. */
static inline size_t cpu_round_up(size_t n)
{
    return (n + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

/* One instruction set's kernels. Activations, gradients to them and scratch are 64-byte aligned,
 * parameters and their gradients are not; groups lie behind each other. */
struct cpu_kernels {
    const char *name;
    int lanes;
    const struct cpu_kernels *half; /* those of half as many lanes, or NULL */
    /* The time of one of their groups, where one of these takes 1; with AVX-512 it is less where
     * cpu_halves_pay. */
    double half_cost;
    const struct cpu_conv_ops *direct, *wino, *taps;
    /* y[g][n] = (add ? y : bias) + sum over k of x[g][k] * w[k * wk + n * wn]; one of wk and wn is
     * 1. x_group, y_group: floats from a group to the next, so that a thread can do some of the
     * units. bias may be NULL. The last group may have fewer
     * images; the lanes behind them are zero in x, and in y become zero or what zeros make. */
    void (*dense)(int images, int inputs, int outputs, const float *x, size_t x_group,
                  const float *w, size_t wk, size_t wn, const float *bias, bool add, float *y,
                  size_t y_group);
    /* dy turned round, image behind image, in the order that dense_weights reads: groups * lanes * width
     * floats, with zeros behind the outputs; of units from..to, where `from` is a multiple of 16, so that
     * threads can share the work. width: outputs, rounded up to a multiple of 16; groups and width are those
     * that dense_weights is given. */
    void (*turn)(int groups, int from, int to, const float *dy, size_t dy_group, float *turned,
                 size_t width);
    /* The first `images` lanes of their groups count. dw[i * row + o] = (add ? itself : 0) + sum over images
     * of x[g][i] * dy[g][o]. */
    void (*dense_weights)(int images, int inputs, int outputs, const float *x, size_t x_group,
                          const float *turned, size_t width, float *dw, size_t row, bool add);
    /* db[o] = (add ? itself : 0) + sum over images */
    void (*bias_sums)(int groups, int outputs, const float *dy, size_t dy_group, float *db,
                      bool add);
    /* n floats, a multiple of lanes. Rounded are y, what is read of tanh's x and of dy, and dx where `below`
     * says so. */
    void (*relu)(size_t n, const float *x, enum cpu_rounding round, float *y);
    void (*relu_back)(size_t n, const float *y, const float *dy, bool add, enum cpu_rounding round,
                      bool below, float *dx);
    void (*tanh)(size_t n, const float *x, enum cpu_rounding round, float *y);
    void (*tanh_back)(size_t n, const float *y, const float *dy, bool add, enum cpu_rounding round,
                      bool below, float *dx);
    void (*add)(size_t n, const float *a, const float *b, enum cpu_rounding round, float *y);
    /* pools of one group */
    void (*avgpool)(const struct net_layer *l, const float *x, float *y);
    void (*avgpool_back)(const struct net_layer *l, const float *dy, float *dx); /* adds */
    void (*maxpool)(const struct net_layer *l, const float *x, float *y);
    void (*maxpool_back)(const struct net_layer *l, const float *x, const float *y, const float *dy,
                         float *dx); /* adds */
    /* batch norm, one channel of one group: n pixels, the first `images` lanes hold some. What
     * is summed is summed by lane; sum_dy and sum_dy_x are 64-byte aligned. */
    void (*moments)(size_t n, enum cpu_rounding round, float *x, double *mean, double *m2);
    void (*normalize)(size_t n, const struct cpu_norm *c, enum cpu_rounding round, const float *x,
                      float *y);
    void (*norm_sums)(size_t n, const struct cpu_norm *c, const float *x, enum cpu_rounding round,
                      float *dy, float *sum_dy, float *sum_dy_x);
    void (*norm_back)(size_t n, const struct cpu_norm *c, int images, const float *x,
                      const float *dy, bool add, enum cpu_rounding round,
                      float *dx); /* dx may be dy */
    void (*add_relu)(size_t n, const float *a, const float *b, enum cpu_rounding round, float *y);
    void (*add_back)(size_t n, const float *y, enum cpu_rounding round, float *dy, bool add,
                     float *dx, bool add2, float *dx2);
    /* keep[i]: bit per lane, of elements e = 0..size in (h, w, c) order of images first..first+lanes-1 */
    void (*dropout_mask)(struct rng_key key, uint64_t first, size_t size, uint32_t limit,
                         uint16_t *keep);
    void (*dropout)(const struct net_layer *l, const float *x, const uint16_t *keep, float scale,
                    bool add, float *y);
    /* Any n, pointers aligned to a float. Slots that the optimizer does not have may be NULL. */
    void (*update)(const struct cpu_update *u, float *param, float *slot1, float *slot2,
                   const float *gradient, size_t n);
    void (*add_into)(size_t n, float *sum, const float *more);
    double (*square)(size_t n, const float *x); /* sum of squares, in a fixed order */
    enum cpu_rounding rounding;                 /* how round_bf16 does it, for the others */
    void (*round_bf16)(size_t n, const float *x, float *y); /* to bf16's precision; y may be x */
    /* Softmax cross entropy of one group: gradient to the logits [classes][lanes] times scale, zero
     * in the lanes behind `images`; the images' losses, and whether they are right. */
    void (*loss)(int classes, const float *logits, const uint16_t *labels, int images, float scale,
                 float *gradient, float *image_loss, uint8_t *right);
    /* Bytes of a group's images of one channel through a table of 256: out [pixels][lanes]; NULL: zeros */
    void (*decode)(const uint8_t *const *image, size_t pixels, const float *lut, float *out);
};
/* avx512bf16: those of avx512, which round to bf16 by its instruction; rounded floats are multiplied.
 * Where its products of bf16 are the faster ones, cpu_tiles_dot makes them, which are other bytes: so
 * their name is avx512bf16-dot. */
extern const struct cpu_kernels cpu_kernels_avx512bf16, cpu_kernels_avx512, cpu_kernels_avx512_8,
    cpu_kernels_avx2, cpu_kernels_avx2_8, cpu_kernels_base;

/* What a processor with products of bf16 does better: convolutions and dense layers, by products of
 * tiles (AMX) or of vectors in their place (dot; amx.inc), always of 16 lanes. Activations, gradients
 * and scratch are 64-byte aligned, groups without gaps ([group][unit][16 images]); parameters and their
 * gradients are aligned to nothing. All that goes in is rounded to bf16. Units from..to: `from` is a multiple
 * of 16, `to` too or the last. */
struct cpu_tiles {
    const char *name;
    int rows; /* of a dense layer's weights at a time, going backward: a multiple of 32 */
    const struct cpu_conv_ops *conv;
    /* Floats of packed weights, with what dx needs (if wanted); rows from..to of w, (inputs, outputs),
     * packed, which are whole multiples of 32 or end with the last; floats of scratch, forward and
     * backward. */
    size_t (*dense_packed)(int inputs, int outputs, bool dx);
    void (*dense_pack)(int inputs, int outputs, bool dx, int from, int to, const float *w,
                       float *packed);
    size_t (*dense_scratch)(int groups, int inputs, int outputs);
    /* y[g][o] = bias[o] (may be NULL) + sum over inputs, for units from..to of the outputs. Of the
     * lanes behind the last image any number may come. */
    void (*dense)(int images, int inputs, int outputs, int from, int to, const float *x,
                  const float *packed, const float *bias, float *y, float *scratch);
    /* Units from..to of dy into scratch, as the two below read them there: `turned`, which threads can
     * share beside a scratch of their own. `from` is a multiple of 32. */
    void (*dense_turn)(int groups, int from, int to, int inputs, int outputs, bool dx,
                       const float *dy, float *scratch);
    /* dx[g][i] = (add ? itself : 0) + sum over outputs, for units from..to of the inputs. */
    void (*dense_back)(int images, int inputs, int outputs, int from, int to, const float *packed,
                       bool add, float *dx, const float *turned, float *scratch);
    /* Rows from..to of the weights' gradient; dw is the first of them. dy is zero behind the last
     * image, up to a whole group. */
    void (*dense_weights)(int images, int inputs, int outputs, int from, int to, const float *x,
                          bool add, float *dw, const float *turned, float *scratch);
    /* One product of whole tiles, 16 x 32 by 32 x 16 in pairs, added to sum: to see whether the
     * processor's are as they should be. */
    void (*product)(const uint16_t *a, const uint16_t *b, float *sum);
};
extern const struct cpu_tiles cpu_tiles_amx, cpu_tiles_dot, cpu_tiles_emulated;

/* The best that this machine has for a precision, or what CHORUS_ISA names (NULL where the machine
 * lacks it). */
const struct cpu_kernels *cpu_kernels_choose(enum spec_precision precision);

/* The tiles that serve bf16 beside them: NULL where the machine has none, or another instruction set
 * is forced. CHORUS_ISA=amx-emulated takes tiles in plain C, for tests. */
const struct cpu_tiles *cpu_tiles_choose(void);

/* Whether their products are those of tiles in plain C: asked of the processor's before they serve. */
bool cpu_tiles_agree(const struct cpu_tiles *t);

/* Whether it can multiply in bf16: the processor, whatever is forced. */
bool cpu_has_bf16(void);
/* Whether half a register of AVX-512 takes less time than a whole one. */
bool cpu_halves_pay(void);

#endif
