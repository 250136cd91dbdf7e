/* Damages one file of a results folder at a time and reads it with the readers of record/. Arguments: seconds, seed,
 * case (0: all), and which files: weights or texts (flips.sh says what must hold of each).
 * `flips damage FILE SEED CASE` damages a file for the tests of the program itself. */
#include "base/log.h"
#include "record/list.h"
#include "record/run/export.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/sweep/ledger.h"
#include "record/sweep/sweeps.h"
#include "tests/torture/damage.h"
#include "tests/torture/whole.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>

static char why[1000];
static uint64_t number; /* of the case */

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

/* A file that is damaged: its bytes as they were, what is looked at, and what was read before. */
struct victim {
    char *path;
    char *bytes;
    size_t n;
    void (*check)(const struct victim *v, const struct damage *d);
};

/* ---- weights: a checksum over the whole file ---- */

static void check_weights(const char *what, struct safetensors *s, int64_t want)
{
    char is[17];
    int64_t epoch = digest(s, is);

    if (epoch < 1 || epoch > EPOCHS || (want && epoch != want) || strcmp(is, weights_of[epoch]))
        bad("%s are other weights than before, of epoch %" PRId64, what, epoch);
    safetensors_free(s);
}

static void check_sealed(const struct victim *v, const struct damage *d)
{
    struct safetensors s;
    bool found;
    struct err e = {0};

    (void)d;
    if (safetensors_read(v->path, &s, &e) == ERR_OK) {
        if (s.sealed)
            bad("the checksum fits");
        safetensors_free(&s);
    } else if (!e.text[0]) {
        bad("no sentence says why it cannot be read");
    }
    if (record_read_checkpoint(run_folder, &s, &found, &e) != ERR_OK || !found)
        bad("no other checkpoint stands in: %s", e.text);
    else
        check_weights("the checkpoint's", &s, 0);
    if (record_read_at(run_folder, "last", &s, &e) == ERR_OK)
        check_weights("those of --at last", &s, EPOCHS);
    if (record_read_at(run_folder, "best", &s, &e) == ERR_OK)
        check_weights("those of --at best", &s, whole_run->best_epoch);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        char at[8];

        snprintf(at, sizeof at, "%d", epoch);
        if (record_read_at(run_folder, at, &s, &e) == ERR_OK)
            check_weights("those of --at an epoch", &s, epoch);
    }
}

/* ---- epochs.csv: its checksum stands in run.csv ---- */

static bool changed(void)
{
    struct record_entry entry;
    bool is;

    if (record_read_entry(run_folder, &entry, NULL) != ERR_OK)
        return true;
    is = entry.broken || record_rows_changed(&entry);
    record_free_entry(&entry);
    return is;
}

static void read_sheet(const char *path)
{
    struct sheet s;
    struct err e = {0};

    if (sheet_read(path, &s, &e) == ERR_OK)
        sheet_free(&s);
    else if (!e.text[0])
        bad("no sentence says why it cannot be read");
}

static void check_epochs(const struct victim *v, const struct damage *d)
{
    (void)d;
    read_sheet(v->path);
    if (!changed())
        bad("the rows do not count as changed");
}

/* ---- members, devices, steps, sweep.csv: no checksum; what stands in front of the damage is read as before ---- */

static size_t lines_before(const char *bytes, size_t n)
{
    size_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += bytes[i] == '\n';
    return lines;
}

static void check_rows(const struct victim *v, const struct damage *d)
{
    size_t rows = lines_before(v->bytes, d->at);
    struct sheet now, was = {0};
    struct err e = {0};
    char *whole = mem_textf("%s.whole", v->path);

    if (sheet_read(v->path, &now, &e) != ERR_OK) {
        if (!e.text[0])
            bad("no sentence says why it cannot be read");
    } else {
        if (rows && sheet_read(whole, &was, &e) == ERR_OK) {
            if (now.rows < rows - 1)
                bad("%zu rows in front of the damage, %zu are read", rows - 1, now.rows);
            for (size_t r = 0; r + 1 < rows && r < now.rows; r++)
                for (size_t c = 0; c < was.columns; c++)
                    if (strcmp(sheet_cell(&was, r, (int)c), sheet_cell(&now, r, (int)c)) != 0)
                        bad("row %zu, in front of the damage, is another one", r + 1);
            sheet_free(&was);
        }
        sheet_free(&now);
    }
    free(whole);
}

