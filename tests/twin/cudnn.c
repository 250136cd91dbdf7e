/* tests/twin/cudnn.c: cuDNN over host memory: descriptors hold what is set, heuristics name a few
 * engines of which not all will do, an execution is a naive convolution in the handle's stream. As in
 * the library, a finished descriptor needs those no more that it was made of. */
#include "tests/twin/cudnn.h"

#include "base/mem.h"
#include "cuda/dnn/dnn.h"
#include "tests/twin/cudnn_int.h"
#include "tests/twin/nccl.h"
#include "tests/twin/twin.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VERSION 91900

enum { /* cudnnStatus_t */
       BAD_PARAM = 2000,
       NOT_SUPPORTED = 3000,
       INTERNAL = 4000,
       EXECUTION_FAILED = 5000,
};

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    bool on;
    enum twin_dnn_fault fault;
    long n;
    int slow; /* an engine */
    double slow_ms;
    int creating; /* threads that make a handle */
    struct twin_dnn_counts counts;
} twin = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static _Thread_local char said[200];

struct handle {
    struct cuda_stream *stream;
    int gpu;
    int held; /* executions in streams and graphs; under the lock */
};

struct desc {
    int type;
    bool done;
    struct twin_dnn_tensor tensor;
    struct twin_dnn_work work;
    int mode;
    void *address[3], *workspace;
    int64_t uid[3];
    unsigned has;  /* parts of an operation that were set */
    bool kept;     /* a plan from text */
    bool executed; /* a plan, which was loaded with that */
};

static int fail(int status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(said, sizeof said, fmt, ap);
    va_end(ap);
    return status;
}

/* What a caller must not do. */
static int wrong(const char *what)
{
    pthread_mutex_lock(&twin.lock);
    snprintf(twin.counts.wrong, sizeof twin.counts.wrong, "%s", what);
    pthread_mutex_unlock(&twin.lock);
    return fail(BAD_PARAM, "%s", what);
}

static bool due(enum twin_dnn_fault fault, bool count)
{
    bool is;

    pthread_mutex_lock(&twin.lock);
    is = twin.fault == fault && (!count || --twin.n == 0);
    pthread_mutex_unlock(&twin.lock);
    return is;
}

static size_t version(void)
{
    return VERSION;
}

static void last_error(char *text, size_t room)
{
    snprintf(text, room, "%s", said);
}

/* ---- handles ---- */

/* It takes a while, so that another thread's is seen. */
static bool alone_in_create(void)
{
    static const struct timespec nap = {0, 2000000};
    bool alone;

    pthread_mutex_lock(&twin.lock);
    alone = twin.creating++ == 0;
    pthread_mutex_unlock(&twin.lock);
    nanosleep(&nap, NULL);
    pthread_mutex_lock(&twin.lock);
    twin.creating--;
    pthread_mutex_unlock(&twin.lock);
    return alone;
}

static int create(void **out)
{
    struct handle *h;

    *out = NULL;
    if (due(TWIN_DNN_CREATE, false))
        return fail(INTERNAL, "no handle");
    if (!alone_in_create())
        return wrong("two threads make a handle at once");
    h = mem_new(1, sizeof *h);
    h->gpu = twin_gpu_in_use();
    pthread_mutex_lock(&twin.lock);
    twin.counts.handles++;
    pthread_mutex_unlock(&twin.lock);
    *out = h;
    return 0;
}

static int destroy(void *handle)
{
    struct handle *h = handle;
    bool held;

    pthread_mutex_lock(&twin.lock);
    held = h->held > 0;
    twin.counts.handles--;
    pthread_mutex_unlock(&twin.lock);
    if (held)
        return wrong("a handle is destroyed whose executions a stream or a graph still holds");
    free(h);
    return 0;
}

static int set_stream(void *handle, void *stream)
{
    struct handle *h = handle;

    h->stream = stream;
    if (twin_stream_gpu(h->stream) != h->gpu)
        return wrong("a handle's stream is another GPU's");
    return 0;
}

/* ---- descriptors ---- */

static int descriptor(int type, dnn_descriptor *out)
{
    struct desc *d = mem_new(1, sizeof *d);

    d->type = type;
    pthread_mutex_lock(&twin.lock);
    twin.counts.descriptors++;
    pthread_mutex_unlock(&twin.lock);
    *out = d;
    return 0;
}

