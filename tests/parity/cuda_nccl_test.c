/* A group of one rank, with the twin of NCCL and with the library on a GPU: joined without blocking,
 * its sums captured in a graph that is launched twice, left in order; and given up while a graph holds
 * its communicator. One GPU cannot show more: NCCL launches nothing for one rank, so the graph is empty. */
#include "tests/parity/cuda_kit.h"

#include "base/clock.h"

#define COUNT 100000

struct one {
    struct cuda_group *group;
    struct cuda_stream *stream;
    struct cuda_graph *graph;
    float *there, *here;
};

static bool open_one(struct one *o)
{
    const struct cuda_rt *rt = cuda_rt();
    struct err e = {0};
    void *there = NULL, *here = NULL;

    *o = (struct one){0};
    if (rt->use(0) || rt->stream_open(&o->stream) || rt->take(&there, COUNT * sizeof(float)) ||
        rt->take_pinned(&here, NULL, COUNT * sizeof(float)))
        return false;
    o->there = there;
    o->here = here;
    for (int i = 0; i < COUNT; i++)
        o->here[i] = (float)i;
    if (cuda_group_open(&o->group, 1, 20000, &e) != ERR_OK ||
        cuda_group_join(o->group, 0, 0, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
        return false;
    }
    return true;
}

static void capture_sums(struct one *o)
{
    const struct cuda_rt *rt = cuda_rt();
    struct err e = {0};

    /* once by itself, as a session does: what is loaded late is loaded then */
    REQUIRE(rt->copy(o->there, o->here, COUNT * sizeof(float), o->stream) == 0);
    REQUIRE_OK(cuda_group_sum(o->group, 0, o->there, COUNT, o->stream, &e));
    REQUIRE_OK(cuda_group_wait(o->group, 0, o->stream, &e));
    REQUIRE(rt->capture_begin(o->stream) == 0);
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(cuda_group_sum(o->group, 0, o->there, COUNT, o->stream, &e));
    REQUIRE(rt->capture_end(o->stream, &o->graph) == 0);
}

static void close_one(struct one *o)
{
    const struct cuda_rt *rt = cuda_rt();

    rt->graph_close(o->graph);
    cuda_group_leave(o->group, 0);
    cuda_group_close(o->group);
    rt->give(o->there);
    rt->give_pinned(o->here);
    rt->stream_close(o->stream);
    CHECK_STR(twin_report(), "");
}

TEST(sums_of_one_rank_in_a_graph)
{
    const struct cuda_rt *rt = cuda_rt();
    struct err e = {0};
    struct one o;

    kit_twin(1);
    if (!cuda_nccl(&e))
        SKIP("NCCL is not here");
    REQUIRE(open_one(&o));
    capture_sums(&o);
    for (int i = 0; i < 2; i++)
        REQUIRE(rt->graph_launch(o.graph, o.stream) == 0);
    memset(o.here, 0, COUNT * sizeof(float));
    REQUIRE(rt->copy(o.here, o.there, COUNT * sizeof(float), o.stream) == 0);
    REQUIRE_OK(cuda_group_wait(o.group, 0, o.stream, &e));
    for (int i = 0; i < COUNT; i++)
        if (o.here[i] != (float)i) {
            TEST_FAILED("number %d is %g", i, (double)o.here[i]);
            break;
        }
    close_one(&o);
}

TEST(a_group_is_given_up_while_a_graph_holds_it)
{
    struct err e = {0}, why = {0};
    uint64_t begun = clock_ns();
    struct one o;

    kit_twin(1);
    if (!cuda_nccl(&e))
        SKIP("NCCL is not here");
    REQUIRE(open_one(&o));
    capture_sums(&o);
    REQUIRE(cuda_rt()->graph_launch(o.graph, o.stream) == 0);
    err_set(&why, ERR_FAILED, "for a test");
    cuda_group_fail(o.group, 0, &why);
    CHECK_INT(cuda_group_wait(o.group, 0, o.stream, &e), ERR_FAILED);
    CHECK_HAS(e.text, "for a test");
    close_one(&o);
    CHECK((double)(clock_ns() - begun) < 15e9); /* by itself, not by the limit */
}
