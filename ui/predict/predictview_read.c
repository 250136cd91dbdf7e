/* What the screen has of a run's answers besides themselves: names, accuracies, the classes that are shown. */
#include "ui/predict/predictview_int.h"

#include "base/mem.h"

#include <stdlib.h>

void predictview_free(struct predictview_set *s)
{
    if (!s)
        return;
    for (int k = 0; s->name && k < s->of.classes; k++)
        free(s->name[k]);
    free(s->name);
    free(s->member_acc);
    free(s->labelled);
    free(s->answered);
    free(s->right);
    free(s->shown);
    free(s->shown_as);
    study_confusion_free(&s->confusion);
    study_answers_free(&s->of);
    free(s);
}

static void name_classes(struct predictview_set *s)
{
    s->name = mem_new((size_t)s->of.classes, sizeof *s->name);
    for (int k = 0; k < s->of.classes; k++)
        s->name[k] = s->of.class_names && s->of.class_names[k] ? mem_text(s->of.class_names[k])
                                                               : mem_textf("%d", k);
}

static void count_classes(struct predictview_set *s)
{
    size_t classes = (size_t)s->of.classes;

    s->labelled = mem_new(classes, sizeof *s->labelled);
    s->answered = mem_new(classes, sizeof *s->answered);
    s->right = mem_new(classes, sizeof *s->right);
    for (size_t i = 0; i < s->of.n; i++) {
        s->labelled[s->of.labels[i]]++;
        s->answered[s->of.answer[i]]++;
        s->right[s->of.labels[i]] += s->of.answer[i] == s->of.labels[i];
    }
}

static size_t mistakes(const struct predictview_set *s, int k)
{
    return s->labelled[k] + s->answered[k] - 2 * s->right[k];
}

/* Classes with the most mistakes, and of equals the first ones, in their own order. */
static int choose_classes(struct predictview_set *s)
{
    int n = 0, most = PREDICTVIEW_MOST_CLASSES;
    size_t least = 0, all = 0;

    s->shown = mem_new((size_t)most, sizeof *s->shown);
    for (size_t low = 0, high = 2 * s->of.n; s->of.classes > most && low <= high;) {
        size_t middle = low + (high - low) / 2, there = 0;

        for (int k = 0; k < s->of.classes; k++)
            there += mistakes(s, k) >= middle;
        if (there >= (size_t)most) {
            least = middle; /* enough have so many */
            low = middle + 1;
        } else if (!middle) {
            break;
        } else {
            high = middle - 1;
        }
    }
    for (int k = 0; k < s->of.classes; k++)
        all += mistakes(s, k) > least;
    for (int k = 0, equals = most - (int)all; k < s->of.classes && n < most; k++)
        if (s->of.classes <= most || mistakes(s, k) > least ||
            (mistakes(s, k) == least && equals-- > 0))
            s->shown[n++] = k;
    return n;
}

static void confuse(struct predictview_set *s)
{
    int shows = choose_classes(s);

    s->shown_as = mem_new((size_t)shows, sizeof *s->shown_as);
    for (int i = 0; i < shows; i++)
        s->shown_as[i] = s->name[s->shown[i]];
    study_answers_confusion(&s->of, s->shown, shows, &s->confusion);
}

static void count_right(struct predictview_set *s)
{
    size_t right = 0;

    s->member_acc = mem_new((size_t)s->of.members, sizeof *s->member_acc);
    for (size_t i = 0; i < s->of.n; i++) {
        right += s->of.answer[i] == s->of.labels[i];
        for (int m = 0; m < s->of.members; m++)
            s->member_acc[m] += study_answers_of(&s->of, m, i) == s->of.labels[i];
    }
    s->acc = (double)right / (double)s->of.n;
    for (int m = 0; m < s->of.members; m++)
        s->member_acc[m] /= (double)s->of.n;
}

enum err_code predictview_make(struct predictview_set **out, struct safetensors *file,
                               const char *path, struct err *e)
{
    struct predictview_set *s = mem_new(1, sizeof *s);
    enum err_code code = study_answers_take(&s->of, file, path, e);

    safetensors_free(file);
    *out = code == ERR_OK ? s : NULL;
    if (code != ERR_OK) {
        free(s);
        return code;
    }
    name_classes(s);
    count_right(s);
    count_classes(s);
    confuse(s);
    return ERR_OK;
}
