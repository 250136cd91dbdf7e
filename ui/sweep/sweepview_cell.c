/* What is done to the chosen cell of a board. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "ui/app/runkeys.h"

#include <stdlib.h>
#include <string.h>

struct waiting {
    size_t cell;
    int64_t place;
};

static int by_place(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

static void move_cells(struct sweepview *v, int by)
{
    const struct sweepview_sweep *s = v->sweep;
    size_t group = sweepview_chosen(s, &v->look), n = 0;
    struct waiting *w;

    if (!sweepview_works(v))
        return;
    w = mem_new(s->repeats + 1, sizeof *w);
    for (size_t r = 0; r < s->repeats; r++) {
        size_t cell = sweepview_cell_of(s, group, r);

        /* of another program's cells that wait nothing is known beforehand, nor their order */
        if (s->now->cell[cell].known ? s->now->cell[cell].state == WIRE_WAITING
                                     : !v->own && !s->now->cell[cell].left_out)
            w[n++] = (struct waiting){cell, v->own ? s->now->cell[cell].place : (int64_t)cell};
    }
    qsort(w, n, sizeof *w, by_place);
    /* The first goes first, so that they do not change places with each other. */
    for (size_t i = 0; i < n; i++)
        sweepview_send_cell(v, WIRE_MOVE, w[by < 0 ? i : n - 1 - i].cell, by);
    if (n)
        sweepview_did_move(v, group, by);
    else
        app_say(v->app, GRID_DIM, "This cell does not wait any more.");
    free(w);
}

static bool can_drop(const struct sweepview_sweep *s, size_t group, size_t r)
{
    const struct live_cell *c = &s->now->cell[sweepview_cell_of(s, group, r)];

    return c->known && c->state < WIRE_STOPPED;
}

static bool any_to_drop(const struct sweepview_sweep *s, size_t group)
{
    for (size_t r = 0; r < s->repeats && group < s->groups; r++) /* it may have been read anew */
        if (can_drop(s, group, r))
            return true;
    return false;
}

static void drop(struct sweepview *v)
{
    if (!any_to_drop(v->sweep, v->asked)) { /* what has happened while a question stood */
        app_say(v->app, GRID_WARN, "It had ended before the answer came: it keeps its result.");
        return;
    }
    for (size_t r = 0; r < v->sweep->repeats; r++)
        if (can_drop(v->sweep, v->asked, r))
            sweepview_send_cell(v, WIRE_SKIP, sweepview_cell_of(v->sweep, v->asked, r), 0);
    sweepview_did_drop(v, v->asked);
    v->dropping = v->asked + 1;
}

/* Of one that is paused alone another cell may begin in its place. */
static bool makes_place(const struct sweepview *v, size_t group)
{
    bool paused = false;

    for (size_t r = 0; r < v->sweep->repeats && !paused; r++)
        paused = v->sweep->now->cell[sweepview_cell_of(v->sweep, group, r)].state == WIRE_PAUSED;
    return paused && sweepview_is(v)->state != WIRE_PAUSED;
}

static void drop_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer != 0 || !sweepview_still_asked(v) || v->asked >= v->sweep->groups)
        return;
    sweepview_merge(v);
    if (any_to_drop(v->sweep, v->asked) && !sweepview_works(v))
        return;
    if (makes_place(v, v->asked))
        sweepview_let_act(v, drop);
    else
        drop(v);
}

static void drop_cells(struct sweepview *v)
{
    static const char *const answers[] = {"drop it", "keep it", NULL};
    struct text question = {0};

    if (!sweepview_works(v))
        return;
    v->asked = sweepview_chosen(v->sweep, &v->look);
    if (!any_to_drop(v->sweep, v->asked)) {
        app_say(v->app, GRID_DIM, "This cell has ended: there is nothing to drop.");
        return;
    }
    sweepview_remember_asked(v);
    text_add(&question, "Drop ");
    sweepview_add_setting(v->sweep, v->asked, &question);
    text_add(&question, "? It gets no result; F brings it back.");
    app_ask(v->app, text_str(&question), answers, drop_chosen, v);
    text_free(&question);
}

