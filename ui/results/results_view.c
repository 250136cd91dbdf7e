/* ui/results/results_view.c: from the library's list to lines: filter, order, folding. */
#include "ui/results/results_int.h"

#include "base/hash.h"
#include "base/mem.h"
#include "record/columns.h"
#include "record/filter.h"
#include "record/run/run.h"
#include "study/runs.h"
#include "study/stats.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void results_free_view(struct results_view *v)
{
    free(v->order);
    free(v->group);
    free(v->line);
    memset(v, 0, sizeof *v);
}

uint64_t results_key(const char *kind, const char *name)
{
    uint64_t h = hash_quick(kind, strlen(kind)) * 31 ^ hash_quick(name, strlen(name));

    return h ? h : 1;
}

bool results_is_open(const struct results *r, uint64_t key)
{
    for (size_t i = 0; i < r->opened_count; i++)
        if (r->opened[i] == key)
            return true;
    return false;
}

void results_open(struct results *r, uint64_t key, bool open)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->opened_count; i++)
        if (r->opened[i] != key)
            r->opened[kept++] = r->opened[i];
    r->opened_count = kept;
    if (open) {
        r->opened = mem_grow(r->opened, &r->opened_room, kept + 1, sizeof *r->opened);
        r->opened[r->opened_count++] = key;
    }
    r->stale = true;
}

/* ---- order ---- */

struct sorted {
    struct record_key key;
    const char *name;
    size_t place;
    bool falling;
};

static int compare(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    int order = record_compare_keys(&x->key, &y->key, x->falling);

    return order ? order : -strcmp(x->name, y->name); /* the newest first */
}

/* "-best_test_acc": falling. Without: by time, the newest first. */
static void sort_runs(struct results *r, const struct library_run *runs)
{
    struct results_view *v = &r->view;
    struct sorted *s = mem_new(v->count + 1, sizeof *s);
    bool falling = r->sort[0] == '-';
    const char *column = r->sort + falling;
    int field = library_field(column);
    bool *live = results_are_live(r, runs, v->total);

    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];
        char number[TEXT_NUMBER_ROOM];
        const char *value = NULL;

        if (*column && live[v->order[i]]) /* by what its line shows */
            value = results_newest(r, run, column, number);
        if (*column && !value)
            value = field >= 0 ? run->cell[field] : library_value(r->app->library, run, column);
        s[i] = (struct sorted){record_key_of(value), run->name, v->order[i], falling};
    }
    qsort(s, v->count, sizeof *s, compare);
    for (size_t i = 0; i < v->count; i++)
        v->order[i] = s[i].place;
    free(live);
    free(s);
}

/* ---- folding ---- */

/* Which fields tell runs apart: as in compare, neither the seed nor what they were computed on. */
static bool *settings(size_t *count)
{
    size_t n = 0;
    bool *is;

    while (record_run_columns[n])
        n++;
    is = mem_new(n, sizeof *is);
    for (size_t i = 0; i < n; i++) {
        const char *column = record_run_columns[i];

        is[i] =
            study_is_setting(column) && !study_is_condition(column) && strcmp(column, "seed") != 0;
    }
    *count = n;
    return is;
}

static uint64_t fold_key(const struct results *r, const struct library_run *run, const bool *is,
                         size_t fields, int sweep)
{
    uint64_t h = 0x9e3779b97f4a7c15u;

    if (run->broken)
        return results_key("broken", run->name);
    if (r->fold == RESULTS_SWEEPS && *run->cell[sweep])
        return results_key("sweep", run->cell[sweep]);
    for (size_t i = 0; i < fields; i++)
        if (is[i]) /* equal texts are at one place */
            h = (h ^ (uintptr_t)run->cell[i]) * 0x100000001b3u + i;
    return h ? h : 1;
}

struct member { /* of a group, in the view's order */
    uint64_t key;
    size_t place, at; /* at: when its group came up first */
};

