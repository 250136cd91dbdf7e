/* cli/forecast/dry_survey.c: the planner is asked about each cell of a sweep, so that what has no lists in it is
 * looked at once. */
#include "cli/forecast/dry_survey.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/sweeps/sweeps.h"
#include "cli/jobs/ask.h"
#include "engine/cores.h"
#include "engine/engine.h"
#include "engine/forecast/cell_results.h"
#include "engine/forecast/preview.h"
#include "record/sweep/order.h"
#include "record/sweep/sweeps.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ASKED 5000 /* cells that the planner is asked about; of others only spec_check */

static void leave_out(struct dry_survey *v, struct dry_one *one, enum err_code code,
                      const char *reason)
{
    one->code = code;
    one->reason = mem_text(reason);
    v->left_out++;
}

/* Unlike one that is left out it is a cell of the sweep: it gets no result but that. */
static void skip(struct dry_one *one, enum err_code code, const char *reason)
{
    one->code = code;
    one->reason = mem_text(reason);
    one->skipped = true;
}

/* Settings that the plan resolved, so that two spellings of one cell are seen to be one. */
static uint64_t hash_of(struct spec *s, const struct wire_plan *p)
{
    struct text t = {0};
    struct hash_sha256 h;
    uint8_t digest[32];
    uint64_t hash;

    s->batch = p->batch;
    s->batch_per_device = false;
    s->members = s->mode == SPEC_ENSEMBLE ? p->members : 0;
    s->threads_kind = SPEC_THREADS_COUNT;
    s->threads = p->threads;
    s->backend = SPEC_AUTO;
    spec_write(s, &t);
    text_add(&t, p->backend);
    hash_sha256_start(&h);
    hash_sha256_add(&h, text_str(&t), t.n);
    hash_sha256_end(&h, digest);
    memcpy(&hash, digest, sizeof hash);
    text_free(&t);
    return hash ? hash : 1;
}

static void take_answer(struct dry_survey *v, struct spec *asked, const struct wire_plan *answer)
{
    struct dry_one *one = &v->one[answer->question];
    struct text why = {0};

    if (answer->code == ERR_NOMEM) {
        one->code = ERR_NOMEM;
        one->at_once = mem_text(answer->error);
        one->seconds = 0;
        return;
    }
    if (answer->code != ERR_OK) {
        skip(one, answer->code, answer->error);
        v->refused++;
        return;
    }
    if (answer->crowding[0] && !v->crowding)
        v->crowding = mem_text(answer->crowding);
    one->seconds = answer->seconds;
    one->guessed_from = answer->guessed_from;
    one->hash = hash_of(asked, answer);
    for (struct dry_one *o = v->one; o < one && !one->reason; o++) {
        if (o->reason || o->hash != one->hash)
            continue;
        text_add(&why, "it is the cell of ");
        sweeps_add_label(v->s, o->cell, &why);
        leave_out(v, one, ERR_INPUT, text_str(&why));
    }
    text_free(&why);
}

/* What it has from before. */
static void look_back(struct dry_survey *v, struct dry_one *one, enum wire_state state)
{
    one->ended = wire_state_is_final(state) && state != WIRE_SKIPPED;
    one->taken = !wire_state_is_final(state);
    if (state == WIRE_SKIPPED)
        skip(one, ERR_OK, RECORD_DROPPED_BEFORE);
    v->ended += one->ended;
    v->wanted += one->taken;
    v->too_large += one->taken && one->at_once && one->code == ERR_NOMEM;
    v->at_once += one->taken && one->at_once;
}

/* As a start would find it: the planner has read no more of data and weights than their heads. */
static void look_closely(struct dry_survey *v, struct dry_one *one, struct preview *preview,
                         const struct cell_results *ended, const struct spec *cell)
{
    enum wire_state state = WIRE_WAITING;
    struct plan *plan = NULL;
    struct err e = {0};

    if (preview_plan(preview, &plan, cell, &e) != ERR_OK) {
        skip(one, e.code, e.text);
        v->refused++;
        v->skipped++;
        return;
    }
    plan_hash(plan, one->name);
    if (ended)
        state = cell_results_look(ended, one->name);
    if (!wire_state_is_final(state) && !one->at_once &&
        preview_check_weights(preview, plan, &e) != ERR_OK) {
        one->code = e.code;
        one->at_once = mem_text(e.text);
        one->seconds = 0;
    }
    plan_free(plan);
    v->allowed++;
    look_back(v, one, state);
    v->skipped += one->skipped;
}

struct ranked {
    const char *name;
    size_t rank, at;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ranked *)a)->name, ((const struct ranked *)b)->name);
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* As the run does it: those that were moved change places among themselves. */
static void put_as_moved(struct dry_survey *v, const struct record_place *place, size_t places)
{
    struct ranked *known = mem_new(places, sizeof *known);
    struct ranked *found = mem_new(v->cells, sizeof *found);
    struct dry_one *was = mem_new(v->cells, sizeof *was);
    size_t *slot = mem_new(v->cells, sizeof *slot), n = 0;

    for (size_t i = 0; i < places; i++)
        known[i] = (struct ranked){place[i].cell, i, 0};
    qsort(known, places, sizeof *known, by_name);
    memcpy(was, v->one, v->cells * sizeof *was);
    for (size_t i = 0; i < v->cells; i++) {
        const struct ranked key = {.name = was[i].name};
        const struct ranked *at = bsearch(&key, known, places, sizeof *known, by_name);

        if (!at)
            continue;
        slot[n] = i;
        found[n++] = (struct ranked){was[i].name, at->rank, i};
    }
    qsort(found, n, sizeof *found, by_rank);
    for (size_t i = 0; i < n; i++) {
        v->one[slot[i]] = was[found[i].at];
        v->moved |= slot[i] != found[i].at;
    }
    free(known);
    free(found);
    free(was);
    free(slot);
}

