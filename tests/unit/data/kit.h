/* Small data sets in a temporary folder, for the tests of src/data. */
#ifndef CHORUS_TESTS_UNIT_DATA_KIT_H
#define CHORUS_TESTS_UNIT_DATA_KIT_H

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data.h"
#include "tests/test.h"

#include <dirent.h>
#include <unistd.h>
#include <zlib.h>

/* A fresh folder under $TMPDIR or /tmp. */
__attribute__((unused)) static char *kit_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *path = mem_textf("%s/chorus-data-XXXXXX", base && base[0] ? base : "/tmp");

    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
    return path;
}

__attribute__((unused)) static void kit_remove(char *path)
{
    DIR *d = opendir(path);
    struct dirent *it;

    while (d && (it = readdir(d))) {
        char *inner;

        if (!strcmp(it->d_name, ".") || !strcmp(it->d_name, ".."))
            continue;
        inner = io_path(path, it->d_name);
        if (io_is_folder(inner)) {
            kit_remove(inner);
        } else {
            unlink(inner);
            free(inner);
        }
    }
    if (d)
        closedir(d);
    rmdir(path);
    free(path);
}

__attribute__((unused)) static void kit_write(const char *folder, const char *name,
                                              const void *bytes, size_t n)
{
    char *path = io_path(folder, name);
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) {
        perror(path);
        exit(1);
    }
    free(path);
}

__attribute__((unused)) static void kit_text(const char *folder, const char *name, const char *text)
{
    kit_write(folder, name, text, strlen(text));
}

/* One gz member. */
__attribute__((unused)) static void kit_gz(struct text *out, const void *bytes, size_t n)
{
    z_stream z = {0};
    size_t room = n + n / 100 + 1024;
    uint8_t *to = mem_new(room, 1);

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        exit(1);
    z.next_in = (uint8_t *)(uintptr_t)bytes;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        exit(1);
    text_add_n(out, to, room - z.avail_out);
    deflateEnd(&z);
    free(to);
}

/* The header of an IDX file. */
__attribute__((unused)) static void kit_head(struct text *out, int type, int dims,
                                             const uint32_t *dim)
{
    uint8_t b[4] = {0, 0, (uint8_t)type, (uint8_t)dims};

    text_add_n(out, b, 4);
    for (int i = 0; i < dims; i++) {
        for (int k = 0; k < 4; k++)
            b[k] = (uint8_t)(dim[i] >> (24 - 8 * k));
        text_add_n(out, b, 4);
    }
}

/* Byte p of image i of a kit set. */
__attribute__((unused)) static uint8_t kit_byte(size_t i, size_t p)
{
    return (uint8_t)(i * 37 + p * 11 + i * p);
}

__attribute__((unused)) static void kit_images(struct text *out, uint32_t n, uint32_t h, uint32_t w,
                                               uint32_t c)
{
    uint32_t dim[4] = {n, h, w, c};

    kit_head(out, 8, c > 1 ? 4 : 3, dim);
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < (size_t)h * w * c; p++) {
            uint8_t b = kit_byte(i, p);

            text_add_n(out, &b, 1);
        }
    }
}

/* Labels i mod classes. */
__attribute__((unused)) static void kit_labels(struct text *out, uint32_t n, int classes)
{
    kit_head(out, 8, 1, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t b = (uint8_t)(i % (uint32_t)classes);

        text_add_n(out, &b, 1);
    }
}

__attribute__((unused)) static void kit_put(const char *folder, const char *name,
                                            const struct text *content, bool gz)
{
    struct text packed = {0};
    char *full = mem_textf("%s%s", name, gz ? ".gz" : "");

    if (gz)
        kit_gz(&packed, content->s, content->n);
    kit_write(folder, full, gz ? packed.s : content->s, gz ? packed.n : content->n);
    text_free(&packed);
    free(full);
}

/* A whole set: train and test images of h x w x c in `classes` classes. */
__attribute__((unused)) static void kit_set(const char *folder, uint32_t train, uint32_t test,
                                            uint32_t h, uint32_t w, uint32_t c, int classes,
                                            bool gz)
{
    static const char *const names[2][2] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                            {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}};

    for (int part = 0; part < 2; part++) {
        struct text images = {0}, labels = {0};

        kit_images(&images, part ? test : train, h, w, c);
        kit_labels(&labels, part ? test : train, classes);
        kit_put(folder, names[part][0], &images, gz);
        kit_put(folder, names[part][1], &labels, gz);
        text_free(&images);
        text_free(&labels);
    }
}

/* A PGM (c: 1) or PPM of one line of text and kit_byte's values of image i. */
__attribute__((unused)) static void kit_picture(const char *folder, const char *name, size_t i,
                                                int h, int w, int c)
{
    struct text t = {0};

    text_addf(&t, "P%d\n%d %d\n255\n", c == 3 ? 6 : 5, w, h);
    for (size_t p = 0; p < (size_t)h * (size_t)w * (size_t)c; p++) {
        uint8_t b = kit_byte(i, p);

        text_add_n(&t, &b, 1);
    }
    kit_put(folder, name, &t, false);
    text_free(&t);
}

/* "FOLDER/name", made with all above it. The caller frees it. */
__attribute__((unused)) static char *kit_inner(const char *folder, const char *name)
{
    char *path = io_path(folder, name);
    struct err e;

    if (io_make_folders(path, &e) != ERR_OK) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    return path;
}

/* The images of kit_set as pictures NNN.ppm in folder/part/a, b, c, ... */
__attribute__((unused)) static void kit_pictures(const char *folder, const char *part, size_t count,
                                                 int h, int w, int c, int classes)
{
    for (size_t i = 0; i < count; i++) {
        char name[2] = {(char)('a' + (int)i % classes), 0};
        char *above = kit_inner(folder, part), *class = kit_inner(above, name);
        char *file = mem_textf("%03zu.ppm", i);

        kit_picture(class, file, i, h, w, c);
        free(file);
        free(class);
        free(above);
    }
}

__attribute__((unused)) static struct spec kit_spec(const char *data)
{
    struct spec s;

    spec_default(&s);
    snprintf(s.data, sizeof s.data, "%s", data);
    return s;
}

/* Opens with nothing wanted and no place given. */
__attribute__((unused)) static enum err_code kit_open(struct data_set **set, const struct spec *s,
                                                      struct err *e)
{
    struct data_places places = {NULL};

    e->text[0] = 0;
    return data_open(set, s, &places, (struct net_shape){0, 0, 0}, e);
}

/* Opens what must be refused as bad input with a sentence that holds `part`. */
#define CHECK_REFUSED(spec_, part_)                                                                \
    do {                                                                                           \
        struct data_set *set_;                                                                     \
        struct err e_;                                                                             \
        CHECK_INT(kit_open(&set_, (spec_), &e_), ERR_INPUT);                                       \
        CHECK_HAS(e_.text, part_);                                                                 \
        CHECK(strchr(e_.text, '\n') == NULL);                                                      \
        data_close(set_);                                                                          \
    } while (0)

#endif
