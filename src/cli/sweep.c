/* cli/sweep.c: the main thread of a sweep: what the engine's snapshot says of the cells becomes lines,
 * so that nothing is lost where events are. */
#include "cli/sweep.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/drive.h"
#include "cli/live.h"
#include "cli/progress.h"
#include "cli/sweeps.h"
#include "cli/workbench.h"
#include "engine/engine.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLEEP_MS  500
#define REDRAW_MS 100
#define SHOWN_OUT 8 /* cells left out that are listed */

struct shown {
    bool ended;
    char *reason;
};

struct live {
    uint32_t run, cell;
    struct progress progress;
};

struct sweeper {
    const struct spec_sweep *spec;
    const struct sweep_wish *wish;
    struct wire *wire;
    uint32_t number;
    struct drive_signals signals;
    struct wire_sweep_status status;
    struct wire_cell *cell; /* (cells) as last seen */
    size_t cells, cell_room;
    struct shown *shown; /* (cells) */
    size_t shown_room, shown_count;
    struct live *live;
    size_t lives, live_room;
    int64_t ended; /* cells whose line was printed or which were there before */
    int64_t before;
    bool look, named, told_before, draws, refused;
    struct err refusal;
    uint64_t drawn;
};

static void add_left(struct text *out, const char *before, double seconds)
{
    char span[CLOCK_UTC_ROOM];

    if (!isfinite(seconds))
        return;
    if (seconds < 59.5)
        text_addf(out, "%s%.0f s left", before, seconds < 1 ? 1 : seconds);
    else {
        clock_span(span, seconds);
        text_addf(out, "%s%s left", before, span);
    }
}

static void say_clean(const char *text)
{
    struct text t = {0};

    text_add_clean(&t, text);
    cli_talk("%s", text_str(&t));
    text_free(&t);
}

/* cell 3 of 24  batch=64 lr=0.1  0.9012  12 s  1:40 left */
static void say_cell(struct sweeper *w, const struct wire_cell *c)
{
    const char *reason = w->shown[c->cell].reason;
    char span[CLOCK_UTC_ROOM];
    struct text line = {0};

    text_addf(&line, "cell %lld of %lld%s  ", (long long)w->ended, (long long)w->status.cells,
              w->status.counting ? "+" : "");
    sweeps_add_label(w->spec, c->cell, &line);
    if (c->state == WIRE_DONE) {
        text_add(&line, isnan(c->acc) ? "" : "  "); /* epochs = 0 has none */
        cli_add_fraction(&line, isnan(c->acc) ? RECORD_EMPTY : c->acc);
    } else {
        text_addf(&line, "  %s",
                  c->state == WIRE_OOM ? "out of memory" : wire_state_name(c->state));
        if (reason)
            text_add(&line, ": ");
        text_add_clean(&line, reason ? reason : "");
    }
    if (isfinite(c->seconds)) {
        clock_span(span, c->seconds);
        text_addf(&line, "  %s", span);
    }
    if (w->ended < w->status.cells)
        add_left(&line, "  ", w->status.left_seconds);
    cli_talk("%s", text_str(&line));
    text_free(&line);
}

static void say_before(struct sweeper *w)
{
    if (w->told_before || !w->before || w->wish->quiet)
        return;
    w->told_before = true;
    cli_talk("%lld of %lld%s cells have a result already", (long long)w->before,
             (long long)w->status.cells, w->status.counting ? "+" : "");
}

static struct live *find_live(struct sweeper *w, uint32_t run)
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
    struct live *l;

    if (find_live(w, c->run))
        return;
    w->live = mem_grow(w->live, &w->live_room, w->lives + 1, sizeof *w->live);
    l = &w->live[w->lives++];
    memset(l, 0, sizeof *l);
    l->run = c->run;
    l->cell = c->cell;
    progress_start(&l->progress, true);
}

static void read_cells(struct sweeper *w)
{
    size_t n = wire_cells(w->wire, w->number, w->cell, w->cell_room);

    while (n > w->cell_room) {
        w->cell = mem_grow(w->cell, &w->cell_room, n, sizeof *w->cell);
        n = wire_cells(w->wire, w->number, w->cell, w->cell_room);
    }
    w->cells = n;
    w->shown = mem_grow(w->shown, &w->shown_room, n, sizeof *w->shown);
    for (; w->shown_count < n; w->shown_count++)
        w->shown[w->shown_count] = (struct shown){0};
}

