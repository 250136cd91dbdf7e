/* cli/verbs/resume.c: chorus resume [RUN or SWEEP] [epochs=N] */
#include "base/again.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/launcher.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "cli/jobs/drive.h"
#include "cli/jobs/handover.h"
#include "cli/jobs/job.h"
#include "cli/jobs/sweep.h"
#include "record/filter.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "spec/spec.h"
#include "study/runs.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "resume [RUN, SWEEP or FILTER...] [epochs=N]",
    "Goes on with a run or a sweep where it stopped or was killed; without a name, the newest\n"
    "unfinished one.",
    "Filters (`chorus ls --help`) choose among runs: `resume model=cnn` goes on with the one of cnn\n"
    "that is unfinished. With epochs=N a finished run goes on to N epochs. What is computed again\n"
    "gives the same rows and the same weights, byte for byte. A sweep runs the cells that have no\n"
    "result yet; with --failed also those that failed, diverged, ran out of memory or were dropped.\n"};

struct resume {
    const char *run; /* the one name; NULL: there is none, or filters choose */
    char **names;    /* (count) with filters */
    int count;
    int64_t epochs; /* 0: as it was */
    bool epochs_given, background, queue, quiet, json, failed, bad_before;
    const char *jobs, *max_cells, *failed_before;
};

/* By the key's own rule, before anything is looked for or written. */
static bool read_epochs(struct resume *r, const char *value)
{
    struct spec *scratch;
    struct err e;
    bool good;

    if (r->epochs_given) {
        cli_refuse("command line: the key epochs is given twice");
        return false;
    }
    scratch = mem_new(1, sizeof *scratch);
    spec_default(scratch);
    good = spec_set(scratch, "epochs", value, "command line", NULL, &e) == ERR_OK;
    r->epochs = scratch->epochs;
    r->epochs_given = true;
    free(scratch);
    if (!good)
        cli_fail(&e);
    return good;
}

static bool read_operands(struct resume *r, int argc, char **argv)
{
    bool filters = false;

    r->names = argv + 1; /* what is taken out was read before */
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "epochs=", 7)) {
            if (!read_epochs(r, argv[i] + 7))
                return false;
        } else if (record_filter_is(argv[i])) {
            filters = true;
            r->names[r->count++] = argv[i];
        } else if (r->run) {
            cli_refuse("resume takes one RUN, not both %s and %s", r->run, argv[i]);
            return false;
        } else {
            r->run = r->names[r->count++] = argv[i];
        }
    }
    if (filters)
        r->run = NULL;
    else
        r->count = 0;
    return true;
}

static void say_end(const struct record_run *run, const char *name)
{
    /* a reason is such as max_steps, which more epochs do not change */
    cli_talk(run->reason[0]
                 ? "%s is finished: %lld epoch%s, ended by %s; more epochs change nothing"
                 : "%s is finished: %lld epoch%s%s; epochs=N with a larger N goes on",
             name, (long long)run->epochs_done, text_s(run->epochs_done), TEXT_CLEAN(run->reason));
}

