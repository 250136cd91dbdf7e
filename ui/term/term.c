/* ui/term/term.c: curses, and what has to happen around it: the program's own output caught, and a
 * terminal that cannot show anything refused in a sentence. */
#include "ui/term/term.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/system/stall.h"
#include "draw/theme.h"
#include "ui/term/crash.h"
#include "ui/term/term_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define MOST_ROWS    1000 /* of whatever the environment claims */
#define MOST_COLUMNS 2000

struct term {
    SCREEN *screen;
    FILE *in, *out;
    int tty, talk, kept[2];
    bool ascii, blocks, colours, light, mono;
    int rows, columns;
    attr_t attribute[GRID_ROLES];
    short pair[GRID_ROLES];
    short *pixel_pair, pixel_pairs; /* (above, below) of the 256 colours; 0: none yet */
    struct term_keys keys;
    cchar_t *line;           /* (columns) */
    struct grid_cell *drawn; /* (rows, columns) as curses has them */
};

static struct sigaction before_continue, before_stop, curses_stop;

/* Curses knows nothing of these modes: what switches brackets around a pasted text on and off, where this
 * terminal has them. */
static struct {
    int fd;
    char on[16], off[16];
} brackets;

static void say(const char *words)
{
    ssize_t n = write(brackets.fd, words, strlen(words));

    (void)n;
}

/* The program was stopped, by whomever, and goes on: its terminal has other modes and another picture. */
static volatile sig_atomic_t continued;

static void on_continue(int number)
{
    (void)number;
    continued = 1;
}

/* Somebody else's SIGTSTP: curses gives the terminal back, stops, and takes it again. */
static void on_stop(int number)
{
    say(brackets.off);
    clock_work_stops();
    curses_stop.sa_handler(number);
    clock_work_goes();
}

static void hold_stops(sigset_t *before)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    pthread_sigmask(SIG_BLOCK, &stop, before);
}

/* Curses ignores SIGTSTP while it draws, and so loses one that comes then: held back, it comes afterwards. */
static void draw_held(void)
{
    sigset_t before;

    wnoutrefresh(stdscr);
    hold_stops(&before);
    doupdate();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Curses takes SIGTSTP only where nobody has it. */
static void leave_stops_to_curses(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, NULL, &before_stop);
    if (before_stop.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &action, NULL);
}

static void watch_for_stops(void)
{
    struct sigaction action = {.sa_handler = on_continue}, stop;

    continued = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, &before_continue);
    sigaction(SIGTSTP, NULL, &curses_stop);
    stop = curses_stop;
    stop.sa_handler = on_stop;
    if (curses_stop.sa_handler != SIG_DFL && curses_stop.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &stop, NULL);
}

/* 1 and 2 lead into a pipe that never blocks: who prints more than is read loses it. */
static void catch_talk(struct term *t)
{
    int fds[2];

    t->kept[0] = t->kept[1] = t->talk = -1;
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    fflush(NULL);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* to a pipe it would keep lines back */
    for (int i = 0; i < 2; i++) {
        t->kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
        dup2(fds[1], i + 1);
    }
    close(fds[1]);
    t->talk = fds[0];
    crash_talk(t->talk);
}

static void release_talk(struct term *t)
{
    crash_talk(-1);
    fflush(NULL);
    for (int i = 0; i < 2 && t->talk >= 0; i++) {
        if (t->kept[i] < 0)
            continue;
        dup2(t->kept[i], i + 1);
        close(t->kept[i]);
    }
    if (t->talk >= 0)
        close(t->talk);
}

static attr_t attributes(int style)
{
    return (style & THEME_BOLD ? A_BOLD : 0) | (style & THEME_REVERSE ? A_REVERSE : 0) |
           (style & THEME_DIM ? A_DIM : 0) | (style & THEME_UNDERLINE ? A_UNDERLINE : 0);
}

/* No row is as it was drawn: no cell is of all ones. */
static void forget_drawn(struct term *t)
{
    if (t->drawn)
        memset(t->drawn, 0xff, (size_t)t->rows * (size_t)t->columns * sizeof *t->drawn);
}

