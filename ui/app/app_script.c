/* ui/app/app_script.c: a script of keys, one command a line:
 *
 *   keys 2 Down Enter     presses them
 *   type 0.1, 0.2         presses each character
 *   wait TEXT             until the screen shows it (30 s at most)
 *   gone TEXT             until it does not
 *   calm                  until nothing is under way and the screen has stood still for a while
 *   save FILE, svg FILE   the screen as text, as a picture
 *   roles FILE            a letter for each cell's role, which is its colour
 *   size 80x24            of the screen, where there is no terminal
 *   click ROW COLUMN      from 0
 *   sleep MS              presses nothing for so long; the program lives on
 *   monkey N SEED         N random keys, clicks and sizes; from then on only verbs that read are
 *                         started, and no path leads out of the folder one is in
 *
 * What it waits for in vain ends the program. */
#include "ui/app/app_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_NS    30000000000ull
#define MOST_MS    86400000     /* of a sleep: a day */
#define CALM_NS    300000000ull /* three ticks; */
#define CALM_TURNS 3            /* they may come late all at once */

struct script {
    char *bytes, *path;
    char **line;
    size_t lines, at;
    char **word; /* keys that are left of this line */
    size_t words, word_at;
    const char *type;
    uint64_t since, until; /* of a wait, of a sleep; 0: none */
    struct text still;     /* the screen as it was at calm_ns */
    uint64_t calm_ns;
    int calm_turns; /* of the loop since then, each of which may have ticked */
    int64_t monkey;
    uint64_t state;
    bool over, failed;
    struct err why;
};

static void fail(struct script *s, const char *words, const char *what)
{
    err_set(&s->why, ERR_FAILED, "%s: %s", words, what);
    err_context(&s->why, "%s:%zu", s->path, s->at);
    s->failed = s->over = true;
}

enum err_code script_open(struct script **out, const char *path, struct err *e)
{
    struct script *s;
    char *bytes;
    size_t n;

    TRY(io_read_file(path, 16 << 20, &bytes, &n, e));
    s = mem_new(1, sizeof *s);
    s->bytes = bytes;
    s->path = mem_text(path);
    s->line = mem_new(n + 1, sizeof *s->line);
    for (char *rest = bytes, *line; (line = strsep(&rest, "\n"));)
        s->line[s->lines++] = line;
    *out = s;
    return ERR_OK;
}

static void drop_words(struct script *s)
{
    for (size_t i = 0; i < s->words; i++)
        free(s->word[i]);
    free(s->word);
    s->word = NULL;
    s->words = s->word_at = 0;
}

void script_close(struct script *s)
{
    if (!s)
        return;
    drop_words(s);
    text_free(&s->still);
    free(s->line);
    free(s->bytes);
    free(s->path);
    free(s);
}

static uint64_t draw_number(struct script *s, uint64_t below)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (s->state >> 33) % below;
}

static void press_at_random(struct script *s, struct app *app, struct key *key)
{
    static const int32_t special[] = {
        UI_UP,        UI_DOWN,  UI_LEFT,     UI_RIGHT,      UI_HOME,  UI_END,       UI_TAB,
        UI_PAGE_UP,   UI_ENTER, UI_ESC,      UI_BACKTAB,    UI_ENTER, UI_PAGE_DOWN, UI_DELETE,
        UI_BACKSPACE, UI_ESC,   UI_WHEEL_UP, UI_WHEEL_DOWN, ' ',      UI_DOWN};
    uint64_t kind = draw_number(s, 100);

    *key = (struct key){0};
    s->monkey--;
    if (kind < 30) {
        key->code = special[draw_number(s, MEM_COUNT(special))];
    } else if (kind < 50) {
        key->code = '1' + (int32_t)draw_number(s, 7);
    } else if (kind < 92) {
        key->code = ' ' + (int32_t)draw_number(s, 95);
    } else if (kind < 95) {
        key->code = (int32_t[]){0xe9, 0x4e2d, 0x202e, 0x1f600, 1, 12}[draw_number(s, 6)];
    } else if (kind < 98 || app->own->term) {
        key->code = UI_CLICK;
        key->row = (int)draw_number(s, (uint64_t)app->own->grid.rows + 1);
        key->column = (int)draw_number(s, (uint64_t)app->own->grid.columns + 1);
        key->again = draw_number(s, 2);
    } else {
        app_resize(app, 1 + (int)draw_number(s, draw_number(s, 3) ? 50 : 100),
                   1 + (int)draw_number(s, draw_number(s, 3) ? 170 : 300));
    }
    if (key->code == 'q' && app->own->popup == POPUP_NONE) /* it would be the end */
        key->code = UI_ESC;
    if ((key->code == '/' || key->code == '~') && app_types(app)) /* it may become a path */
        key->code = UI_ENTER;
}

