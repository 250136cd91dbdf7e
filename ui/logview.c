/* Screen 7: what the engine, the jobs and whatever libraries printed had to say, the newest at the
 * bottom; and log.txt of a run. */
#include "ui/app.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "study/compare.h"
#include "ui/runkeys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TAIL_BYTES (256 << 10) /* of log.txt */
#define LOOK_NS    1000000000u
#define SIDEWAYS   16

struct line {
    const char *text; /* the file's, or the app's until the next line comes */
    int level;        /* -1: a file's */
    double wall;
};

struct logview {
    struct app *app;
    bool follow; /* the newest line stays in sight */
    size_t
        below; /* lines between the last shown one and the newest, of those that fit the filter */
    size_t cursor;           /* counted from the last shown line upwards */
    int left, rows;          /* rows: as drawn last */
    char *filter;            /* NULL: none */
    size_t seen, known;      /* lines there were when it was last drawn, and when last collected */
    char *run;               /* its log.txt is shown; NULL: the program's own lines */
    char *file;              /* the file's end, lines ended by 0 */
    size_t file_n, at_start; /* at_start: bytes in front that are not shown */
    char *problem;
    bool looking;
    uint64_t looked_ns;
    struct line *line; /* those that fit, the oldest first */
    size_t lines, room;
};

/* ---- a run's file ---- */

struct tail {
    struct logview *view;
    char *run, *path, *bytes, *problem;
    size_t n, cut;
};

static void tail_work(void *arg)
{
    struct tail *t = arg;
    int fd = io.open(t->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    struct stat st;
    off_t from;
    ssize_t got;

    if (fd < 0 || io.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        t->problem = mem_textf("This run has no log.txt yet; its place is %s.", t->path);
    } else {
        from = st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
        t->bytes = mem_new(TAIL_BYTES + 1, 1);
        while (io.seek(fd, from + (off_t)t->n, SEEK_SET) >= 0 && t->n < TAIL_BYTES &&
               (got = io.read(fd, t->bytes + t->n, TAIL_BYTES - t->n)) > 0)
            t->n += (size_t)got;
        if (from) { /* the first line is torn */
            size_t torn = strcspn(t->bytes, "\n");

            t->cut = (size_t)from + torn;
            memmove(t->bytes, t->bytes + torn, t->n - torn + 1);
            t->n -= torn;
        }
    }
    if (fd >= 0)
        io.close(fd);
}

static void tail_done(void *arg, bool dropped)
{
    struct tail *t = arg;
    struct logview *v = t->view;

    if (!dropped) {
        v->looking = false;
        if (v->run && !strcmp(v->run, t->run)) {
            free(v->file);
            free(v->problem);
            v->file = t->bytes;
            v->file_n = t->n;
            v->at_start = t->cut;
            v->problem = t->problem;
            t->bytes = t->problem = NULL;
            v->app->dirty = true;
        }
    }
    free(t->bytes);
    free(t->problem);
    free(t->path);
    free(t->run);
    free(t);
}

static void look(struct logview *v)
{
    struct tail *t;

    if (!v->run || v->looking || !v->app->tasks)
        return;
    t = mem_new(1, sizeof *t);
    t->view = v;
    t->run = mem_text(v->run);
    t->path = mem_textf("%s/%s/log.txt", v->app->config.results, v->run);
    v->looking = true;
    v->looked_ns = app_ns(v->app);
    tasks_add(v->app->tasks, tail_work, tail_done, t);
}

static void leave_file(struct logview *v)
{
    free(v->run);
    free(v->file);
    free(v->problem);
    v->run = v->file = v->problem = NULL;
    v->file_n = 0;
    v->below = v->cursor = 0;
    v->follow = true;
}

/* The run that computes here, else the newest. */
static void show_file(struct logview *v)
{
    const struct feed_run *run = v->app->feed ? feed_current(v->app->feed) : NULL;
    const struct library_run *runs = NULL;
    const char *name = run && run->name[0] ? run->name : NULL;
    size_t n = 0;

    if (!name && v->app->library)
        runs = library_runs(v->app->library, &n);
    if (!name && n)
        name = runs[n - 1].name;
    if (!name) {
        app_say(v->app, GRID_DIM, "There is no run yet.");
        return;
    }
    name = mem_text(name);
    leave_file(v);
    v->run = (char *)name;
    look(v);
}

/* ---- the lines ---- */

static void add(struct logview *v, const char *text, int level, double wall)
{
    if (v->filter && !strcasestr(text, v->filter))
        return;
    v->line = mem_grow(v->line, &v->room, v->lines + 1, sizeof *v->line);
    v->line[v->lines++] = (struct line){text, level, wall};
}

static void add_file_lines(struct logview *v)
{
    char *at = v->file, *end = v->file + v->file_n;

    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));

        if (!stop)
            stop = end;
        *stop = 0; /* what was a newline before the first draw is a 0 at the next */
        if (*at)
            add(v, at, -1, 0);
        at += strlen(at) + 1;
    }
}

