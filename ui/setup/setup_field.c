/* The keys of the form: moving, one step further, and what happens in an open field. */
#include "ui/setup/setup_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 10

size_t setup_rows(const struct setup *s, size_t *row)
{
    return s->form.fields < SETUP_ROWS
               ? form_rows(&s->form, s->folded, s->room, setup_chosen(s), row)
               : 0;
}

int setup_chosen(const struct setup *s)
{
    return form_find(&s->form, s->at);
}

void setup_choose(struct setup *s, size_t field)
{
    snprintf(s->at, sizeof s->at, "%s", s->form.field[field].key);
}

/* The row of the chosen field, or of the one that stands where it would stand. */
static size_t row_of(const struct setup *s, const size_t *row, size_t n)
{
    int chosen = setup_chosen(s);
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        if ((int)row[i] == chosen)
            return i;
        if (row[i] < (size_t)chosen && row[i] < FORM_KEYS)
            at = i;
    }
    return at;
}

void setup_move(struct setup *s, int by)
{
    size_t row[SETUP_ROWS], n = setup_rows(s, row);
    long to;

    if (!n)
        return;
    to = (long)row_of(s, row, n) + by;
    to = to < 0 ? 0 : to >= (long)n ? (long)n - 1 : to;
    setup_choose(s, row[to]);
}

/* Of models there are more than the table knows. */
const char *const *setup_choices(const struct setup *s, size_t field)
{
    const struct form_field *x = &s->form.field[field];
    const char *const *models = s->app->config.model_names;

    return !strcmp(x->key, "model") && models && models[0] ? models : x->is->choices;
}

/* ---- an open field ---- */

void setup_open_field(struct setup *s)
{
    int i = setup_chosen(s);
    struct text value = {0};

    if (i < 0)
        return;
    form_value(&s->form, (size_t)i, &value);
    line_set(&s->line, text_str(&value));
    s->line.selected = value.n;
    s->before = s->form.field[i].text ? mem_text(s->form.field[i].text) : NULL;
    s->shown_before = mem_text(text_str(&value));
    s->typed = (struct err){0};
    s->takes = s->behind = false;
    s->places.choices = (struct rect){0}; /* those that were drawn are of another field */
    text_clear(&s->several);
    s->open = true;
    text_free(&value);
}

void setup_close_field(struct setup *s)
{
    line_free(&s->line);
    free(s->before);
    free(s->shown_before);
    s->before = s->shown_before = NULL;
    s->typed = (struct err){0};
    text_clear(&s->several);
    s->open = false;
}

/* What stands there, as it would be taken: as it was opened it is as it was. */
static const char *typed_text(const struct setup *s)
{
    const char *text = text_str(&s->line.text);

    return !strcmp(text, s->shown_before) ? s->before : text;
}

static void follow(struct setup *s)
{
    int i = setup_chosen(s);

    s->behind = false;
    s->typed = (struct err){0};
    if (i >= 0 && form_follow(&s->form, (size_t)i, typed_text(s), &s->typed) == ERR_OK)
        s->typed.code = ERR_OK;
    else if (i >= 0 && !form_same_text(s->form.field[i].text, s->before))
        (void)form_put_back(&s->form, (size_t)i, s->before); /* not to what was typed on the way */
    if (s->form.turn != s->turn)
        setup_ask(s);
}

static void give_back(struct setup *s)
{
    int i = setup_chosen(s);

    if (i >= 0 && form_put_back(&s->form, (size_t)i, s->before) && s->form.turn != s->turn)
        setup_ask(s);
    setup_close_field(s);
}

/* That a field without a text holds chorus's own value, and not that of what was loaded. */
static void say_default(struct setup *s, size_t i)
{
    const struct form_field *x = &s->form.field[i];
    struct text now = {0};
    bool normal;

    if (x->text || !x->saved)
        return;
    form_shown(&s->form, i, &now, &normal);
    app_say(s->app, GRID_TEXT,
            "%s = %.100s, which is the default, not the %.100s of %.100s; u takes it back", x->key,
            text_str(&now), x->saved, *s->form.source ? s->form.source : "the file");
    text_free(&now);
}

