/* record/look.h: a list of runs that is looked at again and again. */
#ifndef CHORUS_RECORD_LOOK_H
#define CHORUS_RECORD_LOOK_H

#include "record/run/run.h"
#include "record/stamp.h"

/* A list that is looked at again and again. A run is the text of run.csv's fields; what the caller
 * holds already is not read again. */
struct record_look {
    const char *name;
    struct record_stamp stamp;
    const char *const *cells; /* by record_run_columns; NULL: broken, or as the caller holds it */
    const char *problem;      /* why it is broken; NULL: it is not, or as the caller holds it */
    bool indexed;             /* cells stay as they are until record_look returns */
    bool live, dead;
};
struct record_looker {
    bool first; /* the caller holds next to nothing: then the index is worth its reading */
    /* Whether the caller holds the run's content with this stamp, the state it is in, and whether it
     * was dead then; NULL: it holds nothing. */
    bool (*known)(void *user, const char *name, const struct record_stamp *stamp,
                  enum wire_state *state, bool *dead);
    void (*begin)(void *user, size_t most); /* before the first run: at most so many; or NULL */
    void (*seen)(void *user, const struct record_look *run); /* each run, oldest first */
    void *user;
};
enum err_code record_look(const char *results, const struct record_looker *looker,
                          struct err *e) MUST_USE;

/* What a results folder holds that may be a run. */
bool record_is_run_name(const char *name);

#endif
