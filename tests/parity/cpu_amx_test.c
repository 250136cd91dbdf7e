/* Tiles of AMX: those in plain C against what the manual says, by hand; the processor's, where there
 * are some, against those, and so the products of vectors in their place; dense layers on all of them
 * against plain loops in double. All numbers that go in
 * are bf16, so that products are exact and the limits are those of float: multiples of EPS = 2^-24
 * times the sum of the absolute terms. */
#include "cpu/cpu_int.h"
#include "rng/rng.h"
#include "tests/test.h"

#ifdef __x86_64__
#include "cpu/kernels/amx/amx.h"

#include <float.h>

#define EPS   (1.0 / (1 << 24))
#define LANES CPU_LANES

static uint64_t drawn;

static unsigned draw(unsigned from, unsigned to)
{
    return from + (unsigned)(rng_bits_at(rng_key(51), drawn++) % (to - from + 1));
}

static float draw_half(void) /* (-1, 1), eight bits */
{
    return ((float)draw(0, 255) - 127.5f) / 128;
}

static uint16_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float flush(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

/* a * b + c with one rounding: exact in the wide type for exponents as the tests have them. */
static float fused(float a, float b, float c)
{
    return flush((float)((long double)flush(a) * (long double)flush(b) + (long double)flush(c)));
}

/* The sum of a tile's element, as the manual has it. */
static float by_hand(float was, const float *a, const float *b, int pairs)
{
    float even = 0, odd = 0;

    for (int k = 0; k < pairs; k++) {
        even = fused(a[2 * k], b[2 * k], even);
        odd = fused(a[2 * k + 1], b[2 * k + 1], odd);
    }
    return flush(flush(was) + flush(even + odd));
}

/* One product of m x 2 pairs by 2 pairs x n, numbers from `make`. */
static void check_product(int m, int pairs, int n, float (*make)(void))
{
    uint16_t a[16][32] = {{0}}, b[16][32] = {{0}};
    float c[16][16], got[16][16], wide_a[16][32] = {{0}}, wide_b[16][32] = {{0}};
    struct amx_config config = {.palette = 1};
    int wrong = 0;

    for (int i = 0; i < 3; i++) {
        config.rows[i] = (uint8_t)(i == 2 ? pairs : m);
        config.row_bytes[i] = (uint16_t)(4 * (i == 1 ? pairs : n));
    }
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < 2 * pairs; k++)
            a[i][k] = bits_of(wide_a[i][k] = make());
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < 2 * pairs; k++)
            b[k / 2][2 * j + k % 2] = bits_of(wide_b[j][k] = make());
    }
    for (int i = 0; i < 256; i++)
        c[i / 16][i % 16] = got[i / 16][i % 16] = make();
    amx_configure(&config);
    amx_load(0, c, sizeof c[0]);
    amx_load(1, a, sizeof a[0]);
    amx_load(2, b, sizeof b[0]);
    amx_multiply(0, 1, 2);
    amx_store(0, got, sizeof got[0]);
    amx_release();
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) {
            float want = c[i][j];
            if (i < m && j < n)
                want = by_hand(want, wide_a[i], wide_b[j], pairs);
            wrong += memcmp(&want, &got[i][j], sizeof want) != 0;
        }
    }
    if (wrong)
        TEST_FAILED("%d of the sums of %d x %d pairs by %d are not those by hand", wrong, m, pairs,
                    n);
}

static float draw_wide(void) /* of many sizes */
{
    return ldexpf(draw_half(), (int)draw(0, 16) - 8);
}

static float draw_tiny(void) /* products and numbers around the least normal one, some below it */
{
    float x =
        ldexpf(draw_half(), (int)draw(0, 1) ? -62 - (int)draw(0, 4) : -120 - (int)draw(0, 12));
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint32_t)0xffff;
    memcpy(&x, &bits, sizeof x);
    return x;
}

TEST(emulated_products_by_hand)
{
    drawn = 0;
    for (int i = 0; i < 40; i++) {
        check_product(16, 16, 16, draw_half);
        check_product((int)draw(1, 16), (int)draw(1, 16), (int)draw(1, 16), draw_wide);
        check_product((int)draw(1, 16), (int)draw(1, 16), (int)draw(1, 16), draw_tiny);
    }
}

