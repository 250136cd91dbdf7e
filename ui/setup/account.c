#include "ui/setup/account.h"
#include "ui/setup/survey_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void account_free(struct account *a)
{
    survey_free_reasons(a->reason, a->reasons);
    free(a->kind);
    free(a->had);
    memset(a, 0, sizeof *a);
}

static void add_refusal(struct account *a, const struct account_kind *k)
{
    if (k->answered && k->plan.code != ERR_OK)
        survey_add_reason(a->reason, &a->reasons,
                          k->plan.code == ERR_NOMEM ? SURVEY_TOO_LARGE : SURVEY_SKIPPED,
                          k->plan.error, k->cells);
}

void account_update(struct account *a, const struct survey *v)
{
    size_t old = a->kinds;

    survey_free_reasons(a->reason, a->reasons);
    a->reasons = 0;
    for (size_t i = 0; i < v->reasons; i++)
        survey_add_reason(a->reason, &a->reasons, SURVEY_OUT, v->reason[i].text,
                          v->reason[i].cells);
    a->cells = v->cells;
    a->seen = v->seen;
    a->left_out = v->left_out;
    a->other = v->other;
    a->lr = v->lr;
    a->most = v->most;
    a->kind_of = v->kind_of;
    a->order = v->order;
    if (v->kinds.count > old) {
        a->kind = mem_resize(a->kind, v->kinds.count, sizeof *a->kind);
        memset(a->kind + old, 0, (v->kinds.count - old) * sizeof *a->kind);
    }
    a->kinds = v->kinds.count;
    for (size_t i = 0; i < v->kinds.count; i++) {
        a->kind[i].spec = v->kinds.kind[i].spec;
        a->kind[i].cells = v->kinds.kind[i].cells;
        add_refusal(a, &a->kind[i]);
    }
}

int account_next(const struct account *a)
{
    for (size_t i = 0; i < a->kinds; i++)
        if (!a->kind[i].asked)
            return (int)i;
    return -1;
}

void account_answer(struct account *a, size_t kind, const struct wire_plan *plan)
{
    struct account_kind *k = &a->kind[kind];

    if (kind >= a->kinds)
        return;
    k->asked = true;
    if (k->answered && (k->plan.code != ERR_OK || plan->code != ERR_OK))
        return;
    k->plan = *plan;
    if (k->answered)
        return;
    k->answered = true;
    add_refusal(a, k);
}

void account_ask_again(struct account *a)
{
    for (size_t i = 0; i < a->kinds; i++) {
        struct account_kind *k = &a->kind[i];

        if (k->answered && k->plan.code == ERR_OK &&
            (!isfinite(k->plan.seconds) || k->plan.guessed_from))
            k->asked = false;
    }
}

void account_had(struct account *a, const struct wire_ended *cell, size_t count)
{
    free(a->had);
    a->had = count ? mem_new(a->cells, sizeof *a->had) : NULL;
    for (size_t i = 0; i < count; i++)
        if (cell[i].cell < a->cells)
            a->had[cell[i].cell] = (uint8_t)cell[i].state;
}

static bool is_skipped(const struct account_kind *k)
{
    return k->answered && k->plan.code != ERR_OK && k->plan.code != ERR_NOMEM;
}

static bool is_too_large(const struct account_kind *k)
{
    return k->answered && k->plan.code == ERR_NOMEM;
}

struct tally {                  /* cells of each kind, as far as is known */
    size_t run[KIND_OTHER + 1]; /* that would begin */
    size_t had[KIND_OTHER + 1]; /* that have a result, or were dropped before */
};

/* One that can run, or has run. */
static void tally_one(const struct account *a, size_t i, struct tally *t, struct account_sum *sum)
{
    size_t kind = a->kind_of[i];
    enum wire_state had = a->had ? a->had[a->order ? a->order[i] : i] : WIRE_WAITING;

    ++*(had ? &t->had[kind] : &t->run[kind]);
    sum->had += had && had != WIRE_SKIPPED;
    sum->dropped_before += had == WIRE_SKIPPED;
}

/* Cell by cell where it matters which they are. */
static void tally_cells(const struct account *a, struct tally *t, struct account_sum *sum)
{
    size_t n = 0, i = 0;

    for (; i < a->seen && !(a->most && n == a->most); i++) {
        size_t kind = a->kind_of[i];

        if (kind == KIND_NONE) {
            continue;
        } else if (kind < a->kinds && is_skipped(&a->kind[kind])) {
            sum->skipped++;
        } else {
            tally_one(a, i, t, sum);
            n++;
        }
    }
    for (; i < a->seen && !sum->cut; i++)
        sum->cut = a->kind_of[i] == KIND_OTHER ||
                   (a->kind_of[i] < a->kinds && !is_skipped(&a->kind[a->kind_of[i]]));
    sum->skipped += sum->dropped_before;
}

