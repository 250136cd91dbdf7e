/* The picture of the form: its rows, the open field with what can be chosen in it or is wrong with it,
 * and below them what a key is for. */
#include "ui/setup/setup_int.h"

#include "base/mem.h"
#include "draw/ink/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP     9 /* columns of a group's name */
#define KEY       15
#define VALUE     (GROUP + 2 + KEY)
#define MOST_HELP 4
#define MOST_POP  7

/* Whether a list of values makes a sweep of it. */
static bool may_vary(const char *key)
{
    static const char *const never[] = {"repeats", "log_every", "target_acc", "samples"};

    for (size_t i = 0; i < MEM_COUNT(never); i++)
        if (!strcmp(key, never[i]))
            return false;
    return true;
}

/* Of its list; 0: it has none. */
static size_t values_of(const struct setup *s, const char *key)
{
    for (size_t a = 0; a < s->form.sweep.axes && s->form.good; a++)
        if (!strcmp(s->form.sweep.axis[a].key, key))
            return s->form.sweep.axis[a].values;
    return 0;
}

/* What is said below the form: what is wrong, what could be typed, or what the key is for. */
static void add_words(const struct setup *s, struct text *out, int *role)
{
    int i = setup_chosen(s), id;
    const char *wrong = i >= 0 ? form_wrong(&s->form, (size_t)i) : NULL;

    *role = GRID_BAD;
    if (wrong && !(s->open && s->typed.code != ERR_OK)) {
        text_add(out, wrong);
        return;
    }
    *role = GRID_DIM;
    if (s->open && s->several.n) {
        text_add(out, text_str(&s->several));
        return;
    }
    if (i < 0)
        return;
    id = spec_key_find(s->form.field[i].key);
    if (!s->form.field[i].applies && i < FORM_KEYS)
        text_add(out, "without effect here; ");
    if (!strncmp(s->form.field[i].key, "model.", 6))
        text_addf(out, "a parameter of the model\n%s unless given",
                  s->form.field[i].normal ? s->form.field[i].normal : "none");
    else if (!strcmp(s->form.field[i].key, "zip"))
        text_add(
            out,
            "lists that walk together, in place of all combinations\nthe keys of two or more lists: devices, batch, lr");
    else if (!strcmp(s->form.field[i].key, "samples"))
        text_add(out, "how many values loguniform:A:B draws\na count from 1 to 10000");
    else if (id >= 0)
        text_addf(out, "%s\n%s", spec_keys[id].help, spec_keys[id].values);
    if (!strcmp(s->form.field[i].key, "model") && values_of(s, "model") > FORM_MODELS)
        text_addf(out, "\nparameters of the first %d models have fields", FORM_MODELS);
    if (s->open && s->form.field[i].is->kind == FORM_NUMBER && may_vary(s->form.field[i].key))
        text_add(out, "\na list is a sweep: 1, 2, 3 or geom:A:B:N, lin:A:B:N, step:A:B:S");
}

static void draw_open(struct setup *s, struct grid *g, struct rect in, int r)
{
    struct rect field = {in.row + r, in.column + VALUE, 1, in.columns - VALUE};

    if (r >= 0 && r < in.rows)
        line_draw(&s->line, g, field);
}

/* A row of which a part alone were seen would read as what it is not. */
static void cover(struct grid *g, struct rect in, struct rect box)
{
    grid_fill(g, (struct rect){box.row, in.column, box.rows, in.columns}, GRID_TEXT);
}

/* The list to choose from, below the open field or above it. */
static void draw_choices(struct setup *s, struct grid *g, struct rect in, int r)
{
    int i = setup_chosen(s), n = 0, at = -1, first, rows, below = in.rows - r - 1;
    const char *const *choices = i >= 0 ? setup_choices(s, (size_t)i) : NULL;
    struct rect list;

    for (; choices && choices[n]; n++)
        if (!strcmp(choices[n], text_str(&s->line.text)))
            at = n;
    rows = n < MOST_POP ? n : MOST_POP;
    if (rows > below && rows > r) /* the field itself stays in sight */
        rows = below > r ? below : r;
    if (rows < 1)
        return;
    list = (struct rect){in.row + (rows > below ? r - rows : r + 1), in.column + VALUE, rows,
                         in.columns - VALUE};
    if (list.columns > 30)
        list.columns = 30;
    cover(g, in, list);
    first = (int)grid_first(0, at < 0 ? 0 : (size_t)at, (size_t)n, rows);
    s->places.choices = list;
    s->places.first_choice = (size_t)first;
    grid_fill(g, list, GRID_STATUS);
    for (int k = 0; k < rows; k++) {
        grid_cut(g, list, k, 1, list.columns - 2, GRID_STATUS, false, choices[first + k]);
        if (first + k == at)
            grid_paint(g, list, k, 0, list.columns, GRID_CHOSEN);
    }
}

