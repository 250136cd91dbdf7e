/* Cuts power in the middle of runs, sweeps and queues, and looks at what is left on the disk. What counts as on the
 * disk stands in outage.h. Arguments: seconds, seed, case (0: all), and run, sweep or queue.
 *
 * What must hold in each state of the disk:
 *   what a program had synced is there: names, rows of epochs.csv, lines of a ledger, items of a queue;
 *   a file that took its place by a rename is whole;
 *   readers take no run for broken or changed, and its experiment for none other;
 *   the newest checkpoint that was finished, or a newer one, reads whole, and epochs.csv has the rows that it stands
 *   for;
 *   an item of the queue waits there, or has its run;
 *   what a program was told to be done (a tag, an item, a run, a sweep, a removal) is done;
 *   and, tried in one state of TRIED: what goes on from there ends like what nobody disturbed. */
#include "tests/torture/promise.h"
#include "tests/torture/story.h"

#include "base/log.h"
#include "record/columns.h"
#include "record/list.h"
#include "record/run/checkpoint.h"
#include "record/run/reader.h"
#include "record/run/writer.h"
#include "record/sweep/ledger.h"

#include <inttypes.h>
#include <stdarg.h>

#define STATES 200 /* of a story */
#define TRIED  40

static char why[1000];

static void bad(const char *fmt, ...) PRINTF_LIKE(1, 2);
static void bad(const char *fmt, ...)
{
    va_list args;

    if (why[0])
        return;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
}

/* ---- a state of the disk ---- */

struct state {
    const struct story *story;
    size_t at; /* operations that were done */
    struct disk_view seen, left;
    char *root, *results;
};

static size_t same_bytes(const char *a, size_t n, const char *b, size_t m)
{
    size_t same = 0;

    while (same < n && same < m && a[same] == b[same])
        same++;
    return same;
}

/* Rows that the program took back itself since are no longer promised. */
static void check_rows(const struct state *s, const struct promise *p, int seen, int left)
{
    const struct text *now = &s->seen.bytes[seen], *have = &s->left.bytes[left];
    size_t n = same_bytes(p->bytes, p->n, text_str(now), now->n);

    if (same_bytes(p->bytes, n, text_str(have), have->n) < n)
        bad("%s lost rows that were synced by operation %zu", p->path, p->at);
}

static void check_promises(const struct state *s)
{
    for (size_t i = 0; i < promises && promise[i].at < s->at; i++) {
        const struct promise *p = &promise[i];
        int seen = disk_look(&s->seen, p->path), left = disk_look(&s->left, p->path);

        if (seen == DISK_NONE)
            continue;
        if (left == DISK_NONE)
            bad("%s is gone, which was synced by operation %zu", p->path, p->at);
        else if (p->bytes)
            check_rows(s, p, seen, left);
    }
}

static bool has_name(const struct disk_view *v, int node)
{
    char *path = path_of(v, node);
    bool has = path && !is_draft(path);

    free(path);
    return has;
}

static void check_placed(const struct state *s)
{
    for (size_t i = 0; i < placings; i++) {
        const struct placed *p = &placed[i];
        const struct text *now = &s->seen.bytes[p->node], *have = &s->left.bytes[p->node];
        size_t n = same_bytes(p->bytes, p->n, text_str(now), now->n);
        char *path;

        if (!has_name(&s->left, p->node) || same_bytes(p->bytes, n, text_str(have), have->n) == n)
            continue;
        path = path_of(&s->left, p->node);
        bad("%s took its place before its bytes were on the disk", path);
        free(path);
    }
}

/* ---- runs ---- */

static int64_t promised_step(const struct state *s, const char *folder)
{
    int64_t step = -1;

    for (size_t i = 0; i < promises && promise[i].at < s->at; i++)
        if (promise[i].step >= 0 && text_ends_with(folder, promise[i].path))
            step = promise[i].step;
    return step;
}

