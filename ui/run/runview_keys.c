/* ui/run/runview_keys.c: the keys of the Run screen. What a run is told stands in runview_command.c. */
#include "ui/run/runview_int.h"

#include "base/mem.h"
#include "ui/app/runkeys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZOOM_MOST 10

static const int64_t smooths[] = {0, 5, 20, 100, 500};

const struct screen_key runview_keys[] = {
    {"p", "pause",
     "pauses, or goes on, of a sweep this cell alone; it stays paused if the terminal goes: `chorus "
     "go RUN`"},
    {"K", "stop",
     "stops it, after this epoch or now, or a cell's sweep; asks first, also whether a stop after the "
     "epoch is taken back"},
    {"x", "axis",
     "what the plots run over: epoch, step, images, model-images, seconds, "
     "device-seconds"},
    {"y", "log", "a logarithmic or a linear scale"},
    {"m", "smooth",
     "how many rows the curve of training is smoothed over; numbers stay as they were measured"},
    {"[ ] Left Right", "cursor", "a cursor that reads all curves; Esc takes it away"},
    {"+ -", "zoom", "a part of the axis: around the cursor, or the newest"},
    {"n N", "next", "the next run that is at work, the one before; else the next that was shown"},
    {"e", "edit", "loads its experiment into Setup"},
    {"r", "again", "runs its experiment again"},
    {"R", "go on",
     "goes on with a run that is paused, was stopped, or whose process is gone; takes a stop after the epoch, or "
     "a sweep's, back; gives a done one more epochs"},
    {"P", "predictions", "its predictions"},
    {"W", NULL, "writes its weights into a file"},
    {"M", "match", "trains a single model for as many epochs as make its cost"},
    {"Space", NULL, "marks it for Compare"},
    {"Up Down", NULL, "scroll the members or devices"},
    {NULL, NULL, NULL},
};

/* Of what is not at work: neither what came to nothing, nor what max_steps ended. */
static bool goes_on(const struct feed_run *run)
{
    return !run->broken && !runview_is_average(run) &&
           (run->dead || run->state < WIRE_DONE || (run->state == WIRE_DONE && !run->reason[0]));
}

static bool has_rows(const struct feed_run *run)
{
    return run->epochs.n || run->steps.n || run->reading;
}

static bool has_epoch(const struct feed_run *run)
{
    return run->epochs.n && run->epochs.x[FEED_EPOCH][run->epochs.n - 1] >= 1;
}

/* What ended is neither paused nor stopped; what has no folder has nothing to be loaded or read; what came to
 * nothing has neither weights nor curves nor a cost; where there is no other run, none is the next. */
const struct screen_key *runview_hints(void *screen)
{
    static struct screen_key hints[SCREEN_HINTS + 1];
    struct runview *v = screen;
    const struct feed_run *run = runview_run(v);
    bool ended = run && !runview_at_work(run), stops = run && feed_stops_later(v->app->feed, run);
    const char *next = run && feed_count(v->app->feed) > 1 ? "n" : "";
    char letters[SCREEN_HINTS + 1] = "";

    if (run && (run->removed || runview_unread(run)))
        snprintf(letters, sizeof letters, "xym[+%s", next);
    else if (ended && !run->path[0])
        snprintf(letters, sizeof letters, "%s", next);
    else if (ended)
        snprintf(letters, sizeof letters, "r%se%s%s%s%s", goes_on(run) ? "R" : "",
                 run->weights ? "P" : "", has_rows(run) ? "xym[+" : "", next,
                 has_epoch(run) ? "M" : "");
    else if (run)
        snprintf(letters, sizeof letters, "%sK%sxym[+%s%s", run->state == WIRE_WAITING ? "" : "p",
                 stops ? "R" : "", next, run->path[0] ? "er" : "");
    screen_hints(hints, runview_keys, letters);
    if (run && !ended)
        runkeys_hint(hints, run->state == WIRE_PAUSED, stops);
    return hints;
}

/* ---- the next run ---- */

/* What the list of all runs knows already, and the run's own files have not said. */
static bool is_found_dead(struct runview *v, const struct feed_run *run)
{
    const struct library_run *listed =
        v->app->library ? library_find(v->app->library, run->name) : NULL;

    return listed && listed->dead && !run->own && !run->dead;
}