/* A tile keeps its rows and bytes, from rows that lie apart, and what is behind them is zero. */
TEST(emulated_loads_and_stores)
{
    uint8_t from[16][100], to[16][80], want[16][80];
    struct amx_config config = {.palette = 1};

    for (int rows = 1; rows <= 16; rows += 5) {
        int bytes = 4 * rows;
        for (int i = 0; i < 1600; i++)
            from[i / 100][i % 100] = (uint8_t)(i * 7);
        memset(to, 0xee, sizeof to);
        memcpy(want, to, sizeof to);
        config.rows[3] = (uint8_t)rows;
        config.row_bytes[3] = (uint16_t)bytes;
        amx_configure(&config);
        amx_load(3, from, sizeof from[0]);
        amx_store(3, to, sizeof to[0]);
        for (int i = 0; i < rows; i++)
            memcpy(want[i], from[i], (size_t)bytes);
        CHECK(!memcmp(to, want, sizeof to));
        for (int i = 0; i < 16; i++) {
            for (int j = 0; j < 64; j++)
                CHECK(amx_tiles[3].row[i][j] == (i < rows && j < bytes ? from[i][j] : 0));
        }
        amx_zero(3);
        amx_store(3, to, sizeof to[0]);
        CHECK(to[rows - 1][bytes - 1] == 0);
        amx_release();
    }
}

/* ---- dense layers ---- */

static const struct cpu_tiles *tiles; /* those at hand */

static bool take_tiles(const char *name)
{
    setenv("CHORUS_ISA", name, 1);
    tiles = cpu_tiles_choose();
    unsetenv("CHORUS_ISA");
    return tiles != NULL;
}

#define GUARD 64
static float *floats(size_t n, bool random)
{
    float *p = aligned_alloc(64, ((n + GUARD) * sizeof *p + 63) / 64 * 64);

    if (!p)
        abort();
    for (size_t i = 0; i < n + GUARD; i++)
        p[i] = i >= n ? 12345.0f : random ? draw_half() : NAN;
    return p;
}

static bool guarded(const float *p, size_t n)
{
    for (size_t i = n; i < n + GUARD; i++) {
        if (p[i] != 12345.0f)
            return false;
    }
    return true;
}

struct dense {
    int images, groups, in, out;
    float *x, *w, *dy, *packed, *scratch;
    size_t packed_floats, scratch_floats;
    double worst; /* of the limits */
};

static void take_worst(struct dense *d, float got, double want, double size, int terms)
{
    double off = fabs((double)got - want) / (EPS * (size + (double)FLT_MIN));

    off /= 4 + 2 * sqrt(terms);
    d->worst = off <= d->worst ? d->worst : isfinite(off) ? off : INFINITY;
}

static size_t at(const struct dense *d, int units, size_t image, int unit)
{
    (void)d;
    return ((image / LANES) * (size_t)units + (size_t)unit) * LANES + image % LANES;
}

/* Units of `n` from..to, as a thread of several would do them. */
static void cut_at(int n, int part, int *from, int *to)
{
    int middle = n / 2 / LANES * LANES;

    *from = part ? middle : 0;
    *to = part ? n : middle;
}

static void check_forward(struct dense *d, bool biased)
{
    size_t n = (size_t)d->groups * (size_t)d->out * LANES;
    float *y = floats(n, false), *bias = floats((size_t)d->out, true);

    for (int part = 0; part < 2; part++) {
        int from, to;
        cut_at(d->out, part, &from, &to);
        tiles->dense(d->images, d->in, d->out, from, to, d->x, d->packed, biased ? bias : NULL, y,
                     d->scratch);
    }
    for (size_t image = 0; image < (size_t)d->images; image++) {
        for (int o = 0; o < d->out; o++) {
            double sum = biased ? (double)bias[o] : 0, size = fabs(sum);
            for (int i = 0; i < d->in; i++) {
                double term = (double)d->x[at(d, d->in, image, i)] *
                              (double)d->w[(size_t)i * (size_t)d->out + (size_t)o];
                sum += term;
                size += fabs(term);
            }
            take_worst(d, y[at(d, d->out, image, o)], sum, size, d->in);
        }
    }
    CHECK(guarded(y, n));
    free(y);
    free(bias);
}

