#include "cli/jobs/ask.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/version.h"
#include "engine/engine.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS  5000
#define READING_NS 20000000 /* an answer that took as long read runs beside */
#define MOST_TRIES 40

struct ask {
    struct wire *wire;
    struct engine *engine;
    int jobs;
    size_t cells;
};

struct ask *ask_start(int jobs, size_t cells)
{
    struct engine_config config = {.results = cli_results(),
                                   .places = *cli_places(),
                                   .backends = cli_backends(),
                                   .version = chorus_version};
    struct ask *a = mem_new(1, sizeof *a);
    struct err e;

    a->jobs = jobs;
    a->cells = cells;
    a->wire = wire_new(4 * ASK_MOST);
    if (engine_start(&a->engine, &config, a->wire, &e) == ERR_OK)
        return a;
    wire_free(a->wire);
    free(a);
    return NULL;
}

void ask_end(struct ask *a)
{
    struct wire_command quit = {.kind = WIRE_QUIT};

    if (!a)
        return;
    while (!wire_send(a->wire, &quit))
        clock_sleep_ms(10);
    engine_join(a->engine);
    wire_free(a->wire);
    free(a);
}

bool ask_send(struct ask *a, const struct spec *spec, uint32_t question)
{
    struct wire_command ask = {
        .kind = WIRE_ASK, .run = question, .cell = (uint32_t)a->cells, .by = a->jobs, .look = 1};

    return wire_send_with(a->wire, ask, spec, sizeof *spec);
}

bool ask_answer(struct ask *a, struct wire_plan *answer)
{
    struct pollfd fd = {.fd = wire_fd(a->wire), .events = POLLIN};
    struct wire_event event;
    bool found = false;

    for (;;) {
        while (!found && wire_take(a->wire, &event)) {
            size_t n = 0;
            struct wire_plan *plan =
                event.kind == WIRE_PLAN ? wire_slot_take(a->wire, event.slot, &n) : NULL;

            found = plan && n == sizeof *plan;
            if (found)
                *answer = *plan;
            free(plan);
        }
        if (found)
            return true;
        if (poll(&fd, 1, ANSWER_MS) <= 0)
            return false;
    }
}

bool ask_learned(struct ask *a, const struct spec *spec, struct wire_plan *answer)
{
    bool answered = false, reads = true;

    for (int i = 0; i < MOST_TRIES && reads; i++) {
        uint64_t start = clock_ns();

        answered = ask_send(a, spec, 0) && ask_answer(a, answer);
        reads = answered && i < MOST_TRIES - 1 && clock_ns() - start > READING_NS;
    }
    return answered;
}
