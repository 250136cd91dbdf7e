/* ui/results/results_int.h: what the files of the screen Results share. The view (which lines, which columns)
 * is made anew when the library, the filter, the order or the folding has changed; drawing only reads
 * it. */
#ifndef CHORUS_UI_RESULTS_RESULTS_INT_H
#define CHORUS_UI_RESULTS_RESULTS_INT_H

#include "record/best.h"
#include "record/run/reader.h"
#include "study/table.h"
#include "ui/app/app.h"
#include "ui/widgets/line.h"

#define RESULTS_COLUMNS 48
#define RESULTS_CUT     22 /* columns of a cell, at most */

enum results_fold { RESULTS_SINGLE, RESULTS_REPEATS, RESULTS_SWEEPS, RESULTS_FOLDS };

enum results_kind { RESULTS_RUN, RESULTS_GROUP, RESULTS_MEMBER };
struct results_line {
    enum results_kind kind;
    size_t at;    /* a run: in the library's list; a group: in groups */
    int member;   /* of the ensemble at */
    bool inside;  /* it stands below a group or a run that is unfolded */
    uint64_t key; /* by which it is found again */
};

struct results_group {
    size_t first, count; /* in the view's order */
    uint64_t key;
    double mean, sd; /* of best_test_acc; sd is nan where all repeats have one seed */
    size_t n;        /* runs that have one; the same result again counts once, as in compare */
    size_t again;    /* done, but such a repetition: no part of n */
    bool one_seed;   /* all of them, done or not */
    bool sweep;  /* all runs of one: their mean is of no setting, so that the best stands for it */
    double best; /* of them, and the run that has it; nan: none */
    size_t best_run; /* in the library's list */
};

struct results_column {
    char name[64];
    const char *head;
    int field; /* of run.csv; -1: of another file */
    enum study_kind kind;
    int width;
    bool right;
};

struct results_view {
    size_t *order, count; /* runs that the filter leaves, in the order of the lines */
    size_t total;         /* runs that there are */
    struct results_group *group;
    size_t groups;
    struct results_line *line;
    size_t lines, room;
    struct results_column column[RESULTS_COLUMNS];
    int columns;
    bool by_name;   /* the filter asks what runs were called */
    char alone[64]; /* a word of it that is a column's name, and compares nothing; or "" */
    bool pending;   /* values of other files are still being read */
    bool on_test;   /* some best epochs were picked on test data, */
    bool on_valid;  /* some on validation data */
    size_t running; /* of all runs */
    size_t ended;   /* since they were looked at last */
    char news[200]; /* what ended; "" */
    int acc_width;  /* of the best accuracy */
};

/* The last rows of an ensemble's members.csv. */
struct results_members {
    char run[256];
    bool read;
    size_t n;
    struct {
        double acc, loss, prefix;
        int device;
    } * member;
    int64_t epoch;
};
#define RESULTS_MEMBERS 16

struct results_filter {
    struct record_filter *filter;
    size_t filters;
    char **word; /* names: parts, sweeps, @, @2, @best */
    size_t words;
};

struct results_set { /* of runs, by their keys */
    uint64_t *key;   /* (count), sorted */
    size_t count, room;
};

struct results {
    struct app *app;
    struct results_view view;
    uint64_t seen_turn, marks_turn; /* marks_turn: as they were kept */
    uint64_t seen_told;             /* of results_told */
    uint64_t folder;                /* the results', for what is kept of it */
    char entry[40];                 /* among the settings, for these marks; "" until it is known */
    bool stale;

    char filter[512], sort[72], columns[512];
    enum results_fold fold;
    bool percent;     /* the view was made for such accuracies */
    uint64_t *opened; /* keys of groups and ensembles that are unfolded */
    size_t opened_count, opened_room;
    struct results_members members[RESULTS_MEMBERS];
    size_t member_next;

    uint64_t chosen; /* key of the line under the cursor; 0: nobody chose one, */
    uint64_t begun;  /* it is this one, or (0) the first */
    bool seeks;      /* begun is to be found, of a list that is whole */
    size_t at;       /* and where it is */
    bool moved;      /* somebody chose it since the screen was shown */
    size_t top;
    int left; /* the first of the columns that move */

    bool filtering; /* the field is open; the filter before it, and what is wrong now */
    struct line_edit field;
    char before[512], wrong[512];
    bool heading; /* a column for the order is being chosen */
    int head;

    char since[32];          /* news count from here (UTC) */
    struct results_set live; /* what was at work then */
    struct results_set seen; /* what ended on Run or Sweep while somebody saw it */
    uint64_t seen_run;       /* key of the one on Run that was written down last; 0: none */
    uint64_t sweep_turn; /* library_turn when the cells of the sweep that is seen were looked at */
    bool was_shown;

    char about[256]; /* the run that the open prompt or question is about */
    uint64_t meant;  /* or the runs, as a hash of their names, what is done to them, */
    const struct results_deed *deed;
    bool only_shown;   /* and whether the marked ones that the filter hides are no part of them */
    struct rect table; /* where it was drawn last: for the mouse */
    int page;
};

/* results_filter.c. RUN names and filters as verbs take them, over the library's list and what its lines
 * show. */
enum err_code results_filter_parse(struct results_filter *f, const char *text,
                                   struct err *e) MUST_USE;
void results_filter_free(struct results_filter *f);
/* take: (count). False: values are missing that are being read; those runs are left out so far. */
bool results_filter_apply(const struct results_filter *f, const struct results *r,
                          const struct library_run *runs, size_t count, bool *take);

