/* tests/twin/stream.cpp: streams. What is put into a stream waits there until
 * somebody needs it done: a wait runs the stream to its end, a query a little of it, an event what
 * comes before it. Copies look at their source when they run; only from memory that is neither a
 * GPU's nor pinned do they take it at once, as the real runtime does. */
#include "tests/twin/stream_int.h"

#include "tests/twin/emu_int.h"

#include <algorithm>
#include <string.h>
#include <time.h>

#define ARGS 4096

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- running: the lock is held, but not while a kernel or a copy runs ---- */

static int run_kernel(const op *o)
{
    alignas(64) unsigned char args[ARGS];
    struct emu_launch l = {
        o->kernel, {o->grid[0], o->grid[1], o->grid[2]}, o->block, o->shared, args, twin_draw()};
    char report[512];
    int error = twin_fault_due("kernel");
    bool fine;

    twin.counts.kernels++;
    if (error == CUDA_RT_NOT_READY)
        twin.gpu[o->gpu].hung = true;
    if (!error)
        error = twin_check_args(o->kernel, o->bytes.data(), o->bytes.size(), o->gpu);
    if (error)
        return error;
    if (!o->bytes.empty())
        memcpy(args, o->bytes.data(), o->bytes.size());
    pthread_mutex_unlock(&twin.lock);
    fine = emu_run(&l, report, sizeof report);
    pthread_mutex_lock(&twin.lock);
    return fine ? 0 : twin_wrong(TWIN_LAUNCH, "%s", report);
}

/* From the first row to the end of the last one. */
static size_t reach(const op *o, size_t pitch)
{
    return (o->rows - 1) * pitch + o->size;
}

static int check_copy(const op *o, int gpu)
{
    int error = twin_check_range("copy to", o->to, reach(o, o->to_pitch), gpu);

    return error || !o->bytes.empty()
               ? error
               : twin_check_range("copy from", o->from, reach(o, o->from_pitch), gpu);
}

static int run_copy(const op *o)
{
    const unsigned char *from = o->bytes.empty() ? (const unsigned char *)o->from : o->bytes.data();
    int error = check_copy(o, o->gpu);

    if (error)
        return error;
    pthread_mutex_unlock(&twin.lock);
    for (size_t i = 0; i < o->rows; i++)
        memmove((char *)o->to + i * o->to_pitch, from + i * o->from_pitch, o->size);
    pthread_mutex_lock(&twin.lock);
    return 0;
}

static int run_set(const op *o)
{
    int error = twin_check_range("set", o->to, o->size, o->gpu);

    if (error)
        return error;
    pthread_mutex_unlock(&twin.lock);
    memset(o->to, o->byte, o->size);
    pthread_mutex_lock(&twin.lock);
    return 0;
}

/* Some order in which every node comes behind those that it follows. */
static std::vector<size_t> some_order(const body *b)
{
    std::vector<size_t> order, ready, open(b->nodes.size());
    std::vector<std::vector<size_t>> then(b->nodes.size());

    for (size_t i = 0; i < b->nodes.size(); i++) {
        open[i] = b->nodes[i].after.size();
        for (size_t before : b->nodes[i].after)
            then[before].push_back(i);
        if (!open[i])
            ready.push_back(i);
    }
    while (!ready.empty()) {
        size_t pick = ready.size() > 1 ? twin_draw() % ready.size() : 0, i = ready[pick];

        ready.erase(ready.begin() + (ptrdiff_t)pick);
        order.push_back(i);
        for (size_t next : then[i])
            if (--open[next] == 0)
                ready.push_back(next);
    }
    return order;
}

static int run_op(op *o)
{
    int error;

    switch (o->kind) {
    case op::COPY:
        return run_copy(o);
    case op::SET:
        return run_set(o);
    case op::LAUNCH:
        return run_kernel(o);
    case op::RECORD:
        o->of->ms = now_ms();
        o->of->done = true;
        return 0;
    case op::CALL:
        pthread_mutex_unlock(&twin.lock);
        error = o->call(o->user);
        pthread_mutex_lock(&twin.lock);
        return error;
    case op::GRAPH:
        if (o->order.empty())
            o->order = some_order(o->graph.get());
        for (; o->at < o->order.size(); o->at++) {
            error = run_op(&o->graph->nodes[o->order[o->at]].work);
            if (error)
                return error;
        }
        return 0;
    case op::WAIT:
        return 0;
    }
    return 0;
}

static void drop_all(cuda_stream *s, int error)
{
    for (op &o : s->queue)
        if (o.kind == op::RECORD) {
            o.of->error = error;
            o.of->done = true;
        }
    s->queue.clear();
    pthread_cond_broadcast(&twin.moved);
}

enum step twin_step(cuda_stream *s)
{
    int error;

