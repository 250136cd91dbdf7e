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
#include "cli/sweeps/listed.h"
#include "engine/engine.h"
#include "record/columns.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "record/sweep/sheet.h"
#include "record/sweep/sweeps.h"
#include "record/working.h"
#include "spec/spec.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <errno.h>
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
    struct text shown = {0}, there = {0};

    if (record_sweeps(cli_results(), &names, &n, NULL) != ERR_OK)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_sweep(names[i]) && ++named <= MOST_NAMED) {
            text_add(&there, named > 1 ? ", " : "");
            text_add_clean(&there, names[i]);
        }
        free(names[i]);
    }
    free(names);
    text_add_clean(&shown, word);
    if (named)
        cli_refuse("there is no sweep %.60s; there %s %s%s", text_str(&shown),
                   named == 1 ? "is" : "are", text_str(&there), named > MOST_NAMED ? ", ..." : "");
    else
        cli_refuse(
            "there is no sweep %.60s, and no other one yet; `chorus queue%s` lists what waits",
            text_str(&shown), again());
    text_free(&shown);
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

    text_add(&line, "sweep ");
    text_add_clean(&line, name);
    text_add(&line, ": ");
    sweeps_add_standing(is, &line);
    cli_talk("%s", text_str(&line));
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

static enum err_code read_cells(const char *name, struct record_cell **cells, size_t *n,
                                struct err *e)
{
    struct record_ledger *ledger;
    enum err_code code;
    struct err own;

    e = e ? e : &own;
    *cells = NULL;
    *n = 0;
    code = record_ledger_open_to_read(&ledger, cli_results(), name, e);
    if (code != ERR_OK)
        return e->sys == ENOENT ? ERR_OK : code;
    code = record_ledger_cells(ledger, cells, n, e);
    record_ledger_close(ledger);
    return code;
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

int64_t sweeps_possible(const struct spec_sweep *s, int64_t most)
{
    struct wire_forecast *sum = mem_new(1, sizeof *sum);
    struct forecast *f = sweeps_walk(s, false);
    int64_t possible;

    forecast_sum(f, sum);
    possible = (int64_t)sum->possible;
    forecast_free(f);
    free(sum);
    return most && possible > most ? most : possible;
}

static void count_one(struct sweeps_count *c, const struct record_cell *cell)
{
    if (strcmp(cell->time, c->newest) > 0)
        memcpy(c->newest, cell->time, sizeof c->newest);
    c->begun++;
    c->of_state[cell->state]++;
    c->results += wire_state_is_final(cell->state) && cell->state != WIRE_SKIPPED;
}

/* Those of the ledger that are its own come to the front. */
static size_t keep_listed(struct record_cell *cells, size_t n, const struct listed *listed)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (listed_has(listed, cells[i].cell))
            cells[kept++] = cells[i];
    return kept;
}

/* The caller frees *list: the cells that were begun, if it is asked for. */
static enum err_code count(const char *name, struct sweeps_count *c, struct record_cell **list,
                           struct err *e)
{
    struct sweep_wish wish = {0};
    struct record_cell *cells = NULL;
    struct listed *listed = NULL;
    struct spec_sweep s;
    enum err_code code;
    int64_t ended;
    size_t n = 0;

    *c = (struct sweeps_count){0};
    spec_sweep_init(&s);
    code = sweeps_read(name, &s, &wish, e);
    if (code == ERR_OK)
        code = read_cells(name, &cells, &n, e);
    if (code == ERR_OK) {
        c->cells = sweeps_possible(&s, wish.max_cells);
        listed = listed_open(name, wish.max_cells > 0);
        n = keep_listed(cells, n, listed);
        c->others = (int64_t)listed_others(listed);
    }
    for (size_t i = 0; i < n; i++)
        count_one(c, &cells[i]);
    ended = c->results + c->of_state[WIRE_SKIPPED];
    c->left = c->cells > ended ? c->cells - ended : 0;
    listed_close(listed);
    spec_sweep_free(&s);
    if (list)
        *list = cells;
    else
        free(cells);
    return code;
}

enum err_code sweeps_count(const char *name, struct sweeps_count *c, struct err *e)
{
    return count(name, c, NULL, e);
}

