#include "tests/test.h"

#include "base/mem.h"
#include "draw/grid.h"
#include "draw/ink/words.h"
#include "ui/term/key.h"

#include <time.h>

static struct grid made(int rows, int columns, bool ascii)
{
    struct grid g;

    grid_init(&g, rows, columns, ascii);
    return g;
}

/* What it shows, as text; freed by the caller with the grid. */
static char *shown(struct grid *g)
{
    struct text out = {0};

    grid_to_text(g, &out);
    return out.s;
}

#define SHOWS(g, want)                                                                             \
    do {                                                                                           \
        char *got_text = shown(&(g));                                                              \
        CHECK_STR(got_text, want);                                                                 \
        free(got_text);                                                                            \
    } while (0)

TEST(rectangles_are_never_larger_than_what_they_are_cut_from)
{
    struct rect r = {2, 3, 4, 5}, cut;

    for (int n = -3; n < 12; n++) {
        struct rect all[] = {rect_top(r, n),    rect_bottom(r, n), rect_below(r, n),
                             rect_above(r, n),  rect_left(r, n),   rect_right(r, n),
                             rect_behind(r, n), rect_before(r, n)};

        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            CHECK(all[i].rows >= 0 && all[i].columns >= 0);
            CHECK(all[i].row >= 2 && all[i].row + all[i].rows <= 6);
            CHECK(all[i].column >= 3 && all[i].column + all[i].columns <= 8);
        }
    }
    cut = rect_inner((struct rect){0, 0, 1, 1});
    CHECK_INT(cut.rows, 0);
    CHECK_INT(cut.columns, 0);
    cut = rect_bottom(r, 1);
    CHECK_INT(cut.row, 5);
}

TEST(what_stands_outside_is_not_drawn)
{
    struct grid g = made(2, 4, false);
    struct rect in = {0, 1, 2, 2};

    grid_text(&g, in, 0, 0, GRID_TEXT, "abcdef");
    grid_text(&g, in, 1, -1, GRID_TEXT, "xyz");
    grid_text(&g, in, 7, 0, GRID_TEXT, "no");
    grid_put(&g, (struct rect){-5, -5, 100, 100}, 4, 4, 'q', GRID_TEXT, 0);
    SHOWS(g, " ab\n yz\n");
    grid_free(&g);
}

TEST(what_drives_a_terminal_is_made_visible)
{
    struct grid g = made(1, 40, false);

    grid_text(&g, grid_all(&g), 0, 0, GRID_TEXT,
              "a\033[31mb\xe2\x80\xae"
              "c\xff");
    SHOWS(g, "a^[[31mb<U+202E>c\\xFF\n");
    grid_free(&g);
}

TEST(a_wide_character_is_whole_or_not_there)
{
    struct grid g = made(1, 5, false);

    grid_text(&g, grid_all(&g), 0, 0, GRID_TEXT, "a\xe4\xb8\xad\xe6\x96\x87");
    SHOWS(g, "a\xe4\xb8\xad\xe6\x96\x87\n");
    CHECK(g.cell[2].code == GRID_TAIL);
    grid_text(&g, grid_all(&g), 0, 2, GRID_TEXT, "x"); /* into its second half */
    SHOWS(g, "a x\xe6\x96\x87\n");
    grid_clear(&g);
    grid_text(&g, grid_all(&g), 0, 4, GRID_TEXT, "\xe4\xb8\xad"); /* half of it would be outside */
    SHOWS(g, "\n");
    grid_free(&g);
}

