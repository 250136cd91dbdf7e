/* ui/run/runview_units.c: a line a device, or a member of an ensemble: what it reached and where its time
 * goes. */
#include "ui/run/runview_int.h"

#include "base/loss.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns that a bar of times keeps beside a GPU's words. */
#define BAR       12
#define BAR_BRIEF 4
/* In how few words a GPU may tell how it is. */
#define BRIEFEST 3

enum { AT_NAME = 5, END_NAME = 15, END_LOSS = 25, END_ACC = 36, END_TEST = 47, END_PREFIX = 57 };

/* Shares in the order in which a device passes its time. */
static const struct {
    const char *word;
    uint32_t fine, coarse;
    int role;
} parts[] = {
    {"input", 0x2593, '%', GRID_SERIES + 2},
    {"compute", 0x2586, '#', GRID_BAR},
    {"reduce", 0x2592, '+', GRID_SERIES + 1},
    {"wait", 0x2591, '.', GRID_REST},
};
#define PARTS (int)(sizeof parts / sizeof *parts)

int runview_units_rows(const struct feed_run *run)
{
    return run->units ? (int)run->units + 2 : 0;
}

static void draw_word(struct grid *g, struct rect in, int row, int end, double value,
                      const char *word)
{
    grid_right(g, in, row, end, isfinite(value) ? GRID_TEXT : GRID_DIM,
               isfinite(value) ? word : "-");
}

static void draw_share(struct grid *g, struct rect in, int row, int end, double value)
{
    struct text word = {0};

    share_add(&word, value);
    draw_word(g, in, row, end, value, text_str(&word));
    text_free(&word);
}

static void draw_time(struct grid *g, struct rect in, int row, int column, int columns,
                      const struct feed_unit *u)
{
    const double share[PARTS] = {u->input, u->compute, u->reduce, u->wait};
    double sum = 0;
    int at = 0;

    if (!isfinite(u->compute) || columns < 4)
        return;
    for (int k = 0; k < PARTS; k++) {
        int to;

        sum += share[k];
        to = (int)(sum * columns + 0.5);
        for (; at < to && at < columns; at++)
            grid_put(g, in, row, column + at, g->ascii ? parts[k].coarse : parts[k].fine,
                     parts[k].role, 0);
    }
}

/* A head in the frame's own edge: it costs no row. */
static void put_head(struct grid *g, struct rect in, int end, const char *word)
{
    struct text padded = {0};

    text_addf(&padded, " %s ", word);
    grid_right(g, in, 0, end + 1, GRID_HEAD, text_str(&padded));
    text_free(&padded);
}

/* "time: input ▓ compute █ reduce ▒ wait ░", or by first letters where there is less room. */
static void draw_legend(struct grid *g, struct rect in, int column)
{
    int need = 6;
    bool brief;

    for (int k = 0; k < PARTS; k++)
        need += (int)strlen(parts[k].word) + 3;
    brief = column + need >= in.columns;
    column = grid_text(g, in, 0, column, GRID_HEAD, brief ? " time" : " time:");
    for (int k = 0; k < PARTS; k++) {
        column = grid_textf(g, in, 0, column, GRID_HEAD, brief ? " %.1s" : " %s ", parts[k].word);
        column = grid_put(g, in, 0, column, g->ascii ? parts[k].coarse : parts[k].fine,
                          parts[k].role, 0);
    }
    grid_text(g, in, 0, column, GRID_HEAD, " ");
}

/* brief: 0 ... BRIEFEST; from 2 on without memory. */
static void add_gauge(const struct feed_unit *u, const struct grid *g, int brief, struct text *out)
{
    const char *degrees = g->ascii ? "C" : "°C", *apart = brief ? " " : "  ";
    char memory[TEXT_NUMBER_ROOM];

    if (isfinite(u->gpu_percent))
        text_addf(out, brief ? "%3.0f%%" : "GPU %3.0f %%", u->gpu_percent);
    if (isfinite(u->gpu_memory) && brief < 2)
        text_addf(out, "%s%7s", out->n ? apart : "", text_bytes(memory, (uint64_t)u->gpu_memory));
    if (isfinite(u->celsius))
        text_addf(out, "%s%3.0f%s%s", out->n ? apart : "", u->celsius, brief ? "" : " ", degrees);
    if (isfinite(u->watts) && brief < BRIEFEST)
        text_addf(out, "%s%3.0f%sW", out->n ? apart : "", u->watts, brief ? "" : " ");
}

