#include "spec/spec_int.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts "FILE:LINE: KEY = VALUE: " in front. */
static enum err_code wrong(const struct spec *s, int key, struct err *e, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
static enum err_code wrong(const struct spec *s, int key, struct err *e, const char *fmt, ...)
{
    struct text value = {0};
    char reason[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    enum err_code code = err_set(e, ERR_INPUT, "%s", reason);
    spec_value(s, key, &value);
    err_context(e, "%s = %.200s", spec_keys[key].name, value.n ? text_str(&value) : "none");
    if (s->line[key])
        err_context(e, "%.300s:%d", s->file, s->line[key]);
    text_free(&value);
    return code;
}

/* A path beside the file, which is named in front, as it stands in the file. */
static void shorten_path(const struct spec *s, int key, char *path)
{
    char *folder = io_folder_of(s->file), *whole = realpath(folder, NULL);
    size_t n = whole ? strlen(whole) : 0;
    bool dot = s->dotted >> key & 1;

    if (n > 1 && !strncmp(path, whole, n) && path[n] == '/') {
        n += !dot;
        memmove(path + dot, path + n, strlen(path + n) + 1);
        path[0] = dot ? '.' : path[0];
    }
    free(folder);
    free(whole);
}

void spec_locate(const struct spec *s, struct err *e)
{
    if (!e || e->code != ERR_INPUT)
        return;
    for (int key = 0; key < SPEC_KEYS; key++) {
        size_t n = strlen(spec_keys[key].name);
        if (s->line[key] && !strncmp(e->text, spec_keys[key].name, n) &&
            (!strncmp(e->text + n, " = ", 3) || !strncmp(e->text + n, ": ", 2))) {
            if (e->text[n] == ' ')
                shorten_path(s, key, e->text + n + 3);
            err_context(e, "%.300s:%d", s->file, s->line[key]);
            return;
        }
    }
    for (int i = 0; i < s->params; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.%s: ", s->param[i].name);
        if (s->param[i].line && strstr(e->text, name)) {
            err_context(e, "%.300s:%d", s->file, s->param[i].line);
            return;
        }
    }
}

static enum err_code check_uses(const struct spec *s, struct err *e)
{
    for (int key = 0; key < SPEC_KEYS; key++) {
        const char *with;
        int by = spec_used_by(key, &with);
        if (by < 0 || !spec_given(s, key) || spec_applies(s, key))
            continue;
        if (s->line[key] && spec_given(s, by) && !s->line[by])
            continue; /* what used it in the file was changed behind the file */
        struct text value = {0};
        spec_value(s, by, &value);
        enum err_code code =
            wrong(s, key, e, "%s = %.200s does not use it, only %s does; leave it out or change %s",
                  spec_keys[by].name, text_str(&value), with, spec_keys[by].name);
        text_free(&value);
        return code;
    }
    return ERR_OK;
}

/* The one of two keys that an error about both should stand at: the given one, later in the file. */
static int blame(const struct spec *s, int a, int b)
{
    if (spec_given(s, a) != spec_given(s, b))
        return spec_given(s, a) ? a : b;
    if (!s->line[a] != !s->line[b])
        return s->line[a] ? b : a;
    return s->line[a] >= s->line[b] ? a : b;
}

/* Behind a batch that stands in a file or is the default: the mistake is what was typed. */
static bool devices_are_typed(const struct spec *s)
{
    return spec_given(s, KEY_DEVICES) && !s->line[KEY_DEVICES] &&
           (s->line[KEY_BATCH] || !spec_given(s, KEY_BATCH));
}

static enum err_code check_batch(const struct spec *s, struct err *e)
{
    int64_t batch = spec_batch(s), n = s->devices;

    if (batch > INT32_MAX)
        return wrong(s, KEY_BATCH, e, "over %d devices that is %lld images, above %d", s->devices,
                     (long long)batch, INT32_MAX);
    if (s->mode == SPEC_DATA_PARALLEL && batch % n) {
        int64_t below = batch / n * n, above = below + n;
        if (devices_are_typed(s))
            return below ? wrong(s, KEY_DEVICES, e,
                                 "they do not divide batch = %lld; the nearest batches are %lld "
                                 "and %lld",
                                 (long long)batch, (long long)below, (long long)above)
                         : wrong(s, KEY_DEVICES, e,
                                 "they cannot share batch = %lld; the smallest batch is %lld",
                                 (long long)batch, (long long)above);
        if (!below)
            return wrong(s, KEY_BATCH, e, "%d devices cannot share it; the smallest batch is %lld",
                         s->devices, (long long)above);
        return wrong(s, KEY_BATCH, e,
                     "%d devices do not divide it; the nearest batches are %lld and %lld",
                     s->devices, (long long)below, (long long)above);
    }
    return ERR_OK;
}

static enum err_code check_devices(const struct spec *s, struct err *e)
{
    if (s->mode == SPEC_ENSEMBLE && s->members && s->members < s->devices)
        return blame(s, KEY_MEMBERS, KEY_DEVICES) == KEY_MEMBERS
                   ? wrong(s, KEY_MEMBERS, e, "%d devices need at least as many members",
                           s->devices)
                   : wrong(s, KEY_DEVICES, e, "more than there are members (%d)", s->members);
    if (s->gpus && s->backend != SPEC_AUTO && s->backend != SPEC_CUDA)
        return wrong(s, KEY_DEVICES, e, "backend = %s has no GPUs; give a count, or backend = cuda",
                     spec_backend_word(s->backend));
    if (s->precision == SPEC_FP64 && s->backend != SPEC_REF)
        return wrong(s, KEY_PRECISION, e, "only backend = ref computes in fp64");
    if (s->threads_kind == SPEC_THREADS_PER_DEVICE &&
        (int64_t)s->threads * s->devices > SPEC_THREADS_MOST)
        return wrong(s, KEY_THREADS, e,
                     "over %d devices that is %lld threads, above %d: at most %d/device",
                     s->devices, (long long)s->threads * s->devices, SPEC_THREADS_MOST,
                     SPEC_THREADS_MOST / s->devices);
    return ERR_OK;
}

static enum err_code check_schedule(const struct spec *s, struct err *e)
{
    double base = spec_base_lr(s, spec_batch(s));
    char room[TEXT_NUMBER_ROOM];

    /* epochs = 0 trains nothing: it may be given to any experiment */
    if (s->epochs && s->warmup > (double)s->epochs)
        return blame(s, KEY_WARMUP, KEY_EPOCHS) == KEY_WARMUP
                   ? wrong(s, KEY_WARMUP, e, "longer than the training, epochs = %lld",
                           (long long)s->epochs)
                   : wrong(s, KEY_EPOCHS, e, "less than warmup = %s epochs",
                           text_double(room, s->warmup));
    if (s->schedule == SPEC_COSINE && s->lr_min > base)
        return wrong(s, KEY_LR_MIN, e, "above the learning rate that it should end below, %s",
                     text_double(room, base));
    return ERR_OK;
}

enum err_code spec_check(const struct spec *s, struct err *e)
{
    TRY(check_uses(s, e));
    TRY(check_batch(s, e));
    TRY(check_devices(s, e));
    TRY(check_schedule(s, e));
    if (s->mode == SPEC_ENSEMBLE && s->member_order == SPEC_OWN && !s->shuffle)
        return wrong(s, KEY_MEMBER_ORDER, e, "with shuffle = no there is one order only");
    if (s->seed > (uint64_t)INT64_MAX - (uint64_t)(s->repeats - 1))
        return wrong(s, KEY_SEED, e, "%lld repeats from here leave the range of seeds",
                     (long long)s->repeats);
    return ERR_OK;
}
