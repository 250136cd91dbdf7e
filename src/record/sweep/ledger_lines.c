/* The lines of a ledger, and the cells that they tell of, by their hash. */
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "record/sweep/ledger_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 5

static size_t slot_of(const struct record_ledger *l, const char *cell)
{
    size_t at = hash_quick(cell, strlen(cell)) & (l->places - 1);

    while (l->place[at] && strcmp(l->row[l->place[at] - 1].cell, cell) != 0)
        at = (at + 1) & (l->places - 1);
    return at;
}

struct ledger_row *ledger_find_row(const struct record_ledger *l, const char *cell)
{
    size_t at;

    if (!l->places)
        return NULL;
    at = slot_of(l, cell);
    return l->place[at] ? &l->row[l->place[at] - 1] : NULL;
}

struct ledger_row *ledger_row_of(struct record_ledger *l, const char *cell)
{
    struct ledger_row *row = ledger_find_row(l, cell);

    if (row)
        return row;
    if (2 * (l->rows + 1) > l->places) {
        l->places = l->places ? 2 * l->places : 64;
        free(l->place);
        l->place = mem_new(l->places, sizeof *l->place);
        for (size_t i = 0; i < l->rows; i++)
            l->place[slot_of(l, l->row[i].cell)] = i + 1;
    }
    l->row = mem_grow(l->row, &l->row_room, l->rows + 1, sizeof *l->row);
    row = &l->row[l->rows++];
    memset(row, 0, sizeof *row);
    snprintf(row->cell, sizeof row->cell, "%s", cell);
    l->place[slot_of(l, cell)] = l->rows;
    return row;
}

/* Cuts a line into fields, in place. False: it is none of this file's. */
static bool cut_fields(char *line, char *field[FIELDS])
{
    char *from = line, *to = line;

    for (int i = 0; i < FIELDS; i++) {
        bool quoted = *from == '"', open = quoted;

        field[i] = to;
        from += quoted;
        for (; *from; *to++ = *from++) {
            if (quoted && *from == '"' && *++from != '"') {
                open = false;
                break;
            }
            if (!quoted && *from == ',')
                break;
        }
        if (open || *from != (i + 1 < FIELDS ? ',' : 0))
            return false;
        from += i + 1 < FIELDS;
        *to++ = 0;
    }
    return true;
}

bool ledger_is_plain(const char *s, size_t most)
{
    size_t n = strlen(s);

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] <= ' ' || s[i] == '/' || s[i] == 127)
            return false;
    return n < most && s[0] != '.';
}

static void set_ended(struct record_ledger *l, struct ledger_row *row, bool ended)
{
    l->ended += (int)ended - (int)row->ended;
    row->ended = ended;
}

void record_ledger_count(struct record_ledger *l, const char *cell, bool ended)
{
    struct ledger_row *row = ledger_row_of(l, cell);

    row->counted = true;
    set_ended(l, row, ended);
}

int64_t record_ledger_ended(const struct record_ledger *l)
{
    return l->ended;
}

static bool take_line(struct record_ledger *l, char *line, size_t n)
{
    char *field[FIELDS];
    enum wire_state state;
    struct ledger_row *row;

    while (n && !*line) { /* zeros that a file system leaves where power was lost */
        line++;
        n--;
    }
    if (!n)
        return true;
    if (strlen(line) != n)
        return false;
    if (line[n - 1] == '\r')
        line[n - 1] = 0;
    if (!strncmp(line, LEDGER_HEADER, sizeof LEDGER_HEADER - 2) && !line[sizeof LEDGER_HEADER - 2])
        return true;
    if (!cut_fields(line, field) || strlen(field[0]) >= sizeof row->time || !*field[1] ||
        !ledger_is_plain(field[1], sizeof row->cell) || !ledger_is_plain(field[2], 256) ||
        !wire_state_find(field[3], &state))
        return false;
    row = ledger_row_of(l, field[1]);
    snprintf(row->time, sizeof row->time, "%s", field[0]);
    free(row->run);
    free(row->reason);
    free(row->sheet);
    row->run = mem_text(field[2]);
    row->reason = mem_text(field[4]);
    row->sheet = NULL;
    row->state = state;
    if (state == WIRE_WAITING && !*field[2])
        row->lines = 0;
    else if (!row->lines++)
        row->first = ++l->lines;
    if (row->counted)
        set_ended(l, row, row->lines && wire_state_is_final(state));
    return true;
}

/* Takes the whole lines of what was read; the rest stays. */
void ledger_take_lines(struct record_ledger *l)
{
    size_t done = 0;
    char *end;

    while (done < l->rest.n && (end = memchr(l->rest.s + done, '\n', l->rest.n - done))) {
        *end = 0;
        if (!take_line(l, l->rest.s + done, (size_t)(end - l->rest.s) - done) && !l->warned) {
            l->warned = true;
            log_say(LOG_WARN, "%s holds lines that are none of a ledger; they are passed over",
                    l->path);
        }
        done = (size_t)(end - l->rest.s) + 1;
    }
    if (done) {
        memmove(l->rest.s, l->rest.s + done, l->rest.n - done);
        l->rest.n -= done;
    }
}

void ledger_forget_lines(struct record_ledger *l)
{
    for (size_t i = 0; i < l->rows; i++) {
        free(l->row[i].run);
        free(l->row[i].reason);
        free(l->row[i].sheet);
        l->row[i].run = l->row[i].reason = l->row[i].sheet = NULL;
        l->row[i].lines = 0;
        set_ended(l, &l->row[i], false);
    }
    l->read = 0;
    text_clear(&l->rest);
}
