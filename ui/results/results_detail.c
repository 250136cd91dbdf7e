/* ui/results/results_detail.c: what the chosen run, or the chosen group of runs, came to, in words. */
#include "ui/results/results_int.h"

#include "draw/ink/words.h"
#include "record/run/run.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <string.h>

int results_role(const struct library_run *run, const struct results_standing *is)
{
    if (run->broken || is->dead)
        return GRID_BAD;
    switch (is->state) {
    case WIRE_RUNNING:
        return strcmp(is->words, wire_state_name(WIRE_RUNNING)) ? GRID_WARN : GRID_GOOD;
    case WIRE_DIVERGED:
    case WIRE_OOM:
    case WIRE_FAILED:
        return GRID_BAD;
    case WIRE_PAUSED:
    case WIRE_STOPPED:
    case WIRE_WAITING:
        return GRID_WARN;
    default:
        return GRID_TEXT;
    }
}

static void add_number(const struct results *r, const struct library_run *run, const char *column,
                       const char *before, const char *behind, struct text *out)
{
    struct results_column c;
    char number[TEXT_NUMBER_ROOM];
    const char *raw = results_raw(r, run, column, number);

    if (!*raw)
        return;
    results_set_column(&c, column);
    text_add(out, before);
    results_text(raw, c.kind, out);
    text_addf(out, "%s%s", c.kind == STUDY_SHARE ? share_unit() : "", behind);
}

static void add_sentence(const struct results *r, const struct library_run *run, struct text *out)
{
    const struct feed_run *live = results_live(r, run);
    bool valid =
        live && live->best_epoch ? live->by_valid : !strcmp(library_cell(run, "best_by"), "valid");
    char number[TEXT_NUMBER_ROOM];

    if (*results_raw(r, run, "best_test_acc", number)) {
        add_number(r, run, "best_test_acc", "best ", "", out);
        add_number(r, run, "best_epoch", " at epoch ", "", out);
        text_addf(out, ", picked on %s; ", valid ? "validation" : "test");
        add_number(r, run, "last_test_acc", "last ", "; ", out);
    }
    text_addf(out, "%s of %s epoch%s", results_raw(r, run, "epochs_done", number),
              library_cell(run, "epochs"), strcmp(library_cell(run, "epochs"), "1") ? "s" : "");
    add_number(r, run, "train_seconds", ", ", " s of training", out);
    add_number(r, run, "backend_used", " on ", "", out);
    add_number(r, run, "threads_used", ", ",
               strcmp(library_cell(run, "threads_used"), "1") ? " threads" : " thread", out);
    add_number(r, run, "parameters", ", ", " parameters", out);
    if (!strcmp(library_cell(run, "mode"), "ensemble"))
        text_add(out, "; u shows its members");
}

static void add_remarks(const struct results *r, const struct library_run *run,
                        const struct results_standing *is, struct text *out)
{
    const struct feed_run *at = results_live(r, run);

    if (run->broken)
        text_add(out, run->problem);
    else if (is->dead)
        text_add(out, FEED_DEAD);
    else if (at && feed_lacks_room(r->app->feed, at))
        text_add(out, "it " WIRE_LACKS_ROOM " on the disk");
    else if (is->stops)
        text_addf(out, "it stops %s: R takes that back",
                  feed_ends_epoch(r->app->feed, at) ? "after this epoch" : "with its sweep");
    else
        text_add(out, is->reason);
    add_number(r, run, "tags", out->n ? "; tags " : "tags ", "", out);
    add_number(r, run, "note", out->n ? "; note: " : "note: ", "", out);
    add_number(r, run, "sweep", out->n ? "; sweep " : "sweep ", "", out);
}

static void add_settings(const struct library_run *run, struct text *out)
{
    for (size_t i = 0; record_run_columns[i]; i++) {
        const char *name = record_run_columns[i];

        if (spec_key_find(name) < 0 || !*run->cell[i] || !strcmp(name, "on_end"))
            continue;
        text_addf(out, "%s%s=", out->n ? "  " : "", name);
        jobs_add_word(out, run->cell[i]);
    }
}

static void draw_group_detail(const struct results *r, struct grid *g, struct rect in,
                              const struct results_line *line)
{
    const struct results_group *group = &r->view.group[line->at];
    const struct library_run *run = results_run(r, line);
    const char *sweep = library_cell(run, "sweep");
    struct text words = {0};
    char number[TEXT_NUMBER_ROOM];
    size_t count;

    text_addf(&words, "%s run%s ", text_count(number, group->count), text_s(group->count));
    if (group->sweep)
        text_addf(&words, "of the sweep %s", sweep);
    else
        text_add(&words, group->one_seed ? "of one seed: the same settings again"
                                         : "that differ in their seed alone");
    grid_cut(g, in, 0, 1, in.columns - 2, GRID_HEAD, false, text_str(&words));
    text_clear(&words);
    if (group->n) {
        text_add(&words, "best accuracy: ");
        if (group->sweep) {
            share_tell(&words, group->best);
            text_addf(&words, " of %s; ",
                      results_hash(library_runs(r->app->library, &count)[group->best_run].name));
        }
        text_add(&words, "mean ");
        share_tell(&words, group->mean);
        if (isfinite(group->sd)) {
            text_add(&words, ", standard deviation ");
            share_tell(&words, group->sd);
        }
        text_addf(&words, ", n %s", TEXT_COUNT(group->n));
        if (group->again)
            text_addf(&words, " (%s the same result again)", TEXT_COUNT(group->again));
        if (group->n + group->again < group->count)
            text_addf(&words, " (%s not done)", TEXT_COUNT(group->count - group->n - group->again));
    } else {
        text_add(&words, "none of them is done");
    }
    text_add(&words, "; Enter unfolds them, Space marks them all");
    grid_words(g, rect_behind(rect_before(in, 1), 1), 1, GRID_TEXT, text_str(&words));
    text_free(&words);
}

void results_draw_detail(const struct results *r, struct grid *g, struct rect in)
{
    const struct results_line *line = results_chosen(r);
    struct rect inner = rect_behind(rect_before(in, 1), 1);
    const struct library_run *run;
    struct text words = {0}, cut = {0};
    struct results_standing is;
    int row = 1, room;

    if (!line || in.rows < 1)
        return;
    if (line->kind == RESULTS_GROUP) {
        draw_group_detail(r, g, in, line);
        return;
    }
    run = results_run(r, line);
    room = in.rows - (in.rows > 2 && !run->broken); /* a long note leaves a row to the results */
    words_add_cut(&cut, run->name, in.columns - 2, g->ascii);
    grid_bold(g, in, 0, 1, GRID_HEAD, text_str(&cut));
    is = results_standing(r, run);
    add_remarks(r, run, &is, &words);
    if (words.n)
        row +=
            grid_words(g, rect_top(inner, room), row,
                       results_role(run, &is) == GRID_BAD ? GRID_BAD : GRID_TEXT, text_str(&words));
    row = row < room ? row : room;
    text_clear(&words);
    if (!run->broken) {
        add_sentence(r, run, &words);
        row += grid_words(g, inner, row, GRID_TEXT, text_str(&words));
    }
    if (in.rows > 6 && !run->broken) {
        text_clear(&words);
        add_settings(run, &words);
        grid_words(g, inner, row + (in.rows > 8), GRID_DIM, text_str(&words));
    }
    text_free(&words);
    text_free(&cut);
}
