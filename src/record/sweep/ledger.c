/* The book of a sweep. A line is one write at the file's end under the file's own lock, so that
 * readers, who take no lock, see whole lines and a torn one at most at the end. */
#include "record/sweep/ledger.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/run/reader.h"
#include "record/sweep/ledger_int.h"
#include "record/sweep/sheet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define WAIT_MS 30000 /* nobody holds the lock for longer than a run's folder takes to be made */
#define PIECE   65536

static enum err_code new_ledger(struct record_ledger **out, const char *results, const char *name,
                                struct err *e)
{
    struct record_ledger *l;

    *out = NULL;
    if (!*name || strchr(name, '/') || name[0] == '.' || strlen(name) > 200)
        return err_set(e, ERR_INPUT, "'%.100s' is no name for a sweep: it becomes a folder's",
                       name);
    l = mem_new(1, sizeof *l);
    l->results = mem_text(results);
    l->folder = mem_textf("%s/sweeps/%s", results, name);
    l->path = io_path(l->folder, "ledger.csv");
    l->fd = -1;
    *out = l;
    return ERR_OK;
}

enum err_code record_ledger_open(struct record_ledger **out, const char *results, const char *name,
                                 struct err *e)
{
    return record_ledger_open_within(out, results, name, WAIT_MS, e);
}

enum err_code record_ledger_open_within(struct record_ledger **out, const char *results,
                                        const char *name, int wait_ms, struct err *e)
{
    struct record_ledger *l;
    enum err_code code;

    *out = NULL;
    TRY(new_ledger(&l, results, name, e));
    l->wait_ms = wait_ms;
    code = io_make_folders(l->folder, e);
    if (code == ERR_OK)
        code = record_ledger_begin(l, e); /* the header, and what stands in it */
    if (code != ERR_OK) {
        record_ledger_close(l);
        return code;
    }
    record_ledger_end(l);
    *out = l;
    return ERR_OK;
}

enum err_code record_ledger_open_to_read(struct record_ledger **out, const char *results,
                                         const char *name, struct err *e)
{
    struct record_ledger *l;
    enum err_code code;

    *out = NULL;
    TRY(new_ledger(&l, results, name, e));
    l->to_read = true;
    code = io_open_own(l->path, O_RDONLY, &l->fd, e);
    if (code != ERR_OK)
        record_ledger_close(l);
    else
        *out = l;
    return code;
}

void record_ledger_close(struct record_ledger *l)
{
    if (!l)
        return;
    record_ledger_end(l);
    if (l->fd >= 0)
        io.close(l->fd);
    ledger_forget_lines(l);
    for (size_t i = 0; i < l->rows; i++) {
        for (size_t k = 0; k < l->row[i].values; k++)
            free(l->row[i].value[k]);
        free(l->row[i].value);
        free(l->row[i].impossible);
    }
    free(l->row);
    free(l->place);
    free(l->keys);
    text_free(&l->rest);
    free(l->results);
    free(l->folder);
    free(l->path);
    free(l);
}

/* ---- reading ---- */

/* What came since the last time. */
static enum err_code read_on(struct record_ledger *l, struct err *e)
{
    struct stat st;
    char *bytes;
    enum err_code code = ERR_OK;

    if (io.fstat(l->fd, &st) < 0)
        return err_errno(e, "cannot read %s", l->path);
    if (st.st_size < l->read)
        ledger_forget_lines(l); /* somebody shortened it */
    /* What was torn when it was read may have been cut, and another line stand there. */
    l->read -= (off_t)l->rest.n;
    text_clear(&l->rest);
    if (st.st_size == l->read)
        return ERR_OK;
    if (io.seek(l->fd, l->read, SEEK_SET) < 0)
        return err_errno(e, "cannot read %s", l->path);
    bytes = mem_new(PIECE, 1);
    while (code == ERR_OK) {
        ssize_t got = io.read(l->fd, bytes, PIECE);

        if (got < 0)
            code = err_errno(e, "cannot read %s", l->path);
        if (got <= 0)
            break;
        l->read += got;
        text_add_n(&l->rest, bytes, (size_t)got);
        ledger_take_lines(l);
        if (l->rest.n > (1 << 20)) /* no line is as long: foreign bytes */
            text_clear(&l->rest);
    }
    free(bytes);
    return code;
}

/* ---- the lock ---- */

static enum err_code open_file(struct record_ledger *l, struct err *e)
{
    if (l->fd >= 0)
        return ERR_OK;
    TRY(io_open_own(l->path, O_RDWR | O_CREAT | O_APPEND, &l->fd, e));
    ledger_forget_lines(l);
    return ERR_OK;
}

static enum err_code take_lock(struct record_ledger *l, struct err *e)
{
    for (int waited = 0;; waited++) {
        if (io.lock(l->fd, LOCK_EX | LOCK_NB) == 0)
            return ERR_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_errno(e, "cannot lock %s", l->path);
        if (waited >= l->wait_ms) {
            err_set(e, ERR_FAILED,
                    "another program holds %s (has it been stopped? fuser %s names it)", l->path,
                    l->path);
            if (e)
                e->sys = EWOULDBLOCK;
            return ERR_FAILED;
        }
        clock_sleep_ms(1);
    }
}

