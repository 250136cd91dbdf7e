/* ui/feed_files.c: files that grow, read piece by piece: never the same bytes twice, never for longer
 * than a frame allows. */
#include "ui/feed_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE 65536

static bool same_time(const struct stat *st, const struct feed_tail *t)
{
    return st->st_mtim.tv_sec == t->seen.tv_sec && st->st_mtim.tv_nsec == t->seen.tv_nsec &&
           st->st_size == t->size;
}

double feed_number(const char *s, size_t n)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits = 0;
    int exponent = 0, kept = 0;
    bool minus = n && *s == '-', point = false, any = false;
    char copy[64];
    double value;
    size_t i = minus;

    for (; i < n && kept < 18; i++) {
        if (s[i] == '.' && !point) {
            point = true;
        } else if (s[i] >= '0' && s[i] <= '9') {
            digits = digits * 10 + (uint64_t)(s[i] - '0');
            any = true;
            kept += digits != 0;
            exponent -= point;
        } else {
            break;
        }
    }
    /* Both are exact, so that their quotient is the nearest double; all else is for the slow way. */
    if (i == n && any && digits < (1ull << 53) && exponent >= -22) {
        value = (double)digits / tens[-exponent];
        return minus ? -value : value;
    }
    if (!n || n >= sizeof copy)
        return NAN;
    memcpy(copy, s, n);
    copy[n] = 0;
    return text_to_double(copy, &value) ? value : NAN;
}

static void find_columns(struct feed_tail *t, const char *line, const char *const *names)
{
    int i = 0;

    for (int k = 0; k < FEED_COLUMNS; k++)
        t->column[k] = -1;
    for (const char *at = line;; i++) {
        size_t n = strcspn(at, ",");

        for (int k = 0; k < FEED_COLUMNS && names[k]; k++)
            if (strlen(names[k]) == n && !memcmp(at, names[k], n))
                t->column[k] = i;
        if (!at[n])
            break;
        at += n + 1;
    }
    t->headed = true;
}

static void take_line(struct feed_run *run, struct feed_tail *t, char *line,
                      const char *const *names, feed_line_fn *take)
{
    double field[64], value[FEED_COLUMNS];
    int fields = 0;

    if (!names) {
        take(run, NULL, line);
        return;
    }
    if (!t->headed) {
        find_columns(t, line, names);
        return;
    }
    for (const char *at = line; fields < (int)MEM_COUNT(field);) {
        size_t n = strcspn(at, ",");

        field[fields++] = feed_number(at, n);
        if (!at[n])
            break;
        at += n + 1;
    }
    for (int k = 0; k < FEED_COLUMNS && names[k]; k++)
        value[k] = t->column[k] >= 0 && t->column[k] < fields ? field[t->column[k]] : NAN;
    take(run, value, line);
}

/* Takes the whole lines of a piece; returns their bytes. */
static size_t take_lines(struct feed_run *run, struct feed_tail *t, char *piece, size_t n,
                         const char *const *names, feed_line_fn *take)
{
    size_t from = 0;

    while (from < n) {
        char *end = memchr(piece + from, '\n', n - from);

        if (!end)
            break;
        *end = 0;
        if (strlen(piece + from) == (size_t)(end - piece) - from) /* else zeros of a lost block */
            take_line(run, t, piece + from, names, take);
        *end = '\n';
        from = (size_t)(end - piece) + 1;
    }
    return from;
}

static bool guard_holds(int fd, const struct feed_tail *t)
{
    char bytes[FEED_GUARD];

    return !t->guards || (io.seek(fd, t->at - (off_t)t->guards, SEEK_SET) >= 0 &&
                          io.read(fd, bytes, t->guards) == (ssize_t)t->guards &&
                          !memcmp(bytes, t->guard, t->guards));
}

static void keep_guard(struct feed_tail *t, const char *piece, size_t taken)
{
    t->guards = taken < FEED_GUARD ? taken : FEED_GUARD;
    memcpy(t->guard, piece + taken - t->guards, t->guards);
}

static enum feed_read read_on(struct feed_run *run, struct feed_tail *t, int fd,
                              const char *const *names, feed_line_fn *take, uint64_t (*ns)(void),
                              uint64_t until)
{
    enum feed_read result = FEED_READ_NOTHING;
    char *piece = mem_new(PIECE, 1);

    t->more = true;
    while (io.seek(fd, t->at, SEEK_SET) >= 0) {
        ssize_t got = io.read(fd, piece, PIECE);
        size_t taken = got > 0 ? take_lines(run, t, piece, (size_t)got, names, take) : 0;

        if (!taken && got == PIECE)
            taken = PIECE; /* no line of ours is so long */
        if (taken) {
            keep_guard(t, piece, taken);
            t->at += (off_t)taken;
            result = FEED_READ_LINES;
        }
        if (got < PIECE) {
            t->more = false;
            break;
        }
        if (ns() >= until)
            break;
    }
    free(piece);
    return result;
}

enum feed_read feed_tail_read(struct feed_run *run, struct feed_tail *t, const char *name,
                              const char *const *names, feed_line_fn *take, uint64_t (*ns)(void),
                              uint64_t until)
{
    char path[1200];
    enum feed_read result = FEED_READ_NOTHING;
    struct stat st;
    int fd;

    if (snprintf(path, sizeof path, "%s/%s", run->path, name) >= (int)sizeof path)
        return result;
    if (!t->more && t->guards && io.stat(path, &st) == 0 && same_time(&st, t))
        return result;
    fd = io.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return result;
    if (io.fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        t->seen = st.st_mtim;
        t->size = st.st_size;
        if (st.st_size < t->at || !guard_holds(fd, t)) {
            *t = (struct feed_tail){0};
            result = FEED_READ_AGAIN;
        } else if (st.st_size > t->at) {
            result = read_on(run, t, fd, names, take, ns, until);
        } else {
            t->more = false;
        }
    }
    io.close(fd);
    return result;
}
