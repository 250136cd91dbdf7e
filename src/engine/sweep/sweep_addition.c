/* Whether a sweep may go by a name that another one has already: it then adds to that one's cells. */
#include "engine/sweep/sweep_int.h"

#include "base/mem.h"
#include "record/start_weights.h"

#include <stdlib.h>
#include <string.h>

struct before { /* what has the name already */
    const char *name, *how;
    struct spec_sweep spec;
    int64_t jobs;
};

static enum err_code check_same(const struct before *before, const struct spec_sweep *new,
                                int64_t jobs, struct err *e)
{
    struct spec_unlike unlike;
    enum err_code code = ERR_OK;

    if (!spec_sweep_adds(new, jobs, &before->spec, before->jobs, before->how, &unlike))
        code =
            err_set(e, ERR_INPUT, "the sweep %s %s: --name gives this one a name of its own%s%s%s",
                    before->name, text_str(&unlike.why), unlike.list.n ? ", a list (" : "",
                    text_str(&unlike.list), unlike.list.n ? ") adds to it" : "");
    spec_unlike_free(&unlike);
    return code;
}

/* The new one as it would be written: weights by the folder that they mean. */
static enum err_code check_named(const char *results, const struct before *before,
                                 const struct spec_sweep *new, int64_t jobs, struct err *e)
{
    struct spec_sweep *named = mem_new(1, sizeof *named); /* borrows all but the base */
    enum err_code code;

    *named = *new;
    code = record_name_weights(results, &named->base, e);
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