    if (s->busy || twin.gpu[s->gpu].hung)
        return BLOCKED;
    if (twin.gpu[s->gpu].stuck)
        drop_all(s, twin.gpu[s->gpu].stuck);
    if (s->queue.empty()) {
        s->queries = 0;
        return IDLE;
    }
    if (s->queue.front().kind == op::WAIT && !s->queue.front().of->done)
        return twin_step(s->queue.front().of->on) == MOVED ? MOVED : BLOCKED;
    s->busy = true;
    error = run_op(&s->queue.front());
    s->busy = false;
    if (error != CUDA_RT_NOT_READY) {
        s->queue.pop_front();
        if (error)
            drop_all(s, twin_stick(s->gpu, error));
    }
    pthread_cond_broadcast(&twin.moved);
    return error == CUDA_RT_NOT_READY ? BLOCKED : MOVED;
}

/* Somebody must wait: lets other streams go on, or other threads, which may open and close streams. */
static void let_others(void)
{
    size_t first = (size_t)twin_draw();
    struct timespec until;

    for (size_t i = 0; i < twin.streams.size(); i++)
        if (twin_step(twin.streams[(first + i) % twin.streams.size()]) == MOVED)
            return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&twin.moved, &twin.lock, &until);
}

bool twin_is_stream(const cuda_stream *s)
{
    return std::find(twin.streams.begin(), twin.streams.end(), s) != twin.streams.end();
}

static int run_out(cuda_stream *s)
{
    int gpu = s->gpu;

    if (twin.gpu[gpu].hung && !s->queue.empty())
        return twin_wrong(TWIN_LAUNCH, "somebody waits for GPU %d, which hangs: for ever", gpu);
    for (;;) {
        enum step did = twin_step(s);

        if (did == IDLE)
            break;
        if (did == BLOCKED)
            let_others();
        if (!twin_is_stream(s)) /* another thread closed it */
            break;
    }
    return twin.gpu[gpu].stuck;
}

void twin_run_gpu(int gpu)
{
    for (size_t i = 0; i < twin.streams.size(); i++)
        if (twin.streams[i]->gpu == gpu)
            run_out(twin.streams[i]);
}

void twin_stream_reset(void)
{
    for (cuda_stream *s : twin.streams)
        delete s;
    twin.streams.clear();
}

/* ---- putting work into a stream ---- */

int twin_may_put(const char *function, const twin_entered &in, cuda_stream *s)
{
    if (in.error)
        return in.error;
    if (!twin_is_stream(s))
        return twin_wrong(TWIN_HANDLE, "%s: %p is not an open stream", function, (void *)s);
    if (s->gpu != twin_current)
        return twin_wrong(TWIN_HANDLE, "%s: a stream of GPU %d while GPU %d is in use", function,
                          s->gpu, twin_current);
    if (s->in && s->in->broken)
        return TWIN_CAPTURE_INVALIDATED;
    return twin.gpu[s->gpu].stuck;
}

int twin_put(cuda_stream *s, op &&o)
{
    o.gpu = s->gpu;
    if (s->in) {
        s->in->graph->nodes.push_back({std::move(o), s->after});
        s->after.assign(1, s->in->graph->nodes.size() - 1);
    } else {
        s->queue.push_back(std::move(o));
    }
    return 0;
}

int twin_not_captured(const char *function, cuda_stream *s)
{
    if (!s->in)
        return 0;
    s->in->broken = true;
    return twin_wrong(TWIN_CAPTURE_UNSUPPORTED, "%s: the stream is being captured", function);
}

int twin_not_capturing(const char *function)
{
    if (!twin_captures)
        return 0;
    for (cuda_stream *s : twin.streams)
        if (s->in && pthread_equal(s->in->by, pthread_self()))
            s->in->broken = true;
    return twin_wrong(TWIN_CAPTURE_UNSUPPORTED, "%s: this thread captures a stream", function);
}

int twin_stream_open(struct cuda_stream **out)
{
    twin_entered in("stream_open");

    *out = NULL;
    if (in.error)
        return in.error;
    *out = new cuda_stream();
    (*out)->gpu = twin_current;
    twin.streams.push_back(*out);
    twin.counts.streams++;
    return 0;
}

int twin_stream_close(struct cuda_stream *s)
{
    twin_entered in("stream_close");

    if (!s)
        return in.error;
    if (!twin_is_stream(s))
        return twin_wrong(TWIN_HANDLE, "stream_close: %p is not an open stream", (void *)s);
    if (s->in)
        return twin_not_captured("stream_close", s);
    run_out(s);
    while (s->busy)
        let_others();
    twin.streams.erase(std::find(twin.streams.begin(), twin.streams.end(), s));
    twin.counts.streams--;
    delete s;
    return in.error;
}

int twin_stream_query(struct cuda_stream *s)
{
    twin_entered in("stream_query");
    int error = twin_may_put("stream_query", in, s);
    uint64_t most;

    if (!error)
        error = twin_not_captured("stream_query", s);
    if (!error)
        error = twin_not_capturing("stream_query");
    if (error)
        return error;
    most = twin_draw() % ((uint64_t)2 << std::min(s->queries++, 20u));
    for (uint64_t i = 0; i < most; i++)
        if (twin_step(s) != MOVED)
            break;
    if (twin.gpu[s->gpu].stuck)
        return twin.gpu[s->gpu].stuck;
    return s->queue.empty() && !s->busy ? 0 : CUDA_RT_NOT_READY;
}

