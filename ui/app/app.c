/* ui/app/app.c: the loop. It sleeps until a key, an event, a finished task or a job's word comes, or ten
 * times a second looks whether anything moved; it draws at most twenty times a second. */
#include "ui/app/app_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "ui/term/frame_rate.h"
#include "ui/app/claim.h"
#include "ui/app/status.h"
#include "ui/term/crash.h"
#include "ui/widgets/share.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS   100000000ull
#define ASKED_NS  1000000000ull /* what comes so soon behind a key may be its answer */
#define ANSWER_NS 10000000ull   /* a frame waits so long for an answer that makes it whole */
#define PARTS_NS  40000000ull   /* behind a key, where one that was not whole is there already */
#define FDS       32
#define SCRIPT_MS                                                                                  \
    20000 /* a script's keys come before a slow machine has done what the last one asked */

double app_wall(const struct app *app)
{
    return app->config.wall ? app->config.wall() : clock_wall();
}

uint64_t app_ns(const struct app *app)
{
    return app->config.ns ? app->config.ns() : clock_ns();
}

void app_show(struct app *app, int screen)
{
    TRACE(UI, 1, "screen %d", screen + 1);
    app->shown = screen;
    app->own->shown_ns = clock_ns();
    app->own->awaited = true;
    app->dirty = true;
    if (app_screens[screen]->show)
        app_screens[screen]->show(app->screen[screen]);
}

void app_say(struct app *app, int role, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(app->own->said, sizeof app->own->said, fmt, args);
    va_end(args);
    app->own->said_role = role;
    app->dirty = true;
}

void app_unsay(struct app *app, const char *words)
{
    if (!app->own->said[0] || strcmp(app->own->said, words) != 0)
        return;
    app->own->said[0] = 0;
    app->dirty = true;
}

void app_resize(struct app *app, int rows, int columns)
{
    struct app_int *own = app->own;
    bool ascii = own->term ? term_ascii(own->term) : app->config.ascii;

    grid_free(&own->grid);
    grid_init(&own->grid, rows, columns, ascii);
    own->grid.blocks = own->term && term_blocks(own->term);
    app->dirty = true;
}

bool app_wants_text(const struct app *app)
{
    const struct screen *s = app_screens[app->shown];

    return s->wants_text && s->wants_text(app->screen[app->shown]);
}

bool app_types(const struct app *app)
{
    return app->own->popup == POPUP_PROMPT || app_wants_text(app);
}

void app_lay_out(struct app *app)
{
    struct app_int *own = app->own;
    struct grid *g = &own->grid;

    own->hints = 0;
    grid_clear(g);
    if (g->rows < APP_LEAST_ROWS || g->columns < APP_LEAST_COLUMNS) {
        struct text status = {0};
        int rows;

        text_addf(&status, "chorus needs %dx%d, this is %dx%d.%s", APP_LEAST_COLUMNS,
                  APP_LEAST_ROWS, g->columns, g->rows,
                  feed_busy(app->feed) ? " The run goes on." : "");
        rows = grid_words(g, grid_all(g), 0, GRID_TEXT, text_str(&status));
        text_clear(&status);
        status_add(app->feed, &status, g->columns);
        rows += grid_words(g, grid_all(g), rows, GRID_DIM, text_str(&status));
        text_clear(&status);
        status_add_trouble(app->feed, &status);
        grid_words(g, grid_all(g), rows, GRID_BAD, text_str(&status));
        text_free(&status);
    } else {
        bar_top(app, g);
        app_screens[app->shown]->draw(
            app->screen[app->shown], g,
            rect_above(rect_below(grid_all(g), 1), 2 + bar_trouble(app, g)));
        bar_bottom(app, g);
        popup_draw(app, g);
    }
}

static void draw(struct app *app)
{
    app->dirty = false;
    app_lay_out(app);
    if (app->own->term)
        term_draw(app->own->term, &app->own->grid);
}

const char *app_theme(const struct app *app)
{
    return app->config.theme ? app->config.theme : settings_get(app->settings, "theme", "dark");
}

static void say_clean(struct app *app, int role, const char *line)
{
    struct text clean = {0};

    text_add_clean(&clean, line);
    app_say(app, role, "%s", text_str(&clean));
    text_free(&clean);
}

/* What the engine warns of is said, not only logged: that an experiment of the queue cannot start is
 * told nowhere else. */
