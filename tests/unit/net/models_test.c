/* Layers, shapes, tensors and counts of texts that are right. */
#include "net/net.h"

#include "tests/test.h"

static struct net *parse(const char *text, const struct net_wants *wants)
{
    struct err e = {0};
    struct net *net;

    if (net_parse(&net, text, strlen(text), "t.net", wants, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return NULL;
    }
    return net;
}

static void check_shape(struct net_shape got, const char *want)
{
    char text[48];

    net_shape_text(&got, text);
    CHECK_STR(text, want);
}

TEST(built_in_models_have_their_sizes)
{
    static const struct {
        const char *name;
        size_t parameters, stats;
        double mflop;
        enum spec_init init;
        double std;
    } known[] = {
        {"lenet", 129068, 0, 13.2588, SPEC_INIT_NORMAL, 0.01},
        {"cnn", 824458, 0, 27.411456, SPEC_INIT_LECUN, 0},
        {"mlp", 1863690, 0, 9.56416, SPEC_INIT_NORMAL_BIAS, 0.1},
        {"resnet18", 11175818, 7808, 2733.9, SPEC_INIT_NORMAL, 0.01},
        {"linear", 7850, 0, 0.03136, SPEC_INIT_LECUN, 0},
        {"tiny", 25450, 0, 0.102272, SPEC_INIT_LECUN, 0},
    };
    static const struct net_wants fashion = {{28, 28, 1}, 10, NULL};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct err e = {0};
        struct net *net;

        REQUIRE_OK(net_open(&net, known[i].name, &fashion, &e));
        CHECK_STR(net->name, known[i].name);
        CHECK_STR(net->text, net_builtin(known[i].name));
        CHECK_INT(net->parameter_count, known[i].parameters);
        CHECK_INT(net->stat_count, known[i].stats);
        CHECK_NEAR(net->flops / 1e6 / known[i].mflop, 1, 1e-5);
        CHECK_INT(net->init, known[i].init);
        CHECK_NEAR(net->init_std, known[i].std, 0);
        CHECK_INT(net->classes, 10);
        net_free(net);
    }
}

/* What every reader of a net may rely on. */
static void check_sound(const struct net *net)
{
    size_t parameters = 0, stats = 0;
    double flops = 0;

    for (int i = 0; i < net->params; i++) {
        const struct net_tensor *t = &net->param[i];
        size_t count = 1;

        for (int d = 0; d < t->dims; d++)
            count *= t->shape[d];
        CHECK_INT(t->count, count);
        CHECK_INT(t->offset, parameters);
        CHECK(net->layer[t->layer].kernel == i || net->layer[t->layer].bias == i);
        CHECK(!strncmp(t->name, net->layer[t->layer].name, strlen(net->layer[t->layer].name)));
        parameters += count;
        for (int j = 0; j < i; j++)
            CHECK(strcmp(t->name, net->param[j].name) != 0);
    }
    for (int i = 0; i < net->stats; i++) {
        const struct net_tensor *t = &net->stat[i];

        CHECK_INT(t->offset, stats);
        CHECK(net->layer[t->layer].mean == i || net->layer[t->layer].var == i);
        CHECK(!strncmp(t->name, "batch_stats/", 12));
        stats += t->count;
    }
    CHECK_INT(net->parameter_count, parameters);
    CHECK_INT(net->stat_count, stats);
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];
        struct net_shape in = l->src == NET_IMAGES ? net->input : net->layer[l->src].out;

        CHECK(l->src >= NET_IMAGES && l->src < i);
        CHECK(l->op == NET_ADD ? l->src2 >= NET_IMAGES && l->src2 < i : l->src2 == NET_NONE);
        CHECK(in.h == l->in.h && in.w == l->in.w && in.c == l->in.c);
        CHECK((l->op == NET_DROPOUT) == (l->dropout >= 0));
        CHECK((l->op == NET_BATCHNORM) == (l->mean >= 0 && l->var >= 0));
        CHECK(l->name[0]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(l->name, net->layer[j].name) != 0);
        flops += l->flops;
    }
    CHECK_NEAR(flops, net->flops, 1e-6 * flops);
}

TEST(built_in_models_are_sound)
{
    for (int i = 0; net_builtin_name(i); i++) {
        struct err e = {0};
        struct net *net;

        REQUIRE_OK(net_open(&net, net_builtin_name(i), NULL, &e));
        check_sound(net);
        net_free(net);
    }
    CHECK(net_builtin("lenet") && !net_builtin("lene") && !net_builtin(""));
}

