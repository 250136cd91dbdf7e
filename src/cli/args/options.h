/* cli/args/options.h: the options of a verb, and the folders that options and the environment name. */
#ifndef CHORUS_CLI_ARGS_OPTIONS_H
#define CHORUS_CLI_ARGS_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct data_places;

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

/* What help calls the value of an option that names a file to write. A verb that has one also has --force: without
 * it a file that is not empty stays, and cli_options refuses it. */
extern const char cli_written[];
/* ERR_INPUT where the file is not empty and --force is missing. "-" and NULL are no file. */
enum err_code cli_check_written(const char *verb, const char *option, const char *file,
                                struct err *e) MUST_USE;

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

/* False: the file's name ends as that of another known form does. path may be NULL. */
bool cli_ends_in(const char *path, const char *wanted);

#endif
