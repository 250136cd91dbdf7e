/* cli/run.c: chorus run [FILE or RUN or NAME] [KEY=VALUE...] */
#include "cli/cli.h"

#include "base/io.h"
#include "base/mem.h"
#include "cli/drive.h"
#include "cli/dry.h"
#include "cli/queue.h"
#include "cli/restart.h"
#include "cli/results.h"
#include "cli/sweep.h"
#include "cli/sweeps.h"
#include "cli/workbench.h"
#include "engine/plan.h"
#include "net/net.h"
#include "spec/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME 64

struct options {
    bool background, queue, alone, quiet, json, dry, failed, tui;
    const char *name, *order, *max_cells, *jobs, *match;
};

/* "lr=0.1", "=3" and other mistakes, but not "./a=b/first.ini". */
static bool is_assignment(const char *arg)
{
    const char *equals = strchr(arg, '=');

    if (!equals)
        return false;
    for (const char *s = arg; s < equals; s++)
        if (!isalnum((unsigned char)*s) && *s != '_' && *s != '.' && *s != '-')
            return false;
    return true;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
}

static enum err_code unknown(const char *name, const struct err *why, struct err *e)
{
    const char *words[256], *near;
    int n = 0;

    if (!*name)
        return err_set(e, ERR_INPUT,
                       "'' names no experiment and no run; `chorus help run` lists the built-in "
                       "experiments, `chorus ls` the runs");
    /* A filter, a part of several names: more is known than that there is none. */
    if (strncmp(why->text, "there is no run", 15) != 0)
        return err_set(e, why->code, "%s", why->text);
    if (net_builtin(name))
        return err_set(
            e, ERR_INPUT,
            "there is no experiment or run named %s: it is a model. model=%s takes it, as "
            "chorus run model=%s",
            name, name, name);
    for (; n < 255 && spec_builtin_name(n); n++)
        words[n] = spec_builtin_name(n);
    words[n] = NULL;
    near = text_nearest(name, words);
    return err_set(e, ERR_INPUT,
                   "there is no experiment or run named %s%s%s%s `chorus help run` lists the "
                   "built-in experiments, `chorus ls` the runs; a file's name ends in .ini",
                   name, near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
}

/* What the experiment comes from names a sweep: results/sweeps/NAME. */
static void name_after(const char *path, char name[SPEC_NAME])
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    size_t length = strlen(from), n = 0;

    if (length > 4 && (!strcmp(from + length - 4, ".ini") || !strcmp(from + length - 4, ".net")))
        length -= 4;
    for (size_t i = 0; i < length && n < MOST_NAME; i++) {
        bool fits = isascii((unsigned char)from[i]) &&
                    (isalnum((unsigned char)from[i]) || strchr("-_.", from[i]));

        if (fits && (n || (from[i] != '.' && from[i] != '-')))
            name[n++] = from[i];
        else if (!fits && n && name[n - 1] != '-')
            name[n++] = '-';
    }
    name[n] = 0;
    if (!n)
        strcpy(name, "sweep");
}

/* "lenet" of 2026-11-20-101530-412-lenet-7f3a */
static void name_after_run(const char *run, char name[SPEC_NAME])
{
    const size_t stamp = strlen("2026-11-20-101530-412-"), hash = strlen("-7f3a");
    size_t n = strlen(run);
    char *label =
        mem_text_n(run + (n > stamp + hash ? stamp : 0), n > stamp + hash ? n - stamp - hash : n);

    name_after(label, name);
    free(label);
}

/* sweep: the name of a sweep made from it; may be NULL. */
static enum err_code read_run(struct spec_sweep *s, const char *name, char *sweep, struct err *e)
{
    struct record_entry entry;
    struct err why;
    char *path;
    enum err_code code;

    if (cli_find_run(name, &entry, &why) != ERR_OK) {
        if (is_path(name) || name[0] == '@')
            return err_set(e, why.code, "%s", why.text);
        return unknown(name, &why, e);
    }
    if (!strncmp(entry.run.note, CLI_MIXED, strlen(CLI_MIXED))) {
        code =
            err_set(e, ERR_INPUT,
                    "%s is an average of runs of different settings, which no experiment trains: "
                    "name one of the runs (chorus show %s)",
                    entry.name, entry.name);
        record_free_entry(&entry);
        return code;
    }
    if (sweep)
        name_after_run(entry.name, sweep);
    path = io_path(entry.folder, "experiment.ini");
    code = spec_sweep_read(s, path, e);
    free(path);
    record_free_entry(&entry);
    return code;
}

/* name: of a sweep made from it; empty: its model is all that could name it. */
static enum err_code read_experiment(struct spec_sweep *s, const char *from, char name[SPEC_NAME],
                                     struct err *e)
{
    const char *text;

