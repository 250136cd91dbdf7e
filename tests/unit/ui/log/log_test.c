#include "base/io.h"
#include "base/mem.h"
#include "tests/test.h"
#include "ui/app/app_int.h"
#include "ui/app/screens.h"
#include "ui/log/logview_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    for (size_t i = 0; i < k->app.own->lines; i++) {
        struct app_line *line = &k->app.own->line[(k->app.own->line_first + i) % APP_LINES];

        free(line->from);
        free(line->text);
    }
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
    CHECK_HAS(draw(&k, 10, 60), "12:00:00 error: line 7");
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

TEST(the_file_of_it_does_not_grow_without_end)
{
    char folder[] = "/tmp/chorus-log-XXXXXX", line[4001];
    char *path, *old, *inner;
    struct kit k;
    struct stat st;

    CHECK(mkdtemp(folder));
    setenv("XDG_STATE_HOME", folder, 1);
    inner = io_path(folder, "chorus");
    path = io_path(inner, "workbench.log");
    old = io_path(inner, "workbench.log.1");
    start(&k);
    log_open(&k.app);
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = 0;
    for (int i = 0; i < 700; i++) /* 2.8 MB */
        app_log(&k.app, LOG_INFO, line);
    REQUIRE(stat(path, &st) == 0);
    CHECK(st.st_size < 1100000 && st.st_size > 0);
    REQUIRE(stat(old, &st) == 0);
    CHECK(st.st_size > 1000000 && st.st_size < 1100000);
    log_close(&k.app);
    k.app.own->lines = 0;
    finish(&k);
    unlink(path);
    unlink(old);
    rmdir(inner);
    rmdir(folder);
    free(path);
    free(old);
    free(inner);
}

static void some_talk(struct kit *k)
{
    app_log_from(&k->app, LOG_DEBUG, "2026-10-29-100000-000-lenet-0001", "epoch 1 of 3: fine");
    app_log_from(&k->app, LOG_DEBUG, "2026-10-29-100000-000-cnn-0002", "epoch 1 of 9: well");
    app_log_from(&k->app, LOG_INFO, "printed", "a library's own word");
    app_log(&k->app, LOG_WARN, "of nobody");
    app_log_from(&k->app, LOG_DEBUG, "2026-10-29-100000-000-lenet-0001", "epoch 2 of 3: better");
}

TEST(lines_say_from_whom_they_are)
{
    struct kit k;

    start(&k);
    some_talk(&k);
    CHECK_HAS(draw(&k, 10, 80), "12:00:00 lenet-0001 epoch 1 of 3: fine");
    CHECK_HAS(text_str(&k.seen), "12:00:00 printed    a library's own word");
    CHECK_HAS(text_str(&k.seen), "12:00:00            warning: of nobody");
    finish(&k);
}

TEST(a_name_of_any_length_is_kept_short_and_its_words_whole)
{
    char verb[8001];
    struct kit k;

    memset(verb, 'x', 8000);
    verb[8000] = 0;
    start(&k);
    app_log_from(&k.app, LOG_INFO, verb, verb);
    CHECK(text_width(app_log_line(&k.app, 0)->from) <= 300);
    CHECK_INT(strlen(app_log_line(&k.app, 0)->text), 8000);
    CHECK_HAS(draw(&k, 10, 80), "12:00:00 xxxxxxx…xxxxxxxx xxx");
    press(&k, 'f');
    press(&k, 'o'); /* is its own like still */
    CHECK_HAS(draw(&k, 10, 80), "1 line");
    finish(&k);
}

