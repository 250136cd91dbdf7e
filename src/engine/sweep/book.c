/* A sweep's folder: its text, its ledger, its sheet, and the lines that others write for all who work
 * on it. */
#include "engine/sweep/sweep_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/run/reader.h"
#include "record/sweep/ledger.h"
#include "record/sweep/sheet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define LOCK_MS 100 /* commands are not heard meanwhile */

/* sweep.ini: what `resume` reads. The first line holds the options, which are no keys. */
static enum err_code write_text(struct sweep *s, struct err *e)
{
    char *path = io_path(s->folder, "sweep.ini");
    struct text t = {0};
    enum err_code code;

    text_addf(&t, "# options: --order %s", s->grid ? "grid" : "spread");
    if (s->max_cells)
        text_addf(&t, " --max-cells %lld", (long long)s->max_cells);
    if (s->asked_jobs)
        text_addf(&t, " --jobs %d", s->asked_jobs);
    text_add(&t, "\n");
    spec_sweep_write(&s->spec, &t);
    code = io_replace_own(path, text_str(&t), t.n, e);
    text_free(&t);
    free(path);
    return code;
}

/* Nobody takes lines away: several programs may read them. What is older than this one's start is
 * not meant for it. An empty line makes room for others: a stop must be heard on a full disk too. */
static enum err_code open_control(struct sweep *s, struct err *e)
{
    char *path = io_path(s->folder, "control");
    enum err_code code;
    struct stat st;

    code = io_open_own(path, O_RDWR | O_CREAT | O_APPEND, &s->control, e);
    if (code == ERR_OK && io.fstat(s->control, &st) < 0)
        code = err_errno(e, "cannot open %s", path);
    else if (code == ERR_OK && !st.st_size)
        code = io_write_all(s->control, "\n", 1, path, e);
    if (code == ERR_OK)
        s->control_read = st.st_size;
    free(path);
    return code;
}

/* Who wants to know whether anybody is at work tries to have it alone, for a moment: whoever has it so
 * while it starts is the only one, also where others' processes cannot be asked for. */
static enum err_code share_work(struct sweep *s, struct err *e)
{
    char *path = io_path(s->folder, "work");
    enum err_code code = io_open_own(path, O_RDWR | O_CREAT, &s->work, e);

    if (code == ERR_OK && io.lock(s->work, LOCK_EX | LOCK_NB) == 0)
        io_remove_leftovers(s->folder, io_is_of_dead); /* each may be a whole table */
    for (int tries = 0; code == ERR_OK && io.lock(s->work, LOCK_SH | LOCK_NB) < 0; tries++) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || tries == 100)
            code = err_errno(e, "cannot lock %s", path);
        else
            clock_sleep_ms(2);
    }
    free(path);
    return code;
}

/* fresh: no folder of it is there yet, so that it can be begun in another one. */
static enum err_code open_files(struct sweep *s, bool fresh, struct err *e)
{
    enum err_code code = io_make_folders(s->folder, e);

    if (code == ERR_OK && !s->ledger)
        code = record_ledger_open_within(&s->ledger, s->engine->results, s->name, LOCK_MS, e);
    if (code == ERR_OK)
        code = record_ledger_begin(s->ledger, e); /* one starts at a time */
    if (code == ERR_OK) {
        code = open_control(s, e);
        if (code == ERR_OK && !s->prepare_only)
            code = share_work(s, e);
        if (code == ERR_OK)
            code = write_text(s, e);
        record_ledger_end(s->ledger);
    }
    if (code != ERR_OK && fresh)
        return record_say_elsewhere(s->engine->results, e);
    return code == ERR_OK ? code : record_say_read_only_in(s->engine->results, s->folder, e);
}

enum err_code book_open(struct sweep *s, struct err *e)
{
    enum err_code code;
    bool there;

    s->folder = mem_textf("%s/sweeps/%s", s->engine->results, s->name);
    there = io_exists(s->folder);
    code = open_files(s, !there, e);
    s->opened = code == ERR_OK;
    if (s->opened) {
        s->sheet_old = true;
        cell_order_read(s);
        cell_order_apply(s);
        return ERR_OK;
    }
    free(s->folder); /* nobody is told that this sweep stands there */
    s->folder = NULL;
    if (!there && e->sys != EWOULDBLOCK) /* a ledger that is busy is another one's too */
        record_ledger_take_away(s->engine->results, s->name);
    return code;
}

void book_close(struct sweep *s)
{
    record_ledger_close(s->ledger);
    if (s->control >= 0)
        io.close(s->control);
    if (s->work >= 0) {
        io.lock(s->work, LOCK_UN); /* a child may hold it open */
        io.close(s->work);
    }
    free(s->folder);
    s->ledger = NULL;
    s->folder = NULL;
    s->work = s->control = -1;
}

