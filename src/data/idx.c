/* IDX: 00 00, a type, the number of dimensions, each dimension in four bytes (big-endian), then the
 * elements. Every number in it is hostile until it was compared with the bytes that are there. */
#include "data/data_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What deflate can make of a byte at most; rounded up. */
#define GZ_RATIO 1040

static const char *type_name(uint8_t type)
{
    switch (type) {
    case 0x09:
        return "signed bytes";
    case 0x0b:
        return "16-bit integers";
    case 0x0c:
        return "32-bit integers";
    case 0x0d:
        return "floats";
    case 0x0e:
        return "doubles";
    default:
        return NULL;
    }
}

static enum err_code head_bytes(struct data_stream *s, uint8_t *to, size_t n, size_t header,
                                struct err *e)
{
    uint64_t at = s->given;
    size_t got;

    TRY(data_stream_read(s, to, n, &got, e));
    if (got < n) {
        return err_set(e, ERR_INPUT, "%s: ends at byte %llu of its header of %zu bytes", s->path,
                       (unsigned long long)(at + got), header);
    }
    return ERR_OK;
}

static enum err_code check_magic(const struct data_stream *s, const uint8_t m[4], bool labels,
                                 struct err *e)
{
    const char *type;

    if (!s->gz && m[0] == 0x1f && m[1] == 0x8b) {
        return err_set(e, ERR_INPUT, "%s: this is a gz file: give it a name that ends in .gz",
                       s->path);
    }
    if (m[0] != 0 || m[1] != 0) {
        return err_set(e, ERR_INPUT,
                       "%s: not an IDX file: it starts with %02x %02x %02x %02x, not with 00 00",
                       s->path, m[0], m[1], m[2], m[3]);
    }
    if (m[2] != 0x08) {
        type = type_name(m[2]);
        if (type)
            return err_set(
                e, ERR_INPUT,
                "%s: holds %s (type 0x%02x at byte 2); only unsigned bytes (0x08) are read",
                s->path, type, m[2]);
        return err_set(e, ERR_INPUT,
                       "%s: unknown element type 0x%02x at byte 2; unsigned bytes are 0x08",
                       s->path, m[2]);
    }
    if (labels && m[3] != 1)
        return err_set(e, ERR_INPUT, "%s: labels have one dimension, byte 3 says %d", s->path,
                       m[3]);
    if (!labels && m[3] != 3 && m[3] != 4) {
        return err_set(e, ERR_INPUT,
                       "%s: images have three dimensions (count, height, width) or a fourth for "
                       "channels, byte 3 says %d",
                       s->path, m[3]);
    }
    return ERR_OK;
}

struct head {
    int dims;
    uint32_t dim[4];
    uint64_t header, body; /* bytes */
};

static void dims_text(const struct head *head, char out[64])
{
    size_t n = 0;

    for (int i = 0; i < head->dims; i++)
        n += (size_t)snprintf(out + n, 64 - n, "%s%u", i ? " x " : "", head->dim[i]);
}

/* Reads the header of an open stream and compares it with the bytes there are, as far as that can
 * be known without reading them. labels: one dimension, else three or four. */
static enum err_code read_head(struct data_stream *s, bool labels, struct head *head, struct err *e)
{
    uint8_t m[16];
    char dims[64];
    size_t body;

    TRY(head_bytes(s, m, 4, labels ? 8 : 16, e));
    TRY(check_magic(s, m, labels, e));
    head->dims = m[3];
    head->header = 4 + 4 * (uint64_t)head->dims;
    TRY(head_bytes(s, m, 4 * (size_t)head->dims, (size_t)head->header, e));
    body = 1;
    for (int i = 0; i < head->dims; i++) {
        head->dim[i] = (uint32_t)m[4 * i] << 24 | (uint32_t)m[4 * i + 1] << 16 |
                       (uint32_t)m[4 * i + 2] << 8 | m[4 * i + 3];
    }
    dims_text(head, dims);
    for (int i = 0; i < head->dims; i++) {
        if (head->dim[i] == 0)
            return err_set(e, ERR_INPUT, "%s: nothing in it: %s, dimension %d at byte %d is 0",
                           s->path, dims, i + 1, 4 + 4 * i);
        if (__builtin_mul_overflow(body, (size_t)head->dim[i], &body) || body > DATA_BYTES_MAX)
            return err_set(
                e, ERR_INPUT,
                "%s: its header at byte 4 promises %s bytes; more than 8 GiB are not read", s->path,
                dims);
    }
    head->body = body;
    if (!s->gz && s->size - head->header != body) {
        return err_set(
            e, ERR_INPUT, "%s: its header promises %s = %llu bytes, %llu follow it: %llu %s",
            s->path, dims, (unsigned long long)body, (unsigned long long)(s->size - head->header),
            (unsigned long long)(s->size - head->header < body ? body - (s->size - head->header)
                                                               : s->size - head->header - body),
            s->size - head->header < body ? "are missing" : "too many");
    }
    if (s->gz && body / GZ_RATIO > s->size) {
        return err_set(
            e, ERR_INPUT,
            "%s: its header promises %s = %llu bytes, which a gz file of %llu bytes cannot "
            "hold",
            s->path, dims, (unsigned long long)body, (unsigned long long)s->size);
    }
    return ERR_OK;
}

