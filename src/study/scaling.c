#include "study/scaling.h"

#include "base/mem.h"
#include "record/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names that go with the number of devices, and with how fast it was. */
static bool goes_with_devices(const char *name)
{
    static const char *const with[] = {"devices", "seed", "real_devices", "shared"};

    return TEXT_IS_AMONG(name, with);
}

/* Takes those away. */
static const char **keep_settings(const char **names, size_t *found)
{
    size_t kept = 0;

    for (size_t i = 0; i < *found; i++)
        if (!goes_with_devices(names[i]))
            names[kept++] = names[i];
    names[kept] = NULL;
    *found = kept;
    return names;
}

/* Seconds are counted from the run's start. */
static double share(const struct study_run *run, const char *column)
{
    static const char *const all[] = {"input_seconds", "compute_seconds", "reduce_seconds",
                                      "wait_seconds"};
    double sum = 0;

    for (size_t i = 0; i < MEM_COUNT(all); i++)
        sum += study_at(run, run->last, all[i]);
    return study_at(run, run->last, column) / sum;
}

static void add_run(struct study_point *p, const struct study_run *run)
{
    double n = (double)++p->runs;
    double speed =
        study_at(run, run->last, "model_images") / study_at(run, run->last, "train_seconds");

    p->images_per_second += (speed - p->images_per_second) / n;
    p->input += (share(run, "input_seconds") - p->input) / n;
    p->compute += (share(run, "compute_seconds") - p->compute) / n;
    p->reduce += (share(run, "reduce_seconds") - p->reduce) / n;
    p->wait += (share(run, "wait_seconds") - p->wait) / n;
}

bool study_point_counts(const struct study_point *p)
{
    return !p->is_virtual && !p->shared;
}

static int by_place(const void *a, const void *b)
{
    const struct study_point *x = a, *y = b;

    if (x->setting != y->setting)
        return x->setting < y->setting ? -1 : 1;
    if (x->devices != y->devices)
        return x->devices < y->devices ? -1 : 1;
    if (study_point_counts(x) != study_point_counts(y))
        return study_point_counts(x) ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

static void compare_speed(struct study_point *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct study_point *base = NULL;

        p[i].speed_up = p[i].efficiency = NAN;
        for (size_t j = 0; j < count; j++)
            if (p[j].setting == p[i].setting && study_point_counts(&p[j]) &&
                (!base || p[j].real_devices < base->real_devices))
                base = &p[j];
        if (!base || !study_point_counts(&p[i]))
            continue;
        p[i].speed_up = p[i].images_per_second / base->images_per_second;
        p[i].efficiency = p[i].speed_up * (double)base->real_devices / (double)p[i].real_devices;
    }
}

const char **study_scaling_differences(const struct study_run *runs, const struct study_point *p,
                                       size_t points, size_t *found)
{
    struct study_run *first = mem_new(points + 1, sizeof *first); /* their sheets are borrowed */
    const char **names;

    for (size_t i = 0; i < points; i++)
        first[i] = runs[p[i].run];
    names = keep_settings(study_differences(first, points, found), found);
    free(first);
    return names;
}

size_t study_scaling(const struct study_run *runs, size_t count, struct study_point **out)
{
    struct study_point *p = mem_new(count + 1, sizeof *p);
    size_t *of = mem_new(count + 1, sizeof *of), points = 0, found;
    const char **names = keep_settings(study_differences(runs, count, &found), &found);

    study_group_by(runs, count, names, found, of);
    free(names);
    for (size_t i = 0; i < count; i++) {
        const struct record_run *r = &runs[i].entry->run;
        size_t at = points;

        if (runs[i].last < 0 || study_is_average(&runs[i])) /* which nothing computed in one go */
            continue;
        for (size_t j = 0; j < points && at == points; j++)
            if (p[j].setting == of[i] && p[j].devices == r->spec.devices &&
                p[j].real_devices == r->real_devices && p[j].shared == (r->shared > 1))
                at = j;
        if (at == points)
            p[points++] = (struct study_point){.setting = of[i],
                                               .run = i,
                                               .devices = r->spec.devices,
                                               .real_devices = r->real_devices,
                                               .shared = r->shared > 1,
                                               .is_virtual = r->spec.devices > r->real_devices};
        add_run(&p[at], &runs[i]);
    }
    free(of);
    qsort(p, points, sizeof *p, by_place);
    for (size_t i = 0, n = 0; i < points; i++) { /* runs without an epoch may have left gaps */
        size_t next = i + 1 < points && p[i + 1].setting != p[i].setting;

        p[i].setting = n;
        n += next;
    }
    compare_speed(p, points);
    *out = p;
    return points;
}

size_t study_scaling_line(const struct study_point *p, size_t n, size_t setting, bool counts,
                          bool speed_up, double *x, double *y)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i].setting != setting || study_point_counts(&p[i]) != counts)
            continue;
        if (!counts && at) {
            x[at] = x[at - 1];
            y[at++] = NAN;
        }
        x[at] = (double)p[i].devices;
        y[at++] = speed_up ? p[i].speed_up : p[i].images_per_second;
    }
    return at;
}

bool study_can_scale(const struct study_run *runs, size_t count)
{
    struct study_point *p;
    size_t points = study_scaling(runs, count, &p);
    bool can = false;

    for (size_t i = 1; i < points && !can; i++)
        can = p[i].setting == p[i - 1].setting && p[i].devices != p[i - 1].devices;
    free(p);
    return can;
}
