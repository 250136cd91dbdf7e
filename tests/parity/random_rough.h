/* tests/parity/random_rough.h: what a precision alone does to a random trial's numbers: the naive backend
 * in float, or in double from numbers rounded to bf16. */
#ifndef CHORUS_TESTS_RANDOM_ROUGH_H
#define CHORUS_TESTS_RANDOM_ROUGH_H

#include "tests/parity/random_trial.h"

static inline float half_of(float x) /* rounded to bf16, ties to even */
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void round_all(float *a, size_t n)
{
    for (size_t i = 0; a && i < n; i++)
        a[i] = half_of(a[i]);
}

static inline void keep_farther(double *a, const double *b, const double *want, size_t n)
{
    for (size_t i = 0; a && i < n; i++) {
        if (fabs(b[i] - want[i]) > fabs(a[i] - want[i]))
            a[i] = b[i];
    }
}

/* Of each number in a and b what is farther from the one wanted. */
static inline void keep_farthest(const struct trial *t, struct seen *a, const struct seen *b,
                                 const struct seen *want)
{
    size_t members = (size_t)t->plan.members, n = members * t->net->parameter_count;

    for (int i = 0; i < STEPS; i++) {
        keep_farther(a->params[i], b->params[i], want->params[i], n);
        keep_farther(a->stats[i], b->stats[i], want->stats[i], members * t->net->stat_count);
        for (int k = 0; k < 2; k++)
            keep_farther(a->slot[i][k], b->slot[i][k], want->slot[i][k], n);
        for (int u = 0; u < backend_units(&t->plan); u++)
            keep_farther(&a->rows[i][u].loss_sum, &b->rows[i][u].loss_sum,
                         &want->rows[i][u].loss_sum, 1);
    }
    for (int what = 0; what < 4; what++)
        keep_farther(a->tensor[what], b->tensor[what], want->tensor[what],
                     members * tensor_at(t, what, t->net->layers));
    keep_farther(a->logits, b->logits, want->logits, members * t->count * (size_t)t->net->classes);
}

/* In float twice, the second time with the last bits of weights otherwise: a sum of little but rounding
 * may come out right once. Moves are from t's weights. */
static inline void observe_floats(struct trial *t, const struct seen *want, struct seen *seen)
{
    size_t n = (size_t)t->plan.members * t->net->parameter_count;
    struct trial own = *t;
    struct seen other;

    observe(&ref_backend, t, SPEC_FP32, seen);
    own.params = mem_new(n, sizeof(float));
    for (size_t i = 0; i < n; i++)
        own.params[i] =
            t->params[i] * (1 + (rng_bits_at(t->data_key, i) % 2 ? 0x1p-23f : -0x1p-23f));
    observe(&ref_backend, &own, SPEC_FP32, &other);
    for (size_t i = 0; i < STEPS * n; i++)
        other.params[i / n][i % n] += (double)t->params[i % n] - (double)own.params[i % n];
    keep_farthest(t, seen, &other, want);
    seen_free(&other);
    free(own.params);
}

static inline float *halves_of(const float *a, size_t n)
{
    float *b = mem_new(n, sizeof *b);

    memcpy(b, a, n * sizeof *b);
    round_all(b, n);
    return b;
}

/* The naive backend in double from weights and images rounded to bf16: the least that bf16 must do to
 * the numbers. from: of observe_from. */
static inline void observe_halves(struct trial *t, const struct seen *from, struct seen *seen)
{
    size_t n = (size_t)t->plan.members * t->net->parameter_count, pixels = t->images * t->pixels;
    struct trial own = *t;
    struct seen begin = from ? *from : (struct seen){0};

    own.plan.data = &own.set;
    own.params = halves_of(t->params, n);
    round_all(own.lut, MEM_COUNT(own.lut));
    own.set.lut = t->bytes ? own.lut : NULL;
    if (t->values) {
        own.values = halves_of(t->values, pixels);
        own.set.train.values = own.set.test.values = own.values;
    }
    if (from) {
        begin.params[0] = mem_new(n, sizeof(double));
        for (size_t i = 0; i < n; i++)
            begin.params[0][i] = (double)half_of((float)from->params[0][i]);
    }
    observe_from(&ref_backend, &own, SPEC_FP64, from ? &begin : NULL, seen);
    if (from)
        free(begin.params[0]);
    free(own.params);
    if (t->values)
        free(own.values);
}

#endif
