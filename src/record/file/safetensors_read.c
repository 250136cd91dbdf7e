/* The reader of safetensors files. They may come from anywhere: every number of the header is
 * compared with the bytes that there are before memory is asked for or a pointer is made. */
#include "base/hash.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "record/file/safetensors.h"
#include "record/file/safetensors_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_LIMIT (16u << 20)
#define NOTES_LIMIT  1000 /* each is compared with all in front of it */

static enum err_code read_bytes(int fd, void *to, size_t n, const char *path, struct err *e)
{
    char *at = to;

    while (n > 0) {
        ssize_t got = io.read(fd, at, n);
        if (got < 0)
            return err_errno(e, "cannot read %s", path);
        if (got == 0)
            return err_set(e, ERR_INPUT, "%s became shorter while it was read", path);
        at += got;
        n -= (size_t)got;
    }
    return ERR_OK;
}

static enum err_code read_shape(const struct json *shape, struct safetensors_tensor *t,
                                const char *path, struct err *e)
{
    const int most = (int)MEM_COUNT(t->shape);

    if (!shape || shape->kind != JSON_ARRAY)
        return err_set(e, ERR_INPUT, "%s: tensor '%s' has no shape", path, t->name);
    for (const struct json *j = shape->first; j; j = j->next) {
        uint64_t value;
        if (t->dims == most)
            return err_set(e, ERR_INPUT, "%s: tensor '%s' has more than %d dimensions", path,
                           t->name, most);
        if (!json_uint(j, &value) || value > SIZE_MAX)
            return err_set(e, ERR_INPUT, "%s: the shape of tensor '%s' is not whole numbers", path,
                           t->name);
        t->shape[t->dims++] = (size_t)value;
    }
    return ERR_OK;
}

/* bytes is left as the offset into the data until the data was read. */
static enum err_code read_tensor(const struct json *j, struct safetensors_tensor *t, uint64_t room,
                                 uint64_t *begin, const char *path, struct err *e)
{
    const struct json *offsets = json_get(j, "data_offsets");
    const char *type = json_text(json_get(j, "dtype"));
    uint64_t end;
    size_t want;
    int members = 0;

    if (!j->key || strlen(j->key) >= sizeof t->name)
        return err_set(e, ERR_INPUT, "%s: the name of a tensor is longer than %zu bytes", path,
                       sizeof t->name - 1);
    memcpy(t->name, j->key, strlen(j->key) + 1);
    if (j->kind != JSON_OBJECT)
        return err_set(e, ERR_INPUT, "%s: the header's entry '%s' is not a tensor", path, t->name);
    for (const struct json *m = j->first; m; m = m->next)
        members++;
    if (members != 3 || !type || !offsets || !json_get(j, "shape"))
        return err_set(e, ERR_INPUT,
                       "%s: tensor '%s' must have dtype, shape and data_offsets and nothing else",
                       path, t->name);
    if (!safetensors_type_find(type, &t->type))
        return err_set(e, ERR_INPUT,
                       "%s: tensor '%s' is %s; only F32, F64, U8, U16, I32 and I64 are read", path,
                       t->name, type);
    TRY(read_shape(json_get(j, "shape"), t, path, e));
    if (offsets->kind != JSON_ARRAY || !offsets->first || !offsets->first->next ||
        offsets->first->next->next || !json_uint(offsets->first, begin) ||
        !json_uint(offsets->first->next, &end) || *begin > end || end > room)
        return err_set(e, ERR_INPUT,
                       "%s: tensor '%s' does not lie within the file's %" PRIu64 " bytes of data",
                       path, t->name, room);
    if (!safetensors_bytes(t->type, t->dims, t->shape, &want) || want != end - *begin)
        return err_set(e, ERR_INPUT,
                       "%s: tensor '%s' has %" PRIu64
                       " bytes, which its type and shape do not make",
                       path, t->name, end - *begin);
    t->size = want;
    return ERR_OK;
}

struct extent {
    uint64_t begin, end;
    const char *name;
};

