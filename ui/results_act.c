/* ui/results_act.c: what the keys of Results do to runs. Files are written by tasks, work is done by
 * verbs as jobs; nothing here waits. */
#include "ui/results_int.h"

#include "base/mem.h"
#include "ui/runkeys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The marked runs, or those of the chosen line. The caller frees the array. */
static const char **runs_meant(struct results *r, size_t *count)
{
    const struct results_line *line;
    const char **names;

    if (r->stale || r->seen_turn != library_turn(r->app->library))
        results_make(r); /* lines hold places in the library's list */
    line = results_chosen(r);
    if (library_marks(r->app->library) > 0)
        return library_marked_names(r->app->library, count);
    names = mem_new(r->view.total + 1, sizeof *names);
    *count = line ? results_runs_of(r, line, names, r->view.total) : 0;
    return names;
}

static uint64_t hash_of(const char *const *names, size_t count)
{
    uint64_t hash = count;

    for (size_t i = 0; i < count; i++)
        hash = hash * 31 + results_key("run", names[i]);
    return hash;
}

/* Those that were asked about, while an answer was thought of others may have come to stand in their
 * place: then none, and it is said. */
static const char **runs_asked(struct results *r, size_t *count)
{
    const char **names = runs_meant(r, count);

    if (hash_of(names, *count) != r->meant) {
        app_say(r->app, GRID_WARN, "the list has changed meanwhile: nothing was done");
        *count = 0;
    }
    return names;
}

/* "7f3a", or "3 runs" */
static void say_runs(char *out, size_t room, const char *const *names, size_t count)
{
    if (count == 1)
        snprintf(out, room, "%s", *results_hash(names[0]) ? results_hash(names[0]) : names[0]);
    else
        snprintf(out, room, "%zu runs", count);
}

/* ---- tags, notes, trash, pause: by the thread of tasks ---- */

enum deed { DEED_EDIT, DEED_REMOVE, DEED_CONTROL };
struct doing {
    struct results *results;
    enum deed deed;
    char **folder, *line;
    size_t count, done;
    char *where; /* a folder of the trash */
    struct err e;
};

static enum err_code remove_one(struct doing *d, const char *folder)
{
    struct record_entry entry;
    enum err_code code;

    TRY(record_read_entry(folder, &entry, &d->e));
    free(d->where);
    d->where = NULL;
    code = entry.live ? err_set(&d->e, ERR_INPUT, "%s is at work: K stops it first", entry.name)
                      : record_remove(&entry, &d->where, &d->e);
    record_free_entry(&entry);
    return code;
}

static void do_deed(void *arg)
{
    struct doing *d = arg;

    for (size_t i = 0; i < d->count; i++) {
        enum err_code code = d->deed == DEED_REMOVE ? remove_one(d, d->folder[i])
                             : d->deed == DEED_EDIT ? record_edit(d->folder[i], d->line, &d->e)
                                                    : record_control(d->folder[i], d->line, &d->e);

        d->done += code == ERR_OK;
    }
}

static const char *obeyed(const char *line)
{
    static const char *const words[][2] = {{"pause", "it pauses within a second; p lets it go on"},
                                           {"go", "it goes on"},
                                           {"stop epoch", "it stops at the end of this epoch"},
                                           {"stop step", "it stops; R resumes it"}};

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(words[i][0], line))
            return words[i][1];
    return line;
}

/* The results folder is known: paths below it are said from there on, so that the reason is seen. */
static void shorten(const char *sentence, const char *folder, struct text *out)
{
    size_t n = strlen(folder);

    for (const char *at; n && (at = strstr(sentence, folder)) && at[n] == '/';) {
        text_add_n(out, sentence, (size_t)(at - sentence));
        sentence = at + n + 1;
    }
    text_add(out, sentence);
}