/* Cells of its whole grid, those that --max-cells leaves out too. */
static int64_t whole_grid(const char *name)
{
    struct sweep_wish wish = {0};
    struct spec_sweep s;
    int64_t grid = 0;

    spec_sweep_init(&s);
    if (sweeps_read(name, &s, &wish, NULL) == ERR_OK)
        grid = sweeps_possible(&s, 0);
    spec_sweep_free(&s);
    return grid;
}

int sweeps_refuse_idle(const char *name)
{
    struct text shown = {0}, more = {0};
    struct sweeps_count c;
    bool over = sweeps_count(name, &c, NULL) == ERR_OK && !c.left;
    int64_t grid = over ? whole_grid(name) : 0;

    text_add_clean(&shown, name);
    if (over && grid > c.cells)
        text_addf(&more, " --max-cells %lld", (long long)grid);
    if (over && grid <= c.cells)
        cli_refuse("nobody works on the sweep %s, and none of its cells is left to run; chorus "
                   "compare %s%s shows what came of them",
                   text_str(&shown), text_str(&shown), again());
    else
        cli_refuse("nobody works on the sweep %s; chorus resume %s%s%s goes on", text_str(&shown),
                   text_str(&shown), again(), text_str(&more));
    text_free(&more);
    text_free(&shown);
    return err_exit_code(ERR_INPUT);
}

int64_t sweeps_ended(const char *name)
{
    struct listed *listed = listed_open(name, false);
    struct record_cell *cells = NULL;
    size_t n = 0;
    int64_t ended = 0;

    if (read_cells(name, &cells, &n, NULL) != ERR_OK)
        n = 0;
    n = keep_listed(cells, n, listed);
    for (size_t i = 0; i < n; i++)
        ended += wire_state_is_final(cells[i].state);
    free(cells);
    listed_close(listed);
    return ended;
}

void sweeps_say_cut(const char *name)
{
    struct sweep_wish wish = {0};
    struct record_cell *list = NULL;
    struct text shown = {0};
    struct spec_sweep s;
    struct err e;
    size_t n = 0;
    int64_t grid = 0, ended = 0;

    spec_sweep_init(&s);
    if (sweeps_read(name, &s, &wish, &e) == ERR_OK && wish.max_cells &&
        read_cells(name, &list, &n, &e) == ERR_OK)
        grid = sweeps_possible(&s, 0);
    for (size_t i = 0; i < n; i++) /* also of what its lists no longer name */
        ended += wire_state_is_final(list[i].state);
    text_add_clean(&shown, name);
    if (grid > wish.max_cells)
        cli_talk("sweep %s: %s result%s; --max-cells %lld leaves out %s of the %s cells of its "
                 "grid: chorus resume %s%s --max-cells %lld takes them all",
                 text_str(&shown), TEXT_COUNT(ended), text_s(ended), (long long)wish.max_cells,
                 TEXT_COUNT(grid - wish.max_cells), TEXT_COUNT(grid), text_str(&shown), again(),
                 (long long)grid);
    text_free(&shown);
    free(list);
    spec_sweep_free(&s);
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
    char written[CLOCK_UTC_ROOM];
    struct record_cell *list = NULL;
    struct sweep_wish wish = {0};
    struct sweeps_count c;
    struct text shown = {0};
    struct spec_sweep s;
    int64_t older = 0;

    spec_sweep_init(&s);
    if (sweeps_read(name, &s, &wish, NULL) == ERR_OK && weights_written(&s.base, written) &&
        count(name, &c, &list, NULL) == ERR_OK)
        for (int64_t i = 0; i < c.begun; i++)
            older += list[i].state == WIRE_DONE && strcmp(list[i].time, written) < 0;
    text_add_clean(&shown, s.base.weights);
    if (older)
        cli_talk("weights = %s was written anew since %s cell%s ended: %s of what it held "
                 "before; --name gives a sweep from what it holds now a name of its own",
                 text_str(&shown), TEXT_COUNT(older), text_s(older),
                 older == 1 ? "its result is" : "their results are");
    text_free(&shown);
    free(list);
    spec_sweep_free(&s);
}

