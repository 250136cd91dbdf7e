/* cli/verbs/bench.c: `chorus bench`: how fast each backend trains each model here, beside what the arithmetic
 * allows. Nothing but images per second: no run is kept, the images are made up. Here the rows are
 * chosen. */
#include "cli/jobs/bench.h"

#include "base/mem.h"
#include "cli/args/backends.h"
#include "cli/args/cpu.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/verbs.h"
#include "cli/args/signals.h"
#include "cpu/peak.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "bench [KEY=VALUE...] [--seconds N] [--tune] [--json]",
    "Measures images per second of each backend, model, mode and precision on this machine.",
    "backend, model, mode and precision take lists, which choose the rows: model=lenet,cnn\n"
    "backend=cpu. Any other key holds for all rows: batch=128 threads=1 devices=4 members=8.\n"
    "Ensembles have 4 members unless told otherwise. The naive backend ref trains smaller batches\n"
    "and 2 members, and resnet18 smaller batches too, unless told otherwise. A batch of its own is one\n"
    "that the devices share alike and train_limit, or the data, has images for; the table shows it.\n"
    "\n"
    "img/s counts what all members see, in training alone. Beside it stands what the measured fp32\n"
    "peak of the processor, multiplying and adding from registers without a pause, comes to by the\n"
    "model's work per image (`chorus models`). That is a measure and no limit: Winograd's\n"
    "convolutions multiply less often than the work is counted, and bf16 has a peak of its own;\n"
    "both may pass 100 %. A GPU is not measured so.\n"
    "\n"
    "On a GPU convolutions go by the first of cuDNN's plans that gives the same bits each time.\n"
    "With --tune those of a row's shapes are timed, and the quickest are written down for this GPU,\n"
    "driver and cuDNN: later runs of the same model, batch and precision take them, and say so in\n"
    "run.csv's plans. Their bits are others than before, and the same each time again.\n"};

#define ROW_SECONDS 1.5
#define LISTS       4 /* keys that choose rows */
#define LIST_ROOM   16
#define NAIVE_FLOPS 1e9  /* a second, about, of ref: from it follows its batch */
#define FAST_FLOPS  3e11 /* and of the others: only resnet18 gets less than the usual batch */

static const char *const list_keys[LISTS] = {"backend", "model", "mode", "precision"};

struct choice {
    char *list[LISTS]; /* what the command line says, cut at its commas; NULL: the usual ones */
    char *word[LISTS][LIST_ROOM];
    int words[LISTS];
    bool given[LISTS]; /* asked for by name */
    char **reason;     /* (reasons) why rows are left out */
    size_t reasons, reason_room;
    char **keys; /* (key_count) KEY=VALUE for all rows */
    int key_count;
    int64_t train, test; /* images that the data has of each part; 0: not known yet */
    struct bench bench;
};

static bool was_given(const struct choice *c, const char *key)
{
    size_t n = strlen(key);

    for (int i = 0; i < c->key_count; i++)
        if (!strncmp(c->keys[i], key, n) && c->keys[i][n] == '=')
            return true;
    return false;
}

static enum err_code set(struct spec *s, const char *key, const char *value, struct err *e)
{
    return spec_set(s, key, value, "command line", NULL, e);
}

/* What all devices share alike. */
static int64_t for_devices(int64_t batch, const struct spec *s)
{
    return (batch + s->devices - 1) / s->devices * s->devices;
}

/* Data that cannot be read is left to the plan, which says what is wrong with it. */
static void count_images(struct choice *c, const struct spec *s)
{
    struct spec *all;
    struct data_set *facts;
    struct net_shape wanted;

    if (c->train || net_demands(s->model, &wanted, NULL) != ERR_OK)
        return;
    all = mem_new(1, sizeof *all);
    facts = mem_new(1, sizeof *facts);
    *all = *s;
    all->train_limit = all->test_limit = 0;
    all->valid = 0;
    if (data_peek(facts, all, cli_places(), wanted, NULL) == ERR_OK) {
        c->train = (int64_t)facts->train.count;
        c->test = (int64_t)facts->test.count;
    }
    free(facts);
    free(all);
}

/* Images to train on, of those that train_limit takes, else of all; 0: not known. */
static int64_t images_of(const struct choice *c, const struct spec *s)
{
    int64_t all = s->train_limit ? s->train_limit : c->train;
    double held = s->valid_per_cent ? (double)all * s->valid / 100 : s->valid;
    int64_t images = all - (int64_t)(held + 0.5);

    return images > 0 ? images : all;
}

