/* An open field: what Tab adds to its text, and one step further. */
#include "ui/setup/form_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEEN  20
#define MOST_ASKED 64   /* files */
#define MOST_SHOWN 4000 /* bytes of their names */

struct fits {
    char *common; /* what all that fit have in common, behind the typed part */
    size_t count;
    bool whole; /* one of them is what was typed */
};

static void add_fit(struct fits *fits, const char *rest, const char *name, struct text *several)
{
    size_t n = 0;

    fits->whole |= !*rest;
    if (!fits->count++) {
        fits->common = mem_text(rest);
    } else {
        while (fits->common[n] && fits->common[n] == rest[n])
            n++;
        fits->common[n] = 0;
    }
    if (several->n < MOST_SHOWN) {
        text_add(several, several->n ? "  " : "");
        text_add_clean(several, name);
    }
}

static void add_files(struct fits *fits, const char *typed, struct text *several)
{
    const char *start = io_last_part(typed);
    char *whole = io_home_path(typed), *folder = io_folder_of(whole);
    size_t n = strlen(start), count = 0;
    char **names = NULL;

    if (io_list_folder(folder, &names, &count, NULL) == ERR_OK) {
        for (size_t i = 0; i < count; i++) {
            char *path, *shown;

            if (strncmp(names[i], start, n) != 0 || (names[i][0] == '.' && !n))
                continue;
            path = io_path(folder, names[i]);
            /* of very many nobody sees which are folders, and each is asked of the disk */
            shown = mem_textf("%s%s", names[i],
                              fits->count < MOST_ASKED && io_is_folder(path) ? "/" : "");
            add_fit(fits, shown + n, shown, several);
            free(shown);
            free(path);
        }
        io_free_names(names, count);
    }
    free(folder);
    free(whole);
}

/* More than anybody sees: how many there are comes first. */
static void put_count(const struct fits *fits, struct text *several)
{
    struct text all = {0};
    char number[TEXT_NUMBER_ROOM];

    text_addf(&all, "%s of them: %s", text_count(number, fits->count), text_str(several));
    text_free(several);
    *several = all;
}

/* What fits alone, or is there whole, is nothing to choose. */
static void end_several(const struct fits *fits, struct text *several)
{
    if (fits->count < 2 || fits->whole)
        text_clear(several);
    else if (fits->count > MOST_SEEN)
        put_count(fits, several);
}

/* With what was found behind it. A name with a comma would be two values: the last one is put in quotes,
 * which are closed where nothing can follow. */
static void put_found(const char *text, const char *value, bool quoted, const struct fits *fits,
                      struct text *out)
{
    const char *found = fits->count ? fits->common : "";
    size_t n = strlen(found);
    bool opens = !quoted && *value != '"' && strpbrk(found, ",\"");

    text_add_n(out, text, (size_t)(value - text));
    text_add(out, opens ? "\"" : "");
    text_add(out, value);
    quoted |= opens;
    for (; *found; found++)
        text_add_n(out, quoted && *found == '"' ? "\"\"" : found, quoted && *found == '"' ? 2 : 1);
    if (quoted && fits->count == 1 && !(n && found[-1] == '/'))
        text_add(out, "\"");
}

bool form_complete(const char *text, const char *const *words, struct text *out,
                   struct text *several)
{
    const char *value = text, *typed = text;
    struct fits fits = {0};
    bool quoted = false;

    for (const char *p = text; *p; p++) {
        quoted ^= *p == '"';
        if (!quoted && *p == ',')
            value = p + 1;
        if ((!quoted && *p == ',') || *p == ':' || *p == '"')
            typed = p + 1;
    }
    value += strspn(value, " ");
    while (*typed == ' ' || *typed == '"')
        typed++;
    text_clear(several);
    if (*value == '"' && !quoted) /* nothing follows the closing one */
        words = NULL;
    for (size_t i = 0; words && words[i]; i++)
        if (!strncmp(words[i], typed, strlen(typed)))
            add_fit(&fits, words[i] + strlen(typed), words[i], several);
    if (!fits.count && (quoted || *value != '"'))
        add_files(&fits, typed, several);
    end_several(&fits, several);
    text_clear(out);
    put_found(text, value, quoted, &fits, out);
    free(fits.common);
    return strcmp(text, text_str(out)) != 0 || several->n;
}

void form_complete_path(const char *text, struct text *more, struct text *several)
{
    struct fits fits = {0};

    add_files(&fits, text, several);
    end_several(&fits, several);
    if (fits.count)
        text_add(more, fits.common);
    free(fits.common);
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
