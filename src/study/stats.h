/* study/stats.h: the little statistics that runs need, each as a textbook has it. */
#ifndef CHORUS_STUDY_STATS_H
#define CHORUS_STUDY_STATS_H

#include <stddef.h>

double study_mean(const double *x, size_t n); /* nan of nothing */
double study_sd(const double *x, size_t n);   /* of a sample: over n - 1; nan below two values */
double study_median(const double *x, size_t n);

/* How many standard errors a 95 % interval reaches to each side with so many degrees of freedom:
 * Student's t, 12.71 with one, 1.96 with very many. */
double study_t95(size_t freedom);

struct study_interval { /* of a mean, 95 % */
    double mean, lo, hi;
    size_t n;
};
/* Of the mean of a[i] - b[i]: two settings from the same seeds. Below two pairs lo and hi are nan. */
struct study_interval study_paired(const double *a, const double *b, size_t n);
/* The error of an accuracy measured on n images by chance alone: one standard deviation. */
double study_accuracy_error(double accuracy, double images);

#endif