bool sweeps_newest_unfinished(char name[128], char newest[32])
{
    char **names = NULL;
    struct sweeps_count c;
    size_t n = 0;
    bool found = false;

    newest[0] = '\0';
    if (record_sweeps(cli_results(), &names, &n, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) < 128 && is_sweep(names[i]) && !sweeps_live(names[i]) &&
            sweeps_count(names[i], &c, NULL) == ERR_OK && c.left > 0 &&
            (!found || strcmp(c.newest, newest) > 0)) {
            found = true;
            snprintf(name, 128, "%s", names[i]);
            memcpy(newest, c.newest, 32);
        }
        free(names[i]);
    }
    free(names);
    return found;
}

enum err_code sweeps_control(const char *name, const char *line, struct err *e)
{
    return record_sweep_control(cli_results(), name, line, e);
}

static struct wire_cell read_result(const struct record_cell *cell)
{
    char *folder = io_path(cli_results(), cell->run);
    struct wire_cell out = {.known = true, .state = cell->state, .acc = NAN, .val_acc = NAN};
    struct record_entry entry;
    char left[RECORD_LEFT_ROOM];

    if (cell->run[0] && cell->state == WIRE_DONE &&
        record_read_entry(folder, &entry, NULL) == ERR_OK) {
        if (!entry.broken && !record_cell_is_left(&entry.run, cell->cell, left)) {
            if (entry.run.best_test_acc != RECORD_EMPTY)
                out.acc = entry.run.best_test_acc;
            out.val_acc = record_entry_valid_acc(&entry);
        }
        record_free_entry(&entry);
    }
    free(folder);
    return out;
}

static void add_accuracy(struct text *out, const char *name, double acc)
{
    text_addf(out, ", \"%s\": ", name);
    if (isfinite(acc))
        text_add_json_double(out, acc);
    else
        text_add(out, "null");
}

/* apart: its cells were tested on different data, whose accuracies do not say which is better. */
static void add_best(struct text *out, const struct record_cell *cells, size_t n, bool apart)
{
    struct wire_cell *result = mem_new(n + 1, sizeof *result);
    bool by_valid;
    size_t best;

    for (size_t i = 0; i < n; i++)
        result[i] = read_result(&cells[i]);
    best = apart ? n : wire_best_cell(result, n, &by_valid);
    text_add(out, ", ");
    cli_json_field(out, "best_run", best < n ? cells[best].run : "");
    text_add(out, ", ");
    cli_json_field(out, "best_by", best >= n ? "" : by_valid ? "valid" : "test");
    add_accuracy(out, "best_test_acc", best < n ? result[best].acc : NAN);
    add_accuracy(out, "best_val_acc", best < n ? result[best].val_acc : NAN);
    free(result);
}

static bool tests_apart(const char *name)
{
    struct sweep_wish wish = {0};
    struct spec_sweep s;
    bool apart;

    spec_sweep_init(&s);
    apart = sweeps_read(name, &s, &wish, NULL) == ERR_OK && spec_sweep_tests_apart(&s);
    spec_sweep_free(&s);
    return apart;
}

static void add_object(struct text *out, const char *name, const char *folder, const char *state)
{
    struct record_cell *cells = NULL;
    struct sweeps_count c;

    (void)count(name, &c, &cells, NULL); /* what cannot be read has none */
    text_add(out, "{");
    cli_json_field(out, "sweep", name);
    text_add(out, ", ");
    cli_json_field(out, "folder", folder);
    text_add(out, ", ");
    cli_json_field(out, "state", state);
    text_addf(out, ", \"cells\": %lld, \"results\": %lld, \"left\": %lld, \"others\": %lld",
              (long long)c.cells, (long long)c.results, (long long)c.left, (long long)c.others);
    text_addf(out, ", \"begun\": %lld", (long long)c.begun);
    for (int i = WIRE_STOPPED; i <= WIRE_SKIPPED; i++)
        text_addf(out, ", \"%s\": %lld", wire_state_name((enum wire_state)i),
                  (long long)c.of_state[i]);
    add_best(out, cells, (size_t)c.begun, tests_apart(name));
    text_add(out, "}\n");
    free(cells);
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
