/* ui/run/runview_draw.c: the run as a picture: how it stands, its curves, how far it is, its log. */
#include "ui/run/runview_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "study/compare.h"
#include "study/members.h"
#include "study/tables.h"
#include "ui/app/status.h"
#include "ui/widgets/share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_ROWS 3 /* of the log */

static bool went_wrong(const struct feed_run *run)
{
    return run->dead || run->broken || run->state == WIRE_FAILED || run->state == WIRE_OOM ||
           run->state == WIRE_DIVERGED;
}

/* Nothing of it moves until the user has made room. */
static bool lacks_room(const struct runview *v, const struct feed_run *run)
{
    return feed_lacks_room(v->app->feed, run);
}

static int role_of(const struct feed_run *run)
{
    if (went_wrong(run))
        return GRID_BAD;
    return run->state == WIRE_RUNNING || run->state == WIRE_DONE ? GRID_GOOD : GRID_WARN;
}

static const char *state_of(const struct feed_run *run)
{
    return runview_unread(run) ? "reading"
           : run->removed      ? "removed"
           : run->broken       ? "broken"
           : run->dead         ? "dead"
                               : wire_state_words(run->state);
}

static bool has_gain(const struct feed_run *run)
{
    return run->facts.mode == SPEC_ENSEMBLE && isfinite(run->gain_mean);
}

/* "gain +0.83 points over the mean member (0.913), ..."; the briefer, the less of it, but always over what. */
enum { GAIN_WHOLE, GAIN_ROW, GAIN_COST, GAIN_SHORT, GAIN_BARE, GAIN_NONE };
static void add_gain(struct text *out, const struct feed_run *run, int brief)
{
    struct study_unlike unlike = run->averaged ? run->unlike : (struct study_unlike){0};

    if (!has_gain(run) || brief == GAIN_NONE)
        return;
    if (brief == GAIN_WHOLE && run->state == WIRE_DONE && run->best_epoch &&
        run->best_epoch != run->epoch) /* beside the best of all epochs */
        text_addf(out, "at epoch %lld: ", (long long)run->epoch);
    text_addf(out, "%s%s", brief == GAIN_COST ? "" : "gain ", STUDY_POINTS(run->gain_mean));
    text_add(out, brief == GAIN_WHOLE ? " points over the mean member" : " points over mean");
    if (brief == GAIN_BARE)
        return;
    if (brief <= GAIN_ROW) {
        text_add(out, " (");
        share_tell(out, run->member_acc_mean);
        text_add(out, ")");
    }
    text_add(out, ", ");
    study_add_gain(out, run->gain_best, brief == GAIN_WHOLE ? "the best" : "best");
    if (brief && brief <= GAIN_COST && (unlike.length || unlike.size)) {
        text_addf(out, ", all %d trainings", run->facts.members);
    } else if (brief <= GAIN_COST) {
        text_add(out, brief == GAIN_WHOLE ? ", at " : ", ");
        study_add_brief_cost(out, run->facts.members, unlike);
    }
}

static int gain_width(const struct feed_run *run, int brief)
{
    struct text gain = {0};
    int width;

    add_gain(&gain, run, brief);
    width = text_width(text_str(&gain));
    text_free(&gain);
    return width;
}

static void add_best(struct text *out, const struct feed_run *run, int brief)
{
    if (!isfinite(run->best_acc))
        return;
    text_add(out, out->n ? ", best " : "best ");
    share_tell(out, run->best_acc);
    if (brief < 2)
        text_addf(out, " at epoch %lld", (long long)run->best_epoch);
    text_addf(out, ", picked on %s", run->by_valid ? "validation" : "test");
}

