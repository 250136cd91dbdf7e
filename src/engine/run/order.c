/* The orders of epochs; see order.h. */
#include "engine/run/order.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct set {          /* one epoch's */
    int64_t epoch;    /* 0: none */
    uint32_t **order; /* (members) */
    struct err error;
};

struct order {
    const struct plan *plan;
    int members, own; /* own: how many orders differ from each other */
    bool ahead, running;
    struct set set[2], *now; /* the other one is the thread's while it runs */
    atomic_bool made;        /* the other one is that of the next epoch */
    pthread_t thread;
};

struct order *order_open(const struct plan *plan, bool ahead)
{
    struct order *o = mem_new(1, sizeof *o);
    bool own = plan->spec.member_order == SPEC_OWN && plan->spec.shuffle;

    o->plan = plan;
    o->members = plan->session.members;
    o->own = own ? o->members : 1;
    o->ahead = ahead && plan->spec.shuffle;
    for (int i = 0; i < 2; i++)
        o->set[i].order = mem_new((size_t)o->members, sizeof *o->set[i].order);
    o->now = &o->set[0];
    return o;
}

static void join(struct order *o)
{
    if (o->running)
        pthread_join(o->thread, NULL);
    o->running = false;
}

void order_close(struct order *o)
{
    if (!o)
        return;
    join(o);
    for (int i = 0; i < 2; i++) {
        for (int m = 0; m < o->own; m++)
            free(o->set[i].order[m]);
        free(o->set[i].order);
    }
    free(o);
}

static enum err_code make(const struct order *o, struct set *s, int64_t epoch)
{
    size_t n = (size_t)o->plan->train_images;
    struct rng_key first = net_order_key(o->plan->spec.seed, epoch);

    s->epoch = 0;
    for (int m = 0; m < o->members; m++) {
        struct rng_key key = m ? rng_fold_in(first, (1u << 16) + (uint32_t)m) : first;

        if (m >= o->own) {
            s->order[m] = s->order[0];
            continue;
        }
        if (!s->order[m] && !(s->order[m] = mem_try(n, sizeof **s->order)))
            return err_set(&s->error, ERR_NOMEM, "no memory for the order of %zu images", n);
        if (!o->plan->spec.shuffle)
            for (size_t i = 0; i < n; i++)
                s->order[m][i] = (uint32_t)i;
        else if (!rng_permutation(key, n, s->order[m]))
            return err_set(&s->error, ERR_NOMEM, "no memory to shuffle %zu images", n);
    }
    s->epoch = epoch;
    return ERR_OK;
}

static struct set *other(struct order *o)
{
    return o->now == &o->set[0] ? &o->set[1] : &o->set[0];
}

static void *make_next(void *user)
{
    struct order *o = user;

    if (make(o, other(o), o->now->epoch + 1) == ERR_OK)
        atomic_store(&o->made, true);
    return NULL;
}

enum err_code order_of(struct order *o, int64_t epoch, const uint32_t *const **out, struct err *e)
{
    if (o->now->epoch != epoch) {
        join(o);
        atomic_store(&o->made, false);
        if (other(o)->epoch == epoch)
            o->now = other(o);
        else if (make(o, o->now, epoch) != ERR_OK)
            return err_set(e, o->now->error.code, "%s", o->now->error.text);
        /* Without a thread the next order is made when it is asked for. */
        if (o->ahead && epoch < o->plan->spec.epochs)
            o->running = thread_start(&o->thread, make_next, o) == 0;
    }
    *out = (const uint32_t *const *)o->now->order;
    return ERR_OK;
}

const uint32_t *const *order_next(void *user)
{
    struct order *o = user;

    return atomic_load(&o->made) ? (const uint32_t *const *)other(o)->order : NULL;
}
