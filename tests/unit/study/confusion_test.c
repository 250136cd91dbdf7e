/* Labels against answers, by hand. */
#include "study/confusion.h"
#include "tests/test.h"

/* Seven images of three classes; nothing is of class 2, and once it is the answer. */
static const int64_t labels[] = {0, 0, 0, 0, 1, 1, 1};
static const int answers[] = {0, 0, 1, 2, 1, 0, 0};

static const char *cell(const struct study_table *t, size_t row, const char *column)
{
    int c = study_table_find(t, column);

    return c < 0 ? "(no such column)" : study_table_cell(t, row, c)->text;
}

TEST(labels_against_answers)
{
    static char *const names[] = {"cat", NULL, "dog"};
    struct study_confusion c;
    struct study_table t = {0};

    study_confusion(&c, labels, answers, 7, 3);
    study_confusion_table(&c, names, &t);
    CHECK_INT(t.rows, 3);
    CHECK_STR(cell(&t, 0, "label"), "cat");
    CHECK_STR(cell(&t, 1, "label"), "1");
    CHECK_STR(cell(&t, 0, "cat"), "2");
    CHECK_STR(cell(&t, 0, "1"), "1");
    CHECK_STR(cell(&t, 0, "dog"), "1");
    CHECK_STR(cell(&t, 1, "cat"), "2");
    CHECK_STR(cell(&t, 1, "1"), "1");
    CHECK_STR(cell(&t, 2, "dog"), "0");
    study_table_free(&t);
    study_confusion_free(&c);
}

TEST(accuracy_and_precision_of_a_class)
{
    struct study_confusion c;
    struct study_table t = {0};

    study_confusion(&c, labels, answers, 7, 3);
    study_classes_table(&c, NULL, &t);
    CHECK_STR(cell(&t, 0, "images"), "4");
    CHECK_STR(cell(&t, 0, "accuracy"), "0.5");
    CHECK_STR(cell(&t, 0, "precision"), "0.5"); /* two of the four that were called 0 */
    CHECK_STR(cell(&t, 0, "taken_for"), "1");   /* as often as for 2: the first */
    CHECK_NEAR(atof(cell(&t, 1, "accuracy")), 1 / 3.0, 1e-15);
    CHECK_STR(cell(&t, 1, "precision"), "0.5");
    CHECK_STR(cell(&t, 1, "taken_for"), "0");
    CHECK_STR(cell(&t, 2, "images"), "0");
    CHECK_STR(cell(&t, 2, "accuracy"), "");
    CHECK_STR(cell(&t, 2, "precision"), "0");
    CHECK_STR(cell(&t, 2, "taken_for"), "");
    study_table_free(&t);
    study_confusion_free(&c);
}