static void collect(struct logview *v)
{
    size_t n = app_log_lines(v->app), before = v->lines, known = v->known, old = 0;

    v->lines = 0;
    v->known = app_log_count(v->app);
    if (v->run && v->file) {
        add_file_lines(v);
        old = before;
    } else if (!v->run) {
        for (size_t i = n; i-- > 0;) {
            int level = LOG_INFO;
            double wall = 0;
            const char *text = app_log_line(v->app, i, &level, &wall);

            if (text)
                add(v, text, level, wall);
            if (v->known - i <= known)
                old = v->lines;
        }
    }
    if (v->follow)
        v->below = v->cursor = 0;
    else if (v->lines > old && before) /* what was in sight stays there */
        v->below += v->lines - old;
    if (v->lines && v->below >= v->lines)
        v->below = v->lines - 1;
}

/* ---- drawing ---- */

static const char *level_word(int level)
{
    return level == LOG_ERROR ? "error" : level == LOG_WARN ? "warning" : "";
}

static int level_role(int level)
{
    return level == LOG_ERROR   ? GRID_BAD
           : level == LOG_WARN  ? GRID_WARN
           : level == LOG_DEBUG ? GRID_DIM
                                : GRID_TEXT;
}

/* The text behind so many columns: people read long lines sideways. */
static void draw_text(struct grid *g, struct rect in, int row, int left, int role, const char *text)
{
    struct text clean = {0};
    const char *s;

    text_add_clean(&clean, text);
    s = text_str(&clean);
    for (int i = 0; i < left && *s; i++)
        for (s++; (*s & 0xc0) == 0x80; s++)
            ;
    if (left)
        grid_text(g, in, row, 0, GRID_DIM, "…");
    grid_cut(g, in, row, left ? 1 : 0, in.columns - (left ? 1 : 0), role, false, s);
    text_free(&clean);
}

static void draw_line(const struct logview *v, const struct line *line, bool chosen, struct grid *g,
                      struct rect in, int row)
{
    char utc[CLOCK_UTC_ROOM];
    int at = 0, role = level_role(line->level);

    if (line->level >= 0) {
        clock_utc(utc, line->wall);
        utc[19] = 0;
        grid_text(g, in, row, 0, GRID_DIM, utc + 11);
        grid_text(g, in, row, 10, role, level_word(line->level));
        at = 18;
    }
    draw_text(g, rect_behind(in, at), row, v->left, role, line->text);
    if (chosen)
        grid_paint(g, in, row, 0, in.columns, GRID_CHOSEN);
}

static void add_title(const struct logview *v, struct text *out)
{
    text_add(out, "log");
    if (v->run)
        text_addf(out, " of %s", study_short_name(v->run));
    if (v->filter)
        text_addf(out, ", lines with \"%s\"", v->filter);
}

static void draw(void *screen, struct grid *g, struct rect in)
{
    struct logview *v = screen;
    struct text title = {0};
    struct rect inner;
    char words[64];

    collect(v);
    add_title(v, &title);
    inner = grid_frame(g, in, text_str(&title), true);
    text_free(&title);
    snprintf(words, sizeof words, "%s%zu line%s", v->follow ? "follows, " : "", v->lines,
             v->lines == 1 ? "" : "s");
    grid_frame_right(g, in, GRID_DIM, words);
    if (inner.columns > 4)
        inner = rect_before(rect_behind(inner, 1), 1);
    v->rows = inner.rows;
    if (v->problem || !v->lines) {
        grid_words(g, inner, 0, GRID_DIM,
                   v->problem             ? v->problem
                   : v->filter            ? "No line holds these words."
                   : v->run && v->looking ? "Reading it..."
                   : v->run               ? "This log is empty."
                                          : "Nothing has been said yet. l shows the log of the "
                                            "run that goes on, or of the newest.");
        return;
    }
    if (v->cursor >= v->lines - v->below)
        v->cursor = v->lines - v->below - 1;
    if (inner.rows > 0 && v->cursor >= (size_t)inner.rows)
        v->cursor = (size_t)inner.rows - 1;
    for (int row = 0; row < inner.rows; row++) {
        size_t last = v->lines - v->below, up = (size_t)(inner.rows - 1 - row);
        /* few lines begin at the top */
        size_t i = last < (size_t)inner.rows ? (size_t)row : last - 1 - up;

        if (i < last)
            draw_line(v, &v->line[i], !v->follow && i == last - 1 - v->cursor, g, inner, row);
    }
    if ((size_t)inner.rows < v->lines)
        grid_scroll(g, rect_inner(in), (int)(v->lines - v->below) - inner.rows, inner.rows,
                    (int)v->lines);
}

/* ---- keys ---- */

static const struct screen_key keys[] = {
    {"Up Down", NULL, "the line above or below; Page keys, Home and End go further"},
    {"Left Right", NULL, "long lines sideways"},
    {"Enter", "whole", "the whole line"},
    {"/", "filter", "only lines that hold some words; empty shows all again"},
    {"f", "follow", "stays at the newest line, or leaves it"},
    {"l", "run's log", "log.txt of the run that goes on or is the newest, and back"},
    {"e r", NULL,
     "edits the experiment of the run that goes on or whose log is shown, runs it again"},
    {"p K R", NULL, "pauses, stops or goes on with that run, on Run"},
    {NULL, NULL, NULL},
};

