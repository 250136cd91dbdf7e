/* Screen 5: sweeps as boards. What their files say is read by a task; of this process's own sweeps the
 * wire tells sooner. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "ui/app/screens.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS  1000000000u /* between two looks at the disk */
#define MERGE_NS 250000000u  /* between two looks at the wire */

struct look_task {
    struct sweepview *view;
    char *results, *name;
    uint64_t stamp;
    struct sweepview_line *old;
    size_t olds;
    struct sweepview_disk disk;
};

/* ---- from the wire ---- */

/* The newest of this process's sweeps of that name; without a name the newest at all. */
static bool find_own(const struct sweepview *v, const char *name, struct wire_sweep_status *out)
{
    size_t n;
    struct wire_sweep_status *all = wire_sweeps(v->app->config.wire, &n);
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        bool fits = name ? !strcmp(all[i].name, name)
                         : all[i].name[0] && all[i].path[0] && !wire_state_ended(all[i].state);

        if (fits) {
            *out = all[i];
            found = true;
        }
    }
    free(all);
    return found;
}

/* Runs of this process by their numbers: name, how much of it is done, and whether it is paused alone. */
static void take_run(struct sweepview *v, uint32_t number, struct live_cell *c)
{
    struct feed *feed = v->app->feed;
    size_t n = feed ? feed_count(feed) : 0;

    for (size_t i = 0; i < n; i++) {
        const struct feed_run *run = feed_at(feed, i);

        if (run->number != number)
            continue;
        if (run->name[0])
            live_set_text(&c->run, run->name);
        c->share = run->run_share;
        c->full = feed_lacks_room(feed, run);
        if (c->state == WIRE_RUNNING && run->state == WIRE_PAUSED)
            c->state = WIRE_PAUSED;
    }
}

static void merge_cell(struct sweepview *v, const struct wire_cell *from)
{
    struct live_cell *c;

    if (!from->known || from->cell >= v->sweep->now->cells)
        return;
    c = &v->sweep->now->cell[from->cell];
    /* What was dropped stays so: the engine sees it in the ledger when its turn comes. */
    if (c->known && c->state == WIRE_SKIPPED && from->state == WIRE_WAITING && !v->failed_again)
        return;
    c->known = true;
    c->left_out = c->dead = c->full = c->beyond = false;
    c->state = from->state;
    c->acc = from->acc;
    c->val_acc = from->val_acc;
    c->seconds = from->seconds;
    c->place = from->state == WIRE_WAITING ? from->place : -1;
    c->elsewhere = from->state == WIRE_RUNNING && !from->run;
    if (from->run && from->state != WIRE_WAITING)
        take_run(v, from->run, c);
}

const struct wire_sweep_status *sweepview_is(const struct sweepview *v)
{
    return v->own ? &v->status : &v->sweep->now->is;
}

/* What became of a drop that was sent: the cell may have ended on its own before. */
static void tell_dropped(struct sweepview *v)
{
    const struct sweepview_group *group;
    struct text words = {0};

    if (!v->dropping || v->dropping > v->sweep->groups)
        return;
    group = &v->sweep->group[v->dropping - 1];
    if (group->of_state[WIRE_WAITING] + group->of_state[WIRE_RUNNING] +
        group->of_state[WIRE_PAUSED])
        return;
    sweepview_add_setting(v->sweep, v->dropping - 1, &words);
    if (group->of_state[WIRE_SKIPPED])
        app_say(v->app, GRID_GOOD, "%s is dropped.", text_str(&words));
    else
        app_say(v->app, GRID_WARN, "%s had ended before it could be dropped.", text_str(&words));
    text_free(&words);
    v->dropping = 0;
}

bool sweepview_merge(struct sweepview *v)
{
    struct wire *wire = v->app->config.wire;
    bool was = v->own;
    size_t n;

    v->own = false;
    if (!v->sweep || !find_own(v, v->sweep->now->name, &v->status))
        return false;
    v->own = !wire_state_ended(v->status.state);
    if ((!v->own && !was) || v->sweep->now->problem)
        return false;
    n = wire_cells(wire, v->status.sweep, v->wire_cell, v->wire_room);
    if (n > v->wire_room) {
        v->wire_cell = mem_grow(v->wire_cell, &v->wire_room, n, sizeof *v->wire_cell);
        n = wire_cells(wire, v->status.sweep, v->wire_cell, v->wire_room);
    }
    for (size_t i = 0; i < n && i < v->wire_room; i++)
        merge_cell(v, &v->wire_cell[i]);
    v->sweep->now->live = v->own;
    if (!v->own) /* its end: files tell the rest */
        v->looked_ns = v->sweep->now->stamp = 0;
    sweepview_sum(v->sweep);
    tell_dropped(v);
    return true;
}

