/* cli/jobs/sweep_talk.c: what the engine's snapshot says of the cells becomes lines. */
#include "cli/jobs/sweep_talk.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/sweeps/listed.h"
#include "cli/sweeps/sweeps.h"
#include "record/run/run.h"
#include "spec/spec.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_MS 100

static void say_clean(const char *text)
{
    struct text t = {0};

    text_add_clean(&t, text);
    cli_talk("%s", text_str(&t));
    text_free(&t);
}

/* How many cells there are; those that were counted a moment ago may not stand in the status yet. */
static long long cells_of(const struct sweeper *w, int64_t known)
{
    return (long long)(w->status.cells > known ? w->status.cells : known);
}

/* cell 3 of 24  batch=64 lr=0.1  0.9012  12 s  1:40 left */
static void say_cell(struct sweeper *w, const struct wire_cell *c)
{
    const char *reason = w->shown[c->cell].reason;
    char span[CLOCK_UTC_ROOM];
    struct text line = {0};
    int64_t nth = c->ended_as ? c->ended_as : w->ended;

    text_addf(&line, "cell %s of %s%s  ", TEXT_COUNT(nth), TEXT_COUNT(cells_of(w, nth)),
              w->status.counting ? "+" : "");
    sweeps_add_label(w->spec, c->cell, &line);
    if (c->state == WIRE_DONE) {
        text_add(&line, isnan(c->acc) ? "" : "  "); /* epochs = 0 has none */
        cli_add_fraction(&line, isnan(c->acc) ? RECORD_EMPTY : c->acc);
    } else {
        text_addf(&line, "  %s", wire_state_words(c->state));
        if (reason)
            text_add(&line, ": ");
        text_add_clean(&line, reason ? reason : "");
    }
    if (isfinite(c->seconds)) {
        clock_span(span, c->seconds);
        text_addf(&line, "  %s", span);
    }
    if (w->ended < w->status.cells)
        progress_add_left(&line, "  ", w->status.left_seconds);
    cli_talk("%s", text_str(&line));
    text_free(&line);
}

/* How much of it is there already, and how much is to be done. */
static void say_before(struct sweeper *w)
{
    const struct wire_sweep_status *s = &w->status;
    long long cells = cells_of(w, w->before), left = cells - w->before - s->elsewhere;
    struct text line = {0};

    if (w->told_before)
        return;
    w->told_before = true;
    if (w->wish->quiet || (!w->before && !w->wish->goes_on))
        return;
    sweeps_add_before(&line, w->before - w->skipped, w->skipped, cells, s->counting ? "+" : "");
    text_addf(&line, ", %s%s to run", TEXT_COUNT(left > 0 ? left : 0), s->counting ? "+" : "");
    if (s->elsewhere)
        text_addf(&line, ", %s elsewhere", TEXT_COUNT(s->elsewhere));
    cli_talk("%s", text_str(&line));
    text_free(&line);
    sweeps_say_weights(w->wish->name);
}

static struct sweep_live *find_live(struct sweeper *w, uint32_t run)
{
    for (size_t i = 0; i < w->lives; i++)
        if (w->live[i].run == run)
            return &w->live[i];
    return NULL;
}

static void drop_live(struct sweeper *w, const struct wire_cell *c)
{
    for (size_t i = 0; i < w->lives; i++)
        if (w->live[i].cell == c->cell && w->live[i].run != c->run) {
            w->live[i] = w->live[--w->lives];
            return;
        }
}

static void add_live(struct sweeper *w, const struct wire_cell *c)
{
    struct sweep_live *l;

    if (find_live(w, c->run))
        return;
    w->live = mem_grow(w->live, &w->live_room, w->lives + 1, sizeof *w->live);
    l = &w->live[w->lives++];
    memset(l, 0, sizeof *l);
    l->run = c->run;
    l->cell = c->cell;
    progress_start(&l->progress, true);
}

static void know_cells(struct sweeper *w, size_t n)
{
    w->shown = mem_grow(w->shown, &w->shown_room, n, sizeof *w->shown);
    for (; w->shown_count < n; w->shown_count++)
        w->shown[w->shown_count] = (struct sweep_shown){0};
}

static void read_cells(struct sweeper *w)
{
    size_t n = wire_cells(w->wire, w->number, w->cell, w->cell_room);

    while (n > w->cell_room) {
        w->cell = mem_grow(w->cell, &w->cell_room, n, sizeof *w->cell);
        n = wire_cells(w->wire, w->number, w->cell, w->cell_room);
    }
    w->cells = n;
    know_cells(w, n);
}

