/* Screen 1, Setup: files and queue on the left, the form, and what it means before it runs. */
#include "ui/setup/setup_int.h"

#include "base/mem.h"
#include "ui/app/screens.h"

#include <stdlib.h>
#include <string.h>

#define LIST_AGAIN_NS 5000000000u

static const struct screen_key keys[] = {
    {"r", "run", "run what the form says: an experiment, or a sweep where a value is a list"},
    {"Enter", "edit", "open the field, load the file, or load what waits in the queue"},
    {"Left Right", "change",
     "the next choice, or the next number: of a batch twice or half as much"},
    {"z", "all keys", "show every key, or fold away what is default or has no effect"},
    {"Tab", "pane", "go to the files, the form, the queue"},
    {"u", "undo", "take the last change back, and the one before"},
    {"d", NULL, "in the form: the default again; in the queue: take it out (asks)"},
    {"L", NULL, "load any file, by its path"},
    {"S", "save", "save the form as a file; a bare name goes into ./experiments"},
    {"D", NULL, "save it under a new name, so that the file stays as it is"},
    {"v", NULL, "view all that it means: costs, what is left out and why, what the file said"},
    {"o", NULL, "of a sweep: its name, order, how many cells, how many side by side"},
    {"f", NULL, "fetch the data set that is missing"},
    {"y", NULL, "take made-up images (data = synthetic) in its place"},
    {"+ -", NULL, "in the queue: earlier, later"},
    {"Up Down", NULL, "choose a field, a file; in an open field: the next choice"},
    {"g G", NULL, "the first, the last"},
    {NULL, NULL, NULL},
};

static const struct screen_key files_keys[] = {
    {"Enter", "load the file", NULL}, {"Up Down", "choose", NULL}, {"Tab", "to the form", NULL},
    {"L", "by its path", NULL},       {"r", "run the form", NULL}, {NULL, NULL, NULL},
};

static const struct screen_key queue_keys[] = {
    {"Enter", "load", NULL},     {"+ -", "move", NULL},         {"d", "take it out", NULL},
    {"Up Down", "choose", NULL}, {"Tab", "to the files", NULL}, {NULL, NULL, NULL},
};

static const struct screen_key words_keys[] = {
    {"Enter", "takes it", NULL},
    {"Tab", "opens the next", NULL},
    {"Esc", "leaves it as it was", NULL},
    {NULL, NULL, NULL},
};

static const struct screen_key choice_keys[] = {
    {"Enter", "takes it", NULL},
    {"Up Down", "choose", NULL},
    {"Tab", "opens the next", NULL},
    {"Esc", "leaves it as it was", NULL},
    {NULL, NULL, NULL},
};

static const struct screen_key path_keys[] = {
    {"Enter", "takes it", NULL},          {"Tab", "completes", NULL}, {"Up Down", "choose", NULL},
    {"Esc", "leaves it as it was", NULL}, {NULL, NULL, NULL},
};

static const struct screen_key *field_hints(const struct setup *s)
{
    int i = setup_chosen(s);
    const char *const *choices = i >= 0 ? setup_choices(s, (size_t)i) : NULL;

    if (i >= 0 && s->form.field[i].is->kind == FORM_PATH)
        return path_keys;
    return choices && choices[0] ? choice_keys : words_keys;
}

static const struct screen_key *hints(void *screen)
{
    static struct screen_key form_hints[SCREEN_HINTS + 1];
    const struct setup *s = screen;

    if (s->open)
        return field_hints(s);
    if (s->pane != SETUP_FORM)
        return s->pane == SETUP_FILES ? files_keys : queue_keys;
    screen_hints(form_hints, keys, "rELzTuS");
    if (!s->folded)
        screen_hint(form_hints, "z", "fold");
    return form_hints;
}

/* ---- what tasks hold ---- */

struct setup_link *setup_hold(struct setup *s)
{
    s->link->held++;
    return s->link;
}

