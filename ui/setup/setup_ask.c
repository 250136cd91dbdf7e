/* What the form means: the cells are surveyed, a few at once and the rest by the thread of tasks, and
 * the planner is asked about each kind of them, the first one before all others. */
#include "ui/setup/setup_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/sweep/sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE_NS   4000000u    /* of a keystroke, for looking at cells */
#define A_WHILE_NS   30000000u   /* of the tasks' thread, before others have their turn */
#define MOST_SORTED  10000       /* cells, of a keystroke: by the order in which they run */
#define ON_THEIR_WAY 16          /* questions, sent many at a time: each waking of a thread costs */
#define IN_PLANNER   24          /* with those of forms that are no more */
#define SUMMED       8           /* of so many answers that come one behind the other, one is */
#define MOST_COUNTED 20000       /* cells: of larger sweeps nobody asks which have a result */
#define COUNT_NS     1000000000u /* between two such questions, where cells end meanwhile */
#define LOST_NS      10000000000u /* an answer that did not come until then is asked for again */
#define FIRST_NUMBER 0x40000000u  /* of questions: the runs' are below */
#define SERIALS      0x100000u

struct setup_survey {
    struct setup *setup; /* NULL: nobody waits for it any more */
    struct survey *survey;
    atomic_bool stop;
    bool working, complete;
};

static void work(void *arg)
{
    struct setup_survey *v = arg;

    v->complete = survey_look(v->survey, A_WHILE_NS, &v->stop);
}

static void free_survey(struct setup_survey *v)
{
    survey_free(v->survey);
    free(v);
}

static bool send(struct setup *s, size_t kind)
{
    struct wire_command ask = {.kind = WIRE_ASK};

    ask.run = FIRST_NUMBER + s->serial % SERIALS * SURVEY_KINDS + (uint32_t)kind;
    ask.look = s->serial;
    ask.by = s->account.jobs;
    ask.cell = (uint32_t)s->account.cells;
    return wire_send_with(s->app->config.wire, ask, s->account.kind[kind].spec,
                          sizeof *s->account.kind[kind].spec);
}

static void done(void *arg, bool dropped)
{
    struct setup_survey *v = arg;
    struct setup *s = v->setup;

    v->working = false;
    if (!s || dropped) {
        if (s && s->survey == v)
            s->survey = NULL;
        if (s) { /* the account's kinds are the survey's */
            account_free(&s->account);
            account_sum(&s->account, &s->sum);
        }
        free_survey(v);
        return;
    }
    account_update(&s->account, v->survey);
    setup_ask_on(s);
    account_sum(&s->account, &s->sum);
    s->app->dirty = true;
    if (!v->complete) {
        v->working = true;
        tasks_add(s->app->tasks, work, done, v);
    }
}

/* Answers are dropped where the wire is full. */
static void ask_lost_again(struct setup *s)
{
    if (s->count_waits && app_ns(s->app) - s->count_asked_ns >= LOST_NS)
        s->count_due = true;
    if (!s->in_planner || app_ns(s->app) - s->sent_ns < LOST_NS)
        return;
    s->in_planner = s->on_their_way = 0;
    for (size_t i = 0; i < s->account.kinds; i++)
        s->account.kind[i].asked = s->account.kind[i].answered;
}

static bool ask_count(struct setup *s)
{
    struct wire_command ask = {.kind = WIRE_COUNT, .run = s->serial};
    struct wire_sweep *message;
    bool sent;
    size_t n;

    if (!s->count_due || !s->survey || app_ns(s->app) < s->counted_ns)
        return false;
    message = setup_message(s, false, &n);
    sent = wire_send_with(s->app->config.wire, ask, message, n);
    free(message);
    if (!sent)
        return false;
    s->count_due = false;
    s->count_waits = true;
    s->count_asked_ns = app_ns(s->app);
    s->counted_ns = s->count_asked_ns + COUNT_NS;
    return true;
}

