/* How the Predict screen looks: the image and who says what of it, a list of the others where there is
 * room, or the confusion matrix. */
#include "ui/predict/predictview_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "draw/ink/words.h"
#include "study/compare.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_NAMES 9 /* of a class, at least */
#define LIST_MOST  16
#define IMAGE_WIDE 56  /* of 28 pixels */
#define LEAST_NAME 12  /* columns, of a run in the title */
#define BOTH_WIDE  118 /* from here on the list stands beside the image */

/* ---- heads ---- */

static void add_weights(const struct predictview *v, bool rank, struct text *out)
{
    const struct predictview_set *s = v->set;

    if (!s || s->of.epoch < 0)
        return;
    text_addf(out, "  weights of epoch %lld", (long long)s->of.epoch);
    if (!rank)
        return;
    if (s->of.epoch == v->best_epoch && s->of.epoch == v->epochs_done)
        text_addf(out, " (best, picked on %s, and last)", v->by_valid ? "validation" : "test");
    else if (s->of.epoch == v->best_epoch)
        text_addf(out, " (best, picked on %s)", v->by_valid ? "validation" : "test");
    else if (s->of.epoch == v->epochs_done)
        text_add(out, " (last)");
}

/* Of a long name the middle goes before anything of the weights does; then which of the epochs theirs is. */
static void add_title(const struct predictview *v, int columns, bool ascii, struct text *out)
{
    struct text weights = {0};
    int room;

    add_weights(v, true, &weights);
    room = columns - text_width(text_str(&weights));
    if (room < LEAST_NAME) {
        text_clear(&weights);
        add_weights(v, false, &weights);
        room = columns - text_width(text_str(&weights));
    }
    words_add_cut(out, v->run ? study_short_name(v->run) : "predictions",
                  room > LEAST_NAME ? room : LEAST_NAME, ascii);
    text_add(out, text_str(&weights));
    text_free(&weights);
}

/* ---- one image ---- */

static void draw_sentence(const struct predictview_set *s, size_t i, struct grid *g, struct rect in,
                          int row)
{
    bool wrong = s->of.answer[i] != s->of.labels[i];
    char number[TEXT_NUMBER_ROOM];
    struct text words = {0};
    int at;

    text_addf(&words, "%s %s", study_answers_noun(&s->of), text_count(number, i));
    at = grid_bold(g, in, row, 0, GRID_TEXT, text_str(&words)) + 2;
    text_clear(&words);
    text_addf(&words, "%s %.3f, %s", s->name[s->of.answer[i]], study_answers_highest(&s->of, i),
              wrong ? "wrong: it is " : "right");
    if (wrong)
        text_addf(&words, "%s", s->name[s->of.labels[i]]);
    at = grid_cut(g, in, row, at, in.columns - at, wrong ? GRID_BAD : GRID_GOOD, false,
                  text_str(&words));
    text_clear(&words);
    if (s->of.members > 1 && s->of.others[i])
        text_addf(&words, "; %d of %d members differ", s->of.others[i], s->of.members);
    else if (s->of.members > 1)
        text_addf(&words, "; all %d members agree", s->of.members);
    grid_cut(g, in, row, at, in.columns - at, GRID_DIM, false, text_str(&words));
    text_free(&words);
}

struct classes { /* the classes that are shown, in this order */
    int *class;
    int n;
};

struct likely {
    double p;
    int class;
};

static int most_likely_first(const void *a, const void *b)
{
    const struct likely *x = a, *y = b;

    if (x->p > y->p || x->p < y->p) /* neither where one is no number */
        return x->p > y->p ? -1 : 1;
    return x->class - y->class;
}

/* All in their order where there is room, else the most probable ones, the label's among them. */
static struct classes choose_classes(const struct predictview_set *s, size_t i, int room)
{
    struct likely *all = mem_new((size_t)s->of.classes, sizeof *all);
    struct classes c = {mem_new((size_t)s->of.classes, sizeof *c.class), s->of.classes};
    bool has_label = false;

    for (int k = 0; k < s->of.classes; k++) {
        all[k] = (struct likely){s->of.mean[i * (size_t)s->of.classes + (size_t)k], k};
        c.class[k] = k;
    }
    if (room < s->of.classes) {
        qsort(all, (size_t)s->of.classes, sizeof *all, most_likely_first);
        c.n = room < 0 ? 0 : room;
        for (int k = 0; k < c.n; k++) {
            c.class[k] = all[k].class;
            has_label |= all[k].class == s->of.labels[i];
        }
        if (c.n > 1 && !has_label)
            c.class[c.n - 1] = (int)s->of.labels[i];
    }
    free(all);
    return c;
}

