/* An experiment with lists, and sweep.ini: what is read and written again has the same cells, each of which can be
 * run or is refused in a sentence. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "spec/sweep.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_CELLS  20
#define MOST_VALUES 100 /* lists of a million values are right, and take a second */

/* Whether any list of the text may be that long. */
static bool is_long(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_string(bytes, n), *at = text, *line;
    size_t values = 1;

    while ((line = strsep(&at, "\n"))) {
        char *value = strchr(line, '=');
        size_t length = value ? spec_list_length(text_trim(value + 1)) : 0;

        values *= length > 1 ? length : 1;
        if (value && strstr(line, "samples") && atol(value + 1) > 1)
            values *= (size_t)atol(value + 1);
        values = values < MOST_VALUES ? values : MOST_VALUES + 1;
    }
    free(text);
    return values > MOST_VALUES;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b); /* a parameter begins with its name */
}

static void add_cell(const struct spec_sweep *s, size_t number, struct text *out)
{
    struct spec cell;
    struct err e = {0};

    if (fuzz_taken(spec_sweep_cell(s, number, &cell, &e), &e)) {
        MUST(spec_check(&cell, &e) == ERR_OK);
        qsort(cell.param, (size_t)cell.params, sizeof *cell.param, by_name); /* in any order */
        spec_write(&cell, out);
    }
}

static void same_cells(const struct spec_sweep *s, const struct spec_sweep *again)
{
    size_t cells = spec_sweep_cells(s), step = cells / LOOK_CELLS + 1;
    struct text first = {0}, second = {0};

    MUST(spec_sweep_cells(again) == cells);
    for (size_t i = 0; i < cells; i += step) {
        add_cell(s, i, &first);
        add_cell(again, i, &second);
    }
    MUST_BE(text_str(&second), text_str(&first));
    text_free(&first);
    text_free(&second);
}

static bool read_sweep(struct spec_sweep *s, const void *bytes, size_t n, struct err *e)
{
    enum err_code code;

    spec_sweep_init(s);
    code = spec_sweep_parse(s, bytes, n, "/x/sweep.ini", e);
    if (code == ERR_OK)
        code = spec_sweep_close(s, e);
    return fuzz_taken(code, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct text written = {0};
    struct spec_sweep s, again;
    struct err e = {0};

    if (is_long(bytes, n))
        return 0;
    if (read_sweep(&s, bytes, n, &e)) {
        spec_sweep_write(&s, &written);
        if (!read_sweep(&again, text_str(&written), written.n, &e))
            fuzz_fail(__FILE__, __LINE__, "what was written reads: ", e.text);
        same_cells(&s, &again);
        spec_sweep_free(&again);
    }
    spec_sweep_free(&s);
    text_free(&written);
    return 0;
}
