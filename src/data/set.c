/* A data set as training sees it: found, read, limited, split, normalised, summed up. */
#include "data/folder_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The memory behind a data_set, one part in three. */
struct data_hold {
    struct {
        uint8_t *bytes;
        float *values;
        uint16_t *labels;
        bool mapped; /* bytes and labels lie in map */
    } part[3];       /* train, valid, test */
    struct data_map *map;
};

static void part_free(struct data_raw_part *part)
{
    if (!part->mapped) {
        free(part->bytes);
        free(part->numbers);
        free(part->labels);
    }
    *part = (struct data_raw_part){0};
}

size_t data_values(struct net_shape shape)
{
    return (size_t)shape.h * (size_t)shape.w * (size_t)shape.c;
}

void data_free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void data_raw_free(struct data_raw *raw)
{
    part_free(&raw->train);
    part_free(&raw->test);
    data_map_free(raw->map);
    data_free_names(raw->class_names, (size_t)raw->classes);
    data_free_names(raw->column_names, data_values(raw->shape));
    free(raw->note);
    *raw = (struct data_raw){0};
}

enum err_code data_limit(const char *key, int64_t limit, size_t all, const char *what,
                         const char *name, size_t *count, struct err *e)
{
    char there[TEXT_NUMBER_ROOM];

    if (limit < 0 || (uint64_t)limit > all) {
        return err_set(e, ERR_INPUT, "%s = %lld: %s has %s %s images; %s=all takes them all", key,
                       (long long)limit, name, text_count(there, all), what, key);
    }
    *count = limit ? (size_t)limit : all;
    return ERR_OK;
}

static size_t pixels_of(const struct net_shape *shape)
{
    return (size_t)shape->h * (size_t)shape->w * (size_t)shape->c;
}

/* The checksum covers what was read, in the order of the files; how `valid` and `normalize` use it
 * is said by those keys. */
static void add_part(struct hash_sha256 *h, const struct data_raw_part *part, size_t size)
{
    uint8_t word[8];

    if (part->bytes) {
        hash_sha256_add(h, part->bytes, part->count * size);
    } else {
        for (size_t i = 0; i < part->count * size; i++) {
            uint64_t bits;

            memcpy(&bits, &part->numbers[i], 8);
            for (int k = 0; k < 8; k++)
                word[k] = (uint8_t)(bits >> (8 * k));
            hash_sha256_add(h, word, 8);
        }
    }
    for (size_t i = 0; i < part->count; i++) {
        word[0] = (uint8_t)part->labels[i];
        word[1] = (uint8_t)(part->labels[i] >> 8);
        hash_sha256_add(h, word, 2);
    }
}

static void sum_up(const struct data_raw *raw, char out[65])
{
    struct hash_sha256 h;
    uint8_t digest[32];
    char head[128];
    int n = snprintf(head, sizeof head, "%s %d %d %d classes %d train %zu test %zu\n",
                     raw->train.bytes ? "bytes" : "numbers", raw->shape.h, raw->shape.w,
                     raw->shape.c, raw->classes, raw->train.count, raw->test.count);

    hash_sha256_start(&h);
    hash_sha256_add(&h, head, (size_t)n);
    add_part(&h, &raw->train, pixels_of(&raw->shape));
    add_part(&h, &raw->test, pixels_of(&raw->shape));
    hash_sha256_end(&h, digest);
    hash_hex(out, digest, 32);
}

/* What is to be read. */
struct source {
    const struct spec *spec;
    const struct data_found *found;
    struct net_shape wanted;
};

/* whole: without the limits. */
static enum err_code decode(struct data_raw *raw, const struct source *from, bool whole, bool peek,
                            struct err *e)
{
    const struct spec *spec = from->spec;
    int64_t train = whole ? 0 : spec->train_limit, test = whole ? 0 : spec->test_limit;
    enum err_code code;

