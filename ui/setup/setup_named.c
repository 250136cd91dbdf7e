/* The files that the form names: whoever writes or removes one makes it another experiment, while
 * nobody presses a key. */
#include "ui/setup/setup_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "net/net.h"
#include "record/stamp.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS 1000000000u
#define LONGER  50 /* than looking took: a fiftieth of a core at most */

struct named {
    const char *key;
    char *value;
    bool typed;   /* in a list: a path in it may be relative */
    char *folder; /* to that; NULL: to where we are */
};

struct looking {
    struct setup_link *link;
    const struct app_config *config;
    struct named *named;
    size_t count, room;
    uint64_t turn, stamp, took_ns; /* of the form; of all of them; by the clock */
};

static uint64_t add(uint64_t sum, uint64_t one)
{
    const uint64_t both[] = {sum, one};

    return hash_quick(both, sizeof both);
}

/* Of a folder that it is there: what runs writes in it again and again. */
static uint64_t look_at(char *path)
{
    struct record_stamp stamp = {0};
    double now = clock_wall();
    struct stat st;
    bool there = path && io.stat(path, &st) == 0;

    free(path);
    if (!there)
        return 0;
    if (!S_ISREG(st.st_mode))
        return st.st_ino;
    record_stamp_of(&stamp, &st);
    /* a change that has the same times shows in that, in the end */
    return hash_quick(&stamp, sizeof stamp) + record_stamp_settled(&stamp, now);
}

static const char *meant(const struct named *n, struct spec *s)
{
    struct err e;

    if (!n->typed)
        return n->value;
    spec_default(s);
    if (spec_set(s, n->key, n->value, NULL, n->folder, &e) != ERR_OK)
        return "";
    return !strcmp(n->key, "model") ? s->model : !strcmp(n->key, "data") ? s->data : s->weights;
}

/* Weights may be the name of a run too. */
static uint64_t look_at_value(const struct app_config *config, const struct named *n)
{
    struct spec s;
    const char *value = meant(n, &s);
    uint64_t state;

    if (!*value)
        return 0;
    if (!strcmp(n->key, "data"))
        return config->data_state ? config->data_state(value) : 0;
    if (!strcmp(n->key, "model"))
        return look_at(net_file(value));
    state = look_at(mem_text(value));
    return strchr(value, '/') ? state : add(state, look_at(io_path(config->results, value)));
}

static void look(void *arg)
{
    struct looking *l = arg;
    uint64_t began = clock_ns();

    for (size_t i = 0; i < l->count; i++)
        l->stamp = add(l->stamp, look_at_value(l->config, &l->named[i]));
    l->took_ns = clock_ns() - began;
}

static void looked(void *arg, bool dropped)
{
    struct looking *l = arg;
    struct setup *s = setup_let_go(l->link);

    if (s) {
        s->named_looking = false;
        s->named_took_ns = l->took_ns;
    }
    if (s && !dropped && s->form.turn == l->turn) {
        bool other = s->named_turn == l->turn && s->named_stamp != l->stamp;

        s->named_stamp = l->stamp;
        if (other) {
            form_build(&s->form);
            setup_ask(s);
        }
        s->named_turn = s->form.turn;
    }
    for (size_t i = 0; i < l->count; i++) {
        free(l->named[i].value);
        free(l->named[i].folder);
    }
    free(l->named);
    free(l);
}

static void add_named(struct looking *l, struct named n)
{
    n.value = mem_text(n.value);
    n.folder = n.folder ? mem_text(n.folder) : NULL;
    l->named = mem_grow(l->named, &l->room, l->count + 1, sizeof *l->named);
    l->named[l->count++] = n;
}

/* What the key is, or each value of its list. */
static void add_key(struct looking *l, const struct spec_sweep *w, const char *key, char *value)
{
    for (size_t a = 0; a < w->axes; a++) {
        const struct spec_axis *axis = &w->axis[a];

        if (strcmp(axis->key, key) != 0)
            continue;
        for (size_t v = 0; v < axis->values; v++)
            add_named(l, (struct named){key, axis->value[v], true, axis->folder});
        return;
    }
    add_named(l, (struct named){key, value, false, NULL});
}

void setup_look_at_named(struct setup *s)
{
    struct spec_sweep *w = &s->form.sweep;
    bool known = s->named_turn == s->form.turn; /* of another form what is there is seen at once */
    uint64_t pause = LONGER * s->named_took_ns > LOOK_NS ? LONGER * s->named_took_ns : LOOK_NS;
    struct looking *l;

    if (s->named_looking || (known && app_ns(s->app) - s->named_ns < pause))
        return;
    s->named_looking = true;
    s->named_ns = app_ns(s->app);
    l = mem_new(1, sizeof *l);
    l->link = setup_hold(s);
    l->config = &s->app->config;
    l->turn = s->form.turn;
    add_key(l, w, "model", w->base.model);
    add_key(l, w, "weights", w->base.weights);
    add_key(l, w, "data", w->base.data);
    tasks_add_place(s->app->tasks, look, looked, l); /* they lie on disks that people name */
}