static void say_deed(const struct doing *d)
{
    struct app *app = d->results->app;
    struct text why = {0};

    shorten(d->e.text, app->config.results, &why);
    if (d->done < d->count)
        app_say(app, GRID_BAD, "%s%s", text_str(&why), d->done ? " (the others are done)" : "");
    else if (d->deed == DEED_REMOVE)
        app_say(app, GRID_GOOD, "moved to the folder trash of the results: %zu run%s", d->done,
                d->done == 1 ? "" : "s");
    else if (d->deed == DEED_CONTROL)
        app_say(app, GRID_GOOD, "%s", obeyed(d->line));
    else
        app_say(app, GRID_GOOD, "written into %zu run%s", d->done, d->done == 1 ? "" : "s");
    text_free(&why);
}

static void done_deed(void *arg, bool dropped)
{
    struct doing *d = arg;

    if (!dropped) {
        say_deed(d);
        library_tick(d->results->app->library, true);
    }
    for (size_t i = 0; i < d->count; i++)
        free(d->folder[i]);
    free(d->folder);
    free(d->line);
    free(d->where);
    free(d);
}

static void start_deed(struct results *r, enum deed deed, const char *const *names, size_t count,
                       const char *line)
{
    struct doing *d = mem_new(1, sizeof *d);

    d->results = r;
    d->deed = deed;
    d->line = mem_text(line);
    d->folder = mem_new(count + 1, sizeof *d->folder);
    for (size_t i = 0; i < count; i++)
        d->folder[d->count++] = library_folder(r->app->library, names[i]);
    tasks_add(r->app->tasks, do_deed, done_deed, d);
}

/* ---- tags and notes ---- */

static void take_tags(void *user, const char *text)
{
    struct results *r = user;
    struct text line = {0};
    struct err e = {0};
    const char **names;
    size_t count;

    if (!text)
        return;
    if (results_tag_line(text, &line, &e) != ERR_OK) {
        app_say(r->app, GRID_BAD, "%s", e.text);
        text_free(&line);
        return;
    }
    names = runs_asked(r, &count);
    if (count && strcmp(text_str(&line), "tag") != 0)
        start_deed(r, DEED_EDIT, names, count, text_str(&line));
    text_free(&line);
    free(names);
}

static void ask_tags(struct results *r)
{
    size_t count;
    const char **names = runs_meant(r, &count);
    struct text label = {0}, now = {0};
    char who[300];

    r->meant = hash_of(names, count);
    say_runs(who, sizeof who, names, count);
    text_addf(&label, "tags of %.24s", who);
    if (count == 1)
        results_cut(library_cell(library_find(r->app->library, names[0]), "tags"), 20, true, &now);
    if (now.n)
        text_addf(&label, " (%s)", text_str(&now));
    text_add(&label, ", +TAG -TAG");
    if (count)
        app_prompt(r->app, text_str(&label), "", take_tags, NULL, r);
    text_free(&label);
    text_free(&now);
    free(names);
}

static void take_note(void *user, const char *text)
{
    struct results *r = user;
    const struct library_run *run = library_find(r->app->library, r->about);
    char *line;

    if (!text || !run)
        return;
    line = *text ? mem_textf("note %s", text) : mem_text("note");
    start_deed(r, DEED_EDIT, &run->name, 1, line);
    free(line);
}

static void remember(struct results *r, const struct library_run *run)
{
    snprintf(r->about, sizeof r->about, "%s", run->name);
}

static void ask_note(struct results *r, const struct library_run *run)
{
    char label[64];

    snprintf(label, sizeof label, "note on %.20s", results_hash(run->name));
    remember(r, run);
    app_prompt(r->app, label, library_cell(run, "note"), take_note, NULL, r);
}

/* ---- the trash ---- */

static void take_trash(void *user, int answer)
{
    struct results *r = user;
    const char **names;
    size_t count, kept = 0;

    if (answer != 0)
        return;
    names = runs_asked(r, &count);
    for (size_t i = 0; i < count; i++) {
        const struct library_run *run = library_find(r->app->library, names[i]);

        if (run && !run->live)
            names[kept++] = names[i];
    }
    if (kept)
        start_deed(r, DEED_REMOVE, names, kept, "");
    free(names);
}

