/* engine/trouble.c: what becomes of a run whose files cannot be written. */
#include "engine/engine_int.h"

#include "base/again.h"
#include "base/clock.h"
#include "record/disk.h"

#include <errno.h>

#define ROOM_NS 1000000000u /* between two looks at a full disk */

static void hold(struct run *r, bool on)
{
    pthread_mutex_lock(&r->lock);
    r->hold = on;
    atomic_store(&r->stop, r->wish != WISH_GO || r->hold);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* " (12 kB free, a checkpoint takes 1.5 MB)" */
static void add_room(const struct run *r, struct text *out)
{
    const struct plan *p = r->plan;
    uint64_t there, each = (uint64_t)(1 + backend_slots(p->session.optimizer)),
                    numbers = p->net->parameter_count * each + p->net->stat_count;
    char room[2][TEXT_NUMBER_ROOM];

    if (!record_disk_free(r->path, &there))
        return;
    numbers *= (uint64_t)p->session.members;
    text_addf(out, " (%s free, a checkpoint takes %s)", text_bytes(room[0], there),
              text_bytes(room[1], numbers * backend_element(&p->session)));
}

void trouble_take(struct run *r, const struct err *e)
{
    bool full = e->code == ERR_IO && (e->sys == ENOSPC || e->sys == EDQUOT);

    if (full && !r->give_up) {
        if (!r->disk_full) {
            struct text room = {0};

            add_room(r, &room);
            run_log(r, LOG_ERROR,
                    "%s%s: training waits until there is room and then goes on by itself; "
                    "chorus stop %s%s ends it, resumable",
                    e->text, text_str(&room), r->sweep ? sweep_name(r->sweep) : r->row.run,
                    again());
            text_free(&room);
            hold(r, true);
            run_status(r, ERR_IO, e->text);
        }
        r->disk_full = true;
        r->retry_ns = clock_ns() + ROOM_NS;
        if (run_wants_stop(r))
            r->give_up = true;
        return;
    }
    r->failed = true;
    r->reason = *e;
    r->disk_full = false;
    keep_drop(r);
    run_log(r, LOG_ERROR, "%s: the run ends here; chorus resume %s%s %s", e->text,
            r->sweep ? sweep_name(r->sweep) : r->row.run, again(),
            record_has_checkpoint(r->path) ? "goes on from its last checkpoint"
                                           : "begins it again: there is no checkpoint yet");
    run_want(r, WISH_STOP, WIRE_NOW);
}

void trouble_over(struct run *r)
{
    run_log(r, LOG_WARN, "there is room on the disk again: training goes on");
    r->disk_full = false;
    hold(r, false);
    run_status(r, ERR_OK, "");
}

bool trouble_try(struct run *r)
{
    struct err e = {0};

    if (clock_ns() < r->retry_ns && !r->give_up)
        return false;
    if (keep_flush(r, &e) != ERR_OK) {
        trouble_take(r, &e);
        return r->failed;
    }
    return true;
}
