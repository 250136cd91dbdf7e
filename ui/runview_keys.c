/* ui/runview_keys.c: the keys of the Run screen. Whatever may wait is done by tasks. */
#include "ui/runview_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "ui/runkeys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZOOM_MOST 10

static const int64_t smooths[] = {0, 5, 20, 100, 500}; /* by the level that is kept */

const struct screen_key runview_keys[] = {
    {"p", "pause", "pauses, or goes on; it stays paused if the terminal goes: `chorus go RUN`"},
    {"K", "stop", "stops it, after this epoch or now; asks first"},
    {"x", "axis",
     "what the plots run over: epoch, step, images, model-images, seconds, "
     "device-seconds"},
    {"y", "log", "a logarithmic or a linear scale"},
    {"m", "smooth", "how many rows the curve of training is smoothed over"},
    {"[ ] Left Right", "cursor", "a cursor that reads all curves; Esc takes it away"},
    {"+ -", "zoom", "a part of the axis: around the cursor, or the newest"},
    {"n N", "next", "the next run that is at work, the one before"},
    {"e", "edit", "loads its experiment into Setup"},
    {"r", "again", "runs its experiment again"},
    {"R", "go on",
     "goes on with a run that was stopped or whose process died; gives a done one more "
     "epochs"},
    {"P", NULL, "its predictions"},
    {"W", NULL, "writes its weights into a file"},
    {"M", NULL, "trains a single model for as many epochs as make its cost"},
    {"Space", NULL, "marks it for Compare"},
    {"Up Down", NULL, "scroll the members or devices"},
    {NULL, NULL, NULL},
};

/* What ended is neither paused nor stopped. */
static const struct screen_key ended_hints[] = {
    {"r", "again", ""},  {"R", "go on", ""},  {"e", "edit", ""},   {"P", "predictions", ""},
    {"x", "axis", ""},   {"y", "log", ""},    {"m", "smooth", ""}, {"[ ]", "cursor", ""},
    {"+ -", "zoom", ""}, {"n N", "next", ""}, {"M", "match", ""},  {NULL, NULL, NULL},
};

const struct screen_key *runview_hints(void *screen)
{
    const struct feed_run *run = runview_run(screen);
    bool ended = run && (run->dead || (run->state != WIRE_WAITING && run->state != WIRE_RUNNING &&
                                       run->state != WIRE_PAUSED));

    return ended ? ended_hints : runview_keys;
}

/* ---- telling other processes ---- */

struct tell {
    struct runview *v;
    char *path, *line, *said;
    enum err_code code;
    struct err e;
};

static void tell_work(void *arg)
{
    struct tell *t = arg;

    t->code = record_control(t->path, t->line, &t->e);
}

static void tell_done(void *arg, bool dropped)
{
    struct tell *t = arg;

    if (!dropped && t->code != ERR_OK)
        app_say(t->v->app, GRID_BAD, "%s", t->e.text);
    else if (!dropped)
        app_say(t->v->app, GRID_WARN, "%s", t->said);
    free(t->path);
    free(t->line);
    free(t->said);
    free(t);
}

static void tell_other(struct runview *v, const struct feed_run *run, const char *line,
                       const char *said)
{
    struct tell *t = mem_new(1, sizeof *t);

    t->v = v;
    t->path = mem_text(run->path);
    t->line = mem_text(line);
    t->said = mem_text(said);
    tasks_add_slow(v->app->tasks, tell_work, tell_done, t);
}

static bool at_work(const struct feed_run *run)
{
    return !wire_state_ended(run->state) && !run->dead && !run->broken;
}

static bool must_work(struct runview *v, const struct feed_run *run)
{
    if (at_work(run))
        return true;
    if (run->dead)
        app_say(v->app, GRID_WARN, "nobody runs it any more: its process is gone; R goes on");
    else if (run->state == WIRE_STOPPED)
        app_say(v->app, GRID_WARN, "it is stopped already; R goes on");
    else
        app_say(v->app, GRID_WARN, "it has ended: it is %s", wire_state_name(run->state));
    return false;
}

static void answer_for(struct runview *v, enum err_code code, const struct err *e, const char *said)
{
    if (code != ERR_OK)
        app_say(v->app, GRID_BAD, "%s", e->text);
    else
        app_say(v->app, GRID_WARN, "%s", said);
}

static void did(struct runview *v, const struct feed_run *run, const char *verb, const char *behind)
{
    const char *name = run->name;

    app_did(v->app, verb, &name, 1, behind);
}