/* Whether the open file is still the one of that name: it may have been removed. */
static bool is_there(const struct record_ledger *l)
{
    struct stat open_one, there;

    return io.fstat(l->fd, &open_one) == 0 && io.stat(l->path, &there) == 0 &&
           open_one.st_ino == there.st_ino && open_one.st_dev == there.st_dev;
}

static enum err_code append(struct record_ledger *l, const char *bytes, size_t n, struct err *e)
{
    size_t wrote = io_write_most(l->fd, bytes, n);
    enum err_code code;

    if (wrote == n)
        return ERR_OK;
    code = err_errno(e, "cannot write %s", l->path);
    /* Where that fails too the torn end has no LF, and whoever comes next cuts it. */
    if (wrote > 0 && io.truncate(l->fd, l->read) < 0)
        log_say(LOG_WARN, "%s has a torn line at its end", l->path);
    return code;
}

static enum err_code make_ready(struct record_ledger *l, struct err *e)
{
    TRY(read_on(l, e));
    if (l->rest.n) {
        if (io.truncate(l->fd, l->read - (off_t)l->rest.n) < 0)
            return err_errno(e, "cannot cut the torn line off %s", l->path);
        l->read -= (off_t)l->rest.n;
        text_clear(&l->rest);
    }
    if (l->read == 0) {
        TRY(append(l, LEDGER_HEADER, strlen(LEDGER_HEADER), e));
        l->read = (off_t)strlen(LEDGER_HEADER);
    }
    return ERR_OK;
}

enum err_code record_ledger_begin(struct record_ledger *l, struct err *e)
{
    enum err_code code;

    if (l->locked)
        return ERR_OK;
    for (int tries = 0;; tries++) {
        TRY(open_file(l, e));
        code = take_lock(l, e);
        if (code != ERR_OK)
            return code;
        if (is_there(l))
            break;
        io.close(l->fd);
        l->fd = -1;
        TRY(io_make_folders(l->folder, e));
        if (tries == 10)
            return err_set(e, ERR_FAILED, "%s is removed again and again", l->path);
    }
    l->locked = true;
    code = make_ready(l, e);
    if (code != ERR_OK)
        record_ledger_end(l);
    return code;
}

void record_ledger_end(struct record_ledger *l)
{
    if (l->locked)
        io.lock(l->fd, LOCK_UN);
    l->locked = false;
}

static void unlink_in(const char *folder, const char *name)
{
    char *path = io_path(folder, name);

    (void)io.unlink(path);
    free(path);
}

void record_ledger_take_away(const char *results, const char *name)
{
    struct record_ledger *l;
    char *text;

    if (new_ledger(&l, results, name, NULL) != ERR_OK)
        return;
    text = io_path(l->folder, "sweep.ini");
    if (open_file(l, NULL) == ERR_OK && take_lock(l, NULL) == ERR_OK && is_there(l) &&
        !io_exists(text)) {
        unlink_in(l->folder, "control");
        unlink_in(l->folder, "work");
        unlink_in(l->folder, "ledger.csv");
    }
    (void)io.rmdir(l->folder); /* where nobody else has put anything there */
    free(text);
    record_ledger_close(l);
}

/* ---- where a cell stands ---- */

static char *run_folder(const struct record_ledger *l, const struct ledger_row *row)
{
    return io_path(l->results, row->run && *row->run ? row->run : ".none");
}

bool ledger_run_is_gone(const struct record_ledger *l, const struct ledger_row *row)
{
    char *folder = run_folder(l, row);
    bool gone = row->run && *row->run && !record_is_run(folder);

    free(folder);
    return gone;
}

static void fill_cell(const struct record_ledger *l, const struct ledger_row *row,
                      struct record_cell *out)
{
    char *folder = run_folder(l, row);

    memset(out, 0, sizeof *out);
    snprintf(out->cell, sizeof out->cell, "%s", row->cell);
    snprintf(out->run, sizeof out->run, "%s", row->run);
    snprintf(out->reason, sizeof out->reason, "%s", row->reason);
    memcpy(out->time, row->time, sizeof out->time);
    out->state = row->state;
    out->owned = *row->run && !wire_state_is_final(row->state) && record_is_owned(folder);
    free(folder);
}

/* Whether it went on beyond the cell: its result is another one's now. */
static bool is_left(const char *folder, const char *cell)
{
    char why[RECORD_LEFT_ROOM];
    struct record_entry entry;
    bool left = false;

    if (record_read_entry(folder, &entry, NULL) == ERR_OK) {
        left = !entry.broken && record_cell_is_left(&entry.run, cell, why);
        record_free_entry(&entry);
    }
    return left;
}

enum record_claim record_ledger_look(struct record_ledger *l, const char *cell, bool failed_again,
                                     struct record_cell *found)
{
    const struct ledger_row *row = ledger_find_row(l, cell);
    char *folder;
    bool gone, owned, left;

