/* tests/parity/random_verdict.h: whether what a backend made of a random trial is right.
 *
 * Limits. What a layer may add to the error of its output, as a share of the tensor's largest value:
 * 2e-5 a convolution that Winograd may serve (3x3 and 5x5, stride 1), 4e-6 (some thirty roundings)
 * any other layer that sums, 2e-7 (two) the rest. An output may be off by the sum over all layers in
 * front of it and itself, a gradient by twice the sum over the whole network. Where the naive backend
 * in float, of two runs the worse, is off by more than a fortieth of the difference, the network itself
 * is ill-conditioned and that number proves nothing; such cases are counted.
 *
 * bf16 has limits in the mean square, where jumps count little: 1 % a layer that sums for an output,
 * 10 % and 3 % a layer for gradients; and a network is ill-conditioned where rounding nothing but
 * weights and images to bf16 does a twentieth of the difference, or where a batch norm takes away a
 * mean so large that what bf16 rounded off the input becomes 16 times as large beside the rest.
 *
 * In bf16 a second step hangs on what was rounded in the first: of a gradient that is nothing but what
 * rounding leaves of a sum, the first step makes weights that nobody can foretell, and the second goes on
 * from there. So where all of the first step is right and the second is not, the naive backend makes the
 * second one again from all that the backend at hand had after its first (weights, slots, statistics,
 * which were judged by themselves), and that is judged, within a single step's limits. */
#ifndef CHORUS_TESTS_RANDOM_VERDICT_H
#define CHORUS_TESTS_RANDOM_VERDICT_H

#include "tests/parity/random_rough.h"

#define MOST_SPREAD 16

enum part { FORWARD, BACKWARD, SECOND, PARTS }; /* SECOND: what depends on step 2 */

struct verdict {
    struct trial *t;
    const struct seen *got, *want, *rough; /* rough: of observe_floats or _halves, or NULL */
    bool half;                             /* bf16 */
    bool again; /* want and rough are a second step from what got had after its first */
    bool tell;
    int bad[PARTS], ill;
    double share[PARTS]; /* of its limit, the largest */
    struct text words;
    double *slack;     /* (members, params): see find_slack */
    double spread;     /* bf16: see find_spread */
    double *image_off; /* (batch): largest gradient's distance, in units of its limit */
    int *tied;         /* (batch): the last maximum of equal numbers but zero, or 0: none */
    bool leave;        /* pixels' gradients in front of those are not judged */
};

/* Layers from 0 to last that sum, each by what it may add. */
static inline double forward_limit(const struct verdict *v, int last)
{
    double limit = v->half ? 0.01 : 2e-6;

    for (int i = 0; i <= last; i++) {
        const struct net_layer *l = &v->t->net->layer[i];
        bool sums = l->op == NET_CONV || l->op == NET_DENSE || l->op == NET_BATCHNORM;
        if (v->half)
            limit += sums ? 0.01 : 0.002;
        else if (l->op == NET_CONV && l->stride == 1 && (l->k == 3 || l->k == 5))
            limit += 2e-5;
        else
            limit += sums ? 4e-6 : 2e-7;
    }
    return limit;
}

static inline double backward_limit(const struct verdict *v)
{
    double all = forward_limit(v, v->t->net->layers - 1);

    return v->half ? 0.1 + 3 * all : 2 * all;
}

static inline double top_of(const double *a, size_t n, double least)
{
    for (size_t i = 0; i < n; i++)
        least = fmax(least, fabs(a[i]));
    return least;
}

/* The largest difference in units of the largest value; with half the same in the mean square. */
static inline double distance(const double *a, const double *b, size_t n, double least, bool half)
{
    double top = top_of(b, n, least), worst = 0, sum = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        double off = fabs(a[i] - b[i]);
        if (!(off <= 1e300))
            return INFINITY;
        worst = fmax(worst, off);
        sum += off * off;
        all += b[i] * b[i];
    }
    if (half)
        return sqrt(sum / fmax(all, least * least * (double)n));
    return worst / top;
}

/* least: the least that counts as the largest value. */
static inline void judge(struct verdict *v, enum part part, const char *what, const char *of,
                         int member, const double *got, const double *want, const double *rough,
                         size_t n, double least, double limit)
{
    double d = distance(got, want, n, least, v->half);

    if (d <= limit) {
        v->share[part] = fmax(v->share[part], d / limit);
        return;
    }
    if ((v->spread > MOST_SPREAD && isfinite(d)) ||
        (v->rough && rough &&
         d <= (v->half ? 20 : 40) * distance(rough, want, n, least, v->half))) {
        if (v->ill++ < 4 && v->tell)
            printf("    ill-conditioned: %s of %s, member %d: off by %.3g, limit %.3g\n", what, of,
                   member, d, limit);
        return;
    }
    if (v->bad[FORWARD] + v->bad[BACKWARD] + v->bad[SECOND] < 8)
        text_addf(&v->words, "    %s of %s, member %d: off by %.3g, limit %.3g\n", what, of, member,
                  d, limit);
    v->bad[part]++;
}

