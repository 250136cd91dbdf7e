#include "base/system/trace.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

unsigned char trace_level[TRACE_ROOMS];

static const char *const names[TRACE_ROOMS] = {"io", "record", "engine", "wire", "ui", "cli"};
static int where = STDERR_FILENO;
static bool on;
static _Thread_local char work[64];

static enum err_code take_room(const char *word, size_t n, struct err *e)
{
    size_t name = strcspn(word, ":,");
    int level = name < n ? word[name + 1] - '0' : 1;

    if (name < n && (n != name + 2 || level < 0 || level > 9))
        return err_set(e, ERR_INPUT, "CHORUS_TRACE = %.*s: the level must be a digit, as in io:2",
                       (int)n, word);
    for (int i = 0; i < TRACE_ROOMS; i++)
        if (strlen(names[i]) == name && !memcmp(names[i], word, name)) {
            trace_level[i] = (unsigned char)level;
            return ERR_OK;
        }
    return err_set(e, ERR_INPUT,
                   "CHORUS_TRACE = %.*s: unknown room (allowed: io, record, engine, wire, ui, cli)",
                   (int)name, word);
}

enum err_code trace_start(struct err *e)
{
    const char *rooms = getenv("CHORUS_TRACE"), *path = getenv("CHORUS_TRACE_FILE");
    char whole[PATH_MAX];

    if (!rooms || !*rooms)
        return ERR_OK;
    for (const char *word = rooms; *word;) {
        size_t n = strcspn(word, ",");

        if (n)
            TRY(take_room(word, n, e));
        word += n + (word[n] == ',');
    }
    if (path && *path) {
        where = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (where < 0)
            return err_errno(e, "cannot open %s, which CHORUS_TRACE_FILE names", path);
        if (realpath(path, whole)) /* a process that begins in another folder means the same file */
            setenv("CHORUS_TRACE_FILE", whole, 1);
    }
    on = true;
    return ERR_OK;
}

void trace_work(const char *name)
{
    if (on)
        snprintf(work, sizeof work, "%s", name ? name : "");
}

void trace_say(enum trace_room room, const char *fmt, ...)
{
    int held = errno;
    char line[1024], at[16];
    struct timespec now;
    struct tm utc;
    size_t n;
    va_list args;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(at, sizeof at, "%H:%M:%S", &utc);
    n = (size_t)snprintf(line, sizeof line, "%s.%06ld %ld/%ld %s%s%s: ", at, now.tv_nsec / 1000,
                         (long)getpid(), syscall(SYS_gettid), names[room], *work ? " " : "", work);
    va_start(args, fmt);
    vsnprintf(line + n, sizeof line - n, fmt, args);
    va_end(args);
    n = strlen(line);
    n -= n == sizeof line - 1;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[n] = '\n';
    (void)!write(where, line, n + 1); /* whole: lines of several processes do not mix */
    errno = held;
}
