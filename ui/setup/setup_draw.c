/* The picture of the Setup screen: where its panels lie, and all of them but the form. */
#include "ui/setup/setup_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDE 116 /* columns from where three panels stand side by side */

static struct setup_places place(struct rect in, size_t queued, bool queue_seen)
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

    s->file_first = grid_first(s->file_first, s->file_at, s->files, in.rows);
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

/* Its name, and behind it what tells it from others of that name, which keeps half of the room. */
static void draw_waiting(struct grid *g, struct rect in, int r, const struct record_queued *q,
                         const char *label)
{
    const char *name = q->name && *q->name ? q->name : q->file;
    int width = text_width(name), wants = text_width(label) + 1;
    int rest = in.columns - (wants < in.columns / 2 ? wants : in.columns / 2);

    if (*label && width > rest)
        width = rest;
    if (width > in.columns)
        width = in.columns;
    grid_cut(g, in, r, 0, width, q->broken ? GRID_BAD : GRID_TEXT, false, name);
    grid_cut(g, in, r, width + 1, in.columns - width - 1, GRID_DIM, false, label);
}

/* Columns of the longest number. */
static int width_of_numbers(const struct setup *s)
{
    int64_t most = 10;
    int width = 1;

    for (size_t i = 0; i < s->queue; i++)
        most = s->queued[i].number > most ? s->queued[i].number : most;
    for (; most >= 10; most /= 10)
        width++;
    return width;
}

