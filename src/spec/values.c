/* The keys whose values are more than a word or a number, but for names and paths: each as a pair,
 * text in and text out. */
#include "spec/spec_int.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 2147483647

static bool is_count(const char *s, int64_t lo, int64_t hi, int64_t *value)
{
    return text_to_int(s, value) && *value >= lo && *value <= hi;
}

/* "32/device": 32. False where it does not end so. */
static bool is_per_device(const char *s, int64_t hi, int64_t *value)
{
    static const char end[] = "/device";

    if (!text_ends_with(s, end))
        return false;
    char *count = mem_text_n(s, strlen(s) - (sizeof end - 1));
    bool good = is_count(text_trim(count), 1, hi, value);
    free(count);
    return good;
}

/* ---- valid ---- */

enum err_code spec_set_valid(struct spec *s, const struct spec_input *in, struct err *e)
{
    bool per_cent = text_ends_with(in->value, "%");
    double value = 0;
    int64_t count = 0;

    if (per_cent) {
        char *number = mem_text_n(in->value, strlen(in->value) - 1);
        bool good = text_to_double(text_trim(number), &value) && value >= 0 && value < 100;
        free(number);
        if (!good)
            return spec_refuse(in, e, "it is no share that leaves something to train on");
    } else {
        if (!is_count(in->value, 0, MOST, &count))
            return spec_refuse(in, e, "it is neither a count nor per cent");
        value = (double)count;
    }
    s->valid = value == 0 ? 0 : value;
    s->valid_per_cent = per_cent && value > 0;
    return ERR_OK;
}

void spec_value_valid(const struct spec *s, struct text *out)
{
    char room[TEXT_NUMBER_ROOM];

    if (s->valid_per_cent)
        text_addf(out, "%s%%", text_double(room, s->valid));
    else
        text_addf(out, "%lld", (long long)s->valid);
}

/* ---- devices, threads, batch ---- */

enum err_code spec_set_devices(struct spec *s, const struct spec_input *in, struct err *e)
{
    int64_t count = 0;
    int gpu[SPEC_DEVICES] = {0};
    int n = 0;

    if (strncmp(in->value, "gpu:", 4) != 0) {
        if (!is_count(in->value, 1, 1024, &count))
            return spec_refuse_count(in, "count of devices", 1, 1024, e);
        s->devices = (int)count;
        memset(s->gpu, 0, sizeof s->gpu);
        s->gpus = 0;
        return ERR_OK;
    }
    for (const char *p = in->value + 4;; p++) {
        size_t digits = strcspn(p, "+");
        char *one = mem_text_n(p, digits);
        bool good = is_count(one, 0, 1023, &count);
        free(one);
        if (!good)
            return spec_refuse(in, e, "a GPU has a number from 0 to 1023, with + between two");
        if (n == SPEC_DEVICES)
            return spec_refuse(in, e, "more than %d GPUs", SPEC_DEVICES);
        for (int i = 0; i < n; i++)
            if (gpu[i] == (int)count)
                return spec_refuse(in, e, "GPU %d is named twice", gpu[i]);
        gpu[n++] = (int)count;
        p += digits;
        if (!*p)
            break;
    }
    memcpy(s->gpu, gpu, sizeof gpu);
    s->devices = s->gpus = n;
    return ERR_OK;
}

void spec_value_devices(const struct spec *s, struct text *out)
{
    if (!s->gpus)
        text_addf(out, "%d", s->devices);
    for (int i = 0; i < s->gpus; i++)
        text_addf(out, "%s%d", i ? "+" : "gpu:", s->gpu[i]);
}

enum err_code spec_set_threads(struct spec *s, const struct spec_input *in, struct err *e)
{
    enum spec_threads kind = SPEC_THREADS_ALL;
    int64_t count = 0;

    if (is_per_device(in->value, SPEC_THREADS_MOST, &count))
        kind = SPEC_THREADS_PER_DEVICE;
    else if (is_count(in->value, 1, SPEC_THREADS_MOST, &count))
        kind = SPEC_THREADS_COUNT;
    else if (strcmp(in->value, "all") != 0)
        return spec_refuse_count(in, "count of threads", 1, SPEC_THREADS_MOST, e);
    s->threads_kind = kind;
    s->threads = kind == SPEC_THREADS_ALL ? 0 : (int)count;
    return ERR_OK;
}

void spec_value_threads(const struct spec *s, struct text *out)
{
    if (s->threads_kind == SPEC_THREADS_ALL)
        text_add(out, "all");
    else
        text_addf(out, "%d%s", s->threads,
                  s->threads_kind == SPEC_THREADS_PER_DEVICE ? "/device" : "");
}

enum err_code spec_set_batch(struct spec *s, const struct spec_input *in, struct err *e)
{
    int64_t count = 0;
    bool per_device = is_per_device(in->value, MOST, &count);

    if (!per_device && !is_count(in->value, 1, MOST, &count))
        return spec_refuse_count(in, "count of images", 1, MOST, e);
    s->batch = count;
    s->batch_per_device = per_device;
    return ERR_OK;
}

void spec_value_batch(const struct spec *s, struct text *out)
{
    text_addf(out, "%lld%s", (long long)s->batch, s->batch_per_device ? "/device" : "");
}

/* ---- init, augment, seed, keep ---- */

enum err_code spec_set_init(struct spec *s, const struct spec_input *in, struct err *e)
{
    static const char *const words[] = {"model", "lecun", "he", "xavier"};
    static const enum spec_init kinds[] = {SPEC_INIT_MODEL, SPEC_INIT_LECUN, SPEC_INIT_HE,
                                           SPEC_INIT_XAVIER};
    double std = 0;

