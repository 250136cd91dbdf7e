/* tests/twin/memory.cpp: the memory of the twin's GPUs. Each block is an allocation of its own: the
 * address sanitizer sees who leaves it, and without it the page behind it and those of a block that
 * was given back are nobody's. */
#include "tests/twin/twin_int.h"

#include <iterator>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

static const unsigned char MARK = 0xc3;
static const size_t PAGE = 4096;
static const size_t GONE = 64; /* how many blocks that were given back keep their addresses */

static bool still_gone(const void *p) /* the sanitizer gives addresses away again some day */
{
#ifdef __SANITIZE_ADDRESS__
    return __asan_address_is_poisoned(p);
#else
    (void)p;
    return true;
#endif
}

struct twin_where twin_find(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    auto i = twin.blocks.upper_bound(at);

    if (i != twin.blocks.begin()) {
        --i;
        if (at < i->first + i->second.bytes)
            return {i->second.gpu < 0 ? TWIN_PINNED : TWIN_DEVICE, i->second.gpu,
                    i->first + i->second.bytes - at};
    }
    i = twin.gone.upper_bound(at);
    if (i != twin.gone.begin()) {
        --i;
        if (at < i->first + i->second.bytes && still_gone(p))
            return {TWIN_GONE, i->second.gpu, 0};
    }
    return {TWIN_HOST, -1, SIZE_MAX};
}

#ifdef __SANITIZE_ADDRESS__
/* Allocations as others; the sanitizer keeps what was freed apart for a while. */
static void *pages_open(size_t bytes)
{
    void *p;

    return posix_memalign(&p, 256, bytes) ? NULL : p;
}

static void pages_close(void *p, size_t bytes)
{
    (void)bytes;
    free(p);
}

static void pages_forget(void *p, size_t bytes)
{
    (void)p;
    (void)bytes;
}
#else
static size_t fence_of(size_t bytes) /* behind a block, up to 256 bytes in all */
{
    return (bytes + 255) / 256 * 256 - bytes;
}

/* Pages of its own, the block at their end, and one behind it that nobody may touch. */
static size_t pages_of(size_t bytes)
{
    return (bytes + 255 + PAGE) / PAGE * PAGE;
}

static char *pages_begin(void *p, size_t bytes)
{
    return (char *)p + bytes + fence_of(bytes) - pages_of(bytes);
}

static void *pages_open(size_t bytes)
{
    size_t room = pages_of(bytes);
    char *at = (char *)mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    mprotect(at + room, PAGE, PROT_NONE);
    return at + room - bytes - fence_of(bytes);
}

