#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
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
