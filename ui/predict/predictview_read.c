/* predictions.safetensors as `predict` writes it: images, labels, probabilities (members, images,
 * classes); the epoch and the names of the classes as notes. */
#include "ui/predict/predictview_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIDE 4096

void predictview_free(struct predictview_set *s)
{
    if (!s)
        return;
    for (int k = 0; s->name && k < s->classes; k++)
        free(s->name[k]);
    free(s->name);
    for (int k = 0; s->column && k < s->c; k++)
        free(s->column[k]);
    free(s->column);
    free(s->labels);
    free(s->p);
    free(s->mean);
    free(s->answer);
    free(s->others);
    free(s->member_acc);
    free(s->labelled);
    free(s->answered);
    free(s->right);
    free(s->shown);
    free(s->shown_as);
    study_confusion_free(&s->confusion);
    safetensors_free(&s->file);
    free(s);
}

static bool fits(const struct safetensors_tensor *images, const struct safetensors_tensor *labels,
                 const struct safetensors_tensor *probs)
{
    return images && labels && probs && images->dims == 4 && labels->dims == 1 &&
           probs->dims == 3 && labels->type == SAFETENSORS_I64 && probs->type == SAFETENSORS_F32 &&
           (images->type == SAFETENSORS_U8 || images->type == SAFETENSORS_F32) &&
           images->shape[0] == labels->shape[0] && probs->shape[1] == labels->shape[0] &&
           labels->shape[0] && probs->shape[0] && probs->shape[2] && probs->shape[0] <= 4096 &&
           probs->shape[2] <= 65536 && images->shape[1] <= MOST_SIDE &&
           images->shape[2] <= MOST_SIDE && images->shape[3] <= MOST_SIDE && images->shape[1] &&
           images->shape[2] && images->shape[3];
}

static void name_classes(struct predictview_set *s)
{
    const char *names = safetensors_note(&s->file, "chorus.class_names");
    char *copy = mem_text(names ? names : ""), *rest = copy;

    s->name = mem_new((size_t)s->classes, sizeof *s->name);
    for (int k = 0; k < s->classes; k++) {
        const char *name = strsep(&rest, "\n");

        s->name[k] = name && *name ? mem_text(name) : mem_textf("%d", k);
    }
    free(copy);
}

int predictview_answer(const struct predictview_set *s, int member, size_t image)
{
    size_t classes = (size_t)s->classes;
    const float *row =
        member < 0 ? s->mean + image * classes : s->p + ((size_t)member * s->n + image) * classes;
    int best = 0;

    for (int k = 1; k < s->classes; k++)
        if (row[k] > row[best])
            best = k;
    return best;
}

float predictview_highest(const struct predictview_set *s, size_t image)
{
    return s->mean[image * (size_t)s->classes + (size_t)s->answer[image]];
}

static void average(struct predictview_set *s)
{
    size_t values = s->n * (size_t)s->classes;

    s->mean = mem_new(values, sizeof *s->mean);
    for (size_t i = 0; i < values; i++) {
        double sum = 0;

        for (int m = 0; m < s->members; m++)
            sum += (double)s->p[(size_t)m * values + i];
        s->mean[i] = (float)(sum / s->members);
    }
}

static void count_classes(struct predictview_set *s)
{
    size_t classes = (size_t)s->classes;

    s->labelled = mem_new(classes, sizeof *s->labelled);
    s->answered = mem_new(classes, sizeof *s->answered);
    s->right = mem_new(classes, sizeof *s->right);
    for (size_t i = 0; i < s->n; i++) {
        s->labelled[s->labels[i]]++;
        s->answered[s->answer[i]]++;
        s->right[s->labels[i]] += s->answer[i] == s->labels[i];
    }
}

static size_t mistakes(const struct predictview_set *s, int k)
{
    return s->labelled[k] + s->answered[k] - 2 * s->right[k];
}

/* Classes with the most mistakes, and of equals the first ones, in their own order. */
static int choose_classes(struct predictview_set *s)
{
    int n = 0, most = PREDICTVIEW_MOST_CLASSES;
    size_t least = 0, all = 0;

    s->shown = mem_new((size_t)most, sizeof *s->shown);
    for (size_t low = 0, high = 2 * s->n; s->classes > most && low <= high;) {
        size_t middle = low + (high - low) / 2, there = 0;

        for (int k = 0; k < s->classes; k++)
            there += mistakes(s, k) >= middle;
        if (there >= (size_t)most) {
            least = middle; /* enough have so many */
            low = middle + 1;
        } else if (!middle) {
            break;
        } else {
            high = middle - 1;
        }
    }
    for (int k = 0; k < s->classes; k++)
        all += mistakes(s, k) > least;
    for (int k = 0, equals = most - (int)all; k < s->classes && n < most; k++)
        if (s->classes <= most || mistakes(s, k) > least ||
            (mistakes(s, k) == least && equals-- > 0))
            s->shown[n++] = k;
    return n;
}

