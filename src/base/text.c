#include "base/text.h"
#include "base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void text_add_n(struct text *t, const void *s, size_t n)
{
    t->s = mem_grow(t->s, &t->room, t->n + n + 1, 1);
    if (n)
        memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

void text_add(struct text *t, const char *s)
{
    text_add_n(t, s, strlen(s));
}

void text_addv(struct text *t, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n > 0) {
        t->s = mem_grow(t->s, &t->room, t->n + (size_t)n + 1, 1);
        vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

void text_addf(struct text *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    text_addv(t, fmt, args);
    va_end(args);
}

void text_clear(struct text *t)
{
    t->n = 0;
    if (t->s)
        t->s[0] = 0;
}

void text_free(struct text *t)
{
    free(t->s);
    *t = (struct text){0};
}

const char *text_str(const struct text *t)
{
    return t->s ? t->s : "";
}

bool text_is_among(const char *s, const char *const *words, size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(s, words[i]) != 0)
        i++;
    return i < n;
}

bool text_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !memcmp(s + n - m, end, m);
}

bool text_has_ending_any_case(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);

    return n > m && !strcasecmp(name + n - m, ending);
}

size_t text_stem(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n > m && text_ends_with(s, end) ? n - m : n;
}

char *text_trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        s[--n] = 0;
    return s;
}

/* Edits (insert, delete, change, swap of neighbours) between two words, by rows. */
static int text_distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    int row[3][LONGEST + 1];
    int n = (int)strlen(a), m = (int)strlen(b);

    if (n > LONGEST || m > LONGEST)
        return INT_MAX;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *older = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *text_nearest(const char *s, const char *const *words)
{
    const char *best = NULL;
    int limit = 1 + (int)strlen(s) / 4, nearest = limit + 1;

    for (; *words; words++) {
        int d = text_distance(s, *words);
        if (d < nearest) {
            nearest = d;
            best = *words;
        }
    }
    return best;
}