/* How its GPU is, at the right edge where there is room for it; returns the columns that it takes. */
static int draw_gauge(struct grid *g, struct rect in, int row, int columns,
                      const struct feed_unit *u)
{
    int need = 0;

    for (int brief = 0; brief <= BRIEFEST && !need; brief++) {
        struct text line = {0};

        add_gauge(u, g, brief, &line);
        need = line.n ? text_width(text_str(&line)) + 2 : 0;
        if (need && columns - need >= (brief ? BAR_BRIEF : BAR))
            grid_right(g, in, row, in.columns - 2, GRID_DIM, text_str(&line));
        else
            need = 0;
        text_free(&line);
    }
    return need;
}

/* Its number is seen whole, however long the backend's name is. */
static void draw_device(const struct feed_run *run, const struct feed_unit *u, struct grid *g,
                        struct rect in, int row, int column)
{
    const char *backend = run->facts.backend[0] ? run->facts.backend : "device";
    char number[16];
    int width;

    snprintf(number, sizeof number, ":%d", u->device);
    width = END_NAME - column - (int)strlen(number);
    column = grid_cut(g, in, row, column, width, GRID_DIM, false, backend);
    grid_text(g, in, row, column, GRID_DIM, number);
}

static void draw_unit(const struct feed_run *run, const struct feed_unit *u, struct grid *g,
                      struct rect in, int row, int bar)
{
    bool ensemble = run->facts.mode == SPEC_ENSEMBLE;
    char loss[LOSS_ROOM];
    int mark = g->ascii ? PLOT_ASCII : g->blocks ? PLOT_BLOCK : PLOT_BRAILLE;

    grid_textf(g, in, row, 0, GRID_TEXT, "%3d", u->unit);
    if (ensemble && u->unit < RUNVIEW_MEMBERS)
        grid_put(g, in, row, 4, plot_mark(2 + u->unit, (enum plot_level)mark),
                 GRID_SERIES + (2 + u->unit) % GRID_SERIES_COLOURS, 0);
    draw_device(run, u, g, in, row, AT_NAME + ensemble);
    draw_word(g, in, row, END_LOSS, u->loss, loss_text(loss, u->loss));
    draw_share(g, in, row, END_ACC, u->acc);
    if (ensemble) {
        draw_share(g, in, row, END_TEST, u->test_acc);
        draw_share(g, in, row, END_PREFIX, u->prefix);
    }
    draw_time(g, in, row, bar,
              in.columns - bar - 2 - draw_gauge(g, in, row, in.columns - bar - 2, u), u);
}

void runview_draw_units(struct runview *v, const struct feed_run *run, struct grid *g,
                        struct rect in)
{
    bool ensemble = run->facts.mode == SPEC_ENSEMBLE;
    struct rect inside;
    int most, bar = ensemble ? END_PREFIX + 2 : END_ACC + 2;
    char more[48];

    if (in.rows < 3)
        return;
    inside = grid_frame(g, in,
                        ensemble          ? "members"
                        : run->units == 1 ? "device"
                                          : "devices",
                        false);
    most = (int)run->units - inside.rows;
    if (v->units_first > most)
        v->units_first = most;
    if (v->units_first < 0)
        v->units_first = 0;
    put_head(g, rect_before(in, 1), END_LOSS + 1, "loss");
    put_head(g, rect_before(in, 1), END_ACC + 1, share_in_per_cent() ? "train %" : "train acc");
    if (ensemble) {
        put_head(g, rect_before(in, 1), END_TEST + 1, share_in_per_cent() ? "test %" : "test acc");
        put_head(g, rect_before(in, 1), END_PREFIX + 1,
                 share_in_per_cent() ? "prefix %" : "prefix");
    }
    draw_legend(g, rect_before(in, 1), bar);
    for (int row = 0; row < inside.rows && v->units_first + row < (int)run->units; row++)
        draw_unit(run, &run->unit[v->units_first + row], g, inside, row, bar);
    if (most > 0 && inside.rows < 2) { /* too low for a bar beside them */
        snprintf(more, sizeof more, "%d more: Up, Down", most);
        grid_frame_right(g, rect_bottom(in, 1), GRID_DIM, more);
    } else if (most > 0)
        grid_scroll(g, inside, v->units_first, inside.rows, (int)run->units);
}
