/* How the Sweep screen looks: the list at the left (alone where there is little room), the board, and
 * below it what the chosen cell came to. */
#include "ui/sweep/sweepview_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "draw/ink/words.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOARD_HEADS 2 /* rows above the cells */
#define LIST_WIDE   38
#define BOTH_WIDE   104 /* from here on list and board are side by side */
#define HIGH_LARGE  30

/* ---- the list ---- */

static void draw_line(struct sweepview *v, struct grid *g, struct rect in, int row, size_t i)
{
    const struct sweepview_line *line = &v->line[i];
    bool shown = v->name && !strcmp(v->name, line->name);
    bool chosen = i == v->chosen && v->pane == SWEEPVIEW_LIST;
    struct text best = {0}, name = {0};
    char counts[64];
    int end = in.columns - 2, room;

    if (line->cells)
        snprintf(counts, sizeof counts, "%s/%s", TEXT_COUNT(line->ended), TEXT_COUNT(line->cells));
    else /* its file cannot be read, or nothing was found that can be run */
        snprintf(counts, sizeof counts, "-");
    if (isfinite(line->best))
        share_add(&best, line->best);
    room = end - 16 - 2;
    grid_text(g, in, row, 0, line->live ? GRID_GOOD : GRID_DIM, line->live ? "●" : " ");
    words_add_cut(&name, line->name, room, g->ascii);
    grid_text(g, in, row, 2, shown ? GRID_FOCUS : GRID_TEXT, text_str(&name));
    grid_right(g, in, row, end - 7, GRID_DIM, counts);
    grid_right(g, in, row, end, GRID_TEXT, text_str(&best));
    text_free(&best);
    text_free(&name);
    if (chosen)
        grid_paint(g, in, row, 0, in.columns - 1, GRID_CHOSEN);
}

static void draw_list(struct sweepview *v, struct grid *g, struct rect in)
{
    struct rect inner = grid_frame(g, in, "sweeps", v->pane == SWEEPVIEW_LIST);
    int rows = inner.rows - 1;

    grid_text(g, inner, 0, 2, GRID_HEAD, "name");
    grid_right(g, inner, 0, inner.columns - 9, GRID_HEAD, "ended");
    grid_right(g, inner, 0, inner.columns - 2, GRID_HEAD, "best");
    v->first = (int)grid_first((size_t)v->first, v->chosen, v->lines, rows);
    v->list_at = rect_below(inner, 1);
    for (int row = 0; row < rows && v->first + row < (int)v->lines; row++)
        draw_line(v, g, inner, row + 1, (size_t)(v->first + row));
    grid_scroll(g, v->list_at, v->first, rows, (int)v->lines);
}

/* ---- around the board ---- */

static bool any_dead(const struct sweepview_sweep *s)
{
    bool dead = false;

    for (size_t i = 0; i < s->cells; i++)
        dead |= s->cell[i].dead;
    return dead;
}

static int role_of_standing(const struct sweepview *v)
{
    const struct wire_sweep_status *is = sweepview_is(v);

    if (!v->own && !v->sweep->live)
        return any_dead(v->sweep) ? GRID_BAD : GRID_DIM;
    return wire_sweep_lacks_room(is) || wire_sweep_is_paused(is) ? GRID_WARN : GRID_GOOD;
}

const char *sweepview_standing(const struct sweepview *v)
{
    const struct sweepview_sweep *s = v->sweep;

    if (v->own || s->live)
        return wire_sweep_words(sweepview_is(v), false);
    return any_dead(s)           ? "its process is gone: R goes on"
           : sweepview_open(s)   ? "stopped: R goes on"
           : sweepview_beyond(s) ? "done up to --max-cells: R has the rest"
                                 : "done";
}

