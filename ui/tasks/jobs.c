#include "ui/tasks/jobs.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT_BYTES (1 << 20) /* of stdout */
#define TURN_BYTES (1 << 18) /* read from one job before others have their turn */
#define LINE_BYTES 4096      /* a longer line is told in parts */
#define GRACE_MS   2000      /* between asking a job to end and ending it */

struct pipe_end { /* what comes from stdout or stderr */
    int fd;       /* -1: it has been closed at the other end */
    struct text part;
};

struct job {
    char *verb;
    pid_t child;
    int watch;               /* pidfd: readable once it has ended; -1 on kernels without it */
    struct pipe_end from[2]; /* stdout, stderr */
    bool silent;             /* what it says is told to nobody */
    struct text out, last;
    void (*done)(void *user, const struct job_end *end);
    void *user;
    uint64_t mark;
};

struct jobs {
    char *program;
    void (*say)(void *user, const char *verb, const char *line);
    void *user;
    struct job **job;
    size_t n, room;
    const char *const *allowed; /* NULL: every verb */
};

struct jobs *jobs_new(const char *program,
                      void (*say)(void *user, const char *verb, const char *line), void *user)
{
    struct jobs *j = mem_new(1, sizeof *j);

    j->program = mem_text(program);
    j->say = say;
    j->user = user;
    return j;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void free_job(struct job *job)
{
    close_fd(&job->watch);
    for (int i = 0; i < 2; i++) {
        close_fd(&job->from[i].fd);
        text_free(&job->from[i].part);
    }
    text_free(&job->out);
    text_free(&job->last);
    free(job->verb);
    free(job);
}

static bool ends_within(pid_t child, int ms)
{
    for (int waited = 0;; waited += 10) {
        pid_t got = waitpid(child, NULL, WNOHANG);
        if (got == child || (got < 0 && errno == ECHILD))
            return true;
        if (waited >= ms)
            return false;
        poll(NULL, 0, 10);
    }
}

void jobs_free(struct jobs *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->n; i++)
        kill(-j->job[i]->child, SIGTERM);
    for (size_t i = 0; i < j->n; i++) {
        if (!ends_within(j->job[i]->child, GRACE_MS)) {
            kill(-j->job[i]->child, SIGKILL);
            waitpid(j->job[i]->child, NULL, 0);
        }
        free_job(j->job[i]);
    }
    free(j->job);
    free(j->program);
    free(j);
}

/* A session of its own: no signal of our terminal reaches it, and what it starts ends with it unless
 * that has taken a session too. */
static int spawn(const char *program, char **args, const int to[2], pid_t *child)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    int error;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, to[0], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, to[1], STDERR_FILENO);
    error = posix_spawn(child, program, &files, &attr, args, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return error;
}

static int open_pipe(int *ours, int *theirs)
{
    int ends[2];

    /* above the three that the child gets, so that none is put over another */
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    *ours = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
    *theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
    close(ends[0]);
    close(ends[1]);
    if (*ours < 0 || *theirs < 0)
        return EMFILE;
    fcntl(*ours, F_SETFL, fcntl(*ours, F_GETFL) | O_NONBLOCK);
    return 0;
}

void jobs_allow(struct jobs *j, const char *const *verbs)
{
    j->allowed = verbs;
}

static bool may_start(const struct jobs *j, const char *verb)
{
    if (!j->allowed)
        return true;
    for (size_t i = 0; verb && j->allowed[i]; i++)
        if (!strcmp(verb, j->allowed[i]))
            return true;
    return false;
}

enum err_code jobs_start(struct jobs *j, const char *const *args,
                         void (*done)(void *user, const struct job_end *end), void *user,
                         struct err *e)
{
    int to[2] = {-1, -1}, error = 0;
    struct job *job;
    size_t n = 0;
    char **all;

