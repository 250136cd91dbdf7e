#include "engine/forecast/look_int.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/filter.h"
#include "record/find.h"
#include "record/list.h"
#include "record/look.h"
#include "record/run/reader.h"
#include "record/start_weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS   1000000000u /* what was found is not believed longer */
#define FACTS     512         /* as many as a sweep has kinds of cells: each may be of other data */
#define ESTIMATES 4096 /* more than a sweep has kinds of cells, so that few take another's place */
#define WEIGHTS   16
#define STATES    256
#define SETS      4 /* open: in spread order a list of data takes turns */
/* How long facts about data are believed; longer, where finding out took long. */
#define FACTS_NS      10000000000u
#define DEAR_FACTS_NS 600000000000u

struct key { /* of a data set: all that data_open looks at, every byte of it */
    char data[2 * SPEC_PATH];
    int32_t normalize, valid_per_cent;
    double valid;
    int64_t train_limit, test_limit;
    uint64_t seed; /* of synthetic images */
    int32_t h, w, c, none;
};

struct facts {
    bool used;
    uint64_t when, state; /* data_state */
    struct key key;
    struct data_set set;
};

struct opened {
    struct data_set *set;
    uint64_t used;
    struct key key;
};

struct state {
    uint64_t name, serial, state; /* of which value, in which look */
};

struct checked {   /* weights */
    uint64_t hash; /* of these, and of what starts from them */
    struct err e;
};

struct estimated {
    uint64_t hash; /* of all that it depends on */
    size_t bytes;
};

struct look {
    const struct engine_config *config;
    enum look_depth depth; /* of the plan that is made */
    uint32_t number;
    uint64_t serial, began;

    bool knows_machine, knows_results;
    struct plan_memory machine;
    struct err results_e;
    struct checked checked[WEIGHTS]; /* by the last bits of their hash */
    struct look_nets nets;
    struct opened opened[SETS];
    uint64_t uses;
    struct state state[STATES];            /* by the last bits of their names */
    struct estimated estimated[ESTIMATES]; /* by the last bits of their hash; these outlive it, */
    struct facts facts[FACTS];             /* and so do these */
};

struct look *look_new(const struct engine_config *config)
{
    struct look *l = mem_new(1, sizeof *l);

    l->config = config;
    look_begin(l, 0);
    return l;
}

void look_free(struct look *l)
{
    if (!l)
        return;
    for (int i = 0; i < SETS; i++)
        data_close(l->opened[i].set);
    look_nets_free(&l->nets);
    free(l);
}

const char *look_folder(const struct look *l)
{
    return l->config->results;
}

void look_begin(struct look *l, uint32_t number)
{
    uint64_t now = clock_ns();

    look_nets_trim(&l->nets);
    if (number && number == l->number && now - l->began < LOOK_NS)
        return;
    l->number = number;
    l->began = now;
    l->serial++;
    l->knows_machine = l->knows_results = false;
}

size_t look_parsed(const struct look *l)
{
    return l->nets.parsed;
}

static const struct plan_memory *machine(struct look *l)
{
    if (!l->knows_machine && !plan_machine(&l->machine))
        l->machine = (struct plan_memory){0};
    l->knows_machine = true;
    return &l->machine;
}

/* What the memory of a CPU session depends on: the plan but for its pointers, with what they mean. */
static uint64_t hash_of(const struct look *l, const struct plan *p)
{
    const struct data_set *data = p->session.data;
    struct {
        struct backend_plan plan;
        const struct backend *backend;
        uint64_t freed; /* of nets: the same pointer is another one's then */
        struct net_shape shape;
        size_t train, valid, test, held;
        size_t element;
    } key;

    memset(&key, 0, sizeof key);
    memcpy(&key.plan, &p->session, sizeof key.plan);
    key.plan.data = NULL;
    key.plan.member_device = key.plan.gpu = NULL;
    key.plan.model_key = NULL;
    key.backend = p->backend;
    key.freed = l->nets.freed;
    if (data) {
        key.shape = data->shape;
        key.train = data->train.count;
        key.valid = data->valid.count;
        key.test = data->test.count;
        key.held = data->held;
        key.element = data_element(data);
    }
    return hash_quick(&key, sizeof key);
}

enum err_code look_estimate(struct look *l, const struct plan *p, struct backend_estimate *out,
                            struct err *e)
{
    uint64_t hash = hash_of(l, p);
    struct estimated *known = &l->estimated[hash % ESTIMATES];

    if (p->backend->gpus)
        return plan_want(p, out, e);
    if (known->hash != hash) {
        TRY(plan_want(p, out, e));
        *known = (struct estimated){hash, out->bytes[0]};
    }
    *out = (struct backend_estimate){.places = 1, .bytes = {known->bytes}};
    plan_compare_memory(p, machine(l), out);
    return ERR_OK;
}