static void draw_progress(const struct sweepview *v, struct grid *g, struct rect in)
{
    const struct sweepview_sweep *s = v->sweep;
    size_t known = 0, ended = 0, cells = sweepview_possible(s);
    struct text counts = {0}, left = {0};
    bool lives = v->own || s->live, told = v->own || (s->live && s->tells);
    bool rests = lives && wire_sweep_rests(sweepview_is(v));
    double seconds = lives ? sweepview_is(v)->left_seconds : sweepview_left_seconds(s);
    int wide, at = 0;

    for (size_t i = 0; i < s->cells; i++) {
        known += s->cell[i].known;
        ended += s->cell[i].known && wire_state_is_final(s->cell[i].state);
    }
    sweepview_add_counts(s, &counts);
    if (ended < known && !isfinite(seconds) && lives && !rests) {
        text_add(&left, "time known after a cell");
    } else if (ended < known && isfinite(seconds) && !rests) {
        text_add(&left, told ? "" : "about ");
        time_left_add_span(&left, seconds);
        text_add(&left, lives ? " left" : " of work left");
    }
    wide = in.columns - text_width(text_str(&counts)) - text_width(text_str(&left)) - 4;
    wide = wide > 30 ? 30 : wide;
    if (wide >= 6) /* the words go before */
        at = grid_bar(g, in, 0, 0, wide, cells ? (double)ended / (double)cells : NAN, GRID_BAR) + 2;
    grid_cut(g, in, 0, at, in.columns - at - text_width(text_str(&left)) - 1, GRID_TEXT, false,
             text_str(&counts));
    grid_right(g, in, 0, in.columns, GRID_HEAD, text_str(&left));
    text_free(&counts);
    text_free(&left);
}

static void draw_page(const struct sweepview *v, struct grid *g, struct rect in, int row)
{
    size_t pages = sweepview_pages(v->sweep, &v->look);
    struct text page = {0};
    int at;

    sweepview_add_page(v->sweep, &v->look, &page);
    at = grid_bold(g, in, row, 0, GRID_TEXT, text_str(&page)) + 2;
    at = grid_textf(g, in, row, at, GRID_DIM, "page %zu of %zu",
                    sweepview_page(v->sweep, &v->look) + 1, pages) +
         2;
    grid_hint(g, in, row, at, "[ ]", "turn");
    text_free(&page);
}

/* ---- the chosen cell ---- */

static const char *repeat_name(const struct sweepview_sweep *s, size_t r)
{
    return s->repeats_dim < s->dims ? s->dim[s->repeats_dim].brief[r] : "";
}

static size_t rank_of(const struct sweepview_sweep *s, const struct sweepview_cell *c)
{
    size_t rank = 1;

    for (size_t i = 0; i < s->cells; i++)
        rank += s->cell[i].state == WIRE_WAITING && s->cell[i].place >= 0 &&
                s->cell[i].place < c->place;
    return rank;
}

static void add_share(const char *before, double share, struct text *out)
{
    text_add(out, before);
    share_tell(out, share);
}

static void add_mean(const struct sweepview_group *group, const char *behind, struct text *out)
{
    share_add(out, group->mean);
    add_share(" ± ", group->sd, out);
    text_addf(out, " (n %s)%s", TEXT_COUNT(group->runs), behind);
}

static void add_one(const struct sweepview_sweep *s, const struct sweepview_cell *c,
                    struct text *out)
{
    char span[CLOCK_UTC_ROOM];

    sweepview_add_cell(c, out);
    if (s->on_valid && sweepview_has_accuracy(c))
        add_share(", validation ", c->val_acc, out);
    if (c->known && c->state == WIRE_WAITING && c->place >= 0)
        text_addf(out, ", number %s in the queue", TEXT_COUNT(rank_of(s, c)));
    if (c->known && wire_state_is_final(c->state) && isfinite(c->train)) {
        clock_span(span, c->train);
        text_addf(out, "  %s of training", span);
    }
    if (c->run)
        text_addf(out, "  %s", c->run);
    if (c->why && (!c->known || c->state != WIRE_DONE || !isfinite(c->acc)))
        text_addf(out, "  %s", c->why);
}

