/* cli/out/json.c: runs as JSON. */
#include "cli/out/json.h"

#include "cli/out/print.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <math.h>
#include <string.h>

/* JSON's own number syntax: what text_to_double takes besides ("nan", "+1", "1.", "007") is text. */
static bool is_json_number(const char *s)
{
    double value;
    const char *digits = s + (*s == '-');

    if (!text_to_double(s, &value) || !isfinite(value))
        return false;
    if (*digits < '0' || *digits > '9' || (*digits == '0' && digits[1] >= '0' && digits[1] <= '9'))
        return false;
    for (const char *dot = strchr(s, '.'); dot;)
        return dot[1] >= '0' && dot[1] <= '9';
    return true;
}

void cli_json_field(struct text *out, const char *name, const char *value)
{
    text_add_json(out, name);
    text_add(out, ": ");
    if (!*value || !strcmp(value, "nan") || !strcmp(value, "inf") || !strcmp(value, "-inf"))
        text_add(out, "null");
    else if (is_json_number(value))
        text_add(out, value);
    else
        text_add_json(out, value);
}

/* Columns whose values are names, even where a name happens to look like a number. */
static bool is_name(const char *column)
{
    static const char *const names[] = {"run",  "sweep", "cell", "reason", "host", "version",
                                        "name", "model", "data", "tags",   "note"};

    return TEXT_IS_AMONG(column, names);
}

static void add_run(struct text *out, const struct record_run *run)
{
    struct text value = {0};

    text_add(out, "{");
    for (const char *const *column = record_run_columns; *column; column++) {
        text_clear(&value);
        record_run_value(run, *column, &value);
        if (column != record_run_columns)
            text_add(out, ", ");
        if (is_name(*column) && value.n) {
            text_add_json(out, *column);
            text_add(out, ": ");
            text_add_json(out, text_str(&value));
        } else {
            cli_json_field(out, *column, text_str(&value));
        }
    }
    text_add(out, "}");
    text_free(&value);
}

int cli_print_run(const struct record_entry *entry, bool json)
{
    struct text out = {0};
    int code;

    if (json)
        add_run(&out, &entry->run);
    else
        text_add(&out, entry->folder);
    text_add(&out, "\n");
    code = cli_print(&out);
    text_free(&out);
    return code;
}

void cli_json_entry(struct text *out, const struct record_entry *entry)
{
    if (entry->broken) {
        text_add(out, "{");
        cli_json_field(out, "run", entry->name);
        text_add(out, ", ");
        cli_json_field(out, "state", "broken");
        text_add(out, ", ");
        cli_json_field(out, "reason", entry->problem);
    } else {
        add_run(out, &entry->run);
        out->s[--out->n] = 0; /* the brace: three more follow */
    }
    text_add(out, ", \"folder\": ");
    text_add_json(out, entry->folder);
    text_addf(out, ", \"live\": %s, \"dead\": %s}", entry->live ? "true" : "false",
              entry->dead ? "true" : "false");
}