/* ---- run.csv: no checksum; a flipped bit spoils one value, and a broken file its own run ---- */

static size_t different_columns(const struct record_run *a, const struct record_run *b)
{
    size_t n = 0;

    for (size_t i = 0; record_run_columns[i]; i++) {
        struct text x = {0}, y = {0};

        record_run_value(a, record_run_columns[i], &x);
        record_run_value(b, record_run_columns[i], &y);
        n += strcmp(text_str(&x), text_str(&y)) != 0;
        text_free(&x);
        text_free(&y);
    }
    return n;
}

static void check_run(const struct victim *v, const struct damage *d)
{
    struct record_entry *list = NULL;
    size_t n = 0, broken = 0, differ;
    struct spec spec;
    struct err e = {0};

    if (record_list(kit.results, &list, &n, &e) != ERR_OK || n != whole_runs)
        bad("%zu of %zu runs are listed: %s", n, whole_runs, e.text);
    for (size_t i = 0; i < n; i++) {
        bool mine = !strcmp(list[i].folder, run_folder);

        broken += list[i].broken && !mine;
        if (mine && list[i].broken && !list[i].problem[0])
            bad("no sentence says why the run is broken");
        differ = mine && !list[i].broken ? different_columns(&list[i].run, whole_run) : 0;
        /* without its name a column is one that an older version did not know */
        if (d->kind == DAMAGE_FLIP && differ > 1 && lines_before(v->bytes, d->at))
            bad("%zu values are others after one flipped bit", differ);
        if (mine)
            (void)record_rows_changed(&list[i]);
    }
    if (broken)
        bad("%zu other runs are broken", broken);
    if (n)
        record_free_list(list, n);
    if (record_read_spec(run_folder, &spec, &e) != ERR_OK && !e.text[0])
        bad("no sentence says why its experiment cannot be read");
}

/* ---- experiment.ini: its values stand in run.csv too; model.net: a checksum of its layers does ---- */

/* What a resume may change by right, and a flip therefore too. */
static bool is_free(const char *key)
{
    static const char *const names[] = {"name",      "model", "backend",    "threads", "epochs",
                                        "log_every", "keep",  "target_acc", "on_end"};

    for (size_t i = 0; i < MEM_COUNT(names); i++)
        if (!strcmp(key, names[i]))
            return true;
    return false;
}

static void check_experiment(const struct victim *v, const struct damage *d)
{
    struct spec now;
    struct err e = {0};

    (void)v;
    (void)d;
    if (record_read_spec(run_folder, &now, &e) != ERR_OK) {
        if (!e.text[0])
            bad("no sentence says why it cannot be read");
        return;
    }
    for (int k = 0; spec_keys[k].name; k++) {
        struct text a = {0}, b = {0};

        spec_value(&now, k, &a);
        spec_value(&whole_spec, k, &b);
        if (!is_free(spec_keys[k].name) && strcmp(text_str(&a), text_str(&b)) != 0)
            bad("%s = %s was %s", spec_keys[k].name, text_str(&a), text_str(&b));
        text_free(&a);
        text_free(&b);
    }
}

/* ---- sweep.ini, control, the queue: texts without a checksum ---- */

static void check_sweep_text(const struct victim *v, const struct damage *d)
{
    struct record_queue_options options;
    struct spec_sweep s;
    struct err e = {0};

    (void)v;
    (void)d;
    spec_sweep_init(&s);
    if (record_sweep_read(kit.results, "grid", &s, &options, &e) != ERR_OK && !e.text[0])
        bad("no sentence says why it cannot be read");
    spec_sweep_free(&s);
}

