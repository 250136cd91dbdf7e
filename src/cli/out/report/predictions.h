/* cli/out/report/predictions.h: what the models of a run say of the test images: computed from a checkpoint, kept
 * in the run's folder as predictions.safetensors, read back. */
#ifndef CHORUS_CLI_OUT_REPORT_PREDICTIONS_H
#define CHORUS_CLI_OUT_REPORT_PREDICTIONS_H

#include "base/err.h"
#include "net/net.h"
#include "record/run/reader.h"
#include "record/file/safetensors.h"
#include "study/members.h"

#include <stdbool.h>
#include <stdint.h>

struct predictions {
    int64_t epoch; /* of the weights; -1: the file does not say */
    int members, classes;
    size_t n;
    struct net_shape shape;
    bool bytes;         /* images are 0 to 255, not floats */
    void *images;       /* (n, h, w, c) uint8_t or float */
    int64_t *labels;    /* (n) */
    float *p;           /* (members, n, classes) */
    double *log_p;      /* (members, n): logarithm of the label's; NULL: an older file has none */
    double *mean;       /* (n, classes): the average over members */
    char **class_names; /* (classes), or NULL */
    int64_t (*size)[2]; /* (n) of pictures: width and height in their files; else NULL */
    char *columns;      /* of a table: their names, a line each; or NULL */
    char data_hash[16]; /* as in run.csv; "": an older file does not say */
};

/* at: "best", "last" or an epoch's number; NULL: the last. Needs the data. */
enum err_code predictions_make(struct predictions *p, const struct record_entry *run,
                               const char *at, struct err *e) MUST_USE;
/* Of picture files instead of the test images; their labels are all 0. */
enum err_code predictions_of_pictures(struct predictions *p, const struct record_entry *run,
                                      const char *at, int count, char **files, bool invert,
                                      struct err *e) MUST_USE;
enum err_code predictions_save(const struct predictions *p, const char *path,
                               struct err *e) MUST_USE;
enum err_code predictions_read(struct predictions *p, const char *path, struct err *e) MUST_USE;
/* Those of the run's last epoch: the kept ones where they are of it, else made and kept. A folder that
 * cannot be written to is no error. */
enum err_code predictions_get(struct predictions *p, const struct record_entry *run,
                              struct err *e) MUST_USE;
void predictions_free(struct predictions *p);

/* Where they are kept. The caller frees it. */
char *predictions_path(const struct record_entry *run);
/* A member's row, or (-1) the mean's, as doubles: (classes). */
void predictions_row(const struct predictions *p, int member, size_t image, double *row);
/* Whether these are answers to the same images, which are known by their bytes. */
bool predictions_same_images(const struct predictions *a, const struct predictions *b);
/* What study_members asks for; it points into p. */
struct study_answers predictions_answers(const struct predictions *p);
/* The most probable class, the lowest of equals; of a member or (-1) of the mean. */
int predictions_answer(const struct predictions *p, int member, size_t image);
/* The mean's probability of its answer. */
double predictions_highest(const struct predictions *p, size_t image);

#endif