static void check_back(struct dense *d, bool add)
{
    size_t n = (size_t)d->groups * (size_t)d->in * LANES, nw = (size_t)d->in * (size_t)d->out;
    float *dx = floats(n, add), *was = floats(n, false), *dw = floats(nw, add);
    float *dw_was = floats(nw, false);

    memcpy(was, dx, n * sizeof *was);
    memcpy(dw_was, dw, nw * sizeof *dw);
    float *turned = floats(d->scratch_floats, false);
    int cut = d->out / 2 / (2 * LANES) * (2 * LANES);
    tiles->dense_turn(d->groups, cut, d->out, d->in, d->out, true, d->dy, turned);
    tiles->dense_turn(d->groups, 0, cut, d->in, d->out, true, d->dy, turned);
    for (int part = 0; part < 2; part++) {
        int from, to;
        cut_at(d->in, part, &from, &to);
        tiles->dense_back(d->images, d->in, d->out, from, to, d->packed, add, dx, turned,
                          d->scratch);
        tiles->dense_weights(d->images, d->in, d->out, from, to, d->x, add,
                             dw + (size_t)from * (size_t)d->out, turned, d->scratch);
    }
    for (size_t image = 0; image < (size_t)d->images; image++) {
        for (int i = 0; i < d->in; i++) {
            double sum = add ? (double)was[at(d, d->in, image, i)] : 0, size = fabs(sum);
            for (int o = 0; o < d->out; o++) {
                double term = (double)d->dy[at(d, d->out, image, o)] *
                              (double)d->w[(size_t)i * (size_t)d->out + (size_t)o];
                sum += term;
                size += fabs(term);
            }
            take_worst(d, dx[at(d, d->in, image, i)], sum, size, d->out);
        }
    }
    for (int i = 0; i < d->in; i++) {
        for (int o = 0; o < d->out; o++) {
            size_t place = (size_t)i * (size_t)d->out + (size_t)o;
            double sum = add ? (double)dw_was[place] : 0, size = fabs(sum);
            for (size_t image = 0; image < (size_t)d->images; image++) {
                double term =
                    (double)d->x[at(d, d->in, image, i)] * (double)d->dy[at(d, d->out, image, o)];
                sum += term;
                size += fabs(term);
            }
            take_worst(d, dw[place], sum, size, d->images);
        }
    }
    CHECK(guarded(dx, n) && guarded(dw, nw));
    free(dx);
    free(was);
    free(dw);
    free(turned);
    free(dw_was);
}

static void check_dense(int images, int in, int out, bool biased, bool add)
{
    int groups = (images + LANES - 1) / LANES;
    struct dense d = {.images = images, .groups = groups, .in = in, .out = out};

    d.x = floats((size_t)groups * (size_t)in * LANES, true);
    d.w = floats((size_t)in * (size_t)out, true);
    d.dy = floats((size_t)groups * (size_t)out * LANES, true);
    for (size_t i = 0; i < (size_t)out * LANES; i++) {
        if ((groups - 1) * LANES + (int)(i % LANES) >= images)
            d.dy[(size_t)(groups - 1) * (size_t)out * LANES + i] = 0;
    }
    d.packed_floats = tiles->dense_packed(in, out, true);
    d.scratch_floats = tiles->dense_scratch(groups, in, out);
    d.packed = floats(d.packed_floats, false);
    d.scratch = floats(d.scratch_floats, false);
    int rows = 2 * LANES * (int)draw(1, 4);
    for (int row = (in - 1) / rows * rows; row >= 0; row -= rows)
        tiles->dense_pack(in, out, true, row, row + rows < in ? row + rows : in, d.w, d.packed);
    check_forward(&d, biased);
    check_back(&d, add);
    bool whole = guarded(d.packed, d.packed_floats) && guarded(d.scratch, d.scratch_floats);
    if (!(d.worst <= 1) || !whole)
        TEST_FAILED("%dx%d, %d images%s%s: %.3g of the limit%s", in, out, images,
                    biased ? ", bias" : "", add ? ", added" : "", d.worst,
                    whole ? "" : ", written behind");
    free(d.x);
    free(d.w);
    free(d.dy);
    free(d.packed);
    free(d.scratch);
}

static void dense_layers(void)
{
    static const int sizes[] = {1, 2, 10, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 129};

    drawn = 1 << 20;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int groups = 1; groups <= 4; groups++)
            check_dense(groups * LANES - (int)(i * 5 + 11) % LANES * (groups < 4), sizes[i],
                        sizes[(i * 5 + 3) % 14], i % 2, groups % 2);
    }
    check_dense(5 * LANES, 300, 40, true, true);
    check_dense(2 * LANES + 8, 50, 200, true, false);
    /* sums that are made in parts, of whole groups and of half of the last one */
    check_dense(2 * LANES + 5, 2081, 40, false, true);
    check_dense(LANES - 9, 4129, 33, true, false);
    check_dense(4 * LANES + 8, 40, 2090, true, true);
    check_dense(3 * LANES, 2049, 17, true, true);
}

