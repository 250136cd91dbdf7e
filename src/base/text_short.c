/* Computed numbers for people: no more digits than tell them apart. */
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOLD 1000
#define LEAST     3
#define TYPED     6 /* people type no more digits; they want to see those again */
#define MOST      17

/* Digits behind leading zeros, without the exponent. */
static int digits_of(const char *s)
{
    int n = 0, zeros = 0;

    s += *s == '-';
    for (; *s && *s != 'e' && *s != 'E'; s++) {
        if (*s == '.' || (*s == '0' && !n))
            continue;
        zeros = *s == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

void text_add_short(struct text *t, const char *value, int digits)
{
    char cut[64], number[TEXT_NUMBER_ROOM], *point;
    double x;
    int whole;

    if (!text_to_double(value, &x) || !isfinite(x) || digits_of(value) <= TYPED) {
        text_add(t, value);
        return;
    }
    whole = fabs(x) >= 1 && fabs(x) < 1e15 ? (int)floor(log10(fabs(x))) + 1 : 0;
    snprintf(cut, sizeof cut, "%.*e", (digits > whole ? digits : whole) - 1, x);
    point = strchr(cut, ','); /* of a locale */
    if (point)
        *point = '.';
    text_add(t, text_to_double(cut, &x) ? text_double(number, x) : value);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many different ones there are, cut to so many digits; 0: not at all. */
static size_t different(const char *const *values, size_t n, int digits)
{
    char **cut = mem_new(n + 1, sizeof *cut);
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        struct text t = {0};

        text_add(&t, "");
        if (digits)
            text_add_short(&t, values[i], digits);
        else
            text_add(&t, values[i]);
        cut[i] = t.s;
    }
    qsort(cut, n, sizeof *cut, by_text);
    for (size_t i = 0; i < n; i++)
        found += i == 0 || strcmp(cut[i], cut[i - 1]) != 0;
    for (size_t i = 0; i < n; i++)
        free(cut[i]);
    free(cut);
    return found;
}

int text_least_digits(const char *const *values, size_t n)
{
    size_t all;
    int digits = LEAST;

    if (n > MOST_TOLD)
        return MOST; /* nobody tells so many apart by looking */
    all = different(values, n, 0);
    while (digits < MOST && different(values, n, digits) < all)
        digits++;
    return digits;
}
