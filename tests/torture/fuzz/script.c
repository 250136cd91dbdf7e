/* A script of the workbench's keys, played on an empty frame to its end; and the words of a line typed behind ':', which
 * read back as they were written. */
#include "tests/torture/fuzz/fuzz.h"

#include "ui/app/app_int.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TURNS 500
#define TURN_NS    1500000000 /* a wait in vain is soon over */

static uint64_t now;

static uint64_t turn(void)
{
    return now += TURN_NS;
}

static void say(void *user, const char *verb, const char *line)
{
    (void)user, (void)verb, (void)line;
}

static void play(void)
{
    static struct tasks *tasks;
    static struct jobs *jobs;
    static struct app_int own;
    struct app app = {.own = &own, .config = {.ns = turn, .theme = "dark"}};
    struct script *script;
    struct key key;
    struct err e = {0};
    int turns = 0, ms;

    app.tasks = tasks = tasks ? tasks : tasks_new();
    app.jobs = jobs = jobs ? jobs : jobs_new("/nowhere", say, NULL);
    grid_init(&own.grid, 2, 8, false);
    MUST(script_open(&script, "/k/keys", &e) == ERR_OK);
    while (!script_over(script) && turns++ < MOST_TURNS) {
        app.dirty = false;
        ms = 100;
        key = (struct key){0};
        if (script_next(script, &app, &key, &ms))
            MUST(key.code > 0);
        MUST(ms >= 0 && ms <= 100);
    }
    (void)fuzz_taken(script_result(script, &e), &e);
    script_close(script);
    grid_free(&own.grid);
}

static void split_line(const char *line)
{
    char **args, **again;
    size_t count, count_again;
    struct text written = {0};
    struct err e = {0};

    if (!fuzz_taken(jobs_split(line, &args, &count, &e), &e))
        return;
    for (size_t i = 0; i < count; i++) {
        text_add(&written, i ? " " : "");
        jobs_add_word(&written, args[i]);
    }
    MUST(jobs_split(text_str(&written), &again, &count_again, &e) == ERR_OK);
    MUST(count == count_again);
    for (size_t i = 0; i < count; i++)
        MUST_BE(again[i], args[i]);
    jobs_free_args(args);
    jobs_free_args(again);
    text_free(&written);
}

/* Random keys are tests/ui/monkey.sh's, on a whole workbench; and a frame of any size takes any memory. */
static bool is_other(const char *text)
{
    return strstr(text, "monkey") || strstr(text, "size");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_string(bytes, n);

    fuzz_begin();
    fuzz_put("/k/keys", bytes, n);
    if (!is_other(text))
        play();
    text[strcspn(text, "\n")] = 0;
    split_line(text);
    free(text);
    return 0;
}
