/* ui/app/app_command.c: what is seen here as a command line (':'), and as a file ('w'). */
#include "ui/app/app_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/find.h"
#include "record/run/reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WATCH_WORDS 64
#define PAGE_MOST   (64 << 10) /* bytes of a command's output that are shown over the screen */

static const struct screen *shown(const struct app *app)
{
    return app->config.screens[app->shown];
}

/* The start of it, where it is long: every frame lays it out again. */
static void show_output(struct app *app, const struct text *out)
{
    struct text page = {0};

    text_add_n(&page, text_str(out), out->n < PAGE_MOST ? out->n : PAGE_MOST);
    if (out->n > PAGE_MOST)
        text_add(&page, "\n... the Log screen has more of it");
    popup_whole_page(app, "what the command said", text_str(&page));
    text_free(&page);
}

static bool one_line(const struct text *out)
{
    const char *end = strchr(text_str(out), '\n');

    return out->n > 0 && out->n < 200 && (!end || !end[1]);
}

/* One line: a sentence of what was made, or what the command said of that line, or the line. */
static void say_output(struct app *app, const struct job_end *end)
{
    char *line = mem_text_n(text_str(end->out), strcspn(text_str(end->out), "\n"));
    const char *talk = end->last_line ? end->last_line : "";
    struct text clean = {0};

    if (!app_add_made(app, end, &clean))
        text_add_clean(&clean, line);
    app_say(app, GRID_GOOD, "%s", strstr(talk, text_str(&clean)) ? talk : text_str(&clean));
    text_free(&clean);
    free(line);
}

void command_over(void *user, const struct job_end *end)
{
    struct app *app = user;

    if (end->exit_code || end->out->n > PAGE_MOST) /* and it is said so */
        app_open(app, SCREEN_LOG, &(struct screen_request){.what = SCREEN_SHOW_ALL});
    if (end->exit_code)
        app_enter_again(app, end->mark);
    if (end->exit_code)
        app_say(app, GRID_BAD, "%s (exit code %d; the Log screen has all of it)",
                end->last_line && *end->last_line ? end->last_line : "the command failed",
                end->exit_code);
    else if (one_line(end->out))
        say_output(app, end);
    else if (end->out->n)
        show_output(app, end->out);
    else /* as of a list that is empty: its talk says why */
        app_say(app, GRID_GOOD, "%s", end->last_line && *end->last_line ? end->last_line : "done");
    library_tick(app->library, true);
}

/* A run that `watch` names, looked up as the verb does. */
struct watching {
    struct app *app;
    char *results, *name[WATCH_WORDS];
    size_t names;
    struct record_entry entry;
    uint64_t entered; /* as app_entered */
    enum err_code code;
    struct err e;
};

static void look_up(void *arg)
{
    struct watching *w = arg;

    w->code = record_find_one(w->results, w->name, w->names, &w->entry, &w->e);
}

static void looked_up(void *arg, bool dropped)
{
    struct watching *w = arg;

    if (!dropped && w->code == ERR_OK) {
        app_open(w->app, SCREEN_RUN,
                 &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = w->entry.folder});
        app_show(w->app, SCREEN_RUN);
    } else if (!dropped) {
        app_enter_again(w->app, w->entered);
        app_say(w->app, GRID_BAD, "%s", w->e.text);
    }
    record_free_entry(&w->entry);
    for (size_t i = 0; i < w->names; i++)
        free(w->name[i]);
    free(w->results);
    free(w);
}

/* What follows a run to its end stands on Run here. */
static void watch(struct app *app, const char **args, size_t n)
{
    struct watching *w = mem_new(1, sizeof *w);

    *w = (struct watching){
        .app = app, .results = mem_text(app->config.results), .entered = app_entered(app)};
    for (size_t i = 1; i < n && w->names < WATCH_WORDS; i++)
        w->name[w->names++] = mem_text(args[i]);
    if (!w->names)
        w->name[w->names++] = mem_text("@");
    (void)tasks_try(app->tasks, look_up, looked_up, w);
}

void command_start(struct app *app, const char *const *args)
{
    struct err e;

    if (jobs_start(app->jobs, args,
                   train_runs_alone(args)  ? answer_of_begun
                   : train_is_queued(args) ? answer_of_queued
                                           : command_over,
                   app, &e) != ERR_OK) {
        app_enter_again(app, app_entered(app));
        app_say(app, GRID_BAD, "%s", e.text);
    } else {
        jobs_mark(app->jobs, app_entered(app));
        app_say(app, GRID_DIM, "chorus %s runs; what it says is on the Log screen", args[0]);
    }
}

