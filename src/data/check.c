#include "data/check.h"

#include "base/mem.h"
#include "data/data_int.h"
#include "data/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An image by its content, for finding those that are there twice. */
struct print {
    uint64_t hash;
    uint32_t index;
    bool test;
};

static size_t pixels_of(const struct data_set *set)
{
    return (size_t)set->shape.h * (size_t)set->shape.w * (size_t)set->shape.c;
}

static const void *image_of(const struct data_set *set, const struct data_part *part, size_t i,
                            size_t *bytes)
{
    size_t n = pixels_of(set);

    *bytes = part->bytes ? n : n * sizeof *part->values;
    return part->bytes ? (const void *)(part->bytes + i * n) : (const void *)(part->values + i * n);
}

static uint64_t hash_of(const void *image, size_t n)
{
    const uint8_t *at = image;
    uint64_t h = 0x9e3779b97f4a7c15u ^ n, word;

    for (; n >= 8; n -= 8, at += 8) {
        memcpy(&word, at, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; n; n--)
        h = (h ^ *at++) * 0x100000001b3u;
    return h ^ h >> 29;
}

static int print_order(const void *a, const void *b)
{
    const struct print *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->test != y->test)
        return x->test ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void count_same(struct data_check *check, const struct print *first,
                       const struct print *second)
{
    const struct data_set *set = check->set;
    const struct data_part *a = first->test ? &set->test : &set->train;
    const struct data_part *b = second->test ? &set->test : &set->train;
    struct data_check_part *part = second->test ? &check->test : &check->train;
    size_t n;
    const void *x = image_of(set, a, first->index, &n), *y = image_of(set, b, second->index, &n);

    if (memcmp(x, y, n) != 0)
        return; /* two images with one hash: not in a lifetime */
    part->again++;
    part->in_training += second->test && !first->test;
    part->contradicting += a->labels[first->index] != b->labels[second->index];
}

static enum err_code find_same(struct data_check *check, struct err *e)
{
    const struct data_set *set = check->set;
    size_t n = set->train.count + set->test.count, bytes;
    struct print *print = mem_try(n, sizeof *print);

    if (!print)
        return err_set(e, ERR_NOMEM, "no memory to compare %zu images", n);
    for (size_t i = 0; i < n; i++) {
        bool test = i >= set->train.count;
        size_t at = test ? i - set->train.count : i;
        const void *image = image_of(set, test ? &set->test : &set->train, at, &bytes);

        print[i] = (struct print){hash_of(image, bytes), (uint32_t)at, test};
    }
    qsort(print, n, sizeof *print, print_order);
    for (size_t i = 1, first = 0; i < n; i++) {
        if (print[i].hash == print[first].hash)
            count_same(check, &print[first], &print[i]);
        else
            first = i;
    }
    free(print);
    return ERR_OK;
}

static double value_of(const struct data_part *part, size_t i)
{
    return part->bytes ? part->bytes[i] : (double)part->values[i];
}

static void measure(struct data_check_part *out, const struct data_set *set,
                    const struct data_part *part)
{
    size_t n = pixels_of(set);
    double sum = 0, squares = 0, all = (double)part->count * (double)n;

    out->of_class = mem_new((size_t)set->classes, sizeof *out->of_class);
    out->least = value_of(part, 0);
    out->most = out->least;
    for (size_t i = 0; i < part->count; i++) {
        bool constant = n > 1;
        double first = value_of(part, i * n), image = 0, image_squares = 0;

        out->of_class[part->labels[i]]++;
        for (size_t k = 0; k < n; k++) {
            double v = value_of(part, i * n + k);

            image += v;
            image_squares += v * v;
            out->least = v < out->least ? v : out->least;
            out->most = v > out->most ? v : out->most;
            constant &= v == first;
        }
        sum += image;
        squares += image_squares;
        if (constant && !out->constant++)
            out->first_constant = i;
    }
    out->mean = sum / all;
    out->sd = sqrt(fmax(0, squares / all - out->mean * out->mean));
}

static enum err_code find_label(struct data_check *check, const char *data,
                                const struct data_places *places, struct err *e)
{
    struct data_found found;
    enum err_code code = ERR_OK;

    TRY(data_find(&found, data, places, e));
    if (found.kind == DATA_CSV)
        code = data_csv_label(found.train, &check->label, e);
    data_found_free(&found);
    return code;
}

/* Numbers that are fine as they stand may be too far apart to be scaled, as training does it. Of a
 * large table one form is held at a time. */
static enum err_code open_set(struct data_check *check, struct spec *spec,
                              const struct data_places *places, struct err *e)
{
    const struct net_shape any = {0, 0, 0};
    struct err why;
    enum err_code code;

    spec->normalize = SPEC_NORMALIZE_AUTO;
    code = data_open(&check->set, spec, places, any, &why);
    if (code == ERR_OK && check->set->train.bytes)
        return ERR_OK;
    data_close(check->set);
    check->set = NULL;
    spec->normalize = SPEC_NORMALIZE_NONE;
    TRY(data_open(&check->set, spec, places, any, e));
    if (code != ERR_OK)
        check->unscaled = mem_text(why.text);
    return ERR_OK;
}

enum err_code data_check(struct data_check **out, const char *data,
                         const struct data_places *places, struct err *e)
{
    struct data_check *check;
    struct spec spec;
    enum err_code code;

    *out = NULL;
    spec_default(&spec);
    if (strlen(data) >= sizeof spec.data)
        return err_set(e, ERR_INPUT, "a path of more than %zu bytes", sizeof spec.data - 1);
    memcpy(spec.data, data, strlen(data) + 1);
    check = mem_new(1, sizeof *check);
    code = open_set(check, &spec, places, e);
    if (code == ERR_OK)
        code = find_label(check, data, places, e);
    if (code == ERR_OK) {
        measure(&check->train, check->set, &check->set->train);
        measure(&check->test, check->set, &check->set->test);
        code = find_same(check, e);
    }
    if (code != ERR_OK) {
        data_check_free(check);
        return code;
    }
    *out = check;
    return ERR_OK;
}

void data_check_free(struct data_check *check)
{
    if (!check)
        return;
    data_close(check->set);
    free(check->label);
    free(check->unscaled);
    free(check->train.of_class);
    free(check->test.of_class);
    free(check);
}
