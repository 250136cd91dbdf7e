/* cli/sweeps/cells.c: the waiting cells of a sweep, named by their values: dropped, or moved in their order by
 * whoever works on the sweep. */
#include "cli/sweeps/cells.h"

#include "base/again.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "record/stamp.h"
#include "record/sweep/ledger.h"
#include "record/sweep/order.h"
#include "spec/spec.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_MS   10000
#define STILL_MS  2500 /* lines are read once a second */
#define TICK_MS   400  /* and all that stand there together */
#define MOST_TOLD 10
#define LOOK_MS   50

static bool is_value(const struct spec_axis *axis, size_t which, const char *value)
{
    struct text label = {0}, plain = {0};
    double a, b;
    bool same;

    spec_add_plain(&plain, axis->value[which]);
    sweeps_add_value(axis, which, &label);
    same = !strcmp(text_str(&label), value) || !strcmp(text_str(&plain), value) ||
           (text_to_double(text_str(&plain), &a) && text_to_double(value, &b) && a == b);
    text_free(&label);
    text_free(&plain);
    return same;
}

/* Its axis and where its value begins. */
static const struct spec_axis *find_axis(const struct spec_sweep *s, const char *word,
                                         const char **value, size_t *which)
{
    size_t n = strcspn(word, "=");

    for (size_t a = 0; word[n] && a < s->axes; a++)
        if (strlen(s->axis[a].key) == n && !strncmp(s->axis[a].key, word, n)) {
            *value = word + n + 1;
            *which = a;
            return &s->axis[a];
        }
    return NULL;
}

static enum err_code check_word(const struct spec_sweep *s, const char *word, struct err *e)
{
    const char *value;
    size_t a;
    const struct spec_axis *axis = find_axis(s, word, &value, &a);

    for (size_t i = 0; axis && i < axis->values; i++)
        if (is_value(axis, i, value))
            return ERR_OK;
    return err_set(e, ERR_INPUT, "%.100s: the sweep has %s", TEXT_CLEAN(word),
                   axis ? "no cell with that value"
                        : "no such key that varies; KEY=VALUE names cells");
}

static bool fits(const struct spec_sweep *s, const size_t *place, char **words, int count)
{
    for (int w = 0; w < count; w++) {
        const char *value;
        size_t a;
        const struct spec_axis *axis = find_axis(s, words[w], &value, &a);

        if (!is_value(axis, place[a], value))
            return false;
    }
    return true;
}

/* The numbers of the cells that have all these values; of zip and repeats there may be many. */
static enum err_code pick(const struct spec_sweep *s, char **words, int count, size_t **list,
                          size_t *n, struct err *e)
{
    size_t room = 0, *place = mem_new(s->axes + 1, sizeof *place);
    enum err_code code = ERR_OK;

    *list = NULL;
    *n = 0;
    for (int w = 0; w < count && code == ERR_OK; w++)
        code = check_word(s, words[w], e);
    for (size_t i = 0; i < spec_sweep_cells(s) && code == ERR_OK; i++) {
        spec_sweep_place(s, i, place);
        if (!fits(s, place, words, count))
            continue;
        *list = mem_grow(*list, &room, *n + 1, sizeof **list);
        (*list)[(*n)++] = i;
    }
    free(place);
    if (code == ERR_OK && !*n)
        code = err_set(e, ERR_INPUT, "no cell of the sweep has all these values");
    return code;
}

/* The caller frees the list. */
static int find(const char *sweep, char **words, int count, size_t **list, size_t *n)
{
    struct sweep_wish wish = {.name = sweep};
    struct spec_sweep s;
    struct err e;
    int code = CLI_ON;

    *list = NULL;
    spec_sweep_init(&s);
    if (sweeps_read(sweep, &s, &wish, &e) != ERR_OK ||
        pick(&s, words, count, list, n, &e) != ERR_OK)
        code = cli_fail(&e);
    else if (!sweeps_live(sweep))
        code = sweeps_refuse_idle(sweep);
    spec_sweep_free(&s);
    return code;
}

/* Lines that stood there when they were read are obeyed within a second or two: what came of it is the
 * ledger's to tell. */
static int64_t count_skipped(const char *sweep)
{
    struct record_ledger *ledger;
    struct record_cell *cells = NULL;
    size_t n = 0;
    int64_t skipped = 0;

    if (record_ledger_open_to_read(&ledger, cli_results(), sweep, NULL) != ERR_OK)
        return 0;
    if (record_ledger_cells(ledger, &cells, &n, NULL) != ERR_OK)
        n = 0;
    for (size_t i = 0; i < n; i++)
        skipped += cells[i].state == WIRE_SKIPPED;
    free(cells);
    record_ledger_close(ledger);
    return skipped;
}