static void say_sweep(struct sweeper *w)
{
    struct text t = {0};

    if (w->wish->quiet || w->named || !w->status.path[0])
        return;
    w->named = true;
    text_addf(&t, "sweep %s:", w->wish->name);
    for (size_t a = 0; a < w->spec->axes; a++)
        text_addf(&t, "%s %zu %s", a ? "," : "", w->spec->axis[a].values, w->spec->axis[a].key);
    say_clean(text_str(&t));
    text_free(&t);
}

/* What has changed since the last look. */
static void look(struct sweeper *w)
{
    w->look = false;
    (void)wire_sweep_status(w->wire, w->number, &w->status);
    say_sweep(w);
    read_cells(w);
    for (size_t i = 0; i < w->cells; i++) {
        const struct wire_cell *c = &w->cell[i];
        bool ended = c->known && c->state >= WIRE_DONE;

        if (!c->known)
            continue;
        drop_live(w, c);
        if (c->run && !ended)
            add_live(w, c);
        if (!ended || w->shown[i].ended)
            continue;
        w->shown[i].ended = true;
        w->ended++;
        w->before += c->again;
        if (c->again)
            continue;
        say_before(w);
        if (!w->wish->quiet)
            say_cell(w, c);
        else if (c->state != WIRE_DONE && c->state != WIRE_SKIPPED && w->shown[i].reason)
            say_clean(w->shown[i].reason);
    }
}

static void on_cell(struct sweeper *w, const struct wire_event *ev, const char *text)
{
    read_cells(w);
    if (text && ev->u.cell.cell < w->shown_count) {
        free(w->shown[ev->u.cell.cell].reason);
        w->shown[ev->u.cell.cell].reason = mem_text(text);
    }
    w->look = true;
}

static void on_started(struct sweeper *w, const struct wire_event *ev, const void *bytes, size_t n)
{
    const struct wire_facts *f = bytes;
    struct live *l;

    if (!f || n != sizeof *f)
        return;
    look(w);
    l = find_live(w, ev->run);
    if (l)
        progress_set(&l->progress, f->epochs, f->steps_per_epoch, f->steps_done,
                     f->mode == SPEC_ENSEMBLE ? f->members : 1, w->spec->base.max_steps);
}

/* The sweep's own talk, and warnings of its cells. */
static void on_log(struct sweeper *w, const struct wire_event *ev, const char *text)
{
    int least = ev->run != w->number || w->wish->quiet ? LOG_WARN : LOG_INFO;
    struct live *l = find_live(w, ev->run);
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

static void on_event(struct sweeper *w, const struct wire_event *ev)
{
    size_t n = 0;
    void *bytes = ev->slot ? wire_slot_take(w->wire, ev->slot, &n) : NULL;
    struct live *l = find_live(w, ev->run);

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
        if (ev->run == w->number) {
            w->refused = true;
            err_set(&w->refusal, ev->u.refused.code, "%s", bytes ? (char *)bytes : "");
        }
        break;
    case WIRE_EPOCH:
    case WIRE_UNIT:
    case WIRE_PLAN:
    case WIRE_TAKEN:
        break;
    }
    free(bytes);
}

/* A line for each cell that runs, as far as there is room, and one for the sweep. */
static void draw(struct sweeper *w)
{
    int columns = cli_columns(STDERR_FILENO) - 2, most = live_rows(STDERR_FILENO) - 2;
    const struct wire_sweep_status *s = &w->status;
    struct text lines = {0}, label = {0};
    uint64_t now = clock_ns();
    int64_t results = s->done + s->diverged + s->oom + s->failed + s->skipped;

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
    text_addf(&label, "%lld of %lld%s cells", (long long)results, (long long)s->cells,
              s->counting ? "+" : "");
    if (s->diverged + s->oom + s->failed)
        text_addf(&label, ", %lld without a good end",
                  (long long)(s->diverged + s->oom + s->failed));
    if (s->elsewhere)
        text_addf(&label, ", %lld at another program", (long long)s->elsewhere);
    if (s->state == WIRE_PAUSED)
        text_add(&label, ", paused");
    add_left(&label, "  ", s->left_seconds);
    if (text_width(text_str(&label)) < columns)
        text_add(&lines, text_str(&label));
    else
        text_addf(&lines, "%lld of %lld", (long long)results, (long long)s->cells);
    live_draw(text_str(&lines));
    text_free(&lines);
    text_free(&label);
}

static bool is_over(struct sweeper *w)
{
    struct wire_sweep_status s;

    if (!wire_sweep_status(w->wire, w->number, &s))
        return false;
    return wire_state_ended(s.state) ||
           (w->wish->background && s.state == WIRE_WAITING && s.path[0]);
}

