#include "study/stats.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double study_mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double study_sd(const double *x, size_t n)
{
    double mean = study_mean(x, n), sum = 0;

    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sqrt(sum / (double)(n - 1));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double study_median(const double *x, size_t n)
{
    double *sorted, median;

    if (!n)
        return NAN;
    sorted = mem_new(n, sizeof *sorted);
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    median = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    free(sorted);
    return median;
}

/* The share of Student's distribution within -t..t: the finite sums of Abramowitz and Stegun 26.7.3
 * (odd) and 26.7.4 (even), with theta = atan(t / sqrt(freedom)). */
static double share_within(double t, size_t freedom)
{
    double theta = atan(t / sqrt((double)freedom)), s = sin(theta), c2 = cos(theta) * cos(theta);
    bool odd = freedom % 2;
    double term = odd ? cos(theta) : 1, sum = freedom > 1 || !odd ? term : 0;

    for (size_t k = odd ? 3 : 2; k < freedom; k += 2) {
        term *= c2 * (double)(k - 1) / (double)k;
        sum += term;
    }
    return odd ? 2 / M_PI * (theta + s * sum) : s * sum;
}

double study_t95(size_t freedom)
{
    double lo = 0, hi = 20;

    if (!freedom)
        return NAN;
    if (freedom > 100000)
        return 1.959963984540054;
    while (hi - lo > 1e-12) {
        double middle = 0.5 * (lo + hi);

        if (share_within(middle, freedom) < 0.95)
            lo = middle;
        else
            hi = middle;
    }
    return 0.5 * (lo + hi);
}

struct study_interval study_paired(const double *a, const double *b, size_t n)
{
    double *difference = mem_new(n, sizeof *difference), reach;
    struct study_interval i = {.n = n};

    for (size_t k = 0; k < n; k++)
        difference[k] = a[k] - b[k];
    i.mean = study_mean(difference, n);
    reach = n < 2 ? NAN : study_t95(n - 1) * study_sd(difference, n) / sqrt((double)n);
    i.lo = i.mean - reach;
    i.hi = i.mean + reach;
    free(difference);
    return i;
}

double study_accuracy_error(double accuracy, double images)
{
    return sqrt(accuracy * (1 - accuracy) / images);
}
