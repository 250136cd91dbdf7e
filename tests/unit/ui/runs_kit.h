/* tests/unit/ui/runs_kit.h: run folders written by hand, and an app around them that no terminal is
 * needed for: what the tests of the screens Results and Compare share. */
#ifndef CHORUS_TESTS_UNIT_UI_RUNS_KIT_H
#define CHORUS_TESTS_UNIT_UI_RUNS_KIT_H

#include "record/run/run.h"
#include "tests/unit/record/help.h"
#include "ui/app/app.h"
#include "ui/widgets/share.h"
#include "ui/screens.h"

#include <poll.h>

struct kit {
    char *folder;
    struct app app;
    const struct screen *screen;
    void *state;
    struct grid g;
};

static inline double kit_wall(void)
{
    return 1793275200.0 + 7200; /* 2026-10-29T12:00:00Z and two hours */
}

static inline uint64_t kit_ns(void)
{
    return 1000000000;
}

/* A run: columns of run.csv as "lr=0.1 seed=2 state=done"; what is not said has a plain value. */
static inline void kit_run(struct kit *k, const char *name, const char *values)
{
    static const char *const plain[][2] = {{"state", "done"},
                                           {"version", "0.1.0"},
                                           {"model", "lenet"},
                                           {"data", "synthetic"},
                                           {"mode", "data-parallel"},
                                           {"backend", "cpu"},
                                           {"devices", "1"},
                                           {"batch", "64"},
                                           {"epochs", "4"},
                                           {"optimizer", "sgd"},
                                           {"lr", "0.1"},
                                           {"schedule", "constant"},
                                           {"seed", "0"},
                                           {"backend_used", "cpu"},
                                           {"real_devices", "1"},
                                           {"threads_used", "2"},
                                           {"shared", "1"},
                                           {"epochs_done", "4"},
                                           {"best_epoch", "4"},
                                           {"best_by", "test"},
                                           {"started_utc", "2026-10-29T12:00:00.000Z"}};
    char *copy = mem_text(values), *folder = io_path(k->folder, name), *path;
    struct text head = {0}, row = {0};
    FILE *f;

    for (size_t i = 0; record_run_columns[i]; i++) {
        const char *column = record_run_columns[i], *value = "";
        char *words = mem_text(copy), *rest = words;

        for (size_t p = 0; p < MEM_COUNT(plain); p++)
            if (!strcmp(plain[p][0], column))
                value = plain[p][1];
        if (!strcmp(column, "run"))
            value = name;
        for (char *word; (word = strsep(&rest, " "));) {
            char *equals = strchr(word, '=');

            if (!equals)
                continue;
            *equals = 0;
            if (!strcmp(word, column))
                value = equals + 1;
        }
        text_addf(&head, "%s%s", i ? "," : "", column);
        text_addf(&row, "%s%s", i ? "," : "", value);
        free(words);
    }
    mkdir(folder, 0777);
    path = io_path(folder, "run.csv");
    f = fopen(path, "w");
    if (!f)
        exit(1);
    fprintf(f, "%s\n%s\n", text_str(&head), text_str(&row));
    fclose(f);
    text_free(&head);
    text_free(&row);
    free(path);
    free(folder);
    free(copy);
}

static inline void kit_put(struct kit *k, const char *run, const char *file, const char *bytes)
{
    char *folder = io_path(k->folder, run);

    help_put(folder, file, bytes, strlen(bytes));
    free(folder);
}

/* epochs.csv with these accuracies: an epoch costs ten seconds, its loss is 1 - accuracy; an ensemble
 * of `members` whose mean member is 0.02 worse than the whole, the best one 0.01. */
