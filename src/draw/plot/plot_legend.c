/* draw/plot/plot_legend.c: the title, and what the curves are called, with their values where wanted. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "draw/ink/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART       2    /* columns between entries */
#define UNCUT       1000 /* columns of a name */
#define VALUE_WIDTH 6    /* at least, so that entries do not jump as values change */

struct legend {
    struct plot_canvas *c;
    const double *value; /* of each series, or NULL */
    char **bare;         /* names without the keys that all of them have; NULL: as they are */
    int names;           /* curves that it tells of */
    int name;            /* columns that a name may take */
    int width;           /* of an entry, where entries stand below each other; 0: each its own */
};

static const char *name_of(const struct legend *l, int series)
{
    const char *label = l->c->p->series[series].label;

    return l->bare ? l->bare[series] : label ? label : "";
}

/* Those in front of the first without a name: what stands behind it is told of elsewhere. */
static int named(const struct plot *p)
{
    int n = 0;

    while (n < p->count && p->series[n].label)
        n++;
    return n;
}

static int value_width(const struct legend *l, int series)
{
    char words[PLOT_LABEL];

    if (!l->value)
        return 0;
    plot_number(l->value[series], l->c->p->per_cent, words);
    return 1 + (plot_length(words) < VALUE_WIDTH ? VALUE_WIDTH : plot_length(words));
}

static int entry_width(const struct legend *l, int series)
{
    int name = plot_length(name_of(l, series));

    return 3 + (name < l->name ? name : l->name) + value_width(l, series);
}

static uint32_t line_of(const struct plot_series *s, bool ascii)
{
    if (s->dashed)
        return ascii ? ':' : s->weight == PLOT_THICK ? 0x254d : 0x254c;
    if (s->weight == PLOT_THICK)
        return ascii ? '=' : 0x2501;
    return ascii ? '-' : 0x2500;
}

/* "●─ train 0.3121"; returns the column behind it. */
static int put_entry(const struct legend *l, int row, int column, int end, int series)
{
    struct plot_canvas *c = l->c;
    const struct plot_series *s = &c->p->series[series];
    bool ascii = c->p->level == PLOT_ASCII;
    int value = value_width(l, series), at, room;
    char words[PLOT_LABEL];

    if (column + 3 > end)
        return end;
    plot_put(c, row, column,
             c->p->count > 1 || ascii ? plot_mark(s->colour, c->p->level) : line_of(s, false),
             plot_role(s));
    plot_put(c, row, column + 1, line_of(s, ascii), plot_role(s));
    room = end - value - column - 3;
    at = plot_put_cut(c, row, column + 3, room < l->name ? room : l->name, name_of(l, series));
    if (!value)
        return at;
    plot_number(l->value[series], c->p->per_cent, words);
    plot_put_text(c, row, at + 1, end, words, plot_role(s));
    return at + value;
}

/* How long the "lr=" is that a word starts with; 0: it is no setting. */
static size_t key_length(const char *word)
{
    size_t n = strcspn(word, " =");

    return word[n] == '=' ? n + 1 : 0;
}

/* Takes the keys away that stand in front of all names in the same order, and writes them: "lr, seed".
 * The values behind them stay: they are what tells the curves apart. */
static void take_keys(struct legend *l, struct text *keys)
{
    const struct plot *p = l->c->p;
    int n = l->names;
    const char **rest = mem_new((size_t)n + 1, sizeof *rest);
    struct text *bare = mem_new((size_t)n + 1, sizeof *bare);
    bool all = n > 1;

    for (int i = 0; i < n; i++)
        rest[i] = p->series[i].label;
    while (all) {
        size_t key = key_length(rest[0]);

        for (int i = 0; i < n && all; i++)
            all = key && !strncmp(rest[i], rest[0], key);
        if (!all)
            break;
        text_addf(keys, "%s%.*s", keys->n ? ", " : "", (int)key - 1, rest[0]);
        for (int i = 0; i < n; i++) {
            size_t value = strcspn(rest[i] + key, " ");

            text_addf(&bare[i], "%s%.*s", bare[i].n ? " " : "", (int)value, rest[i] + key);
            rest[i] += key + value;
            rest[i] += *rest[i] == ' ';
        }
    }
    if (keys->n)
        l->bare = mem_new((size_t)n + 1, sizeof *l->bare);
    for (int i = 0; i < n && keys->n; i++) {
        text_addf(&bare[i], "%s%s", *rest[i] ? " " : "", rest[i]);
        l->bare[i] = mem_text(text_str(&bare[i]));
        text_free(&bare[i]);
    }
    free(rest);
    free(bare);
}

