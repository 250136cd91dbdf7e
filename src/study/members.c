#include "study/members.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS  15
#define LEAST 1.401298464324817e-45 /* the least float above 0: of a 0 a loss would be infinite */

/* The most probable class; the lowest of equals; -1 where one is not a number. */
static int answer_of(const double *p, int classes)
{
    int best = 0;

    for (int c = 0; c < classes; c++) {
        if (isnan(p[c]))
            return -1;
        if (p[c] > p[best])
            best = c;
    }
    return best;
}

struct tally { /* over the images of a model */
    uint64_t right, bin_right[BINS];
    double nll, bin_confidence[BINS];
};

/* log_p: of the label's probability. */
static int count(struct tally *t, const double *p, int classes, int64_t label, double log_p)
{
    int answer = answer_of(p, classes), bin;

    t->right += answer == label;
    t->nll -= log_p;
    if (answer < 0)
        return answer;
    bin = (int)ceil(p[answer] * BINS) - 1;
    bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
    t->bin_right[bin] += answer == label;
    t->bin_confidence[bin] += p[answer];
    return answer;
}

static struct study_model model_of(const struct tally *t, size_t images)
{
    struct study_model m = {.acc = (double)t->right / (double)images,
                            .nll = t->nll / (double)images};

    for (int b = 0; b < BINS; b++)
        m.ece += fabs((double)t->bin_right[b] - t->bin_confidence[b]) / (double)images;
    return m;
}

struct work {
    const struct study_answers *a;
    double *sum; /* (images, classes) */
};

static const float *row_of(const struct work *w, int member, size_t image)
{
    return w->a->p + ((size_t)member * w->a->n + image) * (size_t)w->a->classes;
}

/* n over k; whether it is at most STUDY_MOST_SETS. */
static bool few_sets(int n, int k)
{
    double ways = 1;

    for (int i = 1; i <= k && ways <= 1e15; i++)
        ways = ways * (n - k + i) / i;
    return ways < STUDY_MOST_SETS + 0.5;
}

/* One more member into the sums, whose answers are then counted. */
static double add_member(const struct work *w, int member, bool first)
{
    size_t classes = (size_t)w->a->classes, right = 0;

    for (size_t i = 0; i < w->a->n; i++) {
        const float *row = row_of(w, member, i);
        double *sum = w->sum + i * classes;

        for (size_t c = 0; c < classes; c++)
            sum[c] = (first ? 0 : sum[c]) + (double)row[c];
        right += answer_of(sum, w->a->classes) == w->a->labels[i];
    }
    return (double)right / (double)w->a->n;
}

static void take_set(struct study_subsets *s, double acc)
{
    s->mean += acc;
    s->least = s->sets ? fmin(s->least, acc) : acc;
    s->most = s->sets ? fmax(s->most, acc) : acc;
    s->sets++;
}

/* All sets of k, in lexical order. */
static void all_sets(const struct work *w, int k, struct study_subsets *s)
{
    int n = w->a->members, *at = mem_new((size_t)k, sizeof *at), i;

    for (i = 0; i < k; i++)
        at[i] = i;
    do {
        double acc = 0;

        for (int j = 0; j < k; j++)
            acc = add_member(w, at[j], j == 0);
        take_set(s, acc);
        for (i = k - 1; i >= 0 && at[i] == n - k + i;)
            i--;
        if (i >= 0)
            at[i]++;
        for (int j = i + 1; i >= 0 && j < k; j++)
            at[j] = at[j - 1] + 1;
    } while (i >= 0);
    free(at);
}

/* A generator of its own (splitmix64): the sample is the same everywhere, for ever. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The first k of random orders of the members are random sets of k, for every k at once. */
static void sample_sets(const struct work *w, struct study_subsets *of)
{
    int n = w->a->members, *order = mem_new((size_t)n, sizeof *order);
    uint64_t state = (uint64_t)n;

    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int round = 0; round < (n > 64 ? STUDY_MOST_SETS / 8 : STUDY_MOST_SETS); round++) {
        for (int i = n - 1; i > 0; i--) {
            int j = (int)(draw(&state) % (uint64_t)(i + 1)), held = order[i];

            order[i] = order[j];
            order[j] = held;
        }
        for (int k = 1; k < n; k++) {
            double acc = add_member(w, order[k - 1], k == 1);

            if (of[k - 1].sampled)
                take_set(&of[k - 1], acc);
        }
    }
    free(order);
}

