/* ui/log/logview_int.h: what the files of the Log screen share. logview.c collects the lines that fit,
 * logview_file.c reads log.txt of a run, logview_draw.c draws, logview_keys.c takes the keys. */
#ifndef CHORUS_UI_LOG_LOGVIEW_INT_H
#define CHORUS_UI_LOG_LOGVIEW_INT_H

#include "ui/app/app.h"

#define LOGVIEW_FROM 16 /* columns of who says it, at most */

struct logview_line {
    const char *from, *text; /* the file's, or the app's until the next line comes */
    int level;               /* -1: a file's */
    double wall;
};

struct logview {
    struct app *app;
    bool follow; /* the newest line stays in sight */
    /* Lines between the last shown one and the newest, of those that fit the filter. */
    size_t below;
    size_t cursor;      /* counted from the last shown line upwards */
    int left, rows;     /* rows: as drawn last */
    char *filter;       /* NULL: none */
    char *only;         /* of the program's own lines those of this run, verb, ...; NULL: all */
    size_t seen, known; /* lines there were when it was last drawn, and when last collected */
    char *run;          /* its log.txt is shown; NULL: the program's own lines */
    char *file;         /* the file's end, lines ended by 0 */
    size_t file_n, at_start; /* at_start: bytes in front that are not shown */
    char *problem;
    bool looking;
    bool whole; /* when it is chosen next, it shows all of the program's own lines */
    uint64_t looked_ns;
    struct logview_line *line; /* those that fit, the oldest first */
    size_t lines, room;
    int from; /* columns that the longest takes which says from whom it is; 0: none does */
};

void logview_collect(struct logview *v);
/* NULL: there is none. The strings are the app's, and lines may have come since they were drawn. */
const struct logview_line *logview_chosen(struct logview *v);

/* A run's log.txt: read anew, left, shown; of the run of the chosen line, else of the one that computes
 * here, else of the newest. */
void logview_look(struct logview *v);
void logview_leave_file(struct logview *v);
void logview_show_file(struct logview *v);

/* The whole of the program's own log is what it shows when it is chosen next. */
void screen_log_whole(struct logview *v);

void logview_draw(void *screen, struct grid *g, struct rect in);
bool logview_key(void *screen, const struct key *pressed);
extern const struct screen_key logview_keys[];
const struct screen_key *logview_hints(void *screen);

#endif