struct setup *setup_let_go(struct setup_link *link)
{
    struct setup *s = link->setup;

    if (--link->held == 0)
        free(link);
    return s;
}

bool setup_try(struct setup *s, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg)
{
    s->app->dirty = true;
    return tasks_try(s->app->tasks, work, done, arg);
}

/* ---- the screen ---- */

static void *open_screen(struct app *app)
{
    struct setup *s = mem_new(1, sizeof *s);

    s->app = app;
    s->link = mem_new(1, sizeof *s->link);
    s->link->setup = s;
    s->link->held = 1;
    s->folded = true;
    s->pane = SETUP_FORM;
    form_start(&s->form);
    form_start(&s->again);
    setup_read_models(s);
    setup_list_files(s); /* and loads the first experiment */
    return s;
}

static void close_screen(void *screen)
{
    struct setup *s = screen;

    s->link->setup = NULL;
    (void)setup_let_go(s->link);
    setup_free_files(s);
    setup_free_queue(s);
    setup_free_source(s->wanted);
    form_end(&s->form);
    form_end(&s->again);
    line_free(&s->line);
    text_free(&s->several);
    free(s->before);
    free(s->shown_before);
    free(s->goes_on);
    free(s->sweep_name);
    free(s->path);
    free(s->ran);
    free(s);
}

/* Runs may have ended and data may have come since: it is asked again. */
static void show(void *screen)
{
    struct setup *s = screen;

    setup_list_files(s);
    setup_watch(s);
    if (!s->open)
        setup_ask(s);
}

static void draw(void *screen, struct grid *g, struct rect in)
{
    setup_draw(screen, g, in);
}

static bool wants_text(void *screen)
{
    return ((struct setup *)screen)->open;
}

static bool expects(void *screen)
{
    struct setup *s = screen;

    return s->form.good && !s->sum.complete;
}

/* What they took is known now, whoever ran them. */
static void look_for_ends(struct setup *s)
{
    const struct library *l = s->app->library;
    const struct library_run *runs;
    size_t count = 0, ended = 0;

    if (!l || !library_ready(l) || (s->saw_runs && library_turn(l) == s->runs_turn))
        return;
    runs = library_runs(l, &count);
    for (size_t i = 0; i < count; i++)
        ended += wire_state_ended(runs[i].state);
    if (s->saw_runs && ended != s->runs_ended)
        setup_results_change(s);
    s->saw_runs = true;
    s->runs_turn = library_turn(l);
    s->runs_ended = ended;
}

static bool tick(void *screen)
{
    struct setup *s = screen;

    if (s->app->shown == SCREEN_SETUP)
        look_for_ends(s);
    setup_field_follow(s);
    setup_watch(s); /* the status line counts what waits, on every screen */
    setup_judge(s);
    setup_renew_question(s);
    if (s->app->shown == SCREEN_SETUP)
        setup_look_at_named(s);
    if (s->app->shown == SCREEN_SETUP && app_ns(s->app) - s->listed_ns > LIST_AGAIN_NS)
        setup_list_files(s);
    return setup_ask_on(s);
}

#define PAGE "what it means"

static void view(struct setup *s)
{
    struct text page = {0};

    setup_mean_page(s, &page);
    app_page(s->app, PAGE, text_str(&page));
    text_free(&page);
}

static void write_page(void *screen, struct text *out)
{
    setup_mean_page(screen, out);
}

static void event(void *screen, const struct wire_event *event, const void *slot, size_t n)
{
    struct setup *s = screen;

    if (event->kind == WIRE_FORECAST && slot && n == sizeof(struct wire_forecast) &&
        setup_answer(s, slot)) {
        s->app->dirty = true;
        app_renew_page(s->app, PAGE, write_page, s);
        setup_judge(s);
    }
    if (event->kind == WIRE_CELL && wire_state_is_final(event->u.cell.state) &&
        s->app->shown == SCREEN_SETUP)
        setup_results_change(s);
    /* It stands: what is refused to it from now on is another command. */
    if (s->started && event->run == s->started &&
        (event->kind == WIRE_STARTED || event->kind == WIRE_CELL))
        setup_has_started(s);
    setup_look_at_end(s, event);
    if (event->kind == WIRE_REFUSED && slot)
        (void)setup_refused(s, event, slot);
}

