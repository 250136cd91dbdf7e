#include "ui/runkeys.h"

#include <stdlib.h>
#include <string.h>

bool runkeys_is(int32_t code)
{
    return code == 'e' || code == 'r' || code == 'p' || code == 'K' || code == 'R';
}

/* Whether the key can do anything to it; what cannot be done is said. */
static bool may(struct app *app, const struct library_run *run, const struct feed_run *known,
                int32_t code)
{
    bool own = known && known->own && !wire_state_ended(known->state);

    if (own || code == 'R' || (run && run->live))
        return true;
    if (!run)
        app_say(app, GRID_WARN, "This run is not there any more.");
    else if (run->dead)
        app_say(app, GRID_DIM, "Its program died: R goes on with it.");
    else if (run->state == WIRE_STOPPED)
        app_say(app, GRID_DIM, "It is stopped: R goes on with it.");
    else
        app_say(app, GRID_DIM, "It is %s: nothing is left to %s; r runs it again.",
                wire_state_name(run->state), code == 'p' ? "pause" : "stop");
    return false;
}

static void on_run(struct app *app, const char *name, const char *folder, int32_t code)
{
    const struct feed_run *known = feed_find(app->feed, folder);
    bool read = known && (known->own || known->known);

    if (!may(app, library_find(app->library, name), known, code))
        return;
    screen_run_watch(app->screen[SCREEN_RUN], folder);
    app_show(app, SCREEN_RUN);
    if (read)
        screen_run.key(app->screen[SCREEN_RUN], &(struct key){.code = code});
    else /* nothing is known of it yet that the key could go by */
        app_say(app, GRID_DIM, "Here is the run: %c %s.", (char)code,
                code == 'p'   ? "pauses it"
                : code == 'K' ? "stops it"
                              : "goes on with it");
}

bool runkeys_do(struct app *app, const char *name, int32_t code)
{
    char *folder;

    if (!runkeys_is(code))
        return false;
    folder = library_folder(app->library, name);
    if (code == 'e' || code == 'r') {
        screen_setup_load(app->screen[SCREEN_SETUP], folder, code == 'r');
        app_show(app, code == 'r' ? SCREEN_RUN : SCREEN_SETUP);
    } else {
        on_run(app, name, folder, code);
    }
    free(folder);
    return true;
}
