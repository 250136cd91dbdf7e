/* The command of the key on_end: `sh -c` in a process group of its own, so that it can be ended with
 * what it started. The engine thread starts it, a thread waits for it. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ender {
    struct wire *wire;
    pthread_t thread;
    pid_t child;
    pthread_mutex_t lock; /* of over: the process is there to be ended as long as it is false */
    bool over;
    int status; /* as waitpid gives it */
};

static void *wait_for_child(void *user)
{
    struct ender *end = user;
    siginfo_t info;

    /* It stays as it is until the lock is had: nobody else gets its number before that. */
    while (waitid(P_PID, (id_t)end->child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&end->lock);
    while (waitpid(end->child, &end->status, 0) < 0 && errno == EINTR)
        ;
    end->over = true;
    pthread_mutex_unlock(&end->lock);
    wire_poke(end->wire);
    return NULL;
}

/* The program's own surroundings and the two names that tell of the run. The caller frees the array
 * and its last two words but NULL. */
static char **surroundings(const char *folder, enum wire_state state)
{
    static const char *const own[] = {"CHORUS_RUN=", "CHORUS_STATE="};
    size_t n = 0, kept = 0;
    char **env;

    while (environ[n])
        n++;
    env = mem_new(n + 3, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], own[0], strlen(own[0])) &&
            strncmp(environ[i], own[1], strlen(own[1])))
            env[kept++] = environ[i];
    env[kept] = mem_textf("%s%s", own[0], folder);
    env[kept + 1] = mem_textf("%s%s", own[1], wire_state_name(state));
    return env;
}

static void free_surroundings(char **env)
{
    size_t n = 0;

    while (env[n])
        n++;
    free(env[n - 1]);
    free(env[n - 2]);
    free(env);
}

/* What it says goes into log.txt. It hears all signals, whatever this program does with them. */
static int spawn(const char *command, int log, char **env, pid_t *child)
{
    char *args[] = {"sh", "-c", (char *)command, NULL};
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    int error;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, log, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    error = posix_spawn(child, "/bin/sh", &files, &attr, args, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return error;
}

static int spawn_logged(struct run *r, char **env, pid_t *child)
{
    char *path = io_path(r->path, "log.txt");
    struct err e = {0};
    int log, error = EINVAL;

    if (io_open_own(path, O_WRONLY | O_APPEND | O_CREAT, &log, &e) == ERR_OK) {
        error = spawn(r->plan->spec.on_end, log, env, child);
        io.close(log);
    } else if (e.sys) {
        error = e.sys;
    }
    free(path);
    return error;
}

/* The record is closed: its log is written to as the command does. */
static void warn(struct run *r, const char *text)
{
    char *path = io_path(r->path, "log.txt"), utc[CLOCK_UTC_ROOM], *line;
    int fd;

    clock_utc(utc, clock_wall());
    line = mem_textf("%s on_end: %s\n", utc, text);
    if (io_open_own(path, O_WRONLY | O_APPEND, &fd, NULL) == ERR_OK) {
        if (io_write_all(fd, line, strlen(line), path, NULL) != ERR_OK)
            log_say(LOG_DEBUG, "%s could not be written", path);
        io.close(fd);
    }
    free(line);
    free(path);
    run_log(r, LOG_WARN, "on_end: %s", text);
}

static void start(struct run *r)
{
    char *folder = realpath(r->path, NULL), *text;
    char **env = surroundings(folder ? folder : r->path, r->state);
    struct ender *end = mem_new(1, sizeof *end);
    int error = spawn_logged(r, env, &end->child);

    end->wire = r->engine->wire;
    pthread_mutex_init(&end->lock, NULL);
    if (!error && (error = engine_thread(&end->thread, wait_for_child, end))) {
        kill(-end->child, SIGKILL); /* nobody would wait for it */
        while (waitpid(end->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (error) {
        text = mem_textf("the command could not be run: %s", strerror(error));
        warn(r, text);
        free(text);
        pthread_mutex_destroy(&end->lock);
        free(end);
    } else {
        r->ender = end;
    }
    free_surroundings(env);
    free(folder);
}

static void tell_failure(struct run *r, int status)
{
    char text[80];

    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "the command was ended by signal %d", WTERMSIG(status));
    else
        snprintf(text, sizeof text, "the command ended with exit code %d", WEXITSTATUS(status));
    if (WIFSIGNALED(status) || WEXITSTATUS(status))
        warn(r, text);
}

bool on_end_runs(struct run *r)
{
    bool over;

    if (r->commands_end && r->plan && r->plan->spec.on_end[0] && r->path[0])
        start(r);
    r->commands_end = false;
    if (!r->ender)
        return false;
    pthread_mutex_lock(&r->ender->lock);
    over = r->ender->over;
    pthread_mutex_unlock(&r->ender->lock);
    if (!over)
        return true;
    pthread_join(r->ender->thread, NULL);
    tell_failure(r, r->ender->status);
    pthread_mutex_destroy(&r->ender->lock);
    free(r->ender);
    r->ender = NULL;
    return false;
}

void on_end_stop(struct run *r)
{
    if (!r->ender)
        return;
    pthread_mutex_lock(&r->ender->lock);
    if (!r->ender->over)
        kill(-r->ender->child, SIGTERM);
    pthread_mutex_unlock(&r->ender->lock);
}
