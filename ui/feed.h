/* ui/feed.h: runs as they go: one model for those of this process, fed by the wire, and for those of
 * others, fed by their files. Rows are read from the run's files, which are the truth; events only
 * make it look sooner. The main thread alone. */
#ifndef CHORUS_UI_FEED_H
#define CHORUS_UI_FEED_H

#include "record/reader.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed;

struct feed_points { /* grows; x's are of the same rows */
    size_t n, room;
    double *epoch, *step, *images, *model_images, *seconds, *device_seconds, *value;
};

struct feed_unit { /* a device or a member, as of the last rows or events */
    int unit, device;
    double loss, acc, prefix; /* nan: none yet */
    double input, compute, reduce, wait;
    struct feed_points acc_at; /* of a member: test accuracy by epoch */
};

struct feed_run {
    uint32_t number; /* on the wire; 0: another process's */
    char path[1024], name[256];
    bool own, live, dead, known; /* known: facts below are filled in */
    enum wire_state state;
    char reason[512];
    struct wire_facts facts;
    struct spec spec;
    uint32_t sweep; /* number of the sweep it is a cell of; 0: none */
    int64_t step, epoch, steps_of_epoch_done;
    double loss, acc, images_per_second, lr;
    double left_seconds, epoch_share, run_share; /* nan: unknown */
    double best_acc;                             /* and what it was picked on */
    bool by_valid;
    int64_t best_epoch;
    struct feed_points train_loss, test_loss, train_acc, test_acc, val_loss, val_acc, step_loss,
        step_acc, member_mean;
    double gain_mean, gain_best, member_acc_mean; /* nan: no ensemble, or no epoch yet */
    struct feed_unit *unit;
    size_t units;
    uint64_t changed; /* counts changes: for redrawing */
};

struct feed *feed_new(struct wire *wire, const char *results);
void feed_free(struct feed *f);
/* Takes what the wire holds (a message that a screen asked for goes to `other`: plans, refusals, cells
 * and log lines; text is its slot, freed by feed) and looks at the files that are followed. True:
 * something changed. */
typedef void feed_other(void *user, const struct wire_event *event, const void *slot, size_t n);
bool feed_take(struct feed *f, feed_other *other, void *user);
/* All runs that are watched: of this process in the order of their starts, then followed ones. */
size_t feed_count(const struct feed *f);
struct feed_run *feed_at(struct feed *f, size_t i);
struct feed_run *feed_find(struct feed *f, const char *path); /* NULL: not watched */
/* Watches a run of whatever process (or one that has ended) by its files. */
struct feed_run *feed_follow(struct feed *f, const char *folder);
void feed_forget(struct feed *f, struct feed_run *run); /* only followed ones that are not shown */
/* The one that computes here now, else the newest; NULL: none. */
struct feed_run *feed_current(struct feed *f);
/* What runs, how far, the best so far and the time left, for the last line of every screen. */
void feed_add_status(struct feed *f, struct text *out, int columns);
/* Commands: through the wire where the run is ours, through its control file else. */
enum err_code feed_pause(struct feed *f, struct feed_run *run, bool go, struct err *e) MUST_USE;
enum err_code feed_stop(struct feed *f, struct feed_run *run, enum wire_how how,
                        struct err *e) MUST_USE;
/* Starts; the number of the run or sweep on the wire, or 0 with e filled in. */
uint32_t feed_start_run(struct feed *f, const struct wire_start *start, struct err *e);
uint32_t feed_start_sweep(struct feed *f, const struct wire_sweep *sweep, size_t bytes,
                          struct err *e);
/* Whether anything of this process runs, waits or is paused. */
bool feed_busy(struct feed *f);

#endif
