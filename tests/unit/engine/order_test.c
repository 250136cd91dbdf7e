/* Orders of epochs are the same whether they are made ahead or when asked for. */
#include "base/mem.h"
#include "engine/run/order.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGES 999

static void fill(struct plan *p, int members, enum spec_order order, bool shuffle)
{
    memset(p, 0, sizeof *p);
    p->train_images = IMAGES;
    p->spec.seed = 7;
    p->spec.epochs = 5;
    p->spec.shuffle = shuffle;
    p->spec.member_order = order;
    p->session.members = members;
}

/* Every image once, and as the keys say. */
static bool right(const struct plan *p, const uint32_t *order, int64_t epoch, int m)
{
    struct rng_key key = net_order_key(p->spec.seed, epoch);
    uint32_t want[IMAGES];

    if (m)
        key = rng_fold_in(key, (1u << 16) + (uint32_t)m);
    if (!rng_permutation(key, IMAGES, want))
        return false;
    return !memcmp(order, want, sizeof want);
}

static void epochs_of(int members, enum spec_order how, bool ahead)
{
    struct plan *p = mem_new(1, sizeof *p);
    struct order *o;
    const uint32_t *const *order;
    struct err e = {0};
    const int64_t asked[] = {1, 2, 2, 3, 5, 4, 5}; /* a resume begins anywhere */

    fill(p, members, how, true);
    o = order_open(p, ahead);
    for (size_t i = 0; i < MEM_COUNT(asked); i++) {
        REQUIRE_OK(order_of(o, asked[i], &order, &e));
        for (int m = 0; m < members; m++) {
            CHECK(right(p, order[m], asked[i], how == SPEC_OWN ? m : 0));
            CHECK((order[m] == order[0]) == (m == 0 || how != SPEC_OWN));
        }
    }
    order_close(o);
    free(p);
}

TEST(one_order_for_all)
{
    epochs_of(1, SPEC_SAME, false);
    epochs_of(1, SPEC_SAME, true);
    epochs_of(3, SPEC_SAME, true);
}

TEST(an_order_for_each)
{
    epochs_of(3, SPEC_OWN, false);
    epochs_of(3, SPEC_OWN, true);
}

TEST(without_shuffling_it_is_the_files_order)
{
    struct plan *p = mem_new(1, sizeof *p);
    const uint32_t *const *order;
    struct order *o;
    struct err e = {0};

    fill(p, 2, SPEC_OWN, false);
    o = order_open(p, true);
    REQUIRE_OK(order_of(o, 1, &order, &e));
    for (uint32_t i = 0; i < IMAGES; i++)
        CHECK(order[1][i] == i);
    order_close(o);
    free(p);
}

/* Whoever computes meanwhile is told of the next order once it is made, and not before. */
TEST(the_next_order_while_an_epoch_runs)
{
    struct plan *p = mem_new(1, sizeof *p);
    const uint32_t *const *order, *const *next = NULL;
    struct err e = {0};

    fill(p, 3, SPEC_OWN, true);
    for (int ahead = 0; ahead < 2; ahead++) {
        struct order *o = order_open(p, ahead);

        CHECK(!order_next(o));
        for (int64_t epoch = 1; epoch <= 5; epoch++) {
            REQUIRE_OK(order_of(o, epoch, &order, &e));
            CHECK(!next || next == order);
            next = NULL;
            for (int tries = 0; ahead && epoch < 5 && !next && tries < 5000; tries++) {
                usleep(1000);
                next = order_next(o);
            }
            CHECK((next != NULL) == (ahead && epoch < 5));
            for (int m = 0; next && m < 3; m++)
                CHECK(right(p, next[m], epoch + 1, m));
        }
        CHECK(!order_next(o));
        order_close(o);
    }
    free(p);
}