static bool can_count(const struct setup *s)
{
    return spec_sweep_varies(&s->form.sweep) && spec_sweep_cells(&s->form.sweep) <= MOST_COUNTED;
}

void setup_results_change(struct setup *s)
{
    s->count_due = can_count(s);
    if (!s->learn_ns)
        s->learn_ns = app_ns(s->app) + COUNT_NS;
}

bool setup_ask_on(struct setup *s)
{
    bool sent = false;
    int kind;

    if (!s->app->config.wire)
        return false;
    ask_lost_again(s);
    if (s->learn_ns && app_ns(s->app) >= s->learn_ns) {
        s->learn_ns = 0;
        account_ask_again(&s->account);
    }
    if (s->on_their_way > ON_THEIR_WAY / 2)
        return ask_count(s);
    while (s->on_their_way < ON_THEIR_WAY && s->in_planner < IN_PLANNER &&
           (kind = account_next(&s->account)) >= 0 && send(s, (size_t)kind)) {
        s->account.kind[kind].asked = true;
        s->on_their_way++;
        s->in_planner++;
        s->sent_ns = app_ns(s->app);
        sent = true;
    }
    return ask_count(s) || sent;
}

void setup_ask_end(struct setup *s)
{
    struct setup_survey *v = s->survey;

    account_free(&s->account);
    s->survey = NULL;
    if (!v)
        return;
    atomic_store(&v->stop, true);
    v->setup = NULL;
    if (!v->working) /* else its task's end frees it */
        free_survey(v);
}

void setup_ask(struct setup *s)
{
    struct setup_survey *v;
    struct spec_sweep sweep;
    bool later = s->sweep.max_cells && spec_sweep_cells(&s->form.sweep) > MOST_SORTED;

    setup_ask_end(s);
    s->serial++;
    s->on_their_way = 0;
    s->asked_ns = app_ns(s->app);
    s->answer_ns = 0;
    s->turn = s->form.turn;
    s->app->dirty = true;
    if (!s->form.good) {
        account_sum(&s->account, &s->sum);
        return;
    }
    spec_sweep_copy(&sweep, &s->form.sweep);
    v = mem_new(1, sizeof *v);
    v->setup = s;
    v->survey = survey_new(&sweep);
    survey_cut(v->survey, s->sweep.max_cells, s->sweep.grid);
    s->count_due = can_count(s);
    s->count_waits = false;
    s->counted_ns = 0;
    atomic_init(&v->stop, false);
    s->survey = v;
    s->account.jobs = spec_sweep_jobs(&s->form.sweep, s->sweep.jobs);
    v->complete = !later && survey_look(v->survey, AT_ONCE_NS, NULL);
    account_update(&s->account, v->survey);
    setup_ask_on(s);
    account_sum(&s->account, &s->sum);
    if (!v->complete) {
        v->working = true;
        tasks_add(s->app->tasks, work, done, v);
    }
}

bool setup_answer(struct setup *s, uint32_t question, const struct wire_plan *plan)
{
    uint32_t from = FIRST_NUMBER + s->serial % SERIALS * SURVEY_KINDS;

    s->in_planner -= s->in_planner > 0;
    if (question < from || question - from >= s->account.kinds) {
        (void)setup_ask_on(s);
        return false; /* of a form that is no more */
    }
    if (!s->answer_ns)
        s->answer_ns = app_ns(s->app) - s->asked_ns + 1;
    s->on_their_way -= s->on_their_way > 0;
    account_answer(&s->account, question - from, plan);
    setup_ask_on(s);
    if ((question - from) % SUMMED == 0 || !s->on_their_way) /* it costs as much as a question */
        account_sum(&s->account, &s->sum);
    return true;
}

bool setup_counted(struct setup *s, const struct wire_counted *counted, size_t bytes)
{
    if (counted->question != s->serial || !s->survey ||
        bytes != sizeof *counted + counted->cells * sizeof *counted->cell)
        return false;
    s->count_waits = false;
    account_had(&s->account, counted->cell, counted->cells);
    account_sum(&s->account, &s->sum);
    return true;
}

