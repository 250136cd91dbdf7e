/* ui/results/results_cell.c: names, times and numbers of runs as a table shows them. */
#include "ui/results/results_int.h"

#include "base/loss.h"
#include "base/mem.h"
#include "record/run/run.h"
#include "study/compare.h"
#include "study/stats.h"
#include "ui/widgets/share.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RESULTS_DIGITS 4 /* of numbers that were computed, as a sweep's learning rates are */

/* Four hexadecimal digits behind the last dash. */
const char *results_hash(const char *run)
{
    const char *dash = strrchr(run, '-');

    return dash && strlen(dash) == 5 && strspn(dash + 1, "0123456789abcdef") == 4 ? dash + 1 : "";
}

/* "cnn-ens4" */
static void add_label(const char *run, struct text *out)
{
    const char *name = study_short_name(run), *hash = results_hash(name);
    size_t n = strlen(name);

    text_add_n(out, name, *hash && n > 5 ? n - 5 : n);
}

void results_text(const char *raw, enum study_kind kind, struct text *out)
{
    char number[TEXT_NUMBER_ROOM]; /* a loss takes less */
    double value;

    if (!text_to_double(raw, &value) || kind == STUDY_TEXT) {
        text_add(out, raw);
        return;
    }
    switch (kind) {
    case STUDY_SHARE:
        share_add(out, value);
        break;
    case STUDY_LOSS:
        text_add(out, loss_text(number, value));
        break;
    case STUDY_TIME:
        text_addf(out, value >= 10 ? "%.1f" : "%.2f", value);
        break;
    case STUDY_COUNT:
        if (value >= 1000 && value < 1e18)
            text_add(out, text_count(number, (uint64_t)value));
        else
            text_add(out, raw);
        break;
    case STUDY_NUMBER:
        text_add_short(out, raw, RESULTS_DIGITS);
        break;
    default:
        text_add(out, raw);
    }
}

static bool is_path(const char *column)
{
    return !strcmp(column, "model") || !strcmp(column, "data") || !strcmp(column, "weights");
}

static const char *const heads[][2] = {{"run", "name"},
                                       {"epochs_done", "epochs"},
                                       {"train_seconds", "seconds"},
                                       {"best_test_acc", "best"},
                                       {"last_test_acc", "last"},
                                       {"last.test_acc", "last"},
                                       {"started_utc", "started"},
                                       {"ended_utc", "ended"},
                                       {"best_epoch", "best at"},
                                       {"best_test_loss", "best loss"},
                                       {"last_test_loss", "last loss"}};

const char *results_headed(const char *head)
{
    for (size_t i = 0; i < MEM_COUNT(heads); i++)
        if (!strcmp(heads[i][1], head))
            return heads[i][0];
    /* the one that stands still has more words */
    return !strcmp(head, "best acc") || !strcmp(head, "acc") ? "best_test_acc" : NULL;
}

void results_set_column(struct results_column *c, const char *name)
{
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->field = library_field(name);
    c->kind = study_kind_of(name);
    if (c->field >= 0 && spec_key_find(name) < 0 && !record_column_is_number(name))
        c->kind = STUDY_TEXT;
    c->head = c->name;
    for (size_t i = 0; i < MEM_COUNT(heads); i++)
        if (!strcmp(heads[i][0], name))
            c->head = heads[i][1];
}

void results_add_head(const struct results_column *c, struct text *out)
{
    text_addf(out, "%s%s", c->head, c->kind == STUDY_SHARE ? share_unit() : "");
}

const char *results_value(const struct results *r, const struct library_run *run,
                          const struct results_column *c)
{
    return c->field >= 0 ? run->cell[c->field] : library_value(r->app->library, run, c->name);
}

static void one_cell(const struct results *r, const struct library_run *run,
                     const struct results_column *c, struct text *out)
{
    char number[TEXT_NUMBER_ROOM];
    const char *raw = results_newest(r, run, c->name, number), *slash;

    if (!raw)
        raw = results_value(r, run, c);
    if (!raw) {
        text_add(out, "…");
        return;
    }
    if (!*raw && !run->broken)
        raw = study_none(c->name);
    if (!strcmp(c->name, "run")) {
        add_label(run->name, out);
    } else if (!strcmp(c->name, "epochs_done")) {
        if (*raw)
            text_addf(out, "%s/%s", raw, library_cell(run, "epochs"));
    } else if (is_path(c->name)) {
        slash = strrchr(raw, '/');
        raw = slash && slash[1] ? slash + 1 : raw;
        text_add_n(out, raw, text_stem(raw, !strcmp(c->name, "model") ? ".net" : ""));
    } else if (c->kind == STUDY_TEXT && strlen(raw) == 24 && raw[10] == 'T') {
        text_addf(out, "%.10s %.5s", raw, raw + 11); /* a time */
    } else {
        results_text(raw, c->kind, out);
    }
}

/* What runs have in common, and of repeats the mean of what was measured: over the settings of a sweep it
 * would tell of none of them. */
static void group_cell(const struct results *r, const struct results_group *g,
                       const struct results_column *c, struct text *out)
{
    const struct library_run *runs;
    const size_t *order = r->view.order + g->first;
    size_t count, n = 0;
    bool same = true, measured = !g->sweep && (c->kind == STUDY_SHARE || c->kind == STUDY_LOSS ||
                                               c->kind == STUDY_TIME);
    double sum = 0, value;
    char number[TEXT_NUMBER_ROOM];

    runs = library_runs(r->app->library, &count);
    for (size_t i = 0; i < g->count; i++) {
        const struct library_run *run = &runs[order[i]];
        const char *raw = results_value(r, run, c), *first = results_value(r, &runs[order[0]], c);

        same = same && raw && first && (raw == first || !strcmp(raw, first));
        if (measured && run->state == WIRE_DONE && raw && text_to_double(raw, &value) &&
            isfinite(value)) {
            sum += value;
            n++;
        }
    }
    if (measured && n)
        results_text(text_double(number, sum / (double)n), c->kind, out);
    else if (same || !strcmp(c->name, "run"))
        one_cell(r, &runs[order[0]], c, out);
    else
        text_add(out, "·");
}

void results_cell(const struct results *r, const struct results_line *line,
                  const struct results_column *c, struct text *out)
{
    if (line->kind == RESULTS_RUN)
        one_cell(r, results_run(r, line), c, out);
    else if (line->kind == RESULTS_GROUP)
        group_cell(r, &r->view.group[line->at], c, out);
}
