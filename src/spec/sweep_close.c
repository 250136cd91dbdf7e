/* What only the whole of a sweep can tell: lists that walk together, what loguniform draws, the seeds
 * of repeats, how many cells there are, and keys that none of them uses. */
#include "spec/sweep.h"
#include "base/mem.h"
#include "spec/spec_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZIPPED = 1, DRAWN = 2 }; /* numbers of spec_axis.zip */

/* Puts "WHERE: KEY = VALUE: " in front; where may be NULL. */
static enum err_code wrong(const char *where, const char *key, const char *value, struct err *e,
                           const char *fmt, ...) PRINTF_LIKE(5, 6);
static enum err_code wrong(const char *where, const char *key, const char *value, struct err *e,
                           const char *fmt, ...)
{
    char reason[512], *part = mem_text_n(value, strnlen(value, 100));
    va_list args;
    enum err_code code;

    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    code = err_set(e, ERR_INPUT, "%s%s%s = %s%s: %s", where ? where : "", where ? ": " : "", key,
                   TEXT_CLEAN(part), value[strlen(part)] ? "..." : "", reason);
    free(part);
    return code;
}

/* ---- loguniform and samples ---- */

static enum err_code draw(struct spec_sweep *s, struct spec_axis *a, struct err *e)
{
    struct spec_input in = {.key = a->key,
                            .value = a->list,
                            .where = a->where,
                            .folder = a->folder,
                            .id = spec_key_find(a->key)};
    struct spec_list list;
    enum err_code code = spec_list_read(&list, &in, e);

    if (code == ERR_OK)
        code = spec_list_draw(&list, (size_t)s->samples, &in, e);
    if (code == ERR_OK) {
        struct spec *before = mem_new(1, sizeof *before);

        *before = s->base;
        spec_axis_take(a, list.value, list.count);
        code = spec_set(&s->base, a->key, a->value[0], a->where, a->folder, e);
        memcpy(s->base.line, before->line, sizeof before->line);
        for (int i = 0; i < before->params; i++)
            s->base.param[i].line = before->param[i].line;
        free(before);
    } else {
        spec_list_free(&list);
    }
    return code;
}

static enum err_code close_samples(struct spec_sweep *s, struct err *e)
{
    int drawn = 0;
    char number[TEXT_NUMBER_ROOM];

    for (size_t a = 0; a < s->axes; a++) {
        if (!s->axis[a].drawn)
            continue;
        drawn++;
        if (!s->samples)
            return wrong(s->axis[a].where, s->axis[a].key, s->axis[a].list, e,
                         "how many values are to be drawn? add samples = N");
        TRY(draw(s, &s->axis[a], e));
    }
    /* Several are drawn together: N points of the space, not a grid of them. */
    for (size_t a = 0; a < s->axes && drawn > 1; a++)
        if (s->axis[a].drawn)
            s->axis[a].zip = DRAWN;
    if (s->samples && !drawn && !s->samples_line) {
        snprintf(number, sizeof number, "%lld", (long long)s->samples);
        return wrong(s->samples_where, "samples", number, e,
                     "no value is loguniform:A:B; leave it out");
    }
    if (!drawn)
        s->samples = 0; /* of a list that was replaced behind the file */
    return ERR_OK;
}

/* ---- zip ---- */

/* A list of the file that one value took the place of since, or that lapsed. */
static bool was_replaced(const struct spec *s, const char *key)
{
    int id = spec_key_find(key);

    if (strncmp(key, "model.", 6) != 0)
        return spec_given(s, id) ? !s->line[id] : s->line[id] > 0;
    for (int i = 0; i < s->params; i++)
        if (!strcmp(s->param[i].name, key + 6))
            return !s->param[i].line;
    return false;
}

static enum err_code zip_one(struct spec_sweep *s, const char *name, struct spec_axis **first,
                             size_t *names, struct err *e)
{
    struct spec_axis *a = spec_find_axis(s, name);

    if (spec_key_find(name) < 0)
        return wrong(s->zip_where, "zip", s->zip, e, "there is no key %.60s", name);
    if (!a) {
        if (s->zip_line && was_replaced(&s->base, name))
            return ERR_OK;
        return wrong(s->zip_where, "zip", s->zip, e, "%.60s is no list here", name);
    }
    if (a->drawn)
        return wrong(s->zip_where, "zip", s->zip, e,
                     "%.60s is drawn by loguniform, and whatever is drawn is drawn together", name);
    if (a->zip)
        return wrong(s->zip_where, "zip", s->zip, e, "%.60s stands in it twice", name);
    a->zip = ZIPPED;
    if (*first && (*first)->values != a->values)
        return wrong(s->zip_where, "zip", s->zip, e,
                     "%s has %zu values and %s %zu; lists that walk together are as long as each "
                     "other",
                     (*first)->key, (*first)->values, a->key, a->values);
    *first = *first ? *first : a;
    ++*names;
    return ERR_OK;
}

static enum err_code close_zip(struct spec_sweep *s, struct err *e)
{
    char *copy, *rest, *name;
    struct spec_axis *first = NULL;
    struct text left = {0};
    size_t names = 0;
    enum err_code code = ERR_OK;