static void subsets(const struct work *w, struct study_subsets *of)
{
    bool sample = false;

    for (int k = 1; k <= w->a->members; k++) {
        of[k - 1].sampled = !few_sets(w->a->members, k);
        sample |= of[k - 1].sampled;
        if (!of[k - 1].sampled)
            all_sets(w, k, &of[k - 1]);
    }
    if (sample)
        sample_sets(w, of);
    for (int k = 1; k <= w->a->members; k++)
        of[k - 1].mean /= (double)of[k - 1].sets;
}

/* The logarithm of a probability's label; fmax would take what is no number for the least one. */
static double log_of(const struct work *w, size_t member, size_t image)
{
    double p = (double)row_of(w, (int)member, image)[w->a->labels[image]];

    if (w->a->log_p)
        return w->a->log_p[member * w->a->n + image];
    return log(p < LEAST ? LEAST : p);
}

/* The logarithm of the mean of what these are logarithms of, without ever leaving logarithms. */
static double log_mean(const double *x, size_t n)
{
    double top = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++)
        if (x[i] > top || isnan(x[i]))
            top = x[i];
    if (!isfinite(top))
        return top;
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    return top + log(sum / (double)n);
}

/* Members alone, in pairs and as prefixes: one pass over the images. */
static void pass(struct study_members *s, const struct work *w)
{
    size_t members = (size_t)w->a->members, classes = (size_t)w->a->classes;
    struct tally *tally = mem_new(members, sizeof *tally), whole = {0};
    double *p = mem_new(classes, sizeof *p), *sum = w->sum;
    double *log_p = mem_new(members, sizeof *log_p);
    int *answer = mem_new(members, sizeof *answer);
    double one = 1 / (double)w->a->n;

    for (size_t i = 0; i < w->a->n; i++) {
        memset(sum, 0, classes * sizeof *sum);
        for (size_t m = 0; m < members; m++) {
            const float *row = row_of(w, (int)m, i);

            for (size_t c = 0; c < classes; c++) {
                p[c] = (double)row[c];
                sum[c] += p[c];
            }
            log_p[m] = log_of(w, m, i);
            answer[m] = count(&tally[m], p, w->a->classes, w->a->labels[i], log_p[m]);
            s->prefix[m] += answer_of(sum, w->a->classes) == w->a->labels[i] ? one : 0;
            for (size_t b = 0; b < m; b++)
                s->differ[m * members + b] += answer[m] != answer[b] ? one : 0;
        }
        for (size_t c = 0; c < classes; c++)
            p[c] = sum[c] / (double)members;
        count(&whole, p, w->a->classes, w->a->labels[i], log_mean(log_p, members));
    }
    s->whole = model_of(&whole, w->a->n);
    for (size_t m = 0; m < members; m++) {
        s->member[m] = model_of(&tally[m], w->a->n);
        s->prefix[m] = round(s->prefix[m] * (double)w->a->n) / (double)w->a->n;
    }
    free(tally);
    free(p);
    free(log_p);
    free(answer);
}

void study_members(struct study_members *s, const struct study_answers *a)
{
    struct work w = {a, NULL};
    int members = a->members;
    size_t n = (size_t)members;

    *s = (struct study_members){.members = members, .images = a->n};
    s->member = mem_new(n, sizeof *s->member);
    s->differ = mem_new(n * n, sizeof *s->differ);
    s->prefix = mem_new(n, sizeof *s->prefix);
    s->of = mem_new(n, sizeof *s->of);
    w.sum = mem_new(a->n * (size_t)a->classes, sizeof *w.sum);
    pass(s, &w);
    for (size_t m = 0; m < n; m++) {
        s->mean.acc += s->member[m].acc / members;
        s->mean.nll += s->member[m].nll / members;
        s->mean.ece += s->member[m].ece / members;
        if (s->member[m].acc > s->member[s->best].acc)
            s->best = (int)m;
        for (size_t b = 0; b < m; b++) {
            s->differ[b * n + m] = s->differ[m * n + b];
            s->disagreement += s->differ[m * n + b] / ((double)n * (double)(n - 1) / 2);
        }
    }
    s->gain_mean = s->whole.acc - s->mean.acc;
    s->gain_best = s->whole.acc - s->member[s->best].acc;
    subsets(&w, s->of);
    free(w.sum);
}

void study_members_free(struct study_members *s)
{
    free(s->member);
    free(s->differ);
    free(s->prefix);
    free(s->of);
    *s = (struct study_members){0};
}