TEST(lenet_layer_by_layer)
{
    static const struct {
        enum net_op op;
        const char *name, *in, *out;
        int line;
    } want[] = {
        {NET_CONV, "Conv_0", "28x28x1", "26x26x20", 3},
        {NET_RELU, "relu at line 4", "26x26x20", "26x26x20", 4},
        {NET_AVGPOOL, "avgpool at line 5", "26x26x20", "13x13x20", 5},
        {NET_CONV, "Conv_1", "13x13x20", "9x9x50", 6},
        {NET_RELU, "relu at line 7", "9x9x50", "9x9x50", 7},
        {NET_AVGPOOL, "avgpool at line 8", "9x9x50", "4x4x50", 8},
        {NET_DENSE, "Dense_0", "4x4x50", "1x1x128", 9},
        {NET_RELU, "relu at line 10", "1x1x128", "1x1x128", 10},
        {NET_DENSE, "Dense_1", "1x1x128", "1x1x10", 11},
    };
    struct err e = {0};
    struct net *net;

    REQUIRE_OK(net_open(&net, "lenet", NULL, &e));
    REQUIRE(net->layers == (int)(sizeof want / sizeof *want));
    for (int i = 0; i < net->layers; i++) {
        CHECK_INT(net->layer[i].op, want[i].op);
        CHECK_STR(net->layer[i].name, want[i].name);
        check_shape(net->layer[i].in, want[i].in);
        check_shape(net->layer[i].out, want[i].out);
        CHECK_INT(net->layer[i].src, i - 1);
        CHECK_INT(net->layer[i].line, want[i].line);
    }
    CHECK_INT(net->layer[0].k, 3);
    CHECK_INT(net->layer[2].k, 2);
    CHECK_INT(net->layer[2].stride, 2);
    CHECK_STR(net->param[0].name, "Conv_0/kernel");
    CHECK_STR(net->param[7].name, "Dense_1/bias");
    CHECK_INT(net->param[2].shape[2], 20);
    CHECK_INT(net->param[2].fan_in, 500);
    CHECK_INT(net->param[2].fan_out, 1250);
    CHECK_INT(net->param[4].shape[0], 800);
    CHECK_NEAR(net->layer[0].flops, 486720, 0);
    CHECK_NEAR(net->layer[3].flops, 12150000, 0);
    CHECK_NEAR(net->flops_forward, 4500720, 0);
    net_free(net);
}

/* "5 3 stride 2 pad 1" of 7 by 8 images becomes ... */
TEST(windows_fit_as_they_should)
{
    static const struct {
        const char *line, *out;
        int top, bottom, left, right;
    } cases[] = {
        {"conv 5 3", "5x6x5", 0, 0, 0, 0},
        {"conv 5 3 pad 1", "7x8x5", 1, 1, 1, 1},
        {"conv 5 3 stride 2", "3x3x5", 0, 0, 0, 0},
        {"conv 5 3 stride 2 pad 1", "4x4x5", 1, 1, 1, 1},
        {"conv 5 3 pad 1 stride 2", "4x4x5", 1, 1, 1, 1},
        {"conv 5 3 same", "7x8x5", 1, 1, 1, 1},
        {"conv 5 4 same", "7x8x5", 1, 2, 1, 2},
        {"conv 5 3 same stride 2", "4x4x5", 1, 1, 0, 1},
        {"conv 5 3 stride 3 same", "3x3x5", 1, 1, 0, 1},
        {"conv 5 1 same stride 4", "2x2x5", 0, 0, 0, 0},
        {"conv 5 20 same", "7x8x5", 9, 10, 9, 10},
        {"conv 5 7", "1x2x5", 0, 0, 0, 0},
        {"conv 5 9 pad 1", "1x2x5", 1, 1, 1, 1},
        {"conv 5 1 stride 100", "1x1x5", 0, 0, 0, 0},
        {"conv classes 1", "7x8x10", 0, 0, 0, 0},
        {"avgpool 2", "3x4x1", 0, 0, 0, 0},
        {"avgpool 3", "2x2x1", 0, 0, 0, 0},
        {"maxpool 3 stride 2", "3x3x1", 0, 0, 0, 0},
        {"maxpool 3 stride 1", "5x6x1", 0, 0, 0, 0},
        {"maxpool 7", "1x1x1", 0, 0, 0, 0},
        {"globalavgpool", "1x1x1", 0, 0, 0, 0},
        {"dense 12", "1x1x12", 0, 0, 0, 0},
        {"batchnorm", "7x8x1", 0, 0, 0, 0},
        {"tanh", "7x8x1", 0, 0, 0, 0},
        {"dropout 0.25", "7x8x1", 0, 0, 0, 0},
    };
    static const struct net_wants wants = {{7, 8, 1}, 10, NULL};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct net *net;
        const struct net_layer *l;

        snprintf(text, sizeof text, "input auto\n%s\ndense classes\n", cases[i].line);
        net = parse(text, &wants);
        REQUIRE(net);
        l = &net->layer[0];
        check_shape(l->out, cases[i].out);
        CHECK_INT(l->pad_top, cases[i].top);
        CHECK_INT(l->pad_bottom, cases[i].bottom);
        CHECK_INT(l->pad_left, cases[i].left);
        CHECK_INT(l->pad_right, cases[i].right);
        check_sound(net);
        net_free(net);
    }
}

