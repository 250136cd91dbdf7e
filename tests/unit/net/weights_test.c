/* Initial weights and the tree of keys against Flax's, bit for bit. */
#include "net/net.h"

#include "tests/test.h"
#include "tests/unit/rng/keys_fixture.h"

/* The fixtures call a single model one of one. */
static int members_of(uint64_t n)
{
    return n > 1 ? (int)n : 0;
}

static const char nested[] = "input auto\n"
                             "conv 4 3 pad 1\nconv 4 3 pad 1\nconv 4 3 pad 1\nconv 4 3 pad 1\n"
                             "conv 4 3 pad 1\nconv 4 3 pad 1\nconv 4 3 pad 1\nconv 4 3 pad 1\n"
                             "conv 4 3 pad 1\nconv 4 3 pad 1\nconv 4 3 pad 1\n"
                             "residual {\n"
                             "  conv 4 3 pad 1 nobias\n"
                             "  residual {\n"
                             "    conv 4 3 pad 1 nobias\n"
                             "    residual {\n"
                             "      conv 4 3 pad 1 nobias\n"
                             "      conv 4 1\n"
                             "    }\n"
                             "    conv 4 1\n"
                             "  }\n"
                             "  conv 4 1\n"
                             "}\n"
                             "residual {\n"
                             "  conv 4 3 pad 1 nobias\n"
                             "  conv 4 1\n"
                             "}\n"
                             "dense classes\n";

static const struct {
    const char *text;
    enum spec_init init;
    double std;
} inits[] = {
    {"model", SPEC_INIT_MODEL, 0},
    {"lecun", SPEC_INIT_LECUN, 0},
    {"he", SPEC_INIT_HE, 0},
    {"xavier", SPEC_INIT_XAVIER, 0},
    {"normal:0.01", SPEC_INIT_NORMAL, 0.01},
    {"normal:0.1:bias", SPEC_INIT_NORMAL_BIAS, 0.1},
};

/* A network with the weights that a line of the fixture asks for. */
struct start {
    struct net *net;
    float *params, *stats;
    int checked; /* tensors */
    bool large;  /* left out */
};

static void start_free(struct start *s)
{
    net_free(s->net);
    free(s->params);
    free(s->stats);
    memset(s, 0, sizeof *s);
}

static bool start_net(struct start *s, const struct fixture *f)
{
    static const struct net_wants wants = {{28, 28, 1}, 10, NULL};
    bool own = !strcmp(f->word[1], "nested");
    struct err e = {0};
    struct rng_key key;

    start_free(s);
    if ((own ? net_parse(&s->net, nested, strlen(nested), "nested.net", &wants, &e)
             : net_open(&s->net, f->word[1], &wants, &e)) != ERR_OK) {
        printf("  %s\n", e.text);
        return false;
    }
    s->large = s->net->parameter_count / 10 > FIXTURE_MOST;
    if (s->large)
        return true;
    s->params = malloc(4 * s->net->parameter_count);
    s->stats = malloc(4 * s->net->stat_count + 4);
    key = net_model_key(fixture_number(f, 3), members_of(fixture_number(f, 4)),
                        (int)fixture_number(f, 5));
    for (size_t i = 0; i < sizeof inits / sizeof *inits; i++) {
        if (strcmp(inits[i].text, f->word[2]) != 0)
            continue;
        net_init(s->net, inits[i].init, inits[i].std, key, s->params, s->stats);
        return true;
    }
    return false;
}

static bool same_tensor(const struct start *s, const struct fixture *f)
{
    for (int i = 0; i < s->net->params; i++)
        if (!strcmp(s->net->param[i].name, f->word[1]))
            return fixture_same(f, 2, s->params + s->net->param[i].offset, s->net->param[i].count);
    for (int i = 0; i < s->net->stats; i++)
        if (!strcmp(s->net->stat[i].name, f->word[1]))
            return fixture_same(f, 2, s->stats + s->net->stat[i].offset, s->net->stat[i].count);
    printf("  no such tensor\n");
    return false;
}

TEST(initial_weights_are_flaxs)
{
    struct start s = {0};
    struct fixture f;
    int nets = 0;

    REQUIRE(fixture_open(&f, "tests/fixtures/keys_weights.txt"));
    while (fixture_next(&f)) {
        if (!strcmp(f.word[0], "weights")) {
            if (s.net)
                CHECK_INT(s.checked, s.net->params + s.net->stats);
            REQUIRE(f.words == 6 && start_net(&s, &f));
            nets++;
        } else {
            REQUIRE(s.net && f.words > 3);
            if (!s.large && !same_tensor(&s, &f))
                TEST_FAILED("%s:%d: %s of %s differs from Flax's", f.path, f.line, f.word[1],
                            s.net->name);
            s.checked++;
        }
    }
    CHECK(s.net && s.checked == s.net->params + s.net->stats);
    CHECK_INT(nets, 10);
    start_free(&s);
}

