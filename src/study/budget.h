/* study/budget.h: runs read where they had cost the same: a single model against an ensemble at
 * equal epochs, model-images, seconds or device-seconds. */
#ifndef CHORUS_STUDY_BUDGET_H
#define CHORUS_STUDY_BUDGET_H

#include "study/runs.h"

enum study_budget {
    STUDY_EPOCHS,
    STUDY_MODEL_IMAGES,
    STUDY_SECONDS,
    STUDY_DEVICE_SECONDS,
    STUDY_BUDGETS
};
extern const char *const study_budget_name[STUDY_BUDGETS]; /* "model-images" */
/* With no more digits than anybody reads. */
void study_budget_text(char out[TEXT_NUMBER_ROOM], enum study_budget budget, double cost);
bool study_budget_find(const char *name, enum study_budget *out);

struct study_limit {
    enum study_budget budget;
    double cost;  /* in the budget's unit; nan: no run has a whole epoch */
    double slack; /* how far beyond it a run's end may lie: half an epoch of the run that set it */
};

struct study_reading {
    int row;     /* of epochs; -1: not one epoch was within the budget */
    double cost; /* at that row, in the budget's unit */
    double over; /* how far it lies beyond the limit, which only a run's end may; else 0 */
    bool ended;  /* the run had all its epochs there, and with them its schedule: no limit cut it */
    bool moving; /* nor had its learning rate come to its end */
    char where
        [128]; /* "epoch 10 of 40, ended by max_steps, lr still 0.085"; behind it what was spent
                      * where a run's end lies below the limit by more than half its epoch */
};

/* The least of the runs' whole costs, which every one of them has spent that has a whole epoch. */
struct study_limit study_least_cost(const struct study_run *runs, size_t count,
                                    enum study_budget budget);
/* The least whole cost of an ensemble of several members; more where another one's first epoch
 * costs more, so that all of them can be read. nan: none has a whole epoch. */
struct study_limit study_ensemble_cost(const struct study_run *runs, size_t count,
                                       enum study_budget budget);
/* The whole costs of ensembles of several members at which a run of another mode, or of other
 * members, has its end too: what --match makes. Rising; the caller frees the array. */
size_t study_common_costs(const struct study_run *runs, size_t count, enum study_budget budget,
                          struct study_limit **out);
/* The last epoch that ended within the limit; the end of a run that is done also where it lies
 * beyond by at most half an epoch, of its own and of the run that set the limit: whole epochs come
 * no nearer. */
void study_read_at(const struct study_run *run, const struct study_limit *limit,
                   struct study_reading *out);

#endif
