/* study/confusion.h: labels against answers: how often each class was taken for which. */
#ifndef CHORUS_STUDY_CONFUSION_H
#define CHORUS_STUDY_CONFUSION_H

#include "study/table.h"

#include <stddef.h>
#include <stdint.h>

struct study_confusion {
    int classes;
    uint64_t *count; /* (classes, classes): by label, then by answer */
};

void study_confusion(struct study_confusion *c, const int64_t *labels, const int *answers,
                     size_t images, int classes);
void study_confusion_free(struct study_confusion *c);

/* A row a label, a column an answer. names: (classes), or NULL; as may be one of them. */
void study_confusion_table(const struct study_confusion *c, char *const *names,
                           struct study_table *out);
/* A row a class: images, accuracy (right of its images), precision (right of its answers), and the
 * class it is most often taken for. */
void study_classes_table(const struct study_confusion *c, char *const *names,
                         struct study_table *out);

#endif
