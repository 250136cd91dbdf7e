#include "ui/setup/survey_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Lists that walk together count as one, and are alike where all of them are. */
static void find_alike(struct survey *v)
{
    const struct spec_sweep *s = &v->sweep;
    size_t n = 1;

    v->place = mem_new(s->axes + 1, sizeof *v->place);
    v->step = mem_new(s->axes + 1, sizeof *v->step);
    v->leads = mem_new(s->axes + 1, sizeof *v->leads);
    v->lr_axis = s->axes;
    for (size_t a = 0; a < s->axes; a++) {
        size_t leader = a;
        bool all = true;

        for (size_t b = 0; b < s->axes; b++)
            if (b == a || (s->axis[a].zip && s->axis[b].zip == s->axis[a].zip)) {
                leader = b < leader ? b : leader;
                all = all && kinds_alike(s, s->axis[b].key);
            }
        if (all && !strcmp(s->axis[a].key, "lr")) {
            v->lr_axis = a;
            v->lr_leader = leader;
        }
        v->leads[a] = leader == a;
        if (all || leader != a)
            continue;
        v->step[a] = n;
        n *= s->axis[a].values;
    }
    v->alike = mem_new(n, sizeof *v->alike);
    if (v->lr_axis < s->axes)
        v->lr_value = mem_new(s->axis[v->lr_axis].values, sizeof *v->lr_value);
}

struct survey *survey_new(struct spec_sweep *s)
{
    struct survey *v = mem_new(1, sizeof *v);

    v->sweep = *s;
    memset(s, 0, sizeof *s);
    v->cells = spec_sweep_varies(&v->sweep) ? spec_sweep_cells(&v->sweep) : 1;
    find_alike(v);
    v->kind_of = mem_new(v->cells, sizeof *v->kind_of);
    v->cell = mem_new(1, sizeof *v->cell);
    kinds_start(&v->kinds);
    v->lr = (struct survey_range){NAN, NAN};
    return v;
}

void survey_free(struct survey *v)
{
    if (!v)
        return;
    kinds_free(&v->kinds);
    survey_free_reasons(v->reason, v->reasons);
    free(v->cell);
    free(v->place);
    free(v->step);
    free(v->leads);
    free(v->alike);
    free(v->lr_value);
    free(v->order);
    free(v->kind_of);
    spec_sweep_free(&v->sweep);
    free(v);
}

void survey_cut(struct survey *v, int64_t most, bool grid)
{
    if (most <= 0 || !spec_sweep_varies(&v->sweep))
        return;
    v->most = (size_t)most;
    v->spread = !grid;
}

/* Its place among those that were told; n: none. */
static size_t find_reason(const struct survey_reason *list, size_t n, enum survey_fate fate,
                          const char *text)
{
    size_t i = 0;

    while (i < n && (list[i].fate != fate || strcmp(list[i].text, text) != 0))
        i++;
    return i;
}

size_t survey_add_reason(struct survey_reason *list, size_t *n, enum survey_fate fate,
                         const char *text, size_t cells)
{
    size_t i = find_reason(list, *n, fate, text);

    if (i == *n && *n >= SURVEY_REASONS - SURVEY_FATES) {
        text = SURVEY_OTHERS;
        i = find_reason(list, *n, fate, text);
    }
    if (i == *n)
        list[(*n)++] = (struct survey_reason){fate, mem_text(text), 0};
    list[i].cells += cells;
    return i;
}

void survey_free_reasons(struct survey_reason *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].text);
}

static void look_closely(struct survey *v, size_t cell, struct alike *out)
{
    struct err e = {0};

    v->made++;
    out->seen = true;
    if (!spec_sweep_varies(&v->sweep))
        *v->cell = v->sweep.base;
    else if (spec_sweep_cell(&v->sweep, cell, v->cell, &e) != ERR_OK) {
        out->kind = KIND_NONE;
        out->reason = (uint8_t)survey_add_reason(v->reason, &v->reasons, SURVEY_OUT, e.text, 0);
        return;
    }
    if (v->lr_axis < v->sweep.axes)
        v->cell->lr = 1;
    out->lr = spec_base_lr(v->cell, spec_batch(v->cell));
    out->kind = (uint16_t)kinds_find(&v->kinds, v->cell);
}

static double read_lr(const struct survey *v, const char *value)
{
    double lr;

    if (text_to_double(value, &lr))
        return lr;
    /* it stands in quotes */
    return spec_set(v->cell, "lr", value, NULL, NULL, NULL) == ERR_OK ? v->cell->lr : NAN;
}

static double lr_of(const struct survey *v, const struct alike *x)
{
    size_t at;

    if (v->lr_axis == v->sweep.axes)
        return x->lr;
    at = v->place[v->lr_leader];
    if (!v->lr_value[at])
        v->lr_value[at] = read_lr(v, v->sweep.axis[v->lr_axis].value[at]);
    return v->lr_value[at] * x->lr;
}

static void go_to(struct survey *v, size_t cell)
{
    spec_sweep_place(&v->sweep, cell, v->place);
    v->number = 0;
    for (size_t a = 0; a < v->sweep.axes; a++)
        v->number += v->step[a] * v->place[a];
}

/* The next one as the lists stand, the last list fastest: to divide by each list's length takes longer than
 * all else of a cell that is like an earlier one. */
static void go_on(struct survey *v)
{
    for (size_t a = v->sweep.axes; a-- > 0;) {
        if (!v->leads[a])
            continue;
        v->number += v->step[a];
        if (++v->place[a] < v->sweep.axis[a].values)
            return;
        v->number -= v->step[a] * v->place[a];
        v->place[a] = 0;
    }
}

static uint16_t look_at(struct survey *v, size_t cell)
{
    struct alike *x;
    double lr;

    if (v->order)
        go_to(v, cell);
    else if (cell)
        go_on(v);
    x = &v->alike[v->number];
    if (!x->seen)
        look_closely(v, cell, x);
    if (x->kind == KIND_NONE) {
        v->left_out++;
        v->reason[x->reason].cells++;
        return x->kind;
    }
    ++*(x->kind == KIND_OTHER ? &v->other : &v->kinds.kind[x->kind].cells);
    lr = lr_of(v, x);
    survey_widen(&v->lr, lr, lr);
    return x->kind;
}

bool survey_look(struct survey *v, uint64_t ns, const atomic_bool *stop)
{
    uint64_t start = clock_ns();

    if (v->spread && !v->order) {
        v->order = mem_new(v->cells, sizeof *v->order);
        spec_sweep_spread(&v->sweep, v->order);
    }
    while (v->seen < v->cells) {
        v->kind_of[v->seen] = look_at(v, v->order ? v->order[v->seen] : v->seen);
        v->seen++;
        if ((v->seen & 15) == 0 && (clock_ns() - start >= ns || (stop && atomic_load(stop))))
            break;
    }
    return v->seen == v->cells;
}

size_t survey_made(const struct survey *v)
{
    return v->made;
}