bool book_next_control(struct sweep *s, char *line, size_t room)
{
    char bytes[64];
    struct stat st;
    ssize_t got;
    size_t n;

    if (s->control < 0 || io.fstat(s->control, &st) < 0 || st.st_size <= s->control_read ||
        io.seek(s->control, s->control_read, SEEK_SET) < 0)
        return false;
    got = io.read(s->control, bytes, sizeof bytes - 1);
    if (got <= 0)
        return false;
    bytes[got] = 0;
    n = strcspn(bytes, "\n");
    if (n == (size_t)got && got < (ssize_t)sizeof bytes - 1)
        return false; /* not written to its end yet */
    bytes[n] = 0;
    s->control_read += (off_t)n + 1;
    snprintf(line, room, "%s", bytes);
    return true;
}

const char *book_orphan(struct sweep *s, const char *hash)
{
    for (size_t i = 0; i < s->orphans; i++) {
        struct record_cell *o = &s->orphan[i];
        char *folder = io_path(s->engine->results, o->run);
        bool fits = !strcmp(o->cell, hash) && record_is_run(folder) && !record_is_owned(folder);

        free(folder);
        if (fits)
            return o->run;
    }
    return NULL;
}

void book_add_orphan(struct sweep *s, const char *hash, const char *run)
{
    struct record_cell *o;

    s->orphan = mem_grow(s->orphan, &s->orphan_room, s->orphans + 1, sizeof *s->orphan);
    o = &s->orphan[s->orphans++];
    *o = (struct record_cell){.state = WIRE_WAITING};
    snprintf(o->cell, sizeof o->cell, "%s", hash);
    snprintf(o->run, sizeof o->run, "%s", run);
}

static void tell_values(struct sweep *s, size_t number, const char *hash, const char *reason)
{
    size_t axes = s->spec.axes, *place = mem_new(axes + 1, sizeof *place);
    struct text *value = mem_new(axes + 1, sizeof *value);
    const char **values = mem_new(axes + 1, sizeof *values);

    spec_sweep_place(&s->spec, number, place);
    for (size_t a = 0; a < axes; a++) {
        spec_add_plain(&value[a], s->spec.axis[a].value[place[a]]);
        values[a] = text_str(&value[a]);
    }
    record_ledger_expect(s->ledger, hash, values, reason);
    for (size_t a = 0; a < axes; a++)
        text_free(&value[a]);
    free(value);
    free(values);
    free(place);
}

/* What it came to while it could not be planned (its data were not there) stands under another name. */
static void take_back_bare(struct sweep *s, const struct cell *c)
{
    struct record_cell found;
    struct err e;

    if (c->kind < 0)
        return;
    record_ledger_look(s->ledger, c->bare, false, &found);
    if (wire_state_ended(found.state) && !found.run[0] &&
        record_ledger_add(s->ledger, c->bare, "", WIRE_WAITING, "it can be planned now", &e) !=
            ERR_OK)
        sweep_tell(s, LOG_WARN, "%s", e.text);
}

/* Each once, in the order in which they run; those that are impossible come behind. Returns whether
 * these are all that its lists name. */
static bool tell_cells(struct sweep *s)
{
    size_t impossible = 0;
    bool all;

    for (; s->told < s->seen; s->told++) {
        tell_values(s, s->cell[s->told].number, s->cell[s->told].hash, NULL);
        take_back_bare(s, &s->cell[s->told]);
    }
    pthread_mutex_lock(&s->lock);
    all = !s->counting && s->seen == s->counted; /* none comes behind these any more */
    if (all)
        impossible = s->left_out - s->twins;
    pthread_mutex_unlock(&s->lock);
    for (; s->told_impossible < impossible; s->told_impossible++) {
        const struct left_out *o = &s->impossible[s->told_impossible];

        tell_values(s, o->number, o->hash, o->reason);
    }
    return all;
}

void book_write_sheet(struct sweep *s, bool last)
{
    uint64_t start = clock_ns();
    const char **keys;
    struct err e = {0};
    enum err_code code;
    bool all;

    /* reading thousands of runs must not become the engine's main work */
    if (!s->sheet_old || !s->ledger ||
        (!last && start - s->sheet_ns < 100000000 + 20 * s->sheet_cost_ns))
        return;
    keys = mem_new(s->spec.axes + 1, sizeof *keys);
    for (size_t i = 0; i < s->spec.axes; i++)
        keys[i] = s->spec.axis[i].key;
    all = tell_cells(s);
    code = record_ledger_write_sheet(s->ledger, keys,
                                     !all     ? RECORD_TOLD_SOME
                                     : s->cut ? RECORD_TOLD_ASKED
                                              : RECORD_TOLD_ALL,
                                     &e);
    if (code != ERR_OK && last)
        sweep_tell(s, LOG_WARN, "%s", e.text);
    s->sheet_old = code != ERR_OK;
    s->sheet_whole = code == ERR_OK && all;
    s->sheet_ns = clock_ns();
    s->sheet_cost_ns = s->sheet_ns - start;
    free(keys);
}