static void begin_monkey(struct script *s, struct app *app)
{
    static const char *const reading[] = {"compare", "devices", "export", "help", "ls", "models",
                                          "plot",    "predict", "report", "show", NULL};

    s->state = s->state * 2654435761u + 1;
    jobs_allow(app->jobs, reading);
}

/* Now and then a person looks, and tasks and jobs come to their end. Most keys see a screen that is
 * drawn, some come in a burst. */
static bool monkey_rests(struct script *s, struct app *app)
{
    if (app->dirty && draw_number(s, app->own->term ? 64 : 4))
        return true;
    if (draw_number(s, 256) == 0)
        s->until = app_ns(app) + draw_number(s, 40) * 1000000;
    return s->until != 0;
}

static bool shows(struct app *app, const char *what)
{
    struct text all = {0};
    bool is;

    grid_to_text(&app->own->grid, &all);
    is = strstr(text_str(&all), what) != NULL;
    text_free(&all);
    return is;
}

enum saved { SAVED_TEXT, SAVED_SVG, SAVED_ROLES };

static void save(struct script *s, struct app *app, const char *path, enum saved as)
{
    struct text out = {0};

    if (as == SAVED_SVG)
        grid_to_svg(&app->own->grid, !strcmp(app_theme(app), "light"), "chorus", &out);
    else if (as == SAVED_ROLES)
        grid_to_roles(&app->own->grid, &out);
    else
        grid_to_text(&app->own->grid, &out);
    if (io_replace_file(path, text_str(&out), out.n, &s->why) != ERR_OK)
        s->failed = s->over = true;
    text_free(&out);
}

/* False: the line is not over yet. */
static bool wait_for(struct script *s, struct app *app, const char *what, bool there)
{
    uint64_t now = app_ns(app);

    if (shows(app, what) == there) {
        s->since = 0;
        return true;
    }
    if (!s->since)
        s->since = now;
    if (now - s->since > WAIT_NS) {
        struct text all = {0};

        grid_to_text(&app->own->grid, &all);
        fail(s, there ? "the screen never showed" : "the screen never lost", what);
        fprintf(stderr, "%s", text_str(&all));
        text_free(&all);
    }
    return false;
}

static bool is_calm(struct script *s, struct app *app)
{
    uint64_t now = app_ns(app);
    struct text all = {0};
    bool same;

    grid_to_text(&app->own->grid, &all);
    same = s->still.s && !strcmp(text_str(&all), s->still.s) && !app->dirty &&
           tasks_idle(app->tasks) && !jobs_running(app->jobs);
    if (!s->since)
        s->since = now;
    if (!same) {
        text_free(&s->still);
        s->still = all;
        s->calm_ns = now;
        s->calm_turns = 0;
    } else {
        text_free(&all);
        s->calm_turns++;
    }
    if (same && now - s->calm_ns >= CALM_NS && s->calm_turns >= CALM_TURNS) {
        text_free(&s->still);
        s->since = 0;
        return true;
    }
    if (now - s->since > WAIT_NS)
        fail(s, "the screen never came to rest", s->line[s->at]);
    return false;
}

static void split_words(struct script *s, const char *text)
{
    char *copy = mem_text(text), *rest = copy, *word;

    drop_words(s);
    s->word = mem_new(strlen(text) + 1, sizeof *s->word);
    while ((word = strsep(&rest, " ")))
        if (*word)
            s->word[s->words++] = mem_text(word);
    free(copy);
}

