/* 'w': what is seen is copied at once and written by another thread, however slow the disk. */
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "tests/test.h"
#include "ui/app/app_int.h"
#include "ui/app/screens.h"
#include "ui/screens.h"
#include "ui/setup/setup_int.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t here;
static int on_this_thread;

static int slow_stat(const char *path, struct stat *st)
{
    if (pthread_equal(pthread_self(), here)) {
        on_this_thread++;
    } else {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    return stat(path, st);
}

struct kit {
    struct app app;
    char folder[64], *settings;
};

static void start(struct kit *k)
{
    *k = (struct kit){.app = {.config.screens = ui_screens, .shown = SCREEN_LOG}};
    here = pthread_self();
    io.stat = slow_stat;
    strcpy(k->folder, "/tmp/chorus-write-XXXXXX");
    REQUIRE(mkdtemp(k->folder));
    k->settings = io_path(k->folder, "settings");
    k->app.own = mem_new(1, sizeof *k->app.own);
    k->app.settings = settings_open(k->settings);
    k->app.tasks = tasks_new();
    k->app.screen[SCREEN_LOG] = screen_log.open(&k->app);
    app_resize(&k->app, 24, 80);
    on_this_thread = 0;
}

static void press(struct kit *k, int32_t code)
{
    CHECK(popup_key(&k->app, &(struct key){.code = code}));
}

static void write_as(struct kit *k, const char *name)
{
    char *path = io_path(k->folder, name);

    command_write(&k->app);
    press(k, 21); /* Ctrl-U */
    for (const char *p = path; *p; p++)
        press(k, *p);
    press(k, UI_ENTER);
    free(path);
}

static void settle(struct kit *k)
{
    while (!tasks_idle(k->app.tasks)) {
        struct pollfd fd = {.fd = tasks_fd(k->app.tasks), .events = POLLIN};

        poll(&fd, 1, 100);
        tasks_take(k->app.tasks);
    }
}

static void finish(struct kit *k)
{
    char *remove = mem_textf("rm -rf %s", k->folder);

    CHECK_INT(on_this_thread, 0);
    tasks_free(k->app.tasks);
    command_close(&k->app);
    popup_close(&k->app);
    screen_log.close(k->app.screen[SCREEN_LOG]);
    settings_close(k->app.settings);
    line_free(&k->app.own->typed);
    text_free(&k->app.own->label);
    text_free(&k->app.own->question);
    text_free(&k->app.own->page);
    text_free(&k->app.own->several);
    popup_forget(&k->app);
    grid_free(&k->app.own->grid);
    free(k->app.own);
    free(k->settings);
    CHECK_INT(system(remove), 0);
    free(remove);
}

TEST(a_slow_disk_holds_up_nothing_and_gets_what_was_seen)
{
    struct kit k;
    uint64_t began;
    char *path, *bytes;
    struct err e;
    size_t n;

    start(&k);
    grid_text(&k.app.own->grid, grid_all(&k.app.own->grid), 0, 0, GRID_TEXT, "what was seen");
    pthread_mutex_lock(&gate);
    began = clock_ns();
    write_as(&k, "a.txt");
    CHECK((clock_ns() - began) / 1000000 <
          10000); /* else it would wait for this thread, for ever */
    grid_clear(&k.app.own->grid);
    CHECK_STR(k.app.own->said, "");
    pthread_mutex_unlock(&gate);
    settle(&k);
    CHECK_HAS(k.app.own->said, "written: ");
    path = io_path(k.folder, "a.txt");
    REQUIRE_OK(io_read_file(path, 1 << 20, &bytes, &n, &e));
    CHECK_HAS(bytes, "what was seen");
    free(bytes);
    free(path);
    finish(&k);
}

TEST(a_copy_of_the_screen_has_its_hints_where_the_path_was_asked_for)
{
    static const char *const names[] = {"a.txt", "b.svg"};
    struct kit k;

    start(&k);
    for (int i = 0; i < 2; i++) {
        char *path = io_path(k.folder, names[i]), *bytes;
        struct err e;
        size_t n;

        command_write(&k.app);
        popup_draw(&k.app, &k.app.own->grid);
        popup_key(&k.app, &(struct key){.code = UI_ESC});
        write_as(&k, names[i]);
        settle(&k);
        REQUIRE_OK(io_read_file(path, 1 << 20, &bytes, &n, &e));
        CHECK(!strstr(bytes, "write ("));
        CHECK_HAS(bytes, "command");
        free(bytes);
        free(path);
    }
    finish(&k);
}

TEST(a_file_that_is_there_is_asked_about)
{
    struct kit k;

    start(&k);
    write_as(&k, "a.txt");
    settle(&k);
    write_as(&k, "a.txt");
    settle(&k);
    REQUIRE(k.app.own->popup == POPUP_ASK);
    CHECK_HAS(text_str(&k.app.own->question), "is there already");
    press(&k, UI_ENTER);
    settle(&k);
    CHECK_HAS(k.app.own->said, "written: ");
    write_as(&k, "a.txt");
    settle(&k);
    press(&k, UI_ESC);
    write_as(&k, "a.txt"); /* and once more, with the question open to the end */
    settle(&k);
    CHECK(k.app.own->popup == POPUP_ASK);
    finish(&k);
}

TEST(an_empty_file_is_not_asked_about)
{
    struct kit k;
    char *path;

    start(&k);
    path = io_path(k.folder, "a.txt");
    fclose(fopen(path, "w"));
    write_as(&k, "a.txt");
    settle(&k);
    CHECK_HAS(k.app.own->said, "written: ");
    free(path);
    finish(&k);
}

TEST(a_late_question_does_not_come_over_what_is_typed)
{
    struct kit k;

    start(&k);
    write_as(&k, "a.txt");
    settle(&k);
    pthread_mutex_lock(&gate);
    write_as(&k, "a.txt");
    command_write(&k.app);
    press(&k, 'x');
    pthread_mutex_unlock(&gate);
    settle(&k);
    CHECK(k.app.own->popup == POPUP_PROMPT);
    CHECK_HAS(k.app.own->said, "stays as it is");
    finish(&k);
}

static bool holds(const struct kit *k, const char *name, const char *words)
{
    char *path = io_path(k->folder, name), *bytes = NULL;
    struct err e;
    size_t n;
    bool has = io_read_file(path, 1 << 20, &bytes, &n, &e) == ERR_OK && strstr(bytes, words);

    free(bytes);
    free(path);
    return has;
}

TEST(of_two_late_files_that_are_there_the_first_alone_is_asked_about)
{
    struct kit k;
    struct setup *setup = mem_new(1, sizeof *setup);

    start(&k);
    write_as(&k, "a.txt");
    write_as(&k, "b.txt");
    settle(&k);
    grid_text(&k.app.own->grid, grid_all(&k.app.own->grid), 0, 0, GRID_TEXT, "what is new");
    write_as(&k, "a.txt");
    write_as(&k, "b.txt");
    k.app.shown = SCREEN_SETUP;
    k.app.screen[SCREEN_SETUP] = setup;
    setup->open = true; /* a field: questions wait */
    settle(&k);
    CHECK_HAS(k.app.own->said, "b.txt is there already, and stays as it is");
    setup->open = false;
    popup_next(&k.app);
    REQUIRE(k.app.own->popup == POPUP_ASK);
    CHECK_HAS(text_str(&k.app.own->question), "a.txt is there already");
    press(&k, UI_ENTER);
    popup_next(&k.app);
    CHECK(k.app.own->popup == POPUP_NONE);
    settle(&k);
    CHECK(holds(&k, "a.txt", "what is new"));
    CHECK(!holds(&k, "b.txt", "what is new"));
    k.app.shown = SCREEN_LOG;
    free(setup);
    finish(&k);
}

static void take_answer(void *user, int answer)
{
    (void)user;
    (void)answer;
}

static void note_answer(void *user, int answer)
{
    *(int *)user = answer;
}

TEST(what_comes_by_itself_waits_for_what_is_typed_or_read)
{
    static const char *const answers[] = {"run it beside", "cancel", NULL};
    struct kit k;
    int answered = 7;

    start(&k);
    command_write(&k.app);
    app_page(&k.app, "late", "words");
    app_ask(&k.app, "later still", answers, note_answer, &answered);
    app_ask(&k.app, "never", answers, take_answer, NULL);
    popup_next(&k.app);
    press(&k, 'r');
    CHECK(k.app.own->popup == POPUP_PROMPT);
    CHECK_STR(text_str(&k.app.own->typed.text), "log.txtr");
    press(&k, UI_ESC);
    popup_next(&k.app);
    REQUIRE(k.app.own->popup == POPUP_PAGE);
    press(&k, 'r'); /* keys that mean nothing to the page leave it there */
    popup_next(&k.app);
    CHECK(k.app.own->popup == POPUP_PAGE);
    press(&k, ':');
    CHECK(k.app.own->popup == POPUP_PROMPT);
    CHECK_STR(text_str(&k.app.own->label), "chorus");
    app_ask_end(&k.app, take_answer);
    press(&k, UI_ESC);
    popup_next(&k.app);
    REQUIRE(k.app.own->popup == POPUP_ASK);
    CHECK_INT(answered, 7);
    press(&k, ':'); /* letters behind it are a command's, no answers */
    CHECK_INT(answered, -1);
    CHECK(k.app.own->popup == POPUP_PROMPT);
    press(&k, UI_ESC);
    popup_next(&k.app);
    CHECK(k.app.own->popup == POPUP_NONE);
    finish(&k);
}

TEST(a_question_takes_the_place_of_an_earlier_one_to_the_same_handler)
{
    static const char *const answers[] = {"yes", "no", NULL};
    struct kit k;
    int answered = 7;

    start(&k);
    app_ask(&k.app, "the first", answers, note_answer, &answered);
    app_ask(&k.app, "the second", answers, note_answer, &answered);
    CHECK_STR(text_str(&k.app.own->question), "the second");
    press(&k, UI_ENTER);
    popup_next(&k.app);
    CHECK(k.app.own->popup == POPUP_NONE);
    finish(&k);
}

/* Keys that are under way mean what they meant. */
TEST(a_question_that_is_worded_anew_keeps_the_answer_that_is_chosen)
{
    static const char *const answers[] = {"behind it", "run it beside", "cancel", NULL};
    static const char *const later[] = {"behind what waits", "run it now", "cancel", NULL};
    struct kit k;
    int answered = 7;

    start(&k);
    app_ask(&k.app, "one computes", answers, note_answer, &answered);
    press(&k, UI_DOWN);
    app_ask_renew(&k.app, "it has ended", later, note_answer);
    CHECK_STR(text_str(&k.app.own->question), "it has ended");
    CHECK_STR(k.app.own->answer[1], "run it now");
    press(&k, UI_ENTER);
    CHECK_INT(answered, 1);
    CHECK(k.app.own->popup == POPUP_NONE);
    app_page(&k.app, "read", "words");
    app_ask(&k.app, "one computes", answers, note_answer, &answered); /* which waits */
    app_ask_renew(&k.app, "it has ended", later, note_answer);
    press(&k, UI_ESC);
    popup_next(&k.app);
    CHECK_STR(text_str(&k.app.own->question), "it has ended");
    CHECK_STR(k.app.own->answer[0], "behind what waits");
    press(&k, UI_ESC);
    finish(&k);
}

TEST(q_leaves_a_question_without_an_answer)
{
    static const char *const answers[] = {"queue it", "no", NULL};
    struct kit k;
    int answered = 7;

    start(&k);
    app_ask(&k.app, "the first", answers, note_answer, &answered);
    press(&k, 'q');
    CHECK_INT(answered, -1);
    CHECK(k.app.own->popup == POPUP_NONE);
    finish(&k);
}

static void add_slowly(const char *text, struct text *more, struct text *several)
{
    (void)several;
    struct stat st;

    (void)text;
    slow_stat("/", &st);
    text_add(more, "-and-more");
}

static void take_text(void *user, const char *text)
{
    (void)user;
    (void)text;
}

TEST(a_prompt_completes_late_or_not_at_all)
{
    struct kit k;

    start(&k);
    tasks_patience(k.app.tasks, 10);
    app_prompt(&k.app, "file", "abc", take_text, add_slowly, NULL);
    pthread_mutex_lock(&gate);
    press(&k, UI_TAB);
    CHECK_STR(text_str(&k.app.own->typed.text), "abc");
    pthread_mutex_unlock(&gate);
    settle(&k);
    CHECK_STR(text_str(&k.app.own->typed.text), "abc-and-more");
    pthread_mutex_lock(&gate);
    press(&k, UI_TAB);
    press(&k, '!');
    pthread_mutex_unlock(&gate);
    settle(&k);
    CHECK_STR(text_str(&k.app.own->typed.text), "abc-and-more!");
    finish(&k);
}

static void answered(void *user, int answer)
{
    *(int *)user = answer;
}

/* Of clicks that come in one go none waits for the drawing of what those before it opened. */
TEST(a_click_answers_no_question_that_is_not_drawn)
{
    static const char *const four[] = {"a", "b", "c", "d", NULL}, *const two[] = {"a", "b", NULL};
    struct key twice = {.code = UI_CLICK, .again = true};
    struct kit k;
    int got = -2;

    start(&k);
    app_ask(&k.app, "Which of four?", four, answered, &got);
    popup_draw(&k.app, &k.app.own->grid);
    twice.row = k.app.own->answers_at.row + 3;
    twice.column = k.app.own->answers_at.column;
    popup_key(&k.app, &twice);
    CHECK_INT(got, 3);
    got = -2;
    app_ask(&k.app, "Which of two?", two, answered, &got);
    popup_key(&k.app, &twice);
    CHECK_INT(got, -2);
    CHECK_INT(k.app.own->chosen, 0);
    popup_close(&k.app);
    finish(&k);
}
