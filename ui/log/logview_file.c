/* ui/log/logview_file.c: the end of a run's log.txt, read by tasks. */
#include "ui/log/logview_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_BYTES (256 << 10) /* of log.txt */

struct tail {
    struct logview *view;
    char *run, *folder, *path, *bytes, *problem;
    size_t n, cut;
};

static void tail_work(void *arg)
{
    struct tail *t = arg;
    int fd = io.open(t->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    struct stat st;
    off_t from;
    ssize_t got;

    if (fd < 0 || io.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        t->problem = io_is_folder(t->folder)
                         ? mem_textf("This run has no log.txt yet; its place is %s.", t->path)
                         : mem_text("This run is not there any more; L shows the log of all.");
    } else {
        from = st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
        t->bytes = mem_new(TAIL_BYTES + 1, 1);
        while (io.seek(fd, from + (off_t)t->n, SEEK_SET) >= 0 && t->n < TAIL_BYTES &&
               (got = io.read(fd, t->bytes + t->n, TAIL_BYTES - t->n)) > 0)
            t->n += (size_t)got;
        if (from) { /* the first line is torn */
            size_t torn = strcspn(t->bytes, "\n");

            t->cut = (size_t)from + torn;
            memmove(t->bytes, t->bytes + torn, t->n - torn + 1);
            t->n -= torn;
        }
    }
    if (fd >= 0)
        io.close(fd);
}

static void tail_done(void *arg, bool dropped)
{
    struct tail *t = arg;
    struct logview *v = t->view;

    if (!dropped) {
        v->looking = false;
        if (v->run && !strcmp(v->run, t->run)) {
            free(v->file);
            free(v->problem);
            v->file = t->bytes;
            v->file_n = t->n;
            v->at_start = t->cut;
            v->problem = t->problem;
            t->bytes = t->problem = NULL;
            v->app->dirty = true;
        } else {
            logview_look(v); /* another was chosen meanwhile */
        }
    }
    free(t->bytes);
    free(t->problem);
    free(t->path);
    free(t->folder);
    free(t->run);
    free(t);
}

void logview_look(struct logview *v)
{
    struct tail *t;

    if (!v->run || v->looking || !v->app->tasks)
        return;
    t = mem_new(1, sizeof *t);
    t->view = v;
    t->run = mem_text(v->run);
    t->folder = io_path(v->app->config.results, v->run);
    t->path = io_path(t->folder, "log.txt");
    v->looking = true;
    v->looked_ns = app_ns(v->app);
    tasks_add(v->app->tasks, tail_work, tail_done, t);
}

void logview_leave_file(struct logview *v)
{
    free(v->run);
    free(v->file);
    free(v->problem);
    v->run = v->file = v->problem = NULL;
    v->file_n = v->at_start = 0;
    v->below = v->cursor = 0;
    v->follow = true;
}

void logview_show_file(struct logview *v)
{
    const struct feed_run *run = v->app->feed ? feed_current(v->app->feed) : NULL;
    const struct logview_line *line = v->follow && !v->only ? NULL : logview_chosen(v);
    const struct library_run *runs = NULL;
    const char *name = run && run->name[0] ? run->name : NULL;
    size_t n = 0;

    if (line && v->app->library && library_find(v->app->library, line->from))
        name = line->from;
    if (!name && v->app->library)
        runs = library_runs(v->app->library, &n);
    if (!name && n)
        name = runs[n - 1].name;
    if (!name) {
        app_say(v->app, GRID_DIM, "There is no run yet.");
        return;
    }
    name = mem_text(name);
    logview_leave_file(v);
    v->run = (char *)name;
    logview_look(v);
}
