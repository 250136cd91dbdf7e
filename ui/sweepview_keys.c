/* What the keys of the Sweep screen do. */
#include "ui/sweepview_int.h"

#include "base/mem.h"
#include "record/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct screen_key sweepview_keys[] = {
    {"Up Down Left Right", NULL, "Moves over the board, or over the list of sweeps."},
    {"Enter", "open", "Opens the cell: its run where it runs, else the curves of its repeats."},
    {"Tab", "list", "From the board to the list of sweeps and back."},
    {"[ ]", NULL, "The page before or behind: what varies beside the two axes."},
    {"a", "axes", "Other keys as rows and columns."},
    {"b", "best", "Goes to the best cell, wherever it is."},
    {"p", "pause", "Pauses the sweep, or lets it go on."},
    {"K", "stop", "Stops the sweep, resumable: behind the cells that run, at an epoch's end, now."},
    {"R", "go on", "Goes on with a sweep that was stopped: what has no result yet is trained."},
    {"F", "failed", "Trains again what failed, diverged, ran out of memory or was dropped."},
    {"+ -", NULL, "Earlier or later in the queue, while the cell waits."},
    {"d", NULL, "Drops the cell: it gets no result. It asks first."},
    {"Space", NULL, "Marks the cell's runs, as on Results."},
    {"e", NULL, "Loads the cell's experiment into Setup."},
    {"r", NULL, "Runs the cell's experiment again, as a run of its own."},
    {NULL, NULL, NULL},
};

/* ---- moving ---- */

static int clamped(int value, int most)
{
    return value > most ? (most < 0 ? 0 : most) : value < 0 ? 0 : value;
}

static bool has_board(const struct sweepview *v)
{
    return v->sweep && !v->sweep->problem && v->sweep->dims && v->sweep->cells;
}

static void move_in_list(struct sweepview *v, int by)
{
    v->chosen = (size_t)clamped((int)v->chosen + by, (int)v->lines - 1);
    if (v->wide && v->chosen < v->lines)
        sweepview_show_sweep(v, v->line[v->chosen].name);
}

static void move_on_board(struct sweepview *v, int rows, int columns)
{
    const struct sweepview_sweep *s = v->sweep;
    struct sweepview_look *look = &v->look;
    int high = look->rows < s->dims ? (int)s->dim[look->rows].values : 1;
    int wide = look->columns < s->dims ? (int)s->dim[look->columns].values : 1;

    look->view.row = clamped(look->view.row + rows, high - 1);
    look->view.column = clamped(look->view.column + columns, wide - 1);
}

static void turn_page(struct sweepview *v, int by)
{
    size_t pages = sweepview_pages(v->sweep, &v->look), page = sweepview_page(v->sweep, &v->look);

    if (pages < 2) {
        app_say(v->app, GRID_DIM, "This sweep has one page: nothing varies beside the two axes.");
        return;
    }
    sweepview_set_page(v->sweep, &v->look, (page + pages + (size_t)(by + (int)pages)) % pages);
}

static void other_axes(struct sweepview *v)
{
    const struct sweepview_sweep *s = v->sweep;

    if (!sweepview_other_axes(s, &v->look))
        app_say(v->app, GRID_DIM, "One key varies: there are no other axes.");
    else
        app_say(v->app, GRID_DIM, "%s down, %s across", s->dim[v->look.rows].name,
                s->dim[v->look.columns].name);
}

/* ---- the sweep ---- */

static void send(struct sweepview *v, struct wire_command command)
{
    command.run = v->status.sweep;
    if (!wire_send(v->app->config.wire, &command))
        app_say(v->app, GRID_WARN, "The engine has too much to obey just now; try again.");
    v->merged_ns = 0;
}

static void control(struct sweepview *v, const char *line)
{
    struct err e;

    if (record_sweep_control(v->app->config.results, v->sweep->name, line, &e) != ERR_OK)
        app_say(v->app, GRID_BAD, "%s", e.text);
    else
        app_say(v->app, GRID_DIM, "The program that works on it has been told: %s.", line);
}

static bool any_paused(const struct sweepview_sweep *s)
{
    for (size_t i = 0; i < s->cells; i++)
        if (s->cell[i].known && s->cell[i].state == WIRE_PAUSED)
            return true;
    return false;
}

static bool works(struct sweepview *v)
{
    if (v->own || v->sweep->live)
        return true;
    app_say(v->app, GRID_DIM, "Nobody is at work on it; R goes on with it.");
    return false;
}

static void pause_sweep(struct sweepview *v)
{
    bool paused = v->own ? v->status.state == WIRE_PAUSED : any_paused(v->sweep);

    if (!works(v))
        return;
    if (v->own)
        send(v, (struct wire_command){.kind = paused ? WIRE_GO : WIRE_PAUSE});
    else
        control(v, paused ? "go" : "pause");
}

