/* The emulator of kernels: what they compute, and that their mistakes are found. */
#include "tests/test.h"

#include "tests/twin/twin.h"
#include "rng/rng.h"
#include "tests/unit/cuda/emu_kernels.h"

#include <sys/wait.h>
#include <unistd.h>

static struct cuda_stream *stream;

static void *taken(size_t bytes)
{
    void *p = NULL;

    if (cuda_rt()->take(&p, bytes)) {
        printf("no memory\n");
        exit(1);
    }
    return p;
}

static void begin(int seed)
{
    twin_reset(1);
    twin_seed((uint64_t)seed);
    twin_quiet(true);
    cuda_rt()->stream_open(&stream);
}

/* Runs it to its end. 0, or the error. */
static int ran(const struct dev_kernel *k, unsigned x, unsigned y, size_t shared, const void *args,
               size_t bytes)
{
    unsigned grid[3] = {x, y, 1};
    int error = cuda_rt()->launch(k, grid, (unsigned)k->threads, shared, args, bytes, stream);

    return error ? error : cuda_rt()->stream_wait(stream);
}

static uint32_t state;
static float eighth(void) /* small multiples of 1/8, whose products sum exactly */
{
    state = state * 1664525u + 1013904223u;
    return (float)((int)(state >> 8) % 17 - 8) / 8.0f;
}

/* ---- products ---- */

/* How many of c are wrong; -1: the kernel was stopped. */
static int gemm(int m, int n, int k, int bug, int seed)
{
    struct gemm_args a = {.m = m, .n = n, .k = k, .bug = bug};
    float *fa, *fb, *fc;
    int wrong = 0;

    begin(seed);
    fa = taken((size_t)(m * k) * 4);
    fb = taken((size_t)(n * k) * 4);
    fc = taken((size_t)(m * n) * 4);
    for (int i = 0; i < m * k; i++)
        fa[i] = eighth();
    for (int i = 0; i < n * k; i++)
        fb[i] = eighth();
    a.a = fa;
    a.b = fb;
    a.c = fc;
    if (ran(&k_gemm_tf32, (unsigned)(n + 63) / 64, (unsigned)(m + 63) / 64, GEMM_SHARED, &a,
            sizeof a))
        return -1;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;

            for (int l = 0; l < k; l++)
                sum += fa[i * k + l] * fb[j * k + l];
            wrong += !(fc[i * n + j] == sum);
        }
    return wrong;
}

TEST(products_of_tf32_are_exact)
{
    CHECK_INT(gemm(64, 64, 16, GEMM_RIGHT, 1), 0);
    CHECK_INT(gemm(200, 10, 128, GEMM_RIGHT, 2), 0);
    CHECK_INT(gemm(37, 50, 20, GEMM_RIGHT, 3), 0);
    CHECK_INT(gemm(128, 64, 500, GEMM_RIGHT, 4), 0);
}

TEST(sums_of_products_are_cut_not_rounded)
{
    const float little = 1.5f / 16777216;
    struct gemm_args a = {.m = 64, .n = 64, .k = 16, .bug = GEMM_RIGHT};
    float *fa, *fb, *fc;

    begin(1);
    fa = taken(64 * 16 * 4);
    fb = taken(64 * 16 * 4);
    fc = taken(64 * 64 * 4);
    for (int i = 0; i < 64 * 16; i++) {
        fa[i] = i % 16 == 0 ? 1 : i % 16 == 8 ? little : 0;
        fb[i] = i % 16 == 0 ? 1 : i % 16 == 8 ? (i / 16 % 2 ? -1.0f : 1.0f) : 0;
    }
    a.a = fa;
    a.b = fb;
    a.c = fc;
    REQUIRE(ran(&k_gemm_tf32, 1, 1, GEMM_SHARED, &a, sizeof a) == 0);
    CHECK(fc[0] == 1);                   /* not the next one, which is nearer */
    CHECK(fc[1] == 1 - 2.0f / 16777216); /* likewise */
}

TEST(mistakes_in_a_product_are_found)
{
    int read = 0, overwrite = 0, copies = 0;

    CHECK(gemm(64, 64, 64, GEMM_FRAGMENT, 1) > 0);
    CHECK_INT(gemm(64, 64, 64, GEMM_ROUND, 1), -1);
    CHECK_HAS(twin_report(), "k_gemm_tf32");
    CHECK_HAS(twin_report(), "not rounded");
    for (int seed = 1; seed <= 8; seed++) {
        read += gemm(64, 64, 64, GEMM_READ, seed) != 0;
        overwrite += gemm(64, 64, 64, GEMM_OVERWRITE, seed) != 0;
        copies += gemm(64, 64, 64, GEMM_WAIT, seed) != 0;
    }
    CHECK_INT(read, 8);
    CHECK_INT(overwrite, 8);
    CHECK_INT(copies, 8);
}

static uint16_t half_of(float x) /* exact ones only */
{
    uint32_t u;

    memcpy(&u, &x, 4);
    return (uint16_t)(u >> 16);
}

