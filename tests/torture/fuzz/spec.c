/* An experiment: what is read and written reads as the same values. */
#include "tests/torture/fuzz/fuzz.h"

#include "spec/spec.h"

static void add_values(const struct spec *s, struct text *out)
{
    for (int key = 0; spec_keys[key].name; key++) {
        if (!spec_applies(s, key))
            continue;
        text_addf(out, "%s: ", spec_keys[key].name);
        spec_value(s, key, out);
        text_add(out, "\n");
    }
    for (int i = 0; i < s->params; i++)
        text_addf(out, "model.%s: %s\n", s->param[i].name, s->param[i].value);
}

static void write_again(const struct spec *s)
{
    struct text written = {0}, first = {0}, second = {0};
    struct spec again;
    struct err e = {0};

    spec_write(s, &written);
    spec_default(&again);
    if (spec_parse(&again, text_str(&written), written.n, "/x/b.ini", &e) != ERR_OK)
        fuzz_fail(__FILE__, __LINE__, "what was written reads: ", e.text);
    MUST(spec_check(&again, &e) == ERR_OK);
    add_values(s, &first);
    add_values(&again, &second);
    MUST_BE(text_str(&second), text_str(&first));
    text_free(&written);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct spec s;
    struct err e = {0};

    spec_default(&s);
    if (fuzz_taken(spec_parse(&s, (const char *)bytes, n, "/x/a.ini", &e), &e) &&
        fuzz_taken(spec_check(&s, &e), &e))
        write_again(&s);
    return 0;
}
