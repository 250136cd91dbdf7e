/* cli/verbs/queue.c: chorus queue. */
#include "base/again.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/sweeps/cells.h"
#include "cli/sweeps/sweeps.h"
#include "cli/verbs.h"
#include "cli/jobs/handover.h"
#include "cli/jobs/queue_items.h"
#include "cli/jobs/job.h"
#include "record/queue/queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "queue [run [--background], rm N..., move N BY, move SWEEP KEY=VALUE... BY]",
    "Lists what waits in results/queue; takes from it; removes or moves what is there.",
    "  chorus run my.ini lr=0.2 --queue   adds an experiment, or a sweep; with --alone it waits\n"
    "                                     until no other chorus computes on this machine\n"
    "  chorus queue                       lists: number, name, what it is, first where it\n"
    "                                     differs from others of its name\n"
    "  chorus queue run                   takes one after the other until the queue is empty\n"
    "  chorus queue rm 3                  takes number 3 out; 2..5, 3.. or ..4 those of a range\n"
    "  chorus queue move 3 -1             one place earlier; also 2, up, down, first, last\n"
    "  chorus queue move board lr=0.1 -1  the same of cells of a sweep that is at work\n"
    "A workbench on these results takes from the queue too, whenever it has nothing else to do; one\n"
    "process at a time does. `queue run` prints a folder for each run (a sweep: its table) and exits\n"
    "with 1 where one of them failed, diverged or could not be used. Ctrl-C stops the run after its\n"
    "step and leaves the rest in the queue; `chorus resume --queue RUN` goes on with both. A file that\n"
    "is no experiment is renamed to NAME.ini.bad.\n"};

static void add_table(struct text *out, const struct record_queued *list, size_t n)
{
    char **label = record_queue_labels(list, n);
    struct cli_table table;

    cli_table_start(&table, "-number|name|what");
    for (size_t i = 0; i < n; i++) {
        struct text what = {0};
        const char *kind;
        size_t cells;

        queue_describe(&list[i], &what, &kind, &cells);
        if (list[i].number)
            cli_table_addf(&table, "%lld", (long long)list[i].number);
        else
            cli_table_add(&table, "-");
        cli_table_add(&table, list[i].name);
        if (queue_options(&list[i]).resume[0]) /* it is told apart by its run */
            label[i][0] = 0;
        cli_table_addf(&table, "%s%s%s%s%s", !strcmp(kind, "broken") ? "broken: " : "", label[i],
                       label[i][0] ? "; " : "", text_str(&what),
                       queue_wants_alone(&list[i]) ? ", alone on this machine" : "");
        text_free(&what);
    }
    cli_table_fit(&table, cli_limit(STDOUT_FILENO), (const char *const[]){NULL}, "what", false);
    cli_table_text(&table, out);
    cli_table_free(&table);
    record_queue_free_labels(label, n);
}

static int list(bool json, bool quiet)
{
    struct record_queued *items;
    struct text out = {0};
    struct err e;
    size_t n;
    int code = cli_check_results();

    if (code != CLI_ON)
        return code;
    code = 0;
    if (record_queue_list(cli_results(), &items, &n, &e) != ERR_OK)
        return cli_fail(&e);
    if (json) {
        text_add(&out, "[");
        for (size_t i = 0; i < n; i++) {
            text_add(&out, i ? ",\n " : "");
            queue_add_object(&out, &items[i]);
        }
        text_add(&out, "]\n");
    } else if (n) {
        add_table(&out, items, n);
    }
    if (out.n)
        code = cli_print(&out);
    if (!n && !quiet)
        cli_talk("nothing waits in %s/queue; `chorus run --queue` adds to it",
                 TEXT_CLEAN(cli_results()));
    else if (!json && !quiet)
        queue_say_taker(items);
    record_queue_free(items, n);
    text_free(&out);
    return code;
}

/* ---- rm and move ---- */

