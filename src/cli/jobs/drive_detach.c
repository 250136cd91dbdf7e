/* cli/jobs/drive_detach.c: run --background: a process of its own, in a session of its own. */
#include "cli/jobs/drive.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "data/data.h"
#include "record/find.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 30000
#define LOOK_MS 20

/* A session of its own: no terminal's signals reach it. What it says goes to log.txt. */
enum err_code drive_spawn(char **args, const char *log, pid_t *child, struct err *e)
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

/* "chorus resume RUN --quiet", or "chorus queue run --quiet". */
static int add_command(char *args[12], const char *run, bool queue)
{
    int n = 0;

    args[n++] = "chorus";
    args[n++] = run ? "resume" : "queue";
    args[n++] = run ? (char *)run : "run";
    args[n++] = "--quiet";
    args[n++] = "--results";
    args[n++] = (char *)cli_results();
    if (cli_places()->given) {
        args[n++] = "--data-dir";
        args[n++] = (char *)cli_places()->given;
    }
    if (run && queue)
        args[n++] = "--queue";
    return n;
}

static enum err_code start(const char *folder, int64_t epochs, bool queue, pid_t *child,
                           struct err *e)
{
    char *log = io_path(folder, "log.txt"), *more = NULL;
    char *args[12] = {0};
    int n = add_command(args, folder, queue);
    enum err_code code;

    if (epochs) {
        more = mem_textf("epochs=%lld", (long long)epochs);
        args[n++] = more;
    }
    code = drive_spawn(args, log, child, e);
    free(log);
    free(more);
    return code;
}

void drive_add_last_line(struct text *out, const char *log)
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

static bool owned(const char *folder, pid_t child)
{
    struct record_entry entry;
    struct err e;
    bool is = false;

    if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
        return false;
    is = entry.live && entry.run.pid == (int64_t)child;
    record_free_entry(&entry);
    return is;
}

static int print_folder(const char *folder, bool json)
{
    struct record_entry entry;
    struct text out = {0};
    struct err e;
    int code;

    if (!json)
        return cli_printf("%s\n", folder);
    if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    cli_json_run(&out, &entry.run);
    text_add(&out, "\n");
    code = cli_print(&out);
    text_free(&out);
    record_free_entry(&entry);
    return code;
}

int drive_detach(const char *folder, int64_t epochs, bool queue, bool quiet, bool json)
{
    struct text why = {0}, shown = {0};
    struct err e;
    int status = 0, code = 0;
    pid_t child;

    if (start(folder, epochs, queue, &child, &e) != ERR_OK)
        return cli_fail(&e);
    for (int waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
        if (waitpid(child, &status, WNOHANG) == child) {
            /* A short run may be over before we looked. */
            code = WIFEXITED(status) ? WEXITSTATUS(status) : err_exit_code(ERR_FAILED);
            break;
        }
        if (owned(folder, child))
            break;
        clock_sleep_ms(LOOK_MS);
    }
    text_add_clean(&shown, folder);
    if (code) {
        char *log = io_path(folder, "log.txt");

        drive_add_last_line(&why, log);
        free(log);
        cli_talk("chorus: the run in the background ended at once: %s", text_str(&why));
    } else if (!quiet) {
        cli_talk("runs in the background; chorus watch, pause or stop %s%s", text_str(&shown),
                 again());
    }
    text_free(&why);
    text_free(&shown);
    if (print_folder(folder, json) && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}

/* Where a process without a run of its own leaves what it says: beside what it takes. */
static char *log_of(const char *run, bool sweep)
{
    char *folder = !run    ? io_path(cli_results(), "queue")
                   : sweep ? sweeps_folder(run)
                           : mem_text(run);
    char *log = io_path(folder, run ? "log.txt" : ".log");

    free(folder);
    return log;
}

/* One that takes from the queue may have to wait until it can: then it is enough that it lives. */
static bool took_over(const char *run, bool sweep, pid_t child, int waited)
{
    if (!run)
        return waited > 1000 || record_queue_owner(cli_results()) == (int64_t)child;
    return sweep ? sweeps_live(run) : owned(run, child);
}

enum err_code drive_leave(const char *run, struct err *e)
{
    char name[128], *log, *args[12] = {0};
    bool sweep = run && sweeps_find(run, name), over = false;
    struct text why = {0};
    enum err_code code;
    int status = 0;
    pid_t child;

    run = sweep ? name : run;
    log = log_of(run, sweep);
    (void)add_command(args, run, true);
    code = drive_spawn(args, log, &child, e);
    for (int waited = 0; code == ERR_OK && !over && waited < WAIT_MS; waited += LOOK_MS) {
        over = waitpid(child, &status, WNOHANG) == child || took_over(run, sweep, child, waited);
        if (!over)
            clock_sleep_ms(LOOK_MS);
    }
    if (code == ERR_OK && (!WIFEXITED(status) || WEXITSTATUS(status))) {
        drive_add_last_line(&why, log);
        code = err_set(e, ERR_FAILED, "the process that was to go on ended at once: %s",
                       text_str(&why));
    }
    text_free(&why);
    free(log);
    return code;
}