static bool at_work(const struct sweepview *v)
{
    return v->own || (v->sweep && v->sweep->now->live);
}

const char *sweepview_elsewhere(const struct sweepview *v)
{
    for (size_t i = 0; i < v->lines; i++)
        if (v->line[i].live && v->name && strcmp(v->line[i].name, v->name) != 0)
            return v->line[i].name;
    return NULL;
}

/* Each sweep that begins here is shown once without being asked for. */
static bool follow_own(struct sweepview *v)
{
    struct wire_sweep_status own;

    if (!find_own(v, NULL, &own) || own.sweep == v->followed)
        return false;
    v->followed = own.sweep;
    if (v->name && !strcmp(v->name, own.name))
        return false;
    sweepview_show_sweep(v, own.name);
    return true;
}

/* A sweep of another program that has begun since the look before; NULL: none. */
static const char *begun(const struct sweepview_line *was, size_t n,
                         const struct sweepview_disk *disk)
{
    for (size_t i = 0; i < disk->lines; i++) {
        const struct sweepview_line *line = &disk->line[i];
        bool lived = false;

        for (size_t k = 0; k < n; k++)
            lived |= was[k].live && !strcmp(was[k].name, line->name);
        if (line->live && !lived)
            return line->name;
    }
    return NULL;
}

/* ---- from the disk ---- */

static bool same_shape(const struct sweepview_sweep *a, const struct sweepview_sweep *b)
{
    if (!a || a->now->problem || b->now->problem || a->dims != b->dims ||
        a->repeats_dim != b->repeats_dim)
        return false;
    for (size_t d = 0; d < a->dims; d++)
        if (a->dim[d].values != b->dim[d].values || strcmp(a->dim[d].name, b->dim[d].name) != 0)
            return false;
    return true;
}

static void take_sweep(struct sweepview *v, struct sweepview_sweep *s)
{
    bool known =
        v->has_look && same_shape(v->sweep, s) && !strcmp(v->sweep->now->name, s->now->name);

    sweepview_free(v->sweep);
    v->sweep = s;
    live_set_text(&v->name, s->now->name);
    sweepview_merge(v);
    if (!v->own && !s->now->problem)
        tell_dropped(v);
    if (!known && !s->now->problem)
        sweepview_first_look(s, &v->look);
    v->has_look = !s->now->problem;
}

static void take_disk(struct sweepview *v, struct sweepview_disk *disk, const char *asked)
{
    char *under = v->chosen < v->lines ? mem_text(v->line[v->chosen].name) : NULL;
    const char *newer = v->read && !at_work(v) ? begun(v->line, v->lines, disk) : NULL;
    bool still = asked && v->name ? !strcmp(asked, v->name) : !asked && !v->name;

    sweepview_free_lines(v->line, v->lines);
    v->line = disk->line;
    v->lines = disk->lines;
    if (disk->sweep && still)
        take_sweep(v, disk->sweep);
    else
        sweepview_free(disk->sweep);
    if (disk->gone && still) {
        app_say(v->app, GRID_WARN, "The sweep %s is not there any more.", asked);
        live_set_text(&v->name, NULL);
        sweepview_free(v->sweep);
        v->sweep = NULL;
    }
    v->chosen = v->lines ? v->lines - 1 < v->chosen ? v->lines - 1 : v->chosen : 0;
    for (size_t i = 0; i < v->lines; i++)
        if (under ? !strcmp(v->line[i].name, under) : v->name && !strcmp(v->line[i].name, v->name))
            v->chosen = i;
    free(under);
    *disk = (struct sweepview_disk){0};
    if (newer && !at_work(v)) /* its name is the line's */
        sweepview_show_sweep(v, newer);
}

static void look_work(void *arg)
{
    struct look_task *t = arg;

    sweepview_read(t->results, t->name, t->stamp, t->old, t->olds, &t->disk);
}

static void look(struct sweepview *v);