TEST(products_of_bf16_through_ldmatrix_are_exact)
{
    struct half_args a;
    uint16_t *ha, *hb;
    float *c, fa[256], fb[256];

    begin(1);
    a.a = ha = taken(512);
    a.b = hb = taken(512);
    a.c = c = taken(1024);
    for (int i = 0; i < 256; i++) {
        ha[i] = half_of(fa[i] = eighth());
        hb[i] = half_of(fb[i] = eighth());
    }
    CHECK_INT(ran(&k_half, 1, 1, HALF_SHARED, &a, sizeof a), 0);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 0;

            for (int k = 0; k < 16; k++)
                sum += fa[i * 16 + k] * fb[k * 16 + j];
            CHECK(c[i * 16 + j] == sum);
        }
}

/* ---- between lanes, and numbers ---- */

static float bits_float(uint32_t u)
{
    float f;

    memcpy(&f, &u, 4);
    return f;
}

/* x rounded to so many bits less by arithmetic that is exact in double, in one of two ways. */
static float rounded(float x, int bits, bool even)
{
    double scale, q, r;
    int e;

    if (x == 0 || isinf(x))
        return x;
    frexp((double)x, &e);
    scale = ldexp(1.0, e - bits);
    q = (double)x / scale;
    r = floor(fabs(q) + 0.5);
    if (even && fabs(q) + 0.5 == r && fmod(r, 2) != 0)
        r -= 1;
    return (float)(copysign(r, q) * scale);
}

TEST(lanes_and_roundings_are_as_the_manual_says)
{
    enum { N = 128 };
    struct warp_args a = {.key = {0x12345678u, 0x9abcdef0u}};
    struct rng_key key = {{0x12345678u, 0x9abcdef0u}};
    float *in;
    uint32_t folded = 0;

    begin(1);
    a.in = in = taken(N * 4);
    a.by_lane = taken(N * 4);
    a.by_xor = taken(N * 4);
    a.by_down = taken(N * 4);
    a.tf32 = taken(N * 4);
    a.half = taken(N * 4);
    a.wide = taken(N * 8);
    a.any = taken(N * 4);
    a.packed = taken(N * 4);
    a.bits = taken(N * 4);
    a.sum = taken(8);
    a.sum[0] = a.sum[1] = 0;
    for (int i = 0; i < N; i++)
        in[i] = i % 3   ? eighth() * 3.00390625f
                : i % 2 ? bits_float(0x3f808000u + (uint32_t)(i << 16))  /* half way for bf16 */
                        : bits_float(0x40001000u + (uint32_t)(i << 13)); /* and for tf32 */
    in[7] = 3;
    in[32 + 7] = 0;
    CHECK_INT(ran(&k_warp, N / 64, 1, 64 * 4, &a, sizeof a), 0);
    for (int i = 0; i < N; i++) {
        int lane = i & 31, warp = i - lane;
        float half = rounded(in[i], 8, true);

        CHECK(a.by_lane[i] == in[warp + ((lane * 7 + 3) & 31)]);
        CHECK(a.by_xor[i] == in[warp + (lane ^ 5)]);
        CHECK(a.by_down[i] == in[lane + 9 < 32 ? i + 9 : i]);
        CHECK(a.wide[i] == (double)in[warp + (lane ^ 16)] + 1e-12);
        CHECK_INT(a.any[i], in[warp + 7] > 2.5f);
        CHECK(a.tf32[i] == rounded(in[i], 11, false));
        CHECK(a.half[i] == half);
        CHECK_INT(a.packed[i], (uint32_t)half_of(half) | (uint32_t)half_of(-half) << 16);
        CHECK_INT(a.bits[i], rng_bits_at(key, (uint64_t)i << 30));
        if (lane == 0)
            folded += rng_fold_in(key, (uint32_t)i).w[0] & 0xffff;
    }
    CHECK_INT(a.sum[0], folded);
    CHECK_INT(a.sum[1], 15);
}

TEST(functions_are_the_accurate_ones)
{
    enum { N = 40 };
    struct math_args a = {.n = N};
    float *in;

    begin(1);
    a.in = in = taken(N * 4);
    a.out = taken(N * 8 * 4);
    for (int i = 0; i < N; i++)
        in[i] = 0.03f + (float)i * 0.17f;
    in[3] = NAN;
    CHECK_INT(ran(&k_math, 2, 1, 0, &a, sizeof a), 0);
    for (int i = 0; i < N; i++) {
        const float *o = a.out + i * 8;
        double x = (double)in[i];

        if (i == 3) {
            CHECK(o[7] == -1);
            continue;
        }
        CHECK_NEAR(o[0], exp(x), 2e-7 * exp(x));
        CHECK_NEAR(o[1], log(x), 3e-7);
        CHECK_NEAR(o[2], tanh(x), 2e-7);
        CHECK(o[3] == (float)sqrt(x));
        CHECK(o[4] == (float)(1 / sqrt(x)));
        CHECK_NEAR(o[5], pow(x, 1.5), 3e-7 * (1 + pow(x, 1.5)));
        CHECK(o[6] == fmaf(in[i], in[i], -1));
        CHECK(o[7] == fminf(fmaxf(in[i] * in[i] - 1, 0.5f), 2));
    }
}

