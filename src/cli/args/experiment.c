/* cli/args/experiment.c: what `run` starts from: a file, what is built in, or an earlier run; and the keys of
 * the command line behind it. */
#include "cli/args/experiment.h"

#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "data/data.h"
#include "data/places.h"
#include "net/net.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "spec/spec.h"
#include "study/runs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "experiments"

/* "lr=0.1", "=3" and other mistakes, but not "./a=b/first.ini". */
bool experiment_is_assignment(const char *arg)
{
    const char *equals = strchr(arg, '=');

    if (!equals)
        return false;
    for (const char *s = arg; s < equals; s++)
        if (!isalnum((unsigned char)*s) && *s != '_' && *s != '.' && *s != '-')
            return false;
    return true;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || text_ends_with(name, ".ini");
}

static enum err_code unknown(const char *name, const struct err *why, struct err *e)
{
    const char *words[256], *near;
    int n = 0;

    if (!*name)
        return err_set(e, ERR_INPUT,
                       "'' names no experiment and no run; `chorus help run` lists the built-in "
                       "experiments, `chorus ls` the runs");
    /* A filter, a part of several names: more is known than that there is none. */
    if (strncmp(why->text, "there is no run", 15) != 0)
        return err_set(e, why->code, "%s", why->text);
    if (net_builtin(name))
        return err_set(
            e, ERR_INPUT,
            "there is no experiment or run named %s: it is a model. model=%s takes it, as "
            "chorus run model=%s",
            name, name, name);
    for (; n < 255 && spec_builtin_name(n); n++)
        words[n] = spec_builtin_name(n);
    words[n] = NULL;
    near = text_nearest(name, words);
    return err_set(e, ERR_INPUT,
                   "there is no experiment or run named %s%s%s%s `chorus help run` lists the "
                   "built-in experiments, `chorus ls` the runs; a file's name ends in .ini",
                   name, near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
}

/* The experiment of a run, where that is still what was trained. */
static enum err_code read_settings(struct spec_sweep *s, const struct record_entry *entry,
                                   struct err *e)
{
    struct spec *whole = mem_new(1, sizeof *whole);
    char *path = io_path(entry->folder, "experiment.ini");
    enum err_code code = record_read_spec(entry->folder, whole, e);

    if (code == ERR_OK)
        code = spec_sweep_read(s, path, e);
    free(path);
    free(whole);
    return code;
}

enum err_code experiment_read_run(struct spec_sweep *s, const char *name, char *sweep,
                                  struct err *e)
{
    struct record_entry entry;
    struct err why;
    enum err_code code;