/* CLI_ON: there is something to do. */
static int say_finished(const struct record_entry *entry, const struct resume *r)
{
    const struct record_run *run = &entry->run;
    const char *name = TEXT_CLEAN(entry->name);
    struct err e;

    if (record_check_whole(entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (entry->live)
        return cli_refuse("%s is run by process %lld; chorus watch %s%s follows it", name,
                          (long long)run->pid, name, again());
    if (study_entry_is_average(entry))
        return cli_refuse(
            "%s is an average of runs, which cannot be trained on: go on with the runs "
            "themselves and average them again",
            name);
    if (r->epochs_given && r->epochs < run->spec.epochs)
        return cli_refuse("%s has epochs = %lld: resume can make that more, not %lld", name,
                          (long long)run->spec.epochs, (long long)r->epochs);
    if (run->state != WIRE_DONE || (r->epochs && r->epochs != run->spec.epochs) ||
        record_rows_changed(entry))
        return CLI_ON;
    if (!r->quiet)
        say_end(run, name);
    return cli_print_run(entry, r->json);
}

/* What a resume would go on with: 2 unfinished, 1 with an end that more epochs or another try can
 * change, 0 neither. */
static int can_go_on(const struct resume *r, const struct record_entry *entry)
{
    enum wire_state state = entry->run.state;

    if (entry->broken || entry->live)
        return 0;
    if (state == WIRE_STOPPED || state == WIRE_WAITING || entry->dead)
        return 2;
    return state != WIRE_DONE || r->epochs_given;
}

/* The one run that filters leave; of several the one that is unfinished. */
static enum err_code find_choice(const struct resume *r, struct record_entry *entry, struct err *e)
{
    struct record_entry *list;
    size_t count, kept = 0;
    int best = 0;
    enum err_code code;

    code = cli_find_runs(r->count, r->names, &list, &count, e);
    if (code != ERR_OK)
        return err_context(e, "resume changes no key but epochs, other KEY=VALUE choose runs");
    for (size_t i = 0; i < count; i++) {
        struct record_entry now;
        int how;

        /* The list may not have asked who holds a lock. */
        if (list[i].run.state != WIRE_DONE &&
            record_read_entry(list[i].folder, &now, NULL) == ERR_OK) {
            record_free_entry(&list[i]);
            list[i] = now;
        }
        how = can_go_on(r, &list[i]);
        kept = how > best ? 0 : kept;
        best = how > best ? how : best;
        if (how == best) { /* to the front */
            struct record_entry held = list[kept];

            list[kept++] = list[i];
            list[i] = held;
        }
    }
    if (kept == 1 && (best || count == 1))
        code = record_read_entry(list[0].folder, entry, e);
    else if (!best && count == 1)
        code = err_set(e, ERR_INPUT, "%s, the run that matches, is not unfinished", list[0].name);
    else if (!best)
        code = err_set(e, ERR_INPUT, "none of the %s runs that match is unfinished",
                       TEXT_COUNT(count));
    else
        code = err_set(e, ERR_INPUT,
                       "%s of the runs that match can go on, %s, %s%s; one is needed: a further "
                       "filter or a name chooses it",
                       TEXT_COUNT(kept), list[0].name, list[1].name, kept > 2 ? ", ..." : "");
    record_free_list(list, count);
    return code;
}

/* Without a name the newest unfinished run; where all are done, the newest, which says so. */
static enum err_code find(const struct resume *r, struct record_entry *entry, struct err *e)
{
    struct err none;

    if (r->count)
        return find_choice(r, entry, e);
    if (r->run)
        return cli_find_run(r->run, entry, e);
    if (record_find_unfinished(cli_results(), entry, e) == ERR_OK)
        return ERR_OK;
    if (cli_find_run(NULL, entry, &none) != ERR_OK)
        return e->code;
    if (entry->broken || entry->live || entry->run.state == WIRE_DONE)
        return ERR_OK;
    err_set(e, ERR_INPUT,
            "there is no unfinished run in %s: the newest ended as %s; chorus resume %s%s tries it "
            "again",
            cli_results(), wire_state_words(entry->run.state), TEXT_CLEAN(entry->name), again());
    record_free_entry(entry);
    return ERR_INPUT;
}

static int resume_sweep(const struct resume *r, const char *name)
{
    struct sweep_wish wish = {.name = name,
                              .goes_on = true,
                              .failed = r->failed || r->failed_before,
                              .failed_before = r->failed_before,
                              .bad_before = r->bad_before,
                              .quiet = r->quiet,
                              .json = r->json,
                              .background = r->background,
                              .queue = r->queue};
    struct spec_sweep s;
    struct err e;
    int code;

    if (r->epochs_given)
        return cli_refuse("resume gives a run more epochs, not a sweep: `chorus run` starts one "
                          "with epochs = %lld",
                          (long long)r->epochs);
    spec_sweep_init(&s);
    if (sweeps_read(name, &s, &wish, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (!cli_number("resume --jobs", r->jobs, 1, 1024, &wish.jobs) ||
             !cli_number("resume --max-cells", r->max_cells, 1, SPEC_MOST_CELLS, &wish.max_cells))
        code = err_exit_code(ERR_INPUT);
    else
        code = job_run(&(struct job){.sweep = &s,
                                     .wish = &wish,
                                     .queue = r->queue && !r->background,
                                     .bad_before = r->bad_before,
                                     .background = r->background,
                                     .quiet = r->quiet,
                                     .json = r->json});
    spec_sweep_free(&s);
    return code;
}

/* A run of a sweep is the sweep's. Between the two, the one that somebody worked on last. */
static bool find_sweep(const struct resume *r, char name[128])
{
    struct record_entry entry;
    char newest[32];
    bool sweep;

    if (r->count)
        return false;
    if (r->run)
        return sweeps_find(r->run, name);
    sweep = !r->epochs_given && sweeps_newest_unfinished(name, newest);
    if (sweep && record_find_unfinished(cli_results(), &entry, NULL) == ERR_OK) {
        sweep = !strcmp(entry.run.sweep, name) || strcmp(entry.run.started_utc, newest) <= 0;
        record_free_entry(&entry);
    }
    return sweep;
}

/* What goes on in a process of its own (--queue) had its terminal before. */
static void tell_others(const struct resume *r, const char *sweep)
{
    if (!r->quiet && !r->json && !r->queue)
        drive_tell_others(sweep, "");
}

/* Nobody named it: why that one. */
static void say_choice(const struct resume *r, const char *name, const char *what, const char *why)
{
    if (!r->quiet && !r->json)
        cli_talk("%s%s goes on:%s", what, TEXT_CLEAN(name), why);
}

static int resume(const struct resume *r)
{
    struct record_entry entry;
    struct wire_start *start;
    char sweep[128];
    struct err e;
    int code;

    if (find_sweep(r, sweep)) {
        if (!r->run)
            say_choice(r, sweep, "sweep ", " of what is unfinished it was worked on last");
        tell_others(r, sweep);
        return resume_sweep(r, sweep);
    }
    if (r->failed || r->jobs || r->max_cells)
        return cli_refuse("%s belongs to sweeps%s%s%s",
                          r->failed ? "--failed"
                          : r->jobs ? "--jobs"
                                    : "--max-cells",
                          r->run ? ", and there is none named " : "; none is unfinished here",
                          r->run ? r->run : "", r->run ? "" : ": name one");
    if (find(r, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    code = say_finished(&entry, r);
    if (code == CLI_ON)
        code = launcher_check_single("resume the same run");
    if (code != CLI_ON) {
        record_free_entry(&entry);
        return code;
    }
    if (!r->run && !r->count)
        say_choice(r, entry.name, "", " it is the newest run that is unfinished");
    tell_others(r, NULL);
    if (r->background) {
        code = handover_run(entry.folder, r->epochs, r->queue, r->quiet, r->json);
        record_free_entry(&entry);
        return code;
    }
    start = mem_new(1, sizeof *start);
    start->epochs = r->epochs;
    snprintf(start->resume, sizeof start->resume, "%s", entry.folder);
    code = job_run(&(struct job){.run = start,
                                 .queue = r->queue,
                                 .bad_before = r->bad_before,
                                 .quiet = r->quiet,
                                 .json = r->json});
    free(start);
    record_free_entry(&entry);
    return code;
}

int cli_resume(int argc, char **argv)
{
    struct resume r = {0};
    const struct cli_option options[] = {
        {"--background", NULL, "goes on in a process of its own and returns", &r.background},
        {"--queue", NULL, "then goes on with what waits in the queue", &r.queue},
        {"--quiet", NULL, "says nothing but the folder", &r.quiet},
        {"--json", NULL, "prints run.csv as an object instead of the folder", &r.json},
        {"--failed", NULL, "of a sweep: what has no good end again", &r.failed},
        {"--jobs", "N", "of a sweep: cells side by side", &r.jobs},
        {"--max-cells", "N",
         "of a sweep: the first N cells of its order, more than before or fewer", &r.max_cells},
        {"--failed-before", "UTC", NULL, &r.failed_before}, /* these two: of handover_restart */
        {"--bad-before", NULL, NULL, &r.bad_before},
        {"--tui", NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL},
    };
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (!read_operands(&r, argc, argv))
        return err_exit_code(ERR_INPUT);
    return resume(&r);
}
