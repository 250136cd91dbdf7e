/* The picture of the Setup screen: where its panels lie, and all of them but the form. */
#include "ui/setup_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDE 116 /* columns from where three panels stand side by side */

struct setup_places setup_place(struct rect in, size_t queued, bool queue_seen)
{
    struct setup_places p = {.wide = in.columns >= WIDE};
    int left = p.wide ? 26 : in.columns >= 72 ? 21 : 0, mean, queue = 0;
    struct rect rest = rect_behind(in, left);

    p.files = rect_left(in, left);
    if ((queued || queue_seen) && left) {
        queue = (int)(queued < 12 ? queued : 12) + 2;
        if (queue > in.rows / 2)
            queue = in.rows / 2;
        p.queue = rect_bottom(p.files, queue);
        p.files = rect_above(p.files, queue);
    }
    if (p.wide) {
        mean = rest.columns * 42 / 100;
        p.mean = rect_right(rest, mean > 60 ? 60 : mean);
        p.form = rect_before(rest, p.mean.columns);
    } else {
        mean = in.rows >= 20 ? 7 : in.rows >= 16 ? 5 : in.rows >= 12 ? 3 : 0;
        p.mean = rect_bottom(rest, mean);
        p.form = rect_above(rest, mean);
    }
    p.file_rows = rect_inner(p.files);
    p.queue_rows = rect_inner(p.queue);
    p.rows = rect_inner(p.form);
    return p;
}

size_t setup_scrolled(size_t first, size_t at, size_t count, int rows)
{
    size_t room = rows > 0 ? (size_t)rows : 1;

    if (at < first)
        first = at;
    if (at >= first + room)
        first = at - room + 1;
    if (first + room > count)
        first = count > room ? count - room : 0;
    return first;
}

void setup_draw_scroll(struct grid *g, struct rect frame, struct rect rows, size_t first,
                       size_t count)
{
    struct rect edge = {rows.row, frame.column, rows.rows, frame.columns};

    grid_scroll(g, edge, (int)first, rows.rows, (int)count);
}

/* ---- files and queue ---- */

static void draw_files(struct setup *s, struct grid *g)
{
    bool focus = s->pane == SETUP_FILES;
    struct rect in = grid_frame(g, s->places.files, "experiments", focus);
    bool built_in = false;

    s->file_first = setup_scrolled(s->file_first, s->file_at, s->files, in.rows);
    for (int r = 0; r < in.rows && s->file_first + (size_t)r < s->files; r++) {
        size_t i = s->file_first + (size_t)r;
        const struct setup_file *f = &s->file[i];
        bool loaded = f->path && *f->path
                          ? s->form.from == FORM_FILE && !strcmp(s->form.path, f->path)
                      : f->path ? s->form.from == FORM_DEFAULTS
                                : s->form.from == FORM_BUILTIN && !strcmp(s->form.source, f->name);
        int role = f->path && !*f->path ? GRID_DIM : GRID_TEXT;

        if (loaded)
            grid_text(g, in, r, 0, GRID_HEAD, form_dirty(&s->form) ? "*" : "●");
        grid_cut(g, in, r, 2, in.columns - 2, role, false, f->name);
        if (!f->path && !built_in && in.columns > 24) {
            grid_right(g, in, r, in.columns, GRID_DIM, "built in");
            built_in = true;
        }
        if (i == s->file_at && focus)
            grid_paint(g, in, r, 0, in.columns, GRID_CHOSEN);
    }
    setup_draw_scroll(g, s->places.files, in, s->file_first, s->files);
}

static void draw_queue(struct setup *s, struct grid *g)
{
    bool focus = s->pane == SETUP_QUEUE;
    char title[40];
    struct rect in;

    if (s->places.queue.rows < 3)
        return;
    snprintf(title, sizeof title, "queue, %zu", s->queue);
    in = grid_frame(g, s->places.queue, title, focus);
    s->queue_first = setup_scrolled(s->queue_first, s->queue_at, s->queue, in.rows);
    for (int r = 0; r < in.rows && s->queue_first + (size_t)r < s->queue; r++) {
        size_t i = s->queue_first + (size_t)r;
        const struct record_queued *q = &s->queued[i];

        grid_textf(g, in, r, 0, GRID_DIM, "%2zu", i + 1);
        grid_cut(g, in, r, 3, in.columns - 3, q->broken ? GRID_BAD : GRID_TEXT, false,
                 q->name && *q->name ? q->name : q->file);
        if (i == s->queue_at && focus)
            grid_paint(g, in, r, 0, in.columns, GRID_CHOSEN);
    }
    setup_draw_scroll(g, s->places.queue, in, s->queue_first, s->queue);
}

/* ---- what it means ---- */

static int draw_missing(struct setup *s, struct grid *g, struct rect in, int r)
{
    char name[64];
    int column;

    if (!setup_missing(s, name))
        return r;
    column = grid_hint(g, in, r, 0, "f", s->fetching ? "is fetching them" : "fetches them");
    grid_hint(g, in, r, column, "y", "takes made-up images");
    return r + 1;
}