static void look_done(void *arg, bool dropped)
{
    struct look_task *t = arg;

    if (!dropped) {
        t->view->looking = false;
        take_disk(t->view, &t->disk, t->name);
        t->view->read = true;
        if (t->view->name && !t->view->sweep) /* another was chosen meanwhile */
            look(t->view);
        t->view->app->dirty = true;
    }
    sweepview_free_lines(t->disk.line, t->disk.lines);
    sweepview_free(t->disk.sweep);
    sweepview_free_lines(t->old, t->olds);
    free(t->results);
    free(t->name);
    free(t);
}

static void look(struct sweepview *v)
{
    struct look_task *t;

    if (v->looking || !v->app->tasks)
        return;
    t = mem_new(1, sizeof *t);
    t->view = v;
    t->results = mem_text(v->app->config.results);
    t->name = v->name ? mem_text(v->name) : NULL;
    t->stamp = v->sweep ? v->sweep->now->stamp : 0;
    t->old = mem_new(v->lines + 1, sizeof *t->old);
    t->olds = v->lines;
    for (size_t i = 0; i < v->lines; i++) {
        t->old[i] = v->line[i];
        t->old[i].name = mem_text(v->line[i].name);
    }
    v->looking = true;
    v->looked_ns = app_ns(v->app);
    tasks_add(v->app->tasks, look_work, look_done, t);
}

void sweepview_show_sweep(struct sweepview *v, const char *name)
{
    if (v->name && !strcmp(v->name, name))
        return;
    live_set_text(&v->name, name);
    sweepview_free(v->sweep);
    v->sweep = NULL;
    v->own = v->has_look = false;
    v->dropping = 0;
    for (size_t i = 0; i < v->lines; i++)
        if (!strcmp(v->line[i].name, name))
            v->chosen = i;
    look(v);
}

void screen_sweep_open(struct sweepview *v, const char *name)
{
    v->pane = SWEEPVIEW_BOARD;
    sweepview_show_sweep(v, name);
}

static bool take(void *screen, const struct screen_request *request)
{
    struct sweepview *v = screen;

    if (request->what == SCREEN_NAME)
        *request->shown = v->name;
    else if (request->what == SCREEN_TAKE_SWEEP)
        screen_sweep_open(v, request->name);
    else
        return false;
    return true;
}

/* ---- the screen ---- */

static void *open_screen(struct app *app)
{
    struct sweepview *v = mem_new(1, sizeof *v);

    v->app = app;
    v->pane = SWEEPVIEW_BOARD;
    return v;
}

static void close_screen(void *screen)
{
    struct sweepview *v = screen;

    sweepview_free_lines(v->line, v->lines);
    sweepview_free(v->sweep);
    free(v->wire_cell);
    free(v->asked_of);
    free(v->promised);
    free(v->name);
    free(v);
}

static void show_screen(void *screen)
{
    struct sweepview *v = screen;

    if (follow_own(v))
        v->pane = SWEEPVIEW_BOARD;
    look(v);
}

static bool tick(void *screen)
{
    struct sweepview *v = screen;
    uint64_t now = app_ns(v->app);
    bool changed = false;

    sweepview_tell_status(v);
    sweepview_keep_promise(v);
    if (v->app->shown != SCREEN_SWEEP)
        return false;
    if (now - v->merged_ns >= MERGE_NS) {
        v->merged_ns = now;
        changed = follow_own(v);
        changed |= sweepview_merge(v);
    }
    if (!v->looking && (!v->read || now - v->looked_ns >= LOOK_NS))
        look(v);
    return changed;
}

static void event(void *screen, const struct wire_event *e, const void *slot, size_t n)
{
    struct sweepview *v = screen;

    (void)slot;
    (void)n;
    if (e->kind == WIRE_CELL && v->own && e->run == v->status.sweep)
        v->merged_ns = 0; /* at the next tick */
}

const struct screen screen_sweep = {
    .name = "Sweep",
    .about =
        "A sweep as a board: each cell is a setting, coloured by its test accuracy. Choose the "
        "sweep at the left, a page for what else varies, and open a cell's curves. Behind a value … "
        "says that seeds of its setting are still to come, ! that some diverged or failed (also where "
        "none has a value yet). Sweeps of other programs are shown as they go; pause and stop reach "
        "those too.",
    .keys = sweepview_keys,
    .hints = sweepview_hints,
    .open = open_screen,
    .close = close_screen,
    .show = show_screen,
    .take = take,
    .draw = sweepview_draw,
    .key = sweepview_key,
    .event = event,
    .tick = tick,
    .command = sweepview_command,
    .runs = sweepview_runs,
    .offers = sweepview_offers,
    .forms = sweepview_forms,
    .write = sweepview_write,
};
