/* ui/app/app_popup.c: what lies over a screen: a question, a line to be typed, a page of text; its keys and
 * how it is drawn. app_open.c opens it. */
#include "ui/app/app_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TYPING 8 /* columns behind what is typed, for more of it */

static void answer(struct app *app, int which)
{
    struct app_int *own = app->own;
    void (*chosen)(void *user, int answer) = own->on_answer;
    void *user = own->user;

    popup_close(app);
    chosen(user, which);
}

static void ask_key(struct app *app, const struct key *key)
{
    struct app_int *own = app->own;
    int which;

    switch (key->code) {
    case UI_ESC:
    case 'q': /* leaves a box as it leaves all else: no answer begins with it */
        answer(app, -1);
        return;
    case 3: /* Ctrl-C */
        which = quit_interrupt(app);
        if (which < own->answers)
            answer(app, which);
        if (own->end == APP_STOP)
            own->end = APP_INTERRUPTED;
        return;
    case UI_ENTER:
        answer(app, own->chosen);
        return;
    case ':': /* a command follows, whose letters are no answers */
        answer(app, -1);
        if (own->popup == POPUP_NONE)
            command_show(app);
        return;
    case UI_UP:
    case UI_LEFT:
    case UI_BACKTAB:
    case 'k':
        own->chosen = (own->chosen + own->answers - 1) % (own->answers ? own->answers : 1);
        break;
    case UI_DOWN:
    case UI_RIGHT:
    case UI_TAB:
    case 'j':
        own->chosen = (own->chosen + 1) % (own->answers ? own->answers : 1);
        break;
    case UI_CLICK:
        if (!rect_holds(own->answers_at, key->row, key->column))
            return;
        own->chosen = key->row - own->answers_at.row;
        if (key->again)
            answer(app, own->chosen);
        return;
    }
    for (int i = 0; i < own->answers; i++) {
        if ((key->code | 0x20) == (own->answer[i][0] | 0x20) && key->code > ' ' &&
            key->code < 0x7f) {
            answer(app, i);
            return;
        }
    }
}

static void prompt_end(struct app *app, bool take)
{
    struct app_int *own = app->own;
    void (*entered)(void *user, const char *text) = own->on_text;
    char *text = take ? mem_text(text_str(&own->typed.text)) : NULL;
    void *user = own->user;

    own->entered_ns = take ? own->keyed_ns : 0;
    own->entered = own->popups;
    own->entered_on = app->shown;
    popup_close(app);
    entered(user, text);
    free(text);
}

struct completing {
    struct app *app;
    void (*complete)(const char *text, struct text *more, struct text *several);
    uint64_t popup; /* what it is for */
    char *text;
    struct text whole, several;
};

static void look_for(void *arg)
{
    struct completing *c = arg;

    text_add(&c->whole, c->text);
    c->complete(c->text, &c->whole, &c->several);
}

/* What was typed meanwhile stands. */
static void looked_for(void *arg, bool dropped)
{
    struct completing *c = arg;
    struct app_int *own = c->app->own;

    if (!dropped && own->popup == POPUP_PROMPT && own->popups == c->popup &&
        !strcmp(text_str(&own->typed.text), c->text)) {
        line_set(&own->typed, text_str(&c->whole));
        text_add(&own->several, text_str(&c->several));
        c->app->dirty = true;
    }
    text_free(&c->whole);
    text_free(&c->several);
    free(c->text);
    free(c);
}

static void complete(struct app *app)
{
    struct app_int *own = app->own;
    struct completing *c;

    if (!own->complete || own->typed.at != own->typed.text.n)
        return;
    c = mem_new(1, sizeof *c);
    *c = (struct completing){.app = app,
                             .complete = own->complete,
                             .popup = own->popups,
                             .text = mem_text(text_str(&own->typed.text))};
    (void)tasks_try(app->tasks, look_for, looked_for, c);
}

void popup_offer(struct app *app, const char *line)
{
    struct app_int *own = app->own;

    for (size_t i = 0; i < own->offers; i++)
        if (!strcmp(own->offer[i], line))
            return;
    if (own->offers < APP_OFFERS && *line)
        own->offer[own->offers++] = mem_text(line);
}