static void say_sweep(struct sweeper *w)
{
    struct text t = {0};

    if (w->wish->quiet || w->named || !w->status.path[0])
        return;
    w->named = true;
    text_addf(&t, "sweep %s:", w->wish->name);
    for (size_t a = 0; a < w->spec->axes; a++)
        text_addf(&t, "%s %s %s", a ? "," : "", TEXT_COUNT(w->spec->axis[a].values),
                  w->spec->axis[a].key);
    if (w->wish->max_cells)
        text_addf(&t, ", --max-cells %lld", (long long)w->wish->max_cells);
    say_clean(text_str(&t));
    text_free(&t);
}

/* Of the cells that ended here and are not told yet the first by the ledger, which numbers them for all
 * programs on the sweep. One that it will not know any more is told at the end. The snapshot may be
 * ahead of the events, which bring the reasons. */
static const struct wire_cell *next_end(const struct sweeper *w)
{
    const struct wire_cell *next = NULL;

    for (size_t i = 0; i < w->cells; i++) {
        const struct wire_cell *c = &w->cell[i];

        if (c->known && wire_state_is_final(c->state) && !c->again && !w->shown[i].ended &&
            (wire_state_ended(w->status.state) ||
             (c->ended_as && (c->state == WIRE_DONE || w->shown[i].heard))) &&
            (!next || c->ended_as < next->ended_as))
            next = c;
    }
    return next;
}

static void say_end(struct sweeper *w, const struct wire_cell *c)
{
    struct sweep_shown *shown = &w->shown[c->cell];

    shown->ended = true;
    w->ended++;
    say_before(w);
    if (!w->wish->quiet)
        say_cell(w, c);
    else if (c->state != WIRE_DONE && c->state != WIRE_SKIPPED && shown->reason)
        say_clean(shown->reason);
}

/* What has changed since the last look. */
void sweep_talk_look(struct sweeper *w)
{
    const struct wire_cell *next;

    w->look = false;
    (void)wire_sweep_status(w->wire, w->number, &w->status);
    say_sweep(w);
    read_cells(w);
    for (size_t i = 0; i < w->cells; i++) {
        const struct wire_cell *c = &w->cell[i];
        bool ended = c->known && wire_state_is_final(c->state);

        if (!c->known)
            continue;
        w->shown[i].heard |= ended && w->missed;
        drop_live(w, c);
        if (c->run && !ended)
            add_live(w, c);
        if (!ended || w->shown[i].ended || !c->again)
            continue;
        w->shown[i].ended = true;
        w->ended++;
        w->before++;
        w->skipped += c->state == WIRE_SKIPPED;
    }
    w->missed = false;
    while ((next = next_end(w)))
        say_end(w, next);
    if (w->status.path[0] && !w->status.counting)
        say_before(w);
}

/* An end among what was dropped is known from the snapshot alone, without its reason. */
void sweep_talk_missed(struct sweeper *w)
{
    w->missed = w->look = true;
}

/* All cells are copied at the next look, once: thousands may have ended since the last one. */
static void on_cell(struct sweeper *w, const struct wire_event *ev, const char *text)
{
    struct sweep_shown *shown;

    know_cells(w, (size_t)ev->u.cell.cell + 1);
    shown = &w->shown[ev->u.cell.cell];
    shown->heard |= wire_state_is_final(ev->u.cell.state);
    if (text) {
        free(shown->reason);
        shown->reason = mem_text(text);
    }
    w->look = true;
}

static void on_started(struct sweeper *w, const struct wire_event *ev, const void *bytes, size_t n)
{
    const struct wire_facts *f = bytes;
    struct sweep_live *l;

    if (!f || n != sizeof *f)
        return;
    sweep_talk_look(w);
    l = find_live(w, ev->run);
    if (l)
        progress_set(&l->progress, f->epochs, f->steps_per_epoch, f->steps_done,
                     f->mode == SPEC_ENSEMBLE ? f->members : 1, w->spec->base.max_steps);
}

/* The sweep's own talk, and warnings of its cells. */
static void on_log(struct sweeper *w, const struct wire_event *ev, const char *text)
{
    int least = ev->run != w->number || w->wish->quiet ? LOG_WARN : LOG_INFO;
    struct sweep_live *l = find_live(w, ev->run);
    struct text t = {0};

    if (!text || ev->u.log.level < least)
        return;
    if (l) {
        sweeps_add_label(w->spec, l->cell, &t);
        text_add(&t, ": ");
    }
    text_add_clean(&t, text);
    cli_talk("%s", text_str(&t));
    text_free(&t);
}

