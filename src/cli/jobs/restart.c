/* cli/jobs/restart.c: `chorus resume ...` in this very process, with its terminal, its pipes and its
 * number. */
#include "cli/jobs/restart.h"

#include "base/again.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/args/signals.h"
#include "data/data.h"

#include <stdio.h>
#include <unistd.h>

#define MOST_ARGS 20

static void say_resume(const char *name)
{
    struct text clean = {0};

    text_add_clean(&clean, name);
    cli_talk("stopped; to go on: chorus resume %s%s", text_str(&clean), again());
    text_free(&clean);
}

static void make_args(const struct restart *r, char *args[MOST_ARGS])
{
    int n = 0;

    args[n++] = "chorus";
    args[n++] = r->name ? "resume" : "queue";
    args[n++] = r->name ? (char *)r->name : "run";
    if (r->epochs)
        args[n++] = mem_textf("epochs=%lld", (long long)r->epochs);
    if (r->name && r->failed_before && r->failed_before[0])
        args[n++] = mem_textf("--failed-before=%s", r->failed_before);
    if (r->name && r->queue)
        args[n++] = "--queue";
    if (r->bad_before)
        args[n++] = "--bad-before";
    if (r->quiet)
        args[n++] = "--quiet";
    if (r->json)
        args[n++] = "--json";
    args[n++] = "--results";
    args[n++] = (char *)cli_results();
    if (cli_places()->given) {
        args[n++] = "--data-dir";
        args[n++] = (char *)cli_places()->given;
    }
    args[n] = NULL;
}

int restart_program(const struct restart *r)
{
    char *args[MOST_ARGS];
    struct err e;

    /* From here on signals wait for the new program, which unblocks them when it hears them. */
    cli_signals_block();
    if (cli_interrupts || cli_terminated) {
        cli_signals_unblock();
        if (r->name && !r->quiet)
            say_resume(r->name);
        return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    }
    make_args(r, args);
    fflush(NULL);
    /* What the driver opened must not be open in the new program: it would hold the GPU's memory. */
    (void)close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    execv("/proc/self/exe", args);
    err_errno(&e, "the program could not start itself anew%s%s", r->name ? " to go on with " : "",
              r->name ? r->name : "");
    cli_signals_unblock();
    return cli_fail(&e);
}
