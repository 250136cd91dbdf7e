#include "ui/survey.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a cell that is left out, and of one for whose kind no place was left. */
enum { KIND_NONE = SURVEY_KINDS, KIND_OTHER };

struct kind {
    struct spec *spec;
    uint64_t hash;
    size_t cells;
};

/* Cells that differ by what matters to none of this: all of them are what the first one is. */
struct alike {
    bool seen;
    uint8_t reason; /* of KIND_NONE */
    uint16_t kind;
    double lr; /* of each; of 1, where lr is what they differ by */
};

struct survey {
    struct spec_sweep sweep;
    size_t *place;       /* (axes) of the cell that is looked at */
    size_t *step;        /* (axes) to the next value's number in alike; 0: its values are alike */
    struct alike *alike; /* by the number of those that are */
    size_t lr_axis;      /* axes: none whose values are alike */
    struct spec *cell, *normal;
    uint64_t free_keys;                        /* those that cost nothing: bits as in spec.given */
    size_t cells, seen, made, left_out, other; /* made: not those like an earlier one */
    struct kind kind[SURVEY_KINDS];
    size_t kinds;
    struct survey_reason reason[SURVEY_REASONS];
    size_t reasons;
    struct survey_range lr;
    size_t most;       /* 0: all */
    bool spread;       /* not as the lists stand */
    size_t *order;     /* (cells) where spread is set, from the first look on */
    uint16_t *kind_of; /* (cells) in that order */
};

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

static bool varies(const struct spec_sweep *s, const char *key)
{
    for (size_t a = 0; a < s->axes; a++)
        if (!strcmp(s->axis[a].key, key))
            return true;
    return false;
}

/* Whether a key's values make no cell another kind, and none impossible: it costs nothing, and what
 * spec_check compares it with is the same in all cells. */
static bool is_alike(const struct spec_sweep *s, const char *key)
{
    static const struct {
        const char *key, *by; /* by: what could make it lapse; NULL: nothing could */
    } keys[] = {{"seed", NULL},
                {"lr", NULL},
                {"grad_clip", NULL},
                {"weight_decay", NULL},
                {"loss_reduction", NULL},
                {"patience", NULL},
                {"momentum", "optimizer"},
                {"beta1", "optimizer"},
                {"beta2", "optimizer"},
                {"epsilon", "optimizer"},
                {"step_epochs", "schedule"},
                {"step_factor", "schedule"}};

    if (!strcmp(key, "lr") && (varies(s, "lr_min") || s->base.lr_min > 0))
        return false;
    for (size_t i = 0; i < MEM_COUNT(keys); i++)
        if (!strcmp(key, keys[i].key))
            return !keys[i].by ||
                   (!varies(s, keys[i].by) && spec_applies(&s->base, spec_key_find(key)));
    return false;
}

/* Lists that walk together count as one, and are alike where all of them are. */
static void find_alike(struct survey *v)
{
    const struct spec_sweep *s = &v->sweep;
    size_t n = 1;

    v->place = mem_new(s->axes + 1, sizeof *v->place);
    v->step = mem_new(s->axes + 1, sizeof *v->step);
    v->lr_axis = s->axes;
    for (size_t a = 0; a < s->axes; a++) {
        bool first = true, all = true;

        for (size_t b = 0; b < s->axes; b++)
            if (b == a || (s->axis[a].zip && s->axis[b].zip == s->axis[a].zip)) {
                first = first && b >= a;
                all = all && is_alike(s, s->axis[b].key);
            }
        if (all && !strcmp(s->axis[a].key, "lr"))
            v->lr_axis = a;
        if (all || !first)
            continue;
        v->step[a] = n;
        n *= s->axis[a].values;
    }
    v->alike = mem_new(n, sizeof *v->alike);
}

struct survey *survey_new(struct spec_sweep *s)
{
    struct survey *v = mem_new(1, sizeof *v);

    v->sweep = *s;
    memset(s, 0, sizeof *s);
    v->cells = spec_sweep_varies(&v->sweep) ? spec_sweep_cells(&v->sweep) : 1;
    find_alike(v);
    v->kind_of = mem_new(v->cells, sizeof *v->kind_of);
    v->cell = mem_new(1, sizeof *v->cell);
    v->normal = mem_new(1, sizeof *v->normal);
    spec_default(v->normal);
    v->free_keys = find_free_keys();
    v->lr = (struct survey_range){NAN, NAN};
    return v;
}

void survey_free(struct survey *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->kinds; i++)
        free(v->kind[i].spec);
    for (size_t i = 0; i < v->reasons; i++)
        free(v->reason[i].text);
    free(v->cell);
    free(v->normal);
    free(v->place);
    free(v->step);
    free(v->alike);
    free(v->order);
    free(v->kind_of);
    spec_sweep_free(&v->sweep);
    free(v);
}

