/* Sweeps as their files tell of them, on the thread of tasks. The ledger is the newest of these files;
 * sweep.csv tells which values a cell has and what it came to. */
#include "ui/sweep/sweepview_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/sheet.h"
#include "record/columns.h"
#include "record/run/run.h"
#include "record/sweep/ledger.h"
#include "record/run/reader.h"
#include "record/sweep/sheet.h"
#include "record/sweep/sweeps.h"
#include "record/working.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sweepview_free_lines(struct sweepview_line *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(line[i].name);
    free(line);
}

static struct sweepview_sweep *read_sweep(const char *results, const char *name)
{
    return sweepview_new(live_sweep_read(results, name, SWEEPVIEW_MOST_CELLS));
}

static void fill_line(struct sweepview_line *line, const struct sweepview_sweep *s)
{
    line->cells =
        (int64_t)live_sweep_possible(s->now); /* as on the board, those of --max-cells, too */
    line->ended = 0;
    line->live = s->now->live;
    for (size_t i = 0; i < s->now->cells; i++)
        line->ended += s->now->cell[i].known && wire_state_is_final(s->now->cell[i].state);
    line->best = s->best_cell < s->now->cells ? s->now->cell[s->best_cell].acc : NAN;
    line->mean = s->repeats > 1 && s->best < s->groups;
    if (line->mean) /* as on the board */
        line->best = s->group[s->best].mean;
}

static bool among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* What its line of status needs. */
static void tell_of(const struct sweepview_sweep *s, struct feed_sweep *out)
{
    struct sweepview_line line = {0};

    fill_line(&line, s);
    *out = (struct feed_sweep){.is = s->now->is,
                               .told = s->now->tells,
                               .best = line.best,
                               .mean = line.mean,
                               .by_valid = s->on_valid};
}

void sweepview_read_over(const char *results, const char *name, struct feed_sweep *out)
{
    struct sweepview_sweep *s = read_sweep(results, name);

    s->now->live = s->now->tells = false; /* though who has ended it may not have let go yet */
    if (!s->now->problem) {
        live_sweep_stand(s->now);
        tell_of(s, out);
    }
    out->is.state = live_sweep_open(s->now) ? WIRE_STOPPED : WIRE_DONE;
    for (size_t i = 0; i < s->now->cells; i++)
        out->dead |= s->now->cell[i].dead;
    sweepview_free(s);
}

bool sweepview_read_live(const char *results, const char *const *but, size_t n,
                         struct feed_sweep *out)
{
    char **names = NULL, last[32] = "";
    size_t count = 0;

    *out = (struct feed_sweep){0};
    if (record_sweeps(results, &names, &count, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!among(but, n, names[i]) && record_sweep_live(results, names[i])) {
            struct sweepview_sweep *s = read_sweep(results, names[i]);

            /* Another one that only asked may have held the lock. */
            if (!s->now->problem && s->now->live &&
                (!out->is.name[0] || strcmp(s->now->newest, last) > 0)) {
                tell_of(s, out);
                memcpy(last, s->now->newest, sizeof last);
            }
            sweepview_free(s);
        }
        free(names[i]);
    }
    free(names);
    return out->is.name[0];
}

static int newest_first(const void *a, const void *b)
{
    const struct sweepview_line *x = a, *y = b;
    int order = strcmp(y->newest, x->newest);

    return order ? order : strcmp(x->name, y->name);
}

static const struct sweepview_line *find_line(const struct sweepview_line *line, size_t n,
                                              const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(line[i].name, name))
            return &line[i];
    return NULL;
}

void sweepview_read(const char *results, const char *name, uint64_t stamp,
                    const struct sweepview_line *old, size_t olds, struct sweepview_disk *out)
{
    struct sweepview_sweep *kept = NULL;
    char **names = NULL;
    size_t n = 0;
    struct err ignored;
    bool is_there = false;

    *out = (struct sweepview_disk){0};
    if (record_sweeps(results, &names, &n, &ignored) != ERR_OK)
        n = 0;
    out->line = mem_new(n + 1, sizeof *out->line);
    for (size_t i = 0; i < n; i++) {
        struct sweepview_line *line = &out->line[out->lines++];
        const struct sweepview_line *was = find_line(old, olds, names[i]);
        uint64_t now = record_sweep_stamp(results, names[i]);
        bool asked = name && !strcmp(name, names[i]), live = record_sweep_live(results, names[i]);

        is_there |= asked;
        /* A run that goes on changes no file of its sweep, but what is told of it. */
        if (was && was->stamp == now && was->live == live && !live && (!asked || stamp == now)) {
            *line = *was;
        } else {
            struct sweepview_sweep *s = read_sweep(results, names[i]);

            fill_line(line, s);
            memcpy(line->newest, s->now->newest, sizeof line->newest);
            line->stamp = s->now->stamp = now;
            if (asked) {
                kept = s;
            } else {
                sweepview_free(s);
            }
        }
        line->name = names[i];
    }
    free(names);
    if (out->lines)
        qsort(out->line, out->lines, sizeof *out->line, newest_first);
    if (!name && out->lines) { /* the newest is what people look for first */
        kept = read_sweep(results, out->line[0].name);
        kept->now->stamp = out->line[0].stamp;
    }
    out->sweep = kept;
    out->gone = name && !is_there;
}