static int draw_repeats(const struct sweepview_sweep *s, struct grid *g, struct rect in, int row,
                        size_t group, int most)
{
    for (size_t r = 0; r < s->repeats && most > 0; r++, row++, most--) {
        const struct sweepview_cell *c = &s->cell[sweepview_cell_of(s, group, r)];
        bool bad = c->known && (c->state > WIRE_DONE || c->dead), best = false;
        struct text words = {0};
        int at = 2;

        if (most == 1 && r + 1 < s->repeats) {
            grid_textf(g, in, row, at, GRID_DIM, "and %s more", TEXT_COUNT(s->repeats - r));
            return row + 1;
        }
        best = sweepview_cell_of(s, group, r) == s->group[group].best && s->repeats > 1;
        if (s->repeats > 1)
            at = grid_textf(g, in, row, at, GRID_DIM, "seed %-3s", repeat_name(s, r)) + 1;
        add_one(s, c, &words);
        grid_cut(g, in, row, at, in.columns - at,
                 bad    ? GRID_BAD
                 : best ? GRID_GOOD
                        : GRID_TEXT,
                 false, text_str(&words));
        text_free(&words);
    }
    return row;
}

static void add_gap(const struct sweepview_sweep *s, size_t group, bool mean, struct text *out)
{
    const struct sweepview_group *c = &s->group[group];

    if (c->runs > 1 && mean)
        add_mean(c, ", ", out);
    if (group == s->best) {
        text_add(out, "the best");
    } else if (c->runs && s->best < s->groups) {
        double gap = s->group[s->best].choice - c->choice;

        if (gap < 1e-9) { /* of sums of the same shares */
            text_add(out, "equal to the best");
        } else {
            share_tell(out, gap);
            text_addf(out, " below the best%s", s->on_valid ? " on validation data" : "");
        }
        if (isfinite(c->gap.lo) && (c->gap.lo < 0 || c->gap.hi > 0)) {
            add_share(" (95 %: ", c->gap.lo, out);
            add_share(" to ", c->gap.hi, out);
            text_add(out, ")");
        }
    }
}

static void draw_best(const struct sweepview_sweep *s, struct grid *g, struct rect in, int row)
{
    const struct sweepview_group *best = s->best < s->groups ? &s->group[s->best] : NULL;
    struct text words = {0};
    int at;

    if (!best)
        return;
    at = grid_text(g, in, row, 0, GRID_GOOD, "* best ");
    if (best->runs > 1)
        add_mean(best, "", &words);
    else
        share_tell(&words, best->mean);
    if (s->on_valid)
        add_share(", validation ", best->choice, &words);
    text_add(&words, "  ");
    sweepview_add_setting(s, s->best, &words);
    if (best->best < s->cells && s->cell[best->best].run)
        text_addf(&words, "  %s", s->cell[best->best].run);
    grid_cut(g, in, row, at, in.columns - at, GRID_TEXT, false, text_str(&words));
    text_free(&words);
}

static int footer_rows(const struct sweepview_sweep *s, struct grid *g, int columns)
{
    struct text words = {0};
    int n;

    sweepview_add_footer(s, &words);
    n = grid_count_rows(g, columns, text_str(&words));
    text_free(&words);
    return n < 4 ? n : 4;
}

/* notes: the rows that the footer has. */
static void draw_details(const struct sweepview *v, struct grid *g, struct rect in, int notes)
{
    const struct sweepview_sweep *s = v->sweep;
    size_t group = sweepview_chosen(s, &v->look);
    int row = 0, at;
    struct text words = {0}, gap = {0};

    sweepview_add_setting(s, group, &words);
    at = grid_bold(g, rect_top(in, 1), 0, 0, GRID_TEXT, text_str(&words)) + 2;
    add_gap(s, group, in.columns >= 100, &gap); /* the board has the mean */
    grid_cut(g, in, 0, at, in.columns - at, GRID_DIM, false, text_str(&gap));
    row = draw_repeats(s, g, in, 1, group, in.rows - 2 - notes);
    if (in.rows - row > notes + 1)
        row++;
    draw_best(s, g, in, in.rows - notes - 1 < row ? row : in.rows - notes - 1);
    text_clear(&words);
    sweepview_add_footer(s, &words);
    grid_words(g, rect_bottom(in, notes), 0, GRID_DIM, text_str(&words));
    text_free(&words);
    text_free(&gap);
}

