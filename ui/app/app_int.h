/* ui/app/app_int.h: the loop's own: what lies over the screens, the lines above and below them, the script
 * that presses keys. */
#ifndef CHORUS_UI_APP_APP_INT_H
#define CHORUS_UI_APP_APP_INT_H

#include "base/log.h"
#include "ui/app/app.h"
#include "ui/widgets/line.h"
#include "ui/term/term.h"

#include <pthread.h>
#include <stdio.h>

#define APP_LINES         4000 /* of the log that are kept */
#define APP_LEAST_ROWS    16
#define APP_LEAST_COLUMNS 60
#define APP_ANSWERS       8
#define APP_OFFERS        32

enum app_popup { POPUP_NONE, POPUP_ASK, POPUP_PROMPT, POPUP_PAGE };

/* What is to lie over the screen. */
struct popup {
    enum app_popup kind;
    const char *label, *words; /* words: a question, what stands in a line, the lines of a page */
    const char *answer[APP_ANSWERS]; /* a NULL behind them, or all */
    bool whole;                      /* as page_whole */
    void (*on_answer)(void *user, int answer);
    void (*on_text)(void *user, const char *text);
    void (*complete)(const char *text, struct text *more, struct text *several);
    void *user;
    struct popup *next; /* of those that wait */
};

const char *app_theme(const struct app *app); /* the one that is seen */
bool app_wants_text(const struct app *app);   /* a field is open: keys are its text */
bool app_types(const struct app *app);        /* or those of a prompt are */

struct app_int {
    struct term *term; /* NULL: a script draws without one */
    struct grid grid;
    enum app_end end;
    uint64_t keyed_ns; /* when a key was pressed last, */
    uint64_t shown_ns; /* and when a screen was chosen, */
    bool awaited;      /* of which something is still to be read */
    uint64_t ticked_ns;
    bool away;        /* the terminal is others' just now */
    bool leaving;     /* as soon as nothing runs */
    struct bar_hint { /* (hints) in the line of what keys do, as it was drawn last */
        int from, to; /* columns */
        char key[16]; /* as key_parse takes it, or the two of a pair as they stand there */
    } hint[SCREEN_HINTS + 4];
    int hints;
    bool folder_told; /* that the folder of results is gone */
    bool quitting;    /* q was pressed: whether something waits is being looked at */
    bool pressing;    /* a key is being handled */
    enum app_paste {
        PASTE_NONE,
        PASTE_BEGUN,
        PASTE_BREAK
    } paste;   /* of a text that is being pasted */
    bool busy; /* something trains here, and the screen shown asks the engine nothing */

    char said[512];
    int said_role;

    struct popup *waits; /* for what lies over the screen, or a line that is typed, to be gone */
    enum app_popup popup;
    uint64_t popups;     /* grows with each: a handler may have opened another */
    uint64_t entered_ns; /* when a line was entered last: keyed_ns of then, */
    uint64_t entered;    /* the number of its prompt, */
    int entered_on;      /* and the screen below it */
    struct text question, label, page, several; /* several: what Tab found in a prompt */
    struct line_edit typed;
    char *answer[APP_ANSWERS];
    int answers, chosen;
    struct rect answers_at; /* of the last drawing */
    void (*on_answer)(void *user, int answer);
    void (*on_text)(void *user, const char *text);
    void (*complete)(const char *text, struct text *more, struct text *several);
    void *user;
    char *offer[APP_OFFERS]; /* of a prompt: what Up and Down bring */
    size_t offers, offer_at;
    int page_first, page_left, page_lines, page_rows;
    bool page_whole; /* lines are not broken: tables */

    struct app_line line[APP_LINES];      /* a ring */
    size_t line_first, lines, line_count; /* line_count: those that have gone too */
    FILE *log;                            /* the same on disk */
    char *log_path;                       /* NULL: nowhere */
    size_t talk_n;                        /* of crash_said: the start of a line that was printed */
    uint64_t talk_ns;                     /* when the last piece of it came */

    /* Lines of whatever thread, until the main one takes them; guarded by lock. */
    pthread_mutex_t lock;
    struct app_line *pending;
    size_t pending_count, pending_room;
    int pending_fd;

    struct script *script;
    struct begun *begun;       /* behind ':' (app_begun.c), */
    struct begun *leaves;      /* and what of it the question how to leave is about */
    struct writing *asked;     /* a file that a question is about */
    struct training *training; /* a command that one is about */
    struct training *resuming; /* and a `resume` or `go` */
};

/* app.c */
void app_lay_out(struct app *app); /* the frame as it would be seen now */
void app_look_at_terminal(
    struct app *app); /* who was stopped and goes on has one again, or not yet */

/* app_keys.c */
/* Those that are here, and a script's; ms: as script_next. */
void keys_read(struct app *app, int *ms);
bool keys_wait(const struct app *app); /* for an answer to those before them */

/* app_quit.c */
void app_quit(struct app *app); /* 'q': asks where something would be lost */
/* The answer that Ctrl-C takes to the question that stands: whoever is asked how to leave, and presses it
 * again, stops what runs, unless something would be lost: APP_ANSWERS then, and it goes on standing. -1:
 * none of them, as Esc. */
