/* ui/app_popup.c: what lies over a screen: a question, a line to be typed, a page of text. */
#include "ui/app_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void popup_close(struct app *app)
{
    struct app_int *own = app->own;

    for (int i = 0; i < own->answers; i++)
        free(own->answer[i]);
    own->answers = 0;
    own->popup = POPUP_NONE;
    app->dirty = true;
}

static struct app_int *begin(struct app *app, enum app_popup kind)
{
    struct app_int *own = app->own;

    popup_close(app);
    own->popup = kind;
    own->popups++;
    own->said[0] = 0;
    return own;
}

void app_ask(struct app *app, const char *question, const char *const *answers,
             void (*chosen)(void *user, int answer), void *user)
{
    struct app_int *own = begin(app, POPUP_ASK);

    text_clear(&own->question);
    text_add(&own->question, question);
    while (own->answers < APP_ANSWERS && answers[own->answers]) {
        own->answer[own->answers] = mem_text(answers[own->answers]);
        own->answers++;
    }
    own->chosen = 0;
    own->on_answer = chosen;
    own->user = user;
}

void app_prompt(struct app *app, const char *label, const char *text,
                void (*entered)(void *user, const char *text),
                void (*complete)(const char *text, struct text *more), void *user)
{
    struct app_int *own = begin(app, POPUP_PROMPT);
    char *copy = mem_text(text ? text : "");

    text_clear(&own->label);
    text_add(&own->label, label);
    text_clear(&own->typed);
    text_add(&own->typed, copy);
    free(copy);
    own->cursor = own->typed.n;
    own->fresh = false;
    own->on_text = entered;
    own->complete = complete;
    own->user = user;
}

static void open_page(struct app *app, const char *title, const char *lines, bool whole)
{
    struct app_int *own = begin(app, POPUP_PAGE);

    text_clear(&own->label);
    text_add(&own->label, title);
    text_clear(&own->page);
    text_add(&own->page, lines);
    own->page_first = own->page_left = 0;
    own->page_whole = whole;
}

void app_page(struct app *app, const char *title, const char *lines)
{
    open_page(app, title, lines, false);
}

void popup_whole_page(struct app *app, const char *title, const char *lines)
{
    open_page(app, title, lines, true);
}

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

    switch (key->code) {
    case UI_ESC:
    case 3: /* Ctrl-C */
        answer(app, -1);
        return;
    case UI_ENTER:
        answer(app, own->chosen);
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
    }
    for (int i = 0; i < own->answers; i++) {
        if ((key->code | 0x20) == (own->answer[i][0] | 0x20) && key->code > ' ' &&
            key->code < 0x7f) {
            answer(app, i);
            return;
        }
    }
}

static size_t before(const struct text *t, size_t at)
{
    while (at > 0 && (((unsigned char)t->s[--at]) & 0xc0) == 0x80)
        ;
    return at;
}

