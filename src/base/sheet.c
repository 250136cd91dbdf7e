#include "base/sheet.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <csv.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writing. libcsv's own writer quotes every field, so it is asked only for those that need it. */

static void sheet_next_field(struct text *row)
{
    if (row->n && row->s[row->n - 1] != '\n')
        text_add(row, ",");
}

static bool sheet_needs_quotes(const char *field)
{
    size_t n = strlen(field);

    /* readers drop spaces around a bare field */
    return strpbrk(field, ",\"\r\n") || (n && strchr(" \t", field[0])) ||
           (n && strchr(" \t", field[n - 1]));
}

/* The comma stands in front of a field, so an empty first field needs a mark of its own: the text
 * "" (two quotes), which reads back as empty. */
void sheet_add_text(struct text *row, const char *field)
{
    bool first = !row->n || row->s[row->n - 1] == '\n';

    sheet_next_field(row);
    if (!sheet_needs_quotes(field) && (*field || !first)) {
        text_add(row, field);
        return;
    }
    size_t n = strlen(field), room = 2 * n + 2;
    char *quoted = mem_new(room, 1);
    size_t wrote = csv_write(quoted, room, field, n);
    text_add_n(row, quoted, wrote);
    free(quoted);
}

void sheet_add_double(struct text *row, double value)
{
    char number[TEXT_NUMBER_ROOM];

    sheet_add_text(row, text_double(number, value));
}

void sheet_add_int(struct text *row, int64_t value)
{
    sheet_next_field(row);
    text_addf(row, "%lld", (long long)value);
}

void sheet_add_empty(struct text *row)
{
    sheet_add_text(row, "");
}

void sheet_end_row(struct text *row)
{
    text_add(row, "\n");
}

/* Reading. The fields of a row lie behind each other in one buffer until the row is whole. */

struct sheet_reader {
    const char *path;
    struct csv_parser parser;
    size_t field_limit, column_limit;
    bool whole_rows;
    sheet_row_fn *fn;
    void *user;
    size_t line, row_line;  /* of the byte that is read, and where the row began */
    struct text bytes;      /* the fields of the row, each terminated */
    size_t *start, *length; /* of each field in bytes */
    size_t zero_field;      /* from 1, the first of the row that holds a 0 byte; 0: none does */
    size_t fields, start_room, length_room, pointer_room;
    char **pointer;
    bool stopped;
    enum err_code code;
    struct err *e;
};

static void sheet_fail(struct sheet_reader *r, const char *what, size_t number, const char *more)
{
    if (r->code || r->stopped)
        return;
    r->code =
        err_set(r->e, ERR_INPUT, "%s:%zu: %s %zu%s", r->path, r->row_line, what, number, more);
}

/* What text never holds but for line ends, tabs and escapes. */
static bool is_text(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' && !strchr("\t\n\v\f\r\033", s[i] ? s[i] : 1))
            return false;
    return true;
}

static void sheet_on_field(void *s, size_t n, void *user)
{
    struct sheet_reader *r = user;

    if (r->code || r->stopped)
        return;
    if (n > r->field_limit) {
        sheet_fail(r, "a field is longer than the", r->field_limit, " bytes allowed");
        return;
    }
    if (r->fields == r->column_limit) {
        sheet_fail(r, "the row has more fields than the", r->column_limit, " allowed");
        return;
    }
    if (n && memchr(s, 0, n) && !r->zero_field)
        r->zero_field = r->fields + 1;
    r->start = mem_grow(r->start, &r->start_room, r->fields + 1, sizeof *r->start);
    r->length = mem_grow(r->length, &r->length_room, r->fields + 1, sizeof *r->length);
    r->start[r->fields] = r->bytes.n;
    r->length[r->fields++] = n;
    text_add_n(&r->bytes, s, n);
    text_add_n(&r->bytes, "", 1);
}

static void sheet_on_row(int end, void *user)
{
    struct sheet_reader *r = user;
    bool torn = end == -1, left_out = torn && r->whole_rows;

    /* A torn row may end with zeros, which a file system leaves where power was lost. */
    if (r->zero_field && !left_out)
        sheet_fail(r, "field", r->zero_field, " holds a 0 byte: this is no text");
    r->zero_field = 0;
    if (!r->code && !r->stopped && !left_out) {
        r->pointer = mem_grow(r->pointer, &r->pointer_room, r->fields + 1, sizeof *r->pointer);
        for (size_t i = 0; i < r->fields; i++)
            r->pointer[i] = r->bytes.s + r->start[i];
        r->stopped = !r->fn(r->user, r->row_line, r->fields, r->pointer, r->length);
    }
    r->fields = 0;
    text_clear(&r->bytes);
}

/* Feeds the parser line by line, so that rows know where they began. */
static void sheet_feed(struct sheet_reader *r, const char *bytes, size_t n)
{
    while (n && !r->code && !r->stopped) {
        const char *end = memchr(bytes, '\n', n);
        size_t take = end ? (size_t)(end - bytes) + 1 : n;
        if (r->parser.pstate == 0) /* no row has begun */
            r->row_line = r->line;
        if (csv_parse(&r->parser, bytes, take, sheet_on_field, sheet_on_row, r) != take)
            sheet_fail(r, "field", r->fields + 1,
                       csv_error(&r->parser) != CSV_EPARSE ? ": out of memory"
                       : is_text(bytes, take)              ? ": a quote is out of place"
                                                           : ": this is no text file");
        if (r->parser.entry_pos > r->field_limit)
            sheet_fail(r, "a field is longer than the", r->field_limit, " bytes allowed");
        bytes += take;
        n -= take;
        r->line += end != NULL;
    }
}

