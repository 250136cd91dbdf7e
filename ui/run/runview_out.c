/* ui/run/runview_out.c: what is seen as a command line and as a figure. */
#include "ui/run/runview_int.h"

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

/* Without the cursor. Members have no names on the screen, where the table tells of them, but need them
 * where there is none. */
static void add_panel(struct runview_panel *p, const char *title, struct paper *out)
{
    char member[RUNVIEW_MEMBERS][24];
    int members = 0;

    for (int k = 0; k < p->plot.count; k++)
        if (!p->series[k].label && members < RUNVIEW_MEMBERS) {
            snprintf(member[members], sizeof *member, "member %d", p->series[k].colour - 2);
            p->series[k].label = member[members++];
        }
    if (p->plot.count)
        paper_add_plot(out, &p->plot, title);
}

/* The two plots as they are seen. raw: as they were measured, by the axis' whole name. */
static void add_plots(struct runview *v, const struct feed_run *run, bool raw, struct paper *out)
{
    int64_t smooth = v->smooth;

    v->smooth = raw ? 0 : smooth;
    runview_make(v, run);
    if (raw)
        v->loss.plot.x_label = v->acc.plot.x_label = runview_axes[v->axis];
    add_panel(&v->loss, "loss", out);
    add_panel(&v->acc, "accuracy", out);
    v->smooth = smooth;
    runview_make(v, run); /* without those names */
}

/* LaTeX reads its values from the CSV. */
enum err_code runview_write(void *screen, const char *form, struct paper *out, struct err *e)
{
    struct runview *v = screen;
    struct feed_run *run = runview_run(v);

    if (!run)
        return err_set(e, ERR_INPUT, "there is no run to draw");
    add_plots(v, run, !strcmp(form, "csv") || !strcmp(form, "tex"), out);
    if (!out->plots)
        return err_set(e, ERR_INPUT, "%s has no point to draw", /* one that waits has no name yet */
                       run->name[0] ? study_short_name(run->name) : "the run");
    return ERR_OK;
}
