/* A sweep as it is read: keys, lists, and what only the whole of them can tell. */
#include "spec/sweep.h"
#include "base/mem.h"
#include "spec/spec_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAMPLES 10000

void spec_sweep_init(struct spec_sweep *s)
{
    memset(s, 0, sizeof *s);
    spec_default(&s->base);
}

void spec_sweep_free(struct spec_sweep *s)
{
    for (size_t a = 0; a < s->axes; a++)
        spec_axis_free(&s->axis[a]);
    free(s->axis);
    free(s->zip);
    free(s->zip_where);
    free(s->samples_where);
    memset(s, 0, sizeof *s);
}

/* ---- setting ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The value of a key as its experiment's text has it: "0.1" for "0.10". */
static void add_resolved(const struct spec *s, const char *key, struct text *out)
{
    if (strncmp(key, "model.", 6) != 0) {
        spec_value(s, spec_key_find(key), out);
        return;
    }
    for (int i = 0; i < s->params; i++)
        if (!strcmp(s->param[i].name, key + 6))
            spec_add_quoted(out, s->param[i].value);
}

static enum err_code refuse_twice(char **resolved, size_t n, const struct spec_input *in,
                                  struct err *e)
{
    char **sorted = mem_new(n, sizeof *sorted);
    const char *twice = NULL;
    enum err_code code = ERR_OK;

    memcpy(sorted, resolved, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_text);
    for (size_t i = 1; i < n && !twice; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            twice = sorted[i];
    if (twice)
        code = spec_refuse(in, e, "%.60s stands in it twice", *twice ? twice : "none");
    free(sorted);
    return code;
}

/* Paths are kept absolute, so that the list means the same wherever it is written to. */
static char *list_text(const struct spec_input *in, char **resolved, size_t n)
{
    struct text t = {0};
    bool paths = in->id == KEY_DATA || in->id == KEY_WEIGHTS ||
                 (in->id == KEY_MODEL && !strchr(in->key, '.'));

    if (!paths || spec_is_form(in->value))
        return mem_text(in->value);
    for (size_t i = 0; i < n; i++)
        text_addf(&t, "%s%s", i ? ", " : "", *resolved[i] ? resolved[i] : "none");
    return t.s;
}

/* Sets the key to each value in turn; the experiment is left with the first. */
static enum err_code try_values(struct spec *first, const struct spec_list *list,
                                const struct spec_input *in, char **text, struct err *e)
{
    struct spec *trial = mem_new(1, sizeof *trial);
    char **resolved = mem_new(list->count, sizeof *resolved);
    enum err_code code = ERR_OK;
    struct text one = {0};

    *trial = *first;
    for (size_t i = 0; i < list->count && code == ERR_OK; i++) {
        code = spec_set(trial, in->key, list->value[i], in->where, in->folder, e);
        if (code != ERR_OK)
            break;
        text_clear(&one);
        add_resolved(trial, in->key, &one);
        /* of a million values there is no other copy than is needed */
        resolved[i] =
            !strcmp(text_str(&one), list->value[i]) ? list->value[i] : mem_text(text_str(&one));
        if (i == 0)
            *first = *trial;
    }
    if (code == ERR_OK && list->count < 2)
        code = spec_refuse(in, e, "that is one value alone; write it without the form");
    if (code == ERR_OK)
        code = refuse_twice(resolved, list->count, in, e);
    if (code == ERR_OK)
        *text = list_text(in, resolved, list->count);
    for (size_t i = 0; i < list->count; i++)
        if (resolved[i] != list->value[i])
            free(resolved[i]);
    free(resolved);
    text_free(&one);
    free(trial);
    return code;
}

enum err_code spec_check_values(const struct spec_sweep *s, const char *key, const char *where,
                                size_t values, struct err *e)
{
    size_t all = values;
    char number[3][TEXT_NUMBER_ROOM];

    for (size_t a = 0; a < s->axes; a++)
        all += strcmp(s->axis[a].key, key) != 0 ? s->axis[a].values : 0;
    if (all <= SPEC_MOST_CELLS)
        return ERR_OK;
    return err_set(e, ERR_INPUT,
                   "%s%s%.60s: with its %s values the lists of the sweep have %s, and %s are "
                   "possible; shorten them",
                   where ? where : "", where ? ": " : "", key, text_count(number[0], values),
                   text_count(number[1], all), text_count(number[2], SPEC_MOST_CELLS));
}

static enum err_code set_list(struct spec_sweep *s, const struct spec_input *in, struct err *e)
{
    struct spec *first = mem_new(1, sizeof *first);
    struct spec_list list;
    char *text = NULL;
    enum err_code code = spec_list_read(&list, in, e);

