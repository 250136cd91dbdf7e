/* ui/app/app_bar.c: the line of screens at the top, the two at the bottom (what keys do or what was said;
 * what runs), and the page of help: all of one table of keys. */
#include "ui/app/app_int.h"

#include "base/mem.h"
#include "ui/app/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct screen_key everywhere[] = {
    {"1 2 3 4 5 6 7", NULL,
     "or F1 to F7, or a click on its name, choose a screen, Tab a pane of it; a click on a key's "
     "hint in the lowest lines presses it"},
    {"?", "help", "this page"},
    {":", "command", "the command line that does what is seen here; Enter runs it"},
    {"w", NULL,
     "writes a file: the screen as text or SVG, its figures, its tables; a CSV has unsmoothed values"},
    {"%", NULL, "accuracies as fractions or per cent, on all screens"},
    {"Ctrl-T", NULL, "the next theme: dark, light, mono"},
    {"Ctrl-L", NULL, "draws everything again"},
    {"Ctrl-Z", NULL, "stops the program until `fg`, and with it what trains here"},
    {"q", "quit",
     "leaves; where something runs it asks first. Ctrl-C too, and once more stops what runs, to go on later"},
    {NULL, NULL, NULL},
};

#define WITH_NAME 66 /* columns that the screens take beside the program's name */

/* Where each name stands in the top line. */
static int place_of(int screen, int columns)
{
    int gap = columns >= 90 ? 2 : 1, column = columns >= 90 ? 10 : columns >= WITH_NAME ? 8 : 1;

    for (int i = 0; i < screen; i++)
        column += 2 + (int)strlen(app_screens[i]->name) + gap;
    return column;
}

int bar_screen_at(const struct app *app, int column)
{
    for (int i = 0; i < SCREENS; i++) {
        int from = place_of(i, app->own->grid.columns);

        if (column >= from && column < from + 2 + (int)strlen(app_screens[i]->name))
            return i;
    }
    return -1;
}

void bar_top(struct app *app, struct grid *g)
{
    struct rect line = rect_top(grid_all(g), 1);
    int end = 0, width;

    grid_fill(g, line, GRID_STATUS);
    if (g->columns >= WITH_NAME)
        grid_bold(g, line, 0, 1, GRID_STATUS, "chorus");
    for (int i = 0; i < SCREENS; i++) {
        int at = place_of(i, g->columns), role = i == app->shown ? GRID_TITLE : GRID_STATUS;
        char number[2] = {(char)('1' + i), 0};

        if (i == app->shown)
            grid_paint(g, line, 0, at - 1, 4 + (int)strlen(app_screens[i]->name), GRID_TITLE);
        at = grid_text(g, line, 0, at, role, number) + 1;
        end = grid_text(g, line, 0, at, role, app_screens[i]->name);
    }
    width = app->config.device ? text_width(app->config.device) : 0;
    if (width && end + 2 + width < g->columns)
        grid_right(g, line, 0, g->columns - 1, GRID_STATUS, app->config.device);
}

/* The first key of a row, or the two of a pair. */
static void key_of_hint(const char *keys, char word[16])
{
    if (!strncmp(keys, "Left Right", 10))
        snprintf(word, 16, "←→");
    else if (!strncmp(keys, "Up Down", 7))
        snprintf(word, 16, "↑↓");
    else if (strlen(keys) >= 3 && keys[1] == ' ' && (!keys[3] || keys[3] == ' '))
        snprintf(word, 16, "%.3s", keys);
    else
        snprintf(word, 16, "%.*s", (int)strcspn(keys, " "), keys);
}

static int draw_hint(struct app *app, struct grid *g, struct rect line, int column, const char *key,
                     const char *hint)
{
    struct app_int *own = app->own;
    int behind = grid_hint(g, line, 0, column, key, hint);

    if (own->hints < (int)(sizeof own->hint / sizeof *own->hint)) {
        struct bar_hint *h = &own->hint[own->hints++];

        *h = (struct bar_hint){.from = column, .to = behind - 2};
        snprintf(h->key, sizeof h->key, "%s", key);
    }
    return behind;
}

/* At a place of a hint: a pair's two keys stand beside each other, and its words mean neither. */
static bool key_of_word(const char *word, int at, struct key *key)
{
    char one[2] = {0};

    if (!strcmp(word, "←→") && at < 2)
        return key_parse(at ? "Right" : "Left", key);
    if (!strcmp(word, "↑↓") && at < 2)
        return key_parse(at ? "Down" : "Up", key);
    if (strlen(word) == 3 && word[1] == ' ' && (at == 0 || at == 2)) {
        one[0] = word[at];
        return key_parse(one, key);
    }
    return key_parse(word, key);
}

bool bar_hint_at(const struct app *app, int row, int column, struct key *key)
{
    const struct app_int *own = app->own;

    for (int i = 0; i < own->hints && row == own->grid.rows - 2; i++)
        if (column >= own->hint[i].from && column < own->hint[i].to)
            return key_of_word(own->hint[i].key, column - own->hint[i].from, key);
    return false;
}

static int width_of_hint(const struct screen_key *key)
{
    char word[16];

    key_of_hint(key->keys, word);
    return text_width(word) + 1 + text_width(key->hint);
}

