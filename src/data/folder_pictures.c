/* The pictures of a folder by class, read into images of one shape. */
#include "data/folder_int.h"
#include "data/picture.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shape of the last folder whose heads were read: whoever asks again and again what an experiment
 * would mean must not wait for all its files each time. */
static struct {
    pthread_mutex_t lock;
    bool known;
    uint8_t state[32];
    struct net_shape shape;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool recall(const struct data_folder *f, struct net_shape *shape)
{
    bool known;

    pthread_mutex_lock(&last.lock);
    known = last.known && !memcmp(last.state, f->state, sizeof last.state);
    if (known)
        *shape = last.shape;
    pthread_mutex_unlock(&last.lock);
    return known;
}

static void remember(const struct data_folder *f, struct net_shape shape)
{
    pthread_mutex_lock(&last.lock);
    last.known = f->settled;
    memcpy(last.state, f->state, sizeof last.state);
    last.shape = shape;
    pthread_mutex_unlock(&last.lock);
}

/* All are of the size of the first; one with colours makes all of them have some. */
static enum err_code add_heads(const struct data_folder *f, const struct data_folder_part *part,
                               struct net_shape *shape, struct err *e)
{
    const char *first = f->train.file[0].path;

    for (size_t i = 0; i < part->count; i++) {
        struct net_shape own;

        TRY(data_picture_shape(part->file[i].path, &own, e));
        if (!shape->h)
            *shape = own;
        if (own.h != shape->h || own.w != shape->w)
            return err_set(
                e, ERR_INPUT,
                "%s has %dx%d pixels (width x height), %s %dx%d: scale all to one size "
                "(ImageMagick: mogrify -resize %dx%d!), or take a model that says `input` with "
                "its channels, height and width, to which they are stretched",
                part->file[i].path, own.w, own.h, first, shape->w, shape->h, shape->w, shape->h);
        shape->c = own.c > shape->c ? own.c : shape->c;
    }
    return ERR_OK;
}

static enum err_code find_shape(const struct data_folder *f, struct net_shape wanted,
                                struct net_shape *shape, struct err *e)
{
    if (wanted.h > 0) { /* as `predict` reads pictures for it */
        *shape = wanted;
        return wanted.c == 1 || wanted.c == 3
                   ? ERR_OK
                   : err_set(e, ERR_INPUT, "the model takes %d channels; pictures have 1 or 3",
                             wanted.c);
    }
    if (recall(f, shape))
        return ERR_OK;
    *shape = (struct net_shape){0, 0, 0};
    TRY(add_heads(f, &f->train, shape, e));
    TRY(add_heads(f, &f->test, shape, e));
    remember(f, *shape);
    return ERR_OK;
}

static enum err_code check_size(const struct data_raw *raw, const char *name, struct err *e)
{
    size_t count = raw->train.count + raw->test.count, bytes;
    char number[TEXT_NUMBER_ROOM];

    if (!__builtin_mul_overflow(count, data_values(raw->shape), &bytes) && bytes <= DATA_BYTES_MAX)
        return ERR_OK;
    return err_set(e, ERR_INPUT,
                   "data = %s: %s pictures of %dx%dx%d are more than 8 GiB; set train_limit and "
                   "test_limit, or scale them down",
                   name, text_count(number, count), raw->shape.h, raw->shape.w, raw->shape.c);
}

static enum err_code read_part(struct data_raw_part *to, const struct data_folder_part *from,
                               struct net_shape shape, struct err *e)
{
    size_t size = data_values(shape);

    to->bytes = mem_try(to->count, size);
    to->labels = mem_try(to->count, sizeof *to->labels);
    if (!to->bytes || !to->labels)
        return err_set(e, ERR_NOMEM, "no memory for %zu pictures of %zu bytes", to->count, size);
    for (size_t i = 0; i < to->count; i++) {
        TRY(data_read_picture(from->file[i].path, shape, false, to->bytes + i * size, NULL, e));
        to->labels[i] = from->file[i].class;
    }
    return ERR_OK;
}

enum err_code data_folder_load(struct data_raw *raw, const struct data_found *found,
                               int64_t train_limit, int64_t test_limit, struct net_shape wanted,
                               bool peek, const char *name, struct err *e)
{
    const struct data_folder *f = found->folder_list;

    raw->bytes = true;
    TRY(find_shape(f, wanted, &raw->shape, e));
    raw->classes = (int)f->count;
    raw->class_names = mem_new(f->count, sizeof *raw->class_names);
    for (size_t i = 0; i < f->count; i++)
        raw->class_names[i] = mem_text(f->classes[i]);
    raw->train.all = f->train.count;
    raw->test.all = f->test.count;
    TRY(data_limit("train_limit", train_limit, raw->train.all, "training", name, &raw->train.count,
                   e));
    TRY(data_limit("test_limit", test_limit, raw->test.all, "test", name, &raw->test.count, e));
    TRY(check_size(raw, name, e));
    if (peek)
        return ERR_OK;
    TRY(read_part(&raw->train, &f->train, raw->shape, e));
    return read_part(&raw->test, &f->test, raw->shape, e);
}
