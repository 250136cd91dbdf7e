/* tests/torture/whole.h: a results folder with a run, a sweep and a queue, and what is read there while all is whole. */
#ifndef CHORUS_TORTURE_WHOLE_H
#define CHORUS_TORTURE_WHOLE_H

#define TEST_OWN_MAIN
#include "base/hash.h"
#include "record/run/checkpoint.h"
#include "record/queue/queue.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "tests/unit/engine/sweep_kit.h"

#define EPOCHS 4
#define ITEMS  3

static struct kit kit;
static char *run_folder;                /* of the run whose files are damaged */
static struct record_run *whole_run;    /* its run.csv */
static struct spec whole_spec;          /* and its experiment.ini */
static char weights_of[EPOCHS + 1][17]; /* a digest of those of each epoch */
static size_t whole_runs;
static struct record_cell *whole_cells;
static size_t whole_cell_count;
static char *item_text[ITEMS]; /* of the queue */

/* Of the weights; returns their epoch. */
static inline int64_t digest(const struct safetensors *s, char out[17])
{
    struct text t = {0};
    int64_t epoch = -1;

    for (size_t i = 0; i < s->tensors; i++) {
        const struct safetensors_tensor *x = &s->tensor[i];

        if (!strncmp(x->name, "engine/", 7))
            continue;
        text_addf(&t, "%s %zu ", x->name, x->size);
        text_add_n(&t, x->bytes, x->size);
    }
    hash_digits(out, 17, text_str(&t), t.n);
    text_free(&t);
    (void)record_unpack_int(s, RECORD_NOTE_EPOCH, &epoch);
    return epoch;
}

static inline struct record_cell *cells_of(size_t *n)
{
    struct record_ledger *l = NULL;
    struct record_cell *cells = NULL;

    *n = 0;
    if (record_ledger_open_to_read(&l, kit.results, "grid", NULL) == ERR_OK &&
        record_ledger_cells(l, &cells, n, NULL) != ERR_OK)
        *n = 0;
    record_ledger_close(l);
    return cells;
}

static inline void make_run(void)
{
    struct wire_status status;
    struct spec s;

    kit_engine(&kit, 4096, 0);
    kit_spec(&kit, &s, "mode=ensemble", "devices=2", "valid=16", "epochs=4",
             "keep=last+best+every:1", NULL);
    kit_run(&kit, &s, &status);
    run_folder = mem_text(status.path);
    whole_run = mem_new(1, sizeof *whole_run);
    kit_read_run(run_folder, whole_run);
    if (record_read_spec(run_folder, &whole_spec, NULL) != ERR_OK)
        TEST_FAILED("the experiment of the whole run cannot be read");
    for (int i = 1; i <= EPOCHS; i++) {
        char name[32];
        struct safetensors file;

        snprintf(name, sizeof name, "epoch-%04d.safetensors", i);
        if (kit_tensors(run_folder, name, &file))
            (void)digest(&file, weights_of[i]);
        safetensors_free(&file);
    }
}

static inline void make_sweep(void)
{
    struct wire_sweep_status status;

    run_sweep(&kit, "batch = 8, 16\nlr = 0.1, 0.2\n", (struct wish){.grid = true}, &status);
    whole_cells = cells_of(&whole_cell_count);
    whole_runs = run_folders(&kit);
}

static inline void make_queue(void)
{
    static const char *const more[ITEMS] = {"lr=0.1", "lr=0.2", "seed=7"};
    struct spec s;
    struct err e;

    for (int i = 0; i < ITEMS; i++) {
        struct text t = {0};

        kit_spec(&kit, &s, more[i], NULL);
        spec_write(&s, &t);
        if (record_queue_add(kit.results, text_str(&t), "item", NULL, &e) != ERR_OK)
            TEST_FAILED("%s", e.text);
        item_text[i] = t.s;
    }
    if (record_queue_set_taken(kit.results, 0x123456789abcdef0u, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

static inline void whole_make(void)
{
    kit_folder(&kit);
    make_run();
    make_sweep();
    kit_quit(&kit);
    make_queue();
}

static inline void whole_end(void)
{
    kit_end(&kit);
    for (int i = 0; i < ITEMS; i++)
        free(item_text[i]);
    free(whole_cells);
    free(whole_run);
    free(run_folder);
}

#endif