static int by_key(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

/* Brings runs of one group together where the first of them stands, and counts the groups. */
static void fold_runs(struct results *r, const struct library_run *runs)
{
    struct results_view *v = &r->view;
    struct member *m = mem_new(v->count + 1, sizeof *m);
    int sweep = library_field("sweep");
    size_t fields, first = 0;
    bool *is = settings(&fields);

    for (size_t i = 0; i < v->count; i++)
        m[i] = (struct member){fold_key(r, &runs[v->order[i]], is, fields, sweep), v->order[i], i};
    qsort(m, v->count, sizeof *m, by_key);
    for (size_t i = 0; i < v->count;
         i++) { /* each takes the place of its group's first, then its own */
        if (i == 0 || m[i].key != m[i - 1].key)
            first = m[i].at;
        m[i].at += first * (v->count + 1);
    }
    qsort(m, v->count, sizeof *m, by_place);
    v->group = mem_new(v->count + 1, sizeof *v->group);
    for (size_t i = 0; i < v->count; i++) {
        v->order[i] = m[i].place;
        if (i == 0 || m[i].key != m[i - 1].key)
            v->group[v->groups++] = (struct results_group){.first = i, .key = m[i].key};
        v->group[v->groups - 1].count++;
    }
    free(is);
    free(m);
}

struct result {
    uintptr_t seed; /* equal texts are at one place */
    size_t place;
    double acc;
};

static int by_seed(const void *a, const void *b)
{
    const struct result *x = a, *y = b;

    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The oldest of each seed: the rest is the same result again. Gives how many are left. */
static size_t drop_repeats(struct result *result, size_t n)
{
    size_t kept = 0;

    qsort(result, n, sizeof *result, by_seed);
    for (size_t i = 0; i < n; i++)
        if (!kept || result[i].seed != result[kept - 1].seed)
            result[kept++] = result[i];
    return kept;
}

/* What is not done is no part of a mean, as in compare. */
static size_t results_of(const struct results_view *v, const struct results_group *group,
                         const struct library_run *runs, struct result *out)
{
    int acc = library_field("best_test_acc"), seed = library_field("seed");
    size_t n = 0;

    for (size_t i = 0; i < group->count; i++) {
        size_t place = v->order[group->first + i];
        const struct library_run *run = &runs[place];

        if (run->state == WIRE_DONE && text_to_double(run->cell[acc], &out[n].acc) &&
            isfinite(out[n].acc)) {
            out[n].seed = (uintptr_t)run->cell[seed];
            out[n++].place = place;
        }
    }
    return n;
}

static bool is_one_seed(const struct results_view *v, const struct results_group *group,
                        const struct library_run *runs)
{
    int seed = library_field("seed");
    const char *first = runs[v->order[group->first]].cell[seed];

    for (size_t i = 1; i < group->count; i++)
        if (runs[v->order[group->first + i]].cell[seed] != first)
            return false;
    return true;
}

static void measure_groups(struct results *r, const struct library_run *runs)
{
    struct results_view *v = &r->view;
    struct result *result = mem_new(v->count + 1, sizeof *result);
    double *x = mem_new(v->count + 1, sizeof *x);
    int sweep = library_field("sweep");

    for (size_t g = 0; g < v->groups; g++) {
        struct results_group *group = &v->group[g];
        size_t n = results_of(v, group, runs, result);

        group->sweep = r->fold == RESULTS_SWEEPS && *runs[v->order[group->first]].cell[sweep];
        group->one_seed = is_one_seed(v, group, runs);
        group->n = group->sweep ? n : drop_repeats(result, n);
        group->again = n - group->n;
        group->best = NAN;
        for (size_t i = 0; i < group->n; i++) {
            x[i] = result[i].acc;
            if (!(x[i] <= group->best)) {
                group->best = x[i];
                group->best_run = result[i].place;
            }
        }
        group->mean = study_mean(x, group->n);
        group->sd = study_sd(x, group->n);
    }
    free(result);
    free(x);
}

/* By the accuracy that is shown of them where that is the order; elsewhere they stand where their first
 * run would. */
static bool by_accuracy(const struct results *r)
{
    const char *column = r->sort + (r->sort[0] == '-');

    return *column && library_field(column) == library_field("best_test_acc");
}

static int compare_groups(const void *a, const void *b)
{
    const struct results_group *x = a, *y = b;
    double of_x = x->sweep ? x->best : x->mean, of_y = y->sweep ? y->best : y->mean;

    if (!x->n || !y->n)
        return (x->n == 0) - (y->n == 0);
    return of_x < of_y ? -1 : of_x > of_y;
}

static void sort_groups(struct results *r)
{
    struct results_view *v = &r->view;
    size_t valued = 0;

    if (!by_accuracy(r))
        return;
    qsort(v->group, v->groups, sizeof *v->group, compare_groups);
    while (valued < v->groups && v->group[valued].n)
        valued++;
    for (size_t i = 0; r->sort[0] == '-' && i < valued / 2; i++) {
        struct results_group held = v->group[i];

        v->group[i] = v->group[valued - 1 - i];
        v->group[valued - 1 - i] = held;
    }
}

/* ---- lines ---- */

static void add_line(struct results_view *v, struct results_line line)
{
    v->line = mem_grow(v->line, &v->room, v->lines + 1, sizeof *v->line);
    v->line[v->lines++] = line;
}

static void add_run(struct results *r, const struct library_run *runs, size_t place, bool inside)
{
    const struct library_run *run = &runs[place];
    uint64_t key = results_key("run", run->name);

    add_line(&r->view, (struct results_line){RESULTS_RUN, place, 0, inside, key});
    if (!results_is_open(r, key) || strcmp(library_cell(run, "mode"), "ensemble") != 0)
        return;
    for (size_t m = 0, n = results_members_of(r, run->name)->n; m < n; m++)
        add_line(&r->view, (struct results_line){RESULTS_MEMBER, place, (int)m, true, key + 1 + m});
}

static void add_lines(struct results *r, const struct library_run *runs)
{
    struct results_view *v = &r->view;

    if (r->fold == RESULTS_SINGLE) {
        for (size_t i = 0; i < v->count; i++)
            add_run(r, runs, v->order[i], false);
        return;
    }
    for (size_t g = 0; g < v->groups; g++) {
        const struct results_group *group = &v->group[g];

        if (group->count == 1) {
            add_run(r, runs, v->order[group->first], false);
            continue;
        }
        add_line(v, (struct results_line){RESULTS_GROUP, g, 0, false, group->key});
        for (size_t i = 0; results_is_open(r, group->key) && i < group->count; i++)
            add_run(r, runs, v->order[group->first + i], true);
    }
}

/* ---- what is said above and below ---- */

/* Nobody wrote down when it died: it was at work when somebody looked, or began since. */
static bool has_died(const struct results *r, const struct library_run *run)
{
    if (!run->dead || run->broken)
        return false;
    return strcmp(library_cell(run, "started_utc"), r->since) > 0 ||
           results_set_has(&r->live, run->name);
}

/* Runs that have ended since somebody looked. */
struct news {
    size_t of[WIRE_SKIPPED + 1], ended, dead; /* of: by their states */
    const struct library_run *top;            /* the best; NULL: none has an accuracy */
    double best;
    struct record_tested on; /* what the first of them was tested on; others on something else: */
    bool apart;              /* none of them is the best */
};

/* ended: the field ended_utc, which is looked for once. */
static bool has_ended(const struct results *r, const struct library_run *run, int ended)
{
    return r->since[0] && strcmp(run->cell[ended], r->since) > 0 && !run->broken && !run->dead &&
           !results_set_has(&r->seen, run->name);
}

static void add_ended(struct news *n, const struct library_run *run)
{
    struct record_tested on;
    double acc;

    n->of[run->state]++;
    n->ended += run->state >= WIRE_STOPPED && run->state < WIRE_SKIPPED;
    if (!text_to_double(library_cell(run, "best_test_acc"), &acc) || !isfinite(acc))
        return;
    on = results_tested_of(run);
    n->apart = n->apart || (n->top && !record_tested_same(&n->on, &on));
    n->on = n->top ? n->on : on;
    if (!n->top || acc > n->best) {
        n->best = acc;
        n->top = run;
    }
}

static void add_news(const struct news *n, struct text *out)
{
    static const enum wire_state ends[] = {WIRE_DONE, WIRE_STOPPED, WIRE_DIVERGED, WIRE_OOM,
                                           WIRE_FAILED};
    size_t said = 0;

    if (!n->ended)
        return;
    text_addf(out, "since you last looked %s run%s ended:", TEXT_COUNT(n->ended), text_s(n->ended));
    for (size_t k = 0; k < MEM_COUNT(ends); k++)
        if (n->of[ends[k]])
            text_addf(out, "%s %s %s", said++ ? "," : "", TEXT_COUNT(n->of[ends[k]]),
                      wire_state_words(ends[k]));
    if (n->dead)
        text_addf(out, "%s %s dead", said ? "," : "", TEXT_COUNT(n->dead));
    if (n->top && !n->apart) {
        text_add(out, "; best ");
        share_tell(out, n->best);
        text_addf(out, " %s", results_hash(n->top->name));
    }
}

static void take_news(struct results *r, const struct library_run *runs, size_t count)
{
    struct results_view *v = &r->view;
    int ended = library_field("ended_utc");
    struct news n = {0};
    struct text words = {0};

    for (size_t i = 0; i < count; i++) {
        n.dead += r->since[0] && has_died(r, &runs[i]);
        if (has_ended(r, &runs[i], ended))
            add_ended(&n, &runs[i]);
    }
    v->ended = n.ended += n.dead;
    add_news(&n, &words);
    snprintf(v->news, sizeof v->news, "%s", text_str(&words));
    text_free(&words);
}

static void take_picks(struct results_view *v, const struct library_run *runs)
{
    int by = library_field("best_by"), acc = library_field("best_test_acc");

    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];

        v->on_test = v->on_test || (*run->cell[acc] && !strcmp(run->cell[by], "test"));
        v->on_valid = v->on_valid || !strcmp(run->cell[by], "valid");
    }
}