static void pages_close(void *p, size_t bytes)
{
    size_t room = pages_of(bytes) + PAGE;

    /* The addresses stay, with nothing behind them. */
    if (mmap(pages_begin(p, bytes), room, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
}

static void pages_forget(void *p, size_t bytes)
{
    munmap(pages_begin(p, bytes), pages_of(bytes) + PAGE);
}
#endif

static void forget(std::map<uintptr_t, twin_block>::iterator i)
{
    pages_forget((void *)i->first, i->second.bytes);
    twin.gone.erase(i);
}

static void *block_open(size_t bytes, int gpu)
{
    void *p = pages_open(bytes);
    uintptr_t at = (uintptr_t)p;

    if (!p)
        return NULL;
    memset(p, 0xff, bytes); /* NaN */
#ifndef __SANITIZE_ADDRESS__
    memset((char *)p + bytes, MARK, fence_of(bytes));
#endif
    for (auto i = twin.gone.begin(); i != twin.gone.end();) { /* the addresses live again */
        auto next = std::next(i);

        if (i->first < at + bytes && at < i->first + i->second.bytes)
            twin.gone.erase(i);
        i = next;
    }
    twin.blocks[at] = {bytes, gpu};
    twin.counts.blocks++;
    return p;
}

static int block_close(std::map<uintptr_t, twin_block>::iterator i)
{
    unsigned char *p = (unsigned char *)i->first;
    twin_block b = i->second;
    int error = 0;

#ifndef __SANITIZE_ADDRESS__
    for (size_t k = 0; k < fence_of(b.bytes); k++)
        if (p[b.bytes + k] != MARK) {
            error = twin_wrong(CUDA_RT_ILLEGAL,
                               "something wrote %zu bytes behind a block of %zu bytes", k, b.bytes);
            break;
        }
#endif
    pages_close(p, b.bytes);
    twin.blocks.erase(i);
    twin.counts.blocks--;
    if (twin.gone.size() >= GONE)
        forget(twin_draw() % 2 ? twin.gone.begin() : std::prev(twin.gone.end()));
    twin.gone[(uintptr_t)p] = b;
    return error;
}

int twin_memory(size_t *free_bytes, size_t *total)
{
    twin_entered in("memory");

    *free_bytes = *total = 0;
    if (in.error)
        return in.error;
    *total = twin.memory;
    *free_bytes = twin.memory - twin.gpu[twin_current].used;
    return 0;
}

int twin_take(void **out, size_t bytes)
{
    twin_entered in("take");
    int error;

    *out = NULL;
    twin.counts.takes++;
    if (in.error)
        return in.error;
    error = twin_not_capturing("take");
    if (error)
        return error;
    if (!bytes)
        return 0;
    if (bytes > twin.memory - twin.gpu[twin_current].used)
        return CUDA_RT_NOMEM;
    *out = block_open(bytes, twin_current);
    if (!*out)
        return CUDA_RT_NOMEM;
    twin.gpu[twin_current].used += bytes;
    return 0;
}

int twin_give(void *p)
{
    twin_entered in("give");
    std::map<uintptr_t, twin_block>::iterator i;
    int gpu, error;

    if (!p)
        return in.error;
    error = twin_not_capturing("give");
    if (error)
        return error;
    i = twin.blocks.find((uintptr_t)p);
    if (i == twin.blocks.end() || i->second.gpu < 0)
        return twin_wrong(TWIN_INVALID, "give: %p is not the start of memory that take gave", p);
    gpu = i->second.gpu;
    twin_run_gpu(gpu);
    i = twin.blocks.find((uintptr_t)p);
    twin.gpu[gpu].used -= i->second.bytes;
    error = twin_stick(gpu, block_close(i));
    return in.error ? in.error : error;
}

int twin_take_pinned(void **host, void **device, size_t bytes)
{
    twin_entered in("take_pinned");
    int error;

    *host = NULL;
    if (device)
        *device = NULL;
    if (in.error)
        return in.error;
    error = twin_not_capturing("take_pinned");
    if (error)
        return error;
    if (!bytes)
        return 0;
    *host = block_open(bytes, -1);
    if (device)
        *device = *host;
    return *host ? 0 : CUDA_RT_NOMEM;
}

int twin_give_pinned(void *host)
{
    twin_entered in("give_pinned");
    std::map<uintptr_t, twin_block>::iterator i;
    int error;

    if (!host)
        return in.error;
    error = twin_not_capturing("give_pinned");
    if (error)
        return error;
    i = twin.blocks.find((uintptr_t)host);
    if (i == twin.blocks.end() || i->second.gpu >= 0)
        return twin_wrong(TWIN_INVALID, "give_pinned: %p is not what take_pinned gave", host);
    for (int gpu = 0; gpu < twin.gpus; gpu++)
        twin_run_gpu(gpu);
    error = block_close(twin.blocks.find((uintptr_t)host));
    return in.error ? in.error : error;
}

void twin_memory_reset(void)
{
    while (!twin.blocks.empty())
        block_close(twin.blocks.begin());
    while (!twin.gone.empty())
        forget(twin.gone.begin());
}

/* Below: an int, and what happens to lie between it and the end of the word. The address sanitizer's heap
 * has addresses with small lower halves. */
#ifdef __SANITIZE_ADDRESS__
#define SMALL 0x1000
#else
#define SMALL 0x10000
#endif

/* Whether a word of the arguments looks like an address of this process's memory. Two small integers
 * side by side do not: their lower half is small. */
static bool is_address(uint64_t word)
{
    unsigned char in_core;
    uint64_t top = word >> 40;
    bool likely = top == 0x55 || top == 0x56 || top == 0x7f || (top >= 0x60 && top <= 0x63);

    return likely && (uint32_t)word >= SMALL &&
           mincore((void *)(uintptr_t)(word & ~(uint64_t)4095), 1, &in_core) == 0;
}

int twin_check_args(const struct dev_kernel *k, const void *args, size_t bytes, int gpu)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        struct twin_where w;

        memcpy(&word, (const char *)args + i, 8);
        if ((uint32_t)word < SMALL)
            continue;
        w = twin_find((const void *)(uintptr_t)word);
        if (w.place == TWIN_DEVICE && w.gpu != gpu)
            return twin_wrong(CUDA_RT_ILLEGAL,
                              "%s on GPU %d was given memory of GPU %d (byte %zu of its arguments)",
                              k->name, gpu, w.gpu, i);
        if (w.place == TWIN_GONE)
            return twin_wrong(CUDA_RT_ILLEGAL,
                              "%s was given memory that was given back (byte %zu of its arguments)",
                              k->name, i);
        if (w.place == TWIN_HOST && is_address(word))
            return twin_wrong(
                CUDA_RT_ILLEGAL,
                "%s was given memory that is neither a GPU's nor pinned (byte %zu of its "
                "arguments)",
                k->name, i);
    }
    return 0;
}

int twin_check_range(const char *what, const void *p, size_t bytes, int gpu)
{
    struct twin_where w = twin_find(p);

    if (w.place == TWIN_GONE)
        return twin_wrong(CUDA_RT_ILLEGAL, "%s: the memory was given back", what);
    if (w.place == TWIN_DEVICE && w.gpu != gpu)
        return twin_wrong(TWIN_INVALID, "%s: memory of GPU %d in a stream of GPU %d", what, w.gpu,
                          gpu);
    if (bytes > w.left)
        return twin_wrong(TWIN_INVALID, "%s: %zu bytes, but its block ends after %zu", what, bytes,
                          w.left);
    return 0;
}