/* A damaged item is read or refused; the others are what they were. */
static void check_item(const struct victim *v, const struct damage *d)
{
    struct record_queued *list;
    size_t n;
    struct err e = {0};

    (void)d;
    if (record_queue_list(kit.results, &list, &n, &e) != ERR_OK || n != ITEMS) {
        bad("%zu of %d items wait: %s", n, ITEMS, e.text);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct record_queue_options options;
        struct spec_sweep s;

        if (text_ends_with(v->path, list[i].file) && !list[i].broken) {
            (void)record_sweep_waits(&list[i], (spec_sweep_init(&s), &s), &options);
            spec_sweep_free(&s);
        } else if (!text_ends_with(v->path, list[i].file) &&
                   (list[i].broken || strcmp(list[i].text, item_text[i]) != 0)) {
            bad("item %zu is another one", i + 1);
        }
    }
    record_queue_free(list, n);
}

static void check_taken(const struct victim *v, const struct damage *d)
{
    uint64_t id = record_queue_taken(kit.results);

    if (d->at >= 17 && id != strtoull(v->bytes, NULL, 16))
        bad("the item that was taken is another one");
}

/* The lines come to an end, whatever they are. */
static void check_control(const struct victim *v, const struct damage *d)
{
    struct record *r;
    struct err e;
    char line[32];
    size_t lines = 0;
    FILE *f;

    if (record_open(&r, run_folder, &e) != ERR_OK) {
        bad("%s", e.text);
        return;
    }
    f = fopen(v->path, "w"); /* who opens a run does not obey what was said before */
    if (!f || fwrite(d->bytes, 1, d->n, f) != d->n || fclose(f))
        bad("cannot write %s", v->path);
    while (record_next_control(r, line, sizeof line) && lines++ < 10000)
        if (!line[0] || strlen(line) >= sizeof line)
            bad("a line of control is empty or too long");
    if (lines >= 10000)
        bad("the lines of control have no end");
    record_close(r);
}

/* ---- the ledger: no checksum; a damaged line spoils its own cell ---- */

/* A cell whose lines are all there, word by word, behind which nothing of it comes. */
static bool is_spared(const char *bytes, const struct damage *d, const char *cell)
{
    size_t end = d->kind == DAMAGE_FLIP || d->kind == DAMAGE_DIGIT ? d->at + 1 : SIZE_MAX;
    size_t from = 0;
    bool spared = true;

    for (const char *at = bytes, *next; (next = strchr(at, '\n')); at = next + 1) {
        size_t to = (size_t)(next + 1 - bytes);
        char *line = mem_text_n(at, (size_t)(next - at));

        if (strstr(line, cell) && to > d->at && from < end)
            spared = false;
        /* a line end that is gone makes one line of two */
        if (d->at == to - 1 && next[1] && strstr(next + 1, cell))
            spared = false;
        free(line);
        from = to;
    }
    return spared && d->kind != DAMAGE_TWICE && d->kind != DAMAGE_MOVED;
}

static void check_ledger(const struct victim *v, const struct damage *d)
{
    size_t n;
    struct record_cell *now = cells_of(&n);

    for (size_t i = 0; i < whole_cell_count; i++) {
        const struct record_cell *was = &whole_cells[i], *is = NULL;

        for (size_t k = 0; k < n; k++)
            if (!strcmp(now[k].cell, was->cell))
                is = &now[k];
        if (!is_spared(v->bytes, d, was->cell))
            continue;
        if (!is || is->state != was->state || strcmp(is->run, was->run) != 0)
            bad("cell %s, whose lines are whole, is %s", was->cell,
                is ? wire_state_name(is->state) : "gone");
    }
    free(now);
}

/* ---- the folder ---- */

static struct victim victim[64];
static size_t victims;

static void put(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd)) {
        perror(path);
        exit(1);
    }
}

static void add_victim(char *path, void (*check)(const struct victim *, const struct damage *))
{
    struct victim *v = &victim[victims];
    struct err e;

    if (io_read_file(path, 1 << 26, &v->bytes, &v->n, &e) != ERR_OK || !v->n) {
        printf("%s cannot be damaged: %s\n", path, v->n ? "" : e.text);
        exit(1);
    }
    v->path = path;
    v->check = check;
    victims++;
    if (check == check_rows) {
        char *whole = mem_textf("%s.whole", path);

        put(whole, v->bytes, v->n);
        free(whole);
    }
}

static void add_of_run(const char *name,
                       void (*check)(const struct victim *, const struct damage *))
{
    add_victim(io_path(run_folder, name), check);
}