static int discard(dnn_descriptor d)
{
    pthread_mutex_lock(&twin.lock);
    twin.counts.descriptors--;
    pthread_mutex_unlock(&twin.lock);
    free(d);
    return 0;
}

static int set_tensor(struct desc *d, int name, int64_t n, const void *v)
{
    struct twin_dnn_tensor *t = &d->tensor;

    switch (name) {
    case DNN_TENSOR_DATA_TYPE:
        memcpy(&t->type, v, sizeof t->type);
        return 0;
    case DNN_TENSOR_UNIQUE_ID:
        memcpy(&t->uid, v, sizeof t->uid);
        return 0;
    case DNN_TENSOR_BYTE_ALIGNMENT:
        return 0;
    case DNN_TENSOR_DIMENSIONS:
    case DNN_TENSOR_STRIDES:
        if (n != 4)
            return wrong("a tensor that has not four dimensions");
        memcpy(name == DNN_TENSOR_STRIDES ? t->stride : t->dim, v, sizeof t->dim);
        return 0;
    default:
        return wrong("an attribute that a tensor has not");
    }
}

static int set_window(struct desc *d, int name, int64_t n, const void *v)
{
    struct twin_dnn_work *w = &d->work;
    int64_t *to = name == DNN_CONVOLUTION_PRE_PADDINGS     ? w->before
                  : name == DNN_CONVOLUTION_POST_PADDINGS  ? w->after
                  : name == DNN_CONVOLUTION_FILTER_STRIDES ? w->step
                                                           : NULL;

    if (to && n == 2)
        memcpy(to, v, sizeof w->step);
    return to && n != 2 ? wrong("a window that has not two dimensions") : 0;
}

static int pass_of(int type)
{
    return type == DNN_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR           ? CUDA_DNN_FORWARD
           : type == DNN_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR   ? CUDA_DNN_INPUT
           : type == DNN_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR ? CUDA_DNN_WEIGHTS
                                                                          : -1;
}

static int set_operation(struct desc *d, int name, const void *v)
{
    static const int first[] = {DNN_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                DNN_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                DNN_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA};
    struct twin_dnn_work *w = &d->work;
    int part = name - first[pass_of(d->type)];
    const struct desc *of;
    float factor;

    if (part < 0 || part > 5)
        return wrong("an attribute of another operation");
    d->has |= 1u << part;
    if (part < 2) {
        memcpy(&factor, v, sizeof factor);
        return factor == (part == 0 ? 1.0F : 0.0F) ? 0 : wrong("factors other than 1 and 0");
    }
    memcpy(&of, v, sizeof of);
    if (!of->done)
        return wrong("a descriptor is used that is not finished");
    if (part == 2) {
        memcpy(w->before, of->work.before, sizeof w->before);
        memcpy(w->after, of->work.after, sizeof w->after);
        memcpy(w->step, of->work.step, sizeof w->step);
    } else {
        w->tensor[part == 3 ? 1 : part == 4 ? 0 : 2] = of->tensor;
    }
    return 0;
}

static int set_pack(struct desc *d, int name, int64_t n, const void *v)
{
    if (name == DNN_VARIANT_PACK_WORKSPACE) {
        memcpy(&d->workspace, v, sizeof d->workspace);
        return 0;
    }
    if (n != 3)
        return wrong("an execution of other than three tensors");
    if (name == DNN_VARIANT_PACK_DATA_POINTERS)
        memcpy(d->address, v, sizeof d->address);
    else
        memcpy(d->uid, v, sizeof d->uid);
    return 0;
}

static int set(dnn_descriptor to, int name, int type, int64_t n, const void *v)
{
    struct desc *d = to;
    const struct desc *of;
    const struct handle *handle;

    if (!d || d->done)
        return wrong("a descriptor is set that is finished");
    if (d->type == DNN_TENSOR_DESCRIPTOR)
        return set_tensor(d, name, n, v);
    if (d->type == DNN_CONVOLUTION_DESCRIPTOR)
        return set_window(d, name, n, v);
    if (d->type == DNN_VARIANT_PACK_DESCRIPTOR)
        return set_pack(d, name, n, v);
    if (pass_of(d->type) >= 0)
        return set_operation(d, name, v);
    if (name == DNN_ENGINEHEUR_MODE)
        return 0;
    if (name == DNN_EXECUTION_PLAN_JSON_REPRESENTATION) {
        if (!twin_dnn_read(&d->work, v, (size_t)n))
            return fail(BAD_PARAM, "that text is no plan");
        d->kept = true;
        return 0;
    }
    if (type == DNN_TYPE_HANDLE) {
        memcpy(&handle, v, sizeof handle);
        d->work.gpu = handle->gpu;
        return 0;
    }
    if (type != DNN_TYPE_BACKEND_DESCRIPTOR || n != 1)
        return wrong("an attribute that is not known");
    memcpy(&of, v, sizeof of);
    if (!of->done)
        return wrong("a descriptor is used that is not finished");
    d->work = of->work;
    return 0;
}

