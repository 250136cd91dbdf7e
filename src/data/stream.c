/* Files as streams of bytes, unpacked where their name ends in .gz. zlib's own gzread passes plain
 * files through, ignores what follows the last member and returns all bytes of a file whose trailer
 * is cut off as if nothing were wrong; so the members are walked here. */
#include "data/data_int.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum err_code data_stream_open(struct data_stream *s, const char *path, struct err *e)
{
    return data_stream_open_as(s, path, text_ends_with(path, ".gz"), e);
}

enum err_code data_stream_open_as(struct data_stream *s, const char *path, bool gz, struct err *e)
{
    struct stat st;

    memset(s, 0, offsetof(struct data_stream, in));
    s->path = path;
    /* Without O_NONBLOCK a fifo under this name would hold us here for ever. */
    s->fd = io.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (s->fd < 0) {
        if (errno == ENOENT)
            return err_set(e, ERR_INPUT, "%s: there is no such file", path);
        return err_errno(e, "%s: cannot be opened", path);
    }
    if (io.fstat(s->fd, &st) < 0) {
        err_errno(e, "%s: cannot be looked at", path);
        data_stream_close(s);
        return ERR_IO;
    }
    if (!S_ISREG(st.st_mode)) {
        data_stream_close(s);
        return err_set(e, ERR_INPUT, "%s: not a file", path);
    }
    s->size = (uint64_t)st.st_size;
    if (gz) {
        /* 15: the largest window; 16: a gzip header is demanded */
        if (inflateInit2(&s->z, 15 + 16) != Z_OK) {
            data_stream_close(s);
            return err_set(e, ERR_NOMEM, "%s: no memory to unpack it (about 48 KB)", path);
        }
        s->gz = true;
    }
    return ERR_OK;
}

void data_stream_close(struct data_stream *s)
{
    if (s->gz)
        inflateEnd(&s->z);
    s->gz = false;
    if (s->fd >= 0)
        io.close(s->fd);
    s->fd = -1;
}

static enum err_code read_some(struct data_stream *s, void *to, size_t n, size_t *got,
                               struct err *e)
{
    ssize_t r = io.read(s->fd, to, n);

    if (r < 0)
        return err_errno(e, "%s: cannot be read", s->path);
    *got = (size_t)r;
    return ERR_OK;
}

static enum err_code read_plain(struct data_stream *s, uint8_t *to, size_t n, size_t *got,
                                struct err *e)
{
    while (*got < n && !s->ended) {
        size_t some = 0;

        TRY(read_some(s, to + *got, n - *got, &some, e));
        if (some == 0)
            s->ended = true;
        *got += some;
    }
    return ERR_OK;
}

static enum err_code fill(struct data_stream *s, struct err *e)
{
    size_t some = 0;

    TRY(read_some(s, s->in, sizeof s->in, &some, e));
    s->z.next_in = s->in;
    s->z.avail_in = (uInt)some;
    s->taken += some;
    return ERR_OK;
}

/* Behind the end of a member: the end of the file, or another member. */
static enum err_code next_member(struct data_stream *s, struct err *e)
{
    if (s->z.avail_in == 0)
        TRY(fill(s, e));
    if (s->z.avail_in == 0) {
        s->ended = true;
        return ERR_OK;
    }
    if (s->z.next_in[0] != 0x1f) {
        return err_set(e, ERR_INPUT, "%s: bytes that are not gz follow its content at byte %llu",
                       s->path, (unsigned long long)(s->taken - s->z.avail_in));
    }
    inflateReset(&s->z);
    return ERR_OK;
}

static enum err_code read_gz(struct data_stream *s, uint8_t *to, size_t n, size_t *got,
                             struct err *e)
{
    while (*got < n && !s->ended) {
        size_t want = n - *got < 1u << 30 ? n - *got : 1u << 30;
        int z;

        if (s->z.avail_in == 0)
            TRY(fill(s, e));
        if (s->z.avail_in == 0) {
            return err_set(e, ERR_INPUT,
                           "%s: the gz file is cut off at byte %llu: its end is missing", s->path,
                           (unsigned long long)s->taken);
        }
        s->z.next_out = to + *got;
        s->z.avail_out = (uInt)want;
        z = inflate(&s->z, Z_NO_FLUSH);
        *got += want - s->z.avail_out;
        if (z == Z_STREAM_END) {
            TRY(next_member(s, e));
        } else if (z == Z_MEM_ERROR) {
            return err_set(e, ERR_NOMEM, "%s: no memory to unpack it (about 48 KB)", s->path);
        } else if (z != Z_OK && z != Z_BUF_ERROR) {
            return err_set(e, ERR_INPUT, "%s: damaged gz at byte %llu: %s", s->path,
                           (unsigned long long)(s->taken - s->z.avail_in),
                           s->z.msg ? s->z.msg : "it needs a dictionary");
        }
    }
    return ERR_OK;
}

enum err_code data_stream_read(struct data_stream *s, void *to, size_t n, size_t *got,
                               struct err *e)
{
    *got = 0;
    TRY(s->gz ? read_gz(s, to, n, got, e) : read_plain(s, to, n, got, e));
    s->given += *got;
    return ERR_OK;
}
