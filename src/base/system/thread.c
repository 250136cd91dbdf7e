#include "base/system/thread.h"

#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>

#define STACK_BYTES 65536

struct started {
    void *(*begin)(void *);
    void *user;
};

/* A sanitizer gives threads one of its own, and takes that back itself. */
static void *give_stack(void)
{
    stack_t old, own = {.ss_size = STACK_BYTES};

    if (sigaltstack(NULL, &old) != 0 || !(old.ss_flags & SS_DISABLE))
        return NULL;
    own.ss_sp = malloc(STACK_BYTES);
    if (own.ss_sp && sigaltstack(&own, NULL) == 0)
        return own.ss_sp;
    free(own.ss_sp);
    return NULL;
}

static void *run(void *user)
{
    struct started started = *(struct started *)user;
    void *stack = give_stack(), *result;

    free(user);
    result = started.begin(started.user);
    if (stack)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(stack);
    return result;
}

int thread_start(pthread_t *thread, void *(*begin)(void *), void *user)
{
    struct started *started = mem_new(1, sizeof *started);
    int failed;

    *started = (struct started){begin, user};
    failed = pthread_create(thread, NULL, run, started);
    if (failed)
        free(started);
    return failed;
}
