/* data/data_int.h: what the files of this room share. A source is read whole into a data_raw;
 * set.c then limits, splits, normalises and hands it out. */
#ifndef CHORUS_DATA_INT_H
#define CHORUS_DATA_INT_H

#include "data/data.h"
#include "data/places.h"

#include <sys/stat.h>
#include <zlib.h>

/* No data set may be larger: a cap on what a header can ask for. */
#define DATA_BYTES_MAX   ((uint64_t)8 << 30)
#define DATA_CLASSES_MAX 65535
#define DATA_COUNT_MAX   4294967295u /* permutation's limit */

struct data_raw_part {
    size_t count;     /* of the images kept */
    size_t all;       /* of those that the source has */
    uint8_t *bytes;   /* (count, h, w, c); or */
    double *numbers;  /* (count, h, w, c), as read */
    uint16_t *labels; /* (count) */
    bool mapped;      /* these three lie in the raw's map, and are not freed */
};

/* A file of the cache in memory. */
struct data_map {
    void *at;
    size_t size;
    bool mapped; /* else read */
};
void data_map_free(struct data_map *map);

struct data_raw {
    struct net_shape shape;
    bool bytes; /* the parts have (or, peeked at, would have) bytes, else numbers */
    int classes;
    char **class_names;  /* NULL where none */
    char **column_names; /* (values of an image) of a table with a header, else NULL */
    struct data_raw_part train, test;
    struct data_map *map; /* NULL where the memory is the parts' own */
    char *note;           /* data_set's */
    char checksum[65];    /* data_set's while nothing is limited; "" where it is not known yet */
};
void data_raw_free(struct data_raw *raw);
size_t data_values(struct net_shape shape); /* of an image */
void data_free_names(char **names, size_t count);

/* Keeps the first `limit` (0: all) of `all`; key names the limit in the error. */
enum err_code data_limit(const char *key, int64_t limit, size_t all, const char *what,
                         const char *name, size_t *count, struct err *e) MUST_USE;

/* stream.c: a regular file, through gunzip where its name ends in .gz. */
struct data_stream {
    const char *path; /* borrowed */
    int fd;
    bool gz, ended;
    uint64_t size;  /* of the file */
    uint64_t taken; /* bytes of the file given to inflate */
    uint64_t given; /* bytes handed out */
    z_stream z;
    uint8_t in[65536];
};
enum err_code data_stream_open(struct data_stream *s, const char *path, struct err *e) MUST_USE;
/* The same, but told whether it is a gz. */
enum err_code data_stream_open_as(struct data_stream *s, const char *path, bool gz,
                                  struct err *e) MUST_USE;
/* *got < n only where the content ends; a damaged or cut gz is an error with its offset. */
enum err_code data_stream_read(struct data_stream *s, void *to, size_t n, size_t *got,
                               struct err *e) MUST_USE;
void data_stream_close(struct data_stream *s);

/* idx.c */
/* The set of four files. peek: images are not read, raw's bytes and labels stay NULL. */
enum err_code data_idx_load(struct data_raw *raw, const struct data_found *found,
                            int64_t train_limit, int64_t test_limit, bool peek, const char *name,
                            struct err *e) MUST_USE;

/* csv.c. peek: where the file was read before and is the same, its rows are not read again. */
/* "column 5 (label)": where a CSV file has its labels. The caller frees it. */
enum err_code data_csv_label(const char *path, char **words, struct err *e) MUST_USE;
enum err_code data_csv_load(struct data_raw *raw, const struct data_found *found,
                            int64_t train_limit, int64_t test_limit, struct net_shape wanted,
                            bool peek, const char *name, struct err *e) MUST_USE;

/* cache.c: where the decoded set of these files is kept, and of which state of theirs. */
struct data_cache {
    char *folder, *path;
    uint8_t key[32];
    bool settled; /* no file changed so lately that it could change again unseen */
};
/* False: it was changed so lately that it may change again unseen. */
bool data_cache_is_settled(const struct stat *st);
/* False: there is no folder for it, or a file is gone. */
bool data_cache_find(struct data_cache *cache, const struct data_found *found,
                     struct net_shape wanted);
void data_cache_free(struct data_cache *cache);
/* The whole set; every byte of it is as it was written. peek: only counts, shape and classes. False:
 * it must be decoded. */
bool data_cache_open(const struct data_cache *cache, struct data_raw *raw, bool peek);
/* raw is the whole set with its checksum. False: it could not be kept. */
bool data_cache_store(const struct data_cache *cache, const struct data_raw *raw);
/* No set of more bytes is kept. */
uint64_t data_cache_most(void);

/* synth.c */
enum err_code data_synth_load(struct data_raw *raw, uint64_t seed, int64_t train_limit,
                              int64_t test_limit, struct net_shape wanted, bool peek,
                              struct err *e) MUST_USE;

#endif
