/* The files lie in CACHE/working/ and CACHE/taking/ and are named HOST-PID-SERIAL: homes are shared by
 * machines, locks not always. Five lines: the results folder, a run's, how many of them compute, what
 * that run was told ("go", "stop epoch"; behind "full " where it waits for room), and how the sweep stands that
 * is worked on, with its name at the end. */
#include "record/working.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/text.h"
#include "wire/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char working[] = "working", taking[] = "taking";

struct record_work {
    const char *part; /* of the cache */
    char *results;    /* absolute where it is there */
    char *path;       /* NULL: nowhere */
    int fd;           /* -1: nobody is shown */
    char *shown;      /* the run */
    int runs;         /* how many are shown */
    bool full;
    enum wire_wish wish;
    char *sweep; /* its line; NULL: none */
};

/* Its last part or two are made where they are missing: a home that is not there is nobody's home. */
static char *folder_of(const char *part, bool make)
{
    char *cache = io_cache_folder(), *folder, *above;

    if (!cache)
        return NULL;
    folder = io_path(cache, part);
    if (make && io.mkdir(folder, 0700) && errno == ENOENT) {
        above = io_folder_of(cache);
        if (io.mkdir(cache, 0700) && errno == ENOENT && io.mkdir(above, 0700) == 0)
            (void)io.mkdir(cache, 0700);
        (void)io.mkdir(folder, 0700);
        free(above);
    }
    free(cache);
    return folder;
}

/* One without its end is being written: NULL. */
static char *next_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = 0;
    *rest = end + 1;
    return line;
}

/* A number of one of its cells a word; the state and what is told of it are small numbers too. */
#define COUNTS 12
static void counts_of(struct wire_sweep_status *s, int64_t *count[COUNTS])
{
    int64_t *const all[COUNTS] = {&s->cells,     &s->waiting, &s->running, &s->paused,
                                  &s->elsewhere, &s->stopped, &s->done,    &s->diverged,
                                  &s->oom,       &s->failed,  &s->skipped, &s->left_out};

    memcpy(count, all, sizeof all);
}

static char *sweep_line(const struct wire_sweep_status *s)
{
    struct wire_sweep_status copy = *s;
    struct text t = {0};
    int64_t *count[COUNTS];

    counts_of(&copy, count);
    text_addf(&t, "sweep %d %d %d %d %d", (int)s->state, s->closing, (int)s->wish,
              wire_sweep_lacks_room(s), s->counting);
    for (int i = 0; i < COUNTS; i++)
        text_addf(&t, " %" PRId64, *count[i]);
    /* whole seconds: it is not written more often */
    text_addf(&t, " %" PRId64 " %s",
              isfinite(s->left_seconds) ? (int64_t)ceil(s->left_seconds) : -1, s->name);
    return t.s;
}

static bool take_int(char **at, int64_t most, int64_t *out)
{
    char *end = strchr(*at, ' ');

    if (!end)
        return false;
    *end = 0;
    if (!text_to_int(*at, out) || *out < -1 || *out > most)
        return false;
    *at = end + 1;
    return true;
}

/* One that is not whole is of no sweep. */
static void read_sweep(char *line, struct wire_sweep_status *out)
{
    struct wire_sweep_status s = {0};
    static const int64_t most[5] = {WIRE_SKIPPED, 1, WIRE_WISHES - 1, 1, 1};
    int64_t flag[5], *count[COUNTS], left;

    counts_of(&s, count);
    if (strncmp(line, "sweep ", 6) != 0)
        return;
    line += 6;
    for (int i = 0; i < 5; i++)
        if (!take_int(&line, most[i], &flag[i]) || flag[i] < 0)
            return;
    for (int i = 0; i < COUNTS; i++)
        if (!take_int(&line, INT64_MAX, count[i]) || *count[i] < 0)
            return;
    if (!take_int(&line, INT64_MAX, &left) || strlen(line) >= sizeof s.name)
        return;
    strcpy(s.name, line);
    s.state = (enum wire_state)flag[0];
    s.closing = flag[1];
    s.wish = (enum wire_wish)flag[2];
    s.full = flag[3];
    s.counting = flag[4];
    s.left_seconds = left < 0 ? NAN : (double)left;
    *out = s;
}

