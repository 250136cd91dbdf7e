#include "data/picture.h"

#include "base/io.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MOST_BYTES  ((size_t)256 << 20)
#define MOST_PIXELS ((size_t)64 << 20)

struct picture {
    size_t w, h, c; /* c: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    uint8_t *pixel; /* (h, w, c) */
};

static enum err_code check_pixels(size_t w, size_t h, const char *path, struct err *e)
{
    if (w && h && w <= MOST_PIXELS && h <= MOST_PIXELS / w)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "%s: %zu x %zu pixels; 1 to %zu can be read", path, w, h,
                   MOST_PIXELS);
}

static enum err_code take_pixels(struct picture *p, const char *path, struct err *e)
{
    TRY(check_pixels(p->w, p->h, path, e));
    p->pixel = mem_try(p->w * p->h, p->c);
    if (!p->pixel)
        return err_set(e, ERR_NOMEM, "%s: no memory for %zu x %zu pixels", path, p->w, p->h);
    return ERR_OK;
}

/* ---- PGM and PPM ---- */

/* To the next word; comments go to the end of their line. */
static void skip_blanks(const char **at, const char *end)
{
    while (*at < end && (isspace((unsigned char)**at) || **at == '#')) {
        if (**at == '#')
            while (*at < end && **at != '\n')
                (*at)++;
        else
            (*at)++;
    }
}

/* The next number of a header or of a plain picture; -1 where there is none. */
static long next_number(const char **at, const char *end)
{
    long n = 0;

    skip_blanks(at, end);
    if (*at >= end || !isdigit((unsigned char)**at))
        return -1;
    for (; *at < end && isdigit((unsigned char)**at); (*at)++)
        n = n > LONG_MAX / 10 - 1 ? LONG_MAX : 10 * n + (**at - '0');
    return n;
}

static bool is_pnm(const char *bytes, size_t n)
{
    return n > 3 && bytes[0] == 'P' && strchr("2356", bytes[1]) && isspace((unsigned char)bytes[2]);
}

/* *at: what follows. */
static enum err_code read_pnm_head(struct picture *p, const char *path, const char *bytes,
                                   const char *end, const char **at, long *most, struct err *e)
{
    long w, h;

    *at = bytes + 2;
    w = next_number(at, end);
    h = next_number(at, end);
    *most = next_number(at, end);
    if (w < 1 || h < 1 || *most < 1 || *most > 65535)
        return err_set(e, ERR_INPUT, "%s: its head is not that of a PGM or PPM file", path);
    p->w = (size_t)w;
    p->h = (size_t)h;
    p->c = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
    return ERR_OK;
}

/* Why value i of so many is none. at: behind what could be read. */
static enum err_code refuse_value(const char *path, long v, long most, size_t i, size_t values,
                                  const char *at, const char *end, struct err *e)
{
    size_t n = 0;
    char *word;

    if (v > most)
        return err_set(e, ERR_INPUT, "%s: value %zu is %ld, above the maximum of %ld in its head",
                       path, i + 1, v, most);
    if (at >= end)
        return err_set(e, ERR_INPUT, "%s: it ends after %zu of %zu values", path, i, values);
    while (at + n < end && n < 20 && !isspace((unsigned char)at[n]))
        n++;
    word = mem_text_n(at, n);
    err_set(e, ERR_INPUT, "%s: value %zu: %s is no value from 0 to %ld", path, i + 1,
            TEXT_CLEAN(word), most);
    free(word);
    return ERR_INPUT;
}

static enum err_code read_pnm(struct picture *p, const char *path, const char *bytes, size_t n,
                              struct err *e)
{
    const char *at, *end = bytes + n;
    bool plain = bytes[1] < '4';
    long most;
    size_t wide, values;

    TRY(read_pnm_head(p, path, bytes, end, &at, &most, e));
    wide = most > 255 ? 2 : 1;
    TRY(take_pixels(p, path, e));
    values = p->w * p->h * p->c;
    at += !plain && at < end; /* one blank behind the head */
    if (!plain && (size_t)(end - at) < values * wide)
        return err_set(e, ERR_INPUT, "%s: it ends after %zu of %zu bytes of pixels", path,
                       (size_t)(end - at), values * wide);
    for (size_t i = 0; i < values; i++) {
        long v = plain ? next_number(&at, end) : (uint8_t)*at++;

        if (!plain && wide == 2)
            v = v << 8 | (uint8_t)*at++;
        if (v < 0 || v > most)
            return refuse_value(path, v, most, i, values, at, end, e);
        p->pixel[i] = (uint8_t)(v * 255 / most);
    }
    return ERR_OK;
}