static void next_offer(struct app_int *own, int by)
{
    if (!own->offers)
        return;
    own->offer_at = (own->offer_at + own->offers + (size_t)(by + (int)own->offers)) % own->offers;
    line_set(&own->typed, own->offer[own->offer_at]);
}

static void prompt_key(struct app *app, const struct key *key)
{
    struct app_int *own = app->own;
    bool changed;

    text_clear(&own->several);
    own->said[0] = 0;
    if (key->code == UI_ENTER)
        prompt_end(app, true);
    else if (key->code == UI_ESC || key->code == 3)
        prompt_end(app, false);
    else if (key->code == UI_TAB)
        complete(app);
    else if (key->code == UI_UP || key->code == UI_DOWN)
        next_offer(own, key->code == UI_UP ? -1 : 1);
    else
        line_key(&own->typed, key->code, &changed);
}

static void page_key(struct app *app, const struct key *key)
{
    struct app_int *own = app->own;
    int rows = own->page_rows > 1 ? own->page_rows - 1 : 1;

    switch (key->code) {
    case UI_DOWN:
    case 'j':
        own->page_first++;
        break;
    case UI_UP:
    case 'k':
        own->page_first--;
        break;
    case UI_WHEEL_DOWN:
        own->page_first += 3;
        break;
    case UI_WHEEL_UP:
        own->page_first -= 3;
        break;
    case UI_PAGE_DOWN:
    case ' ':
        own->page_first += rows;
        break;
    case UI_PAGE_UP:
        own->page_first -= rows;
        break;
    case UI_HOME:
    case 'g':
        own->page_first = 0;
        break;
    case UI_END:
    case 'G':
        own->page_first = own->page_lines;
        break;
    case UI_LEFT:
    case 'h':
        own->page_left -= 8;
        break;
    case UI_RIGHT:
    case 'l':
        own->page_left += 8;
        break;
    case ':':
        popup_close(app);
        command_show(app);
        break;
    case UI_ESC:
    case UI_ENTER:
    case UI_CLICK:
    case '?':
    case 'q':
    case 3: /* Ctrl-C */
        popup_close(app);
        break;
    }
}

bool popup_key(struct app *app, const struct key *key)
{
    bool hints = app->own->popup == POPUP_ASK || app->own->popup == POPUP_PROMPT;
    struct key hinted;

    if (hints && key->code == UI_CLICK && bar_hint_at(app, key->row, key->column, &hinted))
        key = &hinted;
    switch (app->own->popup) {
    case POPUP_NONE:
        return false;
    case POPUP_ASK:
        ask_key(app, key);
        break;
    case POPUP_PROMPT:
        prompt_key(app, key);
        break;
    case POPUP_PAGE:
        page_key(app, key);
        break;
    }
    app->dirty = true;
    return true;
}

static struct rect middle(const struct grid *g, int rows, int columns)
{
    struct rect all = grid_all(g);

    if (rows > all.rows)
        rows = all.rows;
    if (columns > all.columns)
        columns = all.columns;
    return (struct rect){(all.rows - rows) / 2, (all.columns - columns) / 2, rows, columns};
}

static void draw_ask(struct app *app, struct grid *g)
{
    struct app_int *own = app->own;
    int columns = g->columns < 90 ? g->columns : 80, rows;
    struct rect frame, in;

    rows = grid_count_rows(g, columns - 4, text_str(&own->question));
    frame = middle(g, rows + own->answers + 4, columns);
    grid_fill(g, frame, GRID_TEXT);
    in = grid_frame(g, frame, "", true);
    in = rect_before(rect_behind(in, 1), 1);
    grid_words(g, in, 0, GRID_TEXT, text_str(&own->question));
    own->answers_at = rect_top(rect_below(in, rows + 1), own->answers);
    for (int i = 0; i < own->answers; i++) {
        char first[2] = {own->answer[i][0], 0};
        int role = i == own->chosen ? GRID_CHOSEN : GRID_TEXT;

        grid_bold(g, in, rows + 1 + i, 1, role == GRID_TEXT ? GRID_KEY : role, first);
        grid_text(g, in, rows + 1 + i, 2, role, own->answer[i] + 1);
        if (i == own->chosen)
            grid_paint(g, in, rows + 1 + i, 0, in.columns, GRID_CHOSEN);
    }
    grid_text(g, frame, frame.rows - 1, 2, GRID_DIM, " Enter takes the marked one, Esc none ");
}

