/* Who sits where; which layers make a piece; memory that is used twice. */
#include "tests/parity/cuda_kit.h"

static const int four[] = {0, 1, 2, 3};

static struct cuda_share *places(const struct backend_plan *plan, int usable, int *n)
{
    static struct cuda_share share[CUDA_PLACES];
    struct err e = {0};

    if (cuda_share(plan, four, usable, share, n, &e) == ERR_OK)
        return share;
    TEST_FAILED("%s", e.text);
    return NULL;
}

TEST(virtual_devices_share_gpus)
{
    struct backend_plan plan = {.devices = 7, .all_devices = 7, .members = 1, .batch = 70};
    int n = 0, shards = 0, images = 0;
    struct cuda_share *s = places(&plan, 3, &n);

    REQUIRE(s);
    CHECK_INT(n, 3);
    for (int i = 0; i < n; i++) {
        CHECK_INT(s[i].gpu, i);
        CHECK_INT(s[i].models, 1);
        CHECK_INT(s[i].first_shard, shards);
        CHECK_INT(s[i].first_image, images);
        CHECK_INT(s[i].images, 10 * s[i].shards);
        CHECK(s[i].shards == 2 || s[i].shards == 3);
        shards += s[i].shards;
        images += s[i].images;
    }
    CHECK_INT(shards, 7);
    CHECK_INT(images, 70);
    for (int d = 0; d < 7; d++) {
        int at = cuda_place_of(&plan, d, n);

        CHECK(d >= s[at].first_shard && d < s[at].first_shard + s[at].shards);
    }
    plan.devices = plan.all_devices = 2;
    REQUIRE(places(&plan, 4, &n));
    CHECK_INT(n, 2);
}

TEST(more_members_than_a_gpu_holds_are_refused)
{
    struct backend_plan plan = {.mode = SPEC_ENSEMBLE,
                                .devices = 2,
                                .all_devices = 2,
                                .members = 2 * CUDA_MODELS,
                                .batch = 9};
    struct cuda_share *share = mem_new(CUDA_PLACES, sizeof *share);
    struct err e = {0};
    int n = 0;

    CHECK_INT(cuda_share(&plan, four, 2, share, &n, &e), ERR_OK);
    CHECK_INT(share[1].models, CUDA_MODELS);
    CHECK_INT(share[1].model[CUDA_MODELS - 1], 2 * CUDA_MODELS - 1);
    CHECK_INT(cuda_share(&plan, four, 1, share, &n, &e), ERR_INPUT);
    CHECK_STR(e.text, "2048 members on 1 GPU: one holds 1024 at most");
    plan.members++;
    CHECK_INT(cuda_share(&plan, four, 2, share, &n, &e), ERR_INPUT);
    CHECK_STR(e.text, "2049 members on 2 GPUs: one holds 1024 at most");
    free(share);
}

TEST(members_sit_on_their_devices)
{
    struct backend_plan plan = {
        .mode = SPEC_ENSEMBLE, .devices = 4, .all_devices = 4, .members = 6, .batch = 9};
    int n = 0;
    struct cuda_share *s = places(&plan, 2, &n);

    REQUIRE(s);
    CHECK_INT(n, 2); /* devices 0 and 1 on the first GPU: members 0 1 4 5 */
    CHECK_INT(s[0].models, 4);
    CHECK(s[0].model[0] == 0 && s[0].model[1] == 1 && s[0].model[2] == 4 && s[0].model[3] == 5);
    CHECK_INT(s[1].models, 2);
    CHECK(s[1].model[0] == 2 && s[1].model[1] == 3);
    CHECK_INT(s[1].images, 9);
    CHECK_INT(s[1].shards, 1);
}

TEST(gpus_by_number)
{
    static const int named[] = {3, 1}, twice[] = {1, 1}, missing[] = {5};
    struct backend_plan plan = {
        .devices = 2, .all_devices = 2, .members = 1, .batch = 8, .gpu = named, .gpus = 2};
    static struct cuda_share share[CUDA_PLACES];
    struct err e = {0};
    int n = 0;
    struct cuda_share *s = places(&plan, 4, &n);

    REQUIRE(s && n == 2);
    CHECK(s[0].gpu == 3 && s[1].gpu == 1);
    plan.gpu = twice;
    CHECK_INT(cuda_share(&plan, four, 4, share, &n, &e), ERR_INPUT);
    CHECK_HAS(e.text, "GPU 1 is named twice");
    plan.gpu = missing;
    plan.gpus = 1;
    CHECK_INT(cuda_share(&plan, four, 4, share, &n, &e), ERR_INPUT);
    CHECK_HAS(e.text, "GPU 5");
    plan.gpus = 0;
    plan.batch = 7;
    CHECK_INT(cuda_share(&plan, four, 4, share, &n, &e), ERR_INPUT);
    CHECK_HAS(e.text, "7 images");
}

