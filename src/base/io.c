#include "base/io.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

static int io_real_open(const char *path, int flags, mode_t mode)
{
    return TEMP_FAILURE_RETRY(open(path, flags, mode));
}

static ssize_t io_real_read(int fd, void *to, size_t n)
{
    return TEMP_FAILURE_RETRY(read(fd, to, n));
}

static ssize_t io_real_write(int fd, const void *from, size_t n)
{
    return TEMP_FAILURE_RETRY(write(fd, from, n));
}

static int io_real_sync(int fd)
{
    return TEMP_FAILURE_RETRY(fdatasync(fd));
}

static int io_real_truncate(int fd, off_t length)
{
    return TEMP_FAILURE_RETRY(ftruncate(fd, length));
}

/* An interrupted one has closed it. */
static int io_real_close(int fd)
{
    return close(fd) < 0 && errno != EINTR ? -1 : 0;
}

static int io_real_stat(const char *path, struct stat *st)
{
    return stat(path, st);
}

static int io_real_fstat(int fd, struct stat *st)
{
    return fstat(fd, st);
}

struct io_table io = {
    .open = io_real_open,
    .read = io_real_read,
    .write = io_real_write,
    .seek = lseek,
    .sync = io_real_sync,
    .truncate = io_real_truncate,
    .close = io_real_close,
    .rename = rename,
    .unlink = unlink,
    .mkdir = mkdir,
    .rmdir = rmdir,
    .stat = io_real_stat,
    .fstat = io_real_fstat,
    .lock = flock,
};

#define IO_TMP ".tmp-"

/* Reads until n bytes or the end of the file. Returns how many, -1 on an error. */
static ssize_t io_read_some(int fd, char *to, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = io.read(fd, to + got, n - got);
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

static enum err_code io_read_open_file(int fd, const char *path, size_t limit, char **bytes,
                                       size_t *n, struct err *e)
{
    struct stat st;
    char *held = NULL;
    size_t have = 0, room = 0;

    if (io.fstat(fd, &st))
        return err_errno(e, "cannot look at %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_INPUT, "%s is %s", path,
                       S_ISDIR(st.st_mode) ? "a folder, not a file"
                                           : "a device or a pipe, not a file");
    if (st.st_size > 0 && (uint64_t)st.st_size > limit)
        return err_set(e, ERR_INPUT, "%s has %lld bytes; at most %zu are read", path,
                       (long long)st.st_size, limit);
    for (;;) { /* a file may grow while it is read; its size is only a first guess */
        size_t want = have ? have : (size_t)st.st_size;
        if (want > limit - have)
            want = limit - have;
        want += 1; /* one more than allowed shows that there is more */
        held = mem_grow(held, &room, have + want + 1, 1);
        ssize_t got = io_read_some(fd, held + have, want);
        if (got < 0) {
            enum err_code code = err_errno(e, "cannot read %s", path);
            free(held);
            return code;
        }
        have += (size_t)got;
        if (have > limit) {
            free(held);
            return err_set(e, ERR_INPUT, "%s has more than %zu bytes; no more are read", path,
                           limit);
        }
        if ((size_t)got < want)
            break;
    }
    held[have] = 0;
    *bytes = held;
    *n = have;
    return ERR_OK;
}

enum err_code io_read_file(const char *path, size_t limit, char **bytes, size_t *n, struct err *e)
{
    *bytes = NULL;
    *n = 0;
    /* a FIFO opened for reading would wait for a writer */
    int fd = io.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0) {
        enum err_code code = err_errno(e, "cannot open %s", path);
        if (e && (e->sys == ENOENT || e->sys == ENOTDIR))
            code = e->code = ERR_INPUT;
        return code;
    }
    enum err_code code = io_read_open_file(fd, path, limit, bytes, n, e);
    io.close(fd);
    return code;
}

/* As err_set, with the errno that belongs to it. */
static enum err_code refuse(const char *path, const char *why, int sys, struct err *e)
{
    err_set(e, ERR_IO, "%s is %s", path, why);
    if (e)
        e->sys = sys;
    return ERR_IO;
}

static enum err_code check_regular(int fd, const char *path, struct err *e)
{
    struct stat st;

    if (io.fstat(fd, &st))
        return err_errno(e, "cannot look at %s", path);
    return S_ISREG(st.st_mode) ? ERR_OK : refuse(path, "not a regular file", EINVAL, e);
}

enum err_code io_open_own(const char *path, int flags, int *fd, struct err *e)
{
    enum err_code code;

    *fd = io.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (*fd < 0 && errno == ELOOP)
        return refuse(path, "a link: chorus follows no link to a file of its results", ELOOP, e);
    if (*fd < 0 && errno == ENXIO) /* a pipe, to write */
        return refuse(path, "not a regular file", EINVAL, e);
    if (*fd < 0)
        return err_errno(e, "cannot open %s", path);
    code = check_regular(*fd, path, e);
    if (code != ERR_OK) {
        io.close(*fd);
        *fd = -1;
    }
    return code;
}

size_t io_write_most(int fd, const void *bytes, size_t n)
{
    const char *from = bytes;
    size_t done = 0;

    while (done < n) {
        ssize_t wrote = io.write(fd, from + done, n - done);
        if (wrote < 0)
            break;
        done += (size_t)wrote;
    }
    return done;
}

enum err_code io_write_all(int fd, const void *bytes, size_t n, const char *path, struct err *e)
{
    return io_write_most(fd, bytes, n) == n ? ERR_OK : err_errno(e, "cannot write %s", path);
}

