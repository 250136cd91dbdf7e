#include "cli/out/results.h"

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "draw/ink/words.h"
#include "record/run/reader.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What a comparison is made for: stands as long as anything does. */
static bool is_wanted(const char *column)
{
    static const char *const wanted[] = {"n", "test_acc", "difference", "difference_lo",
                                         "difference_hi"};

    return TEXT_IS_AMONG(column, wanted);
}

/* Columns are left out from the right until a line holds, those that are wanted last; then the runs'
 * names are cut. */
static void fit(struct cli_table *t, const struct study_table *from, int columns)
{
    const char *drop[64];
    size_t n = 0;

    for (int wanted = 0; wanted < 2; wanted++)
        for (size_t i = t->columns; i-- > 1 && n + 1 < sizeof drop / sizeof *drop;)
            if (is_wanted(from->column[i].name) == (wanted == 1))
                drop[n++] = text_str(&t->cell[i]);
    drop[n ? n - 1 : 0] = NULL; /* one column beside the names stays */
    cli_table_fit(t, columns, drop, text_str(&t->cell[0]), false);
}

/* plain: its number in ASCII; names are the user's, and stay as they are. */
static void add_cell(struct cli_table *table, const struct study_column *column, bool plain,
                     const char *words)
{
    struct text shown = {0};

    if (plain && column->kind != STUDY_TEXT)
        words_add_plain(&shown, words);
    else
        text_add(&shown, words);
    cli_table_add(table, text_str(&shown));
    text_free(&shown);
}

void cli_study_text(const struct study_table *t, const struct study_style *style, int fd,
                    struct text *out)
{
    struct cli_table table;
    struct text heads = {0}, cell = {0};
    int columns = fd < 0 ? INT_MAX : cli_limit(fd);

    for (size_t c = 0; c < t->columns; c++)
        text_addf(&heads, "%s%s%s", c ? "|" : "", t->column[c].kind == STUDY_TEXT ? "" : "-",
                  study_table_head(t, (int)c, style));
    cli_table_start(&table, text_str(&heads));
    for (size_t i = 0; i < t->cells; i++) {
        text_clear(&cell);
        study_cell_text(t, i / t->columns, (int)(i % t->columns), style, &cell);
        add_cell(&table, &t->column[i % t->columns], fd >= 0 && !cli_utf8(), text_str(&cell));
    }
    fit(&table, t, columns);
    cli_table_text(&table, out);
    if (t->note.n || table.dropped.n)
        text_add(out, "\n");
    cli_table_dropped(&table, columns, "--cols chooses, a pipe shows all", out);
    cli_table_free(&table);
    cli_add_lines(out, text_str(&t->note), columns, 0);
    text_free(&heads);
    text_free(&cell);
}

static enum err_code read_one(const struct record_entry *run, struct study_run *open, struct err *e)
{
    struct study_run *one;

    if (run->broken)
        return err_set(e, ERR_INPUT, "%s", run->problem);
    if (!open)
        return ERR_OK;
    TRY(study_open(&one, run, 1, e));
    *open = *one;
    free(one);
    return ERR_OK;
}

void results_say_left_out(const struct record_entry *run, const struct err *why)
{
    cli_talk("chorus: %s is left out: %s", TEXT_CLEAN(run->name), TEXT_CLEAN(why->text));
}

static void say_changed(const struct record_entry *run, size_t others)
{
    cli_talk("chorus: %s%s%s%s: epochs.csv was changed since it was written", TEXT_CLEAN(run->name),
             others ? " and " : "", others ? TEXT_COUNT(others) : "", others ? " more" : "");
}

void results_say_changed(const struct record_entry *list, const size_t *order, size_t count)
{
    const struct record_entry *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct record_entry *entry = &list[order ? order[i] : i];

        if (record_rows_changed(entry)) {
            n++;
            first = first ? first : entry;
        }
    }
    if (n)
        say_changed(first, n - 1);
}

/* What study_open found out already. */
static void say_changed_of(const struct study_run *runs, size_t count)
{
    const struct record_entry *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (runs[i].changed) {
            n++;
            first = first ? first : runs[i].entry;
        }
    if (n)
        say_changed(first, n - 1);
}

/* runs: (*count), or NULL where they need not be open. */
static enum err_code keep_readable(struct record_entry *list, size_t *count, struct study_run *runs,
                                   struct err *e)
{
    size_t kept = 0, all = *count;

    for (size_t i = 0; i < all; i++) {
        if (read_one(&list[i], runs ? &runs[kept] : NULL, e) == ERR_OK) {
            list[kept] = list[i];
            if (runs)
                runs[kept].entry = &list[kept];
            kept++;
            continue;
        }
        if (all > 1)
            results_say_left_out(&list[i], e);
        else if (record_check_whole(&list[i], e) == ERR_OK)
            err_set(e, ERR_INPUT, "%s cannot be read: %s", TEXT_CLEAN(list[i].name),
                    TEXT_CLEAN(e->text));
        record_free_entry(&list[i]);
    }
    *count = kept;
    if (runs)
        say_changed_of(runs, kept);
    if (!kept && all > 1)
        err_set(e, ERR_INPUT, "none of these %s runs can be read", TEXT_COUNT(all));
    return kept ? ERR_OK : ERR_INPUT;
}

enum err_code results_leave_out(struct record_entry *list, size_t *count, struct err *e)
{
    return keep_readable(list, count, NULL, e);
}

enum err_code results_open_runs(struct record_entry *list, size_t *count, struct study_run **runs,
                                struct err *e)
{
    struct study_run *open = mem_new(*count + 1, sizeof *open);
    enum err_code code = keep_readable(list, count, open, e);

    *runs = code == ERR_OK ? open : NULL;
    if (code != ERR_OK)
        free(open);
    return code;
}

int cli_write_out(const char *file, const struct text *out)
{
    struct err e;

    if (!file || !strcmp(file, "-"))
        return cli_print(out);
    if (io_replace_file(file, text_str(out), out->n, &e) != ERR_OK)
        return cli_fail(&e);
    return cli_printf("%s\n", file);
}
