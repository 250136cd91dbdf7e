/* cli/forecast/dry.c: what an experiment means before it runs. The output is an experiment file itself: the
 * numbers stand in comments. */
#include "cli/forecast/dry.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "engine/backend.h"
#include "engine/forecast/past.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_count(struct text *out, const char *name, uint64_t value)
{
    char number[TEXT_NUMBER_ROOM];

    text_addf(out, "# %-17s %s\n", name, text_count(number, value));
}

static size_t most_bytes(const struct backend_estimate *estimate)
{
    size_t most = 0;

    for (int i = 0; i < estimate->places && i < 64; i++)
        most = estimate->bytes[i] > most ? estimate->bytes[i] : most;
    return most;
}

static void add_memory(struct text *out, const struct plan *p,
                       const struct backend_estimate *estimate)
{
    char number[TEXT_NUMBER_ROOM];

    if (!estimate->places)
        return;
    text_addf(out, "# %-17s %s%s\n", "memory", text_bytes(number, most_bytes(estimate)),
              p->backend->gpus && estimate->places > 1 ? " of each GPU" : "");
    if (estimate->lacking[0])
        text_addf(out, "# %-17s %s\n", "too much now", estimate->lacking);
}

/* Images that all models together are trained on. */
static double model_images(const struct plan *p)
{
    int models = p->session.mode == SPEC_ENSEMBLE ? p->session.members : 1;
    int64_t most = p->spec.max_steps;
    int64_t steps = most && most < p->total_steps ? most : p->total_steps;

    return (double)steps * (double)p->session.batch * models;
}

static void add_facts(struct text *out, const struct plan *p,
                      const struct backend_estimate *estimate)
{
    char number[TEXT_NUMBER_ROOM];
    char crowding[PLAN_CROWDING_ROOM];

    text_addf(out, "# %-17s %s (%s), ", "backend", p->backend->name, plan_isa(p));
    if (*plan_crowding(p, 1, plan_cores(), crowding))
        text_addf(out, "%s\n", crowding);
    else
        text_addf(out, "%d thread%s\n", p->session.threads, text_s(p->session.threads));
    text_addf(out, "# %-17s %d%s\n", "devices", p->session.devices,
              p->session.devices > p->real_devices ? " (virtual)" : "");
    add_count(out, "parameters", p->net->parameter_count);
    add_count(out, "training images", (uint64_t)p->train_images);
    if (p->valid_images)
        add_count(out, "validation images", (uint64_t)p->valid_images);
    add_count(out, "test images", (uint64_t)p->test_images);
    add_count(out, "steps an epoch", (uint64_t)p->steps_per_epoch);
    add_count(out, "dropped an epoch", (uint64_t)p->dropped);
    add_count(out, "batch per device", (uint64_t)p->batch_per_device);
    text_addf(out, "# %-17s %s\n", "learning rate", text_double(number, p->base_lr));
    add_count(out, "model-images", (uint64_t)model_images(p));
    text_addf(out, "# %-17s %.4g\n", "training FLOP", model_images(p) * p->net->flops);
    add_memory(out, p, estimate);
}

void dry_add_span(struct text *out, double seconds, const char *of, int guessed_from)
{
    char span[CLOCK_UTC_ROOM];

    clock_span(span, seconds);
    if (guessed_from)
        text_addf(out, "about %s%s (a guess from %s run%s of other sizes)\n", span, of,
                  TEXT_COUNT(guessed_from), text_s(guessed_from));
    else
        text_addf(out, "%s%s, by earlier runs on this machine\n", span, of);
}

static void add_time(struct text *out, const struct wire_plan *price)
{
    text_addf(out, "# %-17s ", "expected time");
    if (isfinite(price->seconds))
        dry_add_span(out, price->seconds, "", price->guessed_from);
    else
        text_addf(out, "unknown: no earlier run in %s tells it\n", cli_results());
}

static void add_param(struct text *out, const char *name, const char *value)
{
    char *whole = mem_textf("model.%s", name);

    cli_json_field(out, whole, value);
    text_add(out, ", ");
    free(whole);
}

/* Under run.csv's names as far as it has them. */
static void add_json(struct text *out, const struct plan *p,
                     const struct backend_estimate *estimate, const struct wire_plan *price)
{
    const struct {
        const char *name;
        double value;
    } facts[] = {{"threads_used", p->session.threads},
                 {"real_devices", p->real_devices},
                 {"lr_used", p->base_lr},
                 {"batch_per_device", (double)p->batch_per_device},
                 {"parameters", (double)p->net->parameter_count},
                 {"flops_per_image", p->net->flops},
                 {"train_images", (double)p->train_images},
                 {"valid_images", (double)p->valid_images},
                 {"test_images", (double)p->test_images},
                 {"steps_per_epoch", (double)p->steps_per_epoch},
                 {"dropped", (double)p->dropped},
                 {"model_images", model_images(p)},
                 {"memory_bytes", estimate->places ? (double)most_bytes(estimate) : NAN}};
    struct text value = {0};

    text_add(out, "{");
    for (int key = 0; key < SPEC_KEYS; key++) {
        text_clear(&value);
        if (spec_applies(&p->spec, key))
            spec_value(&p->spec, key, &value);
        cli_json_field(out, spec_keys[key].name, text_str(&value));
        text_add(out, ", ");
        for (int i = 0; !strcmp(spec_keys[key].name, "model") && i < p->spec.params; i++)
            add_param(out, p->spec.param[i].name, p->spec.param[i].value);
    }
    cli_json_field(out, "backend_used", p->backend->name);
    text_add(out, ", ");
    cli_json_field(out, "isa", plan_isa(p));
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        text_addf(out, ", \"%s\": ", facts[i].name);
        text_add_json_double(out, facts[i].value);
    }
    text_add(out, ", \"seconds\": ");
    text_add_json_double(out, price->seconds);
    text_addf(out, ", \"guessed_from\": %d}\n",
              isfinite(price->seconds) ? (int)price->guessed_from : 0);
    text_free(&value);
}

static enum err_code make_plan(struct look *look, const struct spec *spec, struct plan **plan,
                               struct backend_estimate *estimate, struct err *e)
{
    TRY(look_plan(look, plan, spec, LOOK_DATA, e));
    if (look_estimate(look, *plan, estimate, e) == ERR_OK && estimate->never)
        return err_set(e, ERR_NOMEM, "%s", estimate->lacking);
    return look_read_weights(look, *plan, e);
}

int dry_run(const struct spec *spec, bool json)
{
    const struct engine_config config = cli_engine_config();
    struct wire_plan *price = mem_new(1, sizeof *price);
    struct look *look = look_new(&config);
    struct past *past = past_open(config.results);
    struct backend_estimate estimate = {0};
    struct plan *plan = NULL;
    struct text out = {0};
    struct err e;
    int code;

    while (past_read(past))
        ;
    if (make_plan(look, spec, &plan, &estimate, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        past_price(past, look, plan, past_beside(1, 1), price);
        if (json) {
            add_json(&out, plan, &estimate, price);
        } else {
            spec_write(&plan->spec, &out); /* no plan_add_ini: there is no copy of the model */
            text_add(&out, "\n");
            add_facts(&out, plan, &estimate);
            add_time(&out, price);
        }
        code = cli_print(&out);
    }
    text_free(&out);
    plan_free(plan);
    past_close(past);
    look_free(look);
    free(price);
    return code;
}
