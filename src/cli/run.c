/* cli/run.c: chorus run [FILE or RUN or NAME] [KEY=VALUE...] */
#include "cli/cli.h"

#include "base/io.h"
#include "base/mem.h"
#include "cli/drive.h"
#include "cli/dry.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "lr=0.1", "=3" and other mistakes, but not "./a=b/first.ini". */
static bool is_assignment(const char *arg)
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
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
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
    for (; n < 255 && spec_builtin_name(n); n++)
        words[n] = spec_builtin_name(n);
    words[n] = NULL;
    near = text_nearest(name, words);
    return err_set(e, ERR_INPUT,
                   "there is no experiment or run named %s%s%s%s `chorus help run` lists the "
                   "built-in experiments, `chorus ls` the runs; a file's name ends in .ini",
                   name, near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
}

static enum err_code read_run(struct spec *spec, const char *name, struct err *e)
{
    struct record_entry entry;
    struct err why;
    char *path;
    enum err_code code;

    if (cli_find_run(name, &entry, &why) != ERR_OK) {
        if (is_path(name) || name[0] == '@')
            return err_set(e, why.code, "%s", why.text);
        return unknown(name, &why, e);
    }
    path = io_path(entry.folder, "experiment.ini");
    code = spec_read(spec, path, e);
    free(path);
    record_free_entry(&entry);
    return code;
}

static enum err_code read_experiment(struct spec *spec, const char *name, struct err *e)
{
    const char *text;

    if (is_path(name) && !io_is_folder(name))
        return spec_read(spec, name, e);
    text = spec_builtin(name);
    if (text) {
        char file[SPEC_NAME];

        snprintf(file, sizeof file, "%s.ini", name);
        return spec_parse(spec, text, strlen(text), file, e);
    }
    return read_run(spec, name, e);
}

static enum err_code set_keys(struct spec *spec, int argc, char **argv, const char *name,
                              struct err *e)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '='), *key;
        enum err_code code;

        if (!is_assignment(argv[i]))
            continue;
        key = mem_text_n(argv[i], (size_t)(equals - argv[i]));
        code = spec_set(spec, key, equals + 1, "command line", NULL, e);
        for (int j = 1; code == ERR_OK && j < i; j++)
            if (is_assignment(argv[j]) && !strncmp(argv[j], argv[i], strlen(key) + 1))
                code = err_set(e, ERR_INPUT, "command line: the key %s is given twice", key);
        free(key);
        TRY(code);
    }
    for (int i = 1; name && i < argc; i++)
        if (!strncmp(argv[i], "name=", 5))
            return err_set(e, ERR_INPUT,
                           "command line: the key name is given twice, as --name and as name=");
    if (name)
        TRY(spec_set(spec, "name", name, "--name", NULL, e));
    return ERR_OK;
}

static enum err_code read_spec(struct spec *spec, int argc, char **argv, const char *name,
                               struct err *e)
{
    const char *from = NULL;

    spec_default(spec);
    for (int i = 1; i < argc; i++) {
        if (is_assignment(argv[i]))
            continue;
        if (from)
            return err_set(e, ERR_INPUT,
                           "run takes one experiment, not both %s and %s; keys are KEY=VALUE", from,
                           argv[i]);
        from = argv[i];
    }
    if (from)
        TRY(read_experiment(spec, from, e));
    TRY(set_keys(spec, argc, argv, name, e));
    return spec_check(spec, e);
}

/* The examples, and the names of what is built in. */
static void add_help(struct text *out)
{
    int column = 80;

    text_add(
        out,
        "  chorus run first                       a small one: under a minute\n"
        "  chorus run my.ini lr=0.05 epochs=20    keys override the file's\n"
        "  chorus run @ seed=1                    the newest run again, from another seed\n"
        "`chorus help keys` lists the keys. Prints the run's folder on stdout. Ctrl-C stops it after\n"
        "its step; `chorus resume` goes on.\n"
        "\nbuilt-in experiments:");
    for (int i = 0; spec_builtin_name(i); i++) {
        const char *name = spec_builtin_name(i);
        int n = (int)strlen(name);

        if (column + 2 + n > 78) {
            text_add(out, "\n ");
            column = 1;
        }
        text_addf(out, " %s%s", name, spec_builtin_name(i + 1) ? "," : "\n");
        column += 2 + n;
    }
}

int cli_run(int argc, char **argv)
{
    bool background = false, quiet = false, json = false, dry = false;
    const char *name = NULL;
    const struct cli_option options[] = {
        {"--name", "NAME", "becomes part of the folder's name", &name},
        {"--background", NULL, "starts it in a process of its own and returns", &background},
        {"--dry-run", NULL, "prints the resolved experiment and an estimate, writes nothing", &dry},
        {"--quiet", NULL, "says nothing but the folder", &quiet},
        {"--json", NULL, "prints run.csv as an object instead of the folder", &json},
        {"--tui", NULL, NULL, NULL},
        {"--jobs", "N", NULL, NULL},
        {"--failed", NULL, NULL, NULL},
        {"--match", "RUN", NULL, NULL},
        {"--order", "grid", NULL, NULL},
        {"--max-cells", "N", NULL, NULL},
        {NULL, NULL, NULL, NULL},
    };
    struct cli_usage usage = {
        "run [FILE or RUN or NAME] [KEY=VALUE...]",
        "Trains: an experiment's file, an earlier run again, or a built-in experiment; without any "
        "of them, the defaults.",
        NULL};
    struct text help = {0};
    struct wire_start *start;
    struct drive_end end;
    struct err e;
    int code;

    add_help(&help);
    usage.more = text_str(&help);
    code = cli_options(&usage, options, &argc, argv);
    text_free(&help);
    if (code != CLI_ON)
        return code;
    start = mem_new(1, sizeof *start);
    if (read_spec(&start->spec, argc, argv, name, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (dry)
        code = dry_run(&start->spec, json);
    else if (background)
        code = drive_background(start, quiet, json);
    else if (drive_run(start, start->spec.max_steps, quiet, &end, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = drive_finish(&end, quiet, json);
    free(start);
    return code;
}
