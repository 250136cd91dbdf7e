/* run.csv: one header and one row. One table says how each column is written and read; the keys of
 * an experiment stand in its middle under their own names. */
#include "record/run/run.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/record_int.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys of an experiment stand in the middle, in their own order (spec_keys). */
const char *const record_run_columns[] = {
    "run",
    "sweep",
    "cell",
    "state",
    "reason",
    "pid",
    "host",
    "version",
    "started_utc",
    "ended_utc",
    /* keys */
    "name",
    "model",
    "data",
    "normalize",
    "valid",
    "mode",
    "backend",
    "devices",
    "threads",
    "members",
    "batch",
    "epochs",
    "optimizer",
    "momentum",
    "beta1",
    "beta2",
    "epsilon",
    "weight_decay",
    "lr",
    "lr_rule",
    "lr_batch",
    "schedule",
    "warmup",
    "lr_min",
    "step_epochs",
    "step_factor",
    "grad_clip",
    "loss_reduction",
    "shuffle",
    "member_order",
    "init",
    "weights",
    "precision",
    "sync_bn",
    "augment",
    "seed",
    "repeats",
    "train_limit",
    "test_limit",
    "log_every",
    "keep",
    "target_acc",
    "max_steps",
    "max_minutes",
    "patience",
    "on_end",
    /* what they came to */
    "backend_used",
    "precision_used",
    "isa",
    "real_devices",
    "threads_used",
    "shared",
    "lr_used",
    "batch_per_device",
    "parameters",
    "flops_per_image",
    "network_hash",
    "data_hash",
    "epochs_done",
    "best_epoch",
    "best_by",
    "best_test_acc",
    "best_test_loss",
    "last_test_acc",
    "last_test_loss",
    "train_seconds",
    "eval_seconds",
    "wall_seconds",
    "device_seconds",
    "images",
    "model_images",
    "target_seconds",
    "peak_memory_bytes",
    "plans",
    "epochs_check",
    "tags",
    "note",
    NULL,
};

enum column_kind { COLUMN_KEY, COLUMN_TEXT, COLUMN_INT, COLUMN_COUNT, COLUMN_NUMBER, COLUMN_STATE };

/* COLUMN_COUNT: as COLUMN_INT, but 0 means that there is none and is an empty field. */
struct column {
    const char *name;
    enum column_kind kind;
    size_t at, size; /* in struct record_run */
};

#define PLACE(kind, member)                                                                        \
    {                                                                                              \
#member, kind, offsetof(struct record_run, member), sizeof((struct record_run *)0)->member \
    }
static const struct column places[] = {
    PLACE(COLUMN_TEXT, run),
    PLACE(COLUMN_TEXT, sweep),
    PLACE(COLUMN_TEXT, cell),
    PLACE(COLUMN_STATE, state),
    PLACE(COLUMN_TEXT, reason),
    PLACE(COLUMN_COUNT, pid),
    PLACE(COLUMN_TEXT, host),
    PLACE(COLUMN_TEXT, version),
    PLACE(COLUMN_TEXT, started_utc),
    PLACE(COLUMN_TEXT, ended_utc),
    PLACE(COLUMN_TEXT, backend_used),
    PLACE(COLUMN_TEXT, precision_used),
    PLACE(COLUMN_TEXT, isa),
    PLACE(COLUMN_INT, real_devices),
    PLACE(COLUMN_INT, threads_used),
    PLACE(COLUMN_INT, shared),
    PLACE(COLUMN_NUMBER, lr_used),
    PLACE(COLUMN_INT, batch_per_device),
    PLACE(COLUMN_INT, parameters),
    PLACE(COLUMN_NUMBER, flops_per_image),
    PLACE(COLUMN_TEXT, network_hash),
    PLACE(COLUMN_TEXT, data_hash),
    PLACE(COLUMN_INT, epochs_done),
    PLACE(COLUMN_COUNT, best_epoch),
    PLACE(COLUMN_TEXT, best_by),
    PLACE(COLUMN_NUMBER, best_test_acc),
    PLACE(COLUMN_NUMBER, best_test_loss),
    PLACE(COLUMN_NUMBER, last_test_acc),
    PLACE(COLUMN_NUMBER, last_test_loss),
    PLACE(COLUMN_NUMBER, train_seconds),
    PLACE(COLUMN_NUMBER, eval_seconds),
    PLACE(COLUMN_NUMBER, wall_seconds),
    PLACE(COLUMN_NUMBER, device_seconds),
    PLACE(COLUMN_INT, images),
    PLACE(COLUMN_INT, model_images),
    PLACE(COLUMN_NUMBER, target_seconds),
    PLACE(COLUMN_NUMBER, peak_memory_bytes),
    PLACE(COLUMN_TEXT, plans),
    PLACE(COLUMN_TEXT, epochs_check),
    PLACE(COLUMN_TEXT, tags),
    PLACE(COLUMN_TEXT, note),
};

