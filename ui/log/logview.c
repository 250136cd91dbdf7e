/* Screen 7: what the engine, the jobs and whatever libraries printed had to say, the newest at the
 * bottom; and log.txt of a run. */
#include "ui/log/logview_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "ui/app/screens.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS 1000000000u

/* ---- the lines ---- */

static void add(struct logview *v, struct logview_line line)
{
    if (v->filter && !strcasestr(line.text, v->filter) && !strcasestr(line.from, v->filter))
        return;
    v->line = mem_grow(v->line, &v->room, v->lines + 1, sizeof *v->line);
    v->line[v->lines++] = line;
    if (*line.from && v->from < LOGVIEW_FROM) {
        int width = text_width(study_short_name(line.from));

        v->from = width > LOGVIEW_FROM ? LOGVIEW_FROM : width > v->from ? width : v->from;
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
            add(v, (struct logview_line){"", at, -1, 0});
        at += strlen(at) + 1;
    }
}

void logview_collect(struct logview *v)
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
                add(v, (struct logview_line){line->from, line->text, line->level, line->wall});
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

const struct logview_line *logview_chosen(struct logview *v)
{
    size_t i;

    logview_collect(v);
    i = v->lines - v->below - v->cursor - 1;
    return v->lines && i < v->lines ? &v->line[i] : NULL;
}

/* ---- the screen ---- */

static void *open_screen(struct app *app)
{
    struct logview *v = mem_new(1, sizeof *v);

    v->app = app;
    v->follow = true;
    return v;
}

void screen_log_whole(struct logview *v)
{
    v->whole = true;
}

static bool take(void *screen, const struct screen_request *request)
{
    if (request->what == SCREEN_SHOW_ALL)
        screen_log_whole(screen);
    return request->what == SCREEN_SHOW_ALL;
}

static void show_screen(void *screen)
{
    struct logview *v = screen;

    if (!v->whole)
        return;
    logview_leave_file(v);
    free(v->filter);
    free(v->only);
    v->filter = v->only = NULL;
    v->whole = false;
}

static void close_screen(void *screen)
{
    struct logview *v = screen;

    logview_leave_file(v);
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
        logview_look(v);
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
    .keys = logview_keys,
    .hints = logview_hints,
    .open = open_screen,
    .close = close_screen,
    .show = show_screen,
    .take = take,
    .draw = logview_draw,
    .key = logview_key,
    .tick = tick,
    .command = command,
    .run = run_name,
};
