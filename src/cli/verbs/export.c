/* cli/verbs/export.c: chorus export RUN... -o FILE.csv */
#include "cli/out/report/export.h"

#include "base/err.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/out/results.h"
#include "cli/verbs.h"
#include "record/run/reader.h"

static const struct cli_usage usage = {
    "export RUN... [-o FILE.csv]",
    "Every epoch of every run as one CSV: the run, its settings, then the columns of epochs.csv.",
    "The learning rate of the epoch is called lr_now, since lr is the setting. --wide gives a row an\n"
    "epoch and a column a run instead, of one metric. A word that a spreadsheet would take for a\n"
    "formula gets an apostrophe in front; numbers stay as they are.\n"};

int cli_export(int argc, char **argv)
{
    bool steps = false, members = false, devices = false, wide = false;
    struct export_job x = {.file = "epochs"};
    const char *path = NULL;
    const struct cli_option options[] = {
        {"-o", cli_written, "where to (-: stdout, the default)", &path},
        {"--wide", NULL, "a row an epoch, a column a run", &wide},
        {"--metric", "NAME", "which column of epochs.csv --wide takes (test_acc)", &x.metric},
        {"--steps", NULL, "of steps.csv instead", &steps},
        {"--members", NULL, "of members.csv: ensembles alone", &members},
        {"--devices", NULL, "of devices.csv", &devices},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry *runs;
    size_t count;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("export needs RUNs, such as @ or @all; `chorus ls` lists them");
    if (steps + members + devices + wide > 1)
        return cli_refuse("export takes one of --wide, --steps, --members and --devices");
    if (x.metric && !wide)
        return cli_refuse("--metric belongs to --wide: a long export holds all columns");
    if (!cli_ends_in(path, ".csv"))
        return cli_refuse("export writes CSV, and %s is named for another form: -o NAME.csv", path);
    x.metric = x.metric ? x.metric : "test_acc";
    x.file = steps ? "steps" : members ? "members" : devices ? "devices" : "epochs";
    if (cli_find_runs(argc - 1, argv + 1, &runs, &count, &e) != ERR_OK)
        return cli_fail(&e);
    if (results_leave_out(runs, &count, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = export_write(&x, path, runs, count, wide);
    export_free(&x);
    text_free(&x.out);
    record_free_list(runs, count);
    return code;
}