_Static_assert(MEM_COUNT(record_run_columns) == RECORD_COLUMNS + 1, "as many as are named");
_Static_assert(RECORD_COLUMNS <= 8 * sizeof((struct record_run *)0)->several, "a bit for each");

/* Found once: a list of 10,000 runs asks for each of them. */
static struct column columns[RECORD_COLUMNS];
static pthread_once_t columns_found = PTHREAD_ONCE_INIT;

/* A column that has no place in struct record_run itself is a key of its spec. */
static void find_columns(void)
{
    for (size_t i = 0; i < RECORD_COLUMNS; i++) {
        columns[i] = (struct column){record_run_columns[i], COLUMN_KEY, 0, 0};
        for (size_t j = 0; j < MEM_COUNT(places); j++) {
            if (!strcmp(places[j].name, columns[i].name))
                columns[i] = places[j];
        }
    }
}

static const struct column *column_at(size_t i)
{
    pthread_once(&columns_found, find_columns);
    return &columns[i];
}

static bool is_several(const struct record_run *run, const struct column *column)
{
    size_t i = (size_t)(column - columns);

    return run->several[i / 64] >> i % 64 & 1;
}

static void set_several(struct record_run *run, const struct column *column, bool on)
{
    size_t i = (size_t)(column - columns);
    uint64_t bit = UINT64_C(1) << i % 64;

    run->several[i / 64] = on ? run->several[i / 64] | bit : run->several[i / 64] & ~bit;
}

/* The quotes of an experiment's text do not belong into a table; a key without effect is empty. */
static void add_key(const struct spec *s, int key, struct text *out)
{
    struct text value = {0};

    if (spec_applies(s, key)) {
        spec_value(s, key, &value);
        spec_add_plain(out, text_str(&value));
    }
    text_free(&value);
}

static bool read_key(struct spec *s, const char *name, const char *cell, struct err *e)
{
    struct text value = {0};
    bool read;

    spec_add_quoted(&value, cell);
    read = spec_set(s, name, text_str(&value), "run.csv", NULL, e) == ERR_OK;
    text_free(&value);
    return read;
}

static void add_value(const struct record_run *run, const struct column *column, struct text *out)
{
    const char *at = (const char *)run + column->at;
    char number[TEXT_NUMBER_ROOM];
    double d;
    int64_t n;

    switch (column->kind) {
    case COLUMN_TEXT:
        text_add(out, at);
        break;
    case COLUMN_INT:
    case COLUMN_COUNT:
        memcpy(&n, at, sizeof n);
        if (n || (column->kind == COLUMN_INT && !is_several(run, column)))
            text_addf(out, "%" PRId64, n);
        break;
    case COLUMN_NUMBER:
        memcpy(&d, at, sizeof d);
        if (d != RECORD_EMPTY)
            text_add(out, text_double(number, d));
        break;
    case COLUMN_STATE:
        text_add(out, wire_state_name(run->state));
        break;
    case COLUMN_KEY:
        if (is_several(run, column))
            text_add(out, RECORD_SEVERAL);
        else
            add_key(&run->spec, spec_key_find(column->name), out);
        break;
    }
}

