/* ui/log/logview_draw.c: the lines in sight, what each says and from whom. */
#include "ui/log/logview_int.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "draw/ink/words.h"
#include "study/compare.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NAME 8 /* columns that a title keeps for whose log it is */

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

static void draw_line(const struct logview *v, const struct logview_line *line, bool chosen,
                      struct grid *g, struct rect in, int row)
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

/* Of a long name the middle goes before anything else does. */
static void add_title(const struct logview *v, int columns, bool ascii, struct text *out)
{
    const char *of = v->run ? v->run : v->only;
    struct text with = {0};
    int room;

    if (v->filter)
        text_addf(&with, ", lines with \"%s\"", v->filter);
    room = columns - 7 - text_width(text_str(&with));
    text_add(out, of ? "log of " : "log");
    if (of)
        words_add_cut(out, study_short_name(of), room > LEAST_NAME ? room : LEAST_NAME, ascii);
    text_add(out, text_str(&with));
    text_free(&with);
}

void logview_draw(void *screen, struct grid *g, struct rect in)
{
    struct logview *v = screen;
    struct text title = {0};
    struct rect inner;
    char words[96];

    logview_collect(v);
    snprintf(words, sizeof words, "%s%s%zu line%s", v->follow ? "follows, " : "",
             !v->run && app_log_count(v->app) > app_log_lines(v->app) ? "of the newest, "
             : v->run && v->at_start                                  ? "of its end, "
                                                                      : "",
             v->lines, text_s(v->lines));
    add_title(v, in.columns - 8 - (int)strlen(words), g->ascii, &title);
    inner = grid_frame(g, in, text_str(&title), true);
    text_free(&title);
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
