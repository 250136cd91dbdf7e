#include "ui/widgets/line.h"

#include "draw/ink/words.h"
#include "ui/term/key.h"

#include <string.h>

#define CTRL(letter) ((letter) - 'A' + 1)

void line_set(struct line_edit *l, const char *text)
{
    text_clear(&l->text);
    text_add(&l->text, text);
    l->at = l->text.n;
    l->selected = false;
}

void line_free(struct line_edit *l)
{
    text_free(&l->text);
    memset(l, 0, sizeof *l);
}

/* Puts text where from..to stood; the cursor behind it. */
static void replace(struct line_edit *l, size_t from, size_t to, const char *text)
{
    struct text t = {0};

    text_add_n(&t, text_str(&l->text), from);
    text_add(&t, text);
    l->at = t.n;
    text_add(&t, text_str(&l->text) + to);
    text_free(&l->text);
    l->text = t;
}

static size_t word_before(const struct line_edit *l)
{
    size_t at = l->at;
    const char *s = text_str(&l->text);

    while (at > 0 && strchr(" ,/", s[at - 1]))
        at--;
    while (at > 0 && !strchr(" ,/", s[at - 1]))
        at--;
    return at;
}

static void erase(struct line_edit *l, size_t from, size_t to, bool *changed)
{
    if (l->selected) {
        from = 0;
        to = l->text.n;
    }
    *changed = to > from;
    if (to > from)
        replace(l, from, to, "");
    l->selected = false;
}

static bool move(struct line_edit *l, size_t to)
{
    l->at = to;
    l->selected = false;
    return true;
}

bool line_key(struct line_edit *l, int32_t code, bool *changed)
{
    char typed[5];

    *changed = false;
    switch (code) {
    case UI_LEFT:
        return move(l, l->selected ? 0 : words_before(text_str(&l->text), l->at));
    case UI_RIGHT:
        return move(l, l->selected ? l->text.n : words_behind(text_str(&l->text), l->at));
    case UI_HOME:
    case CTRL('A'):
        return move(l, 0);
    case UI_END:
    case CTRL('E'):
        return move(l, l->text.n);
    case UI_BACKSPACE:
    case CTRL('H'):
        erase(l, words_before(text_str(&l->text), l->at), l->at, changed);
        return true;
    case UI_DELETE:
    case CTRL('D'):
        erase(l, l->at, words_behind(text_str(&l->text), l->at), changed);
        return true;
    case CTRL('U'):
        erase(l, 0, l->at, changed);
        return true;
    case CTRL('K'):
        erase(l, l->at, l->text.n, changed);
        return true;
    case CTRL('W'):
        erase(l, word_before(l), l->at, changed);
        return true;
    default:
        break;
    }
    if (code < 32 || code == 127 || code >= 0x110000 || (code >= 0xd800 && code < 0xe000))
        return false;
    if (l->text.n >= LINE_MOST && !l->selected)
        return true;
    words_code(typed, (uint32_t)code);
    replace(l, l->selected ? 0 : l->at, l->selected ? l->text.n : l->at, typed);
    l->selected = false;
    *changed = true;
    return true;
}

void line_draw(const struct line_edit *l, struct grid *g, struct rect field)
{
    struct text before = {0}, clean = {0}, whole = {0};
    int at, from = 0;

    field.rows = 1;
    if (field.columns <= 0)
        return;
    text_add_n(&before, text_str(&l->text), l->at);
    text_add_clean(&clean, text_str(&before));
    text_add_clean(&whole, text_str(&l->text));
    at = text_width(text_str(&clean));
    if (at >= field.columns)
        from = at - field.columns + 1;
    grid_fill(g, field, GRID_FIELD);
    grid_text(g, field, 0, -from, l->selected ? GRID_CHOSEN : GRID_FIELD, text_str(&whole));
    if (from) /* what is seen is not the whole */
        grid_bold(g, field, 0, 0, GRID_KEY, "‹");
    g->cursor_row = field.row;
    g->cursor_column = field.column + at - from;
    text_free(&before);
    text_free(&clean);
    text_free(&whole);
}