/* ---- PNG ---- */

static uint32_t big32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The pixels that are stored together: every dx-th from x on of every dy-th line from y on. */
struct png_pass {
    size_t x, y, dx, dy;
    size_t w, h, line; /* of what it stores; bytes of samples in a line */
};

struct png {
    const char *path;
    size_t w, h;
    int depth, type; /* bits of a sample; 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA */
    uint8_t palette[256][4];
    int colours;
    uint8_t *packed; /* all IDAT chunks behind each other */
    size_t packed_bytes;
    struct png_pass pass[7];
    size_t passes;
    uint8_t *raw; /* of each pass, one after the other: (h, 1 + line) filter byte and samples */
};

static int samples_of(int type)
{
    static const int samples[7] = {1, 0, 3, 1, 2, 0, 4};

    return samples[type];
}

/* Interlaced, the picture comes in seven passes that refine it (Adam7). */
static void find_passes(struct png *p, bool interlaced)
{
    static const struct png_pass whole = {.dx = 1, .dy = 1},
                                 adam7[7] = {{.x = 0, .y = 0, .dx = 8, .dy = 8},
                                             {.x = 4, .y = 0, .dx = 8, .dy = 8},
                                             {.x = 0, .y = 4, .dx = 4, .dy = 8},
                                             {.x = 2, .y = 0, .dx = 4, .dy = 4},
                                             {.x = 0, .y = 2, .dx = 2, .dy = 4},
                                             {.x = 1, .y = 0, .dx = 2, .dy = 2},
                                             {.x = 0, .y = 1, .dx = 1, .dy = 2}};

    p->passes = 0;
    for (size_t i = 0; i < (interlaced ? MEM_COUNT(adam7) : 1); i++) {
        struct png_pass pass = interlaced ? adam7[i] : whole;

        if (pass.x >= p->w || pass.y >= p->h) /* an empty one is not stored at all */
            continue;
        pass.w = (p->w - pass.x + pass.dx - 1) / pass.dx;
        pass.h = (p->h - pass.y + pass.dy - 1) / pass.dy;
        pass.line = (pass.w * (size_t)samples_of(p->type) * (size_t)p->depth + 7) / 8;
        p->pass[p->passes++] = pass;
    }
}

static enum err_code read_head(struct png *p, const uint8_t *b, size_t n, struct err *e)
{
    static const uint32_t depths[7] = {1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16,
                                       0,
                                       1 << 8 | 1 << 16,
                                       1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
                                       1 << 8 | 1 << 16,
                                       0,
                                       1 << 8 | 1 << 16};

    if (n != 13)
        return err_set(e, ERR_INPUT, "%s: its head is %zu bytes long, not 13", p->path, n);
    p->w = big32(b);
    p->h = big32(b + 4);
    p->depth = b[8];
    p->type = b[9];
    if (p->type > 6 || p->depth > 16 || !(depths[p->type] >> p->depth & 1) || b[10] || b[11])
        return err_set(e, ERR_INPUT, "%s: PNG of colour type %d with %d bits does not exist",
                       p->path, p->type, p->depth);
    if (b[12] > 1)
        return err_set(e, ERR_INPUT, "%s: PNG interlaced in way %d does not exist", p->path, b[12]);
    TRY(check_pixels(p->w, p->h, p->path, e));
    find_passes(p, b[12] == 1);
    return ERR_OK;
}

static enum err_code read_chunk(struct png *p, const uint8_t *chunk, size_t n, struct err *e)
{
    const uint8_t *body = chunk + 8;

    bool head = !memcmp(chunk + 4, "IHDR", 4);