/* RECORD_COLUMNS where there is none; the name may be the table's own. */
static size_t column_place(const char *name)
{
    size_t i = 0;

    while (i < RECORD_COLUMNS && record_run_columns[i] != name)
        i++;
    if (i == RECORD_COLUMNS)
        for (i = 0; i < RECORD_COLUMNS && strcmp(record_run_columns[i], name) != 0;)
            i++;
    return i;
}

void record_run_value(const struct record_run *run, const char *column, struct text *out)
{
    size_t i = column_place(column);

    if (i < RECORD_COLUMNS)
        add_value(run, column_at(i), out);
}

void record_run_set_several(struct record_run *run, const char *column)
{
    const struct column *c = column_at(column_place(column));
    char *at = (char *)run + c->at;
    const double none = RECORD_EMPTY;

    set_several(run, c, true);
    if (c->kind == COLUMN_TEXT)
        snprintf(at, c->size, "%s", RECORD_SEVERAL);
    else if (c->kind == COLUMN_NUMBER)
        memcpy(at, &none, sizeof none);
    else if (c->kind == COLUMN_INT || c->kind == COLUMN_COUNT)
        memset(at, 0, c->size);
}

bool record_run_is_several(const struct record_run *run, const char *column)
{
    return is_several(run, column_at(column_place(column)));
}

const char *record_run_data_hash(const struct record_run *run)
{
    return strcmp(run->data_hash, RECORD_SEVERAL) != 0 ? run->data_hash : "";
}

bool record_column_is_number(const char *name)
{
    size_t i = column_place(name);
    enum column_kind kind = i < RECORD_COLUMNS ? column_at(i)->kind : COLUMN_TEXT;

    return kind == COLUMN_INT || kind == COLUMN_COUNT || kind == COLUMN_NUMBER;
}

void record_run_text(const struct record_run *run, struct text *out)
{
    struct text value = {0};

    for (size_t i = 0; record_run_columns[i]; i++)
        text_addf(out, i ? ",%s" : "%s", record_run_columns[i]);
    text_add(out, "\n");
    for (size_t i = 0; record_run_columns[i]; i++) {
        text_clear(&value);
        add_value(run, column_at(i), &value);
        sheet_add_text(out, text_str(&value));
    }
    sheet_end_row(out);
    text_free(&value);
}

static bool read_value(struct record_run *run, const struct column *column, const char *cell,
                       struct err *e)
{
    char *at = (char *)run + column->at;
    double d = RECORD_EMPTY;
    int64_t n = 0;

    switch (column->kind) {
    case COLUMN_TEXT:
        snprintf(at, column->size, "%s", cell);
        return true;
    case COLUMN_INT:
    case COLUMN_COUNT:
        if (*cell && !text_to_int(cell, &n))
            break;
        memcpy(at, &n, sizeof n);
        set_several(run, column, !*cell);
        return true;
    case COLUMN_NUMBER:
        if (*cell && !text_to_double(cell, &d))
            break;
        memcpy(at, &d, sizeof d);
        return true;
    case COLUMN_STATE:
        if (wire_state_find(cell, &run->state))
            return true;
        break;
    case COLUMN_KEY:
        set_several(run, column,
                    !strcmp(cell, RECORD_SEVERAL) && strcmp(column->name, "name") != 0);
        if (!*cell || is_several(run, column))
            return true;
        return read_key(&run->spec, column->name, cell, e);
    }
    err_set(e, ERR_INPUT, "its column %s holds '%.60s'", column->name, cell);
    return false;
}