TEST(residual_blocks)
{
    static const char text[] = "input 3 8 8\n"              /* 1 */
                               "residual {\n"               /* reads the images */
                               "  conv 3 3 pad 1\n"         /* 0 */
                               "}\n"                        /* 1: 0 + images */
                               "conv 4 3 pad 1\n"           /* 2 */
                               "residual {\n"               /* 6 */
                               "  conv 8 3 stride 2 same\n" /* 3 */
                               "  residual{\n"              /* 8 */
                               "    batchnorm\n"            /* 4 */
                               "    conv 8 1 nobias\n"      /* 5 */
                               "  }\n"                      /* 6: 5 + 3 */
                               "  relu\n"                   /* 7 */
                               "}shortcut{\n"               /* 13 */
                               "  conv 8 1 stride 2\n"      /* 8: reads 2 */
                               "} # the end\n"              /* 9: 7 + 8 */
                               "dense classes\n";           /* 10 */
    static const struct {
        const char *name;
        int src, src2;
    } want[] = {
        {"Residual_0/Conv_0", NET_IMAGES, NET_NONE},
        {"Residual_0", 0, NET_IMAGES},
        {"Conv_0", 1, NET_NONE},
        {"Residual_1/Conv_0", 2, NET_NONE},
        {"Residual_1/Residual_0/BatchNorm_0", 3, NET_NONE},
        {"Residual_1/Residual_0/Conv_0", 4, NET_NONE},
        {"Residual_1/Residual_0", 5, 3},
        {"relu at line 12", 6, NET_NONE},
        {"Residual_1/Conv_1", 2, NET_NONE},
        {"Residual_1", 7, 8},
        {"Dense_0", 9, NET_NONE},
    };
    struct net *net = parse(text, NULL);

    REQUIRE(net && net->layers == (int)(sizeof want / sizeof *want));
    for (int i = 0; i < net->layers; i++) {
        CHECK_STR(net->layer[i].name, want[i].name);
        CHECK_INT(net->layer[i].src, want[i].src);
        CHECK_INT(net->layer[i].src2, want[i].src2);
    }
    CHECK_INT(net->layer[5].bias, NET_NONE);
    CHECK_STR(net->stat[0].name, "batch_stats/Residual_1/Residual_0/BatchNorm_0/mean");
    CHECK_STR(net->stat[1].name, "batch_stats/Residual_1/Residual_0/BatchNorm_0/var");
    check_sound(net);
    /* the images need no gradient: the first convolution is counted twice, the second three times */
    CHECK_NEAR(net->layer[0].flops, 2 * 2.0 * 9 * 3 * 3 * 64, 0);
    CHECK_NEAR(net->layer[2].flops, 3 * 2.0 * 9 * 3 * 4 * 64, 0);
    net_free(net);
}

TEST(what_learns_has_parameters_or_some_in_front)
{
    static const char text[] = "input auto\navgpool 2\ndropout 0.1\n"
                               "residual {\n  relu\n} shortcut {\n  conv 1 1\n}\n"
                               "relu\ndense classes\n";
    static const bool want[] = {false, false, false, true, true, true, true};
    struct net *net = parse(text, NULL);

    REQUIRE(net && net->layers == (int)(sizeof want / sizeof *want));
    for (int i = 0; i < net->layers; i++)
        CHECK_INT(net->layer[i].learns, want[i]);
    /* of the shortcut's convolution only the weights, of what comes behind the inputs too */
    CHECK_NEAR(net->layer[3].flops, 2 * 2.0 * 14 * 14, 0);
    CHECK_NEAR(net->layer[6].flops, 3 * 2.0 * 14 * 14 * 10, 0);
    net_free(net);
}

