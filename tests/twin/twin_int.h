/* tests/twin/twin_int.h: the twin's own. One lock guards all of it; kernels run without. */
#ifndef CHORUS_TESTS_TWIN_TWIN_INT_H
#define CHORUS_TESTS_TWIN_TWIN_INT_H

#ifdef __cplusplus
extern "C" {
#endif
#include "tests/twin/twin.h"
#ifdef __cplusplus
}
#endif

#include <deque>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

/* Numbers of the real runtime that only the twin gives. */
enum {
    TWIN_INVALID = 1,
    TWIN_CONFIGURATION = 9,
    TWIN_ORDINAL = 101,
    TWIN_HANDLE = 400,
    TWIN_LAUNCH = 719, /* sticks */
    TWIN_CAPTURE_UNSUPPORTED = 900,
    TWIN_CAPTURE_INVALIDATED = 901,
    TWIN_CAPTURE_MERGE = 902,
    TWIN_CAPTURE_UNMATCHED = 903,
    TWIN_CAPTURE_UNJOINED = 904,
    TWIN_CAPTURE_ISOLATION = 905,
    TWIN_CAPTURED_EVENT = 907,
    TWIN_CAPTURE_THREAD = 908,
};

struct twin_block { /* memory that was taken */
    size_t bytes;
    int gpu; /* -1: pinned */
};

struct twin_gpu {
    size_t used;
    int stuck; /* the error that every call gives from now on */
    bool hung; /* a kernel never ends */
    bool closed;
    int mine = -1; /* alone: this process has locked it, its file */
};

struct twin_fault {
    std::string function;
    long left;
    int error;
};

struct twin_state {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a stream did something */
    int gpus;
    enum twin_driver driver;
    int major, minor;
    size_t memory;
    uint64_t random;
    bool quiet;
    std::string report, alone;
    std::vector<twin_gpu> gpu;
    std::map<uintptr_t, twin_block> blocks, gone; /* by address; gone: given back */
    std::vector<twin_fault> faults;
    std::vector<struct cuda_stream *> streams;
    struct twin_counts counts;
};

extern struct twin_state &twin;
extern __thread int twin_current;  /* GPU of this thread */
extern __thread int twin_captures; /* that this thread has begun */

/* Every function of the table begins with one: holds the lock, and knows what the call must give. */
struct twin_entered {
    int error;

    explicit twin_entered(const char *function, bool of_device = true);
    ~twin_entered();
};

uint64_t twin_draw(void);
/* Keeps and prints a sentence; returns the error. */
int twin_wrong(int error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int twin_stick(int gpu, int error);
/* Whether a fault is due at this call of it. 0: none */
int twin_fault_due(const char *function);

/* memory.cpp */
enum twin_place { TWIN_HOST, TWIN_PINNED, TWIN_DEVICE, TWIN_GONE };
struct twin_where {
    enum twin_place place;
    int gpu;
    size_t left; /* bytes from there to the end of its block */
};
struct twin_where twin_find(const void *p);
int twin_memory(size_t *free_bytes, size_t *total);
int twin_take(void **out, size_t bytes);
int twin_give(void *p);
int twin_take_pinned(void **host, void **device, size_t bytes);
int twin_give_pinned(void *host);
void twin_memory_reset(void);
/* Arguments of a kernel: every pointer in them must be of this GPU's memory or pinned. */
int twin_check_args(const struct dev_kernel *k, const void *args, size_t bytes, int gpu);
/* [p, p + bytes) as part of a copy on a GPU's stream */
int twin_check_range(const char *what, const void *p, size_t bytes, int gpu);

/* stream.cpp */
int twin_stream_open(struct cuda_stream **out);
int twin_stream_close(struct cuda_stream *s);
int twin_stream_query(struct cuda_stream *s);
int twin_stream_wait(struct cuda_stream *s);
int twin_stream_after(struct cuda_stream *s, struct cuda_event *e);
int twin_copy(void *to, const void *from, size_t bytes, struct cuda_stream *s);
int twin_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                   size_t rows, struct cuda_stream *s);
int twin_set(void *p, int byte, size_t bytes, struct cuda_stream *s);
int twin_launch(const struct dev_kernel *k, const unsigned grid[3], unsigned block, size_t shared,
                const void *args, size_t args_bytes, struct cuda_stream *s);
/* What a thread may not call while it captures any stream, in the mode that is used: its captures are lost. */
int twin_not_capturing(const char *function);
void twin_run_gpu(int gpu); /* all that its streams hold, as cudaFree does */
void twin_stream_reset(void);

/* graph.cpp */
int twin_event_open(struct cuda_event **out);
int twin_event_close(struct cuda_event *e);
int twin_event_record(struct cuda_event *e, struct cuda_stream *s);
int twin_event_query(struct cuda_event *e);
int twin_event_ms(struct cuda_event *from, struct cuda_event *to, float *ms);
int twin_capture_begin(struct cuda_stream *s);
int twin_capture_end(struct cuda_stream *s, struct cuda_graph **out);
int twin_graph_launch(struct cuda_graph *g, struct cuda_stream *s);
int twin_graph_close(struct cuda_graph *g);

#endif
