/* A sweep's cells as words, sentences and boards. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which part is looked at ---- */

static size_t values_of(const struct sweepview_sweep *s, size_t d)
{
    return d < s->dims ? s->dim[d].values : 1;
}

static bool is_shown(const struct sweepview_sweep *s, const struct sweepview_look *look, size_t d)
{
    return d == look->rows || d == look->columns || d == s->repeats_dim;
}

/* The dimension of that name, else the one with most values that is not taken. */
static size_t liked_dim(const struct sweepview_sweep *s, const char *name, size_t taken)
{
    size_t best = s->dims;

    for (size_t d = 0; d < s->dims; d++) {
        if (d == taken || d == s->repeats_dim)
            continue;
        if (!strcmp(s->dim[d].name, name) && s->dim[d].values > 1)
            return d;
        if (best == s->dims || s->dim[d].values > s->dim[best].values)
            best = d;
    }
    return best;
}

void sweepview_first_look(const struct sweepview_sweep *s, struct sweepview_look *look)
{
    *look = (struct sweepview_look){0};
    look->rows = liked_dim(s, "lr", s->dims);
    look->columns = liked_dim(s, "batch", look->rows);
    if (s->best < s->groups)
        sweepview_go_to(s, look, s->best);
}

bool sweepview_other_axes(const struct sweepview_sweep *s, struct sweepview_look *look)
{
    size_t chosen = sweepview_chosen(s, look), pairs = s->dims * s->dims;
    size_t pair = look->rows * s->dims + look->columns;

    if (look->columns >= s->dims)
        return false;
    for (size_t i = 1; i < pairs; i++) {
        size_t rows = (pair + i) % pairs / s->dims, columns = (pair + i) % pairs % s->dims;

        if (rows == columns || rows == s->repeats_dim || columns == s->repeats_dim)
            continue;
        look->rows = rows;
        look->columns = columns;
        look->view.top = look->view.left = 0;
        sweepview_go_to(s, look, chosen);
        return true;
    }
    return false;
}

size_t sweepview_pages(const struct sweepview_sweep *s, const struct sweepview_look *look)
{
    size_t pages = 1;

    for (size_t d = 0; d < s->dims; d++)
        if (!is_shown(s, look, d))
            pages *= s->dim[d].values;
    return pages;
}

size_t sweepview_page(const struct sweepview_sweep *s, const struct sweepview_look *look)
{
    size_t page = 0;

    for (size_t d = 0; d < s->dims; d++)
        if (!is_shown(s, look, d))
            page = page * s->dim[d].values + look->at[d];
    return page;
}

void sweepview_set_page(const struct sweepview_sweep *s, struct sweepview_look *look, size_t page)
{
    for (size_t d = s->dims; d-- > 0;) {
        if (is_shown(s, look, d))
            continue;
        look->at[d] = page % s->dim[d].values;
        page /= s->dim[d].values;
    }
}

size_t sweepview_shown_group(const struct sweepview_sweep *s, const struct sweepview_look *look,
                             size_t row, size_t column)
{
    size_t at[SWEEPVIEW_MOST_DIMS] = {0};

    for (size_t d = 0; d < s->dims; d++)
        at[d] = d == look->rows ? row : d == look->columns ? column : look->at[d];
    return sweepview_group_at(s, at);
}

size_t sweepview_chosen(const struct sweepview_sweep *s, const struct sweepview_look *look)
{
    return sweepview_shown_group(s, look, (size_t)(look->view.row < 0 ? 0 : look->view.row),
                                 (size_t)(look->view.column < 0 ? 0 : look->view.column));
}

void sweepview_go_to(const struct sweepview_sweep *s, struct sweepview_look *look, size_t group)
{
    size_t at[SWEEPVIEW_MOST_DIMS] = {0};

    sweepview_place(s, group, at);
    for (size_t d = 0; d < s->dims; d++)
        look->at[d] = at[d];
    look->view.row = look->rows < s->dims ? (int)at[look->rows] : 0;
    look->view.column = look->columns < s->dims ? (int)at[look->columns] : 0;
}

