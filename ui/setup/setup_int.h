/* ui/setup/setup_int.h: what the files of the Setup screen share. The form is ui/setup/form.h's, what it means
 * wire/forecast.h's; here they meet files, the queue, the wire and the keys. */
#ifndef CHORUS_UI_SETUP_SETUP_INT_H
#define CHORUS_UI_SETUP_SETUP_INT_H

#include "record/queue/queue.h"
#include "ui/app/app.h"
#include "ui/setup/form.h"
#include "ui/widgets/line.h"
#include "wire/forecast.h"
#include "wire/sweep.h"

enum setup_pane { SETUP_FILES, SETUP_FORM, SETUP_QUEUE, SETUP_PANES };

struct setup_file {
    char *name; /* "first" */
    char *path; /* NULL: built into the program; "": the defaults */
};

struct setup_fact { /* of the panel that tells what the form means */
    const char *label;
    char value[64];
    int role;
};
#define SETUP_FACTS 20

struct setup_link {      /* what tasks hold of the screen: it may be gone when they are done */
    struct setup *setup; /* NULL: it is */
    int held;
};
struct setup_link *setup_hold(struct setup *s);
struct setup *setup_let_go(struct setup_link *link);

#define SETUP_LINES 128 /* of the form that can be drawn */

struct setup_places { /* of the last drawing: for the mouse */
    struct rect files, queue, form, mean;
    struct rect file_rows, queue_rows, rows; /* inside, where the lists stand */
    struct rect choices;                     /* of the open field */
    size_t first_choice;
    bool wide;
};

struct setup {
    struct app *app;
    struct setup_link *link;
    struct form form;
    enum setup_pane pane;
    bool folded;
    char at[64];               /* key of the field that is chosen */
    size_t first;              /* row of the form that is drawn first */
    size_t room;               /* rows of it that can be seen at once */
    int line_row[SETUP_LINES]; /* which row stands in each line of it; -1: none */

    bool open;             /* a field is: keys are text */
    struct line_edit line; /* its text */
    char *before;          /* the field's text before, NULL: the default */
    char *shown_before;    /* and what it was opened with */
    struct err typed;      /* what is wrong with what stands in it */
    bool behind;           /* it has changed since the form followed it: more keys came at once */
    bool takes;            /* Enter or Tab were pressed on a list that is being checked */
    int take_by;
    struct text several; /* what Tab found */

    struct setup_file *file;
    size_t files, file_at, file_first;
    bool listing;       /* a task lists them */
    uint64_t file_hash; /* of what was read from the form's file or written there; 0: none */
    uint64_t listed_ns;

    struct record_queued *queued;
    char **queue_label; /* (queue) */
    size_t queue, queue_at, queue_first;
    size_t queue_moving; /* moves that are on their way */
    uint64_t drops;      /* which a question is about: its id */
    uint64_t queue_stamp;
    bool queue_reading, queue_again; /* again: it was changed from here meanwhile */
    char *promised;                  /* of what was added last, until something is taken */

    struct wire_forecast sum; /* what the form means, as far as it is known */
    uint32_t serial;          /* of the question */
    bool ask_due;             /* it is to be asked, from ask_ns on */
    bool answer_due;          /* it was asked at sent_ns, and the last answer has not come */
    uint64_t ask_ns, sent_ns;
    uint64_t asked_ns;  /* when the form changed last */
    uint64_t answer_ns; /* how long the first answer took then; 0: it has not come */
    uint64_t turn;      /* of the form that it was asked about */
    uint64_t runs_turn; /* of the library, when its runs that had ended were counted last */
    size_t runs_ended;
    bool saw_runs;
    bool named_looking;                         /* a task looks at the files that the form names */
    uint64_t named_ns, named_turn, named_stamp; /* when, at which form, and what they were */
    uint64_t named_took_ns;                     /* looking */
    /* Whether to queue it behind what runs here; and that has ended since. */
    enum { ASKS_NOTHING, ASKS_BEHIND, ASKS_ENDED } asks;
    bool judging; /* r waits for what the planner says of that form */
    uint64_t judged_turn;
    uint64_t sweep_stamp; /* of the form's sweep, as setup_watch saw it last; 0: there is none */

