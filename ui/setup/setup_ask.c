/* What the form means: the planner is asked at each change, and once more where results have changed. */
#include "ui/setup/setup_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/sweep/sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_NS     1000000000u  /* between two questions, where cells end meanwhile */
#define LOST_NS      10000000000u /* an answer that did not come until then is asked for again */
#define FIRST_NUMBER 0x40000000u  /* of questions: the runs' are below */

static uint32_t question_of(const struct setup *s)
{
    return FIRST_NUMBER + s->serial % FIRST_NUMBER;
}

static bool send(struct setup *s)
{
    struct wire_command ask = {.kind = WIRE_ASK, .run = question_of(s)};
    struct wire_sweep *message;
    size_t n;

    message = setup_message(s, false, &n);
    s->ask_due = !wire_send_with(s->app->config.wire, ask, message, n);
    free(message);
    if (s->ask_due)
        return false;
    s->answer_due = true;
    s->sent_ns = app_ns(s->app);
    return true;
}

void setup_results_change(struct setup *s)
{
    if (s->ask_due)
        return;
    s->ask_due = s->form.good;
    s->ask_ns = app_ns(s->app) + AGAIN_NS;
}

bool setup_ask_on(struct setup *s)
{
    uint64_t now = app_ns(s->app);

    if (!s->app->config.wire || !s->form.good)
        return false;
    if (s->answer_due && now - s->sent_ns >= LOST_NS) /* it is dropped where the wire is full */
        return send(s);
    return s->ask_due && now >= s->ask_ns && send(s);
}

void setup_ask(struct setup *s)
{
    const struct wire_range none = {NAN, NAN};

    s->serial++;
    s->asked_ns = s->ask_ns = app_ns(s->app);
    s->answer_ns = 0;
    s->answer_due = false;
    s->turn = s->form.turn;
    s->app->dirty = true;
    s->sum = (struct wire_forecast){.lr = none, .as_one = none, .seconds = NAN};
    s->sum.per_device = s->sum.steps = s->sum.dropped = s->sum.parameters = s->sum.bytes =
        s->sum.unused = none;
    s->ask_due = s->form.good;
    if (!s->form.good)
        return;
    s->sum.cells = spec_sweep_varies(&s->form.sweep) ? spec_sweep_cells(&s->form.sweep) : 1;
    (void)setup_ask_on(s);
}

bool setup_answer(struct setup *s, const struct wire_forecast *answer)
{
    if (answer->question != question_of(s))
        return false; /* of a form that is no more */
    if (!s->answer_ns)
        s->answer_ns = app_ns(s->app) - s->asked_ns + 1;
    s->answer_due = s->answer_due && !answer->final;
    if (s->sum.final && !answer->final)
        return false; /* it is asked once more: until all is known, what was known stays */
    s->sum = *answer;
    return true;
}

/* ---- in words ---- */

const char *setup_problem(const struct setup *s)
{
    if (!s->form.good)
        return s->form.problem.text;
    return s->sum.problem[0] ? s->sum.problem : NULL;
}

