/* cli/verbs/ensemble.c: chorus ensemble RUN...: finished runs averaged as if they were one ensemble. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/out/report/average.h"
#include "cli/out/results.h"
#include "cli/verbs.h"
#include "record/run/reader.h"
#include "spec/spec.h"
#include "study/members.h"
#include "study/runs.h"
#include "study/tables.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PAIRED 16 /* members whose pairs are printed for people; --json has all */

static const struct cli_usage usage = {
    "ensemble RUN...",
    "What averaging brings: the members of an ensemble, or finished runs averaged as if they were one.",
    "One ensemble: its tables. Several runs, single models or ensembles, of the same test images: the\n"
    "tables of all their models averaged, kept as a run of its own in the results folder, with the models\n"
    "in its average.csv. No model may stand in it twice: those of one seed, place in an ensemble and\n"
    "settings are the same, whatever they were computed on; those that started from weights = ...\n"
    "where all their answers are the same.\n"
    "  gain        accuracy of the averaged probabilities less that of the mean member, or of the\n"
    "              best member on these very images (picked on test), at the last epoch, as in the\n"
    "              tables; of one ensemble also at its best epoch, by its epochs.csv\n"
    "  nll         mean of -log of the label's probability, in double and from the logits, as in\n"
    "              training; of an older file of probabilities one below 1.4e-45 counts as that\n"
    "  ece         images in 15 equal bins of their highest probability: the sum over bins of\n"
    "              |right answers - sum of those probabilities| / images\n"
    "  prefix_acc  accuracy of members 0 to this one, averaged\n"
    "  k members   mean over the sets of k of the accuracy of their averaged probabilities: over all\n"
    "              sets where there are at most 256, else over a sample from a fixed seed\n"};

/* ---- the probabilities of all models ---- */

/* Numbers come normalised, by training rows that may be others: their data set tells. */
static bool same_images(const struct average *j, size_t i)
{
    const struct spec *a = &j->run[0].run.spec, *b = &j->run[i].run.spec;

    if (study_answers_same_images(&j->part[0], &j->part[i]))
        return true;
    return !j->part[0].bytes && !j->part[i].bytes && !strcmp(a->data, b->data) &&
           a->test_limit == b->test_limit;
}

static enum err_code check_part(const struct average *j, size_t i, struct err *e)
{
    const struct study_answers *a = &j->part[0], *b = &j->part[i];

    if (a->n != b->n || a->classes != b->classes)
        return err_set(
            e, ERR_INPUT,
            "%s has %zu test images of %d classes, %s has %zu of %d: only answers to the "
            "same images can be averaged",
            j->run[i].name, b->n, b->classes, j->run[0].name, a->n, a->classes);
    if (memcmp(a->labels, b->labels, a->n * sizeof *a->labels) != 0)
        return err_set(e, ERR_INPUT,
                       "%s was tested on other images than %s, for their labels are others: only "
                       "answers to the same images can be averaged",
                       j->run[i].name, j->run[0].name);
    if (!same_images(j, i))
        return err_set(e, ERR_INPUT,
                       "%s was tested on other images than %s, though on the same labels (data, "
                       "normalize and test_limit choose them): only answers to the same images can "
                       "be averaged",
                       j->run[i].name, j->run[0].name);
    return ERR_OK;
}

static bool same_settings(const struct average *j, size_t i, size_t k, const int model[2])
{
    const char *id = j->models[i].model[model[0]].id;

    return *id && !strcmp(id, j->models[k].model[model[1]].id);
}

/* Whether a model of one run is one of another's: what determines it is the same or, where the answers
 * are known, it says the same of all images, to the bit. Averaged with itself it only weighs more. */
static bool find_twin(const struct average *j, size_t i, size_t k, int model[2])
{
    const struct study_answers *own = &j->part[i], *other = &j->part[k];
    size_t n = own->n * (size_t)own->classes;

    for (int a = 0; a < j->models[i].models; a++)
        for (int b = 0; b < j->models[k].models; b++) {
            model[0] = a;
            model[1] = b;
            if (same_settings(j, i, k, model))
                return true;
            if (own->p && other->p &&
                !memcmp(own->p + (size_t)a * n, other->p + (size_t)b * n, n * sizeof *own->p))
                return true;
        }
    return false;
}

static void add_model(const struct average *j, size_t i, int model, struct text *out)
{
    if (j->models[i].models > 1)
        text_addf(out, "member %d of ", model);
    text_add(out, j->run[i].name);
}

