/* ui/app/app_screens.c: the screens in their order, and the one way from one of them to another. */
#include "ui/app/app_int.h"
#include "ui/app/screens.h"

const struct screen *const app_screens[SCREENS] = {&screen_setup,   &screen_run,   &screen_results,
                                                   &screen_compare, &screen_sweep, &screen_predict,
                                                   &screen_log};

bool app_open(const struct app *app, int screen, const struct screen_request *request)
{
    return app->screen[screen] && app_screens[screen]->take &&
           app_screens[screen]->take(app->screen[screen], request);
}

const char *app_run_on(const struct app *app, int screen)
{
    return app->screen[screen] && app_screens[screen]->run
               ? app_screens[screen]->run(app->screen[screen])
               : NULL;
}
