/* From the form to a run: at once, behind what runs, or beside what another program does. */
#include "ui/app/claim.h"
#include "ui/setup/setup_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "ui/app/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct form *setup_what(const struct setup *s)
{
    return s->runs_again ? &s->again : &s->form;
}

static const char *sweep_name(const struct setup *s, bool again, char name[SPEC_NAME])
{
    if (!again && s->sweep_name && *s->sweep_name)
        return s->sweep_name;
    form_sweep_name(again ? &s->again : &s->form, name);
    return name;
}

const char *setup_sweep_name(const struct setup *s, char name[SPEC_NAME])
{
    return spec_sweep_varies(&s->form.sweep) ? sweep_name(s, false, name) : NULL;
}

/* ---- starting ---- */

static uint32_t start_run(struct setup *s, struct err *e)
{
    struct wire_start *start = mem_new(1, sizeof *start);
    uint32_t number;

    start->spec = setup_what(s)->sweep.base;
    number = feed_start_run(s->app->feed, start, e);
    free(start);
    return number;
}

struct wire_sweep *setup_message(const struct setup *s, bool again, size_t *bytes)
{
    char name[SPEC_NAME];
    struct wire_sweep *start =
        wire_sweep_new(again ? &s->again.sweep : &s->form.sweep, sweep_name(s, again, name), bytes);

    if (!again) {
        start->grid = s->sweep.grid;
        start->failed = s->sweep.failed;
        start->jobs = (int32_t)s->sweep.jobs;
        start->max_cells = s->sweep.max_cells;
    }
    return start;
}

static uint32_t start_sweep(struct setup *s, struct err *e)
{
    size_t n;
    struct wire_sweep *start = setup_message(s, s->runs_again, &n);
    uint32_t number = feed_start_sweep(s->app->feed, start, n, e);

    free(start);
    return number;
}

void setup_is_kept(struct setup *s)
{
    struct text now = {0};

    if (s->runs_again)
        return;
    form_write(&s->form, &now);
    free(s->ran);
    s->ran = now.s;
}

bool setup_is_unsaved(const struct setup *s)
{
    return form_dirty(&s->form) || s->form.file_is == FORM_GONE ||
           (s->nowhere && s->form.from == FORM_QUEUE);
}

void setup_add_unsaved(const struct setup *s, struct text *words)
{
    bool changed = form_dirty(&s->form), queued = s->form.from == FORM_QUEUE;
    struct text name = {0};

    text_add_clean(&name, s->form.source);
    text_add(words, changed  ? "The form has changes"
                    : queued ? "The form has what was"
                             : "The form has what was in");
    if (name.n)
        text_addf(words, "%s%.100s", changed ? " to " : " ", text_str(&name));
    text_add(words, changed  ? " that are not saved."
                    : queued ? " in the queue, which is not saved."
                             : ", which is gone.");
    text_free(&name);
}

bool screen_setup_unsaved(struct setup *s, struct text *words)
{
    struct text now = {0};
    bool kept;

    if (!setup_is_unsaved(s))
        return false;
    form_write(&s->form, &now);
    kept = s->ran && !strcmp(s->ran, text_str(&now));
    text_free(&now);
    if (kept)
        return false;
    setup_add_unsaved(s, words);
    return true;
}

bool setup_is_as_it_waited(const struct setup *s)
{
    return s->waits && !s->runs_again && !spec_sweep_varies(&s->form.sweep) &&
           !form_dirty(&s->form);
}

static const struct record_queued *as_it_waits(const struct setup *s)
{
    return setup_is_as_it_waited(s) ? setup_waiting(s) : NULL;
}

void setup_has_started(struct setup *s)
{
    for (size_t i = 0; s->takes_out && i < s->queue; i++)
        if (s->queued[i].id == s->takes_out)
            setup_queue_take_out(s, &s->queued[i]);
    if (s->takes_out == s->waits)
        s->waits = 0;
    s->started = 0;
    s->takes_out = 0;
}

static void queue_behind(struct setup *s)
{
    setup_queue_add(s, false);
}

