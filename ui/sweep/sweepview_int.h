/* ui/sweep/sweepview_int.h: what the files of the Sweep screen share. sweepview_model.c makes groups of a
 * sweep's cells, _read.c reads sweeps on the thread of tasks, _words.c makes sentences and boards of it, _status.c has the line of status know of other
 * programs' sweeps, _command.c says to them what is to be done, _draw.c, _keys.c, _act.c, _cell.c and _did.c
 * are the screen. */
#ifndef CHORUS_UI_SWEEP_SWEEPVIEW_INT_H
#define CHORUS_UI_SWEEP_SWEEPVIEW_INT_H

#include "draw/board.h"
#include "live/sweep.h"
#include "study/stats.h"
#include "ui/app/app.h"

#define SWEEPVIEW_MOST_CELLS 50000

/* ---- the model ---- */

struct sweepview_dim { /* axes that walk together; most often one */
    char *name;        /* "lr", "devices, batch" */
    char **value;      /* (values), whole */
    char **brief;      /* (values), as short as tells them apart */
    size_t values;
    size_t axis;  /* its first axis: whose place is the dimension's */
    bool repeats; /* seeds of one setting */
};

struct sweepview_group { /* the repeats of one setting: a cell of the board */
    size_t of_state[WIRE_SKIPPED + 1], left_out, unknown; /* how many of them */
    size_t twins;                                         /* of those left out */
    size_t dead;                                          /* of those that are stopped */
    size_t full;                                          /* of those that run: without room */
    size_t runs;                                          /* done, with an accuracy */
    double mean, sd;                                      /* of their test accuracies */
    double choice;                                        /* mean of what the best is picked on */
    double share;                                         /* of those that run */
    size_t best;                                          /* the cell with the best of them */
    struct study_interval gap;                            /* of the best group over this one */
    bool even;                                            /* that interval holds 0 */
};

struct sweepview_sweep { /* a sweep as a board */
    struct live_sweep *now;
    struct sweepview_dim *dim;
    size_t dims, repeats_dim;      /* dims: there are no repeats */
    size_t repeats;                /* cells of a group */
    size_t *cell_at;               /* (groups, repeats): numbers of cells */
    struct sweepview_group *group; /* (groups) */
    size_t groups, best;           /* best: groups where there is none yet */
    size_t best_cell;              /* cells: none */
    size_t even, told, few; /* groups whose seeds cannot, can, are too few to tell them from it */
    bool on_valid;          /* so is the best group: all that may be it have such an accuracy */
    double test_images;     /* nan: unknown */
};

/* Takes the sweep over. */
struct sweepview_sweep *sweepview_new(struct live_sweep *now);
void sweepview_free(struct sweepview_sweep *s);
/* The group of a setting. at: (dims), that of repeats is passed over. */
size_t sweepview_group_at(const struct sweepview_sweep *s, const size_t *at);
/* The cell of a group from its seed number r, and back. */
size_t sweepview_cell_of(const struct sweepview_sweep *s, size_t group, size_t r);
/* at: (dims), which value of each dimension the group has; 0 of repeats. */
void sweepview_place(const struct sweepview_sweep *s, size_t group, size_t *at);
/* Groups anew from the cells. */
void sweepview_sum(struct sweepview_sweep *s);
/* The accuracy that the best is picked on. */
double sweepview_choice(const struct sweepview_sweep *s, const struct live_cell *c);

/* ---- words and boards ---- */

struct sweepview_look {     /* which part of it is looked at */
    size_t rows, columns;   /* dimensions; columns = dims: there is one alone */
    size_t at[16];          /* of the others: which value */
    struct board_view view; /* .row and .column: the chosen cell */
};
#define SWEEPVIEW_MOST_DIMS 16
#define SWEEPVIEW_CHOICES   4 /* of how to stop */

struct sweepview_board { /* and what it is made of */
    struct board board;
    struct board_view *view;
    char **text;
    size_t texts, room;
    double *value;
    bool *grey;
    const char **words, **brief;
};

