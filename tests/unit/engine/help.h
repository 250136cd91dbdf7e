/* tests/unit/engine/help.h: an engine on a folder of its own, a tiny network on synthetic images,
 * and what two runs that should be equal are compared by. */
#ifndef CHORUS_TESTS_UNIT_ENGINE_HELP_H
#define CHORUS_TESTS_UNIT_ENGINE_HELP_H

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "engine/engine.h"
#include "fake/fake.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "tests/test.h"
#include "wire/forecast.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIT_WAIT_MS 120000 /* what a test waits for anything before it fails */

struct kit {
    char *folder;  /* of everything */
    char *results; /* inside it */
    char *model;   /* the tiny network */
    struct wire *wire;
    struct engine *engine;
    uint32_t runs; /* numbers given */
    bool queue;    /* the engine takes from results/queue */

    /* What was heard of so far. */
    int events[16]; /* by kind */
    char refused[1024];
    enum err_code refused_code;
    struct wire_facts facts;       /* of the run that started last */
    struct wire_forecast forecast; /* the last answer that was final */
    struct wire_plan plan;         /* its, or why there is none */
    char logs[8192];
    bool (*on_event)(struct kit *k, const struct wire_event *event); /* true: stop waiting */
    int64_t mark;                                                    /* on_event's */
};

/* ref, cpu and fake, but that something can be made to happen before the update behind step kit_at. The
 * spans are cut there. */
static atomic_llong kit_at = -1;
static void (*kit_happen)(const struct backend_span *span); /* set while nothing runs */

static inline enum err_code kit_train(const struct backend *real, struct backend_session *s,
                                      const struct backend_span *span, struct backend_step *results,
                                      size_t *done, struct err *e)
{
    struct backend_span part = *span;
    long long at = atomic_load(&kit_at);

    if (at == (long long)span->first_step) {
        atomic_store(&kit_at, -1);
        kit_happen(span);
    } else if (at > (long long)span->first_step &&
               at < (long long)(span->first_step + span->count)) {
        part.count = (size_t)at - span->first_step;
    }
    return real->train(s, &part, results, done, e);
}

static inline enum err_code kit_train_ref(struct backend_session *s,
                                          const struct backend_span *span,
                                          struct backend_step *results, size_t *done, struct err *e)
{
    return kit_train(&ref_backend, s, span, results, done, e);
}

static inline enum err_code kit_train_fake(struct backend_session *s,
                                           const struct backend_span *span,
                                           struct backend_step *results, size_t *done,
                                           struct err *e)
{
    return kit_train(&fake_backend, s, span, results, done, e);
}

static inline enum err_code kit_train_cpu(struct backend_session *s,
                                          const struct backend_span *span,
                                          struct backend_step *results, size_t *done, struct err *e)
{
    return kit_train(&cpu_backend, s, span, results, done, e);
}

static struct backend kit_ref, kit_cpu, kit_fake;
static const struct backend *const kit_backends[] = {&kit_ref, &kit_cpu, &kit_fake, NULL};

__attribute__((constructor)) static void kit_make_backends(void)
{
    kit_ref = ref_backend;
    kit_ref.train = kit_train_ref;
    kit_cpu = cpu_backend;
    kit_cpu.train = kit_train_cpu;
    kit_fake = fake_backend;
    kit_fake.train = kit_train_fake;
}

static inline void kit_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f)) {
        perror(path);
        exit(1);
    }
}

static inline void kit_folder(struct kit *k)
{
    const char *base = getenv("TMPDIR");

    memset(k, 0, sizeof *k);
    setenv("CHORUS_FAKE", "1", 1);    /* or the key backend does not know it */
    setenv("CHORUS_CACHE", "off", 0); /* where others are seen to compute */
    k->folder = mem_textf("%s/chorus-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(k->folder)) {
        perror(k->folder);
        exit(1);
    }
    k->results = io_path(k->folder, "results");
    k->model = io_path(k->folder, "tiny.net");
    kit_write(k->model, "input 1 8 8\n"
                        "conv 3 3\n"
                        "batchnorm\n"
                        "relu\n"
                        "avgpool 2\n"
                        "dropout 0.2\n"
                        "dense classes\n");
}

