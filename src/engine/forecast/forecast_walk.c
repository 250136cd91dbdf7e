/* engine/forecast/forecast_walk.c: all cells in the order in which they run, by what is alike in them. */
#include "engine/forecast/forecast_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_FATES 3 /* that are told with reasons */

/* Lists that walk together count as one, and are alike where all of them are. */
static void find_alike(struct forecast *f)
{
    const struct spec_sweep *s = &f->sweep;
    size_t n = 1;

    f->place = mem_new(s->axes + 1, sizeof *f->place);
    f->step = mem_new(s->axes + 1, sizeof *f->step);
    f->leads = mem_new(s->axes + 1, sizeof *f->leads);
    f->lr_axis = s->axes;
    for (size_t a = 0; a < s->axes; a++) {
        size_t leader = a;
        bool all = true;

        for (size_t b = 0; b < s->axes; b++)
            if (b == a || (s->axis[a].zip && s->axis[b].zip == s->axis[a].zip)) {
                leader = b < leader ? b : leader;
                all = all && kinds_alike(s, s->axis[b].key);
            }
        if (all && !strcmp(s->axis[a].key, "lr")) {
            f->lr_axis = a;
            f->lr_leader = leader;
        }
        f->leads[a] = leader == a;
        if (all || leader != a)
            continue;
        f->step[a] = n;
        n *= s->axis[a].values;
    }
    f->alike = mem_new(n, sizeof *f->alike);
    f->alikes = n;
    if (f->lr_axis < s->axes)
        f->lr_value = mem_new(s->axis[f->lr_axis].values, sizeof *f->lr_value);
}

struct forecast *forecast_new(struct spec_sweep *s, const struct forecast_wish *wish)
{
    struct forecast *f = mem_new(1, sizeof *f);

    f->sweep = *s;
    memset(s, 0, sizeof *s);
    f->wish = *wish;
    f->jobs = spec_sweep_jobs(&f->sweep, wish->jobs);
    f->cells = spec_sweep_varies(&f->sweep) ? spec_sweep_cells(&f->sweep) : 1;
    f->most = spec_sweep_varies(&f->sweep) && wish->max_cells > 0 ? (size_t)wish->max_cells : 0;
    find_alike(f);
    f->kind_of = mem_new(f->cells, sizeof *f->kind_of);
    f->spec = mem_new(1, sizeof *f->spec);
    f->reasons.list = mem_new(WIRE_REASONS, sizeof *f->reasons.list);
    kinds_start(&f->kinds, wish->kinds);
    f->lr = (struct wire_range){NAN, NAN};
    if (wish->cells)
        f->cell = mem_new(f->cells, sizeof *f->cell);
    return f;
}

void forecast_free(struct forecast *f)
{
    if (!f)
        return;
    kinds_free(&f->kinds);
    for (size_t i = 0; i < f->alikes; i++)
        free(f->alike[i].text);
    for (size_t i = 0; f->cell && i < f->cells; i++)
        free(f->cell[i].reason);
    free(f->cell);
    free(f->reasons.list);
    free(f->spec);
    free(f->place);
    free(f->step);
    free(f->leads);
    free(f->alike);
    free(f->lr_value);
    free(f->order);
    free(f->kind_of);
    free(f->had);
    spec_sweep_free(&f->sweep);
    free(f);
}

/* Its place among those that were told; count: none. */
static size_t find_reason(const struct reasons *r, enum wire_fate fate, const char *text)
{
    size_t i = 0;

    while (i < r->count && (r->list[i].fate != fate || strcmp(r->list[i].text, text) != 0))
        i++;
    return i;
}

size_t reasons_add(struct reasons *r, enum wire_fate fate, const char *text, size_t cells)
{
    size_t i = find_reason(r, fate, text);

    if (i == r->count && r->count >= WIRE_REASONS - REASON_FATES) {
        text = WIRE_OTHER_REASONS;
        i = find_reason(r, fate, text);
    }
    if (i == r->count) {
        r->list[r->count++] = (struct wire_reason){.fate = fate};
        snprintf(r->list[i].text, sizeof r->list[i].text, "%s", text);
    }
    r->list[i].cells += cells;
    return i;
}

