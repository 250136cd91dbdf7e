/* ui/results_marks.c: marks are kept among the settings, by results folder, for the next time chorus
 * is opened on it. */
#include "ui/results_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MARKS   200 /* of a folder: the newest runs */
#define KEPT_FOLDERS 20  /* in which something was marked last */
#define FOLDERS      "marks.folders"

/* "marks.0123456789abcdef"; false: the folder is not there. */
static bool find_entry(const struct results *r, char *out, size_t room)
{
    char *real = realpath(r->app->config.results, NULL);

    if (real)
        snprintf(out, room, "marks.%016llx", (unsigned long long)results_key("marks", real));
    free(real);
    return real != NULL;
}

void results_take_marks(struct results *r)
{
    char entry[40], *copy, *rest;

    if (find_entry(r, entry, sizeof entry)) {
        rest = copy = mem_text(settings_get(r->app->settings, entry, ""));
        for (char *name; (name = strsep(&rest, "\n"));)
            if (*name)
                library_mark(r->app->library, name, true);
        free(copy);
    }
    r->marks_turn = library_marks_turn(r->app->library);
}

/* The folder that was marked last stands first; marks of those that fall off the end go with them. */
static void list_folder(struct settings *s, const char *entry, bool marked)
{
    char *copy = mem_text(settings_get(s, FOLDERS, "")), *rest = copy;
    struct text list = {0};
    size_t kept = marked;

    if (marked)
        text_add(&list, entry);
    for (char *other; (other = strsep(&rest, " "));) {
        if (!*other || !strcmp(other, entry))
            continue;
        if (kept++ < KEPT_FOLDERS)
            text_addf(&list, "%s%s", list.n ? " " : "", other);
        else
            settings_set(s, other, NULL);
    }
    settings_set(s, FOLDERS, list.n ? text_str(&list) : NULL);
    text_free(&list);
    free(copy);
}

void results_keep_marks(struct results *r)
{
    struct library *l = r->app->library;
    struct text list = {0};
    const char **names;
    char entry[40];
    size_t count;

    if (r->marks_turn == library_marks_turn(l) || !library_ready(l) ||
        !find_entry(r, entry, sizeof entry))
        return;
    r->marks_turn = library_marks_turn(l);
    names = library_marked_names(l, &count);
    for (size_t i = count > KEPT_MARKS ? count - KEPT_MARKS : 0; i < count; i++)
        text_addf(&list, "%s%s", list.n ? "\n" : "", names[i]);
    settings_set(r->app->settings, entry, list.n ? text_str(&list) : NULL);
    list_folder(r->app->settings, entry, list.n > 0);
    text_free(&list);
    free(names);
}
