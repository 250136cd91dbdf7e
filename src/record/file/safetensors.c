#include "record/file/safetensors.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "record/file/safetensors_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The checksum is a note like any other, so that Python reads the file as it is. It stands first in
 * the header, at a fixed place: SHA-256 over the whole file with these 64 digits set to zeros. */
static const char seal_start[] = "{\"__metadata__\":{\"sha256\":\"";
#define SEAL_AT     (sizeof seal_start - 1)
#define SEAL_DIGITS 64

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [SAFETENSORS_F32] = {"F32", 4}, [SAFETENSORS_F64] = {"F64", 8}, [SAFETENSORS_U8] = {"U8", 1},
    [SAFETENSORS_I32] = {"I32", 4}, [SAFETENSORS_I64] = {"I64", 8}, [SAFETENSORS_U16] = {"U16", 2},
};

size_t safetensors_size(enum safetensors_type type)
{
    return types[type].size;
}

const char *safetensors_type_name(enum safetensors_type type)
{
    return types[type].name;
}

bool safetensors_type_find(const char *name, enum safetensors_type *type)
{
    for (size_t i = 0; i < MEM_COUNT(types); i++) {
        if (!strcmp(name, types[i].name)) {
            *type = (enum safetensors_type)i;
            return true;
        }
    }
    return false;
}

bool safetensors_bytes(enum safetensors_type type, int dims, const size_t *shape, size_t *bytes)
{
    size_t n = types[type].size;

    for (int i = 0; i < dims; i++) {
        if (__builtin_mul_overflow(n, shape[i], &n))
            return false;
    }
    *bytes = n;
    return true;
}

size_t safetensors_seal_place(const char *header, size_t n)
{
    if (n < SEAL_AT + SEAL_DIGITS + 1 || memcmp(header, seal_start, SEAL_AT) ||
        header[SEAL_AT + SEAL_DIGITS] != '"')
        return 0;
    return SEAL_AT;
}

static enum err_code check_tensors(const struct safetensors_tensor *tensors, size_t count,
                                   size_t *sizes, const char *path, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        const struct safetensors_tensor *t = &tensors[i];
        if (t->dims < 0 || t->dims > (int)MEM_COUNT(t->shape) ||
            !safetensors_bytes(t->type, t->dims, t->shape, &sizes[i]))
            return err_set(e, ERR_FAILED, "%s: the shape of tensor '%s' cannot be written", path,
                           t->name);
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(tensors[j].name, t->name))
                return err_set(e, ERR_FAILED, "%s: tensor '%s' was given twice", path, t->name);
        }
    }
    return ERR_OK;
}

/* Wide elements come first in the data, so that every tensor lies at a multiple of its element in
 * the file (and in the memory of whoever maps it) although no gaps are allowed. The header lists the
 * tensors in the order given. */
static void place_tensors(const struct safetensors_tensor *tensors, size_t count,
                          const size_t *sizes, size_t *begin, size_t *order)
{
    size_t at = 0, n = 0;

    for (size_t width = 8; width > 0; width /= 2) {
        for (size_t i = 0; i < count; i++) {
            if (types[tensors[i].type].size != width)
                continue;
            begin[i] = at;
            at += sizes[i];
            order[n++] = i;
        }
    }
}

static void make_header(struct text *h, const struct safetensors_tensor *tensors, size_t count,
                        const size_t *sizes, const size_t *begin,
                        const struct safetensors_note *notes, size_t note_count)
{
    text_add(h, seal_start);
    for (int i = 0; i < SEAL_DIGITS; i++)
        text_add(h, "0");
    text_add(h, "\"");
    for (size_t i = 0; i < note_count; i++) {
        if (!strcmp(notes[i].key, "sha256"))
            continue;
        text_add(h, ",");
        text_add_json(h, notes[i].key);
        text_add(h, ":");
        text_add_json(h, notes[i].value);
    }
    text_add(h, "}");
    for (size_t i = 0; i < count; i++) {
        text_add(h, ",");
        text_add_json(h, tensors[i].name);
        text_addf(h, ":{\"dtype\":\"%s\",\"shape\":[", types[tensors[i].type].name);
        for (int d = 0; d < tensors[i].dims; d++)
            text_addf(h, d ? ",%zu" : "%zu", tensors[i].shape[d]);
        text_addf(h, "],\"data_offsets\":[%zu,%zu]}", begin[i], begin[i] + sizes[i]);
    }
    text_add(h, "}");
    while (h->n % 8)
        text_add(h, " ");
}

static void put_length(uint8_t out[8], uint64_t n)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(n >> (8 * i));
}

/* What writes a file, and what sums it up, see a tensor's bytes so. */
typedef enum err_code take_bytes(void *user, const void *bytes, size_t n, struct err *e);

