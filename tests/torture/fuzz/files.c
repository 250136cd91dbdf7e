/* Files in memory for the fuzz targets: the table io leads to them, so that parsers that take a path cost no disk. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES  16
#define OPEN   16
#define FIRST  5000 /* no number that a real file has */
#define FOLDER (-1)

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* Twice as fast as by default; with ASAN_OPTIONS=malloc_context_size=30 a case tells more. */
const char *__asan_default_options(void)
{
    return "handle_abort=1:allocator_may_return_null=1:quarantine_size_mb=2:malloc_context_size=4";
}

/* The callback of main.c hears of an abort alone. */
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static struct file {
    char *path, *bytes; /* path NULL: no file */
    size_t n;
} files[FILES];

static struct handle {
    bool open, append;
    int file;
    size_t at;
} handles[OPEN];

static int fail(int sys)
{
    errno = sys;
    return -1;
}

static int find(const char *path)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].path && !strcmp(files[i].path, path))
            return i;
    return -1;
}

static bool is_folder(const char *path)
{
    size_t n = strlen(path);

    for (int i = 0; i < FILES; i++)
        if (files[i].path && !strncmp(files[i].path, path, n) && files[i].path[n] == '/')
            return true;
    return !strcmp(path, "/") || !strcmp(path, ".");
}

static void drop(int i)
{
    free(files[i].path);
    free(files[i].bytes);
    files[i] = (struct file){0};
}

static int make(const char *path)
{
    for (int i = 0; i < FILES; i++) {
        if (files[i].path)
            continue;
        files[i].path = mem_text(path);
        return i;
    }
    return fail(ENOSPC);
}

static struct handle *handle_of(int fd)
{
    return fd >= FIRST && fd < FIRST + OPEN && handles[fd - FIRST].open ? &handles[fd - FIRST]
                                                                        : NULL;
}

static int do_open(const char *path, int flags, mode_t mode)
{
    int file = find(path);

    (void)mode;
    if (file < 0 && is_folder(path))
        file = FOLDER;
    else if (file >= 0 && flags & O_DIRECTORY)
        return fail(ENOTDIR);
    else if (file >= 0 && flags & O_EXCL)
        return fail(EEXIST);
    else if (file < 0 && !(flags & O_CREAT))
        return fail(ENOENT);
    else if (file < 0 && (file = make(path)) < 0)
        return -1;
    if (file >= 0 && flags & O_TRUNC)
        files[file].n = 0;
    for (int i = 0; i < OPEN; i++) {
        if (handles[i].open)
            continue;
        handles[i] = (struct handle){true, flags & O_APPEND, file, 0};
        return FIRST + i;
    }
    return fail(EMFILE);
}

static ssize_t do_read(int fd, void *to, size_t n)
{
    struct handle *h = handle_of(fd);
    const struct file *f = h && h->file >= 0 ? &files[h->file] : NULL;

    if (!f)
        return fail(h ? EISDIR : EBADF);
    if (h->at >= f->n)
        return 0;
    n = n < f->n - h->at ? n : f->n - h->at;
    memcpy(to, f->bytes + h->at, n);
    h->at += n;
    return (ssize_t)n;
}

static ssize_t do_write(int fd, const void *from, size_t n)
{
    struct handle *h = handle_of(fd);
    struct file *f = h && h->file >= 0 ? &files[h->file] : NULL;

    if (!f)
        return fail(EBADF);
    if (h->append)
        h->at = f->n;
    if (h->at + n > f->n) {
        f->bytes = realloc(f->bytes, h->at + n);
        memset(f->bytes + f->n, 0, h->at + n - f->n);
        f->n = h->at + n;
    }
    if (n)
        memcpy(f->bytes + h->at, from, n);
    h->at += n;
    return (ssize_t)n;
}

static off_t do_seek(int fd, off_t offset, int whence)
{
    struct handle *h = handle_of(fd);

    if (!h || h->file < 0 || offset < 0 || whence == SEEK_CUR)
        return fail(EINVAL);
    h->at = (size_t)offset + (whence == SEEK_END ? files[h->file].n : 0);
    return (off_t)h->at;
}

static int do_sync(int fd)
{
    return handle_of(fd) ? 0 : fail(EBADF);
}

static int do_truncate(int fd, off_t length)
{
    struct handle *h = handle_of(fd);

    if (!h || h->file < 0 || (size_t)length > files[h->file].n)
        return fail(EINVAL);
    files[h->file].n = (size_t)length;
    return 0;
}