/* ---- cells ---- */

static void add_share(double share, struct text *out)
{
    if (isfinite(share))
        text_addf(out, " %d %%", (int)(100 * share));
}

void sweepview_add_cell(const struct live_cell *c, struct text *out)
{
    if (!c->known) {
        text_add(out, c->twin ? "left out" : c->left_out ? "impossible" : "not begun");
        return;
    }
    if (c->state == WIRE_DONE && isfinite(c->acc)) {
        share_add(out, c->acc);
        return;
    }
    text_add(out, c->dead ? "dead" : c->full ? WIRE_LACKS_ROOM : wire_state_words(c->state));
    if (c->state == WIRE_RUNNING) {
        add_share(c->share, out);
        if (c->elsewhere)
            text_add(out, ", elsewhere");
    }
}

/* What a group says where it has no result: what is under way first, then what went wrong. */
static void add_state(const struct sweepview_group *g, bool brief, struct text *out)
{
    static const enum wire_state order[] = {WIRE_RUNNING, WIRE_PAUSED,   WIRE_WAITING,
                                            WIRE_STOPPED, WIRE_DIVERGED, WIRE_OOM,
                                            WIRE_FAILED,  WIRE_SKIPPED,  WIRE_DONE};
    static const char *const briefly[] = {
        [WIRE_WAITING] = "wait", [WIRE_RUNNING] = "run",   [WIRE_PAUSED] = "pause",
        [WIRE_STOPPED] = "stop", [WIRE_DONE] = "done",     [WIRE_DIVERGED] = "div",
        [WIRE_OOM] = "oom",      [WIRE_FAILED] = "failed", [WIRE_SKIPPED] = "skip"};

    for (size_t i = 0; i < MEM_COUNT(order); i++) {
        if (!g->of_state[order[i]])
            continue;
        if (order[i] == WIRE_STOPPED && g->dead)
            text_add(out, "dead");
        else if (order[i] == WIRE_RUNNING && g->full)
            text_add(out, WIRE_NO_ROOM);
        else if (!brief || order[i] != WIRE_RUNNING || isnan(g->share))
            text_add(out, brief ? briefly[order[i]] : wire_state_words(order[i]));
        if (order[i] == WIRE_RUNNING && brief && isfinite(g->share) && !g->full)
            text_addf(out, "%d%%", (int)(100 * g->share));
        else if (order[i] == WIRE_RUNNING && !(brief && g->full))
            add_share(g->share, out);
        return;
    }
    text_add(out, g->unknown ? "·" : brief ? "-" : g->twins ? "left out" : "impossible");
}

static size_t open_cells(const struct sweepview_group *g)
{
    return g->of_state[WIRE_WAITING] + g->of_state[WIRE_RUNNING] + g->of_state[WIRE_PAUSED] +
           g->of_state[WIRE_STOPPED] + g->unknown;
}

static size_t bad_cells(const struct sweepview_group *g)
{
    return g->of_state[WIRE_DIVERGED] + g->of_state[WIRE_OOM] + g->of_state[WIRE_FAILED];
}

void sweepview_add_state(const struct sweepview_group *g, struct text *out)
{
    if (g->runs)
        text_add(out, "done");
    else
        add_state(g, false, out);
    text_add(out, bad_cells(g) && (g->runs || open_cells(g)) ? "!" : "");
    text_add(out, g->runs && open_cells(g) ? "…" : "");
}

