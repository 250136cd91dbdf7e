/* cli/jobs/sweep_lines.c: what the snapshot or the files of a sweep say of its cells becomes lines. */
#include "cli/jobs/sweep_lines.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/signals.h"
#include "cli/jobs/run_lines.h"
#include "cli/out/print.h"
#include "cli/out/progress.h"
#include "cli/out/table.h"
#include "cli/sweeps/sweeps.h"
#include "record/best.h"
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
#define LOOK_MS   50 /* at least between two looks, each of which copies all cells */
#define FILES_MS                                                                                   \
    500 /* the same, each of which reads files; one that takes long comes the less often */
#define REST 20

struct shown {
    bool ended;
    bool heard; /* the event of its end has come, with the reason if there is one, or never will */
    char *reason;
};

struct sweep_lines {
    struct feed *feed;
    struct wire *wire; /* NULL: another program's */
    uint32_t number;
    const struct spec_sweep *spec;
    const struct sweep_wish *wish;
    struct live_sweep *now; /* another program's */
    struct wire_sweep_status status;
    struct wire_cell *cell; /* (cells) as last seen */
    size_t cells, cell_room;
    struct shown *shown; /* (cells) */
    size_t shown_room, shown_count;
    int64_t ended;           /* cells whose line was printed or which were there before */
    int64_t before, skipped; /* of those that were there: how many, and without a result */
    bool look, missed, named, told_before, draws;
    const char *standing; /* its words when they were said last */
    uint64_t drawn, looked, took;
};

/* How many cells there are; those that were counted a moment ago may not stand in the status yet. */
static long long cells_of(const struct sweep_lines *w, int64_t known)
{
    return (long long)(w->status.cells > known ? w->status.cells : known);
}

/* cell 3 of 24  batch=64 lr=0.1  0.9012  12 s  1:40 left */
static void say_cell(struct sweep_lines *w, const struct wire_cell *c)
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
            text_addf(&line, ": %s", TEXT_CLEAN(reason));
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
static void say_before(struct sweep_lines *w)
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

static void know_cells(struct sweep_lines *w, size_t n)
{
    w->shown = mem_grow(w->shown, &w->shown_room, n, sizeof *w->shown);
    for (; w->shown_count < n; w->shown_count++)
        w->shown[w->shown_count] = (struct shown){0};
}

static void read_cells(struct sweep_lines *w)
{
    size_t n = wire_cells(w->wire, w->number, w->cell, w->cell_room);

    while (n > w->cell_room) {
        w->cell = mem_grow(w->cell, &w->cell_room, n, sizeof *w->cell);
        n = wire_cells(w->wire, w->number, w->cell, w->cell_room);
    }
    w->cells = n;
    know_cells(w, n);
}

static void say_sweep(struct sweep_lines *w)
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
    cli_talk("%s", text_str(&t));
    text_free(&t);
}

/* Of the cells that ended here and are not told yet the first by the ledger, which numbers them for all
 * programs on the sweep. One that it will not know any more is told at the end. The snapshot may be
 * ahead of the events, which bring the reasons. */
static const struct wire_cell *next_end(const struct sweep_lines *w)
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

static void say_end(struct sweep_lines *w, const struct wire_cell *c)
{
    struct shown *shown = &w->shown[c->cell];

    shown->ended = true;
    w->ended++;
    say_before(w);
    if (!w->wish->quiet)
        say_cell(w, c);
    else if (c->state != WIRE_DONE && c->state != WIRE_SKIPPED && shown->reason)
        cli_talk("%s", shown->reason);
}

