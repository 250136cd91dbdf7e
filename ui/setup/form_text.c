/* From an experiment's text to the form and back. A file is taken line by line, so that one bad line
 * costs its own key alone. */
#include "ui/setup/form_int.h"

#include "base/mem.h"
#include "ui/tasks/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 4000 /* of a file that is an experiment and not something else */

/* ---- reading ---- */

struct line {
    char *key, *value; /* of copy; the key empty: none stands here */
    char *copy;
};

static struct line part(const char *text, size_t n)
{
    struct line l = {.copy = mem_text_n(text, n)};
    bool quoted = false;
    char *equals;

    for (char *p = l.copy; *p; p++) {
        quoted ^= *p == '"';
        if ((*p == '#' && !quoted) || *p == '\r')
            *p = 0;
        if (!*p)
            break;
    }
    equals = strchr(l.copy, '=');
    l.key = l.value = l.copy + strlen(l.copy);
    if (equals) {
        *equals = 0;
        l.key = text_trim(l.copy);
        l.value = text_trim(equals + 1);
    }
    return l;
}

static void note(struct form *f, const char *sentence)
{
    char *notes = mem_textf("%s%s\n", f->notes, sentence);

    free(f->notes);
    f->notes = notes;
}

/* One line of a file, read as the whole file would be: so its number is right. */
static enum err_code read_alone(struct spec_sweep *s, const char *file, size_t number,
                                const char *text, size_t n, struct err *e)
{
    char *whole = mem_new(number + n, 1);
    enum err_code code;

    memset(whole, '\n', number - 1);
    memcpy(whole + number - 1, text, n);
    code = spec_sweep_parse(s, whole, number - 1 + n, file, e);
    free(whole);
    return code;
}

static bool is_path_key(const char *key)
{
    return !strcmp(key, "data") || !strcmp(key, "model") || !strcmp(key, "weights");
}

/* The value as the sweep has it: with paths made absolute. */
static void add_resolved(const struct spec_sweep *s, const char *key, struct text *out)
{
    for (size_t a = 0; a < s->axes; a++)
        if (!strcmp(s->axis[a].key, key) && s->axis[a].list) {
            text_add(out, s->axis[a].list);
            return;
        }
    spec_value(&s->base, spec_key_find(key), out);
}

/* What a path in a file is relative to is the file's folder; in the form it is where we are. */
static void set_loaded(struct form *f, size_t i, const struct spec_sweep *s, const char *value)
{
    struct form_field *x = &f->field[i];
    struct text there = {0}, here = {0};
    struct spec_sweep ours;

    spec_sweep_init(&ours);
    if (is_path_key(x->key) && spec_sweep_set(&ours, x->key, value, NULL, NULL, NULL) == ERR_OK) {
        add_resolved(s, x->key, &there);
        add_resolved(&ours, x->key, &here);
        if (strcmp(text_str(&there), text_str(&here)) != 0)
            value = text_str(&there);
    }
    x->text = mem_text(value);
    x->order = ++f->last_order;
    x->list = s->axes > 0;
    spec_sweep_free(&ours);
    text_free(&there);
    text_free(&here);
}

static void take_line(struct form *f, const char *file, size_t number, const char *text, size_t n)
{
    struct line l = part(text, n);
    struct err e = {0};
    struct spec_sweep s;
    enum err_code code;
    int i = -1;

    spec_sweep_init(&s);
    code = read_alone(&s, file, number, text, n, &e);
    if (*l.key)
        i = form_find(f, l.key);
    if (code == ERR_OK && i < 0 && !strncmp(l.key, "model.", 6))
        i = (int)form_add_parameter(f, l.key);
    if (code == ERR_OK && i >= 0 && f->field[i].text)
        code = err_set(&e, ERR_INPUT,
                       "%.300s:%zu: %s stands in a line above already; the first "
                       "one is kept",
                       file, number, l.key);
    if (code == ERR_OK && i >= 0)
        set_loaded(f, (size_t)i, &s, l.value);
    if (code != ERR_OK) {
        note(f, e.text);
        if (i >= 0 && !f->field[i].wrong)
            f->field[i].wrong = mem_text(e.text);
    }
    spec_sweep_free(&s);
    free(l.copy);
}