static inline double mean_square(const double *a, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * a[i];
    return n ? sum / (double)n : 0;
}

/* How much smaller a gradient is than a sum of as many products with random signs would be: in front
 * of batch norm some are nothing but what rounding leaves of such sums. */
static inline void find_slack(struct verdict *v)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;

    for (int k = 0; k < t->plan.members * net->params; k++) {
        const struct net_tensor *p = &net->param[k % net->params];
        const struct net_layer *l = &net->layer[p->layer];
        size_t m = (size_t)(k / net->params), out = tensor_size(t, BACKEND_OUTPUT, p->layer);
        int what = p->kind == NET_BIAS ? BACKEND_GRAD_BIAS : BACKEND_GRAD_KERNEL;
        const double *g = v->want->tensor[what] + m * tensor_at(t, what, net->layers) +
                          tensor_at(t, what, p->layer);
        const double *dy = v->want->tensor[BACKEND_GRAD_OUTPUT] +
                           m * tensor_at(t, BACKEND_GRAD_OUTPUT, net->layers) +
                           tensor_at(t, BACKEND_GRAD_OUTPUT, p->layer);
        double terms = (double)(out / (size_t)l->out.c), x = 1;
        if (p->kind == NET_KERNEL && l->src >= 0)
            x = mean_square(v->want->tensor[BACKEND_OUTPUT] +
                                m * tensor_at(t, BACKEND_OUTPUT, net->layers) +
                                tensor_at(t, BACKEND_OUTPUT, l->src),
                            tensor_size(t, BACKEND_OUTPUT, l->src));
        double natural = terms * mean_square(dy, out) * x, own = mean_square(g, p->count);
        v->slack[k] = own < natural ? sqrt(natural / fmax(own, 1e-60)) : 1;
    }
}

/* The largest factor by which a batch norm makes an error of its input larger against what is left of
 * the input when the mean is gone. */
static inline void find_spread(struct verdict *v)
{
    const struct net *net = v->t->net;
    size_t all = tensor_at(v->t, BACKEND_OUTPUT, net->layers);

    v->spread = 1;
    for (int k = 0; k < v->t->plan.members * net->layers; k++) {
        const struct net_layer *l = &net->layer[k % net->layers];
        if (l->op != NET_BATCHNORM || l->src < 0)
            continue;
        size_t n = tensor_size(v->t, BACKEND_OUTPUT, l->src), c = (size_t)l->in.c;
        const double *x = v->want->tensor[BACKEND_OUTPUT] + (size_t)(k / net->layers) * all +
                          tensor_at(v->t, BACKEND_OUTPUT, l->src);
        for (size_t i = 0; i < c; i++) {
            double mean = 0, square = 0;
            for (size_t j = i; j < n; j += c)
                mean += x[j] * (double)c / (double)n;
            for (size_t j = i; j < n; j += c)
                square += (x[j] - mean) * (x[j] - mean) * (double)c / (double)n;
            v->spread = fmax(v->spread, sqrt(1 + mean * mean / (square + 1e-5)));
        }
    }
}

/* A layer's gradients, where they cannot be told as they should be. */
static inline const double *without_tied(const struct verdict *v, int layer, const double *got,
                                         const double *want, size_t n, double *room)
{
    size_t each = outputs_of(&v->t->net->layer[layer]);

    for (size_t j = 0; j < n; j++)
        room[j] = layer < v->tied[j / each] ? want[j] : got[j];
    return room;
}

