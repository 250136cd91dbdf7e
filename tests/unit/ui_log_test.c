#include "base/mem.h"
#include "tests/test.h"
#include "ui/app_int.h"

static double noon(void)
{
    return 1763726400; /* 2025-11-21T12:00:00Z */
}

struct kit {
    struct app app;
    void *screen;
    struct text seen;
};

static void start(struct kit *k)
{
    *k = (struct kit){.app.config.wall = noon, .app.shown = SCREEN_LOG};
    k->app.own = mem_new(1, sizeof *k->app.own);
    k->screen = screen_log.open(&k->app);
}

static void finish(struct kit *k)
{
    screen_log.close(k->screen);
    for (size_t i = 0; i < k->app.own->lines; i++)
        free(k->app.own->line[(k->app.own->line_first + i) % APP_LINES].text);
    free(k->app.own);
    text_free(&k->seen);
}

static const char *draw(struct kit *k, int rows, int columns)
{
    struct grid g;

    grid_init(&g, rows, columns, false);
    screen_log.draw(k->screen, &g, grid_all(&g));
    text_clear(&k->seen);
    grid_to_text(&g, &k->seen);
    grid_free(&g);
    return text_str(&k->seen);
}

static void press(struct kit *k, int32_t code)
{
    struct key key = {.code = code};

    CHECK(screen_log.key(k->screen, &key));
}

static void add_lines(struct kit *k, int from, int n)
{
    for (int i = from; i < from + n; i++) {
        char *line = mem_textf("line %d", i);

        app_log(&k->app, i == 7 ? LOG_ERROR : LOG_INFO, line);
        free(line);
    }
}

TEST(an_empty_log_says_so)
{
    struct kit k;

    start(&k);
    CHECK_HAS(draw(&k, 10, 60), "Nothing has been said yet.");
    finish(&k);
}

TEST(lines_have_a_time_and_a_level_in_words)
{
    struct kit k;

    start(&k);
    add_lines(&k, 7, 1);
    CHECK_HAS(draw(&k, 10, 60), "12:00:00  error   line 7");
    finish(&k);
}

TEST(the_newest_stay_in_sight_until_one_moves)
{
    struct kit k;

    start(&k);
    add_lines(&k, 1, 20);
    draw(&k, 7, 60); /* five lines within the frame */
    CHECK_HAS(text_str(&k.seen), "line 20");
    CHECK(!strstr(text_str(&k.seen), "line 15 "));
    CHECK_HAS(text_str(&k.seen), "follows");
    add_lines(&k, 21, 1);
    CHECK_HAS(draw(&k, 7, 60), "line 21");
    for (int i = 0; i < 6; i++)
        press(&k, UI_UP);
    CHECK(!strstr(draw(&k, 7, 60), "line 21"));
    CHECK_HAS(text_str(&k.seen), "line 15 ");
    CHECK_HAS(text_str(&k.seen), "line 19");
    add_lines(&k, 22, 3); /* what is read does not move away */
    CHECK_HAS(draw(&k, 7, 60), "line 15 ");
    press(&k, UI_END);
    CHECK_HAS(draw(&k, 7, 60), "line 24");
    finish(&k);
}

TEST(a_line_of_escape_sequences_is_harmless_at_every_size)
{
    struct kit k;

    start(&k);
    app_log(&k.app, LOG_WARN, "\033[2J a very long line \xe2\x80\xae that goes on and on and on");
    for (int rows = 0; rows < 12; rows++)
        for (int columns = 0; columns < 90; columns++)
            CHECK(!strchr(draw(&k, rows, columns), '\033'));
    press(&k, UI_RIGHT);
    CHECK_HAS(draw(&k, 5, 60), "…");
    finish(&k);
}