static int by_begin(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct extent *)a)->name, ((const struct extent *)b)->name);
}

static enum err_code check_extents(struct extent *x, size_t n, uint64_t room, const char *path,
                                   struct err *e)
{
    uint64_t at = 0;

    if (n > 0)
        qsort(x, n, sizeof *x, by_name);
    for (size_t i = 1; i < n; i++) {
        if (!strcmp(x[i - 1].name, x[i].name))
            return err_set(e, ERR_INPUT, "%s: tensor '%s' stands there twice", path, x[i].name);
    }
    if (n > 0)
        qsort(x, n, sizeof *x, by_begin);
    for (size_t i = 0; i < n; i++) {
        if (x[i].begin != at)
            return err_set(e, ERR_INPUT, "%s: there is %s in front of tensor '%s'", path,
                           x[i].begin > at ? "a gap" : "an overlap", x[i].name);
        at = x[i].end;
    }
    if (at != room)
        return err_set(e, ERR_INPUT,
                       "%s: %" PRIu64 " bytes at its end belong to no tensor: it is cut or damaged",
                       path, room - at);
    return ERR_OK;
}

static enum err_code read_notes(const struct json *meta, struct safetensors *s, const char *path,
                                struct err *e)
{
    size_t room = 0;

    if (meta->kind != JSON_OBJECT)
        return err_set(e, ERR_INPUT, "%s: __metadata__ is not an object", path);
    for (const struct json *j = meta->first; j; j = j->next) {
        const char *value = json_text(j);
        if (!value)
            return err_set(e, ERR_INPUT, "%s: __metadata__ '%s' is not a text", path, j->key);
        if (s->notes == NOTES_LIMIT)
            return err_set(e, ERR_INPUT, "%s: __metadata__ holds more than %d texts", path,
                           NOTES_LIMIT);
        if (safetensors_note(s, j->key))
            return err_set(e, ERR_INPUT, "%s: __metadata__ '%s' stands there twice", path, j->key);
        s->note = mem_grow(s->note, &room, s->notes + 1, sizeof *s->note);
        s->note[s->notes++] = (struct safetensors_note){mem_text(j->key), mem_text(value)};
    }
    return ERR_OK;
}

static enum err_code read_header(const struct json *root, struct safetensors *s, uint64_t room,
                                 struct extent **extents, const char *path, struct err *e)
{
    size_t tensor_room = 0, extent_room = 0;
    bool noted = false;

    if (root->kind != JSON_OBJECT)
        return err_set(e, ERR_INPUT, "%s: its header is not a JSON object", path);
    for (const struct json *j = root->first; j; j = j->next) {
        struct safetensors_tensor t = {0};
        uint64_t begin = 0;
        if (j->key && !strcmp(j->key, "__metadata__")) {
            if (noted)
                return err_set(e, ERR_INPUT, "%s: __metadata__ stands there twice", path);
            noted = true;
            TRY(read_notes(j, s, path, e));
            continue;
        }
        TRY(read_tensor(j, &t, room, &begin, path, e));
        s->tensor = mem_grow(s->tensor, &tensor_room, s->tensors + 1, sizeof *s->tensor);
        s->tensor[s->tensors] = t;
        *extents = mem_grow(*extents, &extent_room, s->tensors + 1, sizeof **extents);
        (*extents)[s->tensors++] = (struct extent){begin, begin + t.size, j->key};
    }
    return ERR_OK;
}

static enum err_code check_seal(struct safetensors *s, const uint8_t length[8], char *header,
                                size_t header_size, size_t room, const char *path, struct err *e)
{
    const char *want = safetensors_note(s, "sha256");
    size_t at = safetensors_seal_place(header, header_size);
    struct hash_sha256 h;
    uint8_t seal[32];
    char digits[65];

    if (!want || !at) /* another program's file */
        return ERR_OK;
    memset(header + at, '0', 64);
    hash_sha256_start(&h);
    hash_sha256_add(&h, length, 8);
    hash_sha256_add(&h, header, header_size);
    if (room)
        hash_sha256_add(&h, s->memory, room);
    hash_sha256_end(&h, seal);
    hash_hex(digits, seal, sizeof seal);
    if (strcmp(digits, want))
        return err_set(e, ERR_INPUT, "%s is damaged: its checksum does not fit its contents", path);
    s->sealed = true;
    return ERR_OK;
}

