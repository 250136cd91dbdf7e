/* ui/sweep/sweepview_out.c: what is seen as a command line, as a table and as a figure. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "draw/figure.h"
#include "study/table.h"
#include "ui/tasks/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sweepview_forms[] = {"csv", "md", "tex", "svg", "pdf", NULL};

void sweepview_command(void *screen, struct text *out)
{
    const struct sweepview *v = screen;
    const struct sweepview_sweep *s = v->sweep;

    if (!s || s->now->problem || !s->dims) {
        text_add(out, "ls");
        return;
    }
    text_add(out, "plot ");
    jobs_add_word(out, s->now->name);
    for (size_t d = 0; d < s->dims; d++) {
        bool shown = d == v->look.rows || d == v->look.columns || d == s->repeats_dim;
        struct text word = {0}, plain = {0};

        if (!shown && !strchr(s->dim[d].name, ',')) {
            spec_add_plain(&plain, s->dim[d].value[v->look.at[d]]);
            text_addf(&word, "%s=%s", s->dim[d].name, text_str(&plain));
            text_add(out, " ");
            jobs_add_word(out, text_str(&word));
        }
        text_free(&plain);
        text_free(&word);
    }
    text_add(out, " --kind board");
    if (v->look.rows < s->dims && v->look.columns < s->dims &&
        !strchr(s->dim[v->look.rows].name, ',') && !strchr(s->dim[v->look.columns].name, ',')) {
        text_add(out, " --down ");
        jobs_add_word(out, s->dim[v->look.rows].name);
        text_add(out, " --across ");
        jobs_add_word(out, s->dim[v->look.columns].name);
    }
}

void sweepview_runs(void *screen, struct text *out)
{
    const struct sweepview *v = screen;

    if (v->sweep && !v->sweep->now->problem)
        jobs_add_word(out, v->sweep->now->name);
}

/* What its keys do to all of it. */
void sweepview_offers(void *screen, struct text *lines)
{
    const struct sweepview *v = screen;
    const struct sweepview_sweep *s = v->sweep;
    bool lives, paused;
    struct text name = {0};

    sweepview_runs(screen, &name);
    lives = name.n && (v->own || s->now->live);
    paused = lives && wire_sweep_is_paused(sweepview_is(v));
    if (lives && (paused || wire_wish_stops_later(sweepview_is(v)->wish)))
        text_addf(lines, "go %s\n", text_str(&name));
    if (lives && !paused)
        text_addf(lines, "pause %s\n", text_str(&name));
    if (lives)
        text_addf(lines, "stop %s\nstop %s --after-epoch\nstop %s --after-cells\n", text_str(&name),
                  text_str(&name), text_str(&name));
    else if (name.n && (live_sweep_open(s->now) || live_sweep_beyond(s->now)))
        text_addf(lines, "resume %s\n", text_str(&name));
    text_free(&name);
}

static void add_row(const struct sweepview_sweep *s, size_t group, struct study_table *t)
{
    const struct sweepview_group *g = &s->group[group];
    size_t *at = mem_new(s->dims + 1, sizeof *at);
    struct text state = {0};

    sweepview_place(s, group, at);
    for (size_t d = 0; d < s->dims; d++)
        if (d != s->repeats_dim)
            study_table_word(t, s->dim[d].value[at[d]]);
    if (!g->runs)
        study_table_empty(t);
    else if (s->repeats > 1)
        study_table_mean(t, g->mean, g->runs > 1 ? g->sd : NAN);
    else
        study_table_number(t, g->mean);
    t->cell[t->cells - 1].best = group == s->best;
    study_table_number(t, (double)g->runs);
    sweepview_add_state(g, &state);
    study_table_word(t, text_str(&state));
    text_free(&state);
    free(at);
}

/* The cells of a page, the rows of its board one after the other. */
static void add_page(const struct sweepview_sweep *s, const struct sweepview_look *look,
                     struct study_table *t)
{
    size_t rows = look->rows < s->dims ? s->dim[look->rows].values : 1;
    size_t columns = look->columns < s->dims ? s->dim[look->columns].values : 1;

    for (size_t i = 0; i < rows * columns; i++)
        add_row(s, sweepview_shown_group(s, look, i / columns, i % columns), t);
}

/* A row for each cell of all pages. */
static void make_table(const struct sweepview *v, struct study_table *t)
{
    const struct sweepview_sweep *s = v->sweep;
    struct sweepview_look look = v->look;

    for (size_t d = 0; d < s->dims; d++)
        if (d != s->repeats_dim)
            study_table_column(t, s->dim[d].name, STUDY_TEXT, false);
    study_table_column(t, "test_acc", STUDY_SHARE, s->repeats > 1);
    study_table_column(t, "n", STUDY_COUNT, false);
    study_table_column(t, "state", STUDY_TEXT, false);
    for (size_t page = 0; page < sweepview_pages(s, &v->look); page++) {
        sweepview_set_page(s, &look, page);
        add_page(s, &look, t);
    }
    study_table_shorten(t);
}

static void draw_figure(struct sweepview *v, bool pdf, struct text *out)
{
    struct sweepview_board b;
    struct figure_panel panel;
    struct figure figure = {.panel = &panel, .panels = 1, .width_mm = 120, .height_mm = 80};

    sweepview_make_board(v->sweep, &v->look, &b);
    panel = (struct figure_panel){.board = &b.board};
    (pdf ? figure_pdf : figure_svg)(&figure, out);
    sweepview_free_board(&b);
}

/* The sweep's own file, which has more than a screen: runs, seconds, losses. */
static char *sheet_of(const struct sweepview *v)
{
    return mem_textf("%s/sweeps/%s/sweep.csv", v->app->config.results, v->sweep->now->name);
}

enum err_code sweepview_write(void *screen, const char *form, struct paper *out, struct err *e)
{
    struct sweepview *v = screen;

    if (!v->sweep || v->sweep->now->problem || !v->sweep->dims)
        return err_set(e, ERR_INPUT, "there is no board to write: choose a sweep first");
    if (!strcmp(form, "svg") || !strcmp(form, "pdf")) {
        draw_figure(v, !strcmp(form, "pdf"), &out->text);
        out->what = sweepview_pages(v->sweep, &v->look) > 1 ? "this page" : NULL;
    } else if (!strcmp(form, "csv")) {
        out->file = sheet_of(v);
        out->what = "every cell, as in sweep.csv";
    } else {
        make_table(v, &out->table);
        out->what = "every cell";
    }
    return ERR_OK;
}
