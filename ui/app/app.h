/* ui/app/app.h: the workbench: what its screens share, and what a screen is. Handlers never block: what
 * takes longer than a keystroke goes to tasks (a thread), to jobs (a verb as a program of its own) or
 * over the wire (the engine). One thread owns all of this. */
#ifndef CHORUS_UI_APP_APP_H
#define CHORUS_UI_APP_APP_H

#include "draw/grid.h"
#include "draw/paper.h"
#include "live/feed.h"
#include "ui/tasks/jobs.h"
#include "ui/term/key.h"
#include "ui/library/library.h"
#include "ui/app/settings.h"
#include "base/system/tasks.h"
#include "wire/wire.h"

#include <signal.h>

struct app;
struct spec_sweep;
struct record_queue_options;

/* A row of keys and what they do: the footer, the help screen and the manual are made of it. */
struct screen_key {
    const char *keys; /* "p", "Up Down", "+ -": as key_parse knows them, blanks between */
    const char *hint; /* "pause", in the footer; NULL: not there */
    const char *help; /* a sentence for the help screen */
};

#define SCREEN_HINTS 16
/* The footer of a state that some keys mean nothing in: rows of the table, by the first letters of their
 * keys (Enter: E, Tab: T, Space: S; U: Up). */
const struct screen_key *screen_hints(struct screen_key hints[SCREEN_HINTS + 1],
                                      const struct screen_key *keys, const char *letters);
/* The same once more, where a key does something else just now: p lets go on what is paused. */
void screen_hint(struct screen_key *hints, const char *keys, const char *hint);

/* What one screen hands to another, or asks of it: no screen knows another one. */
struct screen_request {
    enum {
        SCREEN_TAKE_RUN, /* name: Run watches it, Predict shows its answers, Setup has it in its form, and
                             * starts it (begin) */
        SCREEN_TAKE_RUNS, /* Compare: names in place of the marked ones; title: "cell lr 0.1" */
        SCREEN_TAKE_SWEEP, /* name: Sweep shows its board, Setup has it in its form, with its options */
        SCREEN_TAKE_KEY, /* Run: a key for the run that is watched, as soon as enough of it is read that
                             * the key can go by */
        SCREEN_QUEUE_RUN, /* Setup: name goes on when its turn comes, behind what runs, to so many epochs
                             * (0: as it was); alone: while no other program computes */
        SCREEN_QUEUE_SWEEP, /* Setup: the same of sweep, with options */
        SCREEN_SAY_QUEUED, /* Setup: a command has put name, a file, into the queue: says so, and when it
                             * starts */
        SCREEN_SAVE,       /* Setup: asks where to save the form */
        SCREEN_SHOW_ALL, /* Log: shows the whole of the program's own log when it is chosen next */
        SCREEN_IS_UNSAVED, /* Setup: whether the form would be lost; the sentence that says so to words */
        SCREEN_ADD_NEXT, /* Setup: to words what the queue begins where all that runs here is stopped */
        SCREEN_NAME, /* Run, Sweep: in *shown the name of what it showed last, NULL: nothing; of a run
                             * in *trained whether it has an epoch */
    } what;
    const char *name;  /* of a run or sweep; of a run for Setup and Run the path of its folder */
    const char *title; /* of names */
    const char *const *names;
    size_t count;
    int64_t epochs;
    int32_t key;
    bool begin, alone;
    const struct spec_sweep *sweep;
    const struct record_queue_options *options;
    struct text *words;
    const char **shown;
    bool *trained;
};

