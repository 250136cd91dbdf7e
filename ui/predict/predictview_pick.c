/* Which images are shown, and in which order. */
#include "ui/predict/predictview_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ranked {
    size_t image;
    double key; /* the least first */
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (isnan(x->key) || isnan(y->key)) { /* of weights that are not finite: last */
        if (!isnan(x->key) || !isnan(y->key))
            return isnan(x->key) ? 1 : -1;
    } else if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->image > y->image) - (x->image < y->image);
}

static bool belongs(const struct predictview_set *s, const struct predictview_pick *pick, size_t i)
{
    switch (pick->order) {
    case PREDICTVIEW_WORST:
        return s->answer[i] != s->labels[i];
    case PREDICTVIEW_CLASS:
        return s->labels[i] == pick->label;
    case PREDICTVIEW_PAIR:
        return s->labels[i] == pick->label && s->answer[i] == pick->answer;
    default:
        return true;
    }
}

static double key_of(const struct predictview_set *s, enum predictview_order order, size_t i)
{
    switch (order) {
    case PREDICTVIEW_WORST:
        return (double)s->mean[i * (size_t)s->classes + (size_t)s->labels[i]];
    case PREDICTVIEW_UNSURE:
        return (double)predictview_highest(s, i);
    case PREDICTVIEW_SPLIT:
        return -s->others[i] + (double)predictview_highest(s, i);
    default:
        return 0;
    }
}

void predictview_pick(const struct predictview_set *s, struct predictview_pick *pick)
{
    struct ranked *r = mem_new(s->n + 1, sizeof *r);

    free(pick->image);
    pick->n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (belongs(s, pick, i))
            r[pick->n++] = (struct ranked){i, key_of(s, pick->order, i)};
    if (pick->order != PREDICTVIEW_ALL)
        qsort(r, pick->n, sizeof *r, by_key);
    pick->image = mem_new(pick->n + 1, sizeof *pick->image);
    for (size_t i = 0; i < pick->n; i++)
        pick->image[i] = r[i].image;
    free(r);
}

void predictview_add_pick(const struct predictview_set *s, const struct predictview_pick *pick,
                          struct text *out)
{
    switch (pick->order) {
    case PREDICTVIEW_ALL:
        text_add(out, "all in order");
        break;
    case PREDICTVIEW_WORST:
        text_add(out, "the worst mistakes");
        break;
    case PREDICTVIEW_UNSURE:
        text_add(out, "the least sure");
        break;
    case PREDICTVIEW_SPLIT:
        text_add(out, "the largest disagreement of members");
        break;
    case PREDICTVIEW_CLASS:
        text_addf(out, "label %s", s->name[pick->label]);
        break;
    case PREDICTVIEW_PAIR:
        text_addf(out, "label %s, answer %s", s->name[pick->label], s->name[pick->answer]);
        break;
    }
}

int predictview_class(const struct predictview_set *s, const char *word)
{
    int64_t number;

    for (int k = 0; k < s->classes; k++)
        if (!strcasecmp(s->name[k], word))
            return k;
    if (text_to_int(word, &number))
        return number >= 0 && number < s->classes ? (int)number : -1;
    for (int k = 0; *word && k < s->classes; k++)
        if (strcasestr(s->name[k], word))
            return k;
    return -1;
}

void predictview_table(const struct predictview_set *s, const struct predictview_pick *pick,
                       struct study_table *t)
{
    struct text name = {0};

    study_table_column(t, "image", STUDY_COUNT, false);
    study_table_column(t, "label", STUDY_COUNT, false);
    study_table_column(t, "prediction", STUDY_COUNT, false);
    study_table_column(t, "probability", STUDY_SHARE, false);
    for (int k = 0; k < s->classes + s->members; k++) {
        text_clear(&name);
        text_addf(&name, k < s->classes ? "p%d" : "member%d_prediction",
                  k < s->classes ? k : k - s->classes);
        study_table_column(t, text_str(&name), k < s->classes ? STUDY_SHARE : STUDY_COUNT, false);
    }
    for (size_t k = 0; k < pick->n; k++) {
        size_t i = pick->image[k];

        study_table_number(t, (double)i);
        study_table_number(t, (double)s->labels[i]);
        study_table_number(t, s->answer[i]);
        study_table_number(t, (double)predictview_highest(s, i));
        for (int c = 0; c < s->classes; c++)
            study_table_number(t, (double)s->mean[i * (size_t)s->classes + (size_t)c]);
        for (int m = 0; m < s->members; m++)
            study_table_number(t, predictview_answer(s, m, i));
    }
    text_free(&name);
}