static int do_close(int fd)
{
    struct handle *h = handle_of(fd);

    if (!h)
        return fail(EBADF);
    h->open = false;
    return 0;
}

static int do_rename(const char *from, const char *to)
{
    int file = find(from), old = find(to);

    if (file < 0)
        return fail(ENOENT);
    if (old >= 0 && old != file)
        drop(old);
    free(files[file].path);
    files[file].path = mem_text(to);
    return 0;
}

static int do_unlink(const char *path)
{
    int file = find(path);

    if (file < 0)
        return fail(ENOENT);
    drop(file);
    return 0;
}

static int do_mkdir(const char *path, mode_t mode)
{
    (void)mode;
    return is_folder(path) ? fail(EEXIST) : 0;
}

static int do_rmdir(const char *path)
{
    (void)path;
    return fail(EBUSY);
}

static int stat_file(int file, struct stat *st)
{
    *st = (struct stat){.st_mode = file == FOLDER ? S_IFDIR | 0755 : S_IFREG | 0644,
                        .st_ino = (ino_t)(file + 2),
                        .st_nlink = 1,
                        .st_size = file == FOLDER ? 0 : (off_t)files[file].n};
    return 0;
}

static int do_stat(const char *path, struct stat *st)
{
    int file = find(path);

    return file >= 0 || is_folder(path) ? stat_file(file, st) : fail(ENOENT);
}

static int do_fstat(int fd, struct stat *st)
{
    const struct handle *h = handle_of(fd);

    return h ? stat_file(h->file, st) : fail(EBADF);
}

static int do_lock(int fd, int operation)
{
    (void)operation;
    return handle_of(fd) ? 0 : fail(EBADF);
}

void fuzz_begin(void)
{
    io = (struct io_table){do_open,   do_read,   do_write, do_seek,  do_sync, do_truncate, do_close,
                           do_rename, do_unlink, do_mkdir, do_rmdir, do_stat, do_fstat,    do_lock};
    for (int i = 0; i < FILES; i++)
        drop(i);
    for (int i = 0; i < OPEN; i++)
        MUST(!handles[i].open); /* of the case before: it would be one file fewer each time */
}

void fuzz_put(const char *path, const void *bytes, size_t n)
{
    int file = find(path);

    if (file < 0)
        file = make(path);
    MUST(file >= 0);
    free(files[file].bytes);
    files[file].bytes = malloc(n);
    if (n)
        memcpy(files[file].bytes, bytes, n);
    files[file].n = n;
}

const char *fuzz_file(const char *path, size_t *n)
{
    int file = find(path);

    *n = file < 0 ? 0 : files[file].n;
    return file < 0 ? NULL : files[file].n ? files[file].bytes : "";
}

bool fuzz_next(struct fuzz_rest *rest, const uint8_t **bytes, size_t *n)
{
    static const char line[] = "====\n";
    const size_t length = sizeof line - 1;
    const uint8_t *end;

    if (!rest->bytes)
        return false;
    end = memmem(rest->bytes, rest->n, line, length);
    *bytes = rest->bytes;
    *n = end ? (size_t)(end - rest->bytes) : rest->n;
    rest->n -= end ? *n + length : *n;
    rest->bytes = end ? end + length : NULL;
    return true;
}

bool fuzz_put_next(struct fuzz_rest *rest, const char *path)
{
    const uint8_t *bytes;
    size_t n;
    bool is = fuzz_next(rest, &bytes, &n);

    if (is)
        fuzz_put(path, bytes, n);
    return is;
}

char *fuzz_string(const uint8_t *bytes, size_t n)
{
    return mem_text_n((const char *)bytes, n);
}

void fuzz_fail(const char *file, int line, const char *what, const char *more)
{
    fprintf(stderr, "%s:%d: not true: %s%s\n", file, line, what, more);
    abort();
}

void fuzz_compare(const char *file, int line, const char *what, const char *got, const char *want)
{
    if (!strcmp(got, want))
        return;
    fprintf(stderr, "want:\n%s\ngot:\n%s\n", want, got);
    fuzz_fail(file, line, what, " is another text");
}

bool fuzz_taken(enum err_code code, const struct err *e)
{
    if (code == ERR_OK)
        return true;
    MUST(e->code == code);
    if (!*e->text || strchr(e->text, '\n'))
        fuzz_fail(__FILE__, __LINE__, "an error is one line: ", e->text);
    return false;
}
