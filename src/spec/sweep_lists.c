/* Lists of values: A, B, C and the forms geom:A:B:N, lin:A:B:N, step:A:B:S and loguniform:A:B. What
 * is typed stays as it was typed; what is computed gets the fewest digits that say it. */
#include "spec/spec_int.h"
#include "base/hash.h"
#include "base/mem.h"
#include "rng/rng.h"
#include "spec/sweep.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Draws for one value that was not drawn yet, before its range counts as used up. */
#define DRAWS 64

struct form {
    const char *word;
    int fields; /* behind the word */
    const char *shape;
};
static const struct form forms[] = {
    {"geom", 3, "geom:A:B:N, N values from A to B by one factor (geom:0.01:1:5)"},
    {"lin", 3, "lin:A:B:N, N values from A to B by one step (lin:0.1:0.5:5)"},
    {"step", 3, "step:A:B:S, from A to B by S, both ends among them (step:32:128:32)"},
    {"loguniform", 2, "loguniform:A:B, drawn between A and B, with samples = N"}};

void spec_list_free(struct spec_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->value[i]);
    free(list->value);
    *list = (struct spec_list){0};
}

static enum err_code add(struct spec_list *list, const char *value, const struct spec_input *in,
                         struct err *e)
{
    if (list->count == SPEC_MOST_CELLS)
        return spec_refuse(in, e, "that is more than %d values", SPEC_MOST_CELLS);
    list->value = mem_grow(list->value, &list->room, list->count + 1, sizeof *list->value);
    list->value[list->count++] = mem_text(value);
    return ERR_OK;
}

/* x with this many significant digits, as the double that such a text is. */
static double rounded(double x, int digits)
{
    char room[TEXT_NUMBER_ROOM];
    int power = digits - 1 - (int)floor(log10(fabs(x)));
    double scale = pow(10, power), near = x;

    if (x == 0 || !isfinite(scale) || scale == 0)
        return x;
    snprintf(room, sizeof room, "%.0fe%d", nearbyint(x * scale), -power);
    return text_to_double(room, &near) ? near : x;
}

/* 0.3 for 0.1 + 2 * 0.1, but 0.03162277660168379 stays. */
static double snapped(double x)
{
    double near = x == 0 ? 0 : rounded(x, 12);

    return fabs(near - x) <= 16 * DBL_EPSILON * fabs(x) ? near : x;
}

static enum err_code add_number(struct spec_list *list, double x, bool whole,
                                const struct spec_input *in, struct err *e)
{
    char room[TEXT_NUMBER_ROOM];

    return add(list, text_double(room, whole ? floor(x + 0.5) : snapped(x)), in, e);
}

/* Whether computed values of this key are rounded to whole numbers. */
static bool is_whole(const struct spec_input *in, const char *a, const char *b)
{
    int64_t number;

    switch (spec_fields[in->id].kind) {
    case FIELD_INT:
    case FIELD_COUNT:
        return true;
    case FIELD_OWN: /* batch, devices, seed, model.NAME, ...: as its ends */
        return text_to_int(a, &number) && text_to_int(b, &number);
    default:
        return false;
    }
}

static enum err_code add_steps(struct spec_list *list, char **field, bool whole, double a, double b,
                               const struct spec_input *in, struct err *e)
{
    char below[TEXT_NUMBER_ROOM], above[TEXT_NUMBER_ROOM];
    double step, steps, count;

    if (!text_to_double(field[2], &step) || !isfinite(step))
        return spec_refuse(in, e, "its step '%.30s' is no finite number", field[2]);
    if (step == 0)
        return spec_refuse(in, e, "its step is 0, and leads nowhere");
    steps = (b - a) / step;
    if (steps < 0)
        return spec_refuse(in, e, "steps of %.30s lead from %.30s away from %.30s", field[2],
                           field[0], field[1]);
    if (!(steps < SPEC_MOST_CELLS))
        return spec_refuse(in, e, "that is more than %d values", SPEC_MOST_CELLS);
    count = nearbyint(steps);
    if (fabs(steps - count) > 1e-9 * fmax(1, steps))
        return spec_refuse(in, e, "steps of %.30s from %.30s miss %.30s: they come to %s and %s",
                           field[2], field[0], field[1],
                           text_double(below, snapped(a + floor(steps) * step)),
                           text_double(above, snapped(a + (floor(steps) + 1) * step)));
    TRY(add(list, field[0], in, e));
    for (double i = 1; i < count; i++)
        TRY(add_number(list, a + i * step, whole && step == floor(step), in, e));
    return count > 0 ? add(list, field[1], in, e) : ERR_OK;
}