void sweep_talk_event(struct sweeper *w, const struct wire_event *ev)
{
    size_t n = 0;
    void *bytes = ev->slot ? wire_slot_take(w->wire, ev->slot, &n) : NULL;
    struct sweep_live *l = find_live(w, ev->run);

    switch (ev->kind) {
    case WIRE_CELL:
        on_cell(w, ev, bytes);
        break;
    case WIRE_STARTED:
        on_started(w, ev, bytes, n);
        break;
    case WIRE_STEP:
        if (l)
            progress_step(&l->progress, ev->u.step.step, ev->u.step.loss, ev->u.step.acc,
                          ev->u.step.images_per_second, ev->u.step.train_seconds);
        break;
    case WIRE_STATE:
        if (l)
            progress_doing(&l->progress, ev->u.state.state == WIRE_PAUSED ? "paused" : NULL);
        break;
    case WIRE_LOG:
        on_log(w, ev, bytes);
        break;
    case WIRE_REFUSED:
        if (ev->run == w->number && !w->refused) { /* a stop of what was refused is refused too */
            w->refused = true;
            err_set(&w->refusal, ev->u.refused.code, "%s", bytes ? (char *)bytes : "");
        }
        break;
    case WIRE_EPOCH:
    case WIRE_UNIT:
    case WIRE_FORECAST:
    case WIRE_TAKEN:
        break;
    }
    free(bytes);
}

/* A line for each cell that runs, as far as there is room, and one for the sweep. */
void sweep_talk_draw(struct sweeper *w)
{
    int columns = cli_columns(STDERR_FILENO) - 2, most = live_rows(STDERR_FILENO) - 2;
    const struct wire_sweep_status *s = &w->status;
    struct text lines = {0}, label = {0};
    uint64_t now = clock_ns();
    int64_t results = wire_sweep_ended(s);

    if (!w->draws || (w->drawn && now - w->drawn < REDRAW_MS * 1000000ull))
        return;
    w->drawn = now;
    (void)wire_sweep_status(w->wire, w->number, &w->status);
    for (size_t i = 0; i < w->lives && (int)i < most; i++) {
        const struct progress_view *v = &w->live[i].progress.view;

        text_clear(&label);
        sweeps_add_label(w->spec, w->live[i].cell, &label);
        if (text_width(text_str(&label)) + 2 + 20 <= columns) {
            text_addf(&lines, "%s  ", text_str(&label));
            columns -= text_width(text_str(&label)) + 2;
        }
        progress_line(v, columns, w->live[i].progress.utf8, &lines);
        columns = cli_columns(STDERR_FILENO) - 2;
        text_add(&lines, "\n");
    }
    text_clear(&label);
    text_addf(&label, "%s of %s%s cells", TEXT_COUNT(results), TEXT_COUNT(s->cells),
              s->counting ? "+" : "");
    if (s->diverged + s->oom + s->failed)
        text_addf(&label, ", %s without a good end", TEXT_COUNT(s->diverged + s->oom + s->failed));
    if (s->elsewhere)
        text_addf(&label, ", %s elsewhere", TEXT_COUNT(s->elsewhere));
    if (s->closing || wire_sweep_is_paused(s) || wire_sweep_lacks_room(s))
        text_addf(&label, ", %s", wire_sweep_words(s, false));
    if (!wire_sweep_rests(s))
        progress_add_left(&label, "  ", s->left_seconds);
    if (text_width(text_str(&label)) < columns)
        text_add(&lines, text_str(&label));
    else
        text_addf(&lines, "%s of %s", TEXT_COUNT(results), TEXT_COUNT(s->cells));
    live_draw(text_str(&lines));
    text_free(&lines);
    text_free(&label);
}

/* Cells that --max-cells leaves for later; of what is the same as another cell nothing is known yet. */
static void say_more(const struct sweeper *w)
{
    int64_t grid = w->wish->max_cells ? sweeps_possible(w->spec, 0) : 0;
    const struct wire_sweep_status *s = &w->status;
    int64_t more = grid - s->cells, had;
    struct text name = {0};

    text_add_clean(&name, w->wish->name);
    had = sweeps_ended(w->wish->name) - wire_sweep_ended(s);
    if (more > 0 && had >= more)
        cli_talk(
            "%s more in the grid ha%s ended already: chorus resume %s%s --max-cells %lld takes "
            "%s in again",
            TEXT_COUNT(more), more == 1 ? "s" : "ve", text_str(&name), again(), (long long)grid,
            more == 1 ? "it" : "them");
    else if (more > 0 && had > 0)
        cli_talk("%s more in the grid, %s of them ended already: chorus resume %s%s --max-cells "
                 "%lld runs the others too",
                 TEXT_COUNT(more), TEXT_COUNT(had), text_str(&name), again(), (long long)grid);
    else if (more > 0)
        cli_talk("%s more in the grid: chorus resume %s%s --max-cells %lld runs %s too",
                 TEXT_COUNT(more), text_str(&name), again(), (long long)grid,
                 more == 1 ? "it" : "them");
    text_free(&name);
}

