/* cli/jobs/sweep.c: a sweep as the engine takes it, what of it is left out, and how its end is judged. */
#include "cli/jobs/sweep.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/signals.h"
#include "cli/jobs/drive.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "engine/forecast/forecast.h"
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

static void say_left_out(const struct spec_sweep *s, const struct forecast_cell *cell, size_t n,
                         size_t out)
{
    cli_talk("%s of %s cells are left out:", TEXT_COUNT(out), TEXT_COUNT(n));
    for (size_t i = 0, told = 0; told < SHOWN_OUT && told < out; i++) {
        struct text t = {0};

        if (cell[i].fate != WIRE_LEFT_OUT)
            continue;
        told++;
        sweeps_add_label(s, cell[i].number, &t);
        cli_talk("  %s: %s", text_str(&t), TEXT_CLEAN(cell[i].reason));
        text_free(&t);
    }
    if (out > SHOWN_OUT)
        cli_talk("  and %s more; --dry-run lists them all", TEXT_COUNT(out - SHOWN_OUT));
}

enum err_code sweep_say_left_out(const struct spec_sweep *s, bool quiet, struct err *e)
{
    struct forecast *f = sweeps_walk(s, true);
    const struct forecast_cell *cell = forecast_cells(f, NULL);
    size_t n = spec_sweep_cells(s), out = 0;
    enum err_code code = ERR_OK;

    for (size_t i = 0; i < n; i++)
        out += cell[i].fate == WIRE_LEFT_OUT;
    if (out == n)
        code = err_set(e, ERR_INPUT, "%s", cell[0].reason);
    if (out == n && n > 1)
        code = err_context(e, "no cell of this sweep can run");
    else if (out && out < n && !quiet)
        say_left_out(s, cell, n, out);
    forecast_free(f);
    return code;
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
