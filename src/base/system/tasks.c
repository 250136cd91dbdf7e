#include "base/system/tasks.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 30

struct task {
    struct task *next;
    void (*work)(void *arg);
    void (*done)(void *arg, bool dropped);
    void *arg;
    size_t *open; /* counts it until it is told of; NULL: nothing does */
    bool over;    /* guarded by the lock: for who waits for it */
    bool quiet;
};

enum { LANE_QUICK, LANE_SLOW, LANE_KEYS, LANE_PLACES, LANE_LIVE, LANES };

struct lane {
    struct tasks *of;
    pthread_t thread;
    pthread_cond_t changed;
    struct task *waiting; /* in the order in which they came */
    bool working, left;   /* left: its thread is at its end */
};

struct tasks {
    int fd, patience_ms;
    int lanes;   /* that have a thread: all of them, but at the start */
    size_t open; /* of LANE_KEYS, not told of yet: the main thread's */

    /* Guarded by lock, the lanes too. */
    pthread_mutex_t lock;
    struct lane lane[LANES];
    struct task *finished; /* in the order in which they were done */
    pthread_cond_t one_over;
    bool end;
};

static void append(struct task **list, struct task *task)
{
    while (*list)
        list = &(*list)->next;
    task->next = NULL;
    *list = task;
}

static void *work(void *user)
{
    struct lane *l = user;
    struct tasks *t = l->of;
    uint64_t one = 1;

    pthread_mutex_lock(&t->lock);
    for (;;) {
        struct task *task;

        while (!l->waiting && !t->end)
            pthread_cond_wait(&l->changed, &t->lock);
        if (t->end && ((l != &t->lane[LANE_SLOW] && l != &t->lane[LANE_KEYS]) || !l->waiting))
            break; /* but what somebody asked for is done */
        task = l->waiting;
        l->waiting = task->next;
        l->working = true;
        pthread_mutex_unlock(&t->lock);
        task->work(task->arg);
        pthread_mutex_lock(&t->lock);
        l->working = false;
        task->over = true;
        append(&t->finished, task);
        pthread_cond_signal(&t->one_over);
        if (write(t->fd, &one, sizeof one) < 0)
            continue; /* a full counter is readable already */
    }
    l->left = true;
    pthread_cond_signal(&t->one_over);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct tasks *tasks_new(void)
{
    struct tasks *t = mem_new(1, sizeof *t);
    pthread_condattr_t monotonic;
    sigset_t all, before;
    int failed = 0;

    t->patience_ms = PATIENCE_MS;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->one_over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    t->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&t->lock, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* blocked, they would end the program without a word */
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < LANES; i++) {
        t->lane[i].of = t;
        pthread_cond_init(&t->lane[i].changed, NULL);
        failed = failed ? failed : thread_start(&t->lane[i].thread, work, &t->lane[i]);
        t->lanes += !failed;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return t;
    tasks_free(t);
    errno = failed;
    return NULL;
}

static void finish(struct task *list, bool dropped)
{
    while (list) {
        struct task *task = list;

        list = task->next;
        if (task->open)
            --*task->open;
        task->done(task->arg, dropped);
        free(task);
    }
}

static struct timespec moment(int ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms % 1000 * 1000000l;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static bool all_left(const struct tasks *t)
{
    bool all = true;

    for (int i = 0; i < t->lanes; i++)
        all &= t->lane[i].left;
    return all;
}

bool tasks_end(struct tasks *t, int ms)
{
    struct timespec until = moment(ms);
    bool over;

    pthread_mutex_lock(&t->lock);
    t->end = true;
    for (int i = 0; i < LANES; i++)
        pthread_cond_signal(&t->lane[i].changed);
    while (!(over = all_left(t)) &&
           pthread_cond_timedwait(&t->one_over, &t->lock, &until) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&t->lock);
    return over;
}

void tasks_free(struct tasks *t)
{
    (void)tasks_end(t, 0);
    for (int i = 0; i < t->lanes; i++)
        pthread_join(t->lane[i].thread, NULL);
    finish(t->finished, true);
    for (int i = 0; i < LANES; i++) {
        finish(t->lane[i].waiting, true);
        pthread_cond_destroy(&t->lane[i].changed);
    }
    close(t->fd);
    pthread_cond_destroy(&t->one_over);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void add(struct tasks *t, int lane, void (*begin)(void *arg),
                void (*done)(void *arg, bool dropped), void *arg)
{
    struct task *task = mem_new(1, sizeof *task);

    *task = (struct task){.work = begin, .done = done, .arg = arg, .quiet = lane >= LANE_PLACES};
    pthread_mutex_lock(&t->lock);
    append(&t->lane[lane].waiting, task);
    pthread_cond_signal(&t->lane[lane].changed);
    pthread_mutex_unlock(&t->lock);
}

void tasks_add(struct tasks *t, void (*begin)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg)
{
    add(t, LANE_QUICK, begin, done, arg);
}

void tasks_add_slow(struct tasks *t, void (*begin)(void *arg),
                    void (*done)(void *arg, bool dropped), void *arg)
{
    add(t, LANE_SLOW, begin, done, arg);
}

void tasks_add_live(struct tasks *t, void (*begin)(void *arg),
                    void (*done)(void *arg, bool dropped), void *arg)
{
    add(t, LANE_LIVE, begin, done, arg);
}

void tasks_add_place(struct tasks *t, void (*begin)(void *arg),
                     void (*done)(void *arg, bool dropped), void *arg)
{
    add(t, LANE_PLACES, begin, done, arg);
}

void tasks_patience(struct tasks *t, int ms)
{
    t->patience_ms = ms;
}

static void drop_from(struct task **list, struct task *task)
{
    while (*list != task)
        list = &(*list)->next;
    *list = task->next;
    task->next = NULL;
}

bool tasks_try(struct tasks *t, void (*begin)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg)
{
    struct task *task = mem_new(1, sizeof *task);
    struct lane *l = &t->lane[LANE_KEYS];
    struct timespec until = moment(t->patience_ms);
    bool over = false;

    *task = (struct task){.work = begin, .done = done, .arg = arg, .open = &t->open};
    pthread_mutex_lock(&t->lock);
    append(&l->waiting, task);
    pthread_cond_signal(&l->changed);
    if (!t->open++) { /* nobody waits for what comes behind something slow */
        while (!task->over && pthread_cond_timedwait(&t->one_over, &t->lock, &until) != ETIMEDOUT)
            ;
        over = task->over;
    }
    if (over)
        drop_from(&t->finished, task);
    pthread_mutex_unlock(&t->lock);
    if (over)
        finish(task, false);
    return over;
}

int tasks_fd(struct tasks *t)
{
    return t->fd;
}

bool tasks_take(struct tasks *t)
{
    struct task *list;
    bool seen = false;
    uint64_t count;

    if (read(t->fd, &count, sizeof count) < 0)
        count = 0;
    pthread_mutex_lock(&t->lock);
    list = t->finished;
    t->finished = NULL;
    pthread_mutex_unlock(&t->lock);
    for (const struct task *task = list; task; task = task->next)
        seen |= !task->quiet;
    finish(list, false);
    return seen;
}

bool tasks_idle(struct tasks *t)
{
    bool idle;

    pthread_mutex_lock(&t->lock);
    idle = !t->finished;
    for (int i = 0; i < LANES; i++)
        idle &= !t->lane[i].waiting && !t->lane[i].working;
    pthread_mutex_unlock(&t->lock);
    return idle;
}