static void choose_victims(const char *what)
{
    static const char *const files[] = {"checkpoint.safetensors", "best.safetensors",
                                        "epoch-0001.safetensors", "epoch-0003.safetensors",
                                        "epoch-0004.safetensors", "checkpoint.prev.safetensors"};
    static const char lines[] = "pause\ngo\nstop epoch\n\nstop step\ngo\npause\nstop now\n";
    char *control = io_path(run_folder, "control");

    if (!strcmp(what, "weights")) {
        for (size_t i = 0; i < MEM_COUNT(files); i++)
            add_of_run(files[i], check_sealed);
    } else {
        add_of_run("epochs.csv", check_epochs);
        add_of_run("members.csv", check_rows);
        add_of_run("devices.csv", check_rows);
        add_of_run("steps.csv", check_rows);
        add_victim(io_path(kit.results, "sweeps/grid/sweep.csv"), check_rows);
        add_of_run("run.csv", check_run);
        add_of_run("experiment.ini", check_experiment);
        add_victim(io_path(kit.results, "sweeps/grid/sweep.ini"), check_sweep_text);
        add_victim(io_path(kit.results, "queue/0002-item.ini"), check_item);
        put(control, lines, sizeof lines - 1);
        add_victim(mem_text(control), check_control);
        add_victim(io_path(kit.results, "queue/.taken"), check_taken);
        add_victim(io_path(kit.results, "sweeps/grid/ledger.csv"), check_ledger);
    }
    free(control);
}

/* ---- all of it ---- */

static const char *now_damaged = "";

static void on_signal(int sig)
{
    char line[300];
    int n = snprintf(line, sizeof line, "failed %" PRIu64 ": signal %d reads %.200s\n", number, sig,
                     now_damaged);

    if (write(1, line, (size_t)n) == n)
        kill(getpid(), SIGKILL);
}

static bool try_case(uint64_t seed)
{
    struct dice dice = dice_of(seed, number);
    const struct victim *v = &victim[dice_below(&dice, victims)];
    struct damage d = damage_of(v->bytes, v->n, &dice);

    why[0] = 0;
    now_damaged = v->path;
    alarm(20);
    put(v->path, d.bytes, d.n);
    v->check(v, &d);
    put(v->path, v->bytes, v->n);
    alarm(0);
    if (why[0])
        printf("failed %" PRIu64 ": %s, %s from byte %zu on: %s\n", number,
               v->path + strlen(kit.results) + 1, damage_names[d.kind], d.at, why);
    free(d.bytes);
    return !why[0];
}

static int damage_file(char **argv)
{
    struct dice dice = dice_of(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    struct err e;
    char *bytes;
    size_t n;

    if (io_read_file(argv[2], 1 << 26, &bytes, &n, &e) != ERR_OK || !n)
        return 1;
    struct damage d = damage_of(bytes, n, &dice);

    put(argv[2], d.bytes, d.n);
    printf("%s from byte %zu on\n", damage_names[d.kind], d.at);
    free(d.bytes);
    free(bytes);
    return 0;
}

static void end(void)
{
    whole_end();
    for (size_t i = 0; i < victims; i++) {
        free(victim[i].path);
        free(victim[i].bytes);
    }
}

int main(int argc, char **argv)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
    uint64_t seconds, seed, only, begun, failed = 0;

    if (argc == 5 && !strcmp(argv[1], "damage"))
        return damage_file(argv);
    if (argc != 5)
        return 2;
    seconds = strtoull(argv[1], NULL, 10);
    seed = strtoull(argv[2], NULL, 10);
    only = strtoull(argv[3], NULL, 10);
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("CHORUS_CACHE", "off", 1);
    log_to(NULL, NULL);
    whole_make();
    if (test_failures)
        printf("failed 0: what is damaged is not whole\n");
    choose_victims(argv[4]);
    for (size_t i = 0; i < MEM_COUNT(deaths); i++)
        signal(deaths[i], on_signal);
    begun = clock_ns();
    for (number = only ? only : 1;; number++) {
        failed += !try_case(seed);
        if (only || failed == 20 || clock_ns() - begun > seconds * 1000000000)
            break;
    }
    end();
    printf("%" PRIu64 " cases\n", only ? 1 : number);
    return failed > 0 || test_failures > 0;
}
