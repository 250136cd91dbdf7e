/* ui/runview.c: the screen Run: which run it shows, and its keys. */
#include "ui/runview_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t smooths[] = {0, 5, 20, 100, 500};

struct feed_run *runview_run(struct runview *v)
{
    struct feed_run *run = v->path[0] ? feed_find(v->app->feed, v->path) : NULL;

    return run ? run : feed_current(v->app->feed);
}

void screen_run_watch(void *screen, const char *folder)
{
    struct runview *v = screen;

    feed_follow(v->app->feed, folder);
    snprintf(v->path, sizeof v->path, "%s", folder);
    v->cursor = false;
    runview_forget(v);
    v->app->dirty = true;
}

static void *open_screen(struct app *app)
{
    struct runview *v = mem_new(1, sizeof *v);
    const char *x = settings_get(app->settings, "run.x", "epoch");

    v->app = app;
    while (runview_axes[v->x] && strcmp(runview_axes[v->x], x) != 0)
        v->x++;
    if (!runview_axes[v->x])
        v->x = 0;
    v->smooth = settings_number(app->settings, "plot.smooth", 0);
    v->log_y = settings_is(app->settings, "run.log_y", false);
    return v;
}

static void close_screen(void *screen)
{
    runview_forget(screen);
    free(screen);
}

/* A chosen run stays; but where it has ended and another one began here, that one is shown. */
static void show(void *screen)
{
    struct runview *v = screen;
    struct feed_run *run = v->path[0] ? feed_find(v->app->feed, v->path) : NULL;
    struct feed_run *now = feed_current(v->app->feed);

    if (run && now && run != now && run->own && wire_state_ended(run->state))
        v->path[0] = 0;
}

/* The next run that is at work, of whatever process; those that ended only where none is. */
static void next_run(struct runview *v, int by)
{
    struct feed *f = v->app->feed;
    struct feed_run *now = runview_run(v);
    size_t n = feed_count(f), at = 0;
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (feed_at(f, i) == now)
            at = i;
        else if (!wire_state_ended(feed_at(f, i)->state))
            any = true;
    }
    for (size_t i = 1; i < n; i++) {
        struct feed_run *run = feed_at(f, (at + n + (by > 0 ? i : n - i)) % n);

        if (run->path[0] && (!any || !wire_state_ended(run->state))) {
            screen_run_watch(v, run->path);
            return;
        }
    }
    app_say(v->app, GRID_DIM, "there is no other run to show");
}

static void say_failed(struct runview *v, const struct err *e)
{
    app_say(v->app, GRID_BAD, "%s", e->text);
}

static void stop(void *user, int answer)
{
    static const enum wire_how how[] = {WIRE_AFTER_EPOCH, WIRE_AFTER_STEP};
    struct runview *v = user;
    struct feed_run *run = runview_run(v);
    struct err e;

    if (answer < 0 || answer > 1 || !run)
        return;
    if (feed_stop(v->app->feed, run, how[answer], &e) != ERR_OK)
        say_failed(v, &e);
    else
        app_say(v->app, GRID_WARN,
                answer ? "stopping after this step" : "stopping after this epoch");
}

static void ask_stop(struct runview *v, const struct feed_run *run)
{
    static const char *const answers[] = {"after this epoch", "now: it can be resumed", "cancel",
                                          NULL};
    char *question;

    if (wire_state_ended(run->state) || run->dead) {
        app_say(v->app, GRID_DIM, "it runs no more");
        return;
    }
    question = mem_textf("Stop %s", run->name);
    app_ask(v->app, question, answers, stop, v);
    free(question);
}

static void resume(struct runview *v, const struct feed_run *run)
{
    struct wire_start *start;
    struct err e;

    if (!run->dead && run->state != WIRE_STOPPED) {
        app_say(v->app, GRID_DIM,
                "only a run that was stopped, or whose process died, goes on; r "
                "runs its experiment again");
        return;
    }
    start = mem_new(1, sizeof *start);
    snprintf(start->resume, sizeof start->resume, "%s", run->path);
    if (!feed_start_run(v->app->feed, start, &e))
        say_failed(v, &e);
    else
        app_say(v->app, GRID_GOOD, "it goes on");
    free(start);
}

static void pause_or_go(struct runview *v, struct feed_run *run)
{
    bool go = run->state == WIRE_PAUSED;
    struct err e;

    if (wire_state_ended(run->state) || run->dead)
        app_say(v->app, GRID_DIM, "it runs no more; R goes on with a stopped run");
    else if (feed_pause(v->app->feed, run, go, &e) != ERR_OK)
        say_failed(v, &e);
    else
        app_say(v->app, GRID_TEXT, go ? "going on" : "pausing after this step");
}

static void move_cursor(struct runview *v, int by)
{
    struct plot *p = v->loss.plot.count ? &v->loss.plot : &v->acc.plot;
    double x;

    if (!p->count)
        return;
    x = plot_step_cursor(p, by);
    if (isfinite(x)) {
        v->cursor = true;
        v->cursor_x = x;
    }
}