static void check_its_rows(const char *folder, const struct safetensors *file)
{
    const struct safetensors_tensor *rows = safetensors_find(file, RECORD_ROWS);
    char *path = io_path(folder, "epochs.csv"), *bytes = NULL;
    size_t n = 0;
    struct err e;

    if (!rows || io_read_file(path, 1 << 24, &bytes, &n, &e) != ERR_OK)
        bad("%s: its checkpoint or its epochs.csv has no rows", folder);
    else if (same_bytes(rows->bytes, rows->size, bytes, n) < rows->size)
        bad("%s: a checkpoint is newer than the rows of epochs.csv", folder);
    free(bytes);
    free(path);
}

static void check_checkpoint(const struct state *s, const struct record_entry *entry)
{
    int64_t want = promised_step(s, entry->folder), step = -1;
    struct safetensors file = {0};
    bool found = false;
    struct err e;

    if (record_read_checkpoint(entry->folder, &file, &found, &e) != ERR_OK) {
        bad("%s", e.text);
    } else if (found) {
        (void)record_unpack_int(&file, RECORD_NOTE_STEP, &step);
        check_its_rows(entry->folder, &file);
        safetensors_free(&file);
    }
    if (step < want)
        bad("%s: the checkpoint of step %" PRId64 " was finished; step %" PRId64 " is there",
            entry->folder, want, step);
}

/* A hole in the middle of rows is damage until a resume cuts it off. */
static bool has_hole(const char *folder, const char *file)
{
    char *path = io_path(folder, file), *bytes = NULL, *zero;
    size_t n;
    bool has = false;

    if (io_read_file(path, 1 << 24, &bytes, &n, NULL) == ERR_OK) {
        zero = memchr(bytes, 0, n);
        has = zero && memchr(zero, '\n', n - (size_t)(zero - bytes));
    }
    free(bytes);
    free(path);
    return has;
}

static void check_sheets(const char *folder)
{
    static const char *const names[] = {"epochs", "members", "devices", "steps"};

    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        char *file = mem_textf("%s.csv", names[i]);
        struct sheet sheet;
        struct err e;

        if (!kit_has(folder, file))
            ;
        else if (record_read_sheet(folder, names[i], &sheet, &e) == ERR_OK)
            sheet_free(&sheet);
        else if (!has_hole(folder, file))
            bad("%s", e.text);
        free(file);
    }
}

static void check_run(const struct state *s, const struct record_entry *entry)
{
    struct spec spec;
    struct err e;

    if (entry->broken) {
        bad("%s is broken: %s", entry->name, entry->problem);
        return;
    }
    if (record_rows_changed(entry))
        bad("%s: epochs.csv would count as changed", entry->name);
    if (record_read_spec(entry->folder, &spec, &e) != ERR_OK)
        bad("%s", e.text);
    if (s->story->tagged && s->at >= s->story->tagged && strcmp(entry->run.tags, "paper") != 0)
        bad("%s was given a tag, which is gone", entry->name);
    if (s->story->kind != STORY_SWEEP && s->at == s->story->disk.ops &&
        (entry->run.state != WIRE_DONE ||
         entry->run.spec.epochs != s->story->spec.epochs + s->story->more))
        bad("%s was done, and is %s", entry->name, record_entry_state(entry));
    check_sheets(entry->folder);
    check_checkpoint(s, entry);
}

static void check_runs(const struct state *s)
{
    struct record_entry *list;
    size_t n;
    struct err e;

    if (record_list(s->results, &list, &n, &e) != ERR_OK) {
        bad("%s", e.text);
        return;
    }
    if (n && s->story->removed && s->at >= s->story->removed)
        bad("%s was removed, and is there", list[0].name);
    for (size_t i = 0; i < n; i++)
        check_run(s, &list[i]);
    record_free_list(list, n);
}