static enum err_code add_between(struct spec_list *list, bool geom, char **field, bool whole,
                                 double a, double b, const struct spec_input *in, struct err *e)
{
    int64_t n;

    if (!text_to_int(field[2], &n) || n < 2 || n > SPEC_MOST_CELLS)
        return spec_refuse(in, e, "the number of values '%.30s' is no count from 2 to %d", field[2],
                           SPEC_MOST_CELLS);
    if (geom && (a <= 0 || b <= 0))
        return spec_refuse(in, e, "both ends of geom: must be above 0");
    if (a == b)
        return spec_refuse(in, e, "both ends are %.30s", field[0]);
    TRY(add(list, field[0], in, e));
    for (int64_t i = 1; i < n - 1; i++) {
        /* long, so that what comes out is the double nearest to it */
        long double part = (long double)i / (long double)(n - 1), x;

        if (geom)
            x = expl(logl(a) + part * (logl(b) - logl(a)));
        else
            x = a * (1 - part) + b * part;
        TRY(add_number(list, (double)x, whole, in, e));
    }
    return add(list, field[1], in, e);
}

/* Of a form that is none the reading says what is wrong with it. */
static size_t length_of_form(const char *text)
{
    double a, b, n;
    char last[3][TEXT_NUMBER_ROOM];
    const char *at = strchr(text, ':') + 1;

    if (sscanf(at, "%39[^:]:%39[^:]:%39[^:,]", last[0], last[1], last[2]) != 3 ||
        !text_to_double(text_trim(last[0]), &a) || !text_to_double(text_trim(last[1]), &b) ||
        !text_to_double(text_trim(last[2]), &n))
        return 0;
    if (!strncmp(text, "step:", 5))
        n = (b - a) / n;
    return n > 0 && n <= SPEC_MOST_CELLS ? (size_t)n : 0;
}

size_t spec_list_length(const char *value)
{
    size_t n = 0;
    bool quoted = false;

    value += strspn(value, " \t");
    if (!spec_is_list(value))
        return 0;
    for (const char *p = value; *p; p++) {
        bool begins = p == value || (!quoted && p[-1] == ',');

        p += begins ? strspn(p, " \t") : 0;
        quoted ^= *p == '"';
        if (begins)
            n += spec_is_form(p) ? length_of_form(p) : 1;
        if (!*p)
            break;
    }
    return n;
}

/* field: what stands between the colons; its text is the caller's. */
static enum err_code add_form(struct spec_list *list, const struct form *form, char **field,
                              const struct spec_input *in, struct err *e)
{
    double end[2];
    bool whole = is_whole(in, field[0], field[1]);

    for (int i = 0; i < 2; i++)
        if (!text_to_double(field[i], &end[i]) || !isfinite(end[i]))
            return spec_refuse(in, e, "its end '%.30s' is no finite number", field[i]);
    if (!strcmp(form->word, "step"))
        return add_steps(list, field, whole, end[0], end[1], in, e);
    if (strcmp(form->word, "loguniform") != 0)
        return add_between(list, !strcmp(form->word, "geom"), field, whole, end[0], end[1], in, e);
    if (end[0] <= 0 || end[1] <= end[0])
        return spec_refuse(in, e, "its ends must be above 0 and the second above the first");
    list->drawn = true;
    list->lo = end[0];
    list->hi = end[1];
    list->whole = whole;
    TRY(add(list, field[0], in, e)); /* the ends stand in for the values until those are drawn */
    return add(list, field[1], in, e);
}

