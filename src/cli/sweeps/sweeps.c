/* cli/sweeps/sweeps.c: sweeps that have a folder: who works on them, what is missing, what is said to them. */
#include "cli/sweeps/sweeps.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/json.h"
#include "cli/out/print.h"
#include "cli/out/progress.h"
#include "engine/engine.h"
#include "record/best.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/sweep/ledger.h"
#include "record/sweep/sweeps.h"
#include "record/working.h"
#include "spec/spec.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMED 5 /* sweeps in a sentence */

char *sweeps_folder(const char *name)
{
    return record_sweep_folder(cli_results(), name);
}

static bool is_sweep(const char *name)
{
    char *folder = sweeps_folder(name), *path = io_path(folder, "sweep.ini");
    bool is = io_exists(path);

    free(path);
    free(folder);
    return is;
}

bool sweeps_find(const char *word, char name[128])
{
    char *run = io_path(cli_results(), word), found[128] = "";
    bool is = !record_is_run(word) && !record_is_run(run);

    free(run);
    if (is && strchr(word, '/'))
        is = record_sweep_of_path(cli_results(), word, found);
    else if (is && strlen(word) < sizeof found)
        snprintf(found, sizeof found, "%s", word);
    is = is && found[0] && found[0] != '.' && is_sweep(found);
    if (is)
        memcpy(name, found, sizeof found);
    return is;
}

int sweeps_refuse(const char *word)
{
    char **names = NULL;
    size_t n = 0, named = 0;
    struct text there = {0};

    if (record_sweeps(cli_results(), &names, &n, NULL) != ERR_OK)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_sweep(names[i]) && ++named <= MOST_NAMED)
            text_addf(&there, "%s%s", named > 1 ? ", " : "", TEXT_CLEAN(names[i]));
        free(names[i]);
    }
    free(names);
    if (named)
        cli_refuse("there is no sweep %.60s; there %s %s%s", TEXT_CLEAN(word),
                   named == 1 ? "is" : "are", text_str(&there), named > MOST_NAMED ? ", ..." : "");
    else
        cli_refuse(
            "there is no sweep %.60s, and no other one yet; `chorus queue%s` lists what waits",
            TEXT_CLEAN(word), again());
    text_free(&there);
    return err_exit_code(ERR_INPUT);
}

/* Values as short as they tell the cells apart. */
void sweeps_add_label(const struct spec_sweep *s, size_t cell, struct text *out)
{
    size_t *place = mem_new(s->axes + 1, sizeof *place);
    struct text t = {0};

    spec_sweep_place(s, cell, place);
    for (size_t a = 0; a < s->axes; a++) {
        text_addf(&t, "%s%s=", a ? " " : "", s->axis[a].key);
        sweeps_add_value(&s->axis[a], place[a], &t);
    }
    text_add_clean(out, text_str(&t));
    text_free(&t);
    free(place);
}

void sweeps_add_value(const struct spec_axis *axis, size_t which, struct text *out)
{
    struct text plain = {0};

    spec_add_plain(&plain, axis->value[which]);
    text_add_short(out, text_str(&plain), axis->digits);
    text_free(&plain);
}

void sweeps_add_before(struct text *out, int64_t results, int64_t skipped, int64_t cells,
                       const char *plus)
{
    if (results)
        text_addf(out, "%s of %s%s cell%s a result already", TEXT_COUNT(results), TEXT_COUNT(cells),
                  plus, cells == 1 ? " has" : "s have");
    else
        text_addf(out, "none of %s%s cell%s has a result yet", TEXT_COUNT(cells), plus,
                  text_s(cells));
    if (skipped)
        text_addf(out, ", %s skipped (--failed tries %s again)", TEXT_COUNT(skipped),
                  skipped == 1 ? "it" : "them");
}

bool sweeps_live(const char *name)
{
    return record_sweep_live(cli_results(), name);
}

bool sweeps_standing(const char *name, struct wire_sweep_status *out)
{
    return sweeps_live(name) && record_working_sweep(cli_results(), name, out);
}

void sweeps_add_standing(const struct wire_sweep_status *s, struct text *out)
{
    text_addf(out, "%s; cell %s of %s%s", wire_sweep_words(s, false), TEXT_COUNT(wire_sweep_at(s)),
              TEXT_COUNT(s->cells), s->counting ? "+" : "");
    if (!wire_sweep_rests(s))
        progress_add_left(out, ", ", s->left_seconds);
}

