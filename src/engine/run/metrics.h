/* engine/run/metrics.h: every number that is made of logits, computed once, in double. Pure functions. */
#ifndef CHORUS_ENGINE_RUN_METRICS_H
#define CHORUS_ENGINE_RUN_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct metrics {      /* of one evaluation */
    double loss, acc; /* NLL and accuracy of the averaged probabilities */
    double member_loss_mean, member_acc_min, member_acc_mean, member_acc_max;
    double ece;          /* 15 equal bins of the highest probability; a bound is the lower bin's */
    double disagreement; /* share of images, mean over pairs of members; 0 for one */
    double *member_loss, *member_acc, *prefix_acc; /* (members), freed by metrics_free */
    int members;
};

/* logits: (members, n, classes). Softmax per member, then the mean. Ties: the lowest class. */
void metrics_compute(struct metrics *m, const float *logits, int members, size_t n, int classes,
                     const uint16_t *labels);
void metrics_free(struct metrics *m);

/* The logarithm of a class's probability, in double: finite wherever the logits are. */
double metrics_log_p(const float *logits, int classes, int class);
/* Softmax of one row, in double. */
void metrics_softmax(const float *logits, int classes, double *probabilities);

#endif