/* ---- pieces ---- */

static struct net *parse(const char *text)
{
    struct net_wants wants = {.input = {8, 8, 1}, .classes = 10};
    struct net *net = NULL;
    struct err e = {0};

    if (net_parse(&net, text, strlen(text), "test.net", &wants, &e))
        TEST_FAILED("%s", e.text);
    return net;
}

TEST(layers_that_one_kernel_makes)
{
    struct net *net = parse("input auto\nconv 4 3 pad 1\nrelu\nresidual {\nconv 4 3 pad 1\n"
                            "batchnorm\nrelu\nconv 4 3 pad 1\nbatchnorm\n}\nrelu\navgpool 2\n"
                            "dense 10\n");
    struct cuda_pieces p;

    REQUIRE(net);
    cuda_pieces_make(&p, net, false, false);
    /* conv relu | conv | norm relu | conv | norm sum relu | avgpool | dense */
    static const int heads[] = {0, 2, 3, 5, 6, 9, 10}, tails[] = {1, 2, 4, 5, 8, 9, 10};
    CHECK_INT(p.n, 7);
    for (int i = 0; i < p.n && i < 7; i++) {
        CHECK_INT(p.at[i].head, heads[i]);
        CHECK_INT(p.at[i].tail, tails[i]);
        CHECK_INT(p.at[i].x, i - 1);
        CHECK_INT(p.at[i].x2, i == 4 ? 0 : NET_NONE);
        CHECK_INT(p.at[i].act, i == 0 || i == 2 || i == 4 ? CUDA_RELU : CUDA_LINEAR);
        /* the first is read by a sum too, which cannot gate; the others by conv and pool alone */
        CHECK_INT(p.at[i].gated, i == 2 || i == 4);
        CHECK_INT(p.at[i].same, i == 0 ? 4 : -1);
    }
    cuda_pieces_free(&p);
    net_free(net);
}

TEST(a_pool_of_2_x_2_goes_with_its_convolution)
{
    struct net *net =
        parse("input auto\nconv 4 3 pad 1\nrelu\navgpool 2\nconv 6 3 pad 1\ntanh\nmaxpool 2\n"
              "conv 4 2 pad 1\nmaxpool 2\nconv 4 2 pad 1\ntanh\navgpool 2\n"
              "conv 3 2 pad 1\nrelu\nmaxpool 2\nconv 4 2 pad 1\nmaxpool 2 stride 1\n"
              "dense 10\n");
    /* tanh in front of an average, an odd number of channels and windows that overlap do not */
    static const int tails[] = {2, 5, 7, 9, 10, 12, 13, 14, 15, 16};
    static const int pools[] = {2,        5,        7,        NET_NONE, NET_NONE,
                                NET_NONE, NET_NONE, NET_NONE, NET_NONE, NET_NONE};
    struct cuda_pieces p;

    REQUIRE(net);
    cuda_pieces_make(&p, net, false, false);
    CHECK_INT(p.n, 10);
    for (int i = 0; i < p.n && i < 10; i++) {
        CHECK_INT(p.at[i].tail, tails[i]);
        CHECK_INT(p.at[i].pool, pools[i]);
    }
    CHECK_INT(p.at[0].act, CUDA_RELU);
    CHECK(!p.at[0].gated); /* the mask knows */
    CHECK_INT(p.at[1].act, CUDA_TANH);
    CHECK(p.at[1].gated);
    CHECK_INT(p.at[2].act, CUDA_LINEAR);
    cuda_pieces_free(&p);
    cuda_pieces_make(&p, net, false, true);
    CHECK_INT(p.n, 13);
    cuda_pieces_free(&p);
    net_free(net);
}

