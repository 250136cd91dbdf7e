/* The command of on_end: when it is run, what it knows, and that nobody hangs on it. */
#include "tests/unit/engine/help.h"

#include "record/run/run.h"

/* What is in a file of the kit's folder; the caller frees it. */
static char *text_of(const char *folder, const char *name)
{
    char *path = io_path(folder, name), *bytes = NULL;
    size_t n;

    if (io_read_file(path, 1 << 20, &bytes, &n, NULL) != ERR_OK)
        bytes = mem_text("");
    free(path);
    return bytes;
}

/* text holds %s once, for the kit's folder. */
static void command(struct kit *k, struct spec *s, const char *text)
{
    const char *hole = strstr(text, "%s");
    char *value = mem_textf("%.*s%s%s", (int)(hole - text), text, k->folder, hole + 2);
    struct err e;

    if (spec_set(s, "on_end", value, NULL, NULL, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    free(value);
}

TEST(the_command_is_run_when_the_end_is_on_the_disk)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    char *said, *log, *want;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    command(&k, &s,
            "echo $CHORUS_STATE $CHORUS_RUN > %s/said; sed -n 2p $CHORUS_RUN/run.csv "
            "| grep -c done; echo loud >&2; exec 3<$CHORUS_RUN/lock; flock -n 3 && echo free");
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_DONE);
    kit_quit(&k); /* which waits for it */
    said = text_of(k.folder, "said");
    want = mem_textf("done %s\n", status.path);
    CHECK_STR(said, want);
    log = text_of(status.path, "log.txt");
    CHECK_HAS(log, "\n1\n"); /* run.csv says done already */
    CHECK_HAS(log, "\nloud\n");
    CHECK_HAS(log, "\nfree\n"); /* and nobody holds its lock */
    CHECK(!strstr(log, "on_end:"));
    free(said);
    free(want);
    free(log);
    kit_end(&k);
}

TEST(its_failure_is_a_warning_and_every_end_is_one)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct record_run run;
    struct wire_event event;
    char *said, *log;

    kit_folder(&k);
    fake_set_script(&(struct fake_script){.diverge_at = 4});
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    command(&k, &s, "echo $CHORUS_STATE >> %s/said; exit 7");
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_DIVERGED);
    fake_set_script(&(struct fake_script){.oom = true});
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_OOM);
    kit_set(&s, "batch=97"); /* never begins: there is no run to tell of */
    kit_run(&k, &s, &status);
    kit_set(&s, "batch=16");
    kit_set(&s, "on_end=none");
    fake_set_script(&(struct fake_script){0});
    kit_run(&k, &s, &status);
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_DONE);
    while (wire_take(k.wire, &event))
        kit_hear(&k, &event);
    CHECK_HAS(k.logs, "on_end: the command ended with exit code 7");
    said = text_of(k.folder, "said");
    CHECK_STR(said, "diverged\noom\n");
    log = text_of(status.path, "log.txt");
    CHECK(!strstr(log, "on_end"));
    free(said);
    free(log);
    kit_end(&k);
}

static struct kit *here;
static struct wire_command sent;

static void send_command(const struct backend_span *span)
{
    wire_send(here->wire, &sent);
    for (int i = 0; i < 20000 && !atomic_load(span->stop); i++)
        clock_sleep_ms(1);
}

TEST(a_run_that_is_handed_over_has_not_ended)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    char *said;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    command(&k, &s, "echo $CHORUS_STATE >> %s/said");
    here = &k;
    kit_happen = send_command;
    sent = (struct wire_command){.kind = WIRE_HAND_OVER, .run = 1};
    atomic_store(&kit_at, 4);
    kit_run(&k, &s, &status);
    CHECK_INT(status.state, WIRE_STOPPED);
    CHECK(!kit_has(k.folder, "said"));
    kit_wait(&k, kit_resume(&k, status.path, 0), &status);
    kit_quit(&k);
    said = text_of(k.folder, "said");
    CHECK_STR(said, "done\n");
    free(said);
    kit_end(&k);
}

TEST(a_command_that_hangs_is_ended_by_quitting_at_once)
{
    struct kit k;
    struct spec s;
    struct wire_status status;
    struct wire_command quit = {.kind = WIRE_QUIT, .now = true};
    struct record_run run;
    char *log;

    kit_folder(&k);
    kit_engine(&k, 4096, 0);
    kit_spec(&k, &s, NULL);
    command(&k, &s, "echo begun > %s/said; sleep 600 & wait");
    kit_run(&k, &s, &status);
    for (int i = 0; i < 20000 && !kit_has(k.folder, "said"); i++)
        clock_sleep_ms(1);
    wire_send(k.wire, &quit);
    kit_quit(&k);
    kit_read_run(status.path, &run);
    CHECK_INT(run.state, WIRE_DONE);
    log = text_of(status.path, "log.txt");
    CHECK_HAS(log, "on_end: the command was ended by signal 15");
    free(log);
    kit_end(&k);
}
