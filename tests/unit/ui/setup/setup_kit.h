/* tests/unit/ui/setup/setup_kit.h: the Setup screen without a loop: what it says to the workbench is kept,
 * questions are answered by a planner of formulas, tasks are waited for. */
#ifndef CHORUS_TESTS_UNIT_UI_SETUP_SETUP_KIT_H
#define CHORUS_TESTS_UNIT_UI_SETUP_SETUP_KIT_H

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "engine/forecast/forecast.h"
#include "net/net.h"
#include "tests/test.h"
#include "ui/app/claim.h"
#include "ui/app/screens.h"
#include "ui/app/status.h"
#include "ui/setup/setup_int.h"

#include <poll.h>
#include <stdarg.h>
#include <unistd.h>

struct kit_had { /* a cell that has a result */
    uint32_t cell;
    enum wire_state state;
};

static struct {
    struct app app;
    struct setup *setup;
    struct grid grid;
    char folder[64]; /* results, and where we are */
    char *here;      /* where we were */
    char said[1024], logged[1024], question[1024], prompt[1024], page[8192];
    int said_role, shown, asked; /* asked: questions of the wire */
    void (*chosen)(void *user, int answer);
    void (*entered)(void *user, const char *text);
    void *user;
    bool busy, refuse_data;
    size_t queued; /* that the status line was told of */
    int guessed_from;
    struct kit_had had[8]; /* (had_count) what its sweep has from before */
    uint32_t had_count;
    uint32_t runs;
    struct wire_start started;
    struct wire_sweep *sweep;
    uint64_t ns;
    void (*before_said)(void);
} kit;

/* ---- the workbench ---- */

double app_wall(const struct app *app)
{
    (void)app;
    return 0;
}

uint64_t app_ns(const struct app *app)
{
    (void)app;
    return kit.ns ? kit.ns : clock_ns();
}

void app_show(struct app *app, int screen)
{
    app->shown = kit.shown = screen;
}

bool app_open(const struct app *app, int screen, const struct screen_request *request)
{
    return screen == SCREEN_SETUP && screen_setup.take(app->screen[screen], request);
}

void app_say(struct app *app, int role, const char *fmt, ...)
{
    va_list args;

    (void)app;
    if (kit.before_said)
        kit.before_said();
    va_start(args, fmt);
    vsnprintf(kit.said, sizeof kit.said, fmt, args);
    va_end(args);
    kit.said_role = role;
}

void app_unsay(struct app *app, const char *words)
{
    (void)app;
    if (!strcmp(kit.said, words))
        kit.said[0] = 0;
}

void app_log(struct app *app, int level, const char *line)
{
    (void)app;
    (void)level;
    snprintf(kit.logged, sizeof kit.logged, "%s", line);
}

void app_ask(struct app *app, const char *question, const char *const *answers,
             void (*chosen)(void *user, int answer), void *user)
{
    struct text t = {0};

    (void)app;
    text_add(&t, question);
    for (int i = 0; answers[i]; i++) {
        CHECK(answers[i][0] != 'q'); /* that leaves the box */
        for (int k = 0; k < i; k++)
            CHECK(answers[i][0] != answers[k][0]); /* chosen by their first letters */
        text_addf(&t, " [%s]", answers[i]);
    }
    snprintf(kit.question, sizeof kit.question, "%s", text_str(&t));
    kit.chosen = chosen;
    kit.user = user;
    text_free(&t);
}

void app_ask_renew(struct app *app, const char *question, const char *const *answers,
                   void (*chosen)(void *user, int answer))
{
    CHECK(kit.chosen == chosen);
    app_ask(app, question, answers, chosen, kit.user);
}

void app_ask_end(struct app *app, void (*chosen)(void *user, int answer))
{
    (void)app;
    if (kit.chosen == chosen)
        kit.question[0] = 0;
}

void app_prompt(struct app *app, const char *label, const char *text,
                void (*entered)(void *user, const char *text),
                void (*complete)(const char *text, struct text *more, struct text *several),
                void *user)
{
    (void)app;
    (void)complete;
    snprintf(kit.prompt, sizeof kit.prompt, "%s: %s", label, text);
    kit.entered = entered;
    kit.user = user;
}

void app_prompt_again(struct app *app, const char *text)
{
    (void)app;
    snprintf(kit.prompt, sizeof kit.prompt, "again: %s", text);
}

uint64_t app_entered(const struct app *app)
{
    (void)app;
    return 0;
}