void term_theme(struct term *t, const char *theme)
{
    t->light = theme && !strcmp(theme, "light");
    t->mono = !t->colours || (theme && !strcmp(theme, "mono"));
    for (int role = 0; role < GRID_ROLES; role++) {
        const struct theme_role *r = theme_role(t->light, role);
        bool many = COLORS >= 256;

        t->pair[role] = 0;
        t->attribute[role] = attributes(t->mono ? r->mono : many ? r->style : r->style8);
        if (t->mono)
            continue;
        t->pair[role] = (short)(role + 1);
        init_pair(t->pair[role], many ? r->text : r->text8, many ? r->ground : r->ground8);
    }
    forget_drawn(t);
    if (crash_is_watched())
        clearok(curscr, TRUE);
}

/* The words of err are set already. */
static enum err_code refuse(struct term *t, enum err_code code)
{
    if (t->screen) {
        endwin();
        delscreen(t->screen);
    }
    stall_terminal(-1);
    sigaction(SIGTSTP, &before_stop, NULL);
    if (t->in)
        fclose(t->in);
    if (t->out)
        fclose(t->out);
    free(t);
    return code;
}

static bool has(const char *name)
{
    const char *s = tigetstr(name);

    return s && s != (char *)-1;
}

static void copy_word(const char *name, char to[16])
{
    snprintf(to, 16, "%s", has(name) && strlen(tigetstr(name)) < 16 ? tigetstr(name) : "");
}

/* What is pasted comes between two sequences, so that a line break in it is no Enter. */
static void ask_for_brackets(struct term *t)
{
    brackets.fd = fileno(t->out);
    copy_word("BE", brackets.on);
    copy_word("BD", brackets.off);
    say(brackets.on);
}

static void take_size(struct term *t)
{
    getmaxyx(stdscr, t->rows, t->columns);
    if (t->rows > MOST_ROWS)
        t->rows = MOST_ROWS;
    if (t->columns > MOST_COLUMNS)
        t->columns = MOST_COLUMNS;
    t->line = mem_resize(t->line, (size_t)t->columns + 1, sizeof *t->line);
    t->drawn = mem_resize(t->drawn, (size_t)t->rows * (size_t)t->columns + 1, sizeof *t->drawn);
    forget_drawn(t);
}

static void set_modes(const struct term_options *options)
{
    raw(); /* Ctrl-C and Ctrl-Z are keys */
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    if (!options->no_mouse) {
        mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
        mouseinterval(0);
    } else {
        keyok(KEY_MOUSE, FALSE); /* term_take_sequence drops what was left switched on */
    }
}

/* Before it has come back from endwin() once, curses (6.4) writes at each move of the cursor: some sixty
 * system calls a frame, not one or two. Of endwin() and of the way back the terminal hears nothing: that
 * would set its palette back, which may be the user's own. */