static void on_event(void *user, const struct wire_event *event, const void *slot, size_t n)
{
    struct app *app = user;
    bool is_text = event->kind == WIRE_LOG || event->kind == WIRE_REFUSED ||
                   event->kind == WIRE_STATE || event->kind == WIRE_TAKEN;
    char *words = mem_text_n(is_text && slot ? slot : "", is_text && slot ? n : 0);

    log_event(app, event, words);
    if (event->kind == WIRE_REFUSED && *words)
        say_clean(app, GRID_BAD, words);
    else if (event->kind == WIRE_LOG && event->u.log.level >= LOG_WARN && *words &&
             !feed_has_trouble(app->feed, event->run)) /* that stands there until it is over */
        say_clean(app, event->u.log.level == LOG_ERROR ? GRID_BAD : GRID_WARN, words);
    free(words);
    if (event->kind == WIRE_STARTED || event->kind == WIRE_CELL || event->kind == WIRE_REFUSED)
        claim_drop(app); /* the engine shows others what it does */
    for (int i = 0; i < SCREENS; i++)
        if (app_screens[i]->event)
            app_screens[i]->event(app->screen[i], event, slot, n);
}

static void say_line(void *user, const char *verb, const char *line)
{
    app_log_from(user, LOG_INFO, verb, line);
}

void app_look_at_terminal(struct app *app)
{
    struct app_int *own = app->own;
    enum term_place place = own->term ? term_place(own->term) : TERM_HERE;
    int rows, columns;

    own->away = place == TERM_AWAY;
    if (place != TERM_BACK)
        return;
    term_size(own->term, &rows, &columns);
    app_resize(app, rows, columns);
}

static int add_fd(struct pollfd *fds, int n, int fd)
{
    if (fd >= 0 && n < FDS)
        fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    return n;
}

static void wait_for_something(struct app *app, int ms)
{
    struct pollfd fds[FDS];
    int n = 0, jobs[8];
    size_t count = jobs_fds(app->jobs, jobs, MEM_COUNT(jobs));

    n = add_fd(fds, n, app->own->term ? term_fd(app->own->term) : -1);
    if (n && (app->own->away || keys_wait(app)))
        fds[0].events = 0; /* but that it has gone is heard */
    n = add_fd(fds, n, app->own->term ? term_talk_fd(app->own->term) : -1);
    n = add_fd(fds, n, log_fd(app));
    if (app->config.wire && !app->own->busy)
        n = add_fd(fds, n, wire_fd(app->config.wire));
    n = add_fd(fds, n, tasks_fd(app->tasks));
    n = add_fd(fds, n, app->config.signals.wake);
    for (size_t i = 0; i < count && i < MEM_COUNT(jobs); i++)
        n = add_fd(fds, n, jobs[i]);
    if (poll(fds, (nfds_t)n, ms) < 0)
        return; /* a signal: the loop looks at all of them */
    if (app->own->term && (fds[0].revents & (POLLHUP | POLLERR))) {
        app->own->end = APP_HUNG_UP; /* the terminal is gone without a word */
        app->over = true;
    }
}

static void look_at_signals(struct app *app)
{
    const struct app_signals *s = &app->config.signals;

    if (!s->interrupts)
        return;
    if (s->clear)
        s->clear();
    if (*s->hung_up) {
        app_log(app, LOG_INFO, "the terminal is gone; what runs goes on without it");
        app->own->end = APP_HUNG_UP;
        app->over = true;
    }
    if (*s->terminated || *s->interrupts) {
        app->own->end = APP_STOP;
        app->over = true;
    }
}

static bool tick(struct app *app)
{
    bool moved = false;

    /* What trains here posts hundreds of events a second: they are taken tick by tick then, since each
     * time that this thread wakes, one that computes waits. Setup's answers come at once. */
    app->own->busy = app->shown != SCREEN_SETUP && feed_busy(app->feed);
    crash_resumes(feed_busy(app->feed));
    library_tick(app->library, false);
    log_tell_folder(app);
    claim_tick(app);
    quit_tick(app);
    for (int i = 0; i < SCREENS; i++)
        if (app_screens[i]->tick && app_screens[i]->tick(app->screen[i]))
            moved |= i == app->shown;
    return moved;
}

/* Everything that came from elsewhere. */
static void take_all(struct app *app)
{
    app->dirty |= tasks_take(app->tasks);
    app->dirty |= feed_take(app->feed, on_event, app);
    app->dirty |= jobs_take(app->jobs);
    app->dirty |= log_take(app);
}

/* How long the next frame is to wait: for its turn, or for what a key has asked. */
static uint64_t wait_for_frame(const struct app *app, const struct frame_rate *beat, uint64_t now)
{
    const struct screen *s = app_screens[app->shown];
    uint64_t since = now - app->own->keyed_ns, rest = frame_rate_wait(beat, now, since < ASKED_NS);
    uint64_t patience = beat->drawn_ns > app->own->keyed_ns ? PARTS_NS : ANSWER_NS;

    if (!rest && !app->typed_ahead && since < patience && s->expects &&
        s->expects(app->screen[app->shown]))
        rest = patience - since;
    return rest;
}