TEST(dense_layers_on_emulated_tiles)
{
    if (!take_tiles("amx-emulated"))
        SKIP("this machine has no AVX-512 with bf16");
    dense_layers();
}

TEST(dense_layers_on_tiles)
{
    if (!take_tiles("amx"))
        SKIP("this machine has no AMX");
    dense_layers();
}

TEST(dense_layers_on_vectors)
{
    if (!cpu_has_bf16())
        SKIP("this machine has no AVX-512 with bf16");
    tiles = &cpu_tiles_dot; /* also where others are faster */
    dense_layers();
    CHECK(cpu_tiles_agree(&cpu_tiles_dot));
}

/* Of eight images of a group the other half of its lanes is left out. */
TEST(half_a_group_is_half_the_work)
{
    enum { IN = 40, OUT = 32 };
    static float x[IN * LANES] __attribute__((aligned(64))),
        y[OUT * LANES] __attribute__((aligned(64)));
    static float w[IN * OUT];

    if (!cpu_has_bf16())
        SKIP("this machine has no AVX-512 with bf16");
    tiles = &cpu_tiles_dot;
    float *packed = floats(tiles->dense_packed(IN, OUT, false), false);
    float *scratch = floats(tiles->dense_scratch(1, IN, OUT), false);
    for (int i = 0; i < IN * LANES; i++)
        x[i] = 1;
    for (int i = 0; i < IN * OUT; i++)
        w[i] = 1;
    tiles->dense_pack(IN, OUT, false, 0, IN, w, packed);
    tiles->dense(8, IN, OUT, 0, OUT, x, packed, NULL, y, scratch);
    for (int i = 0; i < OUT * LANES; i++)
        CHECK(y[i] == (i % LANES < 8 ? (float)IN : 0));
    free(packed);
    free(scratch);
}

static void wrong_factor(const uint16_t *a, const uint16_t *b, float *sum)
{
    cpu_tiles_emulated.product(b, a, sum);
}

static void no_old_sum(const uint16_t *a, const uint16_t *b, float *sum)
{
    memset(sum, 0, 256 * sizeof *sum);
    cpu_tiles_emulated.product(a, b, sum);
}

static void less_precise(const uint16_t *a, const uint16_t *b, float *sum)
{
    cpu_tiles_emulated.product(a, b, sum);
    for (int i = 0; i < 256; i++)
        sum[i] *= 1.0f + 0x1p-20f;
}

/* Tiles that multiply otherwise than they should are found out. */
TEST(wrong_tiles_are_noticed)
{
    struct cpu_tiles wrong;

    if (!take_tiles("amx-emulated"))
        SKIP("this machine has no AVX-512 with bf16");
    wrong = *tiles;
    CHECK(cpu_tiles_agree(&wrong));
    wrong.product = wrong_factor;
    CHECK(!cpu_tiles_agree(&wrong));
    wrong.product = no_old_sum;
    CHECK(!cpu_tiles_agree(&wrong));
    wrong.product = less_precise;
    CHECK(!cpu_tiles_agree(&wrong));
}

/* An instruction set that is forced brings its own tiles, or none. */
TEST(tiles_go_with_the_instruction_set)
{
    static const char *const others[] = {"avx512bf16", "avx512", "avx2", "base", "mmx"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!take_tiles(others[i]));
    if (take_tiles("amx-emulated"))
        CHECK(tiles == &cpu_tiles_emulated);
    CHECK(take_tiles("avx512bf16-dot") == cpu_has_bf16());
    CHECK(!tiles || tiles == &cpu_tiles_dot);
    /* unasked by the processor's maker: never by what a clock says */
    unsetenv("CHORUS_ISA");
    tiles = cpu_tiles_choose();
    CHECK(tiles != &cpu_tiles_dot || __builtin_cpu_is("amd"));
    CHECK(tiles || !cpu_has_bf16() || !__builtin_cpu_is("amd"));
    setenv("CHORUS_ISA", "amx", 1);
    const struct cpu_kernels *beside = cpu_kernels_choose(SPEC_BF16);
    CHECK(!cpu_tiles_choose() == !beside);
    CHECK(!beside || beside == &cpu_kernels_avx512bf16);
    unsetenv("CHORUS_ISA");
}

#else

TEST(tiles)
{
    SKIP("no x86");
}

#endif
