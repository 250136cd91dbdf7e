/* What a sweep's cells are and what they came to, as numbers. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "record/best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- dimensions ---- */

static void add_dim(struct sweepview_sweep *s, size_t axis)
{
    const struct spec_axis *a = &s->now->spec.axis[axis];
    struct sweepview_dim *d;

    s->dim = mem_resize(s->dim, s->dims + 1, sizeof *s->dim);
    d = &s->dim[s->dims++];
    *d = (struct sweepview_dim){.name = mem_text(a->key), .values = a->values, .axis = axis};
    d->value = mem_new(d->values + 1, sizeof *d->value);
    for (size_t i = 0; i < d->values; i++)
        d->value[i] = mem_text(a->value[i]);
}

static void join_dim(struct sweepview_dim *d, const struct spec_axis *a)
{
    char *name = mem_textf("%s, %s", d->name, a->key);

    free(d->name);
    d->name = name;
    for (size_t i = 0; i < d->values && i < a->values; i++) {
        char *value = mem_textf("%s, %s", d->value[i], a->value[i]);

        free(d->value[i]);
        d->value[i] = value;
    }
}

static void find_dims(struct sweepview_sweep *s)
{
    for (size_t i = 0; i < s->now->spec.axes; i++) {
        const struct spec_axis *a = &s->now->spec.axis[i];
        size_t d = 0;

        while (d < s->dims && !(a->zip && s->now->spec.axis[s->dim[d].axis].zip == a->zip))
            d++;
        if (d < s->dims)
            join_dim(&s->dim[d], a);
        else
            add_dim(s, i);
    }
    s->repeats_dim = s->dims;
    for (size_t d = 0; d < s->dims && s->dims > 1; d++)
        if (!strcmp(s->dim[d].name, "seed"))
            s->repeats_dim = d;
    if (s->repeats_dim < s->dims)
        s->dim[s->repeats_dim].repeats = true;
}

/* Computed numbers in as few digits as tell them apart, paths by their last parts where those do. */
static void shorten(struct sweepview_dim *d)
{
    const char **plain = mem_new(d->values + 1, sizeof *plain);
    int digits;

    d->brief = mem_new(d->values + 1, sizeof *d->brief);
    for (size_t i = 0; i < d->values; i++) {
        struct text value = {0};

        spec_add_plain(&value, d->value[i]);
        d->brief[i] = value.s ? value.s : mem_text("");
        plain[i] = d->brief[i];
    }
    digits = text_least_digits(plain, d->values);
    for (size_t i = 0; i < d->values; i++) {
        struct text value = {0};
        const char *slash = strrchr(d->brief[i], '/');
        double x;

        if (slash && slash[1] && !text_to_double(slash + 1, &x))
            text_add(&value, slash + 1);
        else
            text_add_short(&value, d->brief[i], digits);
        free(d->brief[i]);
        d->brief[i] = value.s ? value.s : mem_text("");
    }
    free(plain);
}

static void number_groups(struct sweepview_sweep *s)
{
    size_t *place = mem_new(s->now->spec.axes + 1, sizeof *place), *at;

    s->repeats = s->repeats_dim < s->dims ? s->dim[s->repeats_dim].values : 1;
    s->groups = s->best = s->repeats ? s->now->cells / s->repeats : 0;
    s->group = mem_new(s->groups + 1, sizeof *s->group);
    s->cell_at = mem_new(s->now->cells + 1, sizeof *s->cell_at);
    at = mem_new(s->dims + 1, sizeof *at);
    for (size_t i = 0; i < s->now->cells; i++) {
        size_t r = 0;

        spec_sweep_place(&s->now->spec, i, place);
        for (size_t d = 0; d < s->dims; d++)
            at[d] = place[s->dim[d].axis];
        if (s->repeats_dim < s->dims)
            r = at[s->repeats_dim];
        s->cell_at[sweepview_group_at(s, at) * s->repeats + r] = i;
    }
    free(at);
    free(place);
}

static double test_images_of(const struct spec *spec)
{
    if (spec->test_limit)
        return (double)spec->test_limit;
    return !strcmp(spec->data, "mnist") || !strcmp(spec->data, "fashion-mnist") ? 10000 : NAN;
}

struct sweepview_sweep *sweepview_new(struct live_sweep *now)
{
    struct sweepview_sweep *s = mem_new(1, sizeof *s);

    s->now = now;
    s->best_cell = now->cells;
    if (now->problem)
        return s;
    s->test_images = test_images_of(&now->spec.base);
    find_dims(s);
    if (s->dims > SWEEPVIEW_MOST_DIMS) {
        now->problem = mem_textf("This sweep walks %zu lists; boards of up to %d are drawn.",
                                 s->dims, SWEEPVIEW_MOST_DIMS);
        return s;
    }
    for (size_t d = 0; d < s->dims; d++)
        shorten(&s->dim[d]);
    number_groups(s);
    sweepview_sum(s);
    return s;
}