TEST(what_two_read_is_no_piece)
{
    struct net *net = parse("input auto\nconv 4 3 pad 1\nresidual {\nrelu\n}\ndense 10\n");
    struct cuda_pieces p;

    REQUIRE(net);
    cuda_pieces_make(&p, net, false, false);
    CHECK_INT(p.n, 4);
    CHECK_INT(p.at[0].tail, 0);
    CHECK_INT(p.at[0].act, CUDA_LINEAR);
    CHECK(p.at[0].same == 2 || p.at[1].same == 2);
    cuda_pieces_free(&p);
    net_free(net);
}

/* ---- memory ---- */

TEST(slots_that_meet_lie_apart)
{
    struct draw {
        uint64_t n;
    } d = {0};

    for (int round = 0; round < 200; round++) {
        struct cuda_slot slot[40];
        size_t all, sum = 0, most = 0;
        int n = 1 + (int)(rng_bits_at(rng_key(5), d.n++) % 40);

        for (int i = 0; i < n; i++) {
            int from = (int)(rng_bits_at(rng_key(5), d.n++) % 30);

            slot[i] = (struct cuda_slot){.bytes = rng_bits_at(rng_key(5), d.n++) % 5000,
                                         .from = from,
                                         .to = from + (int)(rng_bits_at(rng_key(5), d.n++) % 10)};
        }
        all = cuda_slots_place(slot, n, round % 8 == 0);
        for (int i = 0; i < n; i++) {
            sum += slot[i].bytes;
            CHECK(slot[i].at % 256 == 0 && slot[i].at + slot[i].bytes <= all);
            for (int k = 0; k < i; k++) {
                bool apart = slot[i].at + slot[i].bytes <= slot[k].at ||
                             slot[k].at + slot[k].bytes <= slot[i].at || !slot[i].bytes ||
                             !slot[k].bytes;
                bool meet = slot[i].from <= slot[k].to && slot[k].from <= slot[i].to;

                CHECK(apart || (!meet && round % 8 != 0));
                if (!apart)
                    CHECK(slot[i].from < slot[k].from ? !slot[i].intact : !slot[k].intact);
            }
        }
        for (int t = 0; t < 40; t++) {
            size_t now = 0;

            for (int i = 0; i < n; i++)
                now += slot[i].from <= t && t <= slot[i].to ? slot[i].bytes : 0;
            most = now > most ? now : most;
        }
        CHECK(all >= most && all <= sum);
        if (round % 8)
            CHECK(all <= most + most / 2); /* little is wasted */
    }
}

/* A batch's activations may leave room for more images to be evaluated at once than kernels can count the
 * pixels of. */
TEST(evaluation_has_no_more_pixels_than_kernels_count)
{
    static const char text[] = "input auto\nconv 2 3 pad 1\ntanh\nconv 2 3 pad 1\ntanh\n"
                               "conv 2 3 pad 1\ntanh\nglobalavgpool\ndense 10\n";
    struct kit b;
    struct cuda_layout l;
    struct err e = {0};
    int n;

    kit_twin(1);
    cuda_hooks.keep = false;
    REQUIRE(kit_open(&b, text, (struct net_shape){2000, 2000, 1}, 4, 2));
    b.set.test.count = 1024;
    b.plan.batch = 499;
    CHECK_INT(BE->can(&b.plan, &e), ERR_OK);
    struct cuda_share *s = places(&b.plan, 1, &n);
    REQUIRE(s);
    REQUIRE_OK(cuda_layout_make(&l, &b.plan, s, &e));
    CHECK_INT(l.evaluate, 500);
    cuda_layout_free(&l);
    kit_close(&b);
}

TEST(tensors_begin_at_round_places)
{
    struct kit b;
    struct cuda_layout l;
    struct err e = {0};
    int n;

    kit_twin(1);
    cuda_hooks.keep = false;
    REQUIRE(kit_open(&b, net_builtin("resnet18"), (struct net_shape){28, 28, 1}, 8, 8));
    struct cuda_share *s = places(&b.plan, 1, &n);
    REQUIRE(s);
    REQUIRE_OK(cuda_layout_make(&l, &b.plan, s, &e));
    for (int i = 0; i < b.net->params; i++) {
        CHECK(l.param_at[i] % CUDA_ALIGN == 0);
        CHECK(i == 0 || l.param_at[i] >= l.param_at[i - 1] + b.net->param[i - 1].count);
    }
    CHECK(l.params >= b.net->parameter_count && l.params < b.net->parameter_count + 64 * 64);
    for (int i = 0; i < b.net->layers; i++)
        if (b.net->layer[i].op == NET_BATCHNORM)
            CHECK_INT(l.stat_at[b.net->layer[i].var],
                      l.stat_at[b.net->layer[i].mean] + (size_t)b.net->layer[i].out.c);
    CHECK(l.param < l.gradient && l.gradient < l.batch_stats && l.batch_stats < l.flag);
    /* gradients live for a moment: all together take much less than one each would */
    size_t outputs = 0;
    for (int i = 0; i < l.pieces.n; i++)
        outputs += l.out[i].bytes;
    CHECK(l.arena < outputs + outputs / 2);
    cuda_layout_free(&l);
    kit_close(&b);
}

