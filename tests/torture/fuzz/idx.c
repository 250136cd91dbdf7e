/* A set of IDX files: a peek and a whole reading agree, and a limit gives the first images. A case is four files, of
 * which fuzz_next gives one after the other: training images and labels, test images and labels. Behind "gz" all of them
 * are packed. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "data/data_int.h"

#include <string.h>

static void check_part(const struct data_raw *all, const struct data_raw_part *part, size_t count)
{
    MUST(part->count == count && part->bytes && part->labels);
    for (size_t i = 0; i < count; i++)
        MUST(part->labels[i] < all->classes);
}

/* Of what was read whole. */
static void compare(const struct data_found *found, const struct data_raw *all)
{
    struct data_raw peek = {0}, one = {0};
    struct err e = {0};

    check_part(all, &all->train, all->train.all);
    check_part(all, &all->test, all->test.all);
    MUST(data_idx_load(&peek, found, 0, 0, true, "set", &e) == ERR_OK);
    MUST(peek.train.all == all->train.all && peek.test.all == all->test.all);
    MUST(peek.classes == all->classes && !memcmp(&peek.shape, &all->shape, sizeof peek.shape));
    MUST(data_idx_load(&one, found, 1, 1, false, "set", &e) == ERR_OK);
    check_part(&one, &one.train, 1);
    MUST(!memcmp(one.train.bytes, all->train.bytes, data_values(all->shape)));
    MUST(one.train.labels[0] == all->train.labels[0]);
    data_raw_free(&peek);
    data_raw_free(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char *paths[2][DATA_FILES] = {{"/d/ti", "/d/tl", "/d/ei", "/d/el"},
                                         {"/d/ti.gz", "/d/tl.gz", "/d/ei.gz", "/d/el.gz"}};
    bool gz = n >= 2 && !memcmp(bytes, "gz", 2);
    struct fuzz_rest rest = {bytes + 2 * gz, n - 2 * gz};
    struct data_found found = {.kind = DATA_IDX};
    struct data_raw raw = {0};
    struct err e = {0};

    fuzz_begin();
    for (int i = 0; i < DATA_FILES; i++) {
        found.files.path[i] = paths[gz][i];
        fuzz_put_next(&rest, paths[gz][i]);
    }
    if (fuzz_taken(data_idx_load(&raw, &found, 0, 0, false, "set", &e), &e))
        compare(&found, &raw);
    data_raw_free(&raw);
    return 0;
}