void runview_follow_live(struct runview *v)
{
    struct library *l = v->app->library;
    const struct library_run *runs;
    size_t n = 0, followed = 0;

    if (!l || !library_ready(l) || !(runs = library_runs(l, &n)))
        return;
    for (size_t i = 0; i < feed_count(v->app->feed); i++)
        if (is_found_dead(v, feed_at(v->app->feed, i)))
            feed_found_dead(feed_at(v->app->feed, i));
    for (size_t i = n; i-- > 0 && followed < 16;) {
        const struct feed_run *known;
        char *folder;

        if (!runs[i].live)
            continue;
        folder = library_folder(l, runs[i].name);
        known = feed_find(v->app->feed, folder);
        if (!known || (known->own && !known->live))
            feed_follow(v->app->feed, folder);
        free(folder);
        followed++;
    }
}

static void next_run(struct runview *v, int by)
{
    struct feed *f = v->app->feed;
    uint64_t id = v->id;
    size_t n, at = 0;

    runview_follow_live(v);
    n = feed_count(f);
    for (size_t i = 0; i < n; i++)
        if (feed_at(f, i)->id == id)
            at = i;
    for (int live = 1; live >= 0; live--) {
        for (size_t i = 1; i < n; i++) {
            struct feed_run *run = feed_at(f, (at + (by > 0 ? i : n - i)) % n);

            /* one that was only just followed has not been looked at yet */
            if (live && !(runview_at_work(run) || runview_unread(run)))
                continue;
            runview_choose(v, run, true);
            return;
        }
    }
    app_say(v->app, GRID_DIM, "there is no other run to show");
}

/* ---- the plots ---- */

static void move_cursor(struct runview *v, int by)
{
    struct feed_run *run = runview_run(v);
    const struct plot *p;
    double x;

    if (!run)
        return;
    runview_make(v, run);
    p = v->loss.plot.count ? &v->loss.plot : &v->acc.plot;
    if (!p->count)
        return;
    x = plot_step_cursor(p, by);
    if (isfinite(x)) {
        v->cursor = true;
        v->cursor_x = x;
    }
}

/* A click into a plot puts the cursor there. */
static bool click(struct runview *v, const struct key *key)
{
    const struct runview_panel *both[] = {&v->loss, &v->acc};
    struct feed_run *run = runview_run(v);

    if (!run)
        return false;
    runview_make(v, run);
    for (int i = 0; i < 2; i++) {
        double x;

        if (!both[i]->plot.count || !rect_holds(both[i]->in, key->row, key->column))
            continue;
        x = plot_cursor_at(&both[i]->plot, key->column - both[i]->in.column);
        if (isfinite(x)) {
            v->cursor = true;
            v->cursor_x = x;
        }
        return true;
    }
    return false;
}

static void next_smooth(struct runview *v)
{
    size_t i = 0;

    while (i < MEM_COUNT(smooths) - 1 && smooths[i] != v->smooth)
        i++;
    v->smooth = smooths[(i + 1) % MEM_COUNT(smooths)];
    if (v->smooth)
        app_say(v->app, GRID_TEXT, "the curve of training is smoothed over about %lld rows",
                (long long)v->smooth);
    else
        app_say(v->app, GRID_TEXT, "no smoothing");
}

static void zoom(struct runview *v, int by)
{
    v->zoom += by;
    v->zoom = v->zoom < 0 ? 0 : v->zoom > ZOOM_MOST ? ZOOM_MOST : v->zoom;
    if (!v->zoom)
        app_say(v->app, GRID_TEXT, "all of it");
    else
        app_say(v->app, GRID_TEXT, "1/%d of it, %s", 1 << v->zoom,
                v->cursor ? "around the cursor" : "the newest");
}

static bool plot_key(struct runview *v, int32_t code)
{
    switch (code) {
    case 'x':
        v->axis = (v->axis + 1) % FEED_AXES;
        v->cursor = false;
        settings_set(v->app->settings, "run.x", runview_axes[v->axis]);
        app_say(v->app, GRID_TEXT, "over %s", runview_axes[v->axis]);
        return true;
    case 'y':
        v->log_y = !v->log_y;
        app_say(v->app, GRID_TEXT, v->log_y ? "logarithmic" : "linear");
        return true;
    case 'm':
        next_smooth(v);
        return true;
    case '[':
    case 'h':
    case UI_LEFT:
        move_cursor(v, -1);
        return true;
    case ']':
    case 'l':
    case UI_RIGHT:
        move_cursor(v, 1);
        return true;
    case '+':
    case '=':
        zoom(v, 1);
        return true;
    case '-':
        zoom(v, -1);
        return true;
    case UI_ESC:
        if (!v->cursor && !v->zoom)
            return false;
        if (!v->cursor)
            v->zoom = 0;
        v->cursor = false;
        return true;
    default:
        return false;
    }
}

