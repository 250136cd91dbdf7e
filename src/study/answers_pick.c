/* Which images are shown, in which order, and the table of them. */
#include "study/answers.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

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

static double key_of(const struct study_answers *a, enum study_order order, size_t i)
{
    switch (order) {
    case STUDY_WORST:
        return a->mean[i * (size_t)a->classes + (size_t)a->labels[i]];
    case STUDY_SURE:
        return -study_answers_highest(a, i);
    case STUDY_UNSURE:
        return study_answers_highest(a, i);
    case STUDY_SPLIT:
        return -a->others[i] + study_answers_highest(a, i);
    default:
        return 0;
    }
}

size_t study_answers_pick(const struct study_answers *a, enum study_order order, int label,
                          int answer, size_t **out)
{
    struct ranked *r = mem_new(a->n + 1, sizeof *r);
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        if ((order != STUDY_WORST || a->answer[i] != a->labels[i]) &&
            (label < 0 || a->labels[i] == label) && (answer < 0 || a->answer[i] == answer))
            r[n++] = (struct ranked){i, key_of(a, order, i)};
    if (order != STUDY_IN_ORDER)
        qsort(r, n, sizeof *r, by_key);
    *out = mem_new(n + 1, sizeof **out);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = r[i].image;
    free(r);
    return n;
}

void study_answers_table(const struct study_answers *a, const size_t *image, size_t count,
                         bool members, struct study_table *t)
{
    size_t classes = (size_t)a->classes;
    struct text name = {0};
    int own = members ? a->members * a->classes : 0;

    study_table_column(t, "image", STUDY_COUNT, false);
    study_table_column(t, "label", STUDY_COUNT, false);
    study_table_column(t, "prediction", STUDY_COUNT, false);
    study_table_column(t, "probability", STUDY_SHARE, false);
    for (int k = 0; k < a->classes + a->members + own; k++) {
        int member = k - a->classes, of = member - a->members;

        text_clear(&name);
        if (member < 0)
            text_addf(&name, "p%d", k);
        else if (of < 0)
            text_addf(&name, "member%d_prediction", member);
        else
            text_addf(&name, "member%d_p%d", of / a->classes, of % a->classes);
        study_table_column(t, text_str(&name), member >= 0 && of < 0 ? STUDY_COUNT : STUDY_SHARE,
                           false);
    }
    for (const size_t *i = image; i < image + count; i++) {
        study_table_number(t, (double)*i);
        study_table_number(t, (double)a->labels[*i]);
        study_table_number(t, a->answer[*i]);
        study_table_number(t, study_answers_highest(a, *i));
        for (size_t c = 0; c < classes; c++)
            study_table_number(t, a->mean[*i * classes + c]);
        for (int m = 0; m < a->members; m++)
            study_table_number(t, study_answers_of(a, m, *i));
        for (size_t k = 0; k < (size_t)own; k++)
            study_table_number(t, (double)a->p[(k / classes * a->n + *i) * classes + k % classes]);
    }
    text_free(&name);
}
