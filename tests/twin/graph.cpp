/* tests/twin/graph.cpp: events, and graphs that are captured from streams. */
#include "tests/twin/stream_int.h"

#include <algorithm>

int twin_event_open(struct cuda_event **out)
{
    twin_entered in("event_open");

    *out = NULL;
    if (in.error)
        return in.error;
    *out = new cuda_event();
    (*out)->gpu = twin_current;
    twin.counts.events++;
    return 0;
}

int twin_event_close(struct cuda_event *e)
{
    twin_entered in("event_close");

    if (e) {
        twin.counts.events--;
        delete e;
    }
    return in.error;
}

int twin_event_record(struct cuda_event *e, struct cuda_stream *s)
{
    twin_entered in("event_record");
    int error = twin_may_put("event_record", in, s);
    op o = {};

    if (error)
        return error;
    if (e->gpu != s->gpu)
        return twin_wrong(TWIN_HANDLE, "event_record: an event of GPU %d in a stream of GPU %d",
                          e->gpu, s->gpu);
    e->last = std::make_shared<ticket>();
    e->last->on = s;
    if (s->in) {
        e->last->in = s->in;
        e->last->after = s->after;
        return 0;
    }
    o.kind = op::RECORD;
    o.of = e->last;
    return twin_put(s, std::move(o));
}

int twin_stream_after(struct cuda_stream *s, struct cuda_event *e)
{
    twin_entered in("stream_after");
    /* A stream may wait for any GPU's event. */
    int error = twin_may_put("stream_after", in, s);
    op o = {};

    if (error || !e->last)
        return error;
    if (e->last->in) {
        if (e->last->in->over)
            return twin_wrong(TWIN_CAPTURED_EVENT,
                              "stream_after: an event of a capture that is over");
        if (s->in && s->in != e->last->in) {
            s->in->broken = e->last->in->broken = true;
            return twin_wrong(TWIN_CAPTURE_MERGE, "stream_after: two captures would become one");
        }
        if (!s->in) {
            s->in = e->last->in;
            s->after.clear();
        }
        for (size_t i : e->last->after)
            if (std::find(s->after.begin(), s->after.end(), i) == s->after.end())
                s->after.push_back(i);
        return 0;
    }
    if (s->in) {
        s->in->broken = true;
        return twin_wrong(TWIN_CAPTURE_ISOLATION,
                          "stream_after: a captured stream waits for an event outside its capture");
    }
    o.kind = op::WAIT;
    o.of = e->last;
    return twin_put(s, std::move(o));
}

int twin_event_query(struct cuda_event *e)
{
    twin_entered in("event_query");
    int error;

    if (in.error)
        return in.error;
    if (!e->last)
        return 0;
    if (e->last->in)
        return twin_wrong(TWIN_CAPTURED_EVENT, "event_query: the event was recorded in a capture");
    error = twin_not_capturing("event_query");
    if (error)
        return error;
    if (!e->last->done) {
        cuda_stream *s = e->last->on;
        uint64_t most = twin_draw() % ((uint64_t)2 << std::min(s->queries++, 20u));

        for (uint64_t i = 0; i < most && !e->last->done; i++)
            if (twin_step(s) != MOVED)
                break;
    }
    return e->last->done ? e->last->error : CUDA_RT_NOT_READY;
}

int twin_event_ms(struct cuda_event *from, struct cuda_event *to, float *ms)
{
    twin_entered in("event_ms");

    *ms = 0;
    if (in.error)
        return in.error;
    if (!from->last || !to->last || from->last->in || to->last->in)
        return twin_wrong(TWIN_HANDLE, "event_ms: an event that was not recorded");
    if (!from->last->done || !to->last->done)
        return CUDA_RT_NOT_READY;
    *ms = (float)(to->last->ms - from->last->ms);
    return 0;
}

/* ---- graphs ---- */

int twin_capture_begin(struct cuda_stream *s)
{
    twin_entered in("capture_begin");
    int error = twin_may_put("capture_begin", in, s);

    if (!error)
        error = twin_not_captured("capture_begin", s);
    if (error)
        return error;
    s->in = std::make_shared<capture>();
    s->in->graph = std::make_shared<body>();
    s->in->origin = s;
    s->in->by = pthread_self();
    s->after.clear();
    twin_captures++;
    return 0;
}

/* Whether a node is among those that `ends` follow. */
static bool joined(const body *b, const std::vector<size_t> &ends, size_t what)
{
    std::vector<bool> seen(b->nodes.size());
    std::vector<size_t> open = ends;

    while (!open.empty()) {
        size_t i = open.back();

        open.pop_back();
        if (i == what)
            return true;
        if (seen[i])
            continue;
        seen[i] = true;
        for (size_t before : b->nodes[i].after)
            open.push_back(before);
    }
    return false;
}

int twin_capture_end(struct cuda_stream *s, struct cuda_graph **out)
{
    twin_entered in("capture_end");
    std::shared_ptr<capture> c;
    int error = in.error;

    *out = NULL;
    if (!twin_is_stream(s))
        return twin_wrong(TWIN_HANDLE, "capture_end: %p is not an open stream", (void *)s);
    c = s->in;
    if (!c)
        return twin_wrong(TWIN_INVALID, "capture_end: the stream is not captured");
    if (c->origin != s)
        return twin_wrong(TWIN_CAPTURE_UNMATCHED, "capture_end: not the stream where it began");
    if (!pthread_equal(c->by, pthread_self()))
        return twin_wrong(TWIN_CAPTURE_THREAD, "capture_end: not the thread that began it");
    if (c->broken)
        error = error ? error : TWIN_CAPTURE_INVALIDATED;
    for (cuda_stream *other : twin.streams)
        if (other != s && other->in == c) {
            for (size_t last : other->after)
                if (!error && !joined(c->graph.get(), s->after, last))
                    error = twin_wrong(TWIN_CAPTURE_UNJOINED,
                                       "capture_end: a stream that joined it was not waited for");
            other->in.reset();
            other->after.clear();
        }
    s->in.reset();
    s->after.clear();
    c->over = true;
    twin_captures--;
    if (!error) {
        *out = new cuda_graph();
        (*out)->gpu = s->gpu;
        (*out)->graph = c->graph;
        twin.counts.graphs++;
        twin.counts.early_graphs += s->busy || !s->queue.empty();
    }
    return error;
}

int twin_graph_launch(struct cuda_graph *g, struct cuda_stream *s)
{
    twin_entered in("graph_launch");
    int error = twin_may_put("graph_launch", in, s);
    op o = {};

    twin.counts.graph_launches++;
    if (!error)
        error = twin_not_captured("graph_launch", s);
    if (error)
        return error;
    if (g->gpu != s->gpu)
        return twin_wrong(TWIN_HANDLE, "graph_launch: a graph of GPU %d in a stream of GPU %d",
                          g->gpu, s->gpu);
    o.kind = op::GRAPH;
    o.graph = g->graph;
    return twin_put(s, std::move(o));
}

int twin_graph_close(struct cuda_graph *g)
{
    twin_entered in("graph_close");

    if (g) {
        twin.counts.graphs--;
        delete g;
    }
    return in.error;
}
