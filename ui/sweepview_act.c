/* What is done to a sweep from its screen, and to the chosen one of its cells. */
#include "ui/sweepview_int.h"

#include "base/mem.h"
#include "record/ledger.h"
#include "ui/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sweep ---- */

static void send(struct sweepview *v, struct wire_command command)
{
    command.run = v->status.sweep;
    if (!wire_send(v->app->config.wire, &command))
        app_say(v->app, GRID_WARN, "The engine has too much to obey just now; try again.");
    v->merged_ns = 0;
}

struct control {
    struct sweepview *view;
    char *results, *name, *line, *said;
    struct err e;
};

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
        app_say(c->view->app, GRID_DIM, "The program that works on it has been told %s.", c->said);
    free(c->results);
    free(c->name);
    free(c->line);
    free(c->said);
    free(c);
}

static void control(struct sweepview *v, const char *line, const char *said)
{
    struct control *c = mem_new(1, sizeof *c);

    *c = (struct control){.view = v,
                          .results = mem_text(v->app->config.results),
                          .name = mem_text(v->sweep->name),
                          .line = mem_text(line),
                          .said = mem_text(said)};
    tasks_add_slow(v->app->tasks, control_work, control_done, c);
}

/* To whoever works on it: over the wire where that is this program, by a line else. */
static void send_cell(struct sweepview *v, enum wire_command_kind kind, size_t cell, int by)
{
    char line[64];

    if (v->own) {
        send(v, (struct wire_command){.kind = kind, .cell = (uint32_t)cell, .by = by});
        return;
    }
    if (kind == WIRE_SKIP)
        snprintf(line, sizeof line, "skip %zu", cell);
    else
        snprintf(line, sizeof line, "move %zu %d", cell, by);
    control(v, line,
            kind == WIRE_SKIP ? "to drop this cell"
            : by < 0          ? "to have this cell earlier"
                              : "to have this cell later");
}

