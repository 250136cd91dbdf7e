/* cli/jobs/queue_add.c: `run --queue` puts an experiment or a sweep into the queue. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/sweeps/cells.h"
#include "cli/sweeps/sweeps.h"
#include "cli/jobs/queue_items.h"
#include "engine/forecast/past.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What would be wrong with it when its turn comes is better told now. */
static enum err_code check_run(const struct spec *spec, struct err *e)
{
    const struct engine_config config = cli_engine_config();
    struct wire_plan *price = mem_new(1, sizeof *price);
    struct look *look = look_new(&config);
    struct past *past = past_open(config.results);
    enum err_code code = ERR_OK;

    past_price_spec(past, look, spec, past_beside(1, 1), price);
    if (price->code != ERR_OK)
        code = err_set(e, price->code, "%s", price->error);
    past_close(past);
    look_free(look);
    free(price);
    return code;
}

static enum err_code check(const struct spec_sweep *s, const struct sweep_wish *wish, struct err *e)
{
    if (!spec_sweep_varies(s))
        return check_run(&s->base, e);
    TRY(sweep_say_left_out(s, wish->quiet, e));
    TRY(sweeps_check_same(wish->name, s, wish->jobs, e));
    return sweeps_check_queued(wish->name, s, wish->jobs, e);
}

static void say_added(const struct record_queued *item)
{
    struct record_queued *items = NULL;
    size_t n = 0, before = 0;
    int64_t pid = queue_at_work(false), elsewhere = queue_at_work(true);
    bool alone = queue_wants_alone(item);
    struct err e;

    if (record_queue_list(cli_results(), &items, &n, &e) != ERR_OK)
        return;
    while (before < n && items[before].id != item->id)
        before++;
    if (before < n && before)
        cli_talk("%s wait%s before it", TEXT_COUNT(before), before == 1 ? "s" : "");
    if (pid)
        cli_talk("process %lld is at work on these results now", (long long)pid);
    if (elsewhere)
        cli_talk("process %lld computes on this machine, with results in another folder: %s",
                 (long long)elsewhere,
                 alone ? "its end is waited for" : "`run --queue --alone` waits for its end too");
    queue_say_taker(before < n ? items : NULL);
    record_queue_free(items, n);
}

int queue_run(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    bool varies = spec_sweep_varies(s);
    struct text model = {0};
    const char *name = varies            ? wish->name
                       : s->base.name[0] ? s->base.name
                       : wish->name[0]   ? wish->name
                                         : (queue_add_model(&model, &s->base), text_str(&model));
    struct record_queue_options options = {
        .grid = wish->order == SWEEP_GRID,
        .failed = wish->failed,
        .max_cells = wish->max_cells,
        .jobs = wish->jobs,
        .alone = wish->alone,
    };
    struct record_queued item = {0};
    struct text ini = {0}, out = {0};
    struct err e;
    int code;

    if (check(s, wish, &e) != ERR_OK) {
        text_free(&model);
        return cli_fail(&e);
    }
    if (varies)
        snprintf(options.name, sizeof options.name, "%s", wish->name);
    if (varies || options.alone)
        record_queue_add_options(&ini, &options);
    spec_sweep_write(s, &ini);
    code = record_queue_add(cli_results(), text_str(&ini), name, &item, &e) == ERR_OK
               ? CLI_ON
               : cli_fail(&e);
    text_free(&ini);
    text_free(&model);
    if (code != CLI_ON)
        return code;
    if (!wish->quiet)
        say_added(&item);
    if (wish->json) {
        queue_add_object(&out, &item);
    } else {
        char *path = record_queue_path(cli_results(), &item);

        text_add(&out, path);
        free(path);
    }
    text_add(&out, "\n");
    code = cli_print(&out);
    text_free(&out);
    record_queue_free_item(&item);
    return code;
}
