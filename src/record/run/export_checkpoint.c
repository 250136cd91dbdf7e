/* Which checkpoint of a run is meant, and the network that it belongs to. */
#include "record/run/export.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/run/reader.h"
#include "record/record_int.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum err_code read_named(const char *folder, const char *name, struct safetensors *s,
                                bool *found, struct err *e)
{
    char *path = io_path(folder, name);
    enum err_code code = ERR_OK;

    *found = io_exists(path);
    if (*found)
        code = record_read_sealed(path, s, e);
    free(path);
    return code;
}

/* The step at which an epoch ended, by epochs.csv; -1 where it has no such row. */
static int64_t step_of_epoch(const char *folder, int64_t epoch)
{
    struct sheet s = {0};
    int64_t step = epoch == 0 ? 0 : -1;

    if (epoch == 0 || record_read_sheet(folder, "epochs", &s, NULL) != ERR_OK)
        return step;
    for (size_t i = 0; i < s.rows; i++) {
        if (sheet_number(&s, i, sheet_column(&s, "epoch")) == (double)epoch)
            step = sheet_whole(&s, i, sheet_column(&s, "step"), -1);
    }
    sheet_free(&s);
    return step;
}

/* A file of its own, or one of the others where it happens to stand at that epoch's end. */
static enum err_code read_epoch(const char *folder, int64_t epoch, struct safetensors *s,
                                struct err *e)
{
    static const char *const others[] = {"best.safetensors", "checkpoint.safetensors",
                                         "checkpoint.prev.safetensors"};
    int64_t ended = step_of_epoch(folder, epoch), have, step;
    char name[64];
    bool found;
    enum err_code code;

    snprintf(name, sizeof name, "epoch-%04" PRId64 ".safetensors", epoch);
    code = read_named(folder, name, s, &found, e);
    if (code == ERR_OK && found)
        return ERR_OK;
    for (size_t i = 0; i < MEM_COUNT(others); i++) {
        if (read_named(folder, others[i], s, &found, NULL) != ERR_OK || !found)
            continue; /* another one may hold it */
        if (record_unpack_int(s, RECORD_NOTE_EPOCH, &have) && have == epoch &&
            record_unpack_int(s, RECORD_NOTE_STEP, &step) && step == ended)
            return ERR_OK;
        safetensors_free(s);
    }
    if (code != ERR_OK)
        return code;
    return err_set(e, ERR_INPUT,
                   "run %s kept no weights of epoch %" PRId64
                   ": with keep = all, or every:N, a run keeps those of its epochs",
                   folder, epoch);
}

/* Of a run that has ended there will be none. */
static enum err_code refuse_none(const char *folder, struct err *e)
{
    struct record_entry entry = {0};
    enum wire_state state = WIRE_RUNNING;

    if (record_read_entry(folder, &entry, NULL) == ERR_OK && !entry.broken)
        state = entry.run.state;
    if (wire_state_is_bad(state))
        err_set(e, ERR_INPUT,
                "run %s has no weights: it %s before its first (%s); chorus run %s KEY=VALUE "
                "begins it anew with other settings%s",
                folder,
                state == WIRE_DIVERGED ? "diverged"
                : state == WIRE_OOM    ? "ran out of memory"
                                       : "failed",
                entry.run.reason, folder, state == WIRE_DIVERGED ? ", such as a smaller lr" : "");
    else if (state == WIRE_DONE)
        err_set(e, ERR_INPUT,
                "run %s has no weights any more: it is done, and its checkpoints are gone from its "
                "folder",
                folder);
    else
        err_set(e, ERR_INPUT,
                "run %s has no weights yet: the first are written at the end of an epoch "
                "or when it is stopped",
                folder);
    record_free_entry(&entry);
    return ERR_INPUT;
}

static int64_t best_epoch(const char *folder)
{
    struct record_entry entry;
    int64_t epoch = 0;

    if (record_read_entry(folder, &entry, NULL) != ERR_OK)
        return 0;
    if (!entry.broken)
        epoch = entry.run.best_epoch;
    record_free_entry(&entry);
    return epoch;
}

/* The last epoch of a run that is done; -1: it is not, or cannot be read. */
static int64_t last_epoch(const char *folder)
{
    struct record_entry entry;
    int64_t epoch = -1;

    if (record_read_entry(folder, &entry, NULL) != ERR_OK)
        return -1;
    if (!entry.broken && entry.run.state == WIRE_DONE)
        epoch = entry.run.epochs_done;
    record_free_entry(&entry);
    return epoch;
}