static void look_own(struct sweep_lines *w)
{
    const struct wire_cell *next;

    (void)wire_sweep_status(w->wire, w->number, &w->status);
    say_sweep(w);
    read_cells(w);
    for (size_t i = 0; i < w->cells; i++) {
        const struct wire_cell *c = &w->cell[i];
        bool ended = c->known && wire_state_is_final(c->state);

        w->shown[i].heard |= ended && w->missed;
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

/* As the snapshot would have it. */
static struct wire_cell cell_of_files(const struct live_cell *c, size_t i)
{
    return (struct wire_cell){.cell = (uint32_t)i,
                              .known = c->known && !c->beyond,
                              .state = c->state,
                              .acc = c->acc,
                              .val_acc = c->val_acc,
                              .seconds = c->seconds};
}

/* Where that is another than before, and at first where it does not simply run. */
static void say_standing(struct sweep_lines *w)
{
    const char *words = wire_sweep_words(&w->status, false);

    if (w->wish->quiet || !w->now->tells)
        return;
    if (words != w->standing &&
        (w->standing || (strcmp(words, wire_state_name(WIRE_RUNNING)) != 0 && !w->status.counting)))
        sweeps_say_standing(w->wish->name, &w->status);
    w->standing = words;
}

static int by_time(const void *a, const void *b, void *cells)
{
    const struct live_cell *x = (const struct live_cell *)cells + *(const size_t *)a;
    const struct live_cell *y = (const struct live_cell *)cells + *(const size_t *)b;
    int order = strcmp(x->time, y->time);

    return order ? order : (x > y) - (x < y);
}

/* Those whose end was not said yet, in the order in which they ended. */
static void say_new_ends(struct sweep_lines *w)
{
    size_t *new = mem_new(w->cells + 1, sizeof *new), n = 0;

    for (size_t i = 0; i < w->cells; i++)
        if (w->cell[i].known && wire_state_is_final(w->cell[i].state) && !w->shown[i].ended)
            new[n++] = i;
    qsort_r(new, n, sizeof *new, by_time, w->now->cell);
    for (size_t i = 0; i < n; i++) {
        live_set_text(&w->shown[new[i]].reason, w->now->cell[new[i]].why);
        say_end(w, &w->cell[new[i]]);
    }
    free(new);
}

static void follow_running(struct sweep_lines *w)
{
    for (size_t i = 0; i < w->cells; i++) {
        const struct live_cell *c = &w->now->cell[i];
        char *folder = io_path(cli_results(), c->run ? c->run : "");

        if (c->known && !wire_state_ended(c->state) && c->run)
            (void)feed_follow(w->feed, folder);
        free(folder);
    }
}

static void look_other(struct sweep_lines *w)
{
    char *path = sweeps_folder(w->wish->name);

    live_sweep_free(w->now);
    w->now = live_sweep_read(cli_results(), w->wish->name, SPEC_MOST_CELLS);
    w->spec = &w->now->spec;
    w->status = w->now->is;
    snprintf(w->status.path, sizeof w->status.path, "%s", path);
    free(path);
    w->cells = w->now->cells;
    w->cell = mem_grow(w->cell, &w->cell_room, w->cells, sizeof *w->cell);
    know_cells(w, w->cells);
    for (size_t i = 0; i < w->cells; i++)
        w->cell[i] = cell_of_files(&w->now->cell[i], i);
    say_new_ends(w);
    follow_running(w);
    say_standing(w);
}

static uint64_t pause_ns(const struct sweep_lines *w)
{
    uint64_t least = (w->wire ? LOOK_MS : FILES_MS) * 1000000ull;

    return w->wire || REST * w->took < least ? least : REST * w->took;
}

void sweep_lines_look(struct sweep_lines *w, bool soon, bool missed)
{
    uint64_t now = clock_ns();
    bool due = !w->wire || w->look || missed || !w->told_before;

    w->missed |= missed;
    w->look |= missed;
    if (!soon && (!due || (w->looked && now - w->looked < pause_ns(w))))
        return;
    w->looked = now;
    w->look = false;
    if (w->wire)
        look_own(w);
    else
        look_other(w);
    w->took = clock_ns() - now;
}

/* All cells are copied at the next look, once: thousands may have ended since the last one. */
static void on_cell(struct sweep_lines *w, const struct wire_event *ev, const char *text)
{
    struct shown *shown;

    know_cells(w, (size_t)ev->u.cell.cell + 1);
    shown = &w->shown[ev->u.cell.cell];
    shown->heard |= wire_state_is_final(ev->u.cell.state);
    if (text) {
        free(shown->reason);
        shown->reason = mem_text(text);
    }
    w->look = true;
}

/* The sweep's own talk, and warnings of its cells. */
static void on_log(struct sweep_lines *w, const struct wire_event *ev, const char *text)
{
    int least = ev->run != w->number || w->wish->quiet ? LOG_WARN : LOG_INFO;
    const struct feed_run *run = feed_by_number(w->feed, ev->run);
    struct text t = {0};

    if (!text || ev->u.log.level < least)
        return;
    if (run && run->sweep == w->number) {
        sweeps_add_label(w->spec, run->cell, &t);
        text_add(&t, ": ");
    }
    text_add_clean(&t, text);
    cli_talk("%s", text_str(&t));
    text_free(&t);
}

void sweep_lines_event(struct sweep_lines *w, const struct wire_event *ev, const char *text)
{
    if (ev->kind == WIRE_CELL)
        on_cell(w, ev, text);
    else if (ev->kind == WIRE_LOG)
        on_log(w, ev, text);
    else if (ev->kind == WIRE_STARTED)
        w->look = true;
}

/* The run of that cell, if it runs; NULL. */
static const struct feed_run *run_of(const struct sweep_lines *w, size_t i)
{
    const struct wire_cell *c = &w->cell[i];

    if (!c->known || wire_state_ended(c->state))
        return NULL;
    if (w->wire)
        return c->run ? feed_by_number(w->feed, c->run) : NULL;
    return w->now->cell[i].run ? feed_find(w->feed, w->now->cell[i].run) : NULL;
}

/* A line for each cell that runs, as far as there is room. */
static void add_running(const struct sweep_lines *w, int columns, int most, struct text *lines)
{
    struct progress_view view;
    struct text label = {0};

    for (size_t i = 0; i < w->cells && most > 0; i++) {
        const struct feed_run *run = run_of(w, i);
        int left = columns;

        if (!run)
            continue;
        text_clear(&label);
        sweeps_add_label(w->spec, w->cell[i].cell, &label);
        if (text_width(text_str(&label)) + 2 + 20 <= columns) {
            text_addf(lines, "%s  ", text_str(&label));
            left -= text_width(text_str(&label)) + 2;
        }
        run_lines_view(run, &view);
        progress_line(&view, left, cli_utf8(), lines);
        text_add(lines, "\n");
        most--;
    }
    text_free(&label);
}

/* And one for the sweep. */
static void add_whole(const struct sweep_lines *w, int columns, struct text *lines)
{
    const struct wire_sweep_status *s = &w->status;
    int64_t results = wire_sweep_ended(s);
    struct text line = {0};

    text_addf(&line, "%s of %s%s cells", TEXT_COUNT(results), TEXT_COUNT(s->cells),
              s->counting ? "+" : "");
    if (s->diverged + s->oom + s->failed)
        text_addf(&line, ", %s without a good end", TEXT_COUNT(s->diverged + s->oom + s->failed));
    if (s->elsewhere)
        text_addf(&line, ", %s elsewhere", TEXT_COUNT(s->elsewhere));
    if (wire_sweep_closes(s) || wire_sweep_is_paused(s) || wire_sweep_lacks_room(s))
        text_addf(&line, ", %s", wire_sweep_words(s, false));
    if (!wire_sweep_rests(s))
        progress_add_left(&line, "  ", s->left_seconds);
    if (text_width(text_str(&line)) < columns)
        text_add(lines, text_str(&line));
    else
        text_addf(lines, "%s of %s", TEXT_COUNT(results), TEXT_COUNT(s->cells));
    text_free(&line);
}

void sweep_lines_draw(struct sweep_lines *w)
{
    int columns = cli_columns(STDERR_FILENO) - 2;
    struct text lines = {0};
    uint64_t now = clock_ns();

    if (cli_hung_up)
        w->draws = false;
    if (!w->draws || (w->drawn && now - w->drawn < REDRAW_MS * 1000000ull))
        return;
    w->drawn = now;
    if (w->wire)
        (void)wire_sweep_status(w->wire, w->number, &w->status);
    add_running(w, columns, live_rows(STDERR_FILENO) - 2, &lines);
    add_whole(w, columns, &lines);
    live_draw(text_str(&lines));
    text_free(&lines);
}

/* Cells that --max-cells leaves for later; of what is the same as another cell nothing is known yet. */
static void say_more(const struct sweep_lines *w, const struct live_sweep *all)
{
    int64_t grid = (int64_t)live_sweep_possible(all), more = grid - w->status.cells, had = 0;
    const char *name = w->wish->name;

    if (!w->wish->max_cells || more <= 0)
        return;
    for (size_t i = 0; i < all->cells; i++)
        had += all->cell[i].known && wire_state_is_final(all->cell[i].state);
    had -= wire_sweep_ended(&w->status);
    if (had >= more)
        cli_talk(
            "%s more in the grid ha%s ended already: chorus resume %s%s --max-cells %lld takes "
            "%s in again",
            TEXT_COUNT(more), more == 1 ? "s" : "ve", name, again(), (long long)grid,
            more == 1 ? "it" : "them");
    else if (had > 0)
        cli_talk("%s more in the grid, %s of them ended already: chorus resume %s%s --max-cells "
                 "%lld runs the others too",
                 TEXT_COUNT(more), TEXT_COUNT(had), name, again(), (long long)grid);
    else
        cli_talk("%s more in the grid: chorus resume %s%s --max-cells %lld runs %s too",
                 TEXT_COUNT(more), name, again(), (long long)grid, more == 1 ? "it" : "them");
}

/* What the sweep's name stands for beside these cells. */
static void say_others(const struct sweep_lines *w, const struct live_sweep *all)
{
    if (all->others)
        cli_talk(
            "%s/sweep.csv has %s cell%s more that %s run under this name: of other "
            "values, or of a network or data that has changed since (listed: no); chorus ls %s%s lists "
            "all runs, another --name keeps sweeps apart",
            w->status.path, TEXT_COUNT(all->others), text_s(all->others),
            all->others == 1 ? "was" : "were", w->wish->name, again());
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
static const char *also_failed(const struct sweep_lines *w)
{
    for (size_t i = 0; i < w->cells; i++)
        if (w->wish->failed && w->cell[i].known && w->cell[i].again && w->cell[i].state > WIRE_DONE)
            return " --failed";
    return "";
}

void sweep_lines_summary(struct sweep_lines *w)
{
    const struct wire_sweep_status *s = &w->status;
    const struct {
        int64_t n;
        const char *word;
    } parts[] = {{s->done, "done"},       {s->diverged, "diverged"},  {s->oom, "out of memory"},
                 {s->failed, "failed"},   {s->skipped, "skipped"},    {s->stopped, "stopped"},
                 {s->waiting, "waiting"}, {s->elsewhere, "elsewhere"}};
    bool by_valid;
    size_t best = record_best_cell(w->cell, w->cells, &by_valid);
    struct live_sweep *all;
    struct text t = {0};
    int n = 0;

    if (w->wish->quiet)
        return;
    all = sweeps_open(w->wish->name);
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
    say_others(w, all);
    if (s->state != WIRE_DONE)
        cli_talk("to go on: chorus resume %s%s%s", TEXT_CLEAN(w->wish->name), again(),
                 also_failed(w));
    else if (s->diverged + s->oom + s->failed)
        cli_talk("those without a good end again: chorus resume %s%s --failed",
                 TEXT_CLEAN(w->wish->name), again());
    if (s->state == WIRE_DONE)
        say_more(w, all);
    text_free(&t);
    live_sweep_free(all);
}

struct sweep_lines *sweep_lines_own(struct feed *feed, struct wire *wire, uint32_t number,
                                    const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct sweep_lines *w = mem_new(1, sizeof *w);

    *w = (struct sweep_lines){
        .feed = feed, .wire = wire, .number = number, .spec = s, .wish = wish, .look = true};
    w->draws = !wish->quiet && !wish->background && cli_terminal(STDERR_FILENO);
    return w;
}

struct sweep_lines *sweep_lines_other(struct feed *feed, const struct sweep_wish *wish)
{
    struct sweep_lines *w = sweep_lines_own(feed, NULL, 0, NULL, wish);

    w->told_before = true; /* all its cells are told */
    return w;
}

bool sweep_lines_wait(const struct sweep_lines *w)
{
    return w->look;
}

const struct wire_sweep_status *sweep_lines_status(const struct sweep_lines *w)
{
    return &w->status;
}

int64_t sweep_lines_ended(const struct sweep_lines *w)
{
    return w->ended;
}

void sweep_lines_free(struct sweep_lines *w)
{
    if (w->draws)
        live_draw(NULL);
    for (size_t i = 0; i < w->shown_count; i++)
        free(w->shown[i].reason);
    free(w->shown);
    free(w->cell);
    live_sweep_free(w->now);
    free(w);
}
