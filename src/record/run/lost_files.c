/* record/run/lost_files.c: writes files again that were removed while their run works: rows from the file that is
 * still open, experiment.ini and model.net from their text. */
#include "base/io.h"
#include "base/mem.h"
#include "base/process.h"
#include "record/record_int.h"
#include "record/run/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* What cannot be looked at counts as there: whoever writes it next says why it cannot. */
static bool is_there(const struct record_csv *c)
{
    struct stat own, there;

    if (io.fstat(c->fd, &own) < 0)
        return true;
    if (io.stat(c->path, &there) < 0)
        return errno != ENOENT;
    return own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static enum err_code copy_rows(const struct record_csv *c, int to, struct err *e)
{
    char bytes[4096];
    off_t left = c->size;

    if (io.seek(c->fd, 0, SEEK_SET) < 0)
        return err_errno(e, "cannot read %s", c->path);
    while (left > 0) {
        ssize_t got =
            io.read(c->fd, bytes, left < (off_t)sizeof bytes ? (size_t)left : sizeof bytes);

        if (got <= 0)
            return err_errno(e, "cannot read %s", c->path);
        TRY(io_write_all(to, bytes, (size_t)got, c->path, e));
        left -= got;
    }
    return io.sync(to) < 0 ? err_errno(e, "cannot write %s to the disk", c->path) : ERR_OK;
}

/* By rename, so that a link in its place is replaced and not followed. */
static enum err_code write_again(struct record_csv *c, struct err *e)
{
    char *mark = process_mark(), *temp = mem_textf("%s.tmp-%s", c->path, mark);
    int fd = io.open(temp, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    enum err_code code = fd < 0 ? err_errno(e, "cannot create %s", c->path) : ERR_OK;

    if (code == ERR_OK)
        code = copy_rows(c, fd, e);
    if (code == ERR_OK && io.rename(temp, c->path) < 0)
        code = err_errno(e, "cannot rename %s to %s", temp, c->path);
    if (code == ERR_OK) {
        io.close(c->fd);
        c->fd = fd;
        c->torn = false;
    } else if (fd >= 0) {
        io.close(fd);
        io.unlink(temp);
    }
    free(temp);
    free(mark);
    return code;
}

static void add_name(struct text *names, const char *name)
{
    text_addf(names, "%s%s", names->n ? ", " : "", name);
}

/* Only a missing file: a user may edit one that is there. */
static enum err_code mend_text(struct record *r, const char *name, const char *text,
                               struct text *names, struct err *e)
{
    char *path = io_path(r->folder, name);
    enum err_code code = ERR_OK;

    if (!io_exists(path)) {
        code = io_replace_own(path, text, strlen(text), e);
        if (code == ERR_OK)
            add_name(names, name);
    }
    free(path);
    return code;
}

/* The lock on the removed model.net says nothing to other processes: the new one gets its own. */
static enum err_code mend_model(struct record *r, const char *net_text, struct text *names,
                                struct err *e)
{
    size_t before = names->n;

    TRY(mend_text(r, "model.net", net_text, names, e));
    return names->n > before ? record_hold_model(r->folder, &r->hold, e) : ERR_OK;
}

enum err_code record_mend(struct record *r, const char *ini, const char *net_text,
                          struct text *names, struct err *e)
{
    for (int i = 0; i < RECORD_CSVS; i++) {
        struct record_csv *c = &r->csv[i];

        if (c->fd < 0 || is_there(c))
            continue;
        TRY(write_again(c, e));
        add_name(names, c->name);
    }
    TRY(mend_text(r, "experiment.ini", ini, names, e));
    TRY(mend_model(r, net_text, names, e));
    return names->n ? io_sync_folder(r->folder, e) : ERR_OK;
}
