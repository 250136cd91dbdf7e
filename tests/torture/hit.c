/* hit.c: starts a command, sends it signals, and says how it ended. Each signal waits until the command has said what
 * becomes of it: in the first milliseconds any program dies of one.
 *
 *   hit [-t] PLAN COMMAND...   PLAN: "12:INT 0:TSTP 7:CONT", each so many tenths of a ms after the one before
 *
 * With -t the command has a terminal, and a shell with jobs that lets it go on where it stopped. One line is printed:
 * CODE as shells have it (or "hangs"), the terminal ("same", or what is wrong) and the signals that were sent. */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#define PATIENCE_MS 120000

static const struct {
    const char *name;
    int number;
    bool waits; /* until the command handles or ignores it */
} signals[] = {{"TERM", SIGTERM, true},    {"INT", SIGINT, true},    {"HUP", SIGHUP, true},
               {"QUIT", SIGQUIT, true},    {"USR1", SIGUSR1, true},  {"USR2", SIGUSR2, true},
               {"XCPU", SIGXCPU, true},    {"ALRM", SIGALRM, true},  {"PIPE", SIGPIPE, true},
               {"TSTP", SIGTSTP, true},    {"CONT", SIGCONT, false}, {"CHLD", SIGCHLD, false},
               {"WINCH", SIGWINCH, false}, {"XFSZ", SIGXFSZ, true},  {"URG", SIGURG, false}};

static int terminal = -1; /* its other end */
static char screen[65536];
static size_t shown; /* bytes of it: the last ones that were shown */
static pid_t command;
static bool goes = true; /* the last signal was none that stops it */

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void begin(char **argv, bool on_terminal)
{
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    if (on_terminal)
        tcsetpgrp(0, getpid());
    signal(SIGTTOU, SIG_DFL);
    execvp(argv[0], argv);
    _exit(127);
}

/* The shell on the terminal: its command's process goes into the pipe, and then its status. */
static void be_shell(char **argv, int place, int to)
{
    pid_t pid;
    int status;

    login_tty(place);
    pid = fork();
    if (pid == 0)
        begin(argv, true);
    signal(SIGTTOU, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setpgid(pid, pid);
    (void)!write(to, &pid, sizeof pid);
    while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
        tcsetpgrp(0, pid); /* it stays in front */
    tcsetpgrp(0, getpid());
    (void)!write(to, &status, sizeof status);
    pause(); /* the terminal is looked at first */
}

/* What it shows, for so long; false: nothing can come any more. */
static void listen_ms(double ms)
{
    struct pollfd fd = {.fd = terminal, .events = POLLIN};
    double end = now_ms() + ms;
    char bytes[4096];
    ssize_t n;

    do {
        double left = end - now_ms();
        struct timespec wait = {.tv_nsec = left > 0 ? (long)(left * 1e6) % 1000000000 : 0};

        if (ppoll(&fd, terminal >= 0, &wait, NULL) <= 0 ||
            (n = read(terminal, bytes, sizeof bytes)) <= 0)
            continue;
        if (shown + (size_t)n > sizeof screen) {
            memmove(screen, screen + sizeof screen / 2, sizeof screen / 2);
            shown = shown > sizeof screen / 2 ? shown - sizeof screen / 2 : 0;
        }
        memcpy(screen + shown, bytes, (size_t)n);
        shown += (size_t)n;
    } while (now_ms() < end);
}

/* Whether the command decided what becomes of the signal, or (CONT) has stopped. */
static bool is_ready(int number)
{
    unsigned long long caught = 0, ignored = 0;
    char path[64], line[256], state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)command);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "State: %c", &state);
        sscanf(line, "SigCgt: %llx", &caught);
        sscanf(line, "SigIgn: %llx", &ignored);
    }
    if (file)
        fclose(file);
    return number == SIGCONT ? state == 'T' : ((caught | ignored) >> (number - 1) & 1) != 0;
}

