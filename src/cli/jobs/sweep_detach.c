/* cli/jobs/sweep_detach.c: a sweep that is started in a process of its own. */
#include "cli/jobs/sweep_detach.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/jobs/drive.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "data/data.h"
#include "wire/sweep.h"

#include <stdlib.h>
#include <sys/wait.h>

#define WAIT_MS 30000
#define LOOK_MS 20

static enum err_code start(const char *name, const struct sweep_wish *wish, const char *log,
                           pid_t *child, struct err *e)
{
    char *args[12] = {"chorus",  "resume",    (char *)name,
                      "--quiet", "--results", (char *)cli_results()};
    int n = 6;

    if (cli_places()->given) {
        args[n++] = "--data-dir";
        args[n++] = (char *)cli_places()->given;
    }
    if (wish->failed)
        args[n++] = "--failed";
    if (wish->queue)
        args[n++] = "--queue";
    return drive_spawn(args, log, child, e);
}

/* How much of it there was before. */
static void say_unfinished(const char *name, const struct sweep_wish *wish)
{
    struct live_sweep *s;
    struct text line = {0};

    if (!wish->goes_on || wish->failed)
        return;
    s = sweeps_open(name);
    sweeps_add_before(&line, wire_sweep_ended(&s->is) - s->is.skipped, s->is.skipped, s->is.cells,
                      "");
    text_addf(&line, ", %s to run", TEXT_COUNT(sweeps_left(s)));
    if (!s->problem)
        cli_talk("%s", text_str(&line));
    text_free(&line);
    live_sweep_free(s);
}

int sweeps_detach(const char *name, const struct sweep_wish *wish)
{
    char *folder = sweeps_folder(name), *log = io_path(folder, "log.txt");
    struct text why = {0};
    int status = 0, code = 0;
    bool ended = false;
    struct err e;
    pid_t child;

    if (!wish->quiet)
        say_unfinished(name, wish);
    if (start(name, wish, log, &child, &e) != ERR_OK) {
        code = cli_fail(&e);
        free(log);
        free(folder);
        return code;
    }
    for (int waited = 0; waited < WAIT_MS && !ended; waited += LOOK_MS) {
        ended = waitpid(child, &status, WNOHANG) == child;
        if (ended) /* a short one may be over before we looked */
            code = WIFEXITED(status) ? WEXITSTATUS(status) : err_exit_code(ERR_FAILED);
        else if (sweeps_live(name))
            break;
        else
            clock_sleep_ms(LOOK_MS);
    }
    if (code) {
        drive_add_last_line(&why, log);
        cli_talk("chorus: the sweep in the background ended at once: %s", text_str(&why));
    } else if (!wish->quiet) {
        text_add_clean(&why, name);
        cli_talk("runs in the background; chorus watch, pause or stop %s%s", text_str(&why),
                 again());
    }
    text_free(&why);
    free(log);
    free(folder);
    if (sweeps_print(name, wish->json, "running") && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}