    *first = s->base;
    if (code == ERR_OK)
        code = spec_check_values(s, in->key, in->where, list.count, e);
    if (code == ERR_OK)
        code = try_values(first, &list, in, &text, e);
    if (code == ERR_OK) {
        struct spec_axis *a = spec_find_axis(s, in->key);

        if (a) {
            spec_axis_free(a);
            snprintf(a->key, sizeof a->key, "%s", in->key);
        } else {
            a = spec_add_axis(s, in->key);
        }
        spec_axis_take(a, list.value, list.count);
        a->drawn = list.drawn;
        a->where = in->where ? mem_text(in->where) : NULL;
        a->folder = in->folder ? mem_text(in->folder) : NULL;
        a->list = text;
        s->base = *first;
    } else {
        spec_list_free(&list);
    }
    free(first);
    return code;
}

static const char *at_or_nothing(const char *where)
{
    return where ? where : "";
}

static enum err_code set_samples(struct spec_sweep *s, const char *value, const char *where,
                                 struct err *e)
{
    int64_t n;

    if (!text_to_int(value, &n) || n < 1 || n > MOST_SAMPLES) {
        char *part = mem_text_n(value, strnlen(value, 100));

        err_set(e, ERR_INPUT, "%s%ssamples = %s: allowed: a count from 1 to %d",
                at_or_nothing(where), where ? ": " : "", TEXT_CLEAN(part), MOST_SAMPLES);
        free(part);
        return ERR_INPUT;
    }
    s->samples = n;
    s->samples_line = 0;
    free(s->samples_where);
    s->samples_where = where ? mem_text(where) : NULL;
    return ERR_OK;
}

/* The names are looked at when all lists are known. */
static enum err_code set_zip(struct spec_sweep *s, const char *value, const char *where,
                             struct err *e)
{
    if (!*value)
        return err_set(e, ERR_INPUT,
                       "%s%szip = '': there is no value; allowed: the names of two lists or more "
                       "that are to walk together (devices, batch)",
                       at_or_nothing(where), where ? ": " : "");
    free(s->zip);
    free(s->zip_where);
    s->zip = strcmp(value, "none") != 0 ? mem_text(value) : NULL;
    s->zip_where = where ? mem_text(where) : NULL;
    s->zip_line = 0;
    return ERR_OK;
}

static enum err_code set_repeats(struct spec_sweep *s, const struct spec_input *in, struct err *e)
{
    const struct spec_field *f = &spec_fields[KEY_REPEATS];
    int64_t n;

    if (!text_to_int(in->value, &n) || n < f->lo || n > f->hi)
        return spec_refuse_count(in, "whole number", f->lo, f->hi, e);
    s->base.repeats = n;
    s->base.given |= UINT64_C(1) << KEY_REPEATS;
    s->base.line[KEY_REPEATS] = 0;
    return ERR_OK;
}

static bool takes_number(int id)
{
    return spec_fields[id].kind == FIELD_COUNT || spec_fields[id].kind == FIELD_REAL;
}

/* value: a copy, trimmed. */
static enum err_code set_copy(struct spec_sweep *s, const struct spec_input *in, struct err *e)
{
    struct spec_axis *a;