struct screen {
    const char *name;              /* "Setup" */
    const char *about;             /* help: two or three sentences of what it is for */
    const struct screen_key *keys; /* its own, a NULL at the end */
    /* Those that hold just now, for the footer: of a pane, of an open field. NULL: keys. */
    const struct screen_key *(*hints)(void *screen);
    void *(*open)(struct app *app); /* once, at the start */
    void (*close)(void *screen);
    void (*show)(void *screen); /* it becomes the one that is seen */
    bool (*take)(void *screen,
                 const struct screen_request *request); /* by app_open; NULL: nothing */
    void (*draw)(void *screen, struct grid *g, struct rect in);
    /* True: the key was its own. While app_wants_text (a field is open) all keys come here first. */
    bool (*key)(void *screen, const struct key *key);
    bool (*wants_text)(void *screen); /* NULL: never */
    /* True: an answer to the last key is on its way; a frame without it would soon be followed by one
     * with it. NULL: never. */
    bool (*expects)(void *screen);
    /* What came over the wire for whoever asked: plans, refusals, cells, log lines. May be NULL. */
    void (*event)(void *screen, const struct wire_event *event, const void *slot, size_t n);
    /* Ten times a second, shown or not; true: it must be drawn again. May be NULL. */
    bool (*tick)(void *screen);
    /* Appends the command line that does what is seen here, without "chorus": "compare a b --x
     * images". */
    void (*command)(void *screen, struct text *out);
    /* Another screen is chosen here, which shows a run: it goes there with the one at hand. False: as that
     * screen stands. NULL: always so. */
    bool (*lead)(void *screen, int to);
    /* Name of the run at hand, for the other verbs that ':' offers; NULL: none. May be NULL. */
    const char *(*run)(void *screen);
    /* Where several are at hand: their names, or their sweep's, as verbs take them; nothing where they
     * are too many, and app_say says so. May be NULL. */
    void (*runs)(void *screen, struct text *out);
    /* Further lines that ':' offers, before all of these. May be NULL. */
    void (*offers)(void *screen, struct text *lines);
    /* 'w': forms that it can be written in ("csv", "tex", "svg", "pdf", NULL at the end; text and svg
     * of the whole screen are always there) and a copy of what is to be written. May be NULL. */
    const char *const *forms;
    enum err_code (*write)(void *screen, const char *form, struct paper *out, struct err *e);
};

enum {
    SCREEN_SETUP,
    SCREEN_RUN,
    SCREEN_RESULTS,
    SCREEN_COMPARE,
    SCREEN_SWEEP,
    SCREEN_PREDICT,
    SCREEN_LOG,
    SCREENS
};
struct app_signals { /* counted by handlers; wake becomes readable */
    const volatile sig_atomic_t *interrupts, *terminated, *hung_up;
    int wake;
    void (*clear)(void);
    void (*late)(bool is); /* the end waits for what may never come: a signal ends all at once */
};

struct app_config {
    struct wire *wire;
    struct app_signals signals;
    const char *results;            /* folder */
    const char *program;            /* this executable, for jobs */
    const char *device;             /* at the right of the first line: "cpu, 2 threads" */
    const struct wire_start *start; /* of the run that the wire holds already; NULL */
    uint32_t started;               /* its number, or a sweep's; 0: the wire holds none */
    int start_screen;               /* SCREEN_... */
    bool ascii, no_mouse, no_colour;
    const char *theme; /* "dark", "light", "mono"; NULL: as the settings say */
    const char *keys;  /* a script of keys; NULL */
    int rows, columns; /* with a script: draw without a terminal, at this size; 0: a terminal */
    const char *const *model_names;           /* built in and in ./models */
    uint64_t (*data_state)(const char *data); /* data_state, by any thread; NULL: nobody looks */
    double (*wall)(void);                     /* the time of day; NULL: clock_wall. Tests stop it */
    uint64_t (*ns)(void);                     /* NULL: clock_ns */
};

struct app {
    struct app_config config;
    struct settings *settings;
    struct tasks *tasks;
    struct jobs *jobs;
    struct library *library;
    struct feed *feed;
    void *screen[SCREENS]; /* their own states */
    int shown;             /* SCREEN_... */
    bool dirty;            /* draw again */
    bool over;
    bool typed_ahead;          /* more keys are here already than the one that is pressed */
    struct record_work *claim; /* of the machine, for what was started last; NULL: none */
    uint64_t claim_ns;         /* when it was made */
    struct claim *claiming;    /* that is being made or asked about */
    struct text did;           /* the command line of what a key did last */
    struct text about;         /* the run that an open question of runkeys is about, */
    bool about_busy;           /* and whether something ran when it was asked */
    struct app_int *own;       /* the loop's */
};

