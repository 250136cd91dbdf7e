/* ui/results/results.c: screen 3: every run in a table. */
#include "ui/results/results_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "ui/app/runkeys.h"
#include "ui/app/screens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVE_BYTES (64 << 10) /* of the keys of runs that are at work */

const char *results_kept_as(const struct results *r, const char *what, char name[RESULTS_KEPT])
{
    snprintf(name, RESULTS_KEPT, "results.%s.%016llx", what, (unsigned long long)r->folder);
    return name;
}

static const char *kept(const struct results *r, const char *what)
{
    char name[RESULTS_KEPT];

    return settings_get(r->app->settings, results_kept_as(r, what, name), "");
}

static void keep(const struct results *r, const char *what, const char *value)
{
    char name[RESULTS_KEPT], list[RESULTS_KEPT];

    snprintf(list, sizeof list, "results.%s", what);
    settings_set(r->app->settings, results_kept_as(r, what, name), value);
    results_list_folder(r->app->settings, list, name, value != NULL);
}

/* The news count from when somebody saw the list last, of this folder. */
static void keep_looked(struct results *r)
{
    const struct library_run *runs;
    char utc[CLOCK_UTC_ROOM];
    struct text live = {0};
    size_t n;

    clock_utc(utc, app_wall(r->app));
    keep(r, "looked", utc);
    runs = library_runs(r->app->library, &n);
    for (size_t i = 0; i < n && live.n < LIVE_BYTES; i++)
        if (runs[i].live)
            text_addf(&live, "%016llx ", (unsigned long long)results_key("run", runs[i].name));
    keep(r, "live", live.n ? text_str(&live) : NULL);
    keep(r, "seen", NULL);
    r->seen_run = 0;
    text_free(&live);
}

/* The cells of a sweep that ended behind the last look. */
static void add_cells(struct results *r, struct results_set *seen)
{
    struct app *app = r->app;
    const char *looked = kept(r, "looked"), *name = NULL;
    const struct library_run *runs;
    size_t n;

    r->sweep_turn = library_turn(app->library);
    (void)app_open(app, SCREEN_SWEEP,
                   &(struct screen_request){.what = SCREEN_NAME, .shown = &name});
    runs = library_runs(app->library, &n);
    for (size_t i = 0; name && i < n; i++)
        if (!strcmp(library_cell(&runs[i], "sweep"), name) && !runs[i].live &&
            strcmp(library_cell(&runs[i], "ended_utc"), looked) > 0)
            results_set_add(seen, runs[i].name);
}

static void write_seen(struct results *r, const struct results_set *more)
{
    struct results_set seen = {0};
    struct text keys = {0};
    size_t before;

    results_set_read(&seen, kept(r, "seen"));
    before = seen.count;
    for (size_t i = 0; i < more->count; i++)
        results_set_add_key(&seen, more->key[i]);
    results_set_sort(&seen);
    if (seen.count > before) {
        results_set_write(&seen, &keys);
        keep(r, "seen", text_str(&keys));
    }
    text_free(&keys);
    results_set_free(&seen);
}

/* Whose end stands on Run, or as a cell on Sweep, is no news any more. */
static void keep_seen(struct results *r)
{
    struct app *app = r->app;
    struct results_set seen = {0};
    const struct feed_run *run;
    const char *name = NULL;
    bool trained;

    if (app->shown == SCREEN_RUN)
        (void)app_open(
            app, SCREEN_RUN,
            &(struct screen_request){.what = SCREEN_NAME, .shown = &name, .trained = &trained});
    run = name ? feed_find(app->feed, name) : NULL;
    if (run && !run->live && wire_state_ended(run->state) &&
        r->seen_run != results_key("run", name)) {
        r->seen_run = results_key("run", name);
        results_set_add(&seen, name);
    }
    if (app->shown == SCREEN_SWEEP && r->sweep_turn != library_turn(app->library))
        add_cells(r, &seen);
    if (seen.count)
        write_seen(r, &seen);
    results_set_free(&seen);
}

static void take_looked(struct results *r)
{
    snprintf(r->since, sizeof r->since, "%s", kept(r, "looked"));
    results_set_read(&r->live, kept(r, "live"));
    results_set_read(&r->seen, kept(r, "seen"));
}

/* One that is not there yet goes by its path. */
static void take_folder(struct results *r)
{
    const char *results = r->app->config.results;
    char *real = realpath(results, NULL);

    r->folder = results_key("looked", real ? real : results);
    free(real);
}

