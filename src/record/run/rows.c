/* What epochs.csv must hold: its owner keeps the text, each checkpoint has a copy of it, and run.csv names its size
 * and a checksum, so that whoever reads the file sees that it was changed. */
#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "record/record_int.h"
#include "record/run/checkpoint.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 30)

static void check_of(const char *rows, size_t n, char *out, size_t room)
{
    char digits[17];

    hash_digits(digits, sizeof digits, rows, n);
    snprintf(out, room, "%zu-%s", n, digits);
}

void record_check_rows(const struct record *r, struct record_run *run)
{
    run->epochs_check[0] = '\0';
    if (r->synced)
        check_of(r->rows.s, r->synced, run->epochs_check, sizeof run->epochs_check);
}

/* Behind the header and the rows up to that epoch. */
static size_t end_of(const struct text *rows, int64_t epoch)
{
    const char *at = text_str(rows), *end = at + rows->n, *line;

    for (line = strchr(at, '\n'); line && ++line < end; line = strchr(line, '\n'))
        if (strtoll(line, NULL, 10) > epoch)
            return (size_t)(line - at);
    return rows->n;
}

enum err_code record_pack_rows(const struct record *r, int64_t epoch, struct record_pack *pack,
                               struct err *e)
{
    size_t n = end_of(&r->rows, epoch);

    return record_pack_tensor(pack, RECORD_ROWS, SAFETENSORS_U8, 1, &n, text_str(&r->rows), e);
}

enum err_code record_load_rows(struct record *r, struct err *e)
{
    char *bytes;
    size_t n;

    TRY(io_read_file(r->csv[RECORD_EPOCHS].path, LIMIT, &bytes, &n, e));
    text_clear(&r->rows);
    text_add_n(&r->rows, bytes, n);
    free(bytes);
    return ERR_OK;
}

void record_trust(struct record *r, const struct text *rows)
{
    const char *header = record_csv_header[RECORD_EPOCHS];

    text_clear(&r->rows);
    text_add_n(&r->rows, rows->n ? rows->s : header, rows->n ? rows->n : strlen(header));
    r->synced = r->rows.n;
    r->trusted = true;
}

/* *same: the file begins with what it must hold. */
static enum err_code compare(const struct record *r, bool *same, struct err *e)
{
    char *bytes;
    size_t n;

    TRY(io_read_file(r->csv[RECORD_EPOCHS].path, LIMIT, &bytes, &n, e));
    *same = n >= r->rows.n && !memcmp(bytes, text_str(&r->rows), r->rows.n);
    free(bytes);
    return ERR_OK;
}

enum err_code record_put_rows(struct record *r, struct err *e)
{
    struct record_csv *c = &r->csv[RECORD_EPOCHS];
    bool same;

    TRY(compare(r, &same, e));
    if (same)
        return record_cut_at(c, (off_t)r->rows.n, e);
    log_say(LOG_WARN, "%s was changed since it was written: the checkpoint gives its rows back",
            c->path);
    TRY(io_replace_file(c->path, r->rows.s, r->rows.n, e));
    io.close(c->fd);
    c->fd = -1;
    return record_open_csv(r, RECORD_EPOCHS, e);
}

/* A run that works may only have more rows; one that is done has exactly these. */
static bool fits(const struct record_run *run, const char *bytes, size_t n)
{
    size_t known = (size_t)strtoull(run->epochs_check, NULL, 10);
    char is[sizeof run->epochs_check];

    if (n < known || (n > known && run->state == WIRE_DONE))
        return false;
    check_of(bytes, known, is, sizeof is);
    return !strcmp(is, run->epochs_check);
}

/* What cannot be read has its own sentence, from whoever reads it. */
static bool differs(const char *folder, const struct record_run *run)
{
    char *path = io_path(folder, "epochs.csv"), *bytes = NULL;
    size_t n;
    bool differs = io_read_file(path, LIMIT, &bytes, &n, NULL) == ERR_OK && !fits(run, bytes, n);

    free(bytes);
    free(path);
    return differs;
}

bool record_rows_changed(const struct record_entry *entry)
{
    struct record_run *now;
    char *path;
    bool changed;

    if (entry->broken || !entry->run.epochs_check[0] || !differs(entry->folder, &entry->run))
        return false;
    /* A resume may have cut it since run.csv was read. */
    path = io_path(entry->folder, "run.csv");
    now = mem_new(1, sizeof *now);
    changed = record_read_run(path, now, NULL) != ERR_OK ||
              !strcmp(now->epochs_check, entry->run.epochs_check) ||
              (now->epochs_check[0] && differs(entry->folder, now));
    free(now);
    free(path);
    return changed;
}
