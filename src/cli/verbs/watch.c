/* cli/verbs/watch.c: chorus watch [RUN]: follows a run by reading its files, whoever owns it. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/work/drive.h"
#include "cli/sweeps/sweeps.h"
#include "cli/work/watch.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS  250
#define DEAD_ASK 8 /* looks in a row that must find it dead: its owner may be starting */

static const struct cli_usage usage = {
    "watch [RUN or SWEEP]",
    "Follows a run or a sweep of this or another process until it ends; without a name, the newest "
    "run.",
    "Ctrl-C ends the watching, not the run. The exit code is that of the run.\n"};

static double number(const struct sheet *s, size_t row, const char *column)
{
    return sheet_number(s, row, sheet_column(s, column));
}

/* The fields of one line of steps.csv, which holds nothing but numbers. */
static bool split_numbers(char *line, const int *columns, double *out)
{
    char *rest = line, *field;
    int found = 0;

    for (int i = 0; (field = strsep(&rest, ",")); i++) {
        for (int k = 0; k < 5; k++) {
            if (columns[k] != i)
                continue;
            if (!text_to_double(field, &out[k]))
                out[k] = NAN;
            found++;
        }
    }
    return found == 5 && isfinite(out[0]);
}

static void find_columns(struct watch *w, char *header)
{
    static const char *const names[] = {"step", "images", "train_seconds", "loss", "acc"};
    char *rest = header, *field;

    for (int k = 0; k < 5; k++)
        w->columns[k] = -1;
    for (int i = 0; (field = strsep(&rest, ",")); i++)
        for (int k = 0; k < 5; k++)
            if (!strcmp(field, names[k]))
                w->columns[k] = i;
}

/* The last whole line of the file. The file may be long: only its end is read, and only where it
 * grew (or shrank, by a resume). */
static void show_step(struct watch *w)
{
    char *path = io_path(w->folder, "steps.csv"), room[4097], *end, *line;
    enum err_code code;
    struct stat st;
    double v[5] = {0}, speed = 0;
    ssize_t got = 0;
    int fd;

    code = io_open_own(path, O_RDONLY, &fd, NULL);
    free(path);
    if (code != ERR_OK)
        return;
    if (w->columns[0] < 0 && (got = io.read(fd, room, sizeof room - 1)) > 0) {
        room[got] = 0;
        if ((end = strchr(room, '\n'))) {
            *end = 0;
            find_columns(w, room);
        }
    }
    got = 0;
    if (w->columns[0] >= 0 && io.fstat(fd, &st) == 0 && st.st_size != w->steps_end) {
        w->steps_end = st.st_size;
        io.seek(fd, st.st_size > 4096 ? st.st_size - 4096 : 0, SEEK_SET);
        got = io.read(fd, room, sizeof room - 1);
    }
    io.close(fd);
    if (got <= 0)
        return;
    room[got] = 0;
    if (!(end = strrchr(room, '\n')))
        return;
    *end = 0;
    line = strrchr(room, '\n');
    if (!line || !split_numbers(line + 1, w->columns, v))
        return; /* the header alone, or a line longer than any that we write */
    if (v[2] > 0)
        speed = v[1] * (w->progress.members > 1 ? w->progress.members : 1) / v[2];
    progress_step(&w->progress, (int64_t)v[0], v[3], v[4], speed, v[2]);
}

/* Steps of an epoch: known from a whole one; until then only the epoch's number is shown. */
static int64_t steps_of_epoch(const char *folder)
{
    int64_t steps = 0;
    struct sheet s;
    struct err e;

    if (record_read_sheet(folder, "epochs", &s, &e) != ERR_OK)
        return 0;
    if (s.rows && number(&s, s.rows - 1, "epoch") > 0)
        steps = (int64_t)(number(&s, s.rows - 1, "step") / number(&s, s.rows - 1, "epoch"));
    sheet_free(&s);
    return steps;
}

void watch_start(struct watch *w, const char *folder, bool quiet)
{
    *w = (struct watch){.folder = folder, .shown = -1, .columns = {-1, -1, -1, -1, -1}};
    progress_start(&w->progress, quiet);
}

