/* cli/jobs/stuck.c: the engine's snapshot says what it had to stop. */
#include "cli/jobs/stuck.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/system/thread.h"
#include "cli/out/print.h"
#include "cli/jobs/handover.h"
#include "cli/args/signals.h"
#include "cli/jobs/sweep.h"
#include "engine/engine.h"
#include "wire/wire.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 100

struct stuck_warden {
    struct wire *wire;
    struct engine *engine;
    pthread_t thread;
    atomic_bool stop;
    struct stuck_known given;
};

bool stuck_all_ended(struct wire *wire)
{
    size_t runs, sweeps;
    struct wire_status *run = wire_statuses(wire, &runs);
    struct wire_sweep_status *sweep = wire_sweeps(wire, &sweeps);
    bool ended = true;

    for (size_t i = 0; i < runs; i++)
        ended = ended && wire_state_ended(run[i].state);
    for (size_t i = 0; i < sweeps; i++)
        ended = ended && wire_state_ended(sweep[i].state);
    free(run);
    free(sweep);
    return ended;
}

static bool is_cell(struct wire *wire, uint32_t run)
{
    size_t sweeps, room, n;
    struct wire_sweep_status *sweep = wire_sweeps(wire, &sweeps);
    bool is = false;

    for (size_t i = 0; i < sweeps && !is; i++) {
        struct wire_cell *cell;

        room = wire_cells(wire, sweep[i].sweep, NULL, 0) + 1;
        cell = mem_new(room, sizeof *cell);
        n = wire_cells(wire, sweep[i].sweep, cell, room);
        for (size_t k = 0; k < n && k < room && !is; k++)
            is = cell[k].run == run;
        free(cell);
    }
    free(sweep);
    return is;
}

/* Adds it; false: it is there. */
static bool is_new(struct stuck_known *known, uint32_t number)
{
    for (size_t i = 0; i < known->n; i++)
        if (known->number[i] == number)
            return false;
    known->number = mem_grow(known->number, &known->room, known->n + 1, sizeof *known->number);
    known->number[known->n++] = number;
    return true;
}

char *stuck_next(struct wire *wire, struct stuck_known *known)
{
    size_t runs, sweeps;
    struct wire_status *run = wire_statuses(wire, &runs);
    struct wire_sweep_status *sweep = wire_sweeps(wire, &sweeps);
    char *name = NULL;

    known->failed_before[0] = '\0';
    for (size_t i = 0; i < sweeps && !name; i++)
        if (sweep_is_stuck(&sweep[i]) && is_new(known, sweep[i].sweep)) {
            name = mem_text(sweep[i].name);
            memcpy(known->failed_before, sweep[i].failed_before, sizeof known->failed_before);
        }
    for (size_t i = 0; i < runs && !name; i++)
        if (run[i].state == WIRE_STOPPED && run[i].code == ERR_STUCK && run[i].path[0] &&
            !is_cell(wire, run[i].run) && is_new(known, run[i].run))
            name = mem_text(run[i].path);
    free(run);
    free(sweep);
    return name;
}

void stuck_leave(struct wire *wire, struct stuck_known *known, bool quiet)
{
    struct err e;
    char *name;

    while ((name = stuck_next(wire, known))) {
        if (handover_leave(name, &e) != ERR_OK)
            (void)cli_fail(&e);
        else if (!quiet)
            cli_talk("%s goes on in a process of its own", io_last_part(name));
        free(name);
    }
}

/* ---- the warden ---- */

static void say(struct wire *wire, enum log_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void say(struct wire *wire, enum log_level level, const char *fmt, ...)
{
    struct wire_event event = {.kind = WIRE_LOG, .u.log.level = level};
    char line[2400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    event.slot = wire_slot_put(wire, line, strlen(line) + 1);
    wire_post(wire, &event);
}

static bool give_next(struct stuck_warden *w)
{
    char *name = stuck_next(w->wire, &w->given);
    const char *last = name ? io_last_part(name) : NULL;
    struct err e;

    if (!name)
        return false;
    if (handover_leave(name, &e) == ERR_OK)
        say(w->wire, LOG_WARN, "%s goes on in a process of its own, and the queue with it", last);
    else
        say(w->wire, LOG_ERROR, "%s; to go on: chorus resume %s", e.text, name);
    free(name);
    return true;
}

static void *warden_main(void *user)
{
    struct stuck_warden *w = user;
    bool last;

    do {
        last = atomic_load(&w->stop);
        while (engine_is_stuck(w->engine) && give_next(w))
            ;
        if (!last)
            clock_sleep_ms(LOOK_MS);
    } while (!last);
    return NULL;
}

struct stuck_warden *stuck_watch(struct wire *wire, struct engine *engine)
{
    struct stuck_warden *w = mem_new(1, sizeof *w);
    bool none;

    w->wire = wire;
    w->engine = engine;
    cli_signals_block();
    none = thread_start(&w->thread, warden_main, w) != 0;
    cli_signals_unblock();
    if (none) {
        free(w);
        return NULL;
    }
    return w;
}

void stuck_unwatch(struct stuck_warden *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
    free(w->given.number);
    free(w);
}