/* Where it stands and what can be done about it; brief, from 0 to 2: what is said elsewhere too goes. */
static void add_story(struct text *out, const struct feed_run *run, bool starts, int brief)
{
    char number[TEXT_NUMBER_ROOM];

    if (runview_unread(run))
        return;
    if (run->removed) {
        text_add(out, FEED_REMOVED);
        return;
    }
    if (run->broken) {
        text_addf(out, "it cannot be read: %s", run->reason);
        return;
    }
    if (run->dead) {
        text_add(out, FEED_DEAD);
        return;
    }
    if (!runview_at_work(run) && !run->path[0]) {
        text_addf(out, "%s%sit did not start: 1 opens Setup, to mend it", run->reason,
                  run->reason[0] ? "; " : "");
        return;
    }
    switch (run->state) {
    case WIRE_WAITING:
        text_add(out, starts         ? "data and model are being prepared"
                      : run->path[0] ? "it waits for R, or for its turn"
                                     : "it waits for its turn");
        return;
    case WIRE_PAUSED:
        text_addf(out, "at step %s: p goes on", text_count(number, (uint64_t)run->step));
        return;
    case WIRE_RUNNING:
        add_best(out, run, brief);
        return;
    case WIRE_DONE:
        if (!brief)
            text_addf(out, "%lld epoch%s", (long long)run->epoch, text_s(run->epoch));
        add_best(out, run, brief);
        return;
    case WIRE_STOPPED:
        /* the reason has the step of the end; rows may be older */
        if (!strncmp(run->reason, "stopped ", 8) && run->reason[8])
            text_addf(out, "%s: R goes on", run->reason + 8);
        else
            text_addf(out, "at step %s: R goes on", text_count(number, (uint64_t)run->step));
        return;
    default:
        text_addf(out, "%s; r runs it again, e edits it",
                  run->reason[0] ? run->reason : state_of(run));
    }
}

static void add_facts(struct text *out, const struct feed_run *run)
{
    const struct wire_facts *f = &run->facts;
    bool ensemble = f->mode == SPEC_ENSEMBLE;
    char number[TEXT_NUMBER_ROOM];

    if (!run->known)
        return;
    if (ensemble)
        text_addf(out, "%d member%s on ", f->members, text_s(f->members));
    text_addf(out, "%d %sdevice%s", f->devices, f->devices > f->real_devices ? "virtual " : "",
              text_s(f->devices));
    text_addf(out, " · batch %s", text_count(number, (uint64_t)f->batch));
    if (!ensemble && f->devices > 1 && f->batch_per_device)
        text_addf(out, " (%s each)", text_count(number, (uint64_t)f->batch_per_device));
    if (f->parameters)
        text_addf(out, " · %s parameters", text_count(number, f->parameters));
    if (isfinite(run->lr) || f->lr > 0)
        text_addf(out, " · lr %.4g", isfinite(run->lr) ? run->lr : f->lr);
    text_addf(out, " · %s%s%s %s", f->backend, f->isa[0] ? " " : "", f->isa, f->precision);
    if (f->threads)
        text_addf(out, ", %d thread%s", f->threads, text_s(f->threads));
}

static const char *name_of(const struct feed_run *run)
{
    return run->name[0] ? study_short_name(run->name) : run->spec.name;
}

static int draw_trouble(struct runview *v, const struct feed_run *run, struct grid *g,
                        struct rect in)
{
    struct text line = {0};
    int column = grid_bold(g, in, 0, 1, GRID_BAD, state_of(run)) + 2, rows;
    struct rect words = rect_before(rect_behind(in, column), 1);

    grid_cut(g, in, 0, column, in.columns - column - 1, GRID_TEXT, true, name_of(run));
    add_story(&line, run, false, 0);
    words = rect_behind(rect_before(rect_below(in, 1), 1), 1);
    words = rect_top(words, in.rows > 12 ? 3 : 1);
    rows = grid_words(g, words, 0, GRID_BAD, text_str(&line));
    if (rows <= words.rows) /* here it stays, and need not be said below too */
        app_unsay(v->app, TEXT_CLEAN(run->reason));
    text_free(&line);
    return 1 + (rows < words.rows ? rows : words.rows);
}

/* Behind the name, as much of it as has room. */
static void draw_gain(const struct feed_run *run, struct grid *g, struct rect in, int column)
{
    struct text gain = {0};
    int brief = GAIN_ROW;

    while (brief < GAIN_NONE && column + 2 + gain_width(run, brief) >= in.columns)
        brief++;
    add_gain(&gain, run, brief);
    grid_text(g, in, 0, column + 2, GRID_TEXT, text_str(&gain));
    text_free(&gain);
}

