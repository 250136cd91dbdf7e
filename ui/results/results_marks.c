/* ui/results/results_marks.c: marks are kept among the settings, by results folder, for the next time chorus
 * is opened on it. */
#include "ui/results/results_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES   (1 << 20) /* of the names of a folder, the newest runs': 20,000 or more */
#define KEPT_FOLDERS 20        /* of each list */
#define FOLDERS      "marks.folders"

/* "marks.0123456789abcdef", once the folder is there; "" until then. */
static const char *find_entry(struct results *r)
{
    char *real = r->entry[0] ? NULL : realpath(r->app->config.results, NULL);

    if (real)
        snprintf(r->entry, sizeof r->entry, "marks.%016llx",
                 (unsigned long long)results_key("marks", real));
    free(real);
    return r->entry;
}

void results_take_marks(struct results *r)
{
    const char *entry = find_entry(r);
    char *copy, *rest;

    if (*entry) {
        rest = copy = mem_text(settings_get(r->app->settings, entry, ""));
        for (char *name; (name = strsep(&rest, "\n"));)
            if (*name)
                library_mark(r->app->library, name, true);
        free(copy);
    }
    r->marks_turn = library_marks_turn(r->app->library);
}

void results_list_folder(struct settings *s, const char *list_name, const char *entry, bool is)
{
    char *copy = mem_text(settings_get(s, list_name, "")), *rest = copy;
    struct text list = {0};
    size_t kept = is;

    if (is)
        text_add(&list, entry);
    for (char *other; (other = strsep(&rest, " "));) {
        if (!*other || !strcmp(other, entry))
            continue;
        if (kept++ < KEPT_FOLDERS)
            text_addf(&list, "%s%s", list.n ? " " : "", other);
        else
            settings_set(s, other, NULL);
    }
    settings_set(s, list_name, list.n ? text_str(&list) : NULL);
    text_free(&list);
    free(copy);
}

/* The first one that is kept: what is in front of it there is no room for. */
static size_t first_kept(const char *const *names, size_t count)
{
    size_t first = count, bytes = 0;

    while (first > 0 && (bytes += strlen(names[first - 1]) + 1) <= KEPT_BYTES)
        first--;
    return first;
}

void results_keep_marks(struct results *r)
{
    struct library *l = r->app->library;
    struct text list = {0};
    const char **names, *entry;
    size_t count, first;

    if (r->marks_turn == library_marks_turn(l) || !library_ready(l) || !*(entry = find_entry(r)))
        return;
    r->marks_turn = library_marks_turn(l);
    names = library_marked_names(l, &count);
    first = first_kept(names, count);
    for (size_t i = first; i < count; i++)
        text_addf(&list, "%s%s", list.n ? "\n" : "", names[i]);
    settings_set(r->app->settings, entry, list.n ? text_str(&list) : NULL);
    results_list_folder(r->app->settings, FOLDERS, entry, list.n > 0);
    if (first)
        app_say(r->app, GRID_WARN,
                "%s runs are marked; for the next time the newest %s of them are remembered",
                TEXT_COUNT(count), TEXT_COUNT(count - first));
    text_free(&list);
    free(names);
}
