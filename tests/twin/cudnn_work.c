/* tests/twin/cudnn_work.c: the engines of cuDNN's twin: what they can, and how they compute. */
#include "cuda/dnn/dnn.h"
#include "tests/twin/cudnn_int.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int engine, notes, note[2];
    size_t workspace;
} engines[TWIN_DNN_ENGINES] = {
    {5, 2, {DNN_NOTE_TENSOR_CORE, DNN_NOTE_NONDETERMINISTIC}, 0},
    {3, 0, {0}, 0},
    {7, 1, {DNN_NOTE_TENSOR_CORE}, (size_t)1 << 30},
    {11, 1, {DNN_NOTE_TENSOR_CORE}, 4096},
    {2, 2, {DNN_NOTE_TENSOR_CORE, DNN_NOTE_WINOGRAD}, 0},
    {13, 1, {DNN_NOTE_TENSOR_CORE}, 8192},
    {17, 0, {0}, 0},
};

static int index_of(int engine)
{
    for (int i = 0; i < TWIN_DNN_ENGINES; i++)
        if (engines[i].engine == engine)
            return i;
    return -1;
}

int twin_dnn_engine(int i)
{
    return engines[i].engine;
}

int twin_dnn_notes(int engine, int *notes, int room)
{
    int i = index_of(engine);
    int n = engines[i].notes < room ? engines[i].notes : room;

    memcpy(notes, engines[i].note, (size_t)n * sizeof *notes);
    return n;
}

static bool tensor_cores(int engine)
{
    int i = index_of(engine);

    return engines[i].notes && engines[i].note[0] == DNN_NOTE_TENSOR_CORE;
}

bool twin_dnn_check(const struct twin_dnn_work *w, char *why, size_t room)
{
    const struct twin_dnn_tensor *x = &w->tensor[0], *k = &w->tensor[1], *y = &w->tensor[2];

    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 4; i++)
            if (w->tensor[t].dim[i] < 1 || w->tensor[t].stride[i] < 1) {
                snprintf(why, room, "a tensor without extent");
                return false;
            }
    if (x->dim[0] != y->dim[0] || x->dim[1] != k->dim[1] || y->dim[1] != k->dim[0]) {
        snprintf(why, room, "tensors of other images or channels");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        int64_t all = x->dim[2 + i] + w->before[i] + w->after[i] - k->dim[2 + i];

        if (all < 0 || w->step[i] < 1 || all / w->step[i] + 1 != y->dim[2 + i]) {
            snprintf(why, room, "the output is not what the window gives");
            return false;
        }
    }
    return true;
}

bool twin_dnn_can(const struct twin_dnn_work *w)
{
    bool half = w->tensor[0].type == DNN_DATA_BFLOAT16;

    /* As the library's: nothing without tensor cores in bf16, nor for gradients of strided layers. */
    return tensor_cores(w->engine) || (!half && (w->pass != CUDA_DNN_INPUT || w->step[0] == 1));
}

size_t twin_dnn_workspace(const struct twin_dnn_work *w)
{
    return engines[index_of(w->engine)].workspace;
}

/* ---- arithmetic ---- */

static float from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t count_of(const struct twin_dnn_tensor *t)
{
    return (size_t)(t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]);
}

static size_t at(const struct twin_dnn_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (size_t)(a * t->stride[0] + b * t->stride[1] + c * t->stride[2] + d * t->stride[3]);
}

/* A tensor as the engine takes it: bf16 as it is, fp32 rounded to tf32 where there are tensor cores.
 * Strides are those of a dense tensor, whatever its order. */
static float *taken(const struct twin_dnn_work *w, int t, const void *from)
{
    size_t n = count_of(&w->tensor[t]);
    float *to = mem_new(n, sizeof *to);

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;

        if (w->tensor[t].type == DNN_DATA_BFLOAT16)
            bits = (uint32_t)((const uint16_t *)from)[i] << 16;
        else
            bits = bits_of(((const float *)from)[i]);
        if (w->tensor[t].type != DNN_DATA_BFLOAT16 && tensor_cores(w->engine))
            bits = (bits + 0x1000u) & ~0x1fffu;
        to[i] = from_bits(bits);
    }
    return to;
}

static void given(const struct twin_dnn_tensor *t, const float *from, void *to)
{
    size_t n = count_of(t);

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = bits_of(from[i]);

        if (t->type == DNN_DATA_BFLOAT16)
            ((uint16_t *)to)[i] = (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
        else
            ((float *)to)[i] = from[i];
    }
}