int twin_stream_wait(struct cuda_stream *s)
{
    twin_entered in("stream_wait");
    int error = twin_may_put("stream_wait", in, s);

    twin.counts.waits++;
    if (!error)
        error = twin_not_captured("stream_wait", s);
    if (!error)
        error = twin_not_capturing("stream_wait");
    return error ? error : run_out(s);
}

int twin_copy(void *to, const void *from, size_t bytes, struct cuda_stream *s)
{
    return twin_copy_rows(to, bytes, from, bytes, bytes, 1, s);
}

int twin_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                   size_t rows, struct cuda_stream *s)
{
    twin_entered in("copy");
    int error = twin_may_put("copy", in, s);
    op o = {};

    twin.counts.copies++;
    if (error || !bytes || !rows)
        return error;
    if (to_pitch < bytes || from_pitch < bytes)
        return twin_wrong(TWIN_INVALID, "copy: rows of %zu bytes, %zu and %zu apart", bytes,
                          to_pitch, from_pitch);
    o.kind = op::COPY;
    o.to = to;
    o.from = from;
    o.size = bytes;
    o.rows = rows;
    o.to_pitch = to_pitch;
    o.from_pitch = from_pitch;
    error = check_copy(&o, s->gpu);
    if (error)
        return error;
    if (!s->in && twin_find(from).place == TWIN_HOST)
        o.bytes.assign((const unsigned char *)from,
                       (const unsigned char *)from + reach(&o, from_pitch));
    return twin_put(s, std::move(o));
}

int twin_set(void *p, int byte, size_t bytes, struct cuda_stream *s)
{
    twin_entered in("set");
    int error = twin_may_put("set", in, s);
    op o = {};

    twin.counts.sets++;
    if (error || !bytes)
        return error;
    error = twin_check_range("set", p, bytes, s->gpu);
    if (!error && twin_find(p).place == TWIN_HOST)
        error = twin_wrong(TWIN_INVALID, "set: memory that is neither a GPU's nor pinned");
    if (error)
        return error;
    o.kind = op::SET;
    o.to = p;
    o.byte = byte;
    o.size = bytes;
    return twin_put(s, std::move(o));
}

int twin_launch(const struct dev_kernel *k, const unsigned grid[3], unsigned block, size_t shared,
                const void *args, size_t args_bytes, struct cuda_stream *s)
{
    twin_entered in("launch");
    int error = twin_may_put("launch", in, s);
    size_t most = twin.major >= 9 ? 227 << 10 : 99 << 10;
    op o = {};

    twin.counts.launches++;
    if (error)
        return error;
    if (twin.major < 8)
        return CUDA_RT_NO_IMAGE;
    if (!grid[0] || !grid[1] || !grid[2] || grid[0] > 0x7fffffffu || grid[1] > 65535 ||
        grid[2] > 65535 || !block || block > 1024)
        return twin_wrong(TWIN_CONFIGURATION, "%s: a grid of %u x %u x %u blocks of %u threads",
                          k->name, grid[0], grid[1], grid[2], block);
    if (block > (unsigned)k->threads)
        return twin_wrong(TWIN_INVALID, "%s: a block of %u threads, but it was compiled for %d",
                          k->name, block, k->threads);
    if (shared > most)
        return twin_wrong(TWIN_INVALID, "%s: %zu bytes of shared memory, more than %zu", k->name,
                          shared, most);
    if (args_bytes > ARGS)
        return twin_wrong(TWIN_INVALID, "%s: %zu bytes of arguments", k->name, args_bytes);
    o.kind = op::LAUNCH;
    o.kernel = k;
    memcpy(o.grid, grid, sizeof o.grid);
    o.block = block;
    o.shared = shared;
    o.bytes.assign((const unsigned char *)args, (const unsigned char *)args + args_bytes);
    return twin_put(s, std::move(o));
}

extern "C" int twin_enqueue(struct cuda_stream *s, twin_call *call, void *user)
{
    return twin_enqueue_held(s, call, user, NULL);
}

extern "C" int twin_enqueue_held(struct cuda_stream *s, twin_call *call, void *user,
                                 twin_gone *gone)
{
    twin_entered in("enqueue");
    int error = twin_may_put("enqueue", in, s);
    op o = {};

    if (gone)
        o.held = std::shared_ptr<void>(user, gone);
    if (error)
        return error;
    o.kind = op::CALL;
    o.call = call;
    o.user = user;
    return twin_put(s, std::move(o));
}

extern "C" bool twin_capturing(struct cuda_stream *s)
{
    twin_entered in("", false);

    return s->in != nullptr;
}

extern "C" int twin_gpu_in_use(void)
{
    return twin_current;
}

extern "C" int twin_stream_gpu(struct cuda_stream *s)
{
    twin_entered in("", false);

    return s->gpu;
}