TEST(keys_follow_the_tree)
{
    struct fixture f;
    int models = 0, orders = 0;

    REQUIRE(fixture_open(&f, "tests/fixtures/keys.txt"));
    while (fixture_next(&f)) {
        bool model = !strcmp(f.word[0], "model");
        struct rng_key key;

        if (!model && strcmp(f.word[0], "order") != 0)
            continue;
        if (model)
            key = net_model_key(fixture_number(&f, 1), members_of(fixture_number(&f, 2)),
                                (int)fixture_number(&f, 3));
        else
            key = net_order_key(fixture_number(&f, 1), (int64_t)fixture_number(&f, 2));
        if (key.w[0] != fixture_bits(&f, f.words - 2) || key.w[1] != fixture_bits(&f, f.words - 1))
            TEST_FAILED("%s:%d: %08x %08x", f.path, f.line, key.w[0], key.w[1]);
        models += model;
        orders += !model;
    }
    CHECK(models >= 45);
    CHECK(orders >= 21);
}

/* The Flax CNN of seed 0 by values that were printed once. */
TEST(known_weights)
{
    static const struct {
        const char *name;
        float first[3], last;
        double squares;
    } known[] = {
        {"Conv_0/kernel", {0.10801f, -0.3012364f, 0.006857796f}, 0.6384759f, 31.9095808},
        {"Conv_1/kernel", {-0.02982032f, -0.1207538f, 0.05227191f}, 0.05441134f, 64.8793867},
        {"Dense_0/kernel", {-0.02939306f, 0.004992744f, -0.03808241f}, -0.006555174f, 255.845972},
        {"Dense_1/kernel", {-0.03339338f, -0.03226208f, -0.008742857f}, 0.02348483f, 9.88175061},
    };
    struct err e = {0};
    struct net *net;
    float *params;

    REQUIRE_OK(net_open(&net, "cnn", NULL, &e));
    params = malloc(4 * net->parameter_count);
    net_init(net, SPEC_INIT_MODEL, 0, net_model_key(0, 0, 0), params, NULL);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct net_tensor *t = &net->param[2 * i];
        const float *x = params + t->offset;
        double squares = 0;

        CHECK_STR(t->name, known[i].name);
        for (int j = 0; j < 3; j++)
            CHECK_NEAR(x[j], known[i].first[j], 1e-7);
        CHECK_NEAR(x[t->count - 1], known[i].last, 1e-7);
        for (size_t j = 0; j < t->count; j++)
            squares += (double)x[j] * x[j];
        CHECK_NEAR(squares / known[i].squares, 1, 1e-8);
    }
    free(params);
    net_free(net);
}

/* Batch norm starts as the identity whatever draws the rest; statistics may be left out. */
TEST(batch_norm_is_never_drawn)
{
    static const char text[] = "input 2 4 4\nconv 3 3\nbatchnorm\ndense classes\n"
                               "init normal 0.5 bias\n";
    float params[200], stats[6] = {9, 9, 9, 9, 9, 9};
    struct err e = {0};
    struct net *net;

    REQUIRE_OK(net_parse(&net, text, strlen(text), "t.net", NULL, &e));
    REQUIRE(net->parameter_count <= 200 && net->stat_count == 6);
    for (int pass = 0; pass < 2; pass++) {
        net_init(net, SPEC_INIT_MODEL, 0, rng_key(1), params, pass ? stats : NULL);
        for (int i = 0; i < net->params; i++) {
            const struct net_tensor *t = &net->param[i];
            bool norm = net->layer[t->layer].op == NET_BATCHNORM;

            for (size_t j = 0; j < t->count; j++) {
                float x = params[t->offset + j];

                CHECK(norm ? x == (t->kind == NET_SCALE ? 1 : 0) : x != 0 && fabsf(x) < 5);
            }
        }
    }
    for (int i = 0; i < 6; i++)
        CHECK(stats[i] == (i < 3 ? 0 : 1));
    net_free(net);
}

TEST(an_ensemble_of_one_starts_as_member_0_of_any)
{
    struct rng_key one = net_model_key(7, 1, 0), many = net_model_key(7, 8, 0),
                   single = net_model_key(7, 0, 0);

    CHECK(!memcmp(&one, &many, sizeof one));
    CHECK(memcmp(&one, &single, sizeof one) != 0);
}
