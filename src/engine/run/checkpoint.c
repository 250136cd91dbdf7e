/* Which snapshots become files, and when: the newest and the best at most once a second, so that
 * short epochs do not wait for the disk; those that `keep` names one by one; all that are still
 * wanted at a pause, a stop or an end. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/run/writer.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_ROOM 32 /* "epoch-0012" */

/* Of these three r->lock is held. */
static void drop(struct snapshot **s)
{
    if (*s && --(*s)->wanted == 0)
        snapshot_end(*s);
    *s = NULL;
}

static void want(struct snapshot **place, struct snapshot *s)
{
    s->wanted++;
    drop(place);
    *place = s;
}

/* One that is wanted for nothing but what a newer one does as well. */
static bool replace(struct run *r, struct snapshot *s, bool best)
{
    bool as_last = s == r->last_wanted, as_best = best && s == r->best_wanted;

    if (!s || s->wanted != as_last + as_best)
        return false;
    if (as_last)
        drop(&r->last_wanted);
    if (as_best)
        drop(&r->best_wanted);
    return true;
}

void checkpoint_replace(struct run *r, bool best)
{
    struct message *newest = NULL;

    for (struct message *m = r->first; m; m = m->next)
        newest = m->snapshot ? m : newest;
    if (newest && !newest->urgent && (best || !newest->best) &&
        !checkpoint_names(r, newest->snapshot->at.n.epoch)) {
        snapshot_end(newest->snapshot);
        newest->snapshot = NULL;
        return;
    }
    if (newest || r->named_wanted) /* which speak of a best one: it stays */
        best = false;
    if (!replace(r, r->last_wanted, best) && !r->last_wanted)
        replace(r, r->best_wanted, best);
}

void checkpoint_drop(struct run *r)
{
    pthread_mutex_lock(&r->lock);
    drop(&r->best_wanted);
    drop(&r->named_wanted);
    drop(&r->last_wanted);
    pthread_mutex_unlock(&r->lock);
}

bool checkpoint_names(const struct run *r, int64_t epoch)
{
    const struct spec *s = &r->plan->spec;

    return s->keep & SPEC_KEEP_ALL ||
           (s->keep & SPEC_KEEP_EVERY && s->keep_every > 0 && epoch % s->keep_every == 0);
}

void checkpoint_take(struct run *r, struct message *m)
{
    struct snapshot *s;

    pthread_mutex_lock(&r->lock);
    s = m->snapshot;
    m->snapshot = NULL;
    if (s) {
        /* the wall clock is the engine's: the session does not know it */
        s->at.n.wall_ns = r->from.n.wall_ns + (int64_t)(clock_ns() - r->opened_ns);
        if (m->best)
            want(&r->best_wanted, s);
        if (!m->urgent && checkpoint_names(r, s->at.n.epoch))
            want(&r->named_wanted, s);
        want(&r->last_wanted, s);
    }
    pthread_mutex_unlock(&r->lock);
}

bool checkpoint_is_due(struct run *r)
{
    bool due;

    pthread_mutex_lock(&r->lock);
    due = r->named_wanted || ((r->last_wanted || r->best_wanted) &&
                              (r->wants_room || clock_ns() - r->kept_ns >= 1000000000));
    pthread_mutex_unlock(&r->lock);
    return due;
}

/* What is in both places; it is not replaced until it is let go. */
static struct snapshot *hold(struct run *r, struct snapshot *const *place,
                             struct snapshot *const *same)
{
    struct snapshot *s;

    pthread_mutex_lock(&r->lock);
    s = *place == *same ? *place : NULL;
    if (s)
        s->wanted++;
    pthread_mutex_unlock(&r->lock);
    return s;
}

static void let_go(struct run *r, struct snapshot *s, struct snapshot **written)
{
    pthread_mutex_lock(&r->lock);
    if (written)
        drop(written);
    drop(&s);
    pthread_mutex_unlock(&r->lock);
}

