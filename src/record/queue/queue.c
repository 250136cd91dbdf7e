/* Listing the queue. Whoever changes it holds the lock of results/queue/.edit meanwhile, whoever takes
 * from it that of results/queue/.lock for as long as it wants. */
#include "record/queue/queue.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/queue/queue_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOOK_TRIES 20 /* of 5 ms: a listing goes ahead without the lock */

char *record_queue_folder(const char *results)
{
    return io_path(results, "queue");
}

char *record_queue_path(const char *results, const struct record_queued *item)
{
    char *folder = record_queue_folder(results), *path = io_path(folder, item->file);

    free(folder);
    return path;
}

void record_queue_free_item(struct record_queued *item)
{
    free(item->file);
    free(item->name);
    free(item->text);
    *item = (struct record_queued){0};
}

void record_queue_free(struct record_queued *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        record_queue_free_item(&list[i]);
    free(list);
}

bool record_queue_take_name(const char *file, struct record_queued *item)
{
    size_t n = text_stem(file, ".ini"), digits = strspn(file, "0123456789"), from = 0;

    if (file[0] == '.' || !file[n])
        return false;
    item->number = 0;
    if (digits && digits <= 9 && (file[digits] == '-' || digits == n)) {
        item->number = strtol(file, NULL, 10);
        from = digits + 1 < n ? digits + 1 : 0; /* of "3.ini" the number is the name, too */
    }
    item->file = mem_text(file);
    item->name = mem_text_n(file + from, n - from);
    return true;
}

/* Renaming changes neither of them, and nobody writes into a file that stands in the queue. */
uint64_t record_queue_id(const struct stat *st)
{
    uint64_t id = (uint64_t)st->st_ino * 0x9e3779b97f4a7c15u;

    id ^= (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
    return id ? id : 1;
}

static int by_turn(const void *a, const void *b)
{
    const struct record_queued *x = a, *y = b;

    if (!x->number != !y->number)
        return x->number ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->file, y->file);
}

/* What stands in the queue, not read. */
enum err_code record_queue_scan(const char *results, struct record_queued **out, size_t *count,
                                struct err *e)
{
    char *folder = record_queue_folder(results), **names = NULL;
    size_t n = 0, kept = 0;
    enum err_code code = io_list_if_there(folder, &names, &n, e);
    struct stat st;

    *out = NULL;
    if (code == ERR_OK)
        *out = mem_new(n + 1, sizeof **out);
    for (size_t i = 0; i < n && code == ERR_OK; i++) {
        struct record_queued item = {0};
        char *path = io_path(folder, names[i]);

        if (record_queue_take_name(names[i], &item)) {
            if (io.stat(path, &st) == 0) {
                item.id = record_queue_id(&st);
                (*out)[kept++] = item;
            } else {
                if (errno != ENOENT) /* else it was taken meanwhile */
                    code = err_errno(e, "cannot look at %s", path);
                record_queue_free_item(&item);
            }
        }
        free(path);
    }
    if (kept)
        qsort(*out, kept, sizeof **out, by_turn);
    if (code != ERR_OK) {
        record_queue_free(*out, kept);
        *out = NULL;
        kept = 0;
    }
    *count = kept;
    io_free_names(names, n);
    free(folder);
    return code;
}

enum err_code record_queue_open_lock(const char *results, const char *name, int *fd, struct err *e)
{
    char *folder = record_queue_folder(results), *path = io_path(folder, name);
    enum err_code code = io_make_folders(folder, e);

    *fd = -1;
    if (code == ERR_OK)
        code = io_open_own(path, O_RDWR | O_CREAT, fd, e);
    free(path);
    free(folder);
    return code;
}

void record_queue_unlock(int fd)
{
    if (fd < 0)
        return;
    io.lock(fd, LOCK_UN); /* a child may hold it open */
    io.close(fd);
}

/* So that no move is seen half done; -1 where that cannot be had. */
static int begin_look(const char *results)
{
    char *folder = record_queue_folder(results), *path = io_path(folder, ".edit");
    bool there;
    int fd;

    there = io_open_own(path, O_RDONLY, &fd, NULL) == ERR_OK;
    for (int tries = 0; there && tries < LOOK_TRIES && io.lock(fd, LOCK_SH | LOCK_NB) < 0; tries++)
        clock_sleep_ms(5);
    free(path);
    free(folder);
    return fd;
}

/* False: it is gone. Where it is broken *e says why. */
static bool read_item(const char *results, struct record_queued *item, struct err *e)
{
    char *path = record_queue_path(results, item);
    bool there = true;

    if (io_read_file(path, RECORD_QUEUE_TEXT, &item->text, &item->n, e) != ERR_OK) {
        there = e->sys != ENOENT;
        item->broken = true;
        snprintf(item->problem, sizeof item->problem, "%.511s", e->text);
    }
    free(path);
    return there;
}

/* The file itself may be as it should. */
static bool is_of_machine(const struct err *e)
{
    return e->sys == EIO || e->sys == ENOMEM || e->sys == EMFILE || e->sys == ENFILE;
}

enum err_code record_queue_list(const char *results, struct record_queued **out, size_t *count,
                                struct err *e)
{
    int fd = begin_look(results);
    enum err_code code = record_queue_scan(results, out, count, e);
    struct err why;
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        if (read_item(results, &(*out)[i], &why))
            (*out)[kept++] = (*out)[i];
        else
            record_queue_free_item(&(*out)[i]);
    }
    *count = kept;
    record_queue_unlock(fd);
    return code;
}

enum err_code record_queue_first(const char *results, struct record_queued *out, bool *found,
                                 size_t *count, struct err *e)
{
    struct record_queued *list;
    int fd = begin_look(results);
    enum err_code code = record_queue_scan(results, &list, count, e);
    struct err why;

    *found = false;
    for (size_t i = 0; i < *count && !*found && code == ERR_OK; i++) {
        *found = read_item(results, &list[i], &why);
        if (*found && list[i].broken && is_of_machine(&why)) {
            *found = false;
            code = why.code;
            if (e)
                *e = why;
        } else if (*found) {
            *out = list[i];
            list[i] = (struct record_queued){0};
        }
    }
    record_queue_free(list, *count);
    record_queue_unlock(fd);
    return code;
}
