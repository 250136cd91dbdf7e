/* cli/verbs/workbench.c: chorus without a verb: the workbench. */
#include "cli/jobs/workbench.h"

#include "cli/args/options.h"
#include "cli/args/usage.h"
#include "cli/out/print.h"
#include "cli/verbs.h"

#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "[--results DIR] [--data-dir DIR] [--ascii] [--theme dark, light or mono]",
    "Opens the workbench: set up an experiment, run it, watch it, compare it.",
    "? shows the keys of a screen; everything in it can be done by a command too (chorus help).\n"};

int cli_workbench(int argc, char **argv)
{
    struct workbench_options o = {0};
    const struct cli_option options[] = {
        {"--ascii", NULL, "draws with ASCII alone", &o.ascii},
        {"--no-mouse", NULL, "leaves the mouse to the terminal", &o.no_mouse},
        {"--theme", "THEME", "dark, light or mono (the key Ctrl-T changes it)", &o.theme},
        {"--keys", "FILE", "presses the keys of a script", &o.keys},
        {"--frame", "80x24", "with --keys: draws in memory, without a terminal", &o.frame},
        {NULL, NULL, NULL, NULL},
    };
    int code;

    argv[0] = "chorus"; /* wherever it lies: errors name it */
    code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc > 1)
        return cli_refuse("there is no command %.60s; `chorus help` lists them", argv[1]);
    if (o.theme && strcmp(o.theme, "dark") != 0 && strcmp(o.theme, "light") != 0 &&
        strcmp(o.theme, "mono") != 0)
        return cli_refuse("--theme %.40s: allowed: dark, light, mono", o.theme);
    if (o.frame && !o.keys)
        return cli_refuse("--frame draws without a terminal, so that it needs --keys FILE");
    if (!o.frame && !workbench_can()) {
        cli_usage_text(true);
        if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
            return cli_refuse(
                "a terminal of the kind dumb cannot place its cursor, so there is no workbench on "
                "it: try TERM=xterm chorus, or give a command, such as `chorus run first`");
        return cli_refuse("the workbench opens on a terminal, and standard %s is none: start it in "
                          "one, or give a command, such as `chorus run first`",
                          isatty(STDIN_FILENO) ? "output" : "input");
    }
    return workbench_open(&o);
}
