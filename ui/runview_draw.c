/* ui/runview_draw.c: the run as a picture: curves, progress, a line a member or device, its log. */
#include "ui/runview_int.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool at_work(const struct feed_run *run)
{
    return !wire_state_ended(run->state) && !run->dead;
}

static int role_of(const struct feed_run *run)
{
    if (run->dead || run->state == WIRE_FAILED || run->state == WIRE_OOM ||
        run->state == WIRE_DIVERGED)
        return GRID_BAD;
    if (run->state == WIRE_PAUSED || run->state == WIRE_STOPPED || run->state == WIRE_WAITING)
        return GRID_WARN;
    return GRID_GOOD;
}

static void add_cost(struct text *out, const struct feed_run *run)
{
    int members = run->spec.members ? run->spec.members : run->spec.devices;

    text_addf(out,
              "gain %+.1f points over the mean member (%.3f), %+.1f over the best, at %dx the "
              "training",
              100 * run->gain_mean, run->member_acc_mean, 100 * run->gain_best, members);
}

/* What there is to say about how it stands: its end and what can be done about it. */
static void add_story(struct text *out, const struct feed_run *run)
{
    if (run->dead) {
        text_add(out,
                 "nobody runs it any more: its process is gone; R goes on from its checkpoint");
        return;
    }
    switch (run->state) {
    case WIRE_WAITING:
        text_add(out, "it waits for its turn");
        break;
    case WIRE_PAUSED:
        text_add(out, "paused; p goes on");
        break;
    case WIRE_STOPPED:
        text_addf(out, "stopped at step %lld; R goes on", (long long)run->step);
        break;
    case WIRE_DONE:
        text_addf(out, "done after %lld epoch%s", (long long)run->epoch,
                  run->epoch == 1 ? "" : "s");
        break;
    case WIRE_DIVERGED:
    case WIRE_OOM:
    case WIRE_FAILED:
    case WIRE_SKIPPED:
        text_addf(out, "%s", run->reason[0] ? run->reason : wire_state_name(run->state));
        break;
    case WIRE_RUNNING:
        break;
    }
    if (run->best_epoch && isfinite(run->best_acc))
        text_addf(out, "%sbest %.4f at epoch %lld, picked on %s", out->n ? "; " : "", run->best_acc,
                  (long long)run->best_epoch, run->by_valid ? "validation" : "test");
}

static void add_facts(struct text *out, const struct feed_run *run)
{
    const struct wire_facts *f = &run->facts;
    char count[TEXT_NUMBER_ROOM], number[TEXT_NUMBER_ROOM];

    if (!run->known)
        return;
    if (f->parameters)
        text_addf(out, "%s parameters · ", text_count(count, f->parameters));
    text_addf(out, "batch %lld", (long long)f->batch);
    if (run->spec.mode != SPEC_ENSEMBLE && f->devices > 1)
        text_addf(out, " on %d devices", f->devices);
    if (run->spec.mode == SPEC_ENSEMBLE)
        text_addf(out, " · %d members on %d device%s",
                  run->spec.members ? run->spec.members : run->spec.devices, f->devices,
                  f->devices == 1 ? "" : "s");
    if (f->devices > f->real_devices && f->devices > 1)
        text_add(out, " (virtual)");
    text_addf(out, " · lr %s", text_float(number, (float)(run->lr > 0 ? run->lr : f->lr)));
    text_addf(out, " · %s%s%s %s", f->backend, f->isa[0] ? " " : "", f->isa, f->precision);
}

static int draw_head(const struct feed_run *run, struct grid *g, struct rect in)
{
    struct text line = {0};
    const char *state = run->dead ? "dead" : wire_state_name(run->state);
    int rows = in.rows >= 28 ? 2 : 1, column, story;

    column = grid_bold(g, in, 0, 1, role_of(run), state) + 2;
    if (run->spec.mode == SPEC_ENSEMBLE && isfinite(run->gain_mean))
        add_cost(&line, run);
    if (!at_work(run) || run->state == WIRE_PAUSED || !line.n) {
        struct text own = {0};

        add_story(&own, run);
        if (own.n && line.n)
            text_add(&own, " · ");
        text_add(&own, text_str(&line));
        text_free(&line);
        line = own;
    }
    story = text_width(text_str(&line));
    if (rows == 1 && column + story + 2 + 20 > in.columns) {
        if (line.n)
            grid_cut(g, in, 0, column, in.columns - column - 1, GRID_TEXT, false, text_str(&line));
        else
            grid_cut(g, in, 0, column, in.columns - column - 1, GRID_TEXT, true, run->name);
    } else {
        column =
            grid_cut(g, in, 0, column, in.columns - column - story - 4, GRID_TEXT, true, run->name);
        grid_right(g, in, 0, in.columns - 1, GRID_DIM, text_str(&line));
    }
    text_clear(&line);
    if (rows == 2) {
        add_facts(&line, run);
        grid_cut(g, in, 1, 1, in.columns - 2, GRID_DIM, false, text_str(&line));
    }
    text_free(&line);
    return rows;
}