/* ---- in words ---- */

const char *setup_problem(const struct setup *s)
{
    if (!s->form.good)
        return s->form.problem.text;
    return s->sum.problem;
}

bool setup_missing(const struct setup *s, char name[64])
{
    for (size_t i = 0; i < s->account.reasons; i++) {
        const char *at = strstr(s->account.reason[i].text, "chorus data fetch ");

        if (at && sscanf(at, "chorus data fetch %63[a-z0-9-]", name) == 1)
            return true;
    }
    return false;
}

static void add_count(char out[64], double x)
{
    char number[TEXT_NUMBER_ROOM];

    if (x < 1e10)
        snprintf(out, 64, "%s", text_count(number, (uint64_t)(x + 0.5)));
    else
        snprintf(out, 64, "%.3g", x);
}

static struct setup_fact *add(struct setup_fact *facts, size_t *n, const char *label)
{
    facts[*n] = (struct setup_fact){.label = label, .role = GRID_TEXT};
    return &facts[(*n)++];
}

static void add_range(struct setup_fact *f, struct survey_range r, const char *behind)
{
    char lo[64], hi[64];

    if (isnan(r.lo))
        return;
    add_count(lo, r.lo);
    add_count(hi, r.hi);
    if (r.lo == r.hi)
        snprintf(f->value, sizeof f->value, "%.30s%.20s", lo, behind);
    else
        snprintf(f->value, sizeof f->value, "%.20s–%.20s%.16s", lo, hi, behind);
}

static void add_rate(const struct setup *s, struct setup_fact *f)
{
    char lo[TEXT_NUMBER_ROOM], hi[TEXT_NUMBER_ROOM];
    const struct spec *b = &s->form.sweep.base;
    const char *schedule = b->schedule == SPEC_COSINE ? ", cosine"
                           : b->schedule == SPEC_STEP ? ", in steps"
                                                      : "";

    if (isnan(s->sum.lr.lo))
        return;
    snprintf(lo, sizeof lo, "%.4g", s->sum.lr.lo);
    snprintf(hi, sizeof hi, "%.4g", s->sum.lr.hi);
    if (s->sum.lr.lo != s->sum.lr.hi)
        snprintf(f->value, sizeof f->value, "%.12s–%.12s%s", lo, hi, schedule);
    else if (b->lr_rule != SPEC_LR_NONE)
        snprintf(f->value, sizeof f->value, "%.12s by %s%s", lo,
                 b->lr_rule == SPEC_LR_LINEAR ? "linear" : "sqrt", schedule);
    else
        snprintf(f->value, sizeof f->value, "%.12s%s", lo, schedule);
}

static void add_bytes(struct setup_fact *f, struct survey_range r)
{
    char lo[TEXT_NUMBER_ROOM], hi[TEXT_NUMBER_ROOM];

    if (isnan(r.lo))
        return;
    text_bytes(lo, (uint64_t)r.lo);
    text_bytes(hi, (uint64_t)r.hi);
    if (!strcmp(lo, hi))
        snprintf(f->value, sizeof f->value, "%s", lo);
    else
        snprintf(f->value, sizeof f->value, "%.20s–%.20s", lo, hi);
}

/* Behind what is wanted, where a GPU has less than that: others may use it. */
static void add_unused(struct setup_fact *f, struct survey_range r)
{
    char room[TEXT_NUMBER_ROOM];
    size_t n = strlen(f->value);

    if (isnan(r.lo))
        return;
    snprintf(f->value + n, sizeof f->value - n, ", %.16s free", text_bytes(room, (uint64_t)r.lo));
    f->role = GRID_WARN;
}

