/* cli/jobs/sweep.c: a sweep as the engine takes it, what of it is left out, and how its end is judged. */
#include "cli/jobs/sweep.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/signals.h"
#include "cli/jobs/drive.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "spec/spec.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>

#define SHOWN_OUT 8 /* cells left out that are listed */

struct wire_sweep *sweep_message(const struct spec_sweep *s, const struct sweep_wish *wish,
                                 size_t *n)
{
    struct wire_sweep *start = wire_sweep_new(s, wish->name, n);

    start->grid = wish->order == SWEEP_GRID;
    start->failed = wish->failed;
    if (wish->failed_before)
        snprintf(start->failed_before, sizeof start->failed_before, "%s", wish->failed_before);
    start->jobs = (int32_t)wish->jobs;
    start->max_cells = wish->max_cells;
    start->prepare_only = wish->background;
    return start;
}

bool sweep_send(struct wire *wire, const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct wire_command command = {.kind = WIRE_SWEEP, .run = DRIVE_RUN};
    size_t n;
    struct wire_sweep *start = sweep_message(s, wish, &n);
    bool sent = wire_send_with(wire, command, start, n);

    free(start);
    return sent;
}

enum err_code sweep_say_left_out(const struct spec_sweep *s, bool quiet, struct err *e)
{
    size_t n = spec_sweep_cells(s), out = 0;
    struct spec *cell = mem_new(1, sizeof *cell);
    struct err why = {0};

    for (size_t i = 0; i < n; i++) {
        if (spec_sweep_cell(s, i, cell, &why) == ERR_OK)
            continue;
        if (!out++)
            err_set(e, ERR_INPUT, "%s", why.text);
    }
    if (out == n) {
        free(cell);
        return n > 1 ? err_context(e, "no cell of this sweep can run") : ERR_INPUT;
    }
    if (out && !quiet)
        cli_talk("%s of %s cells are left out:", TEXT_COUNT(out), TEXT_COUNT(n));
    for (size_t i = 0, told = 0; i < n && out && !quiet && told < SHOWN_OUT; i++) {
        struct text t = {0};

        if (spec_sweep_cell(s, i, cell, &why) == ERR_OK)
            continue;
        told++;
        sweeps_add_label(s, i, &t);
        cli_talk("  %s: %s", text_str(&t), TEXT_CLEAN(why.text));
        text_free(&t);
        if (told == SHOWN_OUT && told < out)
            cli_talk("  and %s more; --dry-run lists them all", TEXT_COUNT(out - told));
    }
    free(cell);
    return ERR_OK;
}

static int stopped_code(void)
{
    return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
}

int sweep_exit_code(const struct wire_sweep_status *status)
{
    return status->state == WIRE_DONE                              ? 0
           : status->code != ERR_OK && status->code != ERR_STOPPED ? err_exit_code(status->code)
                                                                   : stopped_code();
}

bool sweep_is_stuck(const struct wire_sweep_status *status)
{
    return status->state == WIRE_STOPPED && status->code == ERR_STUCK;
}
