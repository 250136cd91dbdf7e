/* cli/dry_ended.c: cells are named by their settings, layers and data, as the sweep itself does it: a
 * ledger under the same name may be of other ones. */
#include "cli/dry_ended.h"

#include "base/io.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "engine/plan.h"
#include "record/ledger.h"

#include <stdlib.h>
#include <string.h>

struct dry_ended {
    struct record_cell *list; /* those with a result */
    size_t count;
    struct data_set *set; /* the last one: the next cell's is the same, as a rule */
    struct spec of;
    struct net_shape wanted;
};

struct dry_ended *dry_ended_open(const struct sweep_wish *wish)
{
    struct record_ledger *ledger = NULL;
    struct dry_ended *d = mem_new(1, sizeof *d);
    size_t n = 0;

    if (record_ledger_open_to_read(&ledger, cli_results(), wish->name, NULL) == ERR_OK &&
        record_ledger_cells(ledger, &d->list, &n, NULL) == ERR_OK)
        for (size_t i = 0; i < n; i++)
            if (wish->failed ? d->list[i].state == WIRE_DONE : d->list[i].state >= WIRE_DONE)
                d->list[d->count++] = d->list[i];
    record_ledger_close(ledger);
    if (d->count)
        return d;
    dry_ended_close(d);
    return NULL;
}

static bool same_data(const struct dry_ended *d, const struct spec *s, struct net_shape wanted)
{
    const struct spec *o = &d->of;

    return d->set && !strcmp(o->data, s->data) && o->normalize == s->normalize &&
           o->valid == s->valid && o->valid_per_cent == s->valid_per_cent &&
           o->train_limit == s->train_limit && o->test_limit == s->test_limit &&
           o->seed == s->seed && d->wanted.h == wanted.h && d->wanted.w == wanted.w &&
           d->wanted.c == wanted.c;
}

static enum err_code look_at_data(void *user, struct data_set *facts, const struct spec *spec,
                                  const struct data_places *places, struct net_shape wanted,
                                  struct err *e)
{
    struct dry_ended *d = user;

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

/* Weights named as a run stand in the cell as its folder. */
static void name_weights(struct spec *s)
{
    struct record_entry entry;
    char *folder;

    if (!s->weights[0] || strchr(s->weights, '/') || io_exists(s->weights) ||
        cli_find_run(s->weights, &entry, NULL) != ERR_OK)
        return;
    folder = realpath(entry.folder, NULL);
    if (folder && strlen(folder) < sizeof s->weights)
        strcpy(s->weights, folder);
    free(folder);
    record_free_entry(&entry);
}

bool dry_ended_has(struct dry_ended *d, const struct spec *cell)
{
    struct spec *spec = mem_new(1, sizeof *spec);
    struct plan *plan = NULL;
    bool has = false;
    char hash[17];

    *spec = *cell;
    name_weights(spec);
    if (plan_make_with(&plan, spec, cli_places(), cli_backends(), look_at_data, d, NULL) ==
        ERR_OK) {
        plan_hash(plan, hash);
        for (size_t i = 0; i < d->count && !has; i++)
            has = !strcmp(d->list[i].cell, hash);
    }
    plan_free(plan);
    free(spec);
    return has;
}

void dry_ended_close(struct dry_ended *d)
{
    if (!d)
        return;
    data_close(d->set);
    free(d->list);
    free(d);
}