static int finish_plan(const struct desc *d)
{
    long n;
    bool off;

    pthread_mutex_lock(&twin.lock);
    n = twin.n;
    off = twin.fault == TWIN_DNN_PLAN && n == d->work.pass;
    twin.counts.loaded += d->kept;
    twin.counts.made += !d->kept && !off && twin_dnn_can(&d->work);
    pthread_mutex_unlock(&twin.lock);
    if (off)
        return fail(NOT_SUPPORTED, "no such plan");
    return twin_dnn_can(&d->work) ? 0 : fail(NOT_SUPPORTED, "the engine cannot do this");
}

static int finalize(dnn_descriptor of)
{
    struct desc *d = of;
    int status = 0;

    if (!d || d->done)
        return wrong("a descriptor is finished twice");
    if (pass_of(d->type) >= 0) {
        d->work.pass = pass_of(d->type);
        status = d->has == 63 ? twin_dnn_check(&d->work, said, sizeof said) ? 0 : BAD_PARAM
                              : wrong("an operation that lacks a part");
    } else if (d->type == DNN_EXECUTION_PLAN_DESCRIPTOR) {
        status = finish_plan(d);
    }
    d->done = status == 0;
    return status;
}

/* ---- what is asked of them ---- */

static int get_results(const struct desc *d, int64_t room, int64_t *n, void *values)
{
    struct desc **out = values;

    *n = TWIN_DNN_ENGINES;
    if (!values)
        return 0;
    if (*n > room)
        *n = room;
    for (int64_t i = 0; i < *n; i++) {
        out[i]->work = d->work;
        out[i]->work.engine = twin_dnn_engine((int)i);
        out[i]->done = true;
    }
    return 0;
}

static int get_text(const struct desc *d, int64_t room, int64_t *n, void *values)
{
    char text[TWIN_DNN_TEXT];

    *n = (int64_t)twin_dnn_write(&d->work, text);
    if (values && *n > room)
        return fail(BAD_PARAM, "no room");
    if (values)
        memcpy(values, text, (size_t)*n);
    return 0;
}

static int get(dnn_descriptor of, int name, int type, int64_t room, int64_t *n, void *values)
{
    const struct desc *d = of;
    int64_t number;
    struct desc *to;

    (void)type;
    if (!d->done)
        return wrong("a descriptor is asked that is not finished");
    switch (name) {
    case DNN_ENGINEHEUR_RESULTS:
        return get_results(d, room, n, values);
    case DNN_EXECUTION_PLAN_JSON_REPRESENTATION:
        return get_text(d, room, n, values);
    case DNN_ENGINE_NUMERICAL_NOTE:
        *n = twin_dnn_notes(d->work.engine, values, (int)room);
        return 0;
    case DNN_ENGINECFG_ENGINE:
        memcpy(&to, values, sizeof to);
        to->work = d->work;
        to->done = true;
        break;
    case DNN_ENGINE_GLOBAL_INDEX:
        number = d->work.engine;
        memcpy(values, &number, sizeof number);
        break;
    case DNN_EXECUTION_PLAN_WORKSPACE_SIZE:
        number = (int64_t)twin_dnn_workspace(&d->work);
        memcpy(values, &number, sizeof number);
        break;
    default:
        return wrong("an attribute is asked that is not known");
    }
    *n = 1;
    return 0;
}

/* ---- executions ---- */

struct execution {
    struct handle *handle;
    struct twin_dnn_work work;
    void *tensor[3], *workspace;
    bool hangs;
};

static void linger(int engine)
{
    struct timespec nap = {0};

    pthread_mutex_lock(&twin.lock);
    if (engine == twin.slow)
        nap.tv_nsec = (long)(twin.slow_ms * 1e6);
    pthread_mutex_unlock(&twin.lock);
    if (nap.tv_nsec)
        nanosleep(&nap, NULL);
}