/* ---- what a kernel may not do ---- */

static int wrong(int mistake, int seed, float **out)
{
    struct wrong_args a = {.mistake = mistake};

    begin(seed);
    a.out = *out = taken(64 * 4);
    return ran(&k_wrong, 1, 1, WRONG_SHARED, &a, sizeof a);
}

TEST(a_right_kernel_is_let_through)
{
    float *out;

    for (int seed = 1; seed <= 8; seed++) {
        CHECK_INT(wrong(WRONG_NONE, seed, &out), 0);
        for (int t = 0; t < 64; t++)
            CHECK(out[t] == (float)(63 - (t ^ 1)) + (float)(t ^ 3) + 100);
    }
    CHECK_STR(twin_report(), "");
}

TEST(threads_that_do_not_meet_are_named)
{
    float *out;

    CHECK_INT(wrong(WRONG_DIVERGED, 1, &out), 719);
    CHECK_HAS(twin_report(), "k_wrong: block (0, 0, 0): warp");
    CHECK_HAS(twin_report(), "diverged");
    CHECK_HAS(twin_report(), "dev_any");
    CHECK_INT(wrong(WRONG_MISSING, 1, &out), 719);
    CHECK_HAS(twin_report(), "stuck: 33 of 64 threads wait at a barrier");
    CHECK_HAS(twin_report(), "thread 32 at a shuffle, where only 31 of 32 lanes came");
    CHECK_INT(wrong(WRONG_BARRIER, 1, &out), 719);
    CHECK_HAS(twin_report(), "stuck: 63 of 64 threads wait at a barrier, and 1 have returned");
    /* The emulator itself is as good as new. */
    CHECK_INT(wrong(WRONG_NONE, 1, &out), 0);
}

TEST(shared_memory_is_nan_until_it_is_written)
{
    float *out;

    CHECK_INT(wrong(WRONG_UNSET, 1, &out), 0);
    CHECK(isnan(out[0]));
}

TEST(lanes_need_a_barrier_between_them_too)
{
    int found = 0;

    for (int seed = 1; seed <= 8; seed++) {
        float *out;
        bool same = true;

        CHECK_INT(wrong(WRONG_LANES, seed, &out), 0);
        for (int t = 0; t < 64; t++)
            same = same && out[t] == (float)(63 - (t ^ 1)) + (float)(t ^ 3) + 100;
        found += !same;
    }
    CHECK_INT(found, 8);
}

TEST(leaving_shared_memory_is_found)
{
    float *out;

#ifdef __SANITIZE_ADDRESS__ /* ends the process where it happens */
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        fclose(stderr);
        wrong(WRONG_BEHIND, 1, &out);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
#else
    CHECK_INT(wrong(WRONG_BEHIND, 1, &out), 719);
    CHECK_HAS(twin_report(), "behind its 320 bytes of shared memory");
#endif
    CHECK_INT(wrong(WRONG_COPY, 1, &out), 719);
    CHECK_HAS(twin_report(), "not aligned to 16 bytes");
    CHECK_INT(wrong(WRONG_COPY_BEHIND, 1, &out), 719);
    CHECK_HAS(twin_report(), "not in the block's shared memory");
    CHECK_INT(wrong(WRONG_MATRIX, 1, &out), 719);
    CHECK_HAS(twin_report(), "not in the block's shared memory");
}

/* ---- orders ---- */

static void order(int seed, uint32_t blocks[16], uint32_t warps[64])
{
    struct order_args a;

    begin(seed);
    a.next = taken(4);
    a.blocks = taken(64);
    a.warps = taken(256);
    *a.next = 0;
    CHECK_INT(ran(&k_order, 16, 1, 0, &a, sizeof a), 0);
    memcpy(blocks, a.blocks, 64);
    memcpy(warps, a.warps, 256);
}

TEST(blocks_and_warps_come_in_an_order_that_the_seed_decides)
{
    uint32_t blocks[3][16], warps[3][64];
    int ahead = 0, behind = 0;

    order(1, blocks[0], warps[0]);
    order(1, blocks[1], warps[1]);
    order(2, blocks[2], warps[2]);
    CHECK(!memcmp(blocks[0], blocks[1], 64) && !memcmp(warps[0], warps[1], 256));
    CHECK(memcmp(blocks[0], blocks[2], 64) != 0);
    CHECK(memcmp(warps[0], warps[2], 256) != 0);
    for (int b = 0; b < 16; b++)
        for (int w = 1; w < 4; w++)
            *(warps[0][b * 4 + w] > warps[0][b * 4 + w - 1] ? &ahead : &behind) += 1;
    CHECK(ahead > 5 && behind > 5);
}