    if (!may_start(j, args[0]))
        return err_set(e, ERR_INPUT, "%s is not started here", args[0] ? args[0] : "nothing");
    job = mem_new(1, sizeof *job);
    job->watch = job->from[0].fd = job->from[1].fd = -1;
    job->verb = mem_text(args[0] ? args[0] : "");
    job->done = done;
    job->user = user;
    while (args[n])
        n++;
    all = mem_new(n + 2, sizeof *all);
    all[0] = j->program;
    for (size_t i = 0; i < n; i++)
        all[i + 1] = (char *)args[i];
    for (int i = 0; i < 2 && !error; i++)
        error = open_pipe(&job->from[i].fd, &to[i]);
    if (!error)
        error = spawn(j->program, all, to, &job->child);
    free(all);
    close_fd(&to[0]);
    close_fd(&to[1]);
    if (error) {
        free_job(job);
        errno = error;
        return err_errno(e, "cannot start %s %s", j->program, n ? args[0] : "");
    }
    job->watch = (int)syscall(SYS_pidfd_open, job->child, 0);
    if (job->watch >= 0)
        fcntl(job->watch, F_SETFD, FD_CLOEXEC);
    j->job = mem_grow(j->job, &j->room, j->n + 1, sizeof *j->job);
    j->job[j->n++] = job;
    return ERR_OK;
}

enum err_code jobs_start_silent(struct jobs *j, const char *const *args,
                                void (*done)(void *user, const struct job_end *end), void *user,
                                struct err *e)
{
    TRY(jobs_start(j, args, done, user, e));
    j->job[j->n - 1]->silent = true;
    return ERR_OK;
}

void jobs_mark(struct jobs *j, uint64_t mark)
{
    j->job[j->n - 1]->mark = mark;
}

size_t jobs_running(const struct jobs *j)
{
    return j->n;
}

size_t jobs_fds(const struct jobs *j, int *fds, size_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n; i++) {
        const int all[3] = {j->job[i]->watch, j->job[i]->from[0].fd, j->job[i]->from[1].fd};
        for (int k = 0; k < 3; k++)
            if (all[k] >= 0 && n < room)
                fds[n++] = all[k];
    }
    return n;
}

static void tell(struct jobs *j, struct job *job, int which)
{
    struct text clean = {0};

    text_add_clean(&clean, text_str(&job->from[which].part));
    text_clear(&job->from[which].part);
    if (clean.n && which == 1) {
        text_clear(&job->last);
        text_add(&job->last, !strncmp(clean.s, "chorus: ", 8) ? clean.s + 8 : clean.s);
    }
    if (j->say && !job->silent)
        j->say(j->user, job->verb, text_str(&clean));
    text_free(&clean);
}

static void add_bytes(struct jobs *j, struct job *job, int which, const char *bytes, size_t n)
{
    struct text *part = &job->from[which].part;

    if (which == 0 && job->out.n < KEPT_BYTES)
        text_add_n(&job->out, bytes, n < KEPT_BYTES - job->out.n ? n : KEPT_BYTES - job->out.n);
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || part->n >= LINE_BYTES)
            tell(j, job, which);
        if (bytes[i] && bytes[i] != '\n' && bytes[i] != '\r')
            text_add_n(part, bytes + i, 1);
    }
}

/* What a pipe holds now. True: something came. */
static bool take_pipe(struct jobs *j, struct job *job, int which)
{
    char bytes[4096];
    size_t taken = 0;

    while (job->from[which].fd >= 0 && taken < TURN_BYTES) {
        ssize_t n = read(job->from[which].fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            close_fd(&job->from[which].fd);
        } else {
            add_bytes(j, job, which, bytes, (size_t)n);
            taken += (size_t)n;
        }
    }
    return taken > 0;
}

static void end_job(struct jobs *j, size_t i, int status)
{
    struct job *job = j->job[i];
    struct job_end end;

    for (int k = 0; k < 2; k++)
        if (job->from[k].part.n)
            tell(j, job, k);
    end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    end.verb = job->verb;
    end.out = &job->out;
    end.last_line = text_str(&job->last);
    end.mark = job->mark;
    memmove(j->job + i, j->job + i + 1, (--j->n - i) * sizeof *j->job);
    if (job->done)
        job->done(job->user, &end);
    free_job(job);
}

bool jobs_take(struct jobs *j)
{
    bool came = false;

    for (size_t i = 0; i < j->n;) {
        struct job *job = j->job[i];
        siginfo_t info = {0};
        bool over = waitid(P_PID, (id_t)job->child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
                    info.si_pid == job->child;
        bool more = false;
        int status = 0;

        /* In this order: what it wrote before it ended is in the pipes. */
        for (int k = 0; k < 2; k++)
            more |= take_pipe(j, job, k);
        came |= more;
        if (!over || more) {
            i++;
            continue;
        }
        if (waitpid(job->child, &status, 0) != job->child)
            status = 0; /* somebody else took it */
        came = true;
        end_job(j, i, status);
    }
    return came;
}