/* ---- launches ---- */

static void look_at(const struct cuda_list *l, const char *net, size_t batch)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct cuda_launch *a = &l->at[i];

        if (a->kernel && (a->grid[0] > 0x7fffffff || a->grid[1] > 65535 || a->grid[2] > 65535 ||
                          a->block > 1024 || a->shared > 99 * 1024))
            TEST_FAILED("%.40s, batch %zu: %s: %u x %u x %u blocks of %u, %zu bytes", net, batch,
                        a->kernel->name, a->grid[0], a->grid[1], a->grid[2], a->block, a->shared);
    }
}

/* A step's launches are written down for memory that nobody takes: of any batch. */
static void write_down(const char *net, struct net_shape shape, size_t batch, int members,
                       enum spec_precision precision)
{
    struct kit b;
    struct err e = {0};
    struct backend_session s = {.places = 1, .hooks = cuda_hooks};
    struct cuda_place *p = mem_new(1, sizeof *p);
    int n;

    REQUIRE(kit_open(&b, net, shape, 4, 2));
    if (members > 1)
        kit_ensemble(&b, members, 1, false);
    b.set.train.count = 4000000;
    b.set.test.count = 100000;
    b.plan.batch = batch;
    b.plan.precision = precision;
    b.plan.optimizer = SPEC_ADAM;
    b.plan.grad_clip = batch % 2;
    s.plan = b.plan;
    s.place = p;
    p->session = &s;
    if (BE->can(&b.plan, &e) == ERR_OK) {
        struct cuda_share *share = places(&b.plan, 1, &n);

        REQUIRE(share);
        p->share = share[0];
        if (cuda_layout_make(&p->layout, &b.plan, share, &e) == ERR_OK) {
            p->memory = (char *)((uintptr_t)1 << 44); /* written into the list, never looked at */
            p->result_device = (struct cuda_result *)((uintptr_t)1 << 45);
            cuda_program_make(p, false);
            look_at(&p->program.step, net, batch);
            look_at(&p->program.begin, net, batch);
            look_at(&p->program.evaluate, net, batch);
            cuda_program_free(&p->program);
            cuda_layout_free(&p->layout);
        }
    }
    free(p);
    kit_close(&b);
}

TEST(launches_keep_to_what_a_gpu_allows)
{
    static const char *const odd[] = {
        "input auto\nconv 40 3 pad 1\nconv 3 255 stride 255 same\nglobalavgpool\ndense 10\n",
        "input auto\nconv 7 200 same\nbatchnorm\nmaxpool 3 stride 1\ndropout 0.5\ndense 65535\n",
        "input auto\nconv 4096 31 same stride 7\nrelu\nconv 32 31 same\navgpool 2\ndense 10\n",
        "input auto\nconv 1 1 pad 300\nbatchnorm\nglobalavgpool\ndense 1000000\nrelu\ndense 70\n",
    };
    static const char *const models[] = {"lenet", "cnn", "mlp", "resnet18"};
    static const size_t batches[] = {1, 3, 256, 5000, 65536, 1000000, 2400000};

    kit_twin(1);
    cuda_hooks.keep = false;
    for (size_t k = 0; k < MEM_COUNT(batches); k++)
        for (int precision = SPEC_FP32; precision <= SPEC_BF16; precision++)
            for (size_t i = 0; i < 4; i++) {
                enum spec_precision of = (enum spec_precision)precision;
                const char *net = net_builtin(models[i]);

                write_down(net, (struct net_shape){28, 28, 1}, batches[k], 1, of);
                write_down(net, (struct net_shape){28, 28, 1}, batches[k], CUDA_MODELS, of);
                write_down(odd[i], (struct net_shape){11, 13, 1}, batches[k], 3, of);
                write_down(odd[i], (struct net_shape){257, 300, 3}, batches[k], 1, of);
            }
}
