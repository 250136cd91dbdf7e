/* ui/feed/feed_status.c: what runs, how far it is, the best so far, the time left: one line. */
#include "ui/feed/feed_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "draw/ink/words.h"
#include "study/compare.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME  30
#define BRIEF_NAME 14

enum {
    PART_NAME = 1,
    PART_EPOCH = 2,
    PART_SHARE = 4,
    PART_BEST = 8,
    PART_LEFT = 16,
    PART_WAIT = 32,
    PART_SPEED = 64,
    PART_BRIEF = 128 /* its name is short */
};

/* What matters less goes first. */
static const int falls[] = {127,
                            127 & ~PART_SPEED,
                            127 & ~(PART_SPEED | PART_WAIT),
                            PART_NAME | PART_SHARE | PART_BEST | PART_LEFT,
                            PART_NAME | PART_SHARE | PART_BEST | PART_LEFT | PART_BRIEF,
                            PART_SHARE | PART_BEST | PART_LEFT,
                            PART_SHARE | PART_LEFT,
                            PART_SHARE,
                            0};

void feed_add_span(double seconds, struct text *out)
{
    char span[CLOCK_UTC_ROOM];

    if (seconds < 59.5)
        snprintf(span, sizeof span, "%.0f s", seconds < 1 ? 1 : seconds);
    else
        clock_span(span, seconds);
    text_add(out, span);
}

void feed_add_left(double seconds, struct text *out)
{
    if (!isfinite(seconds))
        return;
    feed_add_span(seconds, out);
    text_add(out, " left");
}

/* about: "~" of an estimate that is a coarse one. */
static void add_left(double seconds, const char *about, struct text *out)
{
    if (isfinite(seconds))
        text_addf(out, "  %s", about);
    feed_add_left(seconds, out);
}

#define WAITS "waits" /* what is of this program: above the line stands what for */

static const char *dot(enum wire_state state, bool dead)
{
    if (dead)
        return "✗";
    switch (state) {
    case WIRE_RUNNING:
        return "●";
    case WIRE_PAUSED:
        return "‖";
    case WIRE_WAITING:
        return "○";
    case WIRE_DONE:
        return "✓";
    case WIRE_STOPPED:
    case WIRE_SKIPPED:
        return "■";
    default:
        return "✗";
    }
}

/* Of a very long one both ends. */
static void add_name(const char *name, int parts, struct text *out)
{
    text_add(out, "  ");
    words_add_cut(out, study_short_name(name), parts & PART_BRIEF ? BRIEF_NAME : MOST_NAME, false);
}

/* of: "mean " of several seeds, "seed " where it is one of them. */
static void add_best(double acc, const char *of, bool by_valid, struct text *out)
{
    if (!isfinite(acc))
        return;
    text_addf(out, "  best %s", of);
    share_tell(out, acc);
    text_addf(out, ", picked on %s", by_valid ? "validation" : "test");
}

static bool run_trouble(const struct feed *f, uint32_t number, struct wire_status *out)
{
    return f->wire && number && wire_status(f->wire, number, out) && out->code == ERR_IO &&
           !wire_state_ended(out->state);
}

static bool sweep_trouble(const struct feed *f, uint32_t number, struct wire_sweep_status *out)
{
    return f->wire && number && wire_sweep_status(f->wire, number, out) && out->code != ERR_OK &&
           !wire_state_ended(out->state);
}

bool feed_lacks_room(const struct feed *f, const struct feed_run *run)
{
    struct wire_status status;

    return run->live &&
           (run->own ? run_trouble(f, run->number, &status) : run->standing == RECORD_WORK_FULL);
}

bool feed_only_tries(const struct feed *f, const struct feed_run *run)
{
    struct wire_sweep_status status;

    return run->own && run->live && run->state == WIRE_WAITING && !run->path[0] &&
           sweep_trouble(f, run->sweep, &status);
}

bool feed_has_trouble(const struct feed *f, uint32_t number)
{
    struct wire_sweep_status sweep;
    struct wire_status run;

    return run_trouble(f, number, &run) || sweep_trouble(f, number, &sweep);
}