/* The sum that one place of the window and one pixel of the output stand for, in the pass's way. */
static void pixel(const struct twin_dnn_work *w, float *const f[3], const int64_t i[4],
                  const int64_t o[2])
{
    const struct twin_dnn_tensor *x = &w->tensor[0], *k = &w->tensor[1], *y = &w->tensor[2];
    int64_t row = o[0] * w->step[0] + i[1] - w->before[0];
    int64_t column = o[1] * w->step[1] + i[2] - w->before[1];

    if (row < 0 || row >= x->dim[2] || column < 0 || column >= x->dim[3])
        return;
    for (int64_t c = 0; c < x->dim[1]; c++)
        for (int64_t oc = 0; oc < y->dim[1]; oc++) {
            float *fx = &f[0][at(x, i[0], c, row, column)];
            float *fw = &f[1][at(k, oc, c, i[1], i[2])];
            float *fy = &f[2][at(y, i[0], oc, o[0], o[1])];

            if (w->pass == CUDA_DNN_FORWARD)
                *fy += *fx * *fw;
            else if (w->pass == CUDA_DNN_INPUT)
                *fx += *fy * *fw;
            else
                *fw += *fx * *fy;
        }
}

void twin_dnn_compute(const struct twin_dnn_work *w, void *const tensor[3])
{
    static const int result[] = {2, 0, 1};
    const struct twin_dnn_tensor *k = &w->tensor[1], *y = &w->tensor[2];
    float *f[3];
    int out = result[w->pass];
    int64_t i[4] = {0}, o[2];

    for (int t = 0; t < 3; t++)
        f[t] = t == out ? mem_new(count_of(&w->tensor[t]), sizeof *f[t]) : taken(w, t, tensor[t]);
    for (i[0] = 0; i[0] < y->dim[0]; i[0]++)
        for (o[0] = 0; o[0] < y->dim[2]; o[0]++)
            for (o[1] = 0; o[1] < y->dim[3]; o[1]++)
                for (i[1] = 0; i[1] < k->dim[2]; i[1]++)
                    for (i[2] = 0; i[2] < k->dim[3]; i[2]++)
                        pixel(w, f, i, o);
    given(&w->tensor[out], f[out], tensor[out]);
    for (int t = 0; t < 3; t++)
        free(f[t]);
}

/* ---- plans as text: the GPU's number, then all others in a row ---- */

#define NUMBERS (2 + 3 * 10 + 6 + 1)

static void numbers_of(const struct twin_dnn_work *w, int64_t out[NUMBERS])
{
    int n = 0;

    out[n++] = w->pass;
    out[n++] = w->engine;
    for (int t = 0; t < 3; t++) {
        out[n++] = w->tensor[t].type;
        out[n++] = w->tensor[t].uid;
        for (int i = 0; i < 4; i++) {
            out[n++] = w->tensor[t].dim[i];
            out[n++] = w->tensor[t].stride[i];
        }
    }
    for (int i = 0; i < 2; i++) {
        out[n++] = w->before[i];
        out[n++] = w->after[i];
        out[n++] = w->step[i];
    }
    out[n++] = w->way;
}

static void take_numbers(struct twin_dnn_work *w, const int64_t from[NUMBERS])
{
    int n = 0;

    w->pass = (int)from[n++];
    w->engine = (int)from[n++];
    for (int t = 0; t < 3; t++) {
        w->tensor[t].type = (int)from[n++];
        w->tensor[t].uid = from[n++];
        for (int i = 0; i < 4; i++) {
            w->tensor[t].dim[i] = from[n++];
            w->tensor[t].stride[i] = from[n++];
        }
    }
    for (int i = 0; i < 2; i++) {
        w->before[i] = from[n++];
        w->after[i] = from[n++];
        w->step[i] = from[n++];
    }
    w->way = from[n++];
}

size_t twin_dnn_write(const struct twin_dnn_work *w, char out[TWIN_DNN_TEXT])
{
    int64_t number[NUMBERS];
    size_t n;

    numbers_of(w, number);
    n = (size_t)snprintf(out, TWIN_DNN_TEXT, "{\"gpu\": %d, \"engine\": [0", w->gpu);
    for (int i = 0; i < NUMBERS; i++)
        n += (size_t)snprintf(out + n, TWIN_DNN_TEXT - n, ", %lld", (long long)number[i]);
    n += (size_t)snprintf(out + n, TWIN_DNN_TEXT - n, "]}");
    return n;
}

bool twin_dnn_read(struct twin_dnn_work *w, const char *text, size_t n)
{
    char copy[TWIN_DNN_TEXT], *p = copy;
    int64_t number[NUMBERS];
    int gpu, length = 0;

    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (sscanf(copy, "{\"gpu\": %d, \"engine\": [0%n", &gpu, &length) != 1 || !length)
        return false;
    p += length;
    for (int i = 0; i < NUMBERS; i++) {
        char *end;

        if (*p++ != ',')
            return false;
        number[i] = strtoll(p, &end, 10);
        if (end == p)
            return false;
        p = end;
    }
    take_numbers(w, number);
    return index_of(w->engine) >= 0 && w->pass >= 0 && w->pass < CUDA_DNN_PASSES;
}
