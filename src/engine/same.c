/* Whether a sweep may go by a name that another one has already: it then adds to that one's cells. */
#include "engine/sweep_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void add_keys(struct text *out, const struct spec_sweep *s)
{
    for (size_t i = 0; i < s->axes; i++)
        text_addf(out, "%s%s", i ? ", " : "", s->axis[i].key);
}

static bool walks(const struct spec_sweep *s, const struct spec_sweep *keys)
{
    bool all = true;

    for (size_t k = 0; k < keys->axes && all; k++) {
        bool found = false;

        for (size_t i = 0; i < s->axes && !found; i++)
            found = !strcmp(s->axis[i].key, keys->axis[k].key);
        all = found;
    }
    return all;
}

static bool varies(const struct spec_sweep *s, const char *key)
{
    bool found = false;

    for (size_t i = 0; i < s->axes && !found; i++)
        found = !strcmp(s->axis[i].key, key);
    return found;
}

struct before { /* what has the name already */
    const char *name, *how;
    struct spec_sweep spec;
    int64_t jobs;
};

/* Two cells that a key alone tells apart need its column, which a key that does not vary has not. */
static enum err_code check_values(const struct before *before, const struct spec_sweep *new,
                                  struct err *e)
{
    const struct spec_sweep *old = &before->spec;
    struct text a = {0}, b = {0};
    enum err_code code = ERR_OK;

    for (int k = 0; spec_keys[k].name && code == ERR_OK; k++) {
        const char *key = spec_keys[k].name;

        if (!plan_key_names(key) || varies(old, key) || varies(new, key) ||
            !spec_applies(&old->base, k) || !spec_applies(&new->base, k))
            continue;
        text_clear(&a);
        text_clear(&b);
        spec_value(&old->base, k, &a);
        spec_value(&new->base, k, &b);
        if (strcmp(text_str(&a), text_str(&b)) != 0)
            code = err_set(e, ERR_INPUT,
                           "the sweep %s %s %s = %s, not %s: --name gives this one a name of its "
                           "own, a list (%s=%s,%s) adds to it",
                           before->name, before->how, key, a.n ? text_str(&a) : "none",
                           b.n ? text_str(&b) : "none", key, a.n ? text_str(&a) : "none",
                           b.n ? text_str(&b) : "none");
    }
    text_free(&a);
    text_free(&b);
    return code;
}

static enum err_code check_same(const struct before *before, const struct spec_sweep *new,
                                int64_t jobs, struct err *e)
{
    int64_t was = before->jobs > 1 ? before->jobs : 1, is = jobs > 1 ? jobs : 1;
    struct text a = {0}, b = {0};
    enum err_code code = ERR_OK;

    add_keys(&a, &before->spec);
    add_keys(&b, new);
    if (!walks(new, &before->spec)) /* its table would lose a column that tells cells apart */
        code = err_set(e, ERR_INPUT,
                       "the sweep %s walks %s, and these lists walk %s: --name gives this one a "
                       "name of its own",
                       before->name, text_str(&a), text_str(&b));
    else if (!spec_sweep_runs_alone(new) && was != is)
        code = err_set(e, ERR_INPUT,
                       "the sweep %s %s --jobs %lld, not %lld: a cell's share of the threads is "
                       "part of it, so all would be trained anew; --name gives this one a name of "
                       "its own",
                       before->name, before->how, (long long)was, (long long)is);
    if (code == ERR_OK)
        code = check_values(before, new, e);
    text_free(&a);
    text_free(&b);
    return code;
}

/* The new one as it would be written: weights by the folder that they mean. */
static enum err_code check_named(const char *results, const struct before *before,
                                 const struct spec_sweep *new, int64_t jobs, struct err *e)
{
    struct spec_sweep *named = mem_new(1, sizeof *named); /* borrows all but the base */
    enum err_code code;

    *named = *new;
    code = session_name_weights(results, &named->base, e);
    if (code == ERR_OK)
        code = check_same(before, named, jobs, e);
    free(named);
    return code;
}

enum err_code engine_check_sweep(const char *results, const char *name, const struct spec_sweep *s,
                                 int64_t jobs, struct err *e)
{
    struct before before = {.name = name, .how = "was begun with"};
    struct record_queue_options options = {0};
    enum err_code code = ERR_OK;
    struct err ignored;

    spec_sweep_init(&before.spec);
    /* One that cannot be read is written anew. */
    if (record_sweep_read(results, name, &before.spec, &options, &ignored) == ERR_OK) {
        before.jobs = options.jobs;
        code = check_named(results, &before, s, jobs, e);
    }
    spec_sweep_free(&before.spec);
    return code;
}

enum err_code engine_check_queued(const char *results, const char *name, const struct spec_sweep *s,
                                  int64_t jobs, struct err *e)
{
    struct record_queued *items;
    enum err_code code = ERR_OK;
    size_t n;

    TRY(record_queue_list(results, &items, &n, e));
    for (size_t i = 0; i < n && code == ERR_OK; i++) {
        struct before before = {.name = name, .how = "waits in the queue with"};
        struct record_queue_options options;

        spec_sweep_init(&before.spec);
        if (record_sweep_waits(&items[i], &before.spec, &options) && !strcmp(options.name, name)) {
            before.jobs = options.jobs;
            code = check_named(results, &before, s, jobs, e);
        }
        spec_sweep_free(&before.spec);
    }
    record_queue_free(items, n);
    return code;
}
