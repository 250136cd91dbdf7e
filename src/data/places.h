/* data/places.h: which data sets are known by name, where they are looked for, and which files a
 * folder holds. For the room itself and for the commands that list and fetch. */
#ifndef CHORUS_DATA_PLACES_H
#define CHORUS_DATA_PLACES_H

#include "base/err.h"
#include "data/data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DATA_TRAIN_IMAGES, DATA_TRAIN_LABELS, DATA_TEST_IMAGES, DATA_TEST_LABELS, DATA_FILES };

struct data_known_file {
    const char *name;   /* "train-images-idx3-ubyte.gz" */
    uint64_t bytes;     /* of the content behind the gz */
    const char *sha256; /* of the content: mirrors compress it differently */
};

struct data_known {
    const char *name;
    const char *package; /* Debian's, NULL where there is none */
    const char *url;     /* where it is fetched from */
    int classes;
    const char *const *class_names; /* (classes), NULL where they are just numbers */
    struct data_known_file file[DATA_FILES];
};
extern const struct data_known data_known_sets[]; /* ends with a NULL name */
const struct data_known *data_known_find(const char *name);

/* The four files of a folder of IDX files; NULL where none of its names is there. */
struct data_idx_files {
    char *path[DATA_FILES];
};

/* The folders in which a known set is looked for, in this order. Freed by io_free_names. */
void data_places_list(const char *name, const struct data_places *places, char ***folders,
                      size_t *count);
/* $XDG_DATA_HOME/chorus/NAME, with HOME's .local/share where that is not set: where it is fetched
 * to. The caller frees it. */
enum err_code data_place_of_user(const char *name, char **folder, struct err *e) MUST_USE;

enum data_kind { DATA_IDX, DATA_CSV, DATA_FOLDER, DATA_SYNTHETIC };
#define DATA_SYNTHETIC_IMAGES 60000 /* to train on */

/* What the key `data` means here. */
struct data_found {
    enum data_kind kind;
    const struct data_known *known; /* NULL where it is a path */
    char *folder;                   /* DATA_IDX, DATA_FOLDER */
    struct data_idx_files files;    /* DATA_IDX: all four are there */
    char *train,
        *test; /* DATA_CSV: files, DATA_FOLDER: folders; test is NULL where one holds both */
    struct data_folder *folder_list; /* DATA_FOLDER, once it was listed */
    char *note;                      /* what of it is not read, or read as what; NULL: nothing */
};
/* Finds it without reading it. What is not here is ERR_INPUT with the command that gets it. */
enum err_code data_find(struct data_found *found, const char *data,
                        const struct data_places *places, struct err *e) MUST_USE;
void data_found_free(struct data_found *found);

#endif