static void look_closely(struct forecast *f, size_t cell, struct alike *out)
{
    struct err e = {0};

    f->made++;
    out->seen = true;
    if (!spec_sweep_varies(&f->sweep))
        *f->spec = f->sweep.base;
    else if (spec_sweep_cell(&f->sweep, cell, f->spec, &e) != ERR_OK) {
        out->kind = KIND_NONE;
        out->reason = (uint16_t)reasons_add(&f->reasons, WIRE_LEFT_OUT, e.text, 0);
        out->code = e.code;
        out->text = f->cell ? mem_text(e.text) : NULL;
        return;
    }
    if (f->lr_axis < f->sweep.axes)
        f->spec->lr = 1;
    out->lr = spec_base_lr(f->spec, spec_batch(f->spec));
    out->kind = (uint16_t)kinds_find(&f->kinds, f->spec);
}

static double read_lr(const struct forecast *f, const char *value)
{
    double lr;

    if (text_to_double(value, &lr))
        return lr;
    /* it stands in quotes */
    return spec_set(f->spec, "lr", value, NULL, NULL, NULL) == ERR_OK ? f->spec->lr : NAN;
}

static double lr_of(const struct forecast *f, const struct alike *x)
{
    size_t at;

    if (f->lr_axis == f->sweep.axes)
        return x->lr;
    at = f->place[f->lr_leader];
    if (!f->lr_value[at])
        f->lr_value[at] = read_lr(f, f->sweep.axis[f->lr_axis].value[at]);
    return f->lr_value[at] * x->lr;
}

static void go_to(struct forecast *f, size_t cell)
{
    spec_sweep_place(&f->sweep, cell, f->place);
    f->number = 0;
    for (size_t a = 0; a < f->sweep.axes; a++)
        f->number += f->step[a] * f->place[a];
}

/* The next one as the lists stand, the last list fastest: to divide by each list's length takes longer than
 * all else of a cell that is like an earlier one. */
static void go_on(struct forecast *f)
{
    for (size_t a = f->sweep.axes; a-- > 0;) {
        if (!f->leads[a])
            continue;
        f->number += f->step[a];
        if (++f->place[a] < f->sweep.axis[a].values)
            return;
        f->number -= f->step[a] * f->place[a];
        f->place[a] = 0;
    }
}

static uint16_t look_at(struct forecast *f, size_t cell)
{
    struct alike *x;
    double lr;

    if (f->order)
        go_to(f, cell);
    else if (cell)
        go_on(f);
    x = &f->alike[f->number];
    if (!x->seen)
        look_closely(f, cell, x);
    if (x->kind == KIND_NONE) {
        f->left_out++;
        f->reasons.list[x->reason].cells++;
        return x->kind;
    }
    ++*(x->kind == KIND_OTHER ? &f->other : &f->kinds.kind[x->kind]->cells);
    lr = lr_of(f, x);
    f->lr.lo = isnan(f->lr.lo) || lr < f->lr.lo ? lr : f->lr.lo;
    f->lr.hi = isnan(f->lr.hi) || lr > f->lr.hi ? lr : f->lr.hi;
    return x->kind;
}

static void begin_cell(struct forecast *f, size_t i, size_t cell)
{
    const struct alike *x = &f->alike[f->number];

    f->cell[i] = (struct forecast_cell){.number = cell, .fate = WIRE_BEYOND, .twin = SIZE_MAX};
    if (x->kind != KIND_NONE)
        return;
    f->cell[i].fate = WIRE_LEFT_OUT;
    f->cell[i].code = x->code;
    f->cell[i].reason = mem_text(x->text);
}

bool forecast_walk(struct forecast *f, uint64_t ns, const atomic_bool *stop)
{
    uint64_t start = clock_ns();

    if (!f->order && !f->wish.grid && (f->most || f->cell) && spec_sweep_varies(&f->sweep)) {
        f->order = mem_new(f->cells, sizeof *f->order);
        spec_sweep_spread(&f->sweep, f->order);
    }
    while (f->seen < f->cells) {
        size_t cell = f->order ? f->order[f->seen] : f->seen;

        f->kind_of[f->seen] = look_at(f, cell);
        if (f->cell)
            begin_cell(f, f->seen, cell);
        f->seen++;
        if ((f->seen & 15) == 0 && (clock_ns() - start >= ns || (stop && atomic_load(stop))))
            break;
    }
    return f->seen == f->cells;
}

size_t forecast_made(const struct forecast *f)
{
    return f->made;
}