/* Under the numbers that `chorus queue` shows and takes. */
static void draw_queue(struct setup *s, struct grid *g)
{
    bool focus = s->pane == SETUP_QUEUE;
    int width = width_of_numbers(s);
    char title[40];
    struct rect in;

    if (s->places.queue.rows < 3)
        return;
    snprintf(title, sizeof title, "queue, %s", TEXT_COUNT(s->queue));
    in = grid_frame(g, s->places.queue, title, focus);
    s->queue_first = grid_first(s->queue_first, s->queue_at, s->queue, in.rows);
    for (int r = 0; r < in.rows && s->queue_first + (size_t)r < s->queue; r++) {
        size_t i = s->queue_first + (size_t)r;
        const struct record_queued *q = &s->queued[i];

        if (q->number)
            grid_textf(g, in, r, 0, GRID_DIM, "%*lld", width, (long long)q->number);
        draw_waiting(g, rect_behind(in, width + 1), r, q, s->queue_label[i]);
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

/* What is typed cannot be taken: what is known is of the form before. */
static bool is_stale(const struct setup *s)
{
    return s->open && s->typed.code != ERR_OK;
}

/* Where a long value has no room it ends before its last word: "0.001–0.05, cosine". */
static void draw_value(struct grid *g, struct rect in, int r, int from, int role, const char *value)
{
    char *shorter = mem_text(value), *comma = strstr(shorter, ", ");

    if (comma && text_width(value) > in.columns - from)
        *comma = 0;
    grid_cut(g, in, r, from, in.columns - from, role, false, shorter);
    free(shorter);
}

static int widest(const struct setup_fact *facts, size_t from, size_t to, bool label)
{
    int most = 0;

    for (size_t i = from; i < to; i++) {
        int width = text_width(label ? facts[i].label : facts[i].value);

        most = width > most ? width : most;
    }
    return most;
}

/* So many of them: those that matter most, in their order. */
static size_t keep_most_telling(struct setup_fact *facts, size_t n, size_t room)
{
    static const char *const first[] = {"cells to run",   "cells",          "expected time",
                                        "learning rate",  "steps an epoch", "memory a device",
                                        "batch a device", "model-images",   "parameters",
                                        "images dropped", "training FLOP",  "costs as much as",
                                        "devices",        "images"};
    bool keep[SETUP_FACTS] = {false};
    size_t kept = 0, at = 0;

    for (size_t k = 0; k < MEM_COUNT(first) && kept < room; k++)
        for (size_t i = 0; i < n; i++)
            if (!strcmp(facts[i].label, first[k])) {
                keep[i] = true;
                kept++;
            }
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            facts[at++] = facts[i];
    return at;
}

/* In one column or two; of two the first takes what the second leaves. */
static void draw_facts(const struct setup *s, struct grid *g, struct rect in, int columns)
{
    struct setup_fact facts[SETUP_FACTS];
    size_t n = setup_facts(s, facts), from = 0, rows = in.rows > 0 ? (size_t)in.rows : 0;
    int left = in.columns / columns;

    if (n > rows * (size_t)columns)
        n = keep_most_telling(facts, n, rows * (size_t)columns);
    if (columns > 1 && n > rows) {
        size_t to = n < 2 * rows ? n : 2 * rows;
        int needs = widest(facts, 0, rows, true) + widest(facts, 0, rows, false) + 4;
        int leaves =
            in.columns - widest(facts, rows, to, true) - 2 - widest(facts, rows, to, false);

        if (needs > left)
            left = needs < leaves ? needs : leaves > left ? leaves : left;
    }
    for (int c = 0; c < columns && from < n; c++, from += rows) {
        size_t to = from + rows < n ? from + rows : n;
        struct rect part = c ? rect_behind(in, left) : rect_left(in, left - (columns > 1));
        int value = columns > 1 ? widest(facts, from, to, true) + 2 : 18;

        for (size_t i = from; i < to; i++) {
            int role = is_stale(s) ? GRID_DIM : facts[i].role;

            grid_text(g, part, (int)(i - from), 0, GRID_DIM, facts[i].label);
            draw_value(g, part, (int)(i - from), value, role,
                       *facts[i].value   ? facts[i].value
                       : s->sum.complete ? ""
                                         : "…");
        }
    }
}

static int draw_reasons(const struct setup *s, struct grid *g, struct rect in, int r)
{
    struct setup_reason reason[SETUP_REASONS];
    size_t n = setup_reasons(s, reason);
    char head[64];

    for (size_t i = 0; i < n && r < in.rows; i++) {
        if (!i || reason[i].fate != reason[i - 1].fate)
            grid_text(g, in, r++, 0, GRID_HEAD, setup_fate(s, reason[i].fate, head));
        grid_textf(g, in, r, 0, GRID_WARN, "%6zu", (size_t)reason[i].cells);
        r += grid_words(g, rect_behind(rect_below(in, r), 7), 0, GRID_TEXT, reason[i].text);
    }
    return n ? r + 1 : r;
}

/* Nobody has run anything here yet. */
static bool is_first_time(const struct setup *s)
{
    size_t runs = 1;

    if (s->app->library && library_ready(s->app->library))
        (void)library_runs(s->app->library, &runs);
    return !runs && !setup_problem(s);
}

/* More than what stands above already as the problem. */
static bool notes_say_more(const char *notes, const char *problem)
{
    const char *end = strchr(notes, '\n');

    return *notes && !(problem && end && !end[1] && strstr(notes, problem));
}

static void draw_wide(struct setup *s, struct grid *g, struct rect in)
{
    const char *problem = setup_problem(s);
    struct setup_fact facts[SETUP_FACTS];
    struct text remark = {0};
    int r = 0;

    if (problem) {
        r += grid_words(g, in, r, GRID_BAD, problem);
        r = draw_missing(s, g, in, r) + 1;
    }
    if (!problem || s->sum.planned) {
        int n = (int)setup_facts(s, facts), most = in.rows * 2 / 3;

        n = n > most ? most : n; /* what is left out, and why, has room too */
        draw_facts(s, g, rect_top(rect_below(in, r), n), 1);
        r += n + 1;
        if (s->sum.crowding[0])
            r += grid_words(g, in, r, GRID_WARN, s->sum.crowding) + 1;
        if (is_first_time(s)) {
            grid_hint(g, in, r, 0, "r", "starts it");
            r += 2;
        }
    }
    if (!problem)
        r = draw_reasons(s, g, in, r);
    if (notes_say_more(s->form.notes, problem) && r < in.rows) {
        grid_text(g, in, r++, 0, GRID_HEAD, "could not be taken from the file");
        r += grid_words(g, rect_below(in, r), 0, GRID_BAD, s->form.notes) + 1;
    }
    setup_add_remark(s, &remark);
    (void)grid_words(g, rect_below(in, r), 0, GRID_DIM, text_str(&remark));
    text_free(&remark);
}

/* What matters most of all that has no room, on the frame. */
static void draw_corner(const struct setup *s, struct grid *g)
{
    char one[112];

    if (is_stale(s)) {
        grid_frame_right(g, s->places.mean, GRID_WARN, "as it was before");
    } else if (s->places.wide || setup_problem(s)) {
        return;
    } else if (is_first_time(s)) {
        grid_frame_right(g, s->places.mean, GRID_KEY, "r starts it");
    } else if (!isnan(s->sum.as_one.lo)) {
        snprintf(one, sizeof one, "costs as much as %.0f epochs alone", s->sum.as_one.hi);
        grid_frame_right(g, s->places.mean, GRID_TEXT, one);
    } else if (s->sum.left_out + s->sum.skipped) {
        char skipped[48] = "", out[48] = "";

        if (s->sum.left_out)
            snprintf(out, sizeof out, "%s left out%s", TEXT_COUNT(s->sum.left_out),
                     s->sum.skipped ? ", " : "");
        if (s->sum.skipped)
            snprintf(skipped, sizeof skipped, "%s skipped", TEXT_COUNT(s->sum.skipped));
        snprintf(one, sizeof one, "%s%s: v says why", out, skipped);
        grid_frame_right(g, s->places.mean, GRID_WARN, one);
    } else if (s->sum.crowding[0]) {
        grid_frame_right(g, s->places.mean, GRID_WARN, s->sum.crowding);
    } else if (s->sum.with_result) {
        snprintf(one, sizeof one, "%s %s", TEXT_COUNT(s->sum.with_result),
                 s->sum.with_result == 1 ? "has a result" : "have results");
        grid_frame_right(g, s->places.mean, GRID_TEXT,
                         s->sum.with_result == s->sum.cells ? "all have results" : one);
    }
}

static void draw_mean(struct setup *s, struct grid *g)
{
    const char *problem = setup_problem(s);
    struct rect in;

    if (s->places.mean.rows < 3)
        return;
    in = rect_before(rect_behind(grid_frame(g, s->places.mean,
                                            problem ? "why it cannot run" : "what it means", false),
                                 1),
                     1);
    draw_corner(s, g);
    if (s->places.wide) {
        draw_wide(s, g, in);
    } else if (problem) {
        int r =
            grid_words(g, rect_above(in, setup_missing(s, (char[64]){0})), 0, GRID_BAD, problem);

        draw_missing(s, g, in, r < in.rows ? r : in.rows - 1);
    } else {
        draw_facts(s, g, in, 2);
    }
}

/* Where there is no room beside the form, files or the queue stand in its place while keys go there. */
static void show_focused(struct setup *s)
{
    struct setup_places *p = &s->places;
    struct rect none = {0};

    if (p->files.columns || s->pane == SETUP_FORM)
        return;
    if (s->pane == SETUP_FILES) {
        p->files = p->form;
        p->file_rows = p->rows;
    } else {
        p->queue = p->form;
        p->queue_rows = p->rows;
    }
    p->form = p->rows = none;
}

void setup_draw(struct setup *s, struct grid *g, struct rect in)
{
    s->places = place(in, s->queue, s->pane == SETUP_QUEUE);
    show_focused(s);
    draw_files(s, g);
    draw_queue(s, g);
    if (s->places.form.columns)
        setup_draw_form(s, g);
    draw_mean(s, g);
}
