#include "study/runs.h"

#include "base/mem.h"
#include "record/best.h"
#include "record/columns.h"
#include "record/run/params.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int row_of_epoch(const struct sheet *s, int64_t epoch)
{
    int column = sheet_column(s, "epoch");

    for (size_t i = s->rows; i-- > 0;)
        if (sheet_number(s, i, column) == (double)epoch)
            return (int)i;
    return -1;
}

static enum err_code open_run(struct study_run *run, const struct record_entry *entry,
                              struct err *e)
{
    char *path;

    run->entry = entry;
    run->best = run->last = -1;
    TRY(record_check_whole(entry, e));
    path = mem_textf("%s/epochs.csv", entry->folder);
    enum err_code code = sheet_read(path, &run->epochs, e);
    free(path);
    TRY(code);
    run->changed = record_rows_changed(entry);
    record_read_params(entry->folder, &run->params);
    run->last = (int)run->epochs.rows - 1;
    run->best = row_of_epoch(&run->epochs, entry->run.best_epoch);
    return ERR_OK;
}

enum err_code study_open(struct study_run **out, const struct record_entry *entry, size_t count,
                         struct err *e)
{
    struct study_run *runs = mem_new(count + 1, sizeof *runs);

    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        enum err_code code = open_run(&runs[i], &entry[i], e);

        if (code != ERR_OK) {
            study_close(runs, i);
            return code;
        }
    }
    *out = runs;
    return ERR_OK;
}

void study_close(struct study_run *runs, size_t count)
{
    for (size_t i = 0; runs && i < count; i++) {
        sheet_free(&runs[i].epochs);
        record_free_params(&runs[i].params);
    }
    free(runs);
}

double study_at(const struct study_run *run, int row, const char *column)
{
    return row < 0 ? NAN
                   : sheet_number(&run->epochs, (size_t)row, sheet_column(&run->epochs, column));
}

static void add_at(const struct study_run *run, int row, const char *column, struct text *out)
{
    if (row >= 0)
        text_add(out, sheet_cell(&run->epochs, (size_t)row, sheet_column(&run->epochs, column)));
}

/* What the averaged model is better by in a row: over the mean of its members, over the best of
 * them. */
static void add_gain(const struct study_run *run, int row, const char *over, struct text *out)
{
    /* of shares of the same images: what is less comes of sums, and no gain is one */
    double gain = round(1e12 * (study_at(run, row, "test_acc") - study_at(run, row, over))) / 1e12;
    char number[TEXT_NUMBER_ROOM];

    if (run->entry->run.spec.mode == SPEC_ENSEMBLE && isfinite(gain))
        text_add(out, text_double(number, gain ? gain : 0));
}

const char *study_none(const char *name)
{
    int key = strncmp(name, "model.", 6) ? spec_key_find(name) : -1;
    const char *usual = key < 0 ? "" : spec_keys[key].fallback;

    return !strcmp(usual, "all") || !strcmp(usual, "none") ? usual : "";
}

bool study_value(const struct study_run *run, const char *name, struct text *out)
{
    const char *column = strncmp(name, "last.", 5) ? name : name + 5;
    int row = column == name ? run->best : run->last;

    if (!strcmp(name, "picked")) {
        text_add(out, run->entry->run.best_by);
    } else if (!strcmp(column, "gain_mean")) {
        add_gain(run, row, "member_acc_mean", out);
    } else if (!strcmp(column, "gain_best")) {
        add_gain(run, row, "member_acc_max", out);
    } else if (!strcmp(name, RECORD_ALL_PARAMS)) {
        record_add_params(&run->params, out);
    } else if (!strncmp(name, "model.", 6)) {
        text_add(out, record_param(&run->params, name));
    } else if (column == name && record_is_run_column(name)) {
        size_t before = out->n;

        record_run_value(&run->entry->run, name, out);
        text_add(out, out->n > before ? "" : study_none(name));
    } else if (sheet_column(&run->epochs, column) >= 0) {
        add_at(run, row, column, out);
    } else {
        return false;
    }
    return true;
}

char *study_text(const struct study_run *run, const char *name)
{
    struct text value = {0};

    text_add(&value, "");
    study_value(run, name, &value);
    return value.s;
}

double study_number(const struct study_run *run, const char *name)
{
    struct text value = {0};
    double number = NAN;

    if (study_value(run, name, &value) && value.n && !text_to_double(text_str(&value), &number))
        number = NAN;
    text_free(&value);
    return number;
}

const char *study_name_near(const struct study_run *run, const char *name)
{
    static const char *const own[] = {"picked", "gain_mean", "gain_best", "last.gain_mean",
                                      "last.gain_best"};
    struct text value = {0};
    const char **words, *near;
    size_t n = 0, room = run->epochs.columns + MEM_COUNT(own) + 1;
    bool known = study_value(run, name, &value);

    text_free(&value);
    if (known)
        return NULL;
    for (size_t i = 0; record_run_columns[i]; i++)
        room++;
    words = mem_new(room, sizeof *words);
    for (size_t i = 0; record_run_columns[i]; i++)
        words[n++] = record_run_columns[i];
    for (size_t i = 0; i < run->epochs.columns; i++)
        words[n++] = run->epochs.names[i];
    for (size_t i = 0; i < MEM_COUNT(own); i++)
        words[n++] = own[i];
    near = text_nearest(name, words);
    free(words);
    return near ? near : "";
}

