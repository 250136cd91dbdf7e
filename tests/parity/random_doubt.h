/* tests/parity/random_doubt.h: decisions of a random trial that rounding may take otherwise.
 *
 * A rectifier or a maximum that decides about two numbers at rounding distance may decide otherwise,
 * and gradients jump. So where only gradients are off, the images whose gradients are off most are
 * replaced by others, if one of their decisions was in doubt; what is wrong with a kernel stays wrong
 * with the new ones. Equal numbers out of a black background, which a maximum cannot tell apart, are
 * got rid of with the black; zeros are not, for those must be zeros in every kernel.
 *
 * The second step begins with biases that are all but zero, and on a black ground windows hold numbers that
 * differ by no more: Winograd, whose rounding goes by the largest numbers around, may take another maximum,
 * nearer to a pad, and the biases in front get another gradient. Where others on black do not help, the
 * second step's images lose their black too; the first step keeps it.
 *
 * Others come from pads, and from places where a rectifier let nothing pass: a batch norm makes them
 * equal numbers that are no zeros, and Winograd rounds them differently from place to place. Which of
 * them a maximum takes says only where in front of it the gradient goes: the windows hold the same
 * numbers, so weights and biases have the same gradients, and what comes out is the same. So the
 * pixels' gradients in front of such a maximum are not judged for such an image where they are off;
 * all else is. A network where that was done counts as ill-conditioned. */
#ifndef CHORUS_TESTS_RANDOM_DOUBT_H
#define CHORUS_TESTS_RANDOM_DOUBT_H

#include "tests/parity/random_verdict.h"

/* For each image of the batch the smallest distance of a decision of a rectifier or a maximum from
 * its turn, in units of the layer's largest value; tied: the last maximum of equal numbers but zero,
 * or 0. */
static inline void find_margins(const struct trial *t, const struct seen *want, double *margin,
                                int *tied)
{
    const struct net *net = t->net;
    size_t all = tensor_at(t, BACKEND_OUTPUT, net->layers);

    for (size_t j = 0; j < t->plan.batch; j++) {
        margin[j] = 1;
        tied[j] = 0;
    }
    for (int k = 0; k < t->plan.members * net->layers; k++) {
        const struct net_layer *l = &net->layer[k % net->layers];
        if ((l->op != NET_RELU && l->op != NET_MAXPOOL) || l->src < 0)
            continue;
        size_t each = (size_t)l->in.h * (size_t)l->in.w * (size_t)l->in.c;
        const double *x = want->tensor[BACKEND_OUTPUT] + (size_t)(k / net->layers) * all +
                          tensor_at(t, BACKEND_OUTPUT, l->src);
        double top = top_of(x, t->plan.batch * each, 1e-30);
        for (size_t j = 0; j < t->plan.batch; j++, x += each) {
            for (size_t i = 0; l->op == NET_RELU && i < each; i++)
                margin[j] = fmin(margin[j], fabs(x[i]) / top);
            for (size_t o = 0; l->op == NET_MAXPOOL && o < outputs_of(l); o++) {
                int c = (int)o % l->out.c, q = (int)o / l->out.c % l->out.w,
                    r = (int)o / l->out.c / l->out.w;
                double first = -INFINITY, second = -INFINITY;
                for (int w = 0; w < l->k * l->k; w++) {
                    double value =
                        x[((r * l->stride + w / l->k) * l->in.w + q * l->stride + w % l->k) *
                              l->in.c +
                          c];
                    second = value > first ? first : fmax(second, value);
                    first = fmax(first, value);
                }
                margin[j] = fmin(margin[j], (first - second) / top);
                if (first - second < 1e-12 * top && fabs(first) > 1e-12 * top &&
                    tied[j] < k % net->layers)
                    tied[j] = k % net->layers;
            }
        }
    }
}

/* What no other images help: judged again without the places that cannot be told. */
static inline void leave_tied(struct verdict *v)
{
    double *margin = mem_new(v->t->plan.batch, sizeof *margin);
    int left = 0;

    find_margins(v->t, v->want, margin, v->tied);
    for (size_t j = 0; j < v->t->plan.batch; j++)
        left += v->tied[j] > 0;
    free(margin);
    if (!left)
        return;
    v->leave = true;
    judge_all(v);
    v->leave = false;
    v->ill++;
    if (v->tell)
        printf("    equal numbers in front of a maximum: %d images\n", left);
}

/* The images for which some rectifier's output is zero in one of both and not in the other, and their
 * number. The outputs themselves agree, so rounding decided. */
static inline int find_flipped(const struct verdict *v, bool *flipped)
{
    const struct trial *t = v->t;
    const struct net *net = t->net;
    int n = 0;

    for (int k = 0; k < t->plan.members * net->layers; k++) {
        int i = k % net->layers;
        size_t at = (size_t)(k / net->layers) * tensor_at(t, BACKEND_OUTPUT, net->layers) +
                    tensor_at(t, BACKEND_OUTPUT, i);
        const double *got = v->got->tensor[BACKEND_OUTPUT] + at;
        const double *want = v->want->tensor[BACKEND_OUTPUT] + at;
        size_t each = outputs_of(&net->layer[i]);
        if (net->layer[i].op != NET_RELU || !v->got->there[BACKEND_OUTPUT][k])
            continue;
        for (size_t j = 0; j < t->plan.batch * each; j++) {
            if (!(got[j] > 0) == !(want[j] > 0) || flipped[j / each])
                continue;
            flipped[j / each] = true;
            n++;
        }
    }
    return n;
}

#define DARK_TURNS 3 /* so often the second step's images are replaced by others as dark */

/* Replaces images that may explain what is off: those that were decided otherwise, or else those whose
 * gradients are off most; false where none may. turn: how often that was done. */
static inline bool redraw(struct verdict *v, int turn)
{
    struct trial *t = v->t;
    bool *flipped = mem_new(t->plan.batch, sizeof *flipped);
    bool known = !v->half && find_flipped(v, flipped);
    double *margin = mem_new(t->plan.batch, sizeof *margin);
    double most = top_of(v->image_off, t->plan.batch, 0);
    bool any = false;

    find_margins(t, v->want, margin, v->tied);
    for (size_t j = 0; j < t->plan.batch; j++) {
        bool first = v->bad[BACKWARD] && margin[j] < (v->half ? 0.05 : 2e-4) &&
                     (known ? flipped[j] : v->image_off[j] >= 0.25 * most);
        bool second = !v->bad[BACKWARD] && v->bad[SECOND];
        uint32_t image = t->order[second ? t->plan.batch + j : j];
        if (!first && !second)
            continue;
        t->version[image]++;
        t->bright[image] = t->bright[image] || (first ? v->tied[j] > 0 : turn >= DARK_TURNS);
        draw_image(t, image);
        any = true;
    }
    free(margin);
    free(flipped);
    return any;
}
#endif