static enum err_code each_piece(const struct safetensors_tensor *t, size_t size, take_bytes *take,
                                void *user, struct err *e)
{
    size_t pieces = t->pieces ? t->pieces : 1, n = size / pieces;

    for (size_t i = 0; n && i < pieces; i++)
        TRY(take(user, (const char *)t->bytes + i * t->apart, n, e));
    return ERR_OK;
}

static enum err_code add_to_hash(void *user, const void *bytes, size_t n, struct err *e)
{
    (void)e;
    hash_sha256_add(user, bytes, n);
    return ERR_OK;
}

struct output {
    int fd;
    const char *path;
};

static enum err_code add_to_file(void *user, const void *bytes, size_t n, struct err *e)
{
    const struct output *to = user;

    return io_write_all(to->fd, bytes, n, to->path, e);
}

static enum err_code write_temp(int fd, const char *path, const struct text *header,
                                const struct safetensors_tensor *tensors, size_t count,
                                const size_t *sizes, const size_t *order, struct err *e)
{
    struct output to = {fd, path};
    uint8_t length[8];

    put_length(length, header->n);
    TRY(io_write_all(fd, length, sizeof length, path, e));
    TRY(io_write_all(fd, header->s, header->n, path, e));
    for (size_t i = 0; i < count; i++)
        TRY(each_piece(&tensors[order[i]], sizes[order[i]], add_to_file, &to, e));
    if (io.sync(fd) < 0)
        return err_errno(e, "cannot write %s to the disk", path);
    return ERR_OK;
}

enum err_code record_write_safetensors(const char *temp, const char *path,
                                       const struct safetensors_tensor *tensors, size_t count,
                                       const struct safetensors_note *notes, size_t note_count,
                                       struct err *e)
{
    size_t *sizes = mem_new(count + 1, sizeof *sizes), *begin = mem_new(count + 1, sizeof *begin);
    size_t *order = mem_new(count + 1, sizeof *order);
    struct text header = {0};
    struct hash_sha256 h;
    uint8_t length[8], seal[32];
    char digits[SEAL_DIGITS + 1];
    int fd = -1;
    enum err_code code = check_tensors(tensors, count, sizes, path, e);

    if (code != ERR_OK)
        goto out;
    place_tensors(tensors, count, sizes, begin, order);
    make_header(&header, tensors, count, sizes, begin, notes, note_count);
    put_length(length, header.n);
    hash_sha256_start(&h);
    hash_sha256_add(&h, length, sizeof length);
    hash_sha256_add(&h, header.s, header.n);
    for (size_t i = 0; i < count; i++)
        (void)each_piece(&tensors[order[i]], sizes[order[i]], add_to_hash, &h, NULL);
    hash_sha256_end(&h, seal);
    hash_hex(digits, seal, sizeof seal);
    memcpy(header.s + SEAL_AT, digits, SEAL_DIGITS);

    fd = io.open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0) {
        code = err_errno(e, "cannot write %s", path);
        goto out;
    }
    code = write_temp(fd, path, &header, tensors, count, sizes, order, e);
    if (io.close(fd) < 0 && code == ERR_OK)
        code = err_errno(e, "cannot write %s", path);
    if (code != ERR_OK)
        io.unlink(temp);
out:
    text_free(&header);
    free(sizes);
    free(begin);
    free(order);
    return code;
}

enum err_code safetensors_write(const char *path, const struct safetensors_tensor *tensors,
                                size_t count, const struct safetensors_note *notes,
                                size_t note_count, struct err *e)
{
    char *folder = io_folder_of(path), *hidden, *temp;
    enum err_code code;

    hidden = mem_textf("%s/.%s", folder, io_last_part(path));
    io_remove_drafts(hidden);
    temp = io_temporary(hidden);
    code = record_write_safetensors(temp, path, tensors, count, notes, note_count, e);
    if (code != ERR_OK)
        code = io_say_no_folder(path, path, e);
    if (code == ERR_OK && io.rename(temp, path) < 0) {
        code = err_errno(e, "cannot rename %s to %s", temp, path);
        io.unlink(temp);
    }
    if (code == ERR_OK)
        code = io_sync_folder(folder, e);
    free(temp);
    free(hidden);
    free(folder);
    return code;
}

void safetensors_free(struct safetensors *s)
{
    free(s->tensor);
    for (size_t i = 0; i < s->notes; i++) {
        free(s->note[i].key);
        free(s->note[i].value);
    }
    free(s->note);
    free(s->memory);
    memset(s, 0, sizeof *s);
}

const struct safetensors_tensor *safetensors_find(const struct safetensors *s, const char *name)
{
    for (size_t i = 0; i < s->tensors; i++) {
        if (!strcmp(s->tensor[i].name, name))
            return &s->tensor[i];
    }
    return NULL;
}

const char *safetensors_note(const struct safetensors *s, const char *key)
{
    for (size_t i = 0; i < s->notes; i++) {
        if (!strcmp(s->note[i].key, key))
            return s->note[i].value;
    }
    return NULL;
}
