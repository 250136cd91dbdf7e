/* record/sweep/ledger_int.h: what the files of a sweep's book share. */
#ifndef CHORUS_RECORD_SWEEP_LEDGER_INT_H
#define CHORUS_RECORD_SWEEP_LEDGER_INT_H

#include "base/text.h"
#include "record/sweep/ledger.h"

#include <sys/types.h>

struct ledger_row { /* a cell */
    char cell[32], time[32];
    char *run, *reason;
    enum wire_state state;
    bool counted, ended; /* by record_ledger_count; it has a result, among those of l->ended */
    size_t lines, first; /* how many it has, and which its first is among all cells' first ones */
    char **value;        /* (values): of the keys that vary, by record_ledger_expect */
    size_t values;
    char *impossible; /* why it cannot be run, by the same; NULL */
    char *sheet;      /* its row of sweep.csv, where it has ended and nothing came since */
};

struct record_ledger {
    char *results, *folder, *path;
    int fd; /* ledger.csv */
    int wait_ms;
    bool locked, warned, to_read;
    off_t read;       /* bytes read, rest among them */
    struct text rest; /* behind the last LF */
    struct ledger_row *row;
    size_t rows, row_room, lines;
    int64_t ended; /* how many of the counted rows */
    size_t *place; /* (places, a power of two): by hash, number of the row + 1 */
    size_t places;
    char *keys; /* that the rows' sheets were made for */
};

#define LEDGER_HEADER "time,cell,run,state,reason\n"

/* ledger_lines.c */
struct ledger_row *ledger_find_row(const struct record_ledger *l, const char *cell);
struct ledger_row *ledger_row_of(struct record_ledger *l,
                                 const char *cell); /* made where missing */
/* Whether a field can be a cell's or a run's name: no path, nothing that breaks a line. */
bool ledger_is_plain(const char *s, size_t most);
void ledger_take_lines(struct record_ledger *l); /* the whole ones of rest; what is left stays */
void ledger_forget_lines(struct record_ledger *l);

/* ledger.c. Whether the line names a run whose folder is no longer there. */
bool ledger_run_is_gone(const struct record_ledger *l, const struct ledger_row *row);
/* Reads what came since, without the lock. */
enum err_code ledger_refresh(struct record_ledger *l, struct err *e) MUST_USE;

#endif
