/* RUN names: a folder, a part of a name, @, @2, @best, a sweep, and the filters between them. */
#include "record/find.h"

#include "base/again.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/best.h"
#include "record/columns.h"
#include "record/filter.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD 5 /* runs that an error names */

struct finder {
    const char *results;
    struct record_entry *list; /* of results, behind them those that were named by their folder */
    size_t count, total;
    bool *left; /* (count): the filters leave it and no name took it yet */
    bool *kept; /* (count): the filters leave it */
    size_t kept_count;
    struct record_filter *filter;
    size_t filters;
    size_t *picked; /* places in list */
    size_t found, room;
    bool listing; /* nothing is fine, and so is a part of several names */
};

static void pick(struct finder *f, size_t which)
{
    f->picked = mem_grow(f->picked, &f->room, f->found + 1, sizeof *f->picked);
    f->picked[f->found++] = which;
}

static void take(struct finder *f, size_t which)
{
    if (f->left[which])
        pick(f, which);
    f->left[which] = false;
}

static void swap(struct record_entry *a, struct record_entry *b)
{
    struct record_entry held = *a;

    *a = *b;
    *b = held;
}

/* Moves those picked to the front, in their order, and frees the others: a second list of 10,000
 * runs would be 100 MB. */
static void move_picked(struct finder *f)
{
    size_t *at = mem_new(f->total + 1, sizeof *at);     /* where an entry is now */
    size_t *here = mem_new(f->total + 1, sizeof *here); /* which entry is in a place */

    for (size_t i = 0; i < f->total; i++)
        at[i] = here[i] = i;
    for (size_t i = 0; i < f->found; i++) {
        size_t from = at[f->picked[i]], away = here[i];
        if (from == i)
            continue;
        swap(&f->list[i], &f->list[from]);
        at[away] = from;
        here[from] = away;
    }
    free(at);
    free(here);
    for (size_t i = f->found; i < f->total; i++)
        record_free_entry(&f->list[i]);
    f->total = f->found;
}

static void free_finder(struct finder *f)
{
    for (size_t i = 0; i < f->filters; i++)
        record_filter_free(&f->filter[i]);
    free(f->filter);
    free(f->left);
    free(f->kept);
    free(f->picked);
    record_free_list(f->list, f->total);
}

static bool passes(const struct finder *f, const struct record_entry *entry)
{
    bool all = true;

    for (size_t i = 0; i < f->filters && all; i++)
        all = record_filter_takes(&f->filter[i], entry);
    return all;
}

/* " of those that the filters leave" where there are any. */
static const char *of_those(const struct finder *f)
{
    return f->filters ? " of the filters' choice" : "";
}

static enum err_code find_place(struct finder *f, const char *name, struct err *e)
{
    int64_t place = 1;

    if (name[1] && (!text_to_int(name + 1, &place) || place < 1))
        return err_set(e, ERR_INPUT,
                       "'%s' names no run: @ is the newest, @2 the one before, @best the one with "
                       "the best accuracy, @all every run",
                       name);
    if ((uint64_t)place > f->kept_count) {
        if (f->listing)
            return ERR_OK;
        return err_set(e, ERR_INPUT, "there is no run '%s': %s holds %s%s", name, f->results,
                       TEXT_COUNT(f->kept_count), of_those(f));
    }
    for (size_t i = f->count; i-- > 0;) {
        if (f->kept[i] && --place == 0) {
            take(f, i);
            break;
        }
    }
    return ERR_OK;
}

static bool may_be_best(const struct finder *f, size_t i)
{
    double acc = f->list[i].run.best_test_acc;

    return f->kept[i] && !f->list[i].broken && acc != RECORD_EMPTY && isfinite(acc) &&
           !wire_state_is_bad(f->list[i].run.state);
}

static enum err_code find_best(struct finder *f, struct err *e)
{
    struct record_choice *of = mem_new(f->count + 1, sizeof *of);
    bool *best = mem_new(f->count + 1, sizeof *best), any = false;

