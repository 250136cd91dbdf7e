/* ui/library.h: all runs of the results folder, read again and again by the thread of tasks, so that
 * ten thousand of them keep nobody waiting. The main thread alone, but for what tasks do. */
#ifndef CHORUS_UI_LIBRARY_H
#define CHORUS_UI_LIBRARY_H

#include "record/reader.h"
#include "ui/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct library;

struct library *library_new(const char *results, struct tasks *tasks);
void library_free(struct library *l);
/* Asks for a new look where the last one is old enough (a second; the larger the folder, the longer),
 * or at once. Called from every turn of the loop. */
void library_tick(struct library *l, bool at_once);
bool library_ready(const struct library *l); /* false: the first look is not over */
/* The runs as of the last look, oldest first; valid until library_tick or tasks_take is called. */
const struct record_entry *library_runs(const struct library *l, size_t *count);
uint64_t library_turn(const struct library *l); /* grows with each look that changed something */
const char *library_problem(const struct library *l); /* the folder cannot be read; NULL */
const struct record_entry *library_find(const struct library *l, const char *name);
/* A copy of an entry, which the caller frees by record_free_entry. */
void library_copy(const struct record_entry *entry, struct record_entry *out);

/* Marks stand by the names of runs and outlive looks. */
bool library_marked(const struct library *l, const char *name);
void library_mark(struct library *l, const char *name, bool marked);
size_t library_marks(const struct library *l);
/* Names of all marked runs that there are, newest last; freed by the caller (array alone). */
const char **library_marked_names(const struct library *l, size_t *count);

#endif