    if (head == (p->w > 0))
        return err_set(e, ERR_INPUT, "%s: a PNG must have one IHDR chunk, the first", p->path);
    if (head)
        return read_head(p, body, n, e);
    if (!memcmp(chunk + 4, "PLTE", 4)) {
        if (n % 3 || n > sizeof p->palette / 4 * 3)
            return err_set(e, ERR_INPUT, "%s: a palette of %zu bytes", p->path, n);
        p->colours = (int)(n / 3);
        for (int i = 0; i < p->colours; i++) {
            memcpy(p->palette[i], body + 3 * i, 3);
            p->palette[i][3] = 255;
        }
    } else if (!memcmp(chunk + 4, "tRNS", 4) && p->type == 3) {
        for (size_t i = 0; i < n && (int)i < p->colours; i++)
            p->palette[i][3] = body[i];
    } else if (!memcmp(chunk + 4, "IDAT", 4)) {
        memcpy(p->packed + p->packed_bytes, body, n);
        p->packed_bytes += n;
    }
    return ERR_OK;
}

static enum err_code read_chunks(struct png *p, const uint8_t *b, size_t n, struct err *e)
{
    for (size_t at = 8; at + 12 <= n;) {
        size_t length = big32(b + at);

        if (length > n - at - 12)
            break;
        if (crc32(crc32(0, NULL, 0), b + at + 4, (uInt)length + 4) != big32(b + at + 8 + length))
            return err_set(e, ERR_INPUT, "%s: it is damaged at byte %zu", p->path, at);
        if (!memcmp(b + at + 4, "IEND", 4))
            return ERR_OK;
        TRY(read_chunk(p, b + at, length, e));
        at += length + 12;
    }
    return err_set(e, ERR_INPUT, "%s: it ends in the middle", p->path);
}

/* PNG's five ways to tell a byte by its neighbours: a to the left, b above, c above to the left. */
static uint8_t predicted(int filter, int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

    switch (filter) {
    case 1:
        return (uint8_t)a;
    case 2:
        return (uint8_t)b;
    case 3:
        return (uint8_t)((a + b) / 2);
    case 4:
        return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
    default:
        return 0;
    }
}

static size_t bytes_of(const struct png_pass *pass)
{
    return pass->h * (pass->line + 1);
}

static enum err_code undo_filters(const struct png *p, const struct png_pass *pass, uint8_t *raw,
                                  struct err *e)
{
    size_t back = ((size_t)samples_of(p->type) * (size_t)p->depth + 7) / 8;

    for (size_t y = 0; y < pass->h; y++) {
        uint8_t *row = raw + y * (pass->line + 1) + 1, *above = y ? row - (pass->line + 1) : NULL;

        if (row[-1] > 4)
            return err_set(e, ERR_INPUT, "%s: line %zu has the unknown filter %d", p->path,
                           pass->y + y * pass->dy, row[-1]);
        for (size_t i = 0; i < pass->line; i++)
            row[i] = (uint8_t)(row[i] + predicted(row[-1], i >= back ? row[i - back] : 0,
                                                  y ? above[i] : 0,
                                                  y && i >= back ? above[i - back] : 0));
    }
    return ERR_OK;
}

static enum err_code unpack(struct png *p, struct err *e)
{
    size_t all = 0;
    uint8_t *raw;
    uLongf n;
    int status;

    for (size_t i = 0; i < p->passes; i++)
        all += bytes_of(&p->pass[i]);
    n = (uLongf)all;
    raw = p->raw = mem_try(all, 1);
    if (!p->raw)
        return err_set(e, ERR_NOMEM, "%s: no memory for %zu x %zu pixels", p->path, p->w, p->h);
    status = uncompress(p->raw, &n, p->packed, (uLong)p->packed_bytes);
    if (status == Z_BUF_ERROR && n == all)
        return err_set(e, ERR_INPUT,
                       "%s: its pixels unpack to more than the %zu bytes of %zu x %zu", p->path,
                       all, p->w, p->h);
    if (status != Z_OK || n != all)
        return err_set(e, ERR_INPUT, "%s: its pixels end or are damaged after %zu of %zu bytes",
                       p->path, (size_t)n, all);
    for (size_t i = 0; i < p->passes; raw += bytes_of(&p->pass[i++]))
        TRY(undo_filters(p, &p->pass[i], raw, e));
    return ERR_OK;
}

