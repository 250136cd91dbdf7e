/* A cell that went on outside of its sweep (`resume RUN epochs=N`): its row of sweep.csv, which is
 * otherwise written when the sweep's own cells end, and its line of the ledger. */
#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/columns.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "record/sweep/ledger_int.h"
#include "record/sweep/sheet.h"
#include "record/sweep/sheet_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_MS 100 /* whoever wants it tries again */

static bool is_among(const char *const *columns, const char *column)
{
    for (size_t i = 0; columns[i]; i++)
        if (!strcmp(columns[i], column))
            return true;
    return false;
}

static bool is_result(const char *column)
{
    return is_among(ledger_results, column) || !strcmp(column, "state") ||
           !strcmp(column, "reason");
}

/* What a cell that waits has not. */
static bool is_of_run(const char *column)
{
    return is_result(column) || is_among(ledger_valid_results, column) || !strcmp(column, "run");
}

/* entry: of the cell's run; NULL: the row is another one's, and stays. gone: why the cell waits again;
 * NULL: it does so only where its run left it. */
static void add_row(const struct sheet *s, size_t row, const struct record_entry *entry,
                    const char *gone, struct text *out)
{
    const char *cell = sheet_cell(s, row, sheet_column(s, "cell"));
    struct text value = {0};
    char why[RECORD_LEFT_ROOM];
    bool left = entry && (gone || record_cell_is_left(&entry->run, cell, why));

    for (size_t c = 0; c < s->columns; c++) {
        text_clear(&value);
        if (left && is_of_run(s->names[c]))
            text_add(&value, !strcmp(s->names[c], "state")    ? wire_state_name(WIRE_WAITING)
                             : !strcmp(s->names[c], "reason") ? (gone ? gone : why)
                                                              : "");
        else if (entry && is_result(s->names[c]))
            record_run_value(&entry->run, s->names[c], &value);
        else if (entry && is_among(ledger_valid_results, s->names[c]))
            record_entry_value(entry, s->names[c], &value);
        else
            text_add(&value, sheet_cell(s, row, (int)c));
        sheet_add_text(out, text_str(&value));
    }
    text_free(&value);
}

/* The ledger says what a cell came to; the sheet is made from it. */
static enum err_code note_state(struct record_ledger *l, const char *cell,
                                const struct record_run *run, struct err *e)
{
    struct record_cell found = {0};
    char why[RECORD_LEFT_ROOM];

    if (record_cell_is_left(run, cell, why))
        return record_ledger_add(l, cell, "", WIRE_WAITING, why, e);
    record_ledger_look(l, cell, false, &found);
    if (!wire_state_ended(run->state) || found.state == run->state)
        return ERR_OK;
    return record_ledger_add(l, cell, run->run, run->state, run->reason, e);
}

static enum err_code write_sheet(struct record_ledger *l, const char *path,
                                 const struct record_entry *entry, const char *gone, struct err *e)
{
    const struct record_run *run = &entry->run;
    struct sheet s;
    struct text line = {0}, all = {0};
    enum err_code code = ERR_OK;
    bool found = false;

    TRY(sheet_read(path, &s, e));
    for (size_t c = 0; c < s.columns; c++)
        sheet_add_text(&line, s.names[c]);
    sheet_end_row(&line);
    text_add_n(&all, text_str(&line), line.n);
    for (size_t r = 0; r < s.rows && code == ERR_OK; r++) {
        bool mine = !strcmp(sheet_cell(&s, r, sheet_column(&s, "run")), run->run);

        text_clear(&line);
        add_row(&s, r, mine ? entry : NULL, gone, &line);
        sheet_end_row(&line);
        text_add_n(&all, text_str(&line), line.n);
        if (mine && !gone)
            code = note_state(l, sheet_cell(&s, r, sheet_column(&s, "cell")), run, e);
        found |= mine;
    }
    if (found && code == ERR_OK)
        code = io_replace_own(path, text_str(&all), all.n, e);
    text_free(&line);
    text_free(&all);
    sheet_free(&s);
    return code;
}

static bool is_current(const struct record_ledger *l, const char *run)
{
    for (size_t i = 0; i < l->rows; i++)
        if (l->row[i].lines && !strcmp(l->row[i].run, run))
            return true;
    return false;
}

/* *current: whether a cell stands where this run does; left as it is where that is not known. */
static enum err_code rewrite(const char *results, const struct record_run *run, const char *gone,
                             bool *current, struct err *e)
{
    char *path = mem_textf("%s/sweeps/%s/sweep.csv", results, run->sweep);
    struct record_entry *entry = mem_new(1, sizeof *entry);
    struct record_ledger *l = NULL;
    enum err_code code = ERR_OK;

    entry->folder = io_path(results, run->run);
    entry->run = *run;
    if (*run->sweep && io_exists(path)) {
        code = record_ledger_open_within(&l, results, run->sweep, LOCK_MS, e);
        if (code == ERR_OK)
            code = record_ledger_begin(l, e);
        if (code == ERR_OK) {
            *current = is_current(l, run->run);
            code = write_sheet(l, path, entry, gone, e);
            record_ledger_end(l);
        }
        if (l)
            record_ledger_close(l);
    }
    free(entry->folder);
    free(entry);
    free(path);
    return code;
}

enum err_code record_sweep_take_run(const char *results, const struct record_run *run,
                                    struct err *e)
{
    bool current;

    return rewrite(results, run, NULL, &current, e);
}

enum err_code record_sweep_drop_run(const char *results, const struct record_run *run, bool *waits,
                                    struct err *e)
{
    *waits = false;
    return rewrite(results, run, "its run was removed", waits, e);
}
