/* tests/twin/stream_int.h: what lies in streams and graphs of the twin. */
#ifndef CHORUS_TESTS_TWIN_STREAM_INT_H
#define CHORUS_TESTS_TWIN_STREAM_INT_H

#include "tests/twin/twin_int.h"

struct ticket { /* of one recording of an event */
    bool done;
    int error;
    double ms;
    struct cuda_stream *on;
    std::shared_ptr<struct capture> in; /* recorded while capturing: a place in that graph */
    std::vector<size_t> after;
};

struct body;

struct op {
    enum { COPY, SET, LAUNCH, RECORD, WAIT, GRAPH, CALL } kind;
    int gpu;
    const struct dev_kernel *kernel;
    unsigned grid[3], block;
    size_t shared;
    std::vector<unsigned char> bytes; /* arguments, or what a copy took at once */
    void *to;
    const void *from;
    size_t size;
    size_t rows, to_pitch, from_pitch; /* of a copy */
    int byte;
    twin_call *call;
    void *user;
    std::shared_ptr<void> held; /* tells user when it is held no more */
    std::shared_ptr<ticket> of;
    std::shared_ptr<body> graph;
    std::vector<size_t> order; /* of the graph's nodes, this time */
    size_t at;                 /* how many of them are done */
};

struct node {
    op work;
    std::vector<size_t> after;
};

struct body {
    std::vector<node> nodes;
};

struct capture {
    std::shared_ptr<body> graph;
    struct cuda_stream *origin;
    pthread_t by;
    bool broken, over;
};

struct cuda_stream {
    int gpu;
    std::deque<op> queue;
    bool busy;                   /* a thread runs its first op */
    unsigned queries;            /* since it was last waited for or empty */
    std::shared_ptr<capture> in; /* NULL: not captured */
    std::vector<size_t> after;   /* nodes that the next one follows */
};

struct cuda_event {
    int gpu;
    std::shared_ptr<ticket> last;
};

struct cuda_graph {
    int gpu;
    std::shared_ptr<body> graph;
};

enum step { IDLE, MOVED, BLOCKED };

/* One op of a stream, or of one that it waits for. */
enum step twin_step(cuda_stream *s);
bool twin_is_stream(const cuda_stream *s);
/* 0: work of this thread may be put into it */
int twin_may_put(const char *function, const twin_entered &in, cuda_stream *s);
int twin_put(cuda_stream *s, op &&o);
/* What a stream that is captured may not be asked. */
int twin_not_captured(const char *function, cuda_stream *s);

#endif