/* Its state and name, and how it stands, or where this is the only row what an ensemble gained: the
 * plot's legend has its accuracy. */
static void draw_standing(struct runview *v, const struct feed_run *run, struct grid *g,
                          struct rect in)
{
    bool full = lacks_room(v, run), starts = !full && feed_starts(v->app->feed, run);
    bool goes = run->state == WIRE_DONE || run->state == WIRE_RUNNING;
    bool gain = has_gain(run) && in.rows < 24;
    const char *ends = feed_is_stopping(v->app->feed, run) ? "stopping" : NULL;
    const char *state = full ? WIRE_LACKS_ROOM : starts ? "starting" : ends ? ends : state_of(run);
    int role = full || ends ? GRID_WARN : role_of(run), column, width;
    struct text story = {0};

    for (int brief = 0; brief < 3 && !(gain && goes); brief++) {
        text_clear(&story);
        add_story(&story, run, starts, brief);
        if (text_width(text_str(&story)) <= in.columns / 2)
            break;
    }
    column = grid_bold(g, in, 0, 1, role, state) + 2;
    if (!run->own && run->live)
        column = grid_text(g, in, 0, column - 1, GRID_DIM, "elsewhere") + 2;
    width = gain && goes ? gain_width(run, GAIN_BARE) : text_width(text_str(&story));
    column = grid_cut(g, in, 0, column,
                      in.columns - column - (width < in.columns / 2 ? width : in.columns / 2) - 3,
                      GRID_TEXT, true, name_of(run));
    if (!goes)
        column =
            grid_cut(g, in, 0, column + 2, in.columns - column - 3, role, false, text_str(&story));
    if (gain)
        draw_gain(run, g, in, column);
    else if (goes)
        grid_right(g, rect_behind(in, column + 2), 0, in.columns - column - 3, GRID_DIM,
                   text_str(&story));
    text_free(&story);
}

/* The rows that it takes. */
static int draw_head(struct runview *v, const struct feed_run *run, struct grid *g, struct rect in)
{
    struct text gain = {0}, facts = {0};
    int rows = 1;

    if (went_wrong(run))
        return draw_trouble(v, run, g, in);
    draw_standing(v, run, g, in);
    if (in.rows >= 24) {
        add_facts(&facts, run);
        add_gain(&gain, run, in.columns < 100 ? GAIN_ROW : GAIN_WHOLE);
        if (gain.n) {
            grid_cut(g, in, rows++, 1, in.columns - 2, GRID_TEXT, false, text_str(&gain));
            if (in.rows < 30)
                text_clear(&facts);
        }
        if (facts.n)
            grid_cut(g, in, rows++, 1, in.columns - 2, GRID_DIM, false, text_str(&facts));
    }
    text_free(&gain);
    text_free(&facts);
    return rows;
}

/* ---- plots ---- */

static void draw_plot(struct grid *g, struct rect in, struct runview_panel *p, const char *title,
                      const char *right, const char *empty)
{
    char *words = mem_text(title), *comma;
    struct rect inside;

    /* What has no room beside the other goes: first the small word, then what the footer said. */
    if (text_width(words) + text_width(right) + 9 > in.columns && !strncmp(right, "over ", 5))
        right += 5;
    while (text_width(words) + text_width(right) + 9 > in.columns && (comma = strrchr(words, ',')))
        *comma = 0;
    inside = grid_frame(g, in, words, false);
    free(words);
    p->in = inside;
    if (right[0])
        grid_frame_right(g, in, GRID_DIM, right);
    if (p->plot.count && inside.rows >= PLOT_LEAST_ROWS && inside.columns >= PLOT_LEAST_COLUMNS)
        grid_plot(g, inside, &p->plot);
    else if (!p->plot.count)
        grid_words(g, rect_before(rect_behind(rect_below(inside, inside.rows / 2 - 1), 2), 2), 0,
                   GRID_DIM, empty);
}

