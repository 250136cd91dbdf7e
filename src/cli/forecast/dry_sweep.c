/* cli/forecast/dry_sweep.c: what a sweep means before it runs: its text, and in comments behind it its cells. */
#include "cli/forecast/dry.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/forecast/dry_survey.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/sweeps/sweeps.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS    200
#define MOST_REASONS 20

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

/* What becomes of a cell, as --json has it. */
enum fate { RUNS, FAILS, TOO_LARGE, ENDED, LEFT_OUT, SKIPPED, BEYOND, FATES };

static const char *const fate_name[FATES] = {"runs",     "failed",  "oom",   "ended",
                                             "left-out", "skipped", "beyond"}; /* --max-cells */

static enum fate fate_of(const struct dry_one *one)
{
    if (one->taken && one->at_once)
        return one->code == ERR_NOMEM ? TOO_LARGE : FAILS;
    if (one->taken)
        return RUNS;
    if (one->ended)
        return ENDED;
    if (one->reason && !one->skipped)
        return LEFT_OUT;
    return one->skipped && one->seen ? SKIPPED : BEYOND;
}

/* NULL: its fate is another one. */
static const char *reason_of(const struct dry_one *one, enum fate fate)
{
    if (fate_of(one) != fate)
        return NULL;
    return one->taken ? one->at_once : one->reason;
}

/* How many cells for each reason. */
static void add_reasons(const struct dry_survey *v, enum fate fate, struct text *out)
{
    size_t reasons = 0;
    bool *told = mem_new(v->cells, sizeof *told);

    for (size_t i = 0; i < v->cells; i++) {
        const char *reason = reason_of(&v->one[i], fate);
        size_t same = 0;

        if (!reason || told[i])
            continue;
        if (++reasons > MOST_REASONS)
            continue;
        for (size_t j = i; j < v->cells; j++) {
            const char *other = told[j] ? NULL : reason_of(&v->one[j], fate);

            if (other && !strcmp(other, reason)) {
                told[j] = true;
                same++;
            }
        }
        text_addf(out, "#   %5zu  ", same);
        text_add_clean(out, reason);
        text_add(out, "\n");
    }
    if (reasons > MOST_REASONS)
        text_addf(out, "#   %5zu  for other reasons\n", reasons - MOST_REASONS);
    free(told);
}

static void add_time(const struct dry_survey *v, struct text *out)
{
    struct text of = {0};
    size_t computed;

    text_addf(out, "# %-17s ", "expected time");
    if (v->wanted == v->at_once) {
        text_add(out, !v->wanted                  ? "none: no cell is missing\n"
                      : v->too_large == v->wanted ? "none: no cell fits into the memory\n"
                                                  : "none: all cells end at once\n");
        return;
    }
    if (!isfinite(v->seconds)) {
        text_addf(out, "unknown: no earlier run in %s tells it\n", cli_results());
        return;
    }
    computed = v->wanted - v->at_once;
    text_addf(&of, " for %s cell%s ", TEXT_COUNT(computed), text_s(computed));
    if (v->jobs > 1)
        text_addf(&of, "%d at a time", v->jobs);
    else
        text_add(&of, "one after the other");
    dry_add_span(out, v->seconds, text_str(&of), v->guessed_from);
    if (v->unknown)
        text_addf(
            out,
            "# %-17s %s of these cells: no earlier run tells %s time, the mean of the others stands for it\n",
            "of unknown time", TEXT_COUNT(v->unknown), v->unknown == 1 ? "its" : "their");
    text_free(&of);
}

static void add_cells(const struct dry_survey *v, struct text *out)
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
            cli_table_add(&t, fate_of(&v->one[i]) == FAILS  ? "failed"
                              : v->one[i].at_once           ? "out of memory"
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
        text_addf(out, "# and %s more; --json lists all\n", TEXT_COUNT(v->wanted - rows));
    cli_table_free(&t);
    text_free(&head);
    text_free(&body);
    text_free(&value);
    free(place);
}

static void add_survey(const struct dry_survey *v, const struct sweep_wish *wish, struct text *out)
{
    char *folder = mem_textf("%s/sweeps/%s", cli_results(), wish->name);
    size_t possible = v->cells - v->left_out - v->refused, n = v->wanted + v->ended + v->skipped;

    text_addf(out, "# %-17s ", "sweep");
    text_add_clean(out, folder);
    text_addf(out, "%s\n", io_exists(folder) ? " (there already)" : "");
    text_addf(out, "# %-17s %s: ", "cells", TEXT_COUNT(v->cells));
    add_lists(v->s, out);
    text_add(out, "\n");
    if (v->left_out) {
        text_addf(out, "# %-17s %s\n", "left out", TEXT_COUNT(v->left_out));
        add_reasons(v, LEFT_OUT, out);
    }
    if (v->skipped) {
        text_addf(out, "# %-17s %s\n", "skipped", TEXT_COUNT(v->skipped));
        add_reasons(v, SKIPPED, out);
    }
    if (v->too_large) {
        text_addf(out, "# %-17s %s: that is their result, and takes no time\n", "out of memory",
                  TEXT_COUNT(v->too_large));
        add_reasons(v, TOO_LARGE, out);
    }
    if (v->at_once > v->too_large) {
        text_addf(out, "# %-17s %s: that is their result, and takes no time\n", "failed",
                  TEXT_COUNT(v->at_once - v->too_large));
        add_reasons(v, FAILS, out);
    }
    if (v->allowed < possible)
        text_addf(out, "# %-17s the first %s of %s that can run\n", "--max-cells",
                  TEXT_COUNT(v->allowed), TEXT_COUNT(possible));
    if (v->ended)
        text_addf(out, "# %-17s %s of %s: not run again; %s would run\n", "with a result",
                  TEXT_COUNT(v->ended), TEXT_COUNT(n), TEXT_COUNT(v->wanted));
    text_addf(out, "# %-17s %s%s\n", "order",
              wish->order == SWEEP_GRID ? "grid: as the lists stand, the last key fastest"
                                        : "spread: corners and centre first, then ever finer",
              v->moved ? "; but cells were moved" : "");
    if (v->crowding)
        text_addf(out, "# %-17s %s\n", "threads", v->crowding);
    add_time(v, out);
    if (v->wanted) {
        text_add(out, "#\n");
        add_cells(v, out);
    }
    free(folder);
}

/* ---- as an object ---- */

static void add_json_cell(const struct dry_survey *v, const struct dry_one *one, size_t order,
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
    cli_json_field(out, "fate", fate_name[fate_of(one)]);
    text_add(out, ", ");
    cli_json_field(out, "reason", one->reason ? one->reason : one->at_once ? one->at_once : "");
    text_add(out, "}");
    text_free(&value);
    free(place);
}

static void add_json(const struct dry_survey *v, const struct sweep_wish *wish, struct text *out)
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
    struct dry_survey v;
    struct text out = {0};
    struct err e = {0};
    int code;

    if (dry_survey(&v, s, wish, &e) != ERR_OK) {
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
    dry_survey_free(&v);
    return code;
}