/* Sample i of a line in 8 bits; of a palette, its number. */
static uint8_t sample(const struct png *p, const uint8_t *row, size_t i)
{
    int most = (1 << p->depth) - 1;
    size_t bit = i * (size_t)p->depth;
    int value;

    if (p->depth >= 8)
        return row[i * (size_t)p->depth / 8];
    value = row[bit / 8] >> (8 - p->depth - (int)(bit % 8)) & most;
    return (uint8_t)(p->type == 3 ? value : value * 255 / most);
}

/* A line of a pass to where its pixels are in line `to` of the picture. */
static enum err_code spread_line(const struct png *p, const struct png_pass *pass,
                                 const uint8_t *row, uint8_t *to, struct err *e)
{
    size_t samples = (size_t)samples_of(p->type);

    for (size_t i = 0; i < pass->w * samples; i++) {
        size_t x = pass->x + i / samples * pass->dx;
        uint8_t v = sample(p, row, i);

        if (p->type != 3)
            to[x * samples + i % samples] = v;
        else if (v < p->colours)
            memcpy(to + 4 * x, p->palette[v], 4);
        else
            return err_set(e, ERR_INPUT, "%s: colour %d of a palette of %d", p->path, v,
                           p->colours);
    }
    return ERR_OK;
}

static enum err_code spread(const struct png *p, struct picture *out, struct err *e)
{
    const uint8_t *raw = p->raw;

    out->w = p->w;
    out->h = p->h;
    out->c = p->type == 3 ? 4 : (size_t)samples_of(p->type);
    TRY(take_pixels(out, p->path, e));
    for (size_t i = 0; i < p->passes; raw += bytes_of(&p->pass[i++])) {
        const struct png_pass *pass = &p->pass[i];

        for (size_t y = 0; y < pass->h; y++)
            TRY(spread_line(p, pass, raw + y * (pass->line + 1) + 1,
                            out->pixel + (pass->y + y * pass->dy) * p->w * out->c, e));
    }
    return ERR_OK;
}

static enum err_code read_png(struct picture *out, const char *path, const uint8_t *bytes, size_t n,
                              struct err *e)
{
    struct png *p = mem_new(1, sizeof *p);
    enum err_code code;

    p->path = path;
    p->packed = mem_new(n, 1);
    code = read_chunks(p, bytes, n, e);
    if (code == ERR_OK)
        code = unpack(p, e);
    if (code == ERR_OK)
        code = spread(p, out, e);
    free(p->packed);
    free(p->raw);
    free(p);
    return code;
}

/* ---- to a model's input ---- */

/* Channel k of c wanted, of a pixel, on white. */
static double channel(const struct picture *p, size_t at, int k, int wanted)
{
    const uint8_t *v = p->pixel + at * p->c;
    double alpha = p->c % 2 ? 1 : v[p->c - 1] / 255.0, x;

    if (p->c < 3)
        x = v[0];
    else if (wanted == 1)
        x = 0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2];
    else
        x = v[k];
    return alpha * x + (1 - alpha) * 255;
}

/* The mean over the rectangle that pixel (y, x) of h x w covers in the picture. */
static double covered(const struct picture *p, struct net_shape s, int y, int x, int k)
{
    double top = (double)y * (double)p->h / s.h, bottom = (double)(y + 1) * (double)p->h / s.h;
    double left = (double)x * (double)p->w / s.w, right = (double)(x + 1) * (double)p->w / s.w;
    double sum = 0, area = 0;

    for (size_t i = (size_t)top; i < p->h && (double)i < bottom; i++) {
        double high = fmin(bottom, (double)i + 1) - fmax(top, (double)i);

        for (size_t j = (size_t)left; j < p->w && (double)j < right; j++) {
            double part = high * (fmin(right, (double)j + 1) - fmax(left, (double)j));

            sum += part * channel(p, i * p->w + j, k, s.c);
            area += part;
        }
    }
    return sum / area;
}

static enum err_code read_bytes(const char *path, char **bytes, size_t *n, struct err *e)
{
    struct err why;
    enum err_code code = io_read_file(path, MOST_BYTES, bytes, n, &why);

