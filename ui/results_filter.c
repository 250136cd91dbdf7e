/* ui/results_filter.c: what is typed behind '/': RUN names and filters, as every verb takes them. */
#include "ui/results_int.h"

#include "base/mem.h"
#include "record/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void take_best(const struct library_run *runs, size_t count, const bool *left, bool *take)
{
    size_t best = count;
    double most = -INFINITY;
    int field = library_field("best_test_acc");

    for (size_t i = 0; i < count; i++) {
        double acc;

        if (left[i] && !wire_state_is_bad(runs[i].state) &&
            text_to_double(runs[i].cell[field], &acc) && isfinite(acc) && acc > most) {
            most = acc;
            best = i;
        }
    }
    if (best < count)
        take[best] = true;
}

/* Among those that the filters leave: a folder's name wins over what runs and sweeps were called, that
 * over parts of names. */
static void take_word(const char *word, const struct library_run *runs, size_t count,
                      const bool *left, bool *take)
{
    int sweep = library_field("sweep"), name = library_field("name");
    int64_t place = 1;
    bool found = false;

    if (!strcmp(word, "@best")) {
        take_best(runs, count, left, take);
        return;
    }
    if (word[0] == '@') {
        if (word[1] && !text_to_int(word + 1, &place))
            return;
        for (size_t i = count; i-- > 0 && place > 0;)
            if (left[i] && --place == 0)
                take[i] = true;
        return;
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
}

bool results_filter_apply(const struct results_filter *f, struct library *l,
                          const struct library_run *runs, size_t count, bool *take)
{
    bool *left = mem_new(count + 1, sizeof *left), whole = true;

    for (size_t i = 0; i < count; i++)
        left[i] = true;
    for (size_t k = 0; k < f->filters; k++) {
        const char *column = f->filter[k].column;
        int field = library_field(column);

        for (size_t i = 0; i < count; i++) {
            const char *value;

            if (!left[i])
                continue;
            value = field >= 0 ? runs[i].cell[field] : library_value(l, &runs[i], column);
            whole = whole && value;
            left[i] = value && (!runs[i].broken || only_name_and_state(column)) &&
                      record_filter_match(&f->filter[k], value);
        }
    }
    memset(take, 0, count * sizeof *take);
    for (size_t k = 0; k < f->words; k++)
        take_word(f->word[k], runs, count, left, take);
    if (!f->words)
        memcpy(take, left, count * sizeof *take);
    free(left);
    return whole;
}
