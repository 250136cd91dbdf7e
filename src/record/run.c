/* run.csv: one header and one row. One table says how each column is written and read; the keys of an
 * experiment stand in its middle under their own names. */
#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/reader.h"
#include "record/record_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* kind, name, member of struct record_run. COUNT: as INT, but 0 means none and is an empty field. */
#define COLUMNS_BEFORE(X)                                                                          \
    X(TEXT, run)                                                                                   \
    X(TEXT, sweep)                                                                                 \
    X(TEXT, cell)                                                                                  \
    X(STATE, state)                                                                                \
    X(TEXT, reason) X(COUNT, pid) X(TEXT, host) X(TEXT, version) X(TEXT, started_utc)              \
        X(TEXT, ended_utc)
#define COLUMNS_OF_SPEC(X)                                                                         \
    X(name)                                                                                        \
    X(model)                                                                                       \
    X(data)                                                                                        \
    X(normalize)                                                                                   \
    X(valid) X(mode) X(backend) X(devices) X(threads) X(members) X(batch) X(epochs) X(optimizer)   \
        X(momentum) X(beta1) X(beta2) X(epsilon) X(weight_decay) X(lr) X(lr_rule) X(lr_batch)      \
            X(schedule) X(warmup) X(lr_min) X(step_epochs) X(step_factor) X(grad_clip)             \
                X(loss_reduction) X(shuffle) X(member_order) X(init) X(weights) X(precision)       \
                    X(sync_bn) X(augment) X(seed) X(repeats) X(train_limit) X(test_limit)          \
                        X(log_every) X(keep) X(target_acc) X(max_steps) X(max_minutes) X(patience) \
                            X(on_end)
#define COLUMNS_AFTER(X)                                                                           \
    X(TEXT, backend_used)                                                                          \
    X(TEXT, precision_used)                                                                        \
    X(TEXT, isa)                                                                                   \
    X(INT, real_devices)                                                                           \
    X(INT, threads_used) X(INT, shared) X(NUMBER, lr_used) X(INT, batch_per_device)                \
        X(INT, parameters) X(NUMBER, flops_per_image) X(INT, epochs_done) X(COUNT, best_epoch)     \
            X(TEXT, best_by) X(NUMBER, best_test_acc) X(NUMBER, best_test_loss)                    \
                X(NUMBER, last_test_acc) X(NUMBER, last_test_loss) X(NUMBER, train_seconds)        \
                    X(NUMBER, eval_seconds) X(NUMBER, wall_seconds) X(NUMBER, device_seconds)      \
                        X(INT, images) X(INT, model_images) X(NUMBER, target_seconds)              \
                            X(NUMBER, peak_memory_bytes) X(TEXT, plans) X(TEXT, tags)              \
                                X(TEXT, note)

#define NAME_(kind, name) #name,
#define SPEC_NAME_(name)  #name,
const char *const record_run_columns[] = {COLUMNS_BEFORE(NAME_) COLUMNS_OF_SPEC(SPEC_NAME_)
                                              COLUMNS_AFTER(NAME_) NULL};

enum column_kind { COLUMN_TEXT, COLUMN_INT, COLUMN_COUNT, COLUMN_NUMBER, COLUMN_STATE, COLUMN_KEY };
struct column {
    enum column_kind kind;
    size_t at, size;
};

