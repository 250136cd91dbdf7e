/* engine/forecast/forecast.c: prices of kinds, and what they come to. */
#include "engine/forecast/forecast_int.h"

#include "base/mem.h"
#include "wire/time_left.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool forecast_ask(struct forecast *f, forecast_price *price, void *user)
{
    struct kinds *k = &f->kinds;

    while (k->asked < k->count && !k->kind[k->asked]->due)
        k->asked++;
    if (k->asked == k->count)
        return false;
    price(user, k->kind[k->asked]->spec, &k->kind[k->asked]->plan);
    k->kind[k->asked]->priced = true;
    k->kind[k->asked]->due = false;
    return true;
}

void forecast_ask_again(struct forecast *f)
{
    for (size_t i = 0; i < f->kinds.count; i++)
        f->kinds.kind[i]->due = true;
    f->kinds.asked = 0;
}

void forecast_has(struct forecast *f, size_t cell, enum wire_state state)
{
    if (cell >= f->cells)
        return;
    if (!f->had)
        f->had = mem_new(f->cells, sizeof *f->had);
    f->had[cell] = (uint8_t)state;
}

const struct forecast_cell *forecast_cells(struct forecast *f, bool *moved)
{
    for (size_t i = 0; i < f->seen; i++) {
        const struct kind *k = kind_at(f, i);

        f->cell[i].plan = k && k->priced ? &k->plan : NULL;
    }
    if (moved)
        *moved = f->moved;
    return f->cell;
}

static bool is_refused(const struct kind *k)
{
    return k->priced && k->plan.code != ERR_OK && k->plan.code != ERR_NOMEM;
}

static bool is_too_large(const struct kind *k)
{
    return k->priced && k->plan.code == ERR_NOMEM;
}

struct tally {    /* cells of each kind, as far as is known */
    size_t *run;  /* (kinds) that would begin */
    size_t *had;  /* (kinds) that have a result, or were dropped before */
    size_t other; /* that would begin, of unknown kind */
};

/* One that can run, or has run. */
static void tally_one(const struct forecast *f, size_t i, struct tally *t,
                      struct wire_forecast *sum)
{
    enum wire_state had = f->had ? f->had[f->order ? f->order[i] : i] : WIRE_WAITING;
    bool other = f->kind_of[i] == KIND_OTHER;

    if (had && !other)
        t->had[f->kind_of[i]]++;
    else if (!had)
        ++*(other ? &t->other : &t->run[f->kind_of[i]]);
    sum->with_result += had && had != WIRE_SKIPPED;
    sum->dropped_before += had == WIRE_SKIPPED;
    sum->begin++;
}

/* Cell by cell where it matters which they are. */
static void tally_cells(const struct forecast *f, struct tally *t, struct wire_forecast *sum)
{
    size_t i = 0;

    for (; i < f->seen && !(f->most && sum->begin == f->most); i++) {
        const struct kind *k = kind_at(f, i);

        if (f->kind_of[i] == KIND_NONE)
            continue;
        if (k && is_refused(k))
            sum->skipped++;
        else
            tally_one(f, i, t, sum);
    }
    for (; i < f->seen && !sum->cut; i++)
        sum->cut = f->kind_of[i] != KIND_NONE && !(kind_at(f, i) && is_refused(kind_at(f, i)));
    sum->skipped += sum->dropped_before;
}

static void tally_kinds(const struct forecast *f, struct tally *t, struct wire_forecast *sum)
{
    for (size_t i = 0; i < f->kinds.count; i++)
        *(is_refused(f->kinds.kind[i]) ? &sum->skipped : &t->run[i]) += f->kinds.kind[i]->cells;
    t->other = f->other;
}

static void add_seconds(struct wire_forecast *out, struct time_left_runs *left,
                        const struct wire_plan *p, size_t cells)
{
    time_left_count(left, p ? p->seconds : NAN, cells);
    if (cells && p && !isnan(p->seconds) && p->guessed_from > out->guessed_from)
        out->guessed_from = p->guessed_from;
}

static void widen(struct wire_range *r, double value)
{
    r->lo = isnan(r->lo) || value < r->lo ? value : r->lo;
    r->hi = isnan(r->hi) || value > r->hi ? value : r->hi;
}

static void add_ranges(struct wire_forecast *sum, const struct wire_plan *p)
{
    widen(&sum->per_device, (double)p->batch_per_device);
    widen(&sum->steps, (double)p->steps_per_epoch);
    widen(&sum->dropped, (double)p->dropped);
    widen(&sum->parameters, (double)p->parameters);
    widen(&sum->bytes, (double)p->bytes_per_device);
    widen(&sum->devices, p->devices);
    widen(&sum->threads, p->threads);
    widen(&sum->images, (double)p->images);
    widen(&sum->test_images, (double)p->test_images);
    if (p->lacking[0])
        widen(&sum->unused, (double)p->unused_bytes);
    if (p->ensemble)
        widen(&sum->as_one, (double)p->epochs * p->members);
}

static void add_facts(const struct kind *k, size_t run, size_t had, struct wire_forecast *out)
{
    if (!k->priced || k->plan.code != ERR_OK || !(run + had))
        return;
    if (!out->planned)
        out->plan = k->plan;
    out->planned = true;
    if (!out->crowding[0])
        memcpy(out->crowding, k->plan.crowding, sizeof out->crowding);
    out->model_images += (double)run * k->plan.model_images;
    out->flops += (double)run * k->plan.model_images * k->plan.flops_per_image;
    add_ranges(out, &k->plan);
}

