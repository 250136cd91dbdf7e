/* live/feed_look.c: which runs' files are due, and what comes of it. How long a disk takes is another
 * thread's business. */
#include "live/feed_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/run/reader.h"
#include "record/working.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS  200000000u  /* between two looks at the rows of a run */
#define ENTRY_NS 500000000u  /* and at the run.csv of one that another process owns */
#define REST_NS  1000000000u /* at one that is paused there */
#define QUIET_NS 2000000000u /* at one that has ended, or that nobody watches */
#define SLICE_NS 5000000u    /* of the main thread, for all of one feed_take */

struct look {
    struct feed *feed;
    uint64_t id;
    char path[1024];
    bool watched, all, over;    /* all: not its epochs alone; over: it had ended before that */
    bool known, ensemble, rows; /* what is known of it; rows are wanted */
    bool entry, due, read; /* run.csv is wanted; by somebody who is told then; it is filled in */
    bool gone;             /* there is no such folder */
    bool weights;          /* it has some */
    bool rows_changed;     /* epochs.csv, since it was written */
    bool full;             /* it waits for room */
    enum wire_wish wish;
    struct record_entry is;
    struct err e;
    struct feed_fetch file[FEED_FILES];
};

static bool has_weights(const char *folder)
{
    static const char *const names[] = {"checkpoint.safetensors", "best.safetensors",
                                        "checkpoint.prev.safetensors", "predictions.safetensors"};
    bool any = false;

    for (size_t i = 0; i < MEM_COUNT(names) && !any; i++) {
        char *path = io_path(folder, names[i]);

        any = io_exists(path);
        free(path);
    }
    return any;
}

static void work(void *arg)
{
    struct look *l = arg;
    bool good;

    if (l->entry)
        l->read = record_read_entry(l->path, &l->is, &l->e) == ERR_OK;
    l->gone = l->entry && !l->read && !io_exists(l->path);
    l->weights = l->entry && has_weights(l->path);
    good = l->read && !l->is.broken;
    if (good && l->is.live)
        l->full = record_working_full(l->path, &l->wish);
    l->rows_changed = good && l->watched && !l->is.live && record_rows_changed(&l->is);
    if (!l->known && good)
        l->ensemble = l->is.run.spec.mode == SPEC_ENSEMBLE;
    if (l->rows)
        feed_rows_fetch(l->file, l->known || good, l->ensemble);
}

/* Whether another program has gone on with what ended here: its folder, which had said so, says otherwise. */
static bool is_taken_over(const struct feed_run *run, const struct look *l)
{
    enum wire_state state = l->is.run.state;

    if (!run->own || run->live || !l->over || !l->read || l->is.broken)
        return false;
    return wire_state_ended(state) ? run->state == WIRE_STOPPED && state != WIRE_STOPPED
                                   : l->is.live && run->ended_utc[0];
}

static bool take_entry(struct feed_run *run, const struct look *l)
{
    const struct record_entry *entry = l->read ? &l->is : NULL;
    bool removed = run->removed, changed;
    bool moved = run->full != l->full || run->wish != l->wish || run->weights != l->weights;

    if (is_taken_over(run, l)) {
        run->own = false;
        run->sweep = run->cell = 0;
    }
    changed = feed_facts_entry(run, entry, l->e.text);
    if (run->own && !run->known && run->state >= WIRE_RUNNING) { /* its facts were missed */
        enum wire_state state = run->state;
        bool live = run->live;

        run->own = false;
        (void)feed_facts_entry(run, entry, l->e.text);
        run->own = true;
        run->state = state;
        run->live = live;
    }
    run->full = l->full;
    run->wish = l->wish;
    run->weights = l->weights;
    run->rows_changed = l->rows_changed;
    run->removed = l->gone && !(run->own && run->live);
    run->broken |= run->removed;
    return changed || moved || (run->removed && !removed);
}

/* Of one that nobody watches the epochs alone are wanted; whose units there are may stay unknown. */
static bool all_is_read(const struct feed_run *run, bool all)
{
    const bool *dirty = run->files->dirty;
    bool units = dirty[FEED_FILE_MEMBERS] || dirty[FEED_FILE_DEVICES];

    return !dirty[FEED_FILE_EPOCHS] &&
           (!all || !(dirty[FEED_FILE_STEPS] || dirty[FEED_FILE_LOG] || (units && run->known)));
}