/* The runs by their members, most of them first: what they hold need not stand in it again. */
static size_t *largest_first(const struct average *j)
{
    size_t *order = mem_new(j->runs, sizeof *order);

    for (size_t i = 0; i < j->runs; i++) {
        size_t at = i;

        for (; at > 0 && j->models[order[at - 1]].models < j->models[i].models; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static enum err_code refuse_twins(const struct average *j, struct err *e)
{
    size_t *order = largest_first(j), kept = 0;
    struct text twin = {0}, spare = {0};
    enum err_code code = ERR_OK;

    for (size_t i = 0; i < j->runs; i++) {
        size_t k = 0;
        int model[2];

        while (k < kept && !find_twin(j, order[i], order[k], model))
            k++;
        if (k < kept && !twin.n) {
            add_model(j, order[i], model[0], &twin);
            text_add(&twin, " is the same model as ");
            add_model(j, order[k], model[1], &twin);
            if (same_settings(j, order[i], order[k], model))
                text_add(&twin, ", of the same seed and settings");
        }
        if (k < kept)
            text_addf(&spare, "%s%s", spare.n ? ", " : "", j->run[order[i]].name);
        else
            order[kept++] = order[i];
    }
    if (twin.n)
        code = err_set(e, ERR_INPUT,
                       "%s: each model can stand in an average "
                       "once, so leave out %s",
                       text_str(&twin), text_str(&spare));
    text_free(&twin);
    text_free(&spare);
    free(order);
    return code;
}

/* Where all parts have them. */
static void join_logs(struct average *j)
{
    size_t at = 0;

    for (size_t i = 0; i < j->runs; i++)
        if (!j->part[i].log_p)
            return;
    j->all.log_p = mem_new((size_t)j->all.members * j->all.n, sizeof *j->all.log_p);
    for (size_t i = 0; i < j->runs; i++) {
        size_t n = (size_t)j->part[i].members * j->all.n;

        memcpy(j->all.log_p + at, j->part[i].log_p, n * sizeof *j->all.log_p);
        at += n;
    }
}

/* Before anything is computed. */
static enum err_code check_runs(const struct average *j, struct err *e)
{
    for (size_t i = 0; i < j->runs; i++) {
        const struct record_entry *run = &j->run[i];
        const struct spec *s = &run->run.spec;

        TRY(record_check_whole(run, e));
        if (run->run.state != WIRE_DONE)
            return err_set(e, ERR_INPUT,
                           "%s is %s: only finished runs are averaged, which state=done chooses",
                           run->name, wire_state_words(run->run.state));
        averaged_of(&j->models[i], run, s->mode == SPEC_ENSEMBLE ? s->members : 1);
    }
    return refuse_twins(j, e);
}

static enum err_code join_parts(struct average *j, struct err *e)
{
    struct study_answers *all = &j->all;
    size_t row, at = 0;

    TRY(check_runs(j, e));
    for (size_t i = 0; i < j->runs; i++) {
        TRY(predictions_get(&j->part[i], &j->run[i], e));
        TRY(check_part(j, i, e));
        if (j->part[i].members != j->models[i].models)
            return err_set(e, ERR_INPUT, "%s has %d models, its predictions.safetensors %d",
                           j->run[i].name, j->models[i].models, j->part[i].members);
        all->members += j->part[i].members;
    }
    TRY(refuse_twins(j, e));
    *all = (struct study_answers){.epoch = average_last_epoch(j),
                                  .members = all->members,
                                  .classes = j->part[0].classes,
                                  .n = j->part[0].n,
                                  .shape = j->part[0].shape,
                                  .bytes = j->part[0].bytes};
    row = all->n * (size_t)all->classes;
    all->p = mem_try((size_t)all->members * row, sizeof *all->p);
    if (!all->p)
        return err_set(e, ERR_NOMEM, "no memory for %d x %zu x %d probabilities", all->members,
                       all->n, all->classes);
    for (size_t i = 0; i < j->runs; i++) {
        memcpy(all->p + at * row, j->part[i].p, (size_t)j->part[i].members * row * sizeof *all->p);
        at += (size_t)j->part[i].members;
    }
    join_logs(j);
    all->labels = j->part[0].labels;
    study_members(&j->study, all);
    all->labels = NULL; /* the first part's */
    return ERR_OK;
}

/* ---- the verb ---- */

/* The run of all of them: the one that was named, or their average. */
static enum err_code find_whole(struct average *j, struct text *folder, struct err *e)
{
    if (j->runs > 1 && !average_find_earlier(j, folder))
        return average_write_run(j, folder, e);
    return ERR_OK;
}

/* What that run's own files say: when, at what cost. */
static enum err_code tell_whole(struct average *j, const struct text *folder, struct err *e)
{
    struct record_entry entry;
    struct study_run *run;
    enum err_code code;

    TRY(record_read_entry(folder->n ? text_str(folder) : j->run[0].folder, &entry, e));
    code = study_open(&run, &entry, 1, e);
    if (code == ERR_OK) {
        study_members_from(&j->study, run);
        study_close(run, 1);
    }
    record_free_entry(&entry);
    return code;
}

/* When those gains were, and what they were at the best epoch. */
static void add_epochs(const struct study_members *s, struct text *out)
{
    if (s->epoch > 0)
        text_addf(out, "\"epoch\": %lld, ", (long long)s->epoch);
    if (s->at_best.epoch > 0) {
        text_addf(out, "\"best_epoch\": %lld, \"picked\": \"%s\", \"best_gain_mean\": ",
                  (long long)s->at_best.epoch, s->at_best.on_test ? "test" : "valid");
        text_add_json_double(out, s->at_best.mean);
        text_add(out, ", \"best_gain_best\": ");
        text_add_json_double(out, s->at_best.best);
        text_add(out, ", ");
    }
}

static int print(const struct average *j, const struct text *folder, bool csv, bool json)
{
    struct study_table members = {0}, subsets = {0}, pairs = {0};
    struct text out = {0};
    int code;

    study_members_table(&j->study, &members);
    study_subsets_table(&j->study, &subsets);
    study_pairs_table(&j->study, &pairs);
    if (csv) {
        study_table_csv(&members, &out);
    } else if (json) {
        text_add(&out, "{\"members\": ");
        study_table_json(&members, &out);
        text_add(&out, ", \"subsets\": ");
        study_table_json(&subsets, &out);
        text_add(&out, ", \"pairs\": ");
        study_table_json(&pairs, &out);
        text_addf(&out, ", \"disagreement\": %.9g, \"gain_mean\": %.9g, \"gain_best\": %.9g, ",
                  j->study.disagreement, j->study.gain_mean, j->study.gain_best);
        add_epochs(&j->study, &out);
        text_add(&out, "\"folder\": ");
        if (folder->n)
            text_add_json(&out, text_str(folder));
        else
            text_add(&out, "null");
        text_add(&out, "}\n");
    } else {
        cli_study_text(&members, NULL, STDOUT_FILENO, &out);
        text_add(&out, "\n");
        cli_study_text(&subsets, NULL, STDOUT_FILENO, &out);
        if (j->study.members > 2 && j->study.members <= MOST_PAIRED) {
            text_add(&out, "\n");
            cli_study_text(&pairs, NULL, STDOUT_FILENO, &out);
        }
        if (folder->n)
            text_addf(&out, "\n%s\n", TEXT_CLEAN(text_str(folder)));
    }
    code = cli_print(&out);
    study_table_free(&members);
    study_table_free(&subsets);
    study_table_free(&pairs);
    text_free(&out);
    return code;
}

static int ensemble(const struct record_entry *runs, size_t count, bool csv, bool json)
{
    struct average j = {.run = runs,
                        .runs = count,
                        .models = mem_new(count, sizeof *j.models),
                        .part = mem_new(count, sizeof *j.part)};
    struct text folder = {0};
    struct err e;
    int code;

    if (join_parts(&j, &e) != ERR_OK || find_whole(&j, &folder, &e) != ERR_OK ||
        tell_whole(&j, &folder, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = print(&j, &folder, csv, json);
    for (size_t i = 0; i < count; i++)
        study_answers_free(&j.part[i]);
    for (size_t i = 0; i < count; i++)
        averaged_free(&j.models[i]);
    free(j.models);
    free(j.part);
    study_answers_free(&j.all);
    study_members_free(&j.study);
    text_free(&folder);
    return code;
}

int cli_ensemble(int argc, char **argv)
{
    bool csv = false, json = false;
    const struct cli_option options[] = {
        {"--csv", NULL, "the members' table as CSV", &csv},
        {"--json", NULL, "as an object", &json},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *runs;
    size_t count;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("ensemble needs an ensemble's RUN, or several RUNs to average");
    if (csv && json)
        return cli_refuse("ensemble prints --csv or --json, not both");
    if (cli_find_runs(argc - 1, argv + 1, &runs, &count, &e) != ERR_OK)
        return cli_fail(&e);
    if (count == 1 && !runs[0].broken && runs[0].run.spec.mode != SPEC_ENSEMBLE)
        code = cli_refuse("%s is a single model: name several runs to average them", runs[0].name);
    else
        code = ensemble(runs, count, csv, json);
    record_free_list(runs, count);
    return code;
}
