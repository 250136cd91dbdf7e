#include "tests/test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "ui/tasks.h"

#include <poll.h>
#include <pthread.h>

struct job {
    int number;
    int *order, *at; /* of done */
    pthread_t worker;
    bool worked, *dropped;
};

static void work(void *arg)
{
    struct job *job = arg;

    job->worker = pthread_self();
    job->worked = true;
    clock_sleep_ms(1);
}

static void done(void *arg, bool dropped)
{
    struct job *job = arg;

    CHECK(job->worked || dropped);
    CHECK(!job->worked || !pthread_equal(job->worker, pthread_self()));
    if (job->order)
        job->order[(*job->at)++] = job->number;
    if (job->dropped)
        *job->dropped = dropped;
    free(job);
}

TEST(they_are_done_in_their_order_and_told_here)
{
    struct tasks *t = tasks_new();
    int order[20], at = 0;

    for (int i = 0; i < 20; i++) {
        struct job *job = mem_new(1, sizeof *job);

        *job = (struct job){.number = i, .order = order, .at = &at};
        tasks_add(t, work, done, job);
    }
    while (at < 20) {
        struct pollfd fd = {.fd = tasks_fd(t), .events = POLLIN};

        REQUIRE(poll(&fd, 1, 20000) == 1);
        tasks_take(t);
    }
    for (int i = 0; i < 20; i++)
        CHECK_INT(order[i], i);
    CHECK(tasks_idle(t));
    CHECK(!tasks_take(t));
    tasks_free(t);
}

TEST(what_has_not_begun_is_dropped_at_the_end)
{
    struct tasks *t = tasks_new();
    bool dropped[50];
    int count = 0;

    for (int i = 0; i < 50; i++) {
        struct job *job = mem_new(1, sizeof *job);

        dropped[i] = false;
        *job = (struct job){.number = i, .dropped = &dropped[i]};
        tasks_add(t, work, done, job);
    }
    tasks_free(t); /* nothing was taken: all are told as dropped, none is lost */
    for (int i = 0; i < 50; i++)
        count += dropped[i];
    CHECK_INT(count, 50);
}