static void *open_results(struct app *app)
{
    struct results *r = mem_new(1, sizeof *r);
    const struct settings *s = app->settings;
    int64_t fold = settings_number(s, "results.fold", 0);

    r->app = app;
    r->stale = true;
    snprintf(r->sort, sizeof r->sort, "%s", settings_get(s, "results.sort", ""));
    snprintf(r->columns, sizeof r->columns, "%s", settings_get(s, "results.columns", ""));
    take_folder(r);
    take_looked(r);
    r->fold = fold > 0 && fold < RESULTS_FOLDS ? (enum results_fold)fold : RESULTS_SINGLE;
    results_take_marks(r);
    return r;
}

static void close_results(void *screen)
{
    struct results *r = screen;

    if (r->was_shown)
        keep_looked(r);
    results_keep_marks(r);
    results_free_view(&r->view);
    for (size_t i = 0; i < RESULTS_MEMBERS; i++)
        free(r->members[i].member);
    free(r->opened);
    results_set_free(&r->live);
    results_set_free(&r->seen);
    line_free(&r->field);
    free(r);
}

static void show(void *screen)
{
    struct results *r = screen;

    take_looked(r);
    r->moved = false;
    r->seeks = true;
    r->was_shown = true;
    r->stale = true;
}

static bool tick(void *screen)
{
    struct results *r = screen;
    bool shown = r->app->shown == SCREEN_RESULTS;

    results_keep_marks(r);
    if (r->was_shown && !shown) {
        keep_looked(r);
        r->was_shown = false;
    }
    keep_seen(r);
    /* Members of ensembles that are unfolded grow as they train. */
    if (r->seen_turn != library_turn(r->app->library))
        for (size_t i = 0; i < RESULTS_MEMBERS; i++) {
            const struct library_run *run = library_find(r->app->library, r->members[i].run);

            if (run && run->live && r->members[i].read)
                r->members[i].run[0] = 0;
        }
    return shown && results_is_old(r);
}

static bool wants_text(void *screen)
{
    const struct results *r = screen;

    return r->filtering;
}

static const struct screen_key keys[] = {
    {"Enter", "open", "opens the run on Run, as 2 does; unfolds a group"},
    {"Space", "mark",
     "marks the run, or a group's runs (~: some are), for Compare and for what is done to several; "
     "marks are kept; t, d, E and x ask first where the filter hides some of them"},
    {"*", NULL, "marks all that are shown, or none of them"},
    {"/", "filter",
     "shows only runs that pass: lenet, model=cnn,lenet, lr<0.1, test_acc=0.9.., @best"},
    {"s", "sort", "chooses the column for the order: Left, Right, Enter"},
    {"S", NULL, "turns the order around"},
    {"v", "fold", "folds repeats, then sweeps, into one row each: mean ± standard deviation, n"},
    {"u", NULL, "unfolds a group, or an ensemble into its members"},
    {"c", NULL, "chooses the columns that move: names of run.csv and epochs.csv"},
    {"Left Right", NULL, "moves along the columns"},
    {"g G", NULL, "the first and the last run"},
    {"t", "tags", "puts tags on the run, or on all marked ones, or takes them away: +paper -draft"},
    {"n N", NULL, "a note on the run"},
    {"e", "edit", "loads the run into Setup"},
    {"r", "again", "runs it again"},
    {"R", "go on",
     "goes on with a paused, stopped or dead run, takes a stop ahead back, or gives a done one more "
     "epochs; as on Run, which shows it"},
    {"p", "pause", "pauses a live run, or lets it go on, as on Run"},
    {"K", "stop", "stops a live run; asks how, as on Run"},
    {"P", NULL, "shows its predictions, as 6 does"},
    {"W", NULL, "writes its weights into a file"},
    {"M", NULL, "trains a single model for as many epochs as make its cost"},
    {"b", NULL, "shows the board of its sweep"},
    {"E", NULL, "averages the marked runs as one ensemble"},
    {"x", NULL, "writes a report or a CSV of the marked runs"},
    {"d", NULL, "moves the run, or the marked ones, to the folder trash; asks"},
    {NULL, NULL, NULL}};
static const char *const forms[] = {"csv", "md", "tex", "json", NULL};