static void add_run(const struct feed *f, const struct feed_run *run, int parts, size_t waits,
                    struct text *out)
{
    char number[TEXT_NUMBER_ROOM];
    const char *ending = feed_ending(f, run);
    bool lost = run->broken || run->dead; /* how far it came its last rows and run.csv say each */
    bool refused = run->state == WIRE_FAILED && !run->path[0];
    bool full = feed_lacks_room(f, run), ended = wire_state_ended(run->state) || lost || full;

    text_addf(out, "%s %s", dot(full ? WIRE_PAUSED : run->state, lost),
              run->broken           ? "broken"
              : run->dead           ? "dead"
              : full                ? (run->own ? WAITS : WIRE_LACKS_ROOM " on the disk")
              : feed_starts(f, run) ? "starting"
              : ending              ? ending
              : refused             ? "did not start" /* it may have no name to stand behind */
                                    : wire_state_words(run->state));
    if (!run->own && run->live && !lost)
        text_add(out, " elsewhere");
    if (parts & PART_NAME)
        add_name(run->name[0] ? run->name : run->spec.name, parts, out);
    if (parts & PART_EPOCH && !lost && run->known && run->facts.epochs)
        text_addf(out, "  epoch %lld/%lld", (long long)run->epoch, (long long)run->facts.epochs);
    if (parts & PART_SHARE && !ended && isfinite(run->run_share))
        text_addf(out, "  %d %%", (int)(100 * run->run_share));
    if (parts & PART_BEST && !lost)
        add_best(run->best_acc, "", run->by_valid, out);
    if (parts & PART_SPEED && !ended && run->images_per_second > 0)
        text_addf(out, "  %s img/s", text_count(number, (uint64_t)(run->images_per_second + 0.5)));
    if (parts & PART_LEFT && !ended)
        add_left(run->left_seconds, "", out);
    if (parts & PART_WAIT && waits)
        text_addf(out, "  %s wait%s", TEXT_COUNT(waits), waits == 1 ? "s" : "");
}

static bool seeds_differ(const struct spec *a, const struct spec *b)
{
    return a->seed != b->seed;
}

static bool tests_differ(const struct spec *a, const struct spec *b)
{
    return a->test_limit != b->test_limit || strcmp(a->data, b->data) != 0;
}

/* Whether runs of it here do. */
static bool any_differ(const struct feed *f, uint32_t sweep,
                       bool (*differ)(const struct spec *a, const struct spec *b))
{
    const struct feed_run *first = NULL;

    for (size_t i = 0; i < f->count; i++) {
        const struct feed_run *run = f->run[i];

        if (run->sweep != sweep || !run->started_utc[0]) /* its settings are not read yet */
            continue;
        if (first && differ(&first->spec, &run->spec))
            return true;
        first = run;
    }
    return false;
}

static void take_best(const struct feed *f, const struct wire_sweep_status *s,
                      struct feed_sweep *out)
{
    size_t room = wire_cells(f->wire, s->sweep, NULL, 0), n, best;
    struct wire_cell *all = mem_new(room + 1, sizeof *all);

    n = wire_cells(f->wire, s->sweep, all, room);
    n = n < room ? n : room; /* more may have come */
    best = wire_best_cell(all, n, &out->by_valid);
    out->best = best < n && !any_differ(f, s->sweep, tests_differ) ? all[best].acc : NAN;
    free(all);
}

/* A sweep of this program or of another one. */
struct shown {
    struct feed_sweep sweep;
    bool own;
    bool seeds;                  /* the best is of one of several seeds */
    const struct feed_run *cell; /* that is told of too; NULL: none */
};

/* That it runs its dot says. */
static void add_standing(const struct wire_sweep_status *s, bool dead, bool elsewhere, bool brief,
                         struct text *out)
{
    const char *words = dead ? "dead" : wire_sweep_words(s, brief);
    bool full = wire_sweep_lacks_room(s);
    bool clause = strpbrk(words, ":,") != NULL; /* where "elsewhere" would belong to its end */

