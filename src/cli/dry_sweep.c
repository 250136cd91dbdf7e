/* cli/dry_sweep.c: what a sweep means before it runs: its text, and in comments behind it its cells.
 * The planner is asked about each of them, so that what has no lists in it is looked at once. */
#include "cli/dry.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/sweeps.h"
#include "engine/cores.h"
#include "engine/ended.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ASKED   5000 /* cells that the planner is asked about; of others only spec_check */
#define MOST_ROWS    200
#define MOST_REASONS 20

struct one { /* a cell */
    size_t cell;
    char *reason;    /* why it is left out, or skipped; NULL: it is not */
    bool skipped;    /* it is a cell, and no run of it can begin, or it was dropped before */
    char *too_large; /* for the memory: it is a cell that ends at once; NULL: it is not */
    bool ended;      /* it has a result, and is not run again */
    bool seen;       /* as far as --max-cells goes */
    bool taken;      /* it would run */
    enum err_code code;
    double seconds; /* nan: unknown */
    int guessed_from;
    uint64_t hash; /* of its resolved settings; 0: not known */
};

struct survey {
    const struct spec_sweep *s;
    struct one *one; /* (cells) in the order in which they run */
    size_t cells, left_out;
    size_t refused;        /* no run of them can begin */
    size_t allowed;        /* by --max-cells, of those that can run */
    size_t ended, skipped; /* as far as it goes */
    size_t wanted;         /* that would run */
    size_t too_large;      /* of those */
    int jobs;              /* side by side */
    double seconds;        /* of the wanted ones; nan */
    int guessed_from;      /* runs, where a cell is unlike all of them */
    size_t unknown;        /* wanted ones of which nothing is known */
};

static void leave_out(struct survey *v, struct one *one, enum err_code code, const char *reason)
{
    one->code = code;
    one->reason = mem_text(reason);
    v->left_out++;
}

/* Unlike one that is left out it is a cell of the sweep: it gets no result but that. */
static void skip(struct one *one, enum err_code code, const char *reason)
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

static void take_answer(struct survey *v, struct spec *asked, const struct wire_plan *answer)
{
    struct one *one = &v->one[answer->question];
    struct text why = {0};

    if (answer->code == ERR_NOMEM) {
        one->too_large = mem_text(answer->error);
        one->seconds = 0;
        return;
    }
    if (answer->code != ERR_OK) {
        skip(one, answer->code, answer->error);
        v->refused++;
        return;
    }
    one->seconds = answer->seconds;
    one->guessed_from = answer->guessed_from;
    one->hash = hash_of(asked, answer);
    for (struct one *o = v->one; o < one && !one->reason; o++) {
        if (o->reason || o->hash != one->hash)
            continue;
        text_add(&why, "it is the cell of ");
        sweeps_add_label(v->s, o->cell, &why);
        leave_out(v, one, ERR_INPUT, text_str(&why));
    }
    text_free(&why);
}

/* What it has from before. */
static void look_back(struct survey *v, struct one *one, enum wire_state state)
{
    one->ended = state >= WIRE_DONE && state != WIRE_SKIPPED;
    one->taken = state < WIRE_DONE;
    if (state == WIRE_SKIPPED)
        skip(one, ERR_OK, "skipped before: --failed tries it again");
    v->ended += one->ended;
    v->wanted += one->taken;
    v->too_large += one->taken && one->too_large;
}

/* Those that would run: the first of the order that can, as far as --max-cells goes, but for those
 * with a result. */
static void choose(struct survey *v, const struct sweep_wish *wish)
{
    const struct engine_config config = {
        .results = cli_results(), .places = *cli_places(), .backends = cli_backends()};
    struct ended *ended = ended_open(&config, wish->name, wish->failed);
    struct spec *cell = mem_new(1, sizeof *cell);
    size_t most = wish->max_cells ? (size_t)wish->max_cells : v->cells;

    for (size_t i = 0; i < v->cells && v->allowed < most; i++) {
        struct one *one = &v->one[i];
        enum wire_state state = WIRE_WAITING;

        one->seen = true;
        v->skipped += one->skipped;
        if (one->reason)
            continue;
        v->allowed++;
        if (ended && spec_sweep_cell(v->s, one->cell, cell, NULL) == ERR_OK)
            state = ended_look(ended, cell);
        look_back(v, one, state);
        v->skipped += one->skipped;
    }
    free(cell);
    ended_close(ended);
}

