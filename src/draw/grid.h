/* draw/grid.h: a screen as a value: rows of cells with a character, a role and a style. Screens draw
 * into it, terminal and files show it. Nothing here knows curses; roles become colours elsewhere. */
#ifndef CHORUS_DRAW_GRID_H
#define CHORUS_DRAW_GRID_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum grid_role {
    GRID_TEXT,
    GRID_DIM,    /* what explains: units, hints, axes */
    GRID_HEAD,   /* heads of tables and panels */
    GRID_BORDER, /* frames of panels */
    GRID_FOCUS,  /* the frame of the panel that keys go to */
    GRID_KEY,    /* a key in a hint */
    GRID_CHOSEN, /* the row or field under the cursor; fills its whole length */
    GRID_FIELD,  /* an open field's text */
    GRID_MARKED, /* a marked row */
    GRID_GOOD,
    GRID_WARN,
    GRID_BAD,
    GRID_BAR,   /* done of a progress bar */
    GRID_REST,  /* what is left of it */
    GRID_TITLE, /* the line of screens at the top: the screen that is shown */
    GRID_STATUS,
    GRID_RULE,       /* a cursor through plots */
    GRID_SERIES,     /* +0 .. +5: the colours of curves */
    GRID_PIXEL = 23, /* two pixels of an image above each other; see struct grid_cell */
    GRID_SHADE = 24, /* +0 .. +15: backgrounds of a board, from low to high, with readable text */
    GRID_ROLES = 40
};
#define GRID_SERIES_COLOURS 6
#define GRID_SHADES         16

enum { GRID_BOLD = 1, GRID_UNDERLINE = 2 };

#define GRID_TAIL 0xffffffffu /* the second cell of a wide character */

struct grid_cell {
    uint32_t code; /* Unicode; 0: blank */
    uint8_t role, style;
    /* Of GRID_PIXEL: colours of the 256, drawn as half blocks where there are so many; code stands for
     * both elsewhere. */
    uint8_t above, below;
};

struct grid {
    int rows, columns;
    struct grid_cell *cell; /* (rows, columns) */
    bool ascii;             /* frames and bars in ASCII; other characters become '?' */
    bool blocks;            /* plots in blocks: fonts without Braille */
    /* Where the terminal's cursor is shown: an open field. Row -1: nowhere. */
    int cursor_row, cursor_column;
};

struct rect {
    int row, column, rows, columns; /* of size 0 or less: nothing is drawn there */
};

void grid_init(struct grid *g, int rows, int columns, bool ascii);
void grid_free(struct grid *g);
void grid_clear(struct grid *g); /* blank, and the cursor nowhere */
struct rect grid_all(const struct grid *g);

/* Rectangles by pure arithmetic; never larger than what they are cut from, sizes never below 0. */
struct rect rect_inner(struct rect r); /* without a frame of one cell */
struct rect rect_top(struct rect r, int rows);
struct rect rect_bottom(struct rect r, int rows);
struct rect rect_below(struct rect r, int rows); /* without the first rows */
struct rect rect_above(struct rect r, int rows); /* without the last rows */
struct rect rect_left(struct rect r, int columns);
struct rect rect_right(struct rect r, int columns);
struct rect rect_behind(struct rect r, int columns); /* without the first columns */
struct rect rect_before(struct rect r, int columns); /* without the last columns */
bool rect_holds(struct rect r, int row, int column);

/* All of these draw inside `in` (and the grid) alone; row and column count from its corner. Text is
 * UTF-8; what could drive a terminal has been made visible by text_add_clean, which these do too. Each
 * returns the column behind what it drew. */
int grid_put(struct grid *g, struct rect in, int row, int column, uint32_t code, int role,
             int style);
int grid_text(struct grid *g, struct rect in, int row, int column, int role, const char *text);
int grid_bold(struct grid *g, struct rect in, int row, int column, int role, const char *text);
int grid_textf(struct grid *g, struct rect in, int row, int column, int role, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Text that ends before column `end`; cut at its front. */
void grid_right(struct grid *g, struct rect in, int row, int end, int role, const char *text);
#define GRID_LEAST_CUT 8 /* columns: words that are cut shorter say nothing */
/* Whether a column of a table, from `at` on, is shown in it: words may be cut, numbers not. */
bool grid_shows_column(struct rect in, int at, int width, bool words);
/* Text in at most `columns`, cut with an ellipsis in front or behind. */
int grid_cut(struct grid *g, struct rect in, int row, int column, int columns, int role, bool front,
             const char *text);
/* Words over several rows, broken at spaces, with an ellipsis where rows end before they do; returns
 * how many rows they take (also those not drawn). */
int grid_words(struct grid *g, struct rect in, int row, int role, const char *text);
int grid_count_rows(struct grid *g, int columns, const char *text); /* how many they would take */
/* Gives a role to what stands there already, as far as `columns`: a chosen row. */
void grid_paint(struct grid *g, struct rect in, int row, int column, int columns, int role);
void grid_fill(struct grid *g, struct rect in, int role); /* blanks */
/* A frame with a title in its upper edge; returns what is inside. */
struct rect grid_frame(struct grid *g, struct rect in, const char *title, bool focus);
/* Words at the right end of a frame's upper edge. */
void grid_frame_right(struct grid *g, struct rect frame, int role, const char *text);
/* A horizontal bar of `columns`, share of it done (0 to 1; nan: none). */
int grid_bar(struct grid *g, struct rect in, int row, int column, int columns, double share,
             int role);
/* A key and what it does, as in hints: "p pause"; returns the column behind both and two blanks. */
int grid_hint(struct grid *g, struct rect in, int row, int column, const char *key,
              const char *what);
/* The first row that a list of `count` shows in `rows`, so that row `at` is seen: moved from `first`
 * as little as can be. */
size_t grid_first(size_t first, size_t at, size_t count, int rows);
/* Rows that have been scrolled: a mark at the right edge that tells where the view lies. */
void grid_scroll(struct grid *g, struct rect in, int first, int shown, int count);

struct plot;
struct board;
struct tile;
/* Each into its place; the plot's columns, rows and level are set from it. */
void grid_plot(struct grid *g, struct rect in, const struct plot *p);

/* Lines of text, trailing blanks cut, each with a newline. */
void grid_to_text(const struct grid *g, struct text *out);
/* The same with a letter for each cell's role, below two lines that say which. */
void grid_to_roles(const struct grid *g, struct text *out);
/* A picture of it on a dark or a light ground, for reports and manuals. */
void grid_to_svg(const struct grid *g, bool light, const char *title, struct text *out);

#endif
