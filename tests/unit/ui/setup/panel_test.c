/* The panel of what a form means, with the real planner behind it: how long after a keystroke it is whole again,
 * for every field and every character. Processor time, in frames of the screen that a slow machine draws
 * as slowly; with CHORUS_TEST_ALL=1 milliseconds of it, too. What the clock says is printed. */
#include "tests/unit/ui/setup/setup_kit.h"

#include "engine/engine.h"
#include "record/run/run.h"
#include "ui/app/screens.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <time.h>

#define PANEL_MS 50 /* what is promised, of processor time */

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool whole(void)
{
    return kit.setup->turn == kit.setup->form.turn &&
           (!kit.setup->form.good || kit.setup->sum.complete);
}

/* Answers as the workbench's loop takes them. */
static bool panel_wait(void)
{
    double until = seconds(CLOCK_MONOTONIC) + 30;

    while (!whole()) {
        struct pollfd fds[2] = {{.fd = wire_fd(kit.app.config.wire), .events = POLLIN},
                                {.fd = tasks_fd(kit.app.tasks), .events = POLLIN}};
        struct wire_event event;

        poll(fds, 2, 1000);
        while (wire_take(kit.app.config.wire, &event)) {
            size_t n = 0;
            void *slot = event.slot ? wire_slot_take(kit.app.config.wire, event.slot, &n) : NULL;

            screen_setup.event(kit.setup, &event, slot, n);
            free(slot);
        }
        tasks_take(kit.app.tasks);
        if (seconds(CLOCK_MONOTONIC) > until)
            return false;
    }
    return true;
}

static double cost_of_frame(void)
{
    double least = INFINITY;

    for (int i = 0; i < 20; i++) {
        double from = seconds(CLOCK_THREAD_CPUTIME_ID);

        (void)kit_draw(42, 160);
        least = fmin(least, seconds(CLOCK_THREAD_CPUTIME_ID) - from);
    }
    return least;
}

struct panel_cost {
    double cpu, wall;
    char key[64], text[64];
};

/* One key, until the panel is whole and drawn. */
static void press(int32_t code, const char *field, struct panel_cost *worst,
                  struct panel_cost *slowest)
{
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    struct panel_cost *to[2] = {worst, slowest};

    screen_setup.key(kit.setup, &(struct key){.code = code});
    if (!panel_wait()) {
        TEST_FAILED("%s: the panel never was whole", field);
        return;
    }
    (void)kit_draw(42, 160);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (int i = 0; i < 2; i++) {
        if (i ? wall <= to[i]->wall : cpu <= to[i]->cpu)
            continue;
        *to[i] = (struct panel_cost){.cpu = cpu, .wall = wall};
        snprintf(to[i]->key, sizeof to[i]->key, "%s", field);
        snprintf(to[i]->text, sizeof to[i]->text, "%.60s", text_str(&kit.setup->line.text));
    }
}

/* What somebody types there: a value that is none yet, one, and a list where there can be one. */
static const char *typed_into(const struct form_field *f)
{
    static const char *const words[][2] = {
        {"data", "synthetic"},    {"valid", "10%"},       {"train_limit", "1000,2000"},
        {"model", "mlp,lenet"},   {"weights", "nowhere"}, {"name", "mine"},
        {"threads", "1/device"},  {"batch", "32/device"}, {"lr", "geom:0.01:1:20"},
        {"seed", "1,2,3"},        {"repeats", "20"},      {"zip", "batch,lr"},
        {"samples", "40"},        {"on_end", "true"},     {"devices", "1,2,4"},
        {"keep", "last+every:3"}, {"target_acc", "0.9"},  {"epsilon", "1e-7"}};

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(words[i][0], f->key))
            return words[i][1];
    if (f->is->choices && f->is->choices[0] && f->is->choices[1])
        return f->is->choices[1];
    return f->is->kind == FORM_NUMBER ? "0.25" : "12";
}