void sweeps_say_standing(const char *name, const struct wire_sweep_status *is)
{
    struct text line = {0};

    sweeps_add_standing(is, &line);
    cli_talk("sweep %s: %s", TEXT_CLEAN(name), text_str(&line));
    text_free(&line);
}

enum err_code sweeps_read(const char *name, struct spec_sweep *s, struct sweep_wish *wish,
                          struct err *e)
{
    struct record_queue_options options = {0};

    TRY(record_sweep_read(cli_results(), name, s, &options, e));
    wish->order = options.grid ? SWEEP_GRID : SWEEP_SPREAD;
    wish->max_cells = options.max_cells;
    wish->jobs = options.jobs;
    return ERR_OK;
}

enum err_code sweeps_check_same(const char *name, const struct spec_sweep *s, int64_t jobs,
                                struct err *e)
{
    return engine_check_sweep(cli_results(), name, s, jobs, e);
}

enum err_code sweeps_check_queued(const char *name, const struct spec_sweep *s, int64_t jobs,
                                  struct err *e)
{
    return engine_check_queued(cli_results(), name, s, jobs, e);
}

struct live_sweep *sweeps_open(const char *name)
{
    struct live_sweep *s = live_sweep_read(cli_results(), name, SPEC_MOST_CELLS);

    live_sweep_stand(s); /* by its cells, whatever its own program tells */
    return s;
}

struct forecast *sweeps_walk(const struct spec_sweep *s, bool cells)
{
    struct spec_sweep copy;
    struct forecast *f;

    spec_sweep_copy(&copy, s);
    f = forecast_new(&copy, &(struct forecast_wish){.grid = true, .kinds = 1, .cells = cells});
    while (!forecast_walk(f, UINT64_MAX, NULL))
        ;
    return f;
}

int64_t sweeps_left(const struct live_sweep *s)
{
    return s->is.cells - wire_sweep_ended(&s->is);
}

int sweeps_refuse_idle(const char *name)
{
    struct live_sweep *s = sweeps_open(name);
    const char *shown = TEXT_CLEAN(name);
    struct text more = {0};
    size_t grid = live_sweep_possible(s);
    bool over = !s->problem && !sweeps_left(s);

    if (over && grid > (size_t)s->is.cells)
        text_addf(&more, " --max-cells %zu", grid);
    if (over && !more.n)
        cli_refuse("nobody works on the sweep %s, and none of its cells is left to run; chorus "
                   "compare %s%s shows what came of them",
                   shown, shown, again());
    else
        cli_refuse("nobody works on the sweep %s; chorus resume %s%s%s goes on", shown, shown,
                   again(), text_str(&more));
    text_free(&more);
    live_sweep_free(s);
    return err_exit_code(ERR_INPUT);
}

void sweeps_say_cut(const char *name)
{
    struct live_sweep *s = sweeps_open(name);
    int64_t grid = (int64_t)live_sweep_possible(s), most = s->options.max_cells;

    if (most && grid > most)
        cli_talk("sweep %s: %s result%s; --max-cells %lld leaves out %s of the %s cells of its "
                 "grid: chorus resume %s%s --max-cells %lld takes them all",
                 name, TEXT_COUNT(s->ended), text_s(s->ended), (long long)most,
                 TEXT_COUNT(grid - most), TEXT_COUNT(grid), name, again(), (long long)grid);
    live_sweep_free(s);
}

