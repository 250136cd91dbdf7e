/* cuda/rt/rt_real.c: the table over the CUDA runtime, which is linked statically. Streams, events and
 * graphs are the runtime's own behind our names, so that cuDNN and NCCL can be given them. */
#include "cuda/rt/rt.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define STREAM(s) ((cudaStream_t)(s))
#define EVENT(e)  ((cudaEvent_t)(e))
#define GRAPH(g)  ((cudaGraphExec_t)(g))

static _Thread_local int current; /* this thread's GPU */

/* The runtime also keeps the last error for whoever asks next: not ours to leave there. */
static int done(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return (int)error;
}

static const char *text(int error)
{
    return cudaGetErrorString((cudaError_t)error);
}

static int driver_version(int *version)
{
    *version = 0;
    return done(cudaDriverGetVersion(version));
}

static int runtime_version(int *version)
{
    *version = 0;
    return done(cudaRuntimeGetVersion(version));
}

static int count(int *gpus)
{
    *gpus = 0;
    return done(cudaGetDeviceCount(gpus));
}

/* What was read of GPUs from 24 to 188 multiprocessors: each has some, and there is something to begin
 * with. tests/parity/cuda_memory_test.c compares it with what is gone. */
static size_t context_of(const struct cudaDeviceProp *prop)
{
    return ((size_t)42 << 20) + (size_t)prop->multiProcessorCount * 2800 * 1024;
}

static int facts(int gpu, struct cuda_gpu_facts *out)
{
    struct cudaDeviceProp prop;
    int error = done(cudaGetDeviceProperties(&prop, gpu)), mode = cudaComputeModeDefault;

    memset(out, 0, sizeof *out);
    if (!error)
        error = done(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, gpu));
    if (error)
        return error;
    snprintf(out->name, sizeof out->name, "%.90s", prop.name);
    snprintf(out->bus, sizeof out->bus, "%08X:%02X:%02X.0", (unsigned)prop.pciDomainID,
             (unsigned)prop.pciBusID & 0xff, (unsigned)prop.pciDeviceID & 0xff);
    out->major = prop.major;
    out->minor = prop.minor;
    out->processors = prop.multiProcessorCount;
    out->memory = prop.totalGlobalMem;
    out->shared_block = prop.sharedMemPerBlockOptin;
    out->l2 = (size_t)prop.l2CacheSize;
    out->context = context_of(&prop);
    out->closed = mode == cudaComputeModeProhibited;
    out->alone = mode == cudaComputeModeExclusive || mode == cudaComputeModeExclusiveProcess;
    return 0;
}

static int use(int gpu)
{
    int error = done(cudaSetDevice(gpu));

    if (!error)
        current = gpu;
    return error;
}

static int try_alone(int gpu)
{
    int error = done(cudaSetDevice(gpu));

    return error ? error : done(cudaDeviceReset());
}

static int memory(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = 0;
    return done(cudaMemGetInfo(free_bytes, total));
}

static int take(void **out, size_t bytes)
{
    *out = NULL;
    return bytes ? done(cudaMalloc(out, bytes)) : 0;
}

static int give(void *p)
{
    return p ? done(cudaFree(p)) : 0;
}

static int take_pinned(void **host, void **device, size_t bytes)
{
    int error;

    *host = NULL;
    if (device)
        *device = NULL;
    if (!bytes)
        return 0;
    error = done(cudaHostAlloc(host, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
    if (error || !device)
        return error;
    error = done(cudaHostGetDevicePointer(device, *host, 0));
    if (error) {
        (void)done(cudaFreeHost(*host));
        *host = NULL;
    }
    return error;
}

static int give_pinned(void *host)
{
    return host ? done(cudaFreeHost(host)) : 0;
}

static int stream_open(struct cuda_stream **out)
{
    *out = NULL;
    return done(cudaStreamCreateWithFlags((cudaStream_t *)out, cudaStreamNonBlocking));
}

static int stream_close(struct cuda_stream *s)
{
    return s ? done(cudaStreamDestroy(STREAM(s))) : 0;
}

static int stream_query(struct cuda_stream *s)
{
    return done(cudaStreamQuery(STREAM(s)));
}

static int stream_wait(struct cuda_stream *s)
{
    return done(cudaStreamSynchronize(STREAM(s)));
}

static int stream_after(struct cuda_stream *s, struct cuda_event *e)
{
    return done(cudaStreamWaitEvent(STREAM(s), EVENT(e), 0));
}

static int copy(void *to, const void *from, size_t bytes, struct cuda_stream *s)
{
    return bytes ? done(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, STREAM(s))) : 0;
}

/* The runtime's own takes no rows that are 2 GiB apart. */
static int copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                     size_t rows, struct cuda_stream *s)
{
    int error = 0;

    if (!bytes || !rows)
        return 0;
    if (to_pitch <= INT_MAX && from_pitch <= INT_MAX)
        return done(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows,
                                      cudaMemcpyDefault, STREAM(s)));
    for (size_t i = 0; i < rows && !error; i++)
        error = copy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, bytes, s);
    return error;
}

static int set(void *p, int byte, size_t bytes, struct cuda_stream *s)
{
    return bytes ? done(cudaMemsetAsync(p, byte, bytes, STREAM(s))) : 0;
}

/* ---- kernels ---- */

/* Kernels that a GPU has loaded already: a hash of (entry, GPU), kept sparse. */
static struct {
    const void *entry;
    int gpu;
} loaded[8192];
static int loads;
static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;

