/* tests/twin/fiber.cpp: the stacks of fibers, each with a page below it that nobody may touch. */
#include "tests/twin/fiber.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define STACK_BYTES ((size_t)512 << 10)
#else
#define STACK_BYTES ((size_t)128 << 10)
#endif
#ifdef __SANITIZE_THREAD__
extern "C" {
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
}
#endif

#define PAGE ((size_t)4096)

void fiber_home(fiber_place *home)
{
    pthread_attr_t attr;
    void *low = NULL;
    size_t bytes = 0;

    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &bytes);
        pthread_attr_destroy(&attr);
    }
    home->bottom = low;
    home->bytes = bytes;
}

/* A stack as if emu_switch had just left it at the entry. */
void fiber_lay(fiber *f)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(f->stack, STACK_BYTES);
#endif
#ifdef __x86_64__
    void **p = (void **)(f->stack + STACK_BYTES - 64);

    *--p = NULL;
    *--p = (void *)f->entry;
    p -= 6;
    memset(p, 0, 6 * sizeof *p);
    f->at.sp = p;
#else
    getcontext(&f->at.at);
    f->at.at.uc_stack.ss_sp = f->stack;
    f->at.at.uc_stack.ss_size = STACK_BYTES;
    f->at.at.uc_link = NULL;
    makecontext(&f->at.at, f->entry, 0);
#endif
}

fiber *fiber_open(void (*entry)(void))
{
    fiber *f = new fiber();

    f->entry = entry;
    f->stack = (unsigned char *)mmap(NULL, STACK_BYTES + PAGE, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED) {
        fprintf(stderr, "twin: no memory for the stack of a thread of a block\n");
        abort();
    }
    mprotect(f->stack, PAGE, PROT_NONE);
    f->stack += PAGE;
    f->at.bottom = f->stack;
    f->at.bytes = STACK_BYTES;
#ifdef __SANITIZE_THREAD__
    f->at.tsan = __tsan_create_fiber(0);
#endif
    fiber_lay(f);
    return f;
}

void fiber_close(fiber *f)
{
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(f->at.tsan);
#endif
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(f->stack, STACK_BYTES);
#endif
    munmap(f->stack - PAGE, STACK_BYTES + PAGE);
    delete f;
}