int quit_interrupt(struct app *app);
bool quit_asks(const struct app *app); /* the question how to leave stands */
void quit_tick(struct app *app);       /* what was asked about may have ended meanwhile */
void quit_tasks(struct app *app); /* the end of all that is asked of disks, which may take long */

/* app_open.c */
void popup_close(struct app *app);
void popup_next(struct app *app);   /* opens what waits, as soon as it may */
void popup_forget(struct app *app); /* what waits */
/* app_page of what has columns: its lines are not broken, but scrolled sideways. */
void popup_whole_page(struct app *app, const char *title, const char *lines);

/* app_popup.c */
bool popup_key(struct app *app, const struct key *key); /* true: it was for the popup */
void popup_draw(struct app *app, struct grid *g);

/* app_bar.c */
void bar_top(struct app *app, struct grid *g);
void bar_bottom(struct app *app, struct grid *g);
/* The row of hints alone, over what a prompt has drawn there. */
void bar_hints(struct app *app, struct grid *g);
/* Of a prompt, at the right end of its line, as many as fit behind that column; how wide they are. */
int bar_hints_of_prompt(struct app *app, struct grid *g, struct rect line, int from);
/* What waits until somebody makes room, above the two lines at the bottom; the rows that it takes from the
 * screen. */
int bar_trouble(struct app *app, struct grid *g);
/* Words over the lowest rows of a part, at most so many: the reason often stands at their end. Returns how
 * many. */
int bar_lowest(struct grid *g, struct rect above, int most, int role, const char *said);
int bar_screen_at(const struct app *app, int column); /* of the top line; -1 */
/* The key whose hint was drawn there, if one alone is named. */
bool bar_hint_at(const struct app *app, int row, int column, struct key *key);
void bar_help(struct app *app);

/* Of the prompt that was opened just now: another line that Up and Down bring. */
void popup_offer(struct app *app, const char *line);

/* app_command.c */
void command_show(struct app *app);                    /* ':' */
void command_again(struct app *app, const char *line); /* with what was typed */
void command_write(struct app *app);                   /* 'w' */
void command_close(struct app *app);
void command_start(struct app *app, const char *const *args); /* in a process of its own, */
void command_over(void *user, const struct job_end *end);     /* which tells what came of it */

/* app_answer.c: ends of commands that have begun or queued something, which they say. */
void answer_of_begun(void *user, const struct job_end *end);
void answer_of_queued(void *user, const struct job_end *end);

/* app_begun.c: what commands that train have begun, in processes of their own. */
struct begun;
void begun_take(struct app *app, const struct text *said); /* by such a command: a path */
struct begun *begun_copy(const struct app *app);
/* Those of the list that compute still, by any thread; the others are freed. */
struct begun *begun_look(struct begun *list, const char *results);
/* How to leave them, which keeps the list; words: what else would be lost, or "". */
void begun_ask(struct app *app, struct begun *live, const char *words);
void begun_leave(void *user, int answer); /* of that question */
/* For a question about something else: that they compute on. live: NULL: nothing. */
void begun_tell(const struct app *app, const struct begun *live, struct text *words);
void begun_free(struct begun *list);

/* app_train.c: commands that go on without this program: they would end with it otherwise. */
bool train_is(const char *const *args, size_t count);
bool train_lets_go(const char *const *args, size_t count); /* what may be paused */
bool train_runs_alone(const char *const *args); /* in the background; args end with NULL */
bool train_is_queued(const char *const *args);
/* `run`, `resume`: beside something else a person says whether, once (of run) the command is right. */
void train_run(struct app *app, const char *const *args, size_t n);
void train_go_on(struct app *app, const char *const *args, size_t n);
void train_tick(struct app *app);         /* what has waited for an answer to q begins */
bool train_begins(const struct app *app); /* one is being checked, or waits for that */
/* That it has not begun; how many of the jobs that run are its check. */
size_t train_tell(const struct app *app, struct text *words);
void train_close(struct app *app);

/* app_log.c */
void log_open(struct app *app);
void log_close(struct app *app);
bool log_take(struct app *app); /* lines of other threads and of what was printed */
/* What came over the wire, as lines; words: what came with it, or "". */
void log_event(struct app *app, const struct wire_event *event, const char *words);
int log_fd(const struct app *app);
void log_tell_folder(struct app *app); /* that the folder of results cannot be read, or is gone */

/* app_script.c: keys from a file. */
struct script;
enum err_code script_open(struct script **out, const char *path, struct err *e) MUST_USE;
void script_close(struct script *s);
/* One turn: true with a key to press. *wait_ms: until the next turn of the loop; less where the script wants
 * it sooner. */
bool script_next(struct script *s, struct app *app, struct key *key, int *wait_ms);
bool script_over(const struct script *s);
/* ERR_OK, or what it waited for in vain. */
enum err_code script_result(const struct script *s, struct err *e) MUST_USE;
void app_resize(struct app *app, int rows, int columns);

#endif
