/* What the line of status says of a sweep that another program works on, and of one that has ended here:
 * read by tasks, on whatever screen one is. */
#include "ui/sweep/sweepview_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/sweep/sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS 1000000000u
#define REST    20 /* a look that takes long comes the less often */

struct status_task {
    struct sweepview *view;
    char *results;
    const char **own; /* (owns): sweeps of this program */
    size_t owns;
    uint64_t took;
    uint64_t stamp; /* of the files of what was found before, then of what is found */
    struct feed_sweep before, found;
};

/* One that is over has other cells once a run of it is removed, or brought back; where it is gone as a whole,
 * what was told of it stands. */
static void look_at_ended(struct status_task *t)
{
    const char *name = t->before.is.name;
    uint64_t now = record_sweep_stamp(t->results, name);
    bool told = wire_state_ended(t->before.is.state);

    if (!told || (now && now != t->stamp)) {
        t->stamp = now;
        sweepview_read_over(t->results, name, &t->found);
    }
    if (told && !t->found.is.name[0])
        t->found = t->before;
}

static void work(void *arg)
{
    struct status_task *t = arg;
    uint64_t begun = clock_ns();

    if (!sweepview_read_live(t->results, t->own, t->owns, &t->found) && t->before.is.name[0])
        look_at_ended(t);
    t->took = clock_ns() - begun;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_sweep(const struct feed_sweep *a, const struct feed_sweep *b)
{
    const struct wire_sweep_status *x = &a->is, *y = &b->is;

    return !strcmp(x->name, y->name) && x->cells == y->cells && x->state == y->state &&
           x->counting == y->counting && x->closing == y->closing && x->wish == y->wish &&
           wire_sweep_lacks_room(x) == wire_sweep_lacks_room(y) && x->running == y->running &&
           x->paused == y->paused && x->elsewhere == y->elsewhere &&
           wire_sweep_ended(x) == wire_sweep_ended(y) && a->dead == b->dead && a->told == b->told &&
           a->mean == b->mean && same(a->best, b->best) && a->by_valid == b->by_valid &&
           same(x->left_seconds, y->left_seconds);
}

static void done(void *arg, bool dropped)
{
    struct status_task *t = arg;
    struct sweepview *v = t->view;

    if (!dropped) {
        bool news = !same_sweep(&v->told, &t->found);

        v->telling = false;
        v->tell_ns = app_ns(v->app) + (t->took * REST > LOOK_NS ? t->took * REST : LOOK_NS);
        v->app->dirty |= news;
        v->told = t->found;
        v->told_stamp = t->stamp;
        if (news ||
            !wire_state_ended(
                t->found.is.state)) /* that one is over is told until something else is at work */
            feed_set_elsewhere(v->app->feed, &v->told);
    }
    for (size_t i = 0; i < t->owns; i++)
        free((char *)t->own[i]);
    free(t->own);
    free(t->results);
    free(t);
}

static void take_own(struct status_task *t, struct wire *wire)
{
    size_t n;
    struct wire_sweep_status *all = wire_sweeps(wire, &n);

    t->own = mem_new(n + 1, sizeof *t->own);
    for (size_t i = 0; i < n; i++) {
        uint32_t *over = &t->view->over[all[i].sweep >= WIRE_OWN_RUNS];

        if (!wire_state_ended(all[i].state)) {
            t->own[t->owns++] = mem_text(all[i].name);
        } else if (all[i].sweep > *over) { /* now it is one like those of others */
            *over = all[i].sweep;
            t->before = (struct feed_sweep){0};
            snprintf(t->before.is.name, sizeof t->before.is.name, "%s", all[i].name);
        }
    }
    free(all);
}

void sweepview_tell_status(struct sweepview *v)
{
    struct status_task *t;

    if (v->telling || !v->app->tasks || !v->app->feed || app_ns(v->app) < v->tell_ns)
        return;
    v->telling = true;
    t = mem_new(1, sizeof *t);
    t->view = v;
    t->results = mem_text(v->app->config.results);
    t->before = v->told;
    t->stamp = v->told_stamp;
    take_own(t, v->app->config.wire);
    tasks_add(v->app->tasks, work, done, t);
}
