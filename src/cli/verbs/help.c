/* cli/verbs/help.c: chorus help. Each verb's own help is in its file. */
#include "base/err.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/usage.h"
#include "cli/out/print.h"
#include "cli/verbs.h"
#include "spec/spec.h"

#include <string.h>

#define WIDTH 100

static int list_keys(void)
{
    static const char *const groups[] = {"Data", "Model", "Training", "Devices", "Stop"};
    struct text out = {0}, line = {0};
    int code;

    text_add(&out, "The keys of an experiment, as KEY=VALUE or as a line of its file:\n");
    for (int group = SPEC_GROUP_DATA; group <= SPEC_GROUP_STOP; group++) {
        text_addf(&out, "\n%s\n", groups[group]);
        for (const struct spec_key *k = spec_keys; k->name; k++)
            if ((int)k->group == group) {
                text_clear(&line);
                text_addf(&line, "  %-15s %s (%s)\n", k->name, k->help, k->fallback);
                cli_add_lines(&out, line.s, WIDTH, 18);
            }
    }
    text_add(&out, "\nA list of values makes a sweep (`chorus help lists`): lr=0.05,0.1,0.2\n");
    code = cli_print(&out);
    text_free(&out);
    text_free(&line);
    return code;
}

static const char lists[] =
    "A key with a list of values makes a sweep: a run for each combination, from `chorus run` or\n"
    "as lines of an experiment's file.\n"
    "\n"
    "  lr=0.05,0.1,0.2        these values; quotes around one that holds a comma\n"
    "  lr=geom:0.01:1:5       5 values from 0.01 to 1, each the same multiple of the one before\n"
    "  batch=lin:64:256:4     4 values from 64 to 256, equally far apart\n"
    "  epochs=step:5:20:5     5, 10, 15, 20\n"
    "  lr=loguniform:1e-4:1 samples=40   40 values at random, every power of ten as likely; several\n"
    "                         such keys are drawn together: 40 points, and more samples add to them\n"
    "  model.width=64,128     a parameter of the model\n"
    "  repeats=3              each combination from seed, seed + 1, seed + 2\n"
    "  zip=devices,batch,lr   these lists walk together instead of being crossed\n"
    "\n"
    "Combinations that are impossible (a batch of 100 on 8 devices) are left out and told. A key that\n"
    "only some combinations use (momentum in optimizer=sgd,momentum, members in a sweep over mode)\n"
    "lapses in the others. `--dry-run` shows the cells and how long they should take; corners and\n"
    "centre run first (`--order grid`: as the lists stand). results/sweeps/NAME/sweep.csv has a row a\n"
    "cell, also of those that wait, and of the impossible ones (skipped, with the reason); what was\n"
    "run under that name with other lists, network or data stays there too (listed: no). NAME is\n"
    "`--name`, else the experiment's. The same command again runs what is missing; a cell whose run\n"
    "was removed (`chorus rm`) is missing too. Longer or further lists add to it; another value of a\n"
    "key that has no list needs another NAME. A cell that diverges, fails or runs out of memory is a\n"
    "result: the sweep goes on, and its exit code is 0 when every cell has one.\n"
    "`--failed` has those again.\n";

int cli_help(int argc, char **argv)
{
    static const struct cli_usage help = {
        "help [COMMAND or KEY]",
        "Prints what there is, what a command does, or what a key of an experiment means.",
        "  chorus help keys    all keys of an experiment\n"
        "  chorus help lists   lists of values, which make a sweep\n"};
    int on = cli_options(&help, NULL, &argc, argv);

    if (on != CLI_ON)
        return on;
    if (argc == 1)
        return cli_usage_text(false);
    if (argc > 2)
        return cli_refuse("help takes one name, not %d", argc - 1);
    if (!strcmp(argv[1], "keys"))
        return list_keys();
    if (!strcmp(argv[1], "lists") || !strcmp(argv[1], "samples") || !strcmp(argv[1], "zip"))
        return cli_printf("%s", lists);
    if (spec_key_find(argv[1]) >= 0)
        return cli_key_help(argv[1], "");
    return CLI_ON; /* whoever knows all verbs says what it may mean */
}
