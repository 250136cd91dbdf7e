/* tests/unit/engine/sweep_kit.h: sweeps of tiny runs on an engine of help.h. */
#ifndef CHORUS_TESTS_UNIT_ENGINE_SWEEP_KIT_H
#define CHORUS_TESTS_UNIT_ENGINE_SWEEP_KIT_H

#include "record/list.h"
#include "record/run/reader.h"
#include "record/sweep/ledger.h"
#include "spec/sweep.h"
#include "engine/forecast/forecast.h"
#include "tests/unit/engine/help.h"
#include "wire/sweep.h"

#define CELLS 64

struct wish {
    const char *name; /* NULL: "grid" */
    bool grid, failed, prepare;
    int jobs;
    int64_t max_cells;
};

/* keys: lines behind those of a small run of the fake backend. */
static inline char *sweep_text(const struct kit *k, const char *keys)
{
    return mem_textf("model = %s\ndata = synthetic\ntrain_limit = 96\ntest_limit = 40\n"
                     "%s%sbackend = fake\nlog_every = 4\n%s",
                     k->model, strstr(keys, "epochs") ? "" : "epochs = 2\n",
                     strstr(keys, "batch") ? "" : "batch = 16\n", keys);
}

static inline void send_sweep(struct kit *k, enum wire_command_kind kind, uint32_t number,
                              const char *keys, struct wish wish)
{
    struct wire_command c = {.kind = kind, .run = number};
    char *text = sweep_text(k, keys);
    size_t n = sizeof(struct wire_sweep) + strlen(text) + 1;
    struct wire_sweep *s = mem_new(1, n);

    snprintf(s->name, sizeof s->name, "%s", wish.name ? wish.name : "grid");
    s->grid = wish.grid;
    s->failed = wish.failed;
    s->jobs = wish.jobs;
    s->max_cells = wish.max_cells;
    s->prepare_only = wish.prepare;
    strcpy(s->text, text);
    c.slot = wire_slot_put(k->wire, s, n);
    wire_send(k->wire, &c);
    free(s);
    free(text);
}

/* Returns the sweep's number. */
static inline uint32_t begin_sweep(struct kit *k, const char *keys, struct wish wish)
{
    send_sweep(k, WIRE_SWEEP, ++k->runs, keys, wish);
    return k->runs;
}

/* What the planner says, in k->forecast. */
static inline void ask_sweep(struct kit *k, const char *keys, struct wish wish)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    uint32_t question = k->forecast.question + 1;
    struct wire_event event;

    send_sweep(k, WIRE_ASK, question, keys, wish);
    while (k->forecast.question != question && clock_ns() < until) {
        struct pollfd p = {.fd = wire_fd(k->wire), .events = POLLIN};

        poll(&p, 1, 20);
        while (wire_take(k->wire, &event))
            kit_hear(k, &event);
    }
    CHECK_INT(k->forecast.question, question);
}