/* Runs that the planner reads to know how long such a run takes. */
static void make_runs(int count)
{
    struct text head = {0}, row = {0};

    for (size_t i = 0; record_run_columns[i]; i++) {
        const char *name = record_run_columns[i];

        text_addf(&head, "%s%s", i ? "," : "", name);
        text_addf(&row, "%s%s", i ? "," : "",
                  !strcmp(name, "state")             ? "done"
                  : !strcmp(name, "model")           ? "lenet"
                  : !strcmp(name, "train_seconds")   ? "12.5"
                  : !strcmp(name, "backend_used")    ? "cpu"
                  : !strcmp(name, "images")          ? "60000"
                  : !strcmp(name, "model_images")    ? "60000"
                  : !strcmp(name, "flops_per_image") ? "1e7"
                  : !strcmp(name, "isa")             ? "avx2"
                  : !strcmp(name, "precision_used")  ? "fp32"
                  : !strcmp(name, "parameters")      ? "129068"
                  : !strcmp(name, "eval_seconds")    ? "0.8"
                  : !strcmp(name, "wall_seconds")    ? "13.7"
                  : !strcmp(name, "epochs_done")     ? "1"
                                                     : "");
    }
    for (int k = 0; k < count; k++) {
        char *folder =
            mem_textf("%s/2026-11-20-10%02d%02d-000-lenet-%04x", kit.folder, k / 60, k % 60, k);
        char *path = mem_textf("%s/run.csv", folder),
             *file = mem_textf("%s\n%s\n", text_str(&head), text_str(&row));
        struct err e = {0};

        if (io_make_folders(folder, &e) != ERR_OK ||
            io_replace_file(path, file, strlen(file), &e) != ERR_OK)
            TEST_FAILED("%s", e.text);
        free(folder);
        free(path);
        free(file);
    }
    text_free(&head);
    text_free(&row);
}

/* What is told of them before a start, among so many runs that their names alone are read. */
static const char *weights_problem(const char *weights)
{
    struct err e = {0};

    if (form_set(&kit.setup->form, (size_t)form_find(&kit.setup->form, "weights"), weights, &e) !=
        ERR_OK)
        TEST_FAILED("%s", e.text);
    setup_ask(kit.setup);
    CHECK(panel_wait());
    return setup_problem(kit.setup);
}

TEST(the_panel_follows_each_keystroke)
{
    static const struct backend *const backends[] = {&cpu_backend, &ref_backend, NULL};
    struct engine_config config = {.backends = backends, .version = "test"};
    struct panel_cost worst = {0}, slowest = {0};
    struct engine *engine;
    struct err e = {0};
    double frame;
    int keys = 0;

    kit_start();
    make_runs(1500);
    config.results = kit.folder;
    REQUIRE_OK(engine_start(&engine, &config, kit.app.config.wire, &e));
    frame = cost_of_frame();
    /* Images that every machine has. */
    CHECK(form_set(&kit.setup->form, (size_t)form_find(&kit.setup->form, "data"), "synthetic",
                   &e) == ERR_OK);
    setup_ask(kit.setup);
    CHECK(panel_wait());
    for (size_t i = 0; i < kit.setup->form.fields && test_failures == 0; i++) {
        const char *typed = typed_into(&kit.setup->form.field[i]);
        char key[64];

        snprintf(key, sizeof key, "%s", kit.setup->form.field[i].key);
        setup_choose(kit.setup, i);
        setup_open_field(kit.setup);
        for (; *typed; typed++, keys++)
            press((unsigned char)*typed, key, &worst, &slowest);
        press(UI_ESC, key, &worst, &slowest);
        press(UI_RIGHT, key, &worst, &slowest);
        press('u', key, &worst, &slowest);
        keys += 3;
    }
    printf(
        "  %d keys; the dearest %.2f ms of processor (%s = %s), the slowest %.2f ms (%s = %s); a frame %.3f ms\n",
        keys, 1e3 * worst.cpu, worst.key, worst.text, 1e3 * slowest.wall, slowest.key, slowest.text,
        1e3 * frame);
    CHECK(keys > 200);
    CHECK(worst.cpu < 300 * frame);
    if (getenv("CHORUS_TEST_ALL"))
        CHECK(worst.cpu < PANEL_MS / 1e3);
    CHECK(weights_problem("lenet-0007") == NULL);
    CHECK(weights_problem("@2") == NULL);
    CHECK(weights_problem("lr=0.1") == NULL);
    CHECK_HAS(weights_problem("nonsense"), "weights: there is no run 'nonsense'");
    CHECK_HAS(weights_problem("no/such"), "no/such is not the folder of a run");
    wire_send(kit.app.config.wire, &(struct wire_command){.kind = WIRE_QUIT});
    engine_join(engine);
    kit_end();
}