static void draw_facts(const struct setup *s, struct grid *g, struct rect in, int columns)
{
    struct setup_fact facts[SETUP_FACTS];
    size_t n = setup_facts(s, facts);
    int width = in.columns / columns, value = columns > 1 ? 16 : 18;

    for (size_t i = 0; i < n; i++) {
        struct rect part = rect_left(rect_behind(in, (int)i / (in.rows ? in.rows : 1) * width),
                                     width - (columns > 1));
        int r = (int)i % (in.rows ? in.rows : 1);

        if ((int)i >= in.rows * columns)
            return;
        grid_text(g, part, r, 0, GRID_DIM, facts[i].label);
        grid_cut(g, part, r, value, part.columns - value, facts[i].role, false,
                 *facts[i].value   ? facts[i].value
                 : s->sum.complete ? ""
                                   : "…");
    }
}

static int draw_reasons(const struct setup *s, struct grid *g, struct rect in, int r)
{
    for (size_t i = 0; i < s->account.reasons && r < in.rows; i++) {
        grid_textf(g, in, r, 0, GRID_WARN, "%6zu", s->account.reason[i].cells);
        r += grid_words(g, rect_behind(rect_below(in, r), 7), 0, GRID_TEXT,
                        s->account.reason[i].text);
    }
    return r;
}

/* Nobody has run anything here yet. */
static bool is_first_time(const struct setup *s)
{
    size_t runs = 1;

    if (s->app->library && library_ready(s->app->library))
        (void)library_runs(s->app->library, &runs);
    return !runs && !setup_problem(s);
}

static void draw_wide(struct setup *s, struct grid *g, struct rect in)
{
    const char *problem = setup_problem(s);
    struct setup_fact facts[SETUP_FACTS];
    int r = 0;

    if (problem) {
        r += grid_words(g, in, r, GRID_BAD, problem);
        r = draw_missing(s, g, in, r) + 1;
    }
    if (!problem || s->sum.plan) {
        int n = (int)setup_facts(s, facts);

        draw_facts(s, g, rect_top(rect_below(in, r), n), 1);
        r += n + 1;
        if (is_first_time(s)) {
            grid_hint(g, in, r, 0, "r", "starts it");
            r += 2;
        }
    }
    if (s->account.reasons && !problem && r < in.rows) {
        grid_textf(g, in, r++, 0, GRID_HEAD, "left out of %zu cells", s->account.cells);
        r = draw_reasons(s, g, in, r) + 1;
    }
    if (*s->form.notes && r < in.rows) {
        grid_text(g, in, r++, 0, GRID_HEAD, "could not be taken from the file");
        r += grid_words(g, rect_below(in, r), 0, GRID_BAD, s->form.notes) + 1;
    }
    for (const char *line = s->form.remark; *line && r < in.rows;) {
        size_t n = strcspn(line, "\n");
        struct text t = {0};

        line += strspn(line, "# ") < n ? strspn(line, "# ") : n;
        n = strcspn(line, "\n");
        text_add_n(&t, line, n);
        r += grid_words(g, rect_below(in, r), 0, GRID_DIM, text_str(&t));
        text_free(&t);
        line += n + (line[n] == '\n');
    }
}

static void draw_mean(struct setup *s, struct grid *g)
{
    const char *problem = setup_problem(s);
    struct rect in;

    if (s->places.mean.rows < 3)
        return;
    in = rect_before(rect_behind(grid_frame(g, s->places.mean, "what it means", false), 1), 1);
    if (s->places.wide) {
        draw_wide(s, g, in);
    } else if (problem) {
        int r =
            grid_words(g, rect_above(in, setup_missing(s, (char[64]){0})), 0, GRID_BAD, problem);

        draw_missing(s, g, in, r < in.rows ? r : in.rows - 1);
    } else {
        char one[96];

        if (is_first_time(s)) {
            grid_frame_right(g, s->places.mean, GRID_KEY, "r starts it");
        } else if (!isnan(s->sum.as_one.lo)) {
            snprintf(one, sizeof one, "costs as much as %.0f epochs alone", s->sum.as_one.hi);
            grid_frame_right(g, s->places.mean, GRID_TEXT, one);
        } else if (s->sum.left_out) {
            snprintf(one, sizeof one, "%zu left out: v says why", s->sum.left_out);
            grid_frame_right(g, s->places.mean, GRID_WARN, one);
        }
        draw_facts(s, g, in, 2);
    }
}

void setup_draw(struct setup *s, struct grid *g, struct rect in)
{
    s->places = setup_place(in, s->queue, s->pane == SETUP_QUEUE);
    draw_files(s, g);
    draw_queue(s, g);
    setup_draw_form(s, g);
    draw_mean(s, g);
}
