/* cli/out/progress.c: the line that is redrawn and the line an epoch. */
#include "cli/out/progress.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/loss.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "record/run/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_NS 100000000ull

static void add_bar(struct text *out, double share, int cells, bool utf8)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int full;

    share = share < 0 ? 0 : share > 1 ? 1 : share;
    full = (int)(share * cells * 8);
    for (int i = 0; i < cells; i++, full -= 8) {
        if (!utf8)
            text_add(out, full >= 8 ? "#" : "-");
        else if (full >= 8)
            text_add(out, "█");
        else
            text_add(out, full > 0 ? eighths[full] : "░");
    }
}

void progress_add_left(struct text *out, const char *before, double seconds)
{
    text_add(out, isfinite(seconds) ? before : "");
    time_left_add(out, seconds);
}

enum { PART_BAR = 1, PART_LEFT = 2, PART_ACC = 4, PART_SPEED = 8, PART_LOSS = 16 };

static void add_parts(const struct progress_view *v, int parts, int cells, bool utf8,
                      struct text *out)
{
    char number[TEXT_NUMBER_ROOM], loss[LOSS_ROOM];
    double share = v->steps ? (double)v->step / (double)v->steps : 0;

    text_addf(out, "epoch %lld/%lld", (long long)v->epoch, (long long)v->epochs);
    if (v->doing)
        text_addf(out, "  %s", v->doing);
    if (parts & PART_BAR) {
        text_add(out, " ");
        add_bar(out, share, cells, utf8);
    }
    text_addf(out, " %3d %%", (int)(100 * (share > 1 ? 1 : share)));
    if (parts & PART_LOSS && !isnan(v->loss))
        text_addf(out, "  loss %s", loss_text(loss, v->loss));
    if (parts & PART_ACC && !isnan(v->acc))
        text_addf(out, "  acc %s", text_fixed(number, v->acc, 4));
    if (parts & PART_SPEED && v->images_per_second > 0)
        text_addf(out, "  %s img/s", text_count(number, (uint64_t)(v->images_per_second + 0.5)));
    if (parts & PART_LEFT)
        progress_add_left(out, "  ", v->left_seconds);
}

void progress_line(const struct progress_view *v, int columns, bool utf8, struct text *out)
{
    static const int falls[] = {31, 23, 19, 17, 16, 0};
    struct text t = {0};

    for (int i = 0; i < 6; i++) {
        int blanks;

        text_clear(&t);
        add_parts(v, falls[i] & ~PART_BAR, 0, utf8, &t);
        blanks = columns - 1 - text_width(text_str(&t));
        if (falls[i] & PART_BAR) {
            if (blanks < 7)
                continue;
            text_clear(&t);
            add_parts(v, falls[i], blanks - 1 < 30 ? blanks - 1 : 30, utf8, &t);
        } else if (blanks < 0 && i < 5) {
            continue;
        }
        if (text_width(text_str(&t)) < columns)
            text_add(out, text_str(&t));
        break;
    }
    text_free(&t);
}

static void add_value(struct text *out, const char *before, double value)
{
    text_add(out, before);
    cli_add_fraction(out, value);
}

enum {
    EPOCH_SPEED = 1,
    EPOCH_SECONDS = 2,
    EPOCH_MEMBERS = 4,
    EPOCH_TRAIN_ACC = 8,
    EPOCH_WORDS = 16, /* "loss" */
    EPOCH_TRAIN = 32,
    EPOCH_LOSS = 64,
    EPOCH_VALID = 128
};

static void add_pair(struct text *out, const char *set, double loss, double acc, int parts)
{
    text_addf(out, "  %s", set);
    if (parts & EPOCH_LOSS)
        add_value(out, parts & EPOCH_WORDS ? " loss " : " ", loss);
    if (parts & EPOCH_TRAIN_ACC)
        add_value(out, " acc ", acc);
}

static void add_epoch(const struct progress_row *row, int64_t epochs, int members, int parts,
                      struct text *out)
{
    char number[TEXT_NUMBER_ROOM], span[CLOCK_UTC_ROOM];

