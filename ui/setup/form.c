/* The form as a model: fields with texts, and the sweep that they come to. It is built anew at each
 * change, in the order in which the fields were given, as the command line would read them. */
#include "ui/setup/form_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNDOS 200

static const struct form_key parameter = {"model.", FORM_WORDS, false, NULL, FORM_STEP_DOUBLE};

static enum spec_group group_of(const char *key)
{
    int id = spec_key_find(key);

    return id >= 0 ? spec_keys[id].group : SPEC_GROUP_TRAINING; /* zip, samples */
}

void form_free_field(struct form_field *x)
{
    free(x->text);
    free(x->saved);
    free(x->wrong);
    free(x->normal);
}

void form_start(struct form *f)
{
    memset(f, 0, sizeof *f);
    f->fields = FORM_KEYS;
    f->field = mem_new(f->fields, sizeof *f->field);
    for (size_t i = 0; i < FORM_KEYS; i++) {
        f->field[i].is = &form_keys[i];
        snprintf(f->field[i].key, sizeof f->field[i].key, "%s", form_keys[i].name);
        f->field[i].group = group_of(form_keys[i].name);
    }
    f->source = mem_text("");
    f->path = mem_text("");
    f->remark = mem_text("");
    f->notes = mem_text("");
    spec_sweep_init(&f->sweep);
    form_build(f);
}

void form_end(struct form *f)
{
    for (size_t i = 0; i < f->fields; i++)
        form_free_field(&f->field[i]);
    free(f->field);
    free(f->source);
    free(f->path);
    free(f->remark);
    free(f->notes);
    for (size_t i = 0; i < f->undos; i++)
        free(f->undo[i].text);
    free(f->undo);
    form_free_models(f);
    form_free_lists(f);
    spec_sweep_free(&f->sweep);
    memset(f, 0, sizeof *f);
}

int form_find(const struct form *f, const char *key)
{
    for (size_t i = 0; i < f->fields; i++)
        if (!strcmp(f->field[i].key, key))
            return (int)i;
    return -1;
}

size_t form_add_parameter(struct form *f, const char *key)
{
    struct form_field *x;

    f->field = mem_resize(f->field, f->fields + 1, sizeof *f->field);
    x = &f->field[f->fields];
    memset(x, 0, sizeof *x);
    x->is = &parameter;
    x->group = SPEC_GROUP_MODEL;
    x->applies = true;
    snprintf(x->key, sizeof x->key, "%s", key);
    return f->fields++;
}

/* ---- the sweep ---- */

int form_by_order(const void *a, const void *b)
{
    const struct form_field *x = *(const struct form_field *const *)a,
                            *y = *(const struct form_field *const *)b;

    return x->order < y->order ? -1 : x->order > y->order;
}

size_t form_in_order(const struct form *f, const struct form_field **given)
{
    size_t n = 0;

    for (size_t i = 0; i < f->fields; i++)
        if (f->field[i].text)
            given[n++] = &f->field[i];
    qsort(given, n, sizeof *given, form_by_order);
    return n;
}

/* What is given, without what has no effect; not closed yet. */
static enum err_code set_all(struct form *f, struct spec_sweep *s, bool all, struct err *e)
{
    const struct form_field **given = mem_new(f->fields, sizeof *given);
    size_t n = form_in_order(f, given);
    enum err_code code = ERR_OK;

    spec_sweep_init(s);
    for (size_t i = 0; i < n && code == ERR_OK; i++)
        if (all || given[i]->applies)
            code = form_set_key(f, s, given[i]->key, given[i]->text, e);
    free(given);
    return code;
}

static enum err_code close_sweep(struct spec_sweep *s, struct err *e)
{
    TRY(spec_sweep_close(s, e));
    return spec_sweep_varies(s) ? ERR_OK : spec_check(&s->base, e);
}

/* Each key without effect depends on one other alone, so that its values can be tried one by one. */
static void find_applying(struct form *f, const struct spec_sweep *s)
{
    struct spec *trial = mem_new(1, sizeof *trial);
    static const char *const deciding[] = {"mode", "optimizer", "lr_rule", "schedule", "weights"};

    for (size_t i = 0; i < f->fields; i++) {
        int id = spec_key_find(f->field[i].key);

        f->field[i].applies = i >= FORM_KEYS || id < 0 || spec_applies(&s->base, id);
    }
    for (size_t a = 0; a < s->axes; a++) {
        bool decides = false;

        for (size_t d = 0; d < MEM_COUNT(deciding); d++)
            decides = decides || !strcmp(s->axis[a].key, deciding[d]);
        for (size_t v = 0; decides && v < s->axis[a].values; v++) {
            *trial = s->base;
            if (spec_set(trial, s->axis[a].key, s->axis[a].value[v], NULL, NULL, NULL) != ERR_OK)
                continue;
            for (size_t i = 0; i < FORM_KEYS; i++) {
                int id = spec_key_find(f->field[i].key);

                f->field[i].applies = f->field[i].applies || spec_applies(trial, id < 0 ? 0 : id);
            }
        }
    }
    free(trial);
}