TEST(long_text_is_cut_with_a_mark)
{
    struct grid g = made(3, 8, false);
    struct rect all = grid_all(&g);

    CHECK_INT(grid_cut(&g, all, 0, 0, 5, GRID_TEXT, false, "abcdefgh"), 5);
    CHECK_INT(grid_cut(&g, all, 1, 0, 5, GRID_TEXT, true, "abcdefgh"), 5);
    CHECK_INT(grid_cut(&g, all, 2, 0, 8, GRID_TEXT, true, "abcdefgh"), 8);
    SHOWS(g, "abcd\xe2\x80\xa6\n\xe2\x80\xa6"
             "efgh\nabcdefgh\n");
    grid_right(&g, all, 0, 8, GRID_TEXT, "12");
    SHOWS(g, "abcd\xe2\x80\xa6 12\n\xe2\x80\xa6"
             "efgh\nabcdefgh\n");
    grid_free(&g);
}

TEST(words_break_at_blanks_and_hang_below_their_head)
{
    struct grid g = made(6, 16, false);

    CHECK_INT(
        grid_words(&g, grid_all(&g), 0, GRID_TEXT, "one two three four\n  p   pauses, or goes on"),
        4);
    SHOWS(g, "one two three\nfour\n  p   pauses, or\n      goes on\n\n\n");
    grid_fill(&g, grid_all(&g), GRID_TEXT);
    CHECK_INT(grid_count_rows(&g, 8, "one two three"), 2);
    SHOWS(g, "\n\n\n\n\n\n");
    CHECK_INT(grid_words(&g, grid_all(&g), 0, GRID_TEXT, "a mean of 0.8 ± 0.1"), 2);
    SHOWS(g, "a mean of 0.8\n± 0.1\n\n\n\n\n");
    grid_free(&g);
}

TEST(words_without_room_end_in_an_ellipsis)
{
    struct grid g = made(2, 10, false);

    CHECK_INT(grid_words(&g, grid_all(&g), 0, GRID_TEXT, "one two three four five"), 3);
    SHOWS(g, "one two\nthree fou…\n");
    CHECK_INT(grid_words(&g, grid_all(&g), 0, GRID_TEXT, "one two three four"), 2);
    SHOWS(g, "one two\nthree four\n");
    grid_fill(&g, grid_all(&g), GRID_TEXT);
    CHECK_INT(grid_words(&g, grid_all(&g), 0, GRID_TEXT, "one\ntwo\nthree"), 3);
    SHOWS(g, "one\ntwo…\n");
    grid_fill(&g, grid_all(&g), GRID_TEXT);
    CHECK_INT(grid_words(&g, grid_all(&g), 0, GRID_TEXT, "one\ntwo\n"), 2);
    SHOWS(g, "one\ntwo\n");
    grid_free(&g);
}

TEST(ascii_has_nothing_else)
{
    struct grid g = made(3, 12, true);
    char *text;

    grid_frame(&g, grid_all(&g), "caf\xc3\xa9", false);
    grid_bar(&g, grid_all(&g), 1, 1, 8, 0.5, GRID_BAR);
    text = shown(&g);
    for (const char *s = text; *s; s++)
        CHECK(*s == '\n' || (*s >= ' ' && *s < 0x7f));
    CHECK_HAS(text, "####....");
    free(text);
    grid_free(&g);
    g = made(1, 24, true);
    grid_text(&g, grid_all(&g), 0, 0, GRID_TEXT, "✗ ‖ ≈0.5 ± 0.1 |");
    text = shown(&g);
    CHECK_STR(text, "x = ~0.5 +-0.1 |\n"); /* ≈ does not read as =, nor ± as + */
    free(text);
    grid_free(&g);
    g = made(4, 14, true);
    grid_text(&g, grid_all(&g), 0, 0, GRID_TEXT, "± is ±0.1 猫|"); /* a wide one takes two */
    grid_right(&g, grid_all(&g), 1, 14, GRID_TEXT, "mean ± sd");
    grid_cut(&g, grid_all(&g), 2, 0, 12, GRID_TEXT, false, "seed: mean ± sd");
    grid_cut(&g, grid_all(&g), 3, 0, 10, GRID_TEXT, false, "mean ± sd");
    text = shown(&g);
    CHECK_STR(text, "+- is +-0.1 ??\n"
                    "    mean +- sd\n"
                    "seed: mean ~\n"
                    "mean +- sd\n");
    free(text);
    grid_free(&g);
}