static void queue_alone(struct setup *s)
{
    setup_queue_add(s, true);
}

/* It waits there once, whoever asks for it again. */
static void queue(struct setup *s, bool alone)
{
    const struct record_queued *q = alone && !s->sweep.alone ? NULL : as_it_waits(s);

    if (q && q->number)
        app_say(s->app, GRID_TEXT, "%s waits already, number %lld of the queue (1 shows it)",
                q->name, (long long)q->number);
    else if (q)
        app_say(s->app, GRID_TEXT, "%s waits already in the queue (1 shows it)", q->file);
    else if (setup_is_as_it_waited(s))
        setup_unless_begun(s, alone ? queue_alone : queue_behind);
    else
        setup_queue_add(s, alone);
}

static void start(struct setup *s)
{
    struct err e = {0};
    bool varies = spec_sweep_varies(&setup_what(s)->sweep);
    const struct record_queued *q = as_it_waits(s);
    uint32_t number = varies ? start_sweep(s, &e) : start_run(s, &e);

    if (!number) {
        app_say(s->app, GRID_BAD, "%s", e.text);
        return;
    }
    s->started = number;
    s->takes_out = q ? q->id : 0;
    s->nothing_ran = varies ? number : 0;
    setup_is_kept(s);
    app_show(s->app, SCREEN_RUN);
}

/* In the words of `run`. */
static void say_nothing_ran(struct setup *s, const struct wire_sweep_status *t)
{
    long long results = (long long)(t->done + t->diverged + t->oom + t->failed);
    char skipped[80] = "";

    if (t->skipped)
        snprintf(skipped, sizeof skipped, ", %s skipped (--failed tries %s again)",
                 TEXT_COUNT(t->skipped), t->skipped == 1 ? "it" : "them");
    if (s->app->shown == SCREEN_RUN)
        app_show(s->app, SCREEN_SETUP);
    app_say(s->app, GRID_TEXT, "%s: %s of %s cell%s a result already%s, 0 to run", t->name,
            TEXT_COUNT(results), TEXT_COUNT(t->cells), t->cells == 1 ? " has" : "s have", skipped);
}

void setup_look_at_end(struct setup *s, const struct wire_event *event)
{
    struct wire_sweep_status status;

    if (!s->nothing_ran || event->run != s->nothing_ran)
        return;
    if (event->kind == WIRE_STATE && event->u.state.state == WIRE_DONE &&
        wire_sweep_status(s->app->config.wire, event->run, &status))
        say_nothing_ran(s, &status);
    if (event->kind == WIRE_STATE || (event->kind == WIRE_CELL && event->u.cell.run))
        s->nothing_ran = 0;
}

bool setup_refused(struct setup *s, const struct wire_event *event, const char *why)
{
    if (!s->started || event->run != s->started)
        return false;
    s->started = 0;
    s->takes_out = 0;
    app_show(s->app, SCREEN_SETUP);
    app_say(s->app, GRID_BAD, "%s", why);
    return true;
}

/* ---- how a sweep is walked ---- */

void setup_add_options(const struct setup *s, struct text *out)
{
    if (s->sweep.grid)
        text_add(out, " --order grid");
    if (s->sweep.max_cells)
        text_addf(out, " --max-cells %lld", (long long)s->sweep.max_cells);
    if (s->sweep.jobs)
        text_addf(out, " --jobs %lld", (long long)s->sweep.jobs);
    if (s->sweep.failed)
        text_add(out, " --failed");
}

/* In the words of `run`, as those that wait in the queue have them. */
static void take_options(void *user, const char *text)
{
    struct setup *s = user;
    struct record_queue_options options;
    char *line;

    if (!text)
        return;
    line = mem_textf("# options: %s", text);
    if (record_queue_read_options(line, &options, NULL) != ERR_OK) {
        app_prompt_again(s->app, text);
        app_say(s->app, GRID_BAD,
                "known: --name NAME, --order grid or spread, --max-cells N, --jobs N, --failed");
    } else {
        s->sweep = options;
        if (options.name[0]) {
            free(s->sweep_name);
            s->sweep_name = mem_text(options.name);
        }
        setup_ask(s); /* --max-cells is another cost */
        app_say(s->app, GRID_GOOD, "r starts it so; : shows the command");
    }
    free(line);
}