static enum err_code read_open_file(int fd, const char *path, bool contents, struct safetensors *s,
                                    char **header, struct json **root, struct extent **extents,
                                    struct err *e)
{
    struct stat st;
    uint8_t length[8];
    uint64_t n = 0, room;
    struct err inner = {0};
    size_t i = 0;

    if (io.fstat(fd, &st) < 0)
        return err_errno(e, "cannot read %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_INPUT, "%s is not a regular file", path);
    if (st.st_size < 10)
        return err_set(e, ERR_INPUT, "%s has %lld bytes: too few for a safetensors file", path,
                       (long long)st.st_size);
    TRY(read_bytes(fd, length, sizeof length, path, e));
    for (int b = 7; b >= 0; b--)
        n = n << 8 | length[b];
    if (n < 2 || n > HEADER_LIMIT || n > (uint64_t)st.st_size - 8)
        return err_set(e, ERR_INPUT,
                       "%s is not a safetensors file: its header would have %" PRIu64
                       " bytes, the file has %lld",
                       path, n, (long long)st.st_size);
    room = (uint64_t)st.st_size - 8 - n;
    *header = mem_try((size_t)n + 1, 1);
    if (!*header)
        return err_set(e, ERR_NOMEM, "no memory for the %" PRIu64 " bytes of the header of %s", n,
                       path);
    TRY(read_bytes(fd, *header, (size_t)n, path, e));
    if (json_parse(*header, (size_t)n, root, &inner) != ERR_OK)
        return err_set(e, inner.code == ERR_NOMEM ? ERR_NOMEM : ERR_INPUT,
                       "%s is not a safetensors file: %s", path, inner.text);
    TRY(read_header(*root, s, room, extents, path, e));
    for (i = 0; i < s->tensors; i++) /* check_extents sorts */
        s->tensor[i].bytes = (const void *)(uintptr_t)(*extents)[i].begin;
    TRY(check_extents(*extents, s->tensors, room, path, e));
    if (!contents) {
        for (i = 0; i < s->tensors; i++)
            s->tensor[i].bytes = NULL;
        return ERR_OK;
    }
    s->memory = mem_try(room ? (size_t)room : 1, 1);
    if (!s->memory)
        return err_set(e, ERR_NOMEM, "no memory for the %" PRIu64 " bytes of %s", room, path);
    TRY(read_bytes(fd, s->memory, (size_t)room, path, e));
    for (i = 0; i < s->tensors; i++)
        s->tensor[i].bytes = s->memory + (uintptr_t)s->tensor[i].bytes;
    return check_seal(s, length, *header, (size_t)n, (size_t)room, path, e);
}

static enum err_code read_file(const char *path, bool contents, struct safetensors *s,
                               struct err *e)
{
    char *header = NULL;
    struct json *root = NULL;
    struct extent *extents = NULL;
    enum err_code code;
    int fd;

    memset(s, 0, sizeof *s);
    /* NONBLOCK: a FIFO under the name must not hang the program. */
    fd = io.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0) {
        code = errno == ENOENT || errno == ENOTDIR ? ERR_INPUT : ERR_IO;
        err_errno(e, "cannot read %s", path);
        if (e)
            e->code = code;
        return code;
    }
    code = read_open_file(fd, path, contents, s, &header, &root, &extents, e);
    io.close(fd);
    json_free(root);
    free(extents);
    free(header);
    if (code != ERR_OK)
        safetensors_free(s);
    return code;
}

enum err_code safetensors_read(const char *path, struct safetensors *s, struct err *e)
{
    return read_file(path, true, s, e);
}

enum err_code safetensors_read_header(const char *path, struct safetensors *s, struct err *e)
{
    return read_file(path, false, s, e);
}