/* ---- for plans ---- */

static bool is_synthetic(const struct spec *s)
{
    return !strcmp(s->data, "synthetic");
}

/* Once in each look. */
static uint64_t state_of(struct look *l, const char *data, const struct data_places *places)
{
    uint64_t name = hash_quick(data, strlen(data));
    struct state *known = &l->state[name % STATES];

    if (known->serial != l->serial || known->name != name)
        *known = (struct state){name, l->serial, data_state(data, places)};
    return known->state;
}

static struct key *key_of(struct key *k, const struct spec *s, struct net_shape wanted)
{
    memset(k, 0, sizeof *k);
    strcpy(k->data, s->data);
    k->normalize = s->normalize;
    k->valid = s->valid;
    k->valid_per_cent = s->valid_per_cent;
    k->train_limit = s->train_limit;
    k->test_limit = s->test_limit;
    k->seed = is_synthetic(s) ? s->seed : 0;
    k->h = wanted.h;
    k->w = wanted.w;
    k->c = wanted.c;
    return k;
}

static bool are_young(const struct facts *f, const struct key *key, uint64_t state)
{
    uint64_t life = f->set.seconds > 0.02 ? DEAR_FACTS_NS : FACTS_NS;

    return f->used && f->state == state && !memcmp(&f->key, key, sizeof *key) &&
           clock_ns() - f->when < life;
}

static enum err_code peek(void *user, struct data_set *set, const struct spec *s,
                          const struct data_places *places, struct net_shape wanted, struct err *e)
{
    struct look *l = user;
    struct facts *oldest = &l->facts[0];
    uint64_t now = state_of(l, s->data, places);
    struct key key;

    key_of(&key, s, wanted);
    for (int i = 0; i < FACTS; i++) {
        struct facts *f = &l->facts[i];

        if (are_young(f, &key, now)) {
            *set = f->set;
            return ERR_OK;
        }
        if (!f->used || (oldest->used && f->when < oldest->when))
            oldest = f;
    }
    TRY(data_peek(set, s, places, wanted, e));
    *oldest =
        (struct facts){.used = true, .when = clock_ns(), .state = now, .key = key, .set = *set};
    return ERR_OK;
}

/* The set's own facts, its checksum among them; it is opened where the one was that was used longest ago. */
static enum err_code open_data(void *user, struct data_set *facts, const struct spec *spec,
                               const struct data_places *places, struct net_shape wanted,
                               struct err *e)
{
    struct look *l = user;
    struct opened *at = &l->opened[0];
    struct key key;

    if (l->depth == LOOK_DATA && is_synthetic(spec))
        return peek(user, facts, spec, places, wanted, e);
    key_of(&key, spec, wanted);
    for (int i = 0; i < SETS; i++) {
        struct opened *o = &l->opened[i];
        bool same = o->set && !memcmp(&o->key, &key, sizeof key);

        at = same || o->used < at->used ? o : at;
        if (same)
            break;
    }
    if (!at->set || memcmp(&at->key, &key, sizeof key) != 0) {
        data_close(at->set);
        *at = (struct opened){.key = key};
        TRY(data_open(&at->set, spec, places, wanted, e));
    }
    at->used = ++l->uses;
    *facts = *at->set;
    return ERR_OK;
}

static enum err_code demands(void *user, const char *model, struct net_shape *shape, struct err *e)
{
    struct look *l = user;

    return look_demands(&l->nets, l->serial, model, shape, e);
}

static enum err_code net(void *user, const char *model, const struct net_wants *wants,
                         struct net **out, struct err *e)
{
    struct look *l = user;

    return look_net(&l->nets, l->serial, model, wants, out, e);
}

enum err_code look_plan(struct look *l, struct plan **plan, const struct spec *spec,
                        enum look_depth depth, struct err *e)
{
    const struct engine_config *config = l->config;
    struct plan_source source = {
        .peek = depth == LOOK_HEADS ? peek : open_data, .demands = demands, .net = net, .user = l};
    struct spec *named = mem_new(1, sizeof *named);
    enum err_code code = ERR_OK;

    *plan = NULL;
    *named = *spec;
    l->depth = depth;
    if (depth != LOOK_HEADS)
        code = record_name_weights(config->results, named, e);
    if (code != ERR_OK)
        spec_locate(spec, e);
    else
        code = plan_make_with(plan, named, &config->places, config->backends, &source, e);
    free(named);
    return code;
}

/* ---- what a start would meet ---- */

