/* Screen 7: what the engine, the jobs and whatever libraries printed had to say, the newest at the
 * bottom; and log.txt of a run. */
#include "ui/app.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "study/compare.h"
#include "ui/runkeys.h"
#include "draw/words.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TAIL_BYTES (256 << 10) /* of log.txt */
#define LOOK_NS    1000000000u
#define SIDEWAYS   16
#define FROM       16 /* columns of who says it, at most */

struct line {
    const char *from, *text; /* the file's, or the app's until the next line comes */
    int level;               /* -1: a file's */
    double wall;
};

struct logview {
    struct app *app;
    bool follow; /* the newest line stays in sight */
    size_t
        below; /* lines between the last shown one and the newest, of those that fit the filter */
    size_t cursor;      /* counted from the last shown line upwards */
    int left, rows;     /* rows: as drawn last */
    char *filter;       /* NULL: none */
    char *only;         /* of the program's own lines those of this run, verb, ...; NULL: all */
    size_t seen, known; /* lines there were when it was last drawn, and when last collected */
    char *run;          /* its log.txt is shown; NULL: the program's own lines */
    char *file;         /* the file's end, lines ended by 0 */
    size_t file_n, at_start; /* at_start: bytes in front that are not shown */
    char *problem;
    bool looking;
    uint64_t looked_ns;
    struct line *line; /* those that fit, the oldest first */
    size_t lines, room;
    int from; /* columns that the longest takes which says from whom it is; 0: none does */
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

static void look(struct logview *v);

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
        } else {
            look(v); /* another was chosen meanwhile */
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
    v->file_n = v->at_start = 0;
    v->below = v->cursor = 0;
    v->follow = true;
}

static const struct line *chosen_line(struct logview *v);

/* The run of the chosen line, else the one that computes here, else the newest. */
static void show_file(struct logview *v)
{
    const struct feed_run *run = v->app->feed ? feed_current(v->app->feed) : NULL;
    const struct line *line = v->follow && !v->only ? NULL : chosen_line(v);
    const struct library_run *runs = NULL;
    const char *name = run && run->name[0] ? run->name : NULL;
    size_t n = 0;

    if (line && v->app->library && library_find(v->app->library, line->from))
        name = line->from;
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

static void add(struct logview *v, struct line line)
{
    if (v->filter && !strcasestr(line.text, v->filter) && !strcasestr(line.from, v->filter))
        return;
    v->line = mem_grow(v->line, &v->room, v->lines + 1, sizeof *v->line);
    v->line[v->lines++] = line;
    if (*line.from && v->from < FROM) {
        int width = text_width(study_short_name(line.from));

        v->from = width > FROM ? FROM : width > v->from ? width : v->from;
    }
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
            add(v, (struct line){"", at, -1, 0});
        at += strlen(at) + 1;
    }
}