/* When the file that they start from was written; false where nobody knows. */
static bool weights_written(const struct spec *s, char utc[CLOCK_UTC_ROOM])
{
    bool run = io_is_folder(s->weights);
    char *path = run ? io_path(s->weights, "checkpoint.safetensors") : mem_text(s->weights);
    struct stat st;
    bool known = *path && io.stat(path, &st) == 0;

    if (known)
        clock_utc(utc, (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9);
    free(path);
    return known;
}

void sweeps_say_weights(const char *name)
{
    struct live_sweep *s = sweeps_open(name);
    char written[CLOCK_UTC_ROOM];
    int64_t older = 0;

    if (!s->problem && weights_written(&s->spec.base, written))
        for (size_t i = 0; i < s->cells; i++)
            older += s->cell[i].known && s->cell[i].state == WIRE_DONE && s->cell[i].time[0] &&
                     strcmp(s->cell[i].time, written) < 0;
    if (older)
        cli_talk("weights = %s was written anew since %s cell%s ended: %s of what it held "
                 "before; --name gives a sweep from what it holds now a name of its own",
                 s->spec.base.weights, TEXT_COUNT(older), text_s(older),
                 older == 1 ? "its result is" : "their results are");
    live_sweep_free(s);
}

/* The time of its ledger's newest line, where cells of it are left and nobody works on it; else "". */
static void unfinished_since(const char *name, char newest[32])
{
    struct live_sweep *s;

    newest[0] = '\0';
    if (!is_sweep(name) || sweeps_live(name))
        return;
    s = sweeps_open(name);
    if (!s->problem && sweeps_left(s) > 0)
        snprintf(newest, 32, "%s", s->newest[0] ? s->newest : " ");
    live_sweep_free(s);
}

bool sweeps_newest_unfinished(char name[128], char newest[32])
{
    char **names = NULL, since[32];
    size_t n = 0;

    newest[0] = '\0';
    if (record_sweeps(cli_results(), &names, &n, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        unfinished_since(names[i], since);
        if (strlen(names[i]) < 128 && strcmp(since, newest) > 0) {
            snprintf(name, 128, "%s", names[i]);
            memcpy(newest, since, 32);
        }
        free(names[i]);
    }
    free(names);
    return newest[0];
}

enum err_code sweeps_control(const char *name, const char *line, struct err *e)
{
    return record_sweep_control(cli_results(), name, line, e);
}

static void add_accuracy(struct text *out, const char *name, double acc)
{
    text_addf(out, ", \"%s\": ", name);
    if (isfinite(acc))
        text_add_json_double(out, acc);
    else
        text_add(out, "null");
}

/* Where cells were tested on different data, accuracies do not say which is better. */
static void add_best(struct text *out, const struct live_sweep *s)
{
    struct record_choice *of = mem_new(s->cells + 1, sizeof *of);
    size_t n = s->problem || spec_sweep_tests_apart(&s->spec) ? 0 : s->cells, best;
    const struct live_cell *c;
    bool by_valid;

    for (size_t i = 0; i < n; i++) {
        c = &s->cell[i];
        of[i].acc = live_cell_has_accuracy(c) ? c->acc : NAN;
        of[i].val_acc = c->val_acc;
    }
    best = record_best(of, n, &by_valid);
    c = best < n ? &s->cell[best] : NULL;
    text_add(out, ", ");
    cli_json_field(out, "best_run", c ? c->run : "");
    text_add(out, ", ");
    cli_json_field(out, "best_by", !c ? "" : by_valid ? "valid" : "test");
    add_accuracy(out, "best_test_acc", c ? c->acc : NAN);
    add_accuracy(out, "best_val_acc", c ? c->val_acc : NAN);
    free(of);
}

static int64_t begun(const struct live_sweep *s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        n += s->cell[i].known && s->cell[i].time[0];
    return n;
}

static void add_object(struct text *out, const char *name, const char *folder, const char *state)
{
    struct live_sweep *s = sweeps_open(name); /* what cannot be read has no cells */
    const struct wire_sweep_status *is = &s->is;
    const int64_t of_state[] = {
        [WIRE_STOPPED] = is->stopped, [WIRE_DONE] = is->done,     [WIRE_DIVERGED] = is->diverged,
        [WIRE_OOM] = is->oom,         [WIRE_FAILED] = is->failed, [WIRE_SKIPPED] = is->skipped};

    text_add(out, "{");
    cli_json_field(out, "sweep", name);
    text_add(out, ", ");
    cli_json_field(out, "folder", folder);
    text_add(out, ", ");
    cli_json_field(out, "state", state);
    text_addf(out, ", \"cells\": %lld, \"results\": %lld, \"left\": %lld, \"others\": %zu",
              (long long)is->cells, (long long)(wire_sweep_ended(is) - is->skipped),
              (long long)sweeps_left(s), s->others);
    text_addf(out, ", \"begun\": %lld", (long long)begun(s));
    for (int i = WIRE_STOPPED; i <= WIRE_SKIPPED; i++)
        text_addf(out, ", \"%s\": %lld", wire_state_name((enum wire_state)i),
                  (long long)of_state[i]);
    add_best(out, s);
    text_add(out, "}\n");
    live_sweep_free(s);
}

bool sweeps_has_table(const char *name)
{
    char *folder = sweeps_folder(name), *path = io_path(folder, "sweep.csv");
    bool has = io_exists(path);

    free(path);
    free(folder);
    return has;
}

int sweeps_print(const char *name, bool json, const char *state)
{
    char *folder = sweeps_folder(name);
    struct text out = {0};
    int code;

    if (json)
        add_object(&out, name, folder, state);
    else
        text_addf(&out, "%s/sweep.csv\n", folder);
    code = cli_print(&out);
    text_free(&out);
    free(folder);
    return code;
}