enum err_code io_sync_folder(const char *path, struct err *e)
{
    int fd = io.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

    if (fd < 0)
        return err_errno(e, "cannot open folder %s", path);
    enum err_code code = ERR_OK;
    /* some file systems cannot sync a folder and say so; that is no failure of ours */
    if (io.sync(fd) && errno != EINVAL)
        code = err_errno(e, "cannot sync folder %s", path);
    io.close(fd);
    return code;
}

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

/* What is written in a new folder is lost with its name where power is lost. */
static enum err_code sync_name(const char *path, struct err *e)
{
    char *folder = io_folder_of(path);
    enum err_code code = io_sync_folder(folder, e);

    free(folder);
    return code;
}

enum err_code io_make_folders(const char *path, struct err *e)
{
    char *part = mem_text(path);
    enum err_code code = ERR_OK;
    struct stat st;

    for (char *p = part + 1; !code; p++) {
        char held = *p;
        if (held && held != '/')
            continue;
        *p = 0;
        if (io.mkdir(part, 0777) == 0)
            code = sync_name(part, e);
        else if (errno != EEXIST)
            code = err_errno(e, "cannot make folder %s", part);
        else if (!held && io.stat(part, &st) < 0)
            code = err_errno(e, "cannot look at %s", part);
        else if (!held && !S_ISDIR(st.st_mode))
            code = err_set(e, ERR_IO, "cannot make folder %s: a file of that name is there", part);
        *p = held;
        if (!held)
            break;
    }
    free(part);
    return code;
}

/* What is not known to lie on this machine's own disks is read. */
static bool io_is_local(int fd)
{
    static const unsigned long local[] = {
        EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC,      BTRFS_SUPER_MAGIC,
        F2FS_SUPER_MAGIC,      TMPFS_MAGIC,          RAMFS_MAGIC,
        OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* zfs */, 0xca451a4e /* bcachefs */,
    };
    struct statfs fs;

    if (fstatfs(fd, &fs))
        return false;
    for (size_t i = 0; i < MEM_COUNT(local); i++)
        if ((unsigned long)fs.f_type == local[i])
            return true;
    return false;
}

void *io_map(int fd, size_t n, bool *mapped)
{
    void *at;

    *mapped = false;
    if (n == 0)
        return NULL;
    if (io_is_local(fd)) {
        at = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        *mapped = at != MAP_FAILED;
        if (*mapped)
            return at;
    }
    at = malloc(n);
    if (at && (io.seek(fd, 0, SEEK_SET) != 0 || io_read_some(fd, at, n) != (ssize_t)n)) {
        free(at);
        return NULL;
    }
    return at;
}

bool io_map_own(void *at, size_t n, bool mapped)
{
    return !mapped || mprotect(at, n, PROT_READ | PROT_WRITE) == 0;
}

void io_unmap(void *at, size_t n, bool mapped)
{
    if (mapped)
        munmap(at, n);
    else
        free(at);
}

bool io_exists(const char *path)
{
    struct stat st;

    return io.stat(path, &st) == 0 || errno == EIO || errno == ENOMEM;
}

bool io_has_content(const char *path)
{
    struct stat st;

    if (io.stat(path, &st) != 0)
        return errno == EIO || errno == ENOMEM;
    return S_ISREG(st.st_mode) && st.st_size > 0;
}

bool io_is_folder(const char *path)
{
    struct stat st;
    return io.stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int io_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum err_code io_list_folder(const char *path, char ***names, size_t *count, struct err *e)
{
    size_t room = 0, n = 0;
    char **list = NULL;
    struct dirent *entry;
    DIR *folder = opendir(path);

    *names = NULL;
    *count = 0;
    if (!folder)
        return err_errno(e, "cannot open folder %s", path);
    while (errno = 0, (entry = readdir(folder))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        list = mem_grow(list, &room, n + 1, sizeof *list);
        list[n++] = mem_text(entry->d_name);
    }
    if (errno) {
        enum err_code code = err_errno(e, "cannot read folder %s", path);
        closedir(folder);
        io_free_names(list, n);
        return code;
    }
    closedir(folder);
    if (n)
        qsort(list, n, sizeof *list, io_compare_names);
    *names = list;
    *count = n;
    return ERR_OK;
}

enum err_code io_list_if_there(const char *path, char ***names, size_t *count, struct err *e)
{
    struct err why = {0};
    enum err_code code = io_list_folder(path, names, count, &why);

    if (code != ERR_OK && why.sys == ENOENT)
        return ERR_OK;
    if (code != ERR_OK && e)
        *e = why;
    return code;
}

void io_free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
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

char *io_path(const char *folder, const char *name)
{
    if (*name == '/' || !*folder)
        return mem_text(name);
    return mem_textf("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
}

char *io_home_path(const char *path)
{
    const char *home = getenv("HOME");

    return home && *home && path[0] == '~' && path[1] == '/' ? mem_textf("%s%s", home, path + 1)
                                                             : mem_text(path);
}

const char *io_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *io_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_text(".");
    return mem_text_n(path, slash == path ? 1 : (size_t)(slash - path));
}

char *io_cache_folder(void)
{
    const char *own = getenv("CHORUS_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (own && own[0])
        return strcmp(own, "off") ? mem_text(own) : NULL;
    if (xdg && xdg[0] == '/')
        return mem_textf("%s/chorus", xdg);
    if (home && home[0] == '/')
        return mem_textf("%s/.cache/chorus", home);
    return NULL;
}