/* false: given up. */
static bool loop(struct sweeper *w)
{
    struct pollfd fds[2] = {{.fd = wire_fd(w->wire), .events = POLLIN},
                            {.fd = cli_wake, .events = POLLIN}};
    struct wire_event event;
    bool over = false, gave_up = false;

    while (!over && !gave_up) {
        poll(fds, 2, w->draws ? REDRAW_MS : SLEEP_MS);
        drive_obey_signals(&w->signals, w->wire, w->number,
                           w->wish->quiet ? NULL : "stopping all cells after this step");
        if (w->signals.hung_up)
            w->draws = false;
        over = is_over(w);
        while (wire_take(w->wire, &event))
            on_event(w, &event);
        if (wire_missed(w->wire) || w->look || over)
            look(w);
        gave_up = !over && w->signals.give_up && clock_ns() > w->signals.give_up;
        if (!over)
            draw(w);
    }
    if (w->draws)
        live_draw(NULL);
    w->draws = false;
    return !gave_up;
}

static struct wire_sweep *message(const struct spec_sweep *s, const struct sweep_wish *wish,
                                  size_t *n)
{
    struct wire_sweep *start;
    struct text text = {0};

    spec_sweep_write(s, &text);
    *n = sizeof *start + text.n + 1;
    start = mem_new(1, *n);
    snprintf(start->name, sizeof start->name, "%s", wish->name);
    start->grid = wish->order == SWEEP_GRID;
    start->failed = wish->failed;
    start->jobs = (int32_t)wish->jobs;
    start->max_cells = wish->max_cells;
    start->prepare_only = wish->background;
    memcpy(start->text, text_str(&text), text.n);
    text_free(&text);
    return start;
}

static enum err_code send(struct sweeper *w, struct err *e)
{
    struct wire_command command = {.kind = WIRE_SWEEP, .run = w->number};
    struct wire_sweep *start;
    size_t n;

    start = message(w->spec, w->wish, &n);
    command.slot = wire_slot_put(w->wire, start, n);
    free(start);
    if (!command.slot || !wire_send(w->wire, &command))
        return err_set(e, ERR_FAILED, "the engine takes no commands");
    return ERR_OK;
}

int sweep_in_workbench(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct wire_sweep *start;
    size_t n;
    int code;

    start = message(s, wish, &n);
    code = workbench_sweep(start, n);
    free(start);
    return code;
}

enum err_code sweep_say_left_out(const struct spec_sweep *s, bool quiet, struct err *e)
{
    size_t n = spec_sweep_cells(s), out = 0;
    struct spec *cell = mem_new(1, sizeof *cell);
    struct err why = {0};

    for (size_t i = 0; i < n; i++) {
        if (spec_sweep_cell(s, i, cell, &why) == ERR_OK)
            continue;
        if (!out++)
            err_set(e, ERR_INPUT, "%s", why.text);
    }
    if (out == n) {
        free(cell);
        return n > 1 ? err_context(e, "no cell of this sweep can run") : ERR_INPUT;
    }
    if (out && !quiet)
        cli_talk("%zu of %zu cells are left out:", out, n);
    for (size_t i = 0, told = 0; i < n && out && !quiet && told < SHOWN_OUT; i++) {
        struct text t = {0};

        if (spec_sweep_cell(s, i, cell, &why) == ERR_OK)
            continue;
        told++;
        text_add(&t, "  ");
        sweeps_add_label(s, i, &t);
        text_add(&t, ": ");
        text_add_clean(&t, why.text);
        cli_talk("%s", text_str(&t));
        text_free(&t);
        if (told == SHOWN_OUT && told < out)
            cli_talk("  and %zu more; --dry-run lists them all", out - told);
    }
    free(cell);
    return ERR_OK;
}

static void say_end(struct sweeper *w)
{
    const struct wire_sweep_status *s = &w->status;
    const struct {
        int64_t n;
        const char *word;
    } parts[] = {{s->done, "done"},         {s->diverged, "diverged"},
                 {s->oom, "out of memory"}, {s->failed, "failed"},
                 {s->skipped, "skipped"},   {s->stopped, "stopped"},
                 {s->waiting, "waiting"},   {s->elsewhere, "at another program"}};
    const struct wire_cell *best = NULL;
    struct text t = {0};
    int n = 0;

    if (w->wish->quiet)
        return;
    say_before(w);
    text_addf(&t, "%lld cell%s:", (long long)s->cells, s->cells == 1 ? "" : "s");
    for (size_t i = 0; i < MEM_COUNT(parts); i++)
        if (parts[i].n)
            text_addf(&t, "%s %lld %s", n++ ? "," : "", (long long)parts[i].n, parts[i].word);
    for (size_t i = 0; i < w->cells; i++)
        if (w->cell[i].known && w->cell[i].state == WIRE_DONE && isfinite(w->cell[i].acc) &&
            (!best || w->cell[i].acc > best->acc))
            best = &w->cell[i];
    if (best) {
        text_add(&t, "; best ");
        cli_add_fraction(&t, best->acc);
        text_add(&t, " with ");
        sweeps_add_label(w->spec, best->cell, &t);
        if (w->spec->base.valid == 0)
            text_add(&t, " (picked on test)");
    }
    cli_talk("%s", text_str(&t));
    text_clear(&t);
    if (s->state != WIRE_DONE) {
        text_add_clean(&t, w->wish->name);
        cli_talk("to go on: chorus resume %s", text_str(&t));
    } else if (s->diverged + s->oom + s->failed) {
        text_add_clean(&t, w->wish->name);
        cli_talk("those without a good end again: chorus resume %s --failed", text_str(&t));
    }
    text_free(&t);
}

