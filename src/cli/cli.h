/* cli/cli.h: the verbs and what they share. Result goes to stdout, talk to stderr; every sentence of
 * an error starts with "chorus: ". A verb gets its own name as argv[0] and returns the exit code. */
#ifndef CHORUS_CLI_H
#define CHORUS_CLI_H

#include "base/err.h"
#include "base/text.h"
#include "data/data.h"
#include "engine/backend.h"
#include "record/run/reader.h"

#include <signal.h>
#include <stdbool.h>

int cli_workbench(int argc, char **argv); /* the program without a verb */
int cli_run(int argc, char **argv);
int cli_resume(int argc, char **argv);
int cli_watch(int argc, char **argv);
int cli_pause(int argc, char **argv);
int cli_go(int argc, char **argv);
int cli_stop(int argc, char **argv);
int cli_queue(int argc, char **argv);
int cli_ls(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_tag(int argc, char **argv);
int cli_note(int argc, char **argv);
int cli_rm(int argc, char **argv);
int cli_models(int argc, char **argv);
int cli_data(int argc, char **argv);
int cli_devices(int argc, char **argv);
int cli_weights(int argc, char **argv);
int cli_predict(int argc, char **argv);
int cli_plot(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_ensemble(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_help(int argc, char **argv);

/* All of them, ended by a NULL name. */
struct cli_verb {
    const char *name;
    int (*run)(int argc, char **argv);
};
extern const struct cli_verb cli_verbs[];
const char *cli_nearest_verb(const char *name); /* that is perhaps meant, or NULL */

int cli_usage_text(bool to_stderr); /* of the whole program */

/* Options. A table of them ends with a NULL name. */
struct cli_option {
    const char *name;  /* "--first" or "-n" */
    const char *value; /* what help calls its value: "N"; NULL: a switch */
    const char *help;  /* one line; NULL: not shown */
    void *out;         /* bool * of a switch, const char ** of a value; NULL: an option of a later
                          version, refused in one sentence */
};
struct cli_usage {
    const char *line;    /* "predict RUN [--first N]" */
    const char *summary; /* one sentence */
    const char *more;    /* further lines for --help, or NULL */
};

/* Takes the options out of argv, wherever they stand (behind "--" nothing is one): "--first 5" and
 * "--first=5". What is left in argv[1 .. *argc - 1] are operands. --help, --results DIR and
 * --data-dir DIR are known to every verb. Returns CLI_ON, or the exit code with which the verb must
 * return at once: help was printed, or a sentence said what is wrong. */
#define CLI_ON (-1)
int cli_options(const struct cli_usage *usage, const struct cli_option *options, int *argc,
                char **argv) MUST_USE;
/* The number of an option's value (NULL: leaves *value as it is); false: a sentence was printed. */
bool cli_number(const char *option, const char *text, int64_t least, int64_t most, int64_t *value);

const char *cli_results(void); /* --results, CHORUS_RESULTS, or "results" */
/* CLI_ON, or the exit code where a folder was named for results and is not there: what lists them would
 * call that empty. */
int cli_check_results(void) MUST_USE;
const struct data_places *cli_places(void);
const struct backend *const *cli_backends(void); /* NULL at the end, preferred ones first */

/* Prints "chorus: TEXT" on stderr and returns the exit code that belongs to the error. */
int cli_fail(const struct err *e);
/* The same from a format: a bad command, exit 2. */
int cli_refuse(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line on stderr. A stderr that is gone is no error. What is printed, here and on stdout, goes through
 * text_add_printed: no text from a file drives a terminal. text_add_clean is for texts whose width
 * counts. */
void cli_talk(const char *fmt, ...) PRINTF_LIKE(1, 2);
void cli_talk_drawn(const struct text *t); /* keeps the colours of a drawing */
/* Writes to stdout. A stdout that is gone or full is told once on stderr; returns 0 or 1, the
 * exit code of a verb that does nothing but print. */
int cli_print(const struct text *t) MUST_USE;
int cli_print_drawn(const struct text *t) MUST_USE; /* keeps the colours of a drawing */
bool cli_print_failed(void); /* that was told: not where a reader had enough */
int cli_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);

void cli_cpu_name(struct text *out); /* "AMD EPYC ..." */
/* CHORUS_ISA may name what nothing here can compute with. */
enum err_code cli_check_isa(struct err *e) MUST_USE;
bool cli_terminal(int fd);
int cli_columns(int fd); /* width of the terminal, 80 where it does not say */
int cli_limit(int fd);   /* the same, INT_MAX where fd is no terminal: what a line may take */
/* Lines broken at blanks where they are longer; what is broken off begins after so many blanks. */
void cli_add_lines(struct text *out, const char *lines, int columns, int indent);
bool cli_colours(int fd); /* a terminal, NO_COLOR not set, TERM not dumb */
bool cli_utf8(void);      /* the locale's character set */

/* What a key of an experiment means, behind `before`; nothing where there is no such key. */
int cli_key_help(const char *name, const char *before);

/* False: the file's name ends as that of another known form does. path may be NULL. */
bool cli_ends_in(const char *path, const char *wanted);

/* Tables for people. Cells are cleaned for a terminal by cli_table_add. */
struct cli_table {
    struct text *cell; /* (rows, columns) */
    size_t columns, cells, room;
    bool *right;         /* (columns): aligned right */
    struct text dropped; /* heads that cli_table_fit took away, '|' between */
};
/* columns: "name|-accuracy|-seconds" is the head row; '-' in front: aligned right. */
void cli_table_start(struct cli_table *t, const char *columns);
void cli_table_add(struct cli_table *t, const char *cell); /* row by row */
void cli_table_addf(struct cli_table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Makes the table at most that wide: takes columns away by their heads, in this order (ends with
 * NULL), then cuts the cells of one column (NULL: none), at the front or at the end. */
void cli_table_fit(struct cli_table *t, int columns, const char *const *drop, const char *cut,
                   bool front);
/* To at most so many columns, 3 of them for "..." where something is left out. */
void cli_cut(struct text *cell, int width, bool front);
/* The line below that names what fit left out; nothing where that is nothing. */
void cli_table_dropped(const struct cli_table *t, int columns, const char *remedy,
                       struct text *out);
int cli_table_width(const struct cli_table *t);
void cli_table_text(const struct cli_table *t, struct text *out); /* and trailing blanks cut */
void cli_table_free(struct cli_table *t);

/* Numbers for people: "0.9071", "" where it does not apply, "nan". */
void cli_add_fraction(struct text *out, double value);

/* JSON: one run as an object with run.csv's names; numbers stay numbers, "" is null. */
void cli_json_run(struct text *out, const struct record_run *run);
/* "name": value, by the same rule; the comma in front is the caller's. */
void cli_json_field(struct text *out, const char *name, const char *value);

/* The run that a RUN operand names (NULL: the newest). Freed by record_free_entry. */
enum err_code cli_find_run(const char *name, struct record_entry *out, struct err *e) MUST_USE;
/* The runs that RUN operands and filters name, at least one where there are names (without names: all
 * there are). Freed by record_free_list. */
enum err_code cli_find_runs(int count, char **names, struct record_entry **out, size_t *found,
                            struct err *e) MUST_USE;

/* Signals. A verb that handles them calls cli_signals_start (others die of Ctrl-C as every program
 * does); threads are started between block and unblock, so that they never run a handler. The
 * handlers count and make cli_wake readable. */
extern volatile sig_atomic_t cli_interrupts; /* SIGINT: how often */
extern volatile sig_atomic_t cli_terminated; /* SIGTERM and those that count as it: how often */
extern volatile sig_atomic_t cli_hung_up;    /* SIGHUP */
extern int cli_wake;                         /* a descriptor for poll; -1 before the start */
void cli_signals_early(
    void); /* before a verb calls it: what ends a run ends the program as SIGTERM does */
void cli_signals_start(void);
/* Use it around a wait that may never end: while it is on, all of them but SIGHUP end the program at once. */
void cli_signals_at_once(bool are);
void cli_signals_block(void);
void cli_signals_unblock(void);
void cli_wake_clear(void);

#endif
