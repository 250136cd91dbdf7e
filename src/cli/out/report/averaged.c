#include "cli/out/report/averaged.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "study/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void averaged_free(struct averaged *a)
{
    free(a->model);
    *a = (struct averaged){0};
}

void averaged_add_name(const struct averaged_model *model, struct text *out)
{
    if (model->member >= 0)
        text_addf(out, "member %d of ", model->member);
    text_add(out, model->run);
}

/* ---- what determines a model ---- */

/* Keys whose own value says nothing of the weights: where a model was computed, what it came to instead
 * of what was asked for, and what is looked at apart. */
static bool is_apart(const char *key)
{
    static const char *const names[] = {
        "model",   "data",      "mode",      "backend",      "devices",   "threads",     "members",
        "batch",   "epochs",    "lr",        "lr_rule",      "lr_batch",  "max_minutes", "patience",
        "sync_bn", "precision", "max_steps", "member_order", "test_limit"};

    return TEXT_IS_AMONG(key, names) || !study_is_setting(key);
}

static bool has_batchnorm(const char *folder)
{
    char *path = io_path(folder, "model.net"), *text, *rest, *line;
    bool has = false;
    size_t n;

    if (io_read_file(path, 1 << 20, &text, &n, NULL) == ERR_OK) {
        for (rest = text; !has && (line = strsep(&rest, "\n"));)
            has = !strncmp(text_trim(line), "batchnorm", 9);
        free(text);
    }
    free(path);
    return has;
}

/* Devices that share a batch compute the same as one, but for statistics and sums of each its own. */
static int devices_that_matter(const struct record_entry *run)
{
    const struct spec *s = &run->run.spec;
    bool own = s->loss_reduction == SPEC_SUM || (!s->sync_bn && has_batchnorm(run->folder));

    return s->mode == SPEC_DATA_PARALLEL && own ? s->devices : 1;
}

static void add_value(const struct record_run *run, const char *column, struct text *out)
{
    text_addf(out, "%s=", column);
    record_run_value(run, column, out);
    text_add(out, "\n");
}

/* Of all models of a run. Members of one number start alike in ensembles of any size. */
static void add_settings(const struct record_entry *run, struct text *out)
{
    const struct record_run *r = &run->run;

    for (int k = 0; spec_keys[k].name; k++)
        if (!is_apart(spec_keys[k].name))
            add_value(r, spec_keys[k].name, out);
    if (r->spec.schedule != SPEC_CONSTANT)
        add_value(r, "epochs", out);
    add_value(r, r->network_hash[0] ? "network_hash" : "model", out);
    add_value(r, r->data_hash[0] ? "data_hash" : "data", out);
    add_value(r, "lr_used", out);
    add_value(r, "precision_used", out);
    add_value(r, "images", out);
    text_addf(out, "batch=%lld\n", (long long)spec_batch(&r->spec));
    text_addf(out, "devices=%d\n", devices_that_matter(run));
}

void averaged_hash(const struct text *t, char out[17])
{
    hash_digits(out, 17, text_str(t), t->n);
}

static void identify(struct averaged *a, const struct record_entry *run)
{
    const struct spec *s = &run->run.spec;
    struct text t = {0};
    size_t settings;

    add_settings(run, &t);
    settings = t.n;
    for (int m = 0; m < a->models; m++) {
        t.n = settings;
        text_addf(&t, "member=%d order=%d\n", a->model[m].member,
                  m && s->shuffle && s->member_order == SPEC_OWN ? m : 0);
        averaged_hash(&t, a->model[m].id);
    }
    text_free(&t);
}

void averaged_of(struct averaged *a, const struct record_entry *run, int models)
{
    bool ensemble = run->run.spec.mode == SPEC_ENSEMBLE;

    if (averaged_read(a, run->folder)) {
        if (a->models == models)
            return;
        averaged_free(a);
    }
    a->models = models;
    a->model = mem_new((size_t)models, sizeof *a->model);
    for (int m = 0; m < models; m++) {
        snprintf(a->model[m].run, sizeof a->model[m].run, "%s", run->run.run);
        a->model[m].member = ensemble ? m : -1;
    }
    /* `weights` is the place of a file, whose contents may be others by now. */
    if (!run->run.spec.weights[0] && !study_entry_is_average(run))
        identify(a, run);
}

enum err_code averaged_check_at(const struct record_entry *run, const char *at, struct err *e)
{
    if (at && strcmp(at, "last") != 0 && study_entry_is_average(run))
        return err_set(
            e, ERR_INPUT,
            "%s is an average of runs, which is known at its last epoch alone: leave out "
            "--at %s",
            run->name, at);
    return ERR_OK;
}

/* ---- the file ---- */

enum err_code averaged_write(const struct averaged *a, const char *folder, struct err *e)
{
    char *path = io_path(folder, RECORD_AVERAGE);
    struct text out = {0};
    enum err_code code;

    text_add(&out, "member,run,run_member,model\n");
    for (int m = 0; m < a->models; m++) {
        sheet_add_int(&out, m);
        sheet_add_text(&out, a->model[m].run);
        if (a->model[m].member >= 0)
            sheet_add_int(&out, a->model[m].member);
        else
            sheet_add_empty(&out);
        sheet_add_text(&out, a->model[m].id);
        sheet_end_row(&out);
    }
    code = io_replace_own(path, out.s, out.n, e);
    text_free(&out);
    free(path);
    return code;
}

bool averaged_read(struct averaged *a, const char *folder)
{
    char *path = io_path(folder, RECORD_AVERAGE);
    struct sheet s = {0};
    bool read = io_exists(path) && sheet_read(path, &s, NULL) == ERR_OK && s.rows > 0;

    *a = (struct averaged){0};
    if (read) {
        a->models = (int)s.rows;
        a->model = mem_new(s.rows, sizeof *a->model);
    }
    for (int m = 0; m < a->models; m++) {
        struct averaged_model *model = &a->model[m];
        double member = sheet_number(&s, (size_t)m, sheet_column(&s, "run_member"));

        snprintf(model->run, sizeof model->run, "%s",
                 sheet_cell(&s, (size_t)m, sheet_column(&s, "run")));
        snprintf(model->id, sizeof model->id, "%s",
                 sheet_cell(&s, (size_t)m, sheet_column(&s, "model")));
        model->member = member >= 0 && member < 1e6 ? (int)member : -1;
    }
    sheet_free(&s);
    free(path);
    return read;
}