    memset(found, 0, sizeof *found);
    snprintf(found->cell, sizeof found->cell, "%s", cell);
    if (!row || !row->lines)
        return RECORD_CLAIM_NEW;
    fill_cell(l, row, found);
    folder = run_folder(l, row);
    gone = !record_is_run(folder);
    /* A stopped one too may have been taken up, by `resume RUN`, which knows nothing of sweeps. */
    owned = !gone && record_is_owned(folder);
    left = !gone && row->state == WIRE_DONE && is_left(folder, cell);
    free(folder);
    switch (row->state) {
    case WIRE_DONE:
        return gone || left ? RECORD_CLAIM_NEW : RECORD_CLAIM_ENDED; /* it has lost its result */
    case WIRE_DIVERGED:
    case WIRE_OOM:
    case WIRE_FAILED:
    case WIRE_SKIPPED:
        return failed_again || (*row->run && gone) ? RECORD_CLAIM_NEW : RECORD_CLAIM_ENDED;
    default:
        break;
    }
    return gone ? RECORD_CLAIM_NEW : owned ? RECORD_CLAIM_OTHER : RECORD_CLAIM_RESUME;
}

bool record_ledger_is_worked_on(const struct record_ledger *l, char run[256])
{
    bool owned = false;

    for (size_t i = 0; i < l->rows && !owned; i++) {
        const struct ledger_row *row = &l->row[i];
        char *folder;

        if (!row->lines || wire_state_is_final(row->state) || !*row->run)
            continue;
        folder = run_folder(l, row);
        owned = record_is_owned(folder);
        if (owned)
            snprintf(run, 256, "%s", row->run);
        free(folder);
    }
    return owned;
}

/* A line of a table: what would break it becomes a blank. */
static void add_one_line(struct text *out, const char *s, size_t most)
{
    char *copy = mem_text_n(s, strnlen(s, most));

    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = ' ';
    sheet_add_text(out, copy);
    free(copy);
}

enum err_code record_ledger_add(struct record_ledger *l, const char *cell, const char *run,
                                enum wire_state state, const char *reason, struct err *e)
{
    struct text line = {0};
    char now[CLOCK_UTC_ROOM];
    bool had = l->locked;
    enum err_code code;

    run = run ? run : "";
    if (!*cell || !ledger_is_plain(cell, sizeof l->row->cell) || !ledger_is_plain(run, 256))
        return err_set(e, ERR_FAILED, "%s cannot take the cell '%.40s' with the run '%.100s'",
                       l->path, cell, run);
    TRY(record_ledger_begin(l, e));
    clock_utc(now, clock_wall());
    sheet_add_text(&line, now);
    sheet_add_text(&line, cell);
    sheet_add_text(&line, run);
    sheet_add_text(&line, wire_state_name(state));
    add_one_line(&line, reason ? reason : "", sizeof((struct record_cell *)0)->reason - 1);
    sheet_end_row(&line);
    code = append(l, text_str(&line), line.n, e);
    if (code == ERR_OK) {
        l->read += (off_t)line.n;
        text_add(&l->rest, text_str(&line));
        ledger_take_lines(l);
        if (io.sync(l->fd) < 0)
            code = err_errno(e, "cannot write %s to the disk", l->path);
    }
    text_free(&line);
    if (!had)
        record_ledger_end(l);
    return code;
}

static int by_first_line(const void *a, const void *b)
{
    const struct ledger_row *const *x = a, *const *y = b;

    return (*x)->first < (*y)->first ? -1 : (*x)->first > (*y)->first;
}

enum err_code record_ledger_cells(struct record_ledger *l, struct record_cell **out, size_t *count,
                                  struct err *e)
{
    const struct ledger_row **order;

    *out = NULL;
    *count = 0;
    TRY(ledger_refresh(l, e));
    order = mem_new(l->rows + 1, sizeof *order);
    for (size_t i = 0; i < l->rows; i++)
        if (l->row[i].lines)
            order[(*count)++] = &l->row[i];
    qsort(order, *count, sizeof *order, by_first_line);
    *out = mem_new(*count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        struct record_cell *c = &(*out)[i];

        fill_cell(l, order[i], c);
        if (ledger_run_is_gone(l, order[i])) {
            c->state = WIRE_WAITING;
            c->run[0] = c->reason[0] = 0;
        }
    }
    free(order);
    return ERR_OK;
}

enum err_code ledger_refresh(struct record_ledger *l, struct err *e)
{
    TRY(open_file(l, e));
    return l->locked ? ERR_OK : read_on(l, e);
}

enum err_code record_sweeps(const char *results, char ***names, size_t *count, struct err *e)
{
    char *sweeps = io_path(results, "sweeps"), **all = NULL;
    size_t n = 0;
    enum err_code code = io_list_if_there(sweeps, &all, &n, e);

    *names = NULL;
    *count = 0;
    *names = mem_new(n + 1, sizeof **names);
    for (size_t i = 0; i < n; i++) {
        char *path = mem_textf("%s/%s/ledger.csv", sweeps, all[i]);

        if (all[i][0] != '.' && io_exists(path))
            (*names)[(*count)++] = mem_text(all[i]);
        free(path);
    }
    io_free_names(all, n);
    free(sweeps);
    return code;
}
