/* live/sweep_find.c: which cell of a sweep has these values. Each row of its table asks that of every list, which may have
 * thousands of values: these are sorted once. */
#include "live/sweep_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct typed { /* a value of a list, by its text without quotes */
    char *text;
    size_t at;
};
struct counted { /* and by the number that it is */
    double number;
    size_t at;
};
struct live_values {
    struct typed *typed;
    struct counted *counted;
    size_t numbers;
};

/* Of equal ones the first of the list comes first. */
static int by_place(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_text(const void *x, const void *y)
{
    const struct typed *a = x, *b = y;
    int order = strcmp(a->text, b->text);

    return order ? order : by_place(a->at, b->at);
}

static int by_number(const void *x, const void *y)
{
    const struct counted *a = x, *b = y;
    int order = (a->number > b->number) - (a->number < b->number);

    return order ? order : by_place(a->at, b->at);
}

void live_sweep_know_values(struct live_sweep *s)
{
    s->value = mem_new(s->spec.axes + 1, sizeof *s->value);
    for (size_t a = 0; a < s->spec.axes; a++) {
        const struct spec_axis *axis = &s->spec.axis[a];
        struct live_values *v = &s->value[a];
        struct text plain = {0};

        v->typed = mem_new(axis->values + 1, sizeof *v->typed);
        v->counted = mem_new(axis->values + 1, sizeof *v->counted);
        for (size_t i = 0; i < axis->values; i++) {
            double number;

            text_clear(&plain);
            spec_add_plain(&plain, axis->value[i]);
            v->typed[i] = (struct typed){mem_text(text_str(&plain)), i};
            if (text_to_double(text_str(&plain), &number) && !isnan(number))
                v->counted[v->numbers++] = (struct counted){number, i};
        }
        text_free(&plain);
        qsort(v->typed, axis->values, sizeof *v->typed, by_text);
        qsort(v->counted, v->numbers, sizeof *v->counted, by_number);
    }
}

void live_sweep_forget_values(struct live_sweep *s)
{
    for (size_t a = 0; s->value && a < s->spec.axes; a++) {
        for (size_t i = 0; i < s->spec.axis[a].values; i++)
            free(s->value[a].typed[i].text);
        free(s->value[a].typed);
        free(s->value[a].counted);
    }
    free(s->value);
    s->value = NULL;
}

static size_t find_text(const struct live_values *v, size_t values, const char *found)
{
    size_t low = 0, high = values;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(v->typed[middle].text, found) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < values && !strcmp(v->typed[low].text, found) ? v->typed[low].at : values;
}

static size_t find_number(const struct live_values *v, size_t values, double found)
{
    size_t low = 0, high = v->numbers;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (v->counted[middle].number < found)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->numbers && v->counted[low].number == found ? v->counted[low].at : values;
}

/* The first that is the same text or the same number; values: there is none. */
static size_t find_value(const struct live_values *v, size_t values, const char *found)
{
    size_t at = find_text(v, values, found), other = values;
    double number;

    if (text_to_double(found, &number) && !isnan(number))
        other = find_number(v, values, number);
    return at < other ? at : other;
}

/* Whether what was typed means that, once it is resolved in this cell. */
static bool resolves_to(const struct live_sweep *s, size_t cell, const struct spec_axis *a,
                        const char *found)
{
    struct spec *one = mem_new(1, sizeof *one);
    struct text value = {0};
    bool same = false;
    double x;

    if (spec_sweep_cell(&s->spec, cell, one, NULL) == ERR_OK) {
        spec_value(one, spec_key_find(a->key), &value);
        same =
            !strcmp(text_str(&value), found) ||
            (!strcmp(a->key, "batch") && text_to_double(found, &x) && x == (double)spec_batch(one));
    }
    text_free(&value);
    free(one);
    return same;
}

/* Cells that fit as far as values were recognised, nobody's yet: the one that resolves to the others, or
 * the only one. */
static size_t find_unresolved(const struct live_sweep *s, const size_t *which,
                              const char *const *values)
{
    size_t *place = mem_new(s->spec.axes + 1, sizeof *place), only = s->cells, fit = 0;

    for (size_t i = 0; i < s->cells; i++) {
        bool fits = !s->cell[i].known && !s->cell[i].left_out, resolved = true;

        if (!fits)
            continue;
        spec_sweep_place(&s->spec, i, place);
        for (size_t a = 0; a < s->spec.axes && fits; a++)
            fits = which[a] == s->spec.axis[a].values || which[a] == place[a];
        if (!fits)
            continue;
        for (size_t a = 0; a < s->spec.axes && resolved; a++)
            if (which[a] == s->spec.axis[a].values)
                resolved = resolves_to(s, i, &s->spec.axis[a], values[a]);
        if (resolved) {
            free(place);
            return i;
        }
        fit++;
        only = i;
    }
    free(place);
    return fit == 1 ? only : s->cells;
}

size_t live_sweep_find(const struct live_sweep *s, const char *const *values)
{
    size_t *which = mem_new(s->spec.axes + 1, sizeof *which), found = s->cells;
    bool all = true;

    for (size_t a = 0; a < s->spec.axes; a++) {
        const struct spec_axis *axis = &s->spec.axis[a];

        which[a] = find_value(&s->value[a], axis->values, values[a]);
        all = all && which[a] < axis->values;
    }
    if (all && s->cells)
        found = spec_sweep_at(&s->spec, which);
    else if (!all)
        found = find_unresolved(s, which, values);
    free(which);
    return found;
}