void survey_cut(struct survey *v, int64_t most, bool grid)
{
    if (most <= 0 || !spec_sweep_varies(&v->sweep))
        return;
    v->most = (size_t)most;
    v->spread = !grid;
}

static void widen(struct survey_range *r, double lo, double hi)
{
    if (isnan(lo))
        return;
    r->lo = isnan(r->lo) || lo < r->lo ? lo : r->lo;
    r->hi = isnan(r->hi) || hi > r->hi ? hi : r->hi;
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

static size_t find_kind(struct survey *v)
{
    uint64_t hash;

    make_plain(v->cell, v->normal, v->free_keys);
    hash = hash_of(v->cell);
    for (size_t i = 0; i < v->kinds; i++)
        if (v->kind[i].hash == hash && !memcmp(v->kind[i].spec, v->cell, sizeof *v->cell))
            return i;
    if (v->kinds == SURVEY_KINDS)
        return KIND_OTHER;
    v->kind[v->kinds] = (struct kind){mem_new(1, sizeof *v->cell), hash, 0};
    *v->kind[v->kinds].spec = *v->cell;
    return v->kinds++;
}

/* Its place among those that were told; n: none. */
static size_t find_reason(const struct survey_reason *list, size_t n, enum survey_fate fate,
                          const char *text)
{
    size_t i = 0;

    while (i < n && (list[i].fate != fate || strcmp(list[i].text, text) != 0))
        i++;
    return i;
}

/* Returns its place. Of each fate one is kept for all reasons that have none of their own. */
static size_t add_reason(struct survey_reason *list, size_t *n, enum survey_fate fate,
                         const char *text, size_t cells)
{
    size_t i = find_reason(list, *n, fate, text);

    if (i == *n && *n >= SURVEY_REASONS - SURVEY_FATES) {
        text = "other reasons";
        i = find_reason(list, *n, fate, text);
    }
    if (i == *n)
        list[(*n)++] = (struct survey_reason){fate, mem_text(text), 0};
    list[i].cells += cells;
    return i;
}

static void look_closely(struct survey *v, size_t cell, struct alike *out)
{
    struct err e = {0};

    v->made++;
    out->seen = true;
    if (!spec_sweep_varies(&v->sweep))
        *v->cell = v->sweep.base;
    else if (spec_sweep_cell(&v->sweep, cell, v->cell, &e) != ERR_OK) {
        out->kind = KIND_NONE;
        out->reason = (uint8_t)add_reason(v->reason, &v->reasons, SURVEY_OUT, e.text, 0);
        return;
    }
    if (v->lr_axis < v->sweep.axes)
        v->cell->lr = 1;
    out->lr = spec_base_lr(v->cell, spec_batch(v->cell));
    out->kind = (uint16_t)find_kind(v);
}

static double lr_of(const struct survey *v, const struct alike *x)
{
    const struct spec_axis *axis = &v->sweep.axis[v->lr_axis];
    double lr;

    if (v->lr_axis == v->sweep.axes)
        return x->lr;
    if (!text_to_double(axis->value[v->place[v->lr_axis]], &lr)) /* it stands in quotes */
        lr = spec_set(v->cell, "lr", axis->value[v->place[v->lr_axis]], NULL, NULL, NULL) == ERR_OK
                 ? v->cell->lr
                 : NAN;
    return lr * x->lr;
}

static uint16_t look_at(struct survey *v, size_t cell)
{
    size_t number = 0;
    struct alike *x;
    double lr;

    spec_sweep_place(&v->sweep, cell, v->place);
    for (size_t a = 0; a < v->sweep.axes; a++)
        number += v->step[a] * v->place[a];
    x = &v->alike[number];
    if (!x->seen)
        look_closely(v, cell, x);
    if (x->kind == KIND_NONE) {
        v->left_out++;
        v->reason[x->reason].cells++;
        return x->kind;
    }
    ++*(x->kind == KIND_OTHER ? &v->other : &v->kind[x->kind].cells);
    lr = lr_of(v, x);
    widen(&v->lr, lr, lr);
    return x->kind;
}

bool survey_look(struct survey *v, uint64_t ns, const atomic_bool *stop)
{
    uint64_t start = clock_ns();

    if (v->spread && !v->order) {
        v->order = mem_new(v->cells, sizeof *v->order);
        spec_sweep_spread(&v->sweep, v->order);
    }
    while (v->seen < v->cells) {
        v->kind_of[v->seen] = look_at(v, v->order ? v->order[v->seen] : v->seen);
        v->seen++;
        if ((v->seen & 15) == 0 && (clock_ns() - start >= ns || (stop && atomic_load(stop))))
            break;
    }
    return v->seen == v->cells;
}

size_t survey_made(const struct survey *v)
{
    return v->made;
}

/* ---- the account ---- */

void account_free(struct account *a)
{
    for (size_t i = 0; i < a->reasons; i++)
        free(a->reason[i].text);
    free(a->kind);
    free(a->had);
    memset(a, 0, sizeof *a);
}

static void add_refusal(struct account *a, const struct account_kind *k)
{
    if (k->answered && k->plan.code != ERR_OK)
        add_reason(a->reason, &a->reasons,
                   k->plan.code == ERR_NOMEM ? SURVEY_TOO_LARGE : SURVEY_SKIPPED, k->plan.error,
                   k->cells);
}

void account_update(struct account *a, const struct survey *v)
{
    size_t old = a->kinds;

    for (size_t i = 0; i < a->reasons; i++)
        free(a->reason[i].text);
    a->reasons = 0;
    for (size_t i = 0; i < v->reasons; i++)
        add_reason(a->reason, &a->reasons, SURVEY_OUT, v->reason[i].text, v->reason[i].cells);
    a->cells = v->cells;
    a->seen = v->seen;
    a->left_out = v->left_out;
    a->other = v->other;
    a->lr = v->lr;
    a->most = v->most;
    a->kind_of = v->kind_of;
    a->order = v->order;
    if (v->kinds > old) {
        a->kind = mem_resize(a->kind, v->kinds, sizeof *a->kind);
        memset(a->kind + old, 0, (v->kinds - old) * sizeof *a->kind);
    }
    a->kinds = v->kinds;
    for (size_t i = 0; i < v->kinds; i++) {
        a->kind[i].spec = v->kind[i].spec;
        a->kind[i].cells = v->kind[i].cells;
        add_refusal(a, &a->kind[i]);
    }
}

int account_next(const struct account *a)
{
    for (size_t i = 0; i < a->kinds; i++)
        if (!a->kind[i].asked)
            return (int)i;
    return -1;
}

void account_answer(struct account *a, size_t kind, const struct wire_plan *plan)
{
    struct account_kind *k = &a->kind[kind];

    if (kind >= a->kinds)
        return;
    k->asked = true;
    if (k->answered && (k->plan.code != ERR_OK || plan->code != ERR_OK))
        return;
    k->plan = *plan;
    if (k->answered)
        return;
    k->answered = true;
    add_refusal(a, k);
}

void account_ask_again(struct account *a)
{
    for (size_t i = 0; i < a->kinds; i++) {
        struct account_kind *k = &a->kind[i];

        if (k->answered && k->plan.code == ERR_OK &&
            (!isfinite(k->plan.seconds) || k->plan.guessed_from))
            k->asked = false;
    }
}

void account_had(struct account *a, const struct wire_ended *cell, size_t count)
{
    free(a->had);
    a->had = count ? mem_new(a->cells, sizeof *a->had) : NULL;
    for (size_t i = 0; i < count; i++)
        if (cell[i].cell < a->cells)
            a->had[cell[i].cell] = (uint8_t)cell[i].state;
}

static bool is_skipped(const struct account_kind *k)
{
    return k->answered && k->plan.code != ERR_OK && k->plan.code != ERR_NOMEM;
}

static bool is_too_large(const struct account_kind *k)
{
    return k->answered && k->plan.code == ERR_NOMEM;
}

struct tally {                  /* cells of each kind, as far as is known */
    size_t run[KIND_OTHER + 1]; /* that would begin */
    size_t had[KIND_OTHER + 1]; /* that have a result, or were dropped before */
};

/* One that can run, or has run. */
static void tally_one(const struct account *a, size_t i, struct tally *t, struct account_sum *sum)
{
    size_t kind = a->kind_of[i];
    enum wire_state had = a->had ? a->had[a->order ? a->order[i] : i] : WIRE_WAITING;

    ++*(had ? &t->had[kind] : &t->run[kind]);
    sum->had += had && had != WIRE_SKIPPED;
    sum->dropped_before += had == WIRE_SKIPPED;
}

/* Cell by cell where it matters which they are. */
static void tally_cells(const struct account *a, struct tally *t, struct account_sum *sum)
{
    size_t n = 0, i = 0;

    for (; i < a->seen && !(a->most && n == a->most); i++) {
        size_t kind = a->kind_of[i];

        if (kind == KIND_NONE) {
            continue;
        } else if (kind < a->kinds && is_skipped(&a->kind[kind])) {
            sum->skipped++;
        } else {
            tally_one(a, i, t, sum);
            n++;
        }
    }
    for (; i < a->seen && !sum->cut; i++)
        sum->cut = a->kind_of[i] == KIND_OTHER ||
                   (a->kind_of[i] < a->kinds && !is_skipped(&a->kind[a->kind_of[i]]));
    sum->skipped += sum->dropped_before;
}

static void tally_kinds(const struct account *a, struct tally *t, struct account_sum *sum)
{
    for (size_t i = 0; i < a->kinds; i++)
        *(is_skipped(&a->kind[i]) ? &sum->skipped : &t->run[i]) += a->kind[i].cells;
    t->run[KIND_OTHER] = a->other;
}

static void add_cost(struct account_sum *sum, const struct account_kind *k, size_t cells)
{
    const struct wire_plan *p = &k->plan;
    const struct spec *s = k->spec;
    int models = s->mode == SPEC_ENSEMBLE ? p->members : 1;
    double steps = (double)p->steps_per_epoch * (double)s->epochs, n = (double)cells, images;
    double seconds = p->seconds;

    if (s->max_steps && steps > (double)s->max_steps)
        steps = (double)s->max_steps;
    images = steps * (double)p->batch * models;
    sum->model_images += n * images;
    sum->flops += n * images * p->flops_per_image;
    if (isnan(seconds)) {
        sum->unknown += cells;
    } else {
        sum->seconds += n * seconds;
        sum->longest = cells ? fmax(sum->longest, seconds) : sum->longest;
        sum->guessed |= p->guessed_from > 0;
    }
}

static void add_ranges(struct account_sum *sum, const struct account_kind *k)
{
    const struct wire_plan *p = &k->plan;
    const struct spec *s = k->spec;
    int models = s->mode == SPEC_ENSEMBLE ? p->members : 1;

    widen(&sum->per_device, (double)p->batch_per_device, (double)p->batch_per_device);
    widen(&sum->batch, (double)p->batch, (double)p->batch);
    widen(&sum->steps, (double)p->steps_per_epoch, (double)p->steps_per_epoch);
    widen(&sum->dropped, (double)p->dropped, (double)p->dropped);
    widen(&sum->parameters, (double)p->parameters, (double)p->parameters);
    widen(&sum->bytes, (double)p->bytes_per_device, (double)p->bytes_per_device);
    widen(&sum->devices, (double)p->devices, (double)p->devices);
    widen(&sum->threads, (double)p->threads, (double)p->threads);
    widen(&sum->images, (double)p->images, (double)p->images);
    widen(&sum->test_images, (double)p->test_images, (double)p->test_images);
    if (p->lacking)
        widen(&sum->unused, (double)p->unused_bytes, (double)p->unused_bytes);
    if (s->mode == SPEC_ENSEMBLE) {
        widen(&sum->members, models, models);
        widen(&sum->as_one, (double)s->epochs * models, (double)s->epochs * models);
    }
}

/* Nothing can run: the reason that most of them have. */
static const char *most_common(const struct account *a)
{
    const struct survey_reason *most = NULL;

    for (size_t i = 0; i < a->reasons; i++)
        if (!most || a->reason[i].cells > most->cells)
            most = &a->reason[i];
    return most ? most->text : NULL;
}

void account_sum(const struct account *a, struct account_sum *out)
{
    const struct survey_range none = {NAN, NAN};
    bool all = a->seen == a->cells;
    struct tally tally = {0};

    memset(out, 0, sizeof *out);
    out->per_device = out->batch = out->steps = out->dropped = out->parameters = out->bytes =
        out->unused = out->members = out->as_one = none;
    out->devices = out->threads = out->images = out->test_images = none;
    out->lr = a->lr;
    out->left_out = a->left_out;
    if (a->most || a->had)
        tally_cells(a, &tally, out);
    else
        tally_kinds(a, &tally, out);
    out->runs = out->unknown = tally.run[KIND_OTHER];
    for (size_t i = 0; i < a->kinds; i++) {
        const struct account_kind *k = &a->kind[i];

        all = all && k->answered;
        if (is_too_large(k)) {
            out->too_large += tally.run[i];
            continue;
        }
        out->runs += tally.run[i];
        if (!k->answered)
            out->unknown += tally.run[i];
        if (!k->answered || !(tally.run[i] + tally.had[i]))
            continue;
        if (!out->plan) {
            out->plan = &k->plan;
            out->spec = k->spec;
        }
        if (!out->crowding && k->plan.crowding[0])
            out->crowding = k->plan.crowding;
        add_cost(out, k, tally.run[i]);
        add_ranges(out, k);
    }
    out->complete = all;
    if (a->jobs > 1) /* no sooner over than the longest of them */
        out->seconds = fmax(out->seconds / a->jobs, out->longest);
    if (out->runs && out->unknown >= out->runs)
        out->seconds = NAN;
    if (!out->runs && !out->had && !out->dropped_before && a->seen == a->cells)
        out->problem = most_common(a);
}
