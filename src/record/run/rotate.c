/* Checkpoints on the disk: how one takes the place of another, and which one is believed. */
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "record/file/safetensors_write.h"
#include "record/record_int.h"
#include "record/run/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Until the last rename the old checkpoint stands under its own name or as .prev, and the reader
 * takes either: a kill between any two lines here loses nothing. */
static enum err_code take_place(const char *temp, const char *path, const char *prev, struct err *e)
{
    bool moved = false;

    if (prev) {
        if (io.rename(path, prev) == 0)
            moved = true;
        else if (errno != ENOENT)
            return err_errno(e, "cannot rename %s to %s", path, prev);
    }
    if (io.rename(temp, path) == 0)
        return ERR_OK;
    err_errno(e, "cannot rename %s to %s", temp, path);
    if (moved)
        io.rename(prev, path);
    return ERR_IO;
}

enum err_code record_checkpoint(struct record *r, const char *as,
                                const struct safetensors_tensor *tensors, size_t count,
                                const struct safetensors_note *notes, size_t note_count,
                                struct err *e)
{
    char *path = mem_textf("%s/%s.safetensors", r->folder, as);
    char *temp = mem_textf("%s/.%s.safetensors.tmp", r->folder, as);
    char *prev = NULL;
    enum err_code code;

    if (!strcmp(as, "checkpoint"))
        prev = mem_textf("%s/%s.prev.safetensors", r->folder, as);
    /* A checkpoint must never be newer than the rows that it stands for. */
    code = record_sync(r, e);
    if (code == ERR_OK)
        code = record_write_safetensors(temp, path, tensors, count, notes, note_count, e);
    if (code == ERR_OK) {
        code = take_place(temp, path, prev, e);
        if (code != ERR_OK)
            io.unlink(temp);
    }
    if (code == ERR_OK)
        code = io_sync_folder(r->folder, e);
    TRACE(RECORD, 1, "%s %s", path, code == ERR_OK ? "written" : "not written");
    free(path);
    free(temp);
    free(prev);
    return code;
}

enum err_code record_read_sealed(const char *path, struct safetensors *s, struct err *e)
{
    TRY(safetensors_read(path, s, e));
    if (s->sealed)
        return ERR_OK;
    safetensors_free(s);
    return err_set(e, ERR_INPUT, "%s is damaged: it has no checksum of its contents", path);
}

enum try_result { TRY_FOUND, TRY_MISSING, TRY_BROKEN, TRY_FAILED };

static enum try_result try_checkpoint(const char *folder, const char *name, struct safetensors *s,
                                      struct err *e)
{
    char *path = io_path(folder, name);
    enum err_code code = record_read_sealed(path, s, e);
    enum try_result result = TRY_FOUND;

    if (code == ERR_INPUT && e->sys == ENOENT)
        result = TRY_MISSING;
    else if (code != ERR_OK)
        result = code == ERR_NOMEM ? TRY_FAILED : TRY_BROKEN;
    free(path);
    return result;
}

static bool is_kept(const char *name)
{
    return !strncmp(name, "epoch-", 6) && text_ends_with(name + 6, ".safetensors");
}

/* The kept ones are names of equal length, so the last by name is the newest; best is no newer than
 * checkpoint and stands at the end. */
enum err_code record_find_checkpoint(const char *folder, struct safetensors *s,
                                     struct record_found *out, struct err *e)
{
    char **names = NULL;
    size_t count = 0, n = 0;
    const char **order;
    struct err inner = {0};
    enum err_code code = io_list_folder(folder, &names, &count, e);

    memset(out, 0, sizeof *out);
    memset(s, 0, sizeof *s);
    if (code != ERR_OK)
        return code;
    order = mem_new(count + 3, sizeof *order);
    order[n++] = "checkpoint.safetensors";
    order[n++] = "checkpoint.prev.safetensors";
    for (size_t i = count; i > 0; i--) {
        if (is_kept(names[i - 1]))
            order[n++] = names[i - 1];
    }
    order[n++] = "best.safetensors";
    for (size_t i = 0; i < n && !out->name[0] && code == ERR_OK; i++) {
        switch (try_checkpoint(folder, order[i], s, &inner)) {
        case TRY_FOUND:
            snprintf(out->name, sizeof out->name, "%.63s", order[i]);
            break;
        case TRY_MISSING:
            break;
        case TRY_BROKEN:
            if (!out->broken.code)
                out->broken = inner;
            break;
        case TRY_FAILED:
            code = err_set(e, inner.code, "%s", inner.text);
            break;
        }
    }
    free(order);
    io_free_names(names, count);
    return code;
}

void record_say_stand_in(const struct record_found *found)
{
    if (found->broken.code)
        log_say(LOG_WARN, "%s; %s stands in for it", found->broken.text, found->name);
}

/* Any checkpoint will do, since what is computed again from it gives the same bytes; the newest costs
 * least. */
enum err_code record_read_checkpoint(const char *folder, struct safetensors *s, bool *is_found,
                                     struct err *e)
{
    struct record_found found;

    *is_found = false;
    TRY(record_find_checkpoint(folder, s, &found, e));
    *is_found = found.name[0];
    if (*is_found)
        record_say_stand_in(&found);
    else if (found.broken.code) /* to begin again would cut every row: the user decides that */
        return err_set(e, found.broken.code,
                       "%.900s; no other checkpoint is there: remove it to begin at step 0",
                       found.broken.text);
    return ERR_OK;
}
