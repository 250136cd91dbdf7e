/* cli/args/backends.h: the backends of this program. */
#ifndef CHORUS_CLI_ARGS_BACKENDS_H
#define CHORUS_CLI_ARGS_BACKENDS_H

#include "engine/engine.h"

const struct backend *const *cli_backends(void); /* NULL at the end, preferred ones first */
/* What the engine is told of them, of data and of the folder of results. */
struct engine_config cli_engine_config(void);

#endif
