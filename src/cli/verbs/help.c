/* cli/verbs/help.c: the usage of the whole program; each verb's own help is in its file. */
#include "cli/cli.h"

#include "spec/spec.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 100

static const char usage[] =
    "usage: chorus               opens the workbench, on a terminal (chorus --ascii --help: more)\n"
    "       chorus COMMAND [...]\n"
    "chorus trains neural networks: from an experiment to CSV files and curves.\n"
    "\n"
    "  run [FILE or RUN or NAME] [KEY=VALUE...]   trains; without FILE, the defaults (--tui: watch\n"
    "                                             it in the workbench)\n"
    "  resume [RUN or SWEEP] [epochs=N]           goes on where a run or a sweep stopped\n"
    "  watch [RUN]                                follows a run of this or another process\n"
    "  pause RUN, go RUN, stop RUN                for a run or a sweep of this or another process;\n"
    "                                             stop --skip drops a cell of one that goes on\n"
    "  queue [run, rm N, move N BY]               what waits for its turn (`run --queue` adds);\n"
    "                                             move SWEEP KEY=VALUE BY: cells of a sweep\n"
    "  ls [RUN or FILTER...]                      runs with state, settings, best accuracy\n"
    "  show RUN                                   one run whole\n"
    "  tag RUN... +TAG -TAG, note RUN TEXT        what you write on runs, to find them by\n"
    "  rm RUN...                                  moves runs to results/trash\n"
    "  compare RUN...                             what differs, and what came of it\n"
    "  ensemble RUN...                            members, and what averaging them brings\n"
    "  plot RUN...                                figures as text, or -o FILE.svg, .pdf, .tex\n"
    "  predict RUN [PICTURE...]                   predictions against labels\n"
    "  export RUN... [-o FILE.csv]                every epoch of every run in one CSV\n"
    "  report RUN... -o DIR                       page, tables, figures, CSVs, manifest\n"
    "  weights RUN -o FILE                        the model as safetensors\n"
    "  models [NAME]                              networks: layers, shapes, parameters\n"
    "  data [check PATH, fetch NAME]              data sets: what is there, what is missing\n"
    "  devices                                    what there is to compute on\n"
    "  bench [KEY=VALUE...]                       images per second on this machine\n"
    "  help [COMMAND or KEY]                      this text, a command's own, or a key's\n"
    "\n"
    "RUN is a folder, the name that a run or a sweep was given, any other part of a folder's name\n"
    "that no other has, @ (newest), @2, @best, @all (every run), or a filter for several:\n"
    "model=cnn,lenet lr!=0.1 test_acc=0.9.. tags=paper (`ls --help`).\n"
    "`chorus run first` trains a small network in under a minute.\n"
    "Exit codes: 0 done, 1 failed, 2 bad command, file or RUN, 3 diverged, 130 stopped,\n"
    "143 by SIGTERM, USR1, USR2, QUIT, XCPU or ALRM (both resumable).\n";

int cli_usage_text(bool to_stderr)
{
    if (!to_stderr)
        return cli_printf("%s", usage);
    /* The last newline is cli_talk's. */
    cli_talk("%.*s", (int)(sizeof usage - 2), usage);
    return 0;
}

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

int cli_key_help(const char *name, const char *before)
{
    int key = spec_key_find(name);
    const struct spec_key *k = &spec_keys[key >= 0 ? key : 0];
    struct text out = {0}, line = {0};
    int code;

    if (key < 0)
        return 0;
    text_add(&out, before);
    text_addf(&line, "%s: %s\n", k->name, k->help);
    cli_add_lines(&out, line.s, WIDTH, 2);
    text_clear(&line);
    text_addf(&line, "values: %s\n", k->values);
    cli_add_lines(&out, line.s, WIDTH, 2);
    text_addf(&out, "default: %s\n", k->fallback);
    code = cli_print(&out);
    text_free(&out);
    text_free(&line);
    return code;
}

int cli_help(int argc, char **argv)
{
    static const struct cli_usage help = {
        "help [COMMAND or KEY]",
        "Prints what there is, what a command does, or what a key of an experiment means.",
        "  chorus help keys    all keys of an experiment\n"
        "  chorus help lists   lists of values, which make a sweep\n"};
    const char *near;
    struct text shown = {0};
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
    near = cli_nearest_verb(argv[1]);
    if (!near)
        near = spec_key_near(argv[1]);
    text_add_clean(&shown, argv[1]);
    if (near)
        cli_refuse("there is no command or key named %s; did you mean %s?", text_str(&shown), near);
    else
        cli_refuse(
            "there is no command or key named %s; `chorus help` and `chorus help keys` list them",
            shown.n ? text_str(&shown) : "''");
    text_free(&shown);
    return err_exit_code(ERR_INPUT);
}