static void free_names(struct legend *l)
{
    for (int i = 0; l->bare && i < l->names; i++)
        free(l->bare[i]);
    free(l->bare);
    l->bare = NULL;
}

struct cut_name { /* cut in the middle */
    char *seen;
    const char *whole;
};

static int by_look(const void *x, const void *y)
{
    const struct cut_name *a = x, *b = y;
    int order = strcmp(a->seen, b->seen);

    return order ? order : strcmp(a->whole, b->whole);
}

static char *cut_in_the_middle(const char *name, int n, int room)
{
    int front = room / 2, behind = room - 1 - front;
    const char *head = name, *tail = name;

    for (int i = 0; i < front; i++)
        words_next(&head);
    for (; n > behind; n--)
        words_next(&tail);
    return mem_textf("%.*s\n%s", (int)(head - name), name, tail);
}

/* Whether two names that differ would look the same: those that do are neighbours once all are sorted, of
 * which there may be thousands. */
static bool any_alike(const struct legend *l, int room)
{
    struct cut_name *cut = mem_new((size_t)l->names + 1, sizeof *cut);
    size_t cuts = 0;
    bool alike = false;

    for (int i = 0; i < l->names; i++) {
        const char *name = name_of(l, i);
        int n = plot_length(name);

        if (n > room)
            cut[cuts++] = (struct cut_name){cut_in_the_middle(name, n, room), name};
    }
    qsort(cut, cuts, sizeof *cut, by_look);
    for (size_t i = 1; i < cuts && !alike; i++)
        alike =
            !strcmp(cut[i].seen, cut[i - 1].seen) && strcmp(cut[i].whole, cut[i - 1].whole) != 0;
    for (size_t i = 0; i < cuts; i++)
        free(cut[i].seen);
    free(cut);
    return alike;
}

/* Whether all entries stand in so many rows, below each other. */
static bool fits_below(struct legend *l, int columns, int rows)
{
    int n = l->names;

    l->width = 0;
    for (int k = 0; k < n; k++)
        l->width = entry_width(l, k) > l->width ? entry_width(l, k) : l->width;
    return l->width <= columns && (columns + APART) / (l->width + APART) * rows >= n;
}

/* Names as long as they may be for all entries to stand in so many rows, but never so short that two of
 * them look the same. false: even short ones do not. */
static bool choose_width(struct legend *l, int columns, int rows)
{
    static const int names[] = {UNCUT, 40, 32, 24, 20, 16, 12, 10, 8};

    for (size_t i = 0; i < MEM_COUNT(names) && (!i || !any_alike(l, names[i])); i++) {
        l->name = names[i];
        if (fits_below(l, columns, rows))
            return true;
    }
    return false;
}

/* Entries below each other from a row and column on; returns how many rows. Those that have no room
 * are counted at the end, "+12", and the front one is never among them. */
static int put_table(struct legend *l, int row, int column, int rows)
{
    const struct plot *p = l->c->p;
    int columns = p->columns - column, across, shown, front = p->front - 1;
    char more[PLOT_LABEL] = "";

    if (!choose_width(l, columns, rows)) {
        snprintf(more, sizeof more, " +%d", l->names);
        columns -= plot_length(more);
        l->width = l->width < columns ? l->width : columns;
    }
    across = (columns + APART) / (l->width + APART);
    shown = across * rows < l->names ? across * rows : l->names;
    for (int i = 0; i < shown; i++) {
        int series = i + 1 == shown && front >= shown && front < l->names ? front : i;
        int at = column + i % across * (l->width + APART);

        put_entry(l, row + i / across, at, at + l->width, series);
    }
    if (shown < l->names) {
        snprintf(more, sizeof more, "+%d", l->names - shown);
        plot_put_text(l->c, row + rows - 1, p->columns - plot_length(more), p->columns, more,
                      PLOT_TEXT);
    }
    return (shown + across - 1) / across;
}