void setup_ask_options(struct setup *s)
{
    struct text now = {0};
    char name[SPEC_NAME];

    if (!spec_sweep_varies(&s->form.sweep)) {
        app_say(s->app, GRID_DIM, "Options are for sweeps: give a key several values, 0.1, 0.2");
        return;
    }
    s->runs_again = false;
    text_addf(&now, "--name %s", sweep_name(s, false, name));
    setup_add_options(s, &now);
    if (s->sweep.alone)
        text_add(&now, " --alone");
    app_prompt(s->app, "options of the sweep", text_str(&now), take_options, NULL, s);
    text_free(&now);
}

/* ---- where something runs already ---- */

/* This program trains one thing at a time. */
static struct claim_choice choice_of(const struct setup *s)
{
    return (struct claim_choice){.busy = true, .over = s->asks == ASKS_ENDED, .queue = true};
}

static void queue_or_not(void *user, int answer)
{
    struct setup *s = user;
    struct claim_choice choice = choice_of(s);
    enum claim_how how = claim_answered(&choice, answer);

    s->asks = ASKS_NOTHING;
    if (how == CLAIM_NOW)
        setup_go_on(s);
    else if (how == CLAIM_BEHIND)
        queue(s, false);
}

void setup_renew_question(struct setup *s)
{
    struct claim_answers answers;
    struct claim_choice choice;

    if (s->asks != ASKS_BEHIND || feed_busy(s->app->feed))
        return;
    s->asks = ASKS_ENDED;
    choice = choice_of(s);
    answers = claim_answers(&choice);
    app_ask_renew(s->app, "What ran here has ended meanwhile: this can start now.", answers.words,
                  queue_or_not);
}

static void ask_where(struct setup *s)
{
    struct claim_answers answers;
    struct claim_choice choice;
    struct text question = {0};

    s->asks = ASKS_BEHIND;
    choice = choice_of(s);
    answers = claim_answers(&choice);
    status_add_busy(s->app->feed, &question);
    text_add(&question, " When should this start?");
    app_ask(s->app, text_str(&question), answers.words, queue_or_not, s);
    text_free(&question);
}

struct starting {
    struct setup_link *link;
    uint64_t turn;
};

void setup_say_changed(struct setup *s)
{
    app_say(s->app, GRID_WARN, "not started: the form was changed meanwhile; r starts it");
}

static void begin(void *user, enum claim_how how, bool elsewhere)
{
    struct starting *b = user;
    struct setup *s = setup_let_go(b->link);

    if (s && how != CLAIM_NOT && !s->runs_again && s->form.turn != b->turn)
        setup_say_changed(s);
    else if (s && how == CLAIM_NOW && feed_busy(s->app->feed)) /* the queue went on meanwhile */
        setup_go_on(s);
    else if (s && how == CLAIM_NOW && setup_is_as_it_waited(s))
        setup_unless_begun(s, start); /* the others may have taken it while somebody was asked */
    else if (s && how == CLAIM_NOW)
        start(s);
    else if (s && how == CLAIM_BEHIND)
        queue(s, elsewhere);
    free(b);
}

void setup_go_on(struct setup *s)
{
    struct starting *b;

    if (feed_busy(s->app->feed)) {
        ask_where(s);
        return;
    }
    b = mem_new(1, sizeof *b);
    b->link = setup_hold(s);
    b->turn = s->form.turn;
    claim_machine(s->app, true, begin, b);
    s->app->dirty = true;
}

void setup_run_again(struct setup *s)
{
    s->runs_again = true;
    if (s->again.good)
        setup_go_on(s);
    else
        app_say(s->app, GRID_BAD, "%s", s->again.problem.text);
}

