#include "engine/forecast/preview.h"

#include "base/mem.h"
#include "engine/engine_int.h"
#include "record/start_weights.h"

#include <stdlib.h>
#include <string.h>

#define SETS 4 /* in spread order a list of data takes turns */

struct opened { /* a data set, by all that data_open looks at */
    struct data_set *set;
    struct spec spec;
    struct net_shape wanted;
    uint64_t used;
};

struct preview {
    const struct engine_config *config;
    bool sums;
    struct opened opened[SETS];
    uint64_t uses;
    struct text checked; /* the weights, and for what they were looked at last */
    struct err found;
};

struct preview *preview_open(const struct engine_config *config, bool sums)
{
    struct preview *o = mem_new(1, sizeof *o);

    o->config = config;
    o->sums = sums;
    return o;
}

static bool is_made_up(const struct spec *s)
{
    return !strcmp(s->data, "synthetic");
}

static bool same_data(const struct opened *o, const struct spec *s, struct net_shape wanted)
{
    const struct spec *of = &o->spec;

    return o->set && !strcmp(of->data, s->data) && of->normalize == s->normalize &&
           of->valid == s->valid && of->valid_per_cent == s->valid_per_cent &&
           of->train_limit == s->train_limit && of->test_limit == s->test_limit &&
           (of->seed == s->seed || !is_made_up(s)) && o->wanted.h == wanted.h &&
           o->wanted.w == wanted.w && o->wanted.c == wanted.c;
}

/* That of the same data, else the one to open them in: free, or used longest ago. */
static struct opened *place_for(struct preview *o, const struct spec *spec, struct net_shape wanted)
{
    struct opened *oldest = &o->opened[0];

    for (int i = 0; i < SETS; i++) {
        if (same_data(&o->opened[i], spec, wanted))
            return &o->opened[i];
        if (o->opened[i].used < oldest->used)
            oldest = &o->opened[i];
    }
    data_close(oldest->set);
    *oldest = (struct opened){.spec = *spec, .wanted = wanted};
    return oldest;
}

/* The set's own facts, its checksum among them. */
static enum err_code look_at_data(void *user, struct data_set *facts, const struct spec *spec,
                                  const struct data_places *places, struct net_shape wanted,
                                  struct err *e)
{
    struct preview *o = user;
    struct opened *at;

    if (is_made_up(spec) && !o->sums)
        return data_peek(facts, spec, places, wanted, e);
    at = place_for(o, spec, wanted);
    if (!at->set)
        TRY(data_open(&at->set, spec, places, wanted, e));
    at->used = ++o->uses;
    *facts = *at->set;
    return ERR_OK;
}

enum err_code preview_plan(struct preview *o, struct plan **plan, const struct spec *spec,
                           struct err *e)
{
    const struct engine_config *config = o->config;
    const struct plan_source from = {.peek = look_at_data, .user = o};
    struct spec *named = mem_new(1, sizeof *named);
    enum err_code code;

    *plan = NULL;
    *named = *spec;
    code = record_name_weights(config->results, named, e);
    if (code != ERR_OK)
        spec_locate(spec, e);
    else
        code = plan_make_with(plan, named, &config->places, config->backends, &from, e);
    free(named);
    return code;
}

static enum err_code read_weights(const struct preview *o, const struct plan *p, struct err *e)
{
    struct record_weights w = {0};
    enum err_code code =
        record_weights_new(&w, p->net, p->session.members, p->session.mode == SPEC_ENSEMBLE,
                           backend_element(&p->session), 0, e);

    if (code == ERR_OK)
        code = record_read_start(o->config->results, p->spec.weights, p->net, &w, e);
    record_weights_free(&w);
    if (code != ERR_OK)
        spec_locate(&p->spec, e);
    return code;
}

enum err_code preview_check_weights(struct preview *o, const struct plan *p, struct err *e)
{
    char network[PLAN_PART_ROOM];
    struct text now = {0};

    if (!p->spec.weights[0])
        return ERR_OK;
    plan_network_hash(p, network);
    text_addf(&now, "%s %d %d %zu %s", network, (int)p->session.mode, p->session.members,
              backend_element(&p->session), p->spec.weights);
    if (strcmp(text_str(&o->checked), text_str(&now)) != 0) {
        o->found = (struct err){0};
        (void)read_weights(o, p, &o->found);
        text_free(&o->checked);
        o->checked = now;
    } else {
        text_free(&now);
    }
    if (e)
        *e = o->found;
    return o->found.code;
}

void preview_close(struct preview *o)
{
    if (!o)
        return;
    for (int i = 0; i < SETS; i++)
        data_close(o->opened[i].set);
    text_free(&o->checked);
    free(o);
}
