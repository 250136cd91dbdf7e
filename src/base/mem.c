#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *(*_Atomic last_act)(void);
static atomic_bool ends; /* some thread found no memory */

void mem_at_last(const char *(*act)(void))
{
    atomic_store(&last_act, act);
    while (atomic_load(&ends)) /* without this act: the program changes nothing more */
        pause();
}

/* The one place beside main.c that ends the program: there is no memory left to say more with. Of several
 * threads one does so, and at once: what exit() would call may wait for a thread that waits here. */
static _Noreturn void mem_end(size_t bytes)
{
    const char *(*act)(void);
    char line[512];
    ssize_t n;

    while (atomic_exchange(&ends, true))
        pause();
    act = atomic_load(&last_act);
    snprintf(line, sizeof line, "chorus: out of memory (%zu bytes more were wanted)%s\n", bytes,
             act ? act() : "");
    n = write(STDERR_FILENO, line, strlen(line));
    (void)n; /* nobody may hear it */
    _exit(1);
}

static void *mem_checked(void *p, size_t bytes)
{
    if (!p)
        mem_end(bytes);
    return p;
}

static size_t mem_product(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        mem_checked(NULL, SIZE_MAX);
    return bytes ? bytes : 1;
}

void *mem_new(size_t count, size_t size)
{
    size_t bytes = mem_product(count, size);
    return mem_checked(calloc(1, bytes), bytes);
}

void *mem_resize(void *old, size_t count, size_t size)
{
    size_t bytes = mem_product(count, size);
    return mem_checked(realloc(old, bytes), bytes);
}

char *mem_text_n(const char *text, size_t n)
{
    char *copy = mem_new(n + 1, 1);

    if (n)
        memcpy(copy, text, n);
    return copy;
}

char *mem_text(const char *text)
{
    return mem_text_n(text, strlen(text));
}

char *mem_textf(const char *fmt, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    return mem_checked(n < 0 ? NULL : text, strlen(fmt));
}

void *mem_try(size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 63)
        return NULL;
    bytes = (bytes + 63) & ~(size_t)63; /* aligned_alloc wants a multiple of the alignment */
    p = aligned_alloc(64, bytes ? bytes : 64);
    if (p)
        memset(p, 0, bytes ? bytes : 64);
    return p;
}

void *mem_grow(void *array, size_t *room, size_t want, size_t size)
{
    size_t next = *room;

    if (want <= next)
        return array;
    if (next < 8)
        next = 8;
    while (next < want)
        next += next / 2;
    *room = next;
    return mem_resize(array, next, size);
}
