/* cli/report.h: the parts of a report: its folder, what is worth a section, what it says of its runs. */
#ifndef CHORUS_CLI_REPORT_H
#define CHORUS_CLI_REPORT_H

#include "study/runs.h"
#include "study/table.h"
#include "ui/figure.h"

struct report_range { /* of the values of a figure's axis; lo above hi: none is finite */
    double lo, hi;
    bool log; /* one run that came apart would press all others to the floor */
};
struct report {
    const char *folder, *title;
    const struct record_entry *run;
    size_t runs;
    char **label;                  /* (runs): what tells each from the others */
    struct report_range loss, acc; /* of all runs' test_loss and test_acc */
    int argc;
    char **argv;
    struct text page, files; /* the page's sections; of manifest.txt: "SHA-256  name" */
};

/* A file of the folder, whose checksum will stand in the manifest. */
enum err_code report_write(struct report *r, const char *name, const struct text *bytes,
                           struct err *e) MUST_USE;
/* Each is written to the folder, a table and a figure in all their forms, and is a section of the
 * page. */
enum err_code report_add_table(struct report *r, const char *name, const char *title,
                               const struct study_table *t, struct err *e) MUST_USE;
enum err_code report_add_figure(struct report *r, const char *name, const char *title,
                                const struct figure_panel *panel, int panels, double height_mm,
                                const char *note, struct err *e) MUST_USE;

/* manifest.txt, and the networks that it names. The last of a report. */
enum err_code report_manifest(struct report *r, struct err *e) MUST_USE;
bool report_is_one(const char *folder);

struct report_range report_range_of(const struct study_run *runs, size_t count, const char *column);
/* Everything that these runs have to say. */
enum err_code report_sections(struct report *r, const struct study_run *runs,
                              struct err *e) MUST_USE;

/* A row a setting that is the same in all runs, then what they ran on where that is the same. Settings
 * that have no effect are left out. */
void report_settings(const struct study_run *runs, size_t count, struct study_table *out);
/* A row a run: when, how long, tags and note. */
void report_runs(const struct study_run *runs, size_t count, struct study_table *out);

#endif