static void read_lines(int fd, struct record_working *w)
{
    char bytes[3 * 4096], *rest = bytes, *line;
    ssize_t got = io.read(fd, bytes, sizeof bytes - 1);
    int64_t runs;

    bytes[got > 0 ? got : 0] = 0;
    if ((line = next_line(&rest)))
        snprintf(w->results, sizeof w->results, "%.1023s", line);
    if (line && (line = next_line(&rest))) {
        snprintf(w->run, sizeof w->run, "%.1023s", line);
        w->runs = w->run[0] ? 1 : 0;
    }
    if (line && (line = next_line(&rest)) && w->run[0] && text_to_int(line, &runs) && runs >= 0 &&
        runs < INT_MAX)
        w->runs = (int)runs;
    if (line && (line = next_line(&rest))) {
        w->full = !strncmp(line, "full ", 5);
        (void)wire_wish_find(line + (w->full ? 5 : 0), &w->wish);
    }
    if (line && (line = next_line(&rest)))
        read_sweep(line, &w->sweep);
}

/* A file that nobody holds is removed. */
static bool look(const char *path, struct record_working *w)
{
    int fd = io.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    bool held;

    if (fd < 0)
        return false;
    held = io.lock(fd, LOCK_SH | LOCK_NB) < 0;
    if (held)
        read_lines(fd, w);
    else
        io.unlink(path);
    io.close(fd);
    return held;
}

static size_t list(const char *part, struct record_working **out)
{
    char *folder = folder_of(part, false), **names = NULL;
    size_t n = 0, count = 0, room = 0;

    *out = NULL;
    if (folder && io_exists(folder) && io_list_folder(folder, &names, &n, NULL) != ERR_OK)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        struct record_working w = {.pid = process_pid(names[i])};
        char *path = io_path(folder, names[i]);

        if (w.pid && w.pid != getpid() && look(path, &w)) {
            *out = mem_grow(*out, &room, count + 1, sizeof **out);
            (*out)[count++] = w;
        }
        free(path);
    }
    io_free_names(names, n);
    free(folder);
    return count;
}

size_t record_working_list(struct record_working **out)
{
    return list(working, out);
}

bool record_working_paused(const struct record_working *w)
{
    return w->run[0] && !w->runs;
}

bool record_working_full(const char *run, enum wire_wish *wish)
{
    struct record_working *all, is = {0};
    size_t n = record_working_list(&all);

    for (size_t i = 0; i < n; i++)
        if ((all[i].full || all[i].wish) && record_working_same(all[i].run, run))
            is = all[i];
    free(all);
    if (wish)
        *wish = is.wish;
    return is.full;
}

static int64_t at_work(const struct wire_sweep_status *s)
{
    return wire_sweep_lacks_room(s) ? 0 : 1 + wire_sweep_works(s) - wire_sweep_is_paused(s);
}

bool record_working_sweep(const char *results, const char *name, struct wire_sweep_status *out)
{
    struct record_working *all;
    size_t n = record_working_list(&all);
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        const struct wire_sweep_status *s = &all[i].sweep;

        if (!s->name[0] || strcmp(s->name, name) != 0 ||
            !record_working_same(all[i].results, results) || (any && at_work(s) <= at_work(out)))
            continue;
        *out = *s;
        any = true;
    }
    free(all);
    return any;
}

size_t record_computing_list(struct record_working **out)
{
    size_t n = list(working, out), kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!record_working_paused(&(*out)[i]))
            (*out)[kept++] = (*out)[i];
    return kept;
}

int64_t record_taking_pid(const char *results)
{
    struct record_working *taker;
    size_t n = list(taking, &taker);
    int64_t pid = 0;

    for (size_t i = 0; i < n && !pid; i++)
        if (record_working_same(taker[i].results, results))
            pid = taker[i].pid;
    free(taker);
    return pid;
}

static char *absolute(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : mem_text(path);
}