static void confuse(struct predictview_set *s)
{
    int shows = choose_classes(s), *place = mem_new((size_t)s->classes, sizeof *place);
    int64_t *labels = mem_new(s->n, sizeof *labels);
    int *answers = mem_new(s->n, sizeof *answers);
    size_t n = 0;

    s->shown_as = mem_new((size_t)shows, sizeof *s->shown_as);
    for (int k = 0; k < s->classes; k++)
        place[k] = -1;
    for (int i = 0; i < shows; i++) {
        place[s->shown[i]] = i;
        s->shown_as[i] = s->name[s->shown[i]];
    }
    for (size_t i = 0; i < s->n; i++) {
        labels[n] = place[s->labels[i]];
        answers[n] = place[s->answer[i]];
        n += labels[n] >= 0 && answers[n] >= 0;
    }
    study_confusion(&s->confusion, labels, answers, n, shows);
    free(place);
    free(labels);
    free(answers);
}

static void answer(struct predictview_set *s)
{
    size_t right = 0;

    s->answer = mem_new(s->n, sizeof *s->answer);
    s->others = mem_new(s->n, sizeof *s->others);
    s->member_acc = mem_new((size_t)s->members, sizeof *s->member_acc);
    for (size_t i = 0; i < s->n; i++) {
        s->answer[i] = predictview_answer(s, -1, i);
        right += s->answer[i] == s->labels[i];
        for (int m = 0; m < s->members; m++) {
            int own = predictview_answer(s, m, i);

            s->others[i] += own != s->answer[i];
            s->member_acc[m] += own == s->labels[i];
        }
    }
    s->acc = (double)right / (double)s->n;
    for (int m = 0; m < s->members; m++)
        s->member_acc[m] /= (double)s->n;
    count_classes(s);
    confuse(s);
}

static enum err_code take(struct predictview_set *s, const char *path, struct err *e)
{
    const struct safetensors_tensor *images = safetensors_find(&s->file, "images"),
                                    *labels = safetensors_find(&s->file, "labels"),
                                    *probs = safetensors_find(&s->file, "probabilities");
    const char *epoch = safetensors_note(&s->file, "chorus.epoch");

    if (!fits(images, labels, probs))
        return err_set(e, ERR_INPUT, "%s holds no images, labels and probabilities that fit", path);
    s->n = labels->shape[0];
    s->members = (int)probs->shape[0];
    s->classes = (int)probs->shape[2];
    s->h = (int)images->shape[1];
    s->w = (int)images->shape[2];
    s->c = (int)images->shape[3];
    s->bytes = images->type == SAFETENSORS_U8;
    s->images = images->bytes;
    if (!epoch || !text_to_int(epoch, &s->epoch))
        s->epoch = -1;
    s->labels = mem_new(s->n, sizeof *s->labels);
    memcpy(s->labels, labels->bytes, labels->size);
    s->p = mem_new(probs->size / sizeof *s->p, sizeof *s->p);
    memcpy(s->p, probs->bytes, probs->size);
    for (size_t i = 0; i < s->n; i++)
        if (s->labels[i] < 0 || s->labels[i] >= s->classes)
            return err_set(e, ERR_INPUT, "%s: label %lld of image %zu is none of %d classes", path,
                           (long long)s->labels[i], i, s->classes);
    name_classes(s);
    predictview_name_columns(s);
    average(s);
    answer(s);
    return ERR_OK;
}

enum err_code predictview_make(struct predictview_set **out, struct safetensors *file,
                               const char *path, struct err *e)
{
    struct predictview_set *s = mem_new(1, sizeof *s);
    enum err_code code;

    *out = NULL;
    s->file = *file;
    *file = (struct safetensors){0};
    code = take(s, path, e);
    if (code == ERR_OK)
        *out = s;
    else
        predictview_free(s);
    return code;
}

uint8_t *predictview_bytes(const struct predictview_set *s, size_t image)
{
    size_t n = (size_t)s->h * (size_t)s->w * (size_t)s->c;
    uint8_t *bytes = mem_new(n, 1);
    float lo = INFINITY, hi = -INFINITY, *values;

    if (s->bytes) {
        memcpy(bytes, s->images + image * n, n);
        return bytes;
    }
    values = mem_new(n, sizeof *values);
    memcpy(values, s->images + image * n * sizeof *values, n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        lo = fminf(lo, values[i]);
        hi = fmaxf(hi, values[i]);
    }
    for (size_t i = 0; i < n; i++)
        bytes[i] =
            (uint8_t)(hi > lo && isfinite(values[i]) ? lroundf(255 * (values[i] - lo) / (hi - lo))
                                                     : 0);
    free(values);
    return bytes;
}
