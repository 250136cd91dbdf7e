/* cli/args/signals.c: handlers count and wake the main loop, which decides what a signal means. */
#include "cli/args/signals.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/system/stall.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

volatile sig_atomic_t cli_interrupts, cli_terminated, cli_hung_up;
int cli_wake = -1;

/* Slurm sends SIGUSR1 or SIGUSR2 some time before the time limit, where a job asks for it. After a limit on
 * processor time the system sends SIGXCPU every second. A second notice is no impatience. */
static const struct {
    int number;
    volatile sig_atomic_t *count;
    bool notice;
} handled[] = {{SIGINT, &cli_interrupts, false},  {SIGTERM, &cli_terminated, false},
               {SIGQUIT, &cli_terminated, false}, {SIGUSR1, &cli_terminated, true},
               {SIGUSR2, &cli_terminated, true},  {SIGALRM, &cli_terminated, false},
               {SIGXCPU, &cli_terminated, true},  {SIGHUP, &cli_hung_up, false}};

/* What ends the program at once ends it as SIGTERM does. */
static void on_early_signal(int number)
{
    (void)number;
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
}

static void at_once(int number, volatile sig_atomic_t *count, struct sigaction *action)
{
    sigemptyset(&action->sa_mask);
    action->sa_handler = count == &cli_terminated && number != SIGTERM ? on_early_signal : SIG_DFL;
}

void cli_signals_early(void)
{
    struct sigaction action = {0};

    for (size_t i = 0; i < MEM_COUNT(handled); i++) {
        at_once(handled[i].number, handled[i].count, &action);
        if (action.sa_handler == on_early_signal)
            sigaction(handled[i].number, &action, NULL);
    }
}

static void handled_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < MEM_COUNT(handled); i++)
        sigaddset(set, handled[i].number);
}

static void on_signal(int number)
{
    int saved = errno;
    uint64_t one = 1;
    ssize_t written;

    for (size_t i = 0; i < MEM_COUNT(handled); i++)
        if (handled[i].number == number && !(handled[i].notice && *handled[i].count))
            ++*handled[i].count;
    stall_after_signal();
    written = write(cli_wake, &one, sizeof one);
    (void)written; /* a full counter is readable already */
    errno = saved;
}

/* Ctrl-Z: what lies between is no training time. The stop itself is the system's, of all threads. */
static void on_stop(int number)
{
    struct sigaction system = {.sa_handler = SIG_DFL}, own;
    int saved = errno;
    sigset_t set;

    sigemptyset(&system.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, number);
    clock_work_stops();
    sigaction(number, &system, &own);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* here it stops, and goes on */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaction(number, &own, NULL);
    clock_work_goes();
    errno = saved;
}

/* Who started us may have turned Ctrl-C and Ctrl-\ off (a shell's background job) or Ctrl-Z: that stays. */
static void start_one(int number, const struct sigaction *action)
{
    struct sigaction old;

    if ((number == SIGINT || number == SIGQUIT || number == SIGTSTP) &&
        sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    sigaction(number, action, NULL);
}

void cli_signals_start(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};

    stall_start();
    cli_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    handled_set(&action.sa_mask); /* two handlers at once could lose a count */
    sigemptyset(&stop.sa_mask);
    for (size_t i = 0; i < MEM_COUNT(handled); i++)
        start_one(handled[i].number, &action);
    start_one(SIGTSTP, &stop);
}

void cli_signals_at_once(bool are)
{
    static bool set[MEM_COUNT(handled)];

    for (size_t i = 0; i < MEM_COUNT(handled); i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        struct sigaction now;

        handled_set(&action.sa_mask);
        if (are)
            at_once(handled[i].number, handled[i].count, &action);
        if (handled[i].number == SIGHUP || set[i] == are ||
            sigaction(handled[i].number, NULL, &now) < 0 || (are && now.sa_handler != on_signal))
            continue;
        sigaction(handled[i].number, &action, NULL);
        set[i] = are;
    }
}

static void mask(int how)
{
    sigset_t set;

    handled_set(&set);
    sigaddset(&set, SIGTSTP);
    pthread_sigmask(how, &set, NULL);
}

void cli_signals_block(void)
{
    mask(SIG_BLOCK);
}

void cli_signals_unblock(void)
{
    mask(SIG_UNBLOCK);
}

void cli_wake_clear(void)
{
    uint64_t count;
    ssize_t got = read(cli_wake, &count, sizeof count);

    (void)got;
}
