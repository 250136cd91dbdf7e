/* cli/jobs/handover.c: another process goes on, or this one anew. */
#include "cli/jobs/handover.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/signals.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "data/data.h"
#include "record/find.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "wire/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ARGS 20
#define WAIT_MS   30000
#define LOOK_MS   20
#define QUEUE_MS                                                                                   \
    1000 /* who takes from the queue may have to wait until it can: it is enough that it lives */

/* The command, whose words the caller keeps until it has begun. */
static void make_args(const struct handover *h, char *args[MOST_ARGS])
{
    int n = 0;

    args[n++] = "chorus";
    args[n++] = h->name ? "resume" : "queue";
    args[n++] = h->name ? (char *)h->name : "run";
    if (h->epochs)
        args[n++] = mem_textf("epochs=%lld", (long long)h->epochs);
    if (h->failed)
        args[n++] = "--failed";
    if (h->name && h->failed_before && h->failed_before[0])
        args[n++] = mem_textf("--failed-before=%s", h->failed_before);
    if (h->name && h->queue)
        args[n++] = "--queue";
    if (h->bad_before)
        args[n++] = "--bad-before";
    if (h->quiet)
        args[n++] = "--quiet";
    if (h->json)
        args[n++] = "--json";
    args[n++] = "--results";
    args[n++] = (char *)cli_results();
    if (cli_places()->given) {
        args[n++] = "--data-dir";
        args[n++] = (char *)cli_places()->given;
    }
    args[n] = NULL;
}

/* ---- this process anew ---- */

int handover_restart(const struct handover *h)
{
    char *args[MOST_ARGS];
    struct err e;

    /* From here on signals wait for the new program, which unblocks them when it hears them. */
    cli_signals_block();
    if (cli_interrupts || cli_terminated) {
        cli_signals_unblock();
        if (h->name && !h->quiet)
            cli_talk("stopped; to go on: chorus resume %s%s", h->name, again());
        return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
    }
    make_args(h, args);
    fflush(NULL);
    /* What the driver opened must not be open in the new program: it would hold the GPU's memory. */
    (void)close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    execv("/proc/self/exe", args);
    err_errno(&e, "the program could not start itself anew%s%s", h->name ? " to go on with " : "",
              h->name ? h->name : "");
    cli_signals_unblock();
    return cli_fail(&e);
}

/* ---- a process of its own ---- */

/* A session of its own: no terminal's signals reach it. What it says goes to the log. */
static enum err_code spawn(char **args, const char *log, pid_t *child, struct err *e)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    sigset_t set;
    int error, fd;

    TRY(io_open_own(log, O_WRONLY | O_APPEND | O_CREAT, &fd, e));
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGQUIT);
    posix_spawnattr_setsigdefault(&attr, &set);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, fd, STDERR_FILENO);
    error = posix_spawn(child, "/proc/self/exe", &files, &attr, args, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    io.close(fd);
    errno = error;
    return error ? err_errno(e, "no process for the run in the background, logging to %s", log)
                 : ERR_OK;
}

static bool owned(const char *folder, pid_t child)
{
    struct record_entry entry;
    bool is = false;

    if (record_find(cli_results(), folder, &entry, NULL) != ERR_OK)
        return false;
    is = entry.live && entry.run.pid == (int64_t)child;
    record_free_entry(&entry);
    return is;
}

static bool took_over(const struct handover *h, bool sweep, pid_t child, int waited)
{
    if (!h->name)
        return waited > QUEUE_MS || record_queue_owner(cli_results()) == (int64_t)child;
    return sweep ? sweeps_live(h->name) : owned(h->name, child);
}

/* Where a process without a run of its own leaves what it says: beside what it takes. */
static char *log_of(const char *name, bool sweep)
{
    char *folder = !name   ? io_path(cli_results(), "queue")
                   : sweep ? sweeps_folder(name)
                           : mem_text(name);
    char *log = io_path(folder, name ? "log.txt" : ".log");

    free(folder);
    return log;
}

