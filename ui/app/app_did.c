/* ui/app/app_did.c: the command line of what a key has just done. */
#include "ui/app/app.h"

void app_did(struct app *app, const char *verb, const char *const *runs, size_t count,
             const char *behind)
{
    text_clear(&app->did);
    text_add(&app->did, verb);
    for (size_t i = 0; i < count; i++) {
        text_add(&app->did, " ");
        jobs_add_word(&app->did, runs[i]);
    }
    if (behind && *behind)
        text_addf(&app->did, " %s", behind);
}
