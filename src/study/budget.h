/* study/budget.h: runs read where they had cost the same: a single model against an ensemble at equal
 * epochs, model-images, seconds or device-seconds. */
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

struct study_reading {
    int row;     /* of epochs; -1: not one epoch was within the budget */
    double cost; /* at that row, in the budget's unit */
    bool ended;  /* the run had all its epochs there, and with them its schedule: no limit cut it */
    char where[96]; /* "epoch 10 of 40, ended by max_steps, lr still 0.085" */
};

/* The least of the runs' whole costs, which every one of them has spent that has a whole epoch. nan:
 * none has. */
double study_least_cost(const struct study_run *runs, size_t count, enum study_budget budget);
/* The last epoch that ended within the budget. */
void study_read_at(const struct study_run *run, enum study_budget budget, double cost,
                   struct study_reading *out);

#endif
