/* live/feed_files.c: files that grow: fetched by another thread, never the same bytes twice, and taken
 * piece by piece by the main one, never for longer than a frame allows. */
#include "live/feed_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE      65536        /* is taken at a time */
#define MOST_BYTES (16 * PIECE) /* are fetched at a time */

const char *const feed_file_names[FEED_FILES] = {
    [FEED_FILE_EPOCHS] = "epochs.csv",   [FEED_FILE_MEMBERS] = "members.csv",
    [FEED_FILE_DEVICES] = "devices.csv", [FEED_FILE_STEPS] = "steps.csv",
    [FEED_FILE_LOG] = "log.txt",
};

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
    t->fields = i + 1;
}

/* Somebody has edited it, or a write was lost: its numbers stand under other names. */
static void leave_out(struct feed_tail *t, int fields)
{
    if (t->left_out++)
        return;
    t->out_line = t->lines;
    t->out_fields = fields;
}

static void add_first_left_out(const char *name, const struct feed_tail *t, struct text *out)
{
    const char *s = text_s(t->out_fields);

    if (t->left_out == 1)
        text_addf(out, "%s:%zu has %d field%s, the header %d: that row is left out", name,
                  t->out_line, t->out_fields, s, t->fields);
    else
        text_addf(out,
                  "%zu rows of %s are left out: the first, line %zu, has %d field%s, the header %d",
                  t->left_out, name, t->out_line, t->out_fields, s, t->fields);
}

size_t feed_add_left_out(const struct feed_run *run, struct text *out)
{
    size_t rows = 0;

    for (int i = 0; i < FEED_FILES; i++) {
        const struct feed_tail *t = &run->files->tail[i];

        if (t->left_out && rows)
            text_addf(out, "; so %s %zu of %s", t->left_out == 1 ? "is" : "are", t->left_out,
                      feed_file_names[i]);
        else if (t->left_out)
            add_first_left_out(feed_file_names[i], t, out);
        rows += t->left_out;
    }
    return rows;
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
    if (!t->fields) {
        find_columns(t, line, names);
        return;
    }
    for (const char *at = line;;) {
        size_t n = strcspn(at, ",");

        if (fields < (int)MEM_COUNT(field))
            field[fields] = feed_number(at, n);
        fields++;
        if (!at[n])
            break;
        at += n + 1;
    }
    if (fields != t->fields) {
        leave_out(t, fields);
        return;
    }
    for (int k = 0; k < FEED_COLUMNS && names[k]; k++)
        value[k] =
            t->column[k] >= 0 && t->column[k] < (int)MEM_COUNT(field) ? field[t->column[k]] : NAN;
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
        t->lines++;
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

/* new_bytes: at least one. What comes meanwhile is seen by the next look at the file: room for no more,
 * which is cleared several times a second beside the training. */
static void fetch_bytes(struct feed_fetch *x, int fd, off_t new_bytes)
{
    size_t room = new_bytes < MOST_BYTES ? (size_t)new_bytes : MOST_BYTES;
    ssize_t got = 1;

    x->bytes = mem_new(room, 1);
    if (io.seek(fd, x->from.at, SEEK_SET) < 0)
        return;
    while (x->n < room && (got = io.read(fd, x->bytes + x->n, room - x->n)) > 0)
        x->n += (size_t)got;
    x->more = x->n == MOST_BYTES;
}

void feed_fetch(struct feed_fetch *x)
{
    struct stat st;
    int fd;

    x->got = FEED_READ_NOTHING;
    if (!x->from.more && x->from.guards && io.stat(x->path, &st) == 0 && same_time(&st, &x->from))
        return;
    fd = io.open(x->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (io.fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        x->got = FEED_READ_LINES;
        if (st.st_size < x->from.at || !guard_holds(fd, &x->from)) {
            x->from = (struct feed_tail){0};
            x->got = FEED_READ_AGAIN;
        }
        x->from.seen = st.st_mtim;
        x->from.size = st.st_size;
        if (st.st_size > x->from.at)
            fetch_bytes(x, fd, st.st_size - x->from.at);
    }
    io.close(fd);
}

bool feed_take_piece(struct feed_run *run, struct feed_tail *t, struct feed_fetch *x,
                     const char *const *names, feed_line_fn *take)
{
    size_t n = x->n - x->taken < PIECE ? x->n - x->taken : PIECE;
    size_t taken = n ? take_lines(run, t, x->bytes + x->taken, n, names, take) : 0;

    if (!taken && n == PIECE)
        taken = PIECE; /* no line of ours is so long */
    if (taken) {
        keep_guard(t, x->bytes + x->taken, taken);
        t->at += (off_t)taken;
        x->taken += taken;
    }
    /* what is left without its end comes again with the next ones */
    x->over = n < PIECE;
    t->more = !x->over || x->more;
    return taken > 0;
}