/* results_view.c */
void results_make(struct results *r);
bool results_is_old(const struct results *r); /* it must be made anew */
/* Of a view whose order is made, and once its lines are. */
void results_choose_columns(struct results *r, const struct library_run *runs);
void results_measure_columns(struct results *r);
void results_free_view(struct results_view *v);
bool results_is_open(const struct results *r, uint64_t key);
void results_open(struct results *r, uint64_t key, bool open);
const struct library_run *results_run(const struct results *r, const struct results_line *line);
const struct results_line *results_chosen(const struct results *r); /* NULL: none */
/* The runs that a line stands for; returns how many, at most room. */
size_t results_runs_of(const struct results *r, const struct results_line *line, const char **names,
                       size_t room);
uint64_t results_key(const char *kind, const char *name);
/* What is kept among the settings of this results folder: when it was "looked" at, what was "live" then, what
 * was "seen" since. */
#define RESULTS_KEPT 48
const char *results_kept_as(const struct results *r, const char *what, char name[RESULTS_KEPT]);
/* What a setting keeps of a folder, whose name the list has: the folder that was touched last stands first, and
 * what falls off the list's end is kept no more. is: there is something to keep. */
void results_list_folder(struct settings *s, const char *list_name, const char *entry, bool is);
void results_set_read(struct results_set *s, const char *text);
void results_set_add_key(struct results_set *s, uint64_t key); /* then sort */
void results_set_add(struct results_set *s, const char *run);  /* likewise */
void results_set_sort(struct results_set *s);
bool results_set_has(const struct results_set *s, const char *run);
void results_set_write(const struct results_set *s, struct text *out);
void results_set_free(struct results_set *s);

/* results_cursor.c: in lines that were made anew */
void results_place_cursor(struct results *r, const struct library_run *runs);

/* results_cell.c: values as people read them */
const char *results_hash(const char *run); /* "7f3a"; "" */
struct record_tested results_tested_of(const struct library_run *run);
void results_cell(const struct results *r, const struct results_line *line,
                  const struct results_column *c, struct text *out);
/* As it stands in the files; NULL: they are being read. */
const char *results_value(const struct results *r, const struct library_run *run,
                          const struct results_column *c);
void results_text(const char *raw, enum study_kind kind, struct text *out);
void results_add_head(const struct results_column *c, struct text *out);
/* The column that has it; NULL: none. */
const char *results_headed(const char *head);
void results_set_column(struct results_column *c, const char *name);

/* results_live.c */
/* NULL: it is not at work, and was not here. */
const struct feed_run *results_live(const struct results *r, const struct library_run *run);
/* How a run stands: one of this program as the wire says, which is sooner than its run.csv. */
struct results_standing {
    enum wire_state state;
    bool works, dead;  /* works: somebody has it at work, paused or not */
    bool stops;        /* it, or its sweep, was told to stop later */
    const char *words; /* for a column of eight: "stopping" */
    const char *reason;
};
struct results_standing results_standing(const struct results *r, const struct library_run *run);
/* (count) of which there is a results_live; freed by the caller. */
bool *results_are_live(const struct results *r, const struct library_run *runs, size_t count);
size_t results_running(const struct results *r, const struct library_run *runs, size_t count);
/* Another number where a run of this program stands otherwise. */
uint64_t results_told(const struct results *r);
/* What its line shows of a run at work, or of one that ended here, before run.csv tells it, as a cell of
 * that: how it stands, and numbers of epochs. NULL: run.csv tells the same, or more. */
const char *results_newest(const struct results *r, const struct library_run *run,
                           const char *column, char out[TEXT_NUMBER_ROOM]);
/* That, or the cell. */
const char *results_raw(const struct results *r, const struct library_run *run, const char *column,
                        char out[TEXT_NUMBER_ROOM]);

/* results_detail.c */
int results_role(const struct library_run *run, const struct results_standing *is);
void results_draw_detail(const struct results *r, struct grid *g, struct rect in);

/* results_draw.c */
void results_draw(void *screen, struct grid *g, struct rect in);
int results_moving_at(const struct results *r); /* where the columns that move begin */

/* results_keys.c */
bool results_key_pressed(void *screen, const struct key *key);
void results_go(struct results *r, size_t line);

/* results_chosen.c. A deed to several runs at once. Its question: "Move the 5 marked runs to the folder trash?" */
struct results_deed {
    const char *verb, *where; /* "Move", " to the folder trash" */
    void (*act)(struct results *r, const char *const *names, size_t count);
};
/* To the marked runs, or those of the chosen line. Where the filter hides some of the marked ones a person
 * says first whether they are meant too. */
void results_do(struct results *r, const struct results_deed *deed);
/* Those that the deed was begun with, for the answer to its own question; the caller frees the array. None,
 * and it is said, where they have changed. */
const char **results_asked(struct results *r, size_t *count);
size_t results_hidden(const struct results *r); /* marked runs that the filter hides */

/* results_edit.c */
void results_say_runs(char *out, size_t room, const char *const *names, size_t count);
void results_ask_tags(struct results *r, const char *const *names, size_t count);
void results_ask_note(struct results *r, const struct library_run *run);
void results_ask_trash(struct results *r, const char *const *names, size_t count);

/* results_act.c */
bool results_act(struct results *r, int32_t code);
bool results_lead(void *results, int to); /* the screens Run and Predict are chosen */

/* results_tags.c. "+paper -draft" as a line for record_edit, "tag" alone where nothing was typed. */
enum err_code results_tag_line(const char *text, struct text *line, struct err *e) MUST_USE;

/* results_marks.c */
void results_take_marks(struct results *r); /* those that were kept the last time */
void results_keep_marks(struct results *r); /* where they have changed */

/* results_members.c: empty until they have been read */
const struct results_members *results_members_of(struct results *r, const char *run);

/* results_out.c */
void results_command(void *screen, struct text *out);
enum err_code results_write(void *screen, const char *form, struct paper *out, struct err *e);

#endif
