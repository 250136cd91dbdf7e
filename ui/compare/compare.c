/* ui/compare/compare.c: screen 4: marked runs beside each other. */
#include "ui/compare/compare_int.h"

#include "base/mem.h"
#include "draw/ink/words.h"
#include "study/compare.h"
#include "ui/app/runkeys.h"
#include "ui/app/screens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVE_NS   1000000000u /* how often runs at work are read again */
#define MOST_WHAT 30          /* columns */

static const int smooths[] = {0, 3, 10, 30, 100};

static int axis_of(const char *name)
{
    for (int i = 0; i < COMPARE_AXES; i++)
        if (!strcmp(compare_x_names[i], name))
            return i;
    return 0;
}

static void *open_compare(struct app *app)
{
    struct compare *c = mem_new(1, sizeof *c);
    const struct settings *s = app->settings;

    c->app = app;
    c->metric = 1;
    c->x = axis_of(settings_get(s, "compare.x", "epoch"));
    c->sorted = settings_is(s, "compare.sorted", false);
    return c;
}

static void close_compare(void *screen)
{
    struct compare *c = screen;

    compare_free_made(c);
    compare_free_set(c->set);
    for (size_t i = 0; i < c->count; i++)
        free(c->name[i]);
    free(c->name);
    text_free(&c->words);
    text_free(&c->words_of);
    free(c);
}

/* What was given stays until somebody marks anew. */
static void take_marks(struct compare *c)
{
    uint64_t turn = library_marks_turn(c->app->library);
    const char **names;
    size_t count;

    if ((c->given || c->count) && turn == c->marks_turn)
        return;
    names = library_marked_names(c->app->library, &count);
    if (count || !c->given)
        compare_name(c, names, count, false);
    c->marks_turn = turn;
    free(names);
}

static bool marks_have_gone(const struct compare *c)
{
    return !c->given && library_marks(c->app->library) != c->count + c->more;
}

/* What was removed before somebody comes here, as on Results, is known there. */
static void show(void *screen)
{
    struct compare *c = screen;

    if (marks_have_gone(c))
        c->marks_turn = library_marks_turn(c->app->library) - 1;
    take_marks(c);
    c->reload = true;
}

/* Of what is looked at, curves go without a key from anybody: another program removed them. */
static void say_gone(const struct compare *c)
{
    const char *name = NULL;
    size_t gone = 0;

    for (size_t i = 0; i < c->count; i++)
        if (!library_find(c->app->library, c->name[i])) {
            name = c->name[i];
            gone++;
        }
    if (gone == 1)
        app_say(c->app, GRID_WARN, "%s is not there any more", study_short_name(name));
    else if (gone)
        app_say(c->app, GRID_WARN, "%s of the marked runs are not there any more",
                TEXT_COUNT(gone));
}

static bool tick(void *screen)
{
    struct compare *c = screen;
    uint64_t turn = library_turn(c->app->library);
    bool shown = c->app->shown == SCREEN_COMPARE;

    if (shown && turn != c->library_turn) { /* marked runs may have appeared, ended or gone */
        c->library_turn = turn;
        if (marks_have_gone(c)) {
            say_gone(c);
            c->marks_turn = library_marks_turn(c->app->library) - 1;
        }
        c->reload = c->reload || !c->set || c->set->live || c->set->count < c->count;
    }
    if (shown)
        take_marks(c);
    if (shown && c->set && c->set->live && app_ns(c->app) - c->loaded_ns > LIVE_NS)
        c->reload = true;
    if (shown && c->reload && c->count)
        compare_load(c);
    if (c->reload && !c->count && c->set && !c->loading) {
        compare_free_made(c);
        compare_free_set(c->set);
        c->set = NULL;
        c->reload = false;
        return shown;
    }
    return shown && c->stale;
}

void screen_compare_runs(struct compare *c, const char *const *names, size_t count,
                         const char *what)
{
    struct text cut = {0};

    c->scaling = false; /* who asks for runs means their curves */
    words_add_cut(&cut, what, MOST_WHAT, false);
    snprintf(c->what, sizeof c->what, "%s", text_str(&cut));
    text_free(&cut);
    compare_name(c, names, count, true);
}

static bool take(void *screen, const struct screen_request *request)
{
    if (request->what == SCREEN_TAKE_RUNS)
        screen_compare_runs(screen, request->names, request->count, request->title);
    return request->what == SCREEN_TAKE_RUNS;
}

static bool show_marked(struct compare *c)
{
    if (!c->given || !library_marks(c->app->library))
        return false;
    c->given = false;
    c->marks_turn = library_marks_turn(c->app->library) - 1; /* as if they had changed */
    c->cursor = false;
    take_marks(c);
    return true;
}

/* ---- keys ---- */

