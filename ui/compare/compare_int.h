/* ui/compare/compare_int.h: what the files of the screen Compare share. Files are read by a task into a
 * struct compare_set; what is shown (table, curves) is made of that on the main thread when a key or
 * a new set changes it; drawing only draws. */
#ifndef CHORUS_UI_COMPARE_COMPARE_INT_H
#define CHORUS_UI_COMPARE_COMPARE_INT_H

#include "draw/plot/curves.h"
#include "record/run/reader.h"
#include "study/compare.h"
#include "study/scaling.h"
#include "ui/app/app.h"

#define COMPARE_MOST   64 /* runs */
#define COMPARE_MANY   8 /* curves, from which on those without focus are thin and have no values */
#define COMPARE_PANELS 2

/* Runs that can be read, with their epochs. Nobody changes one that has been loaded. */
struct compare_set {
    struct record_entry *entry; /* (count) */
    struct study_run *run;      /* (count) */
    size_t count;
    bool live;         /* one of them is at work */
    size_t left_out;   /* could not be read: */
    char problem[512]; /* why, of the first of them */
};

struct compare_budget { /* STUDY_EPOCHS ..., or none */
    bool on;
    enum study_budget budget;
};

struct compare {
    struct app *app;
    char **name;        /* (count): what is compared */
    size_t count, more; /* more: that were named beyond COMPARE_MOST */
    bool given;         /* by another screen; else the marked ones */
    char what[64];      /* given: "cell lr 0.1" */
    uint64_t marks_turn;

    /* As words of a command line, of the names words_of, when the library had that turn. */
    struct text words, words_of;
    uint64_t words_turn;

    struct compare_set *set;
    bool loading, stale, reload;
    uint64_t loaded_ns, library_turn;

    /* What is wished */
    int metric, x, smooth;
    bool log_y, over, scaling, sorted, table_pane, cursor;
    bool percent; /* what was made is of such accuracies */
    struct compare_budget equal;
    double target, cursor_x;
    char focus[256]; /* the run, or the first one of its group */

    /* What came of it */
    struct study_table table;
    char wrong[600]; /* why there is no table */
    size_t *order;   /* (table.rows): which row stands where */
    int *column;     /* (columns): which column stands where */
    int columns;
    struct curves curves[COMPARE_PANELS];
    struct plot plot[COMPARE_PANELS];
    struct plot_series *series[COMPARE_PANELS];
    size_t *reads[COMPARE_PANELS]; /* at an equal budget: the plot's own */
    char title[COMPARE_PANELS][64], missing[COMPARE_PANELS][200];
    char **label, **brief; /* (groups): "batch=64 lr=0.1", "64 0.1" */
    const char **plain;    /* (groups): "cnn-7f3a", of the set or brief */
    const char **tail;     /* (groups): "7f3a", of the first run */
    size_t *of;            /* (count of the set): the group of each run; without --over, itself */
    size_t
        *twin; /* (groups): the first that has the same curves; itself where none before it has */
    size_t groups;
    int panels;                /* that have been made */
    double *read;              /* (groups): at the cursor, of the first panel */
    struct study_point *point; /* of the scaling view */
    size_t points;

    size_t row, top; /* of the table: which is focused, as it is shown; and what is scrolled away */
    int left, hidden; /* hidden: columns that have no room, at both sides */
    struct rect table_at, plot_at[COMPARE_PANELS];
    int page;
    bool notes_cut; /* there is no room for all of them */
    bool wide;      /* two panels beside each other */
};

/* compare_load.c */
void compare_name(struct compare *c, const char *const *names, size_t count, bool given);
/* In place of the marked ones; what: "cell lr 0.1", as its title calls them. */
void screen_compare_runs(struct compare *c, const char *const *names, size_t count,
                         const char *what);
void compare_load(struct compare *c);
void compare_free_set(struct compare_set *set);

/* compare_make.c */
extern const char *const compare_x_names[];
const char *compare_axis(const struct compare *c); /* as `plot --x` names it */
#define COMPARE_AXES 6
int compare_metrics(void);
const char *compare_metric(int i, const char **title);
int compare_first_metric(const struct compare *c); /* of the first panel */
bool compare_has_metric(const struct compare *c, int i);
void compare_renew(struct compare *c); /* the same where something has changed */
void compare_free_made(struct compare *c);
bool compare_has_twin(const struct compare *c, size_t group); /* another curve lies under its own */
size_t compare_row_group(const struct compare *c, size_t row); /* as shown; groups: none */
void compare_focus(struct compare *c, size_t row);
void compare_set_cursor(struct compare *c);

/* compare_names.c */
void compare_name_groups(struct compare *c);
void compare_choose_labels(struct compare *c, int panel); /* as long as there is room for */
void compare_name_scaling(struct compare *c, int panel, int brief); /* 0: whole; 1, 2: shorter */

/* compare_table.c */
void compare_draw_table(struct compare *c, struct grid *g, struct rect at);

/* compare_notes.c */
/* Returns how many rows they take, also those not drawn. */
int compare_draw_notes(const struct compare *c, struct grid *g, struct rect in);
void compare_show_notes(struct compare *c); /* all of them, in a window */

/* compare_draw.c */
void compare_draw(void *screen, struct grid *g, struct rect in);

/* compare_out.c */
extern const char *const compare_forms[];
void compare_command(void *screen, struct text *out);
void compare_offers(void *screen, struct text *lines);
void compare_runs(void *screen, struct text *out);
enum err_code compare_write(void *screen, const char *form, struct paper *out, struct err *e);

#endif
