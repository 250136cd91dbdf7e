/* record/filter.h: filters of runs: "model=cnn,lenet", "lr!=0.1", "test_acc=0.9..", "seed<3",
 * "tags=paper". Parsing and matching are pure but for record_filter_takes: text in, an answer out.
 * */
#ifndef CHORUS_RECORD_FILTER_H
#define CHORUS_RECORD_FILTER_H

#include "base/err.h"
#include "record/run/reader.h"

#include <stdbool.h>
#include <stddef.h>

enum record_filter_op {
    RECORD_FILTER_IS,
    RECORD_FILTER_IS_NOT,
    RECORD_FILTER_BELOW,
    RECORD_FILTER_AT_MOST,
    RECORD_FILTER_ABOVE,
    RECORD_FILTER_AT_LEAST
};

struct record_filter_item { /* one of the values between the commas */
    char *text;             /* as it stands, without quotes */
    bool number;            /* it is one: low */
    bool range;             /* low..high, an open end infinite */
    double low, high;
    char *from, *to; /* the ends of a range of times, "" where open; else NULL */
};

struct record_filter {
    char column[64];
    enum record_filter_op op;
    struct record_filter_item *item;
    size_t items;
};

/* Whether text has the form of a filter: something in front of =, !=, <, >, <= or >=. */
bool record_filter_is(const char *text);
/* ERR_INPUT names the text and what is wrong: a column that does not exist (with the nearest that
 * does), a value that the column cannot have. */
enum err_code record_filter_parse(struct record_filter *f, const char *text,
                                  struct err *e) MUST_USE;
void record_filter_free(struct record_filter *f);

/* Whether a run whose column holds this text passes. Two numbers are compared as numbers, in a column of
 * parts of one (accuracies) one above 1 as per cent; in a column of times ("started_utc") a day stands for
 * all of its moments; tags are a set of words; note and reason need only hold the value. An empty value is
 * what does not apply: it passes != and "COLUMN=" alone. */
bool record_filter_match(const struct record_filter *f, const char *value);

struct record_entry;
/* The same of a run. Of one that is broken only its name and state are known: others take it never.
 * */
bool record_filter_takes(const struct record_filter *f, const struct record_entry *entry);

#endif
