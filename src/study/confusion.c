#include "study/confusion.h"

#include "base/mem.h"
#include "record/run/run.h"

#include <stdlib.h>

void study_confusion(struct study_confusion *c, const int64_t *labels, const int *answers,
                     size_t images, int classes)
{
    c->classes = classes;
    c->count = mem_new((size_t)classes * (size_t)classes, sizeof *c->count);
    for (size_t i = 0; i < images; i++)
        c->count[(size_t)labels[i] * (size_t)classes + (size_t)answers[i]]++;
}

void study_confusion_free(struct study_confusion *c)
{
    free(c->count);
    *c = (struct study_confusion){0};
}

static uint64_t at(const struct study_confusion *c, int label, int answer)
{
    return c->count[(size_t)label * (size_t)c->classes + (size_t)answer];
}

static void add_name(struct text *out, char *const *names, int class)
{
    text_clear(out);
    if (names && names[class])
        text_add(out, names[class]);
    else
        text_addf(out, "%d", class);
}

void study_confusion_table(const struct study_confusion *c, char *const *names,
                           struct study_table *t)
{
    struct text name = {0};

    study_table_column(t, "label", STUDY_TEXT, false);
    for (int a = 0; a < c->classes; a++) {
        add_name(&name, names, a);
        study_table_column(t, text_str(&name), STUDY_COUNT, false);
    }
    for (int l = 0; l < c->classes; l++) {
        add_name(&name, names, l);
        study_table_word(t, text_str(&name));
        for (int a = 0; a < c->classes; a++)
            study_table_number(t, (double)at(c, l, a));
    }
    study_table_note(t, "a row a label, a column an answer: how many test images");
    text_free(&name);
}

void study_classes_table(const struct study_confusion *c, char *const *names, struct study_table *t)
{
    struct text name = {0};

    study_table_column(t, "class", STUDY_TEXT, false);
    study_table_column(t, "images", STUDY_COUNT, false);
    study_table_column(t, "accuracy", STUDY_SHARE, false);
    study_table_column(t, "precision", STUDY_SHARE, false);
    study_table_column(t, "taken_for", STUDY_TEXT, false);
    for (int k = 0; k < c->classes; k++) {
        uint64_t images = 0, answers = 0;
        int other = -1;

        for (int i = 0; i < c->classes; i++) {
            images += at(c, k, i);
            answers += at(c, i, k);
            if (i != k && at(c, k, i) > (other < 0 ? 0 : at(c, k, other)))
                other = i;
        }
        add_name(&name, names, k);
        study_table_word(t, text_str(&name));
        study_table_number(t, (double)images);
        study_table_number(t, images ? (double)at(c, k, k) / (double)images : RECORD_EMPTY);
        study_table_number(t, answers ? (double)at(c, k, k) / (double)answers : RECORD_EMPTY);
        text_clear(&name);
        if (other >= 0)
            add_name(&name, names, other);
        study_table_word(t, text_str(&name));
    }
    study_table_note(t, "accuracy: the share of the class's images that were given it; precision: "
                        "the share of its answers that were right; taken_for: most often");
    text_free(&name);
}
