#include "cli/out/report/report.h"

#include "record/run/run.h"
#include "spec/spec.h"
#include "study/compare.h"

#include <string.h>

/* The value that all runs have; false where they differ, or where it is empty. */
static bool shared(const struct study_run *runs, size_t count, const char *name, struct text *out)
{
    struct text other = {0};
    bool same = true;

    text_clear(out);
    record_run_value(&runs[0].entry->run, name, out);
    for (size_t i = 1; i < count && same; i++) {
        text_clear(&other);
        record_run_value(&runs[i].entry->run, name, &other);
        same = !strcmp(text_str(out), text_str(&other));
    }
    text_free(&other);
    return same && out->n;
}

static bool applies(const struct study_run *runs, size_t count, int key)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= spec_applies(&runs[i].entry->run.spec, key);
    return any;
}

void report_settings(const struct study_run *runs, size_t count, struct study_table *out)
{
    static const char *const machine[] = {
        "parameters", "backend_used", "isa", "precision_used", "threads_used", "host", "version"};
    struct text value = {0};

    study_table_column(out, "setting", STUDY_TEXT, false);
    study_table_column(out, "value", STUDY_TEXT, false);
    for (int key = 0; spec_keys[key].name; key++) {
        if (!applies(runs, count, key) || !shared(runs, count, spec_keys[key].name, &value))
            continue;
        study_table_word(out, spec_keys[key].name);
        study_table_word(out, text_str(&value));
    }
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++) {
        if (!shared(runs, count, machine[i], &value))
            continue;
        study_table_word(out, machine[i]);
        study_table_word(out, text_str(&value));
    }
    if (count > 1)
        study_table_note(out, "what differs stands in the table of all runs");
    text_free(&value);
}

void report_runs(const struct study_run *runs, size_t count, struct study_table *out)
{
    static const char *const columns[] = {"state", "started_utc", "train_seconds", "tags", "note"};

    study_table_column(out, "run", STUDY_TEXT, false);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        study_table_column(out, columns[k], k == 2 ? STUDY_TIME : STUDY_TEXT, false);
    for (size_t i = 0; i < count; i++) {
        const struct record_run *run = &runs[i].entry->run;
        struct text value = {0};

        study_table_word(out, study_short_name(runs[i].entry->name));
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            text_clear(&value);
            record_run_value(run, columns[k], &value);
            if (k == 2)
                study_table_number(out, run->train_seconds);
            else
                study_table_word(out, text_str(&value));
        }
        text_free(&value);
    }
}
