/* ui/app/app_train.c: commands that train: the machine is claimed for them before. */
#include "ui/app/app_int.h"

#include "base/mem.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/working.h"
#include "ui/app/claim.h"
#include "ui/app/status.h"
#include "wire/sweep.h"

#include <stdlib.h>
#include <string.h>

static bool has(const char *const *args, size_t count, const char *option)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(args[i], option))
            return true;
    return false;
}

static size_t count_of(const char *const *args)
{
    size_t n = 0;

    while (args[n])
        n++;
    return n;
}

/* Whether it asks for help alone. */
static bool helps(const char *const *args, size_t count)
{
    return has(args, count, "--help") || has(args, count, "-h");
}

/* A command that trains goes on without this program: it would end with it otherwise. The --queue of `resume`
 * is what it goes on with behind that. */
bool train_is(const char *const *args, size_t count)
{
    bool run = count > 0 && !strcmp(args[0], "run");

    if (!run && (count == 0 || strcmp(args[0], "resume") != 0))
        return false;
    return !helps(args, count) && !has(args, count, "--background") &&
           !(run && (has(args, count, "--queue") || has(args, count, "--dry-run")));
}

bool train_runs_alone(const char *const *args)
{
    size_t count = count_of(args);

    return has(args, count, "--background") && !helps(args, count);
}

bool train_is_queued(const char *const *args)
{
    size_t count = count_of(args);

    return count > 0 && !strcmp(args[0], "run") && has(args, count, "--queue") &&
           !has(args, count, "--dry-run") && !helps(args, count);
}

/* `go`, and a stop to which what is paused goes on first. */
bool train_lets_go(const char *const *args, size_t count)
{
    bool stops_later = count > 0 && !strcmp(args[0], "stop") &&
                       (has(args, count, "--after-epoch") || has(args, count, "--after-cells"));

    return count > 0 && (!strcmp(args[0], "go") || stops_later) && !helps(args, count);
}

struct training { /* a command that trains, while the machine is claimed for it */
    struct app *app;
    const char **args; /* (n), each its own */
    size_t n;
    bool checked;
    bool held; /* until the question how to leave is answered */
};

static void free_training(struct training *t)
{
    for (size_t i = 0; i < t->n; i++)
        free((char *)t->args[i]);
    free(t->args);
    free(t);
}

static void add_line(const struct training *t, struct text *out)
{
    text_add(out, "chorus");
    for (size_t i = 0; i < t->n; i++) {
        text_add(out, " ");
        jobs_add_word(out, t->args[i]);
    }
}

/* Another question stood, or a person has said so at that of the claim. */
static void drop_training(struct training *t)
{
    struct text line = {0};

    text_add(&line, "not begun: ");
    add_line(t, &line);
    app_log(t->app, LOG_INFO, text_str(&line));
    text_free(&line);
    free_training(t);
}

/* `ahead`: one whose question may stand, or wait behind the line that was just typed. */
static struct training *new_training(struct app *app, const char *const *args, size_t n,
                                     const struct training *ahead)
{
    struct training *t = mem_new(1, sizeof *t);

    *t = (struct training){.app = app, .args = mem_new(n + 3, sizeof *t->args)};
    for (; t->n < n; t->n++)
        t->args[t->n] = mem_text(args[t->n]);
    if (!ahead)
        return t;
    app_say(app, GRID_WARN, "%s",
            ahead->checked ? CLAIM_ASKED : "not begun: the run before is being checked still");
    drop_training(t);
    return NULL;
}

/* What it would wait for has its results elsewhere: alone. */
static void start_training(struct training *t, bool queue, bool alone)
{
    t->args[t->n] = queue ? "--queue" : "--background";
    t->args[t->n + 1] = queue && alone ? "--alone" : NULL;
    command_start(t->app, t->args);
}

static const struct claim_choice queue_or_now = {.busy = true, .queue = true, .now = true};
static const struct claim_choice now_alone = {.busy = true, .now = true};

static void training_chosen(void *user, int answer)
{
    struct app *app = user;
    struct training *t = app->own->training;
    enum claim_how how = claim_answered(&queue_or_now, answer);

    app->own->training = NULL;
    if (t && how != CLAIM_NOT)
        start_training(t, how == CLAIM_BEHIND, false);
    if (t)
        free_training(t);
}

static void ask_busy(struct app *app, const struct claim_choice *choice, const char *more,
                     void (*chosen)(void *user, int answer))
{
    struct claim_answers answers;
    struct text question = {0};

    answers = claim_answers(choice);
    status_add_busy(app->feed, &question);
    text_addf(&question, " Running both at once slows both.%s When should this start?", more);
    app_ask(app, text_str(&question), answers.words, chosen, app);
    text_free(&question);
}

static void ask_where(struct training *t)
{
    if (t->app->own->training) { /* another command has come meanwhile */
        drop_training(t);
        return;
    }
    t->app->own->training = t;
    ask_busy(t->app, &queue_or_now, "", training_chosen);
}

static void begin_training(void *user, enum claim_how how, bool elsewhere)
{
    struct training *t = user;

    if (how == CLAIM_NOW && feed_busy(t->app->feed)) { /* the queue went on meanwhile */
        ask_where(t);
        return;
    }
    if (how == CLAIM_NOT) {
        drop_training(t);
        return;
    }
    start_training(t, how == CLAIM_BEHIND, elsewhere);
    free_training(t);
}