static inline void judge_layers(struct verdict *v, int m)
{
    static const char *const names[] = {"output", "gradient", "kernel's gradient",
                                        "bias's gradient"};
    const struct trial *t = v->t;
    const struct net *net = t->net;
    size_t pixels = 0;

    for (int i = 0; i < net->layers; i++) {
        size_t n = tensor_size(t, BACKEND_GRAD_OUTPUT, i);
        pixels = n > pixels ? n : pixels;
    }
    double *room = v->leave ? mem_new(pixels, sizeof *room) : NULL;
    for (int i = 0; i < net->layers; i++) {
        double least = 1e-30; /* a bias in front of batch norm has no gradient but rounding */
        for (int what = 0; what < 4; what++) {
            size_t n = tensor_size(t, what, i);
            size_t at = (size_t)m * tensor_at(t, what, net->layers) + tensor_at(t, what, i);
            const double *got = v->got->tensor[what] + at, *want = v->want->tensor[what] + at;
            double limit = what == BACKEND_OUTPUT ? forward_limit(v, i) : backward_limit(v);
            if (!n || !v->got->there[what][m * net->layers + i])
                continue;
            if (what == BACKEND_GRAD_OUTPUT && v->leave)
                got = without_tied(v, i, got, want, n, room);
            if (what >= BACKEND_GRAD_KERNEL)
                limit *=
                    v->slack[m * net->params + (what == BACKEND_GRAD_KERNEL ? net->layer[i].kernel
                                                                            : net->layer[i].bias)];
            judge(v, what == BACKEND_OUTPUT ? FORWARD : BACKWARD, names[what], net->layer[i].name,
                  m, got, want, v->rough ? v->rough->tensor[what] + at : NULL, n,
                  what == BACKEND_GRAD_BIAS ? least : 1e-30, limit);
            if (what == BACKEND_GRAD_KERNEL)
                least = top_of(want, n, least);
            size_t each = outputs_of(&net->layer[i]);
            double top = top_of(want, n, 1e-30);
            for (size_t j = 0; what == BACKEND_GRAD_OUTPUT && j < n; j++) {
                double off = fabs(got[j] - want[j]) / top / limit;
                v->image_off[j / each] = fmax(v->image_off[j / each], off);
            }
        }
    }
    free(room);
}

/* How the parameters moved in the first step or in both. */
static inline void judge_moves(struct verdict *v, int m, int step)
{
    const struct trial *t = v->t;
    size_t all = t->net->parameter_count, base = (size_t)m * all;
    double kernel = 1e-30; /* how far the kernel moved to which a bias belongs */
    double *got = mem_new(all, sizeof *got), *want = mem_new(all, sizeof *want);
    double *rough = mem_new(all, sizeof *rough);

    for (size_t i = 0; i < all; i++) {
        double first = v->again ? v->got->params[0][base + i] : (double)t->params[base + i];
        got[i] = v->got->params[step][base + i] - first;
        want[i] = v->want->params[step][base + i] - first;
        if (v->half)
            first = (double)half_of((float)first);
        rough[i] = v->rough ? v->rough->params[step][base + i] - first : 0;
    }
    for (int i = 0; i < t->net->params; i++) {
        const struct net_tensor *p = &t->net->param[i];
        double moved = top_of(want + p->offset, p->count, p->kind == NET_BIAS ? kernel : 1e-30);
        double limit = backward_limit(v) * v->slack[m * t->net->params + i];
        double size = 0;
        for (size_t j = 0; j < p->count; j++)
            size = fmax(size, fabs((double)t->params[base + p->offset + j]));
        /* the slope of g / (|g| + epsilon) against that of its largest values */
        if (t->plan.optimizer >= SPEC_ADAM && !v->half) {
            int what = p->kind == NET_BIAS ? BACKEND_GRAD_BIAS : BACKEND_GRAD_KERNEL;
            const double *g = v->want->tensor[what] +
                              (size_t)m * tensor_at(t, what, t->net->layers) +
                              tensor_at(t, what, p->layer);
            limit *= 1 + top_of(g, p->count, 0) / t->plan.epsilon;
        }
        /* over a black area bf16 rounds equal gradients to one side; a bias, zero before, sums them */
        bool black = v->half && t->black && step && p->kind == NET_BIAS;
        judge(v, step ? SECOND : BACKWARD, step ? "two steps" : "step", p->name, m, got + p->offset,
              want + p->offset, rough + p->offset, p->count, p->kind == NET_BIAS ? kernel : 1e-30,
              limit * (black               ? 12
                       : step && !v->again ? 3
                                           : 1) +
                  3e-7 * size / moved);
        kernel = moved;
    }
    free(got);
    free(want);
    free(rough);
}

