/* study/table.h: a table of results as a value, and the forms in which people and programs want it.
 * The bytes of every form are the same in every locale. */
#ifndef CHORUS_STUDY_TABLE_H
#define CHORUS_STUDY_TABLE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum study_kind {
    STUDY_TEXT,
    STUDY_COUNT,  /* whole numbers */
    STUDY_NUMBER, /* in as many digits as it takes */
    STUDY_SHARE,  /* accuracies and other parts of one: four digits */
    STUDY_LOSS,   /* four digits */
    STUDY_TIME    /* seconds: one digit from ten on, else two */
};

struct study_column {
    char *name;
    enum study_kind kind;
    bool spread; /* cells are means: beside each stands a standard deviation */
    int digits;  /* of numbers among the words of a STUDY_TEXT, for people; 0: all */
};

struct study_cell {
    char *text;   /* as a program reads it; "" where it does not apply */
    double value; /* nan for words */
    double sd;    /* of a mean; nan where there is none */
    bool best;    /* of its column: for those forms that can show it */
};

struct study_table {
    struct study_column *column; /* (columns) */
    struct study_cell *cell;     /* (rows, columns) */
    size_t columns, rows, column_room, cells, cell_room;
    struct text note; /* sentences to be read with it, a line each */
};

/* All zeros is an empty table. All columns first, then the cells row by row. */
void study_table_column(struct study_table *t, const char *name, enum study_kind kind, bool spread);
void study_table_word(struct study_table *t, const char *text);
void study_table_number(struct study_table *t, double value); /* RECORD_EMPTY: an empty cell */
void study_table_mean(struct study_table *t, double mean, double sd);
void study_table_empty(struct study_table *t);
void study_table_note(struct study_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Numbers among words (settings that were computed) are shown as short as they differ. When all
 * cells are there. */
void study_table_shorten(struct study_table *t);
void study_table_free(struct study_table *t);
/* -1 where there is none */
int study_table_find(const struct study_table *t, const char *name);
struct study_cell *study_table_cell(const struct study_table *t, size_t row, int column);
/* By a column, words by their bytes and numbers by value, what is empty last; stable. */
void study_table_sort(struct study_table *t, int column, bool falling);

struct study_style {
    int digits;              /* of shares and losses; 0: four */
    const char *const *head; /* "test_acc=Accuracy", ...; ends with NULL; may be NULL */
    bool narrow; /* LaTeX: columns that are the same in all rows are told below, not shown */
};
/* A cell and a head for people. */
void study_cell_text(const struct study_table *t, size_t row, int column,
                     const struct study_style *style, struct text *out);
const char *study_table_head(const struct study_table *t, int column,
                             const struct study_style *style);

/* CSV as every file here; a spread column has NAME_sd behind it. A word that a spreadsheet would take
 * for a formula gets an apostrophe in front. */
void study_table_csv(const struct study_table *t, struct text *out);
void study_table_json(const struct study_table *t, struct text *out);
void study_table_md(const struct study_table *t, const struct study_style *style, struct text *out);
/* A tabular in booktabs' manner; one that would be wider than a page is scaled down to it (graphicx),
 * one of more than two pages' width stands in parts below each other, with the first column in each. */
void study_table_tex(const struct study_table *t, const struct study_style *style,
                     struct text *out);
void study_table_html(const struct study_table *t, const struct study_style *style,
                      struct text *out);
/* The form of that name: "csv", "json", "md", "tex", else "html". */
void study_table_write(const struct study_table *t, const char *form,
                       const struct study_style *style, struct text *out);

/* A word as a field of a CSV row that people open in spreadsheets. */
void study_add_field(struct text *row, const char *word);
#endif
