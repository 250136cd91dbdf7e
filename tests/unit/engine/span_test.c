/* What a backend is given: the orders of docs/keys.md, the batches, the learning rates. */
#include "tests/unit/engine/help.h"

#include "net/net.h"
#include "rng/rng.h"

/* A backend that checks every span against the experiment, then does as fake does. */
static struct spec expected;
static int members;
static atomic_int spans_seen, steps_seen, wrong;

/* rng, init = split(key(seed)); at each epoch rng, order = split(rng): spelled out. */
static struct rng_key order_key(int64_t epoch)
{
    struct rng_key key = rng_split(rng_key(expected.seed), 0);

    for (int64_t i = 1; i < epoch; i++)
        key = rng_split(key, 0);
    return rng_split(key, 1);
}

static void order_of(int64_t epoch, int m, size_t n, uint32_t *order)
{
    struct rng_key key = order_key(epoch);

    if (m > 0 && expected.member_order == SPEC_OWN)
        key = rng_fold_in(key, (1u << 16) + (uint32_t)m);
    if (!rng_permutation(key, n, order))
        atomic_fetch_add(&wrong, 1);
}

static bool same_order(const struct backend_span *span)
{
    uint32_t want[96];

    for (int m = 0; m < members; m++) {
        order_of((int64_t)span->first_step / 6 + 1, m, 96, want);
        for (uint32_t i = 0; i < 96; i++)
            if (span->order[m][i] != (expected.shuffle ? want[i] : i))
                return false;
        if (m && expected.member_order == SPEC_SAME && span->order[m] != span->order[0])
            return false;
    }
    return true;
}

static enum err_code check_span(struct backend_session *s, const struct backend_span *span,
                                struct backend_step *results, size_t *done, struct err *e)
{
    struct rng_key key = order_key((int64_t)span->first_step / 6 + 1);
    bool good = span->count >= 1 && span->first_batch == span->first_step % 6 &&
                span->first_batch + span->count <= 6 &&
                span->first_step == (uint64_t)atomic_load(&steps_seen) && same_order(span);

    good = good && !memcmp(&key, &span->order_key, sizeof key);
    for (size_t i = 0; i < span->count; i++)
        good = good && span->lr[i] == spec_lr_at(&expected, spec_base_lr(&expected, 16),
                                                 (int64_t)(span->first_step + i), 6);
    if (!good)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&spans_seen, 1);
    atomic_fetch_add(&steps_seen, (int)span->count);
    return fake_backend.train(s, span, results, done, e);
}

static void check(int span, ...)
{
    struct kit k;
    struct wire_status status;
    va_list args;

    kit_folder(&k);
    kit_spec(&k, &expected, "seed=11", NULL);
    va_start(args, span);
    for (const char *setting; (setting = va_arg(args, const char *));)
        kit_set(&expected, setting);
    va_end(args);
    members = expected.mode == SPEC_ENSEMBLE ? expected.members : 1;
    atomic_store(&spans_seen, 0);
    atomic_store(&steps_seen, 0);
    atomic_store(&wrong, 0);
    kit_fake.train = check_span;
    kit_engine(&k, 256, span);
    kit_run(&k, &expected, &status);
    kit_end(&k);
    CHECK_INT(status.state, WIRE_DONE);
    CHECK_INT(atomic_load(&wrong), 0);
    CHECK_INT(atomic_load(&steps_seen), 18);
    CHECK(atomic_load(&spans_seen) >= (span ? 18 / span : 3));
}

TEST(a_single_model_gets_the_orders_of_its_seed)
{
    check(0, "schedule=cosine", "warmup=1.5", "lr_rule=linear", NULL);
    check(4, "schedule=step", "step_epochs=1", NULL);
}

TEST(members_share_an_order_or_have_their_own)
{
    check(0, "mode=ensemble", "members=3", NULL);
    check(2, "mode=ensemble", "members=3", "member_order=own", NULL);
}

TEST(without_shuffle_the_order_is_the_files)
{
    check(0, "shuffle=no", NULL);
    check(1, "shuffle=no", "mode=ensemble", "members=2", NULL);
}