static int draw_key(struct app *app, struct grid *g, struct rect line, int column,
                    const struct screen_key *key)
{
    char word[16];

    key_of_hint(key->keys, word);
    return draw_hint(app, g, line, column, word, key->hint);
}

static void draw_hints_of_question(struct app *app, struct grid *g, struct rect line)
{
    static const struct screen_key keys[] = {
        {"Up Down", "choose", NULL}, {"Enter", "takes it", NULL}, {"Esc", "leaves", NULL}};
    int column = 1;

    for (size_t i = 0; i < MEM_COUNT(keys); i++)
        column = draw_key(app, g, line, column, &keys[i]);
}

int bar_hints_of_prompt(struct app *app, struct grid *g, struct rect line, int from)
{
    const struct app_int *own = app->own;
    const struct screen_key keys[] = {{"Enter", "takes it", NULL},
                                      {"Esc", "leaves", NULL},
                                      {"Tab", own->complete ? "completes" : NULL, NULL},
                                      {"Up Down", own->offers > 1 ? "others" : NULL, NULL}};
    size_t drawn = 0;
    int width = 0, column;

    app->own->hints = 0;
    for (; drawn < MEM_COUNT(keys); drawn++) {
        int more = keys[drawn].hint ? 2 + width_of_hint(&keys[drawn]) : 0;

        if (from + width + more > line.columns - 1)
            break;
        width += more;
    }
    column = line.columns - 1 - width + 2;
    for (size_t i = 0; i < drawn; i++)
        if (keys[i].hint)
            column = draw_key(app, g, line, column, &keys[i]);
    return width;
}

/* What keys do here, as many as there is room for; those of everywhere keep the right end. */
static void draw_hints(struct app *app, struct grid *g, struct rect line)
{
    const struct screen *s = app_screens[app->shown];
    const struct screen_key *keys = s->hints ? s->hints(app->screen[app->shown]) : s->keys;
    bool field = app_wants_text(app);
    static const char *const last[] = {"q", "quit", ":", "command", "?", "help"};
    int column = 1, end = line.columns - 1;

    app->own->hints = 0;
    if (app->own->popup == POPUP_ASK) { /* the keys of the screen below do nothing */
        draw_hints_of_question(app, g, line);
        return;
    }
    if (field && !s->hints) { /* the others are text there */
        column = draw_hint(app, g, line, column, "Enter", "takes it");
        draw_hint(app, g, line, column, "Esc", "leaves it as it was");
        return;
    }
    for (int i = 0; i < 6 && end > 30 && !field; i += 2) {
        end -= (int)strlen(last[i]) + 1 + (int)strlen(last[i + 1]);
        draw_hint(app, g, line, end, last[i], last[i + 1]);
        end -= 2;
    }
    for (; keys->keys; keys++)
        if (keys->hint && column + width_of_hint(keys) <= end)
            column = draw_key(app, g, line, column, keys);
}

int bar_lowest(struct grid *g, struct rect above, int most, int role, const char *said)
{
    struct rect words = rect_before(rect_behind(above, 1), 1);
    int rows = grid_count_rows(g, words.columns, said);

    rows = rows < most ? rows : most;
    grid_fill(g, rect_bottom(above, rows), GRID_TEXT);
    grid_words(g, rect_bottom(words, rows), 0, role, said);
    return rows;
}

int bar_trouble(struct app *app, struct grid *g)
{
    struct text words = {0};
    int rows = 0;

    if (status_add_trouble(app->feed, &words))
        rows = bar_lowest(g, rect_above(grid_all(g), 2), g->rows / 4, GRID_BAD, text_str(&words));
    text_free(&words);
    return rows;
}

void bar_hints(struct app *app, struct grid *g)
{
    struct rect line = rect_top(rect_bottom(grid_all(g), 2), 1);

    grid_fill(g, line, GRID_TEXT);
    draw_hints(app, g, line);
}

void bar_bottom(struct app *app, struct grid *g)
{
    struct rect two = rect_bottom(grid_all(g), 2), line = rect_top(two, 1);
    struct text status = {0};

    if (app->own->said[0])
        bar_lowest(g, rect_above(grid_all(g), 1), g->rows, app->own->said_role, app->own->said);
    else
        draw_hints(app, g, line);
    line = rect_bottom(two, 1);
    grid_fill(g, line, GRID_STATUS);
    status_add(app->feed, &status, g->columns - 2);
    grid_cut(g, line, 0, 1, line.columns - 2, GRID_STATUS, false, text_str(&status));
    text_free(&status);
}

static void add_keys(struct text *out, const struct screen_key *keys)
{
    for (; keys->keys; keys++) {
        int width = text_width(keys->keys);

        text_addf(out, "  %s%*s%s\n", keys->keys, width < 16 ? 16 - width : 1, "",
                  keys->help   ? keys->help
                  : keys->hint ? keys->hint
                               : "");
    }
}

void bar_help(struct app *app)
{
    const struct screen *s = app_screens[app->shown];
    struct text page = {0};

    if (s->about)
        text_addf(&page, "%s\n\n", s->about);
    text_addf(&page, "Keys of %s\n", s->name);
    add_keys(&page, s->keys);
    text_add(&page, "\nKeys of every screen\n");
    add_keys(&page, everywhere);
    text_add(&page,
             "\nWhatever is done here can be done without a terminal too: `chorus help` lists "
             "the commands.");
    app_page(app, s->name, text_str(&page));
    text_free(&page);
}
