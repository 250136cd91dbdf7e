/* What the keys of the Predict screen do. */
#include "ui/predict/predictview_int.h"

#include "base/mem.h"
#include "ui/app/runkeys.h"

#include <string.h>

const struct screen_key predictview_keys[] = {
    {"Up Down Left Right", NULL, "the next image and the one before; cells of the matrix"},
    {"Enter", NULL, "on the confusion matrix: shows the images of this cell"},
    {"m", "mistakes", "the worst mistakes: the least probability for the right class first"},
    {"c", "confusion", "the confusion matrix: labels against answers"},
    {"d", "disagreement", "the images on which the members disagree most"},
    {"u", "unsure", "the images of whose answer the models are least sure"},
    {"/", "class", "one class: the images of one label, by its name or number"},
    {"g", "go to", "goes to an image by its number"},
    {"a", "all", "all test images in their order"},
    {"B", NULL, "the weights of the best epoch, where the run keeps them"},
    {"L", NULL, "the last weights; also: predicts anew, where the run has trained on"},
    {"i", NULL, "what it answers to a picture of yours: PNG, PGM or PPM"},
    {"n N", NULL, "the next run, or the one before"},
    {"e", NULL, "loads the run's experiment into Setup"},
    {"r", NULL, "runs its experiment again"},
    {"W M", NULL, "its weights as a file; a single model of the same cost"},
    {"p K R", NULL, "pauses, stops or goes on with the run, as on Run"},
    {NULL, NULL, NULL},
};

/* On a confusion matrix, and without predictions, other keys do something. */
static const struct screen_key board_keys[] = {
    {"Up Down Left Right", "cell", ""},
    {"Enter", "its images", ""},
    {"c", "images", ""},
    {"m", "mistakes", ""},
    {"n N", "run", ""},
    {NULL, NULL, NULL},
};
static const struct screen_key empty_keys[] = {
    {"n N", "run", ""}, {"e", "edit", ""}, {"r", "again", ""}, {NULL, NULL, NULL}};
static const struct screen_key no_keys[] = {{"n N", "run", ""}, {NULL, NULL, NULL}};

/* Of one's own: answered by the verb, whose words are shown. */
static void picture_entered(void *user, const char *path)
{
    struct predictview *v = user;
    struct text line = {0};

    if (path && *path && v->run) {
        text_add(&line, "predict ");
        jobs_add_word(&line, v->run);
        text_add(&line, " ");
        jobs_add_word(&line, path);
        app_command(v->app, text_str(&line));
    }
    text_free(&line);
}

const struct screen_key *predictview_hints(void *screen)
{
    static struct screen_key hints[SCREEN_HINTS + 1];
    const struct predictview *v = screen;

    if (!v->set)
        return v->run ? empty_keys : no_keys;
    screen_hints(hints, v->confusion ? board_keys : predictview_keys,
                 v->confusion             ? "UEcmn"
                 : v->set->of.members < 2 ? "mcu/ga" /* nobody is there to disagree */
                                          : "mcdu/ga");
    if (v->confusion && study_answers_are_rows(&v->set->of)) {
        screen_hint(hints, "Enter", "its rows");
        screen_hint(hints, "c", "rows");
    }
    return hints;
}

static int clamped(int64_t value, int64_t most)
{
    return (int)(value > most ? (most < 0 ? 0 : most) : value < 0 ? 0 : value);
}

static void choose(struct predictview *v, enum predictview_order order)
{
    if (order == PREDICTVIEW_SPLIT && v->set->of.members < 2) {
        app_say(v->app, GRID_DIM, "This run has one model: there is nobody to disagree.");
        return;
    }
    v->pick.order = order;
    v->confusion = false;
    v->at = v->list_first = 0;
    predictview_pick(v->set, &v->pick);
}

static void class_entered(void *user, const char *text)
{
    struct predictview *v = user;
    int class;

    if (!text || !v->set)
        return;
    class = predictview_class(v->set, text);
    if (class < 0) {
        app_prompt_again(v->app, text);
        app_say(v->app, GRID_WARN, "No class is called %s; there are %d, from %s to %s.", text,
                v->set->of.classes, v->set->name[0], v->set->name[v->set->of.classes - 1]);
        return;
    }
    v->pick.label = class;
    choose(v, PREDICTVIEW_CLASS);
}

static void number_entered(void *user, const char *text)
{
    struct predictview *v = user;
    int64_t number;

    if (!text || !v->set)
        return;
    if (!text_to_int(text, &number) || number < 0 || number >= (int64_t)v->set->of.n) {
        app_prompt_again(v->app, text);
        app_say(v->app, GRID_WARN, "%ss are numbered from 0 to %zu.",
                study_answers_are_rows(&v->set->of) ? "Row" : "Image", v->set->of.n - 1);
        return;
    }
    for (size_t i = 0; i < v->pick.n; i++) {
        if (v->pick.image[i] == (size_t)number) {
            v->at = i;
            v->confusion = false;
            return;
        }
    }
    choose(v, PREDICTVIEW_ALL); /* it is none of those that were shown */
    v->at = (size_t)number;
}

static void show_cell(struct predictview *v)
{
    v->pick.label = v->set->shown[v->view.row];
    v->pick.answer = v->set->shown[v->view.column];
    choose(v, PREDICTVIEW_PAIR);
    if (v->pick.n)
        return;
    app_say(v->app, GRID_DIM, "No %s was taken for %s.", v->set->name[v->pick.label],
            v->set->name[v->pick.answer]);
    choose(v, PREDICTVIEW_ALL);
    v->confusion = true;
}

