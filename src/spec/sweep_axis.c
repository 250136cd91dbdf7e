/* The lists of a sweep: copies of one share its values, since a million texts are not copied at each
 * keystroke. */
#include "spec/sweep.h"
#include "base/mem.h"
#include "spec/spec_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The array and all its texts are one block. */
static char **pack(char **value, size_t n)
{
    size_t bytes = 0;
    char **packed, *at;

    for (size_t i = 0; i < n; i++)
        bytes += strlen(value[i]) + 1;
    packed = mem_new(1, n * sizeof *packed + bytes + 1);
    at = (char *)(packed + n);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(value[i]) + 1;

        packed[i] = memcpy(at, value[i], length);
        at += length;
        free(value[i]);
    }
    free(value);
    return packed;
}

static void drop_values(struct spec_axis *a)
{
    if (a->holders && atomic_fetch_sub(a->holders, 1) == 1) {
        free(a->value);
        free(a->holders);
    }
    a->value = NULL;
    a->holders = NULL;
    a->values = 0;
    a->digits = 0;
}

static void hold(struct spec_axis *a, char **value, size_t n)
{
    drop_values(a);
    a->value = value;
    a->values = n;
    a->holders = mem_new(1, sizeof *a->holders);
    atomic_init(a->holders, 1);
}

void spec_axis_take(struct spec_axis *a, char **value, size_t n)
{
    hold(a, pack(value, n), n);
}

/* Without printf: a million of them are counted at each keystroke behind `repeats`. */
void spec_axis_count(struct spec_axis *a, uint64_t first, size_t n)
{
    enum { ROOM = 24 };
    char **value = mem_new(1, n * (sizeof *value + ROOM)), *at = (char *)(value + n);

    for (size_t i = 0; i < n; i++, at += ROOM) {
        char *p = at + ROOM - 1;
        uint64_t left = first + i;

        do
            *--p = (char)('0' + left % 10);
        while (left /= 10);
        value[i] = p;
    }
    hold(a, value, n);
}

void spec_axis_tell_apart(struct spec_axis *a)
{
    if (!a->digits)
        a->digits = text_least_digits((const char *const *)a->value, a->values);
}

void spec_axis_free(struct spec_axis *a)
{
    drop_values(a);
    free(a->where);
    free(a->folder);
    free(a->list);
    memset(a, 0, sizeof *a);
}

struct spec_axis *spec_find_axis(const struct spec_sweep *s, const char *key)
{
    for (size_t a = 0; a < s->axes; a++)
        if (!strcmp(s->axis[a].key, key))
            return &s->axis[a];
    return NULL;
}

struct spec_axis *spec_add_axis(struct spec_sweep *s, const char *key)
{
    struct spec_axis *a;

    s->axis = mem_resize(s->axis, s->axes + 1, sizeof *s->axis);
    a = &s->axis[s->axes++];
    memset(a, 0, sizeof *a);
    snprintf(a->key, sizeof a->key, "%s", key);
    return a;
}

void spec_drop_axis(struct spec_sweep *s, struct spec_axis *a)
{
    size_t behind = s->axes - 1 - (size_t)(a - s->axis);

    spec_axis_free(a);
    memmove(a, a + 1, behind * sizeof *a);
    s->axes--;
}

static char *copy_of(const char *text)
{
    return text ? mem_text(text) : NULL;
}

static void copy_axis(struct spec_axis *out, const struct spec_axis *a)
{
    *out = *a;
    out->where = copy_of(a->where);
    out->folder = copy_of(a->folder);
    out->list = copy_of(a->list);
    if (a->holders)
        atomic_fetch_add(a->holders, 1);
}

void spec_sweep_copy(struct spec_sweep *out, const struct spec_sweep *s)
{
    *out = *s;
    out->zip = copy_of(s->zip);
    out->zip_where = copy_of(s->zip_where);
    out->samples_where = copy_of(s->samples_where);
    out->axis = mem_new(s->axes + 1, sizeof *out->axis);
    for (size_t a = 0; a < s->axes; a++)
        copy_axis(&out->axis[a], &s->axis[a]);
}

/* ---- a list that was checked before ---- */

enum err_code spec_list_check(struct spec_axis *out, const char *key, const char *value,
                              struct err *e)
{
    struct spec_sweep s;
    enum err_code code;

    memset(out, 0, sizeof *out);
    spec_sweep_init(&s);
    code = spec_sweep_set(&s, key, value, NULL, NULL, e);
    if (code == ERR_OK && s.axes) {
        spec_axis_tell_apart(&s.axis[0]);
        copy_axis(out, &s.axis[0]);
    } else if (code == ERR_OK) {
        code = err_set(e, ERR_INPUT, "%.60s takes no list of values", key);
    }
    spec_sweep_free(&s);
    return code;
}

enum err_code spec_sweep_set_checked(struct spec_sweep *s, const struct spec_axis *list,
                                     struct err *e)
{
    struct spec_axis *a;

    TRY(spec_check_values(s, list->key, list->where, list->values, e));
    TRY(spec_set(&s->base, list->key, list->value[0], list->where, list->folder, e));
    a = spec_find_axis(s, list->key);
    if (a)
        spec_axis_free(a);
    else
        a = spec_add_axis(s, list->key);
    copy_axis(a, list);
    return ERR_OK;
}
