/* cli/verbs/run.c: chorus run [FILE or RUN or NAME] [KEY=VALUE...] */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/experiment.h"
#include "cli/args/launcher.h"
#include "cli/args/match.h"
#include "cli/args/options.h"
#include "cli/forecast/dry.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/job.h"
#include "cli/jobs/queue.h"
#include "cli/jobs/sweep.h"
#include "cli/jobs/workbench.h"
#include "spec/spec.h"
#include "spec/sweep.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    bool background, queue, alone, quiet, json, dry, failed, tui;
    const char *name, *order, *max_cells, *jobs, *match;
};

static bool has_name_key(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "name=", 5))
            return true;
    return false;
}

static enum err_code name_sweep(const struct spec_sweep *s, int argc, char **argv,
                                const struct options *o, char name[SPEC_NAME], struct err *e)
{
    struct spec *named = mem_new(1, sizeof *named);
    enum err_code code = o->name ? spec_set(named, "name", o->name, "--name", NULL, e) : ERR_OK;

    if (o->name)
        snprintf(name, SPEC_NAME, "%s", named->name);
    else if (!*name)
        spec_sweep_name_after(s->base.name[0] ? s->base.name : s->base.model, name);
    if (!o->name && !o->quiet && !o->json && has_name_key(argc, argv) &&
        strcmp(name, s->base.name) != 0)
        cli_talk("name=%s names its runs; the sweep itself is %s: --name gives it another name",
                 s->base.name, name);
    free(named);
    return code;
}

/* --name: of a single run its key name, of a sweep the sweep's. */
static enum err_code set_name(struct spec_sweep *s, int argc, char **argv, const struct options *o,
                              char name[SPEC_NAME], struct err *e)
{
    if (spec_sweep_varies(s))
        return name_sweep(s, argc, argv, o, name, e);
    if (o->name && has_name_key(argc, argv))
        return err_set(e, ERR_INPUT,
                       "command line: the key name is given twice, as --name and as name=");
    return o->name ? spec_set(&s->base, "name", o->name, "--name", NULL, e) : ERR_OK;
}

/* Whether word i and the one behind it are of one KEY=VALUE, which a blank has parted. */
static bool is_parted(int argc, char **argv, int i)
{
    const char *next = i + 1 < argc ? argv[i + 1] : "-";

    if (!experiment_is_assignment(argv[i]))
        return next[0] == '=' && spec_key_find(argv[i]) >= 0;
    return next[0] != '-' && (!experiment_is_assignment(next) || next[0] == '=') &&
           strchr(",=", argv[i][strlen(argv[i]) - 1]);
}

static enum err_code read_spec(struct spec_sweep *s, int argc, char **argv, const struct options *o,
                               char name[SPEC_NAME], struct err *e)
{
    const char *from = NULL;

    for (int i = 1; i < argc; i++) {
        if (is_parted(argc, argv, i))
            return err_set(e, ERR_INPUT,
                           "command line: a blank parts %s from %s: a key and its values are one "
                           "word, as lr=0.1,0.2, or stand in quotes",
                           argv[i], argv[i + 1]);
        if (experiment_is_assignment(argv[i]))
            continue;
        if (!*argv[i])
            return err_set(e, ERR_INPUT,
                           "an empty word ('') is no experiment and no KEY=VALUE: leave it out");
        if (from)
            return err_set(e, ERR_INPUT,
                           "run takes one experiment, not both %s and %s; keys are KEY=VALUE", from,
                           argv[i]);
        from = argv[i];
    }
    if (from)
        TRY(experiment_read(s, from, o->quiet || o->json, name, e));
    if (o->match)
        TRY(match_run(s, argc, argv, o->match, from != NULL, o->quiet || o->json, e));
    else
        TRY(experiment_set_keys(s, argc, argv, e));
    if (!o->match)
        TRY(spec_sweep_close(s, e));
    TRY(set_name(s, argc, argv, o, name, e));
    return spec_sweep_varies(s) ? ERR_OK : spec_check(&s->base, e);
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
        "  chorus run first lr=0.05,0.1,0.2 batch=64,128 repeats=3   a sweep: 3 x 2 cells, 3 seeds\n"
        "`chorus help keys` lists the keys. Prints the run's folder on stdout (a sweep: its table,\n"
        "sweep.csv). Ctrl-C stops it after its step; `chorus resume`, or the same sweep again, goes on.\n"
        "\nA list of values makes a sweep, a run for each combination (`chorus help lists`):\n"
        "  lr=0.05,0.1,0.2   lr=geom:0.01:1:5   batch=64,128   epochs=step:5:20:5   repeats=3\n"
        "Several tasks (`srun -n2 chorus run ...`) share the cells of a sweep; they cannot share a\n"
        "single run. CHORUS_TASKS=1 says that this command is one task.\n"
        "Combinations that cannot be are left out and told; a sweep again runs what is missing.\n"
        "With --dry-run and --json each cell has a fate: runs, failed, oom, ended, left-out,\n"
        "skipped or beyond (--max-cells).\n"
        "\nA file experiments/NAME.ini is what NAME means, also where an experiment of that name is built in.\n"
        "built-in experiments:");
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

