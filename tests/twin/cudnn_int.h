/* tests/twin/cudnn_int.h: what the twin of cuDNN plans and computes (cudnn_work.c). */
#ifndef CHORUS_TESTS_TWIN_CUDNN_INT_H
#define CHORUS_TESTS_TWIN_CUDNN_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TWIN_DNN_ENGINES 7
#define TWIN_DNN_TEXT    1024

struct twin_dnn_tensor {
    int type;
    int64_t uid, dim[4], stride[4];
};

struct twin_dnn_work {
    int pass, engine;
    struct twin_dnn_tensor tensor[3]; /* X, W, Y */
    int64_t before[2], after[2], step[2];
    int64_t way; /* of several of the engine: text alone tells of it */
    int gpu;     /* of the handle that a plan was made with */
};

/* The engine of the i-th candidate, and the notes it bears: their number. */
int twin_dnn_engine(int i);
int twin_dnn_notes(int engine, int *notes, int room);
/* Whether shapes fit each other; if not, why. */
bool twin_dnn_check(const struct twin_dnn_work *w, char *why, size_t room);
/* Whether the engine can do it; bytes that it needs besides. */
bool twin_dnn_can(const struct twin_dnn_work *w);
size_t twin_dnn_workspace(const struct twin_dnn_work *w);
void twin_dnn_compute(const struct twin_dnn_work *w, void *const tensor[3]);

/* A plan as text, and from it. */
size_t twin_dnn_write(const struct twin_dnn_work *w, char out[TWIN_DNN_TEXT]);
bool twin_dnn_read(struct twin_dnn_work *w, const char *text, size_t n);

#endif
