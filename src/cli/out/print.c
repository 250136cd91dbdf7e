/* cli/out/print.c: what goes to stdout and stderr. The last lines of stderr may be alive: they are redrawn
 * in place, and whatever else is said goes above them. Lines come from any thread. */
#include "cli/out/print.h"

#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/system/stall.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text live; /* under lock: the lines that are alive, the last without its newline */
static bool err_gone;    /* under lock: stderr took an error; nothing is written to it any more */
static bool out_told;

static bool write_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t done = write(fd, s, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        s += done;
        n -= (size_t)done;
    }
    return true;
}

/* The terminal may be gone, the pipe closed, the disk full: a run goes on without its talk. */
static void write_stderr(const struct text *t)
{
    stall_writing(true);
    if (!err_gone && t->n && !write_all(STDERR_FILENO, t->s, t->n))
        err_gone = true;
    stall_writing(false);
}

/* To where what is alive begins, and nothing of it left. */
static void add_clearing(struct text *t)
{
    int up = 0;

    for (size_t i = 0; i < live.n; i++)
        up += live.s[i] == '\n';
    if (up)
        text_addf(t, "\r\033[%dA\033[J", up);
    else
        text_add(t, "\r\033[K");
}

static void say_line(const char *line, bool colours)
{
    struct text t = {0};

    pthread_mutex_lock(&lock);
    if (live.n)
        add_clearing(&t);
    text_add_printed(&t, line, strlen(line), colours);
    text_add(&t, "\n");
    text_add_n(&t, text_str(&live), live.n);
    write_stderr(&t);
    pthread_mutex_unlock(&lock);
    text_free(&t);
}

void live_draw(const char *lines)
{
    struct text t = {0}, safe = {0};

    text_add_printed(&safe, lines ? lines : "", lines ? strlen(lines) : 0, false);
    lines = text_str(&safe);
    pthread_mutex_lock(&lock);
    if (strchr(text_str(&live), '\n') || strchr(lines, '\n')) {
        add_clearing(&t);
        text_add(&t, lines);
    } else if (*lines || live.n) {
        text_addf(&t, "\r%s\033[K", lines);
    }
    text_clear(&live);
    text_add(&live, lines);
    write_stderr(&t);
    pthread_mutex_unlock(&lock);
    text_free(&safe);
    text_free(&t);
}

static void sink(void *user, enum log_level level, const char *line)
{
    (void)user;
    if (level >= LOG_WARN)
        cli_talk("chorus: %s", TEXT_CLEAN(line));
}

/* A descriptor that is closed would be given to the next file that is opened, and talk would land
 * in it. Read-only, so that writing still fails. */
static void fill_descriptors(void)
{
    struct stat st;

    for (int fd = 0; fd <= 2; fd++)
        if (io.fstat(fd, &st) < 0 && io.open("/dev/null", O_RDONLY, 0) != fd)
            return;
}

void live_start(void)
{
    fill_descriptors();
    setlocale(LC_CTYPE, "");
    log_to(sink, NULL);
}

void cli_talk(const char *fmt, ...)
{
    struct text t = {0};
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    say_line(text_str(&t), false);
    text_free(&t);
}

void cli_talk_drawn(const struct text *t)
{
    say_line(text_str(t), true);
}

int cli_refuse(const char *fmt, ...)
{
    struct text t = {0};
    va_list args;

    text_add(&t, "chorus: ");
    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    say_line(text_str(&t), false);
    text_free(&t);
    return err_exit_code(ERR_INPUT);
}

int cli_fail(const struct err *e)
{
    cli_talk("chorus: %s", TEXT_CLEAN(e->text));
    return err_exit_code(e->code);
}

static bool print(const struct text *t, bool colours)
{
    struct text safe = {0};
    bool done;
    int error;

    text_add_printed(&safe, text_str(t), t->n, colours);
    done = write_all(STDOUT_FILENO, text_str(&safe), safe.n);
    error = errno;
    text_free(&safe);
    errno = error;
    return done;
}

/* A reader that had enough (head), or a terminal that is gone, is no news. */
static bool reader_is_gone(void)
{
    struct stat st;

    return errno == EPIPE ||
           (errno == EIO && (io.fstat(STDOUT_FILENO, &st) < 0 || !S_ISREG(st.st_mode)));
}

static int print_or_tell(const struct text *t, bool colours)
{
    if (print(t, colours))
        return 0;
    if (!reader_is_gone() && !out_told) {
        out_told = true;
        cli_talk("chorus: stdout could not be written: %s", strerror(errno));
    }
    return 1;
}

int cli_print(const struct text *t)
{
    return print_or_tell(t, false);
}

int cli_print_drawn(const struct text *t)
{
    return print_or_tell(t, true);
}

bool cli_print_failed(void)
{
    return out_told;
}

int cli_printf(const char *fmt, ...)
{
    struct text t = {0};
    va_list args;
    int code;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    code = cli_print(&t);
    text_free(&t);
    return code;
}

bool cli_terminal(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) && (!term || strcmp(term, "dumb") != 0);
}

int cli_columns(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

int cli_limit(int fd)
{
    return isatty(fd) ? cli_columns(fd) : INT_MAX;
}

void cli_add_lines(struct text *out, const char *lines, int columns, int indent)
{
    int at = 0;

    for (const char *s = lines; *s;) {
        size_t n = strcspn(s, " \n");
        struct text word = {0};
        int width;

        text_add_n(&word, s, n);
        width = text_width(text_str(&word));
        if (s > lines && s[-1] == ' ' && at + width > columns) {
            while (out->n && out->s[out->n - 1] == ' ')
                out->s[--out->n] = 0;
            text_addf(out, "\n%*s", indent, "");
            at = indent;
        }
        text_add(out, text_str(&word));
        text_free(&word);
        at = s[n] == '\n' ? 0 : at + width + 1;
        if (s[n])
            text_add_n(out, s + n++, 1);
        s += n;
    }
}

int live_rows(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
        return size.ws_row;
    return 24;
}

bool cli_colours(int fd)
{
    const char *no = getenv("NO_COLOR");

    return cli_terminal(fd) && !(no && *no);
}

bool cli_utf8(void)
{
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}