/* The usual one, or as much of it as there are images for. */
static int64_t own_batch(const struct choice *c, const struct spec *s)
{
    int64_t batch = for_devices(s->batch, s), images = images_of(c, s);

    return images >= s->devices && batch > images ? images / s->devices * s->devices : batch;
}

/* As many as the data has, if it has fewer than are wanted. */
static enum err_code set_limit(struct spec *s, const char *key, int64_t wanted, int64_t there,
                               struct err *e)
{
    char number[32];

    snprintf(number, sizeof number, "%lld", (long long)(there && there < wanted ? there : wanted));
    return set(s, key, number, e);
}

static enum err_code fill_spec(struct choice *c, struct spec *s, const char *const word[LISTS],
                               int64_t batch, struct err *e)
{
    bool naive = !strcmp(word[0], "ref"), ensemble = !strcmp(word[2], "ensemble");
    char number[32];

    spec_default(s);
    for (int k = 0; k < LISTS; k++)
        TRY(set(s, list_keys[k], word[k], e));
    TRY(set(s, "data", "synthetic", e));
    for (int i = 0; i < c->key_count; i++) {
        char *equals = strchr(c->keys[i], '=');
        enum err_code code;

        if (!ensemble && !strncmp(c->keys[i], "members=", 8))
            continue;
        *equals = 0;
        code = set(s, c->keys[i], equals + 1, e);
        *equals = '=';
        TRY(code);
    }
    if (ensemble && !was_given(c, "members")) {
        int least = naive ? 2 : 4;

        snprintf(number, sizeof number, "%d", least > s->devices ? least : s->devices);
        TRY(set(s, "members", number, e));
    }
    count_images(c, s);
    if (!batch && !was_given(c, "batch"))
        batch = own_batch(c, s);
    if (batch) {
        snprintf(number, sizeof number, "%lld", (long long)batch);
        TRY(set(s, "batch", number, e));
    }
    /* Enough images for some steps, no more: making them takes time too. */
    if (!was_given(c, "train_limit")) {
        int64_t images = spec_batch(s) < 4096 ? 8 * spec_batch(s) : spec_batch(s);

        images = images > 8192 && spec_batch(s) < 8192 ? 8192 : images;
        TRY(set_limit(s, "train_limit", images, c->train, e));
    }
    /* Plans are also for evaluation, whose chunks are as large as there are images for. */
    if (!was_given(c, "test_limit"))
        TRY(set_limit(s, "test_limit", c->bench.tune ? 1024 : 1, c->test, e));
    return ERR_OK;
}

static enum err_code plan_row(struct choice *c, struct plan **p, const char *const word[LISTS],
                              int64_t batch, bool open_data, struct err *e)
{
    struct spec *s = mem_new(1, sizeof *s);
    enum err_code code = fill_spec(c, s, word, batch, e);

    if (code == ERR_OK)
        code = plan_make(p, s, cli_places(), cli_backends(), open_data, e);
    free(s);
    return code;
}

/* As many images as are done in half a row's time, where the usual batch takes longer; a multiple of
 * the devices. Less than 32 would leave threads without work. */
static int64_t batch_within(const struct choice *c, const struct plan *p, bool naive)
{
    double images = c->bench.seconds / 2 * (naive ? NAIVE_FLOPS : FAST_FLOPS) / p->net->flops /
                    p->session.members;
    int64_t batch = p->spec.batch;

    if (naive)
        batch = images < 1 ? 1 : images < (double)batch ? (int64_t)images : batch;
    else
        while (batch > 32 && (double)batch > images)
            batch /= 2;
    return for_devices(batch, &p->spec);
}

/* Whether another backend or precision can do it, of those that nobody asked for by name. */
static bool can_otherwise(struct choice *c, const char *const word[LISTS])
{
    const char *other[LISTS] = {word[0], word[1], word[2], word[3]};
    bool can = false;

    for (int i = 0; i < (c->given[0] ? 1 : c->words[0]) && !can; i++)
        for (int j = 0; j < (c->given[3] ? 1 : c->words[3]) && !can; j++) {
            struct plan *p = NULL;

            other[0] = c->given[0] ? word[0] : c->word[0][i];
            other[3] = c->given[3] ? word[3] : c->word[3][j];
            can = plan_row(c, &p, other, 0, false, NULL) == ERR_OK;
            plan_free(p);
        }
    return can;
}

/* What no row can has its reason from those that were named, else from the backend and the precision
 * that are everywhere: of the others a device or a processor may be missing first. */
