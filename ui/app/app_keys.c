/* ui/app/app_keys.c: when keys are read, and whose each of them is: the terminal's own, what lies over the
 * screen, a line of the frame, the screen, or everywhere the same. */
#include "ui/app/app_int.h"

#include "base/clock.h"
#include "base/system/trace.h"
#include "ui/widgets/share.h"

#include <string.h>

#define KEYS_NS  30000000ull   /* of keys at a time: a long text that is pasted is seen coming in */
#define AHEAD_NS 1000000000ull /* keys behind a q wait so long for its question, */
#define SHOWN_NS 250000000ull  /* and so long for what is read for the screen that one has chosen */

static void next_theme(struct app *app)
{
    static const char *const themes[] = {"dark", "light", "mono"};
    const char *now = app_theme(app);
    int i = 0;

    while (i < 2 && strcmp(themes[i], now) != 0)
        i++;
    i = (i + 1) % 3;
    app->config.theme = themes[i];
    settings_set(app->settings, "theme", themes[i]);
    if (app->own->term)
        term_theme(app->own->term, themes[i]);
    app_say(app, GRID_TEXT, "theme: %s", themes[i]);
}

static void turn_per_cent(struct app *app)
{
    share_choose(!share_in_per_cent());
    settings_set_is(app->settings, "percent", share_in_per_cent());
    app_say(app, GRID_TEXT,
            share_in_per_cent() ? "accuracies per cent" : "accuracies as fractions");
}

/* By its number or its name in the first line. */
static void choose_screen(struct app *app, int to)
{
    const struct screen *s = app->config.screens[app->shown];

    if (!s->lead || !s->lead(app->screen[app->shown], to))
        app_show(app, to);
}

static bool key_of_everywhere(struct app *app, const struct key *key)
{
    switch (key->code) {
    case '?':
        bar_help(app);
        return true;
    case ':':
        command_show(app);
        return true;
    case 'w':
        command_write(app);
        return true;
    case '%':
        turn_per_cent(app);
        return true;
    case 20: /* Ctrl-T */
        next_theme(app);
        return true;
    case 'q':
        app_quit(app);
        return true;
    case 3: /* Ctrl-C */
        app_quit(app);
        return true;
    }
    if (key->code >= '1' && key->code <= '7') {
        choose_screen(app, key->code - '1');
        return true;
    }
    return false;
}

static void handle(struct app *app, const struct key *key);

/* A text that is pasted is one to be typed and no keys: a line break in it starts nothing. True: this piece
 * of it goes nowhere. Breaks become blanks, but the last. */
static bool keep_from_pasting(struct app *app, const struct key *key)
{
    struct app_int *own = app->own;
    bool is_break = key->code == UI_ENTER || key->code == UI_TAB,
         broken = own->paste == PASTE_BREAK;
    struct key blank = {.code = ' ', .pasted = true};

    if (!key->pasted || key->code == UI_RESIZE) {
        own->paste = PASTE_NONE;
        return false;
    }
    if (!app_types(app)) {
        app_say(app, GRID_WARN,
                "What is pasted is text: open a field with Enter, or a command line with :, "
                "and paste it there.");
        return true;
    }
    if (is_break)
        own->paste = own->paste == PASTE_NONE ? PASTE_NONE : PASTE_BREAK;
    if (key->code < ' ' || key->code == 127 || key->code >= UI_KEYS)
        return true;
    own->paste = PASTE_BEGUN;
    if (broken)
        handle(app, &blank);
    return false;
}

static void handle(struct app *app, const struct key *key)
{
    const struct screen *s = app->config.screens[app->shown];
    struct key hinted;

    TRACE(UI, 2, "key %d", (int)key->code);
    if (keep_from_pasting(app, key))
        return;

    switch (key->code) {
    case UI_RESIZE:
        app_resize(app, key->row, key->column);
        return;
    case 12: /* Ctrl-L */
        if (app->own->term)
            term_redraw(app->own->term);
        return;
    case 26: /* Ctrl-Z */
        if (app->own->term)
            term_suspend(app->own->term);
        return;
    }
    if (popup_key(app, key))
        return;
    app->own->said[0] = 0;
    if (key->code >= UI_F1 && key->code < UI_F1 + SCREENS) {
        choose_screen(app, key->code - UI_F1);
        return;
    }
    if (key->code == UI_CLICK && key->row == 0) {
        int screen = bar_screen_at(app, key->column);

        if (screen >= 0)
            choose_screen(app, screen);
        return;
    }
    if (key->code == UI_CLICK && bar_hint_at(app, key->row, key->column, &hinted)) {
        handle(app, &hinted);
        return;
    }
    if (app_wants_text(app) && key->code != 3) {
        s->key(app->screen[app->shown], key);
        return;
    }
    if (key->code == 3 || !s->key(app->screen[app->shown], key))
        key_of_everywhere(app, key);
}

static void press(struct app *app, const struct key *key)
{
    app->dirty = true;
    app->own->keyed_ns = clock_ns();
    app->own->pressing = true;
    handle(app, key);
    app->own->pressing = false;
}

bool keys_wait(const struct app *app)
{
    const struct app_int *own = app->own;

    return own->awaited || (own->quitting && clock_ns() - own->keyed_ns < AHEAD_NS);
}

static bool still_reads(const struct app *app)
{
    return !tasks_idle(app->tasks) && clock_ns() - app->own->shown_ns < SHOWN_NS;
}

/* Whoever types "5a" means the screen that 5 brings, also where a slow line made it one piece: keys wait until
 * that has read what it shows, and has laid it out, which may ask for more. */
static void look_at_awaited(struct app *app)
{
    struct app_int *own = app->own;

    if (!own->awaited || own->ticked_ns < own->shown_ns)
        return;
    own->awaited = still_reads(app);
    if (own->awaited)
        return;
    app_lay_out(app);
    own->awaited = still_reads(app);
}

void keys_read(struct app *app, int *ms)
{
    struct app_int *own = app->own;
    uint64_t began = clock_ns();
    struct key key;

    app->typed_ahead = false;
    look_at_awaited(app);
    while (own->term && !own->away && !app->over && !keys_wait(app) && term_key(own->term, &key)) {
        app->typed_ahead = term_more(own->term);
        press(app, &key);
        app_look_at_terminal(app); /* a key may have stopped the program */
        if (app->typed_ahead && !key.pasted)
            app_lay_out(app); /* where pages end and what lies where is seen by drawing */
        if (app->typed_ahead && clock_ns() - began >= KEYS_NS) {
            *ms = 0;
            return;
        }
    }
    app->typed_ahead = false;
    while (own->script && !app->over && !script_over(own->script) &&
           script_next(own->script, app, &key, ms))
        press(app, &key);
    if (own->script && script_over(own->script) && !own->term && !app->over) {
        own->end = APP_STOP;
        app->over = true;
    }
}
