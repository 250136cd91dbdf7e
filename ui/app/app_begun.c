/* ui/app/app_begun.c: what was begun behind ':' computes in a process of its own, and goes on when the workbench
 * is left: whoever leaves is asked. */
#include "ui/app/app_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/sweep/sweeps.h"
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAMED 3

struct begun {
    char *path; /* of a run's folder, or of a sweep's table, as the verb prints it */
    struct begun *next;
};

void begun_free(struct begun *b)
{
    while (b) {
        struct begun *next = b->next;

        free(b->path);
        free(b);
        b = next;
    }
}

static void add(struct begun **list, const char *path)
{
    struct begun *b = mem_new(1, sizeof *b);

    *b = (struct begun){.path = mem_text(path), .next = *list};
    *list = b;
}

void begun_take(struct app *app, const struct text *said)
{
    char *path = mem_text_n(text_str(said), strcspn(text_str(said), "\n"));
    const struct begun *b = app->own->begun;

    while (b && strcmp(b->path, path) != 0) /* what goes on again is there already */
        b = b->next;
    if (*path && !b)
        add(&app->own->begun, path);
    free(path);
}

struct begun *begun_copy(const struct app *app)
{
    struct begun *copy = NULL;

    for (const struct begun *b = app->own->begun; b; b = b->next)
        add(&copy, b->path);
    return copy;
}

static bool is_live(const char *results, const char *path)
{
    char sweep[128];

    return record_sweep_of_path(results, path, sweep) ? record_sweep_live(results, sweep)
                                                      : record_is_owned(path);
}

struct begun *begun_look(struct begun *list, const char *results)
{
    struct begun *live = NULL, *next;

    for (; list; list = next) {
        next = list->next;
        list->next = NULL;
        if (is_live(results, list->path)) {
            list->next = live;
            live = list;
        } else {
            begun_free(list);
        }
    }
    return live;
}

static void add_names(const char *results, const struct begun *list, struct text *out)
{
    size_t n = 0;

    for (const struct begun *b = list; b; b = b->next) {
        char sweep[128];

        if (n++ >= MOST_NAMED)
            continue;
        text_addf(out, "%s%s", n > 1 ? ", " : "",
                  TEXT_CLEAN(record_sweep_of_path(results, b->path, sweep)
                                 ? sweep
                                 : study_short_name(io_last_part(b->path))));
    }
    if (n > MOST_NAMED)
        text_addf(out, " and %s more", TEXT_COUNT(n - MOST_NAMED));
}

void begun_tell(const struct app *app, const struct begun *live, struct text *words)
{
    if (!live)
        return;
    text_add(words, words->n ? " " : "");
    add_names(app->config.results, live, words);
    text_addf(words, ", begun by a command, compute%s on in any case.", live->next ? "" : "s");
}

struct stopping {
    struct app *app;
    struct begun *list;
    char *results;
    struct err e; /* of one that could not be told */
};

static void stop_all(void *arg)
{
    struct stopping *s = arg;
    enum err_code told;
    struct err e;

    for (const struct begun *b = s->list; b; b = b->next) {
        char sweep[128];

        if (record_sweep_of_path(s->results, b->path, sweep))
            told = record_sweep_control(s->results, sweep, "stop step", &e);
        else
            told = record_control(b->path, "stop step", &e);
        if (told != ERR_OK && is_live(s->results, b->path)) /* one that has ended need not hear */
            s->e = e;
    }
}

static void stopped_all(void *arg, bool dropped)
{
    struct stopping *s = arg;

    if (!dropped && s->e.code != ERR_OK)
        app_say(s->app, GRID_BAD, "%s", s->e.text);
    else if (!dropped)
        s->app->over = true;
    begun_free(s->list);
    free(s->results);
    free(s);
}

static void stop_and_leave(struct app *app)
{
    struct stopping *s = mem_new(1, sizeof *s);

    *s = (struct stopping){
        .app = app, .list = app->own->leaves, .results = mem_text(app->config.results)};
    app->own->leaves = NULL;
    (void)tasks_try(app->tasks, stop_all, stopped_all, s);
}

void begun_leave(void *user, int answer)
{
    struct app *app = user;

    if (answer == 0)
        app->over = true;
    else if (answer == 1)
        stop_and_leave(app);
}

void begun_ask(struct app *app, struct begun *live, const char *words)
{
    static const char *const answers[] = {"leave it running, without this terminal",
                                          "now: stop it; R goes on with it", "cancel", NULL};
    struct text question = {0};

    begun_free(app->own->leaves);
    app->own->leaves = live;
    text_addf(&question, "%s%s", words, *words ? " " : "");
    add_names(app->config.results, live, &question);
    text_addf(&question, ", begun by a command, compute%s in %s. How do you want to leave?",
              live->next ? "" : "s",
              live->next ? "processes of their own" : "a process of its own");
    if (!*words)
        text_addf(&question, " Ctrl-C again leaves %s running.", live->next ? "them" : "it");
    app_ask(app, text_str(&question), answers, begun_leave, app);
    text_free(&question);
}
