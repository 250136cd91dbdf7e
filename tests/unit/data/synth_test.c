/* The synthetic set: the same bytes for the same seed, whatever the limit. */
#include "tests/unit/data/kit.h"

#include "net/net.h"

static enum err_code open_synthetic(struct data_set **set, uint64_t seed, int64_t train,
                                    int64_t test, struct net_shape wanted, struct err *e)
{
    struct data_places places = {NULL};
    struct spec s = kit_spec("synthetic");

    s.seed = seed;
    s.train_limit = train;
    s.test_limit = test;
    e->text[0] = 0;
    return data_open(set, &s, &places, wanted, e);
}

static const struct net_shape nothing = {0, 0, 0};

TEST(same_seed_same_bytes)
{
    struct data_set *a, *b, *c;
    struct err e;

    REQUIRE_OK(open_synthetic(&a, 5, 300, 200, nothing, &e));
    REQUIRE_OK(open_synthetic(&b, 5, 300, 200, nothing, &e));
    REQUIRE_OK(open_synthetic(&c, 6, 300, 200, nothing, &e));
    CHECK(!memcmp(a->train.bytes, b->train.bytes, 300 * 784));
    CHECK(!memcmp(a->test.bytes, b->test.bytes, 200 * 784));
    CHECK(!memcmp(a->train.labels, b->train.labels, 600));
    CHECK(memcmp(a->train.bytes, c->train.bytes, 300 * 784) != 0);
    CHECK(memcmp(a->train.bytes, a->test.bytes, 200 * 784) != 0);
    CHECK_STR(a->checksum, b->checksum);
    CHECK(strcmp(a->checksum, c->checksum) != 0);
    data_close(a);
    data_close(b);
    data_close(c);
}

/* Drawn with integers alone, so these are the bytes of every machine. */
TEST(bytes_of_seed_0)
{
    struct data_set *set;
    struct err e;

    REQUIRE_OK(open_synthetic(&set, 0, 100, 50, nothing, &e));
    CHECK_STR(set->checksum, "a382b63bdb5b4691e65b2ededf764b40a10370f975cc179f4783766a9bca9afe");
    data_close(set);
    REQUIRE_OK(open_synthetic(&set, 0, 100, 50, (struct net_shape){5, 32, 3}, &e));
    CHECK_STR(set->checksum, "2f5d4ccfb6865dd371a262f1c97f6759ab9d917edfb96ae99387113ba2016828");
    data_close(set);
}

TEST(an_image_does_not_depend_on_the_limit)
{
    struct data_set *all, *few;
    struct err e;

    REQUIRE_OK(open_synthetic(&all, 0, 0, 0, nothing, &e));
    CHECK_INT(all->train.count, 60000);
    CHECK_INT(all->test.count, 10000);
    CHECK_INT(all->classes, 10);
    CHECK_INT(all->shape.h, 28);
    CHECK_INT(all->shape.w, 28);
    CHECK_INT(all->shape.c, 1);
    REQUIRE_OK(open_synthetic(&few, 0, 50, 20, nothing, &e));
    CHECK(!memcmp(all->train.bytes, few->train.bytes, 50 * 784));
    CHECK(!memcmp(all->test.bytes, few->test.bytes, 20 * 784));
    CHECK(!memcmp(all->train.labels, few->train.labels, 100));
    CHECK(!memcmp(all->test.labels, few->test.labels, 40));
    data_close(few);

    /* every class about as often as the others */
    size_t of[10] = {0};
    for (size_t i = 0; i < all->train.count; i++) {
        REQUIRE(all->train.labels[i] < 10);
        of[all->train.labels[i]]++;
    }
    for (int k = 0; k < 10; k++)
        CHECK(of[k] > 5600 && of[k] < 6400);
    data_close(all);
}

/* Nearest mean image: far above chance, far from perfect. */
TEST(there_is_something_to_learn)
{
    struct data_set *set;
    struct err e;
    double *mean = mem_new(10 * 784, sizeof *mean);
    int n[10] = {0}, right = 0;

    REQUIRE_OK(open_synthetic(&set, 3, 4000, 1000, nothing, &e));
    for (size_t i = 0; i < 4000; i++) {
        int k = set->train.labels[i];

        n[k]++;
        for (int p = 0; p < 784; p++)
            mean[k * 784 + p] += set->train.bytes[i * 784 + (size_t)p];
    }
    for (size_t i = 0; i < 1000; i++) {
        double best = INFINITY;
        int answer = 0;

        for (int k = 0; k < 10; k++) {
            double far = 0;

            for (int p = 0; p < 784; p++)
                far += pow(set->test.bytes[i * 784 + (size_t)p] - mean[k * 784 + p] / n[k], 2);
            if (far < best) {
                best = far;
                answer = k;
            }
        }
        right += answer == set->test.labels[i];
    }
    CHECK(right > 600 && right < 970);
    free(mean);
    data_close(set);
}

TEST(any_shape)
{
    static const struct net_shape shapes[] = {
        {1, 1, 20}, {1, 1, 1}, {3, 200, 2}, {32, 32, 3}, {7, 5, 1}};

    for (size_t i = 0; i < MEM_COUNT(shapes); i++) {
        struct data_set *set;
        struct err e;

        REQUIRE_OK(open_synthetic(&set, 1, 20, 10, shapes[i], &e));
        CHECK_INT(set->shape.h, shapes[i].h);
        CHECK_INT(set->shape.w, shapes[i].w);
        CHECK_INT(set->shape.c, shapes[i].c);
        data_close(set);
    }
}

TEST(limits_and_sizes)
{
    struct data_places places = {NULL};
    struct spec s = kit_spec("synthetic");
    struct data_set *set, facts;
    struct err e;

    CHECK_INT(open_synthetic(&set, 0, 60001, 0, nothing, &e), ERR_INPUT);
    CHECK_HAS(e.text,
              "train_limit = 60001: synthetic has 60,000 training images; train_limit=all takes "
              "them all");
    CHECK_INT(open_synthetic(&set, 0, 0, 10001, nothing, &e), ERR_INPUT);
    CHECK_HAS(e.text, "10,000 test images; test_limit=all takes them all");
    CHECK_INT(open_synthetic(&set, 0, 0, 0, (struct net_shape){224, 224, 3}, &e), ERR_INPUT);
    CHECK_HAS(e.text, "more than 8 GiB; set train_limit");
    CHECK_INT(
        open_synthetic(&set, 0, 0, 0, (struct net_shape){2147483647, 2147483647, 2147483647}, &e),
        ERR_INPUT);
    CHECK_HAS(e.text, "more than 8 GiB");
    CHECK(set == NULL);

    s.valid = 10;
    s.valid_per_cent = true;
    REQUIRE_OK(data_peek(&facts, &s, &places, (struct net_shape){32, 32, 3}, &e));
    CHECK_INT(facts.train.count, 54000);
    CHECK_INT(facts.valid.count, 6000);
    CHECK_INT(facts.test.count, 10000);
    CHECK_INT(facts.shape.c, 3);
    CHECK_INT(facts.classes, 10);
}
