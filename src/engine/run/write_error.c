/* engine/run/write_error.c: what becomes of a run whose files cannot be written. */
#include "engine/engine_int.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/io.h"
#include "record/file/disk.h"
#include "record/run/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_NS   1000000000u /* between two looks at a full disk */
#define MOST_PATH 40          /* characters of the folder that is full */
#define FEW_BYTES 1000000u    /* free: too few, where nobody knows how many are wanted */

/* To the digits that text_bytes shows, so that what is free never looks like what is wanted. */
static const char *rounded(char room[TEXT_NUMBER_ROOM], uint64_t bytes, bool up)
{
    uint64_t unit = 1, step;

    while (bytes / unit >= 1000)
        unit *= 1000;
    step = unit == 1 || bytes / unit >= 100 ? unit : unit / 10;
    return text_bytes(room, (bytes + (up ? step - 1 : 0)) / step * step);
}

/* " (12.0 kB free, 1.5 MB wanted)". Where there are bytes enough, inodes may be out, or others wrote
 * and are gone: what is free is not said. */
static void add_room(const struct err *e, const char *folder, uint64_t wanted, struct text *out)
{
    char room[TEXT_NUMBER_ROOM];
    uint64_t there;
    bool lacking;

    if (e->sys == EFBIG) /* what is free for other files does not matter */
        return;
    lacking = e->sys == ENOSPC && record_disk_free(folder, &there) &&
              there < (wanted ? wanted : FEW_BYTES);
    if (lacking)
        text_addf(out, " (%s free%s", rounded(room, there, false), wanted ? ", " : ")");
    else if (wanted)
        text_add(out, " (");
    if (wanted)
        text_addf(out, "%s wanted)", rounded(room, wanted, true));
}

/* Of a long path its last folders, so that what stands behind them is seen too. */
static void add_folder(const char *path, struct text *out)
{
    size_t n = strlen(path);
    const char *end = n > MOST_PATH ? strchr(path + n - MOST_PATH, '/') : NULL;

    text_addf(out, "%s%s", end ? "..." : "", end ? end : path);
}

bool write_error_is_full(const struct err *e)
{
    return e->code == ERR_IO && (e->sys == ENOSPC || e->sys == EDQUOT || e->sys == EFBIG);
}

void write_error_words(const struct err *e, const char *folder, uint64_t wanted, struct text *out)
{
    if (!write_error_is_full(e)) {
        text_add(out, e->text);
        return;
    }
    text_add(out, e->sys == EDQUOT  ? "your quota is used up in "
                  : e->sys == EFBIG ? "a file exceeds the limit on its size (ulimit -f) in "
                                    : "the disk is full in ");
    add_folder(folder, out);
    add_room(e, folder, wanted, out);
}

void write_error_add(const struct run *r, const struct err *e, struct text *out)
{
    char *results = io_folder_of(r->path);

    write_error_words(e, results, write_error_is_full(e) ? plan_state_bytes(&r->plan->session) : 0,
                      out);
    free(results);
}

/* Anew at each try: how much is free changes. Who reads the line finds the status. */
static void show(struct run *r, const struct err *e)
{
    struct text words = {0};

    write_error_add(r, e, &words);
    run_status(r, ERR_IO, text_str(&words));
    text_free(&words);
}

static void wait_for_room(struct run *r, const struct err *e)
{
    struct text room = {0};

    show(r, e);
    if (!r->disk_full) {
        run_hold(r, true);
        add_room(e, r->path, plan_state_bytes(&r->plan->session), &room);
        run_log(r, LOG_ERROR,
                "%s%s: training waits until there is room and then goes on by itself; "
                "chorus stop %s%s ends it, resumable",
                e->text, text_str(&room), r->sweep ? sweep_name(r->sweep) : r->row.run, again());
        text_free(&room);
    }
    r->disk_full = true;
    r->retry_ns = clock_ns() + ROOM_NS;
    if (run_deed(r, WIRE_AT_STEP) >= WIRE_END)
        r->give_up = true;
}

void write_error_take(struct run *r, const struct err *e)
{
    if (write_error_is_full(e) && !r->give_up) {
        wait_for_room(r, e);
        return;
    }
    r->failed = true;
    r->reason = *e;
    r->disk_full = false;
    if (!io_is_folder(r->path)) /* any error there comes of that */
        err_set(&r->reason, ERR_IO, "%s was removed or renamed while the run worked", r->path);
    checkpoint_drop(r);
    run_end_part(r, WIRE_END_NOW);
    if (sweep_tries_again(r, &r->reason)) /* its sweep says so */
        return;
    if (!io_is_folder(r->path)) {
        run_log(r, LOG_ERROR, "%s: the run ends here", r->reason.text);
        return;
    }
    /* who stopped it knows why */
    run_log(r, r->give_up ? LOG_INFO : LOG_ERROR, "%s: the run ends here; chorus resume %s%s %s",
            e->text, r->sweep ? sweep_name(r->sweep) : r->row.run, again(),
            record_has_checkpoint(r->path) ? "goes on from its last checkpoint"
                                           : "begins it again: there is no checkpoint yet");
}

void write_error_over(struct run *r)
{
    r->disk_full = false;
    run_hold(r, false);
    run_status(r, ERR_OK, "");
    run_log(r, LOG_WARN, "there is room on the disk again: %s",
            run_wish(r) == WIRE_WISH_PAUSE ? "it is paused still" : "training goes on");
}

bool write_error_try(struct run *r)
{
    struct err e = {0};

    if (clock_ns() < r->retry_ns && !r->give_up)
        return false;
    if (checkpoint_flush(r, &e) != ERR_OK) {
        write_error_take(r, &e);
        return r->failed;
    }
    return true;
}
