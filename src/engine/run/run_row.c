/* A run's one row of run.csv. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "record/run/run.h"
#include "record/run/writer.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXTENDED "+extended" /* behind the hash of a cell */

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* run.csv's columns that are known before training. */
void run_fill_row(struct run *r)
{
    const struct plan *p = r->plan;
    struct record_run *row = &r->row;
    bool bent;

    if (r->resumed)
        *row = r->found;
    else if (r->sweep)
        snprintf(row->sweep, sizeof row->sweep, "%s", sweep_name(r->sweep));
    row->spec = p->spec;
    snprintf(row->spec.model, sizeof row->spec.model, "%s", r->model);
    /* A cosine that was bent on its way to another end is not what a run from the start gives. */
    bent = r->extended && p->spec.schedule == SPEC_COSINE;
    bent = bent || text_ends_with(r->found.cell, EXTENDED);
    snprintf(row->cell, sizeof row->cell, "%s%s", r->hash, bent ? EXTENDED : "");
    row->state = WIRE_WAITING;
    row->reason[0] = '\0';
    row->pid = getpid();
    gethostname(row->host, sizeof row->host - 1);
    snprintf(row->version, sizeof row->version, "%s", r->engine->version);
    snprintf(row->backend_used, sizeof row->backend_used, "%s", p->backend->name);
    snprintf(row->precision_used, sizeof row->precision_used, "%s", p->precision_used);
    snprintf(row->isa, sizeof row->isa, "%s", plan_isa(p));
    row->real_devices = p->real_devices;
    row->threads_used = p->spec.threads;
    if (row->shared < 1)
        row->shared = 1;
    row->lr_used = p->base_lr;
    row->batch_per_device = p->batch_per_device;
    row->parameters = (int64_t)p->net->parameter_count;
    row->flops_per_image = p->net->flops;
    plan_network_hash(p, row->network_hash);
    plan_data_hash(p, row->data_hash);
    row->ended_utc[0] = '\0';
    snprintf(row->best_by, sizeof row->best_by, "%s", p->valid_images ? "valid" : "test");
    if (!r->resumed) {
        row->best_test_acc = row->best_test_loss = RECORD_EMPTY;
        row->last_test_acc = row->last_test_loss = RECORD_EMPTY;
        row->target_seconds = RECORD_EMPTY;
        row->peak_memory_bytes = RECORD_EMPTY;
    }
}

/* Where it stands, by the engine's own knowledge: rows that were written, not yet a checkpoint. */
static void fill_progress(struct run *r)
{
    struct record_run *row = &r->row;
    const struct standing *at = &r->at;
    struct rusage usage;
    double peak;

    row->state = r->state;
    row->epochs_done = at->n.epoch;
    row->best_epoch = at->n.best_epoch;
    row->best_test_acc = at->x.best_test_acc;
    row->best_test_loss = at->x.best_test_loss;
    row->last_test_acc = at->x.last_test_acc;
    row->last_test_loss = at->x.last_test_loss;
    row->target_seconds = at->x.target_seconds;
    row->train_seconds = seconds(at->n.train_ns);
    row->eval_seconds = seconds(at->n.eval_ns);
    row->device_seconds = seconds(at->n.train_ns) * (double)row->real_devices;
    row->wall_seconds = seconds(r->from.n.wall_ns + (int64_t)(clock_ns() - r->opened_ns));
    row->images = at->n.step * r->plan->spec.batch;
    row->model_images = row->images * r->plan->session.members;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        peak = (double)usage.ru_maxrss * 1024;
        if (row->peak_memory_bytes == RECORD_EMPTY || peak > row->peak_memory_bytes)
            row->peak_memory_bytes = peak;
    }
}

enum err_code run_write(struct run *r, struct err *e)
{
    if (r->opened)
        fill_progress(r);
    r->row.state = r->state;
    return record_write_run(r->record, &r->row, e);
}