void watch_begin(struct watch *w, const struct record_entry *entry)
{
    const struct spec *s = &entry->run.spec;
    int members = s->mode == SPEC_ENSEMBLE ? (s->members ? s->members : s->devices) : 1;

    progress_set(&w->progress, s->epochs, steps_of_epoch(w->folder), 0, members, s->max_steps);
}

void watch_look(struct watch *w, const struct record_entry *entry)
{
    const struct spec *s = &entry->run.spec;

    if (!w->progress.view.steps_per_epoch && w->shown > 0)
        progress_set(&w->progress, s->epochs, steps_of_epoch(w->folder), 0, w->progress.members,
                     s->max_steps);
    show_step(w);
    w->shown = progress_epochs(&w->progress, w->folder, w->shown);
    progress_doing(&w->progress, entry->run.state == WIRE_PAUSED    ? "paused"
                                 : entry->run.state == WIRE_WAITING ? "waiting"
                                                                    : NULL);
    progress_draw(&w->progress);
}

static bool is_over(const struct record_entry *entry)
{
    return !entry->broken && wire_state_ended(entry->run.state) && !entry->live;
}

static void sleep_a_little(void)
{
    struct pollfd wake = {.fd = cli_wake, .events = POLLIN};

    poll(&wake, 1, LOOK_MS);
    cli_wake_clear();
}

static void say_name(const struct record_entry *entry)
{
    struct text name = {0};

    text_add_clean(&name, entry->name);
    cli_talk("%s", text_str(&name));
    text_free(&name);
}

/* 0: it ended; else the exit code with which the watching ends. *entry is what was read last. */
static int follow(struct record_entry *entry, bool quiet)
{
    struct watch watch, *w = &watch;
    char *folder = mem_text(entry->folder);
    int dead = 0, code = 0;
    struct err e;

    watch_start(w, folder, quiet);
    if (!quiet)
        say_name(entry);
    watch_begin(w, entry);
    for (;;) {
        watch_look(w, entry);
        if (is_over(entry))
            break;
        /* A run that waits is owned by nobody until somebody resumes it. */
        dead = entry->dead || entry->broken ? dead + 1 : 0;
        if (dead > DEAD_ASK)
            break;
        sleep_a_little();
        if (cli_interrupts || cli_terminated || cli_hung_up) {
            code = err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
            break;
        }
        record_free_entry(entry);
        if (record_find(cli_results(), folder, entry, &e) != ERR_OK) {
            code = cli_fail(&e);
            break;
        }
    }
    watch_look(w, entry);
    progress_end(&w->progress);
    free(folder);
    return code;
}

static int finish(const struct record_entry *entry, bool quiet, bool json)
{
    struct drive_end end = {.state = entry->run.state};
    struct text text = {0};
    struct err e;

    if (record_check_whole(entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (entry->dead) {
        text_add_clean(&text, entry->folder);
        cli_talk("chorus: nobody runs it any more: its process is gone; chorus resume %s goes on",
                 text_str(&text));
        text_free(&text);
        return err_exit_code(ERR_FAILED);
    }
    snprintf(end.path, sizeof end.path, "%s", entry->folder);
    snprintf(end.reason, sizeof end.reason, "%s", entry->run.reason);
    return drive_finish(&end, quiet, json);
}

int cli_watch(int argc, char **argv)
{
    bool quiet = false, json = false;
    const struct cli_option options[] = {
        {"--quiet", NULL, "says nothing but the folder", &quiet},
        {"--json", NULL, "prints run.csv as an object instead of the folder", &json},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry entry;
    char sweep[128];
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc == 2 && sweeps_find(argv[1], sweep))
        return sweeps_watch(sweep, quiet, json);
    if (argc > 2 ? record_find_one(cli_results(), argv + 1, (size_t)argc - 1, &entry, &e) != ERR_OK
                 : cli_find_run(argc == 2 ? argv[1] : NULL, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    cli_signals_start();
    code = entry.broken ? 0 : follow(&entry, quiet);
    if (!code)
        code = finish(&entry, quiet, json);
    record_free_entry(&entry);
    return code;
}
