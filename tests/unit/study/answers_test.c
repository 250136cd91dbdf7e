/* Answers against sums and sorts that are as plain as can be, and the file that keeps them. */
#include "study/answers.h"

#include "base/mem.h"
#include "tests/test.h"

#include <unistd.h>

enum { MEMBERS = 3, IMAGES = 60, CLASSES = 4, PIXELS = 6 };

static struct study_answers made(void)
{
    struct study_answers a = {.epoch = 7,
                              .members = MEMBERS,
                              .classes = CLASSES,
                              .n = IMAGES,
                              .shape = {2, 3, 1},
                              .data_hash = "0123456789abcde"};
    struct err e;

    if (study_answers_room(&a, &e) != ERR_OK)
        abort();
    for (int i = 0; i < IMAGES; i++) {
        a.labels[i] = i * 5 % CLASSES;
        for (int k = 0; k < PIXELS; k++)
            ((float *)a.images)[i * PIXELS + k] = (float)(i + k);
    }
    for (int i = 0; i < MEMBERS * IMAGES * CLASSES; i++) /* few values, so that there are equals */
        a.p[i] = (float)(i * 7 % 11 % 5) / 4;
    study_answers_average(&a);
    return a;
}

static double sum_of(const struct study_answers *a, int image, int class)
{
    double sum = 0;

    for (int m = 0; m < MEMBERS; m++)
        sum += (double)a->p[(m * IMAGES + image) * CLASSES + class];
    return sum;
}

static int naive_answer(const struct study_answers *a, int image)
{
    for (int c = 0;; c++) {
        bool most = true;

        for (int k = 0; k < CLASSES; k++)
            most = most && sum_of(a, image, c) >= sum_of(a, image, k);
        if (most)
            return c;
    }
}

TEST(the_mean_is_that_of_the_members)
{
    struct study_answers a = made();

    for (int i = 0; i < IMAGES; i++) {
        int others = 0;

        for (int c = 0; c < CLASSES; c++)
            CHECK_NEAR(a.mean[i * CLASSES + c], sum_of(&a, i, c) / MEMBERS, 1e-12);
        CHECK_INT(a.answer[i], naive_answer(&a, i));
        for (int m = 0; m < MEMBERS; m++)
            others += study_answers_of(&a, m, (size_t)i) != a.answer[i];
        CHECK_INT(a.others[i], others);
        CHECK_NEAR(study_answers_highest(&a, (size_t)i), a.mean[i * CLASSES + a.answer[i]], 0);
    }
    study_answers_free(&a);
}

/* The least first. */
static double naive_key(const struct study_answers *a, enum study_order order, size_t i)
{
    double high = study_answers_highest(a, i);

    return order == STUDY_WORST    ? a->mean[i * CLASSES + (size_t)a->labels[i]]
           : order == STUDY_SURE   ? -high
           : order == STUDY_UNSURE ? high
           : order == STUDY_SPLIT  ? high - a->others[i]
                                   : 0;
}

static void check_pick(const struct study_answers *a, enum study_order order, int label, int answer)
{
    size_t *image, n = study_answers_pick(a, order, label, answer, &image), want = 0;

    for (size_t i = 0; i < IMAGES; i++)
        want += (order != STUDY_WORST || a->answer[i] != a->labels[i]) &&
                (label == -1 || a->labels[i] == label) && (answer == -1 || a->answer[i] == answer);
    CHECK_INT(n, want);
    for (size_t k = 0; k < n; k++) {
        CHECK(label == -1 || a->labels[image[k]] == label);
        CHECK(answer == -1 || a->answer[image[k]] == answer);
        CHECK(order != STUDY_WORST || a->answer[image[k]] != a->labels[image[k]]);
    }
    for (size_t k = 1; k < n; k++) {
        double one = naive_key(a, order, image[k - 1]), next = naive_key(a, order, image[k]);

        CHECK(one < next || (!(one > next) && image[k - 1] < image[k]));
    }
    free(image);
}

TEST(images_are_picked_and_put_in_order)
{
    struct study_answers a = made();

    for (int order = 0; order < STUDY_ORDERS; order++)
        for (int label = -1; label < CLASSES; label++)
            for (int answer = -1; answer < CLASSES; answer++)
                check_pick(&a, (enum study_order)order, label, answer);
    study_answers_free(&a);
}

TEST(what_is_no_number_comes_last)
{
    struct study_answers a = made();
    size_t *image, n;

    a.mean[5 * CLASSES + a.answer[5]] = (double)NAN;
    n = study_answers_pick(&a, STUDY_UNSURE, -1, -1, &image);
    CHECK_INT(n, IMAGES);
    CHECK_INT(image[n - 1], 5);
    free(image);
    study_answers_free(&a);
}

