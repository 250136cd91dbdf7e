/* cli/args/experiment.h: what `run` starts from. */
#ifndef CHORUS_CLI_ARGS_EXPERIMENT_H
#define CHORUS_CLI_ARGS_EXPERIMENT_H

#include "spec/sweep.h"

/* "lr=0.1", "=3" and other mistakes, but not "./a=b/first.ini". */
bool experiment_is_assignment(const char *arg);
/* A file; experiments/NAME.ini, which is said where another one is built in, unless quiet; what is built
 * in; or a run. name: of a sweep made from it. */
enum err_code experiment_read(struct spec_sweep *s, const char *from, bool quiet,
                              char name[SPEC_NAME], struct err *e) MUST_USE;
/* sweep: the name of a sweep made from it; may be NULL. */
enum err_code experiment_read_run(struct spec_sweep *s, const char *name, char *sweep,
                                  struct err *e) MUST_USE;
/* The KEY=VALUE among the operands. */
enum err_code experiment_set_keys(struct spec_sweep *s, int argc, char **argv,
                                  struct err *e) MUST_USE;

#endif
