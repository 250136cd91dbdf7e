/* ui/predict/predictview_int.h: what the files of the Predict screen share. predictview_read.c reads a run's
 * predictions.safetensors on the thread of tasks, _pick.c says which images are shown and in which
 * order, _draw.c and _keys.c are the screen. */
#ifndef CHORUS_UI_PREDICT_PREDICTVIEW_INT_H
#define CHORUS_UI_PREDICT_PREDICTVIEW_INT_H

#include "draw/board.h"
#include "draw/tile.h"
#include "study/answers.h"
#include "ui/app/app.h"

/* ---- what the models of a run say ---- */

#define PREDICTVIEW_MOST_CLASSES 64 /* of a confusion matrix: it grows by their square */

struct predictview_set {
    struct study_answers of;
    char **name;                         /* (classes), never NULL */
    double acc, *member_acc;             /* (members) */
    size_t *labelled, *answered, *right; /* (classes): images of a label, of an answer, of both */
    int *shown; /* (confusion.classes), rising: those with the most mistakes, at most so many */
    char **shown_as; /* (confusion.classes): their names, of name */
    struct study_confusion confusion;
};

/* Takes file over, whether it can be used or not. path: for errors. */
enum err_code predictview_make(struct predictview_set **out, struct safetensors *file,
                               const char *path, struct err *e) MUST_USE;
void predictview_free(struct predictview_set *s);

/* ---- rows of tables ---- */

/* The values of a row, their names before them; returns how many columns they took. */
int predictview_draw_values(const struct predictview_set *s, size_t image, struct grid *g,
                            struct rect in);

/* ---- which images ---- */

enum predictview_order {
    PREDICTVIEW_ALL,
    PREDICTVIEW_WORST,  /* mistakes, the least probability of the right class first */
    PREDICTVIEW_UNSURE, /* the least highest probability first */
    PREDICTVIEW_SPLIT,  /* by members that answer otherwise, the least sure first among equals */
    PREDICTVIEW_CLASS,  /* one label */
    PREDICTVIEW_PAIR    /* one label with one answer */
};
struct predictview_pick {
    enum predictview_order order;
    int label, answer; /* of class and pair */
    size_t *image, n;
};
void predictview_pick(const struct predictview_set *s, struct predictview_pick *pick);
/* "the worst mistakes", "label Shirt, answer Coat". */
void predictview_add_pick(const struct predictview_set *s, const struct predictview_pick *pick,
                          struct text *out);
/* The class of that name or number, or of a part of its name; -1. */
int predictview_class(const struct predictview_set *s, const char *word);
/* ---- the screen ---- */

enum predictview_state {
    PREDICTVIEW_EMPTY,   /* no run is chosen */
    PREDICTVIEW_READING, /* a task reads the file */
    PREDICTVIEW_MAKING,  /* a job makes it */
    PREDICTVIEW_SHOWN,
    PREDICTVIEW_FAILED
};

struct predictview {
    struct app *app;
    char *run; /* its name */
    enum predictview_state state;
    char problem[1024];
    struct predictview_set *set;
    int64_t epochs_done, best_epoch; /* of run.csv, as far as it is known */
    bool by_valid, old;              /* old: the run has newer weights */
    uint64_t since_ns, now_ns;       /* when reading or making began; as of the last tick */
    struct predictview_pick pick;
    size_t at; /* of the pick */
    bool confusion;
    struct board_view view;
    struct rect list_at; /* as drawn last */
    size_t list_first;
    struct predictview_making *making; /* jobs that run */
    char followed[256];    /* the run that Run showed when this screen was entered last */
    uint64_t library_turn; /* when it was looked for a run, or at that run, last */
    uint32_t turn;         /* counts what was asked: answers to earlier questions are thrown away */
};

/* at: "best", "last" or NULL: what is there, or the last where nothing or only old ones are. */
void predictview_load(struct predictview *v, const char *run, const char *at);
void predictview_draw(void *screen, struct grid *g, struct rect in);
bool predictview_key(void *screen, const struct key *key);
extern const struct screen_key predictview_keys[];
const struct screen_key *predictview_hints(void *screen);
/* Words for a board of the confusion matrix; freed by predictview_free_board. */
struct predictview_board {
    struct board board;
    char **row_name, **word;
    double *value;
};
void predictview_make_board(const struct predictview_set *s, struct predictview_board *out);
void predictview_free_board(struct predictview_board *b);
void predictview_draw_confusion(struct predictview *v, struct grid *g, struct rect in);
/* "accuracy 0.9071 ..." */
void predictview_add_facts(const struct predictview *v, struct text *out);

#endif