/* The last line of a log, which says why it died. */
static void add_last_line(struct text *out, const char *log)
{
    char *bytes = NULL, *line;
    size_t n;
    struct err e;

    if (io_read_file(log, 64 << 20, &bytes, &n, &e) != ERR_OK)
        return;
    while (n && bytes[n - 1] == '\n')
        bytes[--n] = 0;
    line = strrchr(bytes, '\n');
    line = line ? line + 1 : bytes;
    text_add_clean(out, !strncmp(line, "chorus: ", 8) ? line + 8 : line);
    free(bytes);
}

/* code: of the process, where it ended before it was seen to have taken over, as a short one may; why: what it
 * said last, where that is not 0. */
static enum err_code start(const struct handover *h, bool sweep, int *code, struct text *why,
                           struct err *e)
{
    char *log = log_of(h->name, sweep), *args[MOST_ARGS];
    enum err_code begun;
    int status = 0;
    bool over = false;
    pid_t child;

    *code = 0;
    make_args(h, args);
    begun = spawn(args, log, &child, e);
    for (int waited = 0; begun == ERR_OK && !over && waited < WAIT_MS; waited += LOOK_MS) {
        over = waitpid(child, &status, WNOHANG) == child;
        if (over)
            *code = WIFEXITED(status) ? WEXITSTATUS(status) : err_exit_code(ERR_FAILED);
        over = over || took_over(h, sweep, child, waited);
        if (!over)
            clock_sleep_ms(LOOK_MS);
    }
    if (*code)
        add_last_line(why, log);
    free(log);
    return begun;
}

enum err_code handover_leave(const char *name, struct err *e)
{
    char found[128];
    bool sweep = name && sweeps_find(name, found);
    const struct handover h = {.name = sweep ? found : name, .queue = true, .quiet = true};
    struct text why = {0};
    enum err_code code;
    int ended;

    code = start(&h, sweep, &ended, &why, e);
    if (code == ERR_OK && ended)
        code = err_set(e, ERR_FAILED, "the process that was to go on ended at once: %s",
                       text_str(&why));
    text_free(&why);
    return code;
}

/* ---- --background ---- */

static int detach(const struct handover *h, bool sweep, bool quiet)
{
    struct text why = {0};
    struct err e;
    int code;

    if (start(h, sweep, &code, &why, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (code)
        cli_talk("chorus: the %s in the background ended at once: %s", sweep ? "sweep" : "run",
                 text_str(&why));
    else if (!quiet)
        cli_talk("runs in the background; chorus watch, pause or stop %s%s", h->name, again());
    text_free(&why);
    return code;
}

static int print_folder(const char *folder, bool json)
{
    struct record_entry entry;
    struct err e;
    int code;

    if (!json)
        return cli_printf("%s\n", folder);
    if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    code = cli_print_run(&entry, json);
    record_free_entry(&entry);
    return code;
}

int handover_run(const char *folder, int64_t epochs, bool queue, bool quiet, bool json)
{
    const struct handover h = {.name = folder, .epochs = epochs, .queue = queue, .quiet = true};
    int code = detach(&h, false, quiet);

    if (print_folder(folder, json) && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}

/* How much of it there was before. */
static void say_unfinished(const struct sweep_wish *wish)
{
    struct live_sweep *s;
    struct text line = {0};

    if (!wish->goes_on || wish->failed || wish->quiet)
        return;
    s = sweeps_open(wish->name);
    sweeps_add_before(&line, wire_sweep_ended(&s->is) - s->is.skipped, s->is.skipped, s->is.cells,
                      "");
    text_addf(&line, ", %s to run", TEXT_COUNT(sweeps_left(s)));
    if (!s->problem)
        cli_talk("%s", text_str(&line));
    text_free(&line);
    live_sweep_free(s);
}

int handover_sweep(const struct sweep_wish *wish)
{
    const struct handover h = {
        .name = wish->name, .failed = wish->failed, .queue = wish->queue, .quiet = true};
    int code;

    say_unfinished(wish);
    code = detach(&h, true, wish->quiet);
    if (sweeps_print(wish->name, wish->json, "running") && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}