/* What is wrong with what is typed, below the field or above it. */
static void draw_error(const struct setup *s, struct grid *g, struct rect in, int r)
{
    struct rect part = rect_behind(in, GROUP + 1), box;
    int rows = grid_count_rows(g, part.columns, s->typed.text);

    if (r + 1 + rows <= in.rows)
        box = rect_top(rect_below(part, r + 1), rows);
    else
        box = rect_bottom(rect_top(part, r), rows);
    cover(g, in, box);
    grid_words(g, box, 0, s->form.asked ? GRID_DIM : GRID_BAD, s->typed.text);
}

static void draw_note(struct setup *s, struct grid *g, struct rect in, int r, size_t i, int from)
{
    const struct form_field *x = &s->form.field[i];
    size_t values = x->text ? values_of(s, x->key) : 0;
    char note[40] = "";

    if (values)
        snprintf(note, sizeof note, "%s value%s", TEXT_COUNT(values), values == 1 ? "" : "s");
    if (x->text && !x->applies)
        snprintf(note, sizeof note, "no effect");
    if (*note && from + 2 + (int)strlen(note) <= in.columns)
        grid_right(g, in, r, in.columns, GRID_DIM, note);
}

static void draw_row(struct setup *s, struct grid *g, struct rect in, int r, size_t i, bool head)
{
    const struct form_field *x = &s->form.field[i];
    bool chosen = (int)i == setup_chosen(s), normal = false, wrong = form_wrong(&s->form, i);
    struct text value = {0};
    int end;

    if (head)
        grid_bold(g, in, r, 0, GRID_HEAD, form_group_names[x->group]);
    if (form_changed(&s->form, i))
        grid_text(g, in, r, GROUP, GRID_WARN, "*");
    else if (wrong)
        grid_text(g, in, r, GROUP, GRID_BAD, "!");
    grid_cut(g, in, r, GROUP + 1, KEY, x->applies ? GRID_TEXT : GRID_DIM, false, x->key);
    form_shown(&s->form, i, &value, &normal);
    end = grid_cut(g, in, r, VALUE, in.columns - VALUE,
                   wrong                   ? GRID_BAD
                   : normal || !x->applies ? GRID_DIM
                                           : GRID_TEXT,
                   x->is->kind == FORM_PATH, text_str(&value));
    draw_note(s, g, in, r, i, end);
    if (chosen && s->pane == SETUP_FORM && !s->open) {
        grid_paint(g, in, r, GROUP, in.columns - GROUP, GRID_CHOSEN);
    } else if (chosen && s->open) {
        grid_paint(g, in, r, GROUP, VALUE - GROUP, GRID_CHOSEN);
    } else if (chosen) {
        grid_text(g, in, r, VALUE - 2, GRID_DIM, ">");
    }
    text_free(&value);
}

/* In so many columns: of a path the end says more, of a name both ends do. */
static void add_title(const struct setup *s, int room, bool ascii, struct text *title)
{
    const char *name = s->form.from == FORM_DEFAULTS ? "the defaults"
                       : s->form.from == FORM_FILE   ? s->form.path
                                                     : s->form.source;
    struct text behind = {0};
    size_t changes = 0;

    if (s->form.from == FORM_QUEUE)
        text_add(&behind, setup_was_queued(s) ? ", was in the queue" : ", from the queue");
    if (s->form.file_is != FORM_AS_READ)
        text_add(&behind, s->form.file_is == FORM_GONE ? ", which is gone" : ", changed elsewhere");
    for (size_t i = 0; i < s->form.fields; i++)
        changes += form_changed(&s->form, i);
    if (changes)
        text_addf(&behind, " · %zu change%s", changes, changes == 1 ? "" : "s");
    room -= text_width(text_str(&behind));
    if (text_width(name) > room &&
        strchr(name + 1, '/')) { /* so that it reads as no path of its own */
        const char *dots = ascii ? "..." : "…";

        room -= text_width(dots);
        text_add(title, dots);
        do
            name = strchr(name + 1, '/');
        while (text_width(name) > room && strchr(name + 1, '/'));
    }
    words_add_cut(title, name, room > GRID_LEAST_CUT ? room : GRID_LEAST_CUT, ascii);
    text_add(title, text_str(&behind));
    text_free(&behind);
}

