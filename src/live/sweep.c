/* live/sweep.c: the cells that a sweep's lists name. */
#include "live/sweep_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

void live_set_text(char **at, const char *text)
{
    free(*at);
    *at = text && *text ? mem_text(text) : NULL;
}

static void make_cells(struct live_sweep *s)
{
    struct spec *one = mem_new(1, sizeof *one);

    s->cell = mem_new(s->cells + 1, sizeof *s->cell);
    for (size_t i = 0; i < s->cells; i++) {
        struct live_cell *c = &s->cell[i];
        struct err e;

        *c = (struct live_cell){
            .acc = NAN, .val_acc = NAN, .seconds = NAN, .train = NAN, .share = NAN, .place = -1};
        c->left_out = spec_sweep_cell(&s->spec, i, one, &e) != ERR_OK;
        if (c->left_out)
            c->why = mem_text(e.text);
    }
    free(one);
}

struct live_sweep *live_sweep_new(const char *name, struct spec_sweep *spec, size_t most_cells)
{
    struct live_sweep *s = mem_new(1, sizeof *s);

    s->name = mem_text(name);
    s->spec = *spec;
    *spec = (struct spec_sweep){0};
    s->cells = spec_sweep_cells(&s->spec);
    s->by_valid = s->spec.base.valid > 0;
    if (s->cells > most_cells) {
        s->problem = mem_textf("This sweep has %s cells; boards of up to %s are drawn. Its runs "
                               "stand in Results, its table in sweep.csv.",
                               TEXT_COUNT(s->cells), TEXT_COUNT(most_cells));
        s->cells = 0;
        return s;
    }
    live_sweep_know_values(s);
    make_cells(s);
    return s;
}

void live_sweep_free(struct live_sweep *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->cells; i++) {
        free(s->cell[i].run);
        free(s->cell[i].why);
    }
    live_sweep_forget_values(s);
    spec_sweep_free(&s->spec);
    free(s->cell);
    free(s->problem);
    free(s->name);
    free(s);
}
