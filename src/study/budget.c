#include "study/budget.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const study_budget_name[STUDY_BUDGETS] = {"epochs", "model-images", "seconds",
                                                      "device-seconds"};
static const char *const columns[STUDY_BUDGETS] = {"epoch", "model_images", "train_seconds",
                                                   "device_seconds"};

bool study_budget_find(const char *name, enum study_budget *out)
{
    for (int i = 0; i < STUDY_BUDGETS; i++) {
        if (!strcmp(study_budget_name[i], name)) {
            *out = (enum study_budget)i;
            return true;
        }
    }
    return false;
}

void study_budget_text(char out[TEXT_NUMBER_ROOM], enum study_budget budget, double cost)
{
    bool whole = budget == STUDY_EPOCHS || budget == STUDY_MODEL_IMAGES;

    if (isnan(cost))
        snprintf(out, TEXT_NUMBER_ROOM, "nan");
    else if (whole || cost >= 1000)
        text_count(out, (uint64_t)(cost + 0.5));
    else
        snprintf(out, TEXT_NUMBER_ROOM, "%.4g", cost);
}

static double half_epoch(const struct study_run *run, enum study_budget budget)
{
    double whole = study_at(run, run->last, columns[budget]);

    return (run->last > 0 ? whole - study_at(run, run->last - 1, columns[budget]) : whole) / 2;
}

static void take_less(struct study_limit *limit, const struct study_run *run)
{
    double cost = study_at(run, run->last, columns[limit->budget]);
    double slack = half_epoch(run, limit->budget);

    if (cost < limit->cost || (isnan(limit->cost) && !isnan(cost)) ||
        (cost == limit->cost && slack < limit->slack)) { /* in whatever order the runs are */
        limit->cost = cost;
        limit->slack = slack;
    }
}

struct study_limit study_least_cost(const struct study_run *runs, size_t count,
                                    enum study_budget budget)
{
    struct study_limit least = {.budget = budget, .cost = NAN};

    for (size_t i = 0; i < count; i++)
        take_less(&least, &runs[i]);
    return least;
}

static bool is_ensemble(const struct study_run *run)
{
    return run->last >= 0 && run->entry->run.spec.mode == SPEC_ENSEMBLE &&
           run->entry->run.spec.members > 1;
}

struct study_limit study_ensemble_cost(const struct study_run *runs, size_t count,
                                       enum study_budget budget)
{
    struct study_limit limit = {.budget = budget, .cost = NAN};

    for (size_t i = 0; i < count; i++)
        if (is_ensemble(&runs[i]))
            take_less(&limit, &runs[i]);
    for (size_t i = 0; i < count; i++)
        if (is_ensemble(&runs[i]))
            limit.cost = fmax(limit.cost, study_at(&runs[i], 0, columns[budget]));
    return limit;
}

/* What ended a run that is done before its last step: "max_steps" of the reason "max_steps = 60". */
static int early_end(const struct study_run *run)
{
    const char *reason = run->entry->run.reason;

    return run->entry->run.state == WIRE_DONE ? (int)strcspn(reason, " ") : 0;
}

/* A learning rate that would have gone on falling is the difference between a result and a look in
 * between; one that is constant has nothing to say. */
static void say_where(const struct study_run *run, struct study_reading *r)
{
    const struct spec *spec = &run->entry->run.spec;
    long long epoch = (long long)study_at(run, r->row, "epoch");
    int early = r->row == run->last ? early_end(run) : 0, n;

    if (r->ended) {
        snprintf(r->where, sizeof r->where, "epoch %lld, its end", epoch);
        return;
    }
    n = snprintf(r->where, sizeof r->where, "epoch %lld of %lld%s%.*s", epoch,
                 (long long)spec->epochs, early ? ", ended by " : "", early < 16 ? early : 16,
                 run->entry->run.reason);
    if (spec->schedule == SPEC_CONSTANT && spec->warmup <= (double)epoch)
        snprintf(r->where + n, sizeof r->where - (size_t)n, ", lr constant");
    else {
        r->moving = true;
        snprintf(r->where + n, sizeof r->where - (size_t)n, ", lr still %.3g",
                 study_at(run, r->row, "lr"));
    }
}