static void tally_kinds(const struct account *a, struct tally *t, struct account_sum *sum)
{
    for (size_t i = 0; i < a->kinds; i++)
        *(is_skipped(&a->kind[i]) ? &sum->skipped : &t->run[i]) += a->kind[i].cells;
    t->run[KIND_OTHER] = a->other;
}

static void add_cost(struct account_sum *sum, const struct account_kind *k, size_t cells)
{
    const struct wire_plan *p = &k->plan;
    const struct spec *s = k->spec;
    int models = s->mode == SPEC_ENSEMBLE ? p->members : 1;
    double steps = (double)p->steps_per_epoch * (double)s->epochs, n = (double)cells, images;
    double seconds = p->seconds;

    if (s->max_steps && steps > (double)s->max_steps)
        steps = (double)s->max_steps;
    images = steps * (double)p->batch * models;
    sum->model_images += n * images;
    sum->flops += n * images * p->flops_per_image;
    if (isnan(seconds)) {
        sum->unknown += cells;
    } else {
        sum->seconds += n * seconds;
        sum->longest = cells ? fmax(sum->longest, seconds) : sum->longest;
        sum->guessed |= p->guessed_from > 0;
    }
}

static void add_ranges(struct account_sum *sum, const struct account_kind *k)
{
    const struct wire_plan *p = &k->plan;
    const struct spec *s = k->spec;
    int models = s->mode == SPEC_ENSEMBLE ? p->members : 1;

    survey_widen(&sum->per_device, (double)p->batch_per_device, (double)p->batch_per_device);
    survey_widen(&sum->batch, (double)p->batch, (double)p->batch);
    survey_widen(&sum->steps, (double)p->steps_per_epoch, (double)p->steps_per_epoch);
    survey_widen(&sum->dropped, (double)p->dropped, (double)p->dropped);
    survey_widen(&sum->parameters, (double)p->parameters, (double)p->parameters);
    survey_widen(&sum->bytes, (double)p->bytes_per_device, (double)p->bytes_per_device);
    survey_widen(&sum->devices, (double)p->devices, (double)p->devices);
    survey_widen(&sum->threads, (double)p->threads, (double)p->threads);
    survey_widen(&sum->images, (double)p->images, (double)p->images);
    survey_widen(&sum->test_images, (double)p->test_images, (double)p->test_images);
    if (p->lacking)
        survey_widen(&sum->unused, (double)p->unused_bytes, (double)p->unused_bytes);
    if (s->mode == SPEC_ENSEMBLE) {
        survey_widen(&sum->members, models, models);
        survey_widen(&sum->as_one, (double)s->epochs * models, (double)s->epochs * models);
    }
}

/* Nothing can run: the reason that most of them have, which one that stands for others does not tell. */
static const char *most_common(const struct account *a)
{
    const struct survey_reason *most = NULL;

    for (size_t i = 0; i < a->reasons; i++)
        if (strcmp(a->reason[i].text, SURVEY_OTHERS) != 0 &&
            (!most || a->reason[i].cells > most->cells))
            most = &a->reason[i];
    return most ? most->text : NULL;
}

void account_sum(const struct account *a, struct account_sum *out)
{
    const struct survey_range none = {NAN, NAN};
    bool all = a->seen == a->cells;
    struct tally tally = {0};

    memset(out, 0, sizeof *out);
    out->per_device = out->batch = out->steps = out->dropped = out->parameters = out->bytes =
        out->unused = out->members = out->as_one = none;
    out->devices = out->threads = out->images = out->test_images = none;
    out->lr = a->lr;
    out->left_out = a->left_out;
    if (a->most || a->had)
        tally_cells(a, &tally, out);
    else
        tally_kinds(a, &tally, out);
    out->runs = out->unknown = tally.run[KIND_OTHER];
    for (size_t i = 0; i < a->kinds; i++) {
        const struct account_kind *k = &a->kind[i];

        all = all && k->answered;
        if (is_too_large(k)) {
            out->too_large += tally.run[i];
            continue;
        }
        out->runs += tally.run[i];
        if (!k->answered)
            out->unknown += tally.run[i];
        if (!k->answered || !(tally.run[i] + tally.had[i]))
            continue;
        if (!out->plan) {
            out->plan = &k->plan;
            out->spec = k->spec;
        }
        if (!out->crowding && k->plan.crowding[0])
            out->crowding = k->plan.crowding;
        add_cost(out, k, tally.run[i]);
        add_ranges(out, k);
    }
    out->complete = all;
    if (a->jobs > 1) /* no sooner over than the longest of them */
        out->seconds = fmax(out->seconds / a->jobs, out->longest);
    if (out->runs && out->unknown >= out->runs)
        out->seconds = NAN;
    if (!out->runs && !out->had && !out->dropped_before && a->seen == a->cells)
        out->problem = most_common(a);
}
