/* A data set as CSV: a training file, and behind a line "====" a test file where there is one. A peek and a whole
 * reading agree, each label is a class, and a limit gives the first rows. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "data/data_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_part(const struct data_raw *raw, const struct data_raw_part *part)
{
    size_t values = part->count * data_values(raw->shape);

    MUST(part->count > 0 && part->labels && !part->bytes != !part->numbers);
    MUST(!part->bytes == !raw->bytes);
    for (size_t i = 0; i < part->count; i++)
        MUST(part->labels[i] < raw->classes);
    for (size_t i = 0; part->numbers && i < values; i++)
        MUST(isfinite((float)part->numbers[i]));
}

static void compare(const struct data_found *found, const struct data_raw *all)
{
    struct data_raw peek = {0}, one = {0};
    size_t size = data_values(all->shape);
    struct err e = {0};

    check_part(all, &all->train);
    check_part(all, &all->test);
    MUST(all->classes > 1);
    MUST(data_csv_load(&peek, found, 0, 0, (struct net_shape){0}, true, "set", &e) == ERR_OK);
    MUST(peek.train.count == all->train.count && peek.test.count == all->test.count);
    MUST(peek.classes == all->classes && !memcmp(&peek.shape, &all->shape, sizeof peek.shape));
    MUST(data_csv_load(&one, found, 1, 1, (struct net_shape){0}, false, "set", &e) == ERR_OK);
    MUST(one.train.count == 1 && one.train.labels[0] == all->train.labels[0]);
    if (all->bytes)
        MUST(!memcmp(one.train.bytes, all->train.bytes, size));
    else
        MUST(!memcmp(one.train.numbers, all->train.numbers, size * sizeof *one.train.numbers));
    data_raw_free(&peek);
    data_raw_free(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char train[] = "/d/train.csv", test[] = "/d/test.csv";
    struct fuzz_rest rest = {bytes, n};
    struct data_found found = {.kind = DATA_CSV, .train = train};
    struct data_raw raw = {0};
    char *label = NULL;
    struct err e = {0};

    fuzz_begin();
    fuzz_put_next(&rest, train);
    if (fuzz_put_next(&rest, test))
        found.test = test;
    if (fuzz_taken(data_csv_load(&raw, &found, 0, 0, (struct net_shape){0}, false, "set", &e), &e))
        compare(&found, &raw);
    data_raw_free(&raw);
    (void)fuzz_taken(data_csv_label(train, &label, &e), &e);
    free(label);
    return 0;
}
