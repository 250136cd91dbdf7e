/* cli/jobs/drive.h: an engine for a command, from its start to its end, and processes that go on with runs. */
#ifndef CHORUS_CLI_JOBS_DRIVE_H
#define CHORUS_CLI_JOBS_DRIVE_H

#include "base/err.h"
#include "base/text.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <sys/types.h>

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

/* A program of its own that says nothing but into a log; args end with NULL. */
enum err_code drive_spawn(char **args, const char *log, pid_t *child, struct err *e) MUST_USE;
/* The last line of a log, which says why it died. */
void drive_add_last_line(struct text *out, const char *log);
/* `--background`: starts `chorus resume` in a session of its own, waits until that owns the run, prints the
 * folder. epochs: 0 as it was. queue: behind it what waits in the queue. */
int drive_detach(const char *folder, int64_t epochs, bool queue, bool quiet, bool json);
/* For whoever leaves what runs to another process: the same without a word, for a run's folder or a
 * sweep's name, and then the queue to its end; NULL: the queue alone. Returns when that process has
 * taken over. */
enum err_code drive_leave(const char *run, struct err *e) MUST_USE;

#endif