/* Why it hears nothing. */
static void say_idle(struct sweepview *v)
{
    const char *other = sweepview_elsewhere(v);
    struct text words = {0};

    if (sweepview_open(v->sweep)) {
        text_add(&words, "Nobody is at work on it: R goes on with it");
    } else if (sweepview_beyond(v->sweep)) {
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

static bool works(struct sweepview *v)
{
    if (v->own || v->sweep->live)
        return true;
    say_idle(v);
    return false;
}

bool sweepview_paused(const struct sweepview *v)
{
    if (v->own && v->status.state == WIRE_PAUSED)
        return true;
    return v->sweep && (sweepview_held(v->sweep) || sweepview_any(v->sweep, WIRE_PAUSED));
}

static void pause_sweep(struct sweepview *v)
{
    bool paused = sweepview_paused(v);

    if (!works(v))
        return;
    sweepview_did(v, paused ? "go" : "pause", "");
    if (v->own)
        send(v, (struct wire_command){.kind = paused ? WIRE_GO : WIRE_PAUSE});
    else
        control(v, paused ? "go" : "pause", paused ? "to go on" : "to pause");
}

/* Questions stand for a while: an answer means the sweep that was shown then. */
static void remember_asked(struct sweepview *v)
{
    sweepview_set_text(&v->asked_of, v->name);
}

static bool still_asked(struct sweepview *v)
{
    if (v->sweep && v->name && v->asked_of && !strcmp(v->name, v->asked_of))
        return true;
    app_say(v->app, GRID_WARN, "Nothing was done: another sweep is shown now.");
    return false;
}

static void stop_chosen(void *user, int answer)
{
    static const enum wire_how how[] = {WIRE_AFTER_CELLS, WIRE_AFTER_EPOCH, WIRE_AFTER_STEP};
    static const char *const lines[] = {"stop cells", "stop epoch", "stop step"};
    static const char *const said[] = {"to stop after the cells that run",
                                       "to stop at the end of this epoch",
                                       "to stop now; R goes on with it"};
    static const char *const options[] = {"--after-cells", "--after-epoch", ""};
    struct sweepview *v = user;

    if (answer < 0 || answer > 2 || !still_asked(v))
        return;
    sweepview_merge(v);
    if (!works(v))
        return;
    sweepview_did(v, "stop", options[answer]);
    if (v->own)
        send(v, (struct wire_command){.kind = WIRE_STOP, .how = how[answer]});
    else
        control(v, lines[answer], said[answer]);
}

static void stop_sweep(struct sweepview *v)
{
    static const char *const answers[] = {"after the cells that run", "end of this epoch",
                                          "now; R goes on with it", "cancel", NULL};

    if (!works(v))
        return;
    remember_asked(v);
    app_ask(v->app, "Stop this sweep? What has no result yet is kept for later.", answers,
            stop_chosen, v);
}

static size_t count_bad(const struct sweepview_sweep *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += s->cell[i].known && s->cell[i].state > WIRE_DONE;
    return n;
}

enum how_far { GO_ON, GO_TO_END, TRY_FAILED }; /* to its end: whatever --max-cells left, too */

struct starting { /* a sweep, while the machine is claimed for it */
    struct sweepview *view;
    struct wire_sweep *start;
    size_t bytes;
    char option[48]; /* of the command that does the same */
};

static void begin_sweep(void *user, enum claim_how how, bool elsewhere)
{
    struct starting *b = user;
    struct sweepview *v = b->view;
    struct err e;

    (void)elsewhere;
    if (how == CLAIM_NOW && !feed_start_sweep(v->app->feed, b->start, b->bytes, &e)) {
        app_say(v->app, GRID_BAD, "%s", e.text);
    } else if (how == CLAIM_NOW) {
        const char *name = b->start->name;

        app_did(v->app, "resume", &name, 1, b->option);
        app_say(v->app, GRID_GOOD, "%s goes on.", name);
        v->failed_again = b->start->failed;
        v->merged_ns = 0;
    }
    free(b->start);
    free(b);
}

/* Behind what runs here already. */
static void queue_sweep(struct sweepview *v, const struct record_queue_options *o)
{
    struct record_queue_options options = *o;

    snprintf(options.name, sizeof options.name, "%s", v->sweep->name);
    options.alone = false;
    screen_setup_queue_sweep(v->app->screen[SCREEN_SETUP], &v->sweep->spec, &options);
}

static void start_sweep(struct sweepview *v, enum how_far far)
{
    const struct sweepview_sweep *s = v->sweep;
    struct record_queue_options options = s->options;
    struct starting *b;
    struct wire_sweep *start;
    struct text text = {0};

    options.failed = far == TRY_FAILED;
    if (far == GO_TO_END)
        options.max_cells = (int64_t)sweepview_possible(s);
    if (feed_busy(v->app->feed)) {
        queue_sweep(v, &options);
        return;
    }
    b = mem_new(1, sizeof *b);
    spec_sweep_write(&s->spec, &text);
    b->view = v;
    b->bytes = sizeof *start + text.n + 1;
    b->start = start = mem_new(b->bytes, 1);
    snprintf(start->name, sizeof start->name, "%s", s->name);
    start->grid = options.grid;
    start->failed = options.failed;
    start->jobs = (int32_t)options.jobs;
    start->max_cells = options.max_cells;
    if (far == TRY_FAILED)
        snprintf(b->option, sizeof b->option, "--failed");
    else if (far == GO_TO_END)
        snprintf(b->option, sizeof b->option, "--max-cells %lld", (long long)options.max_cells);
    memcpy(start->text, text_str(&text), text.n + 1);
    text_free(&text);
    claim_machine(v->app, false, begin_sweep, b);
}

static void rest_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer == 0 && still_asked(v))
        start_sweep(v, GO_TO_END);
}

static void ask_for_rest(struct sweepview *v)
{
    static const char *const answers[] = {"the rest too", "cancel", NULL};
    struct text question = {0};

    text_add(&question, "What was asked for is done; ");
    sweepview_add_beyond(v->sweep, &question);
    text_add(&question, ". Go on with the rest?");
    remember_asked(v);
    app_ask(v->app, text_str(&question), answers, rest_chosen, v);
    text_free(&question);
}

static void go_on(struct sweepview *v)
{
    if ((v->own || v->sweep->live) && sweepview_paused(v))
        app_say(v->app, GRID_DIM, "It is paused: p lets it go on.");
    else if (v->own || v->sweep->live)
        app_say(v->app, GRID_DIM, "It is being worked on.");
    else if (sweepview_open(v->sweep))
        start_sweep(v, GO_ON);
    else if (sweepview_beyond(v->sweep))
        ask_for_rest(v);
    else
        app_say(
            v->app, GRID_DIM,
            "No cell waits: each has its result, or was skipped; F trains those again that have no "
            "good end.");
}

static void again_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer == 0 && still_asked(v))
        start_sweep(v, TRY_FAILED);
}

static void failed_again(struct sweepview *v)
{
    static const char *const answers[] = {"train them again", "cancel", NULL};
    size_t n = count_bad(v->sweep);
    char question[128];

    if (v->own || v->sweep->live) {
        app_say(v->app, GRID_DIM, "It is being worked on: stop it first, or wait for its end.");
        return;
    }
    if (!n) {
        app_say(v->app, GRID_DIM, "No cell failed, diverged, ran out of memory or was dropped.");
        return;
    }
    snprintf(question, sizeof question, "Train %zu cell%s without a good end again?", n,
             n == 1 ? "" : "s");
    remember_asked(v);
    app_ask(v->app, question, answers, again_chosen, v);
}

