/* ui/sweep/sweepview_did.c: the command line of what a key of the Sweep screen has just done. */
#include "ui/sweep/sweepview_int.h"

#include "base/mem.h"

#include <stdlib.h>

void sweepview_did(struct sweepview *v, const char *verb, const char *behind)
{
    const char *name = v->sweep->now->name;

    app_did(v->app, verb, &name, 1, behind);
}

/* "lr=0.1 batch=64": of repeats all are meant. */
static void add_values(const struct sweepview_sweep *s, size_t group, struct text *out)
{
    size_t *place = mem_new(s->now->spec.axes + 1, sizeof *place);

    spec_sweep_place(&s->now->spec, sweepview_cell_of(s, group, 0), place);
    for (size_t a = 0; a < s->now->spec.axes; a++) {
        const struct spec_axis *axis = &s->now->spec.axis[a];
        struct text word = {0};

        if (s->repeats_dim < s->dims && s->dim[s->repeats_dim].axis == a)
            continue;
        text_addf(&word, "%s=", axis->key);
        spec_add_plain(&word, axis->value[place[a]]);
        if (out->n)
            text_add(out, " ");
        jobs_add_word(out, text_str(&word));
        text_free(&word);
    }
    free(place);
}

void sweepview_did_move(struct sweepview *v, size_t group, int by)
{
    struct text behind = {0};

    add_values(v->sweep, group, &behind);
    text_addf(&behind, " %d", by);
    sweepview_did(v, "queue move", text_str(&behind));
    text_free(&behind);
}

void sweepview_did_drop(struct sweepview *v, size_t group)
{
    struct text behind = {0};

    text_add(&behind, "--skip");
    add_values(v->sweep, group, &behind);
    sweepview_did(v, "stop", text_str(&behind));
    text_free(&behind);
}