/* Among runs with an epoch, by when they were started. */
static void next_run(struct predictview *v, int by)
{
    const struct library_run *runs;
    size_t n = 0, at;

    if (!v->app->library)
        return;
    runs = library_runs(v->app->library, &n);
    if (!v->run)
        by = -1; /* the newest */
    for (at = 0; at < n && (!v->run || strcmp(runs[at].name, v->run) != 0); at++)
        ;
    while (by > 0 ? ++at < n : at-- > 0) {
        if (!runs[at].broken && library_number(&runs[at], "epochs_done") >= 1) {
            predictview_load(v, runs[at].name, NULL);
            return;
        }
    }
    app_say(v->app, GRID_DIM,
            by > 0 ? "It is the newest run with an epoch." : "It is the oldest run with an epoch.");
}

static bool move_in_board(struct predictview *v, int32_t code)
{
    int rows = code == UI_UP || code == 'k' ? -1 : code == UI_DOWN || code == 'j' ? 1 : 0;
    int columns = code == UI_LEFT || code == 'h' ? -1 : code == UI_RIGHT || code == 'l' ? 1 : 0;

    if (code == UI_WHEEL_UP || code == UI_WHEEL_DOWN)
        rows = code == UI_WHEEL_UP ? -1 : 1;
    if (!rows && !columns)
        return false;
    v->view.row = clamped(v->view.row + rows, v->set->confusion.classes - 1);
    v->view.column = clamped(v->view.column + columns, v->set->confusion.classes - 1);
    return true;
}

static bool move_in_list(struct predictview *v, int32_t code)
{
    int64_t at = (int64_t)v->at, last = (int64_t)v->pick.n - 1;

    switch (code) {
    case UI_UP:
    case UI_LEFT:
    case UI_WHEEL_UP:
    case 'k':
    case 'h':
        at--;
        break;
    case UI_DOWN:
    case UI_RIGHT:
    case UI_WHEEL_DOWN:
    case 'j':
    case 'l':
        at++;
        break;
    case UI_PAGE_UP:
        at -= 10;
        break;
    case UI_PAGE_DOWN:
        at += 10;
        break;
    case UI_HOME:
        at = 0;
        break;
    case UI_END:
        at = last;
        break;
    default:
        return false;
    }
    v->at = (size_t)clamped(at, last);
    return true;
}

static bool click(struct predictview *v, const struct key *key)
{
    int row, column;

    if (v->confusion && board_hit(&v->view, key->row, key->column, &row, &column)) {
        v->view.row = row;
        v->view.column = column;
        if (key->again)
            show_cell(v);
        return true;
    }
    if (!v->confusion && rect_holds(v->list_at, key->row, key->column)) {
        size_t at = v->list_first + (size_t)(key->row - v->list_at.row);

        v->at = at < v->pick.n ? at : v->at;
        return true;
    }
    return false;
}

static bool has_run(struct predictview *v)
{
    if (!v->run)
        app_say(v->app, GRID_DIM, "No run is chosen: n takes the newest with an epoch.");
    return v->run != NULL;
}

static bool run_key(struct predictview *v, int32_t code)
{
    switch (code) {
    case 'n':
    case 'N':
        next_run(v, code == 'n' ? 1 : -1);
        return true;
    case 'B':
    case 'L':
        if (v->state == PREDICTVIEW_MAKING)
            app_say(v->app, GRID_DIM, "It is being predicted already.");
        else if (has_run(v))
            predictview_load(v, v->run, code == 'B' ? "best" : "last");
        return true;
    case 'i':
        if (has_run(v))
            app_prompt(v->app, "picture (PNG, PGM or PPM)", "", picture_entered, NULL, v);
        return true;
    case 'W':
    case 'M':
        return !has_run(v) || runkeys_make(v->app, v->run, code);
    default:
        if (!runkeys_is(code))
            return false;
        if (has_run(v))
            runkeys_do(v->app, v->run, code);
        return true;
    }
}

static bool set_key(struct predictview *v, int32_t code)
{
    switch (code) {
    case 'a':
        choose(v, PREDICTVIEW_ALL);
        return true;
    case 'm':
        choose(v, PREDICTVIEW_WORST);
        return true;
    case 'u':
        choose(v, PREDICTVIEW_UNSURE);
        return true;
    case 'd':
        choose(v, PREDICTVIEW_SPLIT);
        return true;
    case '/':
        app_prompt(v->app, "class", "", class_entered, NULL, v);
        return true;
    case 'g':
        app_prompt(v->app, study_answers_are_rows(&v->set->of) ? "row number" : "image number", "",
                   number_entered, NULL, v);
        return true;
    case 'c':
        v->confusion = !v->confusion;
        return true;
    case UI_ESC: /* from some to all */
        if (!v->confusion && v->pick.order == PREDICTVIEW_ALL)
            return false;
        if (v->pick.order == PREDICTVIEW_PAIR && !v->confusion)
            v->confusion = true;
        else
            choose(v, PREDICTVIEW_ALL);
        return true;
    case UI_ENTER:
        if (v->confusion)
            show_cell(v);
        return v->confusion || v->pick.order == PREDICTVIEW_PAIR;
    default:
        return v->confusion ? move_in_board(v, code) : move_in_list(v, code);
    }
}

bool predictview_key(void *screen, const struct key *key)
{
    struct predictview *v = screen;

    if (v->set && key->code == UI_CLICK)
        return click(v, key);
    return run_key(v, key->code) || (v->set && set_key(v, key->code));
}
