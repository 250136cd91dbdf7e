/* An experiment: what is read and written again reads as the same. */
#include "tests/torture/fuzz/fuzz.h"

#include "spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct text first = {0}, second = {0};
    struct spec s;
    struct err e = {0};

    spec_default(&s);
    if (fuzz_taken(spec_parse(&s, (const char *)bytes, n, "/x/a.ini", &e), &e)) {
        if (fuzz_taken(spec_check(&s, &e), &e)) {
            spec_write(&s, &first);
            spec_default(&s);
            if (spec_parse(&s, text_str(&first), first.n, "/x/b.ini", &e) != ERR_OK)
                fuzz_fail(__FILE__, __LINE__, "what was written reads: ", e.text);
            MUST(spec_check(&s, &e) == ERR_OK);
            spec_write(&s, &second);
            MUST_BE(text_str(&second), text_str(&first));
        }
    }
    text_free(&first);
    text_free(&second);
    return 0;
}
