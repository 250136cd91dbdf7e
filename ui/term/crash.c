#include "ui/term/crash.h"

#include "base/again.h"
#include "base/mem.h"

#include <fcntl.h>
#include <ncurses.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* For the handler of crashes, which may touch nothing else. */
static struct {
    int tty, own, nowhere, talk; /* own: the same terminal, which nobody draws to */
    volatile sig_atomic_t open, came;
    struct termios modes;
    char reset[512];
    size_t reset_n;
    volatile sig_atomic_t resumes;
    char words[1200], log[1024]; /* log: its path; "": there is none */
    size_t words_n, resume_n;    /* resume_n: of the words, those up to how to go on */
    char said[CRASH_SAID + 1], unread[64 * 1024], clean[64 * 1024]; /* what a pipe holds */
} crash = {.tty = -1, .own = -1, .nowhere = -1, .talk = -1};

/* The program's own faults, and what others send that ends it: what is a signal of ours is not here. */
#define FAULT(name)                                                                                \
    {                                                                                              \
        name, #name                                                                                \
    }
static const struct {
    int number;
    const char *name;
} faults[] = {FAULT(SIGSEGV),   FAULT(SIGBUS),  FAULT(SIGILL),  FAULT(SIGFPE),
              FAULT(SIGABRT),   FAULT(SIGSYS),  FAULT(SIGTRAP), FAULT(SIGPROF),
              FAULT(SIGVTALRM), FAULT(SIGPOLL), FAULT(SIGPWR),  FAULT(SIGSTKFLT)};
static struct sigaction before[MEM_COUNT(faults)];
static pthread_mutex_t changes =
    PTHREAD_MUTEX_INITIALIZER; /* of the terminal, from one owner to the other */

void crash_set_modes(int fd)
{
    tcsetattr(fd, TCSANOW, &crash.modes);
}

void crash_talk(int fd)
{
    crash.talk = fd;
}

bool crash_is_watched(void)
{
    return crash.open;
}

bool crash_has_come(void)
{
    return crash.came;
}

char *crash_said(void)
{
    return crash.said;
}

static void write_words(int fd, const char *words)
{
    ssize_t n = write(fd, words, strlen(words));

    (void)n;
}

/* As lines: a 0 among them ends one, and what does not print is a question mark. Says whether the last is
 * ended. The first thread may be changing talk. */
static bool write_talk(int fd, const char *talk, size_t n, bool ended)
{
    size_t to = 0;
    ssize_t wrote;

    while (n > 0 && talk[n - 1] == 0)
        n--;
    for (size_t i = 0; i < n; i++) {
        char c = ((const volatile char *)talk)[i];
        bool end = c == 0 || c == '\n';

        if (end && ended)
            continue;
        crash.clean[to++] = end ? '\n' : (unsigned char)c < ' ' || c == 127 ? '?' : c;
        ended = end;
    }
    wrote = write(fd, crash.clean, to);
    (void)wrote;
    return ended;
}

/* The log's last words: the signal, and what was printed and not written there yet, as malloc's own complaint
 * before it aborts. The first thread may be reading it just now: what it took lies in crash.said by the time
 * that nothing is left to read. */
