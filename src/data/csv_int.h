/* data/csv_int.h: the rows of a CSV data set, between the file that reads them (csv_rows.c) and the one
 * that makes a set of them (csv.c). As long as every number is an integer from 0 to 255 rows are kept
 * as bytes, so that a set of images takes no more memory than it would as IDX. */
#ifndef CHORUS_DATA_CSV_INT_H
#define CHORUS_DATA_CSV_INT_H

#include "data/data_int.h"

/* The labels met so far, each once; a hash table of numbers into the list. */
struct csv_label {
    char *text;
    bool in_train;
    size_t line; /* where it was met first */
    const char *path;
};
struct csv_labels {
    struct csv_label *list;
    size_t count, room;
    uint32_t *slot; /* number + 1; 0: empty */
    size_t slots;   /* a power of two */
};
void csv_labels_free(struct csv_labels *l);

/* The rows of one file. */
struct csv_grid {
    size_t rows, columns; /* columns without the label's */
    size_t room, label_room;
    uint8_t *bytes; /* (rows, columns); NULL once a value did not fit */
    double *numbers;
    uint32_t *label; /* (rows): numbers into the list of labels */
    char **names;    /* (columns), the header's, NULL where there is none */
};
enum err_code csv_grid_read(struct csv_grid *g, const char *path, struct csv_labels *labels,
                            bool train, struct err *e) MUST_USE;
/* Bytes become numbers; filled: how many values there are so far. */
enum err_code csv_grid_widen(struct csv_grid *g, size_t filled, const char *path,
                             struct err *e) MUST_USE;
void csv_grid_free(struct csv_grid *g);

enum err_code csv_no_memory(const char *path, size_t rows, struct err *e);
bool csv_is_number(const char *s);
/* A field of a file, safe to print and not too long. */
const char *csv_shown(const char *field, char out[64]);

#endif