static void next_metric(struct compare *c)
{
    int n = compare_metrics(), step = c->wide ? 2 : 1, i = c->metric;

    for (int tries = 0; tries < n; tries++) {
        i = (i + step) % n;
        if (compare_has_metric(c, i) || (c->wide && compare_has_metric(c, i ^ 1)))
            break;
    }
    c->metric = i;
}

static void next_smooth(struct compare *c)
{
    size_t i = 0;

    while (i < MEM_COUNT(smooths) - 1 && smooths[i] != c->smooth)
        i++;
    c->smooth = smooths[(i + 1) % MEM_COUNT(smooths)];
}

/* The cursor stands at a cost, which is no place on another axis. */
static void leave_budget(struct compare *c)
{
    c->cursor = c->cursor && !c->equal.on;
    c->equal.on = false;
}

static void next_budget(struct compare *c)
{
    if (!c->equal.on) {
        c->equal = (struct compare_budget){true, STUDY_EPOCHS};
    } else if (c->equal.budget + 1 < STUDY_BUDGETS) {
        c->equal.budget++;
    } else {
        c->equal.on = false;
    }
    c->cursor = false;
    c->over = c->over && !c->equal.on;
    c->scaling = false;
}

static void move_cursor(struct compare *c, int columns)
{
    struct plot *p = &c->plot[0];
    double x;

    if (!p->count || c->scaling)
        return;
    x = plot_step_cursor(p, columns);
    if (!isfinite(x))
        return;
    c->cursor = true;
    c->cursor_x = x;
    compare_set_cursor(c);
}

static void take_target(void *user, const char *text)
{
    struct compare *c = user;
    double value;

    if (!text)
        return;
    if (!*text) {
        c->target = 0;
    } else if (text_to_double(text, &value) && value > 0 && value <= 1) {
        c->target = value;
    } else {
        app_prompt_again(c->app, text);
        app_say(c->app, GRID_BAD, "%s is no accuracy above 0 and up to 1, such as 0.9", text);
        return;
    }
    leave_budget(c);
    c->scaling = false;
    c->stale = true;
}

static void ask_target(struct compare *c)
{
    char number[TEXT_NUMBER_ROOM];

    app_prompt(c->app, "accuracy whose reaching is told (empty: none)",
               c->target > 0 ? text_double(number, c->target) : "", take_target, NULL, c);
}

static bool view_key(struct compare *c, int32_t code)
{
    switch (code) {
    case 'a':
        next_metric(c);
        break;
    case 'x':
        if (c->equal.on || c->scaling) {
            app_say(c->app, GRID_WARN, "here the x axis is %s, which %s leaves",
                    c->equal.on ? "what is equal" : "devices", c->equal.on ? "b" : "v");
            return true;
        }
        c->x = (c->x + 1) % COMPARE_AXES;
        c->cursor = false;
        settings_set(c->app->settings, "compare.x", compare_x_names[c->x]);
        break;
    case 'y':
        c->log_y = !c->log_y;
        break;
    case 'm':
        next_smooth(c);
        break;
    case 'o':
        c->over = !c->over;
        leave_budget(c);
        c->scaling = false;
        break;
    case 'b':
        next_budget(c);
        break;
    case 'v':
        c->scaling = !c->scaling;
        leave_budget(c);
        break;
    case 's':
        c->sorted = !c->sorted;
        settings_set_is(c->app->settings, "compare.sorted", c->sorted);
        break;
    default:
        return false;
    }
    c->stale = true;
    return true;
}

static const char *focused(const struct compare *c)
{
    return c->set && c->set->count && c->focus[0] ? c->focus : NULL;
}

static bool go_key(struct compare *c, int32_t code)
{
    const char *name = focused(c);

    if (!name)
        return false;
    switch (code) {
    case UI_ENTER:
        runkeys_watch(c->app, name);
        return true;
    case 'P':
        runkeys_predict(c->app, name);
        return true;
    default:
        return runkeys_do(c->app, name, code);
    }
}

static void drop_focused(struct compare *c)
{
    const char *name = focused(c);
    const char **kept;
    size_t n = 0;

    if (!name)
        return;
    if (!c->given) {
        library_mark(c->app->library, name, false);
        take_marks(c);
        return;
    }
    kept = mem_new(c->count + 1, sizeof *kept);
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->name[i], name) != 0)
            kept[n++] = mem_text(c->name[i]);
    compare_name(c, kept, n, true);
    for (size_t i = 0; i < n; i++)
        free((char *)kept[i]);
    free(kept);
}

static bool click(struct compare *c, const struct key *key)
{
    for (int i = 0; i < c->panels; i++) {
        double x;

        if (!rect_holds(c->plot_at[i], key->row, key->column) || !c->plot[i].count)
            continue;
        x = plot_cursor_at(&c->plot[i], key->column - c->plot_at[i].column);
        c->table_pane = false;
        if (isfinite(x) && !c->scaling) {
            c->cursor = true;
            c->cursor_x = x;
            compare_set_cursor(c);
        }
        return true;
    }
    if (!rect_holds(c->table_at, key->row, key->column))
        return false;
    c->table_pane = true;
    if (key->row > c->table_at.row)
        compare_focus(c, c->top + (size_t)(key->row - c->table_at.row - 1));
    return key->again ? go_key(c, UI_ENTER) : true;
}