static void pause_or_go(struct runview *v, struct feed_run *run)
{
    bool go = run->state == WIRE_PAUSED;
    const char *said = go ? "going on" : "pausing after this step";
    struct err e = {0};

    if (!must_work(v, run))
        return;
    if (run->state != WIRE_WAITING)
        did(v, run, go ? "go" : "pause", "");
    if (run->state == WIRE_WAITING)
        app_say(v->app, GRID_WARN, "it has not begun yet: it waits for another one");
    else if (run->own)
        answer_for(v, feed_pause(v->app->feed, run, go, &e), &e, said);
    else
        tell_other(v, run, go ? "go" : "pause", said);
}

/* ---- stopping ---- */

static void stop_with(struct runview *v, enum wire_how how, const char *said)
{
    struct feed_run *run = runview_run(v);
    struct err e = {0};

    if (!run || !must_work(v, run))
        return;
    did(v, run, "stop", how == WIRE_AFTER_EPOCH ? "--after-epoch" : "");
    if (run->own)
        answer_for(v, feed_stop(v->app->feed, run, how, &e), &e, said);
    else
        tell_other(v, run, how == WIRE_AFTER_EPOCH ? "stop epoch" : "stop step", said);
}

/* Whether the run that was asked about is still the one that is shown. */
static bool same_run(struct runview *v)
{
    struct feed_run *run = runview_run(v);

    return run && v->told && !strcmp(v->told, run->path);
}

static void stop_run(void *user, int answer)
{
    struct runview *v = user;

    if (answer < 0 || answer > 1 || !same_run(v))
        return;
    if (answer == 0)
        stop_with(v, WIRE_AFTER_EPOCH, "stopping after this epoch");
    else
        stop_with(v, WIRE_AFTER_STEP, "stopping after this step; R goes on with it");
}

static void stop_cell(void *user, int answer)
{
    struct runview *v = user;
    struct feed_run *run = runview_run(v);
    struct err e = {0};

    if (answer < 0 || !run || !same_run(v) || !must_work(v, run))
        return;
    if (answer == 1)
        did(v, run, "stop", "--skip");
    if (answer == 0 && run->own)
        stop_with(v, WIRE_AFTER_CELLS, "the sweep stops after its running cells");
    else if (answer == 1 && run->own)
        answer_for(v, feed_skip(v->app->feed, run, &e), &e, "dropping this cell");
    else if (answer == 1)
        tell_other(v, run, "skip", "dropping this cell");
    else if (answer == 2 && run->own)
        stop_with(v, WIRE_AFTER_STEP, "stopping the sweep; R goes on with it");
    else if (answer == 2)
        stop_with(v, WIRE_AFTER_STEP, "stopping this cell; the sweep goes on with the next one");
}

static void ask_stop(struct runview *v, struct feed_run *run)
{
    static const char *const plain[] = {"after this epoch", "now; R goes on with it", "cancel",
                                        NULL};
    static const char *const waits[] = {"take it out", "cancel", NULL};
    /* what gives something up is not the first: Enter takes that */
    static const char *const cell[] = {"running cells to their end, then no more",
                                       "drop this cell, the sweep goes on",
                                       "stop the sweep now; R goes on with it", "cancel", NULL};
    static const char *const foreign[] = {"cancel", "drop this cell, the sweep goes on",
                                          "stop it now: R goes on with it, the sweep with the next",
                                          NULL};
    bool of_sweep = run->sweep || (!run->own && run->sweep_name[0]);
    struct text question = {0};

    if (!must_work(v, run))
        return;
    free(v->told);
    v->told = mem_text(run->path);
    text_add(&question, "Stop ");
    text_add_clean(&question, run->name[0] ? study_short_name(run->name) : "the run that waits");
    if (of_sweep && run->sweep_name[0]) {
        text_add(&question, ", a cell of the sweep ");
        text_add_clean(&question, run->sweep_name);
    }
    text_add(&question, "?");
    if (of_sweep)
        app_ask(v->app, text_str(&question), run->own ? cell : foreign, stop_cell, v);
    else
        app_ask(v->app, text_str(&question), run->state == WIRE_WAITING ? waits : plain, stop_run,
                v);
    text_free(&question);
}

static void start_again(struct runview *v, const struct feed_run *run, int64_t epochs)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    const char *name = run->name;
    char more[40] = "";
    struct err e = {0};

    start->spec = run->spec;
    start->epochs = epochs;
    snprintf(start->resume, sizeof start->resume, "%s", run->path);
    if (epochs)
        snprintf(more, sizeof more, "epochs=%lld", (long long)epochs);
    if (feed_start_run(v->app->feed, start, &e)) {
        v->pinned = false;
        app_did(v->app, "resume", &name, 1, more);
        app_say(v->app, GRID_GOOD, "it goes on");
    } else {
        app_say(v->app, GRID_BAD, "%s", e.text);
    }
    free(start);
}