static int stopped_code(void)
{
    return err_exit_code(cli_terminated ? ERR_TERMINATED : ERR_STOPPED);
}

static int finish(struct sweeper *w, bool gave_up)
{
    enum err_code why = w->status.code;
    int code = w->status.state == WIRE_DONE || w->wish->background ? 0
               : why != ERR_OK && why != ERR_STOPPED               ? err_exit_code(why)
                                                                   : stopped_code();

    if (w->refused && !w->status.path[0]) {
        if (w->refusal.code == ERR_STOPPED)
            w->refusal.code = cli_terminated ? ERR_TERMINATED : ERR_STOPPED;
        return cli_fail(&w->refusal);
    }
    if (w->refused)
        code = cli_fail(&w->refusal);
    else if (w->wish->background)
        return CLI_ON;
    else if (!gave_up)
        say_end(w);
    if (gave_up)
        cli_talk("stopped at once; to go on from the last checkpoints: chorus resume %s",
                 w->wish->name);
    if (gave_up && !w->status.path[0])
        return code;
    if (sweeps_print(w->wish->name, w->wish->json, wire_state_name(w->status.state)) &&
        cli_print_failed() && !code)
        code = err_exit_code(ERR_FAILED);
    return code;
}

static void free_sweeper(struct sweeper *w)
{
    for (size_t i = 0; i < w->shown_count; i++)
        free(w->shown[i].reason);
    free(w->shown);
    free(w->cell);
    free(w->live);
}

int sweep_run(const struct spec_sweep *s, const struct sweep_wish *wish)
{
    struct sweeper w = {.spec = s, .wish = wish, .number = 1};
    struct wire_event event;
    struct engine *engine;
    struct err e = {0};
    bool gave_up;
    int code;

    if (sweep_say_left_out(s, wish->quiet, &e) != ERR_OK ||
        drive_open(&w.wire, &engine, &e) != ERR_OK)
        return cli_fail(&e);
    w.draws = !wish->quiet && !wish->background && cli_terminal(STDERR_FILENO);
    if (send(&w, &e) != ERR_OK) {
        drive_quit(w.wire, engine, true);
        wire_free(w.wire);
        return cli_fail(&e);
    }
    gave_up = !loop(&w);
    if (!gave_up) {
        drive_quit(w.wire, engine, wish->quiet);
        while (wire_take(w.wire, &event))
            on_event(&w, &event);
        look(&w);
        wire_free(w.wire);
    }
    code = finish(&w, gave_up);
    free_sweeper(&w);
    return code == CLI_ON ? sweeps_detach(wish->name, wish) : code;
}

struct sweeper *sweep_follow(struct wire *wire, uint32_t number, const struct spec_sweep *s,
                             const struct sweep_wish *wish)
{
    struct sweeper *w = mem_new(1, sizeof *w);

    *w = (struct sweeper){.spec = s, .wish = wish, .wire = wire, .number = number, .look = true};
    w->draws = !wish->quiet && cli_terminal(STDERR_FILENO);
    return w;
}

enum err_code sweep_send(struct sweeper *w, struct err *e)
{
    TRY(sweep_say_left_out(w->spec, w->wish->quiet, e));
    return send(w, e);
}

void sweep_hear(struct sweeper *w, const struct wire_event *event)
{
    on_event(w, event);
}

void sweep_draw(struct sweeper *w, bool missed)
{
    if (cli_hung_up)
        w->draws = false;
    if (missed || w->look)
        look(w);
    draw(w);
}

int sweep_end(struct sweeper *w, bool gave_up)
{
    int code;

    if (w->draws)
        live_draw(NULL);
    look(w);
    code = finish(w, gave_up);
    free_sweeper(w);
    free(w);
    return code;
}
