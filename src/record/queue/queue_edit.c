/* Changes to the queue, each under the lock of results/queue/.edit. A change is a row of renames to
 * names that are free, so that a kill between two of them loses nothing: at worst an experiment stands
 * at another place than it should. */
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/queue/queue_int.h"
#include "record/record_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define MOST_NUMBER 999999999
#define EDIT_TRIES  500 /* of 10 ms: an edit waits for a few renames and a sync */

static enum err_code begin_edit(const char *results, int *fd, struct err *e)
{
    TRY(record_queue_open_lock(results, ".edit", fd, e));
    for (int tries = 0; io.lock(*fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || tries == EDIT_TRIES) {
            enum err_code code = err_errno(e, "cannot lock %s/queue/.edit", results);

            io.close(*fd);
            return code;
        }
        clock_sleep_ms(10);
    }
    return ERR_OK;
}

static int64_t highest(const struct record_queued *list, size_t n)
{
    int64_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = list[i].number > most ? list[i].number : most;
    return most;
}

static enum err_code check_room(const char *results, int64_t number, struct err *e)
{
    if (number <= MOST_NUMBER)
        return ERR_OK;
    return err_set(e, ERR_FAILED,
                   "%s/queue has a file numbered %lld and there is no higher number: rename it",
                   results, (long long)(MOST_NUMBER));
}

/* Of adders that were killed, nobody's while the lock is held. */
static bool is_leftover(const char *name)
{
    return strstr(name, ".ini.tmp-");
}

static void remove_leftovers(const char *results)
{
    char *folder = record_queue_folder(results);

    io_remove_leftovers(folder, is_leftover);
    free(folder);
}

static enum err_code add(const char *results, const char *ini, const char *name,
                         struct record_queued *out, struct err *e)
{
    struct record_queued *list, item = {0};
    char room[65], *path;
    const char *clean;
    enum err_code code;
    struct stat st;
    size_t n;

    TRY(record_queue_scan(results, &list, &n, e));
    item.number = highest(list, n) + 1;
    record_queue_free(list, n);
    TRY(check_room(results, item.number, e));
    remove_leftovers(results);
    record_clean_name(name, room, sizeof room);
    clean = room + strspn(room, "-");
    clean = *clean ? clean : "run";
    item.name = mem_text(clean);
    item.file = mem_textf("%04lld-%s.ini", (long long)item.number, clean);
    item.text = mem_text(ini);
    item.n = strlen(ini);
    path = record_queue_path(results, &item);
    code = io_replace_own(path, ini, item.n, e);
    if (code == ERR_OK && io.stat(path, &st) == 0)
        item.id = record_queue_id(&st);
    if (code != ERR_OK)
        io.unlink(path); /* who is told that it failed may add it again */
    free(path);
    if (code == ERR_OK && out)
        *out = item;
    else
        record_queue_free_item(&item);
    return code;
}

enum err_code record_queue_add(const char *results, const char *ini, const char *name,
                               struct record_queued *out, struct err *e)
{
    enum err_code code;
    int fd;

    if (strlen(ini) > RECORD_QUEUE_TEXT)
        return err_set(e, ERR_INPUT, "an experiment of %zu bytes cannot wait, the limit is %d",
                       strlen(ini), RECORD_QUEUE_TEXT);
    code = begin_edit(results, &fd, e);
    if (code == ERR_OK) {
        code = add(results, ini, name, out, e);
        record_queue_unlock(fd);
    }
    if (code != ERR_OK)
        record_say_elsewhere(results, e);
    return code;
}

/* Where it stands now; somebody may have moved it since it was listed. */
static enum err_code find(const char *results, const struct record_queued *list, size_t n,
                          const struct record_queued *item, size_t *at, struct err *e)
{
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        bool exact = list[i].id == item->id && !strcmp(list[i].file, item->file);

        if (list[i].id == item->id && (!found || exact)) {
            *at = i;
            found = true;
        }
    }
    if (!found)
        return err_set(e, ERR_INPUT, "%s is not in the queue %s/queue any more", item->file,
                       results);
    return ERR_OK;
}

static enum err_code renumber(const char *results, struct record_queued *item, int64_t number,
                              struct err *e)
{
    struct record_queued moved = {.file = mem_textf("%04lld%s%s.ini", (long long)number,
                                                    item->name[0] ? "-" : "", item->name)};
    char *from = record_queue_path(results, item), *to = record_queue_path(results, &moved);
    enum err_code code = ERR_OK;

    if (io_exists(to)) /* renaming would remove it */
        code = err_set(e, ERR_FAILED, "%s is there already", to);
    else if (io.rename(from, to) < 0)
        code = err_errno(e, "cannot rename %s to %s", from, to);
    if (code == ERR_OK) {
        free(item->file);
        item->file = moved.file;
        item->number = number;
    } else {
        free(moved.file);
    }
    free(from);
    free(to);
    return code;
}