void sweepview_first_look(const struct sweepview_sweep *s, struct sweepview_look *look);
/* The next pair of dimensions as rows and columns; false: there is no other. */
bool sweepview_other_axes(const struct sweepview_sweep *s, struct sweepview_look *look);
size_t sweepview_pages(const struct sweepview_sweep *s, const struct sweepview_look *look);
size_t sweepview_page(const struct sweepview_sweep *s, const struct sweepview_look *look);
void sweepview_set_page(const struct sweepview_sweep *s, struct sweepview_look *look, size_t page);
size_t sweepview_shown_group(const struct sweepview_sweep *s, const struct sweepview_look *look,
                             size_t row, size_t column);
size_t sweepview_chosen(const struct sweepview_sweep *s, const struct sweepview_look *look);
/* Moves the look to a group. */
void sweepview_go_to(const struct sweepview_sweep *s, struct sweepview_look *look, size_t group);

void sweepview_make_board(const struct sweepview_sweep *s, struct sweepview_look *look,
                          struct sweepview_board *out);
void sweepview_free_board(struct sweepview_board *b);
/* "done", "running 33 %", "diverged"; behind it ! and … as on the board. */
void sweepview_add_state(const struct sweepview_group *g, struct text *out);
/* "batch 64, lr 0.05" of a group. */
void sweepview_add_setting(const struct sweepview_sweep *s, size_t group, struct text *out);
/* "devices 1, optimizer sgd" of a page. */
void sweepview_add_page(const struct sweepview_sweep *s, const struct sweepview_look *look,
                        struct text *out);
/* "34 done, 2 running, 1 diverged, 59 waiting". */
void sweepview_add_counts(const struct sweepview_sweep *s, struct text *out);
/* What can be said of differences here. */
void sweepview_add_footer(const struct sweepview_sweep *s, struct text *out);
/* Of one cell: "0.8380", "running 33 %", "diverged". */
void sweepview_add_cell(const struct live_cell *c, struct text *out);
/* Which have no good end beyond --max-cells, as a sentence; "--max-cells 4 left 1 of 5 cells". */
void sweepview_add_failed_beyond(const struct sweepview_sweep *s, struct text *out);
void sweepview_add_beyond(const struct sweepview_sweep *s, struct text *out);

/* ---- from the disk ---- */

struct sweepview_line { /* of the list */
    char *name;
    char newest[32]; /* time of the ledger's newest line */
    uint64_t stamp;  /* of its files: another one where they have changed */
    bool live;
    int64_t cells, ended;
    double best; /* nan: none */
    bool mean;   /* it is one of several seeds, as on the board */
};
struct sweepview_disk {          /* what the thread of tasks brings */
    struct sweepview_line *line; /* newest first */
    size_t lines;
    struct sweepview_sweep *sweep; /* the one that was asked for; NULL: as it was, or gone */
    bool gone;
};
/* name: the sweep that is read whole where it has changed since stamp; NULL: the newest. old: lines of
 * the look before, to spare what has not changed. */
void sweepview_read(const char *results, const char *name, uint64_t stamp,
                    const struct sweepview_line *old, size_t olds, struct sweepview_disk *out);
/* The sweep that a program works on, of several the one with the newest line; those named in but[n] are
 * passed over. False: there is none. */
bool sweepview_read_live(const char *results, const char *const *but, size_t n,
                         struct feed_sweep *out);
/* One that nobody works on any more. */
void sweepview_read_over(const char *results, const char *name, struct feed_sweep *out);
void sweepview_free_lines(struct sweepview_line *line, size_t n);

/* ---- the screen ---- */

enum { SWEEPVIEW_LIST, SWEEPVIEW_BOARD };