static size_t behind(const struct text *t, size_t at)
{
    if (at < t->n)
        at++;
    while (at < t->n && ((unsigned char)t->s[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static void cut(struct text *t, size_t from, size_t to)
{
    struct text whole = {0};

    text_add_n(&whole, text_str(t), from);
    text_add_n(&whole, text_str(t) + to, t->n - to);
    text_free(t);
    *t = whole;
}

static void insert(struct text *t, size_t at, const char *s, size_t n)
{
    struct text whole = {0};

    text_add_n(&whole, text_str(t), at);
    text_add_n(&whole, s, n);
    text_add_n(&whole, text_str(t) + at, t->n - at);
    text_free(t);
    *t = whole;
}

static int encode(int32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static void prompt_end(struct app *app, bool take)
{
    struct app_int *own = app->own;
    void (*entered)(void *user, const char *text) = own->on_text;
    char *text = take ? mem_text(text_str(&own->typed)) : NULL;
    void *user = own->user;

    popup_close(app);
    entered(user, text);
    free(text);
}

static void prompt_key(struct app *app, const struct key *key)
{
    struct app_int *own = app->own;
    struct text *t = &own->typed;
    struct text more = {0};
    char bytes[4];
    size_t from;

    switch (key->code) {
    case UI_ENTER:
        prompt_end(app, true);
        return;
    case UI_ESC:
    case 3:
        prompt_end(app, false);
        return;
    case UI_LEFT:
        own->cursor = before(t, own->cursor);
        return;
    case UI_RIGHT:
        own->cursor = behind(t, own->cursor);
        return;
    case UI_HOME:
    case 1:
        own->cursor = 0;
        return;
    case UI_END:
    case 5:
        own->cursor = t->n;
        return;
    case UI_BACKSPACE:
        from = before(t, own->cursor);
        cut(t, from, own->cursor);
        own->cursor = from;
        return;
    case UI_DELETE:
        cut(t, own->cursor, behind(t, own->cursor));
        return;
    case 21: /* Ctrl-U */
        cut(t, 0, own->cursor);
        own->cursor = 0;
        return;
    case 23: /* Ctrl-W: a word */
        from = own->cursor;
        while (from > 0 && t->s[from - 1] == ' ')
            from--;
        while (from > 0 && t->s[from - 1] != ' ')
            from--;
        cut(t, from, own->cursor);
        own->cursor = from;
        return;
    case UI_TAB:
        if (own->complete && own->cursor == t->n) {
            own->complete(text_str(t), &more);
            text_add(t, text_str(&more));
            text_free(&more);
            own->cursor = t->n;
        }
        return;
    }
    if (key->code >= ' ' && key->code < 0x110000 && key->code != 0x7f && t->n < 8192) {
        int n = encode(key->code, bytes);

        insert(t, own->cursor, bytes, (size_t)n);
        own->cursor += (size_t)n;
    }
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
    default: /* whatever is pressed, the page goes */
        popup_close(app);
    }
}

bool popup_key(struct app *app, const struct key *key)
{
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

static int count_rows(const char *text, int columns)
{
    struct grid g;
    int rows;

    grid_init(&g, 0, 0, false);
    rows = grid_words(&g, (struct rect){0, 0, 0, columns}, 0, GRID_TEXT, text);
    grid_free(&g);
    return rows;
}

static void draw_ask(struct app *app, struct grid *g)
{
    struct app_int *own = app->own;
    int columns = g->columns < 90 ? g->columns : 80, rows;
    struct rect frame, in;

    rows = count_rows(text_str(&own->question), columns - 4);
    frame = middle(g, rows + own->answers + 4, columns);
    grid_fill(g, frame, GRID_TEXT);
    in = grid_frame(g, frame, "", true);
    in = rect_before(rect_behind(in, 1), 1);
    grid_words(g, in, 0, GRID_TEXT, text_str(&own->question));
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
    struct text head = {0}, clean = {0}, before_cursor = {0};
    struct rect field;
    int column, width;

    grid_fill(g, line, GRID_TEXT);
    column = grid_cut(g, line, 0, 1, line.columns / 2, GRID_KEY, false, text_str(&own->label)) + 1;
    field = rect_before(rect_behind(line, column), 1);
    text_add_n(&head, text_str(&own->typed), own->cursor);
    text_add_clean(&before_cursor, text_str(&head));
    text_add_clean(&clean, text_str(&own->typed));
    width = text_width(text_str(&before_cursor));
    if (width >= field.columns) { /* the cursor stays in sight: what is before it goes out */
        grid_cut(g, field, 0, 0, field.columns - 1, GRID_FIELD, true, text_str(&before_cursor));
        width = field.columns - 1;
    } else {
        grid_cut(g, field, 0, 0, field.columns, GRID_FIELD, false, text_str(&clean));
    }
    g->cursor_column = field.column + width;
    g->cursor_row = line.row;
    text_free(&head);
    text_free(&clean);
    text_free(&before_cursor);
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
    own->page_lines = count_rows(text_str(&own->page), wide);
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
