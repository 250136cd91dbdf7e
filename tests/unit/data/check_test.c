/* What `data check` counts. */
#include "tests/unit/data/kit.h"

#include "data/check.h"

TEST(counts_and_range)
{
    char *folder = kit_folder();
    struct data_places places = {NULL};
    struct data_check *check;
    struct text t = {0};
    uint32_t dim[3] = {6, 1, 2}, four = 4, six = 6;
    struct err e;

    kit_head(&t, 8, 3, dim);
    text_add_n(&t,
               "\1\2"
               "\3\3"
               "\1\2"
               "\7\10"
               "\1\2"
               "\11\11",
               12);
    kit_put(folder, "train-images-idx3-ubyte", &t, false);
    text_clear(&t);
    kit_head(&t, 8, 1, &six);
    text_add_n(&t, "\0\1\0\3\1\1", 6);
    kit_put(folder, "train-labels-idx1-ubyte", &t, false);
    text_clear(&t);
    dim[0] = 4;
    kit_head(&t, 8, 3, dim);
    text_add_n(&t,
               "\1\2"
               "\5\6"
               "\7\10"
               "\5\6",
               8);
    kit_put(folder, "t10k-images-idx3-ubyte", &t, false);
    text_clear(&t);
    kit_head(&t, 8, 1, &four);
    text_add_n(&t, "\0\1\0\1", 4);
    kit_put(folder, "t10k-labels-idx1-ubyte", &t, false);

    REQUIRE_OK(data_check(&check, folder, &places, &e));
    CHECK_INT(check->set->classes, 4);
    CHECK_INT(check->train.of_class[0], 2);
    CHECK_INT(check->train.of_class[1], 3);
    CHECK_INT(check->train.of_class[2], 0);
    CHECK_INT(check->train.of_class[3], 1);
    CHECK_INT(check->test.of_class[0], 2);
    CHECK_INT(check->test.of_class[3], 0);
    CHECK_INT(check->train.constant, 2);
    CHECK_INT(check->train.first_constant, 1);
    CHECK_INT(check->train.again, 2);
    CHECK_INT(check->train.contradicting, 1);
    CHECK_INT(check->test.again, 3);
    CHECK_INT(check->test.in_training, 2);
    CHECK_INT(check->test.contradicting, 1);
    CHECK(check->train.least == 1 && check->train.most == 9);
    CHECK_NEAR(check->train.mean, (3 * 3 + 6 + 15 + 18) / 12.0, 1e-12);
    CHECK_NEAR(check->train.sd,
               sqrt((3 * 5 + 18 + 49 + 64 + 162) / 12.0 - pow(check->train.mean, 2)), 1e-12);
    data_check_free(check);
    text_free(&t);
    kit_remove(folder);
}

TEST(numbers_are_looked_at_as_they_are)
{
    char *folder = kit_folder(), *path = io_path(folder, "x.csv");
    struct data_places places = {NULL};
    struct data_check *check;
    struct err e;

    kit_text(folder, "x.csv", "a,-1.5,2\nb,3,4\na,5,6\nb,100,8\n");
    REQUIRE_OK(data_check(&check, path, &places, &e));
    CHECK(check->train.least == -1.5 && check->train.most == 6);
    CHECK(check->test.most == 100);
    CHECK_INT(check->test.of_class[1], 1);
    data_check_free(check);
    free(path);
    kit_remove(folder);
}

TEST(broken_is_an_error)
{
    char *folder = kit_folder(), *path = mem_new(5000, 1);
    struct data_places places = {NULL};
    struct data_check *check;
    struct err e;

    kit_set(folder, 4, 4, 2, 2, 1, 2, false);
    kit_text(folder, "t10k-images-idx3-ubyte", "rubbish");
    CHECK_INT(data_check(&check, folder, &places, &e), ERR_INPUT);
    CHECK_HAS(e.text, "t10k-images-idx3-ubyte: not an IDX file");
    CHECK(check == NULL);
    memset(path, 'x', 4999);
    CHECK_INT(data_check(&check, path, &places, &e), ERR_INPUT);
    CHECK_HAS(e.text, "a path of more than");
    data_check_free(check);
    free(path);
    kit_remove(folder);
}