static void command(void *screen, struct text *out)
{
    struct setup *s = screen;

    if (s->pane == SETUP_QUEUE) {
        text_add(out, "queue");
        return;
    }
    form_command(&s->form, out);
    if (s->sweep_name && *s->sweep_name && spec_sweep_varies(&s->form.sweep)) {
        text_add(out, " --name ");
        jobs_add_word(out, s->sweep_name);
    }
    if (spec_sweep_varies(&s->form.sweep))
        setup_add_options(s, out);
}

static void offers(void *screen, struct text *lines)
{
    struct setup *s = screen;

    if (s->pane == SETUP_QUEUE)
        setup_queue_verbs(s, lines);
}

/* The experiment itself: what S would save. */
static enum err_code write_form(void *screen, const char *form, struct paper *out, struct err *e)
{
    struct setup *s = screen;

    (void)form;
    (void)e;
    form_write(&s->form, &out->text);
    return ERR_OK;
}

/* ---- keys ---- */

static void next_pane(struct setup *s, int by)
{
    int pane = (int)s->pane;

    do
        pane = (pane + by + SETUP_PANES) % SETUP_PANES;
    while (pane == SETUP_QUEUE && !s->queue);
    s->pane = (enum setup_pane)pane;
}

static size_t moved(size_t at, size_t count, int by)
{
    long to = (long)at + by;

    return to < 0 || !count ? 0 : to >= (long)count ? count - 1 : (size_t)to;
}

static bool file_key(struct setup *s, const struct key *key)
{
    int by = key_list_move(key->code, 10);

    if (by)
        s->file_at = moved(s->file_at, s->files, by);
    else if (key->code == UI_ENTER || key->code == 'e')
        setup_load_chosen(s);
    else if (key->code == UI_RIGHT || key->code == 'l' || key->code == UI_ESC)
        s->pane = SETUP_FORM;
    else
        return false;
    return true;
}

static bool queue_key(struct setup *s, const struct key *key)
{
    int by = key_list_move(key->code, 10);

    if (by)
        s->queue_at = moved(s->queue_at, s->queue, by);
    else if (key->code == UI_ENTER || key->code == 'e')
        setup_queue_load(s);
    else if (key->code == '+')
        setup_queue_move(s, -1);
    else if (key->code == '-')
        setup_queue_move(s, 1);
    else if (key->code == 'd' || key->code == UI_DELETE)
        setup_queue_drop(s);
    else if (key->code == UI_RIGHT || key->code == 'l' || key->code == UI_ESC)
        s->pane = SETUP_FORM;
    else
        return false;
    return true;
}

static bool common_key(struct setup *s, const struct key *key)
{
    switch (key->code) {
    case 'r':
        setup_run(s);
        return true;
    case 'z':
        s->folded = !s->folded;
        return true;
    case 'L':
        setup_load_another(s, "");
        return true;
    case 'S':
        setup_save_as(s);
        return true;
    case 'D':
        setup_duplicate(s);
        return true;
    case 'o':
        setup_ask_options(s);
        return true;
    case 'f':
        setup_fetch(s);
        return true;
    case 'v':
        view(s);
        return true;
    case 'u':
    case 'y':
        return setup_form_key(s, key);
    case UI_TAB:
        next_pane(s, 1);
        return true;
    case UI_BACKTAB:
        next_pane(s, -1);
        return true;
    default:
        return false;
    }
}

/* ---- mouse ---- */