static void stop_chosen(void *user, int answer)
{
    static const enum wire_how how[] = {WIRE_AFTER_CELLS, WIRE_AFTER_EPOCH, WIRE_AFTER_STEP};
    static const char *const lines[] = {"stop cells", "stop epoch", "stop step"};
    struct sweepview *v = user;

    if (answer < 0 || answer > 2 || !v->sweep)
        return;
    if (v->own)
        send(v, (struct wire_command){.kind = WIRE_STOP, .how = how[answer]});
    else
        control(v, lines[answer]);
}

static void stop_sweep(struct sweepview *v)
{
    static const char *const answers[] = {"after the cells that run", "end of this epoch",
                                          "now, resumable", "cancel", NULL};

    if (works(v))
        app_ask(v->app, "Stop this sweep? What has no result yet is kept for later.", answers,
                stop_chosen, v);
}

static size_t count_states(const struct sweepview_sweep *s, bool failed)
{
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++) {
        const struct sweepview_cell *c = &s->cell[i];

        if (failed ? c->known && c->state > WIRE_DONE
                   : !c->left_out && (!c->known || c->state < WIRE_DONE))
            n++;
    }
    return n;
}

static void start_sweep(struct sweepview *v, bool failed)
{
    const struct sweepview_sweep *s = v->sweep;
    struct wire_sweep *start;
    struct text text = {0};
    struct err e;
    size_t bytes;

    spec_sweep_write(&s->spec, &text);
    bytes = sizeof *start + text.n + 1;
    start = mem_new(bytes, 1);
    snprintf(start->name, sizeof start->name, "%s", s->name);
    start->grid = s->options.grid;
    start->failed = failed;
    start->jobs = (int32_t)s->options.jobs;
    start->max_cells = s->options.max_cells;
    memcpy(start->text, text_str(&text), text.n + 1);
    text_free(&text);
    if (!feed_start_sweep(v->app->feed, start, bytes, &e))
        app_say(v->app, GRID_BAD, "%s", e.text);
    else
        app_say(v->app, GRID_GOOD, "%s goes on.", s->name);
    free(start);
    v->merged_ns = 0;
}

static void go_on(struct sweepview *v)
{
    if (v->own || v->sweep->live)
        app_say(v->app, GRID_DIM, "It is being worked on.");
    else if (!count_states(v->sweep, false))
        app_say(v->app, GRID_DIM, "Every cell has its result; F trains again those that failed.");
    else
        start_sweep(v, false);
}

static void again_chosen(void *user, int answer)
{
    struct sweepview *v = user;

    if (answer == 0 && v->sweep)
        start_sweep(v, true);
}

static void failed_again(struct sweepview *v)
{
    static const char *const answers[] = {"train them again", "cancel", NULL};
    size_t n = count_states(v->sweep, true);
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
    app_ask(v->app, question, answers, again_chosen, v);
}

/* ---- the chosen cell ---- */

static bool may_queue(struct sweepview *v)
{
    if (v->own)
        return true;
    app_say(v->app, GRID_DIM,
            v->sweep->live ? "Another program has the queue: it hears pause, go on and stop alone."
                           : "Nobody is at work on it; R goes on with it.");
    return false;
}

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

    if (!may_queue(v))
        return;
    w = mem_new(s->repeats + 1, sizeof *w);
    for (size_t r = 0; r < s->repeats; r++) {
        size_t cell = sweepview_cell_of(s, group, r);

        if (s->cell[cell].known && s->cell[cell].state == WIRE_WAITING)
            w[n++] = (struct waiting){cell, s->cell[cell].place};
    }
    qsort(w, n, sizeof *w, by_place);
    /* The first goes first, so that they do not change places with each other. */
    for (size_t i = 0; i < n; i++)
        send(v, (struct wire_command){
                    .kind = WIRE_MOVE, .cell = (uint32_t)w[by < 0 ? i : n - 1 - i].cell, .by = by});
    if (!n)
        app_say(v->app, GRID_DIM, "This cell does not wait any more.");
    free(w);
}

static void drop_chosen(void *user, int answer)
{
    struct sweepview *v = user;
    size_t n = 0;

    if (answer != 0 || !v->sweep || !v->own || v->asked >= v->sweep->groups)
        return;
    for (size_t r = 0; r < v->sweep->repeats; r++) {
        size_t cell = sweepview_cell_of(v->sweep, v->asked, r);

        if (v->sweep->cell[cell].known && v->sweep->cell[cell].state < WIRE_STOPPED) {
            send(v, (struct wire_command){.kind = WIRE_SKIP, .cell = (uint32_t)cell});
            n++;
        }
    }
    if (!n)
        app_say(v->app, GRID_DIM, "This cell has ended meanwhile.");
}

static void drop_cells(struct sweepview *v)
{
    static const char *const answers[] = {"drop it", "keep it", NULL};
    struct text question = {0};

    if (!may_queue(v))
        return;
    v->asked = sweepview_chosen(v->sweep, &v->look);
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
        app_say(v->app, GRID_DIM, "This cell has no run yet.");
    return n;
}