    for (size_t i = 0; i < MEM_COUNT(words); i++)
        if (!strcmp(in->value, words[i])) {
            s->init = kinds[i];
            s->init_std = 0;
            return ERR_OK;
        }
    if (strncmp(in->value, "normal:", 7) != 0)
        return spec_refuse(in, e, "there is no such initialisation");
    bool bias = text_ends_with(in->value + 6, ":bias");
    char *number = mem_text_n(in->value + 7, strlen(in->value + 7) - (bias ? 5 : 0));
    bool good = text_to_double(number, &std) && std > 0 && std <= 1000;
    free(number);
    if (!good)
        return spec_refuse(in, e, "the standard deviation behind normal: is wrong");
    s->init = bias ? SPEC_INIT_NORMAL_BIAS : SPEC_INIT_NORMAL;
    s->init_std = std;
    return ERR_OK;
}

void spec_value_init(const struct spec *s, struct text *out)
{
    static const char *const words[] = {"model", "normal", "normal", "lecun", "he", "xavier"};
    char room[TEXT_NUMBER_ROOM];

    text_add(out, words[s->init]);
    if (s->init == SPEC_INIT_NORMAL || s->init == SPEC_INIT_NORMAL_BIAS)
        text_addf(out, ":%s%s", text_double(room, s->init_std),
                  s->init == SPEC_INIT_NORMAL_BIAS ? ":bias" : "");
}

/* Walks words joined by "+": *rest moves behind the next one, which is copied into word. */
static bool next_word(const char **rest, char *word, size_t room)
{
    if (!*rest)
        return false;
    size_t n = strcspn(*rest, "+");
    snprintf(word, room, "%.*s", (int)(n < room ? n : room - 1), *rest);
    char *trimmed = text_trim(word);
    memmove(word, trimmed, strlen(trimmed) + 1);
    *rest = (*rest)[n] ? *rest + n + 1 : NULL;
    return true;
}

enum err_code spec_set_augment(struct spec *s, const struct spec_input *in, struct err *e)
{
    const char *rest = in->value;
    char word[64];
    unsigned all = 0;
    int64_t pad = 0;

    if (!strcmp(in->value, "none"))
        rest = NULL;
    while (next_word(&rest, word, sizeof word)) {
        unsigned bit = !strcmp(word, "flip")        ? SPEC_FLIP
                       : !strcmp(word, "erase")     ? SPEC_ERASE
                       : !strncmp(word, "crop:", 5) ? SPEC_CROP
                                                    : 0;
        if (!bit)
            return spec_refuse(in, e, "there is no such change to an image");
        if (bit == SPEC_CROP && !is_count(word + 5, 1, 256, &pad))
            return spec_refuse(in, e, "the pad behind crop: is wrong");
        if (all & bit)
            return spec_refuse(in, e, "a word stands in it twice");
        all |= bit;
    }
    s->augment = all;
    s->crop_pad = (int)pad;
    return ERR_OK;
}

void spec_value_augment(const struct spec *s, struct text *out)
{
    const char *plus = "";

    if (!s->augment)
        text_add(out, "none");
    if (s->augment & SPEC_FLIP) {
        text_add(out, "flip");
        plus = "+";
    }
    if (s->augment & SPEC_CROP) {
        text_addf(out, "%scrop:%d", plus, s->crop_pad);
        plus = "+";
    }
    if (s->augment & SPEC_ERASE)
        text_addf(out, "%serase", plus);
}

enum err_code spec_set_seed(struct spec *s, const struct spec_input *in, struct err *e)
{
    int64_t seed = 0;

    if (!is_count(in->value, 0, INT64_MAX, &seed))
        return spec_refuse_count(in, "whole number", 0, INT64_MAX, e);
    s->seed = (uint64_t)seed;
    return ERR_OK;
}

void spec_value_seed(const struct spec *s, struct text *out)
{
    text_addf(out, "%llu", (unsigned long long)s->seed);
}

static const struct {
    const char *word;
    unsigned bit;
} keep_words[] = {{"last", SPEC_KEEP_LAST},
                  {"best", SPEC_KEEP_BEST},
                  {"all", SPEC_KEEP_ALL},
                  {"every:", SPEC_KEEP_EVERY}};

enum err_code spec_set_keep(struct spec *s, const struct spec_input *in, struct err *e)
{
    const char *rest = in->value;
    char word[64];
    unsigned all = 0;
    int64_t every = 0;

    while (next_word(&rest, word, sizeof word)) {
        unsigned bit = 0;
        for (size_t i = 0; i < MEM_COUNT(keep_words); i++)
            if (keep_words[i].bit == SPEC_KEEP_EVERY ? !strncmp(word, keep_words[i].word, 6)
                                                     : !strcmp(word, keep_words[i].word))
                bit = keep_words[i].bit;
        if (!bit)
            return spec_refuse(in, e, "there is no such checkpoint");
        if (bit == SPEC_KEEP_EVERY && !is_count(word + 6, 1, 1000000, &every))
            return spec_refuse(in, e, "the epochs behind every: are wrong");
        if (all & bit)
            return spec_refuse(in, e, "a word stands in it twice");
        all |= bit;
    }
    s->keep = all;
    s->keep_every = every;
    return ERR_OK;
}

void spec_value_keep(const struct spec *s, struct text *out)
{
    const char *plus = "";

    for (size_t i = 0; i < MEM_COUNT(keep_words); i++) {
        if (!(s->keep & keep_words[i].bit))
            continue;
        text_addf(out, "%s%s", plus, keep_words[i].word);
        if (keep_words[i].bit == SPEC_KEEP_EVERY)
            text_addf(out, "%lld", (long long)s->keep_every);
        plus = "+";
    }
}