static void collect(struct logview *v)
{
    size_t n = app_log_lines(v->app), before = v->lines, known = v->known, old = 0;

    v->lines = 0;
    v->from = 0;
    v->known = app_log_count(v->app);
    if (v->run && v->file) {
        add_file_lines(v);
        old = before;
    } else if (!v->run) {
        for (size_t i = n; i-- > 0;) {
            const struct app_line *line = app_log_line(v->app, i);

            if (!v->only || !strcmp(line->from, v->only))
                add(v, (struct line){line->from, line->text, line->level, line->wall});
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

static int level_role(int level)
{
    return level == LOG_ERROR ? GRID_BAD : level == LOG_WARN ? GRID_WARN : GRID_TEXT;
}

/* The text behind so many columns: people read long lines sideways. Where the filter's words stand is
 * seen. */
static void draw_text(const struct logview *v, struct grid *g, struct rect in, int row, int role,
                      const char *text)
{
    struct text clean = {0};
    const char *s, *found;
    size_t at = 0;

    text_add_clean(&clean, text);
    s = text_str(&clean);
    for (int i = 0; i < v->left; i++)
        at = words_behind(s, at);
    s += at;
    in = rect_behind(in, grid_text(g, in, row, 0, GRID_DIM, v->left ? "…" : ""));
    grid_cut(g, in, row, 0, in.columns, role, false, s);
    found = v->filter ? strcasestr(s, v->filter) : NULL;
    if (found) {
        char *before = mem_text_n(s, (size_t)(found - s));

        grid_paint(g, in, row, text_width(before), text_width(v->filter), GRID_MARKED);
        free(before);
    }
    text_free(&clean);
}

/* "2026-11-20T10:00:00.000Z words": the words, behind the time of day; 0: there is no time. */
static size_t file_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z ";

    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : form[i] != text[i])
            return 0;
    return sizeof form - 1;
}

static void draw_line(const struct logview *v, const struct line *line, bool chosen, struct grid *g,
                      struct rect in, int row)
{
    int at = 0, role = level_role(line->level);
    size_t behind = line->level < 0 ? file_time(line->text) : 0;
    char utc[CLOCK_UTC_ROOM];
    struct text words = {0};

    if (line->level >= 0)
        clock_utc(utc, line->wall);
    else if (behind)
        snprintf(utc, sizeof utc, "%.24s", line->text);
    if (line->level >= 0 || behind) {
        utc[19] = 0;
        at = grid_text(g, in, row, 0, GRID_DIM, utc + 11) + 1;
    }
    if (v->from && !v->only) {
        struct text from = {0};

        words_add_cut(&from, study_short_name(line->from), v->from, g->ascii);
        grid_text(g, in, row, at, GRID_HEAD, text_str(&from));
        at += v->from + 1;
        text_free(&from);
    }
    text_addf(&words, "%s%s",
              line->level == LOG_ERROR  ? "error: "
              : line->level == LOG_WARN ? "warning: "
                                        : "",
              line->text + behind);
    draw_text(v, g, rect_behind(in, at), row, role, text_str(&words));
    if (chosen)
        grid_paint(g, in, row, 0, in.columns, GRID_CHOSEN);
    text_free(&words);
}

static void add_title(const struct logview *v, struct text *out)
{
    text_add(out, "log");
    if (v->run || v->only)
        text_addf(out, " of %s", study_short_name(v->run ? v->run : v->only));
    if (v->filter)
        text_addf(out, ", lines with \"%s\"", v->filter);
}

static void draw(void *screen, struct grid *g, struct rect in)
{
    struct logview *v = screen;
    struct text title = {0};
    struct rect inner;
    char words[96];

    collect(v);
    add_title(v, &title);
    inner = grid_frame(g, in, text_str(&title), true);
    text_free(&title);
    snprintf(words, sizeof words, "%s%s%zu line%s", v->follow ? "follows, " : "",
             !v->run && app_log_count(v->app) > app_log_lines(v->app) ? "of the newest, "
             : v->run && v->at_start                                  ? "of its end, "
                                                                      : "",
             v->lines, v->lines == 1 ? "" : "s");
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
                                          : "Nothing has been said yet. L shows the log of the "
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
    {"L", "run's log",
     "log.txt of the chosen line's run, or of the one that goes on or is the newest, and back"},
    {"o", "only", "only what the same run, sweep or verb says as the chosen line's; again: all"},
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

/* NULL: there is none. The strings are the app's, and lines may have come since they were drawn. */
static const struct line *chosen_line(struct logview *v)
{
    size_t i;

    collect(v);
    i = v->lines - v->below - v->cursor - 1;
    return v->lines && i < v->lines ? &v->line[i] : NULL;
}

static void show_whole(struct logview *v)
{
    const struct line *line = chosen_line(v);
    struct text words = {0};

    if (!line)
        return;
    text_addf(&words, "%s%s%s", line->from, *line->from ? "\n\n" : "", line->text);
    app_page(v->app, "line", text_str(&words));
    text_free(&words);
}

/* While the newest line is followed nobody chose that: the newest that says from whom it is. */
static void narrow(struct logview *v)
{
    const struct line *line = chosen_line(v);
    size_t i = v->lines;

    if (v->only) {
        free(v->only);
        v->only = NULL;
        return;
    }
    while (v->follow && i > 0 && !*(line = &v->line[i - 1])->from)
        i--;
    if (v->run || !line || !*line->from) {
        app_say(v->app, GRID_DIM, "This line is of nobody in particular: no other is its like.");
        return;
    }
    v->only = mem_text(line->from);
    v->below = v->cursor = 0;
    v->follow = true;
}

static bool move_key(struct logview *v, int32_t code)
{
    int by = key_list_move(code, v->rows);
    int64_t all = (int64_t)v->lines;

    if (by) {
        move(v, by == KEY_FAR ? -all : by == -KEY_FAR ? all : -by);
        return true;
    }
    switch (code) {
    case UI_LEFT:
    case 'h':
        v->left = v->left > SIDEWAYS ? v->left - SIDEWAYS : 0;
        return true;
    case UI_RIGHT:
    case 'l':
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
                "No run goes on here: L shows the log of the newest, and %c "
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
    case 'o':
        narrow(v);
        return true;
    case 'L':
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
        else if (v->only)
            narrow(v);
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
    free(v->only);
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

static const char *run_name(void *screen)
{
    return ((struct logview *)screen)->run;
}

const struct screen screen_log = {
    .name = "Log",
    .about =
        "What goes on: how each run was resolved, its epochs, checkpoints and ends, what verbs "
        "and libraries print, warnings; the newest at the bottom, times in UTC, and from whom. "
        "The last 4,000 lines are kept here; those of a run stand in log.txt in its folder.",
    .keys = keys,
    .open = open_screen,
    .close = close_screen,
    .draw = draw,
    .key = key,
    .tick = tick,
    .command = command,
    .run = run_name,
};