static const char *behind_word(const char *line, const char *word)
{
    size_t n = strlen(word);

    return !strncmp(line, word, n) && (line[n] == ' ' || !line[n]) ? line + n + (line[n] == ' ')
                                                                   : NULL;
}

/* False: it waits, or a key is due. */
static bool obey(struct script *s, struct app *app, struct key *key, bool *pressed)
{
    const char *line = s->line[s->at], *what;
    int rows, columns;
    int64_t ms;

    if ((what = behind_word(line, "keys")))
        split_words(s, what);
    else if ((what = behind_word(line, "type")))
        s->type = what;
    else if ((what = behind_word(line, "wait"))) {
        if (!wait_for(s, app, what, true))
            return false;
    } else if ((what = behind_word(line, "gone"))) {
        if (!wait_for(s, app, what, false))
            return false;
    } else if (!strcmp(line, "calm")) {
        if (!is_calm(s, app))
            return false;
    } else if ((what = behind_word(line, "save")))
        save(s, app, what, SAVED_TEXT);
    else if ((what = behind_word(line, "svg")))
        save(s, app, what, SAVED_SVG);
    else if ((what = behind_word(line, "roles")))
        save(s, app, what, SAVED_ROLES);
    else if ((what = behind_word(line, "size")) && sscanf(what, "%dx%d", &columns, &rows) == 2)
        app_resize(app, rows, columns);
    else if ((what = behind_word(line, "click")) && sscanf(what, "%d %d", &rows, &columns) == 2) {
        *key = (struct key){.code = UI_CLICK, .row = rows, .column = columns};
        *pressed = true;
    } else if ((what = behind_word(line, "sleep")) && text_to_int(what, &ms) && ms >= 0 &&
               ms <= MOST_MS)
        s->until = app_ns(app) + (uint64_t)ms * 1000000;
    else if ((what = behind_word(line, "monkey")) &&
             sscanf(what, "%ld %lu", &s->monkey, &s->state) >= 1)
        begin_monkey(s, app);
    else if (*line && *line != '#')
        fail(s, "a script of keys knows no such line", line);
    s->at++;
    return !*pressed;
}

/* Of what is typed: a character of UTF-8. */
static bool next_letter(struct script *s, struct key *key)
{
    char one[5] = {s->type[0]};
    int n = 1;

    while (((unsigned char)s->type[n] & 0xc0) == 0x80 && n < 4) {
        one[n] = s->type[n];
        n++;
    }
    s->type += n;
    return key_parse(one, key);
}

bool script_next(struct script *s, struct app *app, struct key *key, int *wait_ms)
{
    bool pressed = false;

    while (!s->over && !pressed) {
        if (s->until) {
            uint64_t now = app_ns(app);

            if (now < s->until) { /* no longer than the loop would sleep: what runs is looked at */
                int left = (int)((s->until - now) / 1000000) + 1;

                *wait_ms = left < *wait_ms ? left : *wait_ms;
                return false;
            }
            s->until = 0;
        }
        if (s->monkey > 0) {
            if (!monkey_rests(s, app)) {
                press_at_random(s, app, key);
                if (key->code)
                    return true;
            }
            *wait_ms = 0;
            return false;
        }
        if (s->type && *s->type)
            return next_letter(s, key);
        if (s->word_at < s->words) {
            pressed = key_parse(s->word[s->word_at], key);
            if (!pressed)
                fail(s, "there is no such key", s->word[s->word_at]);
            s->word_at++;
            return pressed;
        }
        if (s->at == s->lines) {
            s->over = true;
            break;
        }
        /* Every line sees a screen that is drawn. */
        if (app->dirty) {
            *wait_ms = 0;
            return false;
        }
        if (!obey(s, app, key, &pressed) && !pressed) {
            *wait_ms = 10;
            return false;
        }
    }
    return pressed;
}

bool script_over(const struct script *s)
{
    return s->over;
}

enum err_code script_result(const struct script *s, struct err *e)
{
    return s->failed ? err_set(e, s->why.code, "%s", s->why.text) : ERR_OK;
}