static void add_time(const struct setup *s, struct setup_fact *f)
{
    const struct account_sum *sum = &s->sum;
    const char *about = sum->guessed ? "~" : "";
    char span[CLOCK_UTC_ROOM];

    if (!sum->plan)
        return;
    if (!sum->runs) {
        snprintf(f->value, sizeof f->value, "%s", sum->complete ? "none" : "");
        return;
    }
    if (!isfinite(sum->seconds)) {
        snprintf(f->value, sizeof f->value, "%s", sum->complete ? "unknown" : "");
        f->role = GRID_DIM;
        return;
    }
    clock_span(span, sum->seconds);
    if (sum->unknown)
        snprintf(f->value, sizeof f->value, "%s%.20s for %s of %s", about, span,
                 TEXT_COUNT(sum->runs - sum->unknown), TEXT_COUNT(sum->runs));
    else
        snprintf(f->value, sizeof f->value, "%s%.20s", about, span);
}

/* Those that will begin, as far as is known. */
static size_t count_begin(const struct setup *s)
{
    const struct account_sum *sum = &s->sum;
    size_t possible = s->account.cells - sum->left_out - sum->skipped, most = s->account.most;

    if (sum->had || sum->cut)
        return sum->runs + sum->too_large;
    return most && most < possible ? most : possible;
}

static void add_cells(const struct setup *s, struct setup_fact *f)
{
    const struct account_sum *sum = &s->sum;
    char number[3][64];

    if (!spec_sweep_varies(&s->form.sweep)) {
        snprintf(f->value, sizeof f->value, "one run");
        return;
    }
    add_count(number[0], (double)s->account.cells);
    add_count(number[1], (double)count_begin(s));
    add_count(number[2], (double)sum->had);
    if (sum->left_out || sum->skipped)
        f->role = GRID_WARN;
    if (sum->had)
        f->label = "cells to run";
    if (sum->had && sum->had == s->account.cells)
        snprintf(f->value, sizeof f->value, "none, all %.20s have results", number[0]);
    else if (sum->had)
        snprintf(f->value, sizeof f->value, "%.12s of %.12s, %.12s %s", number[1], number[0],
                 number[2], sum->had == 1 ? "has a result" : "have results");
    else if (sum->left_out || sum->skipped || sum->cut)
        snprintf(f->value, sizeof f->value, "%.20s of %.20s%s", number[1], number[0],
                 sum->cut ? ", --max-cells" : "");
    else
        snprintf(f->value, sizeof f->value, "%.20s", number[0]);
}

size_t setup_facts(const struct setup *s, struct setup_fact *facts)
{
    const struct account_sum *sum = &s->sum;
    const struct wire_plan *p = sum->plan;
    size_t n = 0;
    struct setup_fact *f;

    f = add(facts, &n, "batch a device");
    add_range(f, sum->per_device, "");
    if (p && sum->per_device.lo == sum->per_device.hi && p->devices > 1 &&
        p->batch != p->batch_per_device)
        snprintf(f->value, sizeof f->value, "%lld of %lld", (long long)p->batch_per_device,
                 (long long)p->batch);
    add_range(add(facts, &n, "steps an epoch"), sum->steps, "");
    add_range(add(facts, &n, "images dropped"), sum->dropped, "");
    add_rate(s, add(facts, &n, "learning rate"));
    add_range(add(facts, &n, "parameters"), sum->parameters, "");
    f = add(facts, &n, "memory a device");
    add_bytes(f, sum->bytes);
    add_unused(f, sum->unused);
    add_cells(s, add(facts, &n, "cells"));
    f = add(facts, &n, "model-images");
    if (p)
        add_count(f->value, sum->model_images);
    f = add(facts, &n, "training FLOP");
    if (p)
        snprintf(f->value, sizeof f->value, "%.3g", sum->flops);
    add_time(s, add(facts, &n, "expected time"));
    if (!isnan(sum->as_one.lo))
        add_range(add(facts, &n, "costs as much as"), sum->as_one, " epochs alone");
    if (p) {
        struct setup_fact count;
        bool all = sum->devices.lo > p->real_devices; /* else a cell has none that is virtual */

        add_range(&count, sum->devices, all ? " virtual" : "");
        f = add(facts, &n, "devices");
        snprintf(f->value, sizeof f->value, "%.40s, %.15s", count.value, p->backend);
        f = add(facts, &n, "threads");
        add_range(f, sum->threads, "");
        f->role = s->sum.crowding ? GRID_WARN : f->role;
        add_range(add(facts, &n, "images"), sum->images, "");
        add_range(add(facts, &n, "test images"), sum->test_images, "");
        f = add(facts, &n, "each of them");
        snprintf(f->value, sizeof f->value, "%dx%dx%d", p->h, p->w, p->c);
        f = add(facts, &n, "classes");
        snprintf(f->value, sizeof f->value, "%d", p->classes);
    }
    return n;
}

