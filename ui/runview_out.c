/* ui/runview_out.c: what is seen as a command line and as a figure. */
#include "ui/runview_int.h"

#include "base/mem.h"
#include "study/compare.h"

#include <stdio.h>
#include <string.h>

const char *const runview_forms[] = {"svg", "pdf", "csv", "tex", NULL};

void runview_command(void *screen, struct text *out)
{
    struct runview *v = screen;
    const struct feed_run *run = runview_run(v);
    bool plot = run && !run->live && run->epochs.n;

    if (run && !run->path[0]) /* no word means it yet, or ever */
        return;
    text_add(out, !run ? "run first" : run->live ? "watch " : plot ? "plot " : "show ");
    if (run)
        jobs_add_word(out, run->name);
    if (!plot)
        return;
    if (v->axis != FEED_EPOCH)
        text_addf(out, " --x %s", runview_axes[v->axis]);
    if (v->log_y)
        text_add(out, " --log y");
    /* Here rows of steps are smoothed, which the verb does not draw: its --smooth is of epochs. */
}

/* The two plots as they are seen, on paper: without the cursor. Members have no names on the screen,
 * where the table tells of them, but need them where there is none. */
enum err_code runview_write(void *screen, const char *form, struct paper *out, struct err *e)
{
    static const char *const title[] = {"loss", "accuracy"};
    struct runview *v = screen;
    struct runview_panel *both[] = {&v->loss, &v->acc};
    struct feed_run *run = runview_run(v);
    char member[RUNVIEW_MEMBERS][24];

    if (!run)
        return err_set(e, ERR_INPUT, "there is no run to draw");
    runview_make(v, run);
    for (int i = 0; i < 2; i++) {
        int members = 0;

        if (!both[i]->plot.count)
            continue;
        for (int k = 0; k < both[i]->plot.count; k++)
            if (!both[i]->series[k].label && members < RUNVIEW_MEMBERS) {
                snprintf(member[members], sizeof *member, "member %d",
                         both[i]->series[k].colour - 2);
                both[i]->series[k].label = member[members++];
            }
        paper_add_plot(out, &both[i]->plot, title[i]);
    }
    runview_make(v, run); /* without those names */
    if (!out->plots)
        return err_set(e, ERR_INPUT, "%s has no point to draw", /* one that waits has no name yet */
                       run->name[0] ? study_short_name(run->name) : "the run");
    (void)form;
    return ERR_OK;
}
