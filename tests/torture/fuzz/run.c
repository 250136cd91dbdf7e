/* run.csv: what is read and written again reads as the same run; with another run at hand, whose like fields are not
 * read, it is the same too. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "record/record_int.h"
#include "record/run/run.h"

#include <stdlib.h>
#include <string.h>

#define PATH "/r/run.csv"

static void point(const struct text *cells, const char **cell)
{
    const char *at = text_str(cells);

    for (int i = 0; i < RECORD_COLUMNS; i++, at += strlen(at) + 1)
        cell[i] = at;
}

/* What a text's column holds is the beginning of its field. */
static void check_texts(const char *const *cell, const struct record_run *run)
{
    const char *const value[] = {run->run,   run->cell, run->reason,
                                 run->plans, run->tags, run->note};
    static const char *const column[] = {"run", "cell", "reason", "plans", "tags", "note"};

    for (int i = 0; i < RECORD_COLUMNS; i++)
        for (size_t k = 0; k < MEM_COUNT(column); k++)
            if (!strcmp(record_run_columns[i], column[k]))
                MUST(!strncmp(cell[i], value[k], strlen(value[k])) && !*cell[i] == !*value[k]);
}

/* With what is not written, since it has no effect. */
static void add_all(const struct record_run *run, struct text *out)
{
    record_run_text(run, out);
    for (int key = 0; key < SPEC_KEYS; key++) {
        text_addf(out, "%d ", (int)(run->spec.given >> key & 1));
        spec_value(&run->spec, key, out);
        text_add(out, "\n");
    }
}

/* Of a run that differs in a few fields from one at hand only these are read. */
static void take_like(const char *const *cell)
{
    static struct record_run like, run, fresh, some;
    struct text text = {0}, like_cells = {0}, second = {0};
    const char *like_cell[RECORD_COLUMNS];
    struct err e = {0};

    spec_default(&some.spec);
    strcpy(some.run, "like");
    record_run_set_several(&some, "shared");
    record_run_text(&some, &text);
    fuzz_put(PATH, text.s, text.n);
    MUST(record_read_cells(PATH, &like, &like_cells, &e) == ERR_OK);
    point(&like_cells, like_cell);
    MUST(record_take_cells(&run, cell, &like, like_cell, &e) == ERR_OK);
    MUST(record_take_cells(&fresh, cell, NULL, NULL, &e) == ERR_OK);
    text_clear(&text);
    add_all(&run, &text);
    add_all(&fresh, &second);
    MUST_BE(text_str(&text), text_str(&second));
    text_free(&text);
    text_free(&second);
    text_free(&like_cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct record_run run;
    struct text first = {0}, second = {0}, cells = {0};
    const char *cell[RECORD_COLUMNS];
    struct err e = {0};

    fuzz_begin();
    fuzz_put(PATH, bytes, n);
    if (fuzz_taken(record_read_cells(PATH, &run, &cells, &e), &e)) {
        point(&cells, cell);
        check_texts(cell, &run);
        take_like(cell);
        record_run_text(&run, &first);
        fuzz_put(PATH, first.s, first.n);
        if (record_read_run(PATH, &run, &e) != ERR_OK)
            fuzz_fail(__FILE__, __LINE__, "what was written reads: ", e.text);
        record_run_text(&run, &second);
        MUST_BE(text_str(&second), text_str(&first));
    }
    text_free(&first);
    text_free(&second);
    text_free(&cells);
    return 0;
}