static bool is_asked_for(const struct choice *c, const char *const word[LISTS])
{
    return (c->given[0] || !strcmp(word[0], "cpu")) && (c->given[3] || !strcmp(word[3], "fp32"));
}

/* The first that is told says why there is nothing to measure, else the first; each is told once. */
static enum err_code leave_out(struct choice *c, const char *mode, bool tell, const struct err *why)
{
    struct bench *b = &c->bench;
    char *reason;

    if (b->last.code == ERR_OK || (tell && !c->reasons))
        b->last = *why;
    if (!tell)
        return ERR_OK;
    reason = mem_textf("mode = %s: %s", mode, why->text);
    for (size_t i = 0; i < c->reasons && tell; i++)
        tell = strcmp(c->reason[i], reason) != 0;
    if (!tell) {
        free(reason);
        return ERR_OK;
    }
    c->reason = mem_grow(c->reason, &c->reason_room, c->reasons + 1, sizeof *c->reason);
    c->reason[c->reasons++] = reason;
    return ERR_OK;
}

static void say_left_out(const struct choice *c)
{
    for (size_t i = 0; i < c->reasons; i++)
        cli_talk("left out: %s", c->reason[i]);
}

/* One combination; one that cannot be is left out, which is told unless it is about a backend or a
 * precision alone. */
static enum err_code try_row(struct choice *c, const char *const word[LISTS])
{
    struct plan *p = NULL;
    int64_t batch = 0;
    struct err why;
    enum err_code code;

    if (plan_row(c, &p, word, 0, false, &why) != ERR_OK)
        return leave_out(c, word[2], is_asked_for(c, word) && !can_otherwise(c, word), &why);
    if (!was_given(c, "batch"))
        batch = batch_within(c, p, !strcmp(word[0], "ref"));
    plan_free(p);
    if (plan_row(c, &p, word, batch, true, &why) != ERR_OK)
        return leave_out(c, word[2], true, &why);
    p->session.tune = c->bench.tune;
    code = bench_row(&c->bench, p);
    plan_free(p);
    return code;
}

static enum err_code each_row(struct choice *c,
                              enum err_code visit(struct choice *, const char *const word[LISTS]))
{
    int at[LISTS];

    for (at[0] = 0; at[0] < c->words[0]; at[0]++)
        for (at[1] = 0; at[1] < c->words[1]; at[1]++)
            for (at[2] = 0; at[2] < c->words[2]; at[2]++)
                for (at[3] = 0; at[3] < c->words[3]; at[3]++) {
                    const char *word[LISTS];

                    if (bench_leaving(&c->bench))
                        return ERR_OK;
                    for (int k = 0; k < LISTS; k++)
                        word[k] = c->word[k][at[k]];
                    TRY(visit(c, word));
                }
    return ERR_OK;
}

/* All rows that can be have as many. */
static enum err_code take_threads(struct choice *c, const char *const word[LISTS])
{
    struct bench *b = &c->bench;
    struct plan *p = NULL;

    if (plan_row(c, &p, word, 0, false, NULL) != ERR_OK)
        return ERR_OK;
    b->threads = p->session.threads;
    if (!b->crowding[0])
        (void)plan_crowding(p, 1, plan_cores(), b->crowding);
    plan_free(p);
    return ERR_OK;
}

static enum err_code measure_peak(struct choice *c, struct err *e)
{
    struct bench *b = &c->bench;

    (void)each_row(c, take_threads);
    if (!b->threads)
        b->threads = 1;
    if (b->threads > plan_cores()) /* more would take turns, each at its best in its own */
        b->threads = plan_cores();
    b->peak[0] = b->peak[1] = cpu_peak_flops(1, 0.2);
    if (b->threads > 1)
        b->peak[1] = cpu_peak_flops(b->threads, 0.3);
    return b->peak[0] > 0 && b->peak[1] > 0 ? ERR_OK
                                            : err_set(e, ERR_FAILED, "cannot start a thread");
}

