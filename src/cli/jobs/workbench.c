/* cli/jobs/workbench.c: the engine and the screens side by side: what belongs to both is made here. What
 * becomes of what runs when the screens go stands in leave.c. */
#include "cli/jobs/workbench.h"

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/leave.h"
#include "cli/args/signals.h"
#include "cli/jobs/stuck.h"
#include "cli/jobs/sweep.h"
#include "data/data.h"
#include "data/places.h"
#include "engine/engine.h"
#include "net/net.h"
#include "ui/app/app.h"
#include "ui/screens.h"
#include "wire/wire.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS 4096

bool workbench_can(void)
{
    return cli_terminal(STDIN_FILENO) && cli_terminal(STDOUT_FILENO);
}

static bool has_runs(const char *results)
{
    char **names;
    size_t count;
    bool has = false;

    if (!io_exists(results) || io_list_folder(results, &names, &count, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < count && !has; i++)
        has = names[i][0] >= '0' && names[i][0] <= '9';
    io_free_names(names, count);
    return has;
}

static void add_device(struct text *out)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    text_addf(out, "cpu · %ld core%s", cores, text_s(cores));
}

static const char **model_names(void)
{
    int n = 0;
    const char **list;

    while (net_builtin_name(n))
        n++;
    list = mem_new((size_t)n + 1, sizeof *list);
    for (int i = 0; i < n; i++)
        list[i] = net_builtin_name(i);
    return list;
}

/* As they were when the screens opened: any thread may ask, and cli_places writes. */
static struct data_places places;

static uint64_t state_of(const char *data)
{
    return data_state(data, &places);
}

/* Frames that are compared with earlier ones stand still at this time, in seconds since 1970. */
static double stopped_clock(void)
{
    return atof(getenv("CHORUS_CLOCK"));
}

static bool read_frame(const char *frame, struct app_config *config)
{
    char more;

    return !frame || (sscanf(frame, "%dx%d%c", &config->columns, &config->rows, &more) == 2 &&
                      config->columns > 0 && config->columns <= 1000 && config->rows > 0 &&
                      config->rows <= 1000);
}

/* The wire may hold a first command; start: that of a run, or NULL. */
static int open_on(struct wire *wire, const struct workbench_options *o, const char *results,
                   int screen, const struct wire_start *start)
{
    struct app_config config = {.screens = ui_screens,
                                .wire = wire,
                                .results = results,
                                .program = "/proc/self/exe",
                                .start = start,
                                .started = screen == SCREEN_RUN ? DRIVE_RUN : 0,
                                .start_screen = screen,
                                .ascii = o->ascii,
                                .no_mouse = o->no_mouse,
                                .no_colour = getenv("NO_COLOR") && *getenv("NO_COLOR"),
                                .theme = o->theme,
                                .keys = o->keys};
    struct text device = {0};
    struct stuck_warden *warden;
    struct engine *engine;
    enum app_end end = APP_QUIT;
    const char **models;
    enum err_code code;
    struct err e, why;
    int left;

    if (!read_frame(o->frame, &config)) {
        wire_free(wire);
        return cli_refuse("--frame %.40s: a size is COLUMNSxROWS, such as 80x24", o->frame);
    }
    if (o->frame && getenv("CHORUS_CLOCK"))
        config.wall = stopped_clock;
    setenv("CHORUS_RESULTS", results, 1); /* for the verbs that screens start */
    places = *cli_places();
    if (places.given)
        setenv("CHORUS_DATA", places.given, 1);
    if (drive_open_on(wire, true, &engine, &e) != ERR_OK) {
        wire_free(wire);
        return cli_fail(&e);
    }
    add_device(&device);
    models = model_names();
    config.device = text_str(&device);
    config.model_names = models;
    config.data_state = state_of;
    config.signals = (struct app_signals){.interrupts = &cli_interrupts,
                                          .terminated = &cli_terminated,
                                          .hung_up = &cli_hung_up,
                                          .wake = cli_wake,
                                          .clear = cli_wake_clear,
                                          .late = drive_late};
    warden = stuck_watch(wire, engine);
    code = app_run(&config, &end, &why);
    live_start(); /* talk goes to stderr again */
    stuck_unwatch(warden);
    left = leave_workbench(code == ERR_OK ? end : APP_STOP, config.started, wire, engine);
    free(models);
    text_free(&device);
    return code != ERR_OK ? cli_fail(&why) : left;
}

/* Absolute: screens and programs that they start may be elsewhere. */
static char *results_folder(void)
{
    char here[PATH_MAX];

    return cli_results()[0] == '/' || !getcwd(here, sizeof here) ? mem_text(cli_results())
                                                                 : io_path(here, cli_results());
}

int workbench_open(const struct workbench_options *o)
{
    char *results = results_folder();
    int code = open_on(wire_new(EVENTS), o, results,
                       has_runs(results) ? SCREEN_RESULTS : SCREEN_SETUP, NULL);

    free(results);
    return code;
}

static int open_with(struct wire_command command, const void *slot, size_t bytes)
{
    struct wire *wire = wire_new(EVENTS);
    char *results = results_folder();
    struct workbench_options o = {0};
    int code;

    command.run = DRIVE_RUN;
    if (!wire_send_with(wire, command, slot, bytes)) {
        wire_free(wire);
        code = cli_refuse("the engine takes no commands");
    } else {
        code = open_on(wire, &o, results, SCREEN_RUN, command.kind == WIRE_START ? slot : NULL);
    }
    free(results);
    return code;
}

int workbench_run(const struct wire_start *start)
{
    return open_with((struct wire_command){.kind = WIRE_START}, start, sizeof *start);
}

int workbench_sweep(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    size_t n;
    struct wire_sweep *start = sweep_message(s, wish, &n);
    int code = open_with((struct wire_command){.kind = WIRE_SWEEP}, start, n);

    free(start);
    return code;
}
