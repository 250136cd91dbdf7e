/* study/scaling.h: what more devices bring. Speed-up and efficiency are told of real devices alone:
 * virtual ones share what there is, and runs that computed beside others say nothing. */
#ifndef CHORUS_STUDY_SCALING_H
#define CHORUS_STUDY_SCALING_H

#include "study/runs.h"

struct study_point {
    size_t setting; /* points of one setting differ in their devices (and seed) */
    size_t run;     /* the first of the runs that it is made of */
    int64_t devices, real_devices;
    size_t runs;                         /* how many: from other seeds */
    double images_per_second;            /* of all members, in training: the mean over the runs */
    double speed_up, efficiency;         /* nan where they say nothing */
    double input, compute, reduce, wait; /* shares of the devices' time; nan: not known */
    bool is_virtual, shared; /* points of shared runs stand beside those of runs alone */
};

/* Whether it says something of speed-up. */
bool study_point_counts(const struct study_point *p);

/* Points by setting, then by devices, those that count first. The caller frees *out. Speed-up is over the
 * fewest real devices of the same setting, efficiency is per device of those. */
size_t study_scaling(const struct study_run *runs, size_t count, struct study_point **out);
/* The points of a setting that count as a curve over the devices, or those that do not: each of these
 * stands alone, between gaps. x, y: room for 2 n. Returns how many values. */
size_t study_scaling_line(const struct study_point *p, size_t n, size_t setting, bool counts,
                          bool speed_up, double *x, double *y);
/* Whether two points differ in their devices alone. */
bool study_can_scale(const struct study_run *runs, size_t count);
/* What tells their settings apart, as study_differences says it; the names are the runs'. */
const char **study_scaling_differences(const struct study_run *runs, const struct study_point *p,
                                       size_t points, size_t *found);

#endif
