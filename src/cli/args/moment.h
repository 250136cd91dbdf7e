/* cli/args/moment.h: moments as people write them. */
#ifndef CHORUS_CLI_ARGS_MOMENT_H
#define CHORUS_CLI_ARGS_MOMENT_H

#include <stdbool.h>

/* A moment in UTC as people write it: today, yesterday, 3h, 2d (ago), 2026-11-20, 2026-11-20T10:15.
 * */
bool cli_moment(const char *text, double now, double *wall);

#endif