    *raw = (struct data_raw){0};
    if (from->found->kind == DATA_IDX)
        code = data_idx_load(raw, from->found, train, test, peek, spec->data, e);
    else if (from->found->kind == DATA_CSV)
        code = data_csv_load(raw, from->found, train, test, from->wanted, peek, spec->data, e);
    else if (from->found->kind == DATA_FOLDER)
        code = data_folder_load(raw, from->found, train, test, from->wanted, peek, spec->data, e);
    else
        code = data_synth_load(raw, spec->seed, train, test, from->wanted, peek, e);
    if (code != ERR_OK)
        data_raw_free(raw);
    return code;
}

static enum err_code limit(struct data_raw *raw, const struct spec *spec, struct err *e)
{
    enum err_code code = data_limit("train_limit", spec->train_limit, raw->train.all, "training",
                                    spec->data, &raw->train.count, e);

    if (code == ERR_OK)
        code = data_limit("test_limit", spec->test_limit, raw->test.all, "test", spec->data,
                          &raw->test.count, e);
    if (code != ERR_OK)
        data_raw_free(raw);
    else if (raw->train.count < raw->train.all || raw->test.count < raw->test.all)
        raw->checksum[0] = 0;
    return code;
}

/* Decodes all of it and leaves it in the cache, if it can. What is in memory of its own is given back
 * before the file is mapped. */
static enum err_code decode_and_store(struct data_raw *raw, const struct source *from,
                                      const struct data_cache *cache, struct err *e)
{
    struct data_cache after;
    bool same;

    if (from->found->kind != DATA_CSV) { /* what the headers promise tells whether it will fit */
        uint64_t bytes;

        TRY(decode(raw, from, false, true, e));
        bytes = (uint64_t)pixels_of(&raw->shape) * (raw->train.all + raw->test.all);
        data_raw_free(raw);
        if (bytes > data_cache_most())
            return decode(raw, from, false, false, e);
    }
    TRY(decode(raw, from, true, false, e));
    sum_up(raw, raw->checksum);
    same = (!from->found->folder_list ||
            data_folder_is_same(from->found->folder_list, from->found->folder)) &&
           data_cache_find(&after, from->found, from->wanted) &&
           !memcmp(after.key, cache->key, sizeof after.key);
    data_cache_free(&after);
    if (same && data_cache_store(cache, raw)) {
        data_raw_free(raw);
        if (!data_cache_open(cache, raw, false))
            return decode(raw, from, false, false, e);
    }
    return limit(raw, from->spec, e);
}

/* What is mapped is there as a whole; of numbers there are floats beside it. */
static size_t bytes_held(const struct data_raw *raw, bool whole)
{
    size_t size = pixels_of(&raw->shape), count = raw->train.count + raw->test.count;
    size_t rows = whole ? raw->train.all + raw->test.all : count;

    if (raw->bytes)
        return rows * (size + sizeof(uint16_t));
    return (whole ? rows * (size * sizeof(double) + sizeof(uint16_t)) : 0) +
           count * (size * sizeof(float) + sizeof(uint16_t));
}

/* *held: of what will be in memory, also where there is only a look. */
static enum err_code load(struct data_raw *raw, const struct spec *spec,
                          const struct data_places *places, struct net_shape wanted, bool peek,
                          size_t *held, struct err *e)
{
    struct data_found found;
    struct data_cache cache;
    struct source from = {spec, &found, wanted};
    enum err_code code;
    bool cached = false;

    *raw = (struct data_raw){0};
    TRY(data_find(&found, spec->data, places, e));
    code = found.kind == DATA_FOLDER ? data_folder_list(&found, e) : ERR_OK;
    if (code == ERR_OK && found.kind != DATA_SYNTHETIC)
        cached = data_cache_find(&cache, &found, wanted);
    if (cached && data_cache_open(&cache, raw, peek))
        code = limit(raw, spec, e);
    else if (cached && cache.settled && !peek)
        code = decode_and_store(raw, &from, &cache, e);
    else if (code == ERR_OK)
        code = decode(raw, &from, false, peek, e);
    if (cached)
        data_cache_free(&cache);
    if (code == ERR_OK) {
        *held = bytes_held(raw, cached);
        raw->note = found.note;
        found.note = NULL;
    }
    data_found_free(&found);
    return code;
}

