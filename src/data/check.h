/* data/check.h: what is in a data set, counted: for `data check`. */
#ifndef CHORUS_DATA_CHECK_H
#define CHORUS_DATA_CHECK_H

#include "data/data.h"

struct data_check_part {
    size_t *of_class; /* (classes) */
    double least, most, mean, sd;
    size_t constant, first_constant; /* images of one value everywhere */
    size_t again; /* images that are the same as an earlier one of training or of this part */
    size_t contradicting; /* of these: under another label */
    size_t in_training;   /* test: images that are the same as one of training */
};

struct data_check {
    struct data_set *set; /* bytes, or numbers that are not scaled */
    struct data_check_part train, test;
    char *label;    /* "column 5 (label)": where a CSV file has its labels; NULL: it is none */
    char *unscaled; /* why only normalize = none takes it; NULL: any does */
};

/* data: a value of the key `data`. Reads all of it; what is broken is ERR_INPUT. */
enum err_code data_check(struct data_check **out, const char *data,
                         const struct data_places *places, struct err *e) MUST_USE;
void data_check_free(struct data_check *check);

#endif
