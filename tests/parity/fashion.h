/* What tests of losses on Fashion-MNIST share: its first images, and weights into a session. */
#ifndef CHORUS_TESTS_PARITY_FASHION_H
#define CHORUS_TESTS_PARITY_FASHION_H

#include "base/mem.h"
#include "engine/backend.h"
#include "tests/test.h"

#define FASHION_IS_NOT_HERE "Fashion-MNIST is not here: make deps brings it"

/* The first `most` images, opened once for the whole program; NULL where they are not here. */
static inline struct data_set *fashion_open(int64_t most)
{
    static struct data_set *images;
    struct spec spec;
    struct data_places places = {0};
    struct err e;

    if (images)
        return images;
    spec_default(&spec);
    snprintf(spec.data, sizeof spec.data, "fashion-mnist");
    spec.train_limit = most;
    spec.test_limit = 1;
    return data_open(&images, &spec, &places, (struct net_shape){0, 0, 0}, &e) == ERR_OK ? images
                                                                                         : NULL;
}

/* Floats into a session, as doubles where it holds these. */
static inline bool fashion_set(const struct backend *be, struct backend_session *s, int member,
                               enum backend_kind kind, bool wide, float *from, size_t n,
                               struct err *e)
{
    double *doubles = mem_new(n + 1, sizeof *doubles);
    bool good;

    for (size_t i = 0; i < n; i++)
        doubles[i] = (double)from[i];
    good = be->state(s, member, kind, true, wide ? (void *)doubles : (void *)from, e) == ERR_OK;
    free(doubles);
    return good;
}

#endif