/* "batch = 100: ..." and "model.width: ..." tell by their first word whose they are. */
static int blame(const struct form *f, const char *sentence)
{
    int best = -1;
    size_t longest = 0;

    for (size_t i = 0; i < f->fields; i++) {
        size_t n = strlen(f->field[i].key);

        if (n > longest && !strncmp(sentence, f->field[i].key, n) &&
            (!strncmp(sentence + n, " = ", 3) || !strncmp(sentence + n, ": ", 2))) {
            best = (int)i;
            longest = n;
        }
    }
    return best;
}

static void build(struct form *f)
{
    struct spec_sweep s;
    struct err e = {0};

    f->turn++;
    f->waits = false;
    if (set_all(f, &s, true, &e) != ERR_OK) {
        /* A file came or went since it was typed: the values before stand until it is mended. */
        f->good = false;
        f->problem = e;
        f->blamed = blame(f, e.text);
        spec_sweep_free(&s);
        return;
    }
    find_applying(f, &s);
    form_find_parameters(f, &s);
    f->blamed = -1;
    f->problem = (struct err){0};
    f->good = true;
    for (size_t i = 0; i < f->fields; i++)
        if (f->field[i].text && !f->field[i].applies) {
            spec_sweep_free(&s); /* once more without what has no effect */
            f->good = set_all(f, &s, false, &f->problem) == ERR_OK;
            break;
        }
    f->good = f->good && close_sweep(&s, &f->problem) == ERR_OK;
    spec_sweep_free(&f->sweep);
    f->sweep = s;
    if (!f->good)
        f->blamed = blame(f, f->problem.text);
}

void form_build(struct form *f)
{
    f->building = true;
    build(f);
    f->building = false;
}

/* ---- what is seen ---- */

bool form_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

bool form_changed(const struct form *f, size_t i)
{
    return !form_same_text(f->field[i].text, f->field[i].saved);
}

bool form_dirty(const struct form *f)
{
    for (size_t i = 0; i < f->fields; i++)
        if (form_changed(f, i))
            return true;
    return false;
}

/* The default as a value that could be typed; empty where there is none. */
void form_add_default(const struct form *f, size_t i, struct text *out)
{
    const struct form_field *x = &f->field[i];
    int id = spec_key_find(x->key);
    struct spec *s;

    if (i >= FORM_KEYS) {
        text_add(out, x->normal ? x->normal : "");
        return;
    }
    if (id < 0)
        return;
    s = mem_new(1, sizeof *s);
    spec_default(s);
    spec_set_optimizer_default(s, f->sweep.base.optimizer);
    spec_value(s, id, out);
    if (!out->n) { /* none, all: words that it takes, or that say how it is found */
        struct err e;

        if (spec_set(s, x->key, spec_keys[id].fallback, NULL, NULL, &e) == ERR_OK)
            text_add(out, spec_keys[id].fallback);
    }
    free(s);
}

static void add_default_words(const struct form *f, size_t i, struct text *out)
{
    int id = spec_key_find(f->field[i].key);

    if (!strcmp(f->field[i].key, "name"))
        text_add(out, "by model and mode");
    else if (!strcmp(f->field[i].key, "normalize"))
        text_add(out, "255");
    else
        form_add_default(f, i, out);
    if (!out->n)
        text_add(out, id >= 0 ? spec_keys[id].fallback : "none");
}

static bool is_default(const struct form *f, size_t i, const char *text)
{
    struct text normal = {0};
    double value, other;
    bool is;

    form_add_default(f, i, &normal);
    is = !strcmp(text_str(&normal), text) ||
         (text_to_double(text, &value) && text_to_double(text_str(&normal), &other) &&
          value == other); /* 0.10 */
    text_free(&normal);
    return is;
}

/* And not the default. */
static bool is_given(const struct form *f, size_t i)
{
    return f->field[i].text && !is_default(f, i, f->field[i].text);
}

enum err_code form_set_default(struct form *f, size_t i, struct err *e)
{
    const char *saved = f->field[i].saved;
    char *text = saved && is_default(f, i, saved) ? mem_text(saved) : NULL;
    enum err_code code = form_set(f, i, text, e);

    free(text);
    return code;
}

void form_shown(const struct form *f, size_t i, struct text *out, bool *is_default)
{
    *is_default = !f->field[i].text;
    if (f->field[i].text)
        text_add(out, f->field[i].text);
    else
        add_default_words(f, i, out);
}

void form_value(const struct form *f, size_t i, struct text *out)
{
    if (f->field[i].text)
        text_add(out, f->field[i].text);
    else
        form_add_default(f, i, out);
}

const char *form_wrong(const struct form *f, size_t i)
{
    if (!f->good && f->blamed == (int)i)
        return f->problem.text;
    return f->field[i].wrong;
}