/* Names of the chosen cell's runs; the array is the caller's. running: one that computes now. */
static size_t runs_of(const struct sweepview *v, const char ***names, const char **running)
{
    const struct sweepview_sweep *s = v->sweep;
    size_t group = sweepview_chosen(s, &v->look), n = 0;

    *names = mem_new(s->repeats + 1, sizeof **names);
    *running = NULL;
    for (size_t r = 0; r < s->repeats; r++) {
        const struct live_cell *c = &s->now->cell[sweepview_cell_of(s, group, r)];

        if (!c->run)
            continue;
        (*names)[n++] = c->run;
        if (!*running && (c->state == WIRE_RUNNING || c->state == WIRE_PAUSED))
            *running = c->run;
    }
    if (!n)
        app_say(v->app, GRID_DIM, "This cell has no run yet; e in the list (Tab) loads the sweep.");
    return n;
}

static void open_cell(struct sweepview *v)
{
    const char **names, *running;
    size_t n = runs_of(v, &names, &running);
    struct text what = {0};

    if (running) {
        runkeys_watch(v->app, running);
    } else if (n) {
        text_add(&what, "cell ");
        sweepview_add_setting(v->sweep, sweepview_chosen(v->sweep, &v->look), &what);
        app_open(
            v->app, SCREEN_COMPARE,
            &(struct screen_request){
                .what = SCREEN_TAKE_RUNS, .names = names, .count = n, .title = text_str(&what)});
        app_show(v->app, SCREEN_COMPARE);
    }
    text_free(&what);
    free(names);
}

static void mark_cell(struct sweepview *v)
{
    const char **names, *running;
    size_t n = runs_of(v, &names, &running);
    bool all = n > 0;

    for (size_t i = 0; i < n; i++)
        all = all && library_marked(v->app->library, names[i]);
    for (size_t i = 0; i < n; i++)
        library_mark(v->app->library, names[i], !all);
    if (n)
        app_say(v->app, GRID_MARKED, "%s run%s %s; %s marked in all.", TEXT_COUNT(n), text_s(n),
                all ? "unmarked" : "marked", TEXT_COUNT(library_marks(v->app->library)));
    free(names);
}

/* e loads it into Setup, r runs it again. */
static void load_cell(struct sweepview *v, int32_t code)
{
    const char **names, *running;
    size_t group = sweepview_chosen(v->sweep, &v->look);
    size_t best = v->sweep->group[group].best, n = runs_of(v, &names, &running);

    if (n) {
        const char *name = best < v->sweep->now->cells ? v->sweep->now->cell[best].run : names[0];

        (void)runkeys_do(v->app, name ? name : names[0], code);
    }
    free(names);
}

void sweepview_load(struct sweepview *v, bool again)
{
    if (v->chosen >= v->lines || again) {
        app_say(v->app, GRID_DIM,
                again && v->lines
                    ? "R goes on with this sweep, F trains its failures again; e loads it."
                    : "There is no sweep yet.");
        return;
    }
    app_open(v->app, SCREEN_SETUP,
             &(struct screen_request){.what = SCREEN_TAKE_SWEEP, .name = v->line[v->chosen].name});
    app_show(v->app, SCREEN_SETUP);
}

bool sweepview_act_cell(struct sweepview *v, int32_t code)
{
    switch (code) {
    case UI_ENTER:
        open_cell(v);
        return true;
    case '+':
    case '=':
        move_cells(v, -1);
        return true;
    case '-':
        move_cells(v, 1);
        return true;
    case 'd':
        drop_cells(v);
        return true;
    case ' ':
        mark_cell(v);
        return true;
    case 'e':
    case 'r':
        load_cell(v, code);
        return true;
    default:
        return false;
    }
}
