/* ui/run/runview_int.h: what the files of the Run screen share. runview.c says which run is shown,
 * runview_keys.c takes the keys, runview_command.c lets a run pause and go on, runview_stop.c stop,
 * runview_plots.c makes its curves, runview_draw.c and runview_units.c draw, runview_out.c writes. */
#ifndef CHORUS_UI_RUN_RUNVIEW_INT_H
#define CHORUS_UI_RUN_RUNVIEW_INT_H

#include "draw/plot/plot.h"
#include "ui/app/app.h"

#define RUNVIEW_MEMBERS 64 /* that have a curve */
#define RUNVIEW_SERIES  (RUNVIEW_MEMBERS + 8)
#define RUNVIEW_CHOICES 4

/* Rows of steps.csv as a curve: made once, and further as rows are added. */
struct runview_steps {
    uint64_t id, cut; /* of whose rows */
    int axis;
    int64_t points, epoch_steps; /* smoothing, and how long an epoch is */
    size_t n, room;
    double *x, *loss, *acc;
    struct plot_mean loss_mean, acc_mean;
};

struct runview_panel {
    struct plot plot;
    struct plot_series series[RUNVIEW_SERIES];
    struct rect in; /* where it was drawn last */
    char note[48];  /* on paper: "train steps smoothed over 5 rows" */
};

struct runview {
    struct app *app;
    uint64_t id;       /* of the run that is shown; 0: none */
    bool pinned;       /* it was chosen: another one that starts does not take its place */
    uint32_t started;  /* feed_started when it was chosen */
    uint64_t followed; /* library_turn when runs of other processes were looked for */
    int axis;          /* enum feed_axis */
    int64_t smooth;
    bool log_y;
    bool cursor;
    double cursor_x;
    int zoom; /* the window is so many times halved */
    struct runview_steps steps;
    double *middle; /* where values of training over an epoch belong; (middles) */
    size_t middles;
    struct runview_panel loss, acc;
    int units_first; /* scrolled */
    uint64_t drawn, drawn_id;
    bool drawn_ends;
    char *told;                  /* what a question was about, */
    int choice[RUNVIEW_CHOICES]; /* and what its answers mean */
    struct {
        const char *said;      /* NULL: nothing */
        uint64_t id;           /* of the run that it was said of, */
        enum wire_state state; /* which was so then */
        bool pauses;           /* it was told to pause */
    } promise;
    int32_t pressed; /* a key that waits until its run is read; 0: none */
    uint64_t pressed_id;
    int pressed_on; /* which screen was shown then: on another one it is not meant any more */
};

extern const char *const runview_axes[]; /* "epoch", ...; NULL at the end */

/* The run that is shown, and watched from here on; NULL: none. */
struct feed_run *runview_run(struct runview *v);
/* Chooses it; pinned as above. */
void runview_choose(struct runview *v, struct feed_run *run, bool pinned);
void screen_run_watch(struct runview *v, const char *folder);
bool runview_key(void *screen, const struct key *key);
/* What a run was told came true: where it was said nothing is to be seen of it any more. */
void runview_keep_promise(struct runview *v);
bool runview_at_work(const struct feed_run *run);
/* Nothing of it is known yet but its name. */
bool runview_unread(const struct feed_run *run);
#define RUNVIEW_NEVER "it did not start, and has no folder: 1 opens Setup, to mend it"
bool runview_is_average(const struct feed_run *run);
void runview_pause(struct runview *v, struct feed_run *run); /* or lets it go on */
void runview_ask_stop(struct runview *v, struct feed_run *run);
void runview_resume(struct runview *v, struct feed_run *run);
/* A key for the run that is watched, as soon as enough of it is read that the key can go by. */
void screen_run_press(struct runview *v, int32_t code);
void runview_press_now(struct runview *v); /* the key that waits, if it need not any more */

/* Of a run that is told something: whether anybody computes it; else that is said. */
bool runview_must_work(struct runview *v, const struct feed_run *run);
/* Whether the run that was asked about is still the one that is shown; else that is said. */
bool runview_same_run(struct runview *v);
/* What is said of it stands until its state is another one. */
void runview_promise(struct runview *v, const struct feed_run *run, const char *said, bool pauses);
void runview_answer_for(struct runview *v, const struct feed_run *run, enum err_code code,
                        const struct err *e, const char *said);
void runview_did(struct runview *v, const struct feed_run *run, const char *verb,
                 const char *behind);
/* By lines in the control file of another process's run, or sweep (NULL: of the run). */
void runview_tell(struct runview *v, const struct feed_run *run, const char *sweep,
                  const char *line, const char *said);
void runview_tell_other(struct runview *v, const struct feed_run *run, const char *line,
                        const char *said);
#define RUNVIEW_STOPS_LATER       "stopping after this epoch; R takes that back"
#define RUNVIEW_GOES_TO_STOP      "it goes on to the end of this epoch, and stops; R takes that back"
#define RUNVIEW_SWEEP_STOPS_LATER "the sweep stops after the running cells"
#define RUNVIEW_TAKEN_BACK        "it goes on: the stop after this epoch is taken back"
/* Does that, which lets what is paused of it go on, or another cell begin in its place: of a run of this
 * program once the machine is claimed. */
typedef void runview_act(struct runview *v, struct feed_run *run);
void runview_let_act(struct runview *v, struct feed_run *run, runview_act *act);
/* Where it stops later, it does not: it, or all of its sweep, goes on. */
void runview_let_go(struct runview *v, struct feed_run *run);

/* Runs that go on elsewhere, as far as they are known, and those that do no more. */
void runview_follow_live(struct runview *v);
/* What is seen as a command line and as a figure. */
void runview_command(void *screen, struct text *out);
enum err_code runview_write(void *screen, const char *form, struct paper *out, struct err *e);
extern const char *const runview_forms[];
extern const struct screen_key runview_keys[];
const struct screen_key *runview_hints(void *screen);

void runview_make(struct runview *v, const struct feed_run *run);
void runview_free_curves(struct runview *v);

void runview_draw(void *screen, struct grid *g, struct rect in);
/* A row a device or member. rows: how many they want, at most. */
void runview_draw_units(struct runview *v, const struct feed_run *run, struct grid *g,
                        struct rect in);
int runview_units_rows(const struct feed_run *run);

#endif
