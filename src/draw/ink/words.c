#include "draw/ink/words.h"

#include "base/mem.h"

void words_code(char b[5], uint32_t code)
{
    int n;

    if (code < 0x80) {
        b[0] = (char)code;
        n = 1;
    } else if (code < 0x800) {
        b[0] = (char)(0xc0 | code >> 6);
        n = 2;
    } else if (code < 0x10000) {
        b[0] = (char)(0xe0 | code >> 12);
        n = 3;
    } else {
        b[0] = (char)(0xf0 | (code >> 18 & 7));
        n = 4;
    }
    for (int i = 1; i < n; i++)
        b[i] = (char)(0x80 | (code >> (6 * (n - 1 - i)) & 0x3f));
    b[n] = 0;
}

void words_add_code(struct text *out, uint32_t code)
{
    char b[5];

    words_code(b, code);
    text_add(out, b);
}

static bool is_tail(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

uint32_t words_next(const char **s)
{
    const unsigned char *b = (const unsigned char *)(*s)++;
    int more = b[0] < 0x80 ? 0 : b[0] >= 0xf0 ? 3 : b[0] >= 0xe0 ? 2 : 1;
    uint32_t code = more ? b[0] & (0x3fu >> more) : b[0];

    if (b[0] >= 0x80 && (b[0] < 0xc2 || b[0] > 0xf4))
        return '?';
    for (int i = 1; i <= more; i++) {
        if (!is_tail((char)b[i]))
            return '?';
        code = code << 6 | (b[i] & 0x3fu);
    }
    *s += more;
    return code;
}

size_t words_before(const char *s, size_t at)
{
    at -= at > 0;
    while (at > 0 && is_tail(s[at]))
        at--;
    return at;
}

size_t words_behind(const char *s, size_t at)
{
    at += s[at] != 0;
    while (is_tail(s[at]))
        at++;
    return at;
}

int words_width(uint32_t code)
{
    char bytes[5];

    if (code < 0x300)
        return 1;
    words_code(bytes, code);
    return text_width(bytes);
}

/* The bytes of a clean text that fit into so many columns. */
static size_t head_of(const char *s, int columns)
{
    const char *end = s;

    for (const char *next = s; *next; end = next) {
        columns -= words_width(words_next(&next));
        if (columns < 0)
            break;
    }
    return (size_t)(end - s);
}

/* Where those of its end begin that fit; an accent stays behind its letter. */
static size_t tail_of(const char *s, size_t n, int columns)
{
    size_t tail = n;

    while (n > 0 && columns > 0) {
        const char *at;
        int width;

        n = words_before(s, n);
        at = s + n;
        width = words_width(words_next(&at));
        columns -= width;
        if (width > 0 && columns >= 0)
            tail = n;
    }
    return tail;
}

/* Of what is longer only the parts that are shown are looked at. */
void words_add_cut(struct text *out, const char *s, int columns, bool ascii)
{
    struct text clean = {0};
    const char *dots = ascii ? "..." : "…";
    int room = columns - (ascii ? 3 : 1);

    text_add_clean(&clean, s);
    s = text_str(&clean);
    if (room < 2 || !s[head_of(s, columns)]) {
        text_add(out, s);
    } else { /* the end tells more than the beginning */
        text_add_n(out, s, head_of(s, room / 2));
        text_addf(out, "%s%s", dots, s + tail_of(s, clean.n, room - room / 2));
    }
    text_free(&clean);
}

static const struct {
    uint32_t code;
    char plain;
} plain[] = {{0x00b7, '.'}, {0x00b1, '+'}, {0x00d7, 'x'}, {0x2013, '-'}, {0x2014, '-'},
             {0x2016, '='}, {0x2026, '~'}, {0x25cf, '*'}, {0x25cb, 'o'}, {0x2588, '#'},
             {0x2591, '.'}, {0x2039, '<'}, {0x203a, '>'}, {0x2592, ':'}, {0x2593, '%'},
             {0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'}, {0x25b8, '>'},
             {0x25be, 'v'}, {0x2713, '+'}, {0x2717, 'x'}, {0x2500, '-'}, {0x2502, '|'},
             {0x25b2, '^'}, {0x25a0, '#'}, {0x25c6, 'o'}, {0x25b3, '^'}, {0x25a1, 'o'},
             {0x25c7, 'o'}, {0x2248, '~'}, {0x2264, '<'}, {0x2265, '>'}};

char words_plain(uint32_t code)
{
    if (code < 0x80)
        return (char)code;
    for (size_t i = 0; i < MEM_COUNT(plain); i++)
        if (plain[i].code == code)
            return plain[i].plain;
    return '?';
}

void words_add_plain(struct text *out, const char *s)
{
    while (*s) {
        uint32_t code = words_next(&s);

        for (int i = words_width(code); i > 0; i--)
            text_addf(out, "%c", words_plain(code));
        if (code == 0x00b1) {
            text_add(out, "-");
            s += *s == ' ' && s[1] >= '0' && s[1] <= '9';
        }
    }
}

void words_add_title(struct text *out, const char *title, const char *note)
{
    if (title && *title)
        text_addf(out, note && *note ? "%s, %s" : "%s", title, note);
}
