#include "record/filter.h"

#include "base/mem.h"
#include "base/text.h"
#include "record/columns.h"
#include "record/record_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_time(const char *column)
{
    return text_ends_with(column, "_utc");
}

static bool is_prose(const char *column)
{
    return !strcmp(column, "note") || !strcmp(column, "reason");
}

/* Parts of one, which screens show per cent as the user likes. */
static bool is_share(const char *column)
{
    return strncmp(column, "model.", 6) != 0 &&
           (strstr(column, "_acc") || text_ends_with(column, "disagreement") ||
            text_ends_with(column, "ece"));
}

/* As the column has it: what is above 1 can only be per cent. */
static bool take_number(const struct record_filter *f, const char *text, double *number)
{
    if (!text_to_double(text, number))
        return false;
    if (*number > 1 && is_share(f->column)) {
        char *share = mem_textf("%se-2", text); /* 88.93 as 0.8893, to the last bit */

        if (!text_to_double(share, number))
            *number /= 100;
        free(share);
    }
    return true;
}

/* Where the comparison stands in the text; NULL: nowhere, it is no filter. */
static const char *find_op(const char *text)
{
    const char *op = strpbrk(text, "=<>!");

    return op && op > text && (*op != '!' || op[1] == '=') ? op : NULL;
}

bool record_filter_is(const char *text)
{
    return find_op(text) != NULL;
}

/* Behind the comparison. */
static const char *take_op(const char *at, enum record_filter_op *op)
{
    bool equal = at[1] == '=';

    switch (*at) {
    case '!':
        *op = RECORD_FILTER_IS_NOT;
        break;
    case '<':
        *op = equal ? RECORD_FILTER_AT_MOST : RECORD_FILTER_BELOW;
        break;
    case '>':
        *op = equal ? RECORD_FILTER_AT_LEAST : RECORD_FILTER_ABOVE;
        break;
    default:
        *op = RECORD_FILTER_IS;
    }
    return at + 1 + equal;
}

static bool looks_like_time(const char *s)
{
    return strspn(s, "0123456789") == 4 && strspn(s, "0123456789-T:.Z") == strlen(s);
}

static enum err_code take_range(const struct record_filter *f, struct record_filter_item *item,
                                const char *dots, const char *text, struct err *e)
{
    char *from = mem_text_n(item->text, (size_t)(dots - item->text)), *to = mem_text(dots + 2);
    bool fine;

    item->low = -INFINITY;
    item->high = INFINITY;
    if (is_time(f->column)) {
        fine = (*from || *to) && (!*from || looks_like_time(from)) && (!*to || looks_like_time(to));
        item->range = fine;
        item->from = from;
        item->to = to;
        if (fine)
            return ERR_OK;
        return err_set(e, ERR_INPUT,
                       "%s: %s is no range of times such as 2026-11-20..2026-11-21T12:00", text,
                       item->text);
    }
    fine = (*from || *to) && (!*from || take_number(f, from, &item->low)) &&
           (!*to || take_number(f, to, &item->high));
    free(from);
    free(to);
    item->range = fine;
    if (fine && item->low > item->high)
        return err_set(e, ERR_INPUT, "%s: the range ends below its beginning", text);
    return ERR_OK; /* a path with dots, where it is none */
}

/* The value is one that the column can have; a range has been looked at already. */
static enum err_code check_item(const struct record_filter *f,
                                const struct record_filter_item *item, const char *text,
                                struct err *e)
{
    bool order = f->op > RECORD_FILTER_IS_NOT;

    if (item->range)
        return !order ? ERR_OK : err_set(e, ERR_INPUT, "%s: a range goes with = or != alone", text);
    if (is_time(f->column))
        return (!*item->text && !order) || looks_like_time(item->text)
                   ? ERR_OK
                   : err_set(e, ERR_INPUT,
                             "%s: '%s' is no time such as 2026-11-20 or 2026-11-20T10:15 (UTC)",
                             text, item->text);
    if (order)
        return item->number
                   ? ERR_OK
                   : err_set(e, ERR_INPUT, "%s: '%s' is no number such as in lr<0.1 or test_acc>90",
                             text, item->text);
    if (!*item->text || item->number)
        return ERR_OK;
    return record_column_check(f->column, item->text, text, e);
}

static enum err_code take_item(struct record_filter *f, const char *s, size_t n, const char *text,
                               struct err *e)
{
    struct record_filter_item *item;
    const char *dots;

    f->item = mem_resize(f->item, f->items + 1, sizeof *f->item);
    item = &f->item[f->items++];
    *item = (struct record_filter_item){0};
    if (n >= 2 && s[0] == '"' && s[n - 1] == '"') {
        item->text = mem_text_n(s + 1, n - 2);
    } else {
        item->text = mem_text_n(s, n);
        dots = strstr(item->text, "..");
        if (dots)
            TRY(take_range(f, item, dots, text, e));
    }
    item->number = !item->range && take_number(f, item->text, &item->low);
    return check_item(f, item, text, e);
}