/* A run that has its end must be the whole run; another one becomes it. */
static void finish_run(const struct story *story, struct kit *k, const struct record_entry *entry,
                       const char *whole)
{
    int64_t epochs = story->spec.epochs + story->more;
    struct wire_status status = {0};
    int before = test_failures;

    if (entry->run.state != WIRE_DONE || entry->run.spec.epochs != epochs) {
        kit_wait(k, kit_resume(k, entry->folder, epochs), &status);
        if (status.state != WIRE_DONE)
            bad("%s cannot be resumed: %s%s", entry->name, status.reason, k->refused);
    }
    if (!why[0])
        kit_same_runs(entry->folder, whole, entry->run.spec.mode == SPEC_ENSEMBLE);
    if (test_failures > before)
        bad("%s does not end like the whole run", entry->name);
}

static void finish_runs(const struct state *s, struct kit *k)
{
    char *whole = story_first_run(s->story->whole);
    struct record_entry *list;
    size_t n;
    struct err e;

    if (record_list(s->results, &list, &n, &e) == ERR_OK) {
        for (size_t i = 0; i < n && !why[0]; i++)
            finish_run(s->story, k, &list[i], whole);
        record_free_list(list, n);
    }
    free(whole);
}

/* ---- sweeps ---- */

static struct record_cell *cells_of(const char *results, size_t *n)
{
    struct record_ledger *l = NULL;
    struct record_cell *cells = NULL;
    struct err e;

    *n = 0;
    if (record_ledger_open_to_read(&l, results, "grid", &e) == ERR_OK &&
        record_ledger_cells(l, &cells, n, &e) != ERR_OK)
        bad("%s", e.text);
    record_ledger_close(l);
    return cells;
}

/* The line of a cell says done: on the disk it is done too. */
static void check_cells(const struct state *s)
{
    size_t n, done = 0;
    struct record_cell *cells = cells_of(s->results, &n);

    for (size_t i = 0; i < n; i++) {
        char *folder = io_path(s->results, cells[i].run);
        struct record_entry entry;

        if (cells[i].state == WIRE_DONE && record_read_entry(folder, &entry, NULL) == ERR_OK) {
            if (entry.run.state != WIRE_DONE)
                bad("the ledger calls %s done, which it is not", cells[i].run);
            record_free_entry(&entry);
        }
        done += cells[i].state == WIRE_DONE;
        free(folder);
    }
    if (s->at == s->story->disk.ops && done != s->story->cells)
        bad("the sweep was done, and %zu of its %zu cells are", done, s->story->cells);
    free(cells);
}

static void check_sweep(const struct state *s)
{
    char *folder = record_sweep_folder(s->results, "grid");
    struct record_queue_options options;
    struct spec_sweep sweep;
    struct sheet sheet;
    struct err e;

    spec_sweep_init(&sweep);
    if (kit_has(folder, "sweep.ini") &&
        record_sweep_read(s->results, "grid", &sweep, &options, &e) != ERR_OK)
        bad("%s", e.text);
    spec_sweep_free(&sweep);
    if (kit_has(folder, "sweep.csv")) {
        char *path = io_path(folder, "sweep.csv");

        if (sheet_read(path, &sheet, &e) != ERR_OK)
            bad("%s", e.text);
        else
            sheet_free(&sheet);
        free(path);
    }
    check_cells(s);
    free(folder);
}

static const struct record_cell *find_cell(const struct record_cell *cells, size_t n,
                                           const char *cell)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(cells[i].cell, cell))
            return &cells[i];
    return NULL;
}

