/* Snapshots: copies of a session's whole state, from which checkpoints are written, and the memory that
 * goes from one to the next. */
#include "engine/engine_int.h"

#include "base/mem.h"

#include <stdlib.h>

enum err_code session_new_weights(const struct plan *p, struct record_weights *w, struct err *e)
{
    return record_weights_new(w, p->net, p->session.members, p->session.mode == SPEC_ENSEMBLE,
                              backend_element(&p->session), backend_slots(p->session.optimizer), e);
}

static void *part_of(const struct record_weights *w, const struct net *net, int m, int kind)
{
    if (kind == BACKEND_PARAMS)
        return record_weights_params(w, net, m);
    if (kind == BACKEND_STATS)
        return net->stat_count ? record_weights_stats(w, net, m) : NULL;
    return kind - BACKEND_SLOT1 < w->slots ? record_weights_slot(w, net, m, kind - BACKEND_SLOT1)
                                           : NULL;
}

enum err_code session_move_state(struct session *s, struct record_weights *w, bool set,
                                 struct err *e)
{
    for (int m = 0; m < w->members; m++)
        for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
            void *part = part_of(w, s->plan->net, m, kind);

            if (part)
                TRY(s->plan->backend->state(s->backend, m, (enum backend_kind)kind, set, part, e));
        }
    return ERR_OK;
}

void run_give_room(struct run *r, struct record_weights *w)
{
    r->room[r->rooms++] = *w;
    *w = (struct record_weights){0};
    pthread_cond_broadcast(&r->changed);
}

static bool another_copy(const struct run *r)
{
    return !r->no_more_copies && r->copies < plan_state_copies(r->plan->backend, &r->plan->session);
}

/* That of a snapshot that is on disk or need not be, or else a new one's (all empty: to be made). */
static bool find_room(struct run *r, bool best, struct record_weights *w)
{
    if (!r->rooms && another_copy(r)) {
        r->copies++;
        return true;
    }
    if (!r->rooms)
        checkpoint_replace(r, best);
    if (!r->rooms)
        return false;
    *w = r->room[--r->rooms];
    return true;
}

/* Memory for a snapshot; false: there is none, and none had to be waited for. */
static bool take_room(struct run *r, bool best, bool must, struct record_weights *w)
{
    bool found;

    pthread_mutex_lock(&r->lock);
    while (!(found = find_room(r, best, w)) && must) {
        if (!r->wants_room)
            wire_poke(r->engine->wire);
        r->wants_room = true;
        pthread_cond_wait(&r->changed, &r->lock);
    }
    r->wants_room = false;
    r->skipped = r->skipped || !found;
    pthread_mutex_unlock(&r->lock);
    return found;
}

/* There is no memory for a copy. False: there is no other one either. */
static bool do_without(struct run *r)
{
    bool other;

    pthread_mutex_lock(&r->lock);
    other = --r->copies > 0;
    r->no_more_copies = true;
    pthread_mutex_unlock(&r->lock);
    return other;
}

void snapshot_end(struct snapshot *s)
{
    run_give_room(s->of, &s->weights);
    sums_free(&s->sums);
    free(s);
}

void snapshot_free(struct snapshot *s)
{
    struct run *r = s ? s->of : NULL;

    if (!s)
        return;
    pthread_mutex_lock(&r->lock);
    snapshot_end(s);
    pthread_mutex_unlock(&r->lock);
}

enum err_code session_snapshot(struct session *s, bool best, bool must, struct snapshot **out,
                               struct err *e)
{
    struct record_weights w = {0};
    struct snapshot *snap;
    enum err_code code;

    *out = NULL;
    do {
        if (!take_room(s->run, best, must, &w))
            return ERR_OK;
        code = w.params ? ERR_OK : session_new_weights(s->plan, &w, e);
    } while (code == ERR_NOMEM && do_without(s->run));
    if (code != ERR_OK)
        return code;
    snap = mem_new(1, sizeof *snap);
    snap->of = s->run;
    snap->weights = w;
    code = session_move_state(s, &snap->weights, false, e);
    if (code != ERR_OK) {
        snapshot_free(snap);
        return code;
    }
    snap->at = s->at;
    sums_new(&snap->sums, &s->plan->session);
    sums_copy(&snap->sums, &s->sums);
    *out = snap;
    return ERR_OK;
}