static enum err_code too_short(const struct data_stream *s, const struct head *head, struct err *e)
{
    return err_set(e, ERR_INPUT, "%s: ends at byte %llu of its content; its header promises %llu",
                   s->path, (unsigned long long)s->given,
                   (unsigned long long)(head->header + head->body));
}

/* Reads and drops the rest, so that a damaged tail is seen also where only a part is wanted. */
static enum err_code drain(struct data_stream *s, const struct head *head, struct err *e)
{
    uint8_t block[65536];
    uint64_t end = head->header + head->body;
    size_t got;

    while (s->given < end) {
        uint64_t left = end - s->given;

        TRY(data_stream_read(s, block, left < sizeof block ? (size_t)left : sizeof block, &got, e));
        if (got == 0)
            return too_short(s, head, e);
    }
    TRY(data_stream_read(s, block, 1, &got, e));
    if (got) {
        return err_set(
            e, ERR_INPUT,
            "%s: goes on behind byte %llu of its content, where its header promises the end",
            s->path, (unsigned long long)end);
    }
    return ERR_OK;
}

/* Reads everything, keeps the first `keep` bytes of the body. Memory grows with what arrives. */
static enum err_code read_body(struct data_stream *s, const struct head *head, uint64_t keep,
                               uint8_t **bytes, struct err *e)
{
    /* A plain file's length is known to be right; of a gz only what arrived is believed. */
    size_t room = s->gz && keep > (1u << 20) ? 1u << 20 : (size_t)keep, n = 0, got;
    uint8_t *to = malloc(room ? room : 1), *more;
    enum err_code code = ERR_OK;

    *bytes = NULL;
    while (to && n < keep) {
        if (n == room) {
            room = keep / 2 < room ? (size_t)keep : 2 * room;
            more = realloc(to, room);
            if (!more) {
                free(to);
                to = NULL;
                break;
            }
            to = more;
        }
        code = data_stream_read(s, to + n, room - n, &got, e);
        if (code == ERR_OK && got == 0)
            code = too_short(s, head, e);
        if (code != ERR_OK) {
            free(to);
            return code;
        }
        n += got;
    }
    if (!to)
        return err_set(e, ERR_NOMEM, "%s: no memory for %zu bytes of it", s->path, room);
    code = drain(s, head, e);
    if (code != ERR_OK) {
        free(to);
        return code;
    }
    *bytes = to;
    return ERR_OK;
}

static enum err_code read_labels(const char *path, size_t images, const char *images_path,
                                 uint8_t **labels, struct err *e)
{
    struct data_stream s;
    struct head head;
    enum err_code code;

    TRY(data_stream_open(&s, path, e));
    code = read_head(&s, true, &head, e);
    if (code == ERR_OK && head.dim[0] != images) {
        code = err_set(e, ERR_INPUT, "%s: %u labels for the %zu images of %s", path, head.dim[0],
                       images, images_path);
    }
    if (code == ERR_OK)
        code = read_body(&s, &head, head.body, labels, e);
    data_stream_close(&s);
    return code;
}

static enum err_code open_images(struct data_stream *s, const char *path, struct head *head,
                                 struct err *e)
{
    enum err_code code;

    TRY(data_stream_open(s, path, e));
    code = read_head(s, false, head, e);
    if (code != ERR_OK)
        data_stream_close(s);
    return code;
}

static struct net_shape shape_of(const struct head *head)
{
    /* Each below 2^31: their product is below 8 GiB, and only one can be large; checked there. */
    return (struct net_shape){(int)head->dim[1], (int)head->dim[2],
                              head->dims == 4 ? (int)head->dim[3] : 1};
}

static enum err_code check_shape(const char *path, const struct head *head, struct err *e)
{
    for (int i = 1; i < head->dims; i++) {
        if (head->dim[i] > 65536)
            return err_set(e, ERR_INPUT,
                           "%s: dimension %d is %u; a side of an image is at most 65,536", path,
                           i + 1, head->dim[i]);
    }
    return ERR_OK;
}

