/* cli/resume.c: chorus resume [RUN] [epochs=N] */
#include "cli/cli.h"

#include "base/mem.h"
#include "cli/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "resume [RUN] [epochs=N]",
    "Goes on with a run where it stopped or was killed; without RUN, the newest unfinished one.",
    "With epochs=N a finished run goes on to N epochs. What is computed again gives the same rows\n"
    "and the same weights, byte for byte.\n"};

struct resume {
    const char *run;
    int64_t epochs; /* 0: as it was */
    bool epochs_given, background, quiet, json;
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
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "epochs=", 7)) {
            if (!read_epochs(r, argv[i] + 7))
                return false;
        } else if (strchr(argv[i], '=')) {
            cli_refuse("resume changes no key but epochs, so not %s; `chorus run %s` runs it "
                       "again with others",
                       argv[i], r->run ? r->run : "RUN KEY=VALUE");
            return false;
        } else if (r->run) {
            cli_refuse("resume takes one RUN, not both %s and %s", r->run, argv[i]);
            return false;
        } else {
            r->run = argv[i];
        }
    }
    return true;
}

/* CLI_ON: there is something to do. */
static int say_finished(const struct record_entry *entry, const struct resume *r)
{
    const struct record_run *run = &entry->run;
    struct text name = {0};
    int code = CLI_ON;

    text_add_clean(&name, entry->name);
    if (entry->broken) {
        struct text why = {0};

        text_add_clean(&why, entry->problem);
        code = cli_refuse("%s cannot be read: %s", text_str(&name), text_str(&why));
        text_free(&why);
    } else if (entry->live) {
        code = cli_refuse("%s is run by process %lld; chorus watch follows it", text_str(&name),
                          (long long)run->pid);
    } else if (r->epochs_given && r->epochs < run->spec.epochs) {
        code = cli_refuse("%s has epochs = %lld: resume can make that more, not %lld",
                          text_str(&name), (long long)run->spec.epochs, (long long)r->epochs);
    } else if (run->state == WIRE_DONE && (!r->epochs || r->epochs == run->spec.epochs)) {
        struct text out = {0};

        if (!r->quiet)
            cli_talk("%s is finished: %lld epoch%s; epochs=N with a larger N goes on",
                     text_str(&name), (long long)run->epochs_done,
                     run->epochs_done == 1 ? "" : "s");
        if (r->json)
            cli_json_run(&out, run);
        else
            text_add(&out, entry->folder);
        text_add(&out, "\n");
        code = cli_print(&out);
        text_free(&out);
    }
    text_free(&name);
    return code;
}

/* Without a name the newest unfinished run; where all are finished, the newest, which says so. */
static enum err_code find(const struct resume *r, struct record_entry *entry, struct err *e)
{
    struct err none;

    if (r->run)
        return cli_find_run(r->run, entry, e);
    if (record_find_unfinished(cli_results(), entry, e) == ERR_OK)
        return ERR_OK;
    return cli_find_run(NULL, entry, &none) == ERR_OK ? ERR_OK : e->code;
}

static int resume(const struct resume *r)
{
    struct record_entry entry;
    struct wire_start *start;
    struct drive_end end;
    struct err e;
    int code;

    if (find(r, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    code = say_finished(&entry, r);
    if (code != CLI_ON) {
        record_free_entry(&entry);
        return code;
    }
    if (r->background) {
        code = drive_detach(entry.folder, r->epochs, r->quiet, r->json);
        record_free_entry(&entry);
        return code;
    }
    start = mem_new(1, sizeof *start);
    start->epochs = r->epochs;
    snprintf(start->resume, sizeof start->resume, "%s", entry.folder);
    if (drive_run(start, entry.run.spec.max_steps, r->quiet, &end, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code = drive_finish(&end, r->quiet, r->json);
    free(start);
    record_free_entry(&entry);
    return code;
}

int cli_resume(int argc, char **argv)
{
    struct resume r = {0};
    const struct cli_option options[] = {
        {"--background", NULL, "goes on in a process of its own and returns", &r.background},
        {"--quiet", NULL, "says nothing but the folder", &r.quiet},
        {"--json", NULL, "prints run.csv as an object instead of the folder", &r.json},
        {"--failed", NULL, NULL, NULL},
        {"--jobs", "N", NULL, NULL},
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
