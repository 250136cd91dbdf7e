/* ui/app_train.c: commands that train: the machine is claimed for them before. */
#include "ui/app_int.h"

#include "base/mem.h"
#include "ui/claim.h"

#include <stdlib.h>
#include <string.h>

static bool has(const char *const *args, size_t count, const char *option)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(args[i], option))
            return true;
    return false;
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

bool train_goes_on(const struct app *app, const char *const *args, size_t count)
{
    return count > 0 && !strcmp(args[0], "go") && !helps(args, count) && feed_all_paused(app->feed);
}

struct training { /* a command that trains, while the machine is claimed for it */
    struct app *app;
    const char **args; /* (n), each its own */
    size_t n;
    bool checked;
};

static void free_training(struct training *t)
{
    for (size_t i = 0; i < t->n; i++)
        free((char *)t->args[i]);
    free(t->args);
    free(t);
}

/* Another question stood, or a person has said so at that of the claim. */
static void drop_training(struct training *t)
{
    struct text line = {0};

    text_add(&line, "not begun: chorus");
    for (size_t i = 0; i < t->n; i++) {
        text_add(&line, " ");
        jobs_add_word(&line, t->args[i]);
    }
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

static void training_chosen(void *user, int answer)
{
    struct app *app = user;
    struct training *t = app->own->training;

    app->own->training = NULL;
    if (t && (answer == 0 || answer == 1))
        start_training(t, answer == 0, false);
    if (t)
        free_training(t);
}

static void ask_where(struct training *t)
{
    static const char *const answers[] = {"behind it, in the queue", "run it beside", "cancel",
                                          NULL};

    if (t->app->own->training) { /* another command has come meanwhile */
        drop_training(t);
        return;
    }
    t->app->own->training = t;
    app_ask(t->app, "Something runs here already; beside each other both are slower.", answers,
            training_chosen, t->app);
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
    app->own->training = NULL;
    if (feed_busy(app->feed))
        ask_where(t);
    else
        claim_machine(app, true, begin_training, t);
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
    if (jobs_start_silent(app->jobs, t->args, training_checked, app, &e) != ERR_OK) {
        app_say(app, GRID_BAD, "%s", e.text);
        training_chosen(app, -1);
    }
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
    if (t && answer == 0)
        command_start(app, t->args);
    if (t)
        free_training(t);
}

static void ask_beside(struct training *t)
{
    static const char *const answers[] = {"run it beside", "cancel", NULL};

    t->app->own->resuming = t;
    app_ask(t->app,
            "Something runs here already; beside each other both are slower. R on "
            "Results puts the run behind it, in the queue.",
            answers, going_on_chosen, t->app);
}

/* `resume`, and `go` where all is paused, beside something else, which is asked about as by the keys R and
 * p; a command has no place in the queue. */
void train_go_on(struct app *app, const char *const *args, size_t n)
{
    bool resumes = !strcmp(args[0], "resume");
    struct training *t = new_training(app, args, n, app->own->resuming);

    if (!t)
        return;
    t->checked = true; /* by the verb itself, once it begins */
    if (resumes && feed_busy(app->feed))
        ask_beside(t);
    else
        claim_machine(app, false, begin_going_on, t);
}

void train_close(struct app *app)
{
    training_chosen(app, -1);
    going_on_chosen(app, -1);
}
