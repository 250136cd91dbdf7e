/* Predictions for programs: as tables, and as JSON. */
#include "cli/out/report/predictions_print.h"

#include "base/mem.h"
#include "record/run/reader.h"
#include "study/confusion.h"
#include "study/members.h"

#include <stdlib.h>

static void add_row(const struct predictions *p, int member, size_t image, struct text *out)
{
    double *row = mem_new((size_t)p->classes, sizeof *row);

    predictions_row(p, member, image, row);
    text_add(out, "[");
    for (int c = 0; c < p->classes; c++) {
        text_add(out, c ? ", " : "");
        text_add_json_double(out, row[c]);
    }
    text_add(out, "]");
    free(row);
}

void predict_json(const struct predictions *p, const struct record_entry *run,
                  const struct study_members *s, const char *path, const struct predict_pick *pick,
                  size_t count, struct text *out)
{
    text_add(out, "{\"run\": ");
    text_add_json(out, run->name);
    text_addf(out, ", \"epoch\": %lld, \"images\": %zu, \"members\": %d, \"test_acc\": ",
              (long long)p->epoch, p->n, p->members);
    text_add_json_double(out, s->whole.acc);
    text_add(out, ", \"test_loss\": ");
    text_add_json_double(out, s->whole.nll);
    text_add(out, ", \"file\": ");
    text_add_json(out, path);
    text_add(out, ", \"first\": [");
    for (size_t k = 0; k < count; k++) {
        size_t i = pick[k].image;

        text_addf(out, "%s{\"image\": %zu, \"label\": %lld, \"prediction\": %d, \"mean\": ",
                  k ? ", " : "", i, (long long)p->labels[i], predictions_answer(p, -1, i));
        add_row(p, -1, i, out);
        text_add(out, ", \"members\": [");
        for (int m = 0; m < p->members; m++) {
            text_add(out, m ? ", " : "");
            add_row(p, m, i, out);
        }
        text_add(out, "]}");
    }
    text_add(out, "]}\n");
}

void predict_rows(const struct predictions *p, const struct predict_pick *pick, size_t count,
                  bool members, struct study_table *t)
{
    struct text name = {0};
    int own = members ? p->members * p->classes : 0;

    study_table_column(t, "image", STUDY_COUNT, false);
    study_table_column(t, "label", STUDY_COUNT, false);
    study_table_column(t, "prediction", STUDY_COUNT, false);
    study_table_column(t, "probability", STUDY_SHARE, false);
    for (int k = 0; k < p->classes + p->members; k++) {
        text_clear(&name);
        text_addf(&name, k < p->classes ? "p%d" : "member%d_prediction",
                  k < p->classes ? k : k - p->classes);
        study_table_column(t, text_str(&name), STUDY_SHARE, false);
    }
    for (int k = 0; k < own; k++) {
        text_clear(&name);
        text_addf(&name, "member%d_p%d", k / p->classes, k % p->classes);
        study_table_column(t, text_str(&name), STUDY_SHARE, false);
    }
    for (size_t k = 0; k < count; k++) {
        size_t i = pick[k].image;

        study_table_number(t, (double)i);
        study_table_number(t, (double)p->labels[i]);
        study_table_number(t, predictions_answer(p, -1, i));
        study_table_number(t, predictions_highest(p, i));
        for (int c = 0; c < p->classes; c++)
            study_table_number(t, p->mean[i * (size_t)p->classes + (size_t)c]);
        for (int m = 0; m < p->members; m++)
            study_table_number(t, predictions_answer(p, m, i));
        for (int c = 0; c < own; c++) {
            size_t row = (size_t)(c / p->classes) * p->n + i;

            study_table_number(t,
                               (double)p->p[row * (size_t)p->classes + (size_t)(c % p->classes)]);
        }
    }
    text_free(&name);
}

void predict_matrix(const struct predictions *p, bool confusion, struct study_table *t)
{
    int *answers = mem_new(p->n, sizeof *answers);
    struct study_confusion c;

    for (size_t i = 0; i < p->n; i++)
        answers[i] = predictions_answer(p, -1, i);
    study_confusion(&c, p->labels, answers, p->n, p->classes);
    (confusion ? study_confusion_table : study_classes_table)(&c, p->class_names, t);
    study_confusion_free(&c);
    free(answers);
}
