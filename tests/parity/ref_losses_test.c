/* Losses of the naive backend against Flax and optax on Fashion-MNIST: in double over the whole of
 * each run of tests/fixtures/losses.txt, in float over its first ten steps. */
#include "tests/parity/fashion.h"

#include <inttypes.h>
#include <zlib.h>

#define STEPS   60
#define MEMBERS 8
#define MOST    (STEPS * 64) /* images that a run sees */

struct run {
    char net[1024];
    int steps, devices, members, inits;
    size_t batch;
    enum spec_mode mode;
    enum spec_optimizer optimizer;
    double lr, weight_decay, grad_clip;
    bool sum, ordered, sync;
    uint32_t init[MEMBERS];
    double loss[STEPS][MEMBERS];
    int losses;
    struct {
        char name[96];
        double value[64];
        int n;
    } stat[16];
    int stats;
    double logits[20];
    int logit_count;
};

static int numbers(char *words, double *out, int most)
{
    int n = 0;

    for (char *save, *w = strtok_r(words, " ", &save); w && n < most;
         w = strtok_r(NULL, " ", &save))
        out[n++] = strtod(w, NULL);
    return n;
}

static enum spec_optimizer optimizer_of(const char *word)
{
    struct spec s;
    struct err e;

    spec_default(&s);
    CHECK(spec_set(&s, "optimizer", word, NULL, NULL, &e) == ERR_OK);
    return s.optimizer;
}

static void read_setting(struct run *r, const char *key, char *value)
{
    if (!strcmp(key, "batch")) {
        r->batch = (size_t)atoi(value);
    } else if (!strcmp(key, "steps")) {
        r->steps = atoi(value);
    } else if (!strcmp(key, "devices")) {
        r->devices = atoi(value);
    } else if (!strcmp(key, "members")) {
        r->members = atoi(value);
    } else if (!strcmp(key, "mode")) {
        r->mode = !strcmp(value, "ensemble") ? SPEC_ENSEMBLE : SPEC_DATA_PARALLEL;
    } else if (!strcmp(key, "lr")) {
        r->lr = strtod(value, NULL);
    } else if (!strcmp(key, "weight_decay")) {
        r->weight_decay = strtod(value, NULL);
    } else if (!strcmp(key, "grad_clip")) {
        r->grad_clip = strtod(value, NULL);
    } else if (!strcmp(key, "loss_reduction")) {
        r->sum = !strcmp(value, "sum");
    } else if (!strcmp(key, "shuffle")) {
        r->ordered = !strcmp(value, "no");
    } else if (!strcmp(key, "sync_bn")) {
        r->sync = !strcmp(value, "yes");
    } else if (!strcmp(key, "init")) {
        r->init[r->inits++] = (uint32_t)strtoul(value, NULL, 16);
    } else if (!strcmp(key, "losses")) {
        numbers(value, r->loss[r->losses++], MEMBERS);
    } else if (!strcmp(key, "logits")) {
        r->logit_count = numbers(value, r->logits, 20);
    } else if (!strcmp(key, "stat")) {
        char *rest = strchr(value, ' ');

        *rest = 0;
        snprintf(r->stat[r->stats].name, sizeof r->stat[0].name, "batch_stats/%s", value);
        r->stat[r->stats].n = numbers(rest + 1, r->stat[r->stats].value, 64);
        r->stats++;
    } else if (!strcmp(key, "optimizer")) {
        r->optimizer = optimizer_of(value);
    } else {
        TEST_FAILED("tests/fixtures/losses.txt has an unknown line \"%s\"", key);
    }
}

