/* A sweep of that name is there already, begun or in the queue: whether the form's goes on in it. */
#include "ui/setup/setup_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/start_weights.h"
#include "record/sweep/sweeps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct looking { /* at the sweeps in results */
    struct setup_link *link;
    char *results;
    struct spec_sweep sweep;
    char name[SPEC_NAME], another[SPEC_NAME];
    uint64_t turn;
    int64_t jobs;              /* 0: nobody asked for any */
    bool other;                /* one of that name is another sweep: `another` is free */
    bool apart;                /* and these cells cannot be added to its own */
    struct spec_unlike unlike; /* why */
};

static void compare_with(struct looking *l, const struct spec_sweep *old, int64_t jobs,
                         const char *how)
{
    struct text had = {0}, has = {0};

    if (l->apart)
        return;
    spec_unlike_free(&l->unlike);
    l->apart = !spec_sweep_adds(&l->sweep, l->jobs, old, jobs, how, &l->unlike);
    spec_sweep_write(old, &had);
    spec_sweep_write(&l->sweep, &has);
    l->other |= l->apart || strcmp(text_str(&had), text_str(&has)) != 0;
    text_free(&had);
    text_free(&has);
}

static void compare_with_results(struct looking *l)
{
    struct record_queue_options options;
    struct spec_sweep old;

    spec_sweep_init(&old);
    if (record_sweep_read(l->results, l->name, &old, &options, NULL) == ERR_OK)
        compare_with(l, &old, options.jobs, "was begun with");
    spec_sweep_free(&old);
}

struct names {
    char **name;
    size_t n;
};

/* The same with those that wait in the queue; the caller frees all their names. */
static void compare_with_queue(struct looking *l, struct names *waiting)
{
    struct record_queued *items;
    size_t count;

    *waiting = (struct names){0};
    if (record_queue_list(l->results, &items, &count, NULL) != ERR_OK)
        return;
    waiting->name = mem_new(count + 1, sizeof *waiting->name);
    for (size_t i = 0; i < count; i++) {
        struct record_queue_options options;
        struct spec_sweep old;

        spec_sweep_init(&old);
        if (record_sweep_waits(&items[i], &old, &options)) {
            waiting->name[waiting->n++] = mem_text(options.name);
            if (!strcmp(options.name, l->name))
                compare_with(l, &old, options.jobs, "waits in the queue with");
        }
        spec_sweep_free(&old);
    }
    record_queue_free(items, count);
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

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(names->name[i], name))
            return true;
    return false;
}

/* The first number behind the name that no sweep has yet; one look at the folder tells of all. */
static void find_free_name(struct looking *l, const struct names *waiting)
{
    char *folder = io_path(l->results, "sweeps");
    size_t stem = setup_stem(l->name);
    struct names begun = {0};

    if (io_list_folder(folder, &begun.name, &begun.n, NULL) != ERR_OK)
        begun.n = 0;
    for (int i = 2; i < 1000; i++) {
        snprintf(l->another, sizeof l->another, "%.*s-%d", (int)(stem < 60 ? stem : 60), l->name,
                 i);
        if (!has_name(&begun, l->another) && !has_name(waiting, l->another))
            break;
    }
    if (begun.name)
        io_free_names(begun.name, begun.n);
    free(folder);
}

static void look_at_sweeps(void *arg)
{
    struct looking *l = arg;
    struct names waiting;

    if (record_name_weights(l->results, &l->sweep.base, NULL) != ERR_OK)
        return; /* the start says which run it does not find */
    compare_with_queue(l, &waiting);
    compare_with_results(l);
    if (l->other)
        find_free_name(l, &waiting);
    for (size_t i = 0; i < waiting.n; i++)
        free(waiting.name[i]);
    free(waiting.name);
}

static void take_new_name(struct setup *s)
{
    free(s->sweep_name);
    s->sweep_name = mem_text(s->free_name);
    setup_go_on(s);
}

static void new_name_or_not(void *user, int answer)
{
    if (answer == 0)
        take_new_name(user);
    else if (answer == 1)
        setup_go_on(user);
}

static void new_name_alone(void *user, int answer)
{
    if (answer == 0)
        take_new_name(user);
}

static void ask_for_name(struct setup *s, const struct looking *l)
{
    static const char *const answers[] = {"under a new name", "on in that one", "cancel", NULL};
    static const char *const new_or_none[] = {"under a new name", "cancel", NULL};
    struct text question = {0};

    snprintf(s->free_name, sizeof s->free_name, "%s", l->another);
    if (l->apart) {
        text_addf(&question, "The sweep %s %s", l->name, text_str(&l->unlike.why));
        if (l->unlike.list.n)
            text_addf(&question, " (a list, %s, would add to it)", text_str(&l->unlike.list));
        text_addf(&question, ". Run this one as %s?", l->another);
        app_ask(s->app, text_str(&question), new_or_none, new_name_alone, s);
    } else {
        text_addf(&question,
                  "There is a sweep named %s with other values already. Run this one as %s, or go "
                  "on in that one, where what has a result is not run again?",
                  l->name, l->another);
        app_ask(s->app, text_str(&question), answers, new_name_or_not, s);
    }
    text_free(&question);
}

/* Where the form is another one by now, r is pressed for that. */
static void sweeps_seen(void *arg, bool dropped)
{
    struct looking *l = arg;
    struct setup *s = setup_let_go(l->link);

    if (s && !dropped && s->form.turn == l->turn && l->other)
        ask_for_name(s, l);
    else if (s && !dropped && s->form.turn == l->turn)
        setup_go_on(s);
    spec_sweep_free(&l->sweep);
    spec_unlike_free(&l->unlike);
    free(l->results);
    free(l);
}

void setup_look_and_go_on(struct setup *s)
{
    struct looking *l = mem_new(1, sizeof *l);

    l->link = setup_hold(s);
    l->results = mem_text(s->app->config.results);
    snprintf(l->name, sizeof l->name, "%s", setup_sweep_name(s, l->another));
    spec_sweep_copy(&l->sweep, &s->form.sweep);
    l->turn = s->form.turn;
    l->jobs = s->sweep.jobs;
    setup_try(s, look_at_sweeps, sweeps_seen, l);
}