/* ---- all of it ---- */

void results_make(struct results *r)
{
    struct results_view *v = &r->view;
    const struct library_run *runs;
    struct results_filter f;
    bool *take;
    size_t count;

    results_free_view(v);
    runs = library_runs(r->app->library, &count);
    take = mem_new(count + 1, sizeof *take);
    r->wrong[0] = 0;
    {
        struct err e = {0};

        if (results_filter_parse(&f, r->filter, &e) != ERR_OK) {
            snprintf(r->wrong, sizeof r->wrong, "%.511s", e.text);
            memset(take, 1, count);
        } else {
            v->pending = !results_filter_apply(&f, r, runs, count, take);
            for (size_t i = 0; i < f.filters; i++)
                v->by_name = v->by_name || !strcmp(f.filter[i].column, "name");
            for (size_t i = 0; i < f.words && !*v->alone; i++)
                if (record_column_is(f.word[i]) || results_headed(f.word[i]))
                    snprintf(v->alone, sizeof v->alone, "%.63s", f.word[i]);
            results_filter_free(&f);
        }
    }
    v->order = mem_new(count + 1, sizeof *v->order);
    v->total = count;
    for (size_t i = 0; i < count; i++)
        if (take[i])
            v->order[v->count++] = i;
    free(take);
    sort_runs(r, runs);
    if (r->fold != RESULTS_SINGLE) {
        fold_runs(r, runs);
        measure_groups(r, runs);
        sort_groups(r);
    }
    add_lines(r, runs);
    results_choose_columns(r, runs);
    results_measure_columns(r);
    take_news(r, runs, count);
    v->running = results_running(r, runs, count);
    take_picks(v, runs);
    v->acc_width = r->fold == RESULTS_SINGLE ? 9 : 17;
    r->heading = r->heading && v->lines;
    results_place_cursor(r, runs);
    r->seen_turn = library_turn(r->app->library);
    r->seen_told = results_told(r);
    r->percent = share_in_per_cent();
    r->stale = false;
}

bool results_is_old(const struct results *r)
{
    return r->stale || r->seen_turn != library_turn(r->app->library) ||
           r->percent != share_in_per_cent() || r->seen_told != results_told(r);
}

const struct library_run *results_run(const struct results *r, const struct results_line *line)
{
    size_t count;
    const struct library_run *runs = library_runs(r->app->library, &count);
    size_t at =
        line->kind == RESULTS_GROUP ? r->view.order[r->view.group[line->at].first] : line->at;

    return &runs[at];
}

const struct results_line *results_chosen(const struct results *r)
{
    return r->at < r->view.lines ? &r->view.line[r->at] : NULL;
}

size_t results_runs_of(const struct results *r, const struct results_line *line, const char **names,
                       size_t room)
{
    const struct results_view *v = &r->view;
    const struct library_run *runs;
    size_t count, n = 0;

    runs = library_runs(r->app->library, &count);
    if (line->kind != RESULTS_GROUP) {
        if (room)
            names[n++] = runs[line->at].name;
        return n;
    }
    for (size_t i = 0; i < v->group[line->at].count && n < room; i++)
        names[n++] = runs[v->order[v->group[line->at].first + i]].name;
    return n;
}
