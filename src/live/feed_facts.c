/* live/feed_facts.c: what a run is, as its run.csv says, how far it is, and how long it will take. */
#include "live/feed_int.h"

#include "record/run/reader.h"
#include "record/run/run.h"
#include "study/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void take_facts(struct feed_run *run, const struct record_run *r)
{
    const struct spec *s = &r->spec;
    struct wire_facts *f = &run->facts;

    snprintf(f->backend, sizeof f->backend, "%s", r->backend_used);
    snprintf(f->isa, sizeof f->isa, "%s", r->isa);
    snprintf(f->precision, sizeof f->precision, "%s", r->precision_used);
    f->mode = (int32_t)s->mode;
    f->devices = s->gpus ? s->gpus : s->devices;
    f->real_devices = (int32_t)r->real_devices;
    f->members = s->mode != SPEC_ENSEMBLE ? 1 : s->members ? s->members : f->devices;
    f->threads = (int32_t)r->threads_used;
    f->batch = s->batch;
    f->batch_per_device = r->batch_per_device;
    f->epochs = record_run_is_several(r, "epochs") ? r->epochs_done : s->epochs;
    f->parameters = (uint64_t)r->parameters;
    f->flops_per_image = r->flops_per_image;
    f->lr = r->lr_used;
    run->known = true;
    feed_rows_units(run);
}

static void take_entry(struct feed_run *run, const struct record_entry *entry)
{
    const struct record_run *r = &entry->run;

    run->spec = r->spec;
    run->unlike = study_unlike(r);
    snprintf(run->started_utc, sizeof run->started_utc, "%s", r->started_utc);
    snprintf(run->ended_utc, sizeof run->ended_utc, "%s", r->ended_utc);
    snprintf(run->sweep_name, sizeof run->sweep_name, "%s", r->sweep);
    if (run->own)
        return; /* the wire says the rest, and sooner */
    if (r->state != run->state || entry->live != run->live)
        feed_rows_all_due(run);
    run->state = r->state;
    run->live = entry->live;
    run->files->dead_looks = entry->dead ? run->files->dead_looks + 1 : 0;
    run->dead = run->files->dead_looks >= DEAD_LOOKS || (entry->dead && !run->known);
    snprintf(run->reason, sizeof run->reason, "%s", r->reason);
    take_facts(run, r);
    if ((r->state == WIRE_PAUSED || r->state == WIRE_STOPPED) && r->spec.batch &&
        r->images / r->spec.batch > run->step) { /* rows of steps are some steps older */
        run->step = r->images / r->spec.batch;
        run->train_seconds = r->train_seconds;
    }
}

bool feed_facts_entry(struct feed_run *run, const struct record_entry *entry, const char *why)
{
    enum wire_state state = run->state;
    bool live = run->live, dead = run->dead, known = run->known, broken = run->broken;

    run->broken = !run->own && (!entry || entry->broken);
    if (entry && !entry->broken)
        take_entry(run, entry);
    else if (!entry || !run->own)
        snprintf(run->reason, sizeof run->reason, "%.511s", entry ? entry->problem : why);
    return state != run->state || live != run->live || dead != run->dead || known != run->known ||
           broken != run->broken;
}

void feed_facts_progress(struct feed_run *run)
{
    struct feed_files *f = run->files;
    int64_t spe = run->facts.steps_per_epoch ? run->facts.steps_per_epoch : f->steps_per_epoch;
    int64_t epochs = run->facts.epochs, steps = spe * epochs;

    if (run->spec.max_steps && run->spec.max_steps < steps)
        steps = run->spec.max_steps;
    run->facts.steps_per_epoch = spe;
    run->epoch = spe && run->step > 0 ? (run->step - 1) / spe + 1
                 : run->epochs.n      ? (int64_t)run->epochs.x[FEED_EPOCH][run->epochs.n - 1]
                                      : 1;
    if (epochs && run->epoch > epochs)
        run->epoch = epochs;
    run->steps_of_epoch_done = run->step - (run->epoch - 1) * spe;
    run->epoch_share = spe ? (double)run->steps_of_epoch_done / (double)spe : NAN;
    run->run_share = steps > 0 ? (double)run->step / (double)steps : NAN;
    if (run->state == WIRE_DONE && !spe) /* an average: it has no steps of its own */
        run->epoch_share = run->run_share = 1;
    run->left_seconds = NAN;
    if (run->live && run->state == WIRE_RUNNING && steps)
        run->left_seconds = time_left_seconds(&f->pace, steps - run->step, epochs - run->epoch + 1);
}
