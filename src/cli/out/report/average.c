/* cli/out/report/average.c: finished runs that were averaged, as a run of its own. */
#include "cli/out/report/average.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/version.h"
#include "engine/plan.h"
#include "record/file/disk.h"
#include "record/list.h"
#include "record/run/checkpoint.h"
#include "record/run/export.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "spec/spec.h"
#include "study/members.h"
#include "study/runs.h"
#include "wire/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t average_last_epoch(const struct average *a)
{
    int64_t last = 0;

    for (size_t i = 0; i < a->runs; i++)
        if (a->run[i].run.epochs_done > last)
            last = a->run[i].run.epochs_done;
    return last;
}

static bool has_prefix(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

/* A tensor of all models behind each other: (members, ...). The files hold the same names. */
static enum err_code stack(const struct average *a, const struct safetensors *file,
                           const struct safetensors_tensor *t, struct record_pack *pack,
                           struct err *e)
{
    bool ensemble = a->run[0].run.spec.mode == SPEC_ENSEMBLE;
    size_t shape[8] = {(size_t)a->all.members}, at = 0;
    size_t one = t->size / (size_t)a->part[0].members;
    char *bytes = mem_try((size_t)a->all.members, one);
    enum err_code code = ERR_OK;

    if (!bytes)
        return err_set(e, ERR_NOMEM, "no memory for the weights of %d models", a->all.members);
    for (int d = ensemble; d < t->dims; d++)
        shape[d + !ensemble] = t->shape[d];
    for (size_t i = 0; i < a->runs && code == ERR_OK; i++) {
        const struct safetensors_tensor *own = safetensors_find(&file[i], t->name);

        if (!own || own->type != t->type || own->size != one * (size_t)a->part[i].members)
            code = err_set(e, ERR_INPUT, "%s and %s are not the same model: tensor %s",
                           a->run[0].name, a->run[i].name, t->name);
        else
            memcpy(bytes + at, own->bytes, own->size);
        at += one * (size_t)a->part[i].members;
    }
    if (code == ERR_OK)
        code = record_pack_tensor(pack, t->name, t->type, t->dims + !ensemble, shape, bytes, e);
    free(bytes);
    return code;
}

static enum err_code pack_weights(const struct average *a, const struct safetensors *file,
                                  struct record_pack *pack, struct err *e)
{
    static const char *const notes[] = {RECORD_NOTE_INPUT, RECORD_NOTE_CLASSES};

    for (size_t i = 0; i < file[0].tensors; i++) {
        const struct safetensors_tensor *t = &file[0].tensor[i];

        if (has_prefix(t->name, "params/") || has_prefix(t->name, "batch_stats/"))
            TRY(stack(a, file, t, pack, e));
    }
    for (size_t i = 0; i < MEM_COUNT(notes); i++)
        if (safetensors_note(&file[0], notes[i]))
            record_pack_note(pack, notes[i], safetensors_note(&file[0], notes[i]));
    record_pack_int(pack, RECORD_NOTE_MEMBERS, a->all.members);
    record_pack_int(pack, RECORD_NOTE_EPOCH, average_last_epoch(a));
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
static enum err_code keep_weights(const struct average *a, const char *net_text,
                                  struct record *record, struct err *e)
{
    struct safetensors *file = mem_new(a->runs, sizeof *file);
    struct record_pack pack = {0};
    enum err_code code = ERR_OK;
    bool same = true;

    for (size_t i = 0; i < a->runs && same; i++) {
        char *text = read_text(&a->run[i], "model.net");

        same = text && net_text && !strcmp(text, net_text) &&
               record_read_at(a->run[i].folder, "last", &file[i], NULL) == ERR_OK;
        free(text);
    }
    if (same)
        code = pack_weights(a, file, &pack, e);
    if (same && code == ERR_OK)
        code = record_checkpoint(record, "checkpoint", pack.tensor, pack.tensors, pack.note,
                                 pack.notes, e);
    for (size_t i = 0; i < a->runs; i++)
        safetensors_free(&file[i]);
    free(file);
    record_pack_free(&pack);
    return code;
}

/* What is averaged, in its order: names and epochs. Averaged again, it is the same run. */
static void cell_of(const struct average *a, char out[17])
{
    struct text t = {0};

    text_add(&t, "average\n");
    for (size_t i = 0; i < a->runs; i++)
        text_addf(&t, "%s %lld\n", a->run[i].run.run, (long long)a->run[i].run.epochs_done);
    averaged_hash(&t, out);
    text_free(&t);
}

bool average_find_earlier(const struct average *a, struct text *folder)
{
    char cell[17], name[256];
    bool found;

    cell_of(a, cell);
    found = record_find_done(cli_results(), cell, name, sizeof name);
    if (found) {
        text_addf(folder, "%s/%s", cli_results(), name);
        cli_talk("these runs were averaged before: %s", TEXT_CLEAN(name));
    }
    return found;
}

/* What the average has of its own, whatever the runs have. */
static bool is_own(const char *column)
{
    static const char *const own[] = {"run",           "sweep",          "cell",
                                      "state",         "reason",         "pid",
                                      "version",       "started_utc",    "ended_utc",
                                      "name",          "mode",           "members",
                                      "repeats",       "epochs_done",    "best_epoch",
                                      "best_by",       "best_test_acc",  "best_test_loss",
                                      "last_test_acc", "last_test_loss", "train_seconds",
                                      "eval_seconds",  "wall_seconds",   "device_seconds",
                                      "model_images",  "target_seconds", "tags",
                                      "note"};

    return TEXT_IS_AMONG(column, own);
}

/* Whether the column says something of the run: a key does where it has an effect. */
static bool says(const struct record_run *run, const char *column)
{
    int key = spec_key_find(column);

    return key < 0 || spec_applies(&run->spec, key);
}

/* The first run of which the column says something; none: a->runs. */
static size_t first_to_say(const struct average *a, const char *column)
{
    size_t i = 0;

    while (i < a->runs && !says(&a->run[i].run, column))
        i++;
    return i;
}

static bool same_in_all(const struct average *a, const char *column)
{
    struct text first = {0}, other = {0};
    size_t i = first_to_say(a, column);
    bool same = true;

    if (i < a->runs)
        record_run_value(&a->run[i].run, column, &first);
    while (++i < a->runs && same) {
        if (!says(&a->run[i].run, column))
            continue;
        text_clear(&other);
        record_run_value(&a->run[i].run, column, &other);
        same = !strcmp(text_str(&first), text_str(&other));
    }
    text_free(&first);
    text_free(&other);
    return same;
}

static void mark_several(const struct average *a, struct record_run *run)
{
    for (const char *const *column = record_run_columns; *column; column++)
        if (!is_own(*column) && !same_in_all(a, *column))
            record_run_set_several(run, *column);
}

/* Models of one seed saw the images in one order, others each in its own. Where some share an order and
 * others another, neither word is true. */
static void set_order(const struct average *a, struct record_run *run)
{
    size_t i = first_to_say(a, "member_order");
    bool differ = run->spec.shuffle && !same_in_all(a, "seed");

    if (i == a->runs) {
        run->spec.member_order = differ ? SPEC_OWN : SPEC_SAME;
        return;
    }
    run->spec.member_order = a->run[i].run.spec.member_order;
    if (record_run_is_several(&a->run[i].run, "member_order") ||
        (differ && run->spec.member_order == SPEC_SAME))
        record_run_set_several(run, "member_order");
}

/* The settings that are not the same in all of them, in words; nothing where all are. */
static void add_differing(const struct record_run *run, struct text *out)
{
    for (int k = 0; spec_keys[k].name; k++) {
        const char *name = spec_keys[k].name;

        if (study_is_setting(name) && strcmp(name, "seed") != 0 && !is_own(name) &&
            record_run_is_several(run, name))
            text_addf(out, "%s%s", out->n ? ", " : "", name);
    }
}

static void fill_run(const struct average *a, struct record_run *run)
{
    struct text differing = {0};

    *run = a->run[0].run;
    run->run[0] = run->sweep[0] = run->cell[0] = run->reason[0] = run->tags[0] = 0;
    cell_of(a, run->cell);
    run->spec.mode = SPEC_ENSEMBLE;
    run->spec.members = a->all.members;
    run->spec.devices = 1;
    run->spec.gpus = 0;
    run->spec.name[0] = 0;
    run->started_utc[0] = run->ended_utc[0] = run->epochs_check[0] = 0;
    run->pid = getpid();
    snprintf(run->version, sizeof run->version, "%s", chorus_version);
    run->best_epoch = run->epochs_done;
    snprintf(run->best_by, sizeof run->best_by, "test");
    run->best_test_acc = run->last_test_acc = a->study.whole.acc;
    run->best_test_loss = run->last_test_loss = a->study.whole.nll;
    run->target_seconds = RECORD_EMPTY;
    for (size_t i = 1; i < a->runs; i++) {
        const struct record_run *other = &a->run[i].run;

        run->train_seconds += other->train_seconds;
        run->eval_seconds += other->eval_seconds;
        run->wall_seconds += other->wall_seconds;
        run->device_seconds += other->device_seconds;
        run->model_images += other->model_images;
    }
    run->epochs_done = run->best_epoch = average_last_epoch(a);
    run->spec.epochs = run->epochs_done;
    mark_several(a, run);
    set_order(a, run);
    add_differing(run, &differing);
    snprintf(run->note, sizeof run->note, "average of");
    if (differing.n) {
        snprintf(run->note, sizeof run->note,
                 "average of runs that differ in %.200s:", text_str(&differing));
        cli_talk("they differ in %s, which the new run's columns call " RECORD_SEVERAL,
                 text_str(&differing));
    }
    text_free(&differing);
    for (size_t i = 0; i < a->runs; i++) {
        size_t n = strlen(run->note);

        snprintf(run->note + n, sizeof run->note - n, "%s %s", i ? "," : "", a->run[i].name);
    }
}

/* Where all runs took as many. */
static int64_t common_step(const struct average *a)
{
    struct study_run *runs;
    double step;
    bool same = true;

    if (study_open(&runs, a->run, a->runs, NULL) != ERR_OK)
        return RECORD_NO_COUNT;
    step = study_at(&runs[0], runs[0].last, "step");
    for (size_t i = 0; i < a->runs && same; i++)
        same = study_at(&runs[i], runs[i].last, "step") == step;
    study_close(runs, a->runs);
    return same ? (int64_t)step : RECORD_NO_COUNT;
}

static enum err_code add_rows(const struct average *a, const struct record_run *run,
                              struct record *record, struct err *e)
{
    const struct study_members *s = &a->study;
    bool several = record_run_is_several(run, "images");
    struct record_epoch row = {.epoch = run->epochs_done,
                               .step = common_step(a),
                               .images = several ? RECORD_NO_COUNT : run->images,
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

static enum err_code save_predictions(const struct average *a, const char *folder, struct err *e)
{
    struct study_answers all = a->all; /* images and labels are the first run's */
    char *path = io_path(folder, "predictions.safetensors");
    enum err_code code;

    all.images = a->part[0].images;
    all.labels = a->part[0].labels;
    memcpy(all.data_hash, a->part[0].data_hash, sizeof all.data_hash);
    all.class_names = a->part[0].class_names;
    code = study_answers_save(&all, path, e);
    free(path);
    return code;
}

static enum err_code save_models(const struct average *a, const char *folder, struct err *e)
{
    struct averaged all = {.model = mem_new((size_t)a->all.members, sizeof *all.model)};
    enum err_code code;

    for (size_t i = 0; i < a->runs; i++)
        for (int m = 0; m < a->models[i].models; m++)
            all.model[all.models++] = a->models[i].model[m];
    code = averaged_write(&all, folder, e);
    averaged_free(&all);
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

enum err_code average_write_run(const struct average *a, struct text *folder, struct err *e)
{
    struct record_run *run = mem_new(1, sizeof *run);
    struct record *record = NULL;
    char *net_text = read_text(&a->run[0], "model.net");
    struct text ini = {0};
    enum err_code code;

    fill_run(a, run);
    run->state = WIRE_RUNNING;
    plan_add_ini(&run->spec, &ini);
    code = record_create(&record, cli_results(), run, text_str(&ini), net_text ? net_text : "",
                         true, e);
    if (code == ERR_OK)
        code = add_rows(a, run, record, e);
    else
        record_say_elsewhere(cli_results(), e);
    if (code == ERR_OK)
        code = keep_weights(a, net_text, record, e);
    if (code == ERR_OK)
        code = save_predictions(a, record_folder(record), e);
    if (code == ERR_OK)
        code = save_models(a, record_folder(record), e);
    if (code == ERR_OK)
        code = record_sync(record, e);
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
    text_free(&ini);
    return code;
}
