/* ui/app/status.c: what runs, how far it is, the best so far, the time left: one line. */
#include "ui/app/status.h"

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

/* about: "~" of an estimate that is a coarse one. */
static void add_left(double seconds, const char *about, struct text *out)
{
    if (isfinite(seconds))
        text_addf(out, "  %s", about);
    time_left_add(out, seconds);
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

static void add_run(const struct feed *f, const struct feed_run *run, int parts, size_t waits,
                    struct text *out)
{
    char number[TEXT_NUMBER_ROOM];
    bool lost = run->broken || run->dead; /* how far it came its last rows and run.csv say each */
    bool refused = run->state == WIRE_FAILED && !run->path[0];
    bool full = feed_lacks_room(f, run), ended = wire_state_ended(run->state) || lost || full;

    text_addf(out, "%s %s", dot(full ? WIRE_PAUSED : run->state, lost),
              run->broken                ? "broken"
              : run->dead                ? "dead"
              : full                     ? (run->own ? WAITS : WIRE_LACKS_ROOM " on the disk")
              : feed_starts(f, run)      ? "starting"
              : feed_is_stopping(f, run) ? "stopping"
              : refused                  ? "did not start" /* it may have no name to stand behind */
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
    else if (full || wire_sweep_closes(s) || s->state != WIRE_RUNNING || wire_sweep_is_paused(s))
        text_addf(out, " %s%s", words, strcmp(words, WIRE_LACKS_ROOM) ? "" : " on the disk");
    if (elsewhere && !clause)
        text_add(out, " elsewhere");
}

static void add_sweep(const struct feed_shown *s, int parts, size_t waits, struct text *out)
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
    struct wire_queue queue;

    feed_queue(f, &queue);
    if (queue.state != WIRE_QUEUE_HELD || queue.pid || !queue.reason[0])
        return;
    text_addf(out, "the queue waits: %s", TEXT_CLEAN(queue.reason));
}

bool status_add_trouble(const struct feed *f, struct text *out)
{
    struct feed_trouble trouble;
    size_t before = out->n;

    if (feed_trouble(f, &trouble))
        add_waits(trouble.code, trouble.reason, trouble.sweep ? "Sweep" : "Run", out);
    else
        add_held(f, out);
    return out->n > before;
}

static void add_busy_sweep(const struct wire_sweep_status *s, const char *where, struct text *out)
{
    text_addf(out, "The sweep %s %s %s%s, cell %s of %s", TEXT_CLEAN(s->name),
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

    text_addf(out, "%s %s %s%s", TEXT_CLEAN(*name ? name : "A run"),
              full                         ? "waits"
              : run->state == WIRE_PAUSED  ? "is paused"
              : run->state == WIRE_WAITING ? "is about to start"
                                           : "trains",
              where, full ? " for room on the disk" : "");
    if (run->state != WIRE_WAITING && run->known && run->facts.epochs)
        text_addf(out, ", epoch %lld of %lld", (long long)run->epoch, (long long)run->facts.epochs);
}

void status_add_busy(struct feed *f, struct text *out)
{
    const struct feed_run *run = feed_current(f);
    struct wire_sweep_status s;

    /* what trains is named before a run that is paused */
    if (feed_running_sweep(f, run && run->state == WIRE_PAUSED ? NULL : run, &s))
        add_busy_sweep(&s, "here", out);
    else if (run && run->own && !wire_state_ended(run->state))
        add_busy_run(f, run, "here", out);
    else if (feed_busy(f))
        text_add(out, "A run is about to start here");
    else if (feed_sweep_elsewhere(f))
        add_busy_sweep(feed_sweep_elsewhere(f), "elsewhere", out);
    else if (feed_trains_elsewhere(run))
        add_busy_run(f, run, "elsewhere", out);
    else
        text_add(out, "Nothing trains now");
    text_add(out, ".");
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

void status_add(struct feed *f, struct text *out, int columns)
{
    const struct feed_run *run = feed_current(f);
    struct feed_shown sweep;
    bool in_sweep = feed_shows_sweep(f, run, &sweep);
    size_t waits = feed_waiting(f, run);
    struct wire_queue queue;
    struct text line = {0};

    feed_queue(f, &queue);
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
