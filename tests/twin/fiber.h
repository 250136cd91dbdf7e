/* tests/twin/fiber.h: threads of a kernel on one thread of the system: a stack each, and a switch from
 * one to another. */
#ifndef CHORUS_TESTS_TWIN_FIBER_H
#define CHORUS_TESTS_TWIN_FIBER_H

#include <stddef.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
extern "C" {
void *__tsan_get_current_fiber(void);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
}
#endif
#ifndef __x86_64__
#include <ucontext.h>
#endif

struct fiber_place { /* where something stopped */
#ifdef __x86_64__
    void *sp;
#else
    ucontext_t at;
#endif
    const void *bottom; /* its stack */
    size_t bytes;
#ifdef __SANITIZE_THREAD__
    void *tsan;
#endif
};

struct fiber {
    fiber_place at;
    unsigned char *stack;
    void (*entry)(void); /* begins with fiber_began() and never returns */
};

fiber *fiber_open(void (*entry)(void));
void fiber_close(fiber *f);
/* It begins anew, wherever it stood. */
void fiber_lay(fiber *f);
/* The thread of the system, from which fibers are begun. */
void fiber_home(fiber_place *home);

extern "C" void emu_switch(void **save, void *load);

inline void fiber_began(void)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

/* Until somebody changes to `from` again. */
inline void fiber_change(fiber_place *from, fiber_place *to)
{
#ifdef __SANITIZE_ADDRESS__
    void *fake = NULL;

    __sanitizer_start_switch_fiber(&fake, to->bottom, to->bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
#ifdef __x86_64__
    emu_switch(&from->sp, to->sp);
#else
    swapcontext(&from->at, &to->at);
#endif
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

#endif