    for (size_t i = 0; i < f->count; i++) {
        const struct record_entry *entry = &f->list[i];

        of[i].acc = NAN;
        if (!may_be_best(f, i))
            continue;
        of[i] = (struct record_choice){entry->run.best_test_acc, record_entry_valid_acc(entry),
                                       record_tested_of(&entry->run)};
        any = true;
    }
    record_find_best(of, f->count, best);
    for (size_t i = 0; i < f->count; i++)
        if (best[i])
            take(f, i);
    free(of);
    free(best);
    if (any || f->listing)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "there is no run '@best': no run in %s has an accuracy yet%s",
                   f->results, of_those(f));
}

static enum err_code find_every(struct finder *f, struct err *e)
{
    for (size_t i = 0; i < f->count; i++)
        take(f, i);
    if (f->kept_count || f->listing)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "there is no run '@all': no run in %s%s", f->results, of_those(f));
}

/* How a word may be meant, the surest first. */
enum meaning { WORD_FOLDER, WORD_CALLED, WORD_PART, WORD_MEANINGS };

static bool may_mean(const struct record_entry *entry, const char *word, enum meaning how)
{
    if (how == WORD_FOLDER)
        return !strcmp(entry->name, word);
    if (how == WORD_PART)
        return strstr(entry->name, word) != NULL;
    return !entry->broken &&
           (!strcmp(entry->run.spec.name, word) || !strcmp(entry->run.sweep, word));
}

/* A hash is part of a name too: what was meant by a part of several, nobody knows. */
static enum err_code refuse_part(const struct finder *f, const char *word, size_t runs,
                                 struct err *e)
{
    struct text some = {0};
    size_t told = 0;

    for (size_t i = 0; i < f->count && told < TOLD; i++)
        if (f->kept[i] && may_mean(&f->list[i], word, WORD_PART))
            text_addf(&some, "%s%s", told++ ? ", " : "", f->list[i].name);
    err_set(e, ERR_INPUT,
            "'%s' is part of the names of %s runs: %s%s; give a longer part, or a filter such as "
            "model=NAME for several (results in %s)",
            word, TEXT_COUNT(runs), text_str(&some), runs > TOLD ? ", ..." : "", f->results);
    text_free(&some);
    return ERR_INPUT;
}

/* A folder's name wins over what runs and sweeps are called, that over parts of names. */
static enum err_code find_word(struct finder *f, const char *name, struct err *e)
{
    bool is_all = !strcmp(name, "all");
    size_t runs = 0;

    for (enum meaning how = WORD_FOLDER; how < WORD_MEANINGS && !runs; how++) {
        for (size_t i = 0; i < f->count; i++)
            runs += f->kept[i] && may_mean(&f->list[i], name, how);
        if (how == WORD_PART && runs > 1 && !f->listing)
            return refuse_part(f, name, runs, e);
        for (size_t i = 0; i < f->count && runs; i++)
            if (may_mean(&f->list[i], name, how))
                take(f, i);
    }
    if (runs || f->listing)
        return ERR_OK;
    return err_set(
        e, ERR_INPUT,
        "there is no run '%s': it is no folder of a run, no sweep and part of no name in "
        "%s (%s run%s%s; %s%s%s)",
        name, f->results, TEXT_COUNT(f->kept_count), text_s(f->kept_count), of_those(f),
        is_all ? "@all is every run" : "chorus ls", is_all ? "" : again(),
        is_all ? "" : " lists them");
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat first, second;