static int names_width(const struct predictview_set *s, int most)
{
    int width = 4;

    for (int k = 0; k < s->of.classes; k++)
        if (text_width(s->name[k]) > width)
            width = text_width(s->name[k]);
    return width < most ? width : most;
}

/* A member's probability in one column: a bar that grows from below, or a digit of tenths. */
static void put_small(struct grid *g, struct rect in, int row, int column, float p)
{
    int eighths = isfinite(p) ? (int)lroundf(p * 8) : 0;

    if (g->ascii)
        grid_put(g, in, row, column, !(p >= 0.05f) ? '.' : (uint32_t)('0' + (int)fminf(p * 10, 9)),
                 GRID_SERIES, 0);
    else
        grid_put(g, in, row, column, eighths ? 0x2580u + (uint32_t)eighths : 0x00b7,
                 eighths ? GRID_SERIES : GRID_DIM, 0);
}

static int member_wide(int digits)
{
    return digits > 2 ? digits + 4 : digits + 3;
}

static void draw_members(const struct predictview_set *s, size_t i, int class, struct grid *g,
                         struct rect in, int row, int digits)
{
    for (int m = 0; m < s->of.members; m++) {
        float p = s->of.p[((size_t)m * s->of.n + i) * (size_t)s->of.classes + (size_t) class];
        bool own = study_answers_of(&s->of, m, i) == class;

        if (digits)
            grid_textf(g, in, row, m * member_wide(digits), own ? GRID_TEXT : GRID_DIM, "%.*f",
                       digits, (double)p);
        else
            put_small(g, in, row, m, p);
    }
}

/* Three digits of each member, or two, or (0) a column of one cell. */
static int member_digits(const struct predictview_set *s, int room)
{
    if (s->of.members < 2)
        return 0;
    return room >= member_wide(3) * s->of.members   ? 3
           : room >= member_wide(2) * s->of.members ? 2
                                                    : 0;
}

static int members_width(const struct predictview_set *s, int digits)
{
    return s->of.members < 2 ? 0 : digits ? member_wide(digits) * s->of.members : s->of.members + 1;
}

#define MARK_WIDE  2 /* in front of a class's name */
#define VALUE_WIDE 8 /* behind its bar: two blanks, a value, a blank */
#define LEAST_BAR  8

/* What the table needs beside an image. */
static int table_width(const struct predictview_set *s)
{
    return MARK_WIDE + names_width(s, 14) + 1 + LEAST_BAR + VALUE_WIDE + members_width(s, 0);
}

static void draw_heads(const struct predictview_set *s, struct grid *g, struct rect in, int value,
                       int digits)
{
    struct rect right = rect_behind(in, value + VALUE_WIDE);

    grid_text(g, in, 0, value + 1, GRID_HEAD, s->of.members > 1 ? "mean" : "p");
    for (int m = 0; s->of.members > 1 && m < s->of.members; m++)
        grid_textf(g, right, 0, digits ? m * member_wide(digits) : m, GRID_HEAD, "%d",
                   digits ? m : m % 10);
}

static void draw_classes(const struct predictview_set *s, size_t i, struct grid *g, struct rect in)
{
    int names = names_width(s, in.columns / 3), left = MARK_WIDE + names + 1, bar, digits;
    struct classes c = choose_classes(s, i, in.rows - 1);
    struct rect right;

    digits = member_digits(s, in.columns - left - LEAST_BAR - VALUE_WIDE);
    bar = in.columns - left - VALUE_WIDE - members_width(s, digits);
    bar = bar > 30 ? 30 : bar < 4 ? 4 : bar;
    right = rect_behind(in, left + bar + VALUE_WIDE);
    draw_heads(s, g, in, left + bar, digits);
    for (int k = 0; k < c.n; k++) {
        int class = c.class[k], row = k + 1;
        double p = s->of.mean[i * (size_t)s->of.classes + (size_t) class];
        bool label = class == s->of.labels[i], said = class == s->of.answer[i];
        int role = label ? GRID_GOOD : said ? GRID_BAD : GRID_TEXT;

        grid_text(g, in, row, 0, role, label ? "●" : said ? "×" : " ");
        grid_cut(g, in, row, MARK_WIDE, names, role, false, s->name[class]);
        grid_bar(g, in, row, left, bar, p, role == GRID_TEXT ? GRID_BAR : role);
        grid_textf(g, in, row, left + bar + 1, p >= 0.0005 ? GRID_TEXT : GRID_DIM, "%.3f", p);
        if (s->of.members > 1)
            draw_members(s, i, class, g, right, row, digits);
    }
    free(c.class);
}