#define WHOLE_TITLE 50 /* columns: from here on a title has room for whole words */

static void draw_plots(struct runview *v, const struct feed_run *run, struct grid *g,
                       struct rect in)
{
    struct rect left = rect_left(in, in.columns / 2), right = rect_behind(in, in.columns / 2);
    char words[64] = "", title[64], first[96];

    runview_make(v, run);
    if (run->spec.log_every > 1)
        snprintf(first, sizeof first, "The first point comes with step %lld or the epoch's end.",
                 (long long)run->spec.log_every);
    else
        snprintf(first, sizeof first, "The first point comes with the first steps.");
    if (run->reading)
        snprintf(words, sizeof words, "reading");
    else if (v->smooth > 1)
        snprintf(words, sizeof words,
                 left.columns < WHOLE_TITLE ? "smooth %lld rows" : "smoothed over %lld rows",
                 (long long)v->smooth);
    snprintf(title, sizeof title, "loss%s%s", v->log_y ? ", log" : "", v->zoom ? ", zoomed" : "");
    draw_plot(g, left, &v->loss, title, words,
              run->steps.n           ? "None of its values is finite."
              : runview_at_work(run) ? first
                                     : "No values.");
    snprintf(title, sizeof title, "%s accuracy%s%s%s",
             v->acc.plot.count && run->epochs.n ? "test" : "training", share_unit(),
             v->log_y ? ", log" : "", v->zoom ? ", zoomed" : "");
    words[0] = 0;
    if (v->axis != FEED_EPOCH)
        snprintf(words, sizeof words, "over %s", runview_axes[v->axis]);
    draw_plot(g, right, &v->acc, title, words, runview_at_work(run) ? first : "No values.");
}

/* ---- progress ---- */

static void add_spent(const struct feed_run *run, struct text *out)
{
    char span[CLOCK_UTC_ROOM];

    if (run->train_seconds > 0) {
        clock_span(span, run->train_seconds);
        text_addf(out, "%s of training", span);
    }
}

/* "epoch 8/10 ▇▇▇░░ 78 %  12,340 img/s", its words as wide as they will be, so that bars stand still.
 * What is behind has no unit, or goes, where it would be cut. */
static void draw_bar(struct grid *g, struct rect in, const char *label, double share, int role,
                     const char *behind, const char *unit)
{
    int column = grid_text(g, in, 0, 1, GRID_TEXT, label) + 1, end, room;
    struct text tail = {0};

    if (isfinite(share))
        text_addf(&tail, " %3d %%", (int)(100 * fmin(share, 1) + 1e-9));
    room = in.columns - (column - 1) - text_width(text_str(&tail)) - 2;
    if (behind[0] && text_width(behind) + text_width(unit) <= room)
        text_addf(&tail, "  %s%s", behind, unit);
    else if (behind[0] && *unit && text_width(behind) + 2 <= room)
        text_addf(&tail, "  %s/s", behind);
    end = in.columns - text_width(text_str(&tail)) - 1;
    if (end - column >= 3)
        grid_bar(g, in, 0, column, end - column, share, role);
    else
        end = column - 1;
    grid_text(g, in, 0, end, GRID_TEXT, text_str(&tail));
    text_free(&tail);
}

static void draw_bars(struct runview *v, const struct feed_run *run, struct grid *g, struct rect in)
{
    bool full = lacks_room(v, run);
    int role = full || run->state == WIRE_PAUSED ? GRID_WARN
               : went_wrong(run)                 ? GRID_BAD
                                                 : GRID_BAR;
    int half = in.columns / 2;
    int64_t epochs = run->facts.epochs > 0 ? run->facts.epochs : run->spec.epochs;
    char label[64], speed[64] = "", number[TEXT_NUMBER_ROOM];
    struct text left = {0};

    if (run->images_per_second > 0 && !full)
        snprintf(speed, sizeof speed, "%s",
                 text_count(number, (uint64_t)(run->images_per_second + 0.5)));
    if (epochs > 0)
        snprintf(label, sizeof label, "epoch %lld/%lld", (long long)run->epoch, (long long)epochs);
    else
        snprintf(label, sizeof label, "epoch");
    draw_bar(g, rect_left(in, half), label, run->epoch_share, role, speed, " img/s");
    if (!runview_at_work(run))
        add_spent(run, &left);
    else if (!full)
        time_left_add(&left, run->left_seconds);
    draw_bar(g, rect_behind(in, half), "run", run->state == WIRE_DONE ? 1 : run->run_share, role,
             text_str(&left), ""); /* what ended early is whole too */
    text_free(&left);
}

