/* Exported weights: Flax's layouts as they are, PyTorch's by index, members stacked or alone. */
#include "record/run/export.h"
#include "tests/unit/record/help.h"

static const char model[] =
    "input auto\nconv 3 2\nbatchnorm\nresidual {\nconv 3 3 pad 1\n}\nrelu\nmaxpool 2\n"
    "dense 5\nrelu\ndense classes\n";

static struct net *make_net(void)
{
    struct net_wants wants = {.input = {7, 5, 2}, .classes = 4};
    struct err e = {0};
    struct net *net = NULL;

    if (net_parse(&net, model, strlen(model), "model.net", &wants, &e) != ERR_OK) {
        printf("%s\n", e.text);
        exit(1);
    }
    return net;
}

/* A tensor's bytes in one piece, which are the pack's own: as a file would have them. */
static void join_pieces(struct record_pack *p, struct safetensors_tensor *t)
{
    size_t n = t->pieces ? t->size / t->pieces : 0;
    char *all = n ? malloc(t->size) : NULL;

    if (!all)
        return;
    for (size_t i = 0; i < t->pieces; i++)
        memcpy(all + i * n, (const char *)t->bytes + i * t->apart, n);
    t->bytes = all;
    t->pieces = 0;
    p->copy = mem_grow(p->copy, &p->copy_room, p->copies + 1, sizeof *p->copy);
    p->copy[p->copies++] = all;
}

/* A checkpoint whose element i of member m is 1000 m + i, statistics -1 - i. */
static void make_checkpoint(struct safetensors *s, struct record_pack *p, const struct net *net,
                            int members, bool ensemble)
{
    struct record_weights w;
    struct err e = {0};

    REQUIRE_OK(record_weights_new(&w, net, members, ensemble, 4, 1, &e));
    for (int m = 0; m < members; m++) {
        float *params = record_weights_params(&w, net, m),
              *stats = record_weights_stats(&w, net, m);
        for (size_t i = 0; i < net->parameter_count; i++)
            params[i] = (float)(1000 * m) + (float)i;
        for (size_t i = 0; i < net->stat_count; i++)
            stats[i] = -1 - (float)i;
    }
    REQUIRE_OK(record_pack_weights(p, &w, net, &e));
    for (size_t i = 0; i < p->tensors; i++)
        join_pieces(p, &p->tensor[i]);
    record_weights_free(&w);
    *s = (struct safetensors){
        .tensor = p->tensor, .tensors = p->tensors, .note = p->note, .notes = p->notes};
}

static const struct safetensors_tensor *find(const struct record_pack *p, const char *name)
{
    struct safetensors s = {.tensor = p->tensor, .tensors = p->tensors};
    const struct safetensors_tensor *t = safetensors_find(&s, name);

    if (!t) {
        TEST_FAILED("there is no %s", name);
        exit(1);
    }
    return t;
}

static size_t offset_of(const struct net *net, const char *name)
{
    for (int i = 0; i < net->params; i++) {
        if (!strcmp(net->param[i].name, name))
            return net->param[i].offset;
    }
    TEST_FAILED("the net has no %s", name);
    return 0;
}

TEST(flax_s_layouts_stay)
{
    struct err e = {0};
    struct net *net = make_net();
    struct record_pack from = {0}, to = {0};
    struct safetensors s;

    make_checkpoint(&s, &from, net, 1, false);
    REQUIRE_OK(record_export(&to, &s, RECORD_ALL_MEMBERS, false, NULL, &e));
    CHECK_INT(to.tensors, net->params + net->stats); /* no slots, no notes */
    CHECK_INT(to.notes, 0);
    for (int i = 0; i < net->params; i++) {
        const struct net_tensor *t = &net->param[i];
        const struct safetensors_tensor *have = find(&to, t->name);
        CHECK_INT(have->dims, t->dims);
        for (int d = 0; d < t->dims; d++)
            CHECK_INT(have->shape[d], t->shape[d]);
        for (size_t j = 0; j < t->count; j++)
            CHECK(((const float *)have->bytes)[j] == (float)(t->offset + j));
    }
    CHECK(((const float *)find(&to, "batch_stats/BatchNorm_0/mean")->bytes)[0] < 0);
    record_pack_free(&from);
    record_pack_free(&to);
    net_free(net);
}

