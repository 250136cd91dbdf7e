/* study/answers.h: what the models of a run say of images: read from and written to predictions.safetensors,
 * averaged, asked, put in order. */
#ifndef CHORUS_STUDY_ANSWERS_H
#define CHORUS_STUDY_ANSWERS_H

#include "base/err.h"
#include "net/net.h"
#include "record/file/safetensors.h"
#include "study/confusion.h"
#include "study/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct study_answers {
    int64_t epoch; /* of the weights; -1: the file does not say */
    int members, classes;
    size_t n;
    struct net_shape shape;
    bool bytes;      /* images are 0 to 255, not floats */
    void *images;    /* (n, h, w, c) uint8_t or float */
    int64_t *labels; /* (n), below classes */
    float *p;        /* (members, n, classes): probabilities */
    double *log_p;   /* (members, n): logarithm of the label's, from the logits; NULL: not known */
    double *mean;    /* (n, classes): the average over members */
    int *answer;     /* (n): its most probable class, the lowest of equals */
    int *others;     /* (n): how many members answer otherwise */
    char **class_names;  /* (classes), or NULL; as may be one of them */
    char **column_names; /* likewise (c), of a table whose file has a header */
    int64_t (*size)[2];  /* (n) of pictures: width and height in their files; else NULL */
    char data_hash[16];  /* as in run.csv; "": an older file does not say */
};

/* Room for labels, images, probabilities and their average, by members, classes, n and shape. */
enum err_code study_answers_room(struct study_answers *a, struct err *e) MUST_USE;
/* Fills in mean, answer and others when the probabilities are there. */
void study_answers_average(struct study_answers *a);
enum err_code study_answers_save(const struct study_answers *a, const char *path,
                                 struct err *e) MUST_USE;
enum err_code study_answers_read(struct study_answers *a, const char *path, struct err *e) MUST_USE;
/* The same of a file that was read. path: for errors. */
enum err_code study_answers_take(struct study_answers *a, const struct safetensors *file,
                                 const char *path, struct err *e) MUST_USE;
void study_answers_free(struct study_answers *a);
size_t study_answers_pixels(const struct study_answers *a); /* values of an image */

/* A member's most probable class, the lowest of equals. */
int study_answers_of(const struct study_answers *a, int member, size_t image);
/* The mean's probability of its answer. */
double study_answers_highest(const struct study_answers *a, size_t image);
/* Whether these are answers to the same images, which are known by their bytes. */
bool study_answers_same_images(const struct study_answers *a, const struct study_answers *b);
bool study_answers_are_rows(const struct study_answers *a);    /* of a table: no pictures */
const char *study_answers_noun(const struct study_answers *a); /* "row", "image" */
/* An image's bytes (h, w, 1 or 3), floats between their least and largest; of other numbers of channels the first
 * alone, for nobody knows what such an image looks like. The caller frees them. */
uint8_t *study_answers_bytes(const struct study_answers *a, size_t image);
/* Labels against the mean's answers. only: (classes), images of these classes that were given one of them;
 * NULL: all. */
void study_answers_confusion(const struct study_answers *a, const int *only, int classes,
                             struct study_confusion *out);

enum study_order {
    STUDY_IN_ORDER,
    STUDY_WORST,  /* mistakes, the least probability of the right class first */
    STUDY_SURE,   /* the greatest highest probability first */
    STUDY_UNSURE, /* the least */
    STUDY_SPLIT,  /* by members that answer otherwise, the least sure first among equals */
    STUDY_ORDERS
};
/* The images of that label and that answer (-1: of any), in that order. Returns how many; the caller frees
 * *out. */
size_t study_answers_pick(const struct study_answers *a, enum study_order order, int label,
                          int answer, size_t **out);
/* A row an image: label, answer, the mean's probabilities, the members' answers, and where they are wished
 * for their probabilities. */
void study_answers_table(const struct study_answers *a, const size_t *image, size_t count,
                         bool members, struct study_table *out);

#endif