/* Returns how many columns the image took. */
static int draw_pixels(const struct predictview_set *s, size_t i, struct grid *g, struct rect in)
{
    uint8_t *bytes = study_answers_bytes(&s->of, i);
    struct tile t = {bytes, s->of.shape.h, s->of.shape.w, s->of.shape.c == 3 ? 3 : 1};
    struct rect took = tile_grid(&t, g, in);

    free(bytes);
    return took.columns;
}

static void draw_image(const struct predictview *v, struct grid *g, struct rect in)
{
    const struct predictview_set *s = v->set;
    size_t i = v->pick.image[v->at];
    int wide = in.columns - table_width(s) - 3;
    struct rect below = rect_below(in, 2);

    if (wide < in.columns / 4)
        wide = in.columns / 4;
    draw_sentence(s, i, g, in, 0);
    wide = study_answers_are_rows(&s->of) ? predictview_draw_values(s, i, g, rect_left(below, wide))
                                          : draw_pixels(s, i, g, rect_left(below, wide));
    draw_classes(s, i, g, rect_behind(below, wide + 3));
}

/* ---- the list ---- */

/* Two names of classes, and what stands around them. */
static int list_width(const struct predictview_set *s, int names)
{
    return 2 * names + 17 + (s->of.members > 1 ? 5 : 0);
}

/* What a name may take beside the image and so many digits of each member. */
static int room_of_names(const struct predictview_set *s, int columns, int digits)
{
    int image = IMAGE_WIDE + 3 + table_width(s) - members_width(s, 0) + members_width(s, digits);

    return (columns - list_width(s, 0) - 2 - image) / 2;
}

/* Names whole where image and members keep the room that they want; where members have no digits in any
 * case they keep none for them. */
static int list_names(const struct predictview_set *s, int columns)
{
    int most = room_of_names(s, columns, 2), names = names_width(s, LIST_MOST);

    if (most < LIST_NAMES)
        most = room_of_names(s, columns, 0);
    names = names < most ? names : most;
    return names > LIST_NAMES ? names : LIST_NAMES;
}

static void draw_list(struct predictview *v, struct grid *g, struct rect in)
{
    const struct predictview_set *s = v->set;
    size_t rows = in.rows > 1 ? (size_t)(in.rows - 1) : 0;
    int name = (in.columns - list_width(s, 0)) / 2;

    grid_right(g, in, 0, 6, GRID_HEAD, study_answers_noun(&s->of));
    grid_text(g, in, 0, 8, GRID_HEAD, "label");
    grid_text(g, in, 0, 9 + name, GRID_HEAD, "answer");
    grid_right(g, in, 0, in.columns - (s->of.members > 1 ? 7 : 2), GRID_HEAD, "p");
    if (s->of.members > 1)
        grid_right(g, in, 0, in.columns - 2, GRID_HEAD, "diff");
    v->list_first = grid_first(v->list_first, v->at, v->pick.n, (int)rows);
    v->list_at = rect_below(in, 1);
    for (size_t row = 0; row < rows && v->list_first + row < v->pick.n; row++) {
        size_t i = v->pick.image[v->list_first + row];
        bool wrong = s->of.answer[i] != s->of.labels[i];
        int line = (int)row + 1;
        char number[TEXT_NUMBER_ROOM];

        grid_right(g, in, line, 6, GRID_DIM, text_count(number, i));
        grid_cut(g, in, line, 8, name, GRID_TEXT, false, s->name[s->of.labels[i]]);
        grid_cut(g, in, line, 9 + name, name, wrong ? GRID_BAD : GRID_TEXT, false,
                 s->name[s->of.answer[i]]);
        snprintf(number, sizeof number, "%.3f", study_answers_highest(&s->of, i));
        grid_right(g, in, line, in.columns - (s->of.members > 1 ? 7 : 2), GRID_TEXT, number);
        snprintf(number, sizeof number, "%d", s->of.others[i]);
        if (s->of.members > 1)
            grid_right(g, in, line, in.columns - 2, GRID_DIM, number);
        if (v->list_first + row == v->at)
            grid_paint(g, in, line, 0, in.columns - 1, GRID_CHOSEN);
    }
    grid_scroll(g, v->list_at, (int)v->list_first, (int)rows, (int)v->pick.n);
}