bool record_working_same(const char *results, const char *other)
{
    struct stat a, b;

    if (results[0] == '/' && !strcmp(results, other)) /* also where it is still to be made */
        return true;
    return io.stat(results, &a) == 0 && io.stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static struct record_work *new_in(const char *part, const char *results)
{
    static atomic_uint serial;
    struct record_work *w = mem_new(1, sizeof *w);
    char *folder = folder_of(part, false), *mark = process_mark(), *name;
    struct record_working *others;

    (void)list(part, &others); /* which removes what dead processes left */
    free(others);
    name = mem_textf("%s-%u", mark, atomic_fetch_add(&serial, 1));
    w->results = mem_text(results);
    w->path = folder ? io_path(folder, name) : NULL;
    w->part = part;
    w->fd = -1;
    free(name);
    free(mark);
    free(folder);
    return w;
}

struct record_work *record_work_new(const char *results)
{
    return new_in(working, results);
}

struct record_work *record_taking_new(const char *results)
{
    struct record_work *w = new_in(taking, results);

    record_work_set(w, "", 0);
    return w;
}

/* Whoever lists may take a file for a dead one's before it is locked, and remove it. */
static void hold(struct record_work *w)
{
    struct stat st;

    free(folder_of(w->part, true));
    for (int tries = 0; w->fd < 0 && tries < 20; tries++) {
        int fd = io.open(w->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

        if (fd < 0)
            return;
        if (io.lock(fd, LOCK_EX | LOCK_NB) == 0 && io.fstat(fd, &st) == 0 && st.st_nlink > 0) {
            w->fd = fd;
        } else {
            io.close(fd);
            clock_sleep_ms(1);
        }
    }
}

static void drop(struct record_work *w)
{
    if (w->fd >= 0) {
        io.unlink(w->path);
        io.lock(w->fd, LOCK_UN); /* a child may hold it open */
        io.close(w->fd);
    }
    w->fd = -1;
    free(w->shown);
    w->shown = NULL;
}

static void write_lines(struct record_work *w)
{
    char *results = absolute(w->results);
    char *folder = w->shown[0] ? absolute(w->shown) : mem_text("");
    char *text =
        mem_textf("%s\n%s\n%d\n%s%s\n%s\n", results, folder, w->runs, w->full ? "full " : "",
                  wire_wish_line(w->wish), w->sweep ? w->sweep : "");

    /* Cut behind the write: whoever reads meanwhile finds its lines. */
    if (w->fd >= 0 && io.seek(w->fd, 0, SEEK_SET) == 0 &&
        io.write(w->fd, text, strlen(text)) == (ssize_t)strlen(text))
        (void)!io.truncate(w->fd, (off_t)strlen(text));
    free(text);
    free(folder);
    free(results);
}

void record_work_set_wish(struct record_work *w, bool full, enum wire_wish wish)
{
    if (full == w->full && wish == w->wish)
        return;
    w->full = full;
    w->wish = wish;
    if (w->shown)
        write_lines(w);
}

void record_work_set_sweep(struct record_work *w, const struct wire_sweep_status *s)
{
    char *line = s && w->path ? sweep_line(s) : NULL;

    if (line && w->sweep ? !strcmp(line, w->sweep) : !line && !w->sweep) {
        free(line);
        return;
    }
    free(w->sweep);
    w->sweep = line;
    if (w->shown)
        write_lines(w);
}

void record_work_set(struct record_work *w, const char *run, int runs)
{
    if (!w->path || (run ? w->shown && !strcmp(w->shown, run) && w->runs == runs : !w->shown))
        return;
    if (!run) {
        drop(w);
        return;
    }
    if (w->fd < 0)
        hold(w);
    free(w->shown);
    w->shown = mem_text(run);
    w->runs = runs;
    write_lines(w);
}

bool record_work_claim(struct record_work *w)
{
    struct record_working *others = NULL;
    char *folder, *path;
    bool free_for_it = false;
    int fd;

    if (!w->path) /* nobody is seen, nor waited for */
        return true;
    folder = folder_of(w->part, true);
    path = io_path(folder, ".claim");
    fd = io.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 || io.lock(fd, LOCK_EX | LOCK_NB) == 0) {
        free_for_it = record_computing_list(&others) == 0;
        if (free_for_it)
            record_work_set(w, "", 0);
        free_for_it = free_for_it && (fd < 0 || w->fd >= 0);
    }
    if (fd >= 0) {
        io.lock(fd, LOCK_UN); /* a child may hold it open */
        io.close(fd);
    }
    free(others);
    free(path);
    free(folder);
    return free_for_it;
}

void record_work_free(struct record_work *w)
{
    if (w)
        drop(w);
    if (w) {
        free(w->results);
        free(w->path);
        free(w->sweep);
    }
    free(w);
}