/* A cell is what it is in the whole sweep; one that was done is not run again. */
static void compare_cells(const struct state *s, const struct record_cell *before, size_t had)
{
    size_t n, m;
    struct record_cell *now = cells_of(s->results, &n), *whole = cells_of(s->story->whole, &m);

    for (size_t i = 0; i < m; i++) {
        const struct record_cell *is = find_cell(now, n, whole[i].cell);
        const struct record_cell *was = find_cell(before, had, whole[i].cell);
        char *a, *b;
        int failures = test_failures;

        if (!is || is->state != WIRE_DONE) {
            bad("cell %s has no result in the end", whole[i].cell);
            break;
        }
        if (was && was->state == WIRE_DONE && strcmp(was->run, is->run) != 0)
            bad("cell %s was done and was run again", is->cell);
        a = io_path(s->results, is->run);
        b = io_path(s->story->whole, whole[i].run);
        kit_same_runs(a, b, false);
        if (test_failures > failures)
            bad("cell %s does not end like in the whole sweep", is->cell);
        free(a);
        free(b);
    }
    free(now);
    free(whole);
}

static void finish_sweep(const struct state *s, struct kit *k)
{
    struct wire_sweep_status status;
    size_t had;
    struct record_cell *before = cells_of(s->results, &had);

    run_sweep(k, s->story->keys, (struct wish){.grid = true, .jobs = s->story->jobs}, &status);
    if (status.state != WIRE_DONE || (size_t)status.done != s->story->cells)
        bad("the sweep ends with %d of %zu cells done: %s", (int)status.done, s->story->cells,
            k->refused);
    else
        compare_cells(s, before, had);
    free(before);
}

/* ---- the queue ---- */

/* Whether an item waits, or its run is there. */
static bool is_somewhere(const struct state *s, int i, const struct record_queued *list, size_t n)
{
    char *name = mem_textf("item%d", i);
    struct record_entry *runs;
    bool is = false;
    size_t m;

    for (size_t k = 0; k < n; k++)
        is |= !strcmp(list[k].name, name);
    if (record_list(s->results, &runs, &m, NULL) == ERR_OK) {
        for (size_t k = 0; k < m; k++)
            is |= !strcmp(runs[k].run.spec.name, name);
        record_free_list(runs, m);
    }
    free(name);
    return is;
}

static void check_queue(const struct state *s)
{
    struct record_queued *list;
    size_t n;
    struct err e;

    if (record_queue_list(s->results, &list, &n, &e) != ERR_OK) {
        bad("%s", e.text);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int which = list[i].name[0] ? list[i].name[strlen(list[i].name) - 1] - '0' : -1;

        if (list[i].broken || which < 0 || which >= STORY_ITEMS ||
            strcmp(list[i].text, s->story->item[which]) != 0)
            bad("item %s of the queue is not what was added", list[i].file);
    }
    if (n && s->at == s->story->disk.ops)
        bad("all of the queue was taken, and %s is there", list[0].file);
    for (int i = 0; i < STORY_ITEMS; i++)
        if (s->story->added[i] <= s->at && !is_somewhere(s, i, list, n))
            bad("item%d was added; it neither waits nor has a run", i);
    record_queue_free(list, n);
}

/* A file that was copied is another item, so that what had begun may begin twice here. */
static void finish_queue(const struct state *s, struct kit *k)
{
    struct record_queued *list;
    size_t n;

    if (record_queue_list(s->results, &list, &n, NULL) != ERR_OK)
        return;
    record_queue_free(list, n);
    if (n)
        (void)story_wait_empty(k, (int64_t)n);
    finish_runs(s, k);
}

/* ---- all of it ---- */

static void finish(const struct state *s)
{
    struct kit k = story_elsewhere(s->story, s->results);

    k.queue = s->story->kind == STORY_QUEUE;
    kit_engine(&k, 4096, 0);
    if (s->story->kind == STORY_RUN)
        finish_runs(s, &k);
    else if (s->story->kind == STORY_SWEEP)
        finish_sweep(s, &k);
    else
        finish_queue(s, &k);
    kit_quit(&k);
}

static void check(const struct state *s, bool tried)
{
    check_promises(s);
    check_placed(s);
    check_runs(s);
    if (s->story->kind == STORY_SWEEP)
        check_sweep(s);
    if (s->story->kind == STORY_QUEUE)
        check_queue(s);
    if (tried && !why[0])
        finish(s);
}