    return io.stat(a, &first) == 0 && io.stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* "results/sweeps/grid", "results/sweeps/grid/sweep.csv": grid. It need not be there any more. */
bool record_sweep_of_path(const char *results, const char *path, char name[128])
{
    static const char *const files[] = {"/sweep.csv", "/ledger.csv"};
    char *copy = realpath(path, NULL), *sweeps, *parent, *base;
    bool is = false;

    copy = copy ? copy : mem_text(path);
    for (size_t i = 0; i < MEM_COUNT(files); i++)
        copy[text_stem(copy, files[i])] = 0;
    for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/';)
        copy[--n] = 0;
    sweeps = io_folder_of(copy);
    parent = io_folder_of(sweeps);
    base = strrchr(sweeps, '/');
    if (!strcmp(base ? base + 1 : sweeps, "sweeps") && is_same_folder(parent, results)) {
        base = strrchr(copy, '/');
        is = base && base[1] && strlen(base + 1) < 128;
        if (is)
            snprintf(name, 128, "%s", base + 1);
    }
    free(parent);
    free(sweeps);
    free(copy);
    return is;
}

static enum err_code find_sweep(struct finder *f, const char *path, const char *name, struct err *e)
{
    size_t runs = 0;

    for (size_t i = 0; i < f->count; i++) {
        bool is = !f->list[i].broken && !strcmp(f->list[i].run.sweep, name);

        runs += is && f->kept[i];
        if (is)
            take(f, i);
    }
    if (runs || f->listing)
        return ERR_OK;
    if (!io_exists(path) && !*of_those(f))
        return err_set(e, ERR_INPUT, "there is no sweep %s; chorus ls%s lists the runs", path,
                       again());
    return err_set(e, ERR_INPUT, "the sweep %s has no run%s", path, of_those(f));
}

static enum err_code find_folder(struct finder *f, const char *name, struct err *e)
{
    struct record_entry entry;

    TRY(record_read_entry(name, &entry, e));
    for (size_t i = 0; i < f->total; i++) {
        if (strcmp(f->list[i].name, entry.name) != 0 || !is_same_folder(f->list[i].folder, name))
            continue;
        if (i < f->count)
            take(f, i);
        record_free_entry(&entry);
        return ERR_OK;
    }
    if (!passes(f, &entry)) {
        record_free_entry(&entry);
        return ERR_OK;
    }
    f->list = mem_resize(f->list, f->total + 1, sizeof *f->list);
    f->list[f->total] = entry;
    pick(f, f->total++);
    return ERR_OK;
}

/* A results folder that is not there is more often a wrong one than an empty one. */
static const char *if_gone(const char *results)
{
    return io_exists(results) ? "" : ", which is not there";
}

static enum err_code find_name(struct finder *f, const char *name, struct err *e)
{
    char sweep[128];

    if (record_is_run(name))
        return find_folder(f, name, e);
    if (strchr(name, '/')) {
        if (record_sweep_of_path(f->results, name, sweep))
            return find_sweep(f, name, sweep, e);
        if (strstr(name, "sweeps/") && io_exists(name))
            return err_set(e, ERR_INPUT,
                           "%s is no sweep of %s: --results names the folder that it belongs to",
                           name, f->results);
        if (!io_exists(name))
            return err_set(e, ERR_INPUT,
                           "there is no file or folder %s; chorus ls%s lists the runs", name,
                           again());
        return err_set(
            e, ERR_INPUT,
            "%s is not the folder of a run: it has no run.csv; chorus ls%s lists the runs", name,
            again());
    }
    if (!f->total && !f->listing) {
        const char *gone = if_gone(f->results);

        return err_set(e, ERR_INPUT, "there is no run '%s' in %s%s; chorus run first%s makes one",
                       name, f->results, *gone ? gone : ", which holds none", again());
    }
    if (!strcmp(name, "@best"))
        return find_best(f, e);
    if (!strcmp(name, "@all"))
        return find_every(f, e);
    if (name[0] == '@')
        return find_place(f, name, e);
    return find_word(f, name, e);
}

/* A path may hold a "=", a column no "/". */
bool record_is_filter(const char *name)
{
    size_t slash = strcspn(name, "/");

    return record_filter_is(name) && strcspn(name, "=<>!") < slash && !record_is_run(name);
}

static enum err_code take_filters(struct finder *f, char *const *names, size_t count, struct err *e)
{
    f->filter = mem_new(count + 1, sizeof *f->filter);
    for (size_t i = 0; i < count; i++) {
        if (!*names[i])
            return err_set(e, ERR_INPUT, "the name of a run is empty");
        if (record_is_filter(names[i]))
            TRY(record_filter_parse(&f->filter[f->filters++], names[i], e));
    }
    return ERR_OK;
}

static enum err_code read_list(struct finder *f, struct err *e)
{
    TRY(record_list(f->results, &f->list, &f->count, e));
    f->total = f->count;
    f->left = mem_new(f->count + 1, sizeof *f->left);
    f->kept = mem_new(f->count + 1, sizeof *f->kept);
    for (size_t i = 0; i < f->count; i++) {
        f->kept[i] = f->left[i] = passes(f, &f->list[i]);
        f->kept_count += f->kept[i];
    }
    return ERR_OK;
}

static enum err_code refuse_none(const struct finder *f, char *const *names, size_t count,
                                 struct err *e)
{
    struct text filters = {0};

