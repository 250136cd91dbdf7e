/* cli/args/launcher.h: whether srun, mpirun or another launcher started this command in several tasks. */
#ifndef CHORUS_CLI_ARGS_LAUNCHER_H
#define CHORUS_CLI_ARGS_LAUNCHER_H

/* Call once, before anything is started: what this process starts later is a single task. */
void launcher_start(void);

/* CLI_ON for a single task. Several tasks are refused, since each would do the same: `what` says what,
 * after "would". Returns the exit code. */
int launcher_check_single(const char *what);

#endif
