/* ui/run/runview.c: the screen Run: which run it shows. */
#include "ui/run/runview_int.h"

#include "base/log.h"
#include "base/mem.h"
#include "ui/app/screens.h"

#include <stdlib.h>
#include <string.h>

/* From the library: what runs in another process, else the newest; so that whoever comes back from
 * another terminal finds it. */
static struct feed_run *from_library(struct runview *v)
{
    struct library *l = v->app->library;
    const struct library_run *runs;
    size_t n = 0, best;
    struct feed_run *run;
    char *folder;

    if (!l || !library_ready(l) || !(runs = library_runs(l, &n)) || !n)
        return NULL;
    best = n - 1;
    for (size_t i = n; i-- > 0;)
        if (runs[i].live) {
            best = i;
            break;
        }
    folder = library_folder(l, runs[best].name);
    run = feed_follow(v->app->feed, folder);
    free(folder);
    return run;
}

void runview_choose(struct runview *v, struct feed_run *run, bool pinned)
{
    uint64_t id = run ? run->id : 0;

    v->pinned = pinned;
    v->started = feed_started(v->app->feed);
    if (id == v->id)
        return;
    v->id = id;
    v->cursor = false;
    v->zoom = 0;
    v->units_first = 0;
    v->app->dirty = true;
}

struct feed_run *runview_run(struct runview *v)
{
    struct feed *f = v->app->feed;
    struct feed_run *run, *now;
    char name[128];

    if (!f)
        return NULL;
    if (!v->pinned && feed_sweep_starts(f, name, sizeof name)) {
        runview_choose(v, NULL, false);
        feed_watch(f, NULL);
        return NULL;
    }
    run = v->id ? feed_by_id(f, v->id) : NULL;
    now = feed_current(f);
    if (!run || (!v->pinned && now && now != run && now->own && !wire_state_ended(now->state) &&
                 (wire_state_ended(run->state) || !run->own)))
        run = now;
    if (!run)
        run = from_library(v);
    if (!run || run->id != v->id)
        runview_choose(v, run, false);
    feed_watch(f, run);
    return run;
}

void screen_run_watch(struct runview *v, const char *folder)
{
    runview_choose(v, feed_follow(v->app->feed, folder), true);
}

static const char *shown_name(struct runview *v, bool *trained)
{
    struct feed_run *run = v->id ? feed_by_id(v->app->feed, v->id) : NULL;

    *trained = run && run->epochs.n > 0;
    return run && run->name[0] ? run->name : NULL;
}

static bool take(void *screen, const struct screen_request *request)
{
    struct runview *v = screen;

    if (request->what == SCREEN_TAKE_RUN)
        screen_run_watch(v, request->name);
    else if (request->what == SCREEN_TAKE_KEY)
        screen_run_press(v, request->key);
    else if (request->what == SCREEN_NAME)
        *request->shown = shown_name(v, request->trained);
    else
        return false;
    return true;
}

static void *open_screen(struct app *app)
{
    struct runview *v = mem_new(1, sizeof *v);
    const char *x = settings_get(app->settings, "run.x", "epoch");

    v->app = app;
    while (runview_axes[v->axis] && strcmp(runview_axes[v->axis], x) != 0)
        v->axis++;
    if (!runview_axes[v->axis])
        v->axis = FEED_EPOCH;
    return v;
}

static void close_screen(void *screen)
{
    struct runview *v = screen;

    runview_free_curves(v);
    free(v->told);
    free(v);
}

/* A run that was chosen gives way to one that was started since. */
static void show(void *screen)
{
    struct runview *v = screen;

    if (feed_started(v->app->feed) != v->started)
        v->pinned = false;
}

static void tell_left_out(struct runview *v, struct feed_run *run)
{
    struct text words = {0};
    size_t rows = run && !run->reading ? feed_add_left_out(run, &words) : 0;

    if (rows && rows > run->left_out_told) {
        run->left_out_told = rows;
        app_say(v->app, GRID_WARN, "%s", text_str(&words));
        app_log_from(v->app, LOG_WARN, run->name, text_str(&words));
    }
    text_free(&words);
}

static void tell_changed(struct runview *v, struct feed_run *run)
{
    static const char words[] = "epochs.csv was changed since it was written";

    if (!run || !run->rows_changed || run->change_told)
        return;
    run->change_told = true;
    app_say(v->app, GRID_WARN, "%s", words);
    app_log_from(v->app, LOG_WARN, run->name, words);
}

static bool tick(void *screen)
{
    struct runview *v = screen;
    struct library *l = v->app->library;
    struct feed_run *run;

    if (l && library_turn(l) != v->followed) { /* the line of status tells of them on all screens */
        v->followed = library_turn(l);
        runview_follow_live(v);
    }
    runview_press_now(v);
    runview_keep_promise(v);
    if (v->app->shown != SCREEN_RUN)
        return false;
    run = runview_run(v);
    tell_left_out(v, run);
    tell_changed(v, run);
    return (run ? run->id : 0) != v->drawn_id ||
           (run &&
            (run->changed != v->drawn || feed_stops_later(v->app->feed, run) != v->drawn_ends));
}

static const char *run_name(void *screen)
{
    const struct feed_run *run = runview_run(screen);

    return run && run->path[0] ? run->name : NULL;
}

const struct screen screen_run = {
    .name = "Run",
    .about =
        "A run as it goes: loss and accuracy, how far it is, what each member or device does. A "
        "run belongs to its folder, not to this screen: it can be left and come back to, also "
        "from another terminal. Curves of training are means since the point before; test values "
        "are of the end of an epoch, in an ensemble of the averaged probabilities (thick), beside "
        "each member (thin) and the members' mean (dashed). The rows below say the loss and the "
        "accuracy of training over the last finished epoch, or while one runs of its last steps, so "
        "that they are not the curve's last point. Time: input fetches images, compute goes forward "
        "and back, reduce adds up the gradients of threads and devices and updates the weights, wait "
        "is for the slowest of them; with a single device too, and more where other programs "
        "compute.",
    .keys = runview_keys,
    .hints = runview_hints,
    .open = open_screen,
    .close = close_screen,
    .show = show,
    .take = take,
    .draw = runview_draw,
    .key = runview_key,
    .tick = tick,
    .command = runview_command,
    .run = run_name,
    .forms = runview_forms,
    .write = runview_write,
};
