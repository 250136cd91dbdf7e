/* Texts that are wrong: one sentence each, with the line, the layer and both shapes. */
#include "net/net.h"

#include "tests/test.h"

static const struct {
    const char *text, *error;
} cases[] = {
    /* words and lines */
    {"", "t.net: there is no layer in the text"},
    {"\n\n# nothing\n", "t.net: there is no layer in the text"},
    {"input auto\n", "t.net: there is no layer in the text"},
    {"input auto\nconvv 20 3\n", "t.net:2: convv 20 3: no such layer; did you mean conv?"},
    {"input auto\nlstm 5\n", "t.net:2: lstm 5: no such layer; there are conv, dense, relu"},
    {"input auto\nConv 20 3\n", "t.net:2: Conv 20 3: no such layer"},
    {"input auto\nrelu 3\n", "t.net:2: relu 3: \"3\" does not belong here; the line is: relu"},
    {"input auto\n\x01\n", "t.net:2: byte 1 is 0x01; a model is plain text"},
    {"input auto\nconv 2 \x7f\n", "t.net:2: byte 8 is 0x7f; a model is plain text"},
    {"input auto\nr\xc3\xa9lu\n", "t.net:2: r\xc3\xa9lu: no such layer"},
    {"input auto\n\xff\xfe\n", "t.net:2: \\xFF\\xFE: no such layer"},
    {"input auto\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", "more than 16 words on a line"},
    {"input auto\n{{{{{{{{{{{{{{{{{\n", "more than 16 words on a line"},
    {"input auto\na{a{a{a{a{a{a{a{a{\n", "more than 16 words on a line"},
    /* input */
    {"dense classes\n", "t.net:1: dense classes: the input must be said first; write input auto"},
    {"residual {\n", "t.net:1: residual {: the input must be said first"},
    {"input\n", "t.net:1: input: the channels (or `auto`) is missing"},
    {"input 1\n", "t.net:1: input 1: the height is missing: a whole number from 1 to 1048576"},
    {"input 1 28\n", "t.net:1: input 1 28: the width is missing"},
    {"input 1 28 28 28\n", "\"28\" does not belong here; the line is: input auto, or input CHANN"},
    {"input auto 3\n", "t.net:1: input auto 3: \"3\" does not belong here"},
    {"input 0 28 28\n", "the channels (or `auto`) must be a whole number from 1 to 1048576, not 0"},
    {"input 1 -28 28\n", "the height must be a whole number from 1 to 1048576, not -28"},
    {"input 1 28 28.5\n", "the width must be a whole number from 1 to 1048576, not 28.5"},
    {"input 1 99999999999999999999 1\n", "the height must be a whole number from 1 to 1048576"},
    {"input 1000 2000 3000\n", "images of 2000x3000x1000 are too large; at most 1073741824 numb"},
    {"input auto\ninput auto\n", "t.net:2: input auto: the input stands at line 1 already"},
    {"input auto\nrelu\ninput auto\n", "the input stands at line 1 already"},
    {"param c 1\ninput $c 28 28\n", "t.net:2: input $c 28 28: params cannot be used here"},
    /* conv */
    {"input auto\nconv\n", "t.net:2: conv: the number of outputs is missing"},
    {"input auto\nconv 20\n", "t.net:2: conv 20: the kernel is missing: a whole number from 1"},
    {"input auto\nconv 20 x\n", "conv 20 x: the kernel must be a whole number from 1 to 1048576"},
    {"input auto\nconv 20 3x3\n", "from 1 to 1048576, not 3x3: write 3"},
    {"input auto\nconv 20 3x5\n", "from 1 to 1048576, not 3x5"},
    {"input auto\nconv 0 3\n", "t.net:2: conv 0 3: the number of outputs must be a whole number"},
    {"input auto\nconv 20 3 3\n", "\"3\" does not belong here; the line is: conv OUTPUTS KERNEL"},
    {"input auto\nconv 20 3 stride\n", "t.net:2: conv 20 3 stride: the stride is missing"},
    {"input auto\nconv 20 3 stride 0\n", "the stride must be a whole number from 1 to 1048576"},
    {"input auto\nconv 20 3 stride 1 stride 1\n", "\"stride\" does not belong here"},
    {"input auto\nconv 20 3 pad -1\n", "the pad must be a whole number from 0 to 1048576, not -1"},
    {"input auto\nconv 20 3 pad 1 pad 1\n", "\"pad\" does not belong here"},
    {"input auto\nconv 20 3 pad 1 same\n", "`same` and `pad` contradict each other"},
    {"input auto\nconv 20 3 same pad 0\n", "`same` and `pad` contradict each other"},
    {"input auto\nconv 20 3 same same\n", "\"same\" does not belong here"},
    {"input auto\nconv 20 3 nobias nobias\n", "\"nobias\" does not belong here"},
    {"input auto\nconv 20 3 valid\n", "\"valid\" does not belong here"},
    {"input auto\nconv 20 30\n",
     "t.net:2: conv 20 30: a kernel of 30x30 does not fit into 28x28x1"},
    {"input auto\nconv 20 31 pad 1\n",
     "a kernel of 31x31 does not fit into 28x28x1 with 1 padded at each side"},
    {"input 1 40 20\nconv 5 21\n", "a kernel of 21x21 does not fit into 40x20x1"},
    {"input auto\nconv 20 1000000\n", "a kernel of 1000000x1000000 does not fit into 28x28x1"},
    /* dense */
    {"input auto\ndense\n", "t.net:2: dense: the number of outputs is missing"},
    {"input auto\ndense many\n",
     "the number of outputs must be a whole number from 1 to 1048576, n"},
    {"input auto\ndense 10 nobias\n",
     "\"nobias\" does not belong here; the line is: dense OUTPUTS"},
    {"input auto\ndense classes 2\n", "\"2\" does not belong here; the line is: dense OUTPUTS"},
    {"input auto\ndense 0x10\n", "must be a whole number from 1 to 1048576, not 0x10"},
    {"input auto\ndense 1e3\n", "must be a whole number from 1 to 1048576, not 1e3"},
    /* pools */
    {"input auto\navgpool\n", "t.net:2: avgpool: the window is missing"},
    {"input auto\nmaxpool 0\n", "the window must be a whole number from 1 to 1048576, not 0"},
    {"input auto\nmaxpool 2 2\n",
     "\"2\" does not belong here; the line is: avgpool|maxpool WINDOW"},
    {"input auto\nmaxpool 2 stride 2 2\n", "\"2\" does not belong here"},
    {"input auto\nmaxpool 2 stride\n", "t.net:2: maxpool 2 stride: the stride is missing"},
    {"input auto\navgpool 29\n",
     "t.net:2: avgpool 29: a window of 29x29 does not fit into 28x28x1"},
    {"input auto\nmaxpool 9\nmaxpool 4\n",
     "t.net:3: maxpool 4: a window of 4x4 does not fit into 3x"},
    {"input auto\nglobalavgpool 7\n", "\"7\" does not belong here; the line is: globalavgpool"},
    {"input auto\nbatchnorm 1e-5\n", "\"1e-5\" does not belong here; the line is: batchnorm"},
    {"input auto\ntanh tanh\n", "\"tanh\" does not belong here; the line is: tanh"},
    /* dropout */
    {"input auto\ndropout\n", "the rate must be a number from 0 to 0.999, not nothing"},
    {"input auto\ndropout 0.9999999999\n", "from 0 to 0.999, not 0.9999999999"},
    {"input 1 2 2\nconv 262144 1\nconv 1 1 stride 1048576 pad 1048575\ndense classes\n",
     "is padded to 2097152x2097152x262144"},
    {"input auto\ndropout 1\n", "the rate must be a number from 0 to 0.999, not 1"},
    {"input auto\ndropout -0.1\n", "the rate must be a number from 0 to 0.999, not -0.1"},
    {"input auto\ndropout nan\n", "the rate must be a number from 0 to 0.999, not nan"},
    {"input auto\ndropout 0,5\n", "the rate must be a number from 0 to 0.999, not 0,5"},
    {"input auto\ndropout 0.5 0.5\n", "\"0.5\" does not belong here; the line is: dropout RATE"},
    /* init */
    {"init\n", "t.net:1: init: the line is: init normal STD [bias], or init lecun, he or xavier"},
    {"init kaiming\n", "t.net:1: init kaiming: the line is: init normal STD [bias]"},
    {"init normal\n", "the standard deviation must be above 0 and at most 1e6, not nothing"},
    {"init normal 0\n", "the standard deviation must be above 0 and at most 1e6, not 0"},
    {"init normal -1\n", "the standard deviation must be above 0 and at most 1e6, not -1"},
    {"init normal inf\n", "the standard deviation must be above 0 and at most 1e6, not inf"},
    {"init normal nan\n", "the standard deviation must be above 0 and at most 1e6, not nan"},
    {"init normal 0.1 biases\n", "\"biases\" does not belong here; the line is: init normal STD"},
    {"init normal 0.1 bias 0\n", "\"0\" does not belong here"},
    {"init lecun 1\n", "t.net:1: init lecun 1: \"1\" does not belong here"},
    {"init he\n\ninit he\n", "t.net:3: init he: an init stands at line 1 already"},
    /* params */
    {"param\n", "t.net:1: param: the line is: param NAME VALUE"},
    {"param width\n", "t.net:1: param width: the line is: param NAME VALUE"},
    {"param width 1 2\n", "\"2\" does not belong here; the line is: param NAME VALUE"},
    {"param 2x 1\n", "a param's name has at most 31 letters, digits and _"},
    {"param a-b 1\n", "a param's name has at most 31 letters, digits and _"},
    {"param a1234567890123456789012345678901 1\n", "a param's name has at most 31 letters"},
    {"param a 1\nparam a 2\n", "t.net:2: param a 2: the param a stands in a line above already"},
    {"input auto\ndense $width\n",
     "t.net:2: dense $width: no line above says what $width is; write "
     "param width VALUE in front of it"},
    {"input auto\ndense $\n", "no line above says what $ is; write param NAME VALUE"},
    {"input auto\ndense $w\nparam w 3\n", "t.net:2: dense $w: no line above says what $w is"},
    {"param w abc\ninput auto\ndense $w\n",
     "t.net:3: dense $w: the number of outputs must be a who"},
    {"param w 0\ninput auto\ndense $w\n", "le number from 1 to 1048576, not 0"},
    /* residual blocks */
    {"input auto\nresidual\n", "t.net:2: residual: the line is: residual {"},
    {"input auto\nresidual { relu }\n", "\"relu\" does not belong here; the line is: residual {"},
    {"input auto\nresidual {\nrelu\n",
     "t.net:2: the residual block that opens here is never closed"},
    {"input auto\nresidual {\nrelu\n} shortcut {\nrelu\n",
     "t.net:2: the residual block that opens "},
    {"input auto\n}\n", "t.net:2: }: no residual block is open here"},
    {"input auto\n} shortcut {\n", "t.net:2: } shortcut {: no residual block is open here"},
    {"input auto\n{\n", "t.net:2: {: no such layer"},
    {"input auto\nshortcut {\n", "t.net:2: shortcut {: no such layer"},
    {"input auto\nresidual {\nrelu\n} short {\n",
     "t.net:4: } short {: the line is: }, or } shortcut"},
    {"input auto\nresidual {\nrelu\n} shortcut\n",
     "t.net:4: } shortcut: the line is: }, or } shortcu"},
    {"input auto\nresidual {\nrelu\n} relu\n", "t.net:4: } relu: the line is: }, or } shortcut {"},
    {"input auto\nresidual {\nrelu\n} shortcut { relu\n",
     "\"relu\" does not belong here; the line i"},
    {"input auto\nresidual {\n}\n",
     "t.net:3: }: the block of line 2 is empty; put a layer into it"},
    {"input auto\nresidual {\n} shortcut {\n",
     "t.net:3: } shortcut {: the block of line 2 is empty"},
    {"input auto\nresidual {\nrelu\n} shortcut {\n}\n",
     "t.net:5: }: the shortcut of the block of line 2 is empty; write } alone"},
    {"input auto\nresidual {\nrelu\n} shortcut {\nrelu\n} shortcut {\n",
     "t.net:6: } shortcut {: the block of line 2 has a shortcut already"},
    {"input auto\nresidual {\nconv 8 3\n}\n",
     "t.net:4: }: the block of line 2 ends with 26x26x8 and its input begins with 28x28x1; both "
     "must be equal, or write a shortcut"},
    {"input auto\nresidual {\nconv 8 3\n} shortcut {\nconv 8 1\n}\n",
     "t.net:6: }: the block of line 2 ends with 26x26x8 and its shortcut with 28x28x8; both must be"},
    {"input auto\nresidual {\ninput auto\n}\n", "t.net:3: input auto: the input stands at line 1"},
    /* the whole */
    {"input auto\nconv 20 3\n",
     "t.net:2: the last layer, conv, gives 26x26x20, and a number a class"},
    {"input auto\ndense 9\n", "t.net:2: the last layer, dense, gives 9 outputs and the data has 10 "
                              "classes; write dense classes"},
    {"input auto\nconv 20 3\nglobalavgpool\nconv 5 1\nrelu\n",
     "t.net:5: the last layer, relu, gives 5 outputs and the data has 10 classes"},
    /* sizes */
    {"input auto\nconv 1048576 1 pad 100\n",
     "28x28x1 becomes 228x228x1048576, more than the 1,073,741,824 numbers that are allowed"},
    {"input 1 1 1\ndense 1048576\ndense 1048576\ndense 3\n",
     "t.net:3: dense 1048576: from 1x1x1048576 to 1x1x1048576 the model gets more than the "
     "1,099,511,627,776 parameters that are allowed"},
    {"input 1024 1024 1024\ndense 1048576\n", "gets more than the 1,099,511,627,776 parameters"},
    {"input 1024 1 1\nconv 1048576 1024 same\n", "gets more than the 1,099,511,627,776 parameters"},
    {"input 1 1 1\nconv 1 1 pad 1048576\n", "1x1x1 becomes 2097153x2097153x1, more than the"},
    {"input auto\nconv 1048577 1\n", "must be a whole number from 1 to 1048576, not 1048577"},
};

