/* cli/args/usage.c: the usage of the whole program, and of a key. */
#include "cli/args/usage.h"

#include "cli/out/print.h"
#include "spec/spec.h"

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
