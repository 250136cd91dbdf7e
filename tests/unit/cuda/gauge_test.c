/* What GPUs say of themselves, over the twin: what is known, and what is not. */
#include "tests/test.h"

#include "cuda/gauge.h"
#include "tests/twin/nvml.h"
#include "tests/twin/twin.h"

static void begin(int gpus)
{
    twin_reset(gpus);
    twin_nvml_missing(false);
    twin_nvml_unknown(-1);
}

TEST(each_gpu_is_asked_by_its_place_on_the_bus)
{
    struct cuda_gauge g;

    begin(3);
    for (int i = 0; i < 3; i++) {
        cuda_gauge_read(i, &g);
        CHECK_NEAR(g.percent, 10 * i + 5, 0);
        CHECK_NEAR(g.memory_percent, 10 * i + 2, 0);
        CHECK_NEAR(g.memory_used, (i + 1) * 67108864.0, 0);
        CHECK_NEAR(g.celsius, 40 + i, 0);
        CHECK_NEAR(g.watts, 70.5 + i, 1e-9);
    }
}

static int unknowns(const struct cuda_gauge *g)
{
    return isnan(g->percent) + 10 * isnan(g->memory_percent) + 100 * isnan(g->memory_used) +
           1000 * isnan(g->celsius) + 10000 * isnan(g->watts);
}

TEST(what_is_unknown_is_not_a_number)
{
    static const int want[] = {11, 100, 1000, 10000};
    struct cuda_gauge g;

    begin(1);
    for (int question = 0; question < 4; question++) {
        twin_nvml_unknown(question);
        cuda_gauge_read(0, &g);
        CHECK_INT(unknowns(&g), want[question]);
    }
    twin_nvml_unknown(-1);
    cuda_gauge_read(0, &g);
    CHECK_INT(unknowns(&g), 0);
    cuda_gauge_read(7, &g); /* there is none */
    CHECK_INT(unknowns(&g), 11111);
    cuda_gauge_read(-1, &g);
    CHECK_INT(unknowns(&g), 11111);
    twin_nvml_missing(true);
    cuda_gauge_read(0, &g);
    CHECK_INT(unknowns(&g), 11111);
}

/* What the others of a GPU use is not this slice's. */
TEST(of_a_slice_the_memory_is_unknown)
{
    struct cuda_gauge g;
    size_t bytes = 0;

    begin(6);
    twin_nvml_slices(true);
    cuda_gauge_read(5, &g); /* which no test has asked before */
    CHECK_INT(unknowns(&g), 100);
    CHECK(!cuda_gauge_free(5, &bytes));
    twin_nvml_slices(false);
    cuda_gauge_read(0, &g);
    CHECK_INT(unknowns(&g), 0);
}

TEST(the_survey_learns_the_driver_and_free_memory)
{
    struct cuda_survey s = {.gpus = 2};

    begin(2);
    cuda_gauge_survey(&s);
    CHECK_STR(s.nvidia_driver, "580.65.06");
    CHECK_INT(s.gpu[0].memory_free, ((size_t)8 << 30) - (64 << 20));
    CHECK_INT(s.gpu[1].memory_free, ((size_t)8 << 30) - (128 << 20));
    s = (struct cuda_survey){.gpus = 2};
    twin_nvml_missing(true);
    cuda_gauge_survey(&s);
    CHECK_STR(s.nvidia_driver, "");
    CHECK_INT(s.gpu[0].memory_free, 0);
}

/* Where there is no driver there is no NVML; where there is one it answers. */
TEST(the_library_of_this_machine)
{
    const struct cuda_nvml *nvml = cuda_nvml_load();
    char version[80] = "";

    if (!nvml)
        SKIP("there is no NVIDIA driver here");
    CHECK_INT(nvml->driver(version, sizeof version), 0);
    CHECK(*version != '\0');
}