static void draw_prompt(struct app *app, struct grid *g)
{
    struct app_int *own = app->own;
    struct rect line = rect_top(rect_bottom(grid_all(g), 2), 1);
    int column, room = line.columns * 2 / 3, typed = text_width(text_str(&own->typed.text));

    grid_fill(g, line, GRID_TEXT);
    if (typed + 3 > line.columns - room)
        room = line.columns / 2;
    column = grid_cut(g, line, 0, 1, room, GRID_KEY, false, text_str(&own->label)) + 1;
    room = bar_hints_of_prompt(app, g, line, column + typed + TYPING);
    line_draw(&own->typed, g, rect_before(rect_behind(line, column), 1 + room));
    if (own->several.n)
        bar_lowest(g, rect_above(grid_all(g), 2), g->rows / 3, GRID_DIM, text_str(&own->several));
    else if (own->said[0])
        bar_lowest(g, rect_above(grid_all(g), 2), g->rows / 3, own->said_role, own->said);
}

static int longest_line(const char *text)
{
    int most = 0;

    for (const char *end; *text; text = *end ? end + 1 : end) {
        char *line;
        int width;

        end = text + strcspn(text, "\n");
        line = mem_text_n(text, (size_t)(end - text));
        width = text_width(line);
        free(line);
        most = width > most ? width : most;
    }
    return most;
}

static void draw_page(struct app *app, struct grid *g)
{
    struct app_int *own = app->own;
    int whole = own->page_whole ? longest_line(text_str(&own->page)) : 0;
    int columns = g->columns > 104 ? 100 : g->columns, most, wide;
    struct rect frame, in;
    struct grid page;

    if (whole + 4 > columns)
        columns = whole + 4 < g->columns ? whole + 4 : g->columns;
    wide = whole > columns - 4 ? whole : columns - 4;
    own->page_lines = grid_count_rows(g, wide, text_str(&own->page));
    frame =
        middle(g, own->page_lines + 2 < g->rows - 2 ? own->page_lines + 2 : g->rows - 2, columns);
    grid_fill(g, frame, GRID_TEXT);
    in = grid_frame(g, frame, text_str(&own->label), true);
    own->page_rows = in.rows;
    most = own->page_lines - in.rows;
    if (own->page_first > most)
        own->page_first = most;
    if (own->page_first < 0)
        own->page_first = 0;
    in = rect_before(rect_behind(in, 1), 1);
    if (own->page_left > wide - in.columns)
        own->page_left = wide - in.columns;
    if (own->page_left < 0)
        own->page_left = 0;
    grid_init(&page, own->page_lines, wide > 0 ? wide : 0, g->ascii);
    grid_words(&page, grid_all(&page), 0, GRID_TEXT, text_str(&own->page));
    for (int row = 0; row < in.rows && row + own->page_first < page.rows; row++)
        for (int column = 0; column < in.columns && column + own->page_left < page.columns;
             column++) {
            struct grid_cell *cell =
                &page.cell[(row + own->page_first) * page.columns + column + own->page_left];

            grid_put(g, in, row, column, cell->code, cell->role, cell->style);
        }
    grid_free(&page);
    grid_scroll(g, rect_inner(frame), own->page_first, in.rows, own->page_lines);
    grid_text(g, frame, frame.rows - 1, 2, GRID_DIM,
              wide > in.columns ? " the arrows scroll, Esc closes "
              : most > 0        ? " Up and Down scroll, Esc closes "
                                : " Esc closes ");
}

void popup_draw(struct app *app, struct grid *g)
{
    switch (app->own->popup) {
    case POPUP_NONE:
        return;
    case POPUP_ASK:
        draw_ask(app, g);
        return;
    case POPUP_PROMPT:
        draw_prompt(app, g);
        return;
    case POPUP_PAGE:
        draw_page(app, g);
        return;
    }
}
