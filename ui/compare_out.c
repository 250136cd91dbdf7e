/* ui/compare_out.c: what is seen as a command line, as tables and as figures. */
#include "ui/compare_int.h"

#include "base/mem.h"
#include "study/table.h"
#include "ui/figure.h"

#include <string.h>

const char *const compare_forms[] = {"csv", "md", "tex", "html", "svg", "pdf", NULL};

/* The short name, where it is part of no other run's. */
static void add_name(const struct compare *c, const char *name, struct text *out)
{
    const char *brief = study_short_name(name);
    const struct library_run *runs;
    size_t count, found = 0;

    runs = library_runs(c->app->library, &count);
    for (size_t i = 0; i < count && found < 2; i++)
        found += strstr(runs[i].name, brief) != NULL;
    text_add(out, " ");
    jobs_add_word(out, found == 1 ? brief : name);
}

static void add_plot(const struct compare *c, struct text *out)
{
    if (c->scaling) {
        text_add(out, " --kind scaling");
        return;
    }
    text_addf(out, " --metric %s", compare_metric(c->metric, NULL));
    if (strcmp(compare_x_names[c->x], "epoch") != 0 && !c->equal.on)
        text_addf(out, " --x %s", compare_x_names[c->x]);
    if (c->log_y)
        text_add(out, " --log y");
    if (c->smooth)
        text_addf(out, " --smooth %d", c->smooth);
    if (c->over)
        text_add(out, " --over seed --band sd");
}

static void add_table(const struct compare *c, struct text *out)
{
    char number[TEXT_NUMBER_ROOM];

    if (c->scaling)
        text_add(out, " --scaling");
    else if (c->equal.on)
        text_addf(out, " --equal %s", study_budget_name[c->equal.budget]);
    else if (c->over)
        text_add(out, " --over seed");
    if (c->target > 0 && !c->scaling && !c->equal.on)
        text_addf(out, " --target %s", text_double(number, c->target));
    if (c->sorted && !c->scaling)
        text_add(out, " --sort -test_acc");
}

/* Of the pane that keys go to. */
void compare_command(void *screen, struct text *out)
{
    const struct compare *c = screen;

    text_add(out, c->table_pane ? "compare" : "plot");
    for (size_t i = 0; i < c->count; i++)
        add_name(c, c->name[i], out);
    if (c->table_pane)
        add_table(c, out);
    else
        add_plot(c, out);
}

enum err_code compare_write(void *screen, const char *form, struct text *out, struct err *e)
{
    struct compare *c = screen;
    struct study_style style = {0};
    struct figure_panel panel[COMPARE_PANELS] = {{0}};
    struct figure f = {.panel = panel, .width_mm = 120, .height_mm = 80};
    struct plot named[COMPARE_PANELS];

    if (!c->set || !c->set->count)
        return err_set(e, ERR_INPUT, "there is no run to compare: Space marks runs on Results");
    if (c->stale)
        compare_make(c);
    if (!strcmp(form, "svg") || !strcmp(form, "pdf")) {
        for (int i = 0; i < c->panels; i++) {
            if (!c->plot[i].count)
                continue;
            named[f.panels] = c->plot[i];
            named[f.panels].title = c->title[i];
            named[f.panels].cursor = named[f.panels].values = false;
            panel[f.panels].plot = &named[f.panels];
            f.panels++;
        }
        f.width_mm = f.panels == 2 ? 210 : 120;
        if (!f.panels)
            return err_set(e, ERR_INPUT, "%s", c->missing[0]);
        (strcmp(form, "pdf") ? figure_svg : figure_pdf)(&f, out);
        return ERR_OK;
    }
    if (c->wrong[0])
        return err_set(e, ERR_INPUT, "%s", c->wrong);
    if (!strcmp(form, "csv"))
        study_table_csv(&c->table, out);
    else if (!strcmp(form, "md"))
        study_table_md(&c->table, &style, out);
    else if (!strcmp(form, "tex"))
        study_table_tex(&c->table, &style, out);
    else
        study_table_html(&c->table, &style, out);
    return ERR_OK;
}
