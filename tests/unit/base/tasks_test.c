#include "tests/test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/tasks.h"

#include <poll.h>
#include <pthread.h>

struct job {
    int number;
    int *order, *at; /* of done */
    pthread_t worker;
    bool worked, *dropped;
    pthread_mutex_t *gate;
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

static void wait_for_gate(void *arg)
{
    struct job *job = arg;

    job->worker = pthread_self();
    job->worked = true;
    pthread_mutex_lock(job->gate);
    pthread_mutex_unlock(job->gate);
}

TEST(what_waits_for_others_keeps_nothing_waiting)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct tasks *t = tasks_new();
    int order[2], at = 0;

    pthread_mutex_lock(&gate);
    for (int i = 0; i < 2; i++) {
        struct job *job = mem_new(1, sizeof *job);

        *job = (struct job){.number = i, .order = order, .at = &at, .gate = &gate};
        if (i == 0)
            tasks_add_slow(t, wait_for_gate, done, job);
        else
            tasks_add(t, work, done, job);
    }
    for (int i = 0; i < 2; i++) {
        struct pollfd fd = {.fd = tasks_fd(t), .events = POLLIN};

        REQUIRE(poll(&fd, 1, 20000) == 1);
        CHECK(tasks_take(t));
        CHECK_INT(tasks_idle(t), i == 1);
        if (i == 0)
            pthread_mutex_unlock(&gate);
    }
    CHECK_INT(order[0], 1);
    CHECK_INT(order[1], 0);
    tasks_free(t);
}

TEST(the_end_says_whether_it_has_come)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct tasks *t = tasks_new();
    struct job *job = mem_new(1, sizeof *job);
    bool dropped = false;

    *job = (struct job){.gate = &gate, .dropped = &dropped};
    pthread_mutex_lock(&gate);
    tasks_add_slow(t, wait_for_gate, done, job);
    CHECK(!tasks_end(t, 1)); /* it has been asked for, and is done first */
    pthread_mutex_unlock(&gate);
    CHECK(tasks_end(t, 20000));
    CHECK(!dropped);
    tasks_free(t);
    CHECK(dropped); /* done, but told to nobody any more */
}

static void count_up(void *arg)
{
    struct job *job = arg;

    job->worked = true;
    clock_sleep_ms(1);
    ++*job->at;
}

static void count_over(void *arg, bool dropped)
{
    CHECK(dropped);
    free(arg);
}

TEST(what_somebody_asked_for_is_done_before_the_end)
{
    struct tasks *t = tasks_new();
    int worked = 0;

    for (int i = 0; i < 20; i++) {
        struct job *job = mem_new(1, sizeof *job);

        *job = (struct job){.at = &worked};
        tasks_add_slow(t, count_up, count_over, job);
    }
    tasks_free(t);
    CHECK_INT(worked, 20);
}

static struct job *job_of(int number, int *order, int *at, pthread_mutex_t *gate)
{
    struct job *job = mem_new(1, sizeof *job);

    *job = (struct job){.number = number, .order = order, .at = at, .gate = gate};
    return job;
}

static void take_all(struct tasks *t)
{
    while (!tasks_idle(t)) {
        struct pollfd fd = {.fd = tasks_fd(t), .events = POLLIN};

        poll(&fd, 1, 100);
        tasks_take(t);
    }
}

TEST(what_is_quick_is_done_at_once)
{
    struct tasks *t = tasks_new();
    int order[3], at = 0;

    tasks_patience(t, 20000);
    for (int i = 0; i < 3; i++) {
        CHECK(tasks_try(t, work, done, job_of(i, order, &at, NULL)));
        CHECK_INT(at, i + 1);
    }
    CHECK(tasks_idle(t));
    tasks_free(t);
}

/* The first takes its time; the next ones are not waited for, and none overtakes another. */
TEST(what_is_slow_comes_later_and_in_order)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct tasks *t = tasks_new();
    int order[40], at = 0;
    uint64_t began;

    tasks_patience(t, 500);
    pthread_mutex_lock(&gate);
    began = clock_ns();
    CHECK(!tasks_try(t, wait_for_gate, done, job_of(0, order, &at, &gate)));
    for (int i = 1; i < 40; i++)
        CHECK(!tasks_try(t, work, done, job_of(i, order, &at, NULL)));
    CHECK((clock_ns() - began) / 1000000 < 15000); /* 40 times 500 would be 20000 */
    CHECK_INT(at, 0);
    pthread_mutex_unlock(&gate);
    while (at == 0) /* one of them is told of, others may be done */
        tasks_take(t);
    CHECK_INT(order[0], 0);
    take_all(t);
    CHECK_INT(at, 40);
    for (int i = 0; i < 40; i++)
        CHECK_INT(order[i], i);
    tasks_patience(t, 20000);
    CHECK(tasks_try(t, work, done, job_of(7, order, &(int){0}, NULL)));
    tasks_free(t);
}

/* A folder of many pictures that is looked at keeps Tab in a field waiting for nothing. */
TEST(what_a_key_asks_of_a_place_does_not_wait_for_looks_at_places)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct tasks *t = tasks_new();
    int order[2], at = 0;

    tasks_patience(t, 20000);
    pthread_mutex_lock(&gate);
    tasks_add_place(t, wait_for_gate, done, job_of(0, order, &at, &gate));
    CHECK(tasks_try(t, work, done, job_of(1, order, &at, NULL)));
    CHECK_INT(at, 1);
    pthread_mutex_unlock(&gate);
    take_all(t);
    CHECK_INT(at, 2);
    tasks_free(t);
}
