#include "ui/app/runkeys.h"

#include "base/io.h"
#include "base/mem.h"
#include "ui/app/claim.h"
#include "ui/app/status.h"

#include <stdlib.h>
#include <string.h>

bool runkeys_is(int32_t code)
{
    return code == 'e' || code == 'r' || code == 'p' || code == 'K' || code == 'R';
}

void runkeys_hint(struct screen_key *hints, bool paused, bool stops)
{
    if (paused)
        screen_hint(hints, "p", "go on");
    if (stops)
        screen_hint(hints, "R", "take stop back");
}

void runkeys_say_over(struct app *app, const char *reason)
{
    app_say(app, GRID_WARN, "It is done, ended by %s: more epochs change nothing; r runs it again.",
            TEXT_CLEAN(reason));
}

/* Whether the key can do anything to it; what cannot be done is said. */
static bool may(struct app *app, const struct library_run *run, const struct feed_run *known,
                int32_t code)
{
    bool own = known && known->own && !wire_state_ended(known->state);

    if (own || (run && run->live))
        return true;
    if (run && run->broken) {
        app_say(app, GRID_WARN, "It cannot be read: %s", run->problem);
        return false;
    }
    if (code == 'R' && run && !run->dead && run->state > WIRE_DONE) {
        app_say(app, GRID_WARN, "It is %s: r runs its experiment again.",
                wire_state_words(run->state));
        return false;
    }
    if (code == 'R')
        return true;
    if (!run)
        app_say(app, GRID_WARN, "This run is not there any more.");
    else if (run->dead)
        app_say(app, GRID_DIM, "Its process is gone: R goes on with it.");
    else if (run->state == WIRE_STOPPED)
        app_say(app, GRID_DIM, "It is stopped: R goes on with it.");
    else
        app_say(app, GRID_DIM, "It is %s: nothing is left to %s; r runs it again.",
                wire_state_words(run->state), code == 'p' ? "pause" : "stop");
    return false;
}

/* What is asked is asked over the screen that is shown. */
static void press(struct app *app, const char *name, int32_t code)
{
    const struct library_run *run = library_find(app->library, name);
    char *folder;

    if (code == 'R' && run && run->state == WIRE_DONE && !run->dead &&
        *library_cell(run, "reason")) {
        runkeys_say_over(app, library_cell(run, "reason"));
        return;
    }
    folder = library_folder(app->library, name);
    if (may(app, run, feed_find(app->feed, folder), code)) {
        app_open(app, SCREEN_RUN,
                 &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = folder});
        app_open(app, SCREEN_RUN, &(struct screen_request){.what = SCREEN_TAKE_KEY, .key = code});
    }
    free(folder);
}

void runkeys_watch(struct app *app, const char *name)
{
    char *folder = library_folder(app->library, name);

    app_open(app, SCREEN_RUN, &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = folder});
    app_show(app, SCREEN_RUN);
    free(folder);
}

void runkeys_predict(struct app *app, const char *name)
{
    app_open(app, SCREEN_PREDICT, &(struct screen_request){.what = SCREEN_TAKE_RUN, .name = name});
    app_show(app, SCREEN_PREDICT);
}

/* ---- what a verb makes of it ---- */

static void take_weights(void *user, const char *path)
{
    struct app *app = user;
    struct text line = {0};
    char *whole;

    if (!path || !*path)
        return;
    whole = io_home_path(path);
    text_add(&line, "weights ");
    jobs_add_word(&line, text_str(&app->about));
    text_add(&line, " -o ");
    jobs_add_word(&line, whole);
    app_command_to(app, text_str(&line), whole);
    text_free(&line);
    free(whole);
}

static struct claim_choice match_choice(const struct app *app)
{
    return (struct claim_choice){.busy = app->about_busy, .queue = true, .now = true};
}

/* Where nothing ran, the command asks again if something has begun meanwhile. */
static void take_match(void *user, int answer)
{
    struct app *app = user;
    struct claim_choice choice = match_choice(app);
    enum claim_how how = claim_answered(&choice, answer);
    struct text line = {0};

    if (how != CLAIM_NOT) {
        text_add(&line, "run --match ");
        jobs_add_word(&line, text_str(&app->about));
        text_add(&line, how == CLAIM_BEHIND ? " --queue" : choice.busy ? " --background" : "");
        app_command(app, text_str(&line));
    }
    text_free(&line);
}

static void ask_match(struct app *app)
{
    struct claim_answers answers;
    struct claim_choice choice;
    struct text words = {0};

    app->about_busy = feed_sees_busy(app->feed);
    choice = match_choice(app);
    answers = claim_answers(&choice);
    text_addf(&words, "Train a single model for as many epochs as make the cost of %s?%s",
              TEXT_CLEAN(text_str(&app->about)), app->about_busy ? " " : "");
    if (app->about_busy)
        status_add_busy(app->feed, &words);
    app_ask(app, text_str(&words), answers.words, take_match, app);
    text_free(&words);
}

bool runkeys_make(struct app *app, const char *name, int32_t code)
{
    if (code != 'W' && code != 'M')
        return false;
    text_clear(&app->about);
    text_add(&app->about, name);
    if (code == 'W')
        app_prompt(app, "weights into the file", "weights.safetensors", take_weights, NULL, app);
    else
        ask_match(app);
    return true;
}

bool runkeys_do(struct app *app, const char *name, int32_t code)
{
    char *folder;

    if (!runkeys_is(code))
        return false;
    if (code == 'e' || code == 'r') {
        folder = library_folder(app->library, name);
        app_open(app, SCREEN_SETUP,
                 &(struct screen_request){
                     .what = SCREEN_TAKE_RUN, .name = folder, .begin = code == 'r'});
        if (code == 'e') /* where r starts it, that shows Run; it may ask first */
            app_show(app, SCREEN_SETUP);
        free(folder);
    } else {
        press(app, name, code);
    }
    return true;
}