static void say_short(const struct study_run *run, const struct study_limit *limit,
                      struct study_reading *r)
{
    size_t n = strlen(r->where);
    char spent[TEXT_NUMBER_ROOM];

    if (r->row != run->last || limit->cost - r->cost <= half_epoch(run, limit->budget))
        return;
    study_budget_text(spent, limit->budget, r->cost);
    snprintf(r->where + n, sizeof r->where - n, ", spent only %s", spent);
}

/* Beyond the limit by no more than whole epochs cannot avoid. */
static bool ends_nearly_within(const struct study_run *run, const struct study_limit *limit,
                               double over)
{
    return run->entry->run.state == WIRE_DONE && over > 0 &&
           over <= fmin(limit->slack, half_epoch(run, limit->budget));
}

void study_read_at(const struct study_run *run, const struct study_limit *limit,
                   struct study_reading *out)
{
    *out = (struct study_reading){.row = -1, .cost = NAN};
    if (run->last < 0) {
        snprintf(out->where, sizeof out->where, "%s, no whole epoch",
                 run->entry->dead ? "dead" : wire_state_name(run->entry->run.state));
        return;
    }
    for (int i = 0; i <= run->last; i++) {
        double spent = study_at(run, i, columns[limit->budget]), over = spent - limit->cost;

        if (i == run->last && ends_nearly_within(run, limit, over))
            out->over = over;
        else if (!(spent <= limit->cost))
            continue;
        out->row = i;
        out->cost = spent;
    }
    if (out->row < 0) {
        snprintf(out->where, sizeof out->where, "%s",
                 study_is_average(run) ? "an average of runs: known at its end alone"
                                       : "its first epoch costs more");
        return;
    }
    out->ended = out->row == run->last && run->entry->run.state == WIRE_DONE && !early_end(run) &&
                 study_at(run, out->row, "epoch") == (double)run->entry->run.spec.epochs;
    say_where(run, out);
    say_short(run, limit, out);
}

static bool ends_at(const struct study_run *run, const struct study_limit *limit)
{
    struct study_reading r;

    study_read_at(run, limit, &r);
    return r.ended && limit->cost - r.cost <= fmin(limit->slack, half_epoch(run, limit->budget));
}

/* Other seeds of the same ensemble are no comparison. */
static bool is_other_kind(const struct study_run *a, const struct study_run *b)
{
    const struct spec *x = &a->entry->run.spec, *y = &b->entry->run.spec;

    return x->mode != y->mode || x->members != y->members;
}

static bool is_common(const struct study_run *runs, size_t count, const struct study_run *of,
                      const struct study_limit *limit)
{
    bool common = false;

    if (!ends_at(of, limit))
        return false;
    for (size_t i = 0; i < count && !common; i++)
        common = is_other_kind(&runs[i], of) && ends_at(&runs[i], limit);
    return common;
}

static int by_cost(const void *a, const void *b)
{
    const struct study_limit *x = a, *y = b;

    return (x->cost > y->cost) - (x->cost < y->cost);
}

size_t study_common_costs(const struct study_run *runs, size_t count, enum study_budget budget,
                          struct study_limit **out)
{
    struct study_limit *limit = mem_new(count + 1, sizeof *limit);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct study_limit own = {.budget = budget, .cost = NAN};
        bool there = false;

        if (is_ensemble(&runs[i]))
            take_less(&own, &runs[i]);
        for (size_t k = 0; k < n && !there; k++)
            there = fabs(limit[k].cost - own.cost) <= fmin(limit[k].slack, own.slack);
        if (!isnan(own.cost) && !there && is_common(runs, count, &runs[i], &own))
            limit[n++] = own;
    }
    qsort(limit, n, sizeof *limit, by_cost);
    *out = limit;
    return n;
}