static void draw_plot(struct grid *g, struct rect in, struct runview_plot *p, const char *title,
                      const char *empty)
{
    struct rect inside = grid_frame(g, in, title, false);

    p->plot.columns = inside.columns;
    p->plot.rows = inside.rows;
    if (p->plot.count)
        grid_plot(g, inside, &p->plot);
    else
        grid_words(g, rect_behind(rect_below(inside, inside.rows / 2), 2), 0, GRID_DIM, empty);
}

static void draw_plots(struct runview *v, const struct feed_run *run, struct grid *g,
                       struct rect in)
{
    struct rect left = rect_left(in, in.columns / 2), right = rect_behind(in, in.columns / 2);
    char title[64];

    runview_make(v, run);
    draw_plot(g, left, &v->loss, v->log_y ? "loss, log" : "loss",
              at_work(run) ? "the first point comes within the first steps" : "no steps were made");
    snprintf(title, sizeof title, "test accuracy%s", v->log_y ? ", log" : "");
    draw_plot(g, right, &v->acc, title,
              at_work(run) ? "the first point comes at the end of the first epoch"
                           : "no epoch was finished");
}

static void draw_bars(const struct feed_run *run, struct grid *g, struct rect in)
{
    char speed[TEXT_NUMBER_ROOM] = "", span[CLOCK_UTC_ROOM] = "", words[64];
    int role = run->state == WIRE_PAUSED ? GRID_WARN : GRID_BAR, half = in.columns / 2, column, end;
    long long epoch = run->facts.steps_per_epoch && run->step
                          ? (run->step - 1) / run->facts.steps_per_epoch + 1
                          : run->epoch;

    if (run->images_per_second > 0)
        text_count(speed, (uint64_t)run->images_per_second);
    snprintf(words, sizeof words, "epoch %lld/%lld ", epoch, (long long)run->spec.epochs);
    column = grid_text(g, in, 0, 1, GRID_TEXT, words);
    end = half - 6 - (speed[0] ? (int)strlen(speed) + 6 : 0);
    column = grid_bar(g, in, 0, column, end - column, run->epoch_share, role);
    if (isfinite(run->epoch_share))
        column = grid_textf(g, in, 0, column + 1, GRID_TEXT, "%3.0f %%", 100 * run->epoch_share);
    if (speed[0])
        grid_textf(g, in, 0, column + 1, GRID_DIM, "%s img/s", speed);
    column = grid_text(g, in, 0, half + 2, GRID_TEXT, "run ");
    if (isfinite(run->left_seconds) && at_work(run))
        clock_span(span, run->left_seconds);
    end = in.columns - 7 - (span[0] ? (int)strlen(span) + 6 : 0);
    column = grid_bar(g, in, 0, column, end - column, run->run_share, role);
    if (isfinite(run->run_share))
        column = grid_textf(g, in, 0, column + 1, GRID_TEXT, "%3.0f %%", 100 * run->run_share);
    if (span[0])
        grid_textf(g, in, 0, column + 1, GRID_DIM, "%s left", span);
}

static void draw_number(struct grid *g, struct rect in, int row, int end, double value)
{
    char text[32];

    if (!isfinite(value))
        return;
    snprintf(text, sizeof text, "%.4f", value);
    grid_right(g, in, row, end, GRID_TEXT, text);
}

/* Where a device's time went, as parts of one bar. */
static void draw_time(struct grid *g, struct rect in, int row, int column, int columns,
                      const struct feed_unit *u)
{
    static const uint32_t code[] = {0x2588, 0x2593, 0x2592, 0x2591}, plain[] = {'#', '%', '+', '.'};
    static const int role[] = {GRID_BAR, GRID_SERIES + 2, GRID_SERIES + 1, GRID_REST};
    double share[] = {u->compute, u->input, u->reduce, u->wait}, sum = 0;
    int at = 0;

    if (!isfinite(u->compute) || columns < 4)
        return;
    for (int k = 0; k < 4; k++) {
        int to;

        sum += share[k];
        to = (int)(sum * columns + 0.5);
        for (; at < to && at < columns; at++)
            grid_put(g, in, row, column + at, g->ascii ? plain[k] : code[k], role[k], 0);
    }
}