    struct form again; /* a run that is to be run again, beside what stands in the form */
    bool runs_again;   /* it is what is started now, not the form */
    struct record_queue_options sweep; /* how it is walked; its name is the next */
    char *goes_on; /* the run that its item of the queue goes on with; NULL: none, or it was said */
    uint64_t waits;     /* what was loaded from the queue, but what goes on: its id; 0: none */
    uint64_t takes_out; /* it was started: its id; 0: none */
    bool nowhere;       /* neither in the queue nor begun: what is in the form is kept nowhere */
    char *sweep_name;   /* another name than the form's, for the next start; NULL */
    char free_name[SPEC_NAME]; /* that a question offers */
    uint32_t started;          /* number of what was started here last */
    uint32_t nothing_ran;      /* a sweep, while no cell of it has begun here; 0 */
    char *ran;                 /* the form as it was run or queued last: it is kept there; NULL */
    bool partly;               /* a person has said that what could not be read shall be left out */
    bool fetching;
    struct setup_source *wanted; /* what is to be loaded, when the person has answered; NULL */
    char *path;                  /* a file that is to be written, likewise, ... */
    const char *path_label;      /* ... and what its line asked for */
    struct setup_places places;
};

/* Work that a key asks of the disk, as tasks_try does it. */
bool setup_try(struct setup *s, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg);

/* setup_ask.c: what the form means. */
void setup_ask(struct setup *s);            /* after a change */
bool setup_ask_on(struct setup *s);         /* whatever could not be sent before */
void setup_results_change(struct setup *s); /* which cells have a result, and what they cost */
bool setup_answer(struct setup *s, const struct wire_forecast *answer);
/* The set of data that is missing; false: none. */
bool setup_missing(const struct setup *s, char name[64]);
size_t setup_facts(const struct setup *s, struct setup_fact *facts);
const char *setup_problem(const struct setup *s); /* why it cannot run; NULL */
/* Of the cells that do not train, by what becomes of them; the texts stay the screen's. */
#define SETUP_REASONS (WIRE_REASONS + 1)
struct setup_reason {
    enum wire_fate fate;
    uint64_t cells;
    const char *text;
};
size_t setup_reasons(const struct setup *s, struct setup_reason reason[SETUP_REASONS]);
const char *setup_fate(const struct setup *s, enum wire_fate fate, char head[64]);
void setup_mean_page(const struct setup *s, struct text *out);
void setup_add_remark(const struct setup *s,
                      struct text *out); /* without its marks and line ends */

/* setup_files.c */
void setup_list_files(struct setup *s);
void setup_load_chosen(struct setup *s);
void setup_load_another(struct setup *s, const char *path); /* asks; path: to begin with */
void setup_save_as(struct setup *s);
void setup_duplicate(struct setup *s);
void setup_free_files(struct setup *s);
/* The path by which the list has that file, in place of this one, which it frees; or this one where the list
 * does not have it. For any thread. */
char *setup_listed_path(char *path);

/* setup_load.c: into the form, after a question where something there would be lost. */
struct setup_source {
    enum form_from from;
    char *source, *file, *text; /* as form_load takes them */
    size_t n;
    uint64_t hash;    /* of the file that a person keeps; 0: none */
    char *sweep_name; /* NULL: the form's own */
    struct record_queue_options options;
    uint64_t queued;   /* FORM_QUEUE: the item's id */
    struct form *made; /* of that; NULL: not yet */
};
/* Made on another thread, as whatever may hold long lists; it becomes the screen's. words (may be NULL): to
 * say. */
void setup_load_aside(struct setup *s, struct setup_source *source, const char *words);
void setup_load_builtin(struct setup *s, const char *name); /* at once */
void setup_load_defaults(struct setup *s);
void setup_load_path(struct setup *s, const char *path);
/* A run into the form; again: and run. A sweep whole, with its name and options. */
void screen_setup_load(struct setup *s, const char *folder, bool again);
void screen_setup_load_sweep(struct setup *s, const char *name);
/* typed: what stood in the line that asked for it, where it stands again if that cannot be read. */
void setup_load_typed(struct setup *s, const char *path, const char *typed);
void setup_free_source(struct setup_source *source);
/* The options that stand on top of its text; the form is then made without that line. */
void setup_take_options(struct setup_source *source);
void setup_read_models(struct setup *s); /* from now on, elsewhere; and checks long lists there */

/* setup_begun.c: what became of the item that is in the form. */
/* As it waits; NULL: it does not. */
const struct record_queued *setup_waiting(const struct setup *s);
bool setup_was_queued(const struct setup *s); /* and does no more */
void setup_seek_begun(struct setup *s);       /* where it waits no more */
/* Looks whether another program has begun it, and asks where one has whether to run it once more. */
void setup_unless_begun(struct setup *s, void (*then)(struct setup *s));