/* Those that would run: the first of the order that can, as far as --max-cells goes, but for those
 * with a result. */
static void choose(struct dry_survey *v, const struct sweep_wish *wish)
{
    const struct engine_config config = {
        .results = cli_results(), .places = *cli_places(), .backends = cli_backends()};
    struct cell_results *ended = cell_results_open(config.results, wish->name, wish->failed);
    struct record_place *place = NULL; /* none in an order that cannot be read, as the run has it */
    size_t places = 0;
    bool known =
        record_order_read(config.results, wish->name, &place, &places, NULL) == ERR_OK && places;
    struct preview *preview = preview_open(&config, ended || known);
    struct spec *cell = mem_new(1, sizeof *cell);
    size_t most = wish->max_cells ? (size_t)wish->max_cells : v->cells;

    for (size_t i = 0; i < v->cells && v->allowed < most; i++) {
        struct dry_one *one = &v->one[i];

        one->seen = true;
        v->skipped += one->skipped;
        if (one->reason)
            continue;
        if ((ended || known || i < MOST_ASKED) &&
            spec_sweep_cell(v->s, one->cell, cell, NULL) == ERR_OK) {
            look_closely(v, one, preview, ended, cell);
        } else {
            v->allowed++;
            look_back(v, one, WIRE_WAITING);
        }
    }
    if (known)
        put_as_moved(v, place, places);
    free(place);
    free(cell);
    preview_close(preview);
    cell_results_close(ended);
}

/* Answers come in the order of the questions. */
static void look_at_all(struct dry_survey *v, struct ask *ask)
{
    struct spec *asked = mem_new(ASK_MOST, sizeof *asked), *cell = mem_new(1, sizeof *cell);
    struct wire_plan *answer = mem_new(1, sizeof *answer);
    size_t sent = 0, came = 0;
    struct err e = {0};

    for (size_t i = 0; i < v->cells; i++) {
        if (spec_sweep_cell(v->s, v->one[i].cell, cell, &e) != ERR_OK) {
            leave_out(v, &v->one[i], e.code, e.text);
            continue;
        }
        if (sent == 0 && ask && !ask_learned(ask, cell, answer))
            ask = NULL;
        if (sent - came == ASK_MOST && ask_answer(ask, answer))
            take_answer(v, &asked[came++ % ASK_MOST], answer);
        if (ask && sent < MOST_ASKED && sent - came < ASK_MOST && ask_send(ask, cell, (uint32_t)i))
            asked[sent++ % ASK_MOST] = *cell;
    }
    while (came < sent && ask_answer(ask, answer))
        take_answer(v, &asked[came++ % ASK_MOST], answer);
    free(asked);
    free(cell);
    free(answer);
}

/* Side by side, but no sooner over than the longest of them; those unknown are taken for the mean. */
static void add_up(struct dry_survey *v)
{
    double known = 0, longest = 0;
    size_t computed = v->wanted - v->at_once;

    for (size_t i = 0; i < v->cells; i++) {
        const struct dry_one *one = &v->one[i];

        if (!one->taken || one->at_once)
            continue;
        if (!isfinite(one->seconds)) {
            v->unknown++;
            continue;
        }
        known += one->seconds;
        longest = fmax(longest, one->seconds);
        v->guessed_from = one->guessed_from > v->guessed_from ? one->guessed_from : v->guessed_from;
    }
    v->seconds = NAN;
    if (!computed)
        v->seconds = 0;
    else if (v->unknown < computed)
        v->seconds =
            fmax(known / v->jobs * (double)computed / (double)(computed - v->unknown), longest);
}

enum err_code dry_survey(struct dry_survey *v, const struct spec_sweep *s,
                         const struct sweep_wish *wish, struct err *e)
{
    size_t cells = spec_sweep_cells(s), *order = mem_new(cells, sizeof *order), first = 0;
    int jobs = spec_sweep_jobs(s, wish->jobs);
    struct ask *ask = ask_start(jobs, cells);
    cpu_set_t before;

    /* threads = all is what a cell's share of the machine will be */
    cores_take(0, jobs, &before);
    *v = (struct dry_survey){
        .s = s, .jobs = jobs, .cells = cells, .one = mem_new(cells, sizeof *v->one)};
    if (wish->order == SWEEP_SPREAD)
        spec_sweep_spread(s, order);
    for (size_t i = 0; i < cells; i++)
        v->one[i] =
            (struct dry_one){.cell = wish->order == SWEEP_SPREAD ? order[i] : i, .seconds = NAN};
    free(order);
    look_at_all(v, ask);
    ask_end(ask);
    choose(v, wish);
    cores_give_back(&before);

    add_up(v);
    if (v->left_out + v->refused < cells)
        return ERR_OK;
    for (size_t i = 0; i < cells; i++) /* the first of the grid speaks for all */
        if (v->one[i].cell == 0)
            first = i;
    err_set(e, v->one[first].code, "%s", v->one[first].reason);
    return err_context(e, "no cell of this sweep can run");
}

void dry_survey_free(struct dry_survey *v)
{
    for (size_t i = 0; i < v->cells; i++) {
        free(v->one[i].reason);
        free(v->one[i].at_once);
    }
    free(v->one);
    free(v->crowding);
}
