/* An open field: a line of text with a cursor, what Tab adds to it, and one step further. */
#include "ui/form_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "ui/key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CTRL(letter) ((letter) - 'A' + 1)

void form_line_set(struct form_line *l, const char *text)
{
    text_clear(&l->text);
    text_add(&l->text, text);
    l->at = l->text.n;
    l->selected = false;
}

void form_line_open(struct form_line *l, const char *text)
{
    memset(l, 0, sizeof *l);
    form_line_set(l, text);
    l->selected = *text;
}

void form_line_free(struct form_line *l)
{
    text_free(&l->text);
    memset(l, 0, sizeof *l);
}

static bool is_tail(const struct form_line *l, size_t at)
{
    return at < l->text.n && ((unsigned char)l->text.s[at] & 0xc0) == 0x80;
}

static size_t before(const struct form_line *l, size_t at)
{
    at -= at > 0;
    while (at > 0 && is_tail(l, at))
        at--;
    return at;
}

static size_t behind(const struct form_line *l, size_t at)
{
    at += at < l->text.n;
    while (is_tail(l, at))
        at++;
    return at;
}

/* Puts text where from..to stood; the cursor behind it. */
static void replace(struct form_line *l, size_t from, size_t to, const char *text)
{
    struct text t = {0};

    text_add_n(&t, text_str(&l->text), from);
    text_add(&t, text);
    l->at = t.n;
    text_add(&t, text_str(&l->text) + to);
    text_free(&l->text);
    l->text = t;
}

static size_t word_before(const struct form_line *l)
{
    size_t at = l->at;
    const char *s = text_str(&l->text);

    while (at > 0 && strchr(" ,/", s[at - 1]))
        at--;
    while (at > 0 && !strchr(" ,/", s[at - 1]))
        at--;
    return at;
}

static void add_utf8(char out[5], uint32_t code)
{
    size_t n = 0;

    if (code < 0x80) {
        out[n++] = (char)code;
    } else if (code < 0x800) {
        out[n++] = (char)(0xc0 | code >> 6);
        out[n++] = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        out[n++] = (char)(0xe0 | code >> 12);
        out[n++] = (char)(0x80 | (code >> 6 & 63));
        out[n++] = (char)(0x80 | (code & 63));
    } else {
        out[n++] = (char)(0xf0 | (code >> 18 & 7));
        out[n++] = (char)(0x80 | (code >> 12 & 63));
        out[n++] = (char)(0x80 | (code >> 6 & 63));
        out[n++] = (char)(0x80 | (code & 63));
    }
    out[n] = 0;
}

static void erase(struct form_line *l, size_t from, size_t to, bool *changed)
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

static bool move(struct form_line *l, size_t to)
{
    l->at = to;
    l->selected = false;
    return true;
}

bool form_line_key(struct form_line *l, int32_t code, bool *changed)
{
    char typed[5];

    *changed = false;
    switch (code) {
    case UI_LEFT:
        return move(l, l->selected ? 0 : before(l, l->at));
    case UI_RIGHT:
        return move(l, l->selected ? l->text.n : behind(l, l->at));
    case UI_HOME:
    case CTRL('A'):
        return move(l, 0);
    case UI_END:
    case CTRL('E'):
        return move(l, l->text.n);
    case UI_BACKSPACE:
    case CTRL('H'):
        erase(l, before(l, l->at), l->at, changed);
        return true;
    case UI_DELETE:
        erase(l, l->at, behind(l, l->at), changed);
        return true;
    case CTRL('U'):
        erase(l, 0, l->at, changed);
        return true;
    case CTRL('W'):
        erase(l, word_before(l), l->at, changed);
        return true;
    default:
        break;
    }
    if (code < 32 || code == 127 || code >= 0x110000 || (code >= 0xd800 && code < 0xe000))
        return false;
    add_utf8(typed, (uint32_t)code);
    replace(l, l->selected ? 0 : l->at, l->selected ? l->text.n : l->at, typed);
    l->selected = false;
    *changed = true;
    return true;
}

/* ---- completion ---- */

struct fits {
    char *common; /* what all that fit have in common, behind the typed part */
    size_t count;
};

static void add_fit(struct fits *fits, const char *rest, const char *name, struct text *several)
{
    size_t n = 0;

    if (!fits->count++) {
        fits->common = mem_text(rest);
    } else {
        while (fits->common[n] && fits->common[n] == rest[n])
            n++;
        fits->common[n] = 0;
    }
    text_addf(several, "%s%s", several->n ? "  " : "", name);
}

