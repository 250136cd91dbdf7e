/* tests/unit/study/kit.h: runs whose files are written here, to be compared. */
#ifndef CHORUS_TESTS_UNIT_STUDY_KIT_H
#define CHORUS_TESTS_UNIT_STUDY_KIT_H

#include "base/mem.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "study/compare.h"
#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#define MOST 16

struct kit {
    char folder[64];
    struct record_entry entry[MOST];
    struct study_run *runs;
    size_t count;
};

static inline void begin(struct kit *k)
{
    memset(k, 0, sizeof *k);
    strcpy(k->folder, "/tmp/chorus-study-XXXXXX");
    if (!mkdtemp(k->folder))
        abort();
}

/* A run with settings such as "lr=0.2 seed=1" and a row of epochs.csv for each accuracy; an epoch has
 * 100 images, costs ten seconds, half of them waiting, and its loss is 1 - accuracy, as is the accuracy on
 * validation images where there are some. */
static inline struct record_run *add(struct kit *k, const char *settings, int epochs,
                                     const double *acc)
{
    struct record_entry *entry = &k->entry[k->count];
    struct record_run *run = &entry->run;
    char *copy = mem_text(settings), *rest = copy, *word, *path;
    double best = -1;
    struct err e;
    FILE *f;

    entry->folder = mem_textf("%s/%zu", k->folder, k->count);
    entry->name = mem_textf("2026-11-20-101530-412-lenet-%04zu", k->count++);
    spec_default(&run->spec);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value++ = 0;
        if (spec_set(&run->spec, word, value, NULL, NULL, &e) != ERR_OK) {
            printf("  %s\n", e.text);
            abort();
        }
    }
    free(copy);
    run->spec.epochs = run->spec.epochs == 10 ? epochs : run->spec.epochs;
    run->state = WIRE_DONE;
    run->real_devices = run->shared = 1;
    strcpy(run->best_by, run->spec.valid > 0 ? "valid" : "test");
    path = mem_textf("mkdir %s", entry->folder);
    if (system(path))
        abort();
    free(path);
    path = mem_textf("%s/epochs.csv", entry->folder);
    f = fopen(path, "w");
    free(path);
    fprintf(
        f,
        "epoch,model_images,train_seconds,device_seconds,val_acc,test_loss,test_acc,member_acc_mean,"
        "member_acc_max,lr,input_seconds,compute_seconds,reduce_seconds,wait_seconds\n");
    for (int i = 0; i < epochs; i++) {
        int members = run->spec.mode == SPEC_ENSEMBLE ? run->spec.members : 1;

        char valid[32] = "";

        if (run->spec.valid > 0)
            snprintf(valid, sizeof valid, "%.4f", 1 - acc[i]);
        fprintf(f, "%d,%d,%d,%d,%s,%.4f,%.4f,%.4f,%.4f,0.085,%d,%d,0,%d\n", i + 1,
                100 * members * (i + 1), 10 * (i + 1), 10 * (i + 1) * run->spec.devices, valid,
                1 - acc[i], acc[i], acc[i] - 0.02, acc[i] - 0.01, i + 1, 4 * (i + 1), 5 * (i + 1));
        if ((run->spec.valid > 0 ? 1 - acc[i] : acc[i]) > best) {
            best = run->spec.valid > 0 ? 1 - acc[i] : acc[i];
            run->best_epoch = i + 1;
        }
    }
    fclose(f);
    run->epochs_done = epochs;
    return run;
}

static inline bool open_all(struct kit *k)
{
    struct err e;

    if (study_open(&k->runs, k->entry, k->count, &e) == ERR_OK)
        return true;
    TEST_FAILED("%s", e.text);
    return false;
}

static inline void end(struct kit *k)
{
    char *command = mem_textf("rm -r %s", k->folder);

    study_close(k->runs, k->count);
    for (size_t i = 0; i < k->count; i++)
        record_free_entry(&k->entry[i]);
    if (system(command))
        abort();
    free(command);
}

static inline const char *cell(const struct study_table *t, size_t row, const char *column)
{
    int c = study_table_find(t, column);

    return c < 0 ? "(no such column)" : study_table_cell(t, row, c)->text;
}

#endif