static void add_group(const struct sweepview_sweep *s, size_t number, bool brief, struct text *out)
{
    const struct sweepview_group *g = &s->group[number];

    if (!g->runs) {
        add_state(g, brief, out);
        text_add(out, bad_cells(g) && open_cells(g) ? "!" : "");
        return;
    }
    if (number == s->best)
        text_add(out, "*");
    else if (g->even)
        text_add(out, "≈");
    share_add(out, g->mean);
    if (!brief && g->runs > 1) {
        text_add(out, " ± ");
        share_add(out, g->sd);
    }
    if (bad_cells(g))
        text_add(out, "!");
    if (open_cells(g))
        text_add(out, "…");
}

/* ---- the board ---- */

static const char *keep(struct sweepview_board *b, struct text *word)
{
    b->text = mem_grow(b->text, &b->room, b->texts + 1, sizeof *b->text);
    b->text[b->texts] = word->s ? word->s : mem_text("");
    *word = (struct text){0};
    return b->text[b->texts++];
}

/* Of all pages, so that a colour means the same on each. */
static struct board_scale scale_of(const struct sweepview_sweep *s)
{
    double *mean = mem_new(s->groups + 1, sizeof *mean);
    struct board_scale scale;

    for (size_t i = 0; i < s->groups; i++)
        mean[i] = s->group[i].runs ? s->group[i].mean : NAN;
    if (!board_scale(mean, s->groups, &scale))
        scale = (struct board_scale){0};
    free(mean);
    return scale;
}

/* What stands behind values on the board, and behind what is still to come of others. */
static const char *note_of(const struct sweepview_sweep *s)
{
    bool open = false, bad = false;

    for (size_t i = 0; i < s->groups; i++) {
        open |= s->group[i].runs && open_cells(&s->group[i]);
        bad |= bad_cells(&s->group[i]) && (s->group[i].runs || open_cells(&s->group[i]));
    }
    return open && bad ? "… seeds to come  ! some failed"
           : open      ? "… seeds to come"
           : bad       ? "! some seeds failed"
                       : NULL;
}

/* What tells its page from the others; NULL: it has one alone. */
static const char *note_of_page(const struct sweepview_sweep *s, const struct sweepview_look *look,
                                struct sweepview_board *board)
{
    struct text words = {0};

    for (size_t d = 0; d < s->dims; d++)
        if (!is_shown(s, look, d) && s->dim[d].values > 1)
            text_addf(&words, "%s%s = %s", words.n ? ", " : "page ", s->dim[d].name,
                      s->dim[d].brief[look->at[d]]);
    return words.n ? keep(board, &words) : NULL;
}

void sweepview_make_board(const struct sweepview_sweep *s, struct sweepview_look *look,
                          struct sweepview_board *out)
{
    static const char *const single[] = {"accuracy"};
    size_t rows = values_of(s, look->rows), columns = values_of(s, look->columns);
    size_t n = rows * columns;
    struct text word = {0};
    bool alone = look->columns >= s->dims;

    *out = (struct sweepview_board){0};
    out->value = mem_new(n + 1, sizeof *out->value);
    out->grey = mem_new(n + 1, sizeof *out->grey);
    out->words = mem_new(n + 1, sizeof *out->words);
    out->brief = mem_new(n + 1, sizeof *out->brief);
    look->view.best = 0;
    look->view.legend = true;
    look->view.note = note_of(s);
    /* Of what a cell may come to say, so that no column changes its width on the way there. */
    look->view.least = s->repeats > 1 ? 16 : 13;
    look->view.least_brief = 7;
    look->view.row = look->view.row < (int)rows ? look->view.row : (int)rows - 1;
    look->view.column = look->view.column < (int)columns ? look->view.column : (int)columns - 1;
    for (size_t i = 0; i < n; i++) {
        size_t group = sweepview_shown_group(s, look, i / columns, i % columns);

        out->value[i] = s->group[group].mean;
        out->grey[i] = s->group[group].even;
        add_group(s, group, false, &word);
        out->words[i] = keep(out, &word);
        add_group(s, group, true, &word);
        out->brief[i] = keep(out, &word);
        if (group == s->best)
            look->view.best = (int)i + 1;
    }
    look->view.brief = out->brief;
    look->view.grey = out->grey;
    out->view = &look->view;
    out->board = (struct board){
        .far_below = true,
        .scale = scale_of(s),
        .note = note_of_page(s, look, out),
        .title = share_in_per_cent() ? "test accuracy %" : "test accuracy",
        .per_cent = share_in_per_cent(),
        .row_label = look->rows < s->dims ? s->dim[look->rows].name : "",
        .column_label = alone ? "" : s->dim[look->columns].name,
        .rows = s->dims ? (int)rows : 0,
        .columns = (int)columns,
        .row_name = look->rows < s->dims ? (const char *const *)s->dim[look->rows].brief : single,
        .column_name = alone ? single : (const char *const *)s->dim[look->columns].brief,
        .value = out->value,
        .words = out->words};
}