/* setup_queue.c */
void setup_is_kept(struct setup *s); /* setup_start.c: the form was run or queued */
/* Looks whether the queue is another one, or the sweep's results. */
void setup_watch(struct setup *s);
void setup_queue_move(struct setup *s, int by);
void setup_queue_drop(struct setup *s);
void setup_queue_take_out(struct setup *s, const struct record_queued *q);
void setup_queue_verbs(const struct setup *s, struct text *lines); /* that do the same */
void setup_queue_load(struct setup *s);
/* alone: its turn comes when nobody computes on this machine, whatever results others have. */
void setup_queue_add(struct setup *s, bool alone);
void setup_free_queue(struct setup *s);
/* What goes on when its turn comes, behind what runs: a run (epochs: 0, or to so many), or a sweep. */
void screen_setup_queue_run(struct setup *s, const char *folder, int64_t epochs, bool alone);
void screen_setup_queue_sweep(struct setup *s, const struct spec_sweep *sweep,
                              const struct record_queue_options *options);
/* A sentence of what the queue begins where all that runs here is stopped; nothing where nothing waits. */
void screen_setup_add_next(const struct setup *s, struct text *out);

/* setup_queued.c. waiting: as setup_count_waiting has it. */
void setup_say_queued(struct setup *s, const char *name, size_t waiting);
/* Of what a command has put into the queue as that file: says so, and when it starts. */
void screen_setup_say_queued(struct setup *s, const char *path);
/* promised: unsaid as soon as something is taken from the queue. words are taken over. */
void setup_say_of_queue(struct setup *s, bool promised, char *words);
/* How many wait, for any thread; 0: the item is not among them. id 0: its file says which it is. */
size_t setup_count_waiting(const char *results, const struct record_queued *item);

/* setup_named.c */
/* Once a second, or less often where they are many; where they are others, it is asked anew. */
void setup_look_at_named(struct setup *s);

/* setup_start.c */
void setup_run(struct setup *s);
void setup_judge(struct setup *s); /* where r waits for it, and it is known */
bool setup_is_unsaved(const struct setup *s);
/* Whether the form would be lost, and the sentence that says so. */
bool screen_setup_unsaved(struct setup *s, struct text *words);
void setup_add_unsaved(const struct setup *s,
                       struct text *words); /* a sentence, where that is so */
void setup_ask_options(struct setup *s);    /* of a sweep */
void setup_add_options(const struct setup *s,
                       struct text *out);             /* " --order grid", without its name */
void setup_run_again(struct setup *s);                /* s->again */
const struct form *setup_what(const struct setup *s); /* what is started now */
/* NULL: it is a single run. */
const char *setup_sweep_name(const struct setup *s, char name[SPEC_NAME]);
/* The sweep in the form, or in s->again, as the engine takes it. The caller frees it. */
struct wire_sweep *setup_message(const struct setup *s, bool again, size_t *bytes);
bool setup_is_as_it_waited(const struct setup *s); /* a single run, as it was loaded from there */
void setup_go_on(struct setup *s);          /* starts it, or asks where something runs already */
void setup_renew_question(struct setup *s); /* where what it is about has ended */
void setup_say_changed(struct setup *s); /* it was not started, since it is another form by now */
void setup_fetch(struct setup *s);
void setup_has_started(struct setup *s); /* what was started here last */
/* Where a sweep ended of which nothing was left to run, that is said. */
void setup_look_at_end(struct setup *s, const struct wire_event *event);
bool setup_refused(struct setup *s, const struct wire_event *event, const char *why);

/* setup_addition.c */
void setup_look_and_go_on(struct setup *s); /* asks, where a sweep of that name is another one */
/* Bytes of a name without the number that tells it from another: of "first-2" those of "first". */
size_t setup_stem(const char *name);

/* setup_field.c: keys of the form. */
size_t setup_rows(const struct setup *s, size_t *row); /* room for SETUP_ROWS */
#define SETUP_ROWS (FORM_KEYS + 64)
int setup_chosen(const struct setup *s); /* the field; -1: none */
void setup_choose(struct setup *s, size_t field);
void setup_move(struct setup *s, int by);
void setup_open_field(struct setup *s);
void setup_close_field(struct setup *s); /* what was typed and not taken is lost */
bool setup_field_key(struct setup *s, const struct key *key); /* while one is open */
void setup_field_follow(struct setup *s);                     /* what came behind others */
/* False: what was typed is taken, and the click is somebody else's. */
bool setup_field_click(struct setup *s, const struct key *key);
void setup_list_checked(struct setup *s); /* that the form asked for */
bool setup_form_key(struct setup *s, const struct key *key);
const char *const *setup_choices(const struct setup *s, size_t field); /* NULL: none */

/* setup_draw.c, setup_draw_form.c */
void setup_draw_form(struct setup *s, struct grid *g);
/* In the frame, beside the rows of the list. */
void setup_draw_scroll(struct grid *g, struct rect frame, struct rect rows, size_t first,
                       size_t count);
void setup_draw(struct setup *s, struct grid *g, struct rect in);

#endif