/* Waits for an end of the command so long; *status is its status then. from: the shell's pipe, or -1. */
static bool has_ended(int from, double ms, int *status)
{
    struct pollfd fd = {.fd = from, .events = POLLIN};
    double end = now_ms() + ms;

    for (;;) {
        if (from < 0 ? waitpid(command, status, WNOHANG) == command
                     : poll(&fd, 1, 0) > 0 && read(from, status, sizeof *status) == sizeof *status)
            return true;
        if (now_ms() >= end)
            return false;
        if (goes && is_ready(SIGCONT)) /* a CONT that came before the stop was lost */
            kill(command, SIGCONT);
        listen_ms(end - now_ms() < 0.5 ? end - now_ms() : 0.5);
    }
}

/* Sends what the plan says; true: it ended meanwhile. */
static bool send_all(char *plan, int from, int *status, char *sent)
{
    double until = now_ms() + PATIENCE_MS;

    for (char *word = strtok(plan, " "); word; word = strtok(NULL, " ")) {
        const char *name = strchr(word, ':') + 1;
        size_t i = 0;

        while (strcmp(signals[i].name, name) != 0)
            i++;
        while (signals[i].waits && !is_ready(signals[i].number) && now_ms() < until)
            if (has_ended(from, 0.3, status))
                return true;
        if (has_ended(from, atof(word) / 10, status))
            return true;
        kill(command, signals[i].number);
        goes = signals[i].number != SIGTSTP;
        strcat(strcat(sent, " "), name);
    }
    return has_ended(from, PATIENCE_MS, status);
}

static const char *find_last(const char *what)
{
    const char *found = NULL, *at = screen;
    size_t n = strlen(what);

    while ((at = memmem(at, (size_t)(screen + shown - at), what, n)))
        found = at++;
    return found;
}

static const char *terminal_is(const struct termios *before)
{
    struct termios now = {0};
    const char *in, *out;

    listen_ms(1);
    if (tcgetattr(terminal, &now) || now.c_lflag != before->c_lflag ||
        now.c_iflag != before->c_iflag || now.c_oflag != before->c_oflag ||
        now.c_cflag != before->c_cflag)
        return "modes";
    in = find_last("\033[?1049h");
    out = find_last("\033[?1049l");
    if (in && (!out || out < in))
        return "screen";
    in = find_last("\033[?1006;1000h");
    out = find_last("\033[?1006;1000l");
    return in && (!out || out < in) ? "mouse" : "same";
}

int main(int argc, char **argv)
{
    bool on_terminal = argc > 1 && !strcmp(argv[1], "-t"), over;
    struct winsize size = {.ws_row = 30, .ws_col = 100};
    char *plan = argv[1 + on_terminal], **words = argv + 2 + on_terminal, sent[1024] = "";
    int pipes[2] = {-1, -1}, place = -1, status = 0;
    struct termios before = {0};
    pid_t child;

    if (argc < 3 + on_terminal || pipe2(pipes, O_CLOEXEC))
        return 2;
    for (int i = 1; i < NSIG; i++) /* nothing is ignored before the command says so */
        signal(i, SIG_DFL);
    if (on_terminal && (openpty(&terminal, &place, NULL, NULL, &size) ||
                        fcntl(terminal, F_SETFD, FD_CLOEXEC) || tcgetattr(place, &before)))
        return 2;
    child = fork();
    if (child == 0 && on_terminal)
        be_shell(words, place, pipes[1]);
    if (child == 0)
        begin(words, false);
    command = child;
    if (on_terminal && read(pipes[0], &command, sizeof command) != sizeof command)
        return 2;
    over = send_all(plan, on_terminal ? pipes[0] : -1, &status, sent);
    if (!over)
        kill(command, SIGKILL);
    if (over)
        printf("%d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    printf("%s %s%s\n", over ? "" : "hangs", on_terminal ? terminal_is(&before) : "same", sent);
    if (on_terminal)
        kill(child, SIGKILL);
    return 0;
}
