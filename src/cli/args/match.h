/* cli/args/match.h: `run --match RUN`. */
#ifndef CHORUS_CLI_ARGS_MATCH_H
#define CHORUS_CLI_ARGS_MATCH_H

#include "spec/sweep.h"

/* The keys of the command line and the epochs that cost as much as the run did. own: s has an experiment
 * already, else the run's is taken. s is closed by it. */
enum err_code match_run(struct spec_sweep *s, int argc, char **argv, const char *match, bool own,
                        bool quiet, struct err *e) MUST_USE;

#endif
