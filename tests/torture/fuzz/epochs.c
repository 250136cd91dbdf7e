/* epochs.csv, and in the same way members.csv, devices.csv, steps.csv and sweep.csv: a table that is read and written
 * again is the same; a dead run takes from it what run.csv does not say yet, and that reads again. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "base/sheet.h"
#include "record/record_int.h"
#include "record/run/run.h"

#include <stdlib.h>
#include <string.h>

#define RUN  "/r/run"
#define PATH RUN "/epochs.csv"

static void write_table(const struct sheet *s, struct text *out)
{
    for (size_t i = 0; i < s->columns; i++)
        sheet_add_text(out, s->names[i]);
    sheet_end_row(out);
    for (size_t i = 0; i < s->rows; i++) {
        for (size_t k = 0; k < s->columns; k++)
            sheet_add_text(out, sheet_cell(s, i, (int)k));
        sheet_end_row(out);
    }
}

static void write_again(const struct sheet *s)
{
    struct text out = {0};
    struct sheet again;
    struct err e = {0};

    write_table(s, &out);
    fuzz_put(PATH, out.s, out.n);
    text_free(&out);
    if (sheet_read(PATH, &again, &e) != ERR_OK)
        fuzz_fail(__FILE__, __LINE__, "what was written reads: ", e.text);
    MUST(again.columns == s->columns && again.rows == s->rows);
    for (size_t i = 0; i < s->columns; i++)
        MUST_BE(again.names[i], s->names[i]);
    for (size_t i = 0; i < s->rows * s->columns; i++)
        MUST_BE(again.cells[i], s->cells[i]);
    sheet_free(&again);
}

static void catch_up(void)
{
    static struct record_run run;
    struct text text = {0};
    struct err e = {0};

    memset(&run, 0, sizeof run);
    spec_default(&run.spec);
    if (record_catch_up(RUN, &run)) {
        MUST(run.epochs_done > 0 && run.best_epoch > INT64_MIN);
        record_run_text(&run, &text);
        fuzz_put(RUN "/run.csv", text.s, text.n);
        if (record_read_run(RUN "/run.csv", &run, &e) != ERR_OK)
            fuzz_fail(__FILE__, __LINE__, "a run that caught up reads: ", e.text);
    }
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct sheet s;
    struct err e = {0};

    fuzz_begin();
    fuzz_put(PATH, bytes, n);
    catch_up();
    if (fuzz_taken(sheet_read(PATH, &s, &e), &e)) {
        write_again(&s);
        sheet_free(&s);
    }
    return 0;
}