/* What only all lines together can tell: as the program itself would read the file. */
static void check_whole(struct form *f, const char *file, const char *text, size_t n)
{
    struct spec_sweep s;
    struct err e = {0};
    enum err_code code;

    if (*f->notes)
        return;
    spec_sweep_init(&s);
    code = spec_sweep_parse(&s, text, n, file, &e);
    if (code == ERR_OK)
        code = spec_sweep_close(&s, &e);
    if (code == ERR_OK && !spec_sweep_varies(&s))
        code = spec_check(&s.base, &e);
    if (code != ERR_OK) {
        const char *sentence = strstr(e.text, ": ");

        note(f, e.text);
        for (size_t i = 0; sentence && i < f->fields; i++) {
            size_t k = strlen(f->field[i].key);

            if (!strncmp(sentence + 2, f->field[i].key, k) &&
                !strncmp(sentence + 2 + k, " = ", 3) && !f->field[i].wrong)
                f->field[i].wrong = mem_text(e.text);
        }
    }
    spec_sweep_free(&s);
}

static void take_remark(struct form *f, const char *text, size_t n)
{
    const char *last = text + n, *end;

    while (text < last && *text == '\n')
        text++;
    end = text;
    while (end < last && *end == '#') {
        const char *newline = memchr(end, '\n', (size_t)(last - end));

        end = newline ? newline + 1 : last;
    }
    free(f->remark);
    f->remark = mem_text_n(text, (size_t)(end - text));
}

/* Whether more than comments stands there. */
static bool says_something(const char *at, const char *last)
{
    while (at < last && (at += strspn(at, " \t\r\n")) < last && *at == '#')
        at += strcspn(at, "\n");
    return at < last;
}

static void keep_as_saved(struct form *f)
{
    for (size_t i = 0; i < f->fields; i++) {
        struct form_field *x = &f->field[i];

        free(x->saved);
        x->saved = x->text && f->from != FORM_DEFAULTS ? mem_text(x->text) : NULL;
        x->saved_order = x->order;
        x->saved_list = x->list;
    }
}

/* A run's file says everything, and so does one of the queue; what is as it would be without saying
 * is the default here. */
static void drop_defaults(struct form *f)
{
    struct text normal = {0};

    for (size_t i = 0; i < FORM_KEYS; i++) {
        text_clear(&normal);
        form_add_default(f, i, &normal);
        if (f->field[i].text && !strcmp(f->field[i].text, text_str(&normal))) {
            free(f->field[i].text);
            f->field[i].text = NULL;
        }
    }
    text_free(&normal);
}

/* While a form is made nobody is asked for files of models. */
static void ask_later(void *user, const char *path)
{
    (void)user;
    (void)path;
}

struct form *form_make(enum form_from from, const char *source, const char *file, const char *text,
                       size_t n)
{
    struct form *new = mem_new(1, sizeof *new);
    const char *at, *last;
    size_t number = 0, mark = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

    text += mark; /* which some editors put before all else */
    n -= mark;
    form_start(new);
    new->read_model = ask_later;
    new->from = from;
    free(new->source);
    new->source = mem_text(source);
    free(new->path);
    new->path = mem_text(file);
    take_remark(new, text, n);
    at = text;
    last = text + n;
    while (at < last && number < MOST_LINES) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *end = newline ? newline : last;

        take_line(new, file, ++number, at, (size_t)(end - at));
        at = end + (newline != NULL);
    }
    if (says_something(at, last)) {
        struct err e;

        err_set(&e, ERR_INPUT,
                "%.300s:%zu: what stands from here on is left out; %d lines are read", file,
                number + 1, MOST_LINES);
        note(new, e.text);
    }
    check_whole(new, file, text, n);
    form_build(new);
    if (from == FORM_RUN || from == FORM_QUEUE)
        drop_defaults(new);
    keep_as_saved(new);
    form_build(new);
    return new;
}

void form_take(struct form *f, struct form *made)
{
    made->turn += f->turn;
    made->read_model = f->read_model;
    made->check_list = f->check_list;
    made->user = f->user;
    form_end(f);
    *f = *made;
    free(made);
    if (f->models) {
        form_free_models(f);
        form_build(f);
    }
}

void form_load(struct form *f, enum form_from from, const char *source, const char *file,
               const char *text, size_t n)
{
    form_take(f, form_make(from, source, file, text, n));
}

