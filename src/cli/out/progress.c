/* cli/out/progress.c: the line that is redrawn and the line an epoch. */
#include "cli/out/progress.h"

#include "base/clock.h"
#include "base/loss.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "wire/time_left.h"

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

/* Whose line it is, where there is room for that. */
static void add_label(const struct progress *p, int *columns, struct text *out)
{
    int width = p->label ? text_width(p->label) + 2 : 0;

    if (!width || *columns - width < 20)
        return;
    text_addf(out, "%s  ", p->label);
    *columns -= width;
}

void progress_epoch(struct progress *p, const struct progress_row *row)
{
    int columns = cli_limit(STDERR_FILENO);
    struct text line = {0};

    if (p->quiet)
        return;
    add_label(p, &columns, &line);
    progress_epoch_line(row, p->view.epochs, p->members, columns, &line);
    cli_talk("%s", text_str(&line));
    text_free(&line);
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
