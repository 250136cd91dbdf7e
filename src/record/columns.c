/* The columns that runs are filtered and sorted by: those of run.csv, those of epochs.csv at the
 * best epoch (bare, or "best.X") and at the last ("last.X"), and a model's parameters ("model.X").
 * */
#include "record/columns.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/filter.h"
#include "record/record_int.h"
#include "record/run/params.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES (WIRE_SKIPPED + 1)

bool record_is_run_column(const char *name)
{
    return text_is_among(name, record_run_columns, RECORD_COLUMNS);
}

static bool is_epoch_column(const char *name)
{
    const char *at = record_csv_header[RECORD_EPOCHS];
    size_t n = strlen(name);

    for (; *at; at += strspn(at, ",\n")) {
        size_t m = strcspn(at, ",\n");
        if (n == m && !memcmp(at, name, n))
            return true;
        at += m;
    }
    return false;
}

static bool begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

bool record_column_is(const char *name)
{
    if (begins(name, "last.") || begins(name, "best."))
        return is_epoch_column(name + 5);
    return record_is_run_column(name) || is_epoch_column(name) ||
           (begins(name, "model.") && name[6]);
}

const char *record_column_nearest(const char *name)
{
    static const char *const some[] = {"test_acc",      "test_loss",      "train_acc",
                                       "train_loss",    "val_acc",        "val_loss",
                                       "ece",           "disagreement",   "images_per_second",
                                       "last.test_acc", "last.test_loss", "last.train_loss",
                                       "last.val_acc",  "member_acc_mean"};
    static const char *const ends[][2] = {
        {"loss", "test_loss"}, {"acc", "test_acc"}, {"accuracy", "test_acc"}};
    const char *words[RECORD_COLUMNS + MEM_COUNT(some) + 1];
    size_t n = 0;

    for (size_t i = 0; i < MEM_COUNT(ends); i++) /* by letters "loss" is nearest to "host" */
        if (!strcmp(name, ends[i][0]))
            return ends[i][1];
    for (size_t i = 0; i < MEM_COUNT(some); i++)
        words[n++] = some[i];
    for (size_t i = 0; i < RECORD_COLUMNS; i++)
        words[n++] = record_run_columns[i];
    words[n] = NULL;
    return text_nearest(name, words);
}

static enum err_code check_state(const char *value, const char *text, struct err *e)
{
    const char *words[STATES + 3], *near;
    size_t n = 0;
    enum wire_state state;

    if (!strcmp(value, "dead") || !strcmp(value, "broken") || wire_state_find(value, &state))
        return ERR_OK;
    words[n++] = "dead";
    words[n++] = "broken";
    for (int i = 0; i < STATES; i++)
        words[n++] = wire_state_name((enum wire_state)i);
    words[n] = NULL;
    near = text_nearest(value, words);
    if (near)
        return err_set(e, ERR_INPUT, "%s: no run is ever %s; did you mean %s?", text, value, near);
    return err_set(e, ERR_INPUT,
                   "%s: no run is ever %s: it is waiting, running, paused, stopped, dead, done, "
                   "diverged, oom, failed, skipped or broken",
                   text, value);
}

/* What stands in these is a name or a path, whatever it is. */
static bool takes_any(const char *column)
{
    static const char *const free_text[] = {"name", "model", "data", "weights", "on_end"};

    return TEXT_IS_AMONG(column, free_text) || begins(column, "model.");
}

enum err_code record_column_check(const char *column, const char *value, const char *text,
                                  struct err *e)
{
    struct spec *spec;
    enum err_code code;

    if (!strcmp(column, "state"))
        return check_state(value, text, e);
    if (record_is_run_column(column) && spec_key_find(column) >= 0) {
        if (takes_any(column) || !strcmp(value, RECORD_SEVERAL))
            return ERR_OK;
        spec = mem_new(1, sizeof *spec);
        spec_default(spec);
        code = spec_set(spec, column, value, NULL, NULL, e);
        free(spec);
        return code;
    }
    if (!record_is_run_column(column) ? !begins(column, "model.") : record_column_is_number(column))
        return err_set(e, ERR_INPUT, "%s: '%s' is neither a number nor a range such as 0.5..0.9",
                       text, value);
    return ERR_OK;
}

static void add_param(const struct record_entry *entry, const char *name, struct text *out)
{
    struct record_params p;

    record_read_params(entry->folder, &p);
    if (!strcmp(name, RECORD_ALL_PARAMS))
        record_add_params(&p, out);
    else
        text_add(out, record_param(&p, name));
    record_free_params(&p);
}

static void add_epoch(const struct record_entry *entry, const char *name, bool last,
                      struct text *out)
{
    struct sheet s;
    size_t row;

    if (!last && entry->run.best_epoch == 0)
        return;
    if (record_read_sheet(entry->folder, "epochs", &s, NULL) != ERR_OK)
        return;
    row = s.rows;
    while (row > 0 && !last &&
           sheet_number(&s, row - 1, sheet_column(&s, "epoch")) != (double)entry->run.best_epoch)
        row--;
    if (row > 0)
        text_add(out, sheet_cell(&s, row - 1, sheet_column(&s, name)));
    sheet_free(&s);
}

const char *record_entry_state(const struct record_entry *entry)
{
    if (entry->broken)
        return "broken";
    return entry->dead ? "dead" : wire_state_name(entry->run.state);
}

void record_entry_value(const struct record_entry *entry, const char *column, struct text *out)
{
    static const char *const held[][2] = {
        {"test_acc", "best_test_acc"},      {"test_loss", "best_test_loss"},
        {"best.test_acc", "best_test_acc"}, {"best.test_loss", "best_test_loss"},
        {"last.test_acc", "last_test_acc"}, {"last.test_loss", "last_test_loss"}};
    size_t before = out->n;
    bool dotted = begins(column, "last.") || begins(column, "best.");

    if (!strcmp(column, "state")) {
        text_add(out, record_entry_state(entry));
        return;
    }
    if (!strcmp(column, "run")) {
        text_add(out, entry->name);
        return;
    }
    if (entry->broken)
        return;
    for (size_t i = 0; i < MEM_COUNT(held); i++) {
        if (!strcmp(column, held[i][0]))
            record_run_value(&entry->run, held[i][1], out);
    }
    if (out->n > before)
        return;
    if (record_is_run_column(column))
        record_run_value(&entry->run, column, out);
    else if (begins(column, "model."))
        add_param(entry, column, out);
    else
        add_epoch(entry, column + (dotted ? 5 : 0), begins(column, "last."), out);
}

struct record_key record_key_of(const char *value)
{
    struct record_key key = {.kind = RECORD_NOTHING, .value = value};

    if (value && text_to_double(value, &key.number))
        key.kind = isnan(key.number) ? RECORD_NOTHING : RECORD_NUMBER;
    else if (value && *value)
        key.kind = RECORD_WORD;
    return key;
}

int record_compare_keys(const struct record_key *a, const struct record_key *b, bool falling)
{
    int order = 0;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == RECORD_NUMBER)
        order = a->number < b->number ? -1 : a->number > b->number;
    else if (a->kind == RECORD_WORD)
        order = strcmp(a->value, b->value);
    return falling ? -order : order;
}

double record_entry_valid_acc(const struct record_entry *entry)
{
    struct text value = {0};
    double acc = NAN;

    if (!entry->broken && !strcmp(entry->run.best_by, "valid"))
        record_entry_value(entry, "val_acc", &value);
    if (!value.n || !text_to_double(text_str(&value), &acc))
        acc = NAN;
    text_free(&value);
    return acc;
}