/* By its number, its file, or its name where no other one has that. */
static enum err_code find(const char *word, struct record_queued *items, size_t n, size_t *at,
                          struct err *e)
{
    int64_t number;
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (!strcmp(items[i].file, word) ||
            (text_to_int(word, &number) && number > 0 && items[i].number == number)) {
            *at = i;
            return ERR_OK;
        }
    for (size_t i = 0; i < n; i++)
        if (!strcmp(items[i].name, word)) {
            *at = i;
            found++;
        }
    if (found == 1)
        return ERR_OK;
    if (found)
        return err_set(e, ERR_INPUT,
                       "%s of those that wait are named %.60s: name one by its number",
                       TEXT_COUNT(found), TEXT_CLEAN(word));
    return err_set(e, ERR_INPUT,
                   "nothing of number or name %.60s waits; `chorus queue%s` lists what does",
                   *word ? TEXT_CLEAN(word) : "''", again());
}

/* "2..5", "3..", "..4": numbers, of which some may be gone. */
static bool read_range(const char *word, int64_t *lo, int64_t *hi)
{
    const char *dots = strstr(word, "..");
    char *first;
    bool is;

    if (!dots || !strcmp(word, ".."))
        return false;
    first = mem_text_n(word, (size_t)(dots - word));
    *lo = 1;
    *hi = INT64_MAX;
    is = (!*first || text_to_int(first, lo)) && (!dots[2] || text_to_int(dots + 2, hi));
    free(first);
    return is;
}

/* Marks what a word chooses: one, or those of a range. */
static enum err_code choose(const char *word, struct record_queued *items, size_t n, bool *chosen,
                            struct err *e)
{
    int64_t lo, hi;
    size_t at = 0;
    bool any = false;

    if (!read_range(word, &lo, &hi)) {
        TRY(find(word, items, n, &at, e));
        chosen[at] = true;
        return ERR_OK;
    }
    for (size_t i = 0; i < n; i++)
        if (items[i].number > 0 && items[i].number >= lo && items[i].number <= hi)
            any = chosen[i] = true;
    return any ? ERR_OK
               : err_set(e, ERR_INPUT,
                         "nothing of a number in %.60s waits; `chorus queue%s` lists what does",
                         word, again());
}

/* Each is found before the first one goes. */
static int remove_all(int count, char **words, bool quiet)
{
    struct record_queued *items;
    size_t n;
    bool *chosen;
    struct err e;
    int code = 0;

    if (record_queue_list(cli_results(), &items, &n, &e) != ERR_OK)
        return cli_fail(&e);
    chosen = mem_new(n + 1, sizeof *chosen);
    for (int i = 0; i < count && !code; i++)
        if (choose(words[i], items, n, chosen, &e) != ERR_OK)
            code = cli_fail(&e);
    for (size_t i = 0; i < n && !code; i++) {
        if (!chosen[i])
            continue;
        if (record_queue_remove(cli_results(), &items[i], &e) != ERR_OK)
            code = cli_fail(&e);
        else if (!quiet)
            cli_talk("%s is out of the queue", items[i].file);
    }
    record_queue_free(items, n);
    free(chosen);
    return code;
}

static bool read_by(const char *word, int64_t *by)
{
    static const struct {
        const char *word;
        int64_t by;
    } words[] = {{"up", -1}, {"down", 1}, {"first", INT64_MIN}, {"last", INT64_MAX}};

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(words[i].word, word)) {
            *by = words[i].by;
            return true;
        }
    return text_to_int(word[0] == '+' ? word + 1 : word, by);
}

/* Where it stands now. */
static void say_place(const struct record_queued *item)
{
    struct record_queued *items;
    struct text place = {0};
    size_t n, at = 0;

    if (record_queue_list(cli_results(), &items, &n, NULL) != ERR_OK)
        return;
    while (at < n && items[at].id != item->id)
        at++;
    if (at < n) {
        cells_add_place(&place, at + 1, n);
        cli_talk("%s is now %s%s%s", TEXT_CLEAN(items[at].name), text_str(&place),
                 at ? ", behind " : "", at ? TEXT_CLEAN(items[at - 1].name) : "");
    }
    record_queue_free(items, n);
    text_free(&place);
}