static enum err_code valid_count(const struct spec *spec, size_t n, size_t *count, struct err *e)
{
    char value[TEXT_NUMBER_ROOM], there[TEXT_NUMBER_ROOM];
    double want = spec->valid_per_cent ? floor((double)n * spec->valid / 100 + 0.5) : spec->valid;

    *count = 0;
    if (!(spec->valid > 0))
        return ERR_OK;
    text_double(value, spec->valid);
    text_count(there, n);
    if (want < 1) {
        return err_set(e, ERR_INPUT, "valid = %s%s: of %s training images that is not one", value,
                       spec->valid_per_cent ? "%" : "", there);
    }
    if (want >= (double)n) {
        return err_set(e, ERR_INPUT, "valid = %s%s: of %s training images none would be left",
                       value, spec->valid_per_cent ? "%" : "", there);
    }
    *count = (size_t)want;
    return ERR_OK;
}

/* Moves the last `held` of permutation(key(0), n) out of train into valid, both compact: valid in
 * the permutation's order, train in the file's. */
static enum err_code hold_out(struct data_raw *raw, struct data_raw_part *valid, size_t held,
                              struct err *e)
{
    struct data_raw_part *train = &raw->train;
    struct data_map *map = raw->map;
    size_t size = pixels_of(&raw->shape), n = train->count,
           width = train->bytes ? size : size * sizeof *train->numbers, to = 0;
    uint32_t *order = mem_try(n, sizeof *order);
    char *out = mem_try(n, 1), *from = train->bytes ? (char *)train->bytes : (char *)train->numbers;
    char *copy = mem_try(held, width);
    uint16_t *labels = mem_try(held, sizeof *labels);

    if (!order || !out || !copy || !labels || !rng_permutation(rng_key(0), n, order) ||
        (map && !io_map_own(map->at, map->size, map->mapped))) {
        free(order);
        free(out);
        free(copy);
        free(labels);
        return err_set(e, ERR_NOMEM, "no memory for %zu images of %zu bytes held out by valid",
                       held, width);
    }
    for (size_t i = 0; i < held; i++) {
        size_t at = order[n - held + i];

        out[at] = 1;
        memcpy(copy + i * width, from + at * width, width);
        labels[i] = train->labels[at];
    }
    for (size_t i = 0; i < n; i++) {
        if (out[i])
            continue;
        if (to != i) {
            memcpy(from + to * width, from + i * width, width);
            train->labels[to] = train->labels[i];
        }
        to++;
    }
    train->count = to;
    valid->count = held;
    valid->labels = labels;
    if (train->bytes)
        valid->bytes = (uint8_t *)copy;
    else
        valid->numbers = (double *)(void *)copy;
    free(order);
    free(out);
    return ERR_OK;
}

/* Mean and deviation of every channel over the training images; a constant channel divides by 1. */
static void byte_moments(const struct data_raw_part *train, size_t pixels, size_t channels,
                         size_t c, double *mean, double *sd)
{
    /* Four tables in turn: neighbours are often alike, and a count waits for the one before. */
    uint64_t seen[256] = {0}, part[4][256] = {0};
    size_t values = train->count * pixels;
    const uint8_t *at = train->bytes + c;
    double n = (double)values, sum = 0, squares = 0;

    for (; values >= 4; values -= 4, at += 4 * channels) {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++)
            part[k][at[k * channels]]++;
    }
    for (; values; values--, at += channels)
        part[0][*at]++;
    for (int v = 0; v < 256; v++)
        seen[v] = part[0][v] + part[1][v] + part[2][v] + part[3][v];
    for (int v = 0; v < 256; v++)
        sum += (double)seen[v] * v;
    *mean = sum / n;
    for (int v = 0; v < 256; v++)
        squares += (double)seen[v] * (v - *mean) * (v - *mean);
    *sd = squares > 0 ? sqrt(squares / n) : 1;
}

static void make_lut(struct data_set *set, const struct data_raw_part *train,
                     enum spec_normalize how)
{
    size_t channels = (size_t)set->shape.c, pixels = pixels_of(&set->shape) / channels;