/* The run of that name, from the fixture. */
static bool read_run(struct run *r, const char *name)
{
    FILE *f = fopen("tests/fixtures/losses.txt", "r");
    char line[4096];
    bool inside = false;

    memset(r, 0, sizeof *r);
    r->steps = STEPS;
    r->devices = r->members = 1;
    while (f && fgets(line, sizeof line, f)) {
        char *space;

        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "run ", 4)) {
            inside = !strcmp(line + 4, name);
        } else if (!inside || !strcmp(line, "net")) {
            continue;
        } else if (!strcmp(line, "end")) {
            break;
        } else if (line[0] == ' ') {
            size_t used = strlen(r->net);

            snprintf(r->net + used, sizeof r->net - used, "%.80s\n", line + 2);
        } else if ((space = strchr(line, ' '))) {
            *space = 0;
            read_setting(r, line, space + 1);
        }
    }
    if (f)
        fclose(f);
    if (!inside || r->losses != r->steps) {
        TEST_FAILED("tests/fixtures/losses.txt has no whole run %s", name);
        return false;
    }
    return true;
}

static struct data_set *images; /* the first MOST of Fashion-MNIST */

/* Sum of the tensors' CRC-32s. */
static uint32_t checksum(const struct net *net, const float *params)
{
    uint32_t sum = 0;

    for (int i = 0; i < net->params; i++)
        sum += (uint32_t)crc32(0, (const Bytef *)(params + net->param[i].offset),
                               (uInt)(net->param[i].count * sizeof *params));
    return sum;
}

static void check_statistics(struct backend_session *s, const struct net *net, const struct run *r)
{
    double *stats = calloc(net->stat_count + 1, sizeof *stats);
    float logits[20];
    struct err e;
    int found = 0;

    CHECK(ref_backend.state(s, 0, BACKEND_STATS, false, stats, &e) == ERR_OK);
    for (int i = 0; i < net->stats; i++)
        for (int j = 0; j < r->stats; j++) {
            if (strcmp(net->stat[i].name, r->stat[j].name))
                continue;
            found++;
            CHECK_INT(net->stat[i].count, r->stat[j].n);
            for (int k = 0; k < r->stat[j].n; k++)
                CHECK_NEAR(stats[net->stat[i].offset + (size_t)k], r->stat[j].value[k], 1e-9);
        }
    CHECK_INT(found, net->stats);
    CHECK_INT(found, r->stats);
    CHECK_INT(r->logit_count, 20);
    CHECK(ref_backend.evaluate(s, &images->train, 0, 2, NULL, logits, &e) == ERR_OK);
    for (int i = 0; i < r->logit_count; i++)
        CHECK_NEAR(logits[i], r->logits[i], 1e-6);
    free(stats);
}

