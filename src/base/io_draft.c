/* base/io_draft.c: a file that takes the place of another one when it is whole. */
#include "base/io.h"
#include "base/mem.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IO_TMP ".tmp-"

/* Where a name means what is open, not a place: a new file there would be lost. */
static bool names_open_file(const char *path)
{
    return !strncmp(path, "/proc/", 6) ||
           (!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) != 0);
}

enum err_code io_real_target(const char *path, char **target, struct err *e)
{
    char link[PATH_MAX], *at = mem_text(path);
    struct stat st;

    *target = NULL;
    /* by hand: realpath refuses a link to what is not there yet */
    for (int hops = 0; !names_open_file(at); hops++) {
        ssize_t n = readlink(at, link, sizeof link - 1);
        if (n < 0)
            break;
        link[n] = 0;
        char *folder = io_folder_of(at), *next = io_path(folder, link);
        free(folder);
        free(at);
        at = next;
        if (hops == 40) {
            free(at);
            return err_set(e, ERR_INPUT, "%s: links lead round in a circle", path);
        }
    }
    if (names_open_file(at) || (io.stat(at, &st) == 0 && !S_ISREG(st.st_mode))) {
        free(at);
        return err_set(e, ERR_INPUT, "%s is not a regular file: name a file to write", path);
    }
    *target = at;
    return ERR_OK;
}

enum err_code io_say_no_folder(const char *path, const char *target, struct err *e)
{
    char *folder = io_folder_of(target);

    if (e && e->sys == ENOENT && !io_exists(folder)) {
        err_set(e, ERR_IO,
                "cannot create %s: there is no folder %s; make it, or name another place", path,
                folder);
        e->sys = ENOENT;
    }
    free(folder);
    return e ? e->code : ERR_IO;
}

char *io_temporary(const char *path)
{
    char *mark = process_mark(), *temporary = mem_textf("%s" IO_TMP "%s", path, mark);

    free(mark);
    return temporary;
}

static enum err_code open_draft(struct io_draft *d, char *target, const char *path, struct err *e)
{
    enum err_code code;

    *d = (struct io_draft){.target = target, .path = mem_text(path)};
    d->temporary = io_temporary(target);
    d->fd = io.open(d->temporary,
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (d->fd >= 0)
        return ERR_OK;
    err_errno(e, "cannot create %s", path);
    code = io_say_no_folder(path, d->target, e);
    io_draft_drop(d);
    return code;
}

enum err_code io_draft_open(struct io_draft *d, const char *path, struct err *e)
{
    char *target;

    *d = (struct io_draft){.fd = -1};
    TRY(io_real_target(path, &target, e));
    io_remove_drafts(target);
    return open_draft(d, target, path, e);
}

enum err_code io_draft_add(struct io_draft *d, const void *bytes, size_t n, struct err *e)
{
    return io_write_all(d->fd, bytes, n, d->path, e);
}

void io_draft_drop(struct io_draft *d)
{
    if (d->fd >= 0)
        io.close(d->fd);
    if (d->temporary)
        io.unlink(d->temporary);
    free(d->target);
    free(d->path);
    free(d->temporary);
    *d = (struct io_draft){.fd = -1};
}

enum err_code io_draft_finish(struct io_draft *d, struct err *e)
{
    char *folder = io_folder_of(d->target);
    enum err_code code = ERR_OK;

    if (io.sync(d->fd))
        code = err_errno(e, "cannot sync %s", d->path);
    if (io.close(d->fd) && !code)
        code = err_errno(e, "cannot close %s", d->path);
    d->fd = -1;
    if (!code && io.rename(d->temporary, d->target))
        code = err_errno(e, "cannot rename %s to %s", d->temporary, d->target);
    if (!code) {
        free(d->temporary); /* it is no more */
        d->temporary = NULL;
        code = io_sync_folder(folder, e);
    }
    free(folder);
    io_draft_drop(d);
    return code;
}

static enum err_code write_draft(struct io_draft *d, const void *bytes, size_t n, struct err *e)
{
    enum err_code code = io_draft_add(d, bytes, n, e);

    if (code == ERR_OK)
        return io_draft_finish(d, e);
    io_draft_drop(d);
    return code;
}

enum err_code io_replace_file(const char *path, const void *bytes, size_t n, struct err *e)
{
    struct io_draft d;

    TRY(io_draft_open(&d, path, e));
    return write_draft(&d, bytes, n, e);
}

enum err_code io_replace_own(const char *path, const void *bytes, size_t n, struct err *e)
{
    struct io_draft d;

    TRY(open_draft(&d, mem_text(path), path, e));
    return write_draft(&d, bytes, n, e);
}

bool io_is_of_dead(const char *name)
{
    const char *mark = NULL;

    for (const char *at = name; (at = strstr(at, IO_TMP));)
        mark = at += strlen(IO_TMP);
    return mark && process_is_dead(mark);
}

void io_remove_leftovers(const char *folder, bool (*is_leftover)(const char *name))
{
    char **names;
    size_t n;

    if (io_list_folder(folder, &names, &n, NULL) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char *path = io_path(folder, names[i]);

        if (is_leftover(names[i]))
            io.unlink(path);
        free(path);
    }
    io_free_names(names, n);
}

void io_remove_drafts(const char *path)
{
    const char *last = io_last_part(path);
    char *folder = io_folder_of(path), **names;
    size_t n, length = strlen(last);

    if (io_list_folder(folder, &names, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n; i++) {
            char *draft = io_path(folder, names[i]);

            if (!strncmp(names[i], last, length) &&
                !strncmp(names[i] + length, IO_TMP, strlen(IO_TMP)) && io_is_of_dead(names[i]))
                io.unlink(draft);
            free(draft);
        }
        io_free_names(names, n);
    }
    free(folder);
}
