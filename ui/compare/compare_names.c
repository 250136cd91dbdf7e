/* ui/compare/compare_names.c: what curves and rows are called, and how much of it legends have room for. */
#include "ui/compare/compare_int.h"

#include "base/mem.h"
#include "study/compare.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The values of a name alone: the table's heads say what they are of. */
static char *values_of(const char *label)
{
    struct text out = {0};
    char *copy = mem_text(label), *rest = copy, *brief;

    for (char *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');

        text_addf(&out, "%s%s", out.n ? " " : "", value ? value + 1 : word);
    }
    brief = mem_text(text_str(&out));
    text_free(&out);
    free(copy);
    return brief;
}

/* "7f3a" */
static const char *tail_of(const char *name)
{
    const char *dash = strrchr(name, '-');

    return dash && dash[1] ? dash + 1 : name;
}

void compare_name_groups(struct compare *c)
{
    const struct compare_set *set = c->set;
    struct text *names = mem_new(set->count + 1, sizeof *names);

    c->of = mem_new(set->count + 1, sizeof *c->of);
    c->groups = set->count;
    for (size_t i = 0; i < set->count; i++)
        c->of[i] = i;
    if (c->over)
        c->groups = study_groups(set->run, set->count, "seed", c->of);
    c->label = mem_new(c->groups + 1, sizeof *c->label);
    c->brief = mem_new(c->groups + 1, sizeof *c->brief);
    c->plain = mem_new(c->groups + 1, sizeof *c->plain);
    c->tail = mem_new(c->groups + 1, sizeof *c->tail);
    curves_name_groups(set->run, set->count, c->of, c->groups, c->over ? "seed" : NULL, names);
    for (size_t g = 0; g < c->groups; g++) {
        size_t first = 0;
        const char *name;
        bool again = false;

        while (c->of[first] != g)
            first++;
        name = study_short_name(set->entry[first].name);
        c->tail[g] = tail_of(name);
        for (size_t k = 0; k < c->groups; k++)
            again = again || (k != g && !strcmp(text_str(&names[k]), text_str(&names[g])));
        if (!names[g].n)
            c->label[g] = mem_text(name);
        else if (again) /* of settings as the others are, and its own */
            c->label[g] = mem_textf("%s %s", text_str(&names[g]), c->tail[g]);
        else
            c->label[g] = mem_text(text_str(&names[g]));
        c->brief[g] = values_of(c->label[g]);
        c->plain[g] = c->groups == set->count ? name : c->brief[g];
    }
    for (size_t g = 0; g < c->groups; g++)
        text_free(&names[g]);
    free(names);
}

/* What curves may be called: the settings that tell them apart, their values alone (the table's heads say
 * of what), as the table calls them, that without what all begin with, the end of their names. */
enum label { LABEL_WHOLE, LABEL_VALUES, LABEL_TABLE, LABEL_REST, LABEL_END };

static const char *label_of(const struct compare *c, size_t group, enum label kind, size_t front)
{
    switch (kind) {
    case LABEL_WHOLE:
        return c->label[group];
    case LABEL_VALUES:
        return c->brief[group];
    case LABEL_TABLE:
        return c->plain[group];
    case LABEL_REST:
        return c->plain[group] + front;
    default:
        return c->tail[group];
    }
}

/* Bytes of ASCII with which all names of the table begin, up to the end of a word; of none the whole. */
static size_t common_front(const struct compare *c, const struct curves *of)
{
    const char *first = of->lines > 1 ? c->plain[of->line[0].group] : "";
    size_t n = 0;

    while (first[n] > 0 && first[n] < 0x7f)
        n++;
    for (size_t i = 1; i < of->lines; i++) {
        const char *name = c->plain[of->line[i].group];
        size_t k = 0;

        while (k < n && name[k] == first[k])
            k++;
        n = k;
    }
    while (n && isalnum((unsigned char)first[n - 1]))
        n--;
    return n;
}

/* Names the curves as the legend has room for, which it returns. */
static enum label name_curves(struct compare *c, int panel)
{
    const struct plot *p = &c->plot[panel];
    size_t front = common_front(c, &c->curves[panel]);

    for (enum label kind = LABEL_WHOLE;; kind++) {
        if (kind == LABEL_VALUES && p->values) /* before a value they would read as one list */
            continue;
        for (int i = 0; i < p->count; i++)
            c->series[panel][i].label = label_of(c, c->curves[panel].line[i].group, kind, front);
        if (kind == LABEL_END || plot_legend_fits(p))
            return kind;
    }
}

/* What says most without being cut: the middle of a name cannot be missed. Without a cursor names say
 * more than the values at the end, which the table has too. */
void compare_choose_labels(struct compare *c, int panel)
{
    struct plot *p = &c->plot[panel];

    p->values = p->count <= COMPARE_MANY;
    if (name_curves(c, panel) == LABEL_END && p->values && !p->cursor) {
        p->values = false;
        name_curves(c, panel);
    }
}

/* By its first run, and that it says nothing of speed-up: the middle of both in one cannot be missed. */
void compare_name_scaling(struct compare *c, int panel, int brief)
{
    for (int i = 0; i < c->plot[panel].count; i++) {
        struct curves_line *line = &c->curves[panel].line[i];
        size_t k = 0;
        const char *name;

        while (c->point[k].setting != line->group ||
               study_point_counts(&c->point[k]) == line->dashed)
            k++;
        name = study_short_name(c->set->entry[c->point[k].run].name);
        free(line->label);
        line->label = mem_textf("%s%s", brief ? tail_of(name) : name,
                                line->dashed && brief < 2 ? ", virtual or shared" : "");
        c->series[panel][i].label = line->label;
    }
}
