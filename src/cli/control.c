/* cli/control.c: chorus pause, go, stop: for a run of this or another process. A line in RUN/control
 * is obeyed by its owner within a second; run.csv then says so. */
#include "cli/cli.h"

#include "base/clock.h"

#include <string.h>

#define WAIT_MS 10000
#define LOOK_MS 50

static bool reached(const struct record_entry *entry, enum wire_state wanted)
{
    if (entry->broken)
        return false;
    if (wanted == WIRE_STOPPED)
        return wire_state_ended(entry->run.state) && !entry->live;
    /* It may have ended by itself meanwhile. */
    return entry->run.state == wanted || wire_state_ended(entry->run.state);
}

/* Waits until the run's file shows that the line was obeyed. */
static int wait_for(const char *folder, enum wire_state wanted)
{
    struct record_entry entry;
    struct err e;
    struct text name = {0};
    bool there = false;
    int code = 0;

    for (int waited = 0; !there && waited < WAIT_MS; waited += LOOK_MS) {
        if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
            return cli_fail(&e);
        there = reached(&entry, wanted);
        if (!there && !entry.live && !entry.broken) {
            record_free_entry(&entry);
            /* Ended between the two looks of one record_find, or its owner died. */
            if (record_find(cli_results(), folder, &entry, &e) != ERR_OK)
                return cli_fail(&e);
            there = reached(&entry, wanted) || entry.dead;
        }
        if (there) {
            text_add_clean(&name, entry.name);
            cli_talk("%s is %s", text_str(&name),
                     entry.dead ? "dead: its process is gone" : wire_state_name(entry.run.state));
            if (entry.dead)
                code = err_exit_code(ERR_FAILED);
        }
        record_free_entry(&entry);
        if (!there)
            clock_sleep_ms(LOOK_MS);
    }
    if (!there) {
        cli_talk("chorus: the run was told, but has not answered within %d s", WAIT_MS / 1000);
        code = err_exit_code(ERR_FAILED);
    }
    text_free(&name);
    return code;
}

static int refuse_idle(const struct record_entry *entry)
{
    struct text name = {0};
    int code;

    text_add_clean(&name, entry->name);
    if (entry->broken)
        code = cli_refuse("%s cannot be read", text_str(&name));
    else if (entry->dead)
        code = cli_refuse("nobody runs %s any more: its process is gone; chorus resume goes on",
                          text_str(&name));
    else
        code = cli_refuse("nobody runs %s: it is %s", text_str(&name),
                          wire_state_name(entry->run.state));
    text_free(&name);
    return code;
}

static int send(const char *run, const char *line, enum wire_state wanted, bool wait)
{
    struct record_entry entry;
    struct err e;
    int code;

    if (cli_find_run(run, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (!entry.live || entry.broken) {
        code = refuse_idle(&entry);
    } else if (wanted != WIRE_STOPPED && entry.run.state == wanted) {
        struct text name = {0};

        text_add_clean(&name, entry.name);
        cli_talk("%s is %s already", text_str(&name), wire_state_name(wanted));
        text_free(&name);
        code = 0;
    } else if (record_control(entry.folder, line, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else if (wait) {
        code = wait_for(entry.folder, wanted);
    } else {
        struct text name = {0};

        text_add_clean(&name, entry.name);
        cli_talk("%s will stop after this epoch", text_str(&name));
        text_free(&name);
        code = 0;
    }
    record_free_entry(&entry);
    return code;
}

static int one_run(int argc, char **argv, const char **run)
{
    if (argc != 2)
        return cli_refuse("%s needs one RUN, such as @ for the newest", argv[0]);
    *run = argv[1];
    return CLI_ON;
}

int cli_pause(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "pause RUN", "Makes a run of this or another process wait; `chorus go` lets it go on.",
        NULL};
    const char *run = NULL;
    int code = cli_options(&usage, NULL, &argc, argv);

    if (code == CLI_ON)
        code = one_run(argc, argv, &run);
    return code == CLI_ON ? send(run, "pause", WIRE_PAUSED, true) : code;
}

int cli_go(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "go RUN", "Lets a paused run of this or another process go on.", NULL};
    const char *run = NULL;
    int code = cli_options(&usage, NULL, &argc, argv);

    if (code == CLI_ON)
        code = one_run(argc, argv, &run);
    return code == CLI_ON ? send(run, "go", WIRE_RUNNING, true) : code;
}

int cli_stop(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "stop RUN [--after-epoch, --now]",
        "Stops a run of this or another process after its step; `chorus resume` goes on.", NULL};
    bool epoch = false, now = false;
    const struct cli_option options[] = {
        {"--after-epoch", NULL, "when the epoch is complete", &epoch},
        {"--now", NULL, "at once, without a checkpoint: steps are computed again later", &now},
        {NULL, NULL, NULL, NULL},
    };
    const char *run = NULL;
    int code = cli_options(&usage, options, &argc, argv);

    if (code == CLI_ON)
        code = one_run(argc, argv, &run);
    if (code != CLI_ON)
        return code;
    if (epoch && now)
        return cli_refuse("stop takes --after-epoch or --now, not both");
    return send(run, epoch ? "stop epoch" : now ? "stop now" : "stop step", WIRE_STOPPED, !epoch);
}