bool study_is_setting(const char *name)
{
    static const char *const used[] = {"host",   "backend_used", "precision_used",
                                       "isa",    "real_devices", "threads_used",
                                       "shared", "network_hash", "data_hash"};

    return TEXT_IS_AMONG(name, used) || (spec_key_find(name) >= 0 && spec_key_names(name));
}

const char *const *study_chosen_by(const char *name)
{
    static const char *const network[] = {"model", RECORD_ALL_PARAMS, "data", NULL};
    static const char *const data[] = {"data", "train_limit", "test_limit", NULL};

    return !strcmp(name, "network_hash") ? network : !strcmp(name, "data_hash") ? data : NULL;
}

bool study_is_average(const struct study_run *run)
{
    const struct record_run *is = &run->entry->run;

    /* Where an epoch was trained, it had a learning rate. */
    return is->spec.mode == SPEC_ENSEMBLE &&
           (record_run_is_several(is, "seed") ||
            (run->last >= 0 && is->epochs_done > 0 && isnan(study_at(run, run->last, "lr"))));
}

bool study_entry_is_average(const struct record_entry *entry)
{
    struct study_run *run;
    bool average;

    if (entry->broken || entry->run.spec.mode != SPEC_ENSEMBLE ||
        study_open(&run, entry, 1, NULL) != ERR_OK)
        return false;
    average = study_is_average(run);
    study_close(run, 1);
    return average;
}

bool study_same_test(const struct study_run *a, const struct study_run *b)
{
    struct record_tested x = record_tested_of(&a->entry->run), y = record_tested_of(&b->entry->run);

    return record_tested_same(&x, &y);
}

bool study_all_same_test(const struct study_run *runs, size_t count)
{
    bool same = true;

    for (size_t i = 1; i < count && same; i++)
        same = study_same_test(&runs[0], &runs[i]);
    return same;
}

enum err_code study_check_trainable(const struct record_entry *entry, struct err *e)
{
    struct text differing = {0};
    enum err_code code = ERR_OK;

    for (int k = 0; spec_keys[k].name; k++)
        if (study_is_setting(spec_keys[k].name) && strcmp(spec_keys[k].name, "seed") != 0 &&
            record_run_is_several(&entry->run, spec_keys[k].name))
            text_addf(&differing, "%s%s", differing.n ? ", " : "", spec_keys[k].name);
    if (differing.n)
        code = err_set(e, ERR_INPUT,
                       "%s is an average of runs of different settings (%s), which no experiment "
                       "trains: take one of the runs themselves",
                       entry->name, text_str(&differing));
    text_free(&differing);
    return code;
}

bool study_is_condition(const char *name)
{
    static const char *const conditions[] = {"host", "isa", "real_devices", "threads_used",
                                             "shared"};

    return TEXT_IS_AMONG(name, conditions);
}

/* A key without a value has no effect there (member_order of a single model): that is no difference
 * to what is usual elsewhere. */
static void add_effect(const struct study_run *run, const char *name, const struct spec *usual,
                       struct text *out)
{
    int key;

    record_run_value(&run->entry->run, name, out);
    if (out->n || (key = spec_key_find(name)) < 0)
        return;
    if (!spec_applies(&run->entry->run.spec, key))
        spec_value(usual, key, out);
}

static bool same(const struct study_run *a, const struct study_run *b, const char *name,
                 const struct spec *usual)
{
    struct text x = {0}, y = {0};
    bool equal;

    if (!strncmp(name, "model.", 6))
        return !strcmp(record_param(&a->params, name), record_param(&b->params, name));
    add_effect(a, name, usual, &x);
    add_effect(b, name, usual, &y);
    equal = !strcmp(text_str(&x), text_str(&y));
    text_free(&x);
    text_free(&y);
    return equal;
}

static bool all_same(const struct study_run *runs, size_t count, const char *name,
                     const struct spec *usual)
{
    bool equal = true;

    for (size_t i = 1; i < count && equal; i++)
        equal = same(&runs[0], &runs[i], name, usual);
    return equal;
}

static const char **add_name(const char **names, size_t *found, const char *name)
{
    if (text_is_among(name, names, *found))
        return names;
    names = mem_resize(names, *found + 2, sizeof *names);
    names[(*found)++] = name;
    names[*found] = NULL;
    return names;
}

/* What tells a run from those of other groups. */
static char *key_of(const struct study_run *run, const char *const *names, size_t count)
{
    struct text key = {0};

    text_add(&key, "");
    for (size_t i = 0; i < count; i++) {
        study_value(run, names[i], &key);
        text_add(&key, "\n");
    }
    return key.s;
}

