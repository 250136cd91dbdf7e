/* cli/forecast/dry_sweep.c: what a sweep means before it runs: its text, and in comments behind it its cells. */
#include "cli/forecast/dry.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/args/backends.h"
#include "cli/sweeps/sweeps.h"
#include "engine/forecast/forecast.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS    200
#define MOST_REASONS 20
#define MOST_KINDS   5000 /* of cells, whose time is told apart */

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
        text_addf(out, " %s", TEXT_COUNT(axis->values));
    }
}

struct dry {
    const struct spec_sweep *s;
    const struct sweep_wish *wish;
    const struct forecast_cell *cell; /* (cells) in the order in which they run */
    const char **reason;              /* (cells) */
    struct wire_forecast sum;
    size_t wanted, at_once; /* that would run; of these, that end at once */
    bool moved;             /* they stand in another order than the sweep's own */
};

/* As --json has it. */
static const char *const fate_name[WIRE_FATES] = {
    [WIRE_RUNS] = "runs",        [WIRE_NO_WEIGHTS] = "failed", [WIRE_TOO_LARGE] = "oom",
    [WIRE_HAS_RESULT] = "ended", [WIRE_LEFT_OUT] = "left-out", [WIRE_NO_START] = "skipped",
    [WIRE_BEYOND] = "beyond"}; /* --max-cells */

static bool ends_at_once(const struct forecast_cell *c)
{
    return c->fate == WIRE_TOO_LARGE || c->fate == WIRE_NO_WEIGHTS;
}

static bool is_wanted(const struct forecast_cell *c)
{
    return c->fate == WIRE_RUNS || ends_at_once(c);
}

static double seconds_of(const struct forecast_cell *c)
{
    if (ends_at_once(c) || c->code == ERR_NOMEM)
        return 0;
    return c->plan ? c->plan->seconds : NAN;
}

/* How many cells for each reason. */
static void add_reasons(const struct dry *d, enum wire_fate fate, struct text *out)
{
    size_t reasons = 0, cells = d->sum.cells;
    bool *told = mem_new(cells, sizeof *told);

    for (size_t i = 0; i < cells; i++) {
        size_t same = 0;

        if (d->cell[i].fate != fate || told[i])
            continue;
        if (++reasons > MOST_REASONS)
            continue;
        for (size_t j = i; j < cells; j++) {
            if (told[j] || d->cell[j].fate != fate || strcmp(d->reason[i], d->reason[j]) != 0)
                continue;
            told[j] = true;
            same++;
        }
        text_addf(out, "#   %5zu  ", same);
        text_add_clean(out, d->reason[i]);
        text_add(out, "\n");
    }
    if (reasons > MOST_REASONS)
        text_addf(out, "#   %5zu  for other reasons\n", reasons - MOST_REASONS);
    free(told);
}

static void add_time(const struct dry *d, struct text *out)
{
    struct text of = {0};
    int jobs = spec_sweep_jobs(d->s, d->wish->jobs);
    size_t computed;

    text_addf(out, "# %-17s ", "expected time");
    if (d->wanted == d->at_once) {
        text_add(out, !d->wanted                      ? "none: no cell is missing\n"
                      : d->sum.too_large == d->wanted ? "none: no cell fits into the memory\n"
                                                      : "none: all cells end at once\n");
        return;
    }
    if (!isfinite(d->sum.seconds_of_all)) {
        text_addf(out, "unknown: no earlier run in %s tells it\n", cli_results());
        return;
    }
    computed = d->wanted - d->at_once;
    text_addf(&of, " for %s cell%s ", TEXT_COUNT(computed), text_s(computed));
    if (jobs > 1)
        text_addf(&of, "%d at a time", jobs);
    else
        text_add(&of, "one after the other");
    dry_add_span(out, d->sum.seconds_of_all, text_str(&of), d->sum.guessed_from);
    if (d->sum.unknown)
        text_addf(
            out,
            "# %-17s %s of these cells: no earlier run tells %s time, the mean of the others stands for it\n",
            "of unknown time", TEXT_COUNT(d->sum.unknown), d->sum.unknown == 1 ? "its" : "their");
    text_free(&of);
}

