/* cli/verbs.h: the verbs. Result goes to stdout, talk to stderr; every sentence of an error starts with
 * "chorus: ". A verb gets its own name as argv[0] and returns the exit code. */
#ifndef CHORUS_CLI_VERBS_H
#define CHORUS_CLI_VERBS_H

int cli_workbench(int argc, char **argv); /* the program without a verb */
int cli_run(int argc, char **argv);
int cli_resume(int argc, char **argv);
int cli_watch(int argc, char **argv);
int cli_pause(int argc, char **argv);
int cli_go(int argc, char **argv);
int cli_stop(int argc, char **argv);
int cli_queue(int argc, char **argv);
int cli_ls(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_tag(int argc, char **argv);
int cli_note(int argc, char **argv);
int cli_rm(int argc, char **argv);
int cli_models(int argc, char **argv);
int cli_data(int argc, char **argv);
int cli_devices(int argc, char **argv);
int cli_weights(int argc, char **argv);
int cli_predict(int argc, char **argv);
int cli_plot(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_ensemble(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_help(int argc, char **argv);

/* All of them, ended by a NULL name. */
struct cli_verb {
    const char *name;
    int (*run)(int argc, char **argv);
};
extern const struct cli_verb cli_verbs[];
const char *cli_nearest_verb(const char *name); /* that is perhaps meant, or NULL */

#endif
