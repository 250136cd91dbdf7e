#include "study/answers.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_EPOCH   "chorus.epoch"
#define NOTE_DATA    "chorus.data_hash"
#define NOTE_CLASSES "chorus.class_names"
#define NOTE_COLUMNS "chorus.column_names"

static void free_names(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void study_answers_free(struct study_answers *a)
{
    free_names(a->class_names, a->classes);
    free_names(a->column_names, a->shape.c);
    free(a->size);
    free(a->images);
    free(a->labels);
    free(a->p);
    free(a->log_p);
    free(a->mean);
    free(a->answer);
    free(a->others);
    *a = (struct study_answers){0};
}

size_t study_answers_pixels(const struct study_answers *a)
{
    return (size_t)a->shape.h * (size_t)a->shape.w * (size_t)a->shape.c;
}

static size_t image_size(const struct study_answers *a)
{
    return study_answers_pixels(a) * (a->bytes ? 1 : sizeof(float));
}

enum err_code study_answers_room(struct study_answers *a, struct err *e)
{
    size_t classes = (size_t)a->classes;

    a->p = mem_try((size_t)a->members * a->n, classes * sizeof *a->p);
    a->mean = mem_try(a->n, classes * sizeof *a->mean);
    a->labels = mem_try(a->n, sizeof *a->labels);
    a->images = mem_try(a->n, image_size(a));
    if (a->p && a->mean && a->labels && a->images)
        return ERR_OK;
    return err_set(e, ERR_NOMEM, "no memory for %d x %zu x %d probabilities", a->members, a->n,
                   a->classes);
}

/* ---- asked ---- */

static const float *row_of(const struct study_answers *a, int member, size_t image)
{
    return a->p + ((size_t)member * a->n + image) * (size_t)a->classes;
}

int study_answers_of(const struct study_answers *a, int member, size_t image)
{
    const float *row = row_of(a, member, image);
    int best = 0;

    for (int c = 1; c < a->classes; c++)
        if (row[c] > row[best])
            best = c;
    return best;
}

double study_answers_highest(const struct study_answers *a, size_t image)
{
    return a->mean[image * (size_t)a->classes + (size_t)a->answer[image]];
}

static void average_image(struct study_answers *a, size_t image)
{
    double *mean = a->mean + image * (size_t)a->classes;
    int best = 0;

    for (int c = 0; c < a->classes; c++) {
        double sum = 0;

        for (int m = 0; m < a->members; m++)
            sum += (double)row_of(a, m, image)[c];
        mean[c] = sum / a->members;
        best = mean[c] > mean[best] ? c : best;
    }
    a->answer[image] = best;
    for (int m = 0; m < a->members; m++)
        a->others[image] += study_answers_of(a, m, image) != best;
}

void study_answers_average(struct study_answers *a)
{
    a->answer = mem_new(a->n, sizeof *a->answer);
    a->others = mem_new(a->n, sizeof *a->others);
    for (size_t i = 0; i < a->n; i++)
        average_image(a, i);
}

bool study_answers_same_images(const struct study_answers *a, const struct study_answers *b)
{
    return a->n == b->n && a->bytes == b->bytes && a->shape.h == b->shape.h &&
           a->shape.w == b->shape.w && a->shape.c == b->shape.c &&
           !memcmp(a->images, b->images, a->n * image_size(a));
}

bool study_answers_are_rows(const struct study_answers *a)
{
    return a->shape.h == 1 && a->shape.w == 1;
}

const char *study_answers_noun(const struct study_answers *a)
{
    return study_answers_are_rows(a) ? "row" : "image";
}

static void scale(const float *values, size_t n, uint8_t *bytes)
{
    float lo = INFINITY, hi = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        lo = fminf(lo, values[i]);
        hi = fmaxf(hi, values[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (hi > lo && isfinite(values[i]))
            bytes[i] = (uint8_t)lroundf(255 * (values[i] - lo) / (hi - lo));
}

uint8_t *study_answers_bytes(const struct study_answers *a, size_t image)
{
    size_t n = study_answers_pixels(a), channels = (size_t)a->shape.c;
    uint8_t *bytes = mem_new(n, 1);

    if (a->bytes)
        memcpy(bytes, (const uint8_t *)a->images + image * n, n);
    else
        scale((const float *)a->images + image * n, n, bytes);
    for (size_t i = 0; channels != 1 && channels != 3 && i < n / channels; i++)
        bytes[i] = bytes[i * channels];
    return bytes;
}

void study_answers_confusion(const struct study_answers *a, const int *only, int classes,
                             struct study_confusion *out)
{
    int *place = mem_new((size_t)a->classes, sizeof *place), *answers;
    int64_t *labels = mem_new(a->n, sizeof *labels);
    size_t n = 0;

    answers = mem_new(a->n, sizeof *answers);
    for (int k = 0; k < a->classes; k++)
        place[k] = only ? -1 : k;
    for (int k = 0; only && k < classes; k++)
        place[only[k]] = k;
    for (size_t i = 0; i < a->n; i++) {
        labels[n] = place[a->labels[i]];
        answers[n] = place[a->answer[i]];
        n += labels[n] >= 0 && answers[n] >= 0;
    }
    study_confusion(out, labels, answers, n, classes);
    free(place);
    free(labels);
    free(answers);
}

/* ---- the file ---- */

/* Lines part the names. */
static void add_names(struct text *out, char *const *names, int count)
{
    for (int i = 0; names && i < count; i++) {
        size_t from = out->n + (i > 0);

        text_addf(out, "%s%s", i ? "\n" : "", names[i] ? names[i] : "");
        for (size_t k = from; k < out->n; k++)
            if (out->s[k] == '\n')
                out->s[k] = ' ';
    }
}

static char **read_names(const struct safetensors *s, const char *note, int count)
{
    const char *lines = safetensors_note(s, note);
    char *copy = lines ? mem_text(lines) : NULL, *rest = copy, *name, **names;

    if (!lines)
        return NULL;
    names = mem_new((size_t)count, sizeof *names);
    for (int i = 0; i < count && (name = strsep(&rest, "\n")); i++)
        names[i] = *name ? mem_text(name) : NULL;
    free(copy);
    return names;
}

enum err_code study_answers_save(const struct study_answers *a, const char *path, struct err *e)
{
    const struct net_shape *s = &a->shape;
    const struct safetensors_tensor t[4] = {
        {.name = "images",
         .type = a->bytes ? SAFETENSORS_U8 : SAFETENSORS_F32,
         .dims = 4,
         .shape = {a->n, (size_t)s->h, (size_t)s->w, (size_t)s->c},
         .bytes = a->images},
        {.name = "labels", .type = SAFETENSORS_I64, .dims = 1, .shape = {a->n}, .bytes = a->labels},
        {.name = "probabilities",
         .type = SAFETENSORS_F32,
         .dims = 3,
         .shape = {(size_t)a->members, a->n, (size_t)a->classes},
         .bytes = a->p},
        {.name = "label_log_probabilities",
         .type = SAFETENSORS_F64,
         .dims = 2,
         .shape = {(size_t)a->members, a->n},
         .bytes = a->log_p},
    };
    struct text epoch = {0}, classes = {0}, columns = {0};
    struct safetensors_note note[4];
    int notes = 1;
    enum err_code code;

    text_addf(&epoch, "%lld", (long long)a->epoch);
    add_names(&classes, a->class_names, a->classes);
    add_names(&columns, a->column_names, s->c);
    note[0] = (struct safetensors_note){(char *)NOTE_EPOCH, epoch.s};
    if (classes.n)
        note[notes++] = (struct safetensors_note){(char *)NOTE_CLASSES, classes.s};
    if (columns.n)
        note[notes++] = (struct safetensors_note){(char *)NOTE_COLUMNS, columns.s};
    if (a->data_hash[0])
        note[notes++] = (struct safetensors_note){(char *)NOTE_DATA, (char *)a->data_hash};
    code = safetensors_write(path, t, a->log_p ? 4 : 3, note, notes, e);
    text_free(&epoch);
    text_free(&classes);
    text_free(&columns);
    return code;
}

static bool fits(const struct safetensors_tensor *images, const struct safetensors_tensor *labels,
                 const struct safetensors_tensor *probs)
{
    const size_t *of = images ? images->shape : NULL;

    return images && labels && probs && images->dims == 4 && labels->dims == 1 &&
           probs->dims == 3 && labels->type == SAFETENSORS_I64 && probs->type == SAFETENSORS_F32 &&
           (images->type == SAFETENSORS_U8 || images->type == SAFETENSORS_F32) &&
           of[0] == labels->shape[0] && probs->shape[1] == labels->shape[0] && labels->shape[0] &&
           probs->shape[0] && probs->shape[2] && probs->shape[0] <= 4096 &&
           probs->shape[2] <= 65536 && of[1] && of[2] && of[3] && of[1] <= 4096 && of[2] <= 4096 &&
           of[3] <= 4096;
}

static enum err_code take(struct study_answers *a, const struct safetensors *s, const char *path,
                          struct err *e)
{
    const struct safetensors_tensor *images = safetensors_find(s, "images"),
                                    *labels = safetensors_find(s, "labels"),
                                    *probs = safetensors_find(s, "probabilities"),
                                    *logs = safetensors_find(s, "label_log_probabilities");
    const char *epoch = safetensors_note(s, NOTE_EPOCH), *data = safetensors_note(s, NOTE_DATA);

    if (!fits(images, labels, probs))
        return err_set(e, ERR_INPUT, "%s holds no images, labels and probabilities that fit", path);
    a->n = labels->shape[0];
    a->members = (int)probs->shape[0];
    a->classes = (int)probs->shape[2];
    a->shape.h = (int)images->shape[1];
    a->shape.w = (int)images->shape[2];
    a->shape.c = (int)images->shape[3];
    a->bytes = images->type == SAFETENSORS_U8;
    if (!epoch || !text_to_int(epoch, &a->epoch))
        a->epoch = -1;
    snprintf(a->data_hash, sizeof a->data_hash, "%s", data ? data : "");
    TRY(study_answers_room(a, e));
    memcpy(a->images, images->bytes, images->size);
    memcpy(a->labels, labels->bytes, labels->size);
    memcpy(a->p, probs->bytes, probs->size);
    if (logs && logs->type == SAFETENSORS_F64 && logs->dims == 2 &&
        logs->shape[0] == (size_t)a->members && logs->shape[1] == a->n) {
        a->log_p = mem_new((size_t)a->members * a->n, sizeof *a->log_p);
        memcpy(a->log_p, logs->bytes, logs->size);
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->labels[i] < 0 || a->labels[i] >= a->classes)
            return err_set(e, ERR_INPUT, "%s: label %lld of image %zu is none of %d classes", path,
                           (long long)a->labels[i], i, a->classes);
    a->class_names = read_names(s, NOTE_CLASSES, a->classes);
    a->column_names = read_names(s, NOTE_COLUMNS, a->shape.c);
    study_answers_average(a);
    return ERR_OK;
}

enum err_code study_answers_take(struct study_answers *a, const struct safetensors *file,
                                 const char *path, struct err *e)
{
    enum err_code code;

    *a = (struct study_answers){0};
    code = take(a, file, path, e);
    if (code != ERR_OK)
        study_answers_free(a);
    return code;
}

enum err_code study_answers_read(struct study_answers *a, const char *path, struct err *e)
{
    struct safetensors s;
    enum err_code code;

    *a = (struct study_answers){0};
    TRY(safetensors_read(path, &s, e));
    code = study_answers_take(a, &s, path, e);
    safetensors_free(&s);
    return code;
}