static void add_cells(const struct dry *d, struct text *out)
{
    struct text head = {0}, body = {0}, value = {0}; /* values as short as they differ */
    size_t *place = mem_new(d->s->axes + 1, sizeof *place), rows = 0;
    struct cli_table t;
    char span[CLOCK_UTC_ROOM];
    double seconds;

    text_add(&head, "-");
    for (size_t a = 0; a < d->s->axes; a++)
        text_addf(&head, "|%s", d->s->axis[a].key);
    if (isfinite(d->sum.seconds_of_all))
        text_add(&head, "|-expected");
    cli_table_start(&t, text_str(&head));
    for (size_t i = 0; i < d->sum.cells && rows < MOST_ROWS; i++) {
        if (!is_wanted(&d->cell[i]))
            continue;
        cli_table_addf(&t, "%zu", ++rows);
        spec_sweep_place(d->s, d->cell[i].number, place);
        for (size_t a = 0; a < d->s->axes; a++) {
            text_clear(&value);
            sweeps_add_value(&d->s->axis[a], place[a], &value);
            cli_table_add(&t, text_str(&value));
        }
        seconds = seconds_of(&d->cell[i]);
        if (isfinite(seconds))
            clock_span(span, seconds);
        if (isfinite(d->sum.seconds_of_all))
            cli_table_add(&t, d->cell[i].fate == WIRE_NO_WEIGHTS  ? "failed"
                              : d->cell[i].fate == WIRE_TOO_LARGE ? "out of memory"
                              : isfinite(seconds)                 ? span
                                                                  : "");
    }
    cli_table_text(&t, &body);
    for (const char *line = text_str(&body); *line;) {
        size_t n = strcspn(line, "\n");

        text_addf(out, "# %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (rows < d->wanted)
        text_addf(out, "# and %s more; --json lists all\n", TEXT_COUNT(d->wanted - rows));
    cli_table_free(&t);
    text_free(&head);
    text_free(&body);
    text_free(&value);
    free(place);
}

static void add_sweep(const struct dry *d, struct text *out)
{
    const struct sweep_wish *wish = d->wish;
    char *folder = mem_textf("%s/sweeps/%s", cli_results(), wish->name);
    size_t n = d->wanted + d->sum.with_result + d->sum.skipped;

    text_addf(out, "# %-17s ", "sweep");
    text_add_clean(out, folder);
    text_addf(out, "%s\n", io_exists(folder) ? " (there already)" : "");
    text_addf(out, "# %-17s %s: ", "cells", TEXT_COUNT(d->sum.cells));
    add_lists(d->s, out);
    text_add(out, "\n");
    if (d->sum.left_out) {
        text_addf(out, "# %-17s %s\n", "left out", TEXT_COUNT(d->sum.left_out));
        add_reasons(d, WIRE_LEFT_OUT, out);
    }
    if (d->sum.skipped) {
        text_addf(out, "# %-17s %s\n", "skipped", TEXT_COUNT(d->sum.skipped));
        add_reasons(d, WIRE_NO_START, out);
    }
    if (d->sum.too_large) {
        text_addf(out, "# %-17s %s: that is their result, and takes no time\n", "out of memory",
                  TEXT_COUNT(d->sum.too_large));
        add_reasons(d, WIRE_TOO_LARGE, out);
    }
    if (d->at_once > d->sum.too_large) {
        text_addf(out, "# %-17s %s: that is their result, and takes no time\n", "failed",
                  TEXT_COUNT(d->at_once - d->sum.too_large));
        add_reasons(d, WIRE_NO_WEIGHTS, out);
    }
    if (d->sum.begin < d->sum.possible)
        text_addf(out, "# %-17s the first %s of %s that can run\n", "--max-cells",
                  TEXT_COUNT(d->sum.begin), TEXT_COUNT(d->sum.possible));
    if (d->sum.with_result)
        text_addf(out, "# %-17s %s of %s: not run again; %s would run\n", "with a result",
                  TEXT_COUNT(d->sum.with_result), TEXT_COUNT(n), TEXT_COUNT(d->wanted));
    text_addf(out, "# %-17s %s%s\n", "order",
              wish->order == SWEEP_GRID ? "grid: as the lists stand, the last key fastest"
                                        : "spread: corners and centre first, then ever finer",
              d->moved ? "; but cells were moved" : "");
    if (d->sum.crowding[0])
        text_addf(out, "# %-17s %s\n", "threads", d->sum.crowding);
    add_time(d, out);
    if (d->wanted) {
        text_add(out, "#\n");
        add_cells(d, out);
    }
    free(folder);
}

/* ---- as an object ---- */

static void add_json_cell(const struct dry *d, size_t i, size_t order, struct text *out)
{
    const struct forecast_cell *c = &d->cell[i];
    size_t *place = mem_new(d->s->axes + 1, sizeof *place);
    struct text value = {0};

    text_addf(out, "{\"cell\": %zu, \"order\": ", c->number);
    if (order)
        text_addf(out, "%zu", order);
    else
        text_add(out, "null");
    spec_sweep_place(d->s, c->number, place);
    for (size_t a = 0; a < d->s->axes; a++) {
        text_clear(&value);
        spec_add_plain(&value, d->s->axis[a].value[place[a]]);
        text_add(out, ", ");
        cli_json_field(out, d->s->axis[a].key, text_str(&value));
    }
    text_add(out, ", \"seconds\": ");
    text_add_json_double(out, seconds_of(c));
    text_addf(out, ", \"guessed_from\": %d, \"ended\": %s, ", c->plan ? c->plan->guessed_from : 0,
              c->fate == WIRE_HAS_RESULT ? "true" : "false");
    cli_json_field(out, "fate", fate_name[c->fate]);
    text_add(out, ", ");
    cli_json_field(out, "reason", d->reason[i]);
    text_add(out, "}");
    text_free(&value);
    free(place);
}

static void add_json(const struct dry *d, struct text *out)
{
    size_t order = 0;

    text_add(out, "{");
    cli_json_field(out, "sweep", d->wish->name);
    text_addf(out,
              ", \"cells\": %zu, \"left_out\": %zu, \"skipped\": %zu, \"ended\": %zu, "
              "\"taken\": %zu, \"seconds\": ",
              (size_t)d->sum.cells, (size_t)d->sum.left_out, (size_t)d->sum.skipped,
              (size_t)d->sum.with_result, d->wanted);
    text_add_json_double(out, d->sum.unknown ? NAN : d->sum.seconds_of_all);
    text_addf(out, ", \"guessed_from\": %d, \"list\": [", d->sum.guessed_from);
    for (size_t i = 0; i < d->sum.cells; i++) {
        bool taken = is_wanted(&d->cell[i]);

        order += taken;
        text_add(out, i ? ",\n" : "\n");
        add_json_cell(d, i, taken ? order : 0, out);
    }
    text_add(out, "\n]}\n");
}

/* ---- both ---- */

/* Where it is the same as another one, in words of the command line. */
static void tell_reasons(struct dry *d)
{
    d->reason = mem_new(d->sum.cells, sizeof *d->reason);
    for (size_t i = 0; i < d->sum.cells; i++) {
        struct text why = {0};

        if (d->cell[i].twin != SIZE_MAX) {
            text_add(&why, "it is the cell of ");
            sweeps_add_label(d->s, d->cell[i].twin, &why);
        } else {
            text_add(&why, d->cell[i].reason ? d->cell[i].reason : "");
        }
        d->reason[i] = mem_text(text_str(&why));
        text_free(&why);
    }
}

/* The first of the grid speaks for all. */
static enum err_code check_any(const struct dry *d, struct err *e)
{
    size_t first = 0;

    if (d->sum.possible)
        return ERR_OK;
    while (d->cell[first].number)
        first++;
    err_set(e, d->cell[first].code, "%s", d->reason[first]);
    return err_context(e, "no cell of this sweep can run");
}

int dry_sweep(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    const struct engine_config config = cli_engine_config();
    struct dry *d = mem_new(1, sizeof *d);
    struct forecast *forecast;
    struct spec_sweep copy;
    struct text out = {0};
    struct err e = {0};
    int code;

    spec_sweep_copy(&copy, s);
    forecast = forecast_new(&copy, &(struct forecast_wish){.jobs = wish->jobs,
                                                           .max_cells = wish->max_cells,
                                                           .grid = wish->order == SWEEP_GRID,
                                                           .kinds = MOST_KINDS,
                                                           .cells = true});
    forecast_look(forecast, &config, wish->name, wish->failed);
    d->s = s;
    d->wish = wish;
    d->cell = forecast_cells(forecast, &d->moved);
    forecast_sum(forecast, &d->sum);
    d->at_once = d->sum.too_large + d->sum.no_weights;
    d->wanted = d->sum.runs + d->at_once;
    tell_reasons(d);
    if (check_any(d, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        if (wish->json) {
            add_json(d, &out);
        } else {
            spec_sweep_write(s, &out);
            text_add(&out, "\n");
            add_sweep(d, &out);
        }
        code = cli_print(&out);
    }
    text_free(&out);
    for (size_t i = 0; i < d->sum.cells; i++)
        free((char *)d->reason[i]);
    free(d->reason);
    free(d);
    forecast_free(forecast);
    return code;
}