TEST(a_bar_shows_eighths_and_takes_any_share)
{
    struct grid g = made(1, 4, false);
    const double odd[] = {-1, 0, 0.3, 1, 7, NAN, INFINITY};

    grid_bar(&g, grid_all(&g), 0, 0, 4, 0.375, GRID_BAR); /* one and a half of four */
    SHOWS(g, "\xe2\x96\x88\xe2\x96\x8c\xe2\x96\x91\xe2\x96\x91\n");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        grid_bar(&g, grid_all(&g), 0, 0, 4, odd[i], GRID_BAR);
    grid_free(&g);
}

TEST(a_picture_is_a_whole_document)
{
    struct grid g = made(2, 10, false);
    struct text svg = {0};

    grid_text(&g, grid_all(&g), 0, 0, GRID_TEXT, "a<b&c");
    grid_to_svg(&g, false, "x<y", &svg);
    CHECK_HAS(text_str(&svg), "a&lt;b&amp;c");
    CHECK_HAS(text_str(&svg), "<title>x&lt;y</title>");
    CHECK_HAS(text_str(&svg), "</svg>");
    text_free(&svg);
    grid_free(&g);
}

TEST(keys_have_names)
{
    struct key key;

    CHECK(key_parse("Enter", &key) && key.code == UI_ENTER);
    CHECK(key_parse("space", &key) && key.code == ' ');
    CHECK(key_parse("Ctrl-L", &key) && key.code == 12);
    CHECK(key_parse("F12", &key) && key.code == UI_F12);
    CHECK(key_parse("\xc3\xa9", &key) && key.code == 0xe9);
    CHECK(key_parse("[", &key) && key.code == '[');
    CHECK(!key_parse("F13", &key));
    CHECK(!key_parse("Nonsense", &key));
    CHECK(!key_parse("", &key));
}

static void cuts_to(const char *s, int columns, bool ascii, const char *want)
{
    struct text out = {0};

    words_add_cut(&out, s, columns, ascii);
    CHECK_STR(text_str(&out), want);
    text_free(&out);
}

TEST(of_a_long_name_both_ends_are_kept)
{
    cuts_to("abcdefgh", 8, false, "abcdefgh");
    cuts_to("abcdefghi", 8, false, "abc…fghi");
    cuts_to("abcdefghi", 8, true, "ab...ghi");
    cuts_to("abcdefghi", 2, false, "abcdefghi"); /* no room for both */
    cuts_to("日本語日本語", 8, false, "日…本語");
    cuts_to("ae\xcc\x81iouae\xcc\x81iou", 6, false, "ae\xcc\x81…iou"); /* accents of their own */
    cuts_to("\x1b\xff-----", 8, false, "^[\\…----");
    cuts_to("", -3, false, "");
}

/* Seconds for 64,000 characters in names of so many each. */
static double seconds_for_names_of(size_t n)
{
    char *name = mem_new(n + 1, 1);
    clock_t from = clock();

    memset(name, 'x', n);
    for (size_t i = 0; i < 64000 / n; i++) {
        struct text out = {0};

        words_add_cut(&out, name, 16, false);
        text_free(&out);
    }
    free(name);
    return (double)(clock() - from) / CLOCKS_PER_SEC;
}

/* By squares it would be 64 times as long. */
TEST(a_name_is_cut_in_a_time_that_grows_no_faster_than_it)
{
    double least = 1e9;

    for (int i = 0; i < 3; i++) {
        double some = seconds_for_names_of(100), one = seconds_for_names_of(6400);
        double ratio = one / (some > 0 ? some : 1e-6);

        least = ratio < least ? ratio : least;
    }
    CHECK(least < 8);
}
