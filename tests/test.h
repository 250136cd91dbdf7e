/* tests/test.h: the runner of every test program. TEST(name) { ... } registers itself; CHECK goes on
 * after a failure, REQUIRE leaves the test, SKIP counts it as skipped. The last line printed is
 * "N passed, N failed, N skipped" and the exit code is 1 where anything failed. A word on the
 * command line runs only the tests whose name holds it. A program that has its own main defines TEST_OWN_MAIN and
 * looks at test_failures. */
#ifndef CHORUS_TESTS_TEST_H
#define CHORUS_TESTS_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
    const char *name;
    void (*run)(void);
};
static struct test_case test_cases[512];
static int test_count;
static int test_failures; /* of the case that runs */
static const char *test_skipped;

#define TEST(name_)                                                                                \
    static void test_##name_(void);                                                                \
    __attribute__((constructor)) static void test_add_##name_(void)                                \
    {                                                                                              \
        if (test_count == (int)(sizeof test_cases / sizeof *test_cases)) {                         \
            fprintf(stderr, "tests/test.h: too many tests in one program\n");                      \
            exit(1);                                                                               \
        }                                                                                          \
        test_cases[test_count++] = (struct test_case){#name_, test_##name_};                       \
    }                                                                                              \
    static void test_##name_(void)

#define TEST_FAILED(...)                                                                           \
    do {                                                                                           \
        test_failures++;                                                                           \
        printf("  %s:%d: ", __FILE__, __LINE__);                                                   \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
    } while (0)

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            TEST_FAILED("not true: %s", #cond);                                                    \
    } while (0)
#define REQUIRE(cond)                                                                              \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            TEST_FAILED("not true: %s", #cond);                                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define CHECK_INT(got, want)                                                                       \
    do {                                                                                           \
        long long got_ = (long long)(got), want_ = (long long)(want);                              \
        if (got_ != want_)                                                                         \
            TEST_FAILED("%s is %lld, not %lld", #got, got_, want_);                                \
    } while (0)
#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        const char *got_ = (got), *want_ = (want);                                                 \
        if (!got_ || strcmp(got_, want_))                                                          \
            TEST_FAILED("%s is \"%s\", not \"%s\"", #got, got_ ? got_ : "(null)", want_);          \
    } while (0)
#define CHECK_HAS(got, part)                                                                       \
    do {                                                                                           \
        const char *got_ = (got), *part_ = (part);                                                 \
        if (!got_ || !strstr(got_, part_))                                                         \
            TEST_FAILED("%s is \"%s\", without \"%s\"", #got, got_ ? got_ : "(null)", part_);      \
    } while (0)
#define CHECK_NEAR(got, want, limit)                                                               \
    do {                                                                                           \
        double got_ = (got), want_ = (want), limit_ = (limit);                                     \
        if (!(fabs(got_ - want_) <= limit_))                                                       \
            TEST_FAILED("%s is %.17g, not within %g of %.17g", #got, got_, limit_, want_);         \
    } while (0)
/* For calls that fill in a struct err named e. */
#define REQUIRE_OK(call)                                                                           \
    do {                                                                                           \
        if ((call) != ERR_OK) {                                                                    \
            TEST_FAILED("%s: %s", #call, e.text);                                                  \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        test_skipped = (reason);                                                                   \
        return;                                                                                    \
    } while (0)

static inline int test_main(int argc, char **argv)
{
    const char *cache = getenv("CHORUS_TEST_CACHE");
    int passed = 0, failed = 0, skipped = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("CHORUS_CACHE", cache ? cache : "off", 1); /* never the user's own */
    for (int i = 0; i < test_count; i++) {
        if (argc > 1 && !strstr(test_cases[i].name, argv[1]))
            continue;
        test_failures = 0;
        test_skipped = NULL;
        test_cases[i].run();
        if (test_failures) {
            printf("FAILED %s\n", test_cases[i].name);
            failed++;
        } else if (test_skipped) {
            printf("skipped %s: %s\n", test_cases[i].name, test_skipped);
            skipped++;
        } else {
            printf("ok %s\n", test_cases[i].name);
            passed++;
        }
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}

#ifndef TEST_OWN_MAIN
int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
#endif

#endif