static void draw_units(struct runview *v, const struct feed_run *run, struct grid *g,
                       struct rect in)
{
    bool ensemble = run->spec.mode == SPEC_ENSEMBLE;
    struct rect inside = grid_frame(g, in, ensemble ? "members" : "devices", false);
    int shown = inside.rows - 1, most = (int)run->units - shown, bar = ensemble ? 46 : 36;
    const char *legend =
        g->ascii ? "compute # input % reduce + wait ." : "compute █ input ▓ reduce ▒ wait ░";

    if (v->unit_first > most)
        v->unit_first = most;
    if (v->unit_first < 0)
        v->unit_first = 0;
    grid_text(g, inside, 0, 1, GRID_DIM, ensemble ? " #  device" : " #  real");
    grid_right(g, inside, 0, 22, GRID_DIM, "loss");
    grid_right(g, inside, 0, 32, GRID_DIM, ensemble ? "test acc" : "train acc");
    if (ensemble)
        grid_right(g, inside, 0, 42, GRID_DIM, "prefix");
    grid_cut(g, inside, 0, bar, inside.columns - bar - 1, GRID_DIM, false, legend);
    if (!run->units)
        grid_text(g, inside, 1, 1, GRID_DIM, "told at the end of the first epoch");
    for (int i = 0; i < shown && v->unit_first + i < (int)run->units; i++) {
        const struct feed_unit *u = &run->unit[v->unit_first + i];

        grid_textf(g, inside, 1 + i, 1, ensemble ? GRID_SERIES + (2 + u->unit) % 6 : GRID_TEXT,
                   "%2d", u->unit);
        grid_textf(g, inside, 1 + i, 5, GRID_DIM, "%s:%d",
                   run->facts.backend[0] ? run->facts.backend : "cpu", u->device);
        draw_number(g, inside, 1 + i, 22, u->loss);
        draw_number(g, inside, 1 + i, 32, u->acc);
        if (ensemble)
            draw_number(g, inside, 1 + i, 42, u->prefix);
        draw_time(g, inside, 1 + i, bar, inside.columns - bar - 2, u);
    }
    grid_scroll(g, rect_below(inside, 1), v->unit_first, shown, (int)run->units);
}

static void draw_log(struct runview *v, struct grid *g, struct rect in)
{
    struct rect inside = grid_frame(g, in, "log", false);

    for (int row = 0; row < inside.rows; row++) {
        int level;
        const char *line = app_log_line(v->app, (size_t)(inside.rows - 1 - row), &level, NULL);

        if (line)
            grid_cut(g, inside, row, 1, inside.columns - 2,
                     level >= 3   ? GRID_BAD
                     : level == 2 ? GRID_WARN
                                  : GRID_DIM,
                     false, line);
    }
}

static void draw_none(struct grid *g, struct rect in)
{
    struct rect inside = rect_inner(grid_frame(g, in, "run", false));

    grid_words(g, inside, inside.rows / 3, GRID_TEXT,
               "Nothing runs, and nothing has run here yet.\n\n1 opens Setup, where r starts what "
               "stands in the form.\n3 opens Results: Enter on a run shows it here.");
}

void runview_draw(void *screen, struct grid *g, struct rect in)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);
    int units, log, rows;

    if (!run) {
        draw_none(g, in);
        return;
    }
    v->drawn = run->changed;
    v->drawn_run = run;
    in = rect_below(in, draw_head(run, g, in));
    units = (int)(run->units ? run->units : 1) + 3;
    log = in.rows >= 36 ? 8 : in.rows >= 26 ? 5 : in.rows >= 19 ? 3 : 0;
    rows = in.rows * 11 / 20; /* the plots have the larger half, whatever comes below */
    if (rows < in.rows - 1 - units - log)
        rows = in.rows - 1 - units - log;
    if (units > in.rows - rows - 1 - log)
        units = in.rows - rows - 1 - log;
    draw_plots(v, run, g, rect_top(in, rows));
    in = rect_below(in, rows);
    draw_bars(run, g, rect_top(in, 1));
    in = rect_below(in, 1);
    draw_units(v, run, g, rect_top(in, units));
    draw_log(v, g, rect_below(in, units));
}
