/* main.c: from the command line to a verb. */
#include "cli/cli.h"
#include "cli/live.h"
#include "cli/version.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: a verb of a later version */
} verbs[] = {
    {"run", cli_run},
    {"resume", cli_resume},
    {"watch", cli_watch},
    {"pause", cli_pause},
    {"go", cli_go},
    {"stop", cli_stop},
    {"queue", cli_queue},
    {"ls", cli_ls},
    {"show", cli_show},
    {"tag", cli_tag},
    {"note", cli_note},
    {"rm", cli_rm},
    {"plot", cli_plot},
    {"compare", cli_compare},
    {"export", cli_export},
    {"ensemble", cli_ensemble},
    {"report", cli_report},
    {"predict", cli_predict},
    {"weights", cli_weights},
    {"models", cli_models},
    {"data", cli_data},
    {"devices", cli_devices},
    {"bench", cli_bench},
    {"help", cli_help},
    {NULL, NULL},
};

static int unknown_verb(const char *verb)
{
    const char *words[sizeof verbs / sizeof *verbs], *near;
    struct text shown = {0};
    int n = 0;

    if (!*verb)
        return cli_refuse("'' is no command; `chorus help` lists them");
    for (int i = 0; verbs[i].name; i++)
        if (verbs[i].run)
            words[n++] = verbs[i].name;
    words[n] = NULL;
    near = text_nearest(verb, words);
    text_add_clean(&shown, verb);
    if (near)
        cli_refuse("there is no command %s; did you mean %s?", text_str(&shown), near);
    else
        cli_refuse("there is no command %s; `chorus help` lists them", text_str(&shown));
    text_free(&shown);
    return err_exit_code(ERR_INPUT);
}

static bool is_verb(const char *name)
{
    for (int i = 0; verbs[i].name; i++)
        if (verbs[i].run && !strcmp(verbs[i].name, name))
            return true;
    return false;
}

static int dispatch(int argc, char **argv)
{
    for (int i = 0; verbs[i].name; i++) {
        if (strcmp(verbs[i].name, argv[0]) != 0)
            continue;
        if (!verbs[i].run)
            return cli_refuse("the command %s is not part of this version", argv[0]);
        return verbs[i].run(argc, argv);
    }
    return unknown_verb(argv[0]);
}

int main(int argc, char **argv)
{
    /* A closed pipe is an error of a write, not the end of a run. */
    signal(SIGPIPE, SIG_IGN);
    live_start();
    if (argc < 2 || (argv[1][0] == '-' && strcmp(argv[1], "--version") != 0 &&
                     strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0))
        return cli_workbench(argc, argv);
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
