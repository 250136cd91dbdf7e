/* cli/out/report/report.h: the parts of a report: its folder, what is worth a section, what it says of its runs. */
#ifndef CHORUS_CLI_OUT_REPORT_REPORT_H
#define CHORUS_CLI_OUT_REPORT_REPORT_H

#include "draw/figure.h"
#include "record/run/reader.h"
#include "study/runs.h"
#include "study/table.h"

struct report {
    const char *folder, *title;
    const struct record_entry *run;
    size_t runs;
    bool force; /* into a folder that holds other files */
    int argc;
    char **argv;
    struct text page, script; /* the page's sections; plot.gp's */
    struct text files;        /* of manifest.txt: "SHA-256  name" */
    char **name;              /* (names) of its files, as they were written */
    size_t names, name_room;
};

/* The whole of it: a new or empty folder, or in place of the report that lies there; with force beside other files,
 * which stay. */
enum err_code report_make(struct report *r, const struct study_run *runs, struct err *e) MUST_USE;
/* Writes a file of the folder. The manifest will hold its checksum. The file is a draft (io_temporary)
 * until the report is whole. */
enum err_code report_write(struct report *r, const char *name, const struct text *bytes,
                           struct err *e) MUST_USE;
char *report_draft(const struct report *r, const char *name); /* the caller frees it */
/* Each is written to the folder, a table and a figure in all their forms, and is a section of the
 * page. */
enum err_code report_add_table(struct report *r, const char *name, const char *title,
                               const struct study_table *t, struct err *e) MUST_USE;
enum err_code report_add_figure(struct report *r, const char *name, const char *title,
                                const struct figure_panel *panel, int panels, double height_mm,
                                const char *note, struct err *e) MUST_USE;

/* The networks, and manifest.txt, which names them and all others. The last of a report. */
enum err_code report_manifest(struct report *r, struct err *e) MUST_USE;
/* Makes a bare folder chorus' own, by the first line of its manifest: if the program is killed from here on, the
 * next report takes the folder. */
enum err_code report_claim(const struct report *r, struct err *e) MUST_USE;
void report_unclaim(const struct report *r);
/* The text of the manifest of a report that lies there; NULL where none does. The caller frees it. */
char *report_read_manifest(const char *folder);
/* Files that this manifest of an earlier report knows, which are nobody's then, and that this one has
 * not. It takes the manifest's text apart. */
void report_remove_old(const struct report *r, char *manifest);

/* Everything that these runs have to say. */
enum err_code report_sections(struct report *r, const struct study_run *runs,
                              struct err *e) MUST_USE;

/* A row a setting that is the same in all runs, then what they ran on where that is the same. Settings
 * that have no effect are left out. */
void report_settings(const struct study_run *runs, size_t count, struct study_table *out);
/* A row a run: when, how long, tags and note. */
void report_runs(const struct study_run *runs, size_t count, struct study_table *out);

#endif
