/* The manifest of a report: all that it takes to make it again. */
#include "cli/out/report/report.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/out/report/averaged.h"
#include "cli/version.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "ui/tasks/jobs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How it begins, by which a report's folder is known again: "made TIME by chorus VERSION" */
#define MADE      "made "
#define BY        " by chorus "
#define FILE_NAME "manifest.txt"

struct networks { /* each that was trained, once */
    char **name, **text;
    size_t n, name_room, text_room;
};

/* "networks/lenet.net", or lenet-2 for another of that name. The caller frees it. */
static char *network_name(const struct networks *known, const char *model)
{
    const char *slash = strrchr(model, '/'), *base = slash ? slash + 1 : model;
    char *clean = mem_text_n(base, text_stem(base, ".net")), *name = NULL;

    for (char *c = clean; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
            *c = '_';
    for (size_t number = 1; !name; number++) {
        name = number == 1 ? mem_textf("networks/%s.net", clean)
                           : mem_textf("networks/%s-%zu.net", clean, number);
        for (size_t i = 0; i < known->n && name; i++)
            if (!strcmp(known->name[i], name)) {
                free(name);
                name = NULL;
            }
    }
    free(clean);
    return name;
}

/* The network's file in the report, written where no run before this one had the same; NULL where its
 * folder has none that is a file. */
static enum err_code add_network(struct report *r, struct networks *known,
                                 const struct record_entry *run, const char **name, struct err *e)
{
    char *path = io_path(run->folder, "model.net"), *text = NULL;
    size_t n, i = 0;
    enum err_code code = io_read_file(path, 1 << 20, &text, &n, e);
    struct text bytes = {0};

    *name = NULL;
    free(path);
    if (code != ERR_OK)
        return code == ERR_INPUT ? ERR_OK : code;
    while (i < known->n && strcmp(known->text[i], text) != 0)
        i++;
    if (i < known->n) {
        *name = known->name[i];
        free(text);
        return ERR_OK;
    }
    known->name = mem_grow(known->name, &known->name_room, i + 1, sizeof *known->name);
    known->text = mem_grow(known->text, &known->text_room, i + 1, sizeof *known->text);
    known->name[i] = network_name(known, run->run.spec.model);
    known->text[i] = text;
    known->n++;
    *name = known->name[i];
    text_add(&bytes, text);
    code = report_write(r, *name, &bytes, e);
    text_free(&bytes);
    return code;
}

static void free_networks(struct networks *known)
{
    for (size_t i = 0; i < known->n; i++) {
        free(known->name[i]);
        free(known->text[i]);
    }
    free(known->name);
    free(known->text);
}

/* As an experiment that runs again as it stands, in the report's folder. run.csv has no parameters of
 * a model: they are the folder's. */
static enum err_code add_settings(struct report *r, struct networks *known,
                                  const struct record_entry *entry, struct text *out, struct err *e)
{
    char *path = io_path(entry->folder, "experiment.ini");
    struct spec *spec = mem_new(1, sizeof *spec), *own = mem_new(1, sizeof *own);
    const char *network;
    enum err_code code = add_network(r, known, entry, &network, e);

    *spec = entry->run.spec;
    spec_default(own);
    if (spec_read(own, path, NULL) == ERR_OK) {
        memcpy(spec->param, own->param, sizeof spec->param);
        spec->params = own->params;
    }
    if (network)
        snprintf(spec->model, sizeof spec->model, "%s", network);
    if (code == ERR_OK)
        spec_write(spec, out);
    free(spec);
    free(own);
    free(path);
    return code;
}

/* Those of an average, which is no experiment: where its runs differ there is no value of it. */
static enum err_code add_common_settings(struct report *r, struct networks *known,
                                         const struct record_entry *entry, struct text *out,
                                         struct err *e)
{
    struct text value = {0};
    const char *network = NULL;

    if (!record_run_is_several(&entry->run, "model"))
        TRY(add_network(r, known, entry, &network, e));
    for (int k = 0; spec_keys[k].name; k++) {
        text_clear(&value);
        if (network && !strcmp(spec_keys[k].name, "model"))
            text_add(&value, network);
        else
            record_run_value(&entry->run, spec_keys[k].name, &value);
        if (value.n)
            text_addf(out, "%s = %s\n", spec_keys[k].name, text_str(&value));
    }
    text_free(&value);
    return ERR_OK;
}

/* The models that stand in it; an older average has its note alone. */
static void add_averaged(const struct record_entry *entry, struct text *out)
{
    struct averaged of;

    if (!averaged_read(&of, entry->folder))
        text_addf(out, "# %s\n", entry->run.note);
    for (int m = 0; m < of.models; m++) {
        text_add(out, "# averaged: ");
        averaged_add_name(&of.model[m], out);
        text_add(out, "\n");
    }
    averaged_free(&of);
}

static enum err_code add_run(struct report *r, struct networks *known,
                             const struct record_entry *entry, struct text *out, struct err *e)
{
    const struct record_run *run = &entry->run;
    struct text seed = {0};

    record_run_value(run, "seed", &seed);
    text_addf(out, "\nrun %s\n", entry->name);
    text_addf(out, "# %s, seed %s, %s on %s (%s, %s), chorus %s, %s to %s\n",
              wire_state_name(run->state), text_str(&seed), run->backend_used, run->host, run->isa,
              run->precision_used, run->version, run->started_utc, run->ended_utc);
    text_free(&seed);
    if (!study_entry_is_average(entry))
        return add_settings(r, known, entry, out, e);
    add_averaged(entry, out);
    return add_common_settings(r, known, entry, out, e);
}

char *report_read_manifest(const char *folder)
{
    char *path = io_path(folder, FILE_NAME), *text = NULL;
    size_t n;

    if (io_read_file(path, 16 << 20, &text, &n, NULL) != ERR_OK ||
        strncmp(text, MADE, strlen(MADE)) != 0 || !strstr(text, BY)) {
        free(text);
        text = NULL;
    }
    free(path);
    return text;
}

static bool has_file(const struct report *r, const char *name)
{
    bool has = false;

    for (size_t i = 0; i < r->names && !has; i++)
        has = !strcmp(r->name[i], name);
    return has;
}

void report_remove_old(const struct report *r, char *manifest)
{
    char *rest = manifest, *line;

    while ((line = strsep(&rest, "\n"))) {
        const char *name = line + 66;
        char *path;

        if (strlen(line) < 67 || strspn(line, "0123456789abcdef") != 64 ||
            strncmp(line + 64, "  ", 2) != 0 || *name == '/' || strstr(name, "..") ||
            has_file(r, name))
            continue;
        path = io_path(r->folder, name);
        io.unlink(path);
        free(path);
    }
}

static void add_made(struct text *out)
{
    char now[CLOCK_UTC_ROOM];

    clock_utc(now, clock_wall());
    text_addf(out, MADE "%s" BY "%s\n", now, chorus_version);
}

enum err_code report_claim(const struct report *r, struct err *e)
{
    char *path = io_path(r->folder, FILE_NAME);
    struct text made = {0};
    enum err_code code = io_make_folders(r->folder, e);

    add_made(&made);
    if (code == ERR_OK)
        code = io_replace_own(path, text_str(&made), made.n, e);
    text_free(&made);
    free(path);
    return code;
}

void report_unclaim(const struct report *r)
{
    char *path = io_path(r->folder, FILE_NAME);

    io.unlink(path);
    free(path);
}

enum err_code report_manifest(struct report *r, struct err *e)
{
    struct text out = {0}, runs = {0}, word = {0};
    struct networks known = {0};
    enum err_code code = ERR_OK;

    for (size_t i = 0; i < r->runs && code == ERR_OK; i++)
        code = add_run(r, &known, &r->run[i], &runs, e);
    add_made(&out);
    text_add(&out, "command: chorus report");
    for (int i = 1; i < r->argc; i++) {
        text_clear(&word);
        jobs_add_word(&word, r->argv[i]);
        text_add(&out, " ");
        text_add_clean(&out, text_str(&word));
    }
    text_add(&out, "\n\nfiles (SHA-256)\n");
    text_add(&out, text_str(&r->files));
    text_add(&out, text_str(&runs));
    if (code == ERR_OK)
        code = report_write(r, FILE_NAME, &out, e);
    free_networks(&known);
    text_free(&out);
    text_free(&runs);
    text_free(&word);
    return code;
}