    text_addf(out, "%s sweep",
              dot(wire_sweep_rests(s)       ? WIRE_PAUSED
                  : s->state == WIRE_PAUSED ? WIRE_RUNNING
                                            : s->state,
                  dead));
    if (elsewhere && clause)
        text_add(out, " elsewhere ");
    if (full && !elsewhere)
        text_addf(out, " " WAITS "%s", words + strlen(WIRE_LACKS_ROOM));
    else if (full || s->closing || s->state != WIRE_RUNNING || wire_sweep_is_paused(s))
        text_addf(out, " %s%s", words, strcmp(words, WIRE_LACKS_ROOM) ? "" : " on the disk");
    if (elsewhere && !clause)
        text_add(out, " elsewhere");
}

static void add_sweep(const struct shown *s, int parts, size_t waits, struct text *out)
{
    const struct wire_sweep_status *is = &s->sweep.is;
    const struct feed_run *cell = s->cell;
    bool over = wire_state_ended(is->state);

    add_standing(is, s->sweep.dead, !s->own && !over, !(parts & PART_WAIT), out);
    if (parts & PART_NAME)
        add_name(is->name, parts, out);
    if (over)
        text_addf(out, "  %s of %s%s cell%s", TEXT_COUNT(wire_sweep_ended(is)),
                  TEXT_COUNT(is->cells), is->counting ? "+" : "",
                  is->cells == 1 && !is->counting ? "" : "s");
    else
        text_addf(out, "  cell %s of %s%s", TEXT_COUNT(wire_sweep_at(is)), TEXT_COUNT(is->cells),
                  is->counting ? "+" : "");
    if (parts & PART_BEST)
        add_best(s->sweep.best,
                 s->sweep.mean ? "mean "
                 : s->seeds    ? "seed "
                               : "",
                 s->sweep.by_valid, out);
    if (parts & PART_LEFT && !over && !wire_sweep_rests(is))
        add_left(is->left_seconds, s->own || s->sweep.told ? "" : "~", out);
    if (parts & PART_EPOCH && cell)
        text_addf(out, "  %s: epoch %lld/%lld", study_short_name(cell->name),
                  (long long)cell->epoch, (long long)cell->facts.epochs);
    if (parts & PART_WAIT && waits)
        text_addf(out, "  %s wait%s", TEXT_COUNT(waits), waits == 1 ? "s" : "");
}

/* What another program holds frees itself; room is made by the user. */
static void add_waits(enum err_code code, const char *reason, const char *screen, struct text *out)
{
    text_add_clean(out, reason);
    if (code == ERR_IO)
        text_addf(out, ": free some and it goes on by itself, or stop it with K on %s", screen);
    else
        text_add(out, ": it waits, and goes on by itself");
}

/* The queue, where no process has to end before it. */
static void add_held(const struct feed *f, struct text *out)
{
    struct wire_queue queue = {0};

    if (f->wire)
        wire_queue(f->wire, &queue);
    if (queue.state != WIRE_QUEUE_HELD || queue.pid || !queue.reason[0])
        return;
    text_add(out, "the queue waits: ");
    text_add_clean(out, queue.reason);
}

bool feed_add_trouble(struct feed *f, struct text *out)
{
    size_t sweeps, before = out->n;
    struct wire_sweep_status *sweep = wire_sweeps(f->wire, &sweeps);
    struct wire_status status;

    for (size_t i = 0; i < f->count && out->n == before; i++)
        if (f->run[i]->own && f->run[i]->live && run_trouble(f, f->run[i]->number, &status))
            add_waits(status.code, status.reason, "Run", out);
    for (size_t i = 0; i < sweeps && out->n == before; i++)
        if (sweep[i].code != ERR_OK && !wire_state_ended(sweep[i].state))
            add_waits(sweep[i].code, sweep[i].reason, "Sweep", out);
    free(sweep);
    if (out->n == before)
        add_held(f, out);
    return out->n > before;
}

static bool running_sweep(const struct feed *f, const struct feed_run *run,
                          struct wire_sweep_status *out)
{
    struct wire_sweep_status *all;
    bool found = false;
    size_t n;

    if (!f->wire)
        return false;
    if (run && run->own && run->live)
        return run->sweep && wire_sweep_status(f->wire, run->sweep, out) &&
               !wire_state_ended(out->state);
    all = wire_sweeps(f->wire, &n);
    for (size_t i = 0; i < n && !found; i++)
        if (all[i].state == WIRE_RUNNING || all[i].state == WIRE_PAUSED) {
            *out = all[i];
            found = true;
        }
    free(all);
    return found;
}