static void tell_operations(const struct disk *d, size_t at)
{
    static const char *const words[] = {"write",  "cut",  "name",  "remove",
                                        "rename", "sync", "unlock"};

    for (size_t i = at > 12 ? at - 12 : 0; i < at; i++) {
        const struct disk_op *o = &d->op[i];
        char *path = path_of(&d->live, o->node);

        printf("  operation %zu: %s %s %s%s%s, on the disk by %d\n", i, words[o->kind],
               path ? path : "-", o->name ? o->name : "", o->new_name ? " to " : "",
               o->new_name ? o->new_name : "", o->on_disk);
        free(path);
    }
}

/* Mostly anywhere; often a little behind a file that moves or gets shorter; sometimes when all was told. */
static size_t choose_place(const struct disk *d, struct dice *dice)
{
    size_t at = d->first + 1 + dice_below(dice, d->ops - d->first);

    if (dice_percent(dice, 5))
        return d->ops;
    if (dice_percent(dice, 60))
        return at;
    while (at < d->ops && d->op[at].kind != DISK_CUT && d->op[at].kind != DISK_REMOVE &&
           d->op[at].kind != DISK_RENAME)
        at++;
    at += 1 + dice_below(dice, 4);
    return at < d->ops ? at : d->ops;
}

static bool try_case(struct story *story, uint64_t seed, uint64_t number)
{
    struct dice dice = dice_of(seed, number);
    bool tried = number % TRIED == 1;
    struct state s = {.story = story, .at = choose_place(&story->disk, &dice)};

    why[0] = 0;
    s.seen = outage_seen(&story->disk, s.at);
    s.left = outage_cut(&story->disk, s.at, &dice);
    s.root = io_path(story->kit.folder, "left");
    s.results = io_path(s.root, "results");
    outage_make(&story->disk, &s.left, s.root);
    check(&s, tried);
    if (why[0]) {
        printf("failed %" PRIu64 ": %s\n", number, why);
        printf("  power was cut behind operation %zu of %zu\n", s.at, story->disk.ops);
        tell_operations(&story->disk, s.at);
    }
    if (tried) { /* it is another folder now */
        kit_empty(s.root);
        outage_forget();
    }
    free(s.root);
    free(s.results);
    disk_free_view(&s.seen, story->disk.nodes);
    disk_free_view(&s.left, story->disk.nodes);
    return !why[0];
}

static void forget(struct story *story)
{
    story_end(story);
    forget_promises();
    outage_forget();
}

static enum story_kind kind_of(const char *word)
{
    return !strcmp(word, "sweep") ? STORY_SWEEP : !strcmp(word, "queue") ? STORY_QUEUE : STORY_RUN;
}

int main(int argc, char **argv)
{
    uint64_t seconds, seed, only, number, begun = clock_ns(), told = UINT64_MAX, failed = 0;
    struct story story = {0};

    if (argc != 5)
        return 2;
    seconds = strtoull(argv[1], NULL, 10);
    seed = strtoull(argv[2], NULL, 10);
    only = strtoull(argv[3], NULL, 10);
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("CHORUS_CACHE", "off", 1);
    log_to(NULL, NULL);
    disk_install();
    for (number = only ? only : 1;; number++) {
        if ((number - 1) / STATES != told) {
            if (told != UINT64_MAX)
                forget(&story);
            told = (number - 1) / STATES;
            story_begin(&story, kind_of(argv[4]), dice_of(seed, UINT64_MAX - told));
            if (test_failures)
                printf("failed %" PRIu64 ": the story went wrong before power was cut\n", number);
            failed += test_failures > 0;
            test_failures = 0;
            read_promises(&story.disk);
        }
        failed += !try_case(&story, seed, number);
        if (only || failed == 20 || clock_ns() - begun > seconds * 1000000000)
            break;
    }
    forget(&story);
    free(promise);
    free(placed);
    printf("%" PRIu64 " cases\n", only ? 1 : number);
    return failed > 0;
}
