/* The order in which runs stand beside each other. */
#include "study/runs.h"

#include "base/mem.h"
#include "record/run/reader.h"

#include <stdlib.h>
#include <string.h>

struct place {
    char **value; /* (values) of the settings that differ */
    size_t values, before;
};

static bool is_one_sweep(const struct record_entry *entry, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!entry[i].run.sweep[0] || strcmp(entry[i].run.sweep, entry[0].run.sweep) != 0)
            return false;
    return true;
}

/* Numbers by their size, before words. */
static int compare_values(const char *a, const char *b)
{
    double x, y;
    bool x_is = text_to_double(a, &x), y_is = text_to_double(b, &y);

    if (x_is && y_is)
        return (x > y) - (x < y);
    return x_is != y_is ? y_is - x_is : strcmp(a, b);
}

static int by_values(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = 0;

    for (size_t i = 0; i < x->values && !order; i++)
        order = compare_values(x->value[i], y->value[i]);
    return order ? order : (x->before > y->before) - (x->before < y->before);
}

static char **values_of(const struct study_run *run, const char *const *names, size_t count)
{
    char **values = mem_new(count + 1, sizeof *values);

    for (size_t i = 0; i < count; i++)
        values[i] = study_text(run, names[i]);
    return values;
}

void study_order(struct record_entry *entry, struct study_run *runs, size_t count)
{
    struct place *place;
    struct record_entry *old;
    struct study_run *old_runs;
    const char **names;
    size_t found;

    if (!is_one_sweep(entry, count))
        return;
    names = study_differences(runs, count, &found);
    place = mem_new(count + 1, sizeof *place);
    old = mem_new(count + 1, sizeof *old);
    old_runs = mem_new(count + 1, sizeof *old_runs);
    for (size_t i = 0; i < count; i++) {
        place[i] = (struct place){
            .value = values_of(&runs[i], names, found), .values = found, .before = i};
        old[i] = entry[i];
        old_runs[i] = runs[i];
    }
    qsort(place, count, sizeof *place, by_values);
    for (size_t i = 0; i < count; i++) {
        entry[i] = old[place[i].before];
        runs[i] = old_runs[place[i].before];
        runs[i].entry = &entry[i];
        for (size_t k = 0; k < found; k++)
            free(place[i].value[k]);
        free(place[i].value);
    }
    free(old);
    free(old_runs);
    free(place);
    free(names);
}