int cells_skip(const char *sweep, char **words, int count)
{
    int64_t before = count_skipped(sweep), now = before;
    size_t *list, n = 0;
    struct err e;
    int code = find(sweep, words, count, &list, &n);

    for (size_t i = 0; i < n && code == CLI_ON; i++) {
        char *line = mem_textf("skip %zu", list[i]);

        if (sweeps_control(sweep, line, &e) != ERR_OK)
            code = cli_fail(&e);
        free(line);
    }
    free(list);
    if (code != CLI_ON)
        return code;
    for (int waited = 0, still = 0;
         now < before + (int64_t)n && waited < WAIT_MS && still < STILL_MS && sweeps_live(sweep);
         waited += LOOK_MS) {
        clock_sleep_ms(LOOK_MS);
        still = now == count_skipped(sweep) ? still + (now > before ? LOOK_MS : 0) : 0;
        now = count_skipped(sweep);
    }
    if (now == before)
        return cli_refuse("nothing was dropped: these cells have their results, or run elsewhere");
    cli_talk("dropped: %s of %s cell%s; chorus resume %s%s --failed brings back what was dropped",
             TEXT_COUNT(now - before), TEXT_COUNT(n), text_s(n), sweep, again());
    return 0;
}

void cells_add_place(struct text *out, size_t place, size_t of)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    size_t last = place % 10;

    text_addf(out, "%s%s of %s", TEXT_COUNT(place),
              ends[last < 4 && place / 10 % 10 != 1 ? last : 0], TEXT_COUNT(of));
}

/* Whoever works on it writes down the order when he has read the lines. False: not in time. */
static bool await_order(const char *sweep, struct record_stamp was)
{
    bool answered = false;

    for (int waited = 0, still = 0; waited < WAIT_MS && (answered ? still < TICK_MS : true);
         waited += LOOK_MS) {
        struct record_stamp now;

        clock_sleep_ms(LOOK_MS);
        now = record_order_stamp(cli_results(), sweep);
        still = record_stamp_same(&was, &now) ? still + LOOK_MS : 0;
        answered = answered || !still;
        was = now;
        if (!sweeps_live(sweep))
            break;
    }
    return answered;
}

/* "lr=0.1 is now 2nd of 5, behind lr=0.05" */
static void say_place(const struct spec_sweep *s, size_t cell, const struct record_place *place,
                      size_t n)
{
    size_t of = 0, at = 0, before = SIZE_MAX;
    struct text line = {0};

    for (size_t i = 0; i < n; i++) {
        of += place[i].waits;
        if (place[i].waits && place[i].number == cell)
            at = of;
        else if (place[i].waits && !at)
            before = place[i].number;
    }
    sweeps_add_label(s, cell, &line);
    if (at) {
        text_add(&line, " is now ");
        cells_add_place(&line, at, of);
        text_add(&line, at == 1 ? " that wait" : " that wait, behind ");
        if (at > 1 && before < spec_sweep_cells(s))
            sweeps_add_label(s, before, &line);
    } else {
        text_add(&line, " does not wait any more: it stays where it is");
    }
    cli_talk("%s", text_str(&line));
    text_free(&line);
}

static void say_places(const char *sweep, const size_t *list, size_t n)
{
    struct sweep_wish wish = {.name = sweep};
    struct record_place *place = NULL;
    struct spec_sweep s;
    size_t places = 0;

    spec_sweep_init(&s);
    if (sweeps_read(sweep, &s, &wish, NULL) == ERR_OK &&
        record_order_read(cli_results(), sweep, &place, &places, NULL) == ERR_OK)
        for (size_t i = 0; i < n && i < MOST_TOLD; i++)
            say_place(&s, list[i], place, places);
    if (n > MOST_TOLD)
        cli_talk("and %s cell%s more", TEXT_COUNT(n - MOST_TOLD), text_s((int64_t)n - MOST_TOLD));
    free(place);
    spec_sweep_free(&s);
}

static void say_unmoved(const char *sweep, size_t n)
{
    const char *were = n == 1 ? " was" : "s were";

    if (sweeps_live(sweep))
        cli_talk("%s cell%s told to move, but whoever works on the sweep has not answered within "
                 "%d s",
                 TEXT_COUNT(n), were, WAIT_MS / 1000);
    else
        cli_talk("%s cell%s not moved: nobody works on the sweep any more; chorus resume %s%s goes "
                 "on in the order that it had",
                 TEXT_COUNT(n), were, sweep, again());
}

int cells_move(const char *sweep, char **words, int count, int64_t by)
{
    size_t *list, n = 0;
    struct record_stamp was = record_order_stamp(cli_results(), sweep);
    struct err e;
    int code = find(sweep, words, count, &list, &n);

    if (by > SPEC_MOST_CELLS)
        by = SPEC_MOST_CELLS;
    if (by < -SPEC_MOST_CELLS)
        by = -SPEC_MOST_CELLS;
    /* The foremost goes first, so that they do not change places with each other. */
    for (size_t i = 0; i < n && code == CLI_ON; i++) {
        char *line = mem_textf("move %zu %lld", list[by < 0 ? i : n - 1 - i], (long long)by);

        if (sweeps_control(sweep, line, &e) != ERR_OK)
            code = cli_fail(&e);
        free(line);
    }
    if (code == CLI_ON && await_order(sweep, was))
        say_places(sweep, list, n);
    else if (code == CLI_ON)
        say_unmoved(sweep, n);
    free(list);
    return code == CLI_ON ? 0 : code;
}