/* ---- the chosen cell ---- */

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

    if (!works(v))
        return;
    w = mem_new(s->repeats + 1, sizeof *w);
    for (size_t r = 0; r < s->repeats; r++) {
        size_t cell = sweepview_cell_of(s, group, r);

        /* of another program's cells that wait nothing is known beforehand, nor their order */
        if (s->cell[cell].known ? s->cell[cell].state == WIRE_WAITING
                                : !v->own && !s->cell[cell].left_out)
            w[n++] = (struct waiting){cell, v->own ? s->cell[cell].place : (int64_t)cell};
    }
    qsort(w, n, sizeof *w, by_place);
    /* The first goes first, so that they do not change places with each other. */
    for (size_t i = 0; i < n; i++)
        send_cell(v, WIRE_MOVE, w[by < 0 ? i : n - 1 - i].cell, by);
    if (n)
        sweepview_did_move(v, group, by);
    else
        app_say(v->app, GRID_DIM, "This cell does not wait any more.");
    free(w);
}

static bool can_drop(const struct sweepview_sweep *s, size_t group, size_t r)
{
    const struct sweepview_cell *c = &s->cell[sweepview_cell_of(s, group, r)];

    return c->known && c->state < WIRE_STOPPED;
}

static bool any_to_drop(const struct sweepview_sweep *s, size_t group)
{
    for (size_t r = 0; r < s->repeats; r++)
        if (can_drop(s, group, r))
            return true;
    return false;
}

static void drop_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer != 0 || !still_asked(v) || v->asked >= v->sweep->groups)
        return;
    sweepview_merge(v); /* what has happened while the question stood */
    if (!any_to_drop(v->sweep, v->asked)) {
        app_say(v->app, GRID_WARN, "It had ended before the answer came: it keeps its result.");
        return;
    }
    if (!works(v))
        return;
    for (size_t r = 0; r < v->sweep->repeats; r++)
        if (can_drop(v->sweep, v->asked, r))
            send_cell(v, WIRE_SKIP, sweepview_cell_of(v->sweep, v->asked, r), 0);
    sweepview_did_drop(v, v->asked);
    v->dropping = v->asked + 1;
}

static void drop_cells(struct sweepview *v)
{
    static const char *const answers[] = {"drop it", "keep it", NULL};
    struct text question = {0};

    if (!works(v))
        return;
    v->asked = sweepview_chosen(v->sweep, &v->look);
    if (!any_to_drop(v->sweep, v->asked)) {
        app_say(v->app, GRID_DIM, "This cell has ended: there is nothing to drop.");
        return;
    }
    remember_asked(v);
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
        const struct sweepview_cell *c = &s->cell[sweepview_cell_of(s, group, r)];

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
        char *folder = library_folder(v->app->library, running);

        screen_run_watch(v->app->screen[SCREEN_RUN], folder);
        app_show(v->app, SCREEN_RUN);
        free(folder);
    } else if (n) {
        text_add(&what, "cell ");
        sweepview_add_setting(v->sweep, sweepview_chosen(v->sweep, &v->look), &what);
        screen_compare_runs(v->app->screen[SCREEN_COMPARE], names, n, text_str(&what));
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
        app_say(v->app, GRID_MARKED, "%zu run%s %s; %zu marked in all.", n, n == 1 ? "" : "s",
                all ? "unmarked" : "marked", library_marks(v->app->library));
    free(names);
}

static void load_cell(struct sweepview *v, bool again)
{
    const char **names, *running;
    size_t group = sweepview_chosen(v->sweep, &v->look);
    size_t best = v->sweep->group[group].best, n = runs_of(v, &names, &running);

    if (n) {
        const char *name = best < v->sweep->cells ? v->sweep->cell[best].run : names[0];
        char *folder = library_folder(v->app->library, name ? name : names[0]);

        screen_setup_load(v->app->screen[SCREEN_SETUP], folder, again);
        if (!again) /* a start shows Run; it may ask first */
            app_show(v->app, SCREEN_SETUP);
        free(folder);
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
    screen_setup_load_sweep(v->app->screen[SCREEN_SETUP], v->line[v->chosen].name);
    app_show(v->app, SCREEN_SETUP);
}

/* ---- keys ---- */

bool sweepview_act(struct sweepview *v, int32_t code)
{
    switch (code) {
    case 'p':
        pause_sweep(v);
        return true;
    case 'K':
        stop_sweep(v);
        return true;
    case 'R':
        go_on(v);
        return true;
    case 'F':
        failed_again(v);
        return true;
    default:
        return false;
    }
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
        load_cell(v, code == 'r');
        return true;
    default:
        return false;
    }
}