void sweepview_free_board(struct sweepview_board *b)
{
    if (b->view) {
        b->view->brief = NULL;
        b->view->grey = NULL;
    }
    for (size_t i = 0; i < b->texts; i++)
        free(b->text[i]);
    free(b->text);
    free(b->value);
    free(b->grey);
    free(b->words);
    free(b->brief);
    *b = (struct sweepview_board){0};
}

/* ---- sentences ---- */

void sweepview_add_setting(const struct sweepview_sweep *s, size_t group, struct text *out)
{
    size_t at[SWEEPVIEW_MOST_DIMS] = {0};
    bool any = false;

    sweepview_place(s, group, at);
    for (size_t d = 0; d < s->dims; d++) {
        if (d == s->repeats_dim)
            continue;
        text_addf(out, "%s%s %s", any ? ", " : "", s->dim[d].name, s->dim[d].brief[at[d]]);
        any = true;
    }
}

void sweepview_add_page(const struct sweepview_sweep *s, const struct sweepview_look *look,
                        struct text *out)
{
    bool any = false;

    for (size_t d = 0; d < s->dims; d++) {
        if (is_shown(s, look, d))
            continue;
        text_addf(out, "%s%s %s", any ? ", " : "", s->dim[d].name, s->dim[d].brief[look->at[d]]);
        any = true;
    }
}

static void add_count(struct text *out, size_t n, const char *of)
{
    char number[TEXT_NUMBER_ROOM];

    if (n)
        text_addf(out, "%s%s %s", out->n ? ", " : "", text_count(number, n), of);
}

void sweepview_add_counts(const struct sweepview_sweep *s, struct text *out)
{
    static const enum wire_state order[] = {WIRE_DONE,    WIRE_RUNNING,  WIRE_PAUSED,
                                            WIRE_STOPPED, WIRE_DIVERGED, WIRE_OOM,
                                            WIRE_FAILED,  WIRE_SKIPPED,  WIRE_WAITING};
    size_t n[WIRE_SKIPPED + 1] = {0}, impossible = 0, twins = 0, unknown = 0, dead = 0, full = 0;

    for (size_t i = 0; i < s->groups; i++) {
        for (size_t k = 0; k <= WIRE_SKIPPED; k++)
            n[k] += s->group[i].of_state[k];
        dead += s->group[i].dead;
        full += s->group[i].full;
        impossible += s->group[i].left_out - s->group[i].twins;
        twins += s->group[i].twins;
        unknown += s->group[i].unknown;
    }
    n[WIRE_STOPPED] -= dead;
    n[WIRE_RUNNING] -= full;
    add_count(out, dead, "dead");
    add_count(out, full, WIRE_NO_ROOM);
    for (size_t k = 0; k < MEM_COUNT(order); k++)
        add_count(out, n[order[k]], wire_state_words(order[k]));
    add_count(out, unknown, s->now->options.max_cells ? "left by --max-cells" : "not begun");
    add_count(out, impossible, "impossible");
    add_count(out, twins, "the same as another");
}