bool setup_missing(const struct setup *s, char name[64])
{
    for (size_t i = 0; i < s->sum.reasons; i++) {
        const char *at = strstr(s->sum.reason[i].text, "chorus data fetch ");

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

static void add_range(struct setup_fact *f, struct wire_range r, const char *behind)
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

static void add_bytes(struct setup_fact *f, struct wire_range r)
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
static void add_unused(struct setup_fact *f, struct wire_range r)
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
    const struct wire_forecast *sum = &s->sum;
    const char *about = sum->guessed_from ? "~" : "";
    char span[CLOCK_UTC_ROOM];

    if (!sum->planned)
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
static uint64_t count_begin(const struct setup *s)
{
    const struct wire_forecast *sum = &s->sum;
    uint64_t possible = sum->cells - sum->left_out - sum->skipped;
    uint64_t most = (uint64_t)s->sweep.max_cells;

    if (sum->with_result || sum->cut)
        return sum->runs + sum->too_large;
    return most && most < possible ? most : possible;
}

static void add_cells(const struct setup *s, struct setup_fact *f)
{
    const struct wire_forecast *sum = &s->sum;
    char number[3][64];

    if (!spec_sweep_varies(&s->form.sweep)) {
        snprintf(f->value, sizeof f->value, "one run");
        return;
    }
    add_count(number[0], (double)sum->cells);
    add_count(number[1], (double)count_begin(s));
    add_count(number[2], (double)sum->with_result);
    if (sum->left_out || sum->skipped)
        f->role = GRID_WARN;
    if (sum->with_result)
        f->label = "cells to run";
    if (sum->with_result && sum->with_result == sum->cells)
        snprintf(f->value, sizeof f->value, "none, all %.20s have results", number[0]);
    else if (sum->with_result)
        snprintf(f->value, sizeof f->value, "%.12s of %.12s, %.12s %s", number[1], number[0],
                 number[2], sum->with_result == 1 ? "has a result" : "have results");
    else if (sum->left_out || sum->skipped || sum->cut)
        snprintf(f->value, sizeof f->value, "%.20s of %.20s%s", number[1], number[0],
                 sum->cut ? ", --max-cells" : "");
    else
        snprintf(f->value, sizeof f->value, "%.20s", number[0]);
}

size_t setup_facts(const struct setup *s, struct setup_fact *facts)
{
    const struct wire_forecast *sum = &s->sum;
    const struct wire_plan *p = sum->planned ? &sum->plan : NULL;
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
        f->role = sum->crowding[0] ? GRID_WARN : f->role;
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
const char *setup_fate(const struct setup *s, enum wire_fate fate, char head[64])
{
    if (fate == WIRE_LEFT_OUT)
        snprintf(head, 64, "left out of %s cells", TEXT_COUNT(s->sum.cells));
    else
        snprintf(head, 64, "%s",
                 fate == WIRE_NO_START ? "skipped" : "out of memory, which is their result");
    return head;
}

size_t setup_reasons(const struct setup *s, struct setup_reason reason[SETUP_REASONS])
{
    size_t n = 0;

    for (enum wire_fate fate = WIRE_LEFT_OUT; fate <= WIRE_TOO_LARGE; fate++) {
        for (size_t i = 0; i < s->sum.reasons; i++)
            if (s->sum.reason[i].fate == fate)
                reason[n++] =
                    (struct setup_reason){fate, s->sum.reason[i].cells, s->sum.reason[i].text};
        if (fate == WIRE_NO_START && s->sum.dropped_before)
            reason[n++] =
                (struct setup_reason){WIRE_NO_START, s->sum.dropped_before, RECORD_DROPPED_BEFORE};
    }
    return n;
}

void setup_mean_page(const struct setup *s, struct text *out)
{
    struct setup_fact facts[SETUP_FACTS];
    struct setup_reason reason[SETUP_REASONS];
    char head[64];
    size_t n = setup_facts(s, facts), reasons = setup_reasons(s, reason);
    const char *problem = setup_problem(s);

    if (problem) {
        text_add_clean(out, problem);
        text_add(out, "\n\n");
    }
    for (size_t i = 0; i < n; i++)
        text_addf(out, "%-18s %s\n", facts[i].label, facts[i].value);
    if (s->sum.crowding[0])
        text_addf(out, "\n%s\n", s->sum.crowding);
    if (s->sum.planned && s->sum.complete && !isfinite(s->sum.seconds))
        text_add(out,
                 "\nNo run with this backend that was long enough to tell has ended here yet: the "
                 "next one can tell how long such a run takes.\n");
    if (!isnan(s->sum.as_one.lo))
        text_add(out, "\nA single model trained for so many epochs sees as many images as all "
                      "members together.\n");
    for (size_t i = 0; i < reasons; i++) {
        if (!i || reason[i].fate != reason[i - 1].fate)
            text_addf(out, "\n%s:\n", setup_fate(s, reason[i].fate, head));
        text_addf(out, "%6zu  ", (size_t)reason[i].cells);
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