/* The column where the legend begins on the title's row; below 0: not all of it fits. */
static int column_beside(const struct legend *l, int title)
{
    const struct plot *p = l->c->p;
    int column = p->columns + APART;

    for (int i = 0; i < l->names; i++)
        column -= entry_width(l, i) + APART;
    return column < title + (title ? APART : 0) ? -1 : column;
}

static bool put_beside(struct legend *l, int title)
{
    const struct plot *p = l->c->p;
    int column;

    l->name = UNCUT;
    column = column_beside(l, title);
    if (column < 0)
        return false;
    for (int i = 0; i < l->names; i++)
        column = put_entry(l, 0, column, p->columns, i) + APART;
    return true;
}

/* That the title and the legend may have. */
static int most_rows(const struct plot *p)
{
    int most = p->rows > PLOT_LEAST_ROWS + 1 ? p->rows / 3 : 1;

    return p->legend > 0 && p->legend < most ? p->legend : most;
}

/* On the title's row where all of it fits, if need be with the keys at the title alone, else below; in a low
 * frame what fits behind the title. */
static int put_legend(struct legend *l, int title)
{
    const struct plot *p = l->c->p;
    int column, most = most_rows(p), above = title ? 1 : 0;
    struct text keys = {0};

    if (put_beside(l, title))
        return 1;
    take_keys(l, &keys);
    if (keys.n && title && title + keys.n + 4 <= (size_t)p->columns)
        title = plot_put_text(l->c, 0, plot_put_text(l->c, 0, title, p->columns, " by ", PLOT_TEXT),
                              p->columns, keys.s, PLOT_TEXT);
    else
        free_names(l);
    text_free(&keys);
    if (l->bare && put_beside(l, title))
        return 1;
    if (most > above)
        return above + put_table(l, above, 0, most - above);
    column = title + APART;
    if (p->columns - column >= 12)
        put_table(l, 0, column, 1);
    return 1;
}

/* Of each curve what was measured at the cursor, else last. */
static double *read_values(const struct plot *p, const struct plot_view *v)
{
    double *value = mem_new((size_t)p->count, sizeof *value);
    bool at_cursor = v && plot_has_cursor(p, &v->x);

    for (int i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        size_t at = s->n;

        if (at_cursor)
            at = plot_point_read(p, i, v->curve[i].sorted);
        else
            while (at > 0 && !isfinite(s->y[--at]))
                ;
        value[i] = at < s->n ? plot_value(s, at) : NAN;
    }
    return value;
}

static void add_title(const struct plot *p, struct text *out)
{
    words_add_title(out, p->title ? p->title : p->y_label, p->note);
}

bool plot_legend_fits(const struct plot *p)
{
    struct plot_canvas c = {.p = p};
    double *value = p->values ? read_values(p, NULL) : NULL;
    struct legend l = {.c = &c, .value = value, .names = named(p), .name = UNCUT};
    struct text words = {0};
    bool fits;
    int title;

    add_title(p, &words);
    title = plot_length(text_str(&words));
    fits = column_beside(&l, title) >= 0 || fits_below(&l, p->columns, most_rows(p) - (title > 0));
    text_free(&words);
    free(value);
    return fits;
}

int plot_draw_head(struct plot_canvas *c, const struct plot_view *v)
{
    const struct plot *p = c->p;
    struct legend l = {.c = c, .names = named(p)};
    struct text title = {0};
    double *value = NULL;
    int column, rows;

    add_title(p, &title);
    column = plot_put_text(c, 0, 0, p->columns, text_str(&title), PLOT_TEXT);
    rows = column ? 1 : 0;
    text_free(&title);
    if (!p->count)
        return rows;
    if (p->values)
        l.value = value = read_values(p, v);
    rows = put_legend(&l, column);
    free_names(&l);
    free(value);
    return rows;
}
