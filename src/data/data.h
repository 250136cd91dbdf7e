/* data/data.h: images and labels in memory. Images are (n, h, w, c): bytes where the source has
 * bytes (a table turns them into floats), floats elsewhere. Read-only once opened: any thread. */
#ifndef CHORUS_DATA_H
#define CHORUS_DATA_H

#include "base/err.h"
#include "base/text.h"
#include "net/net.h"
#include "spec/spec.h"

#include <stddef.h>
#include <stdint.h>

struct data_part { /* one of bytes and values is NULL */
    size_t count;
    const uint8_t *bytes; /* (count, h, w, c) */
    const float *values;  /* (count, h, w, c), normalised already */
    const uint16_t *labels;
};

struct data_set {
    char name[128]; /* "fashion-mnist", or the path */
    struct net_shape shape;
    int classes;
    char **class_names;  /* (classes), NULL where the source names none */
    char **column_names; /* (h * w * c) of a table with a header, else NULL */
    /* valid.count is 0 without `valid`; train is without it, in the file's order, valid in the
     * permutation's. */
    struct data_part train, valid, test;
    bool floats; /* images are values, also where they were only peeked at; else bytes */
    float *lut;  /* (c, 256): byte to float by `normalize`; NULL where values are floats */
    enum spec_normalize normalize; /* what was really used */
    char *note;        /* what of the source is not read, or is read as what; NULL: nothing */
    char checksum[65]; /* SHA-256 of the images and labels that training and testing see */
    double seconds;    /* what opening it took */
    size_t held; /* bytes of images and labels in memory, those that limits leave out among them */
    void *hold;  /* memory and mappings, the room's own */
};

/* Bytes of an image's number in memory. */
static inline size_t data_element(const struct data_set *set)
{
    return set->floats || set->train.values ? sizeof(float) : 1;
}

/* Where data sets are looked for, first match wins. */
struct data_places {
    const char *given; /* --data-dir or CHORUS_DATA; NULL */
};

/* Opens what spec->data says with its normalize, valid, train_limit, test_limit and seed
 * (synthetic). wanted: the shape that the model demands, all 0 for none. A missing data set is
 * ERR_INPUT whose text ends with the command that gets it. */
enum err_code data_open(struct data_set **out, const struct spec *spec,
                        const struct data_places *places, struct net_shape wanted,
                        struct err *e) MUST_USE;
void data_close(struct data_set *set);

/* Only what can be known cheaply: shape, classes, counts, floats, normalize; for the planner (headers and
 * labels are read, images are not; a CSV file is, but not twice as long as it does not change).
 * valid is counted out of train. facts holds no memory: it is not closed. */
enum err_code data_peek(struct data_set *facts, const struct spec *spec,
                        const struct data_places *places, struct net_shape wanted,
                        struct err *e) MUST_USE;

/* What the value names, as a number that is another one where a file that would be read has come, gone
 * or been written: nothing is read. What took long to find out holds for a while. */
uint64_t data_state(const char *data, const struct data_places *places);

/* The class that all images of the part have, -1: there are several, or none. */
int data_only_class(const struct data_part *part);

/* Image i of a part as floats (h, w, c). */
void data_image(const struct data_set *set, const struct data_part *part, size_t i, float *out);
/* The same through the augmentation of docs/keys.md; place: the image's place in the epoch. What is padded
 * or erased is 0 in the floats handed out, so after `normalize`. */
void data_image_augmented(const struct data_set *set, const struct data_part *part, size_t i,
                          unsigned augment, int crop_pad, struct rng_key order_key, uint64_t place,
                          float *out);

#endif
