/* tests/parity/cuda_kit.h: the kit for the CUDA backend on its twin. */
#ifndef CHORUS_TESTS_PARITY_CUDA_KIT_H
#define CHORUS_TESTS_PARITY_CUDA_KIT_H

#include "cuda/cuda_int.h"
#include "tests/twin/twin.h"
#include "tests/parity/kit.h"

#define BE (&cuda_session_backend)

/* A twin with so many GPUs, hooks as most tests want them. */
static inline void kit_twin(int gpus)
{
    twin_reset(gpus);
    cuda_hooks = (struct cuda_hooks){.keep = true, .cold = true};
}

/* False on a real GPU, where no test counts what runs, and no number of GPUs is made up. */
static inline bool kit_on_twin(void)
{
    return !strcmp(cuda_rt()->name, "twin");
}

static inline uint64_t kit_hash(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return hash;
}

/* The bytes of a session's whole state, by a small hash. */
static inline uint64_t kit_fingerprint(const struct kit *b, struct backend_session *s)
{
    struct err e = {0};
    size_t n = b->net->parameter_count + b->net->stat_count + 1;
    unsigned char *bytes = mem_new(n, sizeof(float));
    uint64_t hash = 1469598103934665603u;

    for (int m = 0; m < b->plan.members; m++)
        for (int kind = BACKEND_PARAMS; kind <= BACKEND_SLOT2; kind++) {
            size_t count = kind == BACKEND_STATS ? b->net->stat_count : b->net->parameter_count;

            if (kind - BACKEND_STATS > backend_slots(b->plan.optimizer))
                continue;
            CHECK(BE->state(s, m, (enum backend_kind)kind, false, bytes, &e) == ERR_OK);
            hash = kit_hash(hash, bytes, count * sizeof(float));
        }
    free(bytes);
    return hash;
}

/* 8 steps in spans of `cut`. */
static inline uint64_t kit_steps(struct kit *b, size_t cut, struct backend_step *rows)
{
    struct backend_session *s = kit_session(BE, b);
    size_t units = (size_t)backend_units(&b->plan);
    uint64_t hash;

    if (!s)
        return 0;
    for (size_t at = 0; at < 8; at += cut) {
        size_t count = 8 - at < cut ? 8 - at : cut;

        CHECK_INT(kit_train(BE, s, b, at, count, rows + at * units), count);
    }
    hash = kit_fingerprint(b, s);
    BE->close(s);
    return hash;
}

/* What the state and the losses are then. */
static inline uint64_t kit_run(struct kit *b, size_t cut)
{
    struct backend_step rows[64] = {0};
    uint64_t hash = kit_steps(b, cut, rows);

    for (size_t i = 0; i < 8 * (size_t)backend_units(&b->plan); i++)
        hash = kit_hash(hash, &rows[i].loss_sum, sizeof rows[i].loss_sum);
    return hash;
}

static inline void kit_compare(struct kit *b, const char *what, size_t steps,
                               const struct kit_limits *limits)
{
    kit_compare_with(BE, b, what, steps, limits);
    if (twin_report()[0])
        TEST_FAILED("%s: %s", what, twin_report());
}

#endif