static void open_cell(struct sweepview *v)
{
    const char **names, *running;
    size_t n = runs_of(v, &names, &running);

    if (running) {
        char *folder = library_folder(v->app->library, running);

        screen_run_watch(v->app->screen[SCREEN_RUN], folder);
        app_show(v->app, SCREEN_RUN);
        free(folder);
    } else if (n) {
        screen_compare_runs(v->app->screen[SCREEN_COMPARE], names, n);
        app_show(v->app, SCREEN_COMPARE);
    }
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
        app_show(v->app, again ? SCREEN_RUN : SCREEN_SETUP);
        free(folder);
    }
    free(names);
}

/* ---- keys ---- */

static bool sweep_key(struct sweepview *v, int32_t code)
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

static bool move_key(struct sweepview *v, int32_t code)
{
    switch (code) {
    case UI_UP:
    case 'k':
    case UI_WHEEL_UP:
        move_on_board(v, -1, 0);
        return true;
    case UI_DOWN:
    case 'j':
    case UI_WHEEL_DOWN:
        move_on_board(v, 1, 0);
        return true;
    case UI_LEFT:
    case 'h':
        move_on_board(v, 0, -1);
        return true;
    case UI_RIGHT:
    case 'l':
        move_on_board(v, 0, 1);
        return true;
    case UI_HOME:
        move_on_board(v, -SWEEPVIEW_MOST_CELLS, -SWEEPVIEW_MOST_CELLS);
        return true;
    case UI_END:
        move_on_board(v, SWEEPVIEW_MOST_CELLS, SWEEPVIEW_MOST_CELLS);
        return true;
    case UI_PAGE_UP:
    case '[':
        turn_page(v, -1);
        return true;
    case UI_PAGE_DOWN:
    case ']':
        turn_page(v, 1);
        return true;
    default:
        return false;
    }
}

static bool cell_key(struct sweepview *v, int32_t code)
{
    switch (code) {
    case UI_ENTER:
        open_cell(v);
        return true;
    case 'a':
        other_axes(v);
        return true;
    case 'b':
        if (v->sweep->best < v->sweep->groups)
            sweepview_go_to(v->sweep, &v->look, v->sweep->best);
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
        return move_key(v, code) || sweep_key(v, code);
    }
}

static void enter_sweep(struct sweepview *v)
{
    if (v->chosen < v->lines)
        sweepview_show_sweep(v, v->line[v->chosen].name);
    v->pane = SWEEPVIEW_BOARD;
}

static bool list_key(struct sweepview *v, int32_t code)
{
    switch (code) {
    case UI_UP:
    case 'k':
    case UI_WHEEL_UP:
        move_in_list(v, -1);
        return true;
    case UI_DOWN:
    case 'j':
    case UI_WHEEL_DOWN:
        move_in_list(v, 1);
        return true;
    case UI_PAGE_UP:
        move_in_list(v, -10);
        return true;
    case UI_PAGE_DOWN:
        move_in_list(v, 10);
        return true;
    case UI_HOME:
        move_in_list(v, -(int)v->lines);
        return true;
    case UI_END:
        move_in_list(v, (int)v->lines);
        return true;
    case UI_ENTER:
    case UI_RIGHT:
    case 'l':
    case UI_ESC:
        enter_sweep(v);
        return true;
    default:
        return has_board(v) && v->wide && sweep_key(v, code);
    }
}

static bool click(struct sweepview *v, const struct key *key)
{
    int row, column;

    if (rect_holds(v->list_at, key->row, key->column)) {
        size_t i = (size_t)(v->first + key->row - v->list_at.row);

        v->pane = SWEEPVIEW_LIST;
        if (i < v->lines) {
            v->chosen = i;
            enter_sweep(v);
        }
        return true;
    }
    if (!has_board(v) || !board_hit(&v->look.view, key->row, key->column, &row, &column))
        return false;
    v->pane = SWEEPVIEW_BOARD;
    v->look.view.row = row;
    v->look.view.column = column;
    if (key->again)
        open_cell(v);
    return true;
}

bool sweepview_key(void *screen, const struct key *key)
{
    struct sweepview *v = screen;

    if (key->code == UI_CLICK)
        return click(v, key);
    if (key->code == UI_TAB || key->code == UI_BACKTAB) {
        v->pane = v->pane == SWEEPVIEW_LIST ? SWEEPVIEW_BOARD : SWEEPVIEW_LIST;
        return true;
    }
    if (v->pane == SWEEPVIEW_LIST)
        return list_key(v, key->code);
    if (key->code == UI_ESC && !v->wide && v->lines > 1) {
        v->pane = SWEEPVIEW_LIST;
        return true;
    }
    return has_board(v) && cell_key(v, key->code);
}