static enum err_code take_items(struct record_filter *f, const char *s, const char *text,
                                struct err *e)
{
    const char *start = s;
    bool quoted = false;

    for (;; s++) {
        if (*s == '"')
            quoted = !quoted;
        if (*s && (*s != ',' || quoted))
            continue;
        TRY(take_item(f, start, (size_t)(s - start), text, e));
        if (!*s)
            return ERR_OK;
        start = s + 1;
    }
}

enum err_code record_filter_parse(struct record_filter *f, const char *text, struct err *e)
{
    const char *op = find_op(text), *value;
    const char *near;
    enum err_code code;

    memset(f, 0, sizeof *f);
    if (!op)
        return err_set(e, ERR_INPUT, "'%s' is no filter such as model=cnn or lr!=0.1", text);
    snprintf(f->column, sizeof f->column, "%.*s", (int)(op - text), text);
    if (!record_column_is(f->column)) {
        near = record_column_nearest(f->column);
        return err_set(e, ERR_INPUT, "%s: runs have no column %s%s%s%s", text, f->column,
                       near ? "; did you mean " : ": any of run.csv and epochs.csv will do",
                       near ? near : "", near ? "?" : "");
    }
    value = take_op(op, &f->op);
    code = take_items(f, value, text, e);
    if (code == ERR_OK && f->op > RECORD_FILTER_IS_NOT && f->items > 1)
        code = err_set(e, ERR_INPUT, "%s: several values go with = or != alone", text);
    if (code != ERR_OK)
        record_filter_free(f);
    return code;
}

void record_filter_free(struct record_filter *f)
{
    for (size_t i = 0; i < f->items; i++) {
        free(f->item[i].text);
        free(f->item[i].from);
        free(f->item[i].to);
    }
    free(f->item);
    memset(f, 0, sizeof *f);
}

/* By as much of the time as is given. */
static int compare_time(const char *value, const char *time)
{
    return strncmp(value, time, strlen(time));
}

/* "lenet" names models/lenet.net, "train.csv" the file wherever it lies. */
static bool is_short_of(const char *value, const char *name)
{
    const char *slash = strrchr(value, '/');
    const char *last = slash ? slash + 1 : value;
    size_t n = strlen(name);

    return n && !strncmp(last, name, n) && (!last[n] || !strcmp(last + n, ".net"));
}

static bool is_item(const struct record_filter *f, const struct record_filter_item *item,
                    const char *value)
{
    double number;

    if (!*value || (!*item->text && !item->range))
        return !*value && !*item->text && !item->range;
    if (is_time(f->column))
        return item->range ? compare_time(value, item->from) >= 0 &&
                                 (!*item->to || compare_time(value, item->to) <= 0)
                           : compare_time(value, item->text) == 0;
    if (!strcmp(f->column, "tags"))
        return record_has_word(value, 0, item->text, strlen(item->text));
    if (is_prose(f->column))
        return strcasestr(value, item->text) != NULL;
    if (item->range)
        return text_to_double(value, &number) && number >= item->low && number <= item->high;
    if (item->number && text_to_double(value, &number))
        return number == item->low || (isnan(number) && isnan(item->low));
    if (!strcmp(f->column, "model") || !strcmp(f->column, "data"))
        return !strcmp(value, item->text) || is_short_of(value, item->text);
    return !strcmp(value, item->text);
}

static bool is_in_order(const struct record_filter *f, const char *value)
{
    const struct record_filter_item *item = &f->item[0];
    double number;
    int order;

    if (!*value)
        return false;
    if (is_time(f->column)) {
        order = compare_time(value, item->text);
    } else {
        if (!text_to_double(value, &number) || isnan(number) || isnan(item->low))
            return false;
        order = number < item->low ? -1 : number > item->low;
    }
    switch (f->op) {
    case RECORD_FILTER_BELOW:
        return order < 0;
    case RECORD_FILTER_AT_MOST:
        return order <= 0;
    case RECORD_FILTER_ABOVE:
        return order > 0;
    default:
        return order >= 0;
    }
}

bool record_filter_match(const struct record_filter *f, const char *value)
{
    bool any = false;

    if (f->op > RECORD_FILTER_IS_NOT)
        return is_in_order(f, value);
    for (size_t i = 0; i < f->items && !any; i++)
        any = is_item(f, &f->item[i], value);
    return any == (f->op == RECORD_FILTER_IS);
}

bool record_filter_takes(const struct record_filter *f, const struct record_entry *entry)
{
    struct text value = {0};
    bool takes;

    if (entry->broken && strcmp(f->column, "state") != 0 && strcmp(f->column, "run") != 0)
        return false;
    record_entry_value(entry, f->column, &value);
    takes = record_filter_match(f, text_str(&value));
    text_free(&value);
    return takes;
}