/* What --dry-run finds out, in this process: forecast_free frees it. */
static inline struct forecast *forecast_of(const struct kit *k, const char *keys, struct wish wish)
{
    const struct engine_config config = {.results = k->results, .backends = kit_backends};
    char *text = sweep_text(k, keys);
    struct forecast *f;
    struct spec_sweep s;
    struct err e = {0};

    spec_sweep_init(&s);
    if (spec_sweep_parse(&s, text, strlen(text), "sweep.ini", &e) != ERR_OK ||
        spec_sweep_close(&s, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    f = forecast_new(&s, &(struct forecast_wish){.jobs = wish.jobs,
                                                 .max_cells = wish.max_cells,
                                                 .grid = wish.grid,
                                                 .kinds = FORECAST_KINDS,
                                                 .cells = true});
    forecast_look(f, &config, wish.name ? wish.name : "grid", wish.failed);
    free(text);
    return f;
}

/* What becomes of each cell, a letter each: has a result, runs, ... */
static inline const char *fates_of(const struct kit *k, const char *keys, struct wish wish)
{
    static const char letters[WIRE_FATES] = {
        [WIRE_RUNS] = 'r',      [WIRE_LEFT_OUT] = 'o',   [WIRE_NO_START] = 's',
        [WIRE_TOO_LARGE] = 'l', [WIRE_NO_WEIGHTS] = 'f', [WIRE_HAS_RESULT] = 'h',
        [WIRE_BEYOND] = 'b'};
    struct forecast *f = forecast_of(k, keys, wish);
    const struct forecast_cell *cell = forecast_cells(f, NULL);
    struct wire_forecast *sum = mem_new(1, sizeof *sum);
    static char out[64];

    forecast_sum(f, sum);
    memset(out, 0, sizeof out);
    for (size_t i = 0; i < sum->cells && i < sizeof out - 1; i++)
        out[cell[i].number] = letters[cell[i].fate];
    forecast_free(f);
    free(sum);
    return out;
}

static inline bool wait_sweep(struct kit *k, uint32_t sweep, struct wire_sweep_status *status)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    struct wire_event event;

    memset(status, 0, sizeof *status);
    while (clock_ns() < until) {
        bool ended = wire_sweep_status(k->wire, sweep, status) && wire_state_ended(status->state);

        while (wire_take(k->wire, &event))
            kit_hear(k, &event);
        if (ended)
            return true;
        clock_sleep_ms(2);
    }
    TEST_FAILED("sweep %u has not ended after %d s", sweep, KIT_WAIT_MS / 1000);
    return false;
}

/* Until this many of its cells run here. */
static inline void wait_live(struct kit *k, uint32_t sweep, size_t count, struct wire_cell *cells,
                             size_t *live)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    size_t n = 0;

    while (n < count && clock_ns() < until) {
        size_t have = wire_cells(k->wire, sweep, cells, CELLS);
        struct wire_sweep_status whole;

        if (wire_sweep_status(k->wire, sweep, &whole) && wire_state_ended(whole.state))
            break;

        n = 0;
        for (size_t i = 0; i < have && i < CELLS; i++) {
            struct wire_status status;

            if (cells[i].run && wire_status(k->wire, cells[i].run, &status) &&
                status.state == WIRE_RUNNING)
                live[n++] = i;
        }
        clock_sleep_ms(1);
    }
    if (n < count)
        TEST_FAILED("%zu cells run, not %zu", n, count);
}

/* Until a stop after the cells that run was taken. */
static inline void wait_closing(struct kit *k, uint32_t sweep)
{
    struct wire_sweep_status status = {0};

    for (int i = 0; i < 20000 && status.wish != WIRE_WISH_STOP_CELLS; i++, clock_sleep_ms(1))
        (void)wire_sweep_status(k->wire, sweep, &status);
    CHECK_INT(status.wish, WIRE_WISH_STOP_CELLS);
}

static inline void wait_skipped(struct kit *k, uint32_t sweep, int64_t cells)
{
    struct wire_sweep_status status = {0};

    for (int i = 0; i < 20000 && status.skipped < cells; i++, clock_sleep_ms(1))
        (void)wire_sweep_status(k->wire, sweep, &status);
    CHECK_INT(status.skipped, cells);
}

static inline void run_sweep(struct kit *k, const char *keys, struct wish wish,
                             struct wire_sweep_status *status)
{
    (void)wait_sweep(k, begin_sweep(k, keys, wish), status);
}

static inline size_t run_folders(struct kit *k)
{
    struct record_entry *list;
    size_t n = 0;

    if (record_list(k->results, &list, &n, NULL) != ERR_OK)
        return 0;
    record_free_list(list, n);
    return n;
}

/* What the ledger says, by folder; the caller frees it. */
static inline struct record_cell *ledger_cells(struct kit *k, const char *name, size_t *n)
{
    struct record_ledger *l;
    struct record_cell *cells = NULL;
    struct err e;

    *n = 0;
    if (record_ledger_open(&l, k->results, name, &e) != ERR_OK ||
        record_ledger_cells(l, &cells, n, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    record_ledger_close(l);
    return cells;
}

static inline size_t lines_of(struct kit *k, const char *name, const char *word)
{
    char *path = mem_textf("%s/sweeps/%s/ledger.csv", k->results, name), *bytes;
    size_t n, count = 0;

    if (io_read_file(path, 1 << 24, &bytes, &n, NULL) == ERR_OK) {
        for (char *at = bytes; (at = strstr(at, word)); at++)
            count++;
        free(bytes);
    }
    free(path);
    return count;
}

static inline bool cell_command(struct kit *k, enum wire_command_kind kind, uint32_t sweep,
                                uint32_t cell, int by)
{
    struct wire_command c = {.kind = kind, .run = sweep, .cell = cell, .by = by};

    return wire_send(k->wire, &c);
}

#endif
