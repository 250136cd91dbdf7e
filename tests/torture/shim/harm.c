/* harm.c: makes things go wrong around a program that it is preloaded into (LD_PRELOAD), if its name is chorus.
 *
 *   HARM_MEMORY=N    the N-th allocation fails; with N+ all later ones do too
 *   HARM_WHEN=FILE   of allocations, only those count that come when there is such a file,
 *   HARM_IN=first    in the first thread; or in another one (other)
 *   HARM_THREADS=N   the N-th thread cannot be made; with N+ no later one can either
 *   HARM_CLOCK=SEED  the wall clock jumps back and forth, by milliseconds to decades; the monotonic clock stays true
 *   HARM_DISK=US     opening, writing, syncing and renaming a file waits up to US microseconds
 *   HARM_TALLY=FILE  the program's end writes there how many allocations and threads it asked for */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t count, size_t n);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

/* What is asked for again and again, and when it fails: 0 never. */
struct harm {
    atomic_ulong asked;
    unsigned long at;
    int on; /* all later ones fail too */
};
static struct harm memory, threads;
static atomic_ulong drawn; /* of random numbers: the seed, and how many */
static int jumps;
static unsigned long wait_us;
static _Atomic int64_t ahead_ns; /* of the true clock */

static int fails(struct harm *h)
{
    unsigned long n = atomic_fetch_add(&h->asked, 1) + 1;

    return h->at && (n == h->at || (h->on && n > h->at));
}

/* Where the code of curses lies, which is spared: it crashes where it finds no memory. */
static struct {
    uintptr_t from, to;
} frail[4];
static size_t frail_n;

static int note_frail(struct dl_phdr_info *lib, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    for (int i = 0; i < lib->dlpi_phnum && frail_n < 4; i++)
        if ((lib->dlpi_phdr[i].p_flags & PF_X) &&
            (strstr(lib->dlpi_name, "ncurses") || strstr(lib->dlpi_name, "tinfo"))) {
            frail[frail_n].from = lib->dlpi_addr + lib->dlpi_phdr[i].p_vaddr;
            frail[frail_n].to = frail[frail_n].from + lib->dlpi_phdr[i].p_memsz;
            frail_n++;
        }
    return 0;
}

static const char *when, *in;

static int lacks(const void *caller)
{
    if (in && !strcmp(in, "first") != (syscall(SYS_gettid) == getpid()))
        return 0;
    if (when && access(when, F_OK) != 0)
        return 0;
    for (size_t i = 0; i < frail_n; i++)
        if ((uintptr_t)caller >= frail[i].from && (uintptr_t)caller < frail[i].to)
            return 0;
    return fails(&memory);
}
#define LACKS() lacks(__builtin_return_address(0))

static uint64_t draw(void)
{
    uint64_t z = (atomic_fetch_add(&drawn, 1) + 1) * 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- memory ---- */
static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t n)
{
    return LACKS() ? none() : __libc_malloc(n);
}

void *calloc(size_t count, size_t n)
{
    return LACKS() ? none() : __libc_calloc(count, n);
}

void *realloc(void *old, size_t n)
{
    return LACKS() ? none() : __libc_realloc(old, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return LACKS() ? none() : __libc_memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *got = LACKS() ? NULL : __libc_memalign(alignment, n);

    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (LACKS()) {
        errno = ENOMEM;
        return (void *)-1;
    }
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

/* ---- threads ---- */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*begin)(void *),
                   void *user)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");

    return fails(&threads) ? EAGAIN : real(thread, attr, begin, user);
}

/* ---- the wall clock ---- */
/* gettimeofday stays true: curses alone asks it, for how long it has waited for a key, and where the clock is set back
 * within these microseconds it waits for as long. */
/* Each third time it jumps to up to a millisecond, a second, a day or thirty years from the truth. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    static const int64_t far[] = {1000000, 1000000000, 86400000000000, 946080000000000000};
    int64_t ns;

    if (syscall(SYS_clock_gettime, clock, t) != 0)
        return -1;
    if (!jumps || clock != CLOCK_REALTIME)
        return 0;
    if (draw() % 3 == 0) {
        int64_t most = far[draw() % 4];

        ahead_ns = (int64_t)(draw() % (uint64_t)(2 * most)) - most;
    }
    ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec + ahead_ns;
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

time_t time(time_t *to)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (to)
        *to = t.tv_sec;
    return t.tv_sec;
}

/* ---- the disk ---- */
static void dawdle(void)
{
    if (wait_us)
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = (long)(draw() % wait_us) * 1000},
                NULL);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    int mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    dawdle();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    dawdle();
    return syscall(SYS_write, fd, bytes, n);
}

int fsync(int fd)
{
    dawdle();
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    dawdle();
    return (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
    dawdle();
    return (int)syscall(SYS_rename, from, to);
}

/* ---- what is asked for ---- */
static void read_harm(const char *name, struct harm *h)
{
    const char *value = getenv(name);

    if (!value)
        return;
    h->on = strchr(value, '+') != NULL;
    h->at = strtoul(value, NULL, 10);
}

static void __attribute__((constructor)) begin(void)
{
    if (strcmp(program_invocation_short_name, "chorus") != 0)
        return;
    when = getenv("HARM_WHEN");
    in = getenv("HARM_IN");
    dl_iterate_phdr(note_frail, NULL);
    memory.asked = 0; /* what libraries asked for before main() is theirs */
    read_harm("HARM_THREADS", &threads);
    if (getenv("HARM_DISK"))
        wait_us = strtoul(getenv("HARM_DISK"), NULL, 10);
    if (getenv("HARM_CLOCK")) {
        drawn = strtoul(getenv("HARM_CLOCK"), NULL, 10) << 32;
        jumps = 1;
    }
    read_harm("HARM_MEMORY", &memory);
}

static void __attribute__((destructor)) end(void)
{
    char line[64];
    int fd, n;

    if (!getenv("HARM_TALLY") || strcmp(program_invocation_short_name, "chorus") != 0)
        return;
    n = snprintf(line, sizeof line, "%lu %lu\n", (unsigned long)memory.asked,
                 (unsigned long)threads.asked);
    fd = open(getenv("HARM_TALLY"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0 && write(fd, line, (size_t)n) == n)
        close(fd);
}