    if (!s->zip)
        return ERR_OK;
    copy = rest = mem_text(s->zip);
    while (code == ERR_OK && (name = strsep(&rest, ","))) {
        name = text_trim(name);
        code = *name ? zip_one(s, name, &first, &names, e)
                     : wrong(s->zip_where, "zip", s->zip, e, "a name is missing");
    }
    free(copy);
    TRY(code);
    if (names < 2 && !s->zip_line)
        return wrong(s->zip_where, "zip", s->zip, e,
                     "that is one list; zip takes the names of two or more");
    if (names < 2 && first)
        first->zip = 0;
    for (size_t a = 0; a < s->axes; a++)
        if (s->axis[a].zip == ZIPPED)
            text_addf(&left, "%s%s", left.n ? ", " : "", s->axis[a].key);
    free(s->zip);
    s->zip = left.s;
    return ERR_OK;
}

/* ---- repeats ---- */

static enum err_code close_repeats(struct spec_sweep *s, struct err *e)
{
    int64_t n = s->base.repeats;
    struct spec_axis *a = spec_find_axis(s, "seed");
    char number[TEXT_NUMBER_ROOM], where[400];
    const char *at = NULL;

    if (n < 2)
        return ERR_OK;
    snprintf(number, sizeof number, "%lld", (long long)n);
    if (s->base.line[KEY_REPEATS]) {
        snprintf(where, sizeof where, "%.300s:%d", s->base.file, s->base.line[KEY_REPEATS]);
        at = where;
    }
    if (a)
        return wrong(at, "repeats", number, e,
                     "seed = %.60s varies already; leave one of the two out", a->list);
    if (s->base.seed > (uint64_t)INT64_MAX - (uint64_t)(n - 1))
        return wrong(at, "repeats", number, e, "from seed = %llu they leave the range of seeds",
                     (unsigned long long)s->base.seed);
    a = spec_add_axis(s, "seed");
    a->where = at ? mem_text(at) : NULL;
    spec_axis_count(a, s->base.seed, (size_t)n);
    return ERR_OK;
}

/* ---- the whole ---- */

static enum err_code check_size(const struct spec_sweep *s, struct err *e)
{
    struct text lists = {0};
    char number[TEXT_NUMBER_ROOM];
    double cells = 1;

    for (size_t a = 0; a < s->axes; a++) {
        bool seen = false;

        for (size_t b = 0; b < a; b++)
            seen = seen || (s->axis[a].zip && s->axis[b].zip == s->axis[a].zip);
        if (!seen) {
            cells *= (double)s->axis[a].values;
            text_addf(&lists, "%s%s %zu", lists.n ? " x " : "", s->axis[a].key, s->axis[a].values);
        }
    }
    if (cells <= SPEC_MOST_CELLS) {
        text_free(&lists);
        return ERR_OK;
    }
    if (cells < 1e18)
        text_count(number, (uint64_t)cells);
    else
        snprintf(number, sizeof number, "%.1e", cells);
    err_set(e, ERR_INPUT, "%.300s%s%.500s come to %s cells; a sweep has at most %d",
            s->base.file[0] ? s->base.file : "", s->base.file[0] ? ": " : "", text_str(&lists),
            number, SPEC_MOST_CELLS);
    text_free(&lists);
    return ERR_INPUT;
}

/* ---- keys without effect ---- */

/* Whether some cell uses a key that another one decides about. */
static enum err_code is_used(const struct spec_sweep *s, int key, int by, bool *used, struct err *e)
{
    const struct spec_axis *a = spec_find_axis(s, spec_keys[by].name);
    struct spec *trial = mem_new(1, sizeof *trial);
    enum err_code code = ERR_OK;

    *trial = s->base;
    *used = spec_applies(trial, key);
    for (size_t i = 0; a && i < a->values && !*used && code == ERR_OK; i++) {
        code = spec_set(trial, a->key, a->value[i], a->where, a->folder, e);
        *used = spec_applies(trial, key);
    }
    free(trial);
    return code;
}

static enum err_code refuse_unused(const struct spec_sweep *s, int key, int by, const char *with,
                                   struct err *e)
{
    struct text value = {0};
    char where[400];
    enum err_code code;

    snprintf(where, sizeof where, "%.300s:%d", s->base.file, s->base.line[key]);
    spec_value(&s->base, key, &value);
    code = wrong(s->base.line[key] ? where : NULL, spec_keys[key].name, text_str(&value), e,
                 "no value of %s uses it, only %s does; leave it out or change %s",
                 spec_keys[by].name, with, spec_keys[by].name);
    text_free(&value);
    return code;
}

/* A key that lapses in some cells is fine. One that no cell uses is as wrong as in one experiment, and
 * there as here it lapses where what would have used it was changed behind the file. */
static enum err_code close_unused(struct spec_sweep *s, struct err *e)
{
    for (int key = 0; key < SPEC_KEYS; key++) {
        const char *with = "";
        int by = spec_used_by(key, &with);
        bool used = true;

        if (by < 0 || !spec_given(&s->base, key))
            continue;
        TRY(is_used(s, key, by, &used, e));
        if (used)
            continue;
        if (s->base.line[key] && spec_given(&s->base, by) && !s->base.line[by]) {
            struct spec_axis *a = spec_find_axis(s, spec_keys[key].name);

            s->base.given &= ~(UINT64_C(1) << key);
            if (a)
                spec_drop_axis(s, a);
        } else if (spec_find_axis(s, spec_keys[by].name)) {
            return refuse_unused(s, key, by, with, e);
        } /* else spec_check says it of each cell */
    }
    return ERR_OK;
}

enum err_code spec_sweep_close(struct spec_sweep *s, struct err *e)
{
    TRY(close_unused(s, e));
    TRY(close_samples(s, e));
    TRY(close_zip(s, e));
    TRY(close_repeats(s, e));
    for (size_t i = 0; i < s->axes; i++)
        spec_axis_tell_apart(&s->axis[i]);
    return check_size(s, e);
}