static void run_command(void *user, const char *line)
{
    struct app *app = user;
    const char **args;
    char **words;
    size_t count, n = 0;
    struct err e;
    bool trains_here, run;

    if (!line || !*line)
        return;
    if (!strcmp(line, "q") || !strcmp(line, "quit")) {
        app_say(app, GRID_TEXT, "the key q leaves");
        return;
    }
    if (jobs_split(line, &words, &count, &e) != ERR_OK) {
        app_say(app, GRID_BAD, "%s", e.text);
        return;
    }
    args = mem_new(count + 3, sizeof *args);
    for (size_t i = !strcmp(count ? words[0] : "", "chorus"); i < count; i++)
        if (strcmp(words[i], "--tui") != 0) /* it is here that it is watched */
            args[n++] = words[i];
    trains_here = train_is(args, n);
    run = trains_here && !strcmp(args[0], "run");
    if (trains_here && !run)
        args[n++] = "--background";
    if (run)
        train_run(app, args, n);
    else if (n == 0)
        app_say(app, GRID_BAD, "that is no command; `help` lists them");
    else if (trains_here || train_lets_go(args, n))
        train_go_on(app, args, n);
    else if (!strcmp(args[0], "watch")) /* it would follow to the run's end, and fill the log */
        watch(app, args, n);
    else
        command_start(app, args);
    free(args);
    jobs_free_args(words);
}

void app_command(struct app *app, const char *line)
{
    text_clear(&app->did);
    text_add(&app->did, line);
    run_command(app, line);
}

static void offer(struct app *app, const char *verb, const char *run, const char *behind)
{
    struct text line = {0};

    text_addf(&line, "%s ", verb);
    jobs_add_word(&line, run);
    text_add(&line, behind);
    popup_offer(app, text_str(&line));
    text_free(&line);
}

/* The one that the screen tells of: of this program as the wire says, on Run as its files do that are read
 * there; NULL: as the list of all runs says. */
static const struct feed_run *told(const struct app *app, const char *name)
{
    const struct feed_run *run = feed_find(app->feed, name);

    return run && (run->own || (app->shown == SCREEN_RUN && run->known)) ? run : NULL;
}

/* The verbs that mean a run, as far as its state lets them do anything. */
static void offer_verbs(struct app *app, const char *name)
{
    const struct library_run *run =
        app->library && library_ready(app->library) ? library_find(app->library, name) : NULL;
    const struct feed_run *at = told(app, name);
    enum wire_state state = at ? at->state : run ? run->state : WIRE_FAILED;
    bool live = at ? at->live && !at->dead : run && run->live;

    if (live) {
        const struct feed_run *known = feed_find(app->feed, name);
        bool ends = known && feed_ends_epoch(app->feed, known);

        offer(app, "watch", name, "");
        offer(app, state == WIRE_PAUSED ? "go" : "pause", name, "");
        offer(app, "stop", name, "");
        if (!ends)
            offer(app, "stop", name, " --after-epoch");
        else if (state != WIRE_PAUSED)
            offer(app, "go", name, "");
    } else if (run && !run->average) { /* it cannot be trained on */
        offer(app, "resume", name, state == WIRE_DONE ? " epochs=" : "");
    }
    offer(app, "run", name, "");
    offer(app, "run --match", name, "");
    offer(app, "show", name, "");
    offer(app, "plot", name, "");
    offer(app, "predict", name, "");
    offer(app, "weights", name, " -o weights.safetensors");
    offer(app, "tag", name, " +");
    offer(app, "note", name, " ");
    offer(app, "compare", name, " @");
    offer(app, "ensemble", name, " @");
    offer(app, "export", name, " -o epochs.csv");
    offer(app, "report", name, " -o report");
    if (!live)
        offer(app, "rm", name, "");
}

/* The verbs that take several; runs: as they stand in a command line. */
static void offer_verbs_of_all(struct app *app, const char *runs)
{
    static const char *const verbs[][2] = {{"compare", ""},
                                           {"compare", " --over seed"},
                                           {"plot", ""},
                                           {"ls", ""},
                                           {"report", " -o report"},
                                           {"export", " -o epochs.csv"},
                                           {"tag", " +"},
                                           {"ensemble", ""},
                                           {"rm", ""}};

    for (size_t i = 0; i < MEM_COUNT(verbs); i++) {
        char *line = mem_textf("%s %s%s", verbs[i][0], runs, verbs[i][1]);

        popup_offer(app, line);
        free(line);
    }
}

static void offer_lines(struct app *app, char *lines)
{
    for (char *line; (line = strsep(&lines, "\n"));)
        popup_offer(app, line);
}

static void open_line(struct app *app, const char *text);

/* One in which something is missing stays, to be mended. */
static void line_typed(void *user, const char *line)
{
    struct app *app = user;
    struct err e;
    char **words = NULL;
    size_t count;

    if (line && jobs_split(line, &words, &count, &e) != ERR_OK) {
        open_line(app, line);
        app_say(app, GRID_BAD, "%s", e.text);
        return;
    }
    jobs_free_args(words);
    run_command(app, line);
}

