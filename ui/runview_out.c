/* ui/runview_out.c: what is seen as a command line and as a figure. */
#include "ui/runview_int.h"

#include "base/mem.h"
#include "study/compare.h"
#include "ui/figure.h"

#include <stdio.h>
#include <string.h>

const char *const runview_forms[] = {"svg", "pdf", "csv", "tex", NULL};

void runview_command(void *screen, struct text *out)
{
    struct runview *v = screen;
    const struct feed_run *run = runview_run(v);
    bool plot = run && !run->live && run->epochs.n;

    text_add(out, !run ? "run first" : run->live ? "watch " : plot ? "plot " : "show ");
    if (run)
        jobs_add_word(out, run->name);
    if (!plot)
        return;
    if (v->axis != FEED_EPOCH)
        text_addf(out, " --x %s", runview_axes[v->axis]);
    if (v->log_y)
        text_add(out, " --log y");
    if (v->smooth > 1)
        text_addf(out, " --smooth %lld", (long long)v->smooth);
}

/* The two plots as they are seen, on paper: without the cursor. Members have no names on the screen,
 * where the table tells of them, but need them where there is none. */
enum err_code runview_write(void *screen, const char *form, struct text *out, struct err *e)
{
    static const char *const title[] = {"loss", "accuracy"};
    struct runview *v = screen;
    struct runview_panel *both[] = {&v->loss, &v->acc};
    struct feed_run *run = runview_run(v);
    char member[RUNVIEW_MEMBERS][24];
    struct figure_panel panel[2] = {{0}};
    struct figure f = {.panel = panel, .width_mm = 210, .height_mm = 80};
    struct plot named[2];

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
        named[f.panels] = both[i]->plot;
        named[f.panels].title = title[i];
        named[f.panels].cursor = named[f.panels].values = false;
        panel[f.panels].plot = &named[f.panels];
        f.panels++;
    }
    if (!f.panels)
        return err_set(e, ERR_INPUT, "%s has no point to draw", study_short_name(run->name));
    f.width_mm = f.panels == 2 ? 210 : 120;
    if (!strcmp(form, "csv")) {
        figure_csv(&f, out);
    } else if (!strcmp(form, "tex")) {
        text_add(out, "% its values: write this screen as run.csv too, beside this file\n");
        figure_tex(&f, "run.csv", out);
    } else {
        (strcmp(form, "pdf") ? figure_svg : figure_pdf)(&f, out);
    }
    runview_make(v, run); /* without those names */
    return ERR_OK;
}
