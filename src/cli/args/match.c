/* cli/args/match.c: `run --match RUN`: a single model for as many epochs as RUN cost in all. */
#include "cli/args/match.h"

#include "base/again.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/experiment.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "engine/plan.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_given(int argc, char **argv, const char *key)
{
    size_t n = strlen(key);

    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], key, n) && argv[i][n] == '=')
            return true;
    return false;
}

/* The model-images of one epoch of it. */
static enum err_code count_epoch(const struct spec *spec, double *images, struct err *e)
{
    struct plan *plan = NULL;
    int members;

    TRY(plan_make(&plan, spec, cli_places(), cli_backends(), false, e));
    members = plan->session.mode == SPEC_ENSEMBLE ? plan->session.members : 1;
    *images = (double)plan->steps_per_epoch * (double)plan->session.batch * members;
    plan_free(plan);
    return ERR_OK;
}

static void say_match(const struct record_run *run, const char *epochs, double cost)
{
    char wanted[TEXT_NUMBER_ROOM], made[TEXT_NUMBER_ROOM];

    if (cost != (double)run->model_images)
        cli_talk("--match %s: it cost %s model-images, %s whole epoch%s cost %s", run->run,
                 text_count(wanted, (uint64_t)run->model_images), epochs,
                 strcmp(epochs, "1") ? "s" : "", text_count(made, (uint64_t)cost));
}

static enum err_code check_images(const struct spec *a, const struct record_run *run, struct err *e)
{
    static const char *const same[] = {"data", "train_limit", "valid"};
    const struct spec *b = &run->spec;

    if (record_run_is_several(run, "data") || record_run_is_several(run, "train_limit") ||
        record_run_is_several(run, "valid"))
        return err_set(e, ERR_INPUT,
                       "--match %s: it is an average of runs that did not see the same images: "
                       "name one of the runs themselves",
                       run->run);
    for (size_t i = 0; i < MEM_COUNT(same); i++) {
        int key = spec_key_find(same[i]);
        struct text mine = {0}, theirs = {0};
        bool differ;

        spec_value(a, key, &mine);
        spec_value(b, key, &theirs);
        if (!mine.n)
            text_add(&mine, spec_keys[key].fallback);
        if (!theirs.n)
            text_add(&theirs, spec_keys[key].fallback);
        differ = strcmp(text_str(&mine), text_str(&theirs)) != 0;
        if (differ)
            err_set(e, ERR_INPUT,
                    "--match %s: it trained with %s = %s, and this is %s; a run of the same cost "
                    "must have the same data, train_limit and valid",
                    run->run, same[i], text_str(&theirs), text_str(&mine));
        text_free(&mine);
        text_free(&theirs);
        if (differ)
            return ERR_INPUT;
    }
    return ERR_OK;
}

/* What ends a run early leaves it cheaper than the other. */
static enum err_code check_end(const struct spec *s, struct err *e)
{
    const char *key = s->max_steps         ? "max_steps"
                      : s->max_minutes > 0 ? "max_minutes"
                      : s->patience        ? "patience"
                                           : NULL;

    if (!key)
        return ERR_OK;
    return err_set(e, ERR_INPUT,
                   "--match trains to the end of the epochs that it finds: leave out %s", key);
}

/* As many whole epochs as come nearest to the model-images of the run. They are counted in epochs of
 * its own, so both must see the same images. */
static enum err_code match_epochs(struct spec_sweep *s, const struct record_run *run, bool quiet,
                                  struct err *e)
{
    char epochs[32];
    double one = 0, n;

    if (spec_sweep_varies(s))
        return err_set(e, ERR_INPUT, "--match finds the epochs of one run, not of a sweep");
    TRY(check_end(&s->base, e));
    TRY(check_images(&s->base, run, e));
    TRY(count_epoch(&s->base, &one, e));
    n = fmax(1, round((double)run->model_images / one));
    snprintf(epochs, sizeof epochs, "%.0f", n);
    TRY(spec_sweep_set(s, "epochs", epochs, "--match", NULL, e));
    if (!quiet)
        say_match(run, epochs, n * one);
    return ERR_OK;
}

/* The run's own experiment as a single model, which trains to its end: what ended the run early, and
 * its name, stay with the run. */
static enum err_code take_matched(struct spec_sweep *s, const char *match, struct err *e)
{
    static const char *const set[][2] = {{"mode", "data-parallel"},
                                         {"devices", "1"},
                                         {"max_steps", "none"},
                                         {"max_minutes", "none"},
                                         {"patience", "none"}};

    TRY(experiment_read_run(s, match, NULL, e));
    for (size_t i = 0; i < MEM_COUNT(set); i++)
        TRY(spec_sweep_set(s, set[i][0], set[i][1], "--match", NULL, e));
    s->base.name[0] = '\0';
    return ERR_OK;
}

enum err_code match_run(struct spec_sweep *s, int argc, char **argv, const char *match, bool own,
                        bool quiet, struct err *e)
{
    struct record_entry entry;
    enum err_code code;

    if (is_given(argc, argv, "epochs"))
        return err_set(e, ERR_INPUT, "--match finds the epochs: leave out epochs=");
    code = cli_find_run(match, &entry, e);
    if (code != ERR_OK)
        return err_context(e, "--match %s", match);
    if (entry.live)
        code = err_set(e, ERR_INPUT,
                       "--match %s: it is not at its end yet (epoch %lld of %lld), so that nobody "
                       "knows what it costs: chorus watch %s%s tells when it is",
                       entry.name, (long long)entry.run.epochs_done,
                       (long long)entry.run.spec.epochs, entry.name, again());
    else if (entry.broken || entry.run.epochs_done < 1 || entry.run.model_images < 1)
        code = err_set(e, ERR_INPUT,
                       "--match %s: it has no whole epoch whose cost could be matched", entry.name);
    if (code == ERR_OK && !own)
        code = take_matched(s, match, e);
    if (code == ERR_OK)
        code = experiment_set_keys(s, argc, argv, e);
    if (code == ERR_OK)
        code = spec_sweep_close(s, e);
    if (code == ERR_OK)
        code = match_epochs(s, &entry.run, quiet, e);
    record_free_entry(&entry);
    return code;
}