static enum err_code sheet_scan_open(struct sheet_reader *r, int fd)
{
    enum { CHUNK = 1 << 16 };
    char *chunk = mem_new(CHUNK, 1);
    bool first = true;

    while (!r->code && !r->stopped) {
        ssize_t got = io.read(fd, chunk, CHUNK);
        if (got < 0)
            r->code = err_errno(r->e, "cannot read %s", r->path);
        if (got <= 0)
            break;
        size_t skip = first && got >= 3 && !memcmp(chunk, "\xef\xbb\xbf", 3) ? 3 : 0;
        first = false;
        sheet_feed(r, chunk + skip, (size_t)got - skip);
    }
    if (!r->code && !r->stopped && csv_fini(&r->parser, sheet_on_field, sheet_on_row, r) != 0 &&
        !r->whole_rows)
        sheet_fail(r, "the closing quote is missing in field", r->fields + 1, "");
    free(chunk);
    return r->code;
}

enum err_code sheet_scan(const char *path, const struct sheet_limits *limits, sheet_row_fn *fn,
                         void *user, struct err *e)
{
    struct stat st;
    struct sheet_reader r = {
        .path = path,
        .field_limit = limits && limits->field_bytes ? limits->field_bytes : 65536,
        .column_limit = limits && limits->columns ? limits->columns : 100000,
        .whole_rows = limits && limits->whole_rows,
        .fn = fn,
        .user = user,
        .line = 1,
        .row_line = 1,
        .e = e,
    };
    int fd = io.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);

    if (fd < 0) {
        enum err_code code = err_errno(e, "cannot open %s", path);
        if (e && (e->sys == ENOENT || e->sys == ENOTDIR))
            code = e->code = ERR_INPUT;
        return code;
    }
    enum err_code code = io.fstat(fd, &st) ? err_errno(e, "cannot look at %s", path)
                         : !S_ISREG(st.st_mode)
                             ? err_set(e, ERR_INPUT, "%s is no regular file", path)
                             : ERR_OK;
    if (code != ERR_OK) {
        io.close(fd);
        return code;
    }
    csv_init(&r.parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_blk_size(&r.parser, 65536); /* its default of 128 bytes makes long fields quadratic */
    code = sheet_scan_open(&r, fd);
    csv_free(&r.parser);
    io.close(fd);
    text_free(&r.bytes);
    free(r.start);
    free(r.length);
    free(r.pointer);
    return code;
}

struct sheet_builder {
    struct sheet *s;
    size_t room;
    const char *path;
    enum err_code code;
    struct err *e;
};

static bool sheet_take_row(void *user, size_t line, size_t count, char **fields,
                           const size_t *lengths)
{
    struct sheet_builder *b = user;
    struct sheet *s = b->s;

    if (!s->names) {
        s->names = mem_new(count, sizeof *s->names);
        s->columns = count;
        for (size_t i = 0; i < count; i++)
            s->names[i] = mem_text_n(fields[i], lengths[i]);
        return true;
    }
    if (count != s->columns) {
        b->code = err_set(b->e, ERR_INPUT, "%s:%zu: the row has %zu fields, the header %zu",
                          b->path, line, count, s->columns);
        return false;
    }
    s->cells = mem_grow(s->cells, &b->room, (s->rows + 1) * s->columns, sizeof *s->cells);
    for (size_t i = 0; i < count; i++)
        s->cells[s->rows * s->columns + i] = mem_text_n(fields[i], lengths[i]);
    s->rows++;
    return true;
}

enum err_code sheet_read(const char *path, struct sheet *s, struct err *e)
{
    struct sheet_builder b = {.s = s, .path = path, .e = e};
    struct sheet_limits limits = {.whole_rows = true};

    *s = (struct sheet){0};
    enum err_code code = sheet_scan(path, &limits, sheet_take_row, &b, e);
    if (!code)
        code = b.code;
    if (!code && !s->names)
        code = err_set(e, ERR_INPUT, "%s has no header row", path);
    if (code)
        sheet_free(s);
    return code;
}

void sheet_free(struct sheet *s)
{
    for (size_t i = 0; s->names && i < s->columns; i++)
        free(s->names[i]);
    for (size_t i = 0; i < s->rows * s->columns; i++)
        free(s->cells[i]);
    free(s->names);
    free(s->cells);
    *s = (struct sheet){0};
}

int sheet_column(const struct sheet *s, const char *name)
{
    for (size_t i = 0; i < s->columns; i++) {
        if (!strcmp(s->names[i], name))
            return (int)i;
    }
    return -1;
}

const char *sheet_cell(const struct sheet *s, size_t row, int column)
{
    return column < 0 || row >= s->rows ? "" : s->cells[row * s->columns + (size_t)column];
}

double sheet_number(const struct sheet *s, size_t row, int column)
{
    double value;

    return text_to_double(sheet_cell(s, row, column), &value) ? value : (double)NAN;
}

int64_t sheet_whole(const struct sheet *s, size_t row, int column, int64_t none)
{
    double value = sheet_number(s, row, column);

    return fabs(value) < 0x1p63 ? (int64_t)value : none;
}