TEST(pytorch_s_layouts_are_flax_s_by_index)
{
    struct err e = {0};
    struct net *net = make_net();
    struct record_pack from = {0}, to = {0};
    struct safetensors s;
    const struct safetensors_tensor *conv, *dense, *last;
    size_t at;

    make_checkpoint(&s, &from, net, 1, false);
    REQUIRE_OK(record_export(&to, &s, RECORD_ALL_MEMBERS, true, net, &e));
    conv = find(&to, "Conv_0.weight");
    REQUIRE(conv->dims == 4 && conv->shape[0] == 3 && conv->shape[1] == 2 && conv->shape[2] == 2 &&
            conv->shape[3] == 2);
    at = offset_of(net, "Conv_0/kernel");
    for (size_t out = 0; out < 3; out++)
        for (size_t in = 0; in < 2; in++)
            for (size_t h = 0; h < 2; h++)
                for (size_t w = 0; w < 2; w++)
                    CHECK(((const float *)conv->bytes)[((out * 2 + in) * 2 + h) * 2 + w] ==
                          (float)(at + ((h * 2 + w) * 2 + in) * 3 + out));
    /* the first dense layer reads 3x2x3: 7x5, 6x4 after the convolution, then pooled */
    dense = find(&to, "Dense_0.weight");
    REQUIRE(dense->dims == 2 && dense->shape[0] == 5 && dense->shape[1] == 18);
    at = offset_of(net, "Dense_0/kernel");
    for (size_t out = 0; out < 5; out++)
        for (size_t c = 0; c < 3; c++)
            for (size_t h = 0; h < 3; h++)
                for (size_t w = 0; w < 2; w++)
                    CHECK(((const float *)dense->bytes)[out * 18 + (c * 3 + h) * 2 + w] ==
                          (float)(at + ((h * 2 + w) * 3 + c) * 5 + out));
    last = find(&to, "Dense_1.weight");
    REQUIRE(last->dims == 2 && last->shape[0] == 4 && last->shape[1] == 5);
    at = offset_of(net, "Dense_1/kernel");
    for (size_t out = 0; out < 4; out++)
        for (size_t in = 0; in < 5; in++)
            CHECK(((const float *)last->bytes)[out * 5 + in] == (float)(at + in * 4 + out));
    CHECK_INT(find(&to, "Residual_0.Conv_0.weight")->shape[3], 3);
    CHECK(((const float *)find(&to, "BatchNorm_0.weight")->bytes)[2] ==
          (float)(offset_of(net, "BatchNorm_0/scale") + 2));
    CHECK_INT(find(&to, "BatchNorm_0.bias")->shape[0], 3);
    CHECK_INT(find(&to, "BatchNorm_0.running_mean")->shape[0], 3);
    CHECK_INT(find(&to, "BatchNorm_0.running_var")->shape[0], 3);
    CHECK_INT(to.tensors, from.tensors - (size_t)net->params); /* all but slot1 */
    record_pack_free(&from);
    record_pack_free(&to);
    net_free(net);
}

TEST(members_are_the_first_axis_or_one_alone)
{
    struct err e = {0};
    struct net *net = make_net();
    struct record_pack from = {0}, all = {0}, one = {0}, torch = {0};
    struct safetensors s;
    const struct safetensors_tensor *t, *u;

    make_checkpoint(&s, &from, net, 3, true);
    REQUIRE_OK(record_export(&all, &s, RECORD_ALL_MEMBERS, false, NULL, &e));
    REQUIRE_OK(record_export(&one, &s, 2, false, NULL, &e));
    t = find(&all, "Dense_1/kernel");
    u = find(&one, "Dense_1/kernel");
    REQUIRE(t->dims == 3 && t->shape[0] == 3 && u->dims == 2 && u->shape[0] == 5);
    CHECK(!memcmp((const float *)t->bytes + 2 * 20, u->bytes, 20 * sizeof(float)));
    CHECK(((const float *)u->bytes)[0] == 2000 + (float)offset_of(net, "Dense_1/kernel"));
    REQUIRE_OK(record_export(&torch, &s, RECORD_ALL_MEMBERS, true, net, &e));
    t = find(&torch, "Dense_1.weight");
    REQUIRE(t->dims == 3 && t->shape[0] == 3 && t->shape[1] == 4 && t->shape[2] == 5);
    CHECK(((const float *)t->bytes)[20 + 1] == 1000 + (float)offset_of(net, "Dense_1/kernel") + 4);
    record_pack_free(&one);
    CHECK_INT(record_export(&one, &s, 3, false, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "members are 0 to 2");
    record_pack_free(&from);
    record_pack_free(&all);
    record_pack_free(&torch);
    make_checkpoint(&s, &from, net, 1, false);
    CHECK_INT(record_export(&one, &s, 0, false, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "single model");
    record_pack_free(&one);
    record_pack_free(&from);
    net_free(net);
}

TEST(what_is_no_checkpoint_is_not_exported)
{
    static const float numbers[6] = {0};
    struct safetensors_tensor t = {.name = "params/Conv_0/kernel",
                                   .type = SAFETENSORS_F32,
                                   .dims = 2,
                                   .shape = {2, 3},
                                   .bytes = numbers,
                                   .size = 24};
    char key[] = RECORD_NOTE_MEMBERS, zero[] = "0", three[] = "3", minus[] = "-2";
    struct safetensors_note note = {key, zero};
    struct safetensors s = {.tensor = &t, .tensors = 1};
    struct err e = {0};
    struct net *net = make_net();
    struct record_pack p = {0};

    CHECK_INT(record_export(&p, &s, RECORD_ALL_MEMBERS, false, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "how many members");
    s.note = &note;
    s.notes = 1;
    CHECK_INT(record_export(&p, &s, RECORD_ALL_MEMBERS, true, net, &e), ERR_INPUT);
    CHECK_HAS(e.text, "does not fit the run's model.net");
    note.value = three;
    CHECK_INT(record_export(&p, &s, RECORD_ALL_MEMBERS, false, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "not one part a member");
    note.value = minus;
    CHECK_INT(record_export(&p, &s, RECORD_ALL_MEMBERS, false, NULL, &e), ERR_INPUT);
    note.value = zero;
    s.tensors = 0;
    CHECK_INT(record_export(&p, &s, RECORD_ALL_MEMBERS, false, NULL, &e), ERR_INPUT);
    CHECK_HAS(e.text, "no parameters");
    record_pack_free(&p);
    net_free(net);
}
