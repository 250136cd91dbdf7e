/* The files that the form names: whoever writes or removes one makes it another experiment, while
 * nobody presses a key. */
#include "ui/setup_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "net/net.h"
#include "record/reader.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS 1000000000u
#define MOST    64 /* of a list of models, or of weights */

struct looking {
    struct setup_link *link;
    char *path[MOST];
    size_t paths;
    uint64_t turn, stamp; /* of the form; of all of them */
};

/* Of a folder that it is there: what runs writes in it again and again. */
static uint64_t look_at(const char *path, double now)
{
    struct record_stamp stamp = {0};
    struct stat st;

    if (io.stat(path, &st) != 0)
        return 0;
    if (!S_ISREG(st.st_mode))
        return st.st_ino;
    record_stamp_of(&stamp, &st);
    /* a change that has the same times shows in that, in the end */
    return hash_quick(&stamp, sizeof stamp) + record_stamp_settled(&stamp, now);
}

static void look(void *arg)
{
    struct looking *l = arg;
    uint64_t stamp[MOST] = {0};
    double now = clock_wall();

    for (size_t i = 0; i < l->paths; i++)
        stamp[i] = look_at(l->path[i], now);
    l->stamp = hash_quick(stamp, sizeof stamp);
}

static void looked(void *arg, bool dropped)
{
    struct looking *l = arg;
    struct setup *s = setup_let_go(l->link);

    if (s)
        s->named_looking = false;
    if (s && !dropped && s->form.turn == l->turn) {
        bool other = s->named_turn == l->turn && s->named_stamp != l->stamp;

        s->named_stamp = l->stamp;
        if (other) {
            form_build(&s->form);
            setup_ask(s);
        }
        s->named_turn = s->form.turn;
    }
    for (size_t i = 0; i < l->paths; i++)
        free(l->path[i]);
    free(l);
}

static void add(struct looking *l, char *path)
{
    if (path && l->paths < MOST)
        l->path[l->paths++] = path;
    else
        free(path);
}

/* Weights may be the name of a run too, data a pair of files, whose paths may hold colons themselves. */
static void add_value(struct looking *l, const char *key, const char *value, const char *results)
{
    if (!strcmp(key, "model"))
        add(l, net_file(value));
    else if (*value)
        add(l, mem_text(value));
    if (!strcmp(key, "weights") && *value && !strchr(value, '/'))
        add(l, io_path(results, value));
    for (const char *c = strcmp(key, "data") ? NULL : strchr(value, ':'); c;
         c = strchr(c + 1, ':')) {
        add(l, mem_text_n(value, (size_t)(c - value)));
        add(l, mem_text(c + 1));
    }
}

void setup_look_at_named(struct setup *s)
{
    const struct spec_sweep *w = &s->form.sweep;
    const struct {
        const char *key, *value;
    } keys[] = {{"model", w->base.model}, {"weights", w->base.weights}, {"data", w->base.data}};
    bool known = s->named_turn == s->form.turn; /* of another form what is there is seen at once */
    struct looking *l;

    if (s->named_looking || (known && app_ns(s->app) - s->named_ns < LOOK_NS))
        return;
    s->named_looking = true;
    s->named_ns = app_ns(s->app);
    l = mem_new(1, sizeof *l);
    l->link = setup_hold(s);
    l->turn = s->form.turn;
    for (size_t k = 0; k < MEM_COUNT(keys); k++) {
        bool listed = false;

        for (size_t a = 0; a < w->axes; a++)
            for (size_t v = 0; !strcmp(w->axis[a].key, keys[k].key) && v < w->axis[a].values; v++) {
                add_value(l, keys[k].key, w->axis[a].value[v], s->app->config.results);
                listed = true;
            }
        if (!listed)
            add_value(l, keys[k].key, keys[k].value, s->app->config.results);
    }
    (void)tasks_try(s->app->tasks, look, looked, l); /* they lie on disks that people name */
}
