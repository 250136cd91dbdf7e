/* Which snapshots become files, and when: the newest and the best at most once a second, so that
 * short epochs do not wait for the disk; those that `keep` names one by one, and of a large state,
 * for which there is memory once, each at once; all that are still wanted at a pause, a stop or an
 * end. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

static void drop(struct snapshot **s)
{
    if (*s && --(*s)->wanted == 0)
        snapshot_free(*s);
    *s = NULL;
}

static void want(struct snapshot **place, struct snapshot *s)
{
    s->wanted++;
    drop(place);
    *place = s;
}

void keep_drop(struct run *r)
{
    drop(&r->best_wanted);
    drop(&r->named_wanted);
    drop(&r->last_wanted);
}

static bool named(const struct run *r, int64_t epoch)
{
    const struct spec *s = &r->plan->spec;

    return s->keep & SPEC_KEEP_ALL ||
           (s->keep & SPEC_KEEP_EVERY && s->keep_every > 0 && epoch % s->keep_every == 0);
}

void keep_take(struct run *r, struct message *m)
{
    struct snapshot *s = m->snapshot;

    m->snapshot = NULL;
    if (m->best && r->plan->spec.keep & SPEC_KEEP_BEST)
        want(&r->best_wanted, s);
    if (!m->urgent && named(r, s->at.n.epoch))
        want(&r->named_wanted, s);
    want(&r->last_wanted, s);
}

bool keep_is_due(const struct run *r)
{
    if (r->named_wanted ||
        (r->last_wanted && plan_state_is_large(r->plan->backend, &r->plan->session)))
        return true;
    return r->last_wanted && clock_ns() - r->kept_ns >= 1000000000;
}

static enum err_code write_one(struct run *r, struct snapshot **s, const char *as, struct err *e)
{
    struct record_pack pack = {0};
    enum err_code code;

    if (!*s)
        return ERR_OK;
    code = snapshot_pack(*s, r->plan->net, &pack, e);
    if (r->plan->backend->plans)
        record_pack_note(&pack, RECORD_NOTE_PLANS, r->plans);
    if (code == ERR_OK)
        code =
            record_checkpoint(r->record, as, pack.tensor, pack.tensors, pack.note, pack.notes, e);
    record_pack_free(&pack);
    if (code == ERR_OK)
        drop(s);
    return code;
}

/* Best and last are one line, and mostly of the same epoch. */
static void say_kept(struct run *r, int64_t best, const struct standing *last)
{
    char epoch[64] = "", ended[32] = "";

    if (last && last->n.epoch && !last->n.batch)
        snprintf(ended, sizeof ended, ", epoch %lld", (long long)last->n.epoch);
    if (best && (!last || last->n.epoch != best))
        snprintf(epoch, sizeof epoch, "best.safetensors is epoch %lld%s", (long long)best,
                 last ? "; " : "");
    if (!best && last && r->told_kept == last->n.step + 1)
        return; /* the same once more, at the end */
    if (last) {
        r->told_kept = last->n.step + 1;
        run_log(r, LOG_DEBUG, "%scheckpoint at step %lld%s%s", epoch, (long long)last->n.step,
                ended, best && best == last->n.epoch ? ", the best too" : "");
    } else if (best) {
        run_log(r, LOG_DEBUG, "%s", epoch);
    }
}

enum err_code keep_flush(struct run *r, struct err *e)
{
    int64_t best = r->best_wanted ? r->best_wanted->at.n.epoch : 0;
    struct standing at, *last = NULL;
    char as[32];

    if (r->last_wanted) {
        at = r->last_wanted->at;
        last = &at;
    }

    /* The best one first: a checkpoint must not speak of a best one that is not there. */
    TRY(write_one(r, &r->best_wanted, "best", e));
    if (r->named_wanted) {
        snprintf(as, sizeof as, "epoch-%04lld", (long long)r->named_wanted->at.n.epoch);
        TRY(write_one(r, &r->named_wanted, as, e));
    }
    TRY(write_one(r, &r->last_wanted, "checkpoint", e));
    r->kept_ns = clock_ns();
    say_kept(r, best, last);
    return run_write(r, e);
}

void keep_tidy(struct run *r)
{
    static const char *const last[] = {"checkpoint.safetensors", "checkpoint.prev.safetensors"};

    if (r->plan->spec.keep & SPEC_KEEP_LAST)
        return;
    for (size_t i = 0; i < MEM_COUNT(last); i++) {
        char *path = io_path(record_folder(r->record), last[i]);

        io.unlink(path);
        free(path);
    }
}
