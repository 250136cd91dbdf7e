/* The fast CPU backend against the naive one in double on random networks: two steps of training and
 * an evaluation of each, on every instruction set that this machine has and in every precision that
 * it can. CHORUS_TEST_NETWORKS says how many networks (60); a failing one is printed with its number,
 * CHORUS_TEST_ONLY=NUMBER runs it alone and tells more, CHORUS_ISA=NAME keeps to one set, and
 * CHORUS_TEST_SEED=NUMBER draws others.
 *
 * Networks with batch norm or residuals run once more with memory spared, as large ones do: what is
 * computed again must be the same bytes, so all that comes out is. */
#include "tests/parity/random_doubt.h"

#include "cpu/session_int.h"

#include <time.h>

#define NETWORKS 60
#define REDRAWS  6

static const struct way {
    const char *isa;
    enum spec_precision precision;
    const char *name;
    int lanes; /* 0: by the batch */
} ways[] = {
    {"avx512", SPEC_FP32, "avx512", 16},
    {"avx2", SPEC_FP32, "avx2", 16},
    {"base", SPEC_FP32, "base", 0},
    {"amx", SPEC_BF16, "amx in bf16", 0},
    {"avx512bf16", SPEC_BF16, "avx512bf16 in bf16", 0},
    {"avx512", SPEC_BF16, "avx512 in bf16", 0},
    {"avx2", SPEC_BF16, "avx2 in bf16", 0},
    {"base", SPEC_BF16, "base in bf16", 0},
    {"amx-emulated", SPEC_BF16, "emulated amx in bf16", 0},
    {"avx512bf16-dot", SPEC_BF16, "products of bf16", 0},
    {"avx512", SPEC_FP32, "avx512 of 8 lanes", 8},
    {"avx2", SPEC_FP32, "avx2 of 8 lanes", 8},
};
#define WAYS ((int)MEM_COUNT(ways))

static struct tally {
    bool here;
    int networks, failed, redrawn, again, ill;
    double share[PARTS], seconds;
} tally[WAYS];

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* only: the instruction set that the caller asks for, or NULL. */
static bool force(const struct way *w, const struct trial *t, const char *only)
{
    struct backend_plan plan = t->plan;
    struct err e;

    if (only && strcmp(only, w->isa))
        return false;
    setenv("CHORUS_ISA", w->isa, 1);
    plan.precision = w->precision;
    cpu_lanes_wanted = w->lanes;
    /* of few images threads share all, or nothing */
    cpu_blocks_meet = t->number % 3 ? -1e12 : INFINITY;
    return !strcmp(cpu_backend.isa(), w->isa) && cpu_backend.can(&plan, &e) == ERR_OK;
}

static void check_spared(struct trial *t, int way, const struct seen *got)
{
    struct seen spared;
    size_t from = cpu_spare_from;

    cpu_spare_from = 0;
    if (observe(&cpu_backend, t, ways[way].precision, &spared)) {
        if (!same_seen(t, got, &spared)) {
            TEST_FAILED("%s: network %d gives other numbers with memory spared", ways[way].name,
                        t->number);
            trial_print(t);
        }
        seen_free(&spared);
    }
    cpu_spare_from = from;
}

/* want and rough are those of t's images as they are; made anew where images were replaced. */
static void run_way(struct trial *t, int way, struct seen *want, struct seen *both, bool tell)
{
    struct tally *sum = &tally[way];
    struct verdict v = {.t = t, .half = ways[way].precision == SPEC_BF16, .tell = tell};
    bool again = true, redrawn = false, second = false;
    struct seen *rough = &both[v.half];

    v.image_off = mem_new(t->plan.batch, sizeof *v.image_off);
    v.tied = mem_new(t->plan.batch, sizeof *v.tied);
    v.slack = mem_new((size_t)(t->plan.members * t->net->params), sizeof *v.slack);
    for (int turn = 0; again && turn <= REDRAWS; turn++) {
        struct seen got;
        double begin = seconds();

        again = false;
        if (!want->logits && !observe(&ref_backend, t, SPEC_FP64, want))
            break;
        begin = seconds();
        if (!observe(&cpu_backend, t, ways[way].precision, &got)) {
            v.bad[FORWARD] = 1;
            break;
        }
        sum->seconds += seconds() - begin;
        if (!turn)
            check_spared(t, way, &got);
        v.got = &got;
        v.want = want;
        v.rough = NULL;
        judge_all(&v);
        if (v.bad[FORWARD] + v.bad[BACKWARD] + v.bad[SECOND]) {
            if (!rough->logits && v.half)
                observe_halves(t, NULL, rough);
            else if (!rough->logits)
                observe_floats(t, want, rough);
            v.rough = rough;
            judge_all(&v);
        }
        if (turn == REDRAWS && !v.bad[FORWARD] && v.bad[BACKWARD])
            leave_tied(&v);
        if (v.half && !v.bad[FORWARD] && !v.bad[BACKWARD] && v.bad[SECOND]) {
            judge_again(&v);
            second = true;
        }
        if (tell)
            printf("  %s, turn %d: forward %.3f, backward %.3f, second step %.3f of the limits, %d "
                   "ill-conditioned\n%s",
                   ways[way].name, turn, v.share[FORWARD], v.share[BACKWARD], v.share[SECOND],
                   v.ill, text_str(&v.words));
        if (!v.bad[FORWARD] && v.bad[BACKWARD] + v.bad[SECOND] && turn < REDRAWS &&
            redraw(&v, turn)) {
            seen_free(want);
            seen_free(&both[0]);
            seen_free(&both[1]);
            again = redrawn = true;
        }
        seen_free(&got);
    }
    sum->here = true;
    sum->networks++;
    sum->redrawn += redrawn;
    sum->again += second;
    sum->ill += v.ill > 0;
    for (int i = 0; i < PARTS; i++)
        sum->share[i] = fmax(sum->share[i], v.share[i]);
    if (v.bad[FORWARD] + v.bad[BACKWARD] + v.bad[SECOND]) {
        if (sum->failed++ < 5) {
            printf("  %s:\n%s", ways[way].name, text_str(&v.words));
            trial_print(t);
        } else {
            printf("  %s: network %d too\n", ways[way].name, t->number);
        }
    }
    text_free(&v.words);
    free(v.image_off);
    free(v.tied);
    free(v.slack);
}