/* A run may have ended without its last weights, which it does not keep or which are damaged: another
 * file may hold the same ones, else what is there is older. */
static enum err_code read_last(const char *folder, struct safetensors *s, struct err *e)
{
    struct record_found found;
    int64_t last = last_epoch(folder), have;

    TRY(record_find_checkpoint(folder, s, &found, e));
    if (!found.name[0] && !found.broken.code)
        return refuse_none(folder, e);
    if (!found.name[0])
        return err_set(e, found.broken.code,
                       last < 0
                           ? "%.600s; no other weights are there: remove it, and chorus resume "
                             "%.300s begins at step 0"
                           : "%.600s; no other weights are there: chorus run %.300s trains it anew",
                       found.broken.text, folder);
    if (record_unpack_int(s, RECORD_NOTE_EPOCH, &have) && have < last) {
        safetensors_free(s);
        if (read_epoch(folder, last, s, NULL) == ERR_OK)
            return ERR_OK;
        return err_set(
            e, ERR_INPUT,
            "the last weights of run %.300s, of epoch %" PRId64
            ", %s: the newest kept are of epoch %" PRId64 "; ask for --at %" PRId64 "%s%.500s%s",
            folder, last, found.broken.code ? "are damaged" : "were not kept", have, have,
            found.broken.code ? " (" : "", found.broken.text, found.broken.code ? ")" : "");
    }
    if (last < 0)
        record_say_stand_in(&found); /* what is older than it could be */
    return ERR_OK;
}

enum err_code record_read_at(const char *folder, const char *at, struct safetensors *s,
                             struct err *e)
{
    bool found = false;
    int64_t epoch;

    memset(s, 0, sizeof *s);
    if (!at || !strcmp(at, "last"))
        return read_last(folder, s, e);
    if (!strcmp(at, "best")) {
        TRY(read_named(folder, "best.safetensors", s, &found, e));
        if (found)
            return ERR_OK;
        epoch = best_epoch(folder);
        if (epoch > 0 && read_epoch(folder, epoch, s, NULL) == ERR_OK)
            return ERR_OK;
        return err_set(
            e, ERR_INPUT,
            "run %s kept no best weights: that needs `best` or `all` in its key keep and "
            "one whole epoch",
            folder);
    }
    if (!text_to_int(at, &epoch) || epoch < 0 || epoch > 1000000000)
        return err_set(e, ERR_INPUT, "'%s' is not best, last or the number of an epoch", at);
    if (epoch == 0 || epoch != last_epoch(folder))
        return read_epoch(folder, epoch, s, e);
    if (read_epoch(folder, epoch, s, NULL) == ERR_OK)
        return ERR_OK;
    return read_last(folder, s, e); /* why it is not there */
}

/* What the network was read with. The file may come from anywhere. */
static bool take_wants(const struct safetensors *s, struct net_wants *wants)
{
    const char *input = safetensors_note(s, RECORD_NOTE_INPUT);
    struct net_shape *shape = &wants->input;
    int64_t classes;

    if (!input || sscanf(input, "%7d %7d %7d", &shape->h, &shape->w, &shape->c) != 3 ||
        shape->h < 1 || shape->w < 1 || shape->c < 1)
        return false;
    if (!record_unpack_int(s, RECORD_NOTE_CLASSES, &classes) || classes < 1 || classes > INT_MAX)
        return false;
    wants->classes = (int)classes;
    return true;
}

enum err_code record_read_net(const char *folder, const struct safetensors *s, struct net **net,
                              struct err *e)
{
    struct net_wants wants = {0};
    struct spec *spec = mem_new(1, sizeof *spec);
    char *path = io_path(folder, "model.net");
    char *text = NULL;
    size_t n = 0;
    enum err_code code;

    *net = NULL;
    code = record_read_spec(folder, spec, e);
    if (code == ERR_OK)
        code = io_read_file(path, 1 << 20, &text, &n, e);
    if (code == ERR_OK && !take_wants(s, &wants))
        code = err_set(e, ERR_INPUT, "the checkpoint of run %s does not say what images it takes",
                       folder);
    if (code == ERR_OK) {
        wants.spec = spec;
        code = net_parse(net, text, n, path, &wants, e);
    }
    free(text);
    free(path);
    free(spec);
    return code;
}