void form_saved(struct form *f, const char *path)
{
    f->from = FORM_FILE;
    f->file_is = FORM_AS_READ;
    free(f->source);
    f->source = mem_text(path);
    free(f->path);
    f->path = mem_text(path);
    free(f->notes);
    f->notes = mem_text("");
    keep_as_saved(f);
    f->turn++;
}

/* ---- writing ---- */

static void add_line(const struct form *f, const struct form_field *x, struct text *out)
{
    if (!x->text || !x->applies)
        return;
    text_addf(out, "%s = ", x->key);
    if (is_path_key(x->key))
        add_resolved(&f->sweep, x->key, out);
    else
        text_add(out, x->text);
    text_add(out, "\n");
}

static void add_plain(const struct form *f, size_t i, struct text *out)
{
    if (!f->field[i].list)
        add_line(f, &f->field[i], out);
}

static void add_lists(const struct form *f, struct text *out)
{
    const struct form_field **given = mem_new(f->fields, sizeof *given);
    size_t n = form_in_order(f, given);

    for (size_t i = 0; i < n; i++)
        if (given[i]->list)
            add_line(f, given[i], out);
    free(given);
}

void form_write(const struct form *f, struct text *out)
{
    text_add(out, f->remark);
    for (size_t i = 0; i < FORM_KEYS; i++) {
        add_plain(f, i, out);
        for (size_t p = FORM_KEYS; p < f->fields && !strcmp(f->field[i].key, "model"); p++)
            add_plain(f, p, out);
    }
    add_lists(f, out);
}

void form_add_dropped(const struct form *f, struct text *out)
{
    for (size_t i = 0; i < f->fields; i++)
        if (f->field[i].text && !f->field[i].applies)
            text_addf(out, "%s%s", out->n ? ", " : "", f->field[i].key);
}

static void add_word(struct text *out, const char *key, const char *value)
{
    struct text word = {0};

    text_addf(&word, "%s=%s", key, value);
    text_add(out, " ");
    jobs_add_word(out, text_str(&word));
    text_free(&word);
}

/* Whether a key of the file that the form does not give can be said on a command line. */
static bool can_unsay(const struct form *f, size_t i)
{
    const struct form_field *x = &f->field[i];
    struct text normal = {0};
    bool can;

    if (!x->applies)
        return i < FORM_KEYS; /* it lapses there too */
    form_add_default(f, i, &normal);
    can = x->text || normal.n;
    text_free(&normal);
    return can;
}

void form_command(const struct form *f, struct text *out)
{
    const struct form_field **said = mem_new(f->fields, sizeof *said);
    struct text normal = {0};
    bool whole = !*f->source || f->from == FORM_QUEUE || *f->notes || f->file_is != FORM_AS_READ;
    size_t n = 0;

    for (size_t i = 0; i < f->fields; i++) {
        bool lapsed = f->field[i].saved && !f->field[i].applies;

        if (f->field[i].saved && (form_changed(f, i) || lapsed) && !can_unsay(f, i))
            whole = true;
    }
    text_add(out, "run");
    if (!whole) {
        text_add(out, " ");
        jobs_add_word(out, f->source);
    }
    for (size_t i = 0; i < f->fields; i++)
        if (f->field[i].applies && (whole ? f->field[i].text != NULL : form_changed(f, i)))
            said[n++] = &f->field[i];
    qsort(said, n, sizeof *said, form_by_order);
    for (size_t i = 0; i < n; i++) {
        text_clear(&normal);
        form_value(f, (size_t)(said[i] - f->field), &normal);
        add_word(out, said[i]->key, text_str(&normal));
    }
    text_free(&normal);
    free(said);
}

/* ---- the name of a sweep ---- */

/* As `run` names it: after the file, the run or the model. */
void form_sweep_name(const struct form *f, char name[SPEC_NAME])
{
    const struct spec *s = &f->sweep.base;

    if (f->from == FORM_DEFAULTS || f->from == FORM_QUEUE)
        spec_sweep_name_after(s->name[0] ? s->name : s->model, name);
    else if (f->from == FORM_RUN)
        spec_sweep_name_after_run(f->source, name);
    else
        spec_sweep_name_after(f->source, name);
}