static void add_busy_sweep(const struct wire_sweep_status *s, const char *where, struct text *out)
{
    text_add(out, "The sweep ");
    text_add_clean(out, s->name);
    text_addf(out, " %s %s%s, cell %s of %s",
              wire_sweep_lacks_room(s) ? "waits"
              : wire_sweep_rests(s)    ? "is paused"
                                       : "trains",
              where, wire_sweep_lacks_room(s) ? " for room on the disk" : "",
              TEXT_COUNT(wire_sweep_at(s)), TEXT_COUNT(s->cells));
}

static void add_busy_run(const struct feed *f, const struct feed_run *run, const char *where,
                         struct text *out)
{
    const char *name = run->name[0] ? study_short_name(run->name) : run->spec.name;
    bool full = feed_lacks_room(f, run);

    text_add_clean(out, *name ? name : "A run");
    text_addf(out, " %s %s%s",
              full                         ? "waits"
              : run->state == WIRE_PAUSED  ? "is paused"
              : run->state == WIRE_WAITING ? "is about to start"
                                           : "trains",
              where, full ? " for room on the disk" : "");
    if (run->state != WIRE_WAITING && run->known && run->facts.epochs)
        text_addf(out, ", epoch %lld of %lld", (long long)run->epoch, (long long)run->facts.epochs);
}

static bool trains_elsewhere(const struct feed_run *run)
{
    return run && !run->own && run->live && !run->dead && run->state == WIRE_RUNNING;
}

static bool sweeps_elsewhere(const struct feed *f)
{
    return f->elsewhere.is.name[0] && !wire_state_ended(f->elsewhere.is.state) &&
           !wire_sweep_rests(&f->elsewhere.is);
}

bool feed_sees_busy(struct feed *f)
{
    return feed_busy(f) || trains_elsewhere(feed_current(f)) || sweeps_elsewhere(f);
}

void feed_add_busy(struct feed *f, struct text *out)
{
    const struct feed_run *run = feed_current(f);
    struct wire_sweep_status s;

    /* what trains is named before a run that is paused */
    if (running_sweep(f, run && run->state == WIRE_PAUSED ? NULL : run, &s))
        add_busy_sweep(&s, "here", out);
    else if (run && run->own && !wire_state_ended(run->state))
        add_busy_run(f, run, "here", out);
    else if (feed_busy(f))
        text_add(out, "A run is about to start here");
    else if (sweeps_elsewhere(f))
        add_busy_sweep(&f->elsewhere.is, "elsewhere", out);
    else if (trains_elsewhere(run))
        add_busy_run(f, run, "elsewhere", out);
    else
        text_add(out, "Nothing trains now");
    text_add(out, ".");
}

bool feed_forget_over(struct feed *f)
{
    const struct feed_run *run = feed_current(f);
    struct wire_sweep_status s;
    /* of its own cells one may be known for longer to have been at work */
    bool other = run && (run->own || strcmp(run->sweep_name, f->elsewhere.is.name) != 0);

    if (!wire_state_ended(f->elsewhere.is.state) || !f->elsewhere.is.name[0] ||
        !((other && run->live && !run->dead) || running_sweep(f, run, &s)))
        return false;
    f->elsewhere.is.name[0] = 0; /* from now on that is told of */
    return true;
}

struct feed_work feed_work(const struct feed *f)
{
    size_t sweeps;
    struct wire_sweep_status *sweep = wire_sweeps(f->wire, &sweeps);
    struct feed_work work = {0};

    for (size_t i = 0; i < f->count; i++) {
        const struct feed_run *run = f->run[i];

        if (!run->own || !run->live)
            continue;
        if (feed_lacks_room(f, run))
            work.no_room++;
        else if (run->state == WIRE_PAUSED)
            work.paused++;
        else
            work.goes_on += run->state == WIRE_RUNNING;
    }
    for (size_t i = 0; i < sweeps; i++)
        if (!wire_state_ended(sweep[i].state))
            ++*(wire_sweep_lacks_room(&sweep[i]) ? &work.no_room
                : wire_sweep_rests(&sweep[i])    ? &work.paused
                                                 : &work.goes_on);
    free(sweep);
    return work;
}