/* Whether it can be a RUN, by the names alone. Which one, or why not one, a start tells. */
static enum err_code check_name(const char *results, const char *name, struct err *e)
{
    char **names, *sweep, path[128];
    size_t count, runs = 0;
    bool is = name[0] == '@' || record_filter_is(name) || record_is_run(name) ||
              record_sweep_of_path(results, name, path);

    if (is)
        return ERR_OK;
    if (strchr(name, '/'))
        return err_set(e, ERR_INPUT, "%s is not the folder of a run: it has no run.csv", name);
    TRY(io_list_folder(results, &names, &count, e));
    for (size_t i = 0; i < count && !is; i++) {
        bool run = record_is_run_name(names[i]);

        runs += run;
        is = run && strstr(names[i], name);
    }
    io_free_names(names, count);
    sweep = mem_textf("%s/sweeps/%s", results, name);
    is = is || io_exists(sweep);
    free(sweep);
    if (is)
        return ERR_OK;
    return err_set(
        e, ERR_INPUT,
        "there is no run '%s': it is no folder of a run, no sweep and part of no name in "
        "%s (%s runs; chorus ls%s lists them)",
        name, results, TEXT_COUNT(runs), again());
}

static enum err_code check_weights(const char *results, const struct plan *p, bool many,
                                   struct err *e)
{
    const char *from = p->spec.weights;
    struct record_entry entry = {0};
    enum err_code code;

    if (record_start_is_file(from))
        return record_check_start_file(from, p->net, p->session.members,
                                       p->session.mode == SPEC_ENSEMBLE, e);
    code = many ? check_name(results, from, e) : record_find(results, from, &entry, e);
    if (code != ERR_OK)
        return err_context(e, "weights");
    record_free_entry(&entry);
    return code;
}

static enum err_code read_weights(const struct look *l, const struct plan *p, struct err *e)
{
    struct record_weights w = {0};
    enum err_code code =
        record_weights_new(&w, p->net, p->session.members, p->session.mode == SPEC_ENSEMBLE,
                           backend_element(&p->session), 0, e);

    if (code == ERR_OK)
        code = record_read_start(l->config->results, p->spec.weights, p->net, &w, e);
    record_weights_free(&w);
    if (code != ERR_OK)
        spec_locate(&p->spec, e);
    return code;
}

/* What was said of them before, or (code ERR_STOPPED) a place for what is said now. look: in which that holds;
 * 0: in all. */
static struct err *remember(struct look *l, const struct plan *p, uint64_t look)
{
    char network[PLAN_PART_ROOM];
    struct text key = {0};
    struct checked *c;
    uint64_t hash;

    plan_network_hash(p, network);
    text_addf(&key, "%s %d %d %zu %llu %s", network, (int)p->session.mode, p->session.members,
              backend_element(&p->session), (unsigned long long)look, p->spec.weights);
    hash = hash_quick(text_str(&key), key.n);
    text_free(&key);
    c = &l->checked[hash % WEIGHTS];
    if (c->hash != hash)
        *c = (struct checked){hash, {.code = ERR_STOPPED}};
    return &c->e;
}

enum err_code look_weights(struct look *l, const struct plan *p, bool many, struct err *e)
{
    struct err *known;

    if (!p->spec.weights[0])
        return ERR_OK;
    known = remember(l, p, l->serial);
    if (known->code == ERR_STOPPED) {
        *known = (struct err){0};
        (void)check_weights(l->config->results, p, many, known);
    }
    *e = *known;
    return e->code;
}

enum err_code look_read_weights(struct look *l, const struct plan *p, struct err *e)
{
    struct err *known;

    if (!p->spec.weights[0])
        return ERR_OK;
    known = remember(l, p, 0);
    if (known->code == ERR_STOPPED) {
        *known = (struct err){0};
        (void)read_weights(l, p, known);
    }
    *e = *known;
    return e->code;
}

static enum err_code check_results(const char *results, struct err *e)
{
    char *folder = mem_text(*results ? results : ".");
    enum err_code code = ERR_OK;

    while (!io_exists(folder) && strcmp(folder, "/") && strcmp(folder, ".")) {
        char *above = io_folder_of(folder);

        free(folder);
        folder = above;
    }
    if (!io_is_folder(folder))
        code = err_set(e, ERR_IO, "no run can be kept: %s, for results, is no folder", folder);
    else if (access(folder, W_OK | X_OK) != 0) {
        (void)err_errno(e, "no run can be kept in %s", folder);
        code = record_say_elsewhere(folder, e);
    }
    free(folder);
    return code;
}

enum err_code look_results(struct look *l, struct err *e)
{
    if (!l->knows_results) {
        l->results_e = (struct err){0};
        (void)check_results(l->config->results, &l->results_e);
    }
    l->knows_results = true;
    *e = l->results_e;
    return e->code;
}