static void scroll_table(struct compare *c, int by)
{
    c->left += by;
    if (c->left > c->columns - 2)
        c->left = c->columns - 2;
    if (c->left < 0)
        c->left = 0;
}

static bool move_key(struct compare *c, const struct key *key)
{
    int by = key_list_move(key->code, c->page);
    size_t back = by < 0 ? (size_t)-by : 0;

    switch (key->code) {
    case UI_LEFT:
    case UI_RIGHT:
    case 'h':
    case 'l':
        if (c->table_pane)
            scroll_table(c, key->code == UI_LEFT || key->code == 'h' ? -1 : 1);
        else
            move_cursor(c, key->code == UI_LEFT || key->code == 'h' ? -1 : 1);
        break;
    case '[':
    case ']':
        move_cursor(c, key->code == '[' ? -1 : 1);
        break;
    case UI_CLICK:
        return click(c, key);
    default:
        if (by)
            compare_focus(c, by > 0 ? c->row + (size_t)by : c->row > back ? c->row - back : 0);
        return by != 0;
    }
    return true;
}

static bool pressed(void *screen, const struct key *key)
{
    struct compare *c = screen;

    compare_renew(c);
    switch (key->code) {
    case UI_TAB:
    case UI_BACKTAB:
        c->table_pane = !c->table_pane;
        return true;
    case 't':
        ask_target(c);
        return true;
    case 'd':
        drop_focused(c);
        return true;
    case 'i':
        compare_show_notes(c);
        return true;
    case UI_ESC:
        if (!c->cursor)
            return show_marked(c);
        c->cursor = false;
        compare_set_cursor(c);
        return true;
    default:
        return move_key(c, key) || view_key(c, key->code) || go_key(c, key->code);
    }
}

static const struct screen_key keys[] = {
    {"a", "metric", "the next metric: loss, accuracy, validation, calibration, learning rate ..."},
    {"x", "axis", "the x axis: epoch, step, images, model-images, seconds, device-seconds"},
    {"b", "budget",
     "all runs read where they had cost the same: epochs, model-images, seconds, device-seconds"},
    {"o", "over seed", "repeats as one curve with its standard deviation, one row with mean ± sd"},
    {"Enter", "open", "opens the focused run on the screen Run"},
    {"v", "scaling", "images per second, speed-up and efficiency by devices"},
    {"m", "smooth",
     "each point a mean of about 3, 10 or 30 up to it; numbers stay as they were measured"},
    {"[ ]", "cursor", "a cursor that reads all curves; Left and Right too"},
    {"y", NULL, "the y axis linear or logarithmic"},
    {"Up Down", NULL,
     "chooses the run whose curve is drawn thick and above the others; Home, End, g, G"},
    {"t", NULL, "a target accuracy: what it cost to reach it"},
    {"s", NULL, "rows by accuracy, or in the order of time"},
    {"i", NULL, "all that is to be said, where the rows below the table have no room for it"},
    {"Tab", NULL,
     "between the curves and the table: Left and Right scroll the table, a CSV has what is chosen"},
    {"e", NULL, "loads the run into Setup"},
    {"r", NULL, "runs it again"},
    {"P", NULL, "shows its predictions"},
    {"p K R", NULL, "pauses, stops or goes on with the run, as on Run"},
    {"d", NULL, "takes the run out of the comparison"},
    {"Esc", NULL, "takes the cursor away; from a cell's runs back to the marked ones"},
    {NULL, NULL, NULL}};

static const struct screen_key *hints(void *screen)
{
    static struct screen_key all[MEM_COUNT(keys) + 1] = {{"Esc", "the marked runs", ""}};
    const struct compare *c = screen;
    bool back = c->given && library_marks(c->app->library);

    /* where nothing is compared they have nothing to act on */
    memcpy(all + 1, c->count ? keys : keys + MEM_COUNT(keys) - 1,
           c->count ? sizeof keys : sizeof *keys);
    return all + !back;
}

const struct screen screen_compare = {
    .name = "Compare",
    .about = "The marked runs overlaid, and a table of what differs between them and what came of "
             "it. Curves are smoothed over all their points before any is left out of the picture. "
             "Best epochs that were picked on test data are said to be: their accuracies are "
             "optimistic.",
    .keys = keys,
    .hints = hints,
    .open = open_compare,
    .close = close_compare,
    .show = show,
    .take = take,
    .draw = compare_draw,
    .key = pressed,
    .tick = tick,
    .command = compare_command,
    .runs = compare_runs,
    .offers = compare_offers,
    .forms = compare_forms,
    .write = compare_write,
};