TEST(every_error_is_one_sentence)
{
    static const struct net_wants wants = {{0, 0, 0}, 10, NULL};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        struct net *net = (struct net *)&e;

        if (net_parse(&net, cases[i].text, strlen(cases[i].text), "t.net", &wants, &e) !=
            ERR_INPUT) {
            TEST_FAILED("case %zu was taken: %s", i, cases[i].text);
            net_free(net);
            continue;
        }
        CHECK(!net);
        CHECK_INT(e.code, ERR_INPUT);
        CHECK_HAS(e.text, cases[i].error);
        CHECK(!strncmp(e.text, "t.net:", 6));
        CHECK(!strchr(e.text, '\n'));
    }
    CHECK(sizeof cases / sizeof *cases >= 100);
}

static void check_error(const char *text, size_t n, const struct net_wants *wants,
                        const char *error)
{
    struct err e = {0};
    struct net *net;

    CHECK_INT(net_parse(&net, text, n, "t.net", wants, &e), ERR_INPUT);
    CHECK_HAS(e.text, error);
    /* nobody needs to ask why */
    CHECK_INT(net_parse(&net, text, n, "t.net", wants, NULL), ERR_INPUT);
}

TEST(data_that_does_not_fit)
{
    static const char demands[] = "input 1 28 28\ndense classes\n";
    static const char any[] = "input auto\nmaxpool 8\ndense classes\n";
    static const struct net_wants cifar = {{32, 32, 3}, 10, NULL}, small = {{7, 9, 1}, 10, NULL},
                                  huge = {{1 << 20, 1 << 20, 4}, 10, NULL},
                                  many = {{28, 28, 1}, 1000, NULL};

    check_error(demands, strlen(demands), &cifar,
                "t.net:1: input 1 28 28: the model demands images of 28x28x1 and the data has "
                "32x32x3");
    check_error("input 28 28 1\ndense classes\n", 28, &many,
                "the order is input CHANNELS HEIGHT WIDTH, so input 1 28 28 here");
    check_error(any, strlen(any), &small, "maxpool 8: a window of 8x8 does not fit into 7x9x1");
    check_error(any, strlen(any), &huge, "images of 1048576x1048576x4 are too large");
    check_error("input auto\ndense 999\n", 21, &many,
                "gives 999 outputs and the data has 1000 cla");
}

