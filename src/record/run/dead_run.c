/* What a run had done when its process died: run.csv is replaced at most once a second, while a row of
 * epochs.csv stands there at each epoch's end. */
#include "base/sheet.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <math.h>
#include <string.h>

const char *const record_caught_columns[] = {"epochs_done",    "best_epoch",    "best_test_acc",
                                             "best_test_loss", "last_test_acc", "last_test_loss",
                                             "train_seconds",  "eval_seconds",  "images",
                                             "device_seconds", "model_images",  NULL};

static double number(const struct sheet *s, size_t row, const char *column)
{
    return sheet_number(s, row, sheet_column(s, column));
}

static int64_t whole(const struct sheet *s, size_t row, const char *column, int64_t none)
{
    return sheet_whole(s, row, sheet_column(s, column), none);
}

/* As the engine judges an epoch. */
static void find_best(struct record_run *run, const struct sheet *s)
{
    bool valid = !strcmp(run->best_by, "valid");
    double best = NAN, least = NAN;

    run->best_epoch = 0;
    run->best_test_acc = run->best_test_loss = RECORD_EMPTY;
    for (size_t i = 0; i < s->rows; i++) {
        double acc = number(s, i, valid ? "val_acc" : "test_acc");
        double loss = number(s, i, valid ? "val_loss" : "test_loss");

        if (!isfinite(loss) || !isfinite(acc) ||
            (run->best_epoch && !(acc > best || (acc == best && loss < least))))
            continue;
        best = acc;
        least = loss;
        run->best_epoch = whole(s, i, "epoch", 0);
        run->best_test_acc = number(s, i, "test_acc");
        run->best_test_loss = number(s, i, "test_loss");
    }
}

static void take(double *to, const struct sheet *s, const char *column)
{
    double value = number(s, s->rows - 1, column);

    if (isfinite(value))
        *to = value;
}

bool record_catch_up(const char *folder, struct record_run *run)
{
    struct sheet s;
    size_t last;
    bool more;

    if (record_read_sheet(folder, "epochs", &s, NULL) != ERR_OK)
        return false;
    last = s.rows - 1;
    more = s.rows && whole(&s, last, "epoch", 0) > run->epochs_done;
    if (more) {
        run->epochs_done = whole(&s, last, "epoch", 0);
        take(&run->last_test_acc, &s, "test_acc");
        take(&run->last_test_loss, &s, "test_loss");
        take(&run->train_seconds, &s, "train_seconds");
        take(&run->eval_seconds, &s, "eval_seconds");
        take(&run->device_seconds, &s, "device_seconds");
        run->images = whole(&s, last, "images", run->images);
        run->model_images = whole(&s, last, "model_images", run->model_images);
        find_best(run, &s);
    }
    sheet_free(&s);
    return more;
}