static int by_choice(const void *a, const void *b)
{
    const struct study_hashed *x = a, *y = b;
    int order = strcmp(x->choice, y->choice);

    return order ? order : strcmp(x->hash, y->hash);
}

bool study_hash_has_changed(struct study_hashed *of, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (*of[i].hash && strcmp(of[i].hash, RECORD_SEVERAL) != 0)
            of[kept++] = of[i];
    qsort(of, kept, sizeof *of, by_choice);
    for (size_t i = 1; i < kept; i++)
        if (!strcmp(of[i - 1].choice, of[i].choice) && strcmp(of[i - 1].hash, of[i].hash) != 0)
            return true;
    return false;
}

static bool has_changed(const struct study_run *runs, size_t count, const char *hash)
{
    const char *const *by = study_chosen_by(hash);
    size_t n = 0;
    char **text = mem_new(2 * count + 1, sizeof *text);
    struct study_hashed *of = mem_new(count + 1, sizeof *of);
    bool changed;

    while (by[n])
        n++;
    for (size_t i = 0; i < count; i++) {
        of[i].choice = text[2 * i] = key_of(&runs[i], by, n);
        of[i].hash = text[2 * i + 1] = study_text(&runs[i], hash);
    }
    changed = study_hash_has_changed(of, count);
    for (size_t i = 0; i < 2 * count; i++)
        free(text[i]);
    free(text);
    free(of);
    return changed;
}

const char **study_differences(const struct study_run *runs, size_t count, size_t *found)
{
    const char **names = mem_new(1, sizeof *names);
    struct spec *usual = mem_new(1, sizeof *usual);

    *found = 0;
    spec_default(usual);
    for (const char *const *column = record_run_columns; *column; column++) {
        if (study_is_setting(*column) && !all_same(runs, count, *column, usual) &&
            (!study_chosen_by(*column) || has_changed(runs, count, *column)))
            names = add_name(names, found, *column);
        for (size_t i = 0; i < count && !strcmp(*column, "model"); i++)
            for (size_t k = 0; k < runs[i].params.count; k++)
                if (!all_same(runs, count, runs[i].params.name[k], usual))
                    names = add_name(names, found, runs[i].params.name[k]);
    }
    free(usual);
    return names;
}

size_t study_group_by(const struct study_run *runs, size_t count, const char *const *names,
                      size_t found, size_t *group)
{
    size_t groups = 0;
    char **key = mem_new(count + 1, sizeof *key); /* of each group */

    for (size_t i = 0; i < count; i++) {
        char *own = key_of(&runs[i], names, found);

        for (group[i] = 0; group[i] < groups && strcmp(key[group[i]], own) != 0;)
            group[i]++;
        if (group[i] == groups)
            key[groups++] = own;
        else
            free(own);
    }
    for (size_t i = 0; i < groups; i++)
        free(key[i]);
    free(key);
    return groups;
}

size_t study_groups(const struct study_run *runs, size_t count, const char *over, size_t *group)
{
    size_t found, kept = 0, groups;
    const char **names = study_differences(runs, count, &found);

    for (size_t i = 0; i < found; i++)
        if (!study_is_condition(names[i]) && (!over || strcmp(names[i], over) != 0))
            names[kept++] = names[i];
    groups = study_group_by(runs, count, names, kept, group);
    free(names);
    return groups;
}

/* Of the same settings: `weights` is the place of a file, whose contents may be others by now. */
static bool same_result(const struct study_run *a, const struct study_run *b)
{
    const struct record_run *x = &a->entry->run, *y = &b->entry->run;

    return !x->spec.weights[0] || x->state != WIRE_DONE || x->last_test_loss == y->last_test_loss;
}

void study_repeats(const struct study_run *runs, size_t count, bool *again)
{
    size_t *of = mem_new(count + 1, sizeof *of);
    size_t groups = study_groups(runs, count, NULL, of), *stands = mem_new(groups + 1, sizeof *of);

    for (size_t i = count; i-- > 0;)
        stands[of[i]] = i;
    for (size_t i = count; i-- > 0;)
        if (runs[i].entry->run.state == WIRE_DONE)
            stands[of[i]] = i;
    for (size_t i = 0; i < count; i++)
        again[i] = stands[of[i]] != i && same_result(&runs[i], &runs[stands[of[i]]]);
    free(stands);
    free(of);
}

const char *study_choice(const struct study_run *runs, size_t count)
{
    struct record_choice *of = mem_new(count + 1, sizeof *of); /* any that may be the best */
    bool by_valid;

    for (size_t i = 0; i < count; i++) {
        const struct record_run *run = &runs[i].entry->run;

        if (*run->best_by ? strcmp(run->best_by, "valid") != 0 : !(run->spec.valid > 0))
            of[i].val_acc = NAN;
    }
    record_best(of, count, &by_valid);
    free(of);
    return count && by_valid ? "val_acc" : "test_acc";
}

int study_crossing(const struct study_run *run, const char *column, double accuracy)
{
    if (study_is_average(run))
        return -1;
    for (int i = 0; i <= run->last; i++)
        if (study_at(run, i, column) >= accuracy)
            return i;
    return -1;
}