static inline void kit_empty(const char *folder)
{
    char **names;
    size_t n;

    if (io_list_folder(folder, &names, &n, NULL) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char *path = io_path(folder, names[i]);
        struct stat st;

        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            kit_empty(path);
            rmdir(path);
        } else {
            unlink(path);
        }
        free(path);
    }
    io_free_names(names, n);
}

/* ring: events that the wire holds. span: steps at most, 0 as many as fit into the time. */
static inline void kit_engine(struct kit *k, size_t ring, int span)
{
    struct engine_config config = {.results = k->results,
                                   .backends = kit_backends,
                                   .version = "test",
                                   .max_span_steps = span,
                                   .queue = k->queue};
    struct err e;

    k->wire = wire_new(ring);
    if (engine_start(&k->engine, &config, k->wire, &e) != ERR_OK) {
        printf("%s\n", e.text);
        exit(1);
    }
}

static inline void kit_quit(struct kit *k)
{
    struct wire_command c = {.kind = WIRE_QUIT};

    if (!k->engine)
        return;
    wire_send(k->wire, &c);
    engine_join(k->engine);
    wire_free(k->wire);
    k->engine = NULL;
    k->wire = NULL;
}

static inline void kit_end(struct kit *k)
{
    struct fake_script none = {0};

    kit_quit(k);
    fake_set_script(&none);
    atomic_store(&kit_at, -1);
    kit_empty(k->folder);
    rmdir(k->folder);
    free(k->folder);
    free(k->results);
    free(k->model);
}

/* What the fake backend opens from now on waits before this step, until kit_let_go or a stop. */
static inline void kit_hold(struct kit *k, struct fake_script script, int64_t step)
{
    script.stuck_at = step;
    snprintf(script.stuck_file, sizeof script.stuck_file, "%s/gate", k->folder);
    unlink(script.stuck_file);
    fake_set_script(&script);
}

/* bytes: how many sessions stick there instead of going on, one of them each. */
static inline void kit_let_go(struct kit *k, const char *bytes)
{
    char *half = io_path(k->folder, "gate.half"), *gate = io_path(k->folder, "gate");

    kit_write(half, bytes);
    CHECK_INT(rename(half, gate), 0);
    free(half);
    free(gate);
}

