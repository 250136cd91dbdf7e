#include "engine/run/metrics.h"
#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BINS 15

/* log of the sum of exp of the row: finite wherever the logits are. */
static double log_sum_exp(const double *x, int n)
{
    double top = x[0], sum = 0;

    for (int i = 1; i < n; i++)
        if (x[i] > top || isnan(x[i]))
            top = x[i];
    if (!isfinite(top))
        return top;
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - top);
    return top + log(sum);
}

double metrics_log_p(const float *logits, int classes, int class)
{
    double *row = mem_new((size_t)classes, sizeof *row), log_p;

    for (int c = 0; c < classes; c++)
        row[c] = logits[c];
    log_p = row[class] - log_sum_exp(row, classes);
    free(row);
    return log_p;
}

void metrics_softmax(const float *logits, int classes, double *probabilities)
{
    double top = logits[0], sum = 0;

    for (int c = 1; c < classes; c++)
        if (logits[c] > top)
            top = logits[c];
    for (int c = 0; c < classes; c++)
        sum += probabilities[c] = exp(logits[c] - top);
    for (int c = 0; c < classes; c++)
        probabilities[c] /= sum;
}

/* -1 where a value is not a number: such an answer is never right. */
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

/* What is added up over the images. */
struct sums {
    double loss, *member_loss;              /* (members) */
    uint64_t right, *member_right, *prefix; /* (members) */
    uint64_t pairs;                         /* pairs of members that differ */
    uint64_t bin_count[BINS], bin_right[BINS];
    double bin_confidence[BINS];
};

/* Bins are (b/15, (b+1)/15], the first with its 0. */
static void add_to_bin(struct sums *s, double confidence, bool right)
{
    int b;

    if (!(confidence >= 0))
        return;
    b = (int)ceil(confidence * BINS) - 1;
    b = b < 0 ? 0 : b >= BINS ? BINS - 1 : b;
    s->bin_count[b]++;
    s->bin_right[b] += right;
    s->bin_confidence[b] += confidence;
}

/* Of all pairs of members those that do not agree; count: (classes + 1), all 0 and left so. */
static uint64_t differing_pairs(const int *answer, int members, uint64_t *count)
{
    uint64_t same = 0, all = (uint64_t)members * (uint64_t)(members - 1) / 2;

    for (int k = 0; k < members; k++)
        same += count[answer[k] + 1]++;
    for (int k = 0; k < members; k++)
        count[answer[k] + 1] = 0;
    return all - same;
}

void metrics_compute(struct metrics *m, const float *logits, int members, size_t n, int classes,
                     const uint16_t *labels)
{
    struct sums s = {0};
    double *p = mem_new((size_t)classes, sizeof *p); /* of one member */
    double *sum = mem_new((size_t)classes, sizeof *sum);
    double *row = mem_new((size_t)classes, sizeof *row);
    double *log_p = mem_new((size_t)members, sizeof *log_p); /* of the label */
    int *answer = mem_new((size_t)members, sizeof *answer);
    uint64_t *count = mem_new((size_t)classes + 1, sizeof *count);
    double pairs_of = members * (members - 1) / 2.0;

    *m = (struct metrics){.members = members};
    m->member_loss = mem_new((size_t)members, sizeof *m->member_loss);
    m->member_acc = mem_new((size_t)members, sizeof *m->member_acc);
    m->prefix_acc = mem_new((size_t)members, sizeof *m->prefix_acc);
    s.member_loss = m->member_loss;
    s.member_right = mem_new((size_t)members, sizeof *s.member_right);
    s.prefix = mem_new((size_t)members, sizeof *s.prefix);

    for (size_t i = 0; i < n; i++) {
        int label = labels[i], averaged = -1;

        memset(sum, 0, (size_t)classes * sizeof *sum);
        for (int k = 0; k < members; k++) {
            const float *x = logits + ((size_t)k * n + i) * (size_t)classes;

            for (int c = 0; c < classes; c++)
                row[c] = x[c];
            metrics_softmax(x, classes, p);
            for (int c = 0; c < classes; c++)
                sum[c] += p[c];
            answer[k] = answer_of(p, classes);
            averaged = answer_of(sum, classes);
            log_p[k] = row[label] - log_sum_exp(row, classes);
            s.member_loss[k] -= log_p[k];
            s.member_right[k] += answer[k] == label;
            s.prefix[k] += averaged == label;
        }
        /* The logarithm of the mean of probabilities, without ever leaving logarithms: a
         * probability that underflows would make the loss infinite. */
        s.loss -= log_sum_exp(log_p, members) - log(members);
        s.right += averaged == label;
        s.pairs += differing_pairs(answer, members, count);
        add_to_bin(&s, averaged < 0 ? NAN : sum[averaged] / members, averaged == label);
    }

    m->loss = s.loss / (double)n;
    m->acc = (double)s.right / (double)n;
    m->disagreement = members > 1 ? (double)s.pairs / (pairs_of * (double)n) : 0;
    for (int b = 0; b < BINS; b++)
        m->ece += fabs((double)s.bin_right[b] - s.bin_confidence[b]) / (double)n;
    m->member_acc_min = INFINITY;
    m->member_acc_max = -INFINITY;
    for (int k = 0; k < members; k++) {
        m->member_loss[k] /= (double)n;
        m->member_acc[k] = (double)s.member_right[k] / (double)n;
        m->prefix_acc[k] = (double)s.prefix[k] / (double)n;
        m->member_loss_mean += m->member_loss[k];
        m->member_acc_mean += m->member_acc[k];
        m->member_acc_min = fmin(m->member_acc_min, m->member_acc[k]);
        m->member_acc_max = fmax(m->member_acc_max, m->member_acc[k]);
    }
    m->member_loss_mean /= members;
    m->member_acc_mean /= members;

    free(p);
    free(sum);
    free(row);
    free(log_p);
    free(answer);
    free(count);
    free(s.member_right);
    free(s.prefix);
}

void metrics_free(struct metrics *m)
{
    free(m->member_loss);
    free(m->member_acc);
    free(m->prefix_acc);
    *m = (struct metrics){0};
}