    if (is_path(from) && !io_is_folder(from)) {
        name_after(from, name);
        return spec_sweep_read(s, from, e);
    }
    text = spec_builtin(from);
    if (text) {
        char file[SPEC_NAME];

        snprintf(name, SPEC_NAME, "%s", from);
        snprintf(file, sizeof file, "%s.ini", from);
        return spec_sweep_parse(s, text, strlen(text), file, e);
    }
    return read_run(s, from, name, e);
}

static enum err_code set_keys(struct spec_sweep *s, int argc, char **argv, struct err *e)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '='), *key;
        enum err_code code;

        if (!is_assignment(argv[i]))
            continue;
        key = mem_text_n(argv[i], (size_t)(equals - argv[i]));
        code = spec_sweep_set(s, key, equals + 1, "command line", NULL, e);
        for (int j = 1; code == ERR_OK && j < i; j++)
            if (is_assignment(argv[j]) && !strncmp(argv[j], argv[i], strlen(key) + 1))
                code = err_set(e, ERR_INPUT, "command line: the key %s is given twice", key);
        free(key);
        TRY(code);
    }
    return ERR_OK;
}

/* --name: of a single run its key name, of a sweep the sweep's. */
static enum err_code set_name(struct spec_sweep *s, int argc, char **argv, const char *given,
                              char name[SPEC_NAME], struct err *e)
{
    struct spec *named;
    enum err_code code;

    if (spec_sweep_varies(s)) {
        named = mem_new(1, sizeof *named);
        code = given ? spec_set(named, "name", given, "--name", NULL, e) : ERR_OK;
        if (given)
            snprintf(name, SPEC_NAME, "%s", named->name);
        else if (!*name)
            name_after(s->base.name[0] ? s->base.name : s->base.model, name);
        free(named);
        return code;
    }
    for (int i = 1; given && i < argc; i++)
        if (!strncmp(argv[i], "name=", 5))
            return err_set(e, ERR_INPUT,
                           "command line: the key name is given twice, as --name and as name=");
    return given ? spec_set(&s->base, "name", given, "--name", NULL, e) : ERR_OK;
}

static bool is_given(int argc, char **argv, const char *key)
{
    size_t n = strlen(key);

    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], key, n) && argv[i][n] == '=')
            return true;
    return false;
}

/* The model-images of one epoch of it. */
static enum err_code count_epoch(const struct spec *spec, double *images, struct err *e)
{
    struct plan *plan = NULL;
    int members;

    TRY(plan_make(&plan, spec, cli_places(), cli_backends(), false, e));
    members = plan->session.mode == SPEC_ENSEMBLE ? plan->session.members : 1;
    *images = (double)plan->steps_per_epoch * (double)plan->session.batch * members;
    plan_free(plan);
    return ERR_OK;
}

static void say_match(const struct record_run *run, const char *epochs, double cost)
{
    char wanted[TEXT_NUMBER_ROOM], made[TEXT_NUMBER_ROOM];

    if (cost != (double)run->model_images)
        cli_talk("--match %s: it cost %s model-images, %s whole epoch%s cost %s", run->run,
                 text_count(wanted, (uint64_t)run->model_images), epochs,
                 strcmp(epochs, "1") ? "s" : "", text_count(made, (uint64_t)cost));
}

/* As many whole epochs as come nearest to the model-images of the run. They are counted in epochs of
 * its own, so both must see the same images. */
static enum err_code match_epochs(struct spec_sweep *s, const struct record_run *run, bool quiet,
                                  struct err *e)
{
    const struct spec *a = &s->base, *b = &run->spec;
    char epochs[32];
    double one = 0, n;

    if (spec_sweep_varies(s))
        return err_set(e, ERR_INPUT, "--match finds the epochs of one run, not of a sweep");
    if (strcmp(a->data, b->data) != 0 || a->train_limit != b->train_limit || a->valid != b->valid ||
        a->valid_per_cent != b->valid_per_cent)
        return err_set(e, ERR_INPUT,
                       "--match %s: it trained on %s; a run of the same cost must have the same "
                       "data, train_limit and valid",
                       run->run, b->data);
    TRY(count_epoch(a, &one, e));
    n = fmax(1, round((double)run->model_images / one));
    snprintf(epochs, sizeof epochs, "%.0f", n);
    TRY(spec_sweep_set(s, "epochs", epochs, "--match", NULL, e));
    if (!quiet)
        say_match(run, epochs, n * one);
    return ERR_OK;
}

/* The run's own experiment as a single model, which trains to its end: what ended the run early, and
 * its name, stay with the run. */
static enum err_code take_matched(struct spec_sweep *s, const char *match, struct err *e)
{
    static const char *const set[][2] = {{"mode", "data-parallel"},
                                         {"devices", "1"},
                                         {"max_steps", "none"},
                                         {"max_minutes", "none"},
                                         {"patience", "none"}};

