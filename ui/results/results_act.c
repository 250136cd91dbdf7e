/* ui/results/results_act.c: the keys of Results that mean runs: marks, other screens, and verbs that work on as
 * jobs. */
#include "ui/results/results_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "ui/app/runkeys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- verbs ---- */

static void job_done(void *user, const struct job_end *end)
{
    struct results *r = user;
    struct text said = {0};

    if (!app_add_made(r->app, end, &said))
        text_add(&said, *end->last_line ? end->last_line : "done; 7 shows what it said");
    if (end->exit_code)
        app_enter_again(r->app, end->mark);
    if (end->exit_code == 0)
        app_say(r->app, GRID_GOOD, "%s", text_str(&said));
    else
        app_say(r->app, GRID_BAD, "%s (exit %d; 7 shows the log)", end->last_line, end->exit_code);
    text_free(&said);
    library_tick(r->app->library, true);
}

/* verb RUN... MORE..., on this results folder. */
static void start_job(struct results *r, const char *verb, const char *const *names, size_t count,
                      const char *const *more)
{
    const char **args = mem_new(count + 16, sizeof *args);
    struct text behind = {0};
    size_t n = 0;
    struct err e = {0};

    args[n++] = verb;
    for (size_t i = 0; i < count; i++)
        args[n++] = names[i];
    for (size_t i = 0; more && more[i]; i++) {
        args[n++] = more[i];
        text_add(&behind, i ? " " : "");
        jobs_add_word(&behind, more[i]);
    }
    app_did(r->app, verb, names, count, more ? text_str(&behind) : NULL);
    text_free(&behind);
    args[n++] = "--results";
    args[n++] = r->app->config.results;
    if (jobs_start(r->app->jobs, args, job_done, r, &e) == ERR_OK) {
        jobs_mark(r->app->jobs, app_entered(r->app));
        app_say(r->app, GRID_TEXT, "%s has begun; 7 shows its log", verb);
    } else {
        app_enter_again(r->app, app_entered(r->app));
        app_say(r->app, GRID_BAD, "%s", e.text);
    }
    free(args);
}

static void join(struct results *r, const char *const *names, size_t count)
{
    if (count == 1 &&
        strcmp(library_cell(library_find(r->app->library, names[0]), "mode"), "ensemble") != 0)
        app_say(r->app, GRID_WARN,
                "an ensemble of finished runs needs two or more: Space marks them");
    else
        start_job(r, "ensemble", names, count, NULL);
}

/* Into one file, which may be there already. */
static void export_to(struct results *r, const char *const *names, size_t count, const char *path)
{
    struct text behind = {0};

    text_add(&behind, "-o ");
    jobs_add_word(&behind, path);
    app_did(r->app, "export", names, count, text_str(&behind));
    app_command_to(r->app, text_str(&r->app->did), path);
    text_free(&behind);
}

static void take_target(void *user, const char *text)
{
    struct results *r = user;
    const char **names;
    size_t count;
    char *path;

    if (!text || !*text)
        return;
    path = io_home_path(text);
    names = results_asked(r, &count);
    if (count && !strcmp(r->about, "export"))
        export_to(r, names, count, path);
    else if (count)
        start_job(r, "report", names, count, (const char *const[]){"-o", path, NULL});
    free(names);
    free(path);
}

/* Nothing of that name is replaced unless somebody types it. */
static void ask_target(struct results *r, const char *what, const char *stem, const char *ending)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", stem, ending);
    for (int i = 2; io_exists(name) && i < 1000; i++)
        snprintf(name, sizeof name, "%s-%d%s", stem, i, ending);
    app_prompt(r->app, what, name, take_target, NULL, r);
}

static void take_form(void *user, int answer)
{
    struct results *r = user;

    if (answer != 0 && answer != 1)
        return;
    snprintf(r->about, sizeof r->about, answer == 0 ? "report" : "export");
    if (answer == 0)
        ask_target(r, "folder of the report", "report", "");
    else
        ask_target(r, "file of all epochs", "epochs", ".csv");
}

static void ask_form(struct results *r, const char *const *names, size_t count)
{
    static const char *const answers[] = {"report: a page, figures, tables", "export: one CSV",
                                          "cancel", NULL};
    char who[300], question[400];

    results_say_runs(who, sizeof who, names, count);
    snprintf(question, sizeof question, "Write %s as", who);
    app_ask(r->app, question, answers, take_form, r);
}

/* NULL: the key does nothing to several runs. */
static const struct results_deed *deed_of(int32_t code)
{
    static const struct results_deed tag = {"Tag", "", results_ask_tags},
                                     trash = {"Move", " to the folder trash", results_ask_trash},
                                     average = {"Average", "", join},
                                     write = {"Write", " into files", ask_form};

    return code == 't'   ? &tag
           : code == 'd' ? &trash
           : code == 'E' ? &average
           : code == 'x' ? &write
                         : NULL;
}