static bool scroll_key(struct runview *v, int32_t code)
{
    switch (code) {
    case UI_DOWN:
    case UI_WHEEL_DOWN:
    case 'j':
        v->units_first++;
        return true;
    case UI_UP:
    case UI_WHEEL_UP:
    case 'k':
        v->units_first--;
        return true;
    case UI_PAGE_DOWN:
        v->units_first += 8;
        return true;
    case UI_PAGE_UP:
        v->units_first -= 8;
        return true;
    case UI_HOME:
        v->units_first = 0;
        return true;
    default:
        return false;
    }
}

static bool must_have_folder(struct runview *v, const struct feed_run *run)
{
    if (run->path[0] && !run->removed)
        return true;
    app_say(v->app, GRID_WARN,
            run->removed           ? FEED_REMOVED
            : runview_at_work(run) ? "it has no folder yet"
                                   : RUNVIEW_NEVER);
    return false;
}

/* Of what is at work there may be some by the time they are read. */
static bool must_have_weights(struct runview *v, const struct feed_run *run)
{
    if (run->weights || runview_at_work(run))
        return true;
    app_say(v->app, GRID_WARN, "it has no weights: it ended before its first checkpoint");
    return false;
}

static bool must_have_cost(struct runview *v, const struct feed_run *run)
{
    if (has_epoch(run) || runview_at_work(run) || !feed_is_read(run))
        return true;
    app_say(v->app, GRID_WARN, "it has no whole epoch whose cost could be matched");
    return false;
}

static void load(struct runview *v, const struct feed_run *run, bool again)
{
    if (!must_have_folder(v, run))
        return;
    app_open(v->app, SCREEN_SETUP,
             &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = run->path, .begin = again});
    if (!again)
        app_show(v->app, SCREEN_SETUP);
    else
        v->pinned = false;
}

static void mark(struct runview *v, const struct feed_run *run)
{
    bool marked;

    if (!must_have_folder(v, run))
        return;
    marked = !library_marked(v->app->library, run->name);
    library_mark(v->app->library, run->name, marked);
    app_say(v->app, GRID_MARKED,
            marked ? "marked: 4 compares what is marked" : "it is marked no more");
}

/* Its files have not said yet what it does. */
static bool is_unread(struct runview *v, const struct feed_run *run)
{
    return !run->own && (!(run->known || run->broken) || is_found_dead(v, run));
}

void runview_press_now(struct runview *v)
{
    struct feed_run *run = v->pressed ? runview_run(v) : NULL;
    int32_t code = v->pressed;

    if (run && run->id == v->pressed_id && v->app->shown == v->pressed_on) {
        if (is_unread(v, run))
            return;
        runview_key(v, &(struct key){.code = code});
    }
    v->pressed = 0;
}

void screen_run_press(struct runview *v, int32_t code)
{
    v->pressed = code;
    v->pressed_id = v->id;
    v->pressed_on = v->app->shown;
    runview_press_now(v);
}

bool runview_key(void *screen, const struct key *key)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);

    v->pressed = 0; /* whoever presses another one has changed his mind */
    if (!run)
        return false;
    if (key->code == UI_CLICK)
        return click(v, key);
    if (plot_key(v, key->code) || scroll_key(v, key->code))
        return true;
    if ((key->code == 'p' || key->code == 'K' || key->code == 'R') && is_unread(v, run)) {
        screen_run_press(v, key->code);
        app_say(v->app, GRID_DIM, "its files are being read; %c follows", (char)key->code);
        return true;
    }
    switch (key->code) {
    case 'p':
        runview_pause(v, run);
        return true;
    case 'K':
        runview_ask_stop(v, run);
        return true;
    case 'R':
        runview_resume(v, run);
        return true;
    case 'n':
        next_run(v, 1);
        return true;
    case 'N':
        next_run(v, -1);
        return true;
    case 'e':
    case 'r':
        load(v, run, key->code == 'r');
        return true;
    case 'P':
        if (!must_have_folder(v, run) || !must_have_weights(v, run))
            return true;
        app_open(v->app, SCREEN_PREDICT,
                 &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = run->name});
        app_show(v->app, SCREEN_PREDICT);
        return true;
    case ' ':
        mark(v, run);
        return true;
    case 'W':
        return !must_have_folder(v, run) || !must_have_weights(v, run) ||
               runkeys_make(v->app, run->name, key->code);
    case 'M':
        return !must_have_folder(v, run) || !must_have_cost(v, run) ||
               runkeys_make(v->app, run->name, key->code);
    default:
        return false;
    }
}