/* text: what stands in it; NULL: what does the same as the screen. */
static void open_line(struct app *app, const char *text)
{
    const struct screen *s = shown(app);
    const char *run;
    struct text line = {0}, runs = {0}, further = {0};

    s->command(app->screen[app->shown], &line);
    app_prompt(app, "chorus", text ? text : text_str(&line), line_typed, NULL, app);
    popup_offer(app, text_str(&line));
    if (app->did.n)
        popup_offer(app, text_str(&app->did));
    if (s->offers)
        s->offers(app->screen[app->shown], &further);
    if (further.n)
        offer_lines(app, further.s);
    run = s->run ? s->run(app->screen[app->shown]) : NULL;
    if (run && *run)
        offer_verbs(app, run);
    else if (s->runs)
        s->runs(app->screen[app->shown], &runs);
    if (runs.n)
        offer_verbs_of_all(app, text_str(&runs));
    popup_offer(app, "queue");
    text_free(&line);
    text_free(&runs);
    text_free(&further);
}

/* Of a prompt that was closed: that of ':' with all that it offers. */
void command_again(struct app *app, const char *line)
{
    if (app->own->on_text == line_typed)
        open_line(app, line);
    else
        app_prompt_again(app, line);
}

void command_show(struct app *app)
{
    open_line(app, NULL);
}

/* A copy of what is seen, and in which form the path's ending wants it: empty where it says none. */
static enum err_code copy_screen(struct app *app, const char *path, const char **form,
                                 struct paper *out, struct err *e)
{
    const struct screen *s = shown(app);
    struct text known = {0};

    for (size_t i = 0; s->write && s->forms && s->forms[i]; i++) {
        char *end = mem_textf(".%s", s->forms[i]);
        bool is =
            text_has_ending_any_case(path, end) && !text_has_ending_any_case(path, "screen.svg");

        free(end);
        if (is) {
            text_free(&known);
            *form = s->forms[i];
            return s->write(app->screen[app->shown], *form, out, e);
        }
        text_addf(&known, ", .%s", s->forms[i]);
    }
    *form = "txt";
    e->code = ERR_OK;
    if (app->own->grid.rows >= APP_LEAST_ROWS && app->own->grid.columns >= APP_LEAST_COLUMNS)
        bar_hints(app, &app->own->grid); /* where the question for the path still stands */
    if (text_has_ending_any_case(path, ".svg")) {
        grid_to_svg(&app->own->grid, !strcmp(app_theme(app), "light"), s->name, &out->text);
    } else if (text_has_ending_any_case(path, ".txt")) {
        grid_to_text(&app->own->grid, &out->text);
    } else {
        *form = "";
        err_set(e, ERR_INPUT,
                "%s: the ending says the form; here it is .txt or screen.svg (the whole screen)%s",
                path, text_str(&known));
    }
    text_free(&known);
    return e->code;
}

struct writing {
    struct app *app;
    char *typed, *path; /* as it stood in the line, and where that is */
    char *line;         /* a command's that writes it; NULL: chorus writes the screen */
    int screen;         /* that is written */
    uint64_t keyed;     /* as app_keyed; of a command as app_entered */
    const char *form;
    struct paper paper;
    bool replace, there;
    enum err_code code;
    struct err e;
};

static void free_writing(struct writing *w)
{
    paper_free(&w->paper);
    free(w->typed);
    free(w->path);
    free(w->line);
    free(w);
}

static bool is_below(const char *folder, const char *results)
{
    char *real = realpath(folder, NULL), *top = realpath(results, NULL);
    size_t n = top ? strlen(top) : 0;
    bool is = real && top && !strncmp(real, top, n) && real[n] == '/';

    free(real);
    free(top);
    return is;
}

/* A file of a run or of a sweep is no place for a figure. */
static enum err_code check_target(struct writing *w)
{
    const char *results = w->app->config.results;
    char *folder = io_folder_of(w->path), sweep[128];
    bool own = is_below(folder, results) &&
               (record_is_run(folder) || record_sweep_of_path(results, folder, sweep));

    free(folder);
    return own ? err_set(&w->e, ERR_INPUT,
                         "%s is in a folder of results, which keeps its files as they are: choose "
                         "another path",
                         w->path)
               : ERR_OK;
}

static void write_work(void *arg)
{
    struct writing *w = arg;
    struct text bytes = {0};

    w->code = check_target(w);
    if (w->code != ERR_OK)
        return;
    w->there = !w->replace && io_has_content(w->path);
    if (w->there || w->line)
        return;
    w->code = paper_write(&w->paper, w->form, &bytes, &w->e);
    if (w->code == ERR_OK)
        w->code = io_replace_file(w->path, text_str(&bytes), bytes.n, &w->e);
    text_free(&bytes);
}