static inline void kit_epochs(struct kit *k, const char *run, int members, int n, const double *acc)
{
    struct text t = {0};

    text_add(&t,
             "epoch,step,images,model_images,train_seconds,device_seconds,train_loss,train_acc,"
             "val_loss,val_acc,test_loss,test_acc,member_acc_mean,member_acc_max,disagreement,"
             "lr,images_per_second,input_seconds,compute_seconds,reduce_seconds,wait_seconds\n");
    for (int i = 0; i < n; i++)
        text_addf(&t, "%d,%d,%d,%d,%d,%d,%.4f,%.4f,,,%.4f,%.4f,%.4f,%.4f,%g,0.085,%d,1,2,0,1\n",
                  i + 1, 10 * (i + 1), 100 * (i + 1), 100 * members * (i + 1), 10 * (i + 1),
                  10 * (i + 1), 1 - acc[i] + 0.01, acc[i] - 0.01, 1 - acc[i], acc[i],
                  acc[i] - 0.02 * (members > 1), acc[i] - 0.01 * (members > 1),
                  members > 1 ? 0.1 : 0, 10 * members);
    kit_put(k, run, "epochs.csv", text_str(&t));
    text_free(&t);
}

static inline void kit_begin(struct kit *k)
{
    memset(k, 0, sizeof *k);
    k->folder = help_folder();
}

static inline void kit_turn(struct kit *k, bool look)
{
    if (look)
        library_tick(k->app.library, true);
    for (int quiet = 0; quiet < 2;) {
        struct pollfd p = {tasks_fd(k->app.tasks), POLLIN, 0};

        poll(&p, 1, tasks_idle(k->app.tasks) ? 0 : 20);
        quiet = tasks_take(k->app.tasks) || !tasks_idle(k->app.tasks) ? 0 : quiet + 1;
        if (k->screen && k->screen->tick)
            k->screen->tick(k->state);
    }
}

static inline void kit_open(struct kit *k, const struct screen *screen, int number)
{
    char *settings = io_path(k->folder, ".settings");

    k->app.config.screens = ui_screens;
    k->app.config.results = k->folder;
    k->app.config.wall = kit_wall;
    k->app.config.ns = kit_ns;
    k->app.settings = settings_open(settings);
    free(settings);
    k->app.tasks = tasks_new();
    k->app.library = library_new(k->folder, k->app.tasks);
    k->app.shown = number;
    k->screen = screen;
    if (screen) {
        k->state = screen->open(&k->app);
        if (screen->show)
            screen->show(k->state);
    }
    kit_turn(k, true);
}

static inline void kit_end(struct kit *k)
{
    if (k->screen)
        k->screen->close(k->state);
    tasks_free(k->app.tasks);
    library_free(k->app.library);
    settings_close(k->app.settings);
    grid_free(&k->g);
    help_remove(k->folder);
}

/* The screen as text; freed by the caller. */
static inline char *kit_draw(struct kit *k, int rows, int columns)
{
    struct text out = {0};

    grid_free(&k->g);
    grid_init(&k->g, rows, columns, false);
    k->screen->draw(k->state, &k->g, grid_all(&k->g));
    grid_to_text(&k->g, &out);
    return out.s ? out.s : mem_text("");
}

static inline bool kit_shows(struct kit *k, const char *words)
{
    char *text = kit_draw(k, 22, 80);
    bool shows = strstr(text, words) != NULL;

    if (!shows)
        printf("%s", text);
    free(text);
    return shows;
}

/* Keys by their names, blanks between; "'lr<1" types what stands behind the quote. */
static inline void kit_keys(struct kit *k, const char *keys)
{
    char *copy = mem_text(keys), *rest = copy;

    for (char *word; (word = strsep(&rest, " "));) {
        struct key key = {0};

        for (const char *c = *word == '\'' ? word + 1 : ""; *c; c++) {
            key.code = *c;
            k->screen->key(k->state, &key);
        }
        if (*word != '\'' && key_parse(word, &key) && !k->screen->key(k->state, &key) &&
            key.code == '%') /* a key of every screen */
            share_choose(!share_in_per_cent());
    }
    free(copy);
    kit_turn(k, false);
}

static inline char *kit_command(struct kit *k)
{
    struct text out = {0};

    k->screen->command(k->state, &out);
    return out.s;
}

/* What 'w' would write. */
static inline enum err_code kit_write(const struct screen *screen, void *state, const char *form,
                                      struct text *out, struct err *e)
{
    struct paper paper = {0};
    enum err_code code = screen->write(state, form, &paper, e);

    if (code == ERR_OK)
        code = paper_write(&paper, form, out, e);
    paper_free(&paper);
    return code;
}

#endif