void app_enter_again(struct app *app, uint64_t entered)
{
    (void)app;
    CHECK_INT(entered, 0);
}

uint64_t app_keyed(const struct app *app)
{
    (void)app;
    return 0;
}

bool app_waits(const struct app *app, int screen, uint64_t keyed)
{
    (void)app;
    CHECK_INT(screen, SCREEN_SETUP);
    return keyed == 0;
}

void app_page(struct app *app, const char *title, const char *lines)
{
    (void)app;
    (void)title;
    snprintf(kit.page, sizeof kit.page, "%s", lines);
}

void app_renew_page(struct app *app, const char *title, void (*write)(void *user, struct text *out),
                    void *user)
{
    struct text lines = {0};

    if (!kit.page[0])
        return;
    write(user, &lines);
    app_page(app, title, text_str(&lines));
    text_free(&lines);
}

bool feed_busy(struct feed *f)
{
    (void)f;
    return kit.busy;
}

void status_add_busy(struct feed *f, struct text *out)
{
    (void)f;
    text_add(out, "lenet-a35b trains here.");
}

void feed_set_queued(struct feed *f, size_t count)
{
    (void)f;
    kit.queued = count;
}

struct feed_run *feed_current(struct feed *f)
{
    static struct feed_run run;

    (void)f;
    run = (struct feed_run){.own = true};
    snprintf(run.name, sizeof run.name, "lenet-a35b");
    return kit.busy ? &run : NULL;
}

uint32_t feed_start_run(struct feed *f, const struct wire_start *start, struct err *e)
{
    (void)f;
    (void)e;
    kit.started = *start;
    return ++kit.runs;
}

uint32_t feed_start_sweep(struct feed *f, const struct wire_sweep *sweep, size_t bytes,
                          struct err *e)
{
    (void)f;
    (void)e;
    free(kit.sweep);
    kit.sweep = mem_new(1, bytes);
    memcpy(kit.sweep, sweep, bytes);
    return ++kit.runs;
}

/* ---- the planner: 60,000 images, 129,068 parameters, a second for 100,000 model-images ---- */

static struct wire_sweep *kit_asks; /* what is asked about */

static inline void kit_price(void *user, const struct spec *s, struct wire_plan *p)
{
    (void)user;
    *p = (struct wire_plan){.images = 60000,
                            .test_images = 10000,
                            .h = 28,
                            .w = 28,
                            .c = 1,
                            .classes = 10,
                            .batch = spec_batch(s),
                            .epochs = s->epochs,
                            .devices = s->devices,
                            .real_devices = 1,
                            .threads = 2,
                            .parameters = 129068,
                            .bytes_per_device = 12300000,
                            .flops_per_image = 1.071e7,
                            .guessed_from = kit.guessed_from};
    strcpy(p->backend, "fake");
    if (s->threads > 8)
        strcpy(p->crowding, "9 threads on 8 cores: threads = all is faster");
    else if (kit_asks->jobs > 1 && s->threads > 4)
        strcpy(p->crowding, "2 cells of 5 threads each on 8 cores: threads = all is faster");
    if (kit.refuse_data && strcmp(s->data, "synthetic") != 0) {
        p->code = ERR_INPUT;
        snprintf(p->error, sizeof p->error,
                 "data set %.40s is not here (looked in /usr/share): chorus data fetch %.40s",
                 s->data, s->data);
    }
    p->ensemble = s->mode == SPEC_ENSEMBLE;
    p->members = p->ensemble ? (s->members ? s->members : s->devices) : 1;
    p->batch_per_device = p->ensemble ? p->batch : p->batch / s->devices;
    p->steps_per_epoch = p->images / p->batch;
    p->dropped = p->images % p->batch;
    p->model_images = (double)(p->steps_per_epoch * s->epochs * p->batch * p->members);
    p->seconds = p->model_images / 100000;
}