/* Lines of the rows; where there is room a blank one parts the groups. */
static int lines_of_rows(const struct setup *s, int rows, bool *roomy)
{
    size_t row[SETUP_ROWS], n = setup_rows(s, row), groups = 1;

    for (size_t i = 1; i < n; i++)
        groups += s->form.field[row[i]].group != s->form.field[row[i - 1]].group;
    *roomy = (int)(n + groups - 1) <= rows;
    return (int)(*roomy ? n + groups - 1 : n);
}

/* Returns the line of the open field, or -1. */
static int draw_rows(struct setup *s, struct grid *g, struct rect list, bool roomy)
{
    size_t row[SETUP_ROWS], n = setup_rows(s, row), at = 0;
    int chosen = setup_chosen(s), open_at = -1, line = 0;

    for (size_t i = 0; i < n; i++)
        if ((int)row[i] == chosen)
            at = i;
    s->first = grid_first(s->first, at, n, list.rows);
    for (int i = 0; i < SETUP_LINES; i++)
        s->line_row[i] = -1;
    for (size_t i = s->first; i < n && line < list.rows && line < SETUP_LINES; i++, line++) {
        bool head = i == s->first || s->form.field[row[i - 1]].group != s->form.field[row[i]].group;

        line += roomy && head && i > 0;
        if (line >= SETUP_LINES)
            break;
        draw_row(s, g, list, line, row[i], head);
        s->line_row[line] = (int)i;
        if ((int)row[i] == chosen && s->open)
            open_at = line;
    }
    setup_draw_scroll(g, s->places.form, list, s->first, n);
    return open_at;
}

/* What the key is for and what it takes: whole, or a line each where there is no more room. */
static void draw_words(struct grid *g, struct rect in, int role, bool whole, const char *words)
{
    const char *values = strchr(words, '\n');

    if (whole || !values) {
        grid_words(g, in, 0, role, words);
        return;
    }
    char *help = mem_text_n(words, (size_t)(values - words));
    grid_cut(g, in, 0, 0, in.columns, role, false, help);
    grid_cut(g, in, 1, 0, in.columns, role, false, values + 1);
    free(help);
}

void setup_draw_form(struct setup *s, struct grid *g)
{
    struct text title = {0}, words = {0};
    int role = GRID_DIM, help, room, open_at, lines, least;
    struct rect in, list;
    const char *fold = s->places.form.columns <= 50 ? ""
                       : s->folded                  ? "z shows all keys"
                                                    : "z folds";
    bool roomy, must;

    add_title(s, s->places.form.columns - (*fold ? 7 + (int)strlen(fold) : 5), g->ascii, &title);
    in = grid_frame(g, s->places.form, text_str(&title), s->pane == SETUP_FORM);
    in = rect_before(rect_behind(in, 1), 1);
    if (*fold)
        grid_frame_right(g, s->places.form, GRID_DIM, fold);

    add_words(s, &words, &role);
    must = role != GRID_DIM || s->open;
    s->room = in.rows > 1 ? (size_t)in.rows - 1 : 0;
    lines = lines_of_rows(s, in.rows - 2, &roomy);
    least = in.rows >= 12 && lines <= in.rows - 2 ? 2 : in.rows >= 6;
    help = grid_count_rows(g, in.columns, text_str(&words));
    room = must || in.rows - lines > MOST_HELP ? MOST_HELP : in.rows - lines;
    room = room > in.rows - 1 ? in.rows - 1 : room;
    if (help > room && !must) /* what it takes gives way to a field that would be hidden */
        help = least;
    else if (help > room)
        help = room;
    else
        must = true;
    list = rect_above(in, help);
    s->places.rows = list;
    open_at = draw_rows(s, g, list, roomy);
    if (!s->open || s->typed.code == ERR_OK)
        draw_words(g, rect_bottom(in, help), role, must, text_str(&words));
    if (open_at >= 0) {
        draw_open(s, g, list, open_at);
        if (s->typed.code != ERR_OK)
            draw_error(s, g, in, open_at);
        else
            draw_choices(s, g, list, open_at);
    }
    text_free(&title);
    text_free(&words);
}