    for (size_t i = 0; i < count; i++) {
        if (record_is_filter(names[i]))
            text_addf(&filters, "%s%s", filters.n ? " " : "", names[i]);
    }
    err_set(e, ERR_INPUT, "no run matches '%s': there %s %s run%s in %s%s", text_str(&filters),
            f->count == 1 ? "is" : "are", TEXT_COUNT(f->count), text_s(f->count), f->results,
            if_gone(f->results));
    text_free(&filters);
    return ERR_INPUT;
}

static enum err_code find_all(struct finder *f, char *const *names, size_t count, struct err *e)
{
    bool by_name = false, needs_list;

    TRY(take_filters(f, names, count, e));
    needs_list = f->filters == count;
    for (size_t i = 0; i < count; i++)
        needs_list = needs_list || (!record_is_filter(names[i]) && !record_is_run(names[i]));
    if (needs_list)
        TRY(read_list(f, e));
    if (f->filters && f->count && !f->kept_count && !f->listing)
        return refuse_none(f, names, count, e);
    for (size_t i = 0; i < count; i++) {
        if (record_is_filter(names[i]))
            continue;
        by_name = true;
        TRY(find_name(f, names[i], e));
    }
    for (size_t i = 0; i < f->count && !by_name; i++)
        take(f, i);
    if (f->filters && !f->found && !f->listing)
        return refuse_none(f, names, count, e);
    return ERR_OK;
}

enum err_code record_find_all(const char *results, char *const *names, size_t count, bool listing,
                              struct record_entry **out, size_t *found, struct err *e)
{
    struct finder f = {.results = results ? results : "results", .listing = listing};
    enum err_code code = find_all(&f, names, count, e);

