/* Each call of the table io, with its result, and why it failed. */
#include "base/io.h"
#include "base/system/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

static struct io_table real;

static const char *why(long result)
{
    return result < 0 ? strerrordesc_np(errno) : "done";
}

#define TOLD(level, result, fmt, ...)                                                              \
    TRACE(IO, level, fmt ": %ld, %s", __VA_ARGS__, (long)(result), why((long)(result)))

static int told_open(const char *path, int flags, mode_t mode)
{
    int fd = real.open(path, flags, mode);

    TOLD((flags & O_ACCMODE) == O_RDONLY ? 2 : 1, fd, "open %s%s", path,
         flags & O_CREAT ? " (made where it is not there)" : "");
    return fd;
}

static ssize_t told_read(int fd, void *to, size_t n)
{
    ssize_t got = real.read(fd, to, n);

    TOLD(2, got, "read %d of %zu", fd, n);
    return got;
}

static ssize_t told_write(int fd, const void *from, size_t n)
{
    ssize_t put = real.write(fd, from, n);

    TOLD(1, put, "write %d of %zu", fd, n);
    return put;
}

static off_t told_seek(int fd, off_t offset, int whence)
{
    off_t at = real.seek(fd, offset, whence);

    TOLD(2, at, "seek %d to %lld", fd, (long long)offset);
    return at;
}

static int told_sync(int fd)
{
    int result = real.sync(fd);

    TOLD(1, result, "sync %d", fd);
    return result;
}

static int told_truncate(int fd, off_t length)
{
    int result = real.truncate(fd, length);

    TOLD(1, result, "truncate %d to %lld", fd, (long long)length);
    return result;
}

static int told_close(int fd)
{
    int result = real.close(fd);

    TOLD(2, result, "close %d", fd);
    return result;
}

static int told_rename(const char *from, const char *to)
{
    int result = real.rename(from, to);

    TOLD(1, result, "rename %s to %s", from, to);
    return result;
}

static int told_unlink(const char *path)
{
    int result = real.unlink(path);

    TOLD(1, result, "unlink %s", path);
    return result;
}

static int told_mkdir(const char *path, mode_t mode)
{
    int result = real.mkdir(path, mode);

    TOLD(1, result, "mkdir %s", path);
    return result;
}

static int told_rmdir(const char *path)
{
    int result = real.rmdir(path);

    TOLD(1, result, "rmdir %s", path);
    return result;
}

static int told_stat(const char *path, struct stat *st)
{
    int result = real.stat(path, st);

    TOLD(2, result, "stat %s", path);
    return result;
}

static int told_lock(int fd, int operation)
{
    int result = real.lock(fd, operation);

    TOLD(1, result, "%s %d", operation & LOCK_UN ? "unlock" : "lock", fd);
    return result;
}

void trace_io(void)
{
    if (!trace_level[TRACE_IO])
        return;
    real = io;
    io = (struct io_table){.open = told_open,
                           .read = told_read,
                           .write = told_write,
                           .seek = told_seek,
                           .sync = told_sync,
                           .truncate = told_truncate,
                           .close = told_close,
                           .rename = told_rename,
                           .unlink = told_unlink,
                           .mkdir = told_mkdir,
                           .rmdir = told_rmdir,
                           .stat = told_stat,
                           .fstat = real.fstat,
                           .lock = told_lock};
}