/* One of the two parts. labels: of all images, as bytes; freed here. */
static enum err_code load_part(struct data_raw_part *part, struct net_shape *shape,
                               const char *images, const char *labels, const char *limit_key,
                               int64_t limit, bool peek, const char *name, const char *what,
                               uint8_t **all_labels, struct err *e)
{
    struct data_stream s;
    struct head head;
    enum err_code code;
    size_t size;

    TRY(open_images(&s, images, &head, e));
    *shape = shape_of(&head);
    size = (size_t)(head.body / head.dim[0]);
    part->all = head.dim[0];
    code = check_shape(images, &head, e);
    if (code == ERR_OK)
        code = data_limit(limit_key, limit, part->all, what, name, &part->count, e);
    if (code == ERR_OK)
        code = read_labels(labels, part->all, images, all_labels, e);
    if (code == ERR_OK && !peek)
        code = read_body(&s, &head, (uint64_t)part->count * size, &part->bytes, e);
    data_stream_close(&s);
    return code;
}

static enum err_code check_labels(const uint8_t *labels, size_t n, int classes, const char *path,
                                  const char *why, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (labels[i] >= classes)
            return err_set(e, ERR_INPUT, "%s: label %d at byte %zu of its content; %s 0 to %d",
                           path, labels[i], i + 8, why, classes - 1);
    }
    return ERR_OK;
}

static uint16_t *widen(const uint8_t *labels, size_t n)
{
    uint16_t *out = mem_try(n, sizeof *out);

    for (size_t i = 0; out && i < n; i++)
        out[i] = labels[i];
    return out;
}

static int classes_of(const uint8_t *labels, size_t n)
{
    int most = 0;

    for (size_t i = 0; i < n; i++)
        most = labels[i] > most ? labels[i] : most;
    return most + 1;
}

static enum err_code settle(struct data_raw *raw, const struct data_found *found,
                            const uint8_t *train, const uint8_t *test, bool peek, struct err *e)
{
    const char *why = "the training labels go from";

    if (found->known) {
        raw->classes = found->known->classes;
        why = "this set's go from";
    } else {
        raw->classes = classes_of(train, raw->train.all);
        if (raw->classes < 2) {
            return err_set(e, ERR_INPUT,
                           "%s: all %zu labels are 0: one class; a model needs two to tell apart",
                           found->files.path[DATA_TRAIN_LABELS], raw->train.all);
        }
    }
    TRY(check_labels(train, raw->train.all, raw->classes, found->files.path[DATA_TRAIN_LABELS], why,
                     e));
    TRY(check_labels(test, raw->test.all, raw->classes, found->files.path[DATA_TEST_LABELS], why,
                     e));
    if (found->known && found->known->class_names) {
        raw->class_names = mem_new((size_t)raw->classes, sizeof *raw->class_names);
        for (int i = 0; i < raw->classes; i++)
            raw->class_names[i] = mem_text(found->known->class_names[i]);
    }
    if (peek)
        return ERR_OK;
    raw->train.labels = widen(train, raw->train.count);
    raw->test.labels = widen(test, raw->test.count);
    if (!raw->train.labels || !raw->test.labels)
        return err_set(e, ERR_NOMEM, "no memory for %zu labels",
                       raw->train.count + raw->test.count);
    return ERR_OK;
}

enum err_code data_idx_load(struct data_raw *raw, const struct data_found *found,
                            int64_t train_limit, int64_t test_limit, bool peek, const char *name,
                            struct err *e)
{
    char *const *path = found->files.path;
    struct net_shape test_shape = {0, 0, 0};
    uint8_t *train = NULL, *test = NULL;
    enum err_code code;
    char a[48], b[48];

    raw->bytes = true;
    code = load_part(&raw->train, &raw->shape, path[DATA_TRAIN_IMAGES], path[DATA_TRAIN_LABELS],
                     "train_limit", train_limit, peek, name, "training", &train, e);
    if (code == ERR_OK)
        code = load_part(&raw->test, &test_shape, path[DATA_TEST_IMAGES], path[DATA_TEST_LABELS],
                         "test_limit", test_limit, peek, name, "test", &test, e);
    if (code == ERR_OK && (test_shape.h != raw->shape.h || test_shape.w != raw->shape.w ||
                           test_shape.c != raw->shape.c)) {
        snprintf(a, sizeof a, "%dx%dx%d", test_shape.h, test_shape.w, test_shape.c);
        snprintf(b, sizeof b, "%dx%dx%d", raw->shape.h, raw->shape.w, raw->shape.c);
        code = err_set(e, ERR_INPUT, "%s: its images are %s, those of %s %s",
                       path[DATA_TEST_IMAGES], a, path[DATA_TRAIN_IMAGES], b);
    }
    if (code == ERR_OK)
        code = settle(raw, found, train, test, peek, e);
    free(train);
    free(test);
    return code;
}
