/* cli/jobs/queue_items.c: what waits in the queue, in words, and who takes from it. */
#include "cli/jobs/queue_items.h"

#include "base/again.h"
#include "base/err.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "record/working.h"
#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* "lenet"; of the copy in a run's folder what that run calls it. */
void queue_add_model(struct text *out, const struct spec *s)
{
    char *folder = io_folder_of(s->model);
    struct record_entry entry;

    if (strcmp(last_part(s->model), "model.net") != 0 || !record_is_run(folder) ||
        record_read_entry(folder, &entry, NULL) != ERR_OK) {
        cli_add_model(out, s);
    } else {
        cli_add_model(out, entry.broken ? s : &entry.run.spec);
        record_free_entry(&entry);
    }
    free(folder);
}

static void describe_run(const struct spec *s, struct text *out)
{
    int n = s->members > 0 ? s->members : s->devices;
    char lr[TEXT_NUMBER_ROOM];
    struct text t = {0};

    queue_add_model(&t, s);
    text_addf(&t, " on %s", last_part(s->data));
    if (s->mode == SPEC_ENSEMBLE)
        text_addf(&t, ", %d member%s", n, text_s(n));
    else if (s->devices > 1)
        text_addf(&t, ", %d devices", s->devices);
    text_addf(&t, ", batch %lld%s, %lld epoch%s, lr %s", (long long)s->batch,
              s->batch_per_device ? "/device" : "", (long long)s->epochs, text_s(s->epochs),
              text_double(lr, s->lr));
    if (s->seed)
        text_addf(&t, ", seed %llu", (unsigned long long)s->seed);
    text_add_clean(out, text_str(&t));
    text_free(&t);
}

/* "sweep: 3 lr (2 of 3 cells)"; most: as many cells are asked for, 0: all. */
static void describe_sweep(const struct spec_sweep *s, int64_t most, struct text *out)
{
    size_t cells = spec_sweep_cells(s);

    text_add(out, "sweep:");
    for (size_t a = 0; a < s->axes; a++)
        text_addf(out, "%s %s %s", a ? "," : "", TEXT_COUNT(s->axis[a].values),
                  TEXT_CLEAN(s->axis[a].key));
    text_add(out, " (");
    if (most && (size_t)most < cells)
        text_addf(out, "%s of ", TEXT_COUNT(most));
    text_addf(out, "%s cells)", TEXT_COUNT(cells));
}

static enum err_code read_item(const struct record_queued *item, struct spec_sweep *s,
                               struct err *e)
{
    struct record_queue_options options;
    char *path;
    enum err_code code;

    if (item->broken)
        return err_set(e, ERR_INPUT, "%s", item->problem);
    path = record_queue_path(cli_results(), item);
    code = record_queue_read_options(item->text, &options, e);
    if (code == ERR_OK)
        code = spec_sweep_parse(s, item->text, item->n, path, e);
    if (code == ERR_OK)
        code = spec_sweep_close(s, e);
    if (code == ERR_OK && !spec_sweep_varies(s))
        code = spec_check(&s->base, e);
    free(path);
    return code;
}

struct record_queue_options queue_options(const struct record_queued *item)
{
    struct record_queue_options options;

    if (item->broken || record_queue_read_options(item->text, &options, NULL) != ERR_OK)
        options = (struct record_queue_options){0};
    return options;
}

bool queue_wants_alone(const struct record_queued *item)
{
    return queue_options(item).alone;
}

void queue_describe(const struct record_queued *item, struct text *out, const char **kind,
                    size_t *cells)
{
    struct record_queue_options options = queue_options(item);
    struct spec_sweep s;
    struct err e;

    *cells = 1;
    spec_sweep_init(&s);
    if (read_item(item, &s, &e) != ERR_OK) {
        *kind = "broken";
        text_add_clean(out, e.text);
    } else if (spec_sweep_varies(&s)) {
        *kind = "sweep";
        *cells = spec_sweep_cells(&s);
        describe_sweep(&s, options.max_cells, out);
    } else {
        *kind = "run";
        if (options.resume[0])
            text_addf(out, "%s goes on: ", TEXT_CLEAN(options.resume));
        describe_run(&s.base, out);
    }
    spec_sweep_free(&s);
}

/* ---- listing ---- */

void queue_add_object(struct text *out, const struct record_queued *item)
{
    struct record_queue_options options = queue_options(item);
    struct text what = {0};
    const char *kind;
    size_t cells;

    queue_describe(item, &what, &kind, &cells);
    text_addf(out, "{\"number\": %lld, ", (long long)item->number);
    cli_json_field(out, "name", item->name);
    text_add(out, ", ");
    cli_json_field(out, "file", item->file);
    text_add(out, ", ");
    cli_json_field(out, "kind", kind);
    if (!strcmp(kind, "sweep"))
        text_addf(out, ", \"cells\": %zu", cells);
    if (queue_wants_alone(item))
        text_add(out, ", \"alone\": true");
    text_add(out, ", ");
    if (options.resume[0]) {
        cli_json_field(out, "resume", options.resume);
        text_add(out, ", ");
    }
    cli_json_field(out, !strcmp(kind, "broken") ? "problem" : "what", text_str(&what));
    text_add(out, "}");
    text_free(&what);
}

/* The process that is at work on these results; 0: none. elsewhere: on others, on this machine. */
int64_t queue_at_work(bool elsewhere)
{
    struct record_working *working = NULL;
    size_t n = elsewhere ? record_computing_list(&working) : record_working_list(&working);
    int64_t pid = 0;

    for (size_t i = 0; i < n && !pid; i++)
        if (record_working_same(working[i].results, cli_results()) != elsewhere)
            pid = working[i].pid;
    free(working);
    return pid;
}

/* Who takes from it, now or as soon as he may, or that nobody does. first: of those that wait. */
void queue_say_taker(const struct record_queued *first)
{
    int64_t owner = record_queue_owner(cli_results()), pid = queue_at_work(false);
    int64_t taker = owner ? owner : record_taking_pid(cli_results());

    if (!pid && first && queue_wants_alone(first))
        pid = queue_at_work(true);

    if (taker && pid && taker != pid)
        cli_talk("process %lld takes from it when process %lld has ended", (long long)taker,
                 (long long)pid);
    else if (taker)
        cli_talk("process %lld takes from it", (long long)taker);
    else
        cli_talk("nobody takes from it now: `chorus queue run%s` does, or an open workbench",
                 again());
}