/* by: which field is opened next; 0: none. */
static void take(struct setup *s, int by)
{
    int i = setup_chosen(s);
    const char *now;
    char at[sizeof s->at];

    follow(s);
    s->takes = s->form.asked && i >= 0;
    s->take_by = by;
    if (s->typed.code != ERR_OK || i < 0)
        return; /* it stays open, and says why */
    now = s->form.field[i].text;
    if ((now != NULL) != (s->before != NULL) || (now && strcmp(now, s->before) != 0))
        form_keep_undo(&s->form, (size_t)i, s->before);
    if (s->before && !now)
        say_default(s, (size_t)i);
    setup_close_field(s);
    snprintf(at, sizeof at, "%s", s->at);
    if (by)
        setup_move(s, by);
    if (by && strcmp(at, s->at) != 0)
        setup_open_field(s);
}

/* What was typed meanwhile is looked at by itself. */
void setup_list_checked(struct setup *s)
{
    s->app->dirty = true;
    if (s->open && s->takes)
        take(s, s->take_by);
    else if (s->open)
        follow(s);
    else if (s->form.turn != s->turn)
        setup_ask(s);
}

static bool is_path(const struct setup *s)
{
    int i = setup_chosen(s);

    return i >= 0 && s->form.field[i].is->kind == FORM_PATH;
}

struct completing {
    struct setup_link *link;
    char key[64], *text;
    const char *const *words;
    bool again; /* what there is to choose from is seen already */
    struct text whole, several;
};

static void look_for(void *arg)
{
    struct completing *c = arg;

    (void)form_complete(c->text, c->words, &c->whole, &c->several);
}

/* What there is to choose from is shown, but for a name that is whole; once more, and where there was
 * nothing to add, Tab goes on. */
static void add_found(struct setup *s, struct completing *c)
{
    bool choose = c->several.n && *c->text && !c->again;

    text_clear(&s->several);
    text_add(&s->several, text_str(&c->several));
    if (strcmp(text_str(&c->whole), c->text) != 0) {
        line_set(&s->line, text_str(&c->whole));
        follow(s);
    } else if (!choose) {
        take(s, 1);
    }
}

/* What was typed meanwhile stands. */
static void looked_for(void *arg, bool dropped)
{
    struct completing *c = arg;
    struct setup *s = setup_let_go(c->link);

    if (s && !dropped && s->open && !strcmp(s->at, c->key) &&
        !strcmp(text_str(&s->line.text), c->text)) {
        add_found(s, c);
        s->app->dirty = true;
    }
    text_free(&c->whole);
    text_free(&c->several);
    free(c->text);
    free(c);
}

/* False: there is nothing to look for. */
static bool complete(struct setup *s)
{
    int i = setup_chosen(s);
    struct completing *c;

    if (s->line.selected || i < 0)
        return false;
    c = mem_new(1, sizeof *c);
    c->link = setup_hold(s);
    snprintf(c->key, sizeof c->key, "%s", s->at);
    c->text = mem_text(text_str(&s->line.text));
    c->words = setup_choices(s, (size_t)i);
    c->again = s->several.n > 0;
    text_clear(&s->several);
    text_add(&s->several, "looking for it ...");
    setup_try(s, look_for, looked_for, c);
    return true;
}

static void step_choice(struct setup *s, int by)
{
    int i = setup_chosen(s), at = -1, n = 0;
    const char *const *choices = i >= 0 ? setup_choices(s, (size_t)i) : NULL;

    for (; choices && choices[n]; n++)
        if (!strcmp(choices[n], text_str(&s->line.text)))
            at = n;
    if (!n) {
        take(s, by);
        return;
    }
    line_set(&s->line, choices[at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n]);
    s->line.selected = true;
    follow(s);
}

void setup_field_follow(struct setup *s)
{
    if (s->open && s->behind && !s->app->typed_ahead)
        follow(s);
}