static int move(const char *word, const char *places, bool quiet, bool json)
{
    struct record_queued *items;
    struct err e;
    size_t n, at = 0;
    int64_t by;
    int code = 0;

    if (!read_by(places, &by))
        return cli_refuse(
            "queue move %.60s: by so many places, 2 later or -2 earlier; or up, down, "
            "first, last",
            TEXT_CLEAN(places));
    if (record_queue_list(cli_results(), &items, &n, &e) != ERR_OK)
        return cli_fail(&e);
    if (find(word, items, n, &at, &e) != ERR_OK ||
        record_queue_move(cli_results(), &items[at], by, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (!quiet)
        say_place(&items[at]);
    record_queue_free(items, n);
    return code ? code : list(json, quiet);
}

/* NAME KEY=VALUE... PLACES; places: where it was taken for an option. */
static int move_cells(int argc, char **argv, const char *sweep, const char *places)
{
    int64_t by;

    if (!places)
        places = argv[--argc];
    if (!read_by(places, &by))
        return cli_refuse(
            "queue move %.60s: by so many places, 2 later or -2 earlier; or up, down, "
            "first, last",
            places);
    return cells_move(sweep, argv, argc, by);
}

static int run_in_background(bool quiet)
{
    struct err e;

    if (handover_leave(NULL, &e) != ERR_OK)
        return cli_fail(&e);
    if (!quiet)
        queue_say_taker(NULL);
    return 0;
}

static int dispatch(int argc, char **argv, const char *places, bool bad_before, bool quiet,
                    bool json)
{
    char sweep[128];

    if (argc == 1)
        return list(json, quiet);
    if (!strcmp(argv[1], "run"))
        return argc == 2
                   ? job_run(&(struct job){
                         .queue = true, .bad_before = bad_before, .quiet = quiet, .json = json})
                   : cli_refuse("queue run takes no names: it runs what waits, in its order");
    if (!strcmp(argv[1], "rm"))
        return argc > 2
                   ? remove_all(argc - 2, argv + 2, quiet)
                   : cli_refuse("queue rm needs a number; `chorus queue%s` lists them", again());
    if (!strcmp(argv[1], "move")) {
        if (argc + (places != NULL) > 4 && strchr(argv[3], '=') && sweeps_find(argv[2], sweep))
            return move_cells(argc - 3, argv + 3, sweep, places);
        if (argc == 4 && !places)
            return move(argv[2], argv[3], quiet, json);
        if (argc + (places != NULL) > 4 && strchr(argv[3], '='))
            return sweeps_refuse(argv[2]);
        return argc == 3 && places
                   ? move(argv[2], places, quiet, json)
                   : cli_refuse(
                         "queue move needs a number and by how many places: queue move 3 -1");
    }
    return cli_refuse("queue knows run, rm and move, not %.60s", TEXT_CLEAN(argv[1]));
}

int cli_queue(int argc, char **argv)
{
    const char *places = NULL;
    bool quiet = false, json = false, background = false, bad_before = false;
    const struct cli_option options[] = {
        {"--background", NULL, "queue run: in a process of its own, and returns", &background},
        {"--quiet", NULL, "says nothing but the result", &quiet},
        {"--json", NULL, "prints objects", &json},
        {"--bad-before", NULL, NULL, &bad_before}, /* of handover_restart */
        {NULL, NULL, NULL, NULL},
    };
    int64_t number;
    int code;

    /* "-2" is a number here and no option. */
    for (int i = 3; i < argc && !strcmp(argv[1], "move"); i++)
        if (!places && argv[i][0] == '-' && text_to_int(argv[i], &number)) {
            places = argv[i];
            memmove(&argv[i], &argv[i + 1], (size_t)(argc - i) * sizeof *argv);
            argc--;
        }
    code = cli_options(&usage, options, &argc, argv);
    if (code != CLI_ON)
        return code;
    if (background && (argc != 2 || strcmp(argv[1], "run") != 0))
        return cli_refuse("queue --background is for queue run");
    return background ? run_in_background(quiet)
                      : dispatch(argc, argv, places, bad_before, quiet, json);
}
