/* Texts that were cut, garbled and stirred: each is refused in a sentence or becomes a sound net.
 * The sanitizers watch. */
#include "net/net.h"

#include "tests/test.h"

static const char *const pieces[] = {
    "}",
    "{",
    "residual {\n",
    "\n} shortcut {\n",
    "\n}\n",
    "relu\n",
    "$width",
    "$",
    "param a 3\n",
    "\ninput auto\n",
    "conv 3 1\n",
    "classes",
    "batchnorm",
    " stride ",
    " pad 7 ",
    " same",
    "1048576",
    "-1",
    "0",
    "#",
    "\n",
    "\t",
    "\r\n",
    "dense classes\n",
    "nan",
    "1e308",
    "dropout 0.5",
    "\xff",
    "maxpool 2",
    "99999999999999999999",
};

static uint32_t roll(uint64_t *at, uint32_t below)
{
    return rng_bits_at(rng_key(2026), (*at)++) % below;
}

/* Reads the text from a block of just its size, so that a byte too far is seen. */
static bool try_text(const char *text, size_t n)
{
    char *exact = malloc(n ? n : 1);
    struct err e = {0};
    struct net *net;
    bool taken;

    if (n)
        memcpy(exact, text, n);
    taken = net_parse(&net, exact, n, "t.net", NULL, &e) == ERR_OK;
    if (taken) {
        size_t parameters = 0;

        for (int i = 0; i < net->params; i++)
            parameters += net->param[i].count;
        CHECK_INT(parameters, net->parameter_count);
        CHECK(net->layers > 0 && net->classes > 0 && net->flops >= 0);
        for (int i = 0; i < net->layers; i++) {
            const struct net_layer *l = &net->layer[i];

            CHECK(l->src < i && l->src2 < i && l->out.h > 0 && l->out.w > 0 && l->out.c > 0);
        }
        CHECK(!memcmp(net->text, text, n));
    } else {
        CHECK_INT(e.code, ERR_INPUT);
        CHECK(!net && !strncmp(e.text, "t.net:", 6) && !strchr(e.text, '\n'));
    }
    net_free(net);
    free(exact);
    return taken;
}

TEST(cut_anywhere)
{
    int taken = 0;

    for (int i = 0; net_builtin_name(i); i++) {
        const char *text = net_builtin(net_builtin_name(i));

        for (size_t n = 0; n <= strlen(text); n++)
            taken += try_text(text, n);
    }
    CHECK(taken > 6);
}

/* One change: bytes garbled, taken out, doubled, or a piece put in. */
static size_t stir(char *text, size_t n, size_t room, uint64_t *at)
{
    size_t place = n ? roll(at, (uint32_t)n) : 0, length = roll(at, 40);
    const char *piece = pieces[roll(at, sizeof pieces / sizeof *pieces)];

    if (length > n - place)
        length = n - place;
    switch (roll(at, 4)) {
    case 0:
        if (n)
            text[place] = (char)roll(at, 256);
        return n;
    case 1:
        memmove(text + place, text + place + length, n - place - length);
        return n - length;
    case 2:
        if (n + length > room)
            return n;
        memmove(text + place + length, text + place, n - place);
        return n + length;
    default:
        length = strlen(piece);
        if (n + length > room)
            return n;
        memmove(text + place + length, text + place, n - place);
        memcpy(text + place, piece, length);
        return n + length;
    }
}

TEST(stirred)
{
    char text[8192];
    uint64_t at = 0;
    int models = 0, taken = 0;

    while (net_builtin_name(models))
        models++;
    for (int round = 0; round < 20000; round++) {
        const char *from = net_builtin(net_builtin_name(round % models));
        size_t n = strlen(from);

        REQUIRE(n < sizeof text / 2);
        memcpy(text, from, n);
        for (uint32_t i = roll(&at, 6) + 1; i > 0; i--)
            n = stir(text, n, sizeof text, &at);
        taken += try_text(text, n);
    }
    /* most comments may be stirred without harm, most lines may not */
    CHECK(taken > 1000 && taken < 19000);
}

/* Nothing but pieces: deep in the grammar, where a whole model is never far. */
TEST(made_of_pieces)
{
    uint64_t at = 1 << 20;

    for (int round = 0; round < 20000; round++) {
        struct text t = {0};

        if (roll(&at, 8))
            text_add(&t, "input auto\n");
        for (uint32_t i = roll(&at, 30); i > 0; i--) {
            text_add(&t, pieces[roll(&at, sizeof pieces / sizeof *pieces)]);
            if (!roll(&at, 3))
                text_add(&t, "\n");
        }
        try_text(text_str(&t), t.n);
        text_free(&t);
    }
}