static bool click(struct setup *s, const struct key *key)
{
    const struct setup_places *p = &s->places;
    size_t row[SETUP_ROWS], n = setup_rows(s, row), at;

    if (rect_holds(p->rows, key->row, key->column)) {
        s->pane = SETUP_FORM;
        int line = key->row - p->rows.row;

        if (line < SETUP_LINES && s->line_row[line] >= 0 && (size_t)s->line_row[line] < n) {
            setup_choose(s, row[s->line_row[line]]);
            if (key->again)
                setup_open_field(s);
        }
        return true;
    }
    if (rect_holds(p->file_rows, key->row, key->column)) {
        s->pane = SETUP_FILES;
        at = s->file_first + (size_t)(key->row - p->file_rows.row);
        if (at < s->files) {
            s->file_at = at;
            if (key->again)
                setup_load_chosen(s);
        }
        return true;
    }
    if (rect_holds(p->queue_rows, key->row, key->column) && s->queue) {
        s->pane = SETUP_QUEUE;
        at = s->queue_first + (size_t)(key->row - p->queue_rows.row);
        if (at < s->queue)
            s->queue_at = at;
        return true;
    }
    return false;
}

static bool wheel(struct setup *s, const struct key *key)
{
    int by = key->code == UI_WHEEL_UP ? -3 : 3;

    if (rect_holds(s->places.files, key->row, key->column))
        s->file_at = moved(s->file_at, s->files, by);
    else if (rect_holds(s->places.queue, key->row, key->column))
        s->queue_at = moved(s->queue_at, s->queue, by);
    else
        setup_move(s, by);
    return true;
}

static bool key(void *screen, const struct key *key)
{
    struct setup *s = screen;

    s->app->dirty = true;
    if (s->open && (key->code == UI_WHEEL_UP || key->code == UI_WHEEL_DOWN))
        return true;
    if (s->open && key->code == UI_CLICK && setup_field_click(s, key))
        return true;
    if (s->open)
        return setup_field_key(s, key);
    if (key->code == UI_CLICK)
        return click(s, key);
    if (key->code == UI_WHEEL_UP || key->code == UI_WHEEL_DOWN)
        return wheel(s, key);
    if (s->pane == SETUP_FILES && file_key(s, key))
        return true;
    if (s->pane == SETUP_QUEUE && queue_key(s, key))
        return true;
    if (s->pane == SETUP_FORM && setup_form_key(s, key))
        return true;
    return common_key(s, key);
}

static bool take(void *screen, const struct screen_request *request)
{
    struct setup *s = screen;

    switch (request->what) {
    case SCREEN_TAKE_RUN:
        screen_setup_load(s, request->name, request->begin);
        return true;
    case SCREEN_TAKE_SWEEP:
        screen_setup_load_sweep(s, request->name);
        return true;
    case SCREEN_QUEUE_RUN:
        screen_setup_queue_run(s, request->name, request->epochs, request->alone);
        return true;
    case SCREEN_QUEUE_SWEEP:
        screen_setup_queue_sweep(s, request->sweep, request->options);
        return true;
    case SCREEN_SAY_QUEUED:
        screen_setup_say_queued(s, request->name);
        return true;
    case SCREEN_SAVE:
        setup_save_as(s);
        return true;
    case SCREEN_ADD_NEXT:
        screen_setup_add_next(s, request->words);
        return true;
    case SCREEN_IS_UNSAVED:
        return screen_setup_unsaved(s, request->words);
    default:
        return false;
    }
}

static const char *const forms[] = {"ini", NULL};

const struct screen screen_setup = {
    .name = "Setup",
    .about =
        "An experiment as a form: every key has a field, and the panel says what it means before "
        "it runs. A value with commas (0.05, 0.1) or a form like geom:0.01:1:5 is a sweep. "
        "Changed fields have a star.",
    .keys = keys,
    .hints = hints,
    .open = open_screen,
    .close = close_screen,
    .show = show,
    .take = take,
    .draw = draw,
    .key = key,
    .wants_text = wants_text,
    .expects = expects,
    .event = event,
    .tick = tick,
    .command = command,
    .offers = offers,
    .forms = forms,
    .write = write_form,
};
