/* ui/app/app_screens.c: the one way from a screen to another. */
#include "ui/app/app_int.h"

bool app_open(const struct app *app, int screen, const struct screen_request *request)
{
    return app->screen[screen] && app->config.screens[screen]->take &&
           app->config.screens[screen]->take(app->screen[screen], request);
}

const char *app_run_on(const struct app *app, int screen)
{
    return app->screen[screen] && app->config.screens[screen]->run
               ? app->config.screens[screen]->run(app->screen[screen])
               : NULL;
}
