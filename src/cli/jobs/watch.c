/* cli/jobs/watch.c: the files of a run that another process computes, as lines. */
#include "cli/jobs/watch.h"

#include "base/err.h"
#include "base/io.h"
#include "base/text.h"
#include "record/run/reader.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