static void log_crash(const char *name)
{
    int fd = crash.log[0] ? open(crash.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    size_t unread = 0;
    bool ended;
    ssize_t n;

    if (fd < 0)
        return;
    while (unread < sizeof crash.unread &&
           (n = read(crash.talk, crash.unread + unread, sizeof crash.unread - unread)) > 0)
        unread += (size_t)n;
    ended = write_talk(fd, crash.said, sizeof crash.said, true);
    ended = write_talk(fd, crash.unread, unread, ended);
    write_words(fd, ended ? "the program crashed: " : "\nthe program crashed: ");
    write_words(fd, name);
    write_words(fd, "\n");
    close(fd);
}

/* Once: false where there is none to give back. */
static bool take_terminal(void)
{
    ssize_t n;

    if (!crash.open)
        return false;
    crash.open = 0;
    crash.came = 1;
    dup2(crash.nowhere, crash.tty); /* another thread may be drawing */
    n = write(crash.own, crash.reset, crash.reset_n);
    (void)n; /* the terminal may be gone */
    return true;
}

/* What mem says then goes to the terminal. */
static const char *on_no_memory(void)
{
    pthread_mutex_lock(&changes); /* for good: the program ends */
    if (!take_terminal())
        return "";
    write_words(crash.own, "\r\n");
    tcsetattr(crash.own, TCSANOW, &crash.modes);
    log_crash("out of memory");
    dup2(crash.own, STDERR_FILENO);
    return crash.resumes ? crash.words + crash.resume_n : "";
}

static void on_crash(int number)
{
    bool open = take_terminal();
    ssize_t n;

    if (open) {
        n = write(crash.own, crash.words, crash.resumes ? crash.words_n : crash.resume_n);
        n = write(crash.own, "\r\n", 2);
        (void)n;
        tcsetattr(crash.own, TCSANOW, &crash.modes);
    }
    for (size_t i = 0; i < MEM_COUNT(faults); i++)
        if (faults[i].number == number) {
            if (open)
                log_crash(faults[i].name);
            sigaction(number, &before[i], NULL);
        }
    raise(number); /* taken as this handler returns, by whoever had it before */
}

static void add_reset(const char *name)
{
    const char *s = tigetstr(name);

    if (!s || s == (char *)-1)
        return;
    for (; *s && crash.reset_n + 1 < sizeof crash.reset; s++) {
        if (s[0] == '$' && s[1] == '<') { /* a pause, for tputs */
            while (*s && *s != '>')
                s++;
            if (!*s)
                break;
            continue;
        }
        crash.reset[crash.reset_n++] = *s;
    }
}

static size_t words_of_crash(const char *log, const char *next)
{
    int n = snprintf(crash.words, sizeof crash.words,
                     "\r\nchorus: the program crashed; what it said last is in %s%s",
                     log ? log : "the run's log.txt", next);

    return n < (int)sizeof crash.words ? (size_t)n : sizeof crash.words - 1;
}

void crash_resumes(bool something)
{
    crash.resumes = something;
}

void crash_terminal(int in, int out, const char *log)
{
    char *text = mem_textf(", and `chorus resume%s` goes on from the last checkpoint", again());

    tcgetattr(in, &crash.modes);
    crash.tty = out;
    crash.resume_n = words_of_crash(log, "");
    crash.words_n = words_of_crash(log, text);
    free(text);
    snprintf(crash.log, sizeof crash.log, "%s", log && strlen(log) < sizeof crash.log ? log : "");
    mem_at_last(on_no_memory);
}

void crash_waits(void)
{
    pthread_mutex_lock(&changes);
}

void crash_waits_no_more(void)
{
    pthread_mutex_unlock(&changes);
}

void crash_watch(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    static char stack[64 * 1024];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, old;

    crash.reset_n = 0;
    if (tigetstr("kmous") && tigetstr("kmous") != (char *)-1) {
        static const char off[] = "\033[?1006l\033[?1002l\033[?1000l";

        memcpy(crash.reset, off, sizeof off - 1);
        crash.reset_n = sizeof off - 1;
    }
    add_reset("BD"); /* pastes come without brackets */
    add_reset("sgr0");
    add_reset("cnorm");
    add_reset("rmkx");
    add_reset("rmcup");
    crash.own = fcntl(crash.tty, F_DUPFD_CLOEXEC, 3);
    crash.nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    crash.open = crash.own >= 0;
    if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
        sigaltstack(&own, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < MEM_COUNT(faults); i++)
        sigaction(faults[i].number, &action, &before[i]);
}

void crash_forget(void)
{
    crash.open = 0;
    for (size_t i = 0; i < MEM_COUNT(faults); i++)
        sigaction(faults[i].number, &before[i], NULL);
    if (crash.own >= 0)
        close(crash.own);
    if (crash.nowhere >= 0)
        close(crash.nowhere);
    crash.own = crash.nowhere = -1;
}
