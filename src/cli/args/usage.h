/* cli/args/usage.h: what `chorus help` prints of the whole program, and of a key. */
#ifndef CHORUS_CLI_ARGS_USAGE_H
#define CHORUS_CLI_ARGS_USAGE_H

#include <stdbool.h>

int cli_usage_text(bool to_stderr); /* of the whole program */

/* What a key of an experiment means, behind `before`; nothing where there is no such key. */
int cli_key_help(const char *name, const char *before);

#endif