#define PLACE_(kind, name)                                                                         \
    {COLUMN_##kind, offsetof(struct record_run, name), sizeof((struct record_run *)0)->name},
#define SPEC_PLACE_(name) {COLUMN_KEY, 0, 0},
static const struct column columns[] = {COLUMNS_BEFORE(PLACE_) COLUMNS_OF_SPEC(SPEC_PLACE_)
                                            COLUMNS_AFTER(PLACE_)};
_Static_assert(MEM_COUNT(columns) + 1 == MEM_COUNT(record_run_columns), "one place a name");

static void add_value(const struct record_run *run, size_t i, struct text *out)
{
    const char *at = (const char *)run + columns[i].at;
    char number[TEXT_NUMBER_ROOM];
    double d;
    int64_t n;

    switch (columns[i].kind) {
    case COLUMN_TEXT:
        text_add(out, at);
        break;
    case COLUMN_INT:
    case COLUMN_COUNT:
        memcpy(&n, at, sizeof n);
        if (n || columns[i].kind == COLUMN_INT)
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
        spec_value(&run->spec, spec_key_find(record_run_columns[i]), out);
        break;
    }
}

void record_run_value(const struct record_run *run, const char *column, struct text *out)
{
    for (size_t i = 0; record_run_columns[i]; i++) {
        if (!strcmp(record_run_columns[i], column))
            add_value(run, i, out);
    }
}

void record_run_text(const struct record_run *run, struct text *out)
{
    struct text value = {0};

    for (size_t i = 0; record_run_columns[i]; i++)
        text_addf(out, i ? ",%s" : "%s", record_run_columns[i]);
    text_add(out, "\n");
    for (size_t i = 0; record_run_columns[i]; i++) {
        text_clear(&value);
        add_value(run, i, &value);
        sheet_add_text(out, text_str(&value));
    }
    sheet_end_row(out);
    text_free(&value);
}

static bool read_value(struct record_run *run, size_t i, const char *cell, struct err *e)
{
    char *at = (char *)run + columns[i].at;
    double d = RECORD_EMPTY;
    int64_t n = 0;

    switch (columns[i].kind) {
    case COLUMN_TEXT:
        snprintf(at, columns[i].size, "%s", cell);
        return true;
    case COLUMN_INT:
    case COLUMN_COUNT:
        if (*cell && !text_to_int(cell, &n))
            break;
        memcpy(at, &n, sizeof n);
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
        if (!*cell)
            return true;
        return spec_set(&run->spec, record_run_columns[i], cell, "run.csv", NULL, e) == ERR_OK;
    }
    err_set(e, ERR_INPUT, "its column %s holds '%.60s'", record_run_columns[i], cell);
    return false;
}

static enum err_code read_sheet(const struct sheet *s, const char *path, struct record_run *run,
                                struct err *e)
{
    struct err inner = {0};

    if (s->rows != 1)
        return err_set(e, ERR_INPUT, "%s has %zu whole rows instead of one", path, s->rows);
    /* Who and in what state must be there; a column that an older version did not know need not. */
    if (sheet_column(s, "run") < 0 || sheet_column(s, "state") < 0)
        return err_set(e, ERR_INPUT, "%s has no columns run and state", path);
    for (size_t i = 0; record_run_columns[i]; i++) {
        int column = sheet_column(s, record_run_columns[i]);
        if (column < 0 && columns[i].kind == COLUMN_STATE)
            continue;
        if (!read_value(run, i, sheet_cell(s, 0, column), &inner))
            return err_set(e, ERR_INPUT, "%s cannot be read: %s", path, inner.text);
    }
    return ERR_OK;
}

enum err_code record_read_run(const char *path, struct record_run *run, struct err *e)
{
    struct sheet s = {0};
    enum err_code code;

    memset(run, 0, sizeof *run);
    spec_default(&run->spec);
    TRY(sheet_read(path, &s, e));
    code = read_sheet(&s, path, run, e);
    sheet_free(&s);
    return code;
}

static void clean_name(const char *name, char *out, size_t room)
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
    size_t n = strlen(model);
    struct text name = {0};

    if (n > 4 && !strcmp(model + n - 4, ".net"))
        model[n - 4] = 0;
    if (spec->name[0]) {
        text_add(&name, spec->name);
    } else {
        text_add(&name, model);
        if (spec->mode == SPEC_ENSEMBLE)
            text_addf(&name, "-ens%d", spec->members > 0 ? spec->members : spec->devices);
        else if (spec->devices > 1)
            text_addf(&name, "-dp%d", spec->devices);
    }
    clean_name(text_str(&name), out, room < 65 ? room : 65);
    if (!out[0])
        snprintf(out, room, "run");
    text_free(&name);
    free(model);
}
