/* cli/jobs/run_lines.c: what the feed knows of a run becomes lines, whichever process computes it. */
#include "cli/jobs/run_lines.h"

#include "base/text.h"
#include "cli/args/signals.h"
#include "cli/out/print.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <unistd.h>

void run_lines_start(struct run_lines *l, bool quiet)
{
    *l = (struct run_lines){.shown = -1};
    progress_start(&l->progress, quiet);
}

static void say_facts(const struct wire_facts *f)
{
    struct text line = {0}, behind = {0};

    if (f->mode == SPEC_ENSEMBLE)
        text_addf(&line, "%d member%s of ", f->members, text_s(f->members));
    text_addf(&line, "%s parameters, %s training and %s test images", TEXT_COUNT(f->parameters),
              TEXT_COUNT(f->train_images), TEXT_COUNT(f->test_images));
    text_addf(&behind, "%s step%s of %s an epoch", TEXT_COUNT(f->steps_per_epoch),
              text_s(f->steps_per_epoch), TEXT_COUNT(f->batch));
    if (f->dropped)
        text_addf(&behind, " (%lld image%s dropped)", (long long)f->dropped, text_s(f->dropped));
    if (text_width(text_str(&line)) + 2 + text_width(text_str(&behind)) <= cli_limit(STDERR_FILENO))
        cli_talk("%s, %s", text_str(&line), text_str(&behind));
    else
        cli_talk("%s\n%s", text_str(&line), text_str(&behind));
    text_clear(&line);
    text_addf(&line, "%s (%s), %d thread%s", f->backend, f->isa, f->threads, text_s(f->threads));
    /* of virtual ones the engine tells */
    if (f->devices > 1 && f->devices <= f->real_devices)
        text_addf(&line, ", %d devices", f->devices);
    text_addf(&line, ", %s", f->precision);
    cli_talk("%s", text_str(&line));
    text_free(&line);
    text_free(&behind);
}

/* Who watches another process's run sees all of its epochs; who goes on with one those to come. */
static void say_what(struct run_lines *l, const struct feed_run *run)
{
    if (l->named || !run->known)
        return;
    l->named = true;
    l->shown = run->own ? run->facts.epochs_done : -1;
    l->progress.members = run->facts.mode == SPEC_ENSEMBLE ? run->facts.members : 1;
    if (l->progress.quiet)
        return;
    cli_talk("%s", run->name);
    if (run->facts.train_images) /* else its files do not say */
        say_facts(&run->facts);
}

/* The seconds of rows are cumulative; its line has the epoch's own. */
static void say_epoch(struct run_lines *l, const struct feed_epochs *e, size_t i)
{
    double *const *y = e->y;
    double train = i ? e->x[FEED_SECONDS][i - 1] : 0, eval = i ? y[FEED_EVAL_SECONDS][i - 1] : 0;
    const struct progress_row row = {.epoch = (int64_t)e->x[FEED_EPOCH][i],
                                     .train_loss = y[FEED_TRAIN_LOSS][i],
                                     .train_acc = y[FEED_TRAIN_ACC][i],
                                     .val_loss = y[FEED_VAL_LOSS][i],
                                     .val_acc = y[FEED_VAL_ACC][i],
                                     .test_loss = y[FEED_TEST_LOSS][i],
                                     .test_acc = y[FEED_TEST_ACC][i],
                                     .member_acc_min = y[FEED_MEMBER_MIN][i],
                                     .member_acc_mean = y[FEED_MEMBER_MEAN][i],
                                     .member_acc_max = y[FEED_MEMBER_MAX][i],
                                     .images_per_second = y[FEED_SPEED][i],
                                     .train_seconds = e->x[FEED_SECONDS][i] - train,
                                     .eval_seconds = y[FEED_EVAL_SECONDS][i] - eval};

    l->shown = row.epoch;
    progress_epoch(&l->progress, &row);
}

static void say_left_out(struct run_lines *l, const struct feed_run *run)
{
    struct text words = {0};

    if (!l->left_out && !l->progress.quiet && feed_add_left_out(run, &words)) {
        l->left_out = true;
        cli_talk("%s/%s", run->path, text_str(&words));
    }
    text_free(&words);
}

static const char *doing(const struct feed_run *run)
{
    return run->state == WIRE_PAUSED ? "paused" : run->state == WIRE_WAITING ? "waiting" : NULL;
}

void run_lines_view(const struct feed_run *run, struct progress_view *view)
{
    *view = (struct progress_view){.step = run->step,
                                   .steps = run->steps_in_all,
                                   .epoch = run->epoch,
                                   .epochs = run->facts.epochs,
                                   .steps_per_epoch = run->facts.steps_per_epoch,
                                   .loss = run->loss,
                                   .acc = run->acc,
                                   .images_per_second = run->images_per_second,
                                   .left_seconds = run->left_seconds,
                                   .doing = doing(run)};
}

void run_lines_look(struct run_lines *l, const struct feed_run *run)
{
    const char *did = l->progress.view.doing;

    say_what(l, run);
    if (!run->known)
        return;
    run_lines_view(run, &l->progress.view);
    if (l->progress.view.doing != did)
        l->progress.drawn = 0;
    for (size_t i = 0; i < run->epochs.n; i++)
        if (run->epochs.x[FEED_EPOCH][i] > (double)l->shown)
            say_epoch(l, &run->epochs, i);
    say_left_out(l, run);
}

void run_lines_draw(struct run_lines *l)
{
    if (cli_hung_up) /* the terminal is gone; the run goes on to its end */
        l->progress.live = false;
    progress_draw(&l->progress);
}

void run_lines_end(struct run_lines *l)
{
    progress_end(&l->progress);
}
