/* RUN/control: lines from whoever watches a run to whoever owns it. Both sides hold a lock of the
 * file itself while they touch it, so that a line is either read whole or still there; lines that
 * were read are removed by emptying the file. */
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "record/file/disk.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define CONTROL_LIMIT 65536 /* no more is read at a time */

/* An empty line keeps the file's place on the disk: a stop must be heard where it is full. */
enum err_code record_keep_control(struct record *r, struct err *e)
{
    return io_write_all(r->control, "\n", 1, "control", e);
}

static void take_lines(struct record *r)
{
    char bytes[4096];
    ssize_t got;
    struct err e;

    if (io.lock(r->control, LOCK_EX | LOCK_NB) < 0)
        return; /* somebody is writing: next time */
    if (io.seek(r->control, 0, SEEK_SET) == 0) {
        while ((got = io.read(r->control, bytes, sizeof bytes)) > 0 && r->pending.n < CONTROL_LIMIT)
            text_add_n(&r->pending, bytes, (size_t)got);
        /* What cannot be taken away would be obeyed again and again. */
        if (r->pending.n && io.truncate(r->control, 0) < 0)
            text_clear(&r->pending);
        else if (r->pending.n && record_keep_control(r, &e) != ERR_OK)
            log_say(LOG_DEBUG, "%s/control: %s", r->folder, e.text);
    }
    io.lock(r->control, LOCK_UN);
}

/* Whether it was a change of tags or note. What cannot be written now is written with the next
 * run.csv; whoever asked waits until it is there. */
static bool take_edit(struct record *r, const char *line)
{
    enum record_edited edited = record_apply_edit(line, &r->marks);
    struct err e;

    if (edited == RECORD_CHANGED && record_write_marks(r->folder, &r->marks, &e) != ERR_OK)
        record_log(r, e.text);
    return edited != RECORD_NO_EDIT;
}

bool record_next_control(struct record *r, char *line, size_t room)
{
    struct stat st;

    if (r->taken >= r->pending.n) {
        text_clear(&r->pending);
        r->taken = 0;
        if (io.fstat(r->control, &st) == 0 && st.st_size > 1)
            take_lines(r);
    }
    while (r->taken < r->pending.n) {
        const char *at = r->pending.s + r->taken;
        size_t n = strcspn(at, "\n"), kept;
        char *copy = mem_text_n(at, n), *trimmed;
        bool any;
        copy[strcspn(copy, "\r")] = 0;
        trimmed = text_trim(copy);
        any = *trimmed != 0;
        r->taken += n;
        if (r->taken < r->pending.n) /* its LF, or a 0 byte that somebody wrote */
            r->taken++;
        if (any && take_edit(r, trimmed))
            any = false;
        if (any) {
            kept = strlen(trimmed) < room ? strlen(trimmed) : room - 1;
            memcpy(line, trimmed, kept);
            line[kept] = 0;
        }
        TRACE(RECORD, 1, "control of %s: %s", r->folder, trimmed);
        free(copy);
        if (any)
            return true;
    }
    return false;
}

static enum err_code append_line(int fd, const char *path, const char *line, struct err *e)
{
    char *text;
    enum err_code code;
    int tries = 0;

    while (io.lock(fd, LOCK_EX | LOCK_NB) < 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || ++tries > 100)
            return err_errno(e, "cannot lock %s", path);
        clock_sleep_ms(10);
    }
    text = mem_textf("%s\n", line);
    code = io_write_all(fd, text, strlen(text), path, e);
    free(text);
    return code;
}

enum err_code record_control(const char *folder, const char *line, struct err *e)
{
    char *path;
    int fd;
    enum err_code code;

    if (!record_is_owned(folder))
        return err_set(e, ERR_FAILED, "nobody runs %s: there is nobody to tell", folder);
    path = io_path(folder, "control");
    code = io_open_own(path, O_WRONLY | O_APPEND, &fd, e);
    if (code == ERR_OK) {
        code = append_line(fd, path, line, e);
        io.close(fd);
    }
    free(path);
    return code == ERR_OK ? code : record_say_read_only(folder, e);
}

/* An owner leaves an empty line. */
bool record_control_is_read(const char *folder)
{
    char *path = io_path(folder, "control");
    struct stat st;
    bool is = io.stat(path, &st) < 0 || st.st_size <= 1;

    free(path);
    return is;
}