void sweepview_free(struct sweepview_sweep *s)
{
    if (!s)
        return;
    for (size_t d = 0; d < s->dims; d++) {
        for (size_t i = 0; i < s->dim[d].values; i++) {
            free(s->dim[d].value[i]);
            if (s->dim[d].brief)
                free(s->dim[d].brief[i]);
        }
        free(s->dim[d].value);
        free(s->dim[d].brief);
        free(s->dim[d].name);
    }
    live_sweep_free(s->now);
    free(s->dim);
    free(s->cell_at);
    free(s->group);
    free(s);
}

/* ---- places ---- */

size_t sweepview_group_at(const struct sweepview_sweep *s, const size_t *at)
{
    size_t group = 0;

    for (size_t d = 0; d < s->dims; d++)
        if (d != s->repeats_dim)
            group = group * s->dim[d].values + at[d];
    return group;
}

void sweepview_place(const struct sweepview_sweep *s, size_t group, size_t *at)
{
    for (size_t d = s->dims; d-- > 0;) {
        at[d] = 0;
        if (d == s->repeats_dim)
            continue;
        at[d] = group % s->dim[d].values;
        group /= s->dim[d].values;
    }
}

size_t sweepview_cell_of(const struct sweepview_sweep *s, size_t group, size_t r)
{
    return s->cell_at[group * s->repeats + r];
}

/* ---- what they came to ---- */

double sweepview_choice(const struct sweepview_sweep *s, const struct live_cell *c)
{
    return s->on_valid ? c->val_acc : c->acc;
}

/* x, y: room for a number a repeat. */
static void sum_group(const struct sweepview_sweep *s, size_t number, double *x, double *y)
{
    struct sweepview_group *g = &s->group[number];
    double shares = 0;
    size_t shared = 0;

    *g = (struct sweepview_group){.mean = NAN, .share = NAN, .best = s->now->cells};
    for (size_t r = 0; r < s->repeats; r++) {
        size_t i = sweepview_cell_of(s, number, r);
        const struct live_cell *c = &s->now->cell[i];

        if (!c->known) {
            g->left_out += c->left_out;
            g->twins += c->twin;
            g->unknown += !c->left_out;
            continue;
        }
        g->of_state[c->state]++;
        g->dead += c->dead;
        g->full += c->full && c->state == WIRE_RUNNING;
        if (c->state == WIRE_RUNNING && isfinite(c->share)) {
            shares += c->share;
            shared++;
        }
        if (!live_cell_has_accuracy(c))
            continue;
        x[g->runs] = c->acc;
        y[g->runs++] = sweepview_choice(s, c);
        if (g->best == s->now->cells ||
            sweepview_choice(s, c) > sweepview_choice(s, &s->now->cell[g->best]))
            g->best = i;
    }
    g->mean = study_mean(x, g->runs);
    g->choice = study_mean(y, g->runs);
    g->sd = study_sd(x, g->runs);
    if (shared)
        g->share = shares / (double)shared;
}

/* The best group against another one, by the seeds that both have. */
static void compare_group(struct sweepview_sweep *s, size_t number, double *x, double *y)
{
    struct sweepview_group *g = &s->group[number];
    size_t n = 0;

    for (size_t r = 0; r < s->repeats; r++) {
        const struct live_cell *a = &s->now->cell[sweepview_cell_of(s, s->best, r)];
        const struct live_cell *b = &s->now->cell[sweepview_cell_of(s, number, r)];

        if (live_cell_has_accuracy(a) && live_cell_has_accuracy(b)) {
            x[n] = sweepview_choice(s, a);
            y[n++] = sweepview_choice(s, b);
        }
    }
    g->gap = study_paired(x, y, n);
    g->even = n >= 2 && g->gap.lo <= 0 && g->gap.hi >= 0;
    s->even += g->even;
    s->told += n >= 2 && !g->even;
    s->few += n < 2;
}

void sweepview_sum(struct sweepview_sweep *s)
{
    double *x = mem_new(s->repeats + 1, sizeof *x), *y = mem_new(s->repeats + 1, sizeof *y);
    struct record_choice *of = mem_new(s->now->cells + 1, sizeof *of);
    bool by_valid;

    s->even = s->told = s->few = 0;
    for (size_t i = 0; i < s->now->cells; i++) {
        of[i].acc = live_cell_has_accuracy(&s->now->cell[i]) ? s->now->cell[i].acc : NAN;
        of[i].val_acc = s->now->cell[i].val_acc;
    }
    s->best_cell = record_best(of, s->now->cells, &s->on_valid);
    for (size_t i = 0; i < s->groups; i++) {
        sum_group(s, i, x, y);
        of[i] = (struct record_choice){.acc = s->group[i].choice, .val_acc = NAN};
    }
    s->best = record_best(of, s->groups, &by_valid);
    if (spec_sweep_tests_apart(&s->now->spec)) {
        s->best = s->groups;
        s->best_cell = s->now->cells;
    }
    for (size_t i = 0; i < s->groups && s->best < s->groups; i++)
        if (i != s->best && s->group[i].runs)
            compare_group(s, i, x, y);
    free(of);
    free(x);
    free(y);
}
