/* main.c: from the command line to a verb. */
#include "base/err.h"
#include "base/system/trace.h"
#include "base/text.h"
#include "cli/args/launcher.h"
#include "cli/args/options.h"
#include "cli/args/signals.h"
#include "cli/args/usage.h"
#include "cli/out/print.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "cuda/load.h"
#include "spec/spec.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int unknown_verb(const char *verb)
{
    const char *near;

    if (!*verb)
        return cli_refuse("'' is no command; `chorus help` lists them");
    near = cli_nearest_verb(verb);
    if (near)
        return cli_refuse("there is no command %s; did you mean %s?", TEXT_CLEAN(verb), near);
    if (spec_builtin(verb))
        return cli_refuse("there is no command %s, but an experiment: `chorus run %s` runs it",
                          verb, verb);
    return cli_refuse("there is no command %s; `chorus help` lists them", TEXT_CLEAN(verb));
}

static bool is_verb(const char *name)
{
    for (int i = 0; cli_verbs[i].name; i++)
        if (!strcmp(cli_verbs[i].name, name))
            return true;
    return false;
}

/* `help` does not know the other verbs. */
static int unknown_word(const char *word)
{
    const char *near = cli_nearest_verb(word);

    if (!near)
        near = spec_key_near(word);
    if (near)
        return cli_refuse("there is no command or key named %s; did you mean %s?", TEXT_CLEAN(word),
                          near);
    return cli_refuse(
        "there is no command or key named %s; `chorus help` and `chorus help keys` list them",
        *word ? TEXT_CLEAN(word) : "''");
}

static int dispatch(int argc, char **argv)
{
    for (int i = 0; cli_verbs[i].name; i++)
        if (!strcmp(cli_verbs[i].name, argv[0])) {
            int code = cli_verbs[i].run(argc, argv);

            return code == CLI_ON ? unknown_word(argv[1]) : code;
        }
    return unknown_verb(argv[0]);
}

/* The options of the workbench alone; values: those that stand before one. */
static bool is_of_workbench(const char *arg, bool *values)
{
    static const char *const switches[] = {"--ascii", "--no-mouse"};
    static const char *const settings[] = {"--theme", "--keys", "--frame"};

    if (TEXT_IS_AMONG(arg, switches))
        return true;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        size_t n = strlen(settings[i]);

        if (!strncmp(arg, settings[i], n) && (!arg[n] || arg[n] == '=')) {
            *values = !arg[n];
            return true;
        }
    }
    return false;
}

/* `chorus --quiet run first`: where the command stands; 0 where there is none. */
static int verb_behind_options(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool values = !strcmp(argv[i], "--results") || !strcmp(argv[i], "--data-dir");

        if (is_verb(argv[i]))
            return i;
        if (values || (is_of_workbench(argv[i], &values) && values))
            i++;
    }
    return 0;
}

/* With the line to type, in which the workbench's options have no place. */
static int refuse_before_verb(int argc, char **argv, int verb)
{
    const char *dropped = NULL;
    struct text line = {0};

    text_addf(&line, "chorus %s", argv[verb]);
    for (int pass = 0; pass < 2; pass++) /* its operands, then what stood before it */
        for (int i = pass ? 1 : verb + 1; i < (pass ? verb : argc); i++) {
            bool values = false;

            if (pass && is_of_workbench(argv[i], &values)) {
                dropped = dropped ? dropped : argv[i];
                i += values;
                continue;
            }
            text_addf(&line, " %s", TEXT_CLEAN(argv[i]));
        }
    if (dropped)
        cli_refuse("%s is an option of the workbench, and a command's own stand behind it: `%s`",
                   TEXT_CLEAN(dropped), text_str(&line));
    else
        cli_refuse("options stand behind the command: `%s`", text_str(&line));
    text_free(&line);
    return err_exit_code(ERR_INPUT);
}

static int start(int argc, char **argv)
{
    int verb;

    /* A closed pipe is an error of a write, not the end of a run. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so is a file that would exceed the limit on its size */
    /* Threads hardly allocate at the same time; a heap each would reserve 64 MB of addresses, which a
     * limit on them counts. */
    mallopt(M_ARENA_MAX, 1);
    cli_signals_early();
    cuda_pin_order();
    launcher_start();
    live_start();
    if (argc < 2 || (argv[1][0] == '-' && strcmp(argv[1], "--version") != 0 &&
                     strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)) {
        verb = verb_behind_options(argc, argv);
        return verb ? refuse_before_verb(argc, argv, verb) : cli_workbench(argc, argv);
    }
    if (!strcmp(argv[1], "--version"))
        return cli_printf("chorus %s\n", chorus_version);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return cli_usage_text(false);
    /* `help run` is `run --help`. */
    if (argc == 3 && !strcmp(argv[1], "help") && is_verb(argv[2])) {
        int code = dispatch(2, (char *[]){argv[2], "--help", NULL});

        return code ? code : cli_key_help(argv[2], "\nThe key of that name\n");
    }
    return dispatch(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    int code;

    if (trace_start(&e) != ERR_OK)
        return cli_fail(&e);
    trace_io();
    for (int i = 0; i < argc; i++)
        TRACE(CLI, 1, "%s %s", i ? "with" : "started:", argv[i]);
    code = start(argc, argv);
    TRACE(CLI, 1, "ends with %d", code);
    return code;
}