static void show_own(const struct feed *f, const struct wire_sweep_status *s, struct shown *out)
{
    *out = (struct shown){.own = true, .sweep.is = *s};
    take_best(f, s, &out->sweep);
    out->seeds = any_differ(f, s->sweep, seeds_differ);
}

/* That of a cell that was at work last here, until its files are read. */
static bool ended_sweep(const struct feed *f, const struct feed_run *run,
                        struct wire_sweep_status *out)
{
    return f->wire && run && run->own && !run->live && run->sweep &&
           wire_sweep_status(f->wire, run->sweep, out) && wire_state_ended(out->state) &&
           out->path[0];
}

/* What is at work here goes before what others are at. */
static bool find_sweep(const struct feed *f, const struct feed_run *run, struct shown *out)
{
    const struct wire_sweep_status *other = &f->elsewhere.is;
    bool known = run && run->known && !wire_state_ended(run->state);
    bool over = wire_state_ended(other->state);
    struct wire_sweep_status s;

    *out = (struct shown){0};
    if (running_sweep(f, run, &s)) {
        show_own(f, &s, out);
        out->cell = known && run->sweep == s.sweep ? run : NULL;
        return true;
    }
    if (!other->name[0] && ended_sweep(f, run, &s)) {
        show_own(f, &s, out);
        return true;
    }
    if (!other->name[0] || (run && run->live && (run->own || (over && !run->dead))))
        return false;
    out->sweep = f->elsewhere;
    if (!over && known && run->live && !run->dead && !strcmp(run->sweep_name, other->name))
        out->cell = run;
    return true;
}

void feed_set_elsewhere(struct feed *f, const struct feed_sweep *sweep)
{
    f->elsewhere = *sweep;
}

void feed_set_queued(struct feed *f, size_t count)
{
    f->queued = count;
}

bool feed_sweep_starts(struct feed *f, char *name, size_t room)
{
    struct wire_sweep_status status = {0};
    bool others = false; /* it waits for its turn behind them */

    if (!f->sweep_begun || !f->wire)
        return false;
    (void)wire_sweep_status(f->wire, f->sweep_begun, &status);
    for (size_t i = 0; i < f->count; i++) {
        if (feed_only_tries(f, f->run[i]))
            continue;
        others |= f->run[i]->own && f->run[i]->live;
        if (f->run[i]->sweep == f->sweep_begun)
            f->sweep_begun = 0; /* a cell stands for it from now on */
    }
    if (wire_state_ended(status.state) && status.name[0])
        f->sweep_begun = 0;
    snprintf(name, room, "%s", status.name);
    return f->sweep_begun && !others;
}

static void add_nothing(const struct wire_queue *queue, size_t waits, struct text *out)
{
    text_add(out, "nothing runs");
    if (!waits)
        return;
    text_addf(out, "  %s wait%s", TEXT_COUNT(waits), waits == 1 ? "s" : "");
    if (queue->state == WIRE_QUEUE_HELD && queue->pid)
        text_addf(out, " until process %lld has ended", (long long)queue->pid);
}

void feed_add_status(struct feed *f, struct text *out, int columns)
{
    const struct feed_run *run = feed_current(f);
    struct shown sweep;
    bool in_sweep = find_sweep(f, run, &sweep);
    struct wire_queue queue = {0};
    struct text line = {0};
    size_t waits = f->queued;

    if (f->wire)
        wire_queue(f->wire, &queue);
    for (size_t i = 0; i < f->count; i++)
        waits += f->run[i]->own && f->run[i] != run && f->run[i]->state == WIRE_WAITING &&
                 !f->run[i]->sweep;
    if (!run && !in_sweep) {
        add_nothing(&queue, waits, &line);
        if (text_width(text_str(&line)) > columns) {
            text_clear(&line);
            text_add(&line, "nothing runs");
        }
    } else {
        for (size_t i = 0; i < MEM_COUNT(falls); i++) {
            text_clear(&line);
            if (in_sweep)
                add_sweep(&sweep, falls[i], waits, &line);
            else
                add_run(f, run, falls[i], waits, &line);
            if (text_width(text_str(&line)) <= columns)
                break;
        }
    }
    text_add(out, text_str(&line));
    text_free(&line);
}