TEST(params_of_an_experiment)
{
    static const char with[] = "param width 8\nparam depth 2\ninput auto\ndense $width\n"
                               "dense classes\n";
    static const char without[] = "input auto\ndense classes\n";
    struct spec spec = {.params = 1, .param = {{"widht", "40"}}};
    struct net_wants wants = {{0, 0, 0}, 0, &spec};

    check_error(with, strlen(with), &wants,
                "t.net: model.widht: the model has no param widht; it has width, depth");
    check_error(without, strlen(without), &wants,
                "t.net: model.widht: the model has no param at all");
    spec.param[0].name[3] = 't', spec.param[0].name[4] = 'h';
    strcpy(spec.param[0].value, "-4");
    check_error(with, strlen(with), &wants,
                "t.net:4: dense $width: the number of outputs must be a whole number from 1 to "
                "1048576, not -4");
    strcpy(spec.param[0].value, "$depth");
    check_error(with, strlen(with), &wants, "1048576, not $depth");
    strcpy(spec.param[0].value, "\033[2J");
    check_error(with, strlen(with), &wants, "1048576, not ^[[2J");
}

TEST(texts_that_are_too_large)
{
    size_t n = (1 << 20) + 1;
    char *text = malloc(n + 1);
    struct text t = {0};

    REQUIRE(text);
    memset(text, '\n', n);
    text[n] = 0;
    check_error(text, n, NULL, "t.net: the text has 1048577 bytes; at most 1048576 are allowed");
    memset(text, 'a', n);
    check_error(text, 70000, NULL, "t.net:1: the line is 70000 bytes long; at most 65536 are all");
    check_error(text, 65536, NULL, "aaaaa...: no such layer");
    text[100] = 0;
    check_error(text, 200, NULL, "t.net:1: byte 101 is 0x00; a model is plain text");
    free(text);

    text_add(&t, "input auto\n");
    for (int i = 0; i < 4097; i++)
        text_add(&t, "relu\n");
    check_error(text_str(&t), t.n, NULL, "t.net:4098: relu: more than 4096 layers");
    text_clear(&t);
    text_add(&t, "input auto\n");
    for (int i = 0; i < 6; i++)
        text_add(&t, "residual {\n");
    check_error(text_str(&t), t.n, NULL,
                "t.net:7: residual {: more than 5 residual blocks in each other");
    text_clear(&t);
    text_add(&t, "input auto\n");
    for (int i = 0; i < 4; i++)
        text_add(&t, "residual {\n");
    text_add(&t, "residual {\nbatchnorm\n");
    check_error(text_str(&t), t.n, NULL, "the layer's name would be longer than 63 letters");
    text_clear(&t);
    for (int i = 0; i < 65; i++)
        text_addf(&t, "param p%d 1\n", i);
    check_error(text_str(&t), t.n, NULL, "t.net:65: param p64 1: more than 64 params");
    text_free(&t);
}
