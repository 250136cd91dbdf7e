/* sweep.csv: a row a cell. What a cell of it came to is read from its run once, when it has ended:
 * a sheet of a thousand cells is written as often as one of them ends. */
#include "record/sweep/sheet.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/columns.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger_int.h"
#include "record/sweep/sheet_int.h"

#include <stdlib.h>
#include <string.h>

const char *const ledger_results[] = {
    "epochs_done",    "best_epoch",     "best_by",       "best_test_acc",  "best_test_loss",
    "last_test_acc",  "last_test_loss", "train_seconds", "eval_seconds",   "wall_seconds",
    "device_seconds", "images",         "model_images",  "target_seconds", "peak_memory_bytes",
    "parameters",     "real_devices",   "threads_used",  "shared",         NULL};
const char *const ledger_valid_results[] = {"val_acc", "val_loss", NULL};

void record_ledger_expect(struct record_ledger *l, const char *cell, const char *const *values,
                          const char *reason)
{
    struct ledger_row *row = ledger_row_of(l, cell);
    size_t n = 0;

    for (size_t i = 0; i < row->values; i++)
        free(row->value[i]);
    while (values[n])
        n++;
    row->value = mem_resize(row->value, n + 1, sizeof *row->value);
    row->values = n;
    for (size_t i = 0; i < n; i++)
        row->value[i] = mem_text(values[i]);
    free(row->impossible);
    row->impossible = reason ? mem_text(reason) : NULL;
    free(row->sheet);
    row->sheet = NULL;
}

static void add_value(const struct record_entry *entry, const struct ledger_row *row,
                      const char *key, size_t k, struct text *out)
{
    if (entry && !strncmp(key, "model.", 6))
        record_entry_value(entry, key, out);
    else if (entry)
        record_run_value(&entry->run, key, out);
    else if (k < row->values)
        text_add(out, row->value[k]);
}

/* What the ledger says of it, else what is known beforehand. */
static void add_state(const struct ledger_row *row, const struct record_run *run, bool gone,
                      struct text *out)
{
    char left[RECORD_LEFT_ROOM];
    bool told = row->lines && !gone;
    enum wire_state before = row->impossible ? WIRE_SKIPPED : WIRE_WAITING;
    const char *reason = told ? row->reason : row->impossible;

    if (run && record_cell_is_left(run, row->cell, left))
        reason = left;
    sheet_add_text(out, wire_state_name(told ? row->state : before));
    sheet_add_text(out, reason ? reason : "");
}

/* All of its row but whether it is listed, which changes without a line of the ledger. */
static void add_row(struct record_ledger *l, struct ledger_row *row, const char *const *keys,
                    struct text *out)
{
    bool gone = ledger_run_is_gone(l, row), named = !gone && row->run && *row->run;
    char *folder = io_path(l->results, named ? row->run : ".none");
    struct record_entry entry = {0};
    struct text line = {0}, value = {0};
    bool read = named && record_read_entry(folder, &entry, NULL) == ERR_OK;
    const struct record_run *run = read && !entry.broken ? &entry.run : NULL;

    sheet_add_text(&line, row->cell);
    sheet_add_text(&line, named ? row->run : "");
    add_state(row, run, gone, &line);
    for (size_t k = 0; keys[k]; k++) {
        text_clear(&value);
        add_value(run ? &entry : NULL, row, keys[k], k, &value);
        sheet_add_text(&line, text_str(&value));
    }
    for (size_t i = 0; ledger_results[i]; i++) {
        text_clear(&value);
        if (run)
            record_run_value(run, ledger_results[i], &value);
        sheet_add_text(&line, text_str(&value));
    }
    for (size_t i = 0; ledger_valid_results[i]; i++) {
        text_clear(&value);
        if (run)
            record_entry_value(&entry, ledger_valid_results[i], &value);
        sheet_add_text(&line, text_str(&value));
    }
    text_add_n(out, text_str(&line), line.n);
    /* A run that is still owned may write its run.csv once more. */
    if (row->lines && !gone && wire_state_ended(row->state) && row->state != WIRE_STOPPED &&
        (!read || !entry.live))
        row->sheet = mem_text(text_str(&line));
    if (read)
        record_free_entry(&entry);
    text_free(&line);
    text_free(&value);
    free(folder);
}

/* Rows that were made for other keys do not fit. */
static void note_keys(struct record_ledger *l, const char *const *keys)
{
    struct text all = {0};

    for (size_t k = 0; keys[k]; k++)
        text_addf(&all, "%s,", keys[k]);
    if (!l->keys || strcmp(l->keys, text_str(&all)) != 0)
        for (size_t i = 0; i < l->rows; i++) {
            free(l->row[i].sheet);
            l->row[i].sheet = NULL;
        }
    free(l->keys);
    l->keys = mem_text(text_str(&all));
    text_free(&all);
}

enum err_code record_ledger_write_sheet(struct record_ledger *l, const char *const *keys,
                                        enum record_told told, struct err *e)
{
    static const char *const listed[] = {"so far", "yes", "yes"};
    char *path = io_path(l->folder, "sweep.csv");
    struct text t = {0};
    enum err_code code = ledger_refresh(l, e);

    if (code == ERR_OK) {
        note_keys(l, keys);
        text_add(&t, "cell,run,state,reason");
        for (size_t k = 0; keys[k]; k++)
            sheet_add_text(&t, keys[k]);
        for (size_t i = 0; ledger_results[i]; i++)
            text_addf(&t, ",%s", ledger_results[i]);
        for (size_t i = 0; ledger_valid_results[i]; i++)
            text_addf(&t, ",%s", ledger_valid_results[i]);
        text_add(&t, "," RECORD_LISTED "\n");
        for (size_t i = 0; i < l->rows; i++) {
            if (!l->row[i].lines && !l->row[i].values)
                continue;
            if (l->row[i].sheet)
                text_add(&t, l->row[i].sheet);
            else
                add_row(l, &l->row[i], keys, &t);
            sheet_add_text(&t, l->row[i].values          ? listed[told]
                               : told == RECORD_TOLD_ALL ? "no"
                                                         : "");
            sheet_end_row(&t);
        }
        code = io_replace_own(path, text_str(&t), t.n, e);
    }
    text_free(&t);
    free(path);
    return code;
}
