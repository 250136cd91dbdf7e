/* record/find.h: runs and sweeps by the names that people give them. */
#ifndef CHORUS_RECORD_FIND_H
#define CHORUS_RECORD_FIND_H

#include "record/run/reader.h"

/* Runs by the RUN names of docs/design.md: a folder, what runs or a sweep were called, a part of one run's
 * name, @, @2, @best, or a filter (record/filter.h). Filters choose among all runs, one after the
 * other; the others are looked up in what they leave; several of these unite. In the order of the
 * names, each run once, the oldest first where one name stands for many. Without names: all runs.
 * An error says what was looked for and where. listing: to find nothing is none, and a part of
 * several names stands for all of them. Freed by record_free_list. */
enum err_code record_find_all(const char *results, char *const *names, size_t count, bool listing,
                              struct record_entry **out, size_t *found, struct err *e) MUST_USE;
/* The one run that they name; where there are several, the error names them. */
enum err_code record_find_one(const char *results, char *const *names, size_t count,
                              struct record_entry *out, struct err *e) MUST_USE;
enum err_code record_find(const char *results, const char *name, struct record_entry *out,
                          struct err *e) MUST_USE;
/* The newest run that is unfinished (stopped, paused or dead); ERR_INPUT where there is none. */
enum err_code record_find_unfinished(const char *results, struct record_entry *out,
                                     struct err *e) MUST_USE;
/* Whether a word among names of runs is a filter, such as lr=0.1, and no path. */
bool record_is_filter(const char *word);
/* The sweep whose folder, sweep.csv or ledger.csv that path is. False: it is none of results. */
bool record_sweep_of_path(const char *results, const char *path, char name[128]);

#endif
