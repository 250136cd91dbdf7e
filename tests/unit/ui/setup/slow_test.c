/* A folder on a disk that does not answer: keys go on being taken, and what comes late comes in order
 * or, where it is of no use any more, not at all. */
#include "record/queue/queue.h"
#include "ui/app/app_int.h"
#include "tests/unit/ui/setup/setup_kit.h"
#include "ui/app/screens.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t here;
static int on_this_thread; /* how often it went to the slow disk */

static void go_to(const char *path)
{
    if (!strstr(path, "slow"))
        return;
    if (pthread_equal(pthread_self(), here)) {
        on_this_thread++;
        return;
    }
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static int slow_stat(const char *path, struct stat *st)
{
    go_to(path);
    return stat(path, st);
}

static int slow_open(const char *path, int flags, mode_t mode)
{
    go_to(path);
    return open(path, flags, mode);
}

static void put(const char *path, const char *text)
{
    struct err e;

    REQUIRE_OK(io_replace_file(path, text, strlen(text), &e));
}

static void start(void)
{
    here = pthread_self();
    io.stat = slow_stat;
    io.open = slow_open;
    kit_start();
    REQUIRE(mkdir("slow", 0777) == 0);
    put("slow/abc.net", "input auto\nparam width 8\ndense classes\n");
    put("slow/abd.net", "input auto\ndense classes\n");
    put("fast.ini", "epochs = 5\n");
    put("slow.ini", "epochs = 3\n");
    tasks_patience(kit.app.tasks, 10);
    on_this_thread = 0;
    pthread_mutex_lock(&gate);
}

/* Without a look at what tasks have done. */
static void press(const char *words)
{
    char *copy = mem_text(words), *rest = copy, *word;

    while ((word = strsep(&rest, " "))) {
        struct key key = {0};

        bool named = key_parse(word, &key);

        if (named)
            screen_setup.key(kit.setup, &key);
        for (const char *p = word; !named && *p; p++)
            screen_setup.key(kit.setup, &(struct key){.code = (unsigned char)*p});
    }
    free(copy);
}

static void answer(void)
{
    pthread_mutex_unlock(&gate);
    kit_settle();
}

static void end(void)
{
    CHECK_INT(on_this_thread, 0);
    kit_end();
}

static void open_model(void)
{
    setup_choose(kit.setup, (size_t)form_find(&kit.setup->form, "model"));
    press("Enter");
}

TEST(names_of_files_may_come_late)
{
    uint64_t began;

    start();
    tasks_patience(kit.app.tasks, 100);
    open_model();
    press("Backspace slow/a");
    began = clock_ns();
    press("Tab");
    CHECK_HAS(kit_draw(24, 80), "looking for it");
    for (int i = 0; i < 100; i++) /* each takes its turn, and no time: else 200 times 100 ms */
        press("Left Right");
    CHECK((clock_ns() - began) / 1000000 < 15000);
    answer();
    CHECK_STR(text_str(&kit.setup->line.text), "slow/ab");
    CHECK_HAS(kit_draw(24, 80), "abc.net  abd.net");
    press("Esc");
    end();
}

/* A folder would do as a model's path, by its form: what is in it is shown before Tab goes on. */
TEST(what_there_is_to_choose_from_is_seen_before_tab_goes_on)
{
    start();
    pthread_mutex_unlock(&gate);
    open_model();
    press("Backspace slow/ab Tab"); /* nothing to add */
    kit_settle();
    CHECK(kit.setup->open);
    CHECK_STR(text_str(&kit.setup->line.text), "slow/ab");
    CHECK_HAS(kit_draw(24, 80), "abc.net  abd.net");
    press("Tab");
    kit_settle();
    CHECK(strcmp(kit.setup->at, "model") != 0);
    press("Esc");
    end();
}

TEST(what_was_typed_meanwhile_stands)
{
    start();
    open_model();
    press("Backspace slow/a Tab b d");
    CHECK_STR(text_str(&kit.setup->line.text), "slow/abd");
    answer();
    CHECK_STR(text_str(&kit.setup->line.text), "slow/abd");
    press("Tab");
    kit_settle();
    CHECK_STR(text_str(&kit.setup->line.text), "slow/abd.net");
    press("Esc");
    end();
}

TEST(a_field_that_was_left_takes_no_late_answer)
{
    start();
    open_model();
    press("Backspace slow/a Tab Esc");
    CHECK(!kit.setup->open);
    answer();
    CHECK(!kit.setup->open);
    CHECK_INT(form_changed(&kit.setup->form, (size_t)form_find(&kit.setup->form, "model")), 0);
    end();
}

TEST(a_model_is_read_beside_the_keys)
{
    start();
    open_model();
    press("Backspace slow/abc.net");
    CHECK_INT(form_find(&kit.setup->form, "model.width"), -1);
    press("Enter");
    CHECK(!kit.setup->open); /* it is taken all the same */
    answer();
    CHECK(form_find(&kit.setup->form, "model.width") >= 0);
    press("z");
    CHECK_HAS(kit_draw(45, 160), "model.width");
    end();
}

TEST(a_file_may_be_loaded_late_and_the_last_one_stays)
{
    start();
    setup_load_path(kit.setup, "slow.ini");
    setup_load_path(kit.setup, "fast.ini"); /* in the order in which they were asked */
    CHECK_STR(kit.setup->form.path, "built-in experiment first");
    answer();
    CHECK_STR(kit.setup->form.path, "fast.ini");
    end();
}

TEST(a_form_is_saved_late)
{
    start();
    REQUIRE(mkdir("experiments", 0777) == 0);
    press("S");
    kit.entered(kit.user, "slow/saved.ini");
    CHECK_STR(kit.said, "");
    answer();
    CHECK_HAS(kit.said, "written to slow/saved.ini");
    press("S");
    kit.entered(kit.user, "slow/saved.ini");
    kit_settle();
    CHECK_HAS(kit.question, "is there already");
    end();
}

TEST(a_screen_that_is_gone_is_told_nothing)
{
    start();
    open_model();
    press("Backspace slow/a Tab");
    setup_load_path(kit.setup, "slow.ini");
    screen_setup.close(kit.setup);
    pthread_mutex_unlock(&gate);
    kit.setup = screen_setup.open(&kit.app);
    kit_settle();
    kit_end();
}

/* ---- lists of a hundred thousand values: whoever checks them is held up too ---- */

static void at_gate(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void passed(void *arg, bool dropped)
{
    (void)arg;
    (void)dropped;
}

static size_t values_of(const char *key)
{
    const struct spec_sweep *s = &kit.setup->form.sweep;

    for (size_t a = 0; a < s->axes; a++)
        if (!strcmp(s->axis[a].key, key))
            return s->axis[a].values;
    return 0;
}

static void start_list(void)
{
    start();
    tasks_try(kit.app.tasks, at_gate, passed, NULL);
    setup_choose(kit.setup, (size_t)form_find(&kit.setup->form, "lr"));
    press("Enter Backspace lin:0.001:1:100000");
}

TEST(a_long_list_is_checked_beside_the_keys)
{
    start_list();
    CHECK_STR(text_str(&kit.setup->line.text), "lin:0.001:1:100000");
    CHECK_HAS(kit_draw(24, 80), "its 100,000 values are being looked at");
    press("Enter"); /* typed ahead */
    CHECK(kit.setup->open);
    answer();
    CHECK(!kit.setup->open);
    CHECK_INT(values_of("lr"), 100000);
    CHECK_HAS(kit_draw(24, 80), "100,000");
    press("u");
    CHECK_INT(values_of("lr"), 0);
    end();
}

TEST(a_long_list_that_is_wrong_stays_open_and_says_why)
{
    start_list();
    press("Backspace Backspace Backspace Backspace Backspace Backspace 200000,0.5,0.5 Enter");
    answer();
    CHECK(kit.setup->open);
    CHECK_HAS(kit.setup->typed.text, "twice");
    press("Esc");
    CHECK_INT(form_changed(&kit.setup->form, (size_t)form_find(&kit.setup->form, "lr")), 0);
    end();
}

TEST(a_long_list_that_was_left_is_not_taken)
{
    start_list();
    press("Esc");
    answer();
    CHECK(!kit.setup->open);
    CHECK_INT(values_of("lr"), 0);
    end();
}

TEST(a_file_with_a_long_list_is_made_into_a_form_beside_the_keys)
{
    start();
    put("long.ini", "lr = lin:0.001:1:100000\n");
    tasks_try(kit.app.tasks, at_gate, passed, NULL);
    setup_load_path(kit.setup, "long.ini");
    press("j k");
    CHECK_STR(kit.setup->form.path, "built-in experiment first");
    answer();
    CHECK_STR(kit.setup->form.path, "long.ini");
    CHECK_INT(values_of("lr"), 100000);
    CHECK(!form_dirty(&kit.setup->form));
    end();
}

/* ---- q asks the disk whether something waits in the queue ---- */

size_t feed_count(const struct feed *f)
{
    (void)f;
    return 0;
}

struct feed_run *feed_at(struct feed *f, size_t i)
{
    (void)f;
    (void)i;
    return NULL;
}

bool train_begins(const struct app *app)
{
    (void)app;
    return false;
}

size_t train_tell(const struct app *app, struct text *words)
{
    (void)app;
    (void)words;
    return 0;
}

void train_tick(struct app *app)
{
    (void)app;
}

struct feed_work feed_work(const struct feed *f)
{
    (void)f;
    return (struct feed_work){0};
}

static void start_quit(void)
{
    static struct app_int own;

    start();
    own = (struct app_int){.popup = POPUP_NONE};
    kit.app.own = &own;
    kit.app.screen[SCREEN_SETUP] = kit.setup;
    kit.app.jobs = jobs_new("chorus", NULL, NULL);
    tasks_try(kit.app.tasks, at_gate, passed, NULL);
    app_quit(&kit.app);
    CHECK(!kit.app.over);
    CHECK_HAS(kit.said, "q again leaves");
}

static void end_quit(void)
{
    jobs_free(kit.app.jobs);
    end();
}

TEST(q_leaves_when_the_disk_has_answered)
{
    start_quit();
    answer();
    CHECK(kit.app.over);
    end_quit();
}

TEST(a_second_q_does_not_wait_for_the_disk)
{
    start_quit();
    app_quit(&kit.app);
    CHECK(kit.app.over);
    kit.app.over = false; /* as if its question were cancelled: what comes late asks nothing */
    answer();
    CHECK(!kit.app.over);
    end_quit();
}

TEST(what_was_begun_before_the_disk_has_answered_is_asked_about)
{
    start_quit();
    kit.busy = true;
    answer();
    CHECK(!kit.app.over);
    CHECK_HAS(kit.question, "lenet-a35b trains here.");
    end_quit();
}

TEST(what_waits_behind_what_runs_is_told_of)
{
    struct err e;

    start_quit();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1\n", "waits", NULL, &e));
    kit.busy = true;
    answer();
    CHECK_HAS(kit.question,
              "lenet-a35b trains here. How do you want to leave? Where it is stopped, 1 queued "
              "experiment begins with the next chorus.");
    end_quit();
}

/* It is no answer to a person who presses it again and again, and loses nothing. */
TEST(a_second_ctrl_c_stops_what_runs_and_leaves_unless_something_is_lost)
{
    for (int unsaved = 0; unsaved < 2; unsaved++) {
        start_quit();
        kit.busy = true;
        answer();
        kit.app.own->on_answer = kit.chosen;
        CHECK(strstr(kit.question, "How do you want to leave?"));
        if (!unsaved) {
            CHECK_HAS(kit.question, "Ctrl-C again stops it now.");
            CHECK_INT(quit_interrupt(&kit.app), 1);
            kit.chosen(kit.user, 1);
            CHECK(kit.app.over && kit.app.own->end == APP_STOP);
        }
        kit.app.over = false;
        if (unsaved) {
            kit.setup->nowhere = true;
            kit.setup->form.from = FORM_QUEUE;
            CHECK_INT(quit_interrupt(&kit.app), APP_ANSWERS);
            CHECK_HAS(kit.said, "only where nothing would be lost");
        }
        end_quit();
    }
}

TEST(what_waits_is_kept_by_a_second_ctrl_c)
{
    struct err e;

    start_quit();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1\n", "waits", NULL, &e));
    answer();
    kit.app.own->on_answer = kit.chosen;
    CHECK_HAS(kit.question, "Ctrl-C again keeps it, and leaves.");
    CHECK_INT(quit_interrupt(&kit.app), 1);
    kit.app.own->on_answer = NULL;
    CHECK_INT(quit_interrupt(&kit.app), -1);
    end_quit();
}

TEST(what_this_program_looks_at_itself_is_stranded_without_it)
{
    struct err e;
    int fd;

    start_quit();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1\n", "waits", NULL, &e));
    REQUIRE_OK(record_queue_own(kit.folder, &fd, NULL, &e));
    answer();
    record_queue_release(fd);
    CHECK(!kit.app.over);
    CHECK_HAS(kit.question,
              "1 experiment waits in the queue, behind what another program computes");
    end_quit();
}

/* Full disks may be mended while a process waits; what is read-only no process takes from. */
TEST(why_nothing_is_taken_from_the_queue_is_said_as_it_is)
{
    struct wire_queue queue = {.state = WIRE_QUEUE_HELD, .reason = "the disk is full in results"};
    struct err e;
    int fd;

    for (int lasts = 0; lasts < 2; lasts++) {
        start_quit();
        REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1\n", "waits", NULL, &e));
        REQUIRE_OK(record_queue_own(kit.folder, &fd, NULL, &e));
        queue.lasts = lasts;
        wire_set_queue(kit.app.config.wire, &queue);
        answer();
        record_queue_release(fd);
        CHECK_INT(kit.app.over, lasts);
        if (!lasts)
            CHECK_HAS(kit.question, "1 experiment waits in the queue (the disk is full in results)"
                                    "; nobody else would take from it.");
        end_quit();
    }
}

TEST(what_becomes_of_a_stop_after_the_cells_is_told_of)
{
    struct wire_sweep_status status = {
        .sweep = 7, .state = WIRE_RUNNING, .name = "board", .wish = WIRE_WISH_STOP_CELLS};

    start_quit();
    kit.busy = true;
    wire_set_sweep(kit.app.config.wire, &status);
    answer();
    CHECK_HAS(kit.question, "Left running, the sweep's running cells go on to their ends, and no "
                            "further one begins.");
    end_quit();
}

TEST(another_chorus_that_takes_what_waits_is_told_of)
{
    int ready[2], fd;
    pid_t child;
    char byte;
    struct err e;

    start_quit();
    REQUIRE_OK(record_queue_add(kit.folder, "lr = 0.1\n", "waits", NULL, &e));
    REQUIRE(pipe(ready) == 0);
    child = fork();
    if (child == 0) {
        if (record_queue_own(kit.folder, &fd, NULL, &e) == ERR_OK && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    kit.busy = true;
    answer();
    CHECK_HAS(kit.question, "1 queued experiment begins with the other chorus that is open.");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    end_quit();
}