/* What the sweep's name stands for beside these cells. */
static void say_others(const struct sweeper *w)
{
    struct listed *listed = listed_open(w->wish->name, false);
    size_t n = listed_others(listed);
    struct text name = {0};

    text_add_clean(&name, w->wish->name);
    if (n)
        cli_talk(
            "%s/sweep.csv has %s cell%s more that %s run under this name: of other "
            "values, or of a network or data that has changed since (listed: no); chorus ls %s%s lists "
            "all runs, another --name keeps sweeps apart",
            w->status.path, TEXT_COUNT(n), text_s(n), n == 1 ? "was" : "were", text_str(&name),
            again());
    text_free(&name);
    listed_close(listed);
}

/* Then the best of them is no mean, as boards and `compare --over seed` have it. */
static bool has_seeds(const struct spec_sweep *s)
{
    for (size_t a = 0; a < s->axes; a++)
        if (!strcmp(s->axis[a].key, "seed") && s->axis[a].values > 1)
            return true;
    return false;
}

/* --failed that was stopped left ends as they were: the same would have them anew. */
static const char *also_failed(const struct sweeper *w)
{
    for (size_t i = 0; i < w->cells; i++)
        if (w->wish->failed && w->cell[i].known && w->cell[i].again && w->cell[i].state > WIRE_DONE)
            return " --failed";
    return "";
}

void sweep_talk_end(struct sweeper *w)
{
    const struct wire_sweep_status *s = &w->status;
    const struct {
        int64_t n;
        const char *word;
    } parts[] = {{s->done, "done"},       {s->diverged, "diverged"},  {s->oom, "out of memory"},
                 {s->failed, "failed"},   {s->skipped, "skipped"},    {s->stopped, "stopped"},
                 {s->waiting, "waiting"}, {s->elsewhere, "elsewhere"}};
    bool by_valid;
    size_t best = wire_best_cell(w->cell, w->cells, &by_valid);
    struct text t = {0};
    int n = 0;

    if (w->wish->quiet)
        return;
    say_before(w);
    text_addf(&t, "%s%s cell%s:", TEXT_COUNT(s->cells), s->counting ? "+" : "",
              s->cells == 1 && !s->counting ? "" : "s");
    for (size_t i = 0; i < MEM_COUNT(parts); i++)
        if (parts[i].n)
            text_addf(&t, "%s %s %s", n++ ? "," : "", TEXT_COUNT(parts[i].n), parts[i].word);
    if (best < w->cells && spec_sweep_tests_apart(w->spec)) {
        text_addf(&t, "; no best: they were tested on different data (%s)",
                  spec_sweep_tests_apart(w->spec));
    } else if (best < w->cells) {
        text_add(&t, has_seeds(w->spec) ? "; best seed " : "; best ");
        cli_add_fraction(&t, w->cell[best].acc);
        text_add(&t, " with ");
        sweeps_add_label(w->spec, w->cell[best].cell, &t);
        /* the cell is picked on test where any has no validation data, whatever its epoch was */
        text_add(&t, by_valid ? " (picked on valid: " : " (picked on test)");
        if (by_valid) {
            cli_add_fraction(&t, w->cell[best].val_acc);
            text_add(&t, ")");
        }
    }
    cli_talk("%s", text_str(&t));
    say_others(w);
    text_clear(&t);
    if (s->state != WIRE_DONE) {
        text_add_clean(&t, w->wish->name);
        cli_talk("to go on: chorus resume %s%s%s", text_str(&t), again(), also_failed(w));
    } else if (s->diverged + s->oom + s->failed) {
        text_add_clean(&t, w->wish->name);
        cli_talk("those without a good end again: chorus resume %s%s --failed", text_str(&t),
                 again());
    }
    if (s->state == WIRE_DONE)
        say_more(w);
    text_free(&t);
}

void sweep_talk_free(struct sweeper *w)
{
    for (size_t i = 0; i < w->shown_count; i++)
        free(w->shown[i].reason);
    free(w->shown);
    free(w->cell);
    free(w->live);
}
