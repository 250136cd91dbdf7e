/* cli/verbs/report.c: chorus report RUN... -o DIR: one folder that goes into a paper. */
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/out/report/report.h"
#include "cli/out/results.h"
#include "cli/verbs.h"
#include "record/run/reader.h"
#include "study/runs.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "report RUN... -o DIR [--title TEXT]",
    "A folder for a report: a page that needs nothing else, figures, tables, the CSVs, a manifest.",
    "  index.html     the page: light and dark, prints well; opens without a network\n"
    "  tables/        each as CSV, Markdown and LaTeX (booktabs; a wide one also takes graphicx, a\n"
    "                 very wide one stands in parts; what is the same in all rows is said below)\n"
    "  figures/       each as SVG, PDF and pgfplots with its CSV\n"
    "  epochs.csv     every epoch of every run, with its settings\n"
    "  plot.gp        a gnuplot script that draws the figures again from their CSVs\n"
    "  networks/      what was trained, as model = networks/NAME.net in the manifest's settings\n"
    "  manifest.txt   the command, versions, machine, settings and seeds, a checksum of each file\n"};

int cli_report(int argc, char **argv)
{
    struct report r = {.argc = argc};
    const struct cli_option options[] = {
        {"-o", "DIR", "where to: a new folder, or one of an earlier report", &r.folder},
        {"--force", NULL, "write into a folder that holds other files, which stay", &r.force},
        {"--title", "TEXT", "the page's title", &r.title},
        {NULL, NULL, NULL, NULL},
    };
    char **given = mem_new((size_t)argc + 1, sizeof *given);
    struct record_entry *entry;
    struct study_run *runs;
    struct err e;
    int code;

    memcpy(given, argv, (size_t)argc * sizeof *given);
    r.argv = given;
    code = cli_options(&usage, options, &argc, argv);
    if (code == CLI_ON && argc < 2)
        code = cli_refuse("report needs RUNs, such as a sweep's name; `chorus ls` lists them");
    else if (code == CLI_ON && !r.folder)
        code = cli_refuse("report needs -o DIR, the folder that it writes");
    else if (code == CLI_ON && cli_find_runs(argc - 1, argv + 1, &entry, &r.runs, &e) != ERR_OK)
        code = cli_fail(&e);
    if (code != CLI_ON) {
        free(given);
        return code;
    }
    if (results_open_runs(entry, &r.runs, &runs, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        study_order(entry, runs, r.runs);
        r.run = entry;
        r.title = r.title ? r.title : r.runs == 1 ? entry[0].name : argv[1];
        code = report_make(&r, runs, &e) != ERR_OK ? cli_fail(&e)
                                                   : cli_printf("%s/index.html\n", r.folder);
    }
    text_free(&r.page);
    text_free(&r.script);
    text_free(&r.files);
    io_free_names(r.name, r.names);
    study_close(runs, r.runs);
    record_free_list(entry, r.runs);
    free(given);
    return code;
}
