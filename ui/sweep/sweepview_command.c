/* What a sweep is told, over the wire or by a line, and what is said of it. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"
#include "record/sweep/sweeps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sweepview_send(struct sweepview *v, struct wire_command command)
{
    command.run = v->status.sweep;
    if (!wire_send(v->app->config.wire, &command))
        app_say(v->app, GRID_WARN, "The engine has too much to obey just now; try again.");
    v->merged_ns = 0;
}

struct control {
    struct sweepview *view;
    char *results, *name, *line, *said;
    const char *standing; /* when it was told */
    struct err e;
};

/* Stands until it has come true, or something else has. */
static void promise(struct sweepview *v, const char *standing, const char *said)
{
    free(v->promised);
    v->promised = mem_textf("The program that works on it has been told %s.", said);
    v->promised_at = standing;
    app_say(v->app, GRID_DIM, "%s", v->promised);
}

void sweepview_keep_promise(struct sweepview *v)
{
    if (!v->promised || (v->sweep && !strcmp(v->promised_at, sweepview_standing(v))))
        return;
    app_unsay(v->app, v->promised);
    live_set_text(&v->promised, NULL);
}

static void control_work(void *arg)
{
    struct control *c = arg;

    if (record_sweep_control(c->results, c->name, c->line, &c->e) == ERR_OK)
        c->e.code = ERR_OK;
}

static void control_done(void *arg, bool dropped)
{
    struct control *c = arg;

    if (!dropped && c->e.code != ERR_OK)
        app_say(c->view->app, GRID_BAD, "%s", c->e.text);
    else if (!dropped)
        promise(c->view, c->standing, c->said);
    free(c->results);
    free(c->name);
    free(c->line);
    free(c->said);
    free(c);
}

void sweepview_control(struct sweepview *v, const char *line, const char *said)
{
    struct control *c = mem_new(1, sizeof *c);

    *c = (struct control){.view = v,
                          .results = mem_text(v->app->config.results),
                          .name = mem_text(v->sweep->now->name),
                          .line = mem_text(line),
                          .said = mem_text(said),
                          .standing = sweepview_standing(v)};
    tasks_add_slow(v->app->tasks, control_work, control_done, c);
}

void sweepview_send_cell(struct sweepview *v, enum wire_command_kind kind, size_t cell, int by)
{
    char line[64];

    if (v->own) {
        sweepview_send(v, (struct wire_command){.kind = kind, .cell = (uint32_t)cell, .by = by});
        return;
    }
    if (kind == WIRE_SKIP)
        snprintf(line, sizeof line, "skip %zu", cell);
    else
        snprintf(line, sizeof line, "move %zu %d", cell, by);
    sweepview_control(v, line,
                      kind == WIRE_SKIP ? "to drop this cell"
                      : by < 0          ? "to have this cell earlier"
                                        : "to have this cell later");
}

/* Why it hears nothing. */
static void say_idle(struct sweepview *v)
{
    const char *other = sweepview_elsewhere(v);
    struct text words = {0};

    if (live_sweep_open(v->sweep->now)) {
        text_add(&words, "Nobody works on it: R goes on with it");
    } else if (live_sweep_beyond(v->sweep->now)) {
        text_add(&words, "It is done as far as it was asked for, but ");
        sweepview_add_beyond(v->sweep, &words);
        text_add(&words, ": R has the rest too");
    } else {
        text_add(&words, "It is done: every cell has its result");
    }
    if (other)
        text_addf(&words, "; %s is at work, in the list (Tab)", other);
    app_say(v->app, GRID_DIM, "%s.", text_str(&words));
    text_free(&words);
}

bool sweepview_works(struct sweepview *v)
{
    if (v->own || v->sweep->now->live)
        return true;
    say_idle(v);
    return false;
}

void sweepview_remember_asked(struct sweepview *v)
{
    live_set_text(&v->asked_of, v->name);
}

bool sweepview_still_shown(struct sweepview *v, const char *name)
{
    if (v->sweep && v->name && name && !strcmp(v->name, name))
        return true;
    app_say(v->app, GRID_WARN, "Nothing was done: another sweep is shown now.");
    return false;
}

bool sweepview_still_asked(struct sweepview *v)
{
    return sweepview_still_shown(v, v->asked_of);
}