/* Loads the kernel on this GPU and lets it have all the shared memory that a block may opt in to. */
static int load(const void *entry)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    struct cudaFuncAttributes attributes;
    int most = 0, error;

    /* Loading is no work of the stream that may be captured right now. */
    error = done(cudaThreadExchangeStreamCaptureMode(&mode));
    if (error)
        return error;
    error = done(cudaFuncGetAttributes(&attributes, entry));
    if (!error)
        error =
            done(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, current));
    if (!error)
        error = done(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          most - (int)attributes.sharedSizeBytes));
    /* As many blocks a multiprocessor as shared memory allows; caches come second. */
    if (!error)
        error = done(cudaFuncSetAttribute(entry, cudaFuncAttributePreferredSharedMemoryCarveout,
                                          cudaSharedmemCarveoutMaxShared));
    (void)done(cudaThreadExchangeStreamCaptureMode(&mode));
    return error;
}

/* Whether it is known; add: from now on. The lock is never held over a load, which may wait for a GPU
 * that waits for another one, whose thread wants the lock. */
static bool known(const void *entry, bool add)
{
    size_t room = sizeof loaded / sizeof *loaded;
    size_t i = ((size_t)entry / 16 * 31 + (size_t)current) % room;
    bool found;

    pthread_mutex_lock(&loaded_lock);
    while (loaded[i].entry && (loaded[i].entry != entry || loaded[i].gpu != current))
        i = (i + 1) % room;
    found = loaded[i].entry != NULL;
    if (!found && add && (size_t)loads < room / 2) { /* beyond: again each time */
        loaded[i].entry = entry;
        loaded[i].gpu = current;
        loads++;
    }
    pthread_mutex_unlock(&loaded_lock);
    return found;
}

static int load_kernel(const struct dev_kernel *k)
{
    int error = 0;

    if (!known(k->entry, false)) {
        error = load(k->entry);
        if (!error)
            (void)known(k->entry, true);
    }
    return error;
}

static int launch(const struct dev_kernel *k, const unsigned grid[3], unsigned block, size_t shared,
                  const void *args, size_t args_bytes, struct cuda_stream *s)
{
    dim3 blocks = {grid[0], grid[1], grid[2]}, threads = {block, 1, 1};
    void *arguments[1] = {(void *)args};
    int error = load_kernel(k);

    (void)args_bytes; /* which the kernel itself knows */
    return error ? error
                 : done(cudaLaunchKernel(k->entry, blocks, threads, arguments, shared, STREAM(s)));
}

/* ---- events and graphs ---- */

static int event_open(struct cuda_event **out)
{
    *out = NULL;
    return done(cudaEventCreateWithFlags((cudaEvent_t *)out, cudaEventDefault));
}

static int event_close(struct cuda_event *e)
{
    return e ? done(cudaEventDestroy(EVENT(e))) : 0;
}

static int event_record(struct cuda_event *e, struct cuda_stream *s)
{
    return done(cudaEventRecord(EVENT(e), STREAM(s)));
}

static int event_query(struct cuda_event *e)
{
    return done(cudaEventQuery(EVENT(e)));
}

static int event_ms(struct cuda_event *from, struct cuda_event *to, float *ms)
{
    *ms = 0;
    return done(cudaEventElapsedTime(ms, EVENT(from), EVENT(to)));
}

/* Thread-local: what other threads do with their GPUs meanwhile is none of its business. */
static int capture_begin(struct cuda_stream *s)
{
    return done(cudaStreamBeginCapture(STREAM(s), cudaStreamCaptureModeThreadLocal));
}

static int capture_end(struct cuda_stream *s, struct cuda_graph **out)
{
    cudaGraph_t graph = NULL;
    int error;

    *out = NULL;
    error = done(cudaStreamEndCapture(STREAM(s), &graph));
    if (!error)
        error = done(cudaGraphInstantiate((cudaGraphExec_t *)out, graph, 0));
    if (graph)
        (void)done(cudaGraphDestroy(graph));
    if (error) {
        *out = NULL;
        return error;
    }
    /* So that the first launch is as quick as the others. */
    error = done(cudaGraphUpload(GRAPH(*out), STREAM(s)));
    if (error) {
        (void)done(cudaGraphExecDestroy(GRAPH(*out)));
        *out = NULL;
    }
    return error;
}

static int graph_launch(struct cuda_graph *g, struct cuda_stream *s)
{
    return done(cudaGraphLaunch(GRAPH(g), STREAM(s)));
}

static int graph_close(struct cuda_graph *g)
{
    return g ? done(cudaGraphExecDestroy(GRAPH(g))) : 0;
}

const struct cuda_rt *cuda_rt(void)
{
    static const struct cuda_rt table = {
        .name = "cuda",
        .text = text,
        .driver_version = driver_version,
        .runtime_version = runtime_version,
        .count = count,
        .facts = facts,
        .use = use,
        .try_alone = try_alone,
        .memory = memory,
        .take = take,
        .give = give,
        .take_pinned = take_pinned,
        .give_pinned = give_pinned,
        .stream_open = stream_open,
        .stream_close = stream_close,
        .stream_query = stream_query,
        .stream_wait = stream_wait,
        .stream_after = stream_after,
        .copy = copy,
        .copy_rows = copy_rows,
        .set = set,
        .load = load_kernel,
        .launch = launch,
        .event_open = event_open,
        .event_close = event_close,
        .event_record = event_record,
        .event_query = event_query,
        .event_ms = event_ms,
        .capture_begin = capture_begin,
        .capture_end = capture_end,
        .graph_launch = graph_launch,
        .graph_close = graph_close,
    };

    return &table;
}