/* The numbers of a queue that programs alone have written: each once, none missing its own. */
static bool is_numbered(const struct record_queued *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].number < 1 || (i && list[i].number == list[i - 1].number))
            return false;
    return true;
}

/* item from place i to place j: it makes way first, then the others move up one after the other, each
 * to a number that has just become free. */
static enum err_code rotate(const char *results, struct record_queued *list, size_t n, size_t i,
                            size_t j, struct err *e)
{
    int64_t last = list[j].number, gap = list[i].number;

    TRY(renumber(results, &list[i], highest(list, n) + 1, e));
    while (i != j) {
        size_t next = i < j ? i + 1 : i - 1;
        int64_t number = list[next].number;
        struct record_queued held = list[i];

        TRY(renumber(results, &list[next], gap, e));
        gap = number;
        list[i] = list[next];
        list[next] = held;
        i = next;
    }
    return renumber(results, &list[j], last, e);
}

/* Numbers given by hand may be missing or there twice: all get new ones, behind the highest. */
static enum err_code number_anew(const char *results, struct record_queued *list, size_t n,
                                 size_t i, size_t j, struct err *e)
{
    int64_t number = highest(list, n) + 1;

    while (i != j) {
        size_t next = i < j ? i + 1 : i - 1;
        struct record_queued held = list[i];

        list[i] = list[next];
        list[next] = held;
        i = next;
    }
    for (size_t k = 0; k < n; k++)
        TRY(renumber(results, &list[k], number + (int64_t)k, e));
    return ERR_OK;
}

static enum err_code move(const char *results, const struct record_queued *item, int64_t by,
                          struct err *e)
{
    char *folder = record_queue_folder(results);
    struct record_queued *list = NULL;
    size_t n = 0, from = 0, to;
    enum err_code code = record_queue_scan(results, &list, &n, e);

    if (code == ERR_OK)
        code = find(results, list, n, item, &from, e);
    if (code == ERR_OK) {
        to = by < 0 ? (uint64_t) - (by + 1) + 1 > from ? 0 : (size_t)((int64_t)from + by)
                    : ((uint64_t)by > n - 1 - from ? n - 1 : from + (size_t)by);
        if (to != from)
            code = check_room(results, highest(list, n) + (int64_t)n, e);
        if (code == ERR_OK && to != from)
            code = is_numbered(list, n) ? rotate(results, list, n, from, to, e)
                                        : number_anew(results, list, n, from, to, e);
        if (code == ERR_OK && to != from)
            code = io_sync_folder(folder, e);
    }
    record_queue_free(list, n);
    free(folder);
    return code;
}

static enum err_code take_away(const char *results, const struct record_queued *item, bool reject,
                               struct err *e)
{
    struct record_queued *list = NULL;
    char *folder = record_queue_folder(results), *path, *to;
    size_t n = 0, at = 0;
    enum err_code code = record_queue_scan(results, &list, &n, e);

    if (code == ERR_OK)
        code = find(results, list, n, item, &at, e);
    if (code == ERR_OK) {
        path = record_queue_path(results, &list[at]);
        to = mem_textf("%s.bad", path);
        for (int again = 2; reject && again < 10000 && io_exists(to); again++) {
            free(to);
            to = mem_textf("%s.bad-%d", path, again);
        }
        if (reject && io.rename(path, to) < 0)
            code = err_errno(e, "cannot rename %s to %s", path, to);
        else if (!reject && io.unlink(path) < 0)
            code = err_errno(e, "cannot remove %s", path);
        else
            code = io_sync_folder(folder, e);
        free(to);
        free(path);
    }
    record_queue_free(list, n);
    free(folder);
    return code;
}

enum edit { EDIT_MOVE, EDIT_REMOVE, EDIT_REJECT };

/* A change to what stands in the queue; nothing is made where there is no queue. */
static enum err_code edit(const char *results, const struct record_queued *item, int64_t by,
                          enum edit what, struct err *e)
{
    char *folder = record_queue_folder(results);
    enum err_code code = ERR_OK;
    int fd = -1;

    if (!io_is_folder(folder))
        code = err_set(e, ERR_INPUT, "%s is not in the queue %s any more", item->file, folder);
    else
        code = begin_edit(results, &fd, e);
    if (code == ERR_OK) {
        code = what == EDIT_MOVE ? move(results, item, by, e)
                                 : take_away(results, item, what == EDIT_REJECT, e);
        record_queue_unlock(fd);
    }
    free(folder);
    return code;
}

enum err_code record_queue_move(const char *results, const struct record_queued *item, int64_t by,
                                struct err *e)
{
    return edit(results, item, by, EDIT_MOVE, e);
}

enum err_code record_queue_remove(const char *results, const struct record_queued *item,
                                  struct err *e)
{
    return edit(results, item, 0, EDIT_REMOVE, e);
}

enum err_code record_queue_reject(const char *results, const struct record_queued *item,
                                  struct err *e)
{
    return edit(results, item, 0, EDIT_REJECT, e);
}
