/* cli/args/backends.h: the backends of this program. */
#ifndef CHORUS_CLI_ARGS_BACKENDS_H
#define CHORUS_CLI_ARGS_BACKENDS_H

#include "engine/backend.h"

const struct backend *const *cli_backends(void); /* NULL at the end, preferred ones first */

#endif
