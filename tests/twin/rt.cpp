/* tests/twin/rt.cpp: the twin's table, its driver and its faults. */
#include "tests/twin/stream_int.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct twin_state &twin = *new twin_state(); /* outlives every thread */
__thread int twin_current, twin_captures;

static pthread_once_t twin_once = PTHREAD_ONCE_INIT;
static const size_t MEMORY = (size_t)8 << 30;

static const struct {
    int error;
    const char *text;
} texts[] = {
    {0, "no error"},
    {TWIN_INVALID, "invalid argument"},
    {CUDA_RT_NOMEM, "out of memory"},
    {TWIN_CONFIGURATION, "invalid configuration argument"},
    {CUDA_RT_STUB, "CUDA driver is a stub library"},
    {CUDA_RT_OLD_DRIVER, "CUDA driver version is insufficient for CUDA runtime version"},
    {CUDA_RT_BUSY, "CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_RT_NO_DEVICE, "no CUDA-capable device is detected"},
    {TWIN_ORDINAL, "invalid device ordinal"},
    {CUDA_RT_NO_IMAGE, "no kernel image is available for execution on the device"},
    {214, "uncorrectable ECC error encountered"},
    {TWIN_HANDLE, "invalid resource handle"},
    {CUDA_RT_NOT_READY, "device not ready"},
    {CUDA_RT_ILLEGAL, "an illegal memory access was encountered"},
    {TWIN_LAUNCH, "unspecified launch failure"},
    {TWIN_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
    {TWIN_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"},
    {TWIN_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences"},
    {TWIN_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"},
    {TWIN_CAPTURE_UNJOINED, "capturing stream has unjoined work"},
    {TWIN_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream"},
    {TWIN_CAPTURED_EVENT,
     "operation not permitted on an event last recorded in a capturing stream"},
    {TWIN_CAPTURE_THREAD,
     "attempt to terminate a thread-local capture sequence from another thread"},
};

static const char *text(int error)
{
    for (const auto &t : texts)
        if (t.error == error)
            return t.text;
    return "unknown error";
}

uint64_t twin_draw(void)
{
    twin.random += 0x9E3779B97F4A7C15u;
    uint64_t z = twin.random;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int twin_wrong(int error, const char *fmt, ...)
{
    va_list ap;
    char line[700];

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    twin.report = line;
    if (!twin.quiet)
        fprintf(stderr, "twin: %s\n", line);
    return error;
}

int twin_stick(int gpu, int error)
{
    if (error && !twin.gpu[gpu].stuck)
        twin.gpu[gpu].stuck = error;
    return error;
}

int twin_fault_due(const char *function)
{
    for (twin_fault &f : twin.faults)
        if (f.left > 0 && f.function == function && --f.left == 0)
            return f.error;
    return 0;
}

static void begin(int gpus)
{
    twin.gpus = gpus;
    twin.driver = TWIN_DRIVER_FINE;
    twin.major = 9;
    twin.minor = 0;
    twin.memory = MEMORY;
    twin.random = 1;
    twin.quiet = false;
    twin.report.clear();
    twin.faults.clear();
    twin.gpu.assign((size_t)gpus, twin_gpu());
    twin.counts = {};
}

static size_t size_read(const char *s)
{
    char *end;
    double n = strtod(s, &end);

    return (size_t)(n * (*end == 'G'   ? 1 << 30
                         : *end == 'M' ? 1 << 20
                         : *end == 'K' ? 1 << 10
                                       : 1));
}

static bool setting(const char *key, const char *value)
{
    static const char *const drivers[] = {"fine",     "none", "old",    "busy",
                                          "nodevice", "stub", "closed", "held"};

    if (!strcmp(key, "gpus")) {
        begin(atoi(value));
    } else if (!strcmp(key, "memory")) {
        twin.memory = size_read(value);
    } else if (!strcmp(key, "seed")) {
        twin.random = strtoull(value, NULL, 10);
    } else if (!strcmp(key, "sm")) {
        twin.major = atoi(value) / 10;
        twin.minor = atoi(value) % 10;
    } else if (!strcmp(key, "fail")) {
        char function[32];
        long n;
        int error;

        if (sscanf(value, "%31[a-z_]:%ld:%d", function, &n, &error) != 3)
            return false;
        twin.faults.push_back({function, n, error});
    } else if (!strcmp(key, "left")) {
        struct stat st;

        if (stat(value, &st) || !st.st_size || truncate(value, st.st_size - 1))
            twin.faults.clear();
    } else if (!strcmp(key, "closed")) {
        if (atoi(value) < 0 || atoi(value) >= twin.gpus)
            return false;
        twin.gpu[(size_t)atoi(value)].closed = true;
    } else if (!strcmp(key, "alone")) {
        twin.alone = value;
    } else if (!strcmp(key, "driver")) {
        for (int i = 0; i < (int)(sizeof drivers / sizeof *drivers); i++)
            if (!strcmp(value, drivers[i])) {
                twin.driver = (enum twin_driver)i;
                return true;
            }
        return false;
    } else {
        return false;
    }
    return true;
}

static void open_once(void)
{
    const char *env = getenv("CHORUS_TWIN");
    char copy[400], *save = NULL;
    pthread_condattr_t attr;

    pthread_mutex_init(&twin.lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&twin.moved, &attr);
    pthread_condattr_destroy(&attr);
    begin(1);
    if (!env)
        return;
    snprintf(copy, sizeof copy, "%s", env);
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        if (!value || !setting(word, value))
            fprintf(stderr, "CHORUS_TWIN: %s is not understood\n", word);
    }
}

static int driver_error(void)
{
    switch (twin.driver) {
    case TWIN_DRIVER_FINE:
    case TWIN_DRIVER_CLOSED:
    case TWIN_DRIVER_HELD:
        return twin.gpus ? 0 : CUDA_RT_NO_DEVICE;
    case TWIN_DRIVER_NONE:
    case TWIN_DRIVER_OLD:
        return CUDA_RT_OLD_DRIVER;
    case TWIN_DRIVER_BUSY:
        return CUDA_RT_BUSY;
    case TWIN_DRIVER_NO_DEVICE:
        return CUDA_RT_NO_DEVICE;
    case TWIN_DRIVER_STUB:
        return CUDA_RT_STUB;
    }
    return CUDA_RT_NO_DEVICE;
}

static bool sticks(int error)
{
    return cuda_rt_sticks(error);
}

twin_entered::twin_entered(const char *function, bool of_device) : error(0)
{
    int fault;

    pthread_once(&twin_once, open_once);
    pthread_mutex_lock(&twin.lock);
    if (!of_device)
        return;
    error = driver_error();
    if (!error && twin_current >= twin.gpus)
        error = TWIN_ORDINAL;
    if (error)
        return;
    fault = twin_fault_due(function);
    if (fault && sticks(fault))
        twin_stick(twin_current, fault);
    error = fault ? fault : twin.gpu[twin_current].stuck;
}

twin_entered::~twin_entered()
{
    pthread_mutex_unlock(&twin.lock);
}

static int driver_version(int *version)
{
    twin_entered in("driver_version", false);

    *version = twin.driver == TWIN_DRIVER_NONE ? 0 : twin.driver == TWIN_DRIVER_OLD ? 12040 : 13000;
    return twin.driver == TWIN_DRIVER_STUB ? CUDA_RT_STUB : 0;
}

static int runtime_version(int *version)
{
    *version = 13000;
    return 0;
}

static int count(int *gpus)
{
    twin_entered in("count", false);
    int error = driver_error();

    *gpus = error ? 0 : twin.gpus;
    return error;
}

static int facts(int gpu, struct cuda_gpu_facts *out)
{
    twin_entered in("facts", false);
    int error = driver_error();

    memset(out, 0, sizeof *out);
    if (error)
        return error;
    if (gpu < 0 || gpu >= twin.gpus)
        return TWIN_ORDINAL;
    snprintf(out->name, sizeof out->name, "Twin GPU");
    snprintf(out->bus, sizeof out->bus, "00000000:%02X:00.0", gpu + 1);
    out->major = twin.major;
    out->minor = twin.minor;
    out->processors = 132;
    out->memory = twin.memory;
    out->shared_block = twin.major >= 9 ? 227 << 10 : 99 << 10;
    out->l2 = (size_t)50 << 20;
    out->closed = twin.driver == TWIN_DRIVER_CLOSED || twin.gpu[(size_t)gpu].closed;
    out->alone = twin.driver == TWIN_DRIVER_HELD || !twin.alone.empty();
    return 0;
}

/* Whether no other process has it. */
static bool have_alone(int gpu)
{
    int *mine = &twin.gpu[(size_t)gpu].mine;

    if (twin.alone.empty() || *mine >= 0)
        return true;
    *mine = open((twin.alone + "." + std::to_string(gpu)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                 0600);
    if (*mine >= 0 && flock(*mine, LOCK_EX | LOCK_NB)) {
        close(*mine);
        *mine = -1;
    }
    return *mine >= 0;
}

static int use(int gpu)
{
    twin_entered in("use", false);
    int error = driver_error();

    if (error)
        return error;
    if (gpu < 0 || gpu >= twin.gpus)
        return TWIN_ORDINAL;
    if (twin.driver == TWIN_DRIVER_CLOSED || twin.driver == TWIN_DRIVER_HELD ||
        twin.gpu[(size_t)gpu].closed || !have_alone(gpu))
        return CUDA_RT_BUSY;
    twin_current = gpu;
    error = twin_fault_due("use");
    return error ? error : twin.gpu[gpu].stuck;
}

/* It ends with a reset of the GPU, which takes away all that this process has on it. */
static int try_alone(int gpu)
{
    int error = use(gpu);

    twin_entered in("try_alone", false);
    for (const cuda_stream *s : twin.streams)
        if (s->gpu == gpu)
            return twin_wrong(error, "GPU %d is reset while this process has a stream there", gpu);
    if (!error && twin.gpu[(size_t)gpu].mine >= 0) {
        close(twin.gpu[(size_t)gpu].mine);
        twin.gpu[(size_t)gpu].mine = -1;
    }
    return error;
}

/* Kernels are where they are. */
static int load(const struct dev_kernel *)
{
    twin_entered in("load");

    return in.error;
}

extern "C" const struct cuda_rt *cuda_rt(void)
{
    static const struct cuda_rt table = {
        "twin",
        text,
        driver_version,
        runtime_version,
        count,
        facts,
        use,
        try_alone,
        twin_memory,
        twin_take,
        twin_give,
        twin_take_pinned,
        twin_give_pinned,
        twin_stream_open,
        twin_stream_close,
        twin_stream_query,
        twin_stream_wait,
        twin_stream_after,
        twin_copy,
        twin_copy_rows,
        twin_set,
        load,
        twin_launch,
        twin_event_open,
        twin_event_close,
        twin_event_record,
        twin_event_query,
        twin_event_ms,
        twin_capture_begin,
        twin_capture_end,
        twin_graph_launch,
        twin_graph_close,
    };

    return &table;
}

/* ---- what tests say ---- */

void twin_reset(int gpus)
{
    twin_entered in("", false);

    twin_stream_reset();
    twin_memory_reset();
    begin(gpus);
    twin_current = 0;
    twin_captures = 0;
}

void twin_limit_memory(size_t bytes)
{
    twin_entered in("", false);

    twin.memory = bytes;
}

void twin_fail(const char *function, long n, int error)
{
    twin_entered in("", false);

    twin.faults.push_back({function, n, error});
}

void twin_seed(uint64_t seed)
{
    twin_entered in("", false);

    twin.random = seed;
}

void twin_set_driver(enum twin_driver driver)
{
    twin_entered in("", false);

    twin.driver = driver;
}

void twin_set_alone(const char *path)
{
    twin_entered in("", false);

    twin.alone = path;
}

void twin_set_capability(int major, int minor)
{
    twin_entered in("", false);

    twin.major = major;
    twin.minor = minor;
}

void twin_quiet(bool quiet)
{
    twin_entered in("", false);

    twin.quiet = quiet;
}

struct twin_counts twin_counted(void)
{
    twin_entered in("", false);

    return twin.counts;
}

const char *twin_report(void)
{
    static char copy[800]; /* until the next call */
    twin_entered in("", false);

    snprintf(copy, sizeof copy, "%s", twin.report.c_str());
    return copy;
}
