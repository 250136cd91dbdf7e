/* engine/forecast/forecast_kinds.c: which cells cost the same. */
#include "engine/forecast/forecast_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint64_t find_free_keys(void)
{
    static const char *const names[] = {
        "name",       "lr",           "lr_rule",        "lr_batch",  "schedule",    "warmup",
        "lr_min",     "step_epochs",  "step_factor",    "grad_clip", "log_every",   "keep",
        "target_acc", "patience",     "on_end",         "momentum",  "beta1",       "beta2",
        "epsilon",    "weight_decay", "loss_reduction", "shuffle",   "member_order"};
    uint64_t keys = 0;

    for (size_t i = 0; i < MEM_COUNT(names); i++)
        keys |= UINT64_C(1) << spec_key_find(names[i]);
    return keys;
}

void kinds_start(struct kinds *k, size_t most)
{
    k->most = most;
    k->places = 64;
    while (k->places < 2 * most)
        k->places *= 2;
    k->place = mem_new(k->places, sizeof *k->place);
    k->normal = mem_new(1, sizeof *k->normal);
    spec_default(k->normal);
    k->free_keys = find_free_keys();
}

void kinds_free(struct kinds *k)
{
    for (size_t i = 0; i < k->count; i++) {
        free(k->kind[i]->spec);
        free(k->kind[i]);
    }
    free(k->kind);
    free(k->place);
    free(k->normal);
}

/* What costs nothing and takes no room is made the same, so that one answer does for many cells. */
static void make_plain(struct spec *s, const struct spec *normal, uint64_t free_keys)
{
    s->given &= ~free_keys;
    memcpy(s->name, normal->name, sizeof s->name);
    s->lr = normal->lr;
    s->lr_rule = normal->lr_rule;
    s->lr_batch = normal->lr_batch;
    s->schedule = normal->schedule;
    s->warmup = normal->warmup;
    s->lr_min = normal->lr_min;
    s->step_epochs = normal->step_epochs;
    s->step_factor = normal->step_factor;
    s->grad_clip = normal->grad_clip;
    s->log_every = normal->log_every;
    s->keep = normal->keep;
    s->keep_every = normal->keep_every;
    s->target_acc = normal->target_acc;
    s->patience = normal->patience;
    memcpy(s->on_end, normal->on_end, sizeof s->on_end);
    s->momentum = normal->momentum;
    s->beta1 = normal->beta1;
    s->beta2 = normal->beta2;
    s->epsilon = normal->epsilon;
    s->weight_decay = normal->weight_decay;
    s->loss_reduction = normal->loss_reduction;
    s->shuffle = normal->shuffle;
    s->member_order = normal->member_order;
    s->seed = normal->seed;
}

static uint64_t hash_more(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t word;
    size_t i = 0;

    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (; i < n; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/* Without what is the same in all cells, and the room behind texts: nine tenths of it. */
static uint64_t hash_of(const struct spec *s)
{
    size_t numbers = offsetof(struct spec, normalize), more = offsetof(struct spec, precision);
    const char *at = (const char *)s;
    uint64_t hash = 0xcbf29ce484222325u;

    hash = hash_more(hash, s->model, strlen(s->model));
    hash = hash_more(hash, s->param, (size_t)s->params * sizeof *s->param);
    hash = hash_more(hash, s->data, strlen(s->data));
    hash = hash_more(hash, at + numbers, offsetof(struct spec, weights) - numbers);
    hash = hash_more(hash, s->weights, strlen(s->weights));
    return hash_more(hash, at + more, offsetof(struct spec, on_end) - more);
}

size_t kinds_find(struct kinds *k, struct spec *cell)
{
    struct kind *new;
    uint64_t hash;
    size_t at;

    make_plain(cell, k->normal, k->free_keys);
    hash = hash_of(cell);
    for (at = hash % k->places; k->place[at]; at = (at + 1) % k->places) {
        const struct kind *x = k->kind[k->place[at] - 1];

        if (x->hash == hash && !memcmp(x->spec, cell, sizeof *cell))
            return k->place[at] - 1u;
    }
    if (k->count == k->most)
        return KIND_OTHER;
    new = mem_new(1, sizeof *new);
    new->hash = hash;
    new->due = true;
    new->spec = mem_new(1, sizeof *cell);
    *new->spec = *cell;
    k->kind = mem_grow(k->kind, &k->room, k->count + 1, sizeof *k->kind);
    k->kind[k->count++] = new;
    k->place[at] = (uint16_t)k->count;
    return k->count - 1;
}

static const struct spec_axis *axis_of(const struct spec_sweep *s, const char *key)
{
    for (size_t a = 0; a < s->axes; a++)
        if (!strcmp(s->axis[a].key, key))
            return &s->axis[a];
    return NULL;
}

static bool varies(const struct spec_sweep *s, const char *key)
{
    return axis_of(s, key);
}

/* Of the values that a number has in the cells. False: one of them must be read by its key. */
static bool find_range(const struct spec_axis *axis, double value, double *least, double *most)
{
    *least = *most = value;
    for (size_t i = 0; axis && i < axis->values; i++) {
        if (!text_to_double(axis->value[i], &value))
            return false;
        *least = !i || value < *least ? value : *least;
        *most = !i || value > *most ? value : *most;
    }
    return true;
}

/* No cell's lr_min is above its learning rate, whichever of them it has. */
static bool always_above_lr_min(const struct spec_sweep *s)
{
    double lr, lr_min, above;

    if (!varies(s, "lr_min") && s->base.lr_min <= 0)
        return true;
    return !varies(s, "lr_rule") && s->base.lr_rule == SPEC_LR_NONE &&
           find_range(axis_of(s, "lr"), s->base.lr, &lr, &above) &&
           find_range(axis_of(s, "lr_min"), s->base.lr_min, &above, &lr_min) && lr_min <= lr;
}

bool kinds_alike(const struct spec_sweep *s, const char *key)
{
    static const struct {
        const char *key, *by; /* by: what could make it lapse; NULL: nothing could */
    } keys[] = {{"seed", NULL},
                {"lr", NULL},
                {"grad_clip", NULL},
                {"weight_decay", NULL},
                {"loss_reduction", NULL},
                {"patience", NULL},
                {"lr_min", "schedule"},
                {"momentum", "optimizer"},
                {"beta1", "optimizer"},
                {"beta2", "optimizer"},
                {"epsilon", "optimizer"},
                {"step_epochs", "schedule"},
                {"step_factor", "schedule"}};

    if ((!strcmp(key, "lr") || !strcmp(key, "lr_min")) && !always_above_lr_min(s))
        return false;
    for (size_t i = 0; i < MEM_COUNT(keys); i++)
        if (!strcmp(key, keys[i].key))
            return !keys[i].by ||
                   (!varies(s, keys[i].by) && spec_applies(&s->base, spec_key_find(key)));
    return false;
}
