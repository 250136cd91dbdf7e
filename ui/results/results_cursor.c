/* ui/results/results_cursor.c: the line that the cursor is on, wherever it has gone. */
#include "ui/results/results_int.h"

#include "base/mem.h"

#include <stdlib.h>

/* Where nothing was chosen yet the cursor begins at what is at work, the newest of it, wherever the order
 * puts that. */
static void seek_working(struct results *r, const struct library_run *runs)
{
    struct results_view *v = &r->view;
    const char **names = mem_new(v->total + 1, sizeof *names);
    const struct library_run *newest = NULL;

    r->seeks = !library_ready(r->app->library);
    r->begun = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct library_run *run = &runs[v->order[i]];

        if ((!newest || run > newest) && results_standing(r, run).works)
            newest = run;
    }
    for (size_t i = 0; newest && !r->begun && i < v->lines; i++) {
        size_t n = results_runs_of(r, &v->line[i], names, v->total);

        for (size_t k = 0; k < n; k++)
            if (names[k] == newest->name)
                r->begun = v->line[i].key;
    }
    free(names);
}

/* The line that was chosen, wherever it is now; where it has gone, what stands in its place. */
void results_place_cursor(struct results *r, const struct library_run *runs)
{
    struct results_view *v = &r->view;
    uint64_t at;

    if (r->seeks && !r->chosen)
        seek_working(r, runs);
    at = r->chosen ? r->chosen : r->begun;
    for (size_t i = 0; at && i < v->lines; i++) {
        if (v->line[i].key == at) {
            r->at = i;
            return;
        }
    }
    if (!r->chosen)
        r->at = 0;
    if (r->at >= v->lines)
        r->at = v->lines ? v->lines - 1 : 0;
    r->chosen = v->lines && r->chosen ? v->line[r->at].key : r->chosen;
}