    text_addf(out, "epoch %lld/%lld", (long long)row->epoch, (long long)epochs);
    if (row->epoch > 0 && (row->images_per_second > 0 || isfinite(row->train_loss)) &&
        parts & EPOCH_TRAIN) /* an average of runs trained nothing */
        add_pair(out, "train", row->train_loss, row->train_acc, parts);
    if ((!isnan(row->val_loss) || !isnan(row->val_acc)) && parts & EPOCH_VALID)
        add_pair(out, "valid", row->val_loss, row->val_acc, parts | EPOCH_TRAIN_ACC);
    add_pair(out, "test", row->test_loss, row->test_acc, parts | EPOCH_TRAIN_ACC);
    if (members > 1 && parts & EPOCH_MEMBERS) {
        add_value(out, " (members ", row->member_acc_min);
        add_value(out, " to ", row->member_acc_max);
        text_add(out, ")");
    }
    if (row->images_per_second > 0 && parts & EPOCH_SPEED)
        text_addf(out, "  %s img/s", text_count(number, (uint64_t)(row->images_per_second + 0.5)));
    if (isfinite(row->train_seconds + row->eval_seconds) && parts & EPOCH_SECONDS) {
        clock_span(span, row->train_seconds + row->eval_seconds);
        text_addf(out, "  %s", span);
    }
}

void progress_epoch_line(const struct progress_row *row, int64_t epochs, int members, int columns,
                         struct text *out)
{
    enum { BRIEF = EPOCH_VALID | EPOCH_LOSS | EPOCH_TRAIN };
    static const int falls[] = {
        BRIEF | EPOCH_WORDS | EPOCH_MEMBERS | EPOCH_SECONDS | EPOCH_TRAIN_ACC | EPOCH_SPEED,
        BRIEF | EPOCH_WORDS | EPOCH_MEMBERS | EPOCH_SECONDS | EPOCH_TRAIN_ACC,
        BRIEF | EPOCH_WORDS | EPOCH_MEMBERS | EPOCH_SECONDS,
        BRIEF | EPOCH_MEMBERS | EPOCH_SECONDS,
        BRIEF | EPOCH_MEMBERS,
        BRIEF | EPOCH_SECONDS,
        BRIEF,
        EPOCH_VALID | EPOCH_LOSS,
        EPOCH_VALID,
        0,
    };
    struct text t = {0};

    for (size_t i = 0; i < MEM_COUNT(falls); i++) {
        text_clear(&t);
        add_epoch(row, epochs, members, falls[i], &t);
        if (text_width(text_str(&t)) <= columns)
            break;
    }
    text_add(out, text_str(&t));
    text_free(&t);
}

void progress_start(struct progress *p, bool quiet)
{
    memset(p, 0, sizeof *p);
    p->quiet = quiet;
    p->live = !quiet && cli_terminal(STDERR_FILENO);
    p->utf8 = cli_utf8();
    p->view.loss = p->view.acc = p->view.left_seconds = NAN;
}

void progress_set(struct progress *p, int64_t epochs, int64_t steps_per_epoch, int64_t steps_done,
                  int members, int64_t max_steps)
{
    struct progress_view *v = &p->view;

    v->epochs = epochs;
    v->steps_per_epoch = steps_per_epoch;
    v->steps = epochs * steps_per_epoch;
    if (max_steps && max_steps < v->steps)
        v->steps = max_steps;
    v->step = steps_done;
    v->epoch = steps_per_epoch ? steps_done / steps_per_epoch + 1 : 1;
    if (v->epoch > epochs)
        v->epoch = epochs;
    p->members = members;
    time_left_start(&p->pace, steps_done);
}

static void guess_left(struct progress *p)
{
    struct progress_view *v = &p->view;

    v->left_seconds = time_left_seconds(&p->pace, v->steps - v->step, v->epochs - v->epoch + 1);
}

