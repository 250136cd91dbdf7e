/* RUN names: a folder, a part of a name, @, @2, @best. */
#include "base/io.h"
#include "base/mem.h"
#include "record/reader.h"
#include "record/record_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hands out one of the list and frees the others. */
static enum err_code take(struct record_entry *list, size_t count, size_t which,
                          struct record_entry *out)
{
    *out = list[which];
    memset(&list[which], 0, sizeof list[which]);
    record_free_list(list, count);
    return ERR_OK;
}

static enum err_code find_place(const char *results, const char *name, struct record_entry *list,
                                size_t count, struct record_entry *out, struct err *e)
{
    int64_t place = 1;

    if (name[1] && (!text_to_int(name + 1, &place) || place < 1)) {
        record_free_list(list, count);
        return err_set(e, ERR_INPUT,
                       "'%s' names no run: @ is the newest, @2 the one before, @best "
                       "the one with the best accuracy",
                       name);
    }
    if ((uint64_t)place > count) {
        record_free_list(list, count);
        return err_set(e, ERR_INPUT, "there is no run '%s': %s holds %zu", name, results, count);
    }
    return take(list, count, count - (size_t)place, out);
}

static enum err_code find_best(const char *results, struct record_entry *list, size_t count,
                               struct record_entry *out, struct err *e)
{
    size_t best = count;

    for (size_t i = 0; i < count; i++) {
        double acc = list[i].run.best_test_acc;
        if (list[i].broken || acc == RECORD_EMPTY || !isfinite(acc))
            continue;
        if (best == count || acc > list[best].run.best_test_acc)
            best = i;
    }
    if (best == count) {
        record_free_list(list, count);
        return err_set(e, ERR_INPUT, "there is no run '@best': no run in %s has an accuracy yet",
                       results);
    }
    return take(list, count, best, out);
}

static enum err_code find_part(const char *results, const char *name, struct record_entry *list,
                               size_t count, struct record_entry *out, struct err *e)
{
    struct text names = {0};
    size_t found = 0, which = 0;

    for (size_t i = 0; i < count; i++) {
        if (!strcmp(list[i].name, name)) { /* the whole name wins over longer ones that hold it */
            text_free(&names);
            return take(list, count, i, out);
        }
        if (!strstr(list[i].name, name))
            continue;
        which = i;
        if (++found <= 5)
            text_addf(&names, "%s%s", found > 1 ? ", " : "", list[i].name);
    }
    if (found == 1) {
        text_free(&names);
        return take(list, count, which, out);
    }
    if (found == 0)
        err_set(e, ERR_INPUT,
                "there is no run '%s': it is no folder of a run and part of no name in %s (%zu "
                "run%s; chorus ls lists them)",
                name, results, count, count == 1 ? "" : "s");
    else
        err_set(e, ERR_INPUT, "'%s' is part of the names of %zu runs: %s%s", name, found,
                text_str(&names), found > 5 ? ", ..." : "");
    text_free(&names);
    record_free_list(list, count);
    return ERR_INPUT;
}

enum err_code record_find(const char *results, const char *name, struct record_entry *out,
                          struct err *e)
{
    struct record_entry *list;
    size_t count;
    const char *where = results ? results : "results";

    memset(out, 0, sizeof *out);
    if (!*name)
        return err_set(e, ERR_INPUT, "the name of a run is empty");
    if (record_is_run(name))
        return record_read_entry(name, out, e);
    if (strpbrk(name, "=<>!"))
        return err_set(e, ERR_INPUT,
                       "'%s' is a filter: filters come with a later version; name a "
                       "folder, a part of a run's name, @, @2 or @best",
                       name);
    if (strchr(name, '/'))
        return err_set(e, ERR_INPUT, "%s is not the folder of a run: it has no run.csv", name);
    TRY(record_list(where, &list, &count, e));
    if (!strcmp(name, "@best"))
        return find_best(where, list, count, out, e);
    if (name[0] == '@')
        return find_place(where, name, list, count, out, e);
    return find_part(where, name, list, count, out, e);
}

enum err_code record_find_unfinished(const char *results, struct record_entry *out, struct err *e)
{
    struct record_entry *list;
    size_t count;

    memset(out, 0, sizeof *out);
    TRY(record_list(results, &list, &count, e));
    for (size_t i = count; i > 0; i--) {
        const struct record_entry *entry = &list[i - 1];
        bool waits = entry->run.state == WIRE_STOPPED || entry->run.state == WIRE_WAITING;
        if (!entry->broken && !entry->live && (waits || entry->dead))
            return take(list, count, i - 1, out);
    }
    record_free_list(list, count);
    return err_set(e, ERR_INPUT, "there is no unfinished run in %s (%zu run%s)", results, count,
                   count == 1 ? "" : "s");
}