static int compute(void *user)
{
    struct execution *x = user;

    if (x->hangs)
        return CUDA_RT_NOT_READY;
    linger(x->work.engine);
    /* What workspace is is the library's: whoever keeps something there learns of it. */
    if (x->workspace)
        memset(x->workspace, 0xff, twin_dnn_workspace(&x->work));
    twin_dnn_compute(&x->work, x->tensor);
    pthread_mutex_lock(&twin.lock);
    twin.counts.executed[x->work.pass]++;
    pthread_mutex_unlock(&twin.lock);
    return 0;
}

static void gone(void *user)
{
    struct execution *x = user;

    pthread_mutex_lock(&twin.lock);
    x->handle->held--;
    pthread_mutex_unlock(&twin.lock);
    free(x);
}

static int execute(void *handle, dnn_descriptor plan, dnn_descriptor pack)
{
    struct handle *h = handle;
    struct desc *p = plan;
    const struct desc *v = pack;
    struct execution *x;

    if (due(TWIN_DNN_EXECUTE, true))
        return fail(EXECUTION_FAILED, "the twin was told to fail");
    if (!p || !p->done || !v || !v->done)
        return wrong("an execution of what is not finished");
    if (twin_gpu_in_use() != h->gpu)
        return wrong("an execution by a thread that uses another GPU");
    if (!p->executed && twin_nccl_summing(h->gpu))
        return wrong("a plan is loaded where a GPU may wait for another one");
    if (!p->executed && twin_capturing(h->stream))
        return wrong("a plan is loaded while its stream is captured");
    p->executed = true;
    if (twin_dnn_workspace(&p->work) && !v->workspace)
        return wrong("an execution without its workspace");
    x = mem_new(1, sizeof *x);
    *x = (struct execution){
        .handle = h, .work = p->work, .workspace = v->workspace, .hangs = due(TWIN_DNN_HANG, true)};
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 3; i++)
            if (v->uid[i] == p->work.tensor[t].uid)
                x->tensor[t] = v->address[i];
    for (int t = 0; t < 3; t++)
        if (!x->tensor[t] || (uintptr_t)x->tensor[t] % 16) {
            free(x);
            return wrong("a tensor's address is missing or not aligned to 16 bytes");
        }
    pthread_mutex_lock(&twin.lock);
    h->held++;
    pthread_mutex_unlock(&twin.lock);
    return twin_enqueue_held(h->stream, compute, x, gone) ? EXECUTION_FAILED : 0;
}

/* ---- the switch ---- */

static void read_environment(void)
{
    const char *env = getenv("CHORUS_TWIN_CUDNN");

    if (env && !strcmp(env, "1"))
        twin.on = true;
}

const struct cuda_dnn_api *cuda_dnn_replaced(void)
{
    static const struct cuda_dnn_api api = {
        .version = version,
        .create = create,
        .destroy = destroy,
        .set_stream = set_stream,
        .descriptor = descriptor,
        .discard = discard,
        .set = set,
        .get = get,
        .finalize = finalize,
        .execute = execute,
        .last_error = last_error,
    };

    pthread_once(&twin.once, read_environment);
    return twin.on ? &api : NULL;
}

void twin_dnn(bool on)
{
    pthread_once(&twin.once, read_environment);
    pthread_mutex_lock(&twin.lock);
    twin.on = on;
    twin.fault = TWIN_DNN_FINE;
    twin.slow = 0;
    twin.counts = (struct twin_dnn_counts){0};
    pthread_mutex_unlock(&twin.lock);
}

void twin_dnn_slow(int engine, double ms)
{
    pthread_mutex_lock(&twin.lock);
    twin.slow = engine;
    twin.slow_ms = ms;
    pthread_mutex_unlock(&twin.lock);
}

void twin_dnn_fail(enum twin_dnn_fault fault, long n)
{
    pthread_mutex_lock(&twin.lock);
    twin.fault = fault;
    twin.n = n;
    pthread_mutex_unlock(&twin.lock);
}

struct twin_dnn_counts twin_dnn_counted(void)
{
    struct twin_dnn_counts c;

    pthread_mutex_lock(&twin.lock);
    c = twin.counts;
    pthread_mutex_unlock(&twin.lock);
    return c;
}