    if (cli_find_run(name, &entry, &why) != ERR_OK) {
        if (io_is_folder(name))
            return err_set(e, ERR_INPUT,
                           "%s is a folder, and neither a run's nor a data set's: name a file "
                           "(NAME.ini), a built-in experiment (`chorus help run` lists them) or a "
                           "run",
                           name);
        if (is_path(name) || name[0] == '@')
            return err_set(e, why.code, "%s", why.text);
        return unknown(name, &why, e);
    }
    if (sweep)
        spec_sweep_name_after_run(entry.name, sweep);
    code = study_check_trainable(&entry, e);
    if (code == ERR_OK)
        code = read_settings(s, &entry, e);
    record_free_entry(&entry);
    return code;
}

/* experiments/NAME.ini, which goes before what is built in under that name; NULL: there is none. */
static char *file_of(const char *name)
{
    char *path =
        *name && name[0] != '.' && !strchr(name, '/') ? mem_textf(FOLDER "/%s.ini", name) : NULL;

    if (path && io_exists(path))
        return path;
    free(path);
    return NULL;
}

/* A file that is not what is built in is easily forgotten. */
static void say_file(const char *path, const char *builtin)
{
    char *text = NULL;
    size_t n = 0;

    if (!builtin || io_read_file(path, 1 << 20, &text, &n, NULL) != ERR_OK)
        return;
    if (n != strlen(builtin) || memcmp(text, builtin, n) != 0)
        cli_talk("%s is taken, not the built-in experiment of that name", path);
    free(text);
}

static bool is_data_folder(const char *path)
{
    struct data_found found;
    bool is = io_is_folder(path) && data_find(&found, path, cli_places(), NULL) == ERR_OK;

    if (is)
        data_found_free(&found);
    return is;
}

/* A file of another kind, or the name of one, which a key takes: that is what was meant. */
static bool is_other_kind(const char *from, struct err *e)
{
    char sweep[128];
    const char *what = NULL, *key = "", *behind = "", *ending = "", *here;

    if (record_is_run(from) || record_sweep_of_path(cli_results(), from, sweep))
        return false;
    if (text_has_ending_any_case(from, ".net")) {
        what = "a model";
        key = "model";
        ending = ".net";
    } else if (text_has_ending_any_case(from, ".safetensors")) {
        what = "a file of weights";
        key = "weights";
        ending = ".safetensors";
    } else if (text_has_ending_any_case(from, ".csv") || is_data_folder(from)) {
        what = "a data set";
        key = "data";
        behind = text_has_ending_any_case(from, ".csv") ? " model=mlp" : "";
    }
    /* in capitals only a slash tells the key that it is a path */
    here = strchr(from, '/') || text_ends_with(from, ending) ? "" : "./";
    if (what && io_exists(from))
        err_set(e, ERR_INPUT, "%s is %s and no experiment: chorus run %s=%s%s%s takes it", from,
                what, key, here, from, behind);
    else if (what)
        err_set(e, ERR_INPUT, "there is no file %s; %s goes by its key: chorus run %s=%s%s%s", from,
                what, key, here, from, behind);
    return what != NULL;
}

/* The name of an experiment, written as a file that is not there. */
static enum err_code no_file(const char *file, struct err *e)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    char *name = mem_text_n(base, strlen(base) - (text_ends_with(base, ".ini") ? 4 : 0));
    char *own = file_of(name);
    bool is = own || spec_builtin(name);

    err_set(e, ERR_INPUT,
            "there is no file %s%s%s%s `chorus help run` lists the built-in experiments, "
            "`chorus ls` the runs",
            file, is ? "; did you mean " : ";", is ? name : "", is ? "?" : "");
    free(own);
    free(name);
    return ERR_INPUT;
}

enum err_code experiment_read(struct spec_sweep *s, const char *from, bool quiet,
                              char name[SPEC_NAME], struct err *e)
{
    bool path = is_path(from) && !io_is_folder(from);
    const char *text = path ? NULL : spec_builtin(from);
    char *file = path ? mem_text(from) : file_of(from);
    enum err_code code;

    if (!text && is_other_kind(from, e)) {
        free(file);
        return ERR_INPUT;
    }
    if (!file && !text)
        return experiment_read_run(s, from, name, e);
    if (file && !quiet)
        say_file(file, text);
    spec_sweep_name_after(file ? file : from, name);
    if (file) {
        code = spec_sweep_read(s, file, e);
        if (code != ERR_OK && e->sys == ENOENT)
            code = no_file(file, e);
    } else {
        file = mem_textf("built-in experiment %s", from);
        code = spec_sweep_parse(s, text, strlen(text), file, e);
    }
    free(file);
    return code;
}

enum err_code experiment_set_keys(struct spec_sweep *s, int argc, char **argv, struct err *e)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '='), *key;
        enum err_code code;

        if (!experiment_is_assignment(argv[i]))
            continue;
        key = mem_text_n(argv[i], (size_t)(equals - argv[i]));
        code = spec_sweep_set(s, key, equals + 1, "command line", NULL, e);
        for (int j = 1; code == ERR_OK && j < i; j++)
            if (experiment_is_assignment(argv[j]) && !strncmp(argv[j], argv[i], strlen(key) + 1))
                code = err_set(e, ERR_INPUT, "command line: the key %s is given twice", key);
        free(key);
        TRY(code);
    }
    return ERR_OK;
}