/* limit: of |loss - Flax's| / Flax's. */
static void train(const struct run *r, enum spec_precision precision, int steps, double limit)
{
    struct net_wants wants = {.input = {28, 28, 1}, .classes = 10};
    struct backend_step *rows = calloc((size_t)(steps * MEMBERS), sizeof *rows);
    uint32_t *order = calloc(MOST, sizeof *order);
    const uint32_t *orders[MEMBERS];
    double lr[STEPS], worst = 0;
    struct backend_plan plan = {
        .data = images,
        .mode = r->mode,
        .precision = precision,
        .optimizer = r->optimizer,
        .momentum = 0.9,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .weight_decay = r->weight_decay,
        .grad_clip = r->grad_clip,
        .sum_loss = r->sum,
        .sync_bn = r->sync,
        .batch = r->batch,
        .devices = r->mode == SPEC_ENSEMBLE ? r->members : r->devices,
        .members = r->members,
        .threads = 1,
    };
    int place[MEMBERS], units = backend_units(&plan);
    struct rng_key key[MEMBERS];
    struct backend_span span = {.count = (size_t)steps, .order = orders, .lr = lr};
    struct backend_session *s = NULL;
    struct net *net = NULL;
    float *params, *stats;
    size_t done = 0;
    struct err e;

    REQUIRE_OK(net_parse(&net, r->net, strlen(r->net), "losses.txt", &wants, &e));
    plan.net = net;
    plan.model_key = key;
    plan.member_device = place;
    for (int m = 0; m < r->members; m++) {
        key[m] = net_model_key(0, r->members > 1 ? r->members : 0, m);
        place[m] = m;
        orders[m] = order;
    }
    for (uint32_t i = 0; i < MOST; i++)
        order[i] = i;
    if (!r->ordered)
        REQUIRE(rng_permutation(net_order_key(0, 1), (size_t)r->steps * r->batch, order));
    for (int i = 0; i < steps; i++)
        lr[i] = r->lr;

    REQUIRE_OK(ref_backend.open(&plan, &s, &e));
    params = calloc(net->parameter_count, sizeof *params);
    stats = calloc(net->stat_count + 1, sizeof *stats);
    CHECK_INT(r->inits, r->members);
    for (int m = 0; m < r->members; m++) {
        net_init(net, net->init, net->init_std, key[m], params, stats);
        if (checksum(net, params) != r->init[m])
            TEST_FAILED("initial weights of member %d are not Flax's: %08" PRIx32
                        ", not %08" PRIx32,
                        m, checksum(net, params), r->init[m]);
        bool wide = precision == SPEC_FP64;
        CHECK(fashion_set(&ref_backend, s, m, BACKEND_PARAMS, wide, params, net->parameter_count,
                          &e));
        CHECK(fashion_set(&ref_backend, s, m, BACKEND_STATS, wide, stats, net->stat_count, &e));
    }
    REQUIRE_OK(ref_backend.train(s, &span, rows, &done, &e));
    CHECK_INT(done, steps);
    for (int i = 0; i < steps; i++)
        for (int m = 0; m < r->members; m++) {
            double sum = 0, off;

            if (r->mode == SPEC_ENSEMBLE)
                sum = rows[i * units + m].loss_sum;
            for (int d = 0; r->mode != SPEC_ENSEMBLE && d < units; d++)
                sum += rows[i * units + d].loss_sum;
            off = fabs(sum / (double)r->batch / r->loss[i][m] - 1);
            worst = fmax(worst, off);
            if (!(off <= limit))
                TEST_FAILED("step %d, member %d: loss %.12g, Flax has %.12g", i + 1, m,
                            sum / (double)r->batch, r->loss[i][m]);
        }
    printf("  %s: %.1e off after %d steps\n", precision == SPEC_FP64 ? "fp64" : "fp32", worst,
           steps);
    if (r->stats && precision == SPEC_FP64)
        check_statistics(s, net, r);
    free(params);
    free(stats);
    free(rows);
    free(order);
    ref_backend.close(s);
    net_free(net);
}

/* limit: of fp32; fp64 has the same for all. */
#define FLAX(test, name, limit)                                                                    \
    TEST(test)                                                                                     \
    {                                                                                              \
        struct run r;                                                                              \
                                                                                                   \
        REQUIRE(read_run(&r, name));                                                               \
        if (!(images = fashion_open(MOST)))                                                        \
            SKIP(FASHION_IS_NOT_HERE);                                                             \
        train(&r, SPEC_FP64, r.steps, 1e-6);                                                       \
        train(&r, SPEC_FP32, 10, limit);                                                           \
    }

FLAX(cnn_momentum, "momentum", 1e-5)
FLAX(momentum, "momentum-32", 1e-5)
FLAX(nesterov, "nesterov", 1e-3) /* rounding turns a ReLU over at step 9 */
FLAX(adam, "adam", 1e-3)
FLAX(adamw, "adamw", 1e-3)
FLAX(clipping_and_decay, "clip-decay", 1e-5)
FLAX(summed_loss_without_shuffle_on_8_devices, "summed", 1e-3)
FLAX(ensemble_of_4, "ensemble", 1e-5)
FLAX(batchnorm, "batchnorm", 1e-4)
FLAX(batchnorm_on_4_devices, "batchnorm-devices", 1e-4)
FLAX(batchnorm_synchronised, "batchnorm-synchronised", 1e-4)
