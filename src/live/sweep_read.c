/* live/sweep_read.c: a sweep by its files. */
#include "live/sweep.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/columns.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "record/sweep/sheet.h"
#include "record/sweep/sweeps.h"
#include "record/working.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hashes { /* which cell has which hash */
    char (*hash)[32];
    size_t *cell, n, room;
    bool listed; /* the sheet has a row of each cell that was asked for */
};

static void remember(struct hashes *h, const char *hash, size_t cell)
{
    size_t room = h->room;

    h->hash = mem_grow(h->hash, &h->room, h->n + 1, sizeof *h->hash);
    h->cell = mem_grow(h->cell, &room, h->n + 1, sizeof *h->cell);
    snprintf(h->hash[h->n], sizeof *h->hash, "%s", hash);
    h->cell[h->n++] = cell;
}

/* What the lists do not name, or with other data: no cell. */
#define NO_CELL SIZE_MAX

/* Rows of sheet and ledger come in about the same order: the search begins behind the last find. */
static size_t cell_of(const struct hashes *h, const char *hash, size_t *from, size_t none)
{
    for (size_t i = 0; i < h->n; i++) {
        size_t k = (*from + i) % h->n;

        if (!strcmp(h->hash[k], hash)) {
            *from = k + 1;
            return h->cell[k];
        }
    }
    return none;
}

/* What is impossible the lists themselves tell; of what waits the sheet says whether it is one of theirs. */
static bool says_nothing_new(const struct live_cell *c, const char *state, const char *run,
                             bool listed)
{
    return !*run && ((!listed && !strcmp(state, wire_state_name(WIRE_WAITING))) ||
                     (c->left_out && !strcmp(state, wire_state_name(WIRE_SKIPPED))));
}

/* listed: it is among those that were asked for; all: those that are not listed are not. */
static void take_row(struct live_sweep *s, const struct sheet *t, size_t row, size_t cell,
                     bool listed, bool all)
{
    struct live_cell *c = &s->cell[cell];
    const char *state = sheet_cell(t, row, sheet_column(t, "state"));

    if (says_nothing_new(c, state, sheet_cell(t, row, sheet_column(t, "run")), listed))
        return;
    c->known = true;
    c->left_out = false;
    c->beyond = all && !listed;
    c->acc = sheet_number(t, row, sheet_column(t, "best_test_acc"));
    c->val_acc = sheet_number(t, row, sheet_column(t, "val_acc"));
    c->seconds = sheet_number(t, row, sheet_column(t, "wall_seconds"));
    c->train = sheet_number(t, row, sheet_column(t, "train_seconds"));
    live_set_text(&c->run, sheet_cell(t, row, sheet_column(t, "run")));
    live_set_text(&c->why, sheet_cell(t, row, sheet_column(t, "reason")));
    if (c->why && record_reason_is_left(c->why))
        c->acc = c->val_acc = NAN;
    if (!wire_state_find(state, &c->state))
        c->state = WIRE_WAITING;
    if (!strcmp(sheet_cell(t, row, sheet_column(t, "best_by")), "valid"))
        s->by_valid = true;
}

/* What is unresolved is found among what the others leave: those that are recognised go first. */
static void read_sheet(struct live_sweep *s, const char *results, struct hashes *h)
{
    char *path = mem_textf("%s/sweeps/%s/sweep.csv", results, s->name);
    const char **values = mem_new(s->spec.axes + 1, sizeof *values);
    struct sheet t = {0};
    struct err ignored;
    bool *taken;

    if (sheet_read(path, &t, &ignored) == ERR_OK) {
        taken = mem_new(t.rows + 1, sizeof *taken);
        for (size_t row = 0; row < t.rows; row++) {
            const char *told = sheet_cell(&t, row, sheet_column(&t, RECORD_LISTED));

            taken[row] = !strcmp(told, "no");
            h->listed |= !strcmp(told, "yes");
            if (!taken[row])
                continue;
            remember(h, sheet_cell(&t, row, sheet_column(&t, "cell")), NO_CELL);
            s->others += *sheet_cell(&t, row, sheet_column(&t, "run")) != 0;
        }
        for (int pass = 0; pass < 2; pass++) {
            for (size_t row = 0; row < t.rows; row++) {
                const char *told = sheet_cell(&t, row, sheet_column(&t, RECORD_LISTED));
                bool listed = *told && strcmp(told, "no") != 0;
                size_t cell;

                for (size_t a = 0; a < s->spec.axes; a++)
                    values[a] = sheet_cell(&t, row, sheet_column(&t, s->spec.axis[a].key));
                cell = taken[row] ? s->cells : live_sweep_find(s, values);
                if (cell == s->cells || (pass == 0 && s->cell[cell].left_out))
                    continue;
                taken[row] = true;
                take_row(s, &t, row, cell, listed, h->listed);
                remember(h, sheet_cell(&t, row, sheet_column(&t, "cell")), cell);
            }
        }
        free(taken);
        sheet_free(&t);
    }
    free(values);
    free(path);
}

/* Of a run that is under way, or that has no row in the sheet yet. */
static size_t cell_of_run(const struct live_sweep *s, const struct record_run *run)
{
    struct text *value = mem_new(s->spec.axes + 1, sizeof *value);
    const char **values = mem_new(s->spec.axes + 1, sizeof *values);
    size_t cell;

    for (size_t a = 0; a < s->spec.axes; a++) {
        const char *key = s->spec.axis[a].key;

        for (int i = 0; !strncmp(key, "model.", 6) && i < run->spec.params; i++)
            if (!strcmp(run->spec.param[i].name, key + 6))
                text_add(&value[a], run->spec.param[i].value);
        if (strncmp(key, "model.", 6) != 0)
            record_run_value(run, key, &value[a]);
        values[a] = text_str(&value[a]);
    }
    cell = live_sweep_find(s, values);
    for (size_t a = 0; a < s->spec.axes; a++)
        text_free(&value[a]);
    free(value);
    free(values);
    return cell;
}