static void add_files(struct fits *fits, const char *typed, struct text *several)
{
    const char *slash = strrchr(typed, '/'), *start = slash ? slash + 1 : typed;
    char *folder = slash == typed ? mem_text("/")
                   : slash        ? mem_text_n(typed, (size_t)(slash - typed))
                                  : mem_text(".");
    size_t n = strlen(start), count = 0;
    char **names = NULL;

    if (folder[0] == '~' && folder[1] == 0) { /* the only one that stands for something else here */
        free(folder);
        folder = mem_text(getenv("HOME") ? getenv("HOME") : "~");
    }
    if (io_list_folder(folder, &names, &count, NULL) == ERR_OK) {
        for (size_t i = 0; i < count; i++) {
            char *path, *shown;

            if (strncmp(names[i], start, n) != 0 || (names[i][0] == '.' && !n))
                continue;
            path = io_path(folder, names[i]);
            shown = mem_textf("%s%s", names[i], io_is_folder(path) ? "/" : "");
            add_fit(fits, shown + n, shown, several);
            free(shown);
            free(path);
        }
        io_free_names(names, count);
    }
    free(folder);
}

bool form_complete(const char *text, const char *const *words, struct text *more,
                   struct text *several)
{
    const char *typed = text;
    struct fits fits = {0};
    bool quoted = false;

    for (const char *p = text; *p; p++) {
        quoted ^= *p == '"';
        if (!quoted && (*p == ',' || *p == ':' || *p == '"'))
            typed = p + 1;
    }
    while (*typed == ' ' || *typed == '"')
        typed++;
    text_clear(several);
    for (size_t i = 0; words && words[i]; i++)
        if (!strncmp(words[i], typed, strlen(typed)))
            add_fit(&fits, words[i] + strlen(typed), words[i], several);
    if (!fits.count)
        add_files(&fits, typed, several);
    if (fits.count < 2)
        text_clear(several);
    if (fits.count)
        text_add(more, fits.common);
    free(fits.common);
    return more->n || several->n;
}

/* ---- one step further ---- */

/* 1, 2, 5, 10 and so on: the nearest of them above or below. */
static double next_decade(double x, int by)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(x) + 1e-9));

    for (int i = 0; by > 0 && i < 4; i++)
        if (steps[i] * power > x * (1 + 1e-9))
            return steps[i] * power;
    for (int i = 3; by < 0 && i >= 0; i--)
        if (steps[i] * power < x * (1 - 1e-9))
            return steps[i] * power;
    return 5 * power / 10;
}

static bool step_number(int step, const char *text, int by, char out[TEXT_NUMBER_ROOM])
{
    int64_t whole;
    double x;

    if (step == FORM_STEP_DECADE) {
        char rounded[TEXT_NUMBER_ROOM];

        if (!text_to_double(text, &x) || !(x > 0) || x > 1e12)
            return false;
        snprintf(rounded, sizeof rounded, "%.1g", next_decade(x, by)); /* 0.05, not 0.05000000001 */
        if (!text_to_double(rounded, &x))
            return false;
        text_double(out, x);
        return true;
    }
    if (!text_to_int(text, &whole) || whole > INT32_MAX)
        return false;
    if (step == FORM_STEP_DOUBLE)
        whole = by > 0 ? whole * 2 : whole / 2;
    else
        whole += by;
    snprintf(out, TEXT_NUMBER_ROOM, "%lld", (long long)whole);
    return true;
}

static const char *next_choice(const char *const *choices, const char *now, int by)
{
    int n = 0, at = -1;

    while (choices[n])
        n++;
    for (int i = 0; i < n; i++)
        if (!strcmp(choices[i], now))
            at = i;
    if (!n)
        return NULL;
    return choices[at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n];
}

bool form_step(struct form *f, size_t i, int by, const char *const *choices)
{
    const struct form_field *x = &f->field[i];
    char number[TEXT_NUMBER_ROOM];
    const char *next = NULL;
    struct text now = {0};
    struct err e;
    bool stepped;

    form_value(f, i, &now);
    if (!now.n && !strcmp(x->key, "normalize"))
        text_add(&now, "255");
    if (choices)
        next = next_choice(choices, text_str(&now), by);
    else if (x->is->step && step_number(x->is->step, text_str(&now), by, number))
        next = number;
    stepped = next && strcmp(next, text_str(&now)) != 0;
    if (stepped) { /* back at the default: as if nobody had said it */
        struct text normal = {0};

        form_add_default(f, i, &normal);
        if (!x->saved && !strcmp(next, text_str(&normal)))
            next = NULL;
        stepped = form_set(f, i, next, &e) == ERR_OK;
        text_free(&normal);
    }
    text_free(&now);
    return stepped;
}
