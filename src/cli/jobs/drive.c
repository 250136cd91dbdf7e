/* cli/jobs/drive.c: an engine for a command, from its start to its end; how a run's end is told. */
#include "cli/jobs/drive.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/progress.h"
#include "cli/version.h"
#include "cli/args/signals.h"
#include "engine/engine.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/sweep/sweeps.h"
#include "record/working.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum err_code drive_open_on(struct wire *wire, bool queue, struct engine **engine, struct err *e)
{
    struct engine_config config = {.results = cli_results(),
                                   .places = *cli_places(),
                                   .backends = cli_backends(),
                                   .version = chorus_version,
                                   .queue = queue};
    enum err_code code;

    *engine = NULL;
    if (io_exists(cli_results()) && !io_is_folder(cli_results()))
        return err_set(e, ERR_INPUT, "results cannot lie in %s: it is no folder", cli_results());
    cli_signals_start();
    cli_signals_block();
    code = engine_start(engine, &config, wire, e);
    cli_signals_unblock();
    return code;
}

void drive_tell_others(const char *sweep, const char *behind)
{
    bool helps = sweep && record_sweep_live(cli_results(), sweep);
    struct record_working *others = NULL;
    size_t n = helps ? 0 : record_computing_list(&others);
    const char *slash = n ? strrchr(others[0].run, '/') : NULL;

    if (n)
        cli_talk("another chorus (process %lld) computes %s on this machine: beside each other "
                 "both are slower%s",
                 (long long)others[0].pid, TEXT_CLEAN(slash && slash[1] ? slash + 1 : "a run"),
                 behind);
    free(others);
}

void drive_late(bool is)
{
    cli_signals_at_once(is);
    if (is)
        cli_talk("process %ld does not come to its end: a disk may not answer, that of %s or "
                 "another one (Ctrl-C ends it at once)",
                 (long)getpid(), TEXT_CLEAN(cli_results()));
}

void drive_quit(struct wire *wire, struct engine *engine, bool quiet)
{
    struct wire_command quit = {.kind = WIRE_QUIT};
    int heard = cli_interrupts + cli_terminated, nap = 1, waited = 0, urged = 0;

    while (!wire_send(wire, &quit))
        clock_sleep_ms(10);
    for (; !engine_is_over(engine); waited += nap, nap = nap < 32 ? 2 * nap : 50) {
        if (cli_interrupts + cli_terminated > heard) {
            heard = cli_interrupts + cli_terminated;
            quit.now = true;
            (void)wire_send(wire, &quit);
            urged = waited;
        }
        clock_sleep_ms(nap);
        if (quit.now && waited - urged < 2000 && waited + nap - urged >= 2000)
            drive_late(true);
        else if (!quiet && waited < 2000 && waited + nap >= 2000)
            cli_talk("still ending: what was begun, or on_end, is at work (Ctrl-C ends it)");
    }
    drive_late(false);
    engine_join(engine);
}

int drive_exit_code(enum wire_state state, enum err_code code)
{
    switch (state) {
    case WIRE_DONE:
        return err_exit_code(ERR_OK);
    case WIRE_DIVERGED:
        return err_exit_code(ERR_DIVERGED);
    case WIRE_STOPPED:
        return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    default:
        return err_exit_code(code != ERR_OK ? code : ERR_FAILED);
    }
}

int drive_finish(const struct drive_end *end, bool quiet, bool json)
{
    struct record_entry entry;
    struct err e;
    int code = drive_exit_code(end->state, end->code);

    if (end->abandoned) {
        code = err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
        cli_talk(
            "%s%s",
            !end->path[0] ? "stopped at once, while the run was being prepared"
            : record_has_checkpoint(end->path)
                ? "stopped at once; to go on from the last checkpoint: chorus resume "
                : "stopped at once, before its first checkpoint; to begin it again: chorus resume ",
            TEXT_CLEAN(end->path));
        if (!end->path[0])
            return code;
    }
    if (!io_exists(end->path)) { /* its end is known, whatever became of its folder */
        if (!code)
            cli_talk("it succeeded, and was removed or renamed since: %s", TEXT_CLEAN(end->path));
        return code;
    }
    if (record_find(cli_results(), end->path, &entry, &e) != ERR_OK) {
        cli_fail(&e);
        return code ? code : err_exit_code(e.code);
    }
    if (!end->abandoned) {
        if (!quiet)
            progress_summary(&entry, cli_terminal(STDERR_FILENO) && !cli_hung_up);
        else if (code && end->state != WIRE_STOPPED)
            cli_talk("chorus: %s", TEXT_CLEAN(end->reason));
    }
    /* The run is kept, but who asked for its folder did not get it. A reader that went away, or a
     * terminal, did not ask any more. */
    if (cli_print_run(&entry, json) && cli_print_failed() && !code)
        code = err_exit_code(ERR_FAILED);
    record_free_entry(&entry);
    return code;
}
