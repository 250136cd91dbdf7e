#include "study/scaling.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names that go with the number of devices, and with how fast it was. */
static bool goes_with_devices(const char *name)
{
    static const char *const with[] = {"devices", "seed", "real_devices", "shared"};

    for (size_t i = 0; i < MEM_COUNT(with); i++)
        if (!strcmp(with[i], name))
            return true;
    return false;
}

static bool same_setting(const struct study_run *a, const struct study_run *b)
{
    struct study_run two[2] = {*a, *b}; /* their sheets are borrowed */
    size_t found;
    const char **names = study_differences(two, 2, &found);
    bool same = true;

    for (size_t i = 0; i < found && same; i++)
        same = goes_with_devices(names[i]);
    free(names);
    return same;
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
    p->shared |= run->entry->run.shared > 1;
}

static int by_place(const void *a, const void *b)
{
    const struct study_point *x = a, *y = b;

    if (x->setting != y->setting)
        return x->setting < y->setting ? -1 : 1;
    return (x->devices > y->devices) - (x->devices < y->devices);
}

static void compare_speed(struct study_point *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct study_point *base = NULL;

        p[i].speed_up = p[i].efficiency = NAN;
        for (size_t j = 0; j < count; j++)
            if (p[j].setting == p[i].setting && !p[j].is_virtual && !p[j].shared &&
                (!base || p[j].real_devices < base->real_devices))
                base = &p[j];
        if (!base || p[i].is_virtual || p[i].shared)
            continue;
        p[i].speed_up = p[i].images_per_second / base->images_per_second;
        p[i].efficiency = p[i].speed_up * (double)base->real_devices / (double)p[i].real_devices;
    }
}

size_t study_scaling(const struct study_run *runs, size_t count, struct study_point **out)
{
    struct study_point *p = mem_new(count + 1, sizeof *p);
    size_t points = 0, settings = 0;

    for (size_t i = 0; i < count; i++) {
        const struct record_run *r = &runs[i].entry->run;
        size_t setting = settings, at = points;

        if (runs[i].last < 0)
            continue;
        for (size_t j = 0; j < points && setting == settings; j++)
            if (same_setting(&runs[i], &runs[p[j].run]))
                setting = p[j].setting;
        for (size_t j = 0; j < points && at == points; j++)
            if (p[j].setting == setting && p[j].devices == r->spec.devices &&
                p[j].real_devices == r->real_devices)
                at = j;
        if (at == points)
            p[points++] = (struct study_point){.setting = setting,
                                               .run = i,
                                               .devices = r->spec.devices,
                                               .real_devices = r->real_devices,
                                               .is_virtual = r->spec.devices > r->real_devices};
        settings += setting == settings;
        add_run(&p[at], &runs[i]);
    }
    qsort(p, points, sizeof *p, by_place);
    compare_speed(p, points);
    *out = p;
    return points;
}