    TRY(read_run(s, match, NULL, e));
    for (size_t i = 0; i < MEM_COUNT(set); i++)
        TRY(spec_sweep_set(s, set[i][0], set[i][1], "--match", NULL, e));
    s->base.name[0] = '\0';
    return ERR_OK;
}

/* own: it has an experiment of its own. s is closed by it. */
static enum err_code match_run(struct spec_sweep *s, int argc, char **argv, const struct options *o,
                               bool own, struct err *e)
{
    const char *match = o->match;
    struct record_entry entry;
    enum err_code code;

    if (is_given(argc, argv, "epochs"))
        return err_set(e, ERR_INPUT, "--match finds the epochs: leave out epochs=");
    code = cli_find_run(match, &entry, e);
    if (code != ERR_OK)
        return err_context(e, "--match %s", match);
    if (entry.broken || entry.run.epochs_done < 1 || entry.run.images < 1)
        code = err_set(e, ERR_INPUT,
                       "--match %s: it has no whole epoch whose cost could be matched", entry.name);
    if (code == ERR_OK && !own)
        code = take_matched(s, match, e);
    if (code == ERR_OK)
        code = set_keys(s, argc, argv, e);
    if (code == ERR_OK)
        code = spec_sweep_close(s, e);
    if (code == ERR_OK)
        code = match_epochs(s, &entry.run, o->quiet || o->json, e);
    record_free_entry(&entry);
    return code;
}

static enum err_code read_spec(struct spec_sweep *s, int argc, char **argv, const struct options *o,
                               char name[SPEC_NAME], struct err *e)
{
    const char *from = NULL;

    for (int i = 1; i < argc; i++) {
        if (is_assignment(argv[i]))
            continue;
        if (from)
            return err_set(e, ERR_INPUT,
                           "run takes one experiment, not both %s and %s; keys are KEY=VALUE", from,
                           argv[i]);
        from = argv[i];
    }
    if (from)
        TRY(read_experiment(s, from, name, e));
    if (o->match)
        TRY(match_run(s, argc, argv, o, from != NULL, e));
    else
        TRY(set_keys(s, argc, argv, e));
    if (!o->match)
        TRY(spec_sweep_close(s, e));
    TRY(set_name(s, argc, argv, o->name, name, e));
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
        "Combinations that cannot be are left out and told; a sweep again runs what is missing.\n"
        "\nbuilt-in experiments:");
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
                          "(lr=0.05,0.1)",
                          odd);
    if (o->order && strcmp(o->order, "grid") != 0 && strcmp(o->order, "spread") != 0) {
        struct text shown = {0};
        int code;

        text_add_clean(&shown, o->order);
        code = cli_refuse("run --order %.60s: allowed: spread (corners and centre first), grid (as "
                          "the lists stand)",
                          text_str(&shown));
        text_free(&shown);
        return code;
    }
    wish->order = o->order && !strcmp(o->order, "grid") ? SWEEP_GRID : SWEEP_SPREAD;
    if (!cli_number("run --max-cells", o->max_cells, 1, SPEC_MOST_CELLS, &wish->max_cells) ||
        !cli_number("run --jobs", o->jobs, 1, 1024, &wish->jobs))
        return err_exit_code(ERR_INPUT);
    return CLI_ON;
}

static int run_one(const struct spec *spec, const struct options *o)
{
    struct wire_start *start;
    struct drive_end end;
    struct err e;
    int code;

    if (o->dry)
        return dry_run(spec, o->json);
    start = mem_new(1, sizeof *start);
    start->spec = *spec;
    if (o->background)
        code = drive_background(start, o->quiet, o->json);
    else if (o->tui)
        code = workbench_run(start);
    else if (drive_run(start, spec->max_steps, o->quiet, &end, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (drive_is_stuck(&end))
        code = restart_program(
            &(struct restart){.name = end.path, .quiet = o->quiet, .json = o->json});
    else
        code = drive_finish(&end, o->quiet, o->json);
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
        if (code == CLI_ON && o->queue)
            code = queue_run(&s, &wish);
        else if (code == CLI_ON && !spec_sweep_varies(&s))
            code = run_one(&s.base, o);
        else if (code == CLI_ON && sweeps_check_same(name, &s, wish.jobs, &e) != ERR_OK)
            code = cli_fail(&e);
        else if (code == CLI_ON)
            code = o->dry   ? dry_sweep(&s, &wish)
                   : o->tui ? sweep_in_workbench(&s, &wish)
                            : sweep_run(&s, &wish);
    }
    spec_sweep_free(&s);
    return code;
}

int cli_run(int argc, char **argv)
{
    struct options o = {0};
    const struct cli_option options[] = {
        {"--name", "NAME", "becomes part of the folder's name; of a sweep: names it", &o.name},
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
        "Trains: an experiment's file, an earlier run again, or a built-in experiment; without any "
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
