/* ui/app/app_answer.c: what a command has begun, queued or written, in the words of a person: its own stdout is a
 * path, for scripts. */
#include "ui/app/app_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is written ---- */

/* The last line of it. */
static char *last_line(const struct text *out)
{
    const char *line = text_str(out);
    size_t n = out->n;

    while (n && line[n - 1] == '\n')
        n--;
    for (const char *end; (end = memchr(line, '\n', n)); line = end + 1)
        n -= (size_t)(end + 1 - line);
    return mem_text_n(line, n);
}

bool app_add_made(const struct app *app, const struct job_end *end, struct text *words)
{
    const char *results = app->config.results;
    size_t n = strlen(results);
    bool report = !strcmp(end->verb, "report"), average = !strcmp(end->verb, "ensemble");
    char *line = last_line(end->out);
    bool made = report ? text_ends_with(line, "/index.html")
                       : average && !strncmp(line, results, n) && line[n] == '/';

    if (made) {
        text_addf(words, "%s %s", report ? "The report is in" : "The average is the run",
                  TEXT_CLEAN(report ? line : study_short_name(io_last_part(line))));
        if (average && *end->last_line)
            text_addf(words, ": %s", end->last_line);
    }
    free(line);
    return made;
}

/* ---- what is begun ---- */

struct beginning {
    struct app *app;
    char *path, *talk, sweep[128]; /* talk: of the command */
    bool is_sweep, known, live;    /* known: its files tell of it */
    enum wire_state state;
    int64_t epochs;
};

static void read_begun(void *arg)
{
    struct beginning *b = arg;
    struct record_entry entry;

    b->is_sweep = record_sweep_of_path(b->app->config.results, b->path, b->sweep);
    b->known = b->is_sweep || record_read_entry(b->path, &entry, NULL) == ERR_OK;
    if (b->is_sweep || !b->known)
        return;
    b->live = entry.live;
    b->state = entry.run.state;
    b->epochs = entry.live ? entry.run.spec.epochs : entry.run.epochs_done;
    record_free_entry(&entry);
}

/* On Results its filter may hide the run, and the key 2 goes by the cursor; what Run shows stays. */
static void add_screen(struct app *app, const char *path, struct text *words)
{
    if (app->shown == SCREEN_RUN) {
        text_add(words, ": Results (3) lists it.");
    } else if (app->shown != SCREEN_RESULTS) {
        app_open(app, SCREEN_RUN, &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = path});
        text_add(words, ": Run (2) shows it.");
    } else {
        text_add(words, ".");
    }
}

static void add_begun(const struct beginning *b, struct text *words)
{
    const char *name = b->is_sweep ? b->sweep : study_short_name(io_last_part(b->path));
    bool trains = b->is_sweep || b->live || b->state < WIRE_DONE;

    text_addf(words, "%s%s%s", trains ? "Training " : "", b->is_sweep ? "the sweep " : "",
              TEXT_CLEAN(name));
    if (trains)
        text_add(words, " in the background");
    else
        text_addf(words, " is %s already", wire_state_words(b->state));
    if (b->epochs)
        text_addf(words, ", %lld epoch%s", (long long)b->epochs, text_s(b->epochs));
    if (b->is_sweep)
        text_add(words, ": Sweep (5) shows it.");
    else
        add_screen(b->app, b->path, words);
}

static void say_begun(void *arg, bool dropped)
{
    struct beginning *b = arg;
    struct text words = {0};

    if (b->known && !dropped)
        add_begun(b, &words);
    if (!dropped)
        app_say(b->app, GRID_GOOD, "%s", words.n ? text_str(&words) : b->talk);
    text_free(&words);
    free(b->talk);
    free(b->path);
    free(b);
}

/* ---- commands that begin or queue ---- */

static void answer_begun(struct app *app, const char *path, const char *talk)
{
    struct beginning *b = mem_new(1, sizeof *b);

    *b = (struct beginning){.app = app, .path = mem_text(path), .talk = mem_text(talk)};
    tasks_add_slow(app->tasks, read_begun, say_begun, b);
}

static void answer(struct app *app, const struct job_end *end,
                   void (*say)(struct app *app, const char *path, const char *talk))
{
    char *line = last_line(end->out);

    if (end->exit_code || !*line || *text_str(end->out) == '{') {
        command_over(app, end); /* it failed, or was asked for JSON */
    } else {
        say(app, line, end->last_line);
        library_tick(app->library, true);
    }
    free(line);
}

void answer_of_begun(void *user, const struct job_end *end)
{
    if (!end->exit_code)
        begun_take(user, end->out);
    answer(user, end, answer_begun);
}

static void answer_queued(struct app *app, const char *path, const char *talk)
{
    (void)talk;
    app_open(app, SCREEN_SETUP, &(struct screen_request){.what = SCREEN_SAY_QUEUED, .name = path});
}

void answer_of_queued(void *user, const struct job_end *end)
{
    answer(user, end, answer_queued);
}