/* ---- changes ---- */

static enum err_code try(struct form *f, size_t i, const char *text, bool *list, struct err *e)
{
    struct spec_sweep s;
    bool waits = f->waits;
    enum err_code code;

    *list = false;
    f->asked = false;
    if (!text || !text[strspn(text, " \t")])
        return ERR_OK;
    spec_sweep_init(&s);
    f->waits = false;
    code = form_set_key(f, &s, f->field[i].key, text, e);
    f->asked = f->waits;
    f->waits = waits;
    *list = s.axes > 0;
    spec_sweep_free(&s);
    return code;
}

enum err_code form_try(struct form *f, size_t i, const char *text, struct err *e)
{
    bool list;

    return try(f, i, text, &list, e);
}

/* Behind the others where the command line would put it there: a list that was none before, or what was
 * not given. */
static void put(struct form *f, size_t i, const char *text, bool list)
{
    struct form_field *x = &f->field[i];

    if (text && (!x->text || (list && !x->list)))
        x->order = x->saved && (!list || x->saved_list) ? x->saved_order : ++f->last_order;
    x->list = list;
    free(x->text);
    x->text = text ? mem_text(text) : NULL;
    free(x->wrong);
    x->wrong = NULL;
}

enum err_code form_follow(struct form *f, size_t i, const char *text, struct err *e)
{
    char *copy = mem_text(text ? text : ""), *value = text_trim(copy);
    bool list = false;
    enum err_code code = try(f, i, value, &list, e);

    if (code == ERR_OK) {
        if (!form_same_text(f->field[i].text, *value ? value : NULL) || f->field[i].wrong) {
            put(f, i, *value ? value : NULL, list);
            form_build(f);
        }
    }
    free(copy);
    return code;
}

void form_keep_undo(struct form *f, size_t i, const char *before)
{
    if (f->undos == UNDOS) {
        free(f->undo[0].text);
        memmove(f->undo, f->undo + 1, --f->undos * sizeof *f->undo);
    }
    f->undo = mem_grow(f->undo, &f->undo_room, f->undos + 1, sizeof *f->undo);
    snprintf(f->undo[f->undos].key, sizeof f->undo[0].key, "%s", f->field[i].key);
    f->undo[f->undos++].text = before ? mem_text(before) : NULL;
}

enum err_code form_set(struct form *f, size_t i, const char *text, struct err *e)
{
    char *before = f->field[i].text ? mem_text(f->field[i].text) : NULL;
    char key[sizeof f->field[i].key];
    enum err_code code;
    int now;

    snprintf(key, sizeof key, "%s", f->field[i].key);
    code = form_follow(f, i, text, e);
    now = form_find(f, key); /* a parameter's place may be another */
    if (code == ERR_OK && now >= 0 && !form_same_text(before, f->field[now].text))
        form_keep_undo(f, (size_t)now, before);
    free(before);
    return code;
}

bool form_put_back(struct form *f, size_t i, const char *text)
{
    struct err e;

    if (form_follow(f, i, text, &e) == ERR_OK)
        return true;
    if (f->asked) {
        put(f, i, text, true);
        form_build(f);
    }
    return f->asked;
}

int form_undo(struct form *f)
{
    struct form_undo last;
    int i;

    if (!f->undos)
        return -1;
    last = f->undo[--f->undos];
    i = form_find(f, last.key);
    if (i < 0 && !strncmp(last.key, "model.", 6))
        i = (int)form_add_parameter(f, last.key);
    if (i >= 0 && !form_put_back(f, (size_t)i, last.text))
        i = -1;
    free(last.text);
    return i >= 0 ? form_find(f, last.key) : -1;
}

/* ---- rows ---- */

static bool seen(const struct form *f, size_t i, bool folded)
{
    const struct form_field *x = &f->field[i];

    if (!folded || x->is->always || form_wrong(f, i) || form_changed(f, i))
        return true;
    return x->applies && is_given(f, i);
}

/* Those of the keys that are always shown, or of the others, or of both. */
static size_t add_rows(const struct form *f, bool folded, bool always, bool others, int keep,
                       size_t *row)
{
    size_t n = 0;

    for (size_t i = 0; i < FORM_KEYS; i++) {
        if ((f->field[i].is->always ? always : others) && ((int)i == keep || seen(f, i, folded)))
            row[n++] = i;
        for (size_t p = FORM_KEYS; others && p < f->fields && !strcmp(f->field[i].key, "model");
             p++)
            if ((int)p == keep || seen(f, p, folded))
                row[n++] = p;
    }
    return n;
}

size_t form_rows(const struct form *f, bool folded, size_t room, int keep, size_t *row)
{
    size_t n = add_rows(f, folded, true, true, keep, row);

    if (!folded || n <= room)
        return n;
    n = add_rows(f, true, true, false, keep, row);
    return n + add_rows(f, true, false, true, keep, row + n);
}
