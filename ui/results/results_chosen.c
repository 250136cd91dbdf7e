/* ui/results/results_chosen.c: which runs a key means: the marked ones, or those of the chosen line. Whoever does
 * something to several runs asks here, so that a filter hides none of them unasked. */
#include "ui/results/results_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

static bool *shown_runs(const struct results *r)
{
    bool *shown = mem_new(r->view.total + 1, sizeof *shown);

    for (size_t i = 0; i < r->view.count; i++)
        shown[r->view.order[i]] = true;
    return shown;
}

/* Moves the runs that the filter shows to the front; returns how many they are. */
static size_t bring_forward(const struct results *r, const char **names, size_t count)
{
    size_t n, kept = 0;
    const struct library_run *runs = library_runs(r->app->library, &n);
    bool *shown = shown_runs(r);

    for (size_t i = 0; i < count; i++) {
        const struct library_run *run = library_find(r->app->library, names[i]);

        if (run && shown[run - runs]) {
            const char *held = names[kept];

            names[kept++] = names[i];
            names[i] = held;
        }
    }
    free(shown);
    return kept;
}

size_t results_hidden(const struct results *r)
{
    const char **names;
    size_t count, hidden;

    if (r->view.count == r->view.total || !library_marks(r->app->library))
        return 0;
    names = library_marked_names(r->app->library, &count);
    hidden = count - bring_forward(r, names, count);
    free(names);
    return hidden;
}

/* The caller frees the array. */
static const char **list_meant(struct results *r, size_t *count)
{
    const struct results_line *line;
    const char **names;

    if (results_is_old(r))
        results_make(r); /* lines hold places in the library's list */
    line = results_chosen(r);
    if (library_marks(r->app->library) > 0) {
        names = library_marked_names(r->app->library, count);
        if (r->only_shown)
            *count = bring_forward(r, names, *count);
        return names;
    }
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

const char **results_asked(struct results *r, size_t *count)
{
    const char **names = list_meant(r, count);

    if (hash_of(names, *count) != r->meant) {
        app_say(r->app, GRID_WARN, "the list has changed meanwhile: nothing was done");
        *count = 0;
    }
    return names;
}

/* The runs that list_meant lists now. */
static void do_deed(struct results *r, const char *const *names, size_t count)
{
    r->meant = hash_of(names, count);
    if (count)
        r->deed->act(r, names, count);
}

static void hidden_or_not(void *user, int answer)
{
    struct results *r = user;
    size_t count, shown;
    const char **names;

    if (answer != 0 && answer != 1)
        return;
    names = results_asked(r, &count);
    shown = bring_forward(r, names, count);
    r->only_shown = answer == 0;
    do_deed(r, names, answer == 0 ? shown : count); /* none: the first answer is to cancel */
    free(names);
}

static void ask_about_hidden(struct results *r, size_t count, size_t hidden)
{
    const char *number = TEXT_COUNT(count), *shown = TEXT_COUNT(count - hidden);
    char question[300], all[40], only[60];
    const char *answers[] = {hidden < count ? only : "cancel", all,
                             hidden < count ? "cancel" : NULL, NULL};

    snprintf(question, sizeof question, "%s the %s%smarked run%s%s? The filter hides %s%s.",
             r->deed->verb, count > 1 ? number : "", count > 1 ? " " : "", text_s(count),
             r->deed->where,
             hidden < count ? TEXT_COUNT(hidden)
             : count > 1    ? "all"
                            : "it",
             count > 1 ? " of them" : "");
    snprintf(all, sizeof all, count > 1 ? "all %s" : "anyway", number);
    snprintf(only, sizeof only, "only the %s shown", shown);
    app_ask(r->app, question, answers, hidden_or_not, r);
}

void results_do(struct results *r, const struct results_deed *deed)
{
    size_t count, hidden;
    const char **names;

    r->deed = deed;
    r->only_shown = false;
    names = list_meant(r, &count);
    r->meant = hash_of(names, count);
    hidden = results_hidden(r);
    if (hidden)
        ask_about_hidden(r, count, hidden);
    else
        do_deed(r, names, count);
    free(names);
}
