/* The CSVs of a run that grow by rows. One row is one write at the file's end, so that a reader (and
 * a kill) finds whole rows but for a torn last one, which has no LF and is left out by every reader. */
#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const record_csv_name[RECORD_CSVS] = {"epochs.csv", "members.csv", "devices.csv",
                                                  "steps.csv"};
const char *const record_csv_header[RECORD_CSVS] = {
    "epoch,step,images,model_images,train_seconds,eval_seconds,device_seconds,train_loss,train_acc,"
    "val_loss,val_acc,test_loss,test_acc,member_acc_min,member_acc_mean,member_acc_max,"
    "member_loss_mean,ece,disagreement,lr,images_per_second,input_seconds,compute_seconds,"
    "reduce_seconds,wait_seconds,ended_utc\n",
    "epoch,member,device,train_loss,train_acc,test_loss,test_acc,prefix_acc,images_per_second\n",
    ("epoch,device,real,images,train_loss,train_acc,input_seconds,compute_seconds,reduce_seconds,"
     "wait_seconds,memory_bytes,gpu_percent,temperature_c,power_watts\n"),
    "step,epoch,member,images,train_seconds,loss,acc,lr\n",
};

static void add_number(struct text *row, double value)
{
    if (value == RECORD_EMPTY)
        sheet_add_empty(row);
    else
        sheet_add_double(row, value);
}

static enum err_code add_row(struct record *r, enum record_csvs which, struct err *e)
{
    struct record_csv *c = &r->csv[which];
    size_t wrote;
    enum err_code code;

    if (c->fd < 0)
        return err_set(e, ERR_FAILED, "run %s has no %s to add a row to", r->folder, c->name);
    sheet_end_row(&r->row);
    wrote = io_write_most(c->fd, r->row.s, r->row.n);
    if (wrote == r->row.n) {
        c->size += (off_t)wrote;
        if (which == RECORD_EPOCHS)
            text_add_n(&r->rows, r->row.s, r->row.n);
        return ERR_OK;
    }
    code = err_errno(e, "cannot write a row of %s", c->path);
    if (wrote > 0 && io.truncate(c->fd, c->size) < 0)
        c->torn = true;
    return code;
}

/* A piece of a row that could not be taken back must not become the beginning of the next row. */
static enum err_code start_row(struct record *r, enum record_csvs which, struct err *e)
{
    struct record_csv *c = &r->csv[which];

    text_clear(&r->row);
    if (c->torn) {
        if (io.truncate(c->fd, c->size) < 0)
            return err_errno(e, "cannot take back a torn row of %s", c->path);
        c->torn = false;
    }
    return ERR_OK;
}

static void add_count(struct text *row, int64_t count)
{
    if (count == RECORD_NO_COUNT)
        sheet_add_empty(row);
    else
        sheet_add_int(row, count);
}

enum err_code record_add_epoch(struct record *r, const struct record_epoch *row, struct err *e)
{
    const double numbers[] = {row->train_seconds,     row->eval_seconds,
                              row->device_seconds,    row->train_loss,
                              row->train_acc,         row->val_loss,
                              row->val_acc,           row->test_loss,
                              row->test_acc,          row->member_acc_min,
                              row->member_acc_mean,   row->member_acc_max,
                              row->member_loss_mean,  row->ece,
                              row->disagreement,      row->lr,
                              row->images_per_second, row->input_seconds,
                              row->compute_seconds,   row->reduce_seconds,
                              row->wait_seconds};

    TRY(start_row(r, RECORD_EPOCHS, e));
    sheet_add_int(&r->row, row->epoch);
    add_count(&r->row, row->step);
    add_count(&r->row, row->images);
    sheet_add_int(&r->row, row->model_images);
    for (size_t i = 0; i < MEM_COUNT(numbers); i++)
        add_number(&r->row, numbers[i]);
    sheet_add_text(&r->row, row->ended_utc);
    return add_row(r, RECORD_EPOCHS, e);
}

enum err_code record_add_member(struct record *r, const struct record_member *row, struct err *e)
{
    const double numbers[] = {row->train_loss, row->train_acc,  row->test_loss,
                              row->test_acc,   row->prefix_acc, row->images_per_second};

    TRY(start_row(r, RECORD_MEMBERS, e));
    sheet_add_int(&r->row, row->epoch);
    sheet_add_int(&r->row, row->member);
    sheet_add_int(&r->row, row->device);
    for (size_t i = 0; i < MEM_COUNT(numbers); i++)
        add_number(&r->row, numbers[i]);
    return add_row(r, RECORD_MEMBERS, e);
}

enum err_code record_add_device(struct record *r, const struct record_device *row, struct err *e)
{
    const double numbers[] = {row->train_loss,      row->train_acc,      row->input_seconds,
                              row->compute_seconds, row->reduce_seconds, row->wait_seconds,
                              row->memory_bytes,    row->gpu_percent,    row->temperature_c,
                              row->power_watts};

    TRY(start_row(r, RECORD_DEVICES, e));
    sheet_add_int(&r->row, row->epoch);
    sheet_add_int(&r->row, row->device);
    sheet_add_text(&r->row, row->real);
    sheet_add_int(&r->row, row->images);
    for (size_t i = 0; i < MEM_COUNT(numbers); i++)
        add_number(&r->row, numbers[i]);
    return add_row(r, RECORD_DEVICES, e);
}

