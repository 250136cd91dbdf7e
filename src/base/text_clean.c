/* Text from files, made safe to show: what drives a terminal or turns the direction of writing is
 * made visible, never passed on. And JSON strings. */
#include "base/text.h"

#include <math.h>
#include <string.h>

/* The code point at s and its length in bytes; length 0 where the bytes are not UTF-8. */
static int clean_decode(const unsigned char *s, uint32_t *code)
{
    int n = s[0] < 0x80                   ? 1
            : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
            : (s[0] & 0xf0) == 0xe0       ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;

    if (n <= 1) {
        *code = s[0];
        return n;
    }
    uint32_t c = s[0] & (0xffu >> (n + 1));
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
        (c >= 0xd800 && c < 0xe000))
        return 0;
    *code = c;
    return n;
}

static bool clean_hidden(uint32_t c)
{
    return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

static bool clean_drives(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || clean_hidden(c);
}

/* The next character, as text_add_clean shows it. Returns its bytes. */
static int clean_add_next(struct text *t, const unsigned char *p)
{
    uint32_t c;
    int n = clean_decode(p, &c);

    if (!n)
        text_addf(t, "\\x%02X", *p);
    else if (c < 0x20 || c == 0x7f)
        text_addf(t, "^%c", (char)(c ^ 0x40));
    else if (clean_drives(c))
        text_addf(t, "<U+%04X>", (unsigned)c);
    else
        text_add_n(t, p, (size_t)n);
    return n ? n : 1;
}

void text_add_clean(struct text *t, const char *s)
{
    const unsigned char *p = (const unsigned char *)s;

    while (*p)
        p += clean_add_next(t, p);
}

const char *text_clean(char out[TEXT_CLEAN_ROOM], const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    struct text t = {0};
    size_t kept = 0; /* of a longer word: "..." follows */

    for (; *p && t.n < TEXT_CLEAN_ROOM; p += clean_add_next(&t, p))
        if (t.n <= TEXT_CLEAN_ROOM - sizeof "...")
            kept = t.n;
    if (t.n >= TEXT_CLEAN_ROOM) {
        t.n = kept;
        text_add(&t, "...");
    }
    memcpy(out, text_str(&t), t.n + 1);
    text_free(&t);
    return out;
}

/* The bytes of one of the colours that drawings use, 0 where another sequence begins, which might
 * hide text. */
static int clean_colour(const unsigned char *p)
{
    unsigned value[6] = {0};
    int n = 0, at = 2;
    bool plain, both;

    if (p[0] != 033 || p[1] != '[')
        return 0;
    for (; (p[at] >= '0' && p[at] <= '9') || (p[at] == ';' && n < 5); at++) {
        if (p[at] == ';')
            n++;
        else if (value[n] < 1000)
            value[n] = value[n] * 10 + (p[at] - (unsigned)'0');
    }
    plain = n == 0 && (!value[0] || (value[0] > 30 && value[0] < 37));
    both = n == 5 && (value[0] == 38 || value[0] == 48) && value[0] + value[3] == 86 &&
           value[1] == 5 && value[4] == 5;
    return p[at] == 'm' && (plain || both) ? at + 1 : 0;
}

/* The bytes at p that are printed as they are, 0 where the next character must be shown. */
static int clean_plain(const unsigned char *p, bool colours)
{
    uint32_t c;
    int n = clean_decode(p, &c);

    if (!n) /* of another character set */
        return *p >= 0xa0;
    if (c == '\n' || c == '\t' || !clean_drives(c))
        return n;
    return colours ? clean_colour(p) : 0;
}

void text_add_printed(struct text *t, const char *s, size_t n, bool colours)
{
    const unsigned char *p = (const unsigned char *)s, *end = p + n, *from = p;

    while (p < end) {
        int bytes = clean_plain(p, colours);

        p += bytes;
        if (bytes)
            continue;
        text_add_n(t, from, (size_t)(p - from));
        p += clean_add_next(t, p);
        from = p;
    }
    text_add_n(t, from, (size_t)(end - from));
}

static bool clean_wide(uint32_t c)
{
    return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf && c != 0x303f) ||
           (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
           (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
           (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1f64f) ||
           (c >= 0x1f900 && c <= 0x1f9ff) || (c >= 0x20000 && c <= 0x3fffd);
}

static bool clean_combining(uint32_t c)
{
    return (c >= 0x300 && c <= 0x36f) || (c >= 0x483 && c <= 0x489) || (c >= 0x591 && c <= 0x5bd) ||
           (c >= 0x1ab0 && c <= 0x1aff) || (c >= 0x1dc0 && c <= 0x1dff) ||
           (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe00 && c <= 0xfe0f) ||
           (c >= 0xfe20 && c <= 0xfe2f);
}

int text_width(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    int width = 0;

    while (*p) {
        uint32_t c;
        int n = clean_decode(p, &c);
        width += !n ? 1 : clean_combining(c) ? 0 : clean_wide(c) ? 2 : 1;
        p += n ? n : 1;
    }
    return width;
}

/* Beyond 16 bits as two halves: JSON knows no more digits. */
static void clean_add_json(struct text *t, uint32_t c)
{
    if (c >= 0x10000)
        text_addf(t, "\\u%04x", 0xd800 + (unsigned)(c - 0x10000) / 0x400);
    text_addf(t, "\\u%04x", c < 0x10000 ? (unsigned)c : 0xdc00 + (unsigned)c % 0x400);
}

void text_add_json(struct text *t, const char *s)
{
    const unsigned char *p = (const unsigned char *)s;

    text_add(t, "\"");
    while (*p) {
        uint32_t c;
        int n = clean_decode(p, &c);
        if (!n) {
            text_add(t, "\xef\xbf\xbd"); /* JSON is UTF-8: what is not becomes U+FFFD */
            n = 1;
        } else if (c == '"' || c == '\\') {
            text_addf(t, "\\%c", (char)c);
        } else if (c == '\n') {
            text_add(t, "\\n");
        } else if (c == '\t') {
            text_add(t, "\\t");
        } else if (clean_drives(c)) {
            clean_add_json(t, c);
        } else {
            text_add_n(t, p, (size_t)n);
        }
        p += n;
    }
    text_add(t, "\"");
}

void text_add_json_double(struct text *t, double value)
{
    char number[TEXT_NUMBER_ROOM];

    text_add(t, isfinite(value) ? text_double(number, value) : "null");
}

bool text_is_utf8(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    uint32_t c;
    int n = 1;

    for (; *p && n; p += n)
        n = clean_decode(p, &c);
    return n != 0;
}

bool text_is_clean(const char *s)
{
    struct text clean = {0};
    bool is;

    text_add_clean(&clean, s);
    is = !strcmp(text_str(&clean), s);
    text_free(&clean);
    return is;
}