    if (code == ERR_OK)
        return ERR_OK;
    if (io_is_folder(path))
        return err_set(e, ERR_INPUT,
                       "%s is a folder: name the pictures in it, PNG, PGM or PPM, such as %s/*.png",
                       path, path);
    if (!*path)
        return err_set(e, ERR_INPUT, "a picture's name is empty: name pictures, PNG, PGM or PPM");
    if (why.sys == ENOENT)
        return err_set(e, ERR_INPUT, "there is no file %s: name pictures, PNG, PGM or PPM", path);
    return err_set(e, code, "%s", why.text);
}

static const char png_magic[] = "\x89PNG\r\n\x1a\n";

static enum err_code refuse_kind(const char *path, struct err *e)
{
    return err_set(e, ERR_INPUT, "%s is neither PNG nor PGM nor PPM", path);
}

static void make_pixels(const struct picture *p, struct net_shape s, bool invert, uint8_t *out)
{
    if (p->w == (size_t)s.w && p->h == (size_t)s.h && p->c == (size_t)s.c && !invert) {
        memcpy(out, p->pixel, p->w * p->h * p->c);
        return;
    }
    for (int i = 0; i < s.h * s.w * s.c; i++) {
        int k = i % s.c, x = i / s.c % s.w, y = i / s.c / s.w;
        double v = covered(p, s, y, x, k);

        out[i] = (uint8_t)lround(invert ? 255 - v : v);
    }
}

enum err_code data_read_picture(const char *path, struct net_shape shape, bool invert, uint8_t *out,
                                int64_t size[2], struct err *e)
{
    struct picture p = {0};
    char *bytes;
    size_t n;
    enum err_code code;

    if (shape.c != 1 && shape.c != 3)
        return err_set(e, ERR_INPUT, "%s: the model takes %d channels; a picture has 1 or 3", path,
                       shape.c);
    TRY(read_bytes(path, &bytes, &n, e));
    if (n > 8 && !memcmp(bytes, png_magic, 8))
        code = read_png(&p, path, (const uint8_t *)bytes, n, e);
    else if (is_pnm(bytes, n))
        code = read_pnm(&p, path, bytes, n, e);
    else
        code = refuse_kind(path, e);
    if (code == ERR_OK)
        make_pixels(&p, shape, invert, out);
    if (code == ERR_OK && size) {
        size[0] = (int64_t)p.w;
        size[1] = (int64_t)p.h;
    }
    free(p.pixel);
    free(bytes);
    return code;
}

/* The first bytes of a regular file. */
static enum err_code read_first(const char *path, char *to, size_t room, size_t *n, struct err *e)
{
    int fd = io.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0); /* a FIFO's would wait */
    enum err_code code = ERR_OK;
    struct stat st;
    ssize_t got = 0;

    if (fd < 0) {
        code = err_errno(e, "cannot open %s", path);
        if (e && e->sys == ENOENT)
            code = e->code = ERR_INPUT;
        return code;
    }
    if (io.fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        code = err_set(e, ERR_INPUT, "%s is not a file", path);
    else if ((got = io.read(fd, to, room)) < 0)
        code = err_errno(e, "cannot read %s", path);
    *n = code == ERR_OK ? (size_t)got : 0;
    io.close(fd);
    return code;
}

enum err_code data_picture_shape(const char *path, struct net_shape *shape, struct err *e)
{
    struct picture p = {0};
    char bytes[4096];
    const char *at;
    size_t n = 0;
    long most;

    TRY(read_first(path, bytes, sizeof bytes, &n, e));
    if (n > 25 && !memcmp(bytes, png_magic, 8) && !memcmp(bytes + 12, "IHDR", 4)) {
        p.w = big32((const uint8_t *)bytes + 16);
        p.h = big32((const uint8_t *)bytes + 20);
        p.c = bytes[25] & 2 ? 3 : 1; /* of the colour type */
    } else if (is_pnm(bytes, n)) {
        TRY(read_pnm_head(&p, path, bytes, bytes + n, &at, &most, e));
    } else {
        return refuse_kind(path, e);
    }
    TRY(check_pixels(p.w, p.h, path, e));
    *shape = (struct net_shape){(int)p.h, (int)p.w, (int)p.c};
    return ERR_OK;
}