/* *at is where the one that was written stood; as it was where there was none. */
static enum err_code write_one(struct run *r, struct snapshot **place, const char *as,
                               struct standing *at, struct err *e)
{
    struct snapshot *s = hold(r, place, place);
    struct record_pack pack = {0};
    enum err_code code;

    if (!s)
        return ERR_OK;
    *at = s->at;
    code = snapshot_pack(s, r->plan->net, &pack, e);
    if (r->plan->backend->plans)
        record_pack_note(&pack, RECORD_NOTE_PLANS, r->plans);
    if (code == ERR_OK)
        code = record_pack_rows(r->record, s->at.n.epoch, &pack, e);
    if (code == ERR_OK)
        code =
            record_checkpoint(r->record, as, pack.tensor, pack.tensors, pack.note, pack.notes, e);
    record_pack_free(&pack);
    let_go(r, s, code == ERR_OK ? place : NULL);
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

/* Whether there was one since this was asked last. */
static bool was_skipped(struct run *r)
{
    bool was;

    pthread_mutex_lock(&r->lock);
    was = r->skipped;
    r->skipped = false;
    pthread_mutex_unlock(&r->lock);
    return was;
}

static void name_epoch(char out[NAME_ROOM], int64_t epoch)
{
    snprintf(out, NAME_ROOM, "epoch-%04lld", (long long)epoch);
}

static enum err_code write_named(struct run *r, struct err *e)
{
    struct standing at = {0};
    char as[NAME_ROOM];

    if (!r->named_wanted)
        return ERR_OK;
    name_epoch(as, r->named_wanted->at.n.epoch);
    TRY(write_one(r, &r->named_wanted, as, &at, e));
    r->named = mem_grow(r->named, &r->named_room, r->nameds + 1, sizeof *r->named);
    r->named[r->nameds++] = at.n.epoch;
    return ERR_OK;
}

static enum err_code write_all(struct run *r, struct err *e)
{
    struct standing best = {0}, last = {.n.step = -1};
    bool is_old = was_skipped(r); /* what waits: the next one is due at once */

    /* The best one first: a checkpoint must not speak of a best one that is not there. */
    TRY(write_one(r, &r->best_wanted, "best", &best, e));
    TRY(write_named(r, e));
    TRY(write_one(r, &r->last_wanted, "checkpoint", &last, e));
    if (last.n.step >= 0)
        r->kept_ns = is_old ? 0 : clock_ns();
    (void)was_skipped(r); /* while it was written */
    say_kept(r, best.n.epoch, last.n.step < 0 ? NULL : &last);
    return run_write(r, e);
}

/* A best one that is the last too becomes both files, and is not replaced in between. */
enum err_code checkpoint_flush(struct run *r, struct err *e)
{
    struct snapshot *both = hold(r, &r->last_wanted, &r->best_wanted);
    enum err_code code = write_all(r, e);

    let_go(r, both, NULL);
    return code;
}

static bool was_removed(const struct run *r, int64_t epoch)
{
    char as[NAME_ROOM], *path;
    bool was;

    name_epoch(as, epoch);
    path = mem_textf("%s/%s.safetensors", record_folder(r->record), as);
    was = !io_exists(path);
    free(path);
    return was;
}

/* Their weights are gone, so that nothing can be written again. */
void checkpoint_say_removed(struct run *r)
{
    size_t gone = 0;
    int64_t first = 0;

    for (size_t i = 0; i < r->nameds; i++) {
        if (was_removed(r, r->named[i]) && !gone++)
            first = r->named[i];
    }
    if (gone)
        run_log(
            r, LOG_WARN,
            "removed while the run worked: %zu checkpoint%s, the first epoch-%04lld.safetensors; "
            "chorus cannot write %s again",
            gone, text_s((int64_t)gone), (long long)first, gone > 1 ? "them" : "it");
}

void checkpoint_tidy(struct run *r)
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