enum err_code record_add_step(struct record *r, const struct record_step *row, struct err *e)
{
    TRY(start_row(r, RECORD_STEPS, e));
    sheet_add_int(&r->row, row->step);
    sheet_add_int(&r->row, row->epoch);
    sheet_add_int(&r->row, row->member);
    sheet_add_int(&r->row, row->images);
    add_number(&r->row, row->train_seconds);
    add_number(&r->row, row->loss);
    add_number(&r->row, row->acc);
    add_number(&r->row, row->lr);
    return add_row(r, RECORD_STEPS, e);
}

enum err_code record_sync(struct record *r, struct err *e)
{
    for (int i = 0; i < RECORD_CSVS; i++) {
        if (r->csv[i].fd >= 0 && io.sync(r->csv[i].fd) < 0)
            return err_errno(e, "cannot write %s to the disk", r->csv[i].path);
    }
    r->synced = r->rows.n;
    return ERR_OK;
}

enum err_code record_cut_at(struct record_csv *c, off_t size, struct err *e)
{
    if (size == c->size)
        return ERR_OK;
    if (io.truncate(c->fd, size) < 0)
        return err_errno(e, "cannot cut %s", c->path);
    c->size = size;
    return ERR_OK;
}

enum err_code record_cut_torn(struct record_csv *c, struct err *e)
{
    char bytes[4096];
    off_t end = c->size;

    while (end > 0) {
        size_t want = end < (off_t)sizeof bytes ? (size_t)end : sizeof bytes;
        ssize_t got;
        if (io.seek(c->fd, end - (off_t)want, SEEK_SET) < 0)
            return err_errno(e, "cannot read %s", c->path);
        got = io.read(c->fd, bytes, want);
        if (got < 0)
            return err_errno(e, "cannot read %s", c->path);
        if (got != (ssize_t)want)
            return err_set(e, ERR_IO, "%s became shorter while it was read", c->path);
        for (size_t i = want; i > 0; i--) {
            if (bytes[i - 1] == '\n')
                return record_cut_at(c, end - (off_t)want + (off_t)i, e);
        }
        end -= (off_t)want;
    }
    return record_cut_at(c, 0, e);
}

/* Looks for the first row whose first field, a number, is above most. */
struct row_scan {
    int64_t most, last; /* last: the number of the row before */
    off_t at, row;      /* bytes seen, where the row began */
    size_t line;
    char field[24];
    size_t n;
    bool in_field, found;
};

/* A row that is no row: zeros that a file system leaves where power was lost. What was synced with
 * the checkpoint stands in front of it. */
static enum err_code end_field(struct row_scan *s, const struct record_csv *c, bool zeros,
                               struct err *e)
{
    int64_t value = 0;

    s->in_field = false;
    if (s->line == 1) /* the header */
        return ERR_OK;
    s->field[s->n < sizeof s->field ? s->n : sizeof s->field - 1] = 0;
    if (zeros || s->n >= sizeof s->field || !text_to_int(s->field, &value)) {
        if (!zeros && s->last < s->most)
            return err_set(e, ERR_INPUT, "%s:%zu: the row does not begin with a number", c->path,
                           s->line);
        s->found = true;
        return ERR_OK;
    }
    s->found = value > s->most;
    s->last = value;
    return ERR_OK;
}

static enum err_code scan_bytes(struct row_scan *s, const struct record_csv *c, const char *bytes,
                                size_t n, struct err *e)
{
    for (size_t i = 0; i < n && !s->found; i++, s->at++) {
        if (s->in_field && (bytes[i] == ',' || bytes[i] == '\n' || bytes[i] == 0))
            TRY(end_field(s, c, bytes[i] == 0, e));
        else if (s->in_field && s->n < sizeof s->field)
            s->field[s->n++] = bytes[i];
        if (s->found)
            break;
        if (bytes[i] == '\n') {
            s->in_field = true;
            s->n = 0;
            s->row = s->at + 1;
            s->line++;
        }
    }
    return ERR_OK;
}

static enum err_code cut_csv(struct record_csv *c, int64_t most, struct err *e)
{
    struct row_scan s = {.most = most, .last = INT64_MIN, .line = 1, .in_field = true};
    char *bytes;
    enum err_code code = ERR_OK;

    if (c->fd < 0)
        return ERR_OK;
    if (io.seek(c->fd, 0, SEEK_SET) < 0)
        return err_errno(e, "cannot read %s", c->path);
    bytes = mem_new(65536, 1);
    while (code == ERR_OK && !s.found) {
        ssize_t got = io.read(c->fd, bytes, 65536);
        if (got < 0)
            code = err_errno(e, "cannot read %s", c->path);
        if (got <= 0)
            break;
        code = scan_bytes(&s, c, bytes, (size_t)got, e);
    }
    free(bytes);
    if (code == ERR_OK && s.found)
        code = record_cut_at(c, s.row, e);
    return code;
}

static enum err_code cut_epochs(struct record *r, int64_t epochs, struct err *e)
{
    if (r->trusted) {
        r->trusted = false;
        return record_put_rows(r, e);
    }
    TRY(cut_csv(&r->csv[RECORD_EPOCHS], epochs, e));
    return record_load_rows(r, e);
}

enum err_code record_cut(struct record *r, int64_t epochs, int64_t step, struct err *e)
{
    TRY(cut_epochs(r, epochs, e));
    TRY(cut_csv(&r->csv[RECORD_MEMBERS], epochs, e));
    TRY(cut_csv(&r->csv[RECORD_DEVICES], epochs, e));
    TRY(cut_csv(&r->csv[RECORD_STEPS], step, e));
    return record_sync(r, e);
}

enum err_code record_read_sheet(const char *folder, const char *file, struct sheet *s,
                                struct err *e)
{
    char *path = mem_textf("%s/%s.csv", folder, file);
    enum err_code code = sheet_read(path, s, e);

    free(path);
    return code;
}
