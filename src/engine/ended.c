/* Cells are named by their settings, layers and data, as the sweep itself does it: a ledger under the
 * same name may be of other ones. */
#include "engine/ended.h"

#include "base/mem.h"
#include "engine/engine_int.h"
#include "record/ledger.h"

#include <stdlib.h>
#include <string.h>

struct ended {
    const struct engine_config *config;
    struct record_cell *list; /* (count) those with a result, by their hashes */
    size_t count;
    struct data_set *set; /* the last one: the next cell's is the same, as a rule */
    struct spec of;
    struct net_shape wanted;
};

static int by_cell(const void *a, const void *b)
{
    return strcmp(((const struct record_cell *)a)->cell, ((const struct record_cell *)b)->cell);
}

struct ended *ended_open(const struct engine_config *config, const char *sweep, bool failed)
{
    struct record_ledger *ledger = NULL;
    struct ended *d = mem_new(1, sizeof *d);
    size_t n = 0;

    d->config = config;
    if (record_ledger_open_to_read(&ledger, config->results, sweep, NULL) == ERR_OK &&
        record_ledger_cells(ledger, &d->list, &n, NULL) == ERR_OK)
        for (size_t i = 0; i < n; i++)
            if (failed ? d->list[i].state == WIRE_DONE : d->list[i].state >= WIRE_DONE)
                d->list[d->count++] = d->list[i];
    record_ledger_close(ledger);
    if (d->count) {
        qsort(d->list, d->count, sizeof *d->list, by_cell);
        return d;
    }
    ended_close(d);
    return NULL;
}

static bool same_data(const struct ended *d, const struct spec *s, struct net_shape wanted)
{
    const struct spec *o = &d->of;

    return d->set && !strcmp(o->data, s->data) && o->normalize == s->normalize &&
           o->valid == s->valid && o->valid_per_cent == s->valid_per_cent &&
           o->train_limit == s->train_limit && o->test_limit == s->test_limit &&
           (o->seed == s->seed || strcmp(s->data, "synthetic") != 0) && d->wanted.h == wanted.h &&
           d->wanted.w == wanted.w && d->wanted.c == wanted.c;
}

static enum err_code look_at_data(void *user, struct data_set *facts, const struct spec *spec,
                                  const struct data_places *places, struct net_shape wanted,
                                  struct err *e)
{
    struct ended *d = user;

    if (!same_data(d, spec, wanted)) {
        data_close(d->set);
        d->set = NULL;
        TRY(data_open(&d->set, spec, places, wanted, e));
        d->of = *spec;
        d->wanted = wanted;
    }
    *facts = *d->set;
    return ERR_OK;
}

enum wire_state ended_look(struct ended *d, const struct spec *cell)
{
    const struct engine_config *config = d->config;
    struct spec *spec = mem_new(1, sizeof *spec);
    enum wire_state state = WIRE_WAITING;
    const struct record_cell *found = NULL;
    struct record_cell key = {0};
    struct plan *plan = NULL;
    char hash[17];

    *spec = *cell;
    if (session_name_weights(config->results, spec, NULL) == ERR_OK &&
        plan_make_with(&plan, spec, &config->places, config->backends, look_at_data, d, NULL) ==
            ERR_OK) {
        plan_hash(plan, hash);
        memcpy(key.cell, hash, sizeof hash);
        found = bsearch(&key, d->list, d->count, sizeof key, by_cell);
    }
    if (found)
        state = found->state;
    plan_free(plan);
    free(spec);
    return state;
}

void ended_close(struct ended *d)
{
    if (!d)
        return;
    data_close(d->set);
    free(d->list);
    free(d);
}