static void done(void *arg, bool dropped)
{
    struct look *l = arg;
    struct feed *f = l->feed;
    struct feed_run *run = dropped ? NULL : feed_by_id(f, l->id);

    if (!l->watched)
        f->asked = false;
    if (run) {
        run->files->asked = false;
        if (l->entry && (take_entry(run, l) || l->due)) {
            run->changed++;
            f->came = true;
        }
        feed_rows_keep(run, l->file);
        if (l->rows && (l->over || (l->read && !run->own && !run->live)) &&
            (l->all || f->little || run->id != f->watched))
            run->files->settled = all_is_read(run, l->all);
    } else {
        for (int i = 0; i < FEED_FILES; i++)
            free(l->file[i].bytes);
    }
    if (l->read)
        record_free_entry(&l->is);
    free(l);
}

/* Nothing of it changes before it goes on. */
static bool rests(const struct feed_run *run)
{
    return !run->own && run->state == WIRE_PAUSED && !run->files->dead_looks;
}

/* Whether run.csv is to be read. */
static bool entry_is_due(struct feed_run *run, bool watched, uint64_t now)
{
    struct feed_files *files = run->files;
    bool ended = run->dead || wire_state_ended(run->state);
    /* what ended here may go on elsewhere */
    bool quiet = run->own && (run->live || !(watched || run->state == WIRE_STOPPED));
    uint64_t pause = !watched || ended ? QUIET_NS : rests(run) ? REST_NS : ENTRY_NS;

    if (!files->entry_due && (quiet || now - files->run_looked < pause))
        return false;
    files->run_looked = now;
    return true;
}

static bool any_is_dirty(const struct feed_run *run, bool all)
{
    const struct feed_files *files = run->files;

    for (int i = 0; i < FEED_FILES; i++)
        if ((all || i == FEED_FILE_EPOCHS) && (files->dirty[i] || files->tail[i].more))
            return true;
    return false;
}

/* Those of one that has ended have settled when all was read since; of one of this program events say when
 * there are more, and while it is paused there are none: nobody is woken then. */
static bool rows_are_due(struct feed_run *run, bool all, uint64_t now)
{
    struct feed_files *files = run->files;

    if (!run->live && files->settled && !run->reading)
        return false;
    if (now - files->looked < (rests(run) ? REST_NS : LOOK_NS) && !run->reading)
        return false;
    if (run->own && run->live && !any_is_dirty(run, all))
        return false;
    files->looked = now;
    if (!run->own)
        memset(files->dirty, true, sizeof files->dirty);
    return true;
}

static bool has_fetched(const struct feed_run *run)
{
    for (int i = 0; i < FEED_FILES; i++)
        if (run->files->fetched[i].bytes)
            return true;
    return false;
}

/* False: nothing is due. */
static bool ask(struct feed *f, struct feed_run *run, uint64_t now)
{
    /* how far one of another process is its steps say alone, for an epoch long */
    bool watched = run->id == f->watched;
    bool all = (watched && !f->little) || (run->id == f->told && !run->own);
    bool entry, rows;
    struct look *l;

    if (!run->path[0] || run->files->asked || has_fetched(run) ||
        (!watched && (f->asked || f->little)))
        return false;
    entry = entry_is_due(run, watched, now);
    rows = rows_are_due(run, all, now);
    if (!entry && !rows)
        return false;
    l = mem_new(1, sizeof *l);
    *l = (struct look){.feed = f, .id = run->id, .entry = entry, .rows = rows};
    l->watched = watched;
    l->all = all;
    memcpy(l->path, run->path, sizeof l->path);
    l->over = !run->live;
    l->known = run->known;
    l->ensemble = run->facts.mode == SPEC_ENSEMBLE;
    l->due = run->files->entry_due;
    run->files->entry_due = false;
    if (rows)
        feed_rows_want(run, all, l->file);
    run->files->asked = true;
    f->asked |= !watched;
    if (f->tasks) {
        tasks_add_live(f->tasks, work, done, l);
    } else {
        work(l);
        done(l, false);
    }
    return true;
}

/* The one that is watched always; of the others as many as the slice has time for, the next ones at the
 * next take: after events were missed all of them have files to be read. */
bool feed_look(struct feed *f, uint64_t now)
{
    size_t first = f->count ? f->next_look % f->count : 0;
    bool changed = f->came, late = false;

    feed_tell(f, feed_current(f));
    f->came = false;
    for (size_t k = 0; k < f->count; k++) {
        size_t i = (first + k) % f->count;
        struct feed_run *run = f->run[i];
        bool moved = feed_judge_refused(f, run);

        if (!late && f->ns() > now + SLICE_NS) {
            late = true;
            f->next_look = i;
        }
        if (!late || run->id == f->watched) {
            if (ask(f, run, now) && f->tasks && f->asked)
                f->next_look = i + 1;
            moved |= feed_rows_take(run, f->ns, now + SLICE_NS);
        }
        run->changed += moved;
        changed |= moved || f->came;
        f->came = false;
        feed_facts_progress(run);
    }
    return changed;
}
