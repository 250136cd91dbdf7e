/* A backend that can compute no more in this process (ERR_STUCK): the run keeps its last checkpoint,
 * and the process is of no more use to it. Whoever owns the process starts another one, which goes on
 * with all that was stopped here. A run that did so too often is given up. */
#include "engine/engine_int.h"

#include "record/run/writer.h"

#include <stdio.h>
#include <string.h>

#define MOST 3

static void add_words(struct err *why, int n, bool last)
{
    size_t end = strlen(why->text);

    snprintf(
        why->text + end, sizeof why->text - end,
        last ? "; given up after %d restarts" : "; restart %d goes on from the last checkpoint", n);
}

static bool is_wanted(struct run *r)
{
    bool wanted;

    pthread_mutex_lock(&r->lock);
    wanted = !r->part && !wire_wish_stops(r->wish);
    pthread_mutex_unlock(&r->lock);
    return wanted;
}

/* Nothing more is begun here, and what runs on other devices goes on elsewhere too. */
static void halt(struct run *but)
{
    struct engine *e = but->engine;

    atomic_store(&e->stuck, true);
    queue_stop(e);
    for (struct sweep *s = e->sweeps; s; s = sweep_next(s))
        sweep_halt(s);
    for (struct run *r = e->running; r; r = r->next)
        if (r != but && !r->ended) {
            r->halted |= is_wanted(r);
            run_hand_over(r);
        }
}

enum err_code stuck_end(struct run *r, enum wire_state *state, struct err *why, struct err *e)
{
    bool before = atomic_load(&r->engine->stuck);

    *state = WIRE_STOPPED;
    if (!r->halted && !is_wanted(r)) {
        why->code = ERR_STOPPED; /* it was about to end here */
        return ERR_OK;
    }
    /* Of those that fail together the first one is the cause. */
    if (!r->restarts && before)
        r->restarts = -1;
    if (!r->restarts)
        TRY(record_count_restart(r->record, &r->restarts, e));
    /* told before anything that it leads to */
    if (!before && r->restarts <= MOST)
        run_log(r, LOG_WARN, "%s; restart %d of %d goes on from the last checkpoint", why->text,
                r->restarts, MOST);
    halt(r);
    if (r->restarts > MOST) {
        *state = WIRE_FAILED;
        record_forget_restarts(r->record); /* who has it anew begins anew */
        add_words(why, MOST, true);
    } else {
        r->handed_over = true;
        if (r->restarts > 0)
            add_words(why, r->restarts, false);
    }
    return ERR_OK;
}