/* Where a message sends somebody to the log, that is the program's, all of it. */
TEST(the_whole_log_is_shown_where_it_is_told_of)
{
    struct logview *v;
    struct kit k;

    start(&k);
    v = k.screen;
    some_talk(&k);
    v->run = mem_text("lenet");
    v->filter = mem_text("epoch");
    v->only = mem_text("printed");
    screen_log.show(k.screen); /* as it was left */
    CHECK_HAS(draw(&k, 10, 80), "log of lenet, lines with \"epoch\"");
    screen_log_whole(k.screen);
    CHECK_HAS(draw(&k, 10, 80), "log of lenet"); /* it is not taken from whoever reads it */
    screen_log.show(k.screen);
    CHECK_HAS(draw(&k, 10, 80), " log ");
    CHECK_HAS(text_str(&k.seen), "5 lines");
    finish(&k);
}

TEST(those_of_one_run_alone)
{
    struct kit k;

    start(&k);
    some_talk(&k);
    draw(&k, 10, 80);
    press(&k, 'o'); /* the newest line's */
    CHECK_HAS(draw(&k, 10, 80), "log of lenet-0001");
    CHECK_HAS(text_str(&k.seen), "2 lines");
    CHECK_HAS(text_str(&k.seen), "12:00:00 epoch 1 of 3: fine");
    CHECK(!strstr(text_str(&k.seen), "epoch 1 of 9"));
    press(&k, 'o');
    CHECK_HAS(draw(&k, 10, 80), "5 lines");
    for (int i = 0; i < 3; i++)
        press(&k, UI_UP);
    press(&k, 'o'); /* the chosen line's */
    CHECK_HAS(draw(&k, 10, 80), "log of cnn-0002");
    press(&k, UI_ESC);
    CHECK_HAS(draw(&k, 10, 80), "5 lines");
    finish(&k);
}

static const char *hint(struct kit *k, const char *keys)
{
    for (const struct screen_key *h = screen_log.hints(k->screen); h->keys; h++)
        if (!strcmp(h->keys, keys))
            return h->hint;
    return "";
}

TEST(hints_tell_what_can_be_done)
{
    struct kit k;

    start(&k);
    draw(&k, 10, 80);
    CHECK_STR(hint(&k, "Enter"), "");
    CHECK_STR(hint(&k, "f"), "");
    CHECK_STR(hint(&k, "o"), "");
    CHECK_STR(hint(&k, "L"), "run's log");
    app_log(&k.app, LOG_WARN, "of nobody");
    draw(&k, 10, 80);
    CHECK_STR(hint(&k, "Enter"), "whole");
    CHECK_STR(hint(&k, "o"), "");
    some_talk(&k);
    draw(&k, 10, 80);
    CHECK_STR(hint(&k, "f"), "hold");
    CHECK_STR(hint(&k, "o"), "only");
    press(&k, 'f');
    CHECK_STR(hint(&k, "f"), "follow");
    press(&k, 'f');
    press(&k, 'o');
    draw(&k, 10, 80);
    CHECK_STR(hint(&k, "o"), "all lines");
    finish(&k);
}

TEST(a_long_name_leaves_the_title_its_ends)
{
    struct kit k;

    start(&k);
    app_log_from(
        &k.app, LOG_INFO,
        "2026-10-29-100000-000-a-name-that-has-no-room-in-any-title-of-eighty-columns-0001",
        "epoch 1 of 3: fine");
    draw(&k, 10, 80);
    press(&k, 'o');
    CHECK_HAS(draw(&k, 10, 80), "log of a-name-that-has-no-r");
    CHECK_HAS(text_str(&k.seen), "columns-0001 ─ follows, 1 line ─");
    finish(&k);
}

TEST(no_more_than_so_many_are_kept)
{
    struct kit k;

    start(&k);
    for (int i = 0; i < APP_LINES + 50; i++)
        app_log_from(&k.app, LOG_INFO, "somebody", "again");
    CHECK_INT(app_log_lines(&k.app), APP_LINES);
    CHECK_INT(app_log_count(&k.app), APP_LINES + 50);
    CHECK_HAS(draw(&k, 10, 80), "of the newest, 4000 lines");
    finish(&k);
}
