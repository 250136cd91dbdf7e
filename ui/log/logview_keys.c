/* ui/log/logview_keys.c: the keys of the Log screen. */
#include "ui/log/logview_int.h"

#include "base/mem.h"
#include "ui/app/runkeys.h"

#include <stdlib.h>

#define SIDEWAYS 16

const struct screen_key logview_keys[] = {
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
    {"p K R", NULL, "pauses, stops or goes on with that run, as on Run"},
    {NULL, NULL, NULL},
};

/* Where no line is there is none to be read whole; in the log of one run nobody else says anything. */
const struct screen_key *logview_hints(void *screen)
{
    static struct screen_key hints[SCREEN_HINTS + 1];
    const struct logview *v = screen;
    struct text letters = {0};

    text_add(&letters, v->lines ? "E/f" : v->filter ? "/" : "");
    text_add(&letters, "L");
    if (!v->run && (v->only || v->from))
        text_add(&letters, "o");
    screen_hints(hints, logview_keys, text_str(&letters));
    screen_hint(hints, "f", v->follow ? "hold" : "follow");
    if (v->run)
        screen_hint(hints, "L", "all logs");
    if (v->only)
        screen_hint(hints, "o", "all lines");
    text_free(&letters);
    return hints;
}

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
    const struct logview_line *line = logview_chosen(v);
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
    const struct logview_line *line = logview_chosen(v);
    size_t i = v->lines;

    if (v->only) {
        free(v->only);
        v->only = NULL;
        return;
    }
    while (v->follow && i > 0 && !*(line = &v->line[i - 1])->from)
        i--;
    if (v->run) {
        app_say(v->app, GRID_DIM, "This is the log of one run; L goes back to that of all.");
        return;
    }
    if (!line || !*line->from) {
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

bool logview_key(void *screen, const struct key *pressed)
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
            logview_leave_file(v);
        else
            logview_show_file(v);
        return true;
    case UI_ESC:
        if (v->filter)
            filter_entered(v, "");
        else if (v->run)
            logview_leave_file(v);
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
