/* draw/plot/plot_smooth.c: exponential means over all points of a curve. */
#include "draw/plot/plot_int.h"

#include <math.h>

/* The sum of the values, each by weight to the power of its age, over the sum of those powers (share):
 * as TensorBoard does it, but a constant stays one to the last bit, and weight 1 is the plain mean. */
double plot_mean_add(struct plot_mean *m, double value)
{
    if (!isfinite(value) || fabs(value) > PLOT_LARGEST)
        return value;
    m->share = m->weight * m->share + 1;
    m->value += (value - m->value) * (1 / m->share);
    return m->value;
}

double plot_mean_weight(double points)
{
    return points > 1 ? (points - 1) / (points + 1) : 0;
}

void plot_smooth(const struct plot_series *in, double weight, double *y_out)
{
    struct plot_mean mean = {.weight = weight > 0 ? fmin(weight, 1) : 0};

    for (size_t i = 0; i < in->n; i++)
        y_out[i] = plot_mean_add(&mean, in->y[i]);
}
