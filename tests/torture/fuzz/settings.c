/* The workbench's settings: what was chosen, without blanks at its ends, reads back, and so does what the file said
 * besides. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/text.h"
#include "ui/app/settings.h"

#include <stdlib.h>
#include <string.h>

#define PATH "/c/chorus/settings"

/* The names of the file that it takes. */
static const char *const names[] = {"theme", "plot.x", "a", "columns"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *all = fuzz_string(bytes, n), *chosen = text_trim(all), *before[4] = {NULL};
    struct settings *s;
    struct err e = {0};

    fuzz_begin();
    fuzz_put(PATH, bytes, n);
    s = settings_open(PATH);
    for (int i = 0; i < 4; i++) {
        const char *value = settings_get(s, names[i], NULL);

        before[i] = value ? strdup(value) : NULL;
    }
    settings_set(s, "chosen", chosen);
    settings_set_number(s, "number", (int64_t)n);
    MUST(settings_save(s, &e) == ERR_OK);
    settings_close(s);
    s = settings_open(PATH);
    if (!memchr(bytes, 0, n))
        for (int i = 0; i < 4; i++)
            MUST_BE(settings_get(s, names[i], "(none)"), before[i] ? before[i] : "(none)");
    MUST(settings_number(s, "number", -1) == (int64_t)n);
    MUST_BE(settings_get(s, "chosen", ""), chosen);
    settings_close(s);
    for (int i = 0; i < 4; i++)
        free(before[i]);
    free(all);
    return 0;
}
