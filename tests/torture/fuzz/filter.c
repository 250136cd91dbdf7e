/* A filter of runs, and behind a line "====" a value: it is refused in a sentence or answers. */
#include "tests/torture/fuzz/fuzz.h"

#include "record/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct fuzz_rest rest = {bytes, n};
    struct record_filter f;
    const uint8_t *part;
    size_t length;
    char *text, *value = NULL;
    struct err e = {0};

    fuzz_begin();
    if (!fuzz_next(&rest, &part, &length))
        return 0;
    text = fuzz_string(part, length);
    if (fuzz_next(&rest, &part, &length))
        value = fuzz_string(part, length);
    if (!strchr(text, '\n') && record_filter_is(text) &&
        fuzz_taken(record_filter_parse(&f, text, &e), &e)) {
        bool takes = record_filter_match(&f, value ? value : "");

        f.op = f.op == RECORD_FILTER_IS ? RECORD_FILTER_IS_NOT : f.op;
        if (f.op == RECORD_FILTER_IS_NOT && strchr(text, '!') == NULL)
            MUST(record_filter_match(&f, value ? value : "") == !takes);
        record_filter_free(&f);
    }
    free(text);
    free(value);
    return 0;
}