/* By lines upwards (below 0: down); beyond the rows in sight it scrolls. */
static void move(struct logview *v, int64_t by)
{
    int64_t from_last = (int64_t)(v->below + v->cursor) + by, last = (int64_t)v->lines - 1;
    int64_t rows = v->rows > 0 ? v->rows : 1, below;

    v->follow = false;
    from_last = from_last > last ? last : from_last;
    from_last = from_last < 0 ? 0 : from_last;
    below = (int64_t)v->below;
    if (from_last < below)
        below = from_last;
    if (from_last >= below + rows)
        below = from_last - rows + 1;
    v->below = (size_t)below;
    v->cursor = (size_t)(from_last - below);
    if (from_last == 0 && by < 0)
        v->follow = true;
}

static void filter_entered(void *user, const char *text)
{
    struct logview *v = user;

    if (!text)
        return;
    free(v->filter);
    v->filter = *text ? mem_text(text) : NULL;
    v->below = v->cursor = 0;
    v->follow = true;
}

static void show_whole(struct logview *v)
{
    size_t i;

    collect(v); /* the strings are the app's, and lines may have come since they were drawn */
    i = v->lines - v->below - v->cursor - 1;
    if (v->lines && i < v->lines)
        app_page(v->app, "line", v->line[i].text);
}

static bool move_key(struct logview *v, int32_t code)
{
    switch (code) {
    case UI_UP:
    case 'k':
    case UI_WHEEL_UP:
        move(v, 1);
        return true;
    case UI_DOWN:
    case 'j':
    case UI_WHEEL_DOWN:
        move(v, -1);
        return true;
    case UI_PAGE_UP:
        move(v, v->rows);
        return true;
    case UI_PAGE_DOWN:
        move(v, -v->rows);
        return true;
    case UI_HOME:
        move(v, (int64_t)v->lines);
        return true;
    case UI_END:
        move(v, -(int64_t)v->lines);
        return true;
    case UI_LEFT:
    case 'h':
        v->left = v->left > SIDEWAYS ? v->left - SIDEWAYS : 0;
        return true;
    case UI_RIGHT:
        v->left += v->left < 4096 ? SIDEWAYS : 0;
        return true;
    default:
        return false;
    }
}

/* Of the run whose log is shown, else of the one that computes here. */
static void run_key(struct logview *v, int32_t code)
{
    const struct feed_run *now = v->app->feed ? feed_current(v->app->feed) : NULL;
    bool works = now && now->own && now->name[0] && !wire_state_ended(now->state);
    char *name = v->run ? mem_text(v->run) : works ? mem_text(now->name) : NULL;

    if (name)
        runkeys_do(v->app, name, code);
    else
        app_say(v->app, GRID_DIM,
                "No run goes on here: l shows the log of the newest, and %c "
                "means that run then.",
                (char)code);
    free(name);
}

static bool key(void *screen, const struct key *pressed)
{
    struct logview *v = screen;

    switch (pressed->code) {
    case UI_ENTER:
        show_whole(v);
        return true;
    case '/':
        app_prompt(v->app, "lines with", v->filter ? v->filter : "", filter_entered, NULL, v);
        return true;
    case 'f':
        v->follow = !v->follow;
        return true;
    case 'l':
        if (v->run)
            leave_file(v);
        else
            show_file(v);
        return true;
    case UI_ESC:
        if (v->filter)
            filter_entered(v, "");
        else if (v->run)
            leave_file(v);
        else
            return false;
        return true;
    default:
        if (!runkeys_is(pressed->code))
            return move_key(v, pressed->code);
        run_key(v, pressed->code);
        return true;
    }
}

/* ---- the screen ---- */

static void *open_screen(struct app *app)
{
    struct logview *v = mem_new(1, sizeof *v);

    v->app = app;
    v->follow = true;
    return v;
}

static void close_screen(void *screen)
{
    struct logview *v = screen;

    leave_file(v);
    free(v->filter);
    free(v->line);
    free(v);
}

static bool tick(void *screen)
{
    struct logview *v = screen;
    size_t n = app_log_count(v->app);
    bool changed = n != v->seen;

    v->seen = n;
    if (v->app->shown != SCREEN_LOG)
        return false;
    if (v->run && app_ns(v->app) - v->looked_ns >= LOOK_NS)
        look(v);
    return changed && !v->run;
}

static void command(void *screen, struct text *out)
{
    const struct logview *v = screen;

    text_add(out, "watch ");
    jobs_add_word(out, v->run ? v->run : "@");
}

const struct screen screen_log = {
    .name = "Log",
    .about = "What the engine, the verbs that run here and whatever libraries printed had to say, "
             "the newest at the bottom, times in UTC. A run's own log is the file log.txt in its "
             "folder.",
    .keys = keys,
    .open = open_screen,
    .close = close_screen,
    .draw = draw,
    .key = key,
    .tick = tick,
    .command = command,
};