/* Those of a sweep; on a single run they would do nothing. */
static int check_options(const struct options *o, bool varies, struct sweep_wish *wish)
{
    const char *odd = o->failed      ? "--failed"
                      : o->order     ? "--order"
                      : o->max_cells ? "--max-cells"
                      : o->jobs      ? "--jobs"
                                     : NULL;

    if (odd && !varies)
        return cli_refuse("run %s is for a sweep, and no key has a list of values here "
                          "(such as lr=0.05,0.1)",
                          odd);
    if (o->order && strcmp(o->order, "grid") != 0 && strcmp(o->order, "spread") != 0)
        return cli_refuse("run --order %.60s: allowed: spread (corners and centre first), grid (as "
                          "the lists stand)",
                          TEXT_CLEAN(o->order));
    wish->order = o->order && !strcmp(o->order, "grid") ? SWEEP_GRID : SWEEP_SPREAD;
    if (!cli_number("run --max-cells", o->max_cells, 1, SPEC_MOST_CELLS, &wish->max_cells) ||
        !cli_number("run --jobs", o->jobs, 1, 1024, &wish->jobs))
        return err_exit_code(ERR_INPUT);
    return CLI_ON;
}

static int run_one(const struct spec *spec, const struct options *o)
{
    struct wire_start *start;
    int code;

    if (o->dry)
        return dry_run(spec, o->json);
    start = mem_new(1, sizeof *start);
    start->spec = *spec;
    code =
        o->tui
            ? workbench_run(start)
            : job_run(&(struct job){
                  .run = start, .background = o->background, .quiet = o->quiet, .json = o->json});
    free(start);
    return code;
}

static int run(int argc, char **argv, const struct options *o)
{
    struct spec_sweep s;
    struct sweep_wish wish = {.failed = o->failed,
                              .quiet = o->quiet,
                              .json = o->json,
                              .background = o->background,
                              .alone = o->alone};
    char name[SPEC_NAME] = "";
    struct err e;
    int code;

    spec_sweep_init(&s);
    wish.name = name;
    if (read_spec(&s, argc, argv, o, name, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        code = check_options(o, spec_sweep_varies(&s), &wish);
        if (code == CLI_ON && !o->dry && (o->queue || !spec_sweep_varies(&s)))
            code = launcher_check_single(o->queue ? "put the same experiment into the queue"
                                                  : "train the same experiment, as a separate run");
        if (code == CLI_ON && !o->queue && !o->dry && !o->tui && !o->quiet && !o->json)
            drive_tell_others(spec_sweep_varies(&s) ? name : NULL,
                              "; --queue --alone waits until none does");
        if (code == CLI_ON && o->queue)
            code = queue_run(&s, &wish);
        else if (code == CLI_ON && !spec_sweep_varies(&s))
            code = run_one(&s.base, o);
        else if (code == CLI_ON && sweeps_check_same(name, &s, wish.jobs, &e) != ERR_OK)
            code = cli_fail(&e);
        else if (code == CLI_ON)
            code = o->dry   ? dry_sweep(&s, &wish)
                   : o->tui ? workbench_sweep(&s, &wish)
                            : job_run(&(struct job){.sweep = &s,
                                                    .wish = &wish,
                                                    .background = o->background,
                                                    .quiet = o->quiet,
                                                    .json = o->json});
    }
    spec_sweep_free(&s);
    return code;
}

int cli_run(int argc, char **argv)
{
    struct options o = {0};
    const struct cli_option options[] = {
        {"--name", "NAME", "part of the folder's name; of a sweep its own (name= names its runs)",
         &o.name},
        {"--background", NULL, "starts it in a process of its own and returns", &o.background},
        {"--queue", NULL, "waits for its turn in results/queue instead (`chorus queue --help`)",
         &o.queue},
        {"--alone", NULL, "with --queue: until no other chorus of yours computes on this machine",
         &o.alone},
        {"--dry-run", NULL, "prints what it resolves to and an estimate, writes nothing", &o.dry},
        {"--max-cells", "N", "a sweep: the first N cells of its order, no more", &o.max_cells},
        {"--order", "ORDER", "a sweep: spread (corners and centre first) or grid", &o.order},
        {"--jobs", "N", "a sweep: N cells side by side, each on its share of the machine", &o.jobs},
        {"--failed", NULL, "a sweep: those that failed or diverged again", &o.failed},
        {"--quiet", NULL, "says nothing but the folder", &o.quiet},
        {"--json", NULL, "prints an object instead of the folder", &o.json},
        {"--tui", NULL, "watches it in the workbench", &o.tui},
        {"--match", "RUN", "a single model for as many epochs as RUN cost in all", &o.match},
        {NULL, NULL, NULL, NULL},
    };
    struct cli_usage usage = {
        "run [FILE or RUN or NAME] [KEY=VALUE...]",
        "Trains: an experiment's file, an earlier run again, or a built-in experiment; without any\n"
        "of them, the defaults.",
        NULL};
    struct text help = {0};
    int code;

    add_help(&help);
    usage.more = text_str(&help);
    code = cli_options(&usage, options, &argc, argv);
    text_free(&help);
    if (code == CLI_ON && o.queue && (o.background || o.dry))
        return cli_refuse("run takes one of --queue and %s, not both",
                          o.dry ? "--dry-run" : "--background");
    if (code == CLI_ON && o.alone && !o.queue)
        return cli_refuse("run --alone belongs to --queue: what waits there begins when no other "
                          "chorus computes on this machine");
    if (code == CLI_ON && o.tui && (o.background || o.dry || o.queue || o.json))
        return cli_refuse("run --tui watches the run in the workbench: no %s with it",
                          o.background ? "--background"
                          : o.dry      ? "--dry-run"
                          : o.queue    ? "--queue"
                                       : "--json");
    if (code == CLI_ON && o.tui && !workbench_can())
        return cli_refuse("run --tui needs a terminal; without it the run shows a line an epoch");
    return code == CLI_ON ? run(argc, argv, &o) : code;
}