/* A key that one row gives and the other leaves empty would keep what it was. */
static bool same_keys(const char *const *cells, const char *const *before)
{
    for (size_t i = 0; i < RECORD_COLUMNS; i++) {
        if (column_at(i)->kind == COLUMN_KEY && !*cells[i] != !*before[i])
            return false;
    }
    return true;
}

enum err_code record_take_cells(struct record_run *run, const char *const *cells,
                                const struct record_run *like, const char *const *like_cells,
                                struct err *e)
{
    struct err inner = {0};

    if (like && same_keys(cells, like_cells)) {
        *run = *like;
    } else {
        like_cells = NULL;
        memset(run, 0, sizeof *run);
        spec_default(&run->spec);
    }
    for (size_t i = 0; i < RECORD_COLUMNS; i++) {
        if (like_cells && !strcmp(cells[i], like_cells[i]))
            continue;
        if (!read_value(run, column_at(i), cells[i], &inner))
            return err_set(e, ERR_INPUT, "%s", inner.text);
    }
    return ERR_OK;
}

static enum err_code check_sheet(const struct sheet *s, const char *path, struct err *e)
{
    if (s->rows != 1)
        return err_set(e, ERR_INPUT, "%s has %zu whole rows instead of one", path, s->rows);
    /* Who and in what state must be there; a column that an older version did not know need not. */
    if (sheet_column(s, "run") < 0 || sheet_column(s, "state") < 0)
        return err_set(e, ERR_INPUT, "%s has no columns run and state", path);
    return ERR_OK;
}

enum err_code record_read_cells(const char *path, struct record_run *run, struct text *cells,
                                struct err *e)
{
    const char *cell[RECORD_COLUMNS];
    struct sheet s = {0};
    struct err inner = {0};
    enum err_code code;

    memset(run, 0, sizeof *run);
    spec_default(&run->spec);
    TRY(sheet_read(path, &s, e));
    code = check_sheet(&s, path, e);
    for (size_t i = 0; i < RECORD_COLUMNS && code == ERR_OK; i++) {
        /* It stands where this version puts it, as a rule. */
        bool there = i < s.columns && !strcmp(s.names[i], record_run_columns[i]);
        int column = there ? (int)i : sheet_column(&s, record_run_columns[i]);
        cell[i] = sheet_cell(&s, 0, column);
        if (cells)
            text_add_n(cells, cell[i], strlen(cell[i]) + 1);
    }
    if (code == ERR_OK && record_take_cells(run, cell, NULL, NULL, &inner) != ERR_OK)
        code = err_set(e, ERR_INPUT, "%s:2 cannot be read: %s", path, inner.text);
    sheet_free(&s);
    return code;
}

enum err_code record_read_run(const char *path, struct record_run *run, struct err *e)
{
    return record_read_cells(path, run, NULL, e);
}

void record_clean_name(const char *name, char *out, size_t room)
{
    size_t n = 0;

    for (; *name && n + 1 < room; name++) {
        bool fine = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                    (*name >= '0' && *name <= '9') || strchr("._-+", *name);
        if (fine && !(n == 0 && *name == '.'))
            out[n++] = *name;
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && (out[n - 1] == '-' || out[n - 1] == '.'))
        n--;
    out[n] = 0;
}

void record_label(const struct spec *spec, char *out, size_t room)
{
    const char *slash = strrchr(spec->model, '/');
    char *model = mem_text(slash ? slash + 1 : spec->model);
    struct text name = {0};

    model[text_stem(model, ".net")] = 0;
    if (spec->name[0]) {
        text_add(&name, spec->name);
    } else {
        text_add(&name, model);
        if (spec->mode == SPEC_ENSEMBLE)
            text_addf(&name, "-ens%d", spec->members > 0 ? spec->members : spec->devices);
        else if (spec->devices > 1)
            text_addf(&name, "-dp%d", spec->devices);
    }
    record_clean_name(text_str(&name), out, room < 65 ? room : 65);
    if (!out[0])
        snprintf(out, room, "run");
    text_free(&name);
    free(model);
}
