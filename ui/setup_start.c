/* From the form to a run: at once, behind what runs, or beside what another program does. */
#include "ui/setup_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct form *setup_what(const struct setup *s)
{
    return s->runs_again ? &s->again : &s->form;
}

static const char *sweep_name(const struct setup *s, char name[SPEC_NAME])
{
    if (!s->runs_again && s->sweep_name && *s->sweep_name)
        return s->sweep_name;
    form_sweep_name(setup_what(s), name);
    return name;
}

/* ---- starting ---- */

static uint32_t start_run(struct setup *s, struct err *e)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    uint32_t number;

    start->spec = setup_what(s)->sweep.base;
    number = feed_start_run(s->app->feed, start, e);
    free(start);
    return number;
}

static uint32_t start_sweep(struct setup *s, struct err *e)
{
    struct wire_sweep *start;
    struct text text = {0};
    char name[SPEC_NAME];
    uint32_t number;
    size_t n;

    spec_sweep_write(&setup_what(s)->sweep, &text);
    n = sizeof *start + text.n + 1;
    start = mem_new(1, n);
    snprintf(start->name, sizeof start->name, "%s", sweep_name(s, name));
    memcpy(start->text, text_str(&text), text.n);
    number = feed_start_sweep(s->app->feed, start, n, e);
    text_free(&text);
    free(start);
    return number;
}

static void start(struct setup *s)
{
    struct err e = {0};
    uint32_t number =
        spec_sweep_varies(&setup_what(s)->sweep) ? start_sweep(s, &e) : start_run(s, &e);

    if (!number) {
        app_say(s->app, GRID_BAD, "%s", e.text);
        return;
    }
    s->started = number;
    app_show(s->app, SCREEN_RUN);
}

bool setup_refused(struct setup *s, const struct wire_event *event, const char *why)
{
    if (!s->started || event->run != s->started)
        return false;
    s->started = 0;
    app_show(s->app, SCREEN_SETUP);
    app_say(s->app, GRID_BAD, "%s", why);
    return true;
}

/* ---- where something runs already ---- */

static void queue_or_not(void *user, int answer)
{
    if (answer == 0)
        setup_queue_add(user);
}

static void beside_or_not(void *user, int answer)
{
    if (answer == 0)
        start(user);
}

static void queue_or_beside(void *user, int answer)
{
    if (answer == 0)
        setup_queue_add(user);
    else if (answer == 1)
        start(user);
}

/* Another program of this user computes here: what comes behind it and what beside is for a person to
 * say. Its queue is ours only where its results are. */
static void ask_about_others(struct setup *s)
{
    static const char *const both[] = {"queue it behind", "run it beside", "cancel", NULL};
    static const char *const beside[] = {"run it beside", "cancel", NULL};
    const struct record_working *w = &s->other[0];
    const char *slash;
    char question[500];
    struct text run = {0};
    bool same = false;

    for (size_t i = 0; i < s->others && !same; i++)
        if (record_working_same(s->other[i].results, s->app->config.results)) {
            same = true;
            w = &s->other[i];
        }
    slash = strrchr(w->run, '/');
    text_add_clean(&run, slash ? slash + 1 : w->run);
    snprintf(question, sizeof question,
             "Another chorus (process %lld) computes %.150s%s on this machine; beside each other "
             "both are slower.",
             (long long)w->pid, run.n ? text_str(&run) : "a run",
             same ? "" : " into other results");
    if (same)
        app_ask(s->app, question, both, queue_or_beside, s);
    else
        app_ask(s->app, question, beside, beside_or_not, s);
    text_free(&run);
}

static void go_on(struct setup *s)
{
    static const char *const answers[] = {"queue it behind", "cancel", NULL};

    if (feed_busy(s->app->feed))
        app_ask(s->app, "Something runs here already.", answers, queue_or_not, s);
    else if (s->others)
        ask_about_others(s);
    else
        start(s);
}

/* ---- a sweep of that name is there ---- */

static char *sweep_file(const struct setup *s, const char *name)
{
    return mem_textf("%s/sweeps/%s/sweep.ini", s->app->config.results, name);
}

