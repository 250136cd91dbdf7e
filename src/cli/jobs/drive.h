/* cli/jobs/drive.h: an engine for a command, from its start to its end. */
#ifndef CHORUS_CLI_JOBS_DRIVE_H
#define CHORUS_CLI_JOBS_DRIVE_H

#include "base/err.h"
#include "wire/wire.h"

#include <stdbool.h>

struct engine;

/* An engine on a wire over which the caller may have sent a first command; signals are heard from now on.
 * queue: the engine takes from results/queue whenever it has nothing else to do. Where it fails the wire is
 * the caller's. */
enum err_code drive_open_on(struct wire *wire, bool queue, struct engine **engine,
                            struct err *e) MUST_USE;
#define DRIVE_RUN 1u /* number of what a command asks for first */
/* Says who else computes on this machine, as the screens ask about it; behind: what could be done. Who
 * works on the same sweep (NULL: it is none) helps. */
void drive_tell_others(const char *sweep, const char *behind);
/* What ends here waits for what may never come: that is said, and Ctrl-C ends it at once; or no more. */
void drive_late(bool is);
/* Stops all that runs and waits for the engine's end, commands of on_end among it, which further
 * signals end. The wire is the caller's to empty and free. */
void drive_quit(struct wire *wire, struct engine *engine, bool quiet);

struct drive_end {
    enum wire_state state;
    enum err_code code; /* of a run that was refused or failed */
    char path[1024];    /* its folder; empty: none was made */
    char reason[512];
    bool abandoned; /* the engine did not stop in time: the process must end, and its threads are
                       still at work */
};

/* Says how it ended and prints the folder, or with json the run as an object. Returns the exit
 * code. */
int drive_finish(const struct drive_end *end, bool quiet, bool json);
/* The exit code of a run in that state. */
int drive_exit_code(enum wire_state state, enum err_code code);

#endif