static atomic_int models_read, machine_read;

static int count_open(const char *path, int flags, mode_t mode)
{
    atomic_fetch_add(&models_read, text_ends_with(path, "wide.net"));
    atomic_fetch_add(&machine_read, text_ends_with(path, "meminfo"));
    return open(path, flags, mode);
}

static void fill(const char *key, const char *value)
{
    struct err e = {0};

    if (form_set(&kit.setup->form, (size_t)form_find(&kit.setup->form, key), value, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

/* Of each kind another question is asked; what is the same for all is found once. */
static void check_many_kinds(const char *model, double frame)
{
    struct panel_cost worst = {0}, slowest = {0};
    double begun;

    fill("model", model);
    setup_ask(kit.setup);
    CHECK(panel_wait());
    CHECK_INT(kit.setup->sum.runs, FORECAST_KINDS);
    CHECK_INT(kit.setup->sum.unknown, 0);
    setup_choose(kit.setup, (size_t)form_find(&kit.setup->form, "epochs"));
    setup_open_field(kit.setup);
    for (int i = 0; i < 12; i++) {
        atomic_store(&models_read, 0);
        atomic_store(&machine_read, 0);
        begun = seconds(CLOCK_MONOTONIC);
        press(i % 2 ? UI_BACKSPACE : '1', model, &worst, &slowest);
        begun = seconds(CLOCK_MONOTONIC) - begun;
        CHECK(atomic_load(&models_read) <= 2 + (int)begun); /* the form reads it as well */
        CHECK(atomic_load(&machine_read) == 1 || begun >= 1);
    }
    press(UI_ESC, model, &worst, &slowest);
    printf("  %s: the dearest %.2f ms of processor, the slowest %.2f ms\n", model, 1e3 * worst.cpu,
           1e3 * slowest.wall);
    CHECK(worst.cpu < 1000 * frame);
    if (getenv("CHORUS_TEST_ALL"))
        CHECK(worst.cpu < PANEL_MS / 1e3);
}

TEST(the_panel_follows_as_many_kinds_of_cells_as_there_can_be)
{
    static const struct backend *const backends[] = {&cpu_backend, &ref_backend, NULL};
    struct engine_config config = {.backends = backends, .version = "test"};
    int (*real)(const char *, int, mode_t) = io.open;
    struct engine *engine;
    struct err e = {0};
    const char *text = net_builtin("lenet");
    double frame;

    kit_start();
    make_runs(500);
    config.results = kit.folder;
    REQUIRE_OK(io_replace_file("wide.net", text, strlen(text), &e));
    io.open = count_open; /* before the engine's threads are there */
    REQUIRE_OK(engine_start(&engine, &config, kit.app.config.wire, &e));
    frame = cost_of_frame();
    fill("data", "synthetic");
    fill("batch", "step:16:256:16");
    fill("devices", "1,2,4,8");
    fill("threads", "step:1:8:1");
    check_many_kinds("./wide.net", frame);
    check_many_kinds("resnet18", frame);
    wire_send(kit.app.config.wire, &(struct wire_command){.kind = WIRE_QUIT});
    engine_join(engine);
    io.open = real;
    kit_end();
}