    if (!strcmp(in->key, "samples"))
        return set_samples(s, in->value, in->where, e);
    if (!strcmp(in->key, "zip"))
        return set_zip(s, in->value, in->where, e);
    if (in->id == KEY_REPEATS && *in->value && !spec_is_list(in->value))
        return set_repeats(s, in, e);
    if (in->id >= 0 && spec_is_list(in->value)) {
        if (!spec_key_names(in->key)) /* all its values would be the same cell */
            return spec_refuse(in, e,
                               in->id == KEY_NAME || in->id == KEY_ON_END
                                   ? "it takes one value; put quotes around one that holds a comma"
                               : takes_number(in->id) ? "it takes one number"
                                                      : "it takes one value");
        return set_list(s, in, e);
    }
    TRY(spec_set(&s->base, in->key, in->value, in->where, in->folder, e));
    a = spec_find_axis(s, in->key);
    if (a)
        spec_drop_axis(s, a);
    return ERR_OK;
}

enum err_code spec_sweep_set(struct spec_sweep *s, const char *key, const char *value,
                             const char *where, const char *folder, struct err *e)
{
    char *copy = mem_text(value);
    struct spec_input in = {.key = key,
                            .value = text_trim(copy),
                            .where = where,
                            .folder = folder,
                            .id = spec_key_find(key)};
    enum err_code code = set_copy(s, &in, e);

    free(copy);
    return code;
}

static enum err_code take_line(void *user, const struct spec_line *line, struct err *e)
{
    struct spec_sweep *s = user;

    TRY(spec_sweep_set(s, line->key, line->value, line->where, line->folder, e));
    if (!strcmp(line->key, "samples"))
        s->samples_line = line->number;
    else if (!strcmp(line->key, "zip"))
        s->zip_line = line->number;
    else
        spec_stands_at(&s->base, line->key, line->number);
    return ERR_OK;
}

enum err_code spec_sweep_parse(struct spec_sweep *s, const char *text, size_t n, const char *file,
                               struct err *e)
{
    spec_start_file(&s->base, file);
    s->samples_line = s->zip_line = 0;
    return spec_each_line(text, n, file, take_line, s, e);
}

enum err_code spec_sweep_read(struct spec_sweep *s, const char *path, struct err *e)
{
    char *text = NULL;
    size_t n = 0;

    TRY(spec_read_text(path, &text, &n, e));
    enum err_code code = spec_sweep_parse(s, text, n, path, e);
    free(text);
    return code;
}

/* ---- writing ---- */

void spec_sweep_write(const struct spec_sweep *s, struct text *out)
{
    struct text value = {0};

    for (int key = 0; key < SPEC_KEYS; key++) {
        bool depends = spec_used_by(key, NULL) >= 0 || key == KEY_WEIGHT_DECAY;
        bool varies = spec_find_axis(s, spec_keys[key].name) &&
                      !(key == KEY_SEED && s->base.repeats > 1); /* those are made again */

        text_clear(&value);
        spec_value(&s->base, key, &value);
        /* A default that another key decides is left to each cell. */
        if (value.n && !varies && (!depends || spec_given(&s->base, key)))
            text_addf(out, "%s = %s\n", spec_keys[key].name, text_str(&value));
        for (int i = 0; key == KEY_MODEL && i < s->base.params; i++) {
            char name[64];

            snprintf(name, sizeof name, "model.%s", s->base.param[i].name);
            if (spec_find_axis(s, name))
                continue;
            text_addf(out, "%s = ", name);
            spec_add_quoted(out, s->base.param[i].value);
            text_add(out, "\n");
        }
    }
    for (size_t a = 0; a < s->axes; a++)
        if (s->axis[a].list)
            text_addf(out, "%s = %s\n", s->axis[a].key, s->axis[a].list);
    if (s->samples)
        text_addf(out, "samples = %lld\n", (long long)s->samples);
    if (s->zip)
        text_addf(out, "zip = %s\n", s->zip);
    text_free(&value);
}