    set->lut = mem_new(channels * 256, sizeof *set->lut);
    for (size_t c = 0; c < channels; c++) {
        float *lut = set->lut + c * 256;
        double mean = 0, sd = 1;

        if (how == SPEC_NORMALIZE_STANDARD)
            byte_moments(train, pixels, channels, c, &mean, &sd);
        for (int v = 0; v < 256; v++) {
            if (how == SPEC_NORMALIZE_255)
                lut[v] = (float)v / 255.0f;
            else if (how == SPEC_NORMALIZE_STANDARD)
                lut[v] = (float)((v - mean) / sd);
            else
                lut[v] = (float)v;
        }
    }
}

/* Every column of a row on its own, as tables need it. */
static void column_moments(const struct data_raw_part *train, size_t size, double *mean, double *sd)
{
    double n = (double)train->count;

    for (size_t i = 0; i < train->count; i++)
        for (size_t k = 0; k < size; k++)
            mean[k] += train->numbers[i * size + k] / n;
    for (size_t i = 0; i < train->count; i++) {
        for (size_t k = 0; k < size; k++) {
            double d = train->numbers[i * size + k] - mean[k];

            sd[k] += d * d / n;
        }
    }
    /* A constant column's mean is rounded, so its deviation is not quite 0. */
    for (size_t k = 0; k < size; k++)
        sd[k] = sqrt(sd[k]) > 1e-12 * fabs(mean[k]) ? sqrt(sd[k]) : 1;
}

static enum err_code make_values(const struct data_raw_part *part, size_t size, const double *mean,
                                 const double *sd, float **out, const char *name, const char *which,
                                 struct err *e)
{
    float *values = part->count ? mem_try(part->count * size, sizeof *values) : NULL;

    *out = values;
    if (part->count && !values)
        return err_set(e, ERR_NOMEM, "%s: no memory for %zu numbers", name, part->count * size);
    for (size_t i = 0; i < part->count; i++) {
        const double *row = part->numbers + i * size;

        for (size_t k = 0; k < size; k++, values++) {
            *values = (float)((row[k] - mean[k]) / sd[k]);
            if (!isfinite(*values)) {
                return err_set(e, ERR_INPUT,
                               "%s: value %zu of %s row %zu, %g, is too large for a float when its "
                               "column is scaled as the training rows say",
                               name, k + 1, which, i + 1, row[k]);
            }
        }
    }
    return ERR_OK;
}

static enum err_code normalise_numbers(struct data_set *set, struct data_hold *hold,
                                       struct data_raw_part *parts[3], enum spec_normalize how,
                                       struct err *e)
{
    static const char *const word[3] = {"training", "validation", "test"};
    size_t size = pixels_of(&set->shape);
    double *mean = mem_new(size, sizeof *mean), *sd = mem_new(size, sizeof *sd);
    enum err_code code = ERR_OK;

    if (how == SPEC_NORMALIZE_STANDARD)
        column_moments(parts[0], size, mean, sd);
    else
        for (size_t k = 0; k < size; k++)
            sd[k] = how == SPEC_NORMALIZE_255 ? 255 : 1;
    for (int i = 0; i < 3 && code == ERR_OK; i++) {
        code = make_values(parts[i], size, mean, sd, &hold->part[i].values, set->name, word[i], e);
        if (!parts[i]->mapped)
            free(parts[i]->numbers);
        parts[i]->numbers = NULL;
    }
    free(mean);
    free(sd);
    return code;
}

static enum spec_normalize resolve(enum spec_normalize asked, bool bytes)
{
    if (asked != SPEC_NORMALIZE_AUTO)
        return asked;
    return bytes ? SPEC_NORMALIZE_255 : SPEC_NORMALIZE_STANDARD;
}

/* A long path keeps its end, which tells more. */
static void set_name(char out[128], const char *data)
{
    size_t n = strlen(data);

    if (n < 128)
        memcpy(out, data, n + 1);
    else
        snprintf(out, 128, "...%s", data + n - 124);
}

static void hand_out(struct data_part *to, struct data_hold *hold, int i,
                     struct data_raw_part *from)
{
    hold->part[i].bytes = from->bytes;
    hold->part[i].labels = from->labels;
    hold->part[i].mapped = from->mapped;
    from->bytes = NULL;
    from->labels = NULL;
    *to = (struct data_part){from->count, hold->part[i].bytes, hold->part[i].values,
                             hold->part[i].labels};
}

