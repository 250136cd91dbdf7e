/* Screen 6: what the models of a run say of the test images. */
#include "ui/predict/predictview_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/run/reader.h"
#include "study/compare.h"
#include "ui/app/screens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct reading {
    struct predictview *view;
    uint32_t turn;
    char *folder;
    bool made; /* a job has just written it: it is taken as it is */
    bool missing, old;
    struct predictview_set *set;
    int64_t epochs_done, best_epoch;
    bool by_valid;
    struct err error;
};

static double time_of(const char *folder, const char *file)
{
    char *path = io_path(folder, file);
    struct stat st;
    double time =
        io.stat(path, &st) == 0 ? (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9 : -1;

    free(path);
    return time;
}

static void read_facts(struct reading *r)
{
    struct record_entry entry;
    struct err ignored;

    r->epochs_done = -1;
    if (record_read_entry(r->folder, &entry, &ignored) != ERR_OK)
        return;
    if (!entry.broken) {
        r->epochs_done = entry.run.epochs_done;
        r->best_epoch = entry.run.best_epoch;
        r->by_valid = !strcmp(entry.run.best_by, "valid");
    }
    record_free_entry(&entry);
}

static void read_work(void *arg)
{
    struct reading *r = arg;
    char *path = io_path(r->folder, "predictions.safetensors");
    struct safetensors file;

    read_facts(r);
    r->missing = !io_exists(path);
    if (!r->missing && safetensors_read(path, &file, &r->error) == ERR_OK &&
        predictview_make(&r->set, &file, path, &r->error) == ERR_OK)
        r->old =
            r->set->of.epoch != r->epochs_done && time_of(r->folder, "checkpoint.safetensors") >
                                                      time_of(r->folder, "predictions.safetensors");
    free(path);
}

static void start_job(struct predictview *v, const char *at);

static void take_set(struct predictview *v, struct reading *r)
{
    enum predictview_order order = v->pick.order;

    predictview_free(v->set);
    v->set = r->set;
    r->set = NULL;
    v->epochs_done = r->epochs_done;
    v->best_epoch = r->best_epoch;
    v->by_valid = r->by_valid;
    v->old = r->old;
    v->state = PREDICTVIEW_SHOWN;
    v->pick.order = order < PREDICTVIEW_CLASS ? order : PREDICTVIEW_ALL;
    if (v->pick.order == PREDICTVIEW_SPLIT && v->set->of.members < 2)
        v->pick.order = PREDICTVIEW_ALL;
    predictview_pick(v->set, &v->pick);
    v->at = 0;
    if (v->view.row >= v->set->confusion.classes || v->view.column >= v->set->confusion.classes)
        v->view.row = v->view.column = 0;
}

static void read_done(void *arg, bool dropped)
{
    struct reading *r = arg;
    struct predictview *v = r->view;

    if (!dropped && r->turn == v->turn) {
        /* What is there is shown, and where it is old, made anew: but not behind a run that goes on. */
        if (r->set && (!r->old || r->made)) {
            take_set(v, r);
        } else if (r->made) {
            v->state = PREDICTVIEW_FAILED;
            if (r->error.text[0])
                snprintf(v->problem, sizeof v->problem, "%s", r->error.text);
        } else {
            if (r->set)
                take_set(v, r);
            start_job(v, NULL);
        }
        v->app->dirty = true;
    }
    predictview_free(r->set);
    free(r->folder);
    free(r);
}

static void start_reading(struct predictview *v, bool made)
{
    struct reading *r = mem_new(1, sizeof *r);

    r->view = v;
    r->turn = v->turn;
    r->folder = io_path(v->app->config.results, v->run);
    r->made = made;
    v->state = PREDICTVIEW_READING;
    v->since_ns = v->now_ns = app_ns(v->app);
    tasks_add(v->app->tasks, read_work, read_done, r);
}

/* ---- making ---- */

/* A list, since the job of a run that is not looked at any more goes on. */
struct predictview_making {
    struct predictview *view;
    uint32_t turn;
    struct predictview_making *next;
};

static void forget_making(struct predictview *v, struct predictview_making *m)
{
    struct predictview_making **at = &v->making;

    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    free(m);
}

static void job_done(void *user, const struct job_end *end)
{
    struct predictview_making *m = user;
    struct predictview *v = m->view;
    bool current = m->turn == v->turn;

    forget_making(v, m);
    if (current) {
        v->turn++;
        if (end->exit_code == 0) {
            /* why there is no file of them, where there is none */
            snprintf(v->problem, sizeof v->problem, "%s",
                     *end->last_line ? end->last_line : "predict wrote no predictions");
            start_reading(v, true);
        } else {
            v->state = v->set ? PREDICTVIEW_SHOWN : PREDICTVIEW_FAILED;
            snprintf(v->problem, sizeof v->problem, "%s",
                     *end->last_line ? end->last_line : "predict ended without a word");
            if (v->set)
                app_say(v->app, GRID_BAD, "%s", v->problem);
        }
        v->app->dirty = true;
    }
}

static void start_job(struct predictview *v, const char *at)
{
    const char *args[] = {"predict", v->run,           "--first",   "0",
                          "--at",    at ? at : "last", "--results", v->app->config.results,
                          NULL};
    struct predictview_making *m = mem_new(1, sizeof *m);
    struct err e;

    v->state = PREDICTVIEW_MAKING;
    v->since_ns = v->now_ns = app_ns(v->app);
    m->view = v;
    m->turn = ++v->turn;
    m->next = v->making;
    v->making = m;
    if (jobs_start(v->app->jobs, args, job_done, m, &e) == ERR_OK)
        return;
    forget_making(v, m);
    v->state = PREDICTVIEW_FAILED;
    snprintf(v->problem, sizeof v->problem, "%s", e.text);
}

void predictview_load(struct predictview *v, const char *run, const char *at)
{
    char *name = mem_text(run);

    if (!v->run || strcmp(v->run, name) != 0) {
        predictview_free(v->set);
        v->set = NULL;
    }
    free(v->run);
    v->run = name;
    v->turn++;
    v->problem[0] = '\0';
    if (at)
        start_job(v, at);
    else
        start_reading(v, false);
}

/* The run that Run showed last; NULL: none. */
static const char *name_on_run(const struct predictview *v, bool *trained)
{
    const char *name = NULL;

    if (v->app->feed)
        (void)app_open(
            v->app, SCREEN_RUN,
            &(struct screen_request){.what = SCREEN_NAME, .shown = &name, .trained = trained});
    return name;
}

static void take_run(struct predictview *v, const char *name)
{
    const char *slash = strrchr(name, '/'), *shown;
    bool trained;

    /* chosen: what Run shows just now does not put it aside */
    shown = name_on_run(v, &trained);
    snprintf(v->followed, sizeof v->followed, "%s", shown ? shown : "");
    predictview_load(v, slash && slash[1] ? slash + 1 : name, NULL);
}

static bool take(void *screen, const struct screen_request *request)
{
    if (request->what == SCREEN_TAKE_RUN)
        take_run(screen, request->name);
    return request->what == SCREEN_TAKE_RUN;
}

/* ---- the screen ---- */

static void *open_screen(struct app *app)
{
    struct predictview *v = mem_new(1, sizeof *v);

    v->app = app;
    return v;
}

static void close_screen(void *screen)
{
    struct predictview *v = screen;

    while (v->making) /* of jobs that were ended with the program */
        forget_making(v, v->making);
    predictview_free(v->set);
    free(v->pick.image);
    free(v->run);
    free(v);
}

/* A run that Run shows since this screen was left: whoever watches one and comes here means it. */
static void follow(struct predictview *v)
{
    bool trained = false;
    const char *name = name_on_run(v, &trained);

    if (!name || !strcmp(name, v->followed))
        return;
    if (trained) {
        snprintf(v->followed, sizeof v->followed, "%s", name);
        if (!v->run || strcmp(v->run, name) != 0)
            predictview_load(v, name, NULL);
    } else if (v->run) {
        app_say(v->app, GRID_WARN, "%s, which Run shows, has no epoch yet: this is another run.",
                study_short_name(name));
    }
}

/* Without a word from anybody: the newest run that has trained an epoch. */
static void take_newest(struct predictview *v)
{
    const struct library_run *runs;
    size_t n = 0;

    if (v->run || !v->app->library)
        return;
    v->library_turn = library_turn(v->app->library);
    runs = library_runs(v->app->library, &n);
    while (n-- > 0) {
        if (runs[n].broken || runs[n].live || !(library_number(&runs[n], "epochs_done") >= 1))
            continue;
        predictview_load(v, runs[n].name, NULL);
        return;
    }
}

static void show_screen(void *screen)
{
    follow(screen);
    take_newest(screen);
}

/* Its run trains on: what was the best or the last is it no more. */
static bool take_facts(struct predictview *v)
{
    const struct library_run *run;
    double epochs;

    if (!v->set || v->state != PREDICTVIEW_SHOWN || !v->app->library ||
        library_turn(v->app->library) == v->library_turn)
        return false;
    v->library_turn = library_turn(v->app->library);
    run = library_find(v->app->library, v->run);
    if (!run)
        return true;
    epochs = !run->broken ? library_number(run, "epochs_done") : NAN;
    if (!(epochs > (double)v->epochs_done) || !(library_number(run, "best_epoch") >= 0))
        return false;
    v->epochs_done = (int64_t)epochs;
    v->best_epoch = (int64_t)library_number(run, "best_epoch");
    v->by_valid = !strcmp(library_cell(run, "best_by"), "valid");
    v->old = true;
    return true;
}

static bool tick(void *screen)
{
    struct predictview *v = screen;

    if (v->app->shown == SCREEN_PREDICT)
        v->app->dirty |= take_facts(v);
    if (v->app->shown == SCREEN_PREDICT && !v->run && v->app->library &&
        library_turn(v->app->library) != v->library_turn) {
        take_newest(v); /* runs are known since, or have ended */
        v->app->dirty = true;
    }
    v->now_ns = app_ns(v->app);
    return v->app->shown == SCREEN_PREDICT &&
           (v->state == PREDICTVIEW_MAKING || v->state == PREDICTVIEW_READING);
}

static void add_class_option(const struct predictview_set *s, const char *option, int class,
                             struct text *out)
{
    text_addf(out, " %s ", option);
    jobs_add_word(out, s->name[class]);
}

static void command(void *screen, struct text *out)
{
    const struct predictview *v = screen;
    static const char *const selection[] = {
        " --first 10", " --worst 10", " --unsure 10", " --split 10", "", ""};
    bool one = v->pick.order == PREDICTVIEW_CLASS || v->pick.order == PREDICTVIEW_PAIR;

    text_add(out, "predict ");
    jobs_add_word(out, v->run ? v->run : "@");
    if (v->set && v->set->of.epoch >= 0 && v->set->of.epoch != v->epochs_done)
        text_addf(out, " --at %lld", (long long)v->set->of.epoch);
    if (v->confusion) {
        text_add(out, " --confusion --classes");
        return;
    }
    text_add(out, selection[v->pick.order]);
    if (v->set && one)
        add_class_option(v->set, "--label", v->pick.label, out);
    if (v->set && v->pick.order == PREDICTVIEW_PAIR)
        add_class_option(v->set, "--answer", v->pick.answer, out);
}

static enum err_code write_table(void *screen, const char *form, struct paper *out, struct err *e)
{
    const struct predictview *v = screen;

    (void)form;
    if (!v->set)
        return err_set(e, ERR_INPUT, "there are no predictions to write: choose a run first");
    if (v->confusion)
        study_confusion_table(&v->set->confusion, v->set->shown_as, &out->table);
    else
        study_answers_table(&v->set->of, v->pick.image, v->pick.n, false, &out->table);
    return ERR_OK;
}

static const char *const forms[] = {"csv", "tex", "md", NULL};

static const char *run_name(void *screen)
{
    return ((struct predictview *)screen)->run;
}

const struct screen screen_predict = {
    .name = "Predict",
    .about = "What a run's models say of the test images: each image beside the probabilities of "
             "every member and their mean. The confusion matrix tells which classes are taken for "
             "which; Enter on one of its cells shows those images.",
    .keys = predictview_keys,
    .hints = predictview_hints,
    .open = open_screen,
    .close = close_screen,
    .show = show_screen,
    .take = take,
    .draw = predictview_draw,
    .key = predictview_key,
    .tick = tick,
    .command = command,
    .run = run_name,
    .forms = forms,
    .write = write_table,
};