TEST(a_confusion_matrix_counts_all_or_some_classes)
{
    static const int only[] = {1, 3};
    struct study_answers a = made();
    struct study_confusion all, some;

    study_answers_confusion(&a, NULL, CLASSES, &all);
    study_answers_confusion(&a, only, 2, &some);
    for (int l = 0; l < CLASSES; l++)
        for (int k = 0; k < CLASSES; k++) {
            uint64_t n = 0;

            for (int i = 0; i < IMAGES; i++)
                n += a.labels[i] == l && a.answer[i] == k;
            CHECK_INT(all.count[l * CLASSES + k], n);
        }
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < 2; k++)
            CHECK_INT(some.count[l * 2 + k], all.count[only[l] * CLASSES + only[k]]);
    study_confusion_free(&all);
    study_confusion_free(&some);
    study_answers_free(&a);
}

TEST(a_row_has_each_member_and_its_probabilities)
{
    static const size_t image[] = {9, 4};
    struct study_answers a = made();
    struct study_table t = {0};
    char name[32];

    study_answers_table(&a, image, 2, true, &t);
    CHECK_INT(t.rows, 2);
    CHECK_INT(t.columns, 4 + CLASSES + MEMBERS + MEMBERS * CLASSES);
    for (size_t r = 0; r < 2; r++)
        for (int m = 0; m < MEMBERS; m++) {
            snprintf(name, sizeof name, "member%d_prediction", m);
            CHECK_NEAR(study_table_cell(&t, r, study_table_find(&t, name))->value,
                       study_answers_of(&a, m, image[r]), 0);
            for (int c = 0; c < CLASSES; c++) {
                snprintf(name, sizeof name, "member%d_p%d", m, c);
                CHECK_NEAR(study_table_cell(&t, r, study_table_find(&t, name))->value,
                           (double)a.p[((size_t)m * IMAGES + image[r]) * CLASSES + (size_t)c], 0);
            }
        }
    CHECK_NEAR(study_table_cell(&t, 1, study_table_find(&t, "label"))->value, 4 * 5 % CLASSES, 0);
    study_table_free(&t);
    study_answers_free(&a);
}

TEST(numbers_become_bytes_between_their_least_and_largest)
{
    struct study_answers a = made();
    float *image = (float *)a.images + 2 * PIXELS;
    uint8_t *bytes = study_answers_bytes(&a, 2);

    for (int k = 0; k < PIXELS; k++)
        CHECK_INT(bytes[k], 51 * k); /* 255 in five steps */
    free(bytes);
    image[0] = NAN;
    image[5] = INFINITY;
    bytes = study_answers_bytes(&a, 2);
    CHECK_INT(bytes[0], 0);
    CHECK_INT(bytes[4], 255);
    CHECK_INT(bytes[5], 0);
    free(bytes);
    study_answers_free(&a);
}

TEST(of_two_channels_the_first_is_drawn)
{
    struct study_answers a = made();
    uint8_t *bytes;

    a.shape = (struct net_shape){1, 3, 2};
    bytes = study_answers_bytes(&a, 0);
    CHECK(bytes[0] == 0 && bytes[1] == 102 && bytes[2] == 204);
    free(bytes);
    study_answers_free(&a);
}

TEST(the_file_gives_back_what_was_saved)
{
    char *path = mem_textf("%s/answers-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    struct study_answers a = made(), b;
    int fd = mkstemp(path);
    struct err e;

    a.class_names = mem_new(CLASSES, sizeof *a.class_names);
    a.class_names[1] = mem_text("a\ncat");
    a.class_names[2] = mem_text("dog");
    a.log_p = mem_new(MEMBERS * IMAGES, sizeof *a.log_p);
    a.log_p[3] = -4000;
    REQUIRE(fd >= 0 && study_answers_save(&a, path, &e) == ERR_OK);
    REQUIRE(study_answers_read(&b, path, &e) == ERR_OK);
    CHECK(b.epoch == 7 && b.members == MEMBERS && b.classes == CLASSES && b.n == IMAGES);
    CHECK(study_answers_same_images(&a, &b));
    CHECK(!memcmp(a.labels, b.labels, IMAGES * sizeof *a.labels));
    CHECK(!memcmp(a.mean, b.mean, IMAGES * CLASSES * sizeof *a.mean));
    CHECK(!memcmp(a.answer, b.answer, IMAGES * sizeof *a.answer));
    CHECK(b.log_p && b.log_p[3] == -4000);
    CHECK_STR(b.data_hash, "0123456789abcde");
    CHECK(b.class_names && !b.class_names[0] && !b.class_names[3] && !b.column_names);
    CHECK_STR(b.class_names[1], "a cat"); /* lines part the names */
    CHECK_STR(b.class_names[2], "dog");
    ((float *)b.images)[0] = -1;
    CHECK(!study_answers_same_images(&a, &b));
    close(fd);
    unlink(path);
    free(path);
    study_answers_free(&a);
    study_answers_free(&b);
}
