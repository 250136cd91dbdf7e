/* ui/tasks/jobs.h: verbs that the workbench runs as programs of their own: what a screen shows under ':' and
 * whatever takes minutes. What they say goes to the Log screen line by line. */
#ifndef CHORUS_UI_TASKS_JOBS_H
#define CHORUS_UI_TASKS_JOBS_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs;

struct job_end {
    const char *verb;
    int exit_code;          /* 128 + a signal's number where one ended it */
    const struct text *out; /* its stdout, at most 1 MiB */
    const char *last_line;  /* of its stderr, cleaned: why it failed */
    uint64_t mark;          /* as jobs_mark has it, else 0 */
};

/* say: called with each cleaned line of their stderr and stdout. */
struct jobs *jobs_new(const char *program,
                      void (*say)(void *user, const char *verb, const char *line), void *user);
void jobs_free(struct jobs *j); /* ends those that run */
/* From now on no verb but these is started; NULL at the end. The list stays the caller's. */
void jobs_allow(struct jobs *j, const char *const *verbs);
/* args: of the program, NULL at the end, without its own name. done may be NULL. */
enum err_code jobs_start(struct jobs *j, const char *const *args,
                         void (*done)(void *user, const struct job_end *end), void *user,
                         struct err *e) MUST_USE;
/* The same for what is only asked: say hears nothing of it. */
enum err_code jobs_start_silent(struct jobs *j, const char *const *args,
                                void (*done)(void *user, const struct job_end *end), void *user,
                                struct err *e) MUST_USE;
/* For its end: a number of the one that was started last. */
void jobs_mark(struct jobs *j, uint64_t mark);
/* The words of a command line as a shell would part them: quotes and backslashes, nothing else. */
enum err_code jobs_split(const char *line, char ***args, size_t *count, struct err *e) MUST_USE;
void jobs_free_args(char **args);
/* Appends a word as a shell takes it back, without a blank in front. */
void jobs_add_word(struct text *line, const char *word);
size_t jobs_running(const struct jobs *j);
/* For poll: descriptors to wait for, at most room; jobs_take reads what came. */
size_t jobs_fds(const struct jobs *j, int *fds, size_t room);
bool jobs_take(struct jobs *j); /* false: nothing came */

#endif