static void let_curses_gather(struct term *t)
{
    int tty = fileno(t->out), held = fcntl(tty, F_DUPFD_CLOEXEC, 3);
    int nowhere = held < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t before;

    hold_stops(&before); /* curses would keep the modes of no terminal for the shell's */
    doupdate();          /* what newterm() has said is for the terminal */
    if (nowhere >= 0 && dup3(nowhere, tty, O_CLOEXEC) == tty) {
        endwin();
        doupdate();
        dup3(held, tty, O_CLOEXEC);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    clearok(curscr, TRUE);
    if (nowhere >= 0)
        close(nowhere);
    if (held >= 0)
        close(held);
}

static enum err_code refuse_kind(struct term *t, const char *before, const char *name,
                                 const char *behind, struct err *e)
{
    return refuse(t, err_set(e, ERR_INPUT, "%s%s%s", before, TEXT_CLEAN(name), behind));
}

/* Another thread may come to the end of memory meanwhile: see crash_waits. */
static bool take_over(struct term *t, const struct term_options *options)
{
    bool able;

    crash_waits();
    errno = 0;
    t->screen = newterm(NULL, t->out, t->in);
    if (t->screen)
        set_term(t->screen);
    able = t->screen && has("cup") && has("clear");
    if (able) {
        crash_watch();
        let_curses_gather(t);
        t->colours = !options->no_colour && has_colors() && start_color() == OK;
        if (t->colours)
            use_default_colors();
        set_modes(options);
        ask_for_brackets(t);
        term_theme(t, options->theme);
    }
    crash_waits_no_more();
    return able;
}

static enum err_code refuse_terminal(struct term *t, const char *name, struct err *e)
{
    if (!t->screen && errno == ENOMEM)
        return refuse(t, err_set(e, ERR_NOMEM, "there is no memory to open the workbench"));
    if (!t->screen)
        return refuse_kind(t, "this machine knows no terminal of the kind ", name,
                           "; try TERM=xterm chorus", e);
    return refuse_kind(t, "a terminal of the kind ", name,
                       " cannot place its cursor, so there is no workbench on it; every "
                       "command works: chorus help",
                       e);
}

enum err_code term_open(struct term **out, const struct term_options *options, struct err *e)
{
    struct term *t = mem_new(1, sizeof *t);
    const char *name = getenv("TERM"), *set = nl_langinfo(CODESET);

    *out = NULL;
    leave_stops_to_curses();
    t->in = fopen("/dev/tty", "re");
    t->out = fopen("/dev/tty", "we");
    if (!t->in || !t->out)
        return refuse(t, err_set(e, ERR_INPUT, "there is no terminal to show the workbench on"));
    if (!name || !*name)
        return refuse(t, err_set(e, ERR_INPUT,
                                 "TERM is not set: nobody knows what this terminal "
                                 "can do; try TERM=xterm chorus"));
    t->tty = fileno(t->in);
    crash_terminal(t->tty, fileno(t->out), options->log);
    stall_terminal(fileno(t->out));
    t->ascii = options->ascii || strcmp(set, "UTF-8") != 0;
    t->blocks = !strcmp(name, "linux");
    use_tioctl(TRUE); /* the terminal's own word goes before what LINES and COLUMNS were once */
    if (!take_over(t, options))
        return refuse_terminal(t, name, e);
    take_size(t);
    watch_for_stops();
    catch_talk(t);
    *out = t;
    return ERR_OK;
}

/* Without an alternate screen the picture stays, and the prompt comes where its last line is. */
static void leave_last_line(void)
{
    if (has("rmcup"))
        return;
    move(LINES - 1, 0);
    clrtoeol();
    draw_held();
}

void term_close(struct term *t)
{
    if (!t)
        return;
    crash_waits();
    crash_forget();
    if (term_place(t) != TERM_AWAY) { /* it is others' by now */
        curs_set(1);
        leave_last_line();
        say(brackets.off);
        endwin();
        if (stall_has_given_up())
            crash_set_modes(t->tty);
    }
    stall_terminal(-1);
    sigaction(SIGCONT, &before_continue, NULL);
    sigaction(SIGTSTP, &before_stop, NULL);
    delscreen(t->screen);
    release_talk(t);
    crash_waits_no_more();
    fclose(t->in);
    fclose(t->out);
    free(t->line);
    free(t->drawn);
    free(t->pixel_pair);
    free(t);
}

void term_size(const struct term *t, int *rows, int *columns)
{
    *rows = t->rows;
    *columns = t->columns;
}

bool term_ascii(const struct term *t)
{
    return t->ascii;
}

bool term_blocks(const struct term *t)
{
    return t->blocks;
}

int term_fd(const struct term *t)
{
    return t->tty;
}

int term_talk_fd(const struct term *t)
{
    return t->talk;
}

void term_redraw(struct term *t)
{
    (void)t;
    clearok(curscr, TRUE);
}

/* The pair for two pixels above each other; 0: this terminal has none. Pairs are made as images come
 * up, and all anew once there are none left. */
static short pixel_pair(struct term *t, const struct grid_cell *cell)
{
    short *pair, first = GRID_ROLES + 1;

    if (t->mono || t->ascii || COLORS < 256 || COLOR_PAIRS < first + 1024)
        return 0;
    if (!t->pixel_pair)
        t->pixel_pair = mem_new(256 * 256, sizeof *t->pixel_pair);
    pair = &t->pixel_pair[cell->above * 256 + cell->below];
    if (*pair)
        return *pair;
    if (first + t->pixel_pairs >= (COLOR_PAIRS < 32767 ? COLOR_PAIRS : 32767)) {
        memset(t->pixel_pair, 0, 256 * 256 * sizeof *t->pixel_pair);
        t->pixel_pairs = 0;
        forget_drawn(t); /* the pairs in it are others' from now on */
        clearok(curscr, TRUE);
    }
    *pair = (short)(first + t->pixel_pairs++);
    init_pair(*pair, cell->above, cell->below);
    return *pair;
}

static void draw_row(struct term *t, int row, const struct grid_cell *cell, int columns)
{
    int n = 0;

    for (int column = 0; column < columns; column++) {
        wchar_t code[2] = {cell[column].code ? (wchar_t)cell[column].code : L' ', 0};
        int role = cell[column].role < GRID_ROLES ? cell[column].role : GRID_TEXT;
        attr_t attribute = t->attribute[role] | (cell[column].style & GRID_BOLD ? A_BOLD : 0) |
                           (cell[column].style & GRID_UNDERLINE ? A_UNDERLINE : 0);
        short pair = t->pair[role];

        if (cell[column].code == GRID_TAIL)
            continue; /* curses makes it of the cell before */
        if (role == GRID_PIXEL && (pair = pixel_pair(t, &cell[column])) != 0)
            code[0] = 0x2580; /* upper half block */
        setcchar(&t->line[n++], code, attribute, pair, NULL);
    }
    mvadd_wchnstr(row, 0, t->line, n);
}

/* Curses compares cells too, but only once they are made into its own, which is most of what a frame costs. */
void term_draw(struct term *t, const struct grid *g)
{
    int columns = g->columns < t->columns ? g->columns : t->columns;
    size_t bytes = (size_t)columns * sizeof *t->drawn;

    for (int row = 0; row < g->rows && row < t->rows; row++) {
        const struct grid_cell *cell = &g->cell[row * g->columns];
        struct grid_cell *drawn = &t->drawn[row * t->columns];

        if (!memcmp(drawn, cell, bytes))
            continue;
        memcpy(drawn, cell, bytes);
        draw_row(t, row, cell, columns);
    }
    if (g->cursor_row >= 0) {
        curs_set(1);
        move(g->cursor_row, g->cursor_column);
    } else {
        curs_set(0);
    }
    draw_held();
}

bool term_key(struct term *t, struct key *key)
{
    if (!term_keys_next(&t->keys, t->tty, key))
        return false;
    if (key->code == UI_RESIZE) {
        take_size(t);
        key->row = t->rows;
        key->column = t->columns;
    }
    return true;
}

bool term_more(const struct term *t)
{
    struct pollfd fd = {.fd = t->tty, .events = POLLIN};

    return t->keys.mice || (poll(&fd, 1, 0) > 0 && (fd.revents & POLLIN));
}

void term_suspend(struct term *t)
{
    struct sigaction action = {.sa_handler = SIG_DFL}, old;

    (void)t;
    sigemptyset(&action.sa_mask);
    say(brackets.off);
    endwin();
    sigaction(SIGTSTP, &action, &old);
    clock_work_stops();
    kill(0, SIGTSTP); /* the whole job, as the terminal does: a shell may wait for make */
    clock_work_goes();
    sigaction(SIGTSTP, &old, NULL);
    continued = 1;
}

/* In front of others alone: whoever sets modes from behind is stopped for it. */
enum term_place term_place(struct term *t)
{
    pid_t front;

    if (!continued)
        return TERM_HERE;
    continued = 0; /* before it looks: what comes meanwhile is not lost */
    front = tcgetpgrp(t->tty);
    if (front >= 0 && front != getpgrp()) {
        continued = 1;
        return TERM_AWAY;
    }
    if (!isendwin())
        endwin();
    reset_prog_mode();
    say(brackets.on);
    take_size(t);
    clearok(curscr, TRUE);
    draw_held();
    return TERM_BACK;
}
