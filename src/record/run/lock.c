/* Who owns a run: whoever holds its file lock, and its model.net too. A lock file that somebody deletes hides its
 * owner from the next one, who makes a new file; no run goes on without its model.net. */
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "record/run/reader.h"
#include "record/record_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static enum err_code open_file(const char *folder, const char *name, int flags, int *fd,
                               struct err *e)
{
    char *path = io_path(folder, name);
    enum err_code code = io_open_own(path, flags, fd, e);

    free(path);
    return code;
}

/* For a fifth of a second: a reader that asks whether a run lives holds its lock for a moment. */
static bool take(int fd)
{
    for (int tries = 0; io.lock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || tries == 20)
            return false;
        clock_sleep_ms(10);
    }
    return true;
}

static enum err_code say_held(const char *folder, int fd, struct err *e)
{
    char owner[160];
    ssize_t n = fd < 0 || io.seek(fd, 0, SEEK_SET) < 0 ? 0 : io.read(fd, owner, sizeof owner - 1);

    owner[n > 0 ? n : 0] = 0;
    owner[strcspn(owner, "\n")] = 0;
    return err_set(e, ERR_FAILED, "run %s is at work already: %s holds its lock", folder,
                   owner[0] ? owner : "another process");
}

/* False: another process holds it. Where it cannot be locked at all, the lock file alone counts. */
static bool take_model(const char *folder, int *fd)
{
    return (open_file(folder, "model.net", O_RDWR, fd, NULL) != ERR_OK &&
            open_file(folder, "model.net", O_RDONLY, fd, NULL) != ERR_OK) ||
           take(*fd) || errno != EWOULDBLOCK;
}

enum err_code record_hold(const char *folder, bool make, struct record_hold *h, struct err *e)
{
    bool owned = !take_model(folder, &h->model);
    enum err_code code =
        open_file(folder, "lock", O_RDWR | (make && !owned ? O_CREAT : 0), &h->lock, e);

    if (owned)
        code = say_held(folder, h->lock, e);
    else if (code == ERR_IO && !make && e->sys == ENOENT)
        code = ERR_OK;
    else if (code == ERR_OK && !take(h->lock))
        code = errno == EWOULDBLOCK || errno == EINTR ? say_held(folder, h->lock, e)
                                                      : err_errno(e, "cannot lock %s", folder);
    TRACE(RECORD, 1, "%s %s", code == ERR_OK ? "held" : "not held", folder);
    if (code != ERR_OK)
        record_let_go(h);
    return code;
}

/* Closing alone would leave it held where a child was forked in between. */
static void let_go(int *fd)
{
    if (*fd >= 0) {
        io.lock(*fd, LOCK_UN);
        io.close(*fd);
    }
    *fd = -1;
}

void record_let_go(struct record_hold *h)
{
    let_go(&h->lock);
    let_go(&h->model);
}

enum err_code record_hold_model(const char *folder, struct record_hold *h, struct err *e)
{
    let_go(&h->model);
    return take_model(folder, &h->model) ? ERR_OK : say_held(folder, h->lock, e);
}

enum err_code record_write_owner(const struct record_hold *h, const char *folder, struct err *e)
{
    char host[128] = "this machine", utc[CLOCK_UTC_ROOM], *line;
    char *path = io_path(folder, "lock");
    enum err_code code = ERR_OK;

    gethostname(host, sizeof host - 1);
    clock_utc(utc, clock_wall());
    line = mem_textf("process %ld on %s, since %s\n", (long)getpid(), host, utc);
    if (io.seek(h->lock, 0, SEEK_SET) < 0)
        code = err_errno(e, "cannot write %s", path);
    else
        code = io_write_all(h->lock, line, strlen(line), path, e);
    if (code == ERR_OK && io.truncate(h->lock, (off_t)strlen(line)) < 0)
        code = err_errno(e, "cannot write %s", path);
    free(line);
    free(path);
    return code;
}

bool record_is_owned(const char *folder)
{
    bool owned = false;
    struct err e;
    int fd;

    if (open_file(folder, "lock", O_RDONLY, &fd, &e) == ERR_IO && e.sys == ENOENT)
        (void)!open_file(folder, "model.net", O_RDONLY, &fd, NULL);
    if (fd < 0)
        return false;
    /* Shared, so that two who ask do not take each other for the owner. */
    if (io.lock(fd, LOCK_SH | LOCK_NB) < 0)
        owned = errno == EWOULDBLOCK;
    io.close(fd);
    return owned;
}