static void run_network(int number, bool tell, const char *isa)
{
    struct trial t;
    struct seen want = {0}, rough[2] = {0}; /* rough: in float, from bf16 */

    if (!trial_open(&t, number))
        return;
    if (tell)
        trial_print(&t);
    for (int way = 0; way < WAYS; way++) {
        if (force(&ways[way], &t, isa))
            run_way(&t, way, &want, rough, tell);
    }
    unsetenv("CHORUS_ISA");
    cpu_lanes_wanted = 0;
    seen_free(&want);
    seen_free(&rough[0]);
    seen_free(&rough[1]);
    trial_close(&t);
}

/* The naive backend's numbers serve all instruction sets, so the first test runs all. */
static void run_all(void)
{
    static bool done;
    const char *only = getenv("CHORUS_TEST_ONLY"), *many = getenv("CHORUS_TEST_NETWORKS");
    int n = many && atoi(many) > 0 ? atoi(many) : NETWORKS;

    if (done)
        return;
    done = true;
    char *isa = getenv("CHORUS_ISA") ? mem_text(getenv("CHORUS_ISA")) : NULL;
    if (only)
        run_network(atoi(only), true, isa);
    for (int i = 0; i < n && !only; i++)
        run_network(i, false, isa);
    free(isa);
}

static void check_way(int way)
{
    const struct tally *sum = &tally[way];

    run_all();
    if (!sum->here)
        SKIP("this machine or this program has it not");
    printf(
        "  %s: %d networks in %.1f s of its own; forward %.2f, backward %.2f, second step %.2f of "
        "the limits; images replaced in %d, second steps by themselves in %d, ill-conditioned "
        "numbers in %d\n",
        ways[way].name, sum->networks, sum->seconds, sum->share[FORWARD], sum->share[BACKWARD],
        sum->share[SECOND], sum->redrawn, sum->again, sum->ill);
    if (sum->failed)
        TEST_FAILED("%d of %d networks are wrong", sum->failed, sum->networks);
    /* else the ways out are no exceptions any more */
    if (sum->networks >= 20) {
        CHECK(sum->redrawn <= sum->networks / 4);
        CHECK(sum->again <= sum->networks / 4);
        CHECK(sum->ill <= sum->networks / 4);
    }
}

TEST(random_networks_on_avx512)
{
    check_way(0);
}

TEST(random_networks_on_avx2)
{
    check_way(1);
}

TEST(random_networks_on_base)
{
    check_way(2);
}

TEST(random_networks_on_amx_in_bf16)
{
    check_way(3);
}

TEST(random_networks_on_avx512bf16_in_bf16)
{
    check_way(4);
}

TEST(random_networks_on_avx512_in_bf16)
{
    check_way(5);
}

TEST(random_networks_on_avx2_in_bf16)
{
    check_way(6);
}

TEST(random_networks_on_base_in_bf16)
{
    check_way(7);
}

TEST(random_networks_on_emulated_amx_in_bf16)
{
    check_way(8);
}

TEST(random_networks_on_products_of_bf16)
{
    check_way(9);
}

TEST(random_networks_on_avx512_of_8_lanes)
{
    check_way(10);
}

TEST(random_networks_on_avx2_of_8_lanes)
{
    check_way(11);
}

TEST(zeros_in_front_of_a_maximum_on_all)
{
    memset(tally, 0, sizeof tally);
    run_network(RANDOM_ZEROS, false, NULL);
    CHECK_INT(tally[2].networks, 1); /* on what every machine has */
    for (int way = 0; way < WAYS; way++) {
        if (tally[way].failed)
            TEST_FAILED("%s: wrong on a black ground", ways[way].name);
    }
}
