#include "ui/tasks.h"

#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct task {
    struct task *next;
    void (*work)(void *arg);
    void (*done)(void *arg, bool dropped);
    void *arg;
};

struct tasks {
    pthread_t thread;
    int fd;

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct task *waiting, *finished; /* in the order in which they came */
    bool working, end;
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
    struct tasks *t = user;
    uint64_t one = 1;

    pthread_mutex_lock(&t->lock);
    for (;;) {
        struct task *task;

        while (!t->waiting && !t->end)
            pthread_cond_wait(&t->changed, &t->lock);
        if (t->end)
            break;
        task = t->waiting;
        t->waiting = task->next;
        t->working = true;
        pthread_mutex_unlock(&t->lock);
        task->work(task->arg);
        pthread_mutex_lock(&t->lock);
        t->working = false;
        append(&t->finished, task);
        if (write(t->fd, &one, sizeof one) < 0)
            continue; /* a full counter is readable already */
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct tasks *tasks_new(void)
{
    struct tasks *t = mem_new(1, sizeof *t);
    sigset_t all, before;

    t->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* blocked, they would end the program without a word */
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&t->thread, NULL, work, t) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return t;
}

static void finish(struct task *list, bool dropped)
{
    while (list) {
        struct task *task = list;

        list = task->next;
        task->done(task->arg, dropped);
        free(task);
    }
}

void tasks_free(struct tasks *t)
{
    pthread_mutex_lock(&t->lock);
    t->end = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    finish(t->finished, true);
    finish(t->waiting, true);
    close(t->fd);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

void tasks_add(struct tasks *t, void (*begin)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg)
{
    struct task *task = mem_new(1, sizeof *task);

    *task = (struct task){.work = begin, .done = done, .arg = arg};
    pthread_mutex_lock(&t->lock);
    append(&t->waiting, task);
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

int tasks_fd(struct tasks *t)
{
    return t->fd;
}

bool tasks_take(struct tasks *t)
{
    struct task *list;
    uint64_t count;

    if (read(t->fd, &count, sizeof count) < 0)
        count = 0;
    pthread_mutex_lock(&t->lock);
    list = t->finished;
    t->finished = NULL;
    pthread_mutex_unlock(&t->lock);
    finish(list, false);
    return list != NULL;
}

bool tasks_idle(struct tasks *t)
{
    bool idle;

    pthread_mutex_lock(&t->lock);
    idle = !t->waiting && !t->working && !t->finished;
    pthread_mutex_unlock(&t->lock);
    return idle;
}