static void ask_trash(struct results *r)
{
    static const char *const answers[] = {"trash", "keep", NULL};
    size_t count, live = 0;
    const char **names = runs_meant(r, &count);
    char who[300], question[500];

    for (size_t i = 0; i < count; i++) {
        const struct library_run *run = library_find(r->app->library, names[i]);

        live += run && run->live;
    }
    r->meant = hash_of(names, count);
    say_runs(who, sizeof who, names, count - live || count > 1 ? count : 1);
    if (count && live == count)
        app_say(r->app, GRID_WARN, "%s %s at work: K stops a run first", who,
                count == 1 ? "is" : "are");
    else if (count) {
        snprintf(question, sizeof question,
                 live ? "Move %s to the folder trash? %zu of them at work stay."
                      : "Move %s to the folder trash?",
                 who, live);
        app_ask(r->app, question, answers, take_trash, r);
    }
    free(names);
}

/* ---- live runs ---- */

static void tell(struct results *r, const struct library_run *run, const char *line)
{
    char *folder = library_folder(r->app->library, run->name);
    struct feed_run *own = r->app->feed ? feed_find(r->app->feed, folder) : NULL;
    struct err e = {0};
    enum err_code code = ERR_OK;

    free(folder);
    if (!own || !own->own) {
        start_deed(r, DEED_CONTROL, &run->name, 1, line);
        return;
    }
    if (!strcmp(line, "pause") || !strcmp(line, "go"))
        code = feed_pause(r->app->feed, own, line[0] == 'g', &e);
    else
        code = feed_stop(r->app->feed, own,
                         !strcmp(line, "stop step") ? WIRE_AFTER_STEP : WIRE_AFTER_EPOCH, &e);
    if (code != ERR_OK)
        app_say(r->app, GRID_BAD, "%s", e.text);
}

static bool must_live(struct results *r, const struct library_run *run)
{
    if (run->live)
        return true;
    app_say(r->app, GRID_WARN, "%s is not at work: it is %s", results_hash(run->name),
            library_cell(run, "state"));
    return false;
}

static void take_stop(void *user, int answer)
{
    static const char *const lines[] = {"stop epoch", "stop step"};
    struct results *r = user;
    const struct library_run *run = library_find(r->app->library, r->about);

    if (run && (answer == 0 || answer == 1))
        tell(r, run, lines[answer]);
}

static void ask_stop(struct results *r, const struct library_run *run)
{
    static const char *const answers[] = {"after this epoch", "now, resumable", "cancel", NULL};
    char question[400];

    if (!must_live(r, run))
        return;
    remember(r, run);
    snprintf(question, sizeof question, "Stop %s?", run->name);
    app_ask(r->app, question, answers, take_stop, r);
}

/* ---- verbs ---- */

static void job_done(void *user, const struct job_end *end)
{
    struct results *r = user;

    if (end->exit_code == 0)
        app_say(r->app, GRID_GOOD, "%s",
                *end->last_line ? end->last_line : "done; 7 shows what it said");
    else
        app_say(r->app, GRID_BAD, "%s (exit %d; 7 shows the log)", end->last_line, end->exit_code);
    library_tick(r->app->library, true);
}

/* verb RUN... MORE..., on this results folder. */
static void start_job(struct results *r, const char *verb, const char *const *names, size_t count,
                      const char *const *more)
{
    const char **args = mem_new(count + 16, sizeof *args);
    size_t n = 0;
    struct err e = {0};

    args[n++] = verb;
    for (size_t i = 0; i < count; i++)
        args[n++] = names[i];
    for (size_t i = 0; more && more[i]; i++)
        args[n++] = more[i];
    args[n++] = "--results";
    args[n++] = r->app->config.results;
    if (jobs_start(r->app->jobs, args, job_done, r, &e) == ERR_OK)
        app_say(r->app, GRID_TEXT, "%s has begun; 7 shows its log", verb);
    else
        app_say(r->app, GRID_BAD, "%s", e.text);
    free(args);
}

/* As on Run, which shows it from then on. */
static void resume_run(struct results *r, const struct library_run *run)
{
    (void)runkeys_do(r->app, run->name, 'R');
}