static void add_test_error(const struct sweepview_sweep *s, double accuracy, struct text *out)
{
    char images[TEXT_NUMBER_ROOM];

    text_add(out, "One run a cell: the test set alone gives an accuracy ");
    if (isfinite(s->test_images)) {
        text_add(out, "of ");
        share_tell(out, accuracy);
        text_add(out, " an error of ± ");
        share_add(out, study_accuracy_error(accuracy, s->test_images));
        text_addf(out, "%s (%s images, one standard deviation).",
                  share_in_per_cent() ? " points" : "",
                  text_count(images, (uint64_t)s->test_images));
    } else
        text_add(out, "an error of √(p (1 - p) / n) over n images.");
}

static void add_differences(const struct sweepview_sweep *s, struct text *out)
{
    if (s->even)
        text_addf(
            out,
            "Grey, with ≈: %s setting%s that cannot be told from the best: the 95 %% interval "
            "of their difference, seed by seed, holds 0.",
            TEXT_COUNT(s->even), text_s(s->even));
    else if (s->told && !s->few)
        text_add(out, "The best stands out: no 95 % interval of a difference to it, seed by seed, "
                      "holds 0.");
    else if (s->told)
        text_addf(out,
                  "%s setting%s can be told from the best: the 95 %% interval of their "
                  "difference, seed by seed, does not hold 0.",
                  TEXT_COUNT(s->told), text_s(s->told));
    if (s->few)
        text_addf(out, "%s%s setting%s too few seeds in common with the best to tell.",
                  s->even || s->told ? " " : "", TEXT_COUNT(s->few),
                  s->few == 1 ? " has" : "s have");
    if (!s->even && !s->told && !s->few)
        text_add(out, "No other setting has a result yet.");
}

void sweepview_add_footer(const struct sweepview_sweep *s, struct text *out)
{
    const char *apart = spec_sweep_tests_apart(&s->now->spec);

    if (apart)
        text_addf(out, "No best: cells are tested on different data (%s).", apart);
    if (s->best >= s->groups)
        return;
    if (s->repeats == 1)
        add_test_error(s, s->group[s->best].mean, out);
    else
        add_differences(s, out);
    text_add(out,
             s->on_valid
                 ? " Test accuracies; the best (*) and its epoch are picked on validation data."
             : s->now->by_valid ? " The best (*) is picked on test, epochs on validation data."
                                : " Epochs picked on test.");
}

#define MOST_NAMED 3

void sweepview_add_failed_beyond(const struct sweepview_sweep *s, struct text *out)
{
    size_t n = live_sweep_failed(s->now, true), named = 0;

    if (!n)
        return;
    text_addf(out, " %s more lie%s beyond --max-cells %lld (", TEXT_COUNT(n), n == 1 ? "s" : "",
              (long long)s->now->options.max_cells);
    for (size_t i = 0; i < s->groups && named < MOST_NAMED; i++) {
        bool any = false;

        for (size_t r = 0; r < s->repeats; r++) {
            const struct live_cell *c = &s->now->cell[sweepview_cell_of(s, i, r)];

            any |= c->known && c->state > WIRE_DONE && c->beyond;
        }
        if (!any)
            continue;
        text_add(out, named++ ? "; " : "");
        sweepview_add_setting(s, i, out);
    }
    text_addf(out, "%s): chorus resume ", n > named ? "; ..." : "");
    jobs_add_word(out, s->now->name);
    text_addf(out, " --failed --max-cells %zu has %s too.", live_sweep_possible(s->now),
              n == 1 ? "it" : "them");
}

void sweepview_add_beyond(const struct sweepview_sweep *s, struct text *out)
{
    text_addf(out, "--max-cells %lld left %s of %s cells", (long long)s->now->options.max_cells,
              TEXT_COUNT(live_sweep_beyond(s->now)), TEXT_COUNT(live_sweep_possible(s->now)));
}