/* How it ended, for whoever started it. */
enum app_end {
    APP_QUIT,        /* nothing runs */
    APP_LEFT,        /* what ran was stopped after its epoch */
    APP_STOP,        /* stop what runs, resumable, then leave */
    APP_INTERRUPTED, /* the same, by Ctrl-C twice */
    APP_DETACH,      /* leave it running without this terminal: by a program of its own */
    APP_HUNG_UP      /* the terminal is gone: go on without one, here */
};
enum err_code app_run(const struct app_config *config, enum app_end *end, struct err *e) MUST_USE;

/* For screens. */
double app_wall(const struct app *app);
uint64_t app_ns(const struct app *app);
void app_show(struct app *app, int screen);
/* One line above the footer until the next key; a warning or an error in its colour. */
void app_say(struct app *app, int role, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Takes that back, where nothing else was said since: it has come true. */
void app_unsay(struct app *app, const char *words);
/* A question in the middle with answers by their first letters (unlike ones); Esc is -1. An earlier one
 * whose answer goes there too is taken away: handlers know one at a time. */
void app_ask(struct app *app, const char *question, const char *const *answers,
             void (*chosen)(void *user, int answer), void *user);
/* Other words for the question whose answer goes there, and as many answers: the chosen one stays. */
void app_ask_renew(struct app *app, const char *question, const char *const *answers,
                   void (*chosen)(void *user, int answer));
/* The question whose answer goes there is taken away, where it stands still. */
void app_ask_end(struct app *app, void (*chosen)(void *user, int answer));
/* A line of text in the footer; NULL: Esc. complete (may be NULL) appends what Tab adds, and says what
 * several there are to choose from; another thread calls it, since it may look into folders. */
void app_prompt(struct app *app, const char *label, const char *text,
                void (*entered)(void *user, const char *text),
                void (*complete)(const char *text, struct text *more, struct text *several),
                void *user);
/* Of a text that cannot be taken, by the one whom it was entered for: the same prompt with it, to be
 * mended; app_say says why behind that. */
void app_prompt_again(struct app *app, const char *text);
/* For whoever learns of that only later, as from a verb: the line that was entered last, 0 where a key has
 * been pressed behind it; it comes back where that is so still, and nothing lies over its screen. */
uint64_t app_entered(const struct app *app);
void app_enter_again(struct app *app, uint64_t entered);
/* The same for whoever asks for it by itself: when a key was pressed last, and whether
 * none has been since then, with nothing over that screen, so that the line may open again. */
uint64_t app_keyed(const struct app *app);
bool app_waits(const struct app *app, int screen, uint64_t keyed);
/* What a verb has made, where that has a place: "The report is in report/index.html". False: it has none. */
struct job_end;
bool app_add_made(const struct app *app, const struct job_end *end, struct text *words);
/* Runs a command line as ':' does, and remembers it. */
void app_command(struct app *app, const char *line);
/* The verb that does what a key has just done, for ':': "stop", of these runs (by their names, blanks
 * between), "--after-epoch". runs and behind may be NULL. */
void app_did(struct app *app, const char *verb, const char *const *runs, size_t count,
             const char *behind);
/* Lines in a window over the screen, scrolled with the arrows, until Esc. */
void app_page(struct app *app, const char *title, const char *lines);
/* Other lines in that window, where it is open still. */
void app_renew_page(struct app *app, const char *title, void (*write)(void *user, struct text *out),
                    void *user);
/* A line in the Log screen; the engine's, the jobs' and the screens' own talk. from: the run or sweep,
 * the verb, or "printed" (by whatever library); "" where nobody in particular says it. */
struct app_line {
    int level;
    double wall;
    char *from, *text;
};
void app_log(struct app *app, int level, const char *line);
void app_log_from(struct app *app, int level, const char *from, const char *line);
/* NULL: there is none. Valid until the next line comes. */
const struct app_line *app_log_line(const struct app *app, size_t from_last);
size_t app_log_lines(const struct app *app);
size_t app_log_count(const struct app *app); /* of all there ever were: it only grows */

/* Hands it to a screen, which stays behind the one that is shown. False: the answer is no, or there is no
 * such screen. */
bool app_open(const struct app *app, int screen, const struct screen_request *request);
const char *app_run_on(const struct app *app, int screen); /* the run at hand there; NULL: none */

#endif
