/* cli/jobs/sweep.c: the main thread of a sweep: it is sent to the engine, followed to its end, and judged. */
#include "cli/jobs/sweep_talk.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "cli/jobs/restart.h"
#include "cli/args/signals.h"
#include "cli/jobs/stuck.h"
#include "cli/jobs/sweeps_follow.h"
#include "cli/jobs/workbench.h"
#include "engine/engine.h"
#include "engine/forecast/forecast.h"
#include "spec/spec.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLEEP_MS  500
#define LOOK_MS   50 /* at least between two looks, each of which copies all cells */
#define REDRAW_MS 100
#define SHOWN_OUT 8 /* cells left out that are listed */

static bool is_over(struct sweeper *w)
{
    struct wire_sweep_status s;

    if (!wire_sweep_status(w->wire, w->number, &s))
        return false;
    return wire_state_ended(s.state) ||
           (w->wish->background && s.state == WIRE_WAITING && s.path[0]);
}

/* false: given up. */
static bool loop(struct sweeper *w)
{
    struct pollfd fds[2] = {{.fd = wire_fd(w->wire), .events = POLLIN},
                            {.fd = cli_wake, .events = POLLIN}};
    struct wire_event event;
    bool over = false, gave_up = false;
    uint64_t looked = 0;

    while (!over && !gave_up) {
        poll(fds, 2, w->look ? LOOK_MS : w->draws ? REDRAW_MS : SLEEP_MS);
        drive_obey_signals(&w->signals, w->wire, w->number,
                           w->wish->quiet ? NULL : "stopping all cells after this step");
        if (w->signals.hung_up)
            w->draws = false;
        over = is_over(w);
        while (wire_take(w->wire, &event))
            sweep_talk_event(w, &event);
        if (wire_missed(w->wire))
            sweep_talk_missed(w);
        if (over || ((w->look || !w->told_before) && clock_ns() - looked >= LOOK_MS * 1000000ull)) {
            sweep_talk_look(w);
            looked = clock_ns();
        }
        gave_up = !over && w->signals.give_up && clock_ns() > w->signals.give_up;
        if (!over)
            sweep_talk_draw(w);
    }
    if (w->draws)
        live_draw(NULL);
    w->draws = false;
    return !gave_up;
}

static struct wire_sweep *message(const struct spec_sweep *s, const struct sweep_wish *wish,
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

static enum err_code send(struct sweeper *w, struct err *e)
{
    struct wire_command command = {.kind = WIRE_SWEEP, .run = w->number};
    size_t n;
    struct wire_sweep *start = message(w->spec, w->wish, &n);
    bool sent = wire_send_with(w->wire, command, start, n);

    free(start);
    return sent ? ERR_OK : err_set(e, ERR_FAILED, "the engine takes no commands");
}

int sweep_in_workbench(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct wire_sweep *start;
    size_t n;
    int code;

    start = message(s, wish, &n);
    code = workbench_sweep(start, n);
    free(start);
    return code;
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
        text_add(&t, "  ");
        sweeps_add_label(s, cell[i].number, &t);
        text_add(&t, ": ");
        text_add_clean(&t, cell[i].reason);
        cli_talk("%s", text_str(&t));
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

static int finish(struct sweeper *w, bool gave_up)
{
    int code = w->wish->background ? 0 : sweep_exit_code(&w->status);

    if (w->refused && !w->status.path[0]) {
        if (w->refusal.code == ERR_STOPPED)
            w->refusal.code = cli_terminated ? ERR_TERMINATED : ERR_STOPPED;
        return cli_fail(&w->refusal);
    }
    /* A second signal may come when its run has just ended: the first one did what it asks for. */
    if (w->refused && !cli_terminated && !cli_interrupts)
        code = cli_fail(&w->refusal);
    else if (w->wish->background)
        return CLI_ON;
    else if (!gave_up)
        sweep_talk_end(w);
    if (gave_up)
        cli_talk("stopped at once; to go on from the last checkpoints: chorus resume %s%s",
                 w->wish->name, again());
    if (!sweeps_has_table(w->wish->name)) /* nothing could be written, or there was no time */
        return code;
    if (sweeps_print(w->wish->name, w->wish->json, wire_state_name(w->status.state)) &&
        cli_print_failed() && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}

/* Whoever stopped the sweep after its cells was told that they run to their ends. */
static void leave_cells(struct sweeper *w)
{
    struct stuck_known known = {0};

    stuck_leave(w->wire, &known, w->wish->quiet);
    free(known.number);
}

int sweep_run(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct sweeper w = {.spec = s, .wish = wish, .number = 1};
    struct wire_event event;
    struct engine *engine;
    struct err e = {0};
    bool gave_up;
    int code;

    if (sweep_say_left_out(s, wish->quiet, &e) != ERR_OK ||
        drive_open(&w.wire, &engine, &e) != ERR_OK)
        return cli_fail(&e);
    w.draws = !wish->quiet && !wish->background && cli_terminal(STDERR_FILENO);
    if (send(&w, &e) != ERR_OK) {
        drive_quit(w.wire, engine, true);
        wire_free(w.wire);
        return cli_fail(&e);
    }
    gave_up = !loop(&w);
    if (!gave_up) {
        drive_quit(w.wire, engine, wish->quiet);
        while (wire_take(w.wire, &event))
            sweep_talk_event(&w, &event);
        sweep_talk_look(&w);
        if (!sweep_is_stuck(&w.status))
            leave_cells(&w);
        wire_free(w.wire);
    }
    if (!gave_up && sweep_is_stuck(&w.status))
        code = restart_program(&(struct restart){.name = wish->name,
                                                 .failed_before = w.status.failed_before,
                                                 .quiet = wish->quiet,
                                                 .json = wish->json});
    else
        code = finish(&w, gave_up);
    sweep_talk_free(&w);
    return code == CLI_ON ? sweeps_detach(wish->name, wish) : code;
}

struct sweeper *sweep_follow(struct wire *wire, uint32_t number, const struct spec_sweep *s,
                             const struct sweep_wish *wish)
{
    struct sweeper *w = mem_new(1, sizeof *w);

    *w = (struct sweeper){.spec = s, .wish = wish, .wire = wire, .number = number, .look = true};
    w->draws = !wish->quiet && cli_terminal(STDERR_FILENO);
    return w;
}

enum err_code sweep_send(struct sweeper *w, struct err *e)
{
    TRY(sweep_say_left_out(w->spec, w->wish->quiet, e));
    return send(w, e);
}

void sweep_hear(struct sweeper *w, const struct wire_event *event)
{
    sweep_talk_event(w, event);
}

void sweep_draw(struct sweeper *w, bool missed)
{
    if (cli_hung_up)
        w->draws = false;
    if (missed)
        sweep_talk_missed(w);
    if (w->look || !w->told_before)
        sweep_talk_look(w);
    sweep_talk_draw(w);
}

bool sweep_is_stuck(const struct wire_sweep_status *status)
{
    return status->state == WIRE_STOPPED && status->code == ERR_STUCK;
}

void sweep_leave(struct sweeper *w)
{
    if (w->draws)
        live_draw(NULL);
    sweep_talk_look(w);
    sweep_talk_free(w);
    free(w);
}

int sweep_end(struct sweeper *w, bool gave_up)
{
    int code;

    if (w->draws)
        live_draw(NULL);
    sweep_talk_look(w);
    code = finish(w, gave_up);
    sweep_talk_free(w);
    free(w);
    return code;
}
