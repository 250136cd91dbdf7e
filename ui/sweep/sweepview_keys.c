/* What the keys of the Sweep screen do. */
#include "ui/sweep/sweepview_int.h"

#include "ui/app/runkeys.h"

#include <string.h>

/* In the list some mean the whole sweep. */
static const struct screen_key list_keys[] = {
    {"Up Down", "another", ""}, {"Enter", "its board", ""}, {"p", "pause", ""}, {"K", "stop", ""},
    {"R", "go on", ""},         {"F", "failed", ""},        {"e", "edit", ""},  {NULL, NULL, NULL},
};

const struct screen_key sweepview_keys[] = {
    {"Up Down Left Right", NULL, "move over the board, or over the list of sweeps"},
    {"Enter", "open", "opens the cell: its run where it runs, else the curves of its repeats"},
    {"Tab", "list", "from the board to the list of sweeps and back"},
    {"[ ]", NULL, "the page before or behind: what varies beside the two axes"},
    {"a", "axes", "other keys as rows and columns"},
    {"b", "best", "goes to the best cell, wherever it is"},
    {"p", "pause", "pauses the sweep, or lets it go on"},
    {"K", "stop",
     "stops the sweep, after the running cells, at an epoch's end or now; R goes on with it"},
    {"R", "go on",
     "goes on with a sweep that is paused or was stopped: what has no result yet is trained; what "
     "--max-cells left, if you say so; takes a stop after the running cells, or after the epoch, back"},
    {"F", "failed", "trains again what failed, diverged, ran out of memory or was dropped"},
    {"+ -", "order", "earlier or later in the queue, while the cell waits"},
    {"d", "drop", "drops the cell: it gets no result; asks first"},
    {"Space", "mark", "marks the cell's runs for Compare"},
    {"e", "edit", "loads the cell's experiment into Setup; in the list: the whole sweep"},
    {"r", "again", "runs the cell's experiment again, as a run of its own"},
    {NULL, NULL, NULL},
};

static bool has_board(const struct sweepview *v)
{
    return v->sweep && !v->sweep->now->problem && v->sweep->dims && v->sweep->now->cells;
}

/* Of the chosen cell: whether there is anything to open, and to wait for. */
static bool has_run(const struct sweepview *v)
{
    const struct sweepview_sweep *s = v->sweep;
    size_t group = sweepview_chosen(s, &v->look);

    for (size_t r = 0; r < s->repeats; r++)
        if (s->now->cell[sweepview_cell_of(s, group, r)].run)
            return true;
    return false;
}

static bool waits(const struct sweepview *v)
{
    const struct sweepview_group *group = &v->sweep->group[sweepview_chosen(v->sweep, &v->look)];

    return group->of_state[WIRE_WAITING] > 0;
}

/* What nobody works on is neither paused nor stopped, what is done does not go on. */
static void add_acts(const struct sweepview *v, struct text *letters)
{
    const struct sweepview_sweep *s = v->sweep;

    if (v->own || s->now->live) {
        text_add(letters, wire_wish_stops_later(sweepview_is(v)->wish) ? "pRK" : "pK");
        return;
    }
    if (live_sweep_open(s->now) || live_sweep_beyond(s->now))
        text_add(letters, "R");
    if (live_sweep_failed(s->now, false))
        text_add(letters, "F");
}

const struct screen_key *sweepview_hints(void *screen)
{
    static struct screen_key hints[SCREEN_HINTS + 1];
    const struct sweepview *v = screen;
    const struct sweepview_sweep *s = v->sweep;
    bool list = v->pane == SWEEPVIEW_LIST, board = has_board(v);
    bool lives = s && (v->own || s->now->live);
    struct text letters = {0};

    if (list || !board)
        text_add(&letters, !v->lines ? "" : list ? "UE" : "T");
    else
        text_addf(&letters, "%sT%s%s%s", has_run(v) ? "E" : "", lives && waits(v) ? "+d" : "",
                  v->look.columns < s->dims ? "a" : "", s->best < s->groups ? "b" : "");
    if (board)
        add_acts(v, &letters);
    if (list)
        text_add(&letters, v->lines ? "e" : "");
    else if (board && has_run(v))
        text_add(&letters, "Ser");
    screen_hints(hints, list ? list_keys : sweepview_keys, text_str(&letters));
    if (lives)
        runkeys_hint(hints, wire_sweep_is_paused(sweepview_is(v)),
                     wire_wish_stops_later(sweepview_is(v)->wish));
    text_free(&letters);
    return hints;
}

/* ---- moving ---- */

static int clamped(int value, int most)
{
    return value > most ? (most < 0 ? 0 : most) : value < 0 ? 0 : value;
}

static void move_in_list(struct sweepview *v, int by)
{
    v->chosen = (size_t)clamped((int)v->chosen + by, (int)v->lines - 1);
    if (v->chosen < v->lines)
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

/* ---- keys ---- */

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
    case 'a':
        other_axes(v);
        return true;
    case 'b':
        if (v->sweep->best < v->sweep->groups)
            sweepview_go_to(v->sweep, &v->look, v->sweep->best);
        return true;
    default:
        return move_key(v, code) || sweepview_act_cell(v, code) || sweepview_act(v, code);
    }
}

static void enter_sweep(struct sweepview *v)
{
    if (v->chosen < v->lines)
        sweepview_show_sweep(v, v->line[v->chosen].name);
    v->pane = SWEEPVIEW_BOARD;
}

/* Keys that would do something to a sweep, where there is none to be seen. */
static bool say_nothing(struct sweepview *v, int32_t code)
{
    if (code <= 0 || code > 127 || !strchr("pKRFer", (int)code))
        return false;
    app_say(v->app, GRID_DIM,
            v->sweep                 ? "This sweep has no board: its files tell nothing of cells."
            : v->lines || v->looking ? "It is being read."
                                     : "There is no sweep yet.");
    return true;
}

static bool list_key(struct sweepview *v, int32_t code)
{
    int by = key_list_move(code, 10), all = (int)v->lines;

    if (by) {
        move_in_list(v, by > all ? all : by < -all ? -all : by);
        return true;
    }
    switch (code) {
    case UI_ENTER:
    case UI_RIGHT:
    case 'l':
    case UI_ESC:
        enter_sweep(v);
        return true;
    case 'e':
    case 'r':
        sweepview_load(v, code == 'r');
        return true;
    default:
        return has_board(v) ? sweepview_act(v, code) : say_nothing(v, code);
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
        sweepview_act_cell(v, UI_ENTER);
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
    return has_board(v) ? cell_key(v, key->code) : say_nothing(v, key->code);
}
