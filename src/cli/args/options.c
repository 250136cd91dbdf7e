/* cli/args/options.c: a small option parser, and the folders that options and the environment name. */
#include "cli/args/options.h"

#include "base/again.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "data/data.h"
#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *results_given;
static struct data_places places;
static const char *data_given;

static const struct cli_option common[] = {
    {"--results", "DIR", "where runs lie (CHORUS_RESULTS, or ./results)", &results_given},
    {"--data-dir", "DIR", "where data sets lie (CHORUS_DATA)", &data_given},
    {"--help", NULL, "this text", NULL},
    {NULL, NULL, NULL, NULL},
};

const char cli_written[] = "FILE";
static bool force;

static const struct cli_option forcing[] = {
    {"--force", NULL, "replace a file that is not empty", &force},
    {NULL, NULL, NULL, NULL},
};

/* --force, if the verb writes files. */
static const struct cli_option *forcing_of(const struct cli_option *options)
{
    for (const struct cli_option *o = options; o && o->name; o++)
        if (o->value == cli_written)
            return forcing;
    return NULL;
}

enum err_code cli_check_written(const char *verb, const char *option, const char *file,
                                struct err *e)
{
    if (force || !file || !strcmp(file, "-") || !io_has_content(file))
        return ERR_OK;
    return err_set(e, ERR_INPUT, "%s %s %s: this file is not empty; --force replaces it", verb,
                   option, file);
}

static int check_all_written(const char *verb, const struct cli_option *options)
{
    struct err e;

    for (const struct cli_option *o = options; o && o->name; o++)
        if (o->value == cli_written &&
            cli_check_written(verb, o->name, *(const char *const *)o->out, &e) != ERR_OK)
            return cli_fail(&e);
    return CLI_ON;
}

static const char *results_without(void)
{
    const char *env = getenv("CHORUS_RESULTS");

    return env && *env ? env : "results";
}

const char *cli_results(void)
{
    return results_given ? results_given : results_without();
}

int cli_check_results(void)
{
    if (io_exists(cli_results()) && !io_is_folder(cli_results()))
        return cli_refuse("results cannot lie in %s: it is no folder", TEXT_CLEAN(cli_results()));
    if (strcmp(cli_results(), "results") != 0 && !io_exists(cli_results()))
        return cli_refuse("there are no results in %s, which is not there (--results DIR and "
                          "CHORUS_RESULTS name the folder)",
                          TEXT_CLEAN(cli_results()));
    return CLI_ON;
}

const struct data_places *cli_places(void)
{
    const char *env = getenv("CHORUS_DATA");

    places.given = data_given ? data_given : env && *env ? env : NULL;
    return &places;
}