static void begin_checked(struct app *app)
{
    struct training *t = app->own->training;

    t->held = false;
    app->own->training = NULL;
    if (feed_busy(app->feed))
        ask_where(t);
    else
        claim_machine(app, true, begin_training, t);
}

static void training_checked(void *user, const struct job_end *end)
{
    struct app *app = user;
    struct training *t = app->own->training;

    t->checked = true;
    if (end->exit_code) {
        app_log_from(app, LOG_INFO, "run", end->last_line);
        command_over(app, end);
        training_chosen(app, -1);
        return;
    }
    t->held = quit_asks(app);
    if (!t->held)
        begin_checked(app);
}

void train_tick(struct app *app)
{
    if (app->own->training && app->own->training->held && !quit_asks(app))
        begin_checked(app);
}

/* `run` beside something else, as by the key r of Setup: a person says where, once the command is right. */
void train_run(struct app *app, const char *const *args, size_t n)
{
    struct training *t = new_training(app, args, n, app->own->training);
    struct err e;

    if (!t)
        return;
    app->own->training = t;
    t->args[n] = "--dry-run";
    if (jobs_start_silent(app->jobs, t->args, training_checked, app, &e) == ERR_OK) {
        jobs_mark(app->jobs, app_entered(app));
        app_say(app, GRID_DIM, "chorus run begins as soon as it has been checked");
    } else {
        app_enter_again(app, app_entered(app));
        app_say(app, GRID_BAD, "%s", e.text);
        training_chosen(app, -1);
    }
}

bool train_begins(const struct app *app)
{
    const struct training *t = app->own->training;

    return t && (!t->checked || t->held);
}

size_t train_tell(const struct app *app, struct text *words)
{
    const struct training *t = app->own->training;
    struct text line = {0};

    if (!train_begins(app))
        return 0;
    add_line(t, &line);
    text_add(words, words->n ? " " : "");
    text_add_clean(words, text_str(&line));
    text_add(words, " has not begun yet.");
    text_free(&line);
    return !t->held;
}

static void begin_going_on(void *user, enum claim_how how, bool elsewhere)
{
    struct training *t = user;

    (void)elsewhere;
    if (how == CLAIM_NOT) {
        drop_training(t);
        return;
    }
    command_start(t->app, t->args);
    free_training(t);
}

static void going_on_chosen(void *user, int answer)
{
    struct app *app = user;
    struct training *t = app->own->resuming;

    app->own->resuming = NULL;
    if (t && claim_answered(&now_alone, answer) == CLAIM_NOW)
        command_start(app, t->args);
    if (t)
        free_training(t);
}

static void ask_beside(struct training *t)
{
    t->app->own->resuming = t;
    ask_busy(t->app, &now_alone, " R on Results puts the run into the queue.", going_on_chosen);
}

/* Whether what a command names is paused, of whatever program. */
struct looking {
    struct training *training;
    char *results;
    bool paused;
};

static void look_for_paused(void *arg)
{
    struct looking *l = arg;
    struct training *t = l->training;
    char **word = mem_new(t->n + 1, sizeof *word);
    struct record_entry *list = NULL;
    struct wire_sweep_status is;
    size_t words = 0, n = 0;

    for (size_t i = 1; i < t->n; i++)
        if (t->args[i][0] != '-')
            word[words++] = (char *)t->args[i];
    for (size_t i = 0; i < words; i++) /* which may have no cell at work */
        l->paused |= record_working_sweep(l->results, word[i], &is) && wire_sweep_has_paused(&is);
    if (words && record_find_all(l->results, word, words, false, &list, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n; i++)
            l->paused |= list[i].live && !list[i].broken && list[i].run.state == WIRE_PAUSED;
        record_free_list(list, n);
    }
    free(word);
}

static void looked_for_paused(void *arg, bool dropped)
{
    struct looking *l = arg;
    struct training *t = l->training;

    if (dropped) {
        free_training(t);
    } else if (l->paused) {
        claim_machine(t->app, false, begin_going_on, t);
    } else {
        command_start(t->app, t->args);
        free_training(t);
    }
    free(l->results);
    free(l);
}

static void look_whether_paused(struct training *t)
{
    struct looking *l = mem_new(1, sizeof *l);

    *l = (struct looking){.training = t, .results = mem_text(t->app->config.results)};
    (void)tasks_try(t->app->tasks, look_for_paused, looked_for_paused, l);
}

/* `resume`, and what lets a paused one go on, beside something else, which is asked about as by the keys R
 * and p; a command has no place in the queue. */
void train_go_on(struct app *app, const char *const *args, size_t n)
{
    bool resumes = !strcmp(args[0], "resume"), goes = !strcmp(args[0], "go");
    struct training *t = new_training(app, args, n, app->own->resuming);

    if (!t)
        return;
    t->checked = true; /* by the verb itself, once it begins */
    if (resumes && feed_busy(app->feed))
        ask_beside(t);
    else if (resumes || (goes && feed_all_paused(app->feed)))
        claim_machine(app, false, begin_going_on, t);
    else
        look_whether_paused(t);
}

void train_close(struct app *app)
{
    training_chosen(app, -1);
    going_on_chosen(app, -1);
}
