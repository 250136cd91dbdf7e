/* cli/ensemble.c: chorus ensemble RUN...: finished runs averaged as if they were one ensemble. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/predictions.h"
#include "cli/results.h"
#include "cli/version.h"
#include "engine/plan.h"
#include "record/checkpoint.h"
#include "record/export.h"
#include "study/compare.h"
#include "study/members.h"
#include "study/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PAIRED 16 /* members whose pairs are printed for people; --json has all */

static const struct cli_usage usage = {
    "ensemble RUN...",
    "What averaging brings: the members of an ensemble, or finished runs averaged as if they were one.",
    "One ensemble: its tables. Several runs, single models or ensembles, of the same test images: the\n"
    "tables of all their models averaged, kept as a run of its own in the results folder.\n"
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

struct join {
    const struct record_entry *run;
    size_t runs;
    struct predictions *part; /* (runs) */
    struct predictions all;
    struct study_members study;
};

/* ---- the probabilities of all models ---- */

/* Numbers come normalised, by training rows that may be others: their data set tells. */
static bool same_images(const struct join *j, size_t i)
{
    const struct spec *a = &j->run[0].run.spec, *b = &j->run[i].run.spec;

    if (predictions_same_images(&j->part[0], &j->part[i]))
        return true;
    return !j->part[0].bytes && !j->part[i].bytes && !strcmp(a->data, b->data) &&
           a->test_limit == b->test_limit;
}

static enum err_code check_part(const struct join *j, size_t i, struct err *e)
{
    const struct predictions *a = &j->part[0], *b = &j->part[i];

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

static bool equal_training(const struct join *j)
{
    bool equal = true;

    for (size_t i = 1; i < j->runs; i++)
        equal = equal && j->run[i].run.model_images * j->part[0].members ==
                             j->run[0].run.model_images * j->part[i].members;
    return equal;
}

/* Where all parts have them. */
static void join_logs(struct join *j)
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

/* Of one ensemble: what its own files say of its best epoch. */
static enum err_code tell_best(struct join *j, struct err *e)
{
    struct study_run *run;

    TRY(study_open(&run, j->run, 1, e));
    study_members_from(&j->study, run);
    study_close(run, 1);
    return ERR_OK;
}

static enum err_code join_parts(struct join *j, struct err *e)
{
    struct predictions *all = &j->all;
    struct study_answers answers;
    size_t row, at = 0;

    for (size_t i = 0; i < j->runs; i++) {
        if (j->run[i].broken || j->run[i].run.state != WIRE_DONE)
            return err_set(e, ERR_INPUT, "%s is %s: only finished runs are averaged",
                           j->run[i].name,
                           j->run[i].broken ? "broken" : wire_state_name(j->run[i].run.state));
        TRY(predictions_get(&j->part[i], &j->run[i], e));
        TRY(check_part(j, i, e));
        all->members += j->part[i].members;
    }
    *all = (struct predictions){.epoch = j->part[0].epoch,
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
    answers = predictions_answers(all);
    study_members(&j->study, &answers);
    all->labels = NULL; /* the first part's */
    j->study.unequal = !equal_training(j);
    return j->runs == 1 ? tell_best(j, e) : ERR_OK;
}

/* ---- a run of its own ---- */

static bool has_prefix(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

/* A tensor of all models behind each other: (members, ...). The files hold the same names. */
static enum err_code stack(const struct join *j, const struct safetensors *file,
                           const struct safetensors_tensor *t, struct record_pack *pack,
                           struct err *e)
{
    bool ensemble = j->run[0].run.spec.mode == SPEC_ENSEMBLE;
    size_t shape[8] = {(size_t)j->all.members}, at = 0;
    size_t one = t->size / (size_t)j->part[0].members;
    char *bytes = mem_try((size_t)j->all.members, one);
    enum err_code code = ERR_OK;

    if (!bytes)
        return err_set(e, ERR_NOMEM, "no memory for the weights of %d models", j->all.members);
    for (int d = ensemble; d < t->dims; d++)
        shape[d + !ensemble] = t->shape[d];
    for (size_t i = 0; i < j->runs && code == ERR_OK; i++) {
        const struct safetensors_tensor *own = safetensors_find(&file[i], t->name);

        if (!own || own->type != t->type || own->size != one * (size_t)j->part[i].members)
            code = err_set(e, ERR_INPUT, "%s and %s are not the same model: tensor %s",
                           j->run[0].name, j->run[i].name, t->name);
        else
            memcpy(bytes + at, own->bytes, own->size);
        at += one * (size_t)j->part[i].members;
    }
    if (code == ERR_OK)
        code = record_pack_tensor(pack, t->name, t->type, t->dims + !ensemble, shape, bytes, e);
    free(bytes);
    return code;
}

static enum err_code pack_weights(const struct join *j, const struct safetensors *file,
                                  struct record_pack *pack, struct err *e)
{
    static const char *const notes[] = {RECORD_NOTE_INPUT, RECORD_NOTE_CLASSES};

    for (size_t i = 0; i < file[0].tensors; i++) {
        const struct safetensors_tensor *t = &file[0].tensor[i];

        if (has_prefix(t->name, "params/") || has_prefix(t->name, "batch_stats/"))
            TRY(stack(j, file, t, pack, e));
    }
    for (size_t i = 0; i < MEM_COUNT(notes); i++)
        if (safetensors_note(&file[0], notes[i]))
            record_pack_note(pack, notes[i], safetensors_note(&file[0], notes[i]));
    record_pack_int(pack, RECORD_NOTE_MEMBERS, j->all.members);
    record_pack_int(pack, RECORD_NOTE_EPOCH, j->run[0].run.epochs_done);
    return ERR_OK;
}

static char *read_text(const struct record_entry *run, const char *name)
{
    char *path = io_path(run->folder, name), *text = NULL;
    size_t n;

    if (io_read_file(path, 1 << 20, &text, &n, NULL) != ERR_OK)
        text = NULL;
    free(path);
    return text;
}

/* Weights are kept where all runs are of one model: then the folder can be asked like any other. */
static enum err_code keep_weights(const struct join *j, const char *net_text, struct record *record,
                                  struct err *e)
{
    struct safetensors *file = mem_new(j->runs, sizeof *file);
    struct record_pack pack = {0};
    enum err_code code = ERR_OK;
    bool same = true;

    for (size_t i = 0; i < j->runs && same; i++) {
        char *text = read_text(&j->run[i], "model.net");

        same = text && net_text && !strcmp(text, net_text) &&
               record_read_at(j->run[i].folder, "last", &file[i], NULL) == ERR_OK;
        free(text);
    }
    if (same)
        code = pack_weights(j, file, &pack, e);
    if (same && code == ERR_OK)
        code = record_checkpoint(record, "checkpoint", pack.tensor, pack.tensors, pack.note,
                                 pack.notes, e);
    for (size_t i = 0; i < j->runs; i++)
        safetensors_free(&file[i]);
    free(file);
    record_pack_free(&pack);
    return code;
}

/* What is averaged, in its order: names and epochs. Averaged again, it is the same run. */
static void cell_of(const struct join *j, char out[17])
{
    struct hash_sha256 h;
    struct text t = {0};
    uint8_t digest[32];
    char hex[65];

    text_add(&t, "average\n");
    for (size_t i = 0; i < j->runs; i++)
        text_addf(&t, "%s %lld\n", j->run[i].run.run, (long long)j->run[i].run.epochs_done);
    hash_sha256_start(&h);
    hash_sha256_add(&h, text_str(&t), t.n);
    hash_sha256_end(&h, digest);
    hash_hex(hex, digest, sizeof digest);
    memcpy(out, hex, 16);
    out[16] = 0;
    text_free(&t);
}

static bool find_earlier(const struct join *j, struct text *folder)
{
    char cell[17], name[256];
    struct text shown = {0};
    bool found;

    cell_of(j, cell);
    found = record_find_done(cli_results(), cell, name, sizeof name);
    if (found) {
        text_addf(folder, "%s/%s", cli_results(), name);
        text_add_clean(&shown, name);
        cli_talk("these runs were averaged before: %s", text_str(&shown));
        text_free(&shown);
    }
    return found;
}

/* The settings that are not the same in all of them, in words; nothing where all are. A run has one
 * value a column, and it is the first one's. */
static void add_differing(const struct join *j, struct text *out)
{
    struct text first = {0}, other = {0};

    for (int k = 0; spec_keys[k].name; k++) {
        const char *name = spec_keys[k].name;
        bool same = true;

        if (!study_is_setting(name) || !strcmp(name, "seed") || !strcmp(name, "mode") ||
            !strcmp(name, "members"))
            continue;
        text_clear(&first);
        record_run_value(&j->run[0].run, name, &first);
        for (size_t i = 1; i < j->runs && same; i++) {
            text_clear(&other);
            record_run_value(&j->run[i].run, name, &other);
            same = !strcmp(text_str(&first), text_str(&other));
        }
        if (!same)
            text_addf(out, "%s%s", out->n ? ", " : "", name);
    }
    text_free(&first);
    text_free(&other);
}

static void fill_run(const struct join *j, struct record_run *run)
{
    struct text differing = {0};

    *run = j->run[0].run;
    run->run[0] = run->sweep[0] = run->cell[0] = run->reason[0] = run->tags[0] = 0;
    cell_of(j, run->cell);
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = j->all.members;
    run->spec.devices = 1;
    run->spec.gpus = 0;
    run->spec.name[0] = 0;
    run->started_utc[0] = run->ended_utc[0] = 0;
    run->pid = getpid();
    snprintf(run->version, sizeof run->version, "%s", chorus_version);
    run->best_epoch = run->epochs_done;
    snprintf(run->best_by, sizeof run->best_by, "test");
    run->best_test_acc = run->last_test_acc = j->study.whole.acc;
    run->best_test_loss = run->last_test_loss = j->study.whole.nll;
    run->target_seconds = RECORD_EMPTY;
    for (size_t i = 1; i < j->runs; i++) {
        const struct record_run *other = &j->run[i].run;

        run->train_seconds += other->train_seconds;
        run->eval_seconds += other->eval_seconds;
        run->wall_seconds += other->wall_seconds;
        run->device_seconds += other->device_seconds;
        run->model_images += other->model_images;
        if (other->epochs_done > run->epochs_done)
            run->epochs_done = run->best_epoch = other->epochs_done;
    }
    run->spec.epochs = run->epochs_done;
    add_differing(j, &differing);
    snprintf(run->note, sizeof run->note, "average of");
    if (differing.n) {
        snprintf(run->note, sizeof run->note, CLI_MIXED " %.200s:", text_str(&differing));
        cli_talk("they differ in %s: the new run's columns hold the first one's",
                 text_str(&differing));
    }
    text_free(&differing);
    for (size_t i = 0; i < j->runs; i++) {
        size_t n = strlen(run->note);

        snprintf(run->note + n, sizeof run->note - n, "%s %s", i ? "," : "", j->run[i].name);
    }
}

static enum err_code add_rows(const struct join *j, const struct record_run *run,
                              struct record *record, struct err *e)
{
    const struct study_members *s = &j->study;
    struct record_epoch row = {.epoch = run->epochs_done,
                               .images = run->images,
                               .model_images = run->model_images,
                               .train_seconds = run->train_seconds,
                               .eval_seconds = run->eval_seconds,
                               .device_seconds = run->device_seconds,
                               .train_loss = RECORD_EMPTY,
                               .train_acc = RECORD_EMPTY,
                               .val_loss = RECORD_EMPTY,
                               .val_acc = RECORD_EMPTY,
                               .test_loss = s->whole.nll,
                               .test_acc = s->whole.acc,
                               .member_acc_min = INFINITY,
                               .member_acc_mean = s->mean.acc,
                               .member_acc_max = s->member[s->best].acc,
                               .member_loss_mean = s->mean.nll,
                               .ece = s->whole.ece,
                               .disagreement = s->disagreement,
                               .lr = RECORD_EMPTY,
                               .images_per_second = RECORD_EMPTY,
                               .input_seconds = RECORD_EMPTY,
                               .compute_seconds = RECORD_EMPTY,
                               .reduce_seconds = RECORD_EMPTY,
                               .wait_seconds = RECORD_EMPTY};

    for (int m = 0; m < s->members; m++) {
        const struct record_member member = {.epoch = run->epochs_done,
                                             .member = m,
                                             .train_loss = RECORD_EMPTY,
                                             .train_acc = RECORD_EMPTY,
                                             .test_loss = s->member[m].nll,
                                             .test_acc = s->member[m].acc,
                                             .prefix_acc = s->prefix[m],
                                             .images_per_second = RECORD_EMPTY};

        TRY(record_add_member(record, &member, e));
        row.member_acc_min = fmin(row.member_acc_min, s->member[m].acc);
    }
    clock_utc(row.ended_utc, clock_wall());
    return record_add_epoch(record, &row, e);
}

static enum err_code save_predictions(const struct join *j, const char *folder, struct err *e)
{
    struct predictions all = j->all; /* images and labels are the first run's */
    char *path = io_path(folder, "predictions.safetensors");
    enum err_code code;

    all.images = j->part[0].images;
    all.labels = j->part[0].labels;
    all.class_names = j->part[0].class_names;
    code = predictions_save(&all, path, e);
    free(path);
    return code;
}

/* Without an end the folder would pass for that of a run that died. */
static void say_failed(struct record *record, struct record_run *run, const struct err *why)
{
    struct err e;

    run->state = WIRE_FAILED;
    snprintf(run->reason, sizeof run->reason, "%.511s", why->text);
    clock_utc(run->ended_utc, clock_wall());
    if (record_write_run(record, run, &e) != ERR_OK)
        cli_talk("%s", e.text);
}

static enum err_code write_run(const struct join *j, struct text *folder, struct err *e)
{
    struct record_run *run = mem_new(1, sizeof *run);
    struct record *record = NULL;
    char *ini, *net_text = read_text(&j->run[0], "model.net");
    enum err_code code;

    fill_run(j, run);
    run->state = WIRE_RUNNING;
    ini = plan_ini(&run->spec);
    code = record_create(&record, cli_results(), run, ini, net_text ? net_text : "", true, e);
    if (code == ERR_OK)
        code = add_rows(j, run, record, e);
    if (code == ERR_OK)
        code = keep_weights(j, net_text, record, e);
    if (code == ERR_OK)
        code = save_predictions(j, record_folder(record), e);
    if (code == ERR_OK) {
        run->state = WIRE_DONE;
        clock_utc(run->ended_utc, clock_wall());
        code = record_write_run(record, run, e);
        text_add(folder, record_folder(record));
    } else if (record) {
        say_failed(record, run, e);
    }
    if (record)
        record_close(record);
    free(net_text);
    free(run);
    free(ini);
    return code;
}

/* ---- the verb ---- */

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

static int print(const struct join *j, const struct text *folder, bool csv, bool json)
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
        text_add(&out, folder->n ? "\n" : "");
        text_add_clean(&out, text_str(folder));
        text_add(&out, folder->n ? "\n" : "");
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
    struct join j = {.run = runs, .runs = count, .part = mem_new(count, sizeof *j.part)};
    struct text folder = {0};
    struct err e;
    int code;

    if (join_parts(&j, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (count > 1 && !find_earlier(&j, &folder) && write_run(&j, &folder, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = print(&j, &folder, csv, json);
    for (size_t i = 0; i < count; i++)
        predictions_free(&j.part[i]);
    free(j.part);
    predictions_free(&j.all);
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