static enum err_code build(struct data_set *set, struct data_raw *raw, const struct spec *spec,
                           struct err *e)
{
    struct data_raw_part valid = {0}, *parts[3] = {&raw->train, &valid, &raw->test};
    struct data_hold *hold = set->hold;
    bool bytes = raw->bytes;
    size_t held;
    enum err_code code = ERR_OK;

    set->shape = raw->shape;
    set->classes = raw->classes;
    set->class_names = raw->class_names;
    raw->class_names = NULL;
    set->column_names = raw->column_names;
    raw->column_names = NULL;
    set->note = raw->note;
    raw->note = NULL;
    set->floats = !bytes;
    set->normalize = resolve(spec->normalize, bytes);
    if (!raw->checksum[0])
        sum_up(raw, raw->checksum);
    memcpy(set->checksum, raw->checksum, sizeof set->checksum);
    TRY(valid_count(spec, raw->train.count, &held, e));
    if (held)
        TRY(hold_out(raw, &valid, held, e));
    if (bytes)
        make_lut(set, &raw->train, set->normalize);
    else
        code = normalise_numbers(set, hold, parts, set->normalize, e);
    hold->map = raw->map;
    raw->map = NULL;
    hand_out(&set->train, hold, 0, parts[0]);
    hand_out(&set->valid, hold, 1, parts[1]);
    hand_out(&set->test, hold, 2, parts[2]);
    free(valid.numbers); /* left only where a part failed */
    return code;
}

enum err_code data_open(struct data_set **out, const struct spec *spec,
                        const struct data_places *places, struct net_shape wanted, struct err *e)
{
    uint64_t start = clock_ns();
    struct data_set *set;
    struct data_raw raw;
    enum err_code code;
    size_t bytes;

    *out = NULL;
    TRY(load(&raw, spec, places, wanted, false, &bytes, e));
    set = mem_new(1, sizeof *set);
    set->hold = mem_new(1, sizeof(struct data_hold));
    set->held = bytes;
    set_name(set->name, spec->data);
    code = build(set, &raw, spec, e);
    data_raw_free(&raw);
    if (code != ERR_OK) {
        data_close(set);
        return code;
    }
    set->seconds = (double)(clock_ns() - start) * 1e-9;
    *out = set;
    return ERR_OK;
}

int data_only_class(const struct data_part *part)
{
    for (size_t i = 1; i < part->count; i++)
        if (part->labels[i] != part->labels[0])
            return -1;
    return part->count ? part->labels[0] : -1;
}

void data_close(struct data_set *set)
{
    struct data_hold *hold = set ? set->hold : NULL;

    if (!set)
        return;
    for (int i = 0; i < 3; i++) {
        if (!hold->part[i].mapped) {
            free(hold->part[i].bytes);
            free(hold->part[i].labels);
        }
        free(hold->part[i].values);
    }
    data_map_free(hold->map);
    data_free_names(set->class_names, (size_t)set->classes);
    data_free_names(set->column_names, data_values(set->shape));
    free(set->note);
    free(set->lut);
    free(hold);
    free(set);
}

enum err_code data_peek(struct data_set *facts, const struct spec *spec,
                        const struct data_places *places, struct net_shape wanted, struct err *e)
{
    uint64_t start = clock_ns();
    struct data_raw raw;
    enum err_code code;
    size_t held = 0, bytes;

    *facts = (struct data_set){0};
    TRY(load(&raw, spec, places, wanted, true, &bytes, e));
    code = valid_count(spec, raw.train.count, &held, e);
    if (code == ERR_OK) {
        set_name(facts->name, spec->data);
        facts->held = bytes;
        facts->shape = raw.shape;
        facts->classes = raw.classes;
        facts->floats = !raw.bytes;
        facts->normalize = resolve(spec->normalize, raw.bytes);
        facts->train.count = raw.train.count - held;
        facts->valid.count = held;
        facts->test.count = raw.test.count;
        facts->seconds = (double)(clock_ns() - start) * 1e-9;
    }
    data_raw_free(&raw);
    return code;
}