static void partly_or_not(void *user, int answer)
{
    struct setup *s = user;

    if (answer == 1)
        app_page(s->app, "what could not be taken", s->form.notes);
    if (answer != 0)
        return;
    s->partly = true;
    setup_run(s);
}

/* The command line refuses such a file: the form does not train half of it unasked. */
static void ask_about_notes(struct setup *s)
{
    static const char *const answers[] = {"run it without", "show all of them", "cancel", NULL};
    char question[600];

    snprintf(question, sizeof question, "%.*s. That is not in the form: a default stands for it.",
             (int)(strcspn(s->form.notes, "\n") < 400 ? strcspn(s->form.notes, "\n") : 400),
             s->form.notes);
    app_ask(s->app, question, answers, partly_or_not, s);
}

static void anew_or_not(void *user, int answer)
{
    struct setup *s = user;

    if (answer != 0)
        return;
    free(s->goes_on);
    s->goes_on = NULL;
    setup_run(s);
}

/* It looks as if that went on. */
static void ask_whether_anew(struct setup *s)
{
    static const char *const answers[] = {"a new run, from step 0",
                                          "cancel: it goes on when its turn comes", NULL};
    struct text question = {0};

    text_add(&question, "In the queue this goes on with ");
    text_add_clean(&question, study_short_name(s->goes_on));
    text_add(&question,
             " from where it stopped. From here it is another run of the same settings.");
    app_ask(s->app, text_str(&question), answers, anew_or_not, s);
    text_free(&question);
}

static void say_problem(struct setup *s)
{
    char missing[64];

    if (setup_missing(s, missing))
        app_say(s->app, GRID_BAD, "%s is not here: f fetches it, y takes made-up images", missing);
    else
        app_say(s->app, GRID_BAD, "%s", setup_problem(s));
}

static void run(struct setup *s)
{
    if (*s->form.notes && !s->partly && s->form.from != FORM_RUN)
        ask_about_notes(s);
    else if (s->goes_on)
        ask_whether_anew(s);
    else if (spec_sweep_varies(&s->form.sweep))
        setup_look_and_go_on(s);
    else if (setup_is_as_it_waited(s))
        setup_unless_begun(s, setup_go_on);
    else
        setup_go_on(s);
}

void setup_judge(struct setup *s)
{
    if (!s->judging || (s->form.good && !s->sum.planned && !s->sum.problem[0]))
        return;
    s->judging = false;
    if (s->form.turn != s->judged_turn)
        setup_say_changed(s);
    else if (setup_problem(s))
        say_problem(s);
    else
        run(s);
}

void setup_run(struct setup *s)
{
    s->runs_again = false;
    if (!setup_problem(s)) {
        run(s);
        return;
    }
    form_build(&s->form); /* a file that it names may have been mended meanwhile */
    setup_ask(s);
    s->judging = true;
    s->judged_turn = s->form.turn;
    setup_judge(s);
}

/* ---- data ---- */

static void fetched(void *user, const struct job_end *end)
{
    struct setup *s = setup_let_go(user);

    if (!s)
        return;
    s->fetching = false;
    if (end->exit_code == 0)
        app_say(s->app, GRID_GOOD, "The data are here.");
    else
        app_say(s->app, GRID_BAD, "%s",
                end->last_line && *end->last_line ? end->last_line : "they could not be fetched");
    setup_ask(s);
}

void setup_fetch(struct setup *s)
{
    char name[64];
    const char *args[] = {"data", "fetch", name, NULL};
    struct err e = {0};

    if (s->fetching) {
        app_say(s->app, GRID_TEXT, "The data are on their way; 7 shows how far.");
        return;
    }
    if (!setup_missing(s, name)) {
        app_say(s->app, GRID_TEXT, "No data are missing.");
        return;
    }
    if (jobs_start(s->app->jobs, args, fetched, setup_hold(s), &e) != ERR_OK) {
        (void)setup_let_go(s->link);
        app_say(s->app, GRID_BAD, "%s", e.text);
        return;
    }
    s->fetching = true;
    app_say(s->app, GRID_TEXT, "fetching %s; 7 shows how far", name);
}