bool setup_field_click(struct setup *s, const struct key *key)
{
    const struct setup_places *p = &s->places;
    size_t row[SETUP_ROWS];
    int i = setup_chosen(s), line = key->row - p->rows.row, at;

    if (rect_holds(p->choices, key->row, key->column)) {
        at = key->row - p->choices.row + (int)p->first_choice;
        line_set(&s->line, setup_choices(s, (size_t)i)[at]);
        take(s, 0);
        return true;
    }
    if (rect_holds(p->rows, key->row, key->column) && line < SETUP_LINES &&
        s->line_row[line] >= 0 && (size_t)s->line_row[line] < setup_rows(s, row) &&
        (int)row[s->line_row[line]] == i)
        return true;
    take(s, 0);
    return s->open;
}

bool setup_field_key(struct setup *s, const struct key *key)
{
    bool changed = false;

    s->app->dirty = true;
    switch (key->code) {
    case UI_ESC:
        give_back(s);
        return true;
    case UI_ENTER:
        take(s, 0);
        return true;
    case UI_TAB:
        if (!is_path(s) || !complete(s))
            take(s, 1);
        return true;
    case UI_BACKTAB:
        take(s, -1);
        return true;
    case UI_UP:
        step_choice(s, -1);
        return true;
    case UI_DOWN:
        step_choice(s, 1);
        return true;
    default:
        break;
    }
    s->takes = false;
    if (!line_key(&s->line, key->code, &changed))
        return key->code != UI_RESIZE && key->code != UI_CLICK && key->code < UI_F1;
    text_clear(&s->several);
    s->behind |= changed;
    if (s->behind && !s->app->typed_ahead) /* a list that is pasted is looked at once */
        follow(s);
    if (!changed && key->code >= ' ' && key->code < 0x110000 && s->line.text.n >= LINE_MOST)
        app_say(s->app, GRID_WARN,
                "A field takes %d bytes, and what is typed behind them is dropped: a longer list "
                "goes into a file, or as geom:A:B:N.",
                LINE_MOST);
    return true;
}

/* ---- commands ---- */

static void step(struct setup *s, int by)
{
    int i = setup_chosen(s);

    if (i >= 0 && form_step(&s->form, (size_t)i, by, setup_choices(s, (size_t)i)))
        setup_ask(s);
}

static void set_default(struct setup *s)
{
    int i = setup_chosen(s);
    struct err e;

    if (i < 0 || form_set_default(&s->form, (size_t)i, &e) != ERR_OK || s->form.turn == s->turn)
        return;
    say_default(s, (size_t)i);
    setup_ask(s);
}

static void undo(struct setup *s)
{
    int i = form_undo(&s->form);

    if (i < 0) {
        app_say(s->app, GRID_TEXT, "There is nothing to take back.");
        return;
    }
    setup_choose(s, (size_t)i);
    setup_ask(s);
}

static void take_synthetic(struct setup *s)
{
    int i = form_find(&s->form, "data");
    struct err e = {0};

    if (form_set(&s->form, (size_t)i, "synthetic", &e) != ERR_OK)
        app_say(s->app, GRID_BAD, "%s", e.text);
    else
        app_say(s->app, GRID_TEXT, "data = synthetic: made-up images; u takes it back");
    setup_ask(s);
}

bool setup_form_key(struct setup *s, const struct key *key)
{
    int by = key_list_move(key->code, PAGE);

    if (by) {
        setup_move(s, by > SETUP_ROWS ? SETUP_ROWS : by < -SETUP_ROWS ? -SETUP_ROWS : by);
        return true;
    }
    switch (key->code) {
    case UI_LEFT:
    case 'h':
        step(s, -1);
        return true;
    case UI_RIGHT:
    case 'l':
        step(s, 1);
        return true;
    case UI_ENTER:
        setup_open_field(s);
        return true;
    case UI_DELETE:
    case 'd':
        set_default(s);
        return true;
    case 'u':
        undo(s);
        return true;
    case 'y':
        take_synthetic(s);
        return true;
    default:
        return false;
    }
}