static void join_marked(struct results *r)
{
    size_t count;
    const char **names = runs_meant(r, &count);

    if (count == 1 &&
        strcmp(library_cell(library_find(r->app->library, names[0]), "mode"), "ensemble") != 0)
        app_say(r->app, GRID_WARN,
                "an ensemble of finished runs needs two or more: Space marks them");
    else if (count)
        start_job(r, "ensemble", names, count, NULL);
    free(names);
}

static void take_target(void *user, const char *text)
{
    struct results *r = user;
    bool report = !strcmp(r->about, "report");
    const char *more[] = {"-o", text, NULL};
    const char **names;
    size_t count;

    if (!text || !*text)
        return;
    names = runs_asked(r, &count);
    if (count)
        start_job(r, report ? "report" : "export", names, count, more);
    free(names);
}

static void take_form(void *user, int answer)
{
    struct results *r = user;

    if (answer != 0 && answer != 1)
        return;
    snprintf(r->about, sizeof r->about, answer == 0 ? "report" : "export");
    if (answer == 0)
        app_prompt(r->app, "folder of the report", "report", take_target, NULL, r);
    else
        app_prompt(r->app, "file of all epochs", "epochs.csv", take_target, NULL, r);
}

static void ask_form(struct results *r)
{
    static const char *const answers[] = {"report: a page, figures, tables", "export: one CSV",
                                          "cancel", NULL};
    size_t count;
    const char **names = runs_meant(r, &count);
    char who[300], question[400];

    r->meant = hash_of(names, count);
    say_runs(who, sizeof who, names, count);
    snprintf(question, sizeof question, "Write %s as", who);
    if (count)
        app_ask(r->app, question, answers, take_form, r);
    free(names);
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

static void go_to(struct results *r, const struct library_run *run, int screen)
{
    struct app *app = r->app;
    char *folder = library_folder(app->library, run->name);

    if (screen == SCREEN_RUN)
        screen_run_watch(app->screen[SCREEN_RUN], folder);
    else if (screen == SCREEN_PREDICT)
        screen_predict_run(app->screen[SCREEN_PREDICT], run->name);
    else if (screen == SCREEN_SWEEP)
        screen_sweep_open(app->screen[SCREEN_SWEEP], library_cell(run, "sweep"));
    app_show(app, screen);
    free(folder);
}

static void load(struct results *r, const struct library_run *run, bool again)
{
    char *folder = library_folder(r->app->library, run->name);

    screen_setup_load(r->app->screen[SCREEN_SETUP], folder, again);
    if (!again)
        app_show(r->app, SCREEN_SETUP);
    free(folder);
}

static bool act_on_one(struct results *r, const struct library_run *run, int32_t code)
{
    switch (code) {
    case UI_ENTER:
        go_to(r, run, SCREEN_RUN);
        return true;
    case 'e':
    case 'r':
        load(r, run, code == 'r');
        return true;
    case 'R':
        resume_run(r, run);
        return true;
    case 'p':
        if (must_live(r, run))
            tell(r, run, run->state == WIRE_PAUSED ? "go" : "pause");
        return true;
    case 'K':
        ask_stop(r, run);
        return true;
    case 'P':
        go_to(r, run, SCREEN_PREDICT);
        return true;
    case 'N':
        ask_note(r, run);
        return true;
    default:
        return false;
    }
}

bool results_act(struct results *r, int32_t code)
{
    const struct results_line *line = results_chosen(r);
    const struct library_run *run;

    if (code == '*') {
        mark_all(r);
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
    case 't':
        ask_tags(r);
        return true;
    case 'd':
        ask_trash(r);
        return true;
    case 'E':
        join_marked(r);
        return true;
    case 'x':
        ask_form(r);
        return true;
    case 'b':
        if (*library_cell(run, "sweep"))
            go_to(r, run, SCREEN_SWEEP);
        else
            app_say(r->app, GRID_WARN, "this run is no cell of a sweep");
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
    if (code < UI_KEYS && strchr("erRpKPN", (int)code) && code) {
        app_say(r->app, GRID_WARN, "this line stands for %zu runs: Enter unfolds them",
                r->view.group[line->at].count);
        return true;
    }
    return false;
}
