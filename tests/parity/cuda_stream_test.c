/* Images of training that do not fit a GPU stay in the host's memory, and change no bit. */
#include "tests/parity/cuda_kit.h"

#define BATCH 16
#define STEPS 5
#define MB    ((size_t)1 << 20)

static const char text[] = "input auto\nconv 4 5 stride 4\nrelu\navgpool 2\ndense 10\n";
static const struct net_shape shape = {64, 60, 3};
static size_t images; /* bytes */

static bool open_kit(struct kit *b, int devices, unsigned augment)
{
    if (!kit_open(b, text, shape, KIT_IMAGES, BATCH))
        return false;
    images = b->set.train.count * (size_t)shape.h * (size_t)shape.w * (size_t)shape.c;
    kit_devices(b, devices);
    b->plan.augment = augment;
    b->plan.crop_pad = 3;
    b->set.test.count = 40;
    return true;
}

/* Bytes that the session takes with all images on the GPU; 0: they are not. */
static size_t whole_of(const struct kit *b, struct backend_estimate *estimate)
{
    struct err e = {0};

    if (BE->estimate(&b->plan, estimate, &e))
        TEST_FAILED("%s", e.text);
    return estimate->lacking[0] ? 0 : estimate->bytes[0];
}

static void train(struct kit *b, struct backend_step *rows, float *logits, bool *streams,
                  size_t *taken)
{
    struct backend_session *s = kit_session(BE, b);
    size_t unused, total;
    struct err e = {0};

    REQUIRE(s);
    CHECK_INT(kit_train(BE, s, b, 0, STEPS, rows), STEPS);
    REQUIRE_OK(BE->evaluate(s, &b->set.test, 0, 40, NULL, logits, &e));
    *streams = s->place[0].share.streams;
    for (int i = 1; i < s->places; i++)
        CHECK(s->place[i].share.streams == *streams);
    cuda_rt()->use(0);
    cuda_rt()->memory(&unused, &total);
    *taken = total - unused;
    BE->close(s);
}

static void both(int gpus, int devices, unsigned augment)
{
    struct backend_step rows[2][STEPS * 2];
    float logits[2][40 * 10];
    struct backend_estimate estimate[2];
    bool streams[2];
    size_t taken[2], whole;
    bool twin = !strcmp(cuda_rt()->name, "twin");
    struct kit b;

    kit_twin(gpus);
    REQUIRE(open_kit(&b, devices, augment));
    whole = whole_of(&b, &estimate[0]);
    REQUIRE(whole > images);
    train(&b, rows[0], logits[0], &streams[0], &taken[0]);
    twin_limit_memory(whole - images / 2 + (size_t)gpus * 64 * MB); /* NVML sees these in use */
    if (twin) {
        CHECK(whole_of(&b, &estimate[1]) > 0); /* nothing is lacking */
        CHECK_NEAR((double)estimate[1].bytes[gpus - 1], (double)(whole - images), 2.0 * MB);
    }
    twin_limit_memory(whole - images / 2);
    cuda_hooks.stream = !twin; /* a GPU has room */
    train(&b, rows[1], logits[1], &streams[1], &taken[1]);
    CHECK(!streams[0] && streams[1]);
    if (twin)
        CHECK(taken[1] < taken[0] - images + MB / 16);
    for (size_t i = 0; i < STEPS * (size_t)backend_units(&b.plan); i++)
        CHECK(rows[0][i].loss_sum == rows[1][i].loss_sum && rows[0][i].right == rows[1][i].right);
    CHECK(!memcmp(logits[0], logits[1], sizeof logits[0]));
    if (twin_report()[0])
        TEST_FAILED("%s", twin_report());
    CHECK_INT(twin_counted().blocks, 0);
    kit_close(&b);
}

TEST(images_from_the_hosts_memory)
{
    both(1, 1, 0);
    both(1, 2, SPEC_CROP | SPEC_FLIP);
    both(2, 2, SPEC_ERASE);
}

/* Where not even the rest fits, nothing is opened, and words say what would. */
TEST(too_little_for_the_rest)
{
    struct backend_estimate estimate;
    struct backend_session *s = NULL;
    struct err e = {0};
    struct kit b;
    size_t whole;

    if (strcmp(cuda_rt()->name, "twin") != 0)
        return;
    kit_twin(1);
    REQUIRE(open_kit(&b, 1, 0));
    whole = whole_of(&b, &estimate);
    twin_limit_memory(whole - images - 3 * MB);
    CHECK(whole_of(&b, &estimate) == 0);
    CHECK(strstr(estimate.lacking, "GPU 0 has "));
    CHECK_INT(BE->open(&b.plan, &s, &e), ERR_NOMEM);
    CHECK(strstr(e.text, "for the data set"));
    CHECK(!s);
    CHECK_INT(twin_counted().blocks, 0);
    kit_close(&b);
}