/* ---- the board ---- */

static void draw_board(struct sweepview *v, struct grid *g, struct rect in)
{
    const struct sweepview_sweep *s = v->sweep;
    bool paged = sweepview_pages(s, &v->look) > 1, large = in.rows >= HIGH_LARGE;
    int top = 1 + paged + (in.rows > 16), below, notes = footer_rows(s, g, in.columns), lacks;
    struct sweepview_board b;

    sweepview_make_board(s, &v->look, &b);
    below =
        2 + (int)(s->repeats > (large ? 12 : 4) ? (large ? 12 : 4) : s->repeats) + notes + large;
    /* all but the first row of the notes give way to cells that would be hidden */
    lacks = b.board.rows + BOARD_HEADS - (in.rows - top - below);
    if (lacks > 0 && notes > 1) {
        below -= notes - 1 < lacks ? notes - 1 : lacks;
        notes -= notes - 1 < lacks ? notes - 1 : lacks;
    }
    if (below > in.rows - top - 4)
        below = in.rows - top - 4;
    if (below < 2)
        below = 0;
    draw_progress(v, g, in);
    if (paged)
        draw_page(v, g, in, 1 + (in.rows > 20));
    board_grid(&b.board, g,
               rect_above(rect_below(in, top + (paged && in.rows > 20)), below + large),
               &v->look.view);
    sweepview_free_board(&b);
    if (below)
        draw_details(v, g, rect_bottom(in, below), notes);
}

static const char *nothing(const struct sweepview *v)
{
    if (!v->read || v->looking)
        return "Looking for sweeps...";
    return "There are no sweeps yet. A value with commas makes one: on Setup, let lr be 0.05, 0.1, "
           "0.2 and batch 64, 128, and press r. Without the screen: chorus run lr=0.05,0.1,0.2 "
           "batch=64,128";
}

static void draw_sweep(struct sweepview *v, struct grid *g, struct rect in)
{
    bool reads = v->sweep && !v->sweep->problem;
    const char *words = reads ? sweepview_standing(v) : "";
    struct text title = {0};
    struct rect inner;
    char standing[96] = "";

    if (reads)
        snprintf(standing, sizeof standing, "%s%s", words,
                 !v->sweep->live || v->own ? ""
                 : strpbrk(words, ":,")    ? ", elsewhere" /* else it would belong to their end */
                                           : " elsewhere");
    words_add_cut(&title, v->name ? v->name : "sweep", in.columns - 8 - (int)strlen(standing),
                  g->ascii);
    inner = grid_frame(g, in, text_str(&title), v->pane == SWEEPVIEW_BOARD);
    text_free(&title);
    if (inner.columns > 4) /* a little air */
        inner = rect_before(rect_behind(inner, 1), 1);
    if (!v->sweep) {
        grid_words(g, rect_below(inner, 1), 0, GRID_DIM, v->name ? "Reading it..." : nothing(v));
        return;
    }
    if (v->sweep->problem) {
        grid_words(g, rect_below(inner, 1), 0, GRID_BAD, v->sweep->problem);
        return;
    }
    grid_frame_right(g, in, role_of_standing(v), standing);
    if (!v->sweep->dims || !v->sweep->cells) {
        grid_words(g, rect_below(inner, 1), 0, GRID_DIM,
                   "This sweep walks no list: it has no board.");
        return;
    }
    draw_board(v, g, inner);
}

void sweepview_draw(void *screen, struct grid *g, struct rect in)
{
    struct sweepview *v = screen;

    v->wide = in.columns >= BOTH_WIDE;
    v->list_at = (struct rect){0};
    v->look.view.rows = v->look.view.columns = 0;
    if (!v->lines && !v->sweep) {
        draw_sweep(v, g, in);
        return;
    }
    if (v->wide) {
        draw_list(v, g, rect_left(in, LIST_WIDE));
        draw_sweep(v, g, rect_behind(in, LIST_WIDE));
    } else if (v->pane == SWEEPVIEW_LIST) {
        draw_list(v, g, in);
    } else {
        draw_sweep(v, g, in);
    }
}