static void draw_images(struct predictview *v, struct grid *g, struct rect in)
{
    struct text words = {0}, facts = {0};
    bool wide = in.columns >= BOTH_WIDE;
    char at[TEXT_NUMBER_ROOM], n[TEXT_NUMBER_ROOM];
    int end, list = list_width(v->set, list_names(v->set, in.columns));

    predictview_add_pick(v->set, &v->pick, &words);
    end = grid_bold(g, in, 0, 0, GRID_TEXT, text_str(&words)) + 2;
    if (v->pick.n)
        end = grid_textf(g, in, 0, end, GRID_DIM, "%s of %s", text_count(at, v->at + 1),
                         text_count(n, v->pick.n)) +
              2;
    predictview_add_facts(v, &facts);
    if (text_width(text_str(&facts)) < in.columns - end)
        grid_right(g, in, 0, in.columns, GRID_DIM, text_str(&facts));
    if (!v->pick.n) {
        text_clear(&words);
        text_addf(&words, "No %s is such.", study_answers_noun(&v->set->of));
        grid_words(g, rect_below(in, 2), 0, GRID_DIM,
                   v->pick.order == PREDICTVIEW_WORST ? "There is not one mistake."
                                                      : text_str(&words));
    } else {
        in = rect_below(in, in.rows > 18 ? 2 : 1);
        if (wide)
            draw_list(v, g, rect_left(in, list));
        draw_image(v, g, rect_behind(in, wide ? list + 2 : 0));
    }
    text_free(&words);
    text_free(&facts);
}

/* ---- without predictions ---- */

static void draw_waiting(const struct predictview *v, struct grid *g, struct rect in)
{
    static const char *const turning[] = {"⠋", "⠙", "⠹", "⠼", "⠴", "⠦"};
    double seconds = (double)(v->now_ns - v->since_ns) / 1e9;
    int at = 0;

    if (v->state == PREDICTVIEW_READING && seconds < 0.3)
        return; /* a flicker tells nobody anything */
    if (!g->ascii)
        at = grid_text(g, in, 0, 0, GRID_BAR, turning[(int)(seconds * 8) % 6]) + 1;
    grid_textf(g, in, 0, at, GRID_TEXT, "%s  %.0f s",
               v->state == PREDICTVIEW_READING ? "Reading the predictions"
                                               : "Predicting the test set",
               seconds);
}

void predictview_draw(void *screen, struct grid *g, struct rect in)
{
    struct predictview *v = screen;
    struct text title = {0};
    struct rect inner;
    const char *beside = "";
    bool busy = v->state == PREDICTVIEW_READING || v->state == PREDICTVIEW_MAKING;
    const struct library *l = v->app->library;

    v->list_at = (struct rect){0};
    v->view.rows = v->view.columns = 0;
    if (v->set && busy)
        beside = "predicting anew...";
    else if (v->set && l && library_ready(l) && !library_find(l, v->run))
        beside = "the run is removed";
    else if (v->set && v->old)
        beside = "newer weights: L";
    add_title(v, in.columns - 6 - (*beside ? 3 + (int)strlen(beside) : 0), g->ascii, &title);
    inner = grid_frame(g, in, text_str(&title), true);
    text_free(&title);
    if (inner.columns > 4)
        inner = rect_before(rect_behind(inner, 1), 1);
    if (*beside)
        grid_frame_right(g, in, GRID_WARN, beside);
    if (!v->run && l && !library_ready(l)) {
        grid_words(g, rect_below(inner, 1), 0, GRID_DIM, "Reading the runs ...");
    } else if (!v->run) {
        grid_words(g, rect_below(inner, 1), 0, GRID_DIM,
                   "No run is chosen, and none has trained an epoch yet. On Results, P opens the "
                   "predictions of the run under the cursor.");
    } else if (!v->set && v->state == PREDICTVIEW_FAILED) {
        grid_words(g, rect_below(inner, 1), 0, GRID_BAD, v->problem);
    } else if (!v->set) {
        draw_waiting(v, g, rect_below(inner, 1));
    } else if (v->confusion) {
        predictview_draw_confusion(v, g, inner);
    } else {
        draw_images(v, g, inner);
    }
}