void setup_add_remark(const struct setup *s, struct text *out)
{
    for (const char *line = s->form.remark; *line;) {
        size_t n = strcspn(line, "\n"), mark = strspn(line, "# ");

        mark = mark < n ? mark : n;
        text_add_n(out, line + mark, n - mark);
        /* a sentence over two lines is one again: other widths break it elsewhere */
        text_add(out, n > mark && !strchr(".:!?", line[n - 1]) && line[n] ? " " : "\n");
        line += n + (line[n] == '\n');
    }
}

/* In the words of a dry run. */
const char *setup_fate(const struct setup *s, enum survey_fate fate, char head[64])
{
    if (fate == SURVEY_OUT)
        snprintf(head, 64, "left out of %s cells", TEXT_COUNT(s->account.cells));
    else
        snprintf(head, 64, "%s",
                 fate == SURVEY_SKIPPED ? "skipped" : "out of memory, which is their result");
    return head;
}

size_t setup_reasons(const struct setup *s, struct survey_reason reason[SETUP_REASONS])
{
    size_t n = 0;

    for (int fate = SURVEY_OUT; fate <= SURVEY_TOO_LARGE; fate++) {
        for (size_t i = 0; i < s->account.reasons; i++)
            if ((int)s->account.reason[i].fate == fate)
                reason[n++] = s->account.reason[i];
        if (fate == SURVEY_SKIPPED && s->sum.dropped_before)
            reason[n++] = (struct survey_reason){.fate = SURVEY_SKIPPED,
                                                 .text = RECORD_DROPPED_BEFORE,
                                                 .cells = s->sum.dropped_before};
    }
    return n;
}

void setup_mean_page(const struct setup *s, struct text *out)
{
    struct setup_fact facts[SETUP_FACTS];
    struct survey_reason reason[SETUP_REASONS];
    char head[64];
    size_t n = setup_facts(s, facts), reasons = setup_reasons(s, reason);
    const char *problem = setup_problem(s);

    if (problem) {
        text_add_clean(out, problem);
        text_add(out, "\n\n");
    }
    for (size_t i = 0; i < n; i++)
        text_addf(out, "%-18s %s\n", facts[i].label, facts[i].value);
    if (s->sum.crowding)
        text_addf(out, "\n%s\n", s->sum.crowding);
    if (s->sum.plan && s->sum.complete && !isfinite(s->sum.seconds))
        text_add(out,
                 "\nNo run with this backend that was long enough to tell has ended here yet: the "
                 "next one can tell how long such a run takes.\n");
    if (!isnan(s->sum.as_one.lo))
        text_add(out, "\nA single model trained for so many epochs sees as many images as all "
                      "members together.\n");
    for (size_t i = 0; i < reasons; i++) {
        if (!i || reason[i].fate != reason[i - 1].fate)
            text_addf(out, "\n%s:\n", setup_fate(s, reason[i].fate, head));
        text_addf(out, "%6zu  ", reason[i].cells);
        text_add_clean(out, reason[i].text);
        text_add(out, "\n");
    }
    if (*s->form.notes) {
        text_add(out, "\nwhat could not be taken from the file:\n");
        text_add(out, s->form.notes);
    }
    if (*s->form.remark) {
        text_add(out, "\n");
        setup_add_remark(s, out);
    }
}