/* Whether results hold a sweep of that name with other lists. */
static bool is_another(const struct setup *s, const char *name)
{
    char *path = sweep_file(s, name);
    struct spec_sweep old;
    struct text a = {0}, b = {0};
    bool another = false;

    spec_sweep_init(&old);
    if (spec_sweep_read(&old, path, NULL) == ERR_OK && spec_sweep_close(&old, NULL) == ERR_OK) {
        spec_sweep_write(&old, &a);
        spec_sweep_write(&s->form.sweep, &b);
        another = strcmp(text_str(&a), text_str(&b)) != 0;
    }
    spec_sweep_free(&old);
    text_free(&a);
    text_free(&b);
    free(path);
    return another;
}

size_t setup_stem(const char *name)
{
    size_t n = strlen(name), digits = 0;

    while (digits < n && name[n - digits - 1] >= '0' && name[n - digits - 1] <= '9')
        digits++;
    if (!digits || digits > 3 || n < digits + 2 || name[n - digits - 1] != '-')
        return n;
    return n - digits - 1;
}

static void free_name(const struct setup *s, const char *name, char out[SPEC_NAME])
{
    size_t stem = setup_stem(name);

    for (int i = 2; i < 1000; i++) {
        char *path;
        bool there;

        snprintf(out, SPEC_NAME, "%.*s-%d", (int)(stem < 60 ? stem : 60), name, i);
        path = sweep_file(s, out);
        there = io_exists(path);
        free(path);
        if (!there)
            return;
    }
}

static void new_name_or_not(void *user, int answer)
{
    struct setup *s = user;
    char name[SPEC_NAME], another[SPEC_NAME];

    if (answer != 0 && answer != 1)
        return;
    if (answer == 0) {
        snprintf(name, sizeof name, "%s", sweep_name(s, another));
        free_name(s, name, another);
        free(s->sweep_name);
        s->sweep_name = mem_text(another);
    }
    go_on(s);
}

void setup_run_again(struct setup *s)
{
    s->runs_again = true;
    if (s->again.good)
        go_on(s);
    else
        app_say(s->app, GRID_BAD, "%s", s->again.problem.text);
}

void setup_run(struct setup *s)
{
    static const char *const answers[] = {"under a new name", "on in that one", "cancel", NULL};
    const char *problem = setup_problem(s);
    char name[SPEC_NAME], missing[64], question[300], another[SPEC_NAME];

    s->runs_again = false;
    if (problem) {
        if (setup_missing(s, missing))
            app_say(s->app, GRID_BAD, "%s is not here: f fetches it, y takes made-up images",
                    missing);
        else
            app_say(s->app, GRID_BAD, "%s", problem);
        return;
    }
    if (!spec_sweep_varies(&s->form.sweep) || !is_another(s, sweep_name(s, name))) {
        go_on(s);
        return;
    }
    snprintf(name, sizeof name, "%s", sweep_name(s, another));
    free_name(s, name, another);
    snprintf(
        question, sizeof question,
        "Results have a sweep named %.80s with other values. Run this one as %.80s, or go on in "
        "that one, where what has a result is not run again?",
        name, another);
    app_ask(s->app, question, answers, new_name_or_not, s);
}

/* ---- data ---- */

static void fetched(void *user, const struct job_end *end)
{
    struct setup *s = setup_let_go(user);

    if (!s)
        return;
    s->fetching = false;
    if (end->exit_code == 0)
        app_say(s->app, GRID_GOOD, "The data are here.");
    else
        app_say(s->app, GRID_BAD, "%s",
                end->last_line && *end->last_line ? end->last_line : "they could not be fetched");
    setup_ask(s);
}

void setup_fetch(struct setup *s)
{
    char name[64];
    const char *args[] = {"data", "fetch", name, NULL};
    struct err e = {0};

    if (s->fetching) {
        app_say(s->app, GRID_TEXT, "The data are on their way; 7 shows how far.");
        return;
    }
    if (!setup_missing(s, name)) {
        app_say(s->app, GRID_TEXT, "No data are missing.");
        return;
    }
    if (jobs_start(s->app->jobs, args, fetched, setup_hold(s), &e) != ERR_OK) {
        (void)setup_let_go(s->link);
        app_say(s->app, GRID_BAD, "%s", e.text);
        return;
    }
    s->fetching = true;
    app_say(s->app, GRID_TEXT, "fetching %s; 7 shows how far", name);
}