struct sweepview {
    struct app *app;
    struct sweepview_line *line;
    size_t lines, chosen; /* chosen: of the list */
    int first;            /* the first line shown */
    struct rect list_at;  /* as drawn last */
    bool looking, read;   /* a task is on its way; there was one */
    uint64_t looked_ns, merged_ns;
    char *name; /* the sweep that is shown; NULL: none yet */
    struct sweepview_sweep *sweep;
    struct sweepview_look look;
    bool has_look;
    int pane;
    bool wide;                       /* list and board beside each other, as drawn last */
    struct wire_sweep_status status; /* of this process's sweep of that name */
    bool own;                        /* there is one, and it has not ended */
    struct wire_cell *wire_cell;
    size_t wire_room;
    size_t asked;                  /* the cell that a question is about, */
    char *asked_of;                /* and its sweep, */
    int choice[SWEEPVIEW_CHOICES]; /* and what its answers mean */
    size_t dropping;               /* a cell whose drop was sent, counted from 1; 0: none */
    bool failed_again;             /* the newest start here: what had ended badly waits again */
    uint32_t followed;             /* this process's sweep that was shown without being asked */
    bool telling;                  /* a task looks for what the line of status says, */
    uint64_t tell_ns;              /* the next one not before, */
    struct feed_sweep told;        /* and what the last one found, */
    uint64_t told_stamp;           /* of files that stood so (record_sweep_stamp); */
    char *promised;                /* what was said of a sweep that was told something, */
    const char *promised_at;       /* and how it stood then */
    uint32_t over[2]; /* the newest of this process's that is told to be over: begun here,
                             * and from the queue, which have numbers of their own */
};

/* Has the line of status know of other programs' sweeps; from every tick. */
void sweepview_tell_status(struct sweepview *v);
void sweepview_draw(void *screen, struct grid *g, struct rect in);
bool sweepview_key(void *screen, const struct key *key);
/* To whoever works on it: over the wire where that is this program, */
void sweepview_send(struct sweepview *v, struct wire_command command);
/* by a line else; said: what the other program has been told. */
void sweepview_control(struct sweepview *v, const char *line, const char *said);
void sweepview_send_cell(struct sweepview *v, enum wire_command_kind kind, size_t cell, int by);
bool sweepview_works(struct sweepview *v); /* somebody does; else it is said why it hears nothing */
/* Questions stand for a while: an answer means the sweep that was shown then. */
void sweepview_remember_asked(struct sweepview *v);
bool sweepview_still_asked(struct sweepview *v);
bool sweepview_still_shown(struct sweepview *v, const char *name);
/* Does that, which lets what is paused of it go on, or another cell begin in its place: of a sweep of this
 * program once the machine is claimed. */
typedef void sweepview_deed(struct sweepview *v);
void sweepview_let_act(struct sweepview *v, sweepview_deed *act);
/* Keys that pause, stop or go on with the sweep; keys of the chosen cell. False: it was neither. */
bool sweepview_act(struct sweepview *v, int32_t code);
bool sweepview_act_cell(struct sweepview *v, int32_t code);
/* The command line of what a key has done to the shown sweep, or to a group of it. */
void sweepview_did(struct sweepview *v, const char *verb, const char *behind);
void sweepview_did_move(struct sweepview *v, size_t group, int by);
void sweepview_did_drop(struct sweepview *v, size_t group);
/* The list's chosen sweep into Setup; again: says how it is trained again. */
void sweepview_load(struct sweepview *v, bool again);
void sweepview_show_sweep(struct sweepview *v, const char *name);
void screen_sweep_open(struct sweepview *v, const char *name); /* for another screen: its board */
/* Takes what the wire tells of it; true: there was something. */
bool sweepview_merge(struct sweepview *v);
/* Another sweep than the shown one that is worked on; NULL: none. */
const char *sweepview_elsewhere(const struct sweepview *v);
extern const char *const sweepview_forms[];
void sweepview_command(void *screen, struct text *out);
void sweepview_runs(void *screen, struct text *out);
void sweepview_offers(void *screen, struct text *lines);
enum err_code sweepview_write(void *screen, const char *form, struct paper *out, struct err *e);

extern const struct screen_key sweepview_keys[];
/* How it stands, whoever works on it, */
const struct wire_sweep_status *sweepview_is(const struct sweepview *v);
/* in words, which are constant texts. */
const char *sweepview_standing(const struct sweepview *v);
/* Takes back what was said of a sweep that was told something, as soon as it stands otherwise. */
void sweepview_keep_promise(struct sweepview *v);
const struct screen_key *sweepview_hints(void *screen);

#endif
