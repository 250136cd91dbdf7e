/* The order of the next epoch goes to the device while this one runs. */
#include "tests/parity/cuda_kit.h"

#define IMAGES 64
#define BATCH  8
#define STEPS  (IMAGES / BATCH)

struct maker { /* of the next order, asked for it while steps run */
    const uint32_t *const *next;
    int after, asked; /* it is made by the time that it was asked for so often */
};

static const uint32_t *const *next_of(void *user)
{
    struct maker *m = user;

    return ++m->asked > m->after ? m->next : NULL;
}

static size_t train(struct kit *b, struct backend_session *s, const uint32_t *const *order,
                    struct maker *m, size_t first, size_t steps, struct backend_step *rows)
{
    struct err e = {0};
    double lr[STEPS];
    size_t done = 0;
    struct backend_span span = {.first_step = first,
                                .count = steps,
                                .first_batch = first % STEPS,
                                .order = order,
                                .next = m ? next_of : NULL,
                                .next_user = m,
                                .lr = lr,
                                .order_key = b->order_key};

    for (size_t i = 0; i < steps; i++)
        lr[i] = 0.05;
    if (BE->train(s, &span, rows, &done, &e))
        TEST_FAILED("%s", e.text);
    return done;
}

/* What lies on the device for a model. */
static bool holds(struct backend_session *s, size_t at, size_t m, const uint32_t *order)
{
    struct cuda_place *p = &s->place[0];
    uint32_t here[IMAGES];
    struct err e = {0};

    if (cuda_place_bounce(p, sizeof here, &e) ||
        cuda_place_copy(p, p->bounce, p->memory + at + m * sizeof here, sizeof here, "it", &e) ||
        cuda_place_wait(p, &e))
        TEST_FAILED("%s", e.text);
    memcpy(here, p->bounce, sizeof here);
    return !memcmp(here, order, sizeof here);
}

static void shuffle(uint32_t *order, uint32_t seed)
{
    CHECK(rng_permutation(rng_key(seed), IMAGES, order));
}

static void two_epochs(bool own)
{
    uint32_t order[2][2][IMAGES]; /* (epochs, members; images) */
    const uint32_t *of[2][2];
    struct backend_step ahead[2 * STEPS * 2], plain[2 * STEPS * 2];
    uint64_t copies[2];
    struct kit b;

    for (int k = 0; k < 2; k++)
        for (int m = 0; m < 2; m++) {
            shuffle(order[k][m], (uint32_t)(10 * k + m));
            of[k][m] = order[k][own ? m : 0];
        }
    kit_twin(1);
    cuda_hooks.graph = 2;
    REQUIRE(kit_open(&b, "input auto\ndense 12\nrelu\ndense 10\n", (struct net_shape){5, 5, 1},
                     IMAGES, BATCH));
    kit_ensemble(&b, 2, 1, own);
    struct backend_session *s = kit_session(BE, &b), *other = kit_session(BE, &b);
    REQUIRE(s && other);
    const struct cuda_layout *l = &s->place[0].layout;
    struct maker m = {of[1], 1, 0};

    /* Not made when the first span starts, it goes up within it, long before the epoch's last one. */
    CHECK_INT(train(&b, s, of[0], &m, 0, 5, ahead), 5);
    CHECK(m.asked >= 2);
    for (int i = 0; i <= own; i++)
        CHECK(holds(s, l->next, (size_t)i, of[1][i]) && !holds(s, l->order, (size_t)i, of[1][i]));
    CHECK_INT(train(&b, s, of[0], &m, 5, 3, ahead + 5 * 2), 3);

    /* Then the new epoch's first span brings no order, and leaves the whole of it where steps look. */
    for (int i = 0; i < 2; i++) {
        copies[i] = twin_counted().copies;
        CHECK_INT(train(&b, s, of[1], NULL, STEPS + (size_t)i * 4, 4,
                        ahead + (STEPS + (size_t)i * 4) * 2),
                  4);
        copies[i] = twin_counted().copies - copies[i];
    }
    if (copies[1])                           /* a GPU counts none */
        CHECK_INT(copies[0], copies[1] + 1); /* from there to here on the device, once */
    for (int i = 0; i <= own; i++)
        CHECK(holds(s, l->order, (size_t)i, of[1][i]));

    for (size_t k = 0; k < 2; k++)
        CHECK_INT(train(&b, other, of[k], NULL, k * STEPS, STEPS, plain + k * STEPS * 2), STEPS);
    for (size_t i = 0; i < MEM_COUNT(plain); i++)
        CHECK(ahead[i].loss_sum == plain[i].loss_sum && ahead[i].right == plain[i].right);
    BE->close(s);
    BE->close(other);
    if (twin_report()[0])
        TEST_FAILED("%s", twin_report());
    kit_close(&b);
}

TEST(the_next_order_goes_up_one_epoch_ahead)
{
    two_epochs(false);
    two_epochs(true);
}

/* An order that was sent and is not the one that comes (a run that went back) is never taken. */
TEST(another_order_than_was_sent)
{
    uint32_t order[3][IMAGES];
    const uint32_t *of[3] = {order[0], order[1], order[2]};
    struct backend_step rows[2 * STEPS];
    struct kit b;

    kit_twin(1);
    REQUIRE(kit_open(&b, "input auto\ndense 10\n", (struct net_shape){5, 5, 1}, IMAGES, BATCH));
    for (uint32_t i = 0; i < 3; i++)
        shuffle(order[i], i);
    struct backend_session *s = kit_session(BE, &b);
    REQUIRE(s);
    struct maker m = {&of[1], 0, 0};
    CHECK_INT(train(&b, s, &of[0], &m, 0, 2, rows), 2);
    CHECK_INT(train(&b, s, &of[2], NULL, 0, STEPS, rows), STEPS);
    CHECK(holds(s, s->place[0].layout.order, 0, order[2]));
    BE->close(s);
    kit_close(&b);
}