/* ---- log ---- */

/* "10:00:00 checkpoint at step 180": in a few rows other lines tell more. */
static bool is_routine(const char *line)
{
    const char *words = strchr(line, ' ');

    return words && (!strncmp(words, " checkpoint at ", 15) || !strncmp(words, " best.safet", 11));
}

static void draw_log(const struct feed_run *run, struct grid *g, struct rect in)
{
    struct rect inside = in;
    const char *seen[FEED_LOG_LINES];
    int rows, n = 0;

    if (in.rows >= 5)
        inside = grid_frame(g, in, "log", false);
    rows = inside.rows < FEED_LOG_LINES ? inside.rows : FEED_LOG_LINES;
    for (size_t i = run->logs; i-- > 0 && n < rows;)
        if (rows > FEW_ROWS || !is_routine(run->log[i]))
            seen[n++] = run->log[i];
    for (int row = 0; row < n; row++)
        grid_cut(g, inside, row, 1, inside.columns - 2, GRID_DIM, false, seen[n - 1 - row]);
}

static void draw_none(struct runview *v, struct grid *g, struct rect in)
{
    struct rect inside = rect_behind(grid_frame(g, in, "run", false), 2);
    bool looking = v->app->library && !library_ready(v->app->library);
    struct text words = {0}, trouble = {0};
    char name[128];

    if (v->app->feed && feed_sweep_starts(v->app->feed, name, sizeof name)) {
        text_addf(&words, "The sweep %s%s%s", TEXT_CLEAN(name), *name ? " " : "",
                  status_add_trouble(v->app->feed, &trouble)
                      ? "waits: its first cell cannot begin yet."
                      : "is starting: its first cell is being prepared.");
        text_free(&trouble);
        grid_words(g, inside, inside.rows / 3, GRID_TEXT, text_str(&words));
        text_free(&words);
        return;
    }
    grid_words(g, inside, inside.rows / 3, looking ? GRID_DIM : GRID_TEXT,
               looking ? "Looking for runs."
                       : "Nothing runs, and nothing has run here yet.\n\n1 opens Setup, where r "
                         "starts what stands in the form.\n3 opens Results, where Enter on a run "
                         "shows it here.");
}

void runview_draw(void *screen, struct grid *g, struct rect in)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);
    int units, log, plots;

    v->drawn_id = run ? run->id : 0;
    if (!run) {
        draw_none(v, g, in);
        return;
    }
    v->drawn = run->changed;
    v->drawn_ends = feed_stops_later(v->app->feed, run);
    in = rect_below(in, draw_head(v, run, g, in));
    units = runview_units_rows(run);
    log = in.rows >= 34 ? 6 : in.rows >= 26 ? 5 : in.rows >= 18 ? 2 : 1;
    /* The plots have the larger half, whatever comes below. */
    plots = in.rows * 11 / 20;
    if (plots < PLOT_LEAST_ROWS + 2)
        plots = PLOT_LEAST_ROWS + 2;
    if (units > in.rows - plots - 1 - log)
        units = in.rows - plots - 1 - log;
    if (units < 3)
        units = 0;
    plots = in.rows - 1 - units - log;
    draw_plots(v, run, g, rect_top(in, plots));
    in = rect_below(in, plots);
    draw_bars(v, run, g, rect_top(in, 1));
    in = rect_below(in, 1);
    runview_draw_units(v, run, g, rect_top(in, units));
    draw_log(run, g, rect_below(in, units));
}