/* The engine's own calculation, with prices from above. */
static inline void kit_forecast(uint32_t question, const struct wire_sweep *from, size_t n)
{
    struct wire_event event = {.kind = WIRE_FORECAST, .run = question};
    struct wire_forecast *out = mem_new(1, sizeof *out);
    struct forecast *f;
    struct spec_sweep s;
    struct err e = {0};

    spec_sweep_init(&s);
    if (wire_sweep_read(from, n, &s, &e) != ERR_OK || spec_sweep_close(&s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    f = forecast_new(&s, &(struct forecast_wish){.jobs = from->jobs,
                                                 .max_cells = from->max_cells,
                                                 .grid = from->grid,
                                                 .kinds = FORECAST_KINDS});
    while (!forecast_walk(f, UINT64_MAX, NULL))
        ;
    while (forecast_ask(f, kit_price, NULL))
        ;
    for (uint32_t i = 0; i < kit.had_count; i++)
        forecast_has(f, kit.had[i].cell, kit.had[i].state);
    forecast_sum(f, out);
    out->question = question;
    out->final = true;
    screen_setup.event(kit.setup, &event, out, sizeof *out);
    forecast_free(f);
    free(out);
}

/* Answers what was asked, and waits for what tasks do. */
static inline void kit_settle(void)
{
    struct wire_command command;
    bool more = true;

    while (more) {
        more = false;
        while (wire_next_command(kit.app.config.wire, &command, 0)) {
            size_t n;

            kit_asks = wire_slot_take(kit.app.config.wire, command.slot, &n);
            kit.asked++;
            kit_forecast(command.run, kit_asks, n);
            free(kit_asks);
            more = true;
        }
        while (!tasks_idle(kit.app.tasks)) {
            struct pollfd fd = {.fd = tasks_fd(kit.app.tasks), .events = POLLIN};

            poll(&fd, 1, 100);
            more = tasks_take(kit.app.tasks) || more;
        }
    }
}

static inline const char *kit_draw(int rows, int columns)
{
    static struct text out;

    grid_free(&kit.grid);
    grid_init(&kit.grid, rows, columns, false);
    grid_clear(&kit.grid);
    screen_setup.draw(kit.setup, &kit.grid, grid_all(&kit.grid));
    text_clear(&out);
    grid_to_text(&kit.grid, &out);
    return text_str(&out);
}

/* Words as key_parse takes them, blanks between; what is no key's name is typed. */
static inline void kit_keys(const char *words)
{
    char *copy = mem_text(words), *rest = copy, *word;

    while ((word = strsep(&rest, " "))) {
        struct key key = {0};

        if (!*word)
            continue;
        if (key_parse(word, &key)) {
            if (!screen_setup.key(kit.setup, &key) && key.code != UI_ESC)
                TEST_FAILED("nobody took the key %s", word);
        } else {
            for (const char *p = word; *p; p++) {
                key = (struct key){.code = (unsigned char)*p};
                screen_setup.key(kit.setup, &key);
            }
        }
    }
    free(copy);
    kit_settle();
}

static inline const char *kit_command(void)
{
    static struct text out;

    text_clear(&out);
    screen_setup.command(kit.setup, &out);
    return text_str(&out);
}

static inline void kit_start(void)
{
    static const char *const models[] = {"cnn", "lenet", "linear", "mlp", "resnet18", NULL};
    char *settings;

    memset(&kit, 0, sizeof kit);
    strcpy(kit.folder, "/tmp/chorus-setup-XXXXXX");
    kit.here = getcwd(NULL, 0);
    if (!mkdtemp(kit.folder) || chdir(kit.folder) != 0)
        exit(2);
    settings = mem_textf("%s/settings", kit.folder);
    setenv("XDG_CACHE_HOME", kit.folder, 1); /* nobody computes there */
    kit.app.config.wire = wire_new(256);
    kit.app.config.results = kit.folder;
    kit.app.config.model_names = models;
    kit.app.tasks = tasks_new();
    tasks_patience(kit.app.tasks, 20000); /* what is typed ahead finds things done */
    kit.app.settings = settings_open(settings);
    kit.setup = screen_setup.open(&kit.app);
    screen_setup.show(kit.setup);
    kit_settle();
    free(settings);
}

/* Looks at the queue. */
static inline void kit_watch(void)
{
    screen_setup.tick(kit.setup);
    kit_settle();
}

static inline void kit_end(void)
{
    char *remove = mem_textf("rm -rf %s", kit.folder);

    screen_setup.close(kit.setup);
    tasks_free(kit.app.tasks);
    library_free(kit.app.library);
    claim_close(&kit.app);
    settings_close(kit.app.settings);
    wire_free(kit.app.config.wire);
    grid_free(&kit.grid);
    free(kit.sweep);
    if (chdir(kit.here) != 0 || system(remove) != 0)
        TEST_FAILED("%s is left over", kit.folder);
    free(kit.here);
    free(remove);
}

#endif
