/* ui/sweepview_out.c: what is seen as a command line, as a table and as a figure. */
#include "ui/sweepview_int.h"

#include "base/mem.h"
#include "draw/figure.h"
#include "study/table.h"
#include "ui/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sweepview_forms[] = {"csv", "md", "tex", "svg", "pdf", NULL};

void sweepview_command(void *screen, struct text *out)
{
    const struct sweepview *v = screen;
    const struct sweepview_sweep *s = v->sweep;

    if (!s || s->problem || !s->dims) {
        text_add(out, "ls");
        return;
    }
    text_add(out, "plot ");
    jobs_add_word(out, s->name);
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

    if (v->sweep && !v->sweep->problem)
        jobs_add_word(out, v->sweep->name);
}

/* What its keys do to all of it. */
void sweepview_offers(void *screen, struct text *lines)
{
    const struct sweepview *v = screen;
    const struct sweepview_sweep *s = v->sweep;
    bool lives;
    struct text name = {0};

    sweepview_runs(screen, &name);
    lives = name.n && (v->own || s->live);
    if (lives && wire_sweep_stops_later(sweepview_is(v)))
        text_addf(lines, "go %s%s\n", text_str(&name),
                  wire_sweep_takes_back(sweepview_is(v)) ? "" : " --no-stop");
    if (lives)
        text_addf(lines, "%s %s\nstop %s\nstop %s --after-epoch\nstop %s --after-cells\n",
                  wire_sweep_is_paused(sweepview_is(v)) ? "go" : "pause", text_str(&name),
                  text_str(&name), text_str(&name), text_str(&name));
    else if (name.n && (sweepview_open(s) || sweepview_beyond(s)))
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

/* A row for each cell of the page, in its order: rows of the board one after the other. */
static void make_table(const struct sweepview *v, const struct board *board, struct study_table *t)
{
    const struct sweepview_sweep *s = v->sweep;

    for (size_t d = 0; d < s->dims; d++)
        if (d != s->repeats_dim)
            study_table_column(t, s->dim[d].name, STUDY_TEXT, false);
    study_table_column(t, "test_acc", STUDY_SHARE, s->repeats > 1);
    study_table_column(t, "n", STUDY_COUNT, false);
    study_table_column(t, "state", STUDY_TEXT, false);
    for (size_t i = 0; i < (size_t)board->rows * (size_t)board->columns; i++)
        add_row(s,
                sweepview_shown_group(s, &v->look, i / (size_t)board->columns,
                                      i % (size_t)board->columns),
                t);
    study_table_shorten(t);
}

enum err_code sweepview_write(void *screen, const char *form, struct paper *out, struct err *e)
{
    struct sweepview *v = screen;
    struct sweepview_board b;
    struct figure_panel panel;
    struct figure figure = {.panel = &panel, .panels = 1, .width_mm = 120, .height_mm = 80};

    if (!v->sweep || v->sweep->problem || !v->sweep->dims)
        return err_set(e, ERR_INPUT, "there is no board to write: choose a sweep first");
    sweepview_make_board(v->sweep, &v->look, &b);
    panel = (struct figure_panel){.board = &b.board};
    if (!strcmp(form, "svg"))
        figure_svg(&figure, &out->text);
    else if (!strcmp(form, "pdf"))
        figure_pdf(&figure, &out->text);
    else
        make_table(v, &b.board, &out->table);
    sweepview_free_board(&b);
    return ERR_OK;
}