/* Answers come in the order of the questions. */
static void look_at_all(struct survey *v, struct ask *ask)
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
static void add_up(struct survey *v)
{
    double known = 0, longest = 0;
    size_t computed = v->wanted - v->too_large;

    for (size_t i = 0; i < v->cells; i++) {
        const struct one *one = &v->one[i];

        if (!one->taken)
            continue;
        if (one->too_large)
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

static enum err_code survey(struct survey *v, const struct spec_sweep *s,
                            const struct sweep_wish *wish, struct err *e)
{
    size_t cells = spec_sweep_cells(s), *order = mem_new(cells, sizeof *order), first = 0;
    struct ask *ask;
    cpu_set_t before;

    /* threads = all is what a cell's share of the machine will be */
    v->jobs = wish->jobs > 1 && !engine_runs_alone(s) ? (int)wish->jobs : 1;
    cores_take(0, v->jobs, &before);
    ask = ask_start();
    *v = (struct survey){
        .s = s, .jobs = v->jobs, .cells = cells, .one = mem_new(cells, sizeof *v->one)};
    if (wish->order == SWEEP_SPREAD)
        spec_sweep_spread(s, order);
    for (size_t i = 0; i < cells; i++)
        v->one[i] =
            (struct one){.cell = wish->order == SWEEP_SPREAD ? order[i] : i, .seconds = NAN};
    free(order);
    look_at_all(v, ask);
    ask_end(ask);
    choose(v, wish);
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);

    add_up(v);
    if (v->left_out + v->refused < cells)
        return ERR_OK;
    for (size_t i = 0; i < cells; i++) /* the first of the grid speaks for all */
        if (v->one[i].cell == 0)
            first = i;
    err_set(e, v->one[first].code, "%s", v->one[first].reason);
    return err_context(e, "no cell of this sweep can run");
}

static void survey_free(struct survey *v)
{
    for (size_t i = 0; i < v->cells; i++) {
        free(v->one[i].reason);
        free(v->one[i].too_large);
    }
    free(v->one);
}

/* ---- as text ---- */

/* "devices+batch 2 x lr 4 x seed 3" */
static void add_lists(const struct spec_sweep *s, struct text *out)
{
    for (size_t a = 0; a < s->axes; a++) {
        const struct spec_axis *axis = &s->axis[a];
        bool first = true;

        for (size_t b = 0; b < a; b++)
            first = first && !(axis->zip && s->axis[b].zip == axis->zip);
        if (!first)
            continue;
        text_addf(out, "%s%s", a ? " x " : "", axis->key);
        for (size_t b = a + 1; b < s->axes; b++)
            if (axis->zip && s->axis[b].zip == axis->zip)
                text_addf(out, "+%s", s->axis[b].key);
        text_addf(out, " %zu", axis->values);
    }
}

static const char *reason_left_out(const struct one *one)
{
    return one->skipped ? NULL : one->reason;
}

static const char *reason_skipped(const struct one *one)
{
    return one->skipped && one->seen ? one->reason : NULL;
}

static const char *reason_too_large(const struct one *one)
{
    return one->taken ? one->too_large : NULL;
}

/* How many cells for each reason. */
static void add_reasons(const struct survey *v, const char *reason_of(const struct one *),
                        struct text *out)
{
    size_t reasons = 0;
    bool *told = mem_new(v->cells, sizeof *told);

    for (size_t i = 0; i < v->cells; i++) {
        const char *reason = reason_of(&v->one[i]);
        size_t same = 0;

        if (!reason || told[i])
            continue;
        if (++reasons > MOST_REASONS)
            continue;
        for (size_t j = i; j < v->cells; j++)
            if (reason_of(&v->one[j]) && !told[j] && !strcmp(reason_of(&v->one[j]), reason)) {
                told[j] = true;
                same++;
            }
        text_addf(out, "#   %5zu  ", same);
        text_add_clean(out, reason);
        text_add(out, "\n");
    }
    if (reasons > MOST_REASONS)
        text_addf(out, "#   %5zu  for other reasons\n", reasons - MOST_REASONS);
    free(told);
}

static void add_time(const struct survey *v, struct text *out)
{
    struct text of = {0};
    size_t computed;

    text_addf(out, "# %-17s ", "expected time");
    if (v->wanted == v->too_large) {
        text_add(out,
                 v->wanted ? "none: no cell fits into the memory\n" : "none: no cell is missing\n");
        return;
    }
    if (!isfinite(v->seconds)) {
        text_addf(out, "unknown: no earlier run in %s tells it\n", cli_results());
        return;
    }
    computed = v->wanted - v->too_large;
    text_addf(&of, " for %zu cell%s ", computed, computed == 1 ? "" : "s");
    if (v->jobs > 1)
        text_addf(&of, "%d at a time", v->jobs);
    else
        text_add(&of, "one after the other");
    dry_add_span(out, v->seconds, text_str(&of), v->guessed_from);
    text_free(&of);
}

static void add_cells(const struct survey *v, struct text *out)
{
    struct text head = {0}, body = {0}, value = {0}; /* values as short as they differ */
    size_t *place = mem_new(v->s->axes + 1, sizeof *place), rows = 0;
    struct cli_table t;
    char span[CLOCK_UTC_ROOM];

    text_add(&head, "-");
    for (size_t a = 0; a < v->s->axes; a++)
        text_addf(&head, "|%s", v->s->axis[a].key);
    if (isfinite(v->seconds))
        text_add(&head, "|-expected");
    cli_table_start(&t, text_str(&head));
    for (size_t i = 0; i < v->cells && rows < MOST_ROWS; i++) {
        if (!v->one[i].taken)
            continue;
        cli_table_addf(&t, "%zu", ++rows);
        spec_sweep_place(v->s, v->one[i].cell, place);
        for (size_t a = 0; a < v->s->axes; a++) {
            text_clear(&value);
            sweeps_add_value(&v->s->axis[a], place[a], &value);
            cli_table_add(&t, text_str(&value));
        }
        if (isfinite(v->one[i].seconds))
            clock_span(span, v->one[i].seconds);
        if (isfinite(v->seconds))
            cli_table_add(&t, v->one[i].too_large           ? "out of memory"
                              : isfinite(v->one[i].seconds) ? span
                                                            : "");
    }
    cli_table_text(&t, &body);
    for (const char *line = text_str(&body); *line;) {
        size_t n = strcspn(line, "\n");

        text_addf(out, "# %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (rows < v->wanted)
        text_addf(out, "# and %zu more; --json lists all\n", v->wanted - rows);
    cli_table_free(&t);
    text_free(&head);
    text_free(&body);
    text_free(&value);
    free(place);
}

static void add_survey(const struct survey *v, const struct sweep_wish *wish, struct text *out)
{
    char *folder = mem_textf("%s/sweeps/%s", cli_results(), wish->name);
    size_t possible = v->cells - v->left_out - v->refused, n = v->wanted + v->ended + v->skipped;

    text_addf(out, "# %-17s ", "sweep");
    text_add_clean(out, folder);
    text_addf(out, "%s\n", io_exists(folder) ? " (there already)" : "");
    text_addf(out, "# %-17s %zu: ", "cells", v->cells);
    add_lists(v->s, out);
    text_add(out, "\n");
    if (v->left_out) {
        text_addf(out, "# %-17s %zu\n", "left out", v->left_out);
        add_reasons(v, reason_left_out, out);
    }
    if (v->skipped) {
        text_addf(out, "# %-17s %zu\n", "skipped", v->skipped);
        add_reasons(v, reason_skipped, out);
    }
    if (v->too_large) {
        text_addf(out, "# %-17s %zu: that is their result, and takes no time\n", "out of memory",
                  v->too_large);
        add_reasons(v, reason_too_large, out);
    }
    if (v->allowed < possible)
        text_addf(out, "# %-17s %zu of %zu that can run, by --max-cells\n", "taken", v->allowed,
                  possible);
    if (v->ended)
        text_addf(out, "# %-17s %zu of %zu: not run again; %zu would run\n", "with a result",
                  v->ended, n, v->wanted);
    text_addf(out, "# %-17s %s\n", "order",
              wish->order == SWEEP_GRID ? "grid: as the lists stand, the last key fastest"
                                        : "spread: corners and centre first, then ever finer");
    add_time(v, out);
    if (v->wanted) {
        text_add(out, "#\n");
        add_cells(v, out);
    }
    free(folder);
}

/* ---- as an object ---- */

static void add_json_cell(const struct survey *v, const struct one *one, size_t order,
                          struct text *out)
{
    size_t *place = mem_new(v->s->axes + 1, sizeof *place);
    struct text value = {0};

    text_addf(out, "{\"cell\": %zu, \"order\": ", one->cell);
    if (order)
        text_addf(out, "%zu", order);
    else
        text_add(out, "null");
    spec_sweep_place(v->s, one->cell, place);
    for (size_t a = 0; a < v->s->axes; a++) {
        text_clear(&value);
        spec_add_plain(&value, v->s->axis[a].value[place[a]]);
        text_add(out, ", ");
        cli_json_field(out, v->s->axis[a].key, text_str(&value));
    }
    text_add(out, ", \"seconds\": ");
    text_add_json_double(out, one->seconds);
    text_addf(out, ", \"guessed_from\": %d, \"ended\": %s, ", one->guessed_from,
              one->ended ? "true" : "false");
    cli_json_field(out, "reason", one->reason ? one->reason : one->too_large ? one->too_large : "");
    text_add(out, "}");
    text_free(&value);
    free(place);
}

static void add_json(const struct survey *v, const struct sweep_wish *wish, struct text *out)
{
    size_t order = 0;

    text_add(out, "{");
    cli_json_field(out, "sweep", wish->name);
    text_addf(out,
              ", \"cells\": %zu, \"left_out\": %zu, \"skipped\": %zu, \"ended\": %zu, "
              "\"taken\": %zu, \"seconds\": ",
              v->cells, v->left_out, v->skipped, v->ended, v->wanted);
    text_add_json_double(out, v->unknown ? NAN : v->seconds);
    text_addf(out, ", \"guessed_from\": %d, \"list\": [", v->guessed_from);
    for (size_t i = 0; i < v->cells; i++) {
        bool taken = v->one[i].taken;

        order += taken;
        text_add(out, i ? ",\n" : "\n");
        add_json_cell(v, &v->one[i], taken ? order : 0, out);
    }
    text_add(out, "\n]}\n");
}

int dry_sweep(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct survey v;
    struct text out = {0};
    struct err e = {0};
    int code;

    if (survey(&v, s, wish, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        if (wish->json) {
            add_json(&v, wish, &out);
        } else {
            spec_sweep_write(s, &out);
            text_add(&out, "\n");
            add_survey(&v, wish, &out);
        }
        code = cli_print(&out);
    }
    text_free(&out);
    survey_free(&v);
    return code;
}