TEST(params_and_their_values)
{
    static const char text[] = "param width 16\r\nparam half_2 8\nparam same_width $width\n"
                               "param drop 0.5\ninput auto # any\n\n\tdense $width\t# hidden\r\n"
                               "dropout $drop\ndense $half_2\ndropout 0\ndense $same_width\n"
                               "dense classes";
    struct spec spec = {.params = 1, .param = {{"width", "40"}}};
    struct net_wants wants = {{0, 0, 0}, 0, &spec};
    struct net *net = parse(text, NULL);

    REQUIRE(net && net->layers == 6);
    check_shape(net->input, "28x28x1");
    CHECK_INT(net->layer[0].out.c, 16);
    CHECK_INT(net->layer[0].line, 7);
    CHECK_NEAR(net->layer[1].rate, 0.5, 0);
    CHECK_INT(net->layer[1].dropout, 0);
    CHECK_INT(net->layer[2].out.c, 8);
    CHECK_INT(net->layer[3].dropout, 1);
    CHECK_INT(net->layer[4].out.c, 16);
    CHECK_STR(net->text, text);
    net_free(net);

    net = parse(text, &wants);
    REQUIRE(net);
    CHECK_INT(net->layer[0].out.c, 40);
    CHECK_INT(net->layer[4].out.c, 40);
    net_free(net);
}

TEST(shapes_and_classes_follow_the_data)
{
    static const struct net_wants cifar = {{32, 30, 3}, 100, NULL};
    static const struct net_wants digits = {{28, 28, 1}, 10, NULL};
    struct net *net = parse("input auto\ndense classes\n", &cifar);

    REQUIRE(net);
    check_shape(net->input, "32x30x3");
    CHECK_INT(net->classes, 100);
    CHECK_INT(net->parameter_count, 32 * 30 * 3 * 100 + 100);
    net_free(net);
    net = parse("input 3 32 30\ndense classes\n", &cifar);
    REQUIRE(net);
    net_free(net);
    /* more outputs than classes are allowed; without data any number is */
    net = parse("input 1 28 28\ndense 12\n", &digits);
    REQUIRE(net);
    CHECK_INT(net->classes, 12);
    net_free(net);
    net = parse("input 2 5 6\ndense 3\n", NULL);
    REQUIRE(net);
    check_shape(net->input, "5x6x2");
    CHECK_INT(net->classes, 3);
    net_free(net);
}

TEST(init_lines)
{
    static const struct {
        const char *line;
        enum spec_init init;
        double std;
    } cases[] = {
        {"", SPEC_INIT_LECUN, 0},
        {"init lecun", SPEC_INIT_LECUN, 0},
        {"init he", SPEC_INIT_HE, 0},
        {"init xavier", SPEC_INIT_XAVIER, 0},
        {"init normal 0.02", SPEC_INIT_NORMAL, 0.02},
        {"init normal 1e-3 bias", SPEC_INIT_NORMAL_BIAS, 1e-3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        struct net *net;

        snprintf(text, sizeof text, "%s\ninput auto\ndense classes\n", cases[i].line);
        net = parse(text, NULL);
        REQUIRE(net);
        CHECK_INT(net->init, cases[i].init);
        CHECK_NEAR(net->init_std, cases[i].std, 0);
        net_free(net);
    }
}

/* As many layers as are allowed, and blocks as deep. */
TEST(large_texts)
{
    struct text t = {0};
    struct net *net;

    text_add(&t, "input auto\n");
    for (int i = 0; i < 4095; i++)
        text_add(&t, i % 2 ? "relu\n" : "conv 1 1\n");
    text_add(&t, "dense classes\n");
    net = parse(text_str(&t), NULL);
    REQUIRE(net);
    CHECK_INT(net->layers, 4096);
    CHECK_STR(net->layer[4094].name, "Conv_2047");
    net_free(net);

    text_clear(&t);
    text_add(&t, "input auto\n");
    for (int i = 0; i < 4; i++)
        text_add(&t, "residual {\nrelu\n");
    text_add(&t, "conv 1 1\n}\n}\n}\n}\ndense classes\n");
    net = parse(text_str(&t), NULL);
    REQUIRE(net);
    CHECK_STR(net->layer[4].name, "Residual_0/Residual_0/Residual_0/Residual_0/Conv_0");
    check_sound(net);
    net_free(net);
    text_free(&t);
}
