/* ui/predict/predictview_values.c: a row of a table, which is no picture: its columns with their values, as the
 * model saw them. */
#include "ui/predict/predictview_int.h"

#include "draw/ink/words.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>

#define NAME_MOST  24
#define VALUE_WIDE 9
#define APART      3

static double value_of(const struct predictview_set *s, size_t image, int column)
{
    size_t at = image * (size_t)s->of.shape.c + (size_t)column;

    return s->of.bytes ? ((const uint8_t *)s->of.images)[at]
                       : (double)((const float *)s->of.images)[at];
}

static void name_of(const struct predictview_set *s, int column, struct text *out)
{
    if (s->of.column_names && s->of.column_names[column])
        text_add_clean(out, s->of.column_names[column]);
    else
        text_addf(out, "value %d", column + 1);
}

static int names_width(const struct predictview_set *s, int columns)
{
    int width = 5, most = columns - VALUE_WIDE < NAME_MOST ? columns - VALUE_WIDE : NAME_MOST;
    struct text name = {0};

    for (int k = 0; k < s->of.shape.c && width < most; k++) {
        text_clear(&name);
        name_of(s, k, &name);
        width = text_width(text_str(&name)) > width ? text_width(text_str(&name)) : width;
    }
    text_free(&name);
    return width < most ? width : most;
}

static void draw_value(const struct predictview_set *s, size_t image, int column, struct grid *g,
                       struct rect in, int names)
{
    struct text name = {0}, cut = {0};
    double value = value_of(s, image, column);
    char number[32];

    name_of(s, column, &name);
    words_add_cut(&cut, text_str(&name), names, g->ascii);
    grid_text(g, in, 0, 0, GRID_DIM, text_str(&cut));
    snprintf(number, sizeof number,
             s->of.bytes          ? "%.0f"
             : fabs(value) < 1000 ? "%.3f"
                                  : "%.4g",
             value);
    grid_right(g, in, 0, names + VALUE_WIDE, GRID_TEXT, number);
    text_free(&name);
    text_free(&cut);
}

int predictview_draw_values(const struct predictview_set *s, size_t image, struct grid *g,
                            struct rect in)
{
    int names = names_width(s, in.columns), each = names + VALUE_WIDE + APART;
    int rows = in.rows - 2, across, shown, used, head;

    if (rows < 1 || names < 1)
        return 0;
    across = (in.columns + APART) / each < 1 ? 1 : (in.columns + APART) / each;
    shown = s->of.shape.c <= across * rows ? s->of.shape.c : across * rows;
    rows = shown < rows ? shown : rows; /* below each other first */
    used = (shown + rows - 1) / rows * each - APART;
    head = grid_text(g, in, 0, 0, GRID_HEAD, "what the model sees");
    for (int k = 0; k < shown; k++)
        draw_value(s, image, k, g, rect_behind(rect_below(in, 1 + k % rows), k / rows * each),
                   names);
    if (shown < s->of.shape.c)
        grid_textf(g, in, 1 + rows, 0, GRID_DIM, "and %d more", s->of.shape.c - shown);
    return used > head ? used : head;
}

void predictview_add_facts(const struct predictview *v, struct text *out)
{
    const struct predictview_set *s = v->set;
    double least = 1, most = 0;

    text_add(out, "accuracy ");
    share_tell(out, s->acc);
    for (int m = 0; m < s->of.members; m++) {
        least = fmin(least, s->member_acc[m]);
        most = fmax(most, s->member_acc[m]);
    }
    if (s->of.members < 2)
        return;
    text_addf(out, ", %d members ", s->of.members);
    share_add(out, least);
    text_add(out, " to ");
    share_tell(out, most);
}