    *out = NULL;
    *found = 0;
    if (code == ERR_OK) {
        move_picked(&f);
        *out = f.list;
        *found = f.found;
        f.list = NULL;
        f.total = 0;
    }
    free_finder(&f);
    return code;
}

/* "test_limit=64": what tells two of them apart. */
static void add_tested(const struct record_entry *list, struct text *out)
{
    static const char *const columns[] = {"data", "test_limit", "data_hash"};
    struct text other = {0};

    for (size_t i = 0; i < MEM_COUNT(columns) && !out->n; i++) {
        struct text value = {0};

        text_clear(&other);
        record_entry_value(&list[0], columns[i], &value);
        record_entry_value(&list[1], columns[i], &other);
        if (strcmp(text_str(&value), text_str(&other)) != 0)
            text_addf(out, "%s=%s", columns[i], text_str(&value));
        text_free(&value);
    }
    text_free(&other);
}

static enum err_code refuse_bests(const char *results, char *const *names, size_t count,
                                  const struct record_entry *list, size_t found, struct err *e)
{
    struct text some = {0}, asked = {0}, filter = {0};

    for (size_t i = 0; i < count; i++)
        text_addf(&asked, "%s%s", i ? " " : "", names[i]);
    for (size_t i = 0; i < found && i < TOLD; i++)
        text_addf(&some, "%s%s", i ? ", " : "", list[i].name);
    add_tested(list, &filter);
    err_set(e, ERR_INPUT,
            "'%s' stands for %s runs that were tested on different data, each the best on its own: "
            "%s%s; one is needed, such as %s %s (results in %s)",
            text_str(&asked), TEXT_COUNT(found), text_str(&some), found > TOLD ? ", ..." : "",
            text_str(&asked), text_str(&filter), results);
    text_free(&some);
    text_free(&asked);
    text_free(&filter);
    return ERR_INPUT;
}

/* @best alone, or between filters. */
static bool is_best(char *const *names, size_t count)
{
    size_t filters = 0, best = 0;

    for (size_t i = 0; i < count; i++) {
        filters += record_is_filter(names[i]);
        best += !strcmp(names[i], "@best");
    }
    return best == 1 && filters + best == count;
}

static enum err_code refuse_many(const char *results, char *const *names, size_t count,
                                 const struct record_entry *list, size_t found, struct err *e)
{
    struct text some = {0}, asked = {0};
    const char *how = "stands for";
    bool sweep = count == 1;

    for (size_t i = 0; i < count; i++)
        text_addf(&asked, "%s%s", i ? " " : "", names[i]);
    for (size_t i = 0; i < found && i < TOLD; i++)
        text_addf(&some, "%s%s", i ? ", " : "", list[i].name);
    for (size_t i = 0; i < found; i++) /* a run may have the name of a sweep */
        sweep = sweep && !strcmp(list[i].run.sweep, names[0]);
    if (count == 1 && record_is_filter(names[0]))
        how = "matches";
    else if (count == 1 && !strpbrk(names[0], "/@"))
        how = sweep ? "is the sweep of" : "is the name of";
    err_set(e, ERR_INPUT, "'%s' %s %s runs: %s%s; one is needed%s%s (results in %s)",
            text_str(&asked), how, TEXT_COUNT(found), text_str(&some), found > TOLD ? ", ..." : "",
            sweep ? ", such as @best sweep=" : "", sweep ? names[0] : "",
            results ? results : "results");
    text_free(&some);
    text_free(&asked);
    return ERR_INPUT;
}

enum err_code record_find_one(const char *results, char *const *names, size_t count,
                              struct record_entry *out, struct err *e)
{
    struct record_entry *list;
    size_t found;
    enum err_code code;

    memset(out, 0, sizeof *out);
    TRY(record_find_all(results, names, count, false, &list, &found, e));
    if (found == 1) /* the list may know it from the index, and has not asked who holds its lock */
        code = record_read_entry(list[0].folder, out, e);
    else if (found == 0)
        code = err_set(e, ERR_INPUT, "there is no run in %s%s", results ? results : "results",
                       if_gone(results ? results : "results"));
    else if (is_best(names, count))
        code = refuse_bests(results ? results : "results", names, count, list, found, e);
    else
        code = refuse_many(results, names, count, list, found, e);
    record_free_list(list, found);
    return code;
}

enum err_code record_find(const char *results, const char *name, struct record_entry *out,
                          struct err *e)
{
    char *copy = mem_text(name);
    enum err_code code = record_find_one(results, &copy, 1, out, e);

    free(copy);
    return code;
}

enum err_code record_find_unfinished(const char *results, struct record_entry *out, struct err *e)
{
    struct record_entry *list;
    size_t count;
    bool found = false;

    memset(out, 0, sizeof *out);
    TRY(record_list(results, &list, &count, e));
    for (size_t i = count; i > 0 && !found; i--) {
        const struct record_entry *entry = &list[i - 1];
        bool waits = entry->run.state == WIRE_STOPPED || entry->run.state == WIRE_WAITING;
        if (entry->broken || entry->live || !(waits || entry->dead))
            continue;
        if (record_read_entry(entry->folder, out, NULL) != ERR_OK)
            continue;
        waits = out->run.state == WIRE_STOPPED || out->run.state == WIRE_WAITING;
        found = !out->broken && !out->live && (waits || out->dead);
        if (!found)
            record_free_entry(out);
    }
    record_free_list(list, count);
    if (found)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "there is no unfinished run in %s%s (%s run%s)", results,
                   if_gone(results), TEXT_COUNT(count), text_s(count));
}