static void loop(struct app *app)
{
    struct app_int *own = app->own;
    struct frame_rate beat = {0};
    int ms = 0;

    while (!app->over) {
        uint64_t now, rest;
        bool chosen;

        wait_for_something(app, ms);
        look_at_signals(app);
        ms = 100;
        take_all(app);
        app_look_at_terminal(app);
        keys_read(app, &ms);
        popup_next(app);
        if (own->leaving && !feed_busy(app->feed)) {
            own->end = APP_LEFT;
            app->over = true;
        }
        if (app->over)
            break;
        now = clock_ns();
        chosen = own->shown_ns > own->ticked_ns;
        if (chosen || now - own->ticked_ns >= TICK_NS) {
            own->ticked_ns = now;
            app->dirty |= tick(app);
        }
        if (chosen)
            app_lay_out(app); /* it asks for what it shows */
        if (!app->dirty || own->away)
            continue;
        rest = own->term ? wait_for_frame(app, &beat, now) : 0;
        if (rest) {
            ms = (int)(rest / 1000000) + 1 < ms ? (int)(rest / 1000000) + 1 : ms;
            continue;
        }
        draw(app);
        frame_rate_drawn(&beat, now);
    }
}

static enum err_code open_screen(struct app *app, struct err *e)
{
    const struct app_config *c = &app->config;
    struct term_options options = {.ascii = c->ascii,
                                   .no_mouse = c->no_mouse,
                                   .no_colour = c->no_colour,
                                   .log = app->own->log_path};

    options.theme = app_theme(app);
    if (c->keys)
        TRY(script_open(&app->own->script, c->keys, e));
    if (c->rows > 0) {
        app_resize(app, c->rows, c->columns);
        return ERR_OK;
    }
    TRY(term_open(&app->own->term, &options, e));
    {
        int rows, columns;

        term_size(app->own->term, &rows, &columns);
        app_resize(app, rows, columns);
    }
    return ERR_OK;
}

static void say_not_kept(const struct err *e)
{
    struct text why = {0};

    text_add_clean(&why, e->text);
    fprintf(stderr, "chorus: the settings of the screens are not kept: %s\n", text_str(&why));
    text_free(&why);
}

static void close_all(struct app *app)
{
    struct app_int *own = app->own;
    struct err e;

    fflush(NULL); /* what was printed goes to the log while there is one */
    log_take(app);
    term_close(own->term);
    own->term = NULL;
    quit_tasks(app);
    claim_close(app);
    jobs_free(app->jobs);
    for (int i = 0; i < SCREENS; i++)
        if (app->screen[i])
            app_screens[i]->close(app->screen[i]);
    library_free(app->library);
    feed_free(app->feed);
    if (settings_save(app->settings, &e) != ERR_OK)
        say_not_kept(&e);
    settings_close(app->settings);
    log_close(app);
    command_close(app);
    popup_close(app);
    popup_forget(app);
    script_close(own->script);
    grid_free(&own->grid);
    text_free(&app->did);
    text_free(&app->about);
    text_free(&own->question);
    text_free(&own->label);
    text_free(&own->several);
    line_free(&own->typed);
    text_free(&own->page);
    free(own);
}

enum err_code app_run(const struct app_config *config, enum app_end *end, struct err *e)
{
    struct app app = {.config = *config, .tasks = tasks_new()};
    enum err_code code;

    *end = APP_QUIT;
    if (!app.tasks) {
        err_errno(e, "the workbench cannot start a thread");
        return e->code = ERR_FAILED;
    }
    app.own = mem_new(1, sizeof *app.own);
    log_open(&app);
    app.settings = settings_open(NULL);
    share_choose(settings_is(app.settings, "percent", false));
    if (config->keys)
        tasks_patience(app.tasks, SCRIPT_MS);
    app.jobs = jobs_new(config->program, say_line, &app);
    app.library = library_new(config->results, app.tasks);
    app.feed = feed_new(config->wire, config->results);
    feed_use_tasks(app.feed, app.tasks);
    if (config->start)
        feed_expect(app.feed, config->started, config->start);
    else if (config->started)
        feed_expect_sweep(app.feed, config->started);
    code = open_screen(&app, e);
    if (code == ERR_OK) {
        for (int i = 0; i < SCREENS; i++)
            app.screen[i] = app_screens[i]->open(&app);
        app_show(&app, config->start_screen);
        app.dirty = true;
        draw(&app);
        loop(&app);
        *end = app.own->end;
        if (app.own->script)
            code = script_result(app.own->script, e);
    }
    close_all(&app);
    return code;
}
