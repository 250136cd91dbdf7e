/* A timer looks at the terminals after a signal. Where one takes nothing, its descriptor is made that of
 * /dev/null: the write that waits is interrupted by the timer's own signal, and the system begins it anew,
 * on what the descriptor is now. So whoever writes, curses too, needs to know nothing of this. */
#include "base/system/stall.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 100000000
#define PATIENT 10  /* ticks without a byte until a terminal is given up */
#define MOST    600 /* ticks behind a signal that ended nothing */

static struct {
    pid_t main;
    timer_t timer;
    bool can; /* there is a timer */
    int nowhere;
    atomic_int fd[3];
    atomic_int writer; /* another thread that writes; 0: none */
    volatile sig_atomic_t ticks, stalled, given_up;
} stall = {.nowhere = -1, .fd = {STDOUT_FILENO, STDERR_FILENO, -1}};

static int number(void)
{
    return SIGRTMIN;
}

static bool takes_nothing(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};

    return fd >= 0 && isatty(fd) && poll(&out, 1, 0) == 0;
}

static void give_up(int fd)
{
    dup3(stall.nowhere, fd, fd > STDERR_FILENO ? O_CLOEXEC : 0);
    stall.given_up = 1;
}

static void tick_every(long ns)
{
    struct itimerspec ticks = {{0, ns}, {0, ns}};

    timer_settime(stall.timer, 0, &ticks, NULL);
}

static void look(void)
{
    int writer = atomic_load(&stall.writer);
    bool stalls = false;

    for (size_t i = 0; i < MEM_COUNT(stall.fd); i++)
        stalls |= takes_nothing(atomic_load(&stall.fd[i]));
    stall.stalled = stalls ? stall.stalled + 1 : 0;
    if (++stall.ticks > MOST && !stalls)
        tick_every(0);
    if (!stall.given_up && stall.stalled < PATIENT)
        return;
    for (size_t i = 0; i < MEM_COUNT(stall.fd); i++)
        if (takes_nothing(atomic_load(&stall.fd[i])))
            give_up(atomic_load(&stall.fd[i]));
    if (writer)
        syscall(SYS_tgkill, getpid(), writer, number());
}

static void on_tick(int signal)
{
    int saved = errno;

    (void)signal;
    if (syscall(SYS_gettid) == stall.main) /* another one has only been woken from its write */
        look();
    errno = saved;
}

void stall_start(void)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number()};

    if (stall.nowhere >= 0)
        return;
    stall.main = event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    stall.nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigfillset(&action.sa_mask);
    sigaction(number(), &action, NULL);
    stall.can = stall.nowhere >= 0 && timer_create(CLOCK_MONOTONIC, &event, &stall.timer) == 0;
}

void stall_terminal(int fd)
{
    atomic_store(&stall.fd[2], fd);
}

void stall_after_signal(void)
{
    stall.ticks = 0;
    if (stall.can)
        tick_every(TICK_NS);
}

bool stall_has_given_up(void)
{
    return stall.given_up;
}

void stall_writing(bool is)
{
    pid_t own = (pid_t)syscall(SYS_gettid);
    sigset_t set;

    if (!stall.can || own == stall.main)
        return;
    sigemptyset(&set);
    sigaddset(&set, number());
    if (is)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    atomic_store(&stall.writer, is ? own : 0);
    if (!is)
        pthread_sigmask(SIG_BLOCK, &set, NULL);
}