static enum err_code read_form(struct spec_list *list, const char *text,
                               const struct spec_input *in, struct err *e)
{
    const struct form *form = forms;
    char *copy = mem_text(text), *field[4] = {0}, *at = strchr(copy, ':');
    struct spec_input own = *in;
    enum err_code code = ERR_OK;
    int n = 0;

    while (strncmp(text, form->word, (size_t)(at - copy)) != 0)
        form++;
    while (at && n < 4) {
        *at++ = 0;
        field[n++] = at;
        at = strchr(at, ':');
    }
    for (int i = 0; i < n; i++)
        field[i] = text_trim(field[i]);
    own.form = form->shape;
    code = n == form->fields
               ? add_form(list, form, field, &own, e)
               : spec_refuse(&own, e, "it needs %d values behind %s:", form->fields, form->word);
    free(copy);
    return code;
}

static enum err_code read_part(struct spec_list *list, char *part, bool alone,
                               const struct spec_input *in, struct err *e)
{
    part = text_trim(part);
    if (!*part)
        return spec_refuse(in, e, "a value of the list is missing");
    if (!spec_is_form(part))
        return add(list, part, in, e);
    if (!alone && !strncmp(part, "loguniform", 10))
        return spec_refuse(in, e, "loguniform: stands alone, without commas");
    return read_form(list, part, in, e);
}

enum err_code spec_list_read(struct spec_list *list, const struct spec_input *in, struct err *e)
{
    char *copy = mem_text(in->value), *part = copy;
    enum err_code code = ERR_OK;
    bool quoted = false, alone = true;

    *list = (struct spec_list){0};
    for (char *p = copy; code == ERR_OK; p++) {
        bool end = !*p;

        quoted ^= *p == '"';
        if (!end && (*p != ',' || quoted))
            continue;
        *p = 0;
        alone = alone && end;
        code = read_part(list, part, alone, in, e);
        part = p + 1;
        if (end)
            break;
    }
    free(copy);
    if (code != ERR_OK)
        spec_list_free(list);
    return code;
}

/* Which values there are: places in the list by what they say, 1 more than the place; 0: nobody's. */
struct seen {
    size_t *place, room; /* a power of two */
};

/* False: it is there already. */
static bool see(struct seen *s, const struct spec_list *list, const char *value)
{
    size_t at;

    for (at = hash_quick(value, strlen(value)) & (s->room - 1); s->place[at];
         at = (at + 1) & (s->room - 1))
        if (!strcmp(list->value[s->place[at] - 1], value))
            return false;
    s->place[at] = list->count + 1;
    return true;
}

/* Each value is made from bits of the key's name and its number alone. */
static enum err_code draw(struct spec_list *list, struct seen *seen, size_t samples,
                          const struct spec_input *in, struct err *e)
{
    struct rng_key key = rng_key(0);
    double lo = log(list->lo), hi = log(list->hi);
    char room[TEXT_NUMBER_ROOM];
    uint64_t next = 0;

    for (const char *p = in->key; *p; p++)
        key = rng_fold_in(key, (uint32_t)(unsigned char)*p);
    for (size_t i = 0; i < list->count; i++)
        free(list->value[i]);
    list->count = 0;
    for (size_t i = 0; i < samples; i++) {
        int tries = 0;

        do {
            uint64_t high = rng_bits_at(key, next), low = rng_bits_at(key, next + 1);
            double part = ((double)(high << 21 ^ low >> 11) + 0.5) * 0x1p-53;
            double x = exp(lo + part * (hi - lo)), short_x = rounded(x, 4);

            next += 2;
            if (tries++ == DRAWS)
                return spec_refuse(in, e, "it holds no %zu different values; samples = %zu fit",
                                   samples, i);
            /* four digits are enough to be drawn, where they stay between the ends */
            if (list->whole)
                x = fmin(fmax(floor(x + 0.5), list->lo), list->hi);
            else if (tries < DRAWS / 2 && short_x >= list->lo && short_x <= list->hi)
                x = short_x;
            text_double(room, x);
        } while (!see(seen, list, room));
        TRY(add(list, room, in, e));
    }
    return ERR_OK;
}

enum err_code spec_list_draw(struct spec_list *list, size_t samples, const struct spec_input *in,
                             struct err *e)
{
    struct seen seen = {.room = 16};
    enum err_code code;

    while (seen.room < 2 * samples)
        seen.room *= 2;
    seen.place = mem_new(seen.room, sizeof *seen.place);
    code = draw(list, &seen, samples, in, e);
    free(seen.place);
    return code;
}