static void take_line(struct live_sweep *s, const char *results, const struct record_cell *l,
                      size_t cell)
{
    bool open = !wire_state_is_final(l->state) && *l->run;
    const char *told = cell < s->cells ? s->cell[cell].run : NULL; /* by the sheet, which may lag */
    char left[RECORD_LEFT_ROOM];
    bool other = *l->run && (!told || strcmp(told, l->run) != 0);
    char *folder = io_path(results, *l->run ? l->run : ".none");
    struct record_entry entry = {0};
    bool read = (open || other) && record_read_entry(folder, &entry, NULL) == ERR_OK;
    const struct record_run *run = read && !entry.broken ? &entry.run : NULL;
    bool full = run && open && l->owned && record_working_full(folder, NULL);
    struct live_cell *c;

    free(folder);
    if (cell == s->cells && run)
        cell = cell_of_run(s, run);
    if (cell == s->cells) {
        if (read)
            record_free_entry(&entry);
        return;
    }
    c = &s->cell[cell];
    if (other || l->state == WIRE_WAITING)
        c->acc = c->val_acc = c->seconds = c->train = NAN;
    c->known = true;
    c->left_out = false;
    c->state = l->state;
    memcpy(c->time, l->time, sizeof c->time);
    live_set_text(&c->run, l->run);
    if (other || *l->reason || l->state != WIRE_DONE) /* the sheet may know more of a result */
        live_set_text(&c->why, l->reason);
    if (!wire_state_is_final(l->state) && l->state != WIRE_WAITING)
        c->state = !l->owned                          ? WIRE_STOPPED
                   : run && run->state == WIRE_PAUSED ? WIRE_PAUSED
                                                      : WIRE_RUNNING;
    c->elsewhere = l->owned;
    c->full = full;
    c->dead = c->state == WIRE_STOPPED && run && entry.dead;
    if (run && run->spec.epochs > 0 && open)
        c->share = (double)run->epochs_done / (double)run->spec.epochs;
    if (run && !open && record_cell_is_left(run, l->cell, left)) {
        live_set_text(&c->why, left);
    } else if (run && !open && run->best_test_acc > RECORD_EMPTY) {
        c->acc = run->best_test_acc;
        c->val_acc = record_entry_valid_acc(&entry);
        c->seconds = run->wall_seconds;
        c->train = run->train_seconds;
    }
    if (read)
        record_free_entry(&entry);
}

static void read_ledger(struct live_sweep *s, const char *results, const struct hashes *h)
{
    struct record_ledger *ledger;
    struct record_cell *cells = NULL;
    struct err ignored;
    size_t n = 0, from = 0;

    if (record_ledger_open_to_read(&ledger, results, s->name, &ignored) != ERR_OK)
        return;
    if (record_ledger_cells(ledger, &cells, &n, &ignored) != ERR_OK)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t cell = cell_of(h, cells[i].cell, &from, s->cells);

        s->ended += wire_state_is_final(cells[i].state);
        if (cell != NO_CELL)
            take_line(s, results, &cells[i], cell);
        if (strcmp(cells[i].time, s->newest) > 0)
            memcpy(s->newest, cells[i].time, sizeof s->newest);
    }
    free(cells);
    record_ledger_close(ledger);
}

/* Nobody works on it, and all that its lists name has ended: what the sheet has no row of is the same as
 * another. */
static bool is_whole(const struct live_sweep *s, const struct hashes *h)
{
    bool whole = h->listed && !s->live;

    for (size_t i = 0; i < s->cells && whole; i++)
        whole = !s->cell[i].known || wire_state_is_final(s->cell[i].state);
    return whole;
}

static struct live_sweep *unreadable(const char *name, const struct err *e)
{
    struct live_sweep *s = mem_new(1, sizeof *s);

    s->name = mem_text(name);
    s->problem = mem_text(e->text);
    return s;
}

/* What nobody has begun waits, unless only some cells were asked for. */
static void wait_unbegun(struct live_sweep *s, bool whole)
{
    for (size_t i = 0; i < s->cells; i++) {
        struct live_cell *c = &s->cell[i];

        if (c->known || c->left_out)
            continue;
        c->twin = c->left_out = whole;
        c->known = !whole; /* as it was made: waiting */
        if (whole)
            live_set_text(&c->why, "it comes to the same as another cell, and is run with it");
    }
}

struct live_sweep *live_sweep_read(const char *results, const char *name, size_t most_cells)
{
    struct spec_sweep spec;
    struct record_queue_options options = {0};
    struct live_sweep *s;
    struct hashes h = {0};
    struct err e;

    spec_sweep_init(&spec);
    s = record_sweep_read(results, name, &spec, &options, &e) == ERR_OK
            ? live_sweep_new(name, &spec, most_cells)
            : unreadable(name, &e);
    spec_sweep_free(&spec);
    s->options = options;
    s->live = record_sweep_live(results, name);
    s->tells = s->live && record_working_sweep(results, name, &s->is);
    if (!s->problem) {
        read_sheet(s, results, &h);
        read_ledger(s, results, &h);
    }
    if (!options.max_cells || (size_t)options.max_cells >= live_sweep_possible(s))
        wait_unbegun(s, is_whole(s, &h));
    if (!s->tells)
        live_sweep_stand(s);
    free(h.hash);
    free(h.cell);
    return s;
}