/* Optimizer's slots and running statistics after a step. */
static inline void judge_state(struct verdict *v, int m, int step)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;
    size_t base = (size_t)m * net->parameter_count, stats = (size_t)m * net->stat_count;
    double limit = backward_limit(v);
    enum part part = step ? SECOND : BACKWARD;

    for (int k = 0; k < backend_slots(t->plan.optimizer); k++) {
        const double *want = v->want->slot[step][k] + base;
        double least = top_of(want, net->parameter_count, 1e-30) * (k ? 1e-4 : 1e-2);
        for (int i = 0; i < net->params; i++) {
            const struct net_tensor *p = &net->param[i];
            judge(v, part, k ? "second slot" : "first slot", p->name, m,
                  v->got->slot[step][k] + base + p->offset, want + p->offset,
                  v->rough ? v->rough->slot[step][k] + base + p->offset : NULL, p->count, least,
                  (step && !v->again ? 6 : 2) * limit * v->slack[m * net->params + i]);
        }
    }
    for (int i = 0; i < net->stats; i++) {
        const struct net_tensor *p = &net->stat[i];
        judge(v, step ? SECOND : FORWARD, "statistics", p->name, m,
              v->got->stats[step] + stats + p->offset, v->want->stats[step] + stats + p->offset,
              v->rough ? v->rough->stats[step] + stats + p->offset : NULL, p->count, 1e-30,
              forward_limit(v, p->layer) + (step && !v->again ? limit : 0));
    }
}

static inline void judge_logits(struct verdict *v, int m)
{
    size_t n = v->t->count * (size_t)v->t->net->classes;

    judge(v, SECOND, "logits", "the evaluation", m, v->got->logits + (size_t)m * n,
          v->want->logits + (size_t)m * n, v->rough ? v->rough->logits + (size_t)m * n : NULL, n,
          1e-30, 2 * backward_limit(v));
}

static inline void judge_rows(struct verdict *v)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;
    int units = backend_units(&t->plan), last = net->layers - 1;
    size_t outputs = tensor_at(t, BACKEND_OUTPUT, last), n = t->plan.batch * (size_t)net->classes;

    for (int step = v->again ? 1 : 0; step < STEPS; step++) {
        for (int u = 0; u < units; u++) {
            const struct backend_step *got = &v->got->rows[step][u],
                                      *want = &v->want->rows[step][u];
            size_t m = t->plan.mode == SPEC_ENSEMBLE ? (size_t)u : 0;
            double images = (double)t->plan.batch / (t->plan.mode == SPEC_ENSEMBLE ? 1 : units);
            double top = top_of(v->want->tensor[BACKEND_OUTPUT] +
                                    m * tensor_at(t, BACKEND_OUTPUT, net->layers) + outputs,
                                n, 1);
            double limit = step ? 2 * backward_limit(v) : 2 * forward_limit(v, last);
            double rough = v->rough ? v->rough->rows[step][u].loss_sum : 0;
            /* an image's loss moves by at most twice as much as its logits */
            judge(v, step ? SECOND : FORWARD, step ? "loss of step 2" : "loss", "the network", u,
                  &got->loss_sum, &want->loss_sum, &rough, 1, images * top, limit);
            if (abs((int)got->right - (int)want->right) > (v->half ? 1 + (int)images / 4 : 1)) {
                text_addf(&v->words, "    step %d, unit %d: %u right, not %u\n", step + 1, u,
                          got->right, want->right);
                v->bad[step ? SECOND : FORWARD]++;
            }
        }
    }
}

static inline void judge_all(struct verdict *v)
{
    for (int i = 0; i < PARTS; i++) {
        v->bad[i] = 0;
        v->share[i] = 0;
    }
    v->ill = 0;
    text_clear(&v->words);
    memset(v->image_off, 0, v->t->plan.batch * sizeof *v->image_off);
    find_slack(v);
    if (v->half)
        find_spread(v);
    judge_rows(v);
    for (int m = 0; m < v->t->plan.members; m++) {
        judge_layers(v, m);
        for (int step = 0; step < STEPS; step++) {
            judge_moves(v, m, step);
            judge_state(v, m, step);
        }
        judge_logits(v, m);
    }
}

/* The second step by itself. */
static inline void judge_again(struct verdict *v)
{
    const struct seen *want = v->want, *rough = v->rough;
    struct seen second, halves;

    observe_from(&ref_backend, v->t, SPEC_FP64, v->got, &second);
    observe_halves(v->t, v->got, &halves);
    v->want = &second;
    v->rough = &halves;
    v->again = true;
    v->bad[SECOND] = 0;
    v->share[SECOND] = 0;
    text_clear(&v->words);
    find_slack(v);
    find_spread(v);
    judge_rows(v);
    for (int m = 0; m < v->t->plan.members; m++) {
        judge_moves(v, m, 1);
        judge_state(v, m, 1);
        judge_logits(v, m);
    }
    v->again = false;
    v->want = want;
    v->rough = rough;
    seen_free(&second);
    seen_free(&halves);
}
#endif