static inline void kit_set(struct spec *s, const char *setting)
{
    char *copy = mem_text(setting), *equals = strchr(copy, '=');
    struct err e;

    *equals = '\0';
    if (spec_set(s, copy, equals + 1, NULL, NULL, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    free(copy);
}

/* Settings: "key=value" by "key=value", NULL at the end; they come behind those of a small run of
 * the fake backend: 96 images, batch 16, 6 steps an epoch, 3 epochs. */
static inline void kit_spec(struct kit *k, struct spec *s, ...)
{
    static const char *const usual[] = {"data=synthetic", "train_limit=96", "test_limit=40",
                                        "batch=16",       "epochs=3",       "backend=fake",
                                        "log_every=4",    "threads=1",      NULL};
    struct err e;
    va_list args;

    spec_default(s);
    if (spec_set(s, "model", k->model, NULL, NULL, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    va_start(args, s);
    for (size_t i = 0; i + 1 < MEM_COUNT(usual); i++)
        kit_set(s, usual[i]);
    for (const char *setting; (setting = va_arg(args, const char *));)
        kit_set(s, setting);
    va_end(args);
}

static inline bool kit_send(struct kit *k, enum wire_command_kind kind, uint32_t run)
{
    return wire_send(k->wire, &(struct wire_command){.kind = kind, .run = run});
}

static inline bool kit_wish(struct kit *k, uint32_t run, enum wire_wish wish)
{
    struct wire_command c = {.kind = WIRE_WISH, .run = run, .wish = wish};

    return wire_send(k->wire, &c);
}

static inline uint32_t kit_begin(struct kit *k, const struct wire_start *start)
{
    struct wire_command c = {.kind = WIRE_START, .run = ++k->runs};

    c.slot = wire_slot_put(k->wire, start, sizeof *start);
    wire_send(k->wire, &c);
    return k->runs;
}

static inline uint32_t kit_start(struct kit *k, const struct spec *s)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    uint32_t run;

    start->spec = *s;
    run = kit_begin(k, start);
    free(start);
    return run;
}

static inline uint32_t kit_resume(struct kit *k, const char *path, int64_t epochs)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    uint32_t run;

    snprintf(start->resume, sizeof start->resume, "%s", path);
    start->epochs = epochs;
    run = kit_begin(k, start);
    free(start);
    return run;
}

static inline bool kit_hear(struct kit *k, const struct wire_event *event)
{
    size_t n = 0;
    char *bytes = wire_slot_take(k->wire, event->slot, &n);

    k->events[event->kind]++;
    if (event->kind == WIRE_REFUSED) {
        snprintf(k->refused, sizeof k->refused, "%s", bytes ? bytes : "");
        k->refused_code = event->u.refused.code;
    }
    if (event->kind == WIRE_STARTED && n == sizeof k->facts)
        memcpy(&k->facts, bytes, n);
    if (event->kind == WIRE_FORECAST && n == sizeof k->forecast &&
        ((struct wire_forecast *)bytes)->final) {
        memcpy(&k->forecast, bytes, n);
        k->plan = k->forecast.plan;
        k->plan.code = k->forecast.planned ? ERR_OK : ERR_INPUT;
        memcpy(k->plan.error, k->forecast.problem, sizeof k->plan.error);
    }
    if (event->kind == WIRE_LOG && bytes && strlen(k->logs) + n + 2 < sizeof k->logs) {
        strcat(k->logs, bytes);
        strcat(k->logs, "\n");
    }
    free(bytes);
    return k->on_event && k->on_event(k, event);
}

/* Reads events until the run has ended (or, with on_event, that says so). False: it took too long. */
static inline bool kit_wait(struct kit *k, uint32_t run, struct wire_status *status)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    struct wire_event event;

    while (clock_ns() < until) {
        struct pollfd p = {.fd = wire_fd(k->wire), .events = POLLIN};

        poll(&p, 1, 20);
        while (wire_take(k->wire, &event))
            if (kit_hear(k, &event)) {
                wire_status(k->wire, run, status);
                return true;
            }
        if (wire_status(k->wire, run, status) && wire_state_ended(status->state)) {
            while (wire_take(k->wire, &event))
                if (kit_hear(k, &event))
                    return true;
            return true;
        }
    }
    TEST_FAILED("run %u has not ended after %d s", run, KIT_WAIT_MS / 1000);
    return false;
}

/* A whole run; returns its folder's path in status.path. */
static inline void kit_run(struct kit *k, const struct spec *s, struct wire_status *status)
{
    memset(status, 0, sizeof *status);
    kit_wait(k, kit_start(k, s), status);
}

static inline void kit_read_run(const char *path, struct record_run *run)
{
    struct record_entry entry;
    struct err e;

    memset(run, 0, sizeof *run);
    if (record_read_entry(path, &entry, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return;
    }
    if (entry.broken)
        TEST_FAILED("%s: %s", path, entry.problem);
    *run = entry.run;
    record_free_entry(&entry);
}

static inline bool kit_is_time(const char *column)
{
    static const char *const times[] = {
        "train_seconds",   "eval_seconds",   "device_seconds", "images_per_second", "input_seconds",
        "compute_seconds", "reduce_seconds", "wait_seconds",   "ended_utc",         NULL};

    for (int i = 0; times[i]; i++)
        if (!strcmp(times[i], column))
            return true;
    return false;
}

/* Every cell of a CSV but its times must be the same text. Returns how many rows there are. */
static inline size_t kit_same_sheet(const char *a, const char *b, const char *file)
{
    struct sheet x, y;
    struct err e;
    size_t rows = 0;

    if (record_read_sheet(a, file, &x, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return 0;
    }
    if (record_read_sheet(b, file, &y, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        sheet_free(&x);
        return 0;
    }
    if (x.rows != y.rows)
        TEST_FAILED("%s.csv: %zu and %zu rows", file, x.rows, y.rows);
    for (rows = 0; rows < x.rows && rows < y.rows; rows++)
        for (size_t c = 0; c < x.columns; c++) {
            const char *p = sheet_cell(&x, rows, (int)c), *q = sheet_cell(&y, rows, (int)c);

            if (!kit_is_time(x.names[c]) && strcmp(p, q))
                TEST_FAILED("%s.csv, row %zu, %s: %s and %s", file, rows + 1, x.names[c], p, q);
        }
    sheet_free(&x);
    sheet_free(&y);
    return rows;
}

static inline bool kit_tensors(const char *folder, const char *name, struct safetensors *s)
{
    char *path = io_path(folder, name);
    struct err e;
    bool read = safetensors_read(path, s, &e) == ERR_OK;

    if (!read)
        TEST_FAILED("%s", e.text);
    free(path);
    return read;
}

/* The weights, statistics and optimizer's state of two files must be the same bytes; what is the
 * engine's own holds times. */
static inline void kit_same_weights(const char *a, const char *b, const char *file)
{
    struct safetensors x = {0}, y = {0};
    int compared = 0;

    if (!kit_tensors(a, file, &x) || !kit_tensors(b, file, &y)) {
        safetensors_free(&x);
        return;
    }
    for (size_t i = 0; i < x.tensors; i++) {
        const struct safetensors_tensor *t = &x.tensor[i], *u = safetensors_find(&y, t->name);

        if (!strncmp(t->name, "engine/", 7))
            continue;
        compared++;
        if (!u || u->size != t->size || memcmp(u->bytes, t->bytes, t->size))
            TEST_FAILED("the tensors %s differ", t->name);
    }
    CHECK(compared > 0);
    CHECK_INT(x.tensors, y.tensors);
    safetensors_free(&x);
    safetensors_free(&y);
}

/* Everything that two equal runs must share. */
static inline void kit_same_runs(const char *a, const char *b, bool members)
{
    struct record_run x, y;

    CHECK(kit_same_sheet(a, b, "epochs") > 0);
    CHECK(kit_same_sheet(a, b, "steps") > 0);
    CHECK(kit_same_sheet(a, b, "devices") > 0);
    if (members)
        CHECK(kit_same_sheet(a, b, "members") > 0);
    kit_same_weights(a, b, "checkpoint.safetensors");
    kit_same_weights(a, b, "best.safetensors");
    kit_read_run(a, &x);
    kit_read_run(b, &y);
    CHECK_INT(x.state, y.state);
    CHECK_INT(x.epochs_done, y.epochs_done);
    CHECK_INT(x.best_epoch, y.best_epoch);
    CHECK_INT(x.images, y.images);
    CHECK(x.best_test_acc == y.best_test_acc && x.best_test_loss == y.best_test_loss);
    CHECK(x.last_test_acc == y.last_test_acc && x.last_test_loss == y.last_test_loss);
}

static inline void kit_copy_folder(const char *from, const char *to)
{
    char **names;
    size_t n;
    struct err e;

    mkdir(to, 0777);
    if (io_list_folder(from, &names, &n, &e) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char *a = io_path(from, names[i]), *b = io_path(to, names[i]), *bytes;
        size_t size;
        FILE *f;

        if (io_read_file(a, 1 << 28, &bytes, &size, NULL) == ERR_OK) {
            f = fopen(b, "w");
            if (f) {
                fwrite(bytes, 1, size, f);
                fclose(f);
            }
            free(bytes);
        }
        free(a);
        free(b);
    }
    io_free_names(names, n);
}

static inline bool kit_has(const char *folder, const char *name)
{
    char *path = io_path(folder, name);
    bool there = io_exists(path);

    free(path);
    return there;
}

#endif
