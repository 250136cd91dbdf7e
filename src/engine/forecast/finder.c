#include "engine/forecast/finder.h"

#include "base/hash.h"
#include "base/mem.h"
#include "record/sweep/ledger.h"

#include <stdlib.h>
#include <string.h>

struct name {
    uint64_t hash; /* 0: free */
    size_t cell;
};

struct finder {
    struct look *look;
    struct record_cell *result; /* (results) by their hashes */
    size_t results;
    const struct spec_sweep *sweep;
    enum look_depth depth;
    struct spec *spec;
    struct name *name; /* (room) open addressing */
    size_t names, room;
};

static int by_cell(const void *a, const void *b)
{
    return strcmp(((const struct record_cell *)a)->cell, ((const struct record_cell *)b)->cell);
}

/* A ledger under the same name may be of other cells. */
static void read_results(struct finder *f, const char *results, const char *name, bool failed)
{
    struct record_ledger *ledger = NULL;
    size_t n = 0;

    if (record_ledger_open_to_read(&ledger, results, name, NULL) == ERR_OK &&
        record_ledger_cells(ledger, &f->result, &n, NULL) == ERR_OK)
        for (size_t i = 0; i < n; i++)
            if (failed ? f->result[i].state == WIRE_DONE : wire_state_is_final(f->result[i].state))
                f->result[f->results++] = f->result[i];
    record_ledger_close(ledger);
    if (f->results)
        qsort(f->result, f->results, sizeof *f->result, by_cell);
}

static enum wire_state state_of(const struct finder *f, const char hash[17])
{
    const struct record_cell *found = NULL;
    struct record_cell key = {0};

    memcpy(key.cell, hash, 17);
    if (f->results)
        found = bsearch(&key, f->result, f->results, sizeof key, by_cell);
    return found ? found->state : WIRE_WAITING;
}

bool finder_has_results(const struct finder *f)
{
    return f->results > 0;
}

struct finder *finder_open(struct look *l, const struct spec_sweep *s, const char *name,
                           bool failed, bool sums)
{
    struct finder *f = mem_new(1, sizeof *f);

    f->look = l;
    f->sweep = s;
    if (name)
        read_results(f, look_folder(l), name, failed);
    f->depth = sums || f->results ? LOOK_SUMS : LOOK_DATA;
    f->spec = mem_new(1, sizeof *f->spec);
    return f;
}

void finder_close(struct finder *f)
{
    if (!f)
        return;
    free(f->result);
    free(f->name);
    free(f->spec);
    free(f);
}

static struct name *find_place(const struct finder *f, uint64_t hash)
{
    size_t at = hash % f->room;

    while (f->name[at].hash && f->name[at].hash != hash)
        at = (at + 1) % f->room;
    return &f->name[at];
}

static void grow(struct finder *f)
{
    struct name *old = f->name;
    size_t n = f->room;

    f->room = n ? 2 * n : 64;
    f->name = mem_new(f->room, sizeof *f->name);
    for (size_t i = 0; i < n; i++)
        if (old[i].hash)
            *find_place(f, old[i].hash) = old[i];
    free(old);
}

/* Whether another one has the name already. */
static bool remember(struct finder *f, const char *hex, size_t cell, size_t *other)
{
    uint64_t hash = strtoull(hex, NULL, 16) | 1;
    struct name *at;

    if (2 * (f->names + 1) > f->room)
        grow(f);
    at = find_place(f, hash);
    if (at->hash) {
        *other = at->cell;
        return true;
    }
    *at = (struct name){hash, cell};
    f->names++;
    return false;
}

/* What names a cell that has no plan: its settings alone. */
static void hash_of_spec(const struct spec *spec, char out[17])
{
    struct text t = {0};

    spec_write(spec, &t);
    hash_digits(out, 17, text_str(&t), t.n);
    text_free(&t);
}

void finder_look(struct finder *f, size_t cell, struct found *out)
{
    *out = (struct found){.is = FOUND, .state = WIRE_WAITING};
    if (spec_sweep_cell(f->sweep, cell, f->spec, &out->e) != ERR_OK) {
        out->is = FOUND_IMPOSSIBLE;
        return;
    }
    hash_of_spec(f->spec, out->bare);
    look_begin(f->look, 1);
    if (look_plan(f->look, &out->plan, f->spec, f->depth, &out->e) != ERR_OK)
        out->is = FOUND_REFUSED;
    if (out->plan)
        plan_hash(out->plan, out->hash);
    else
        memcpy(out->hash, out->bare, sizeof out->hash);
    out->state = state_of(f, out->hash);
    if (remember(f, out->hash, cell, &out->twin))
        out->is = FOUND_TWIN;
}
