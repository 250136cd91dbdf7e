/* ui/results/results_filter.c: what is typed behind '/': RUN names and filters, as every verb takes them. */
#include "ui/results/results_int.h"

#include "base/mem.h"
#include "record/best.h"
#include "record/columns.h"
#include "record/filter.h"
#include "record/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No column is called as it: heads are short, and two that stand still are made of others. */
static enum err_code tell_head(const char *text, struct err *e)
{
    size_t n = strcspn(text, "=<>!");
    char *head = mem_text_n(text, n);
    const char *column = results_headed(head), *value = text + n + strspn(text + n, "=<>!");
    enum err_code code = ERR_OK;

    if (record_column_is(head))
        code = ERR_OK;
    else if (!strcmp(head, "age"))
        code = err_set(e, ERR_INPUT,
                       "age counts from started_utc: /started_utc>2026-11-20 has what began since");
    else if (!strcmp(head, "hash"))
        code = err_set(e, ERR_INPUT, "a hash is the end of a run's whole name: /%s finds it",
                       *value ? value : "7f3a");
    else if (column)
        code = err_set(e, ERR_INPUT, "the column headed %s is %s: /%s%s", head, column, column,
                       text + n);
    free(head);
    return code;
}

enum err_code results_filter_parse(struct results_filter *f, const char *text, struct err *e)
{
    char **args;
    size_t count;
    enum err_code code = ERR_OK;

    memset(f, 0, sizeof *f);
    TRY(jobs_split(text, &args, &count, e));
    f->filter = mem_new(count + 1, sizeof *f->filter);
    f->word = mem_new(count + 1, sizeof *f->word);
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        int64_t place;

        if (record_filter_is(args[i])) {
            code = tell_head(args[i], e);
            if (code == ERR_OK)
                code = record_filter_parse(&f->filter[f->filters], args[i], e);
            f->filters += code == ERR_OK;
        } else if (args[i][0] == '@' && args[i][1] && strcmp(args[i], "@best") != 0 &&
                   (!text_to_int(args[i] + 1, &place) || place < 1)) {
            code = err_set(e, ERR_INPUT,
                           "'%s' names no run: @ is the newest, @2 the one before, @best the one "
                           "with the best accuracy",
                           args[i]);
        } else if (args[i][0]) {
            f->word[f->words++] = mem_text(args[i]);
        }
    }
    jobs_free_args(args);
    if (code != ERR_OK)
        results_filter_free(f);
    return code;
}

void results_filter_free(struct results_filter *f)
{
    for (size_t i = 0; i < f->filters; i++)
        record_filter_free(&f->filter[i]);
    for (size_t i = 0; i < f->words; i++)
        free(f->word[i]);
    free(f->filter);
    free(f->word);
    memset(f, 0, sizeof *f);
}

static bool only_name_and_state(const char *column)
{
    return !strcmp(column, "run") || !strcmp(column, "state");
}

static int64_t limit_of(const struct library_run *run, const char *key)
{
    int64_t limit;

    return text_to_int(library_cell(run, key), &limit) ? limit : 0; /* of all */
}

struct record_tested results_tested_of(const struct library_run *run)
{
    const char *hash = library_cell(run, "data_hash");

    return (struct record_tested){.data = library_cell(run, "data"),
                                  .data_hash = strcmp(hash, RECORD_SEVERAL) ? hash : "",
                                  .train_limit = limit_of(run, "train_limit"),
                                  .test_limit = limit_of(run, "test_limit")};
}

/* False: not all is known yet. */
static bool take_best(struct library *l, const struct library_run *runs, size_t count,
                      const bool *left, bool *take)
{
    struct record_choice *of = mem_new(count + 1, sizeof *of);
    bool *best = mem_new(count + 1, sizeof *best), whole = true;

    for (size_t i = 0; i < count; i++) {
        const struct library_run *run = &runs[i];
        const char *acc;

        of[i].acc = of[i].val_acc = NAN;
        if (!left[i] || wire_state_is_bad(run->state))
            continue;
        of[i].acc = library_number(run, "best_test_acc");
        if (!isfinite(of[i].acc))
            continue;
        of[i].on = results_tested_of(run);
        acc = strcmp(library_cell(run, "best_by"), "valid") ? "" : library_value(l, run, "val_acc");
        whole = whole && acc;
        if (acc && !text_to_double(acc, &of[i].val_acc))
            of[i].val_acc = NAN;
    }
    record_find_best(of, count, best);
    for (size_t i = 0; i < count; i++)
        take[i] |= best[i];
    free(of);
    free(best);
    return whole;
}

/* Among those that the filters leave: a folder's name wins over what runs and sweeps were called, that
 * over parts of names. False: not all that it asks is known yet. */
static bool take_word(const char *word, struct library *l, const struct library_run *runs,
                      size_t count, const bool *left, bool *take)
{
    int sweep = library_field("sweep"), name = library_field("name");
    int64_t place = 1;
    bool found = false;

    if (!strcmp(word, "@best"))
        return take_best(l, runs, count, left, take);
    if (word[0] == '@') {
        if (word[1] && !text_to_int(word + 1, &place))
            return true;
        for (size_t i = count; i-- > 0 && place > 0;)
            if (left[i] && --place == 0)
                take[i] = true;
        return true;
    }
    for (int rank = 0; rank < 3 && !found; rank++) {
        for (size_t i = 0; i < count; i++) {
            bool is = rank == 0 ? !strcmp(runs[i].name, word)
                      : rank == 1
                          ? !strcmp(runs[i].cell[sweep], word) || !strcmp(runs[i].cell[name], word)
                          : strstr(runs[i].name, word) != NULL;

            if (is && left[i])
                take[i] = found = true;
        }
    }
    return true;
}

bool results_filter_apply(const struct results_filter *f, const struct results *r,
                          const struct library_run *runs, size_t count, bool *take)
{
    struct library *l = r->app->library;
    bool *left = mem_new(count + 1, sizeof *left), *live = results_are_live(r, runs, count);
    bool whole = true;

    for (size_t i = 0; i < count; i++)
        left[i] = true;
    for (size_t k = 0; k < f->filters; k++) {
        const char *column = f->filter[k].column;
        int field = library_field(column);

        for (size_t i = 0; i < count; i++) {
            const char *value = NULL;
            char number[TEXT_NUMBER_ROOM];

            if (!left[i])
                continue;
            if (live[i]) /* by what its line shows */
                value = results_newest(r, &runs[i], column, number);
            if (!value)
                value = field >= 0 ? runs[i].cell[field] : library_value(l, &runs[i], column);
            whole = whole && value;
            left[i] = value && (!runs[i].broken || only_name_and_state(column)) &&
                      record_filter_match(&f->filter[k], value);
        }
    }
    memset(take, 0, count * sizeof *take);
    for (size_t k = 0; k < f->words; k++)
        whole &= take_word(f->word[k], l, runs, count, left, take);
    if (!f->words)
        memcpy(take, left, count * sizeof *take);
    free(live);
    free(left);
    return whole;
}