/* ---- keys ---- */

static void mark_line(struct results *r, const struct results_line *line)
{
    const char **names = mem_new(r->view.total + 1, sizeof *names);
    size_t n = results_runs_of(r, line, names, r->view.total);
    bool all = true;

    for (size_t i = 0; i < n; i++)
        all = all && library_marked(r->app->library, names[i]);
    for (size_t i = 0; i < n; i++)
        library_mark(r->app->library, names[i], !all);
    free(names);
    results_go(r, r->at + 1);
}

static void mark_all(struct results *r)
{
    const struct library_run *runs;
    const struct results_view *v = &r->view;
    size_t count;
    bool all = true;

    runs = library_runs(r->app->library, &count);
    for (size_t i = 0; i < v->count; i++)
        all = all && library_marked(r->app->library, runs[v->order[i]].name);
    for (size_t i = 0; i < v->count; i++)
        library_mark(r->app->library, runs[v->order[i]].name, !all);
}

static void unfold(struct results *r, const struct results_line *line,
                   const struct library_run *run)
{
    uint64_t key = line->key;

    if (line->kind == RESULTS_MEMBER)
        key = results_key("run", run->name);
    else if (line->kind == RESULTS_RUN && strcmp(library_cell(run, "mode"), "ensemble") != 0) {
        app_say(r->app, GRID_WARN, "only groups and ensembles unfold; v folds sweeps and repeats");
        return;
    }
    r->chosen = key;
    results_open(r, key, !results_is_open(r, key));
}

static void show_sweep(struct results *r, const struct library_run *run)
{
    const char *sweep = library_cell(run, "sweep");

    if (*sweep) {
        app_open(r->app, SCREEN_SWEEP,
                 &(struct screen_request){.what = SCREEN_TAKE_SWEEP, .name = sweep});
        app_show(r->app, SCREEN_SWEEP);
    } else {
        app_say(r->app, GRID_WARN, "this run is no cell of a sweep");
    }
}

/* What trains here is what one looks at on Run, unless another line was chosen here meanwhile. What is
 * shown there already stays as it is. */
bool results_lead(void *screen, int to)
{
    struct results *r = screen;
    const struct results_line *line;
    const char *shown;

    if ((to != SCREEN_RUN && to != SCREEN_PREDICT) || (!r->moved && feed_busy(r->app->feed)))
        return false;
    if (results_is_old(r))
        results_make(r);
    line = results_chosen(r);
    if (!line || line->kind == RESULTS_GROUP)
        return false;
    shown = app_run_on(r->app, to);
    if (shown && !strcmp(shown, results_run(r, line)->name))
        return false;
    (to == SCREEN_RUN ? runkeys_watch : runkeys_predict)(r->app, results_run(r, line)->name);
    return true;
}

static bool act_on_one(struct results *r, const struct library_run *run, int32_t code)
{
    switch (code) {
    case UI_ENTER:
        runkeys_watch(r->app, run->name);
        return true;
    case 'P':
        runkeys_predict(r->app, run->name);
        return true;
    case 'n':
    case 'N':
        results_ask_note(r, run);
        return true;
    case 'W':
    case 'M':
        return runkeys_make(r->app, run->name, code);
    default:
        return runkeys_do(r->app, run->name, code);
    }
}

bool results_act(struct results *r, int32_t code)
{
    const struct results_line *line = results_chosen(r);
    const struct results_deed *deed;
    const struct library_run *run;

    if (code == '*') {
        mark_all(r);
        return true;
    }
    deed = deed_of(code);
    if (deed && (line || library_marks(r->app->library))) {
        results_do(r, deed);
        return true;
    }
    if (!line)
        return false;
    run = results_run(r, line);
    switch (code) {
    case ' ':
        mark_line(r, line);
        return true;
    case 'u':
        unfold(r, line, run);
        return true;
    case 'b':
        show_sweep(r, run);
        return true;
    case UI_ENTER:
        if (line->kind != RESULTS_GROUP)
            break;
        unfold(r, line, run);
        return true;
    default:
        break;
    }
    if (line->kind != RESULTS_GROUP)
        return act_on_one(r, run, code);
    if (code < UI_KEYS && strchr("erRpKPNWM", (int)code) && code) {
        app_say(r->app, GRID_WARN, "this line stands for %s run%s: Enter unfolds %s",
                TEXT_COUNT(r->view.group[line->at].count), text_s(r->view.group[line->at].count),
                r->view.group[line->at].count == 1 ? "it" : "them");
        return true;
    }
    return false;
}