static void add_options(struct text *out, const struct cli_option *options)
{
    for (const struct cli_option *o = options; o && o->name; o++) {
        char left[64];

        if (!o->help || (!o->out && strcmp(o->name, "--help") != 0))
            continue;
        snprintf(left, sizeof left, "%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        text_addf(out, "  %-18s %s\n", left, o->help);
    }
}

static int print_help(const struct cli_usage *usage, const struct cli_option *options)
{
    struct text out = {0};
    int code;

    text_addf(&out, "usage: chorus %s\n%s\n", usage->line, usage->summary);
    if (usage->more)
        text_addf(&out, "\n%s", usage->more);
    text_add(&out, "\noptions:\n");
    add_options(&out, options);
    add_options(&out, forcing_of(options));
    add_options(&out, common);
    code = cli_print(&out);
    text_free(&out);
    return code;
}

/* The option that an argument begins with; *value is what stands behind its "=", or NULL. */
static const struct cli_option *find_option(const struct cli_option *options, const char *arg,
                                            const char **value)
{
    for (const struct cli_option *o = options; o && o->name; o++) {
        size_t n = strlen(o->name);

        if (strncmp(arg, o->name, n) != 0)
            continue;
        *value = NULL;
        if (!arg[n])
            return o;
        if (arg[n] == '=' && n > 2) {
            *value = arg + n + 1;
            return o;
        }
        /* -n5 */
        if (n == 2 && o->value && arg[1] != '-') {
            *value = arg + n;
            return o;
        }
    }
    return NULL;
}

/* "--learning-rate=3" where keys are taken: whether it is one of an experiment. */
static bool is_key(const char *verb, const char *arg, char key[32])
{
    size_t n = 0;

    if (strcmp(verb, "run") != 0 && strcmp(verb, "bench") != 0 && strcmp(verb, "resume") != 0)
        return false;
    for (arg += strspn(arg, "-"); *arg && *arg != '=' && n < 31; arg++)
        key[n++] = *arg == '-' ? '_' : *arg;
    key[n] = 0;
    return spec_key_find(key) >= 0;
}

static int refuse_unknown(const char *verb, const struct cli_option *options, const char *arg)
{
    const char *words[64];
    size_t n = 0;
    const char *shown = TEXT_CLEAN(arg), *near;
    char key[32];

    for (const struct cli_option *o = options; o && o->name && n + 8 < MEM_COUNT(words); o++)
        if (o->out)
            words[n++] = o->name;
    if (forcing_of(options))
        words[n++] = forcing->name;
    for (const struct cli_option *o = common; o->name; o++)
        words[n++] = o->name;
    words[n] = NULL;
    near = text_nearest(arg, words);
    if (is_key(verb, arg, key))
        cli_refuse("%s has no option %s: a key of the experiment goes without dashes, as %s=VALUE",
                   verb, shown, key);
    else if (near)
        cli_refuse("%s has no option %s; did you mean %s?", verb, shown, near);
    else if (!strcmp(verb, "chorus"))
        cli_refuse("chorus has no option %s; `chorus --ascii --help` lists those of the workbench",
                   shown);
    else
        cli_refuse("%s has no option %s; `chorus %s --help` lists them", verb, shown, verb);
    return err_exit_code(ERR_INPUT);
}

int cli_options(const struct cli_usage *usage, const struct cli_option *options, int *argc,
                char **argv)
{
    int kept = 1;
    const char *verb = argv[0];

    for (int i = 1; i < *argc; i++) {
        const char *arg = argv[i], *value;
        const struct cli_option *o;

        if (!strcmp(arg, "--")) {
            for (i++; i < *argc; i++)
                argv[kept++] = argv[i];
            break;
        }
        if (arg[0] != '-' || !arg[1]) {
            argv[kept++] = argv[i];
            continue;
        }
        if (!strcmp(arg, "-h"))
            arg = "--help";
        o = find_option(options, arg, &value);
        if (!o)
            o = find_option(forcing_of(options), arg, &value);
        if (!o)
            o = find_option(common, arg, &value);
        if (!o)
            return refuse_unknown(verb, options, arg);
        if (!o->out) {
            if (!strcmp(o->name, "--help"))
                return print_help(usage, options);
            return cli_refuse("%s %s is not part of this version", verb, o->name);
        }
        if (!o->value) {
            if (value)
                return cli_refuse("%s %s is a switch and takes no value", verb, o->name);
            *(bool *)o->out = true;
            continue;
        }
        if (!value) {
            if (i + 1 == *argc)
                return cli_refuse("%s %s needs a value: %s", verb, o->name, o->value);
            value = argv[++i];
        }
        if (!*value)
            return cli_refuse("%s %s needs a value: %s", verb, o->name, o->value);
        *(const char **)o->out = value;
    }
    *argc = kept;
    argv[kept] = NULL;
    again_set(results_given && strcmp(results_given, results_without()) != 0 ? results_given
                                                                             : NULL);
    return check_all_written(verb, options);
}

bool cli_number(const char *option, const char *text, int64_t least, int64_t most, int64_t *value)
{
    int64_t got;

    if (!text)
        return true;
    if (text_to_int(text, &got) && got >= least && got <= most) {
        *value = got;
        return true;
    }
    cli_refuse("%s %s is not a whole number from %lld to %lld", option, TEXT_CLEAN(text),
               (long long)least, (long long)most);
    return false;
}

bool cli_ends_in(const char *path, const char *wanted)
{
    static const char *const forms[] = {
        ".csv",  ".safetensors", ".xlsx", ".xls", ".ods",     ".json", ".md",  ".tex",
        ".html", ".svg",         ".pdf",  ".png", ".jpg",     ".pt",   ".pth", ".npz",
        ".npy",  ".h5",          ".onnx", ".pkl", ".parquet", ".ini",  ".net", ".txt"};
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *end = path ? strrchr(slash ? slash : path, '.') : NULL;

    if (!end || !strcasecmp(end, wanted))
        return true;
    for (size_t i = 0; i < MEM_COUNT(forms); i++)
        if (!strcasecmp(end, forms[i]))
            return false;
    return true;
}
