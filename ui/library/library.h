/* ui/library/library.h: all runs of the results folder, read again and again by the thread of tasks, so that
 * ten thousand of them keep nobody waiting. A run is held as the text of run.csv's fields, equal ones
 * once: a struct record_entry takes 11 KB, and is read for those runs that are looked at. The main
 * thread alone, but for what tasks do. */
#ifndef CHORUS_UI_LIBRARY_LIBRARY_H
#define CHORUS_UI_LIBRARY_LIBRARY_H

#include "record/run/reader.h"
#include "base/system/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct library;

struct library_run { /* strings are the library's */
    const char *name;
    /* By record_run_columns; equal text is the same pointer. The state is also dead or broken. */
    const char *const *cell;
    enum wire_state state;
    bool live, dead;     /* as in struct record_entry */
    bool average;        /* of runs that had been trained before */
    bool broken;         /* run.csv could not be read: other cells are empty, and */
    const char *problem; /* this says why; else "" */
};

struct library *library_new(const char *results, struct tasks *tasks);
void library_free(struct library *l); /* after tasks_free */
/* Asks for a new look where the last one is old enough (a second; the larger the folder, the longer),
 * or at once. Called from every turn of the loop. */
void library_tick(struct library *l, bool at_once);
bool library_ready(const struct library *l); /* false: the first look is not over */
/* The runs as of the last look, oldest first; valid until library_tick or tasks_take is called. */
const struct library_run *library_runs(const struct library *l, size_t *count);
uint64_t library_turn(const struct library *l); /* grows with each look that changed something */
/* The folder cannot be read, or is gone: then there are no runs either; NULL. */
const char *library_problem(const struct library *l);
const struct library_run *library_find(const struct library *l, const char *name);
/* The place of a column among the cells, also of what run.csv calls otherwise (test_acc is
 * best_test_acc); -1: it stands in no run.csv. */
int library_field(const char *column);
/* "" where it does not apply. */
const char *library_cell(const struct library_run *run, const char *column);
double library_number(const struct library_run *run, const char *column); /* nan: none */
char *library_folder(const struct library *l, const char *name);          /* freed by the caller */

/* What stands in no run.csv (columns of epochs.csv, model.NAME) is read by tasks, run by run. NULL: not
 * yet; ask again when library_turn has grown. Other columns: as library_cell. */
const char *library_value(struct library *l, const struct library_run *run, const char *column);

/* Marks stand by the names of runs and outlive looks. */
bool library_marked(const struct library *l, const char *name);
void library_mark(struct library *l, const char *name, bool marked);
size_t library_marks(const struct library *l);
uint64_t library_marks_turn(const struct library *l); /* grows with each change of them */
/* Names of all marked runs that there are, newest last; freed by the caller (array alone). */
const char **library_marked_names(const struct library *l, size_t *count);

#endif