static void take_epochs(void *user, const char *text)
{
    struct runview *v = user;
    const struct feed_run *run = runview_run(v);
    int64_t epochs;

    if (!text || !*text || !same_run(v))
        return;
    if (!text_to_int(text, &epochs) || epochs <= run->spec.epochs || epochs > 1000000)
        app_say(v->app, GRID_BAD, "%.40s: it has %lld epochs; a larger whole number goes on", text,
                (long long)run->spec.epochs);
    else
        start_again(v, run, epochs);
}

static void ask_epochs(struct runview *v, const struct feed_run *run)
{
    char label[80], more[32];

    free(v->told);
    v->told = mem_text(run->path);
    snprintf(label, sizeof label, "it is done with %lld epochs; go on to",
             (long long)run->spec.epochs);
    snprintf(more, sizeof more, "%lld", (long long)(2 * run->spec.epochs));
    app_prompt(v->app, label, run->spec.epochs ? more : "1", take_epochs, NULL, v);
}

static void resume(struct runview *v, const struct feed_run *run)
{
    if (at_work(run)) {
        app_say(v->app, GRID_WARN, "it is at work already");
        return;
    }
    if (!run->dead && run->state == WIRE_DONE) {
        ask_epochs(v, run);
        return;
    }
    if (!run->dead && run->state != WIRE_STOPPED) {
        app_say(v->app, GRID_WARN, "it is %s: r runs its experiment again",
                wire_state_name(run->state));
        return;
    }
    start_again(v, run, 0);
}

/* ---- the next run ---- */

void runview_follow_live(struct runview *v)
{
    struct library *l = v->app->library;
    const struct library_run *runs;
    size_t n = 0, followed = 0;

    if (!l || !library_ready(l) || !(runs = library_runs(l, &n)))
        return;
    for (size_t i = n; i-- > 0 && followed < 16;) {
        char *folder;

        if (!runs[i].live)
            continue;
        folder = library_folder(l, runs[i].name);
        if (!feed_find(v->app->feed, folder))
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
            if (live && !(at_work(run) || (!run->own && !run->known)))
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

void runview_take_smooth(struct runview *v)
{
    int64_t level = settings_number(v->app->settings, "plot.smooth", 0);

    v->smooth = smooths[level > 0 && level < (int64_t)MEM_COUNT(smooths) ? level : 0];
}

static void next_smooth(struct runview *v)
{
    size_t i = 0;

    while (i < MEM_COUNT(smooths) - 1 && smooths[i] != v->smooth)
        i++;
    settings_set_number(v->app->settings, "plot.smooth", (int64_t)((i + 1) % MEM_COUNT(smooths)));
    runview_take_smooth(v);
    if (v->smooth)
        app_say(v->app, GRID_TEXT, "training is smoothed over about %lld rows",
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
        settings_set_is(v->app->settings, "run.log", v->log_y);
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
    if (run->path[0])
        return true;
    app_say(v->app, GRID_WARN, "it has no folder yet");
    return false;
}

static void load(struct runview *v, const struct feed_run *run, bool again)
{
    if (!must_have_folder(v, run))
        return;
    screen_setup_load(v->app->screen[SCREEN_SETUP], run->path, again);
    if (!again)
        app_show(v->app, SCREEN_SETUP);
    else
        v->pinned = false;
}

static void mark(struct runview *v, const struct feed_run *run)
{
    bool marked = !library_marked(v->app->library, run->name);

    if (!must_have_folder(v, run))
        return;
    library_mark(v->app->library, run->name, marked);
    app_say(v->app, GRID_MARKED,
            marked ? "marked: 4 compares what is marked" : "it is marked no more");
}

bool runview_key(void *screen, const struct key *key)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);

    if (!run)
        return false;
    if (key->code == UI_CLICK)
        return click(v, key);
    if (plot_key(v, key->code) || scroll_key(v, key->code))
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
        load(v, run, key->code == 'r');
        return true;
    case 'P':
        if (!must_have_folder(v, run))
            return true;
        screen_predict_run(v->app->screen[SCREEN_PREDICT], run->name);
        app_show(v->app, SCREEN_PREDICT);
        return true;
    case ' ':
        mark(v, run);
        return true;
    case 'W':
    case 'M':
        return !must_have_folder(v, run) || runkeys_make(v->app, run->name, key->code);
    default:
        return false;
    }
}