/* Of what is not at work: neither what came to nothing, nor what max_steps ended. */
static bool goes_on(const struct results_standing *is)
{
    return is->dead || is->state < WIRE_DONE || (is->state == WIRE_DONE && !*is->reason);
}

static const struct screen_key *results_hints(void *screen)
{
    static const struct screen_key field[] = {
        {"Enter", "takes it", ""}, {"Esc", "leaves it as it was", ""}, {NULL, NULL, NULL}};
    static const struct screen_key heads[] = {{"Left Right", "column", ""},
                                              {"Enter", "sort or turn", ""},
                                              {"s", "same", ""},
                                              {"Esc", "leave", ""},
                                              {NULL, NULL, NULL}};
    static const struct screen_key none[] = {
        {"/", "change the filter", ""}, {"Esc", "take it away", ""}, {NULL, NULL, NULL}};
    static struct screen_key hints[SCREEN_HINTS + 1];
    const struct results *r = screen;
    const struct results_line *line = results_chosen(r);
    const struct library_run *run =
        line && line->kind != RESULTS_GROUP && !r->stale ? results_run(r, line) : NULL;
    struct results_standing is = {0};

    if (r->filtering)
        return field;
    if (!r->view.lines && !r->stale)
        return r->filter[0] ? none : &none[2];
    if (r->heading)
        return heads;
    if (run)
        is = results_standing(r, run);
    /* what is at work has its own keys where a narrow screen shows them too */
    screen_hints(hints, keys,
                 !run || run->broken                    ? "ES/svt"
                 : is.works && is.stops                 ? "EpRKS/svte"
                 : is.works && is.state == WIRE_WAITING ? "EKS/svte"
                 : is.works                             ? "EpKS/svte"
                 : goes_on(&is)                         ? "ES/svteRr"
                                                        : "ES/svter");
    if (is.works)
        runkeys_hint(hints, is.state == WIRE_PAUSED, is.stops);
    return hints;
}

static const char *run_name(void *screen)
{
    struct results *r = screen;
    const struct results_line *line = results_chosen(r);

    return line && line->kind != RESULTS_GROUP && !r->stale ? results_run(r, line)->name : NULL;
}

#define MOST_NAMED 40 /* runs in a command line */

/* NULL: they are not all of one sweep. */
static const char *sweep_of_all(const struct results *r, const char **names, size_t n)
{
    struct library *l = r->app->library;
    const char *sweep = n ? library_cell(library_find(l, names[0]), "sweep") : "";
    size_t count, all = 0;
    const struct library_run *runs = library_runs(l, &count);

    for (size_t i = 0; i < n; i++)
        if (strcmp(library_cell(library_find(l, names[i]), "sweep"), sweep) != 0)
            return NULL;
    for (size_t i = 0; i < count; i++)
        all += !strcmp(library_cell(&runs[i], "sweep"), sweep);
    return *sweep && all == n ? sweep : NULL;
}

/* All cells of a sweep go by its name. */
static void add_runs(void *screen, struct text *out)
{
    struct results *r = screen;
    const struct results_line *line = results_chosen(r);
    const char **names, *sweep;
    size_t n;

    if (!line || line->kind != RESULTS_GROUP || r->stale)
        return;
    names = mem_new(r->view.total + 1, sizeof *names);
    n = results_runs_of(r, line, names, r->view.total);
    sweep = sweep_of_all(r, names, n);
    if (sweep) {
        jobs_add_word(out, sweep);
    } else if (n > MOST_NAMED) {
        app_say(r->app, GRID_DIM,
                "these %s runs are too many for a line: mark them, and t, d, x mean all of them",
                TEXT_COUNT(n));
    } else {
        for (size_t i = 0; i < n; i++) {
            text_add(out, i ? " " : "");
            jobs_add_word(out, names[i]);
        }
    }
    free(names);
}

const struct screen screen_results = {
    .name = "Results",
    .about = "Every run of the results folder, also those that other programs started. State, "
             "hash, best accuracy and age stand still at the left; behind them stands what "
             "differs among the runs that are shown. What is marked here is overlaid on Compare.",
    .keys = keys,
    .hints = results_hints,
    .open = open_results,
    .close = close_results,
    .show = show,
    .draw = results_draw,
    .key = results_key_pressed,
    .wants_text = wants_text,
    .tick = tick,
    .command = results_command,
    .lead = results_lead,
    .run = run_name,
    .runs = add_runs,
    .forms = forms,
    .write = results_write,
};
