/* Virtual devices are shares of the same threads: 8 of them cost no more than 3 % over one. The two
 * take turns within one run, and the median of the ratios of all pairs counts, by the clock and by the
 * processor's time; more pairs are run where other programs disturb it. */
#include "tests/parity/made_run.h"

#include "base/clock.h"

#include <time.h>

#define PAIRS    31 /* of an attempt */
#define ATTEMPTS 10
#define MOST     1.03

struct spell {
    double wall, cpu;
};

static struct spell spell(struct made_run *r, size_t steps)
{
    struct timespec from, to;
    uint64_t begin = clock_ns();

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    CHECK_INT(made_train(r, &cpu_backend, steps), steps);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return (struct spell){(double)(clock_ns() - begin) * 1e-9,
                          (double)(to.tv_sec - from.tv_sec) +
                              (double)(to.tv_nsec - from.tv_nsec) * 1e-9};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *of, int n)
{
    double sorted[PAIRS * ATTEMPTS];

    memcpy(sorted, of, (size_t)n * sizeof *of);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    return sorted[n / 2];
}

static void compare(const char *net, size_t batch, size_t steps, int threads)
{
    struct made_run r[2];
    double wall[PAIRS * ATTEMPTS], cpu[PAIRS * ATTEMPTS];
    struct spell all = {INFINITY, INFINITY};
    int pairs = 0;

    for (int i = 0; i < 2; i++) {
        REQUIRE(made_plan(&r[i], net, (struct net_shape){28, 28, 1}, batch, 4));
        r[i].plan.devices = i ? 8 : 1;
        r[i].plan.threads = threads;
        REQUIRE(made_open(&r[i], &cpu_backend));
        spell(&r[i], steps);
    }
    while (pairs < PAIRS * ATTEMPTS && !(all.wall <= MOST && all.cpu <= MOST)) {
        for (int i = 0; i < PAIRS; i++, pairs++) { /* each goes first in every other pair */
            struct spell of[2];
            of[i % 2] = spell(&r[i % 2], steps);
            of[1 - i % 2] = spell(&r[1 - i % 2], steps);
            wall[pairs] = of[1].wall / of[0].wall;
            cpu[pairs] = of[1].cpu / of[0].cpu;
        }
        all = (struct spell){median(wall, pairs), median(cpu, pairs)};
    }
    printf(
        "  %s, %d threads: 8 devices take %.3f times what one takes, %.3f of the processor, in %d "
        "pairs\n",
        net, threads, all.wall, all.cpu, pairs);
    CHECK(all.wall <= MOST);
    CHECK(all.cpu <= MOST);
    for (int i = 0; i < 2; i++)
        made_close(&r[i], &cpu_backend);
}

TEST(eight_devices_of_lenet)
{
    compare("lenet", 256, 4, 2);
    compare("lenet", 256, 4, 1);
}

TEST(eight_devices_of_cnn)
{
    compare("cnn", 256, 1, 2);
    compare("cnn", 256, 1, 1);
}

/* Each device has statistics of its own there. */
TEST(eight_devices_with_batch_norm)
{
    compare("./tests/fixtures/narrow.net", 256, 1, 2);
}