static void add_kind(const struct kind *k, size_t run, size_t had, struct wire_forecast *out,
                     struct time_left_runs *left)
{
    if (is_too_large(k)) {
        out->too_large += run;
        return;
    }
    out->runs += run;
    add_seconds(out, left, k->priced ? &k->plan : NULL, run);
    add_facts(k, run, had, out);
}

static void add_reasons(const struct forecast *f, struct wire_forecast *out)
{
    struct reasons r = {out->reason, f->reasons.count};

    memcpy(out->reason, f->reasons.list, f->reasons.count * sizeof *out->reason);
    for (size_t i = 0; f->cell && i < f->seen; i++)
        if (f->cell[i].code != ERR_OK &&
            (f->cell[i].fate == WIRE_NO_START || f->cell[i].fate == WIRE_TOO_LARGE))
            reasons_add(&r, f->cell[i].fate, f->cell[i].reason, 1);
    for (size_t i = 0; !f->cell && i < f->kinds.count; i++) {
        const struct kind *k = f->kinds.kind[i];

        if (k->priced && k->plan.code != ERR_OK)
            reasons_add(&r, is_too_large(k) ? WIRE_TOO_LARGE : WIRE_NO_START, k->plan.error,
                        k->cells);
    }
    out->reasons = (uint32_t)r.count;
}

/* Nothing can run: the reason that most of them have, which one that stands for others does not tell. */
static void tell_problem(struct wire_forecast *out)
{
    const struct wire_reason *most = NULL;

    for (size_t i = 0; i < out->reasons; i++)
        if (strcmp(out->reason[i].text, WIRE_OTHER_REASONS) != 0 &&
            (!most || out->reason[i].cells > most->cells))
            most = &out->reason[i];
    if (most)
        memcpy(out->problem, most->text, sizeof out->problem);
}

static void begin_sum(const struct forecast *f, struct wire_forecast *out)
{
    const struct wire_range none = {NAN, NAN};

    memset(out, 0, sizeof *out);
    out->per_device = out->steps = out->dropped = out->parameters = out->bytes = out->unused =
        out->as_one = out->devices = out->threads = out->images = out->test_images = none;
    out->lr = f->lr;
    out->cells = f->cells;
    out->left_out = f->left_out;
    out->complete = f->seen == f->cells;
}

static void sum_kinds(const struct forecast *f, struct tally *t, struct wire_forecast *out,
                      struct time_left_runs *left)
{
    if (f->most || f->had)
        tally_cells(f, t, out);
    else
        tally_kinds(f, t, out);
    out->runs = t->other;
    time_left_count(left, NAN, t->other);
    for (size_t i = 0; i < f->kinds.count; i++)
        add_kind(f->kinds.kind[i], t->run[i], t->had[i], out, left);
    out->possible = out->cells - out->left_out - out->skipped;
}

static void sum_cells(const struct forecast *f, struct tally *t, struct wire_forecast *out,
                      struct time_left_runs *left)
{
    size_t of_fate[WIRE_FATES] = {0}, refused = 0;

    for (size_t i = 0; i < f->seen; i++) {
        const struct forecast_cell *c = &f->cell[i];
        const struct kind *k = kind_at(f, i);

        of_fate[c->fate]++;
        refused += c->code != ERR_OK && c->code != ERR_NOMEM &&
                   (c->fate == WIRE_NO_START || c->fate == WIRE_BEYOND);
        out->dropped_before += c->fate == WIRE_NO_START && c->code == ERR_OK;
        if (c->fate == WIRE_RUNS)
            add_seconds(out, left, k && k->priced ? &k->plan : NULL, 1);
        if (!k || !k->priced)
            continue;
        t->run[f->kind_of[i]] += c->fate == WIRE_RUNS;
        t->had[f->kind_of[i]] += c->fate == WIRE_HAS_RESULT;
        if (!out->crowding[0])
            memcpy(out->crowding, k->plan.crowding, sizeof out->crowding);
    }
    out->left_out = of_fate[WIRE_LEFT_OUT];
    out->runs = of_fate[WIRE_RUNS];
    out->skipped = of_fate[WIRE_NO_START];
    out->too_large = of_fate[WIRE_TOO_LARGE];
    out->no_weights = of_fate[WIRE_NO_WEIGHTS];
    out->with_result = of_fate[WIRE_HAS_RESULT];
    out->possible = out->cells - out->left_out - refused;
    out->begin =
        out->runs + out->too_large + out->no_weights + out->with_result + out->dropped_before;
    for (size_t i = 0; i < f->kinds.count; i++)
        add_facts(f->kinds.kind[i], t->run[i], t->had[i], out);
}

void forecast_sum(const struct forecast *f, struct wire_forecast *out)
{
    struct tally t = {mem_new(f->kinds.count + 1, sizeof *t.run),
                      mem_new(f->kinds.count + 1, sizeof *t.had), 0};
    struct time_left_runs left = {0};

    begin_sum(f, out);
    if (f->cell)
        sum_cells(f, &t, out, &left);
    else
        sum_kinds(f, &t, out, &left);
    out->unknown = left.unknown;
    out->seconds_of_all = time_left_side_by_side(&left, f->jobs);
    left.runs -= left.unknown;
    left.unknown = 0;
    out->seconds = isnan(out->seconds_of_all) ? NAN : time_left_side_by_side(&left, f->jobs);
    for (size_t i = 0; i < f->kinds.count; i++)
        out->complete = out->complete && (f->cell || f->kinds.kind[i]->priced);
    add_reasons(f, out);
    if (!out->runs && !out->with_result && !out->dropped_before && f->seen == f->cells)
        tell_problem(out);
    free(t.run);
    free(t.had);
}