/* backend=cpu,ref and its like are taken out of the operands and cut. */
static int take_operands(struct choice *c, int argc, char **argv)
{
    static const char *const usual[LISTS] = {"", "lenet,cnn,mlp,resnet18", "data-parallel,ensemble",
                                             "fp32,bf16,fp64"};
    struct text backends = {0};

    c->keys = argv + 1;
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        int k = 0;

        if (!equals)
            return cli_refuse("bench takes KEY=VALUE, not %s", TEXT_CLEAN(argv[i]));
        while (k < LISTS && (strncmp(argv[i], list_keys[k], (size_t)(equals - argv[i])) ||
                             list_keys[k][equals - argv[i]]))
            k++;
        if (k == LISTS) {
            c->keys[c->key_count++] = argv[i];
            continue;
        }
        free(c->list[k]);
        c->list[k] = mem_text(equals + 1);
        c->given[k] = true;
    }
    for (const struct backend *const *one = cli_backends(); *one; one++)
        if (strcmp((*one)->name, "fake") != 0)
            text_addf(&backends, "%s%s", backends.n ? "," : "", (*one)->name);
    for (int k = 0; k < LISTS; k++) {
        char *rest, *word;

        if (!c->list[k])
            c->list[k] = mem_text(k ? usual[k] : text_str(&backends));
        for (rest = c->list[k]; (word = strsep(&rest, ",")) && c->words[k] < LIST_ROOM;)
            c->word[k][c->words[k]++] = text_trim(word);
        if (word) {
            text_free(&backends);
            return cli_refuse("%s: %d values at most", list_keys[k], LIST_ROOM);
        }
    }
    text_free(&backends);
    return CLI_ON;
}

/* Every word of every list, before the first row: nonsense is refused at once. */
static int check(struct choice *c)
{
    struct spec *s = mem_new(1, sizeof *s);
    struct err e = {0};
    enum err_code code = ERR_OK;

    for (int k = 0; k < LISTS && code == ERR_OK; k++)
        for (int i = 0; i < c->words[k] && code == ERR_OK; i++) {
            const char *word[LISTS] = {"cpu", "tiny", "ensemble", "fp32"};
            struct net *net = NULL;

            word[k] = c->word[k][i];
            code = fill_spec(c, s, word, 0, &e);
            if (code == ERR_OK && k == 0 && !strcmp(word[0], "cpu"))
                code = cli_check_isa(&e);
            if (code == ERR_OK && k == 0 && !strcmp(word[0], "auto"))
                code = err_set(&e, ERR_INPUT, "backend = auto: bench wants the name of one");
            if (code == ERR_OK && k == 1 &&
                (code = net_open(&net, s->model, &(struct net_wants){.spec = s}, &e)) == ERR_OK)
                net_free(net);
        }
    free(s);
    return code == ERR_OK ? CLI_ON : cli_fail(&e);
}

static int finish(struct choice *c, enum err_code code)
{
    struct bench *b = &c->bench;

    if (code == ERR_OK && !b->rows && !bench_leaving(b))
        code = b->last.code;
    if (code != ERR_OK && !bench_leaving(b))
        return cli_fail(&b->last);
    bench_finish_rows(b);
    say_left_out(c);
    if (b->tune && !b->tuned)
        cli_talk(
            "nothing was tuned: plans to choose from are cuDNN's, on a GPU, of convolutions with "
            "many channels");
    if (cli_terminated || cli_hung_up)
        return err_exit_code(ERR_TERMINATED);
    if (cli_interrupts)
        return err_exit_code(ERR_STOPPED);
    return b->broken ? 1 : 0;
}

static int run_all(struct choice *c)
{
    struct bench *b = &c->bench;
    enum err_code code;

    if (bench_begin(b, &b->last) != ERR_OK)
        return cli_fail(&b->last);
    code = measure_peak(c, &b->last);
    if (code == ERR_OK)
        code = each_row(c, try_row);
    bench_end(b);
    return finish(c, code);
}

int cli_bench(int argc, char **argv)
{
    struct choice *c = mem_new(1, sizeof *c);
    struct bench *b = &c->bench;
    const char *seconds = NULL;
    const struct cli_option options[] = {
        {"--seconds", "N", "a row (1.5); parts of one are fine", &seconds},
        {"--tune", NULL, "times cuDNN's plans, and writes down the quickest", &b->tune},
        {"--json", NULL, "one object instead of a table", &b->json},
        {NULL, NULL, NULL, NULL}};
    int code = cli_options(&usage, options, &argc, argv);

    b->seconds = ROW_SECONDS;
    if (code == CLI_ON && seconds &&
        !(text_to_double(seconds, &b->seconds) && b->seconds >= 0.01 && b->seconds <= 3600))
        code = cli_refuse("--seconds %s is not a number from 0.01 to 3600", TEXT_CLEAN(seconds));
    if (code == CLI_ON)
        code = take_operands(c, argc, argv);
    if (code == CLI_ON)
        code = check(c);
    if (code == CLI_ON)
        code = run_all(c);
    for (int k = 0; k < LISTS; k++)
        free(c->list[k]);
    for (size_t i = 0; i < c->reasons; i++)
        free(c->reason[i]);
    free(c->reason);
    text_free(&b->out);
    free(c);
    return code;
}
