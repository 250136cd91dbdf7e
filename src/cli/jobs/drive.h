/* cli/jobs/drive.h: the main thread of `run` and `resume`: starts the engine, reads its events, obeys
 * signals, until the run has ended. */
#ifndef CHORUS_CLI_WORK_DRIVE_H
#define CHORUS_CLI_WORK_DRIVE_H

#include "base/err.h"
#include "base/text.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine;

/* The engine with its wire, and signals heard from now on. */
enum err_code drive_open(struct wire **wire, struct engine **engine, struct err *e) MUST_USE;
/* The same on a wire that the caller has made and may have sent a first command over; queue: the engine
 * takes from results/queue whenever it has nothing else to do. Where it fails the wire is the
 * caller's. */
enum err_code drive_open_on(struct wire *wire, bool queue, struct engine **engine,
                            struct err *e) MUST_USE;
/* Says who else computes on this machine, as the screens ask about it; behind: what could be done. Who
 * works on the same sweep (NULL: it is none) helps. */
void drive_tell_others(const char *sweep, const char *behind);
/* What ends here waits for what may never come: that is said, and Ctrl-C ends it at once; or no more. */
void drive_late(bool is);
/* Stops all that runs and waits for the engine's end, commands of on_end among it, which further
 * signals end. The wire is the caller's to empty and free. */
void drive_quit(struct wire *wire, struct engine *engine, bool quiet);

/* What signals ask of a run or sweep. All zeros is the start. */
struct drive_signals {
    int interrupts, terminated, hung_up; /* obeyed already */
    uint64_t give_up;                    /* clock_ns; 0: not yet */
};
/* words: what is said at the first Ctrl-C; NULL: nothing. */
void drive_obey_signals(struct drive_signals *s, struct wire *wire, uint32_t number,
                        const char *words);

struct drive_end {
    enum wire_state state;
    enum err_code code; /* of a run that was refused or failed */
    char path[1024];    /* its folder; empty: none was made */
    char reason[512];
    bool abandoned; /* the engine did not stop in time: the process must end, and its threads are
                       still at work */
};

/* It was stopped by what this process cannot mend: restart_program goes on with it. */
bool drive_is_stuck(const struct drive_end *end);

/* max_steps: of the experiment, for the progress bar. An error: the run never began, nothing was
 * written. */
enum err_code drive_run(const struct wire_start *start, int64_t max_steps, bool quiet,
                        struct drive_end *end, struct err *e) MUST_USE;

/* The same for whoever has the engine's events: of a run that it was asked for, or that it took from
 * the queue. */
#define DRIVE_RUN 1u /* number of the run that drive_send asks for */
enum err_code drive_send(struct wire *wire, const struct wire_start *start, struct err *e) MUST_USE;
struct drive;
struct drive *drive_follow(struct wire *wire, uint32_t number, int64_t max_steps, bool quiet);
void drive_hear(struct drive *d, const struct wire_event *event); /* takes its slot */
void drive_draw(struct drive *d, bool missed);                    /* missed: events were dropped */
/* It has ended, or is given up: frees d. resumed: the folder of the run that was to go on, or "". */
enum err_code drive_end(struct drive *d, const char *resumed, bool gave_up, struct drive_end *end,
                        struct err *e) MUST_USE;

/* Says how it ended and prints the folder, or with json the run as an object. Returns the exit
 * code. */
int drive_finish(const struct drive_end *end, bool quiet, bool json);
/* The exit code of a run in that state. */
int drive_exit_code(enum wire_state state, enum err_code code);

/* `run --background`: makes the folder, starts `chorus resume` in a session of its own, waits until
 * that owns the run, prints the folder. */
int drive_background(const struct wire_start *start, bool quiet, bool json);
/* A program of its own that says nothing but into a log; args end with NULL. */
enum err_code drive_spawn(char **args, const char *log, pid_t *child, struct err *e) MUST_USE;
/* The last line of a log, which says why it died. */
void drive_add_last_line(struct text *out, const char *log);
/* The second half of it, for a folder that exists. epochs: 0 as it was. queue: behind it what waits
 * in the queue. */
int drive_detach(const char *folder, int64_t epochs, bool queue, bool quiet, bool json);
/* For whoever leaves what runs to another process: the same without a word, for a run's folder or a
 * sweep's name, and then the queue to its end; NULL: the queue alone. Returns when that process has
 * taken over. */
enum err_code drive_leave(const char *run, struct err *e) MUST_USE;

#endif