static void write_done(void *arg, bool dropped);

static void overwrite(void *user, int answer)
{
    struct app *app = user;
    struct writing *w = app->own->asked;

    app->own->asked = NULL;
    if (!w)
        return;
    w->replace = answer == 0;
    w->keyed = w->line ? 0 : app_keyed(app);
    if (w->replace)
        tasks_add_slow(app->tasks, write_work, write_done, w);
    else
        free_writing(w);
}

void command_close(struct app *app)
{
    if (app->own->asked)
        free_writing(app->own->asked);
    app->own->asked = NULL;
    begun_free(app->own->begun);
    begun_free(app->own->leaves);
    train_close(app);
}

/* Somebody may do other things by now, or another question may wait: no question comes between. */
static bool ask_to_replace(struct writing *w)
{
    static const char *const answers[] = {"replace it", "cancel", NULL};
    char *question;

    if (w->app->own->popup != POPUP_NONE || w->app->own->asked) {
        app_say(w->app, GRID_WARN, "%s is there already, and stays as it is", w->path);
        return false;
    }
    question = mem_textf("%s is there already.", w->path);
    w->app->own->asked = w;
    app_ask(w->app, question, answers, overwrite, w->app);
    free(question);
    return true;
}

static void ask_path(struct app *app, const char *path);

/* Where nobody has pressed a key since, the path stays, to be mended. */
static void say_not_written(const struct writing *w)
{
    struct app *app = w->app;

    if (w->line)
        app_enter_again(app, w->keyed);
    else if (app_waits(app, w->screen, w->keyed))
        ask_path(app, w->typed);
    app_say(app, GRID_BAD, "%s", w->e.text);
}

static void say_written(const struct writing *w)
{
    char *line;

    if (w->line) {
        line = mem_textf("%s%s", w->line, w->replace ? " --force" : "");
        app_command(w->app, line);
        free(line);
    } else {
        app_say(w->app, GRID_GOOD, "written: %s%s%s", w->path, w->paper.what ? ": " : "",
                w->paper.what ? w->paper.what : "");
    }
}

static void write_done(void *arg, bool dropped)
{
    struct writing *w = arg;

    if (!dropped && w->there && ask_to_replace(w))
        return;
    if (!dropped && !w->there)
        (w->code == ERR_OK ? say_written : say_not_written)(w);
    free_writing(w);
}

void app_command_to(struct app *app, const char *line, const char *path)
{
    struct writing *w = mem_new(1, sizeof *w);

    *w = (struct writing){
        .app = app, .line = mem_text(line), .path = mem_text(path), .keyed = app_entered(app)};
    tasks_add_slow(app->tasks, write_work, write_done, w);
}

/* The name of FILE.csv beside FILE.tex. */
static char *csv_of(const char *path)
{
    const char *name = io_last_part(path), *end = strrchr(name, '.');

    return mem_textf("%.*s.csv", (int)(end ? (size_t)(end - name) : strlen(name)), name);
}

/* As it is now; how long a disk takes is another thread's business. */
static void write_to(void *user, const char *path)
{
    struct app *app = user;
    struct writing *w;
    struct err e = {0};

    if (!path || !*path)
        return;
    w = mem_new(1, sizeof *w);
    *w = (struct writing){.app = app,
                          .typed = mem_text(path),
                          .path = io_home_path(path),
                          .screen = app->shown,
                          .keyed = app_keyed(app)};
    if (copy_screen(app, w->path, &w->form, &w->paper, &e) == ERR_OK) {
        w->paper.csv_name = csv_of(w->path);
        tasks_add_slow(app->tasks, write_work, write_done, w);
        return;
    }
    if (!*w->form) /* another ending will do */
        ask_path(app, path);
    app_say(app, GRID_BAD, "%s", e.text);
    free_writing(w);
}

static void ask_path(struct app *app, const char *path)
{
    const struct screen *s = shown(app);
    struct text label = {0};

    /* a label that has no room is cut at its end: figures are asked for most */
    text_add(&label, "write (");
    for (int figures = 1; figures >= 0; figures--)
        for (size_t i = 0; s->write && s->forms && s->forms[i]; i++)
            if ((!strcmp(s->forms[i], "pdf") || !strcmp(s->forms[i], "svg")) == (figures == 1))
                text_addf(&label, ".%s ", s->forms[i]);
    text_add(&label, ".txt screen.svg)");
    app_prompt(app, text_str(&label), path, write_to, NULL, app);
    text_free(&label);
}

void command_write(struct app *app)
{
    const struct screen *s = shown(app);
    struct text path = {0};

    text_addf(&path, "%s.%s", s->name, s->write && s->forms && s->forms[0] ? s->forms[0] : "txt");
    path.s[0] = (char)(path.s[0] | 0x20);
    ask_path(app, text_str(&path));
    text_free(&path);
}
