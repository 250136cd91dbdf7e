/* cli/report.h: the parts of a report: its folder, what is worth a section, what it says of its runs. */
#ifndef CHORUS_CLI_REPORT_H
#define CHORUS_CLI_REPORT_H

#include "study/runs.h"
#include "study/table.h"
#include "ui/figure.h"

struct report {
    const char *folder, *title;
    const struct record_entry *run;
    size_t runs;
    int argc;
    char **argv;
    struct text page, script; /* the page's sections; plot.gp's */
    struct text files;        /* of manifest.txt: "SHA-256  name" */
};

/* A file of the folder, whose checksum will stand in the manifest. It lies there as NAME.new until the
 * report is whole. */
enum err_code report_write(struct report *r, const char *name, const struct text *bytes,
                           struct err *e) MUST_USE;
/* Each is written to the folder, a table and a figure in all their forms, and is a section of the
 * page. */
enum err_code report_add_table(struct report *r, const char *name, const char *title,
                               const struct study_table *t, struct err *e) MUST_USE;
enum err_code report_add_figure(struct report *r, const char *name, const char *title,
                                const struct figure_panel *panel, int panels, double height_mm,
                                const char *note, struct err *e) MUST_USE;

/* The networks, and manifest.txt, which names them and all others. The last of a report. */
enum err_code report_manifest(struct report *r, struct err *e) MUST_USE;
bool report_is_one(const char *folder);
/* Files of an earlier report there that this one has not: that one's manifest knows them, so they are
 * nobody's. */
void report_remove_old(const struct report *r);

/* Everything that these runs have to say. */
enum err_code report_sections(struct report *r, const struct study_run *runs,
                              struct err *e) MUST_USE;

/* A row a setting that is the same in all runs, then what they ran on where that is the same. Settings
 * that have no effect are left out. */
void report_settings(const struct study_run *runs, size_t count, struct study_table *out);
/* A row a run: when, how long, tags and note. */
void report_runs(const struct study_run *runs, size_t count, struct study_table *out);

#endif
