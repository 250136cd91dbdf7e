/* data/folder_int.h: a folder of pictures by class, between the file that lists it (folder.c) and
 * those that read it (folder_pictures.c), find it (places.c) and keep what came of it (cache.c, set.c). */
#ifndef CHORUS_DATA_FOLDER_INT_H
#define CHORUS_DATA_FOLDER_INT_H

#include "data/data_int.h"

struct data_folder_file {
    char *path;
    uint32_t rank, of; /* its place among the pictures of its class, and how many these are */
    uint16_t class;
};

struct data_folder_part {
    struct data_folder_file *file;
    size_t count, room;
};

struct data_folder {
    char **classes; /* sorted by bytes */
    size_t count;
    struct data_folder_part train, test; /* in the order of the set */
    char **listed;                       /* the folders that were, for the state of the folder */
    size_t listed_count, listed_room;
    size_t skipped; /* files that are no pictures, and hidden ones */
    char *first_skipped;
    uint8_t state[32]; /* of all files and folders, when they were listed */
    bool settled;
};

#define DATA_FOLDER_DEPTH 2 /* folders above the pictures: cat/1.png, train/cat/1.png */

/* Whether there are folders with pictures in it, or (deeper) folders of such ones. */
bool data_folder_has_classes(const char *path, int depth);
/* Whether a file is a picture by its name, readable or not. */
bool data_is_picture(const char *path);
/* Whether pictures lie in the folder itself. */
bool data_folder_has_pictures(const char *path);
/* What of it is for training and what for testing: found's train, test and note. */
void data_folder_find(struct data_found *found, const char *path);

/* Lists what was found, in the order of the set, into found->folder_list. What is refused stands there up
 * to what was, with its state. */
enum err_code data_folder_list(struct data_found *found, struct err *e) MUST_USE;
void data_folder_free(struct data_folder *list);
/* Whether every file and folder of the list is as it was. */
bool data_folder_is_same(const struct data_folder *list, const char *root);

/* folder_pictures.c. peek: no pixels are read. */
enum err_code data_folder_load(struct data_raw *raw, const struct data_found *found,
                               int64_t train_limit, int64_t test_limit, struct net_shape wanted,
                               bool peek, const char *name, struct err *e) MUST_USE;

#endif
