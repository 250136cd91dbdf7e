/* record/run/params.h: the parameters of a run's model. */
#ifndef CHORUS_RECORD_RUN_PARAMS_H
#define CHORUS_RECORD_RUN_PARAMS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* The parameters of a run's model, which are no columns of run.csv. */
struct record_params {
    size_t count;
    char **name, **value; /* "model.width" */
};
void record_read_params(const char *folder,
                        struct record_params *p); /* what cannot be read: none */
void record_free_params(struct record_params *p);
const char *record_param(const struct record_params *p,
                         const char *name); /* "" where it has none */
/* All of them, by their names: "width=64 depth=2"; "" without. */
#define RECORD_ALL_PARAMS "model.*"
void record_add_params(const struct record_params *p, struct text *out);
/* Adds a name that is not there yet; returns whether it did. */
bool record_params_add(struct record_params *to, const char *name);

#endif