static void next_smooth(struct runview *v)
{
    size_t i = 0;

    while (i < MEM_COUNT(smooths) - 1 && smooths[i] != v->smooth)
        i++;
    v->smooth = smooths[(i + 1) % MEM_COUNT(smooths)];
    settings_set_number(v->app->settings, "plot.smooth", v->smooth);
    if (v->smooth)
        app_say(v->app, GRID_TEXT, "smoothing: a mean over about %lld points",
                (long long)v->smooth);
    else
        app_say(v->app, GRID_TEXT, "no smoothing");
}

static bool plot_key(struct runview *v, const struct key *key)
{
    switch (key->code) {
    case 'x':
        v->x = runview_axes[v->x + 1] ? v->x + 1 : 0;
        v->cursor = false;
        settings_set(v->app->settings, "run.x", runview_axes[v->x]);
        app_say(v->app, GRID_TEXT, "over %s", runview_axes[v->x]);
        return true;
    case 'y':
        v->log_y = !v->log_y;
        settings_set_is(v->app->settings, "run.log_y", v->log_y);
        return true;
    case 'm':
        next_smooth(v);
        return true;
    case '[':
    case UI_LEFT:
    case 'h':
        move_cursor(v, -1);
        return true;
    case ']':
    case UI_RIGHT:
    case 'l':
        move_cursor(v, 1);
        return true;
    case UI_ESC:
        v->cursor = false;
        return true;
    case UI_DOWN:
    case UI_WHEEL_DOWN:
    case 'j':
        v->unit_first++;
        return true;
    case UI_UP:
    case UI_WHEEL_UP:
    case 'k':
        v->unit_first--;
        return true;
    }
    return false;
}

static bool key(void *screen, const struct key *key)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);

    if (!run)
        return false;
    if (plot_key(v, key))
        return true;
    switch (key->code) {
    case 'p':
        pause_or_go(v, run);
        return true;
    case 'K':
        ask_stop(v, run);
        return true;
    case 'R':
        resume(v, run);
        return true;
    case 'n':
        next_run(v, 1);
        return true;
    case 'N':
        next_run(v, -1);
        return true;
    case 'e':
    case 'r':
        screen_setup_load(v->app->screen[SCREEN_SETUP], run->path, key->code == 'r');
        if (key->code == 'e')
            app_show(v->app, SCREEN_SETUP);
        return true;
    case 'P':
        screen_predict_run(v->app->screen[SCREEN_PREDICT], run->name);
        app_show(v->app, SCREEN_PREDICT);
        return true;
    case ' ':
        library_mark(v->app->library, run->name, !library_marked(v->app->library, run->name));
        app_say(v->app, GRID_MARKED, "%s",
                library_marked(v->app->library, run->name) ? "marked; 4 compares what is marked"
                                                           : "no longer marked");
        return true;
    }
    return false;
}

static bool tick(void *screen)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);

    return run != v->drawn_run || (run && run->changed != v->drawn);
}

static void command(void *screen, struct text *out)
{
    struct feed_run *run = runview_run(screen);

    text_add(out, run && !wire_state_ended(run->state) ? "watch " : run ? "show " : "run first");
    if (run)
        jobs_add_word(out, run->name);
}

static const struct screen_key keys[] = {
    {"p", "pause", "pauses, or goes on"},
    {"K", "stop", "stops it, after this epoch or now; asks first"},
    {"x", "axis", "what the plots run over: epoch, step, images, model-images, time, device time"},
    {"y", "log", "a logarithmic or a linear scale of values"},
    {"m", "smooth", "how many points the training curve is smoothed over"},
    {"[ ] Left Right", "cursor", "a cursor that reads all curves; Esc takes it away"},
    {"n N", NULL, "the next run that is at work, the one before"},
    {"e", "edit", "loads its experiment into Setup"},
    {"r", NULL, "runs its experiment again"},
    {"R", NULL, "goes on with a run that was stopped or whose process died"},
    {"P", NULL, "its predictions"},
    {"Space", NULL, "marks it for Compare"},
    {"Up Down", NULL, "scroll the members"},
    {NULL, NULL, NULL},
};

const struct screen screen_run = {
    .name = "Run",
    .about =
        "A run as it goes: loss and accuracy, how far it is, what each member or device does. A "
        "run belongs to its folder, not to this screen: it can be left and come back to, also "
        "from another terminal. Curves of training are means since the point before; accuracy "
        "is that of the test images at the end of an epoch, in an ensemble of the averaged "
        "probabilities (thick), beside each member (thin) and their mean (dashed).",
    .keys = keys,
    .open = open_screen,
    .close = close_screen,
    .show = show,
    .draw = runview_draw,
    .key = key,
    .tick = tick,
    .command = command,
};