void progress_step(struct progress *p, int64_t step, double loss, double acc,
                   double images_per_second, double train_seconds)
{
    struct progress_view *v = &p->view;

    time_left_step(&p->pace, step, train_seconds);
    v->step = step;
    if (v->steps_per_epoch && step > 0)
        v->epoch = (step - 1) / v->steps_per_epoch + 1;
    v->loss = loss;
    v->acc = acc;
    if (images_per_second > 0)
        v->images_per_second = images_per_second;
    v->doing = NULL;
    guess_left(p);
}

/* Whose line it is, where there is room for that. */
static void add_label(const struct progress *p, int *columns, struct text *out)
{
    int width = p->label ? text_width(p->label) + 2 : 0;

    if (!width || *columns - width < 20)
        return;
    text_addf(out, "%s  ", p->label);
    *columns -= width;
}

void progress_epoch(struct progress *p, const struct progress_row *row, int64_t step)
{
    struct progress_row own = *row;
    struct text line = {0};

    own.train_seconds -= p->last_train_seconds;
    own.eval_seconds -= p->last_eval_seconds;
    p->last_train_seconds = row->train_seconds;
    p->last_eval_seconds = row->eval_seconds;
    time_left_evaluation(&p->pace, own.eval_seconds);
    if (step > p->view.step)
        p->view.step = step;
    if (own.images_per_second > 0)
        p->view.images_per_second = own.images_per_second;
    if (!p->quiet) {
        int columns = cli_limit(STDERR_FILENO);

        add_label(p, &columns, &line);
        progress_epoch_line(&own, p->view.epochs, p->members, columns, &line);
        cli_talk("%s", text_str(&line));
    }
    guess_left(p);
    text_free(&line);
}

static double number(const struct sheet *s, size_t row, const char *column)
{
    return sheet_number(s, row, sheet_column(s, column));
}

int64_t progress_epochs(struct progress *p, const char *folder, int64_t shown)
{
    struct sheet s;
    struct err e;

    if (record_read_sheet(folder, "epochs", &s, &e) != ERR_OK) {
        if (!p->unread && !p->quiet && e.sys != ENOENT) {
            cli_talk("%s: no further epoch of it is told", e.text);
            p->unread = true;
        }
        return shown;
    }
    for (size_t row = 0; row < s.rows; row++) {
        struct progress_row line = {
            .epoch = sheet_whole(&s, row, sheet_column(&s, "epoch"), 0),
            .train_loss = number(&s, row, "train_loss"),
            .train_acc = number(&s, row, "train_acc"),
            .val_loss = number(&s, row, "val_loss"),
            .val_acc = number(&s, row, "val_acc"),
            .test_loss = number(&s, row, "test_loss"),
            .test_acc = number(&s, row, "test_acc"),
            .member_acc_min = number(&s, row, "member_acc_min"),
            .member_acc_mean = number(&s, row, "member_acc_mean"),
            .member_acc_max = number(&s, row, "member_acc_max"),
            .images_per_second = number(&s, row, "images_per_second"),
            .train_seconds = number(&s, row, "train_seconds"),
            .eval_seconds = number(&s, row, "eval_seconds"),
        };

        if (line.epoch <= shown)
            continue;
        shown = line.epoch;
        progress_epoch(p, &line, sheet_whole(&s, row, sheet_column(&s, "step"), 0));
    }
    sheet_free(&s);
    return shown;
}

void progress_doing(struct progress *p, const char *doing)
{
    if (p->view.doing == doing)
        return;
    p->view.doing = doing;
    p->drawn = 0;
}

void progress_draw(struct progress *p)
{
    struct text line = {0};
    uint64_t now = clock_ns();
    int columns;

    if (!p->live || (p->drawn && now - p->drawn < REDRAW_NS))
        return;
    p->drawn = now;
    if (p->view.steps || p->view.doing) {
        /* two columns less: a Ctrl-C is echoed behind the line, as ^C, and must not leave it */
        columns = cli_columns(STDERR_FILENO) - 2;
        add_label(p, &columns, &line);
        progress_line(&p->view, columns, p->utf8, &line);
    }
    live_draw(text_str(&line));
    text_free(&line);
}

void progress_end(struct progress *p)
{
    if (p->live)
        live_draw(NULL);
    p->live = false;
}
