/* The file: "chorus-index 1\n", 64 digits of the SHA-256 of all that follows them, "\n", then
 * fields that each end with a 0 byte: the number of rows, the columns of run.csv joined by commas,
 * and of each row the name, the stamp's four numbers and the cells. Fields stay text, so that
 * nothing of it is trusted further than a run.csv would be. */
#include "record/index.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/run/run.h"
#include "record/stamp.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAGIC       "chorus-index 1\n"
#define DIGITS      64
#define HEAD        (sizeof MAGIC - 1 + DIGITS + 1)
#define LIMIT       ((size_t)1 << 30)
#define SHARE       64 /* a share of 1/64 may be out of date before the file is made anew */
#define ABANDONED_S 60 /* a temporary file whose writer was killed */

static void add_columns(struct text *out)
{
    for (size_t i = 0; i < RECORD_COLUMNS; i++)
        text_addf(out, i ? ",%s" : "%s", record_run_columns[i]);
}

/* The next field; NULL behind the last whole one. */
static const char *next_field(const char **at, const char *end)
{
    const char *field = *at, *stop = field < end ? memchr(field, 0, (size_t)(end - field)) : NULL;

    if (stop)
        *at = stop + 1;
    return stop ? field : NULL;
}

static bool next_number(const char **at, const char *end, int64_t *value)
{
    const char *field = next_field(at, end);

    return field && text_to_int(field, value);
}

static bool next_row(const char **at, const char *end, struct record_index_row *row)
{
    row->name = next_field(at, end);
    if (!row->name || !next_number(at, end, &row->stamp.mtime_ns) ||
        !next_number(at, end, &row->stamp.ctime_ns) || !next_number(at, end, &row->stamp.size) ||
        !next_number(at, end, &row->stamp.inode))
        return false;
    for (size_t i = 0; i < RECORD_COLUMNS; i++) {
        row->cells[i] = next_field(at, end);
        if (!row->cells[i])
            return false;
    }
    return true;
}

static bool same_columns(const char *field)
{
    struct text own = {0};
    bool same;

    add_columns(&own);
    same = field && !strcmp(field, text_str(&own));
    text_free(&own);
    return same;
}

static bool take_rows(struct record_index *index, const char *at, const char *end)
{
    int64_t count;

    if (!next_number(&at, end, &count) || count < 0 || count > end - at ||
        !same_columns(next_field(&at, end)))
        return false;
    index->row = mem_new((size_t)count + 1, sizeof *index->row);
    for (; (int64_t)index->rows < count; index->rows++) {
        struct record_index_row *row = &index->row[index->rows];
        if (!next_row(&at, end, row) || (index->rows > 0 && strcmp(row[-1].name, row->name) >= 0))
            return false;
    }
    return at == end;
}

static void make_digits(char out[DIGITS + 1], const void *a, size_t n, const void *b, size_t m)
{
    struct hash_sha256 h;
    uint8_t digest[DIGITS / 2];

    hash_sha256_start(&h);
    hash_sha256_add(&h, a, n);
    hash_sha256_add(&h, b, m);
    hash_sha256_end(&h, digest);
    hash_hex(out, digest, sizeof digest);
}

static bool is_whole(const char *bytes, size_t n)
{
    char digits[DIGITS + 1];

    if (n < HEAD || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0 || bytes[HEAD - 1] != '\n')
        return false;
    make_digits(digits, bytes + HEAD, n - HEAD, "", 0);
    return !memcmp(bytes + sizeof MAGIC - 1, digits, DIGITS);
}

void record_index_read(struct record_index *index, const char *results)
{
    char *path = io_path(results, ".index");
    size_t n;

    memset(index, 0, sizeof *index);
    if (io_read_file(path, LIMIT, &index->bytes, &n, NULL) == ERR_OK &&
        !(is_whole(index->bytes, n) && take_rows(index, index->bytes + HEAD, index->bytes + n)))
        record_index_free(index);
    free(path);
}

void record_index_free(struct record_index *index)
{
    free(index->bytes);
    free(index->row);
    memset(index, 0, sizeof *index);
}

static int compare_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct record_index_row *)row)->name);
}

const struct record_index_row *record_index_find(const struct record_index *index, const char *name)
{
    return index->rows ? bsearch(name, index->row, index->rows, sizeof *index->row, compare_name)
                       : NULL;
}

const char *record_index_cell(const struct record_index_row *row, const char *column)
{
    size_t i = 0;

    while (i < RECORD_COLUMNS && strcmp(record_run_columns[i], column) != 0)
        i++;
    return i < RECORD_COLUMNS ? row->cells[i] : "";
}

void record_index_add(struct text *out, const char *name, const struct record_stamp *stamp,
                      const struct text *cells)
{
    text_add_n(out, name, strlen(name) + 1);
    text_addf(out, "%lld%c%lld%c%lld%c%lld%c", (long long)stamp->mtime_ns, 0,
              (long long)stamp->ctime_ns, 0, (long long)stamp->size, 0, (long long)stamp->inode, 0);
    text_add_n(out, cells->s, cells->n);
}

void record_index_keep(struct text *out, const struct record_index_row *row)
{
    const char *last = row->cells[RECORD_COLUMNS - 1];

    text_add_n(out, row->name, (size_t)(last + strlen(last) + 1 - row->name));
}

/* No sync: after a crash the checksum tells. */
static bool write_bytes(const char *temp, const char *path, const struct text *head,
                        const struct text *rows)
{
    int fd = io.open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool written;

    if (fd < 0)
        return false;
    written = io_write_all(fd, head->s, head->n, temp, NULL) == ERR_OK &&
              io_write_all(fd, text_str(rows), rows->n, temp, NULL) == ERR_OK;
    if (io.close(fd) < 0)
        written = false;
    if (!written || io.rename(temp, path) < 0)
        io.unlink(temp);
    return true;
}

/* Two writers share one temporary name: the second leaves it to the first. */
void record_index_write(const char *results, const struct text *rows, size_t count)
{
    struct text sealed = {0}, head = {0};
    char digits[DIGITS + 1], *temp = io_path(results, ".index.tmp");
    char *path = io_path(results, ".index");
    struct stat st;

    text_addf(&sealed, "%zu", count);
    text_add_n(&sealed, "", 1);
    add_columns(&sealed);
    text_add_n(&sealed, "", 1);
    make_digits(digits, sealed.s, sealed.n, text_str(rows), rows->n);
    text_addf(&head, "%s%s\n", MAGIC, digits);
    text_add_n(&head, sealed.s, sealed.n);
    if (!write_bytes(temp, path, &head, rows) && io.stat(temp, &st) == 0 &&
        time(NULL) - st.st_mtime > ABANDONED_S)
        io.unlink(temp);
    text_free(&sealed);
    text_free(&head);
    free(temp);
    free(path);
}

bool record_index_is_old(size_t rows, size_t changed)
{
    return rows >= RECORD_INDEX_LEAST && changed > rows / SHARE;
}
