/* tests/unit/ui/other_kit.h: another program that computes on this machine. */
#ifndef CHORUS_TESTS_UNIT_UI_OTHER_KIT_H
#define CHORUS_TESTS_UNIT_UI_OTHER_KIT_H

#include "record/working.h"
#include "tests/test.h"

#include <sys/wait.h>
#include <unistd.h>

/* Until a byte comes. */
static inline pid_t other_program(const char *results, const char *run, int *end)
{
    int there[2], over[2];
    char byte;
    pid_t child;

    if (pipe(there) || pipe(over))
        exit(2);
    child = fork();
    if (child == 0) {
        struct record_work *w = record_work_new(results);

        record_work_set(w, run, 1);
        (void)!write(there[1], "y", 1);
        (void)!read(over[0], &byte, 1);
        record_work_free(w);
        _exit(0);
    }
    CHECK(read(there[0], &byte, 1) == 1);
    close(there[0]);
    close(there[1]);
    close(over[0]);
    *end = over[1];
    return child;
}

static inline void end_program(pid_t child, int end)
{
    CHECK(write(end, "g", 1) == 1);
    waitpid(child, NULL, 0);
    close(end);
}

#endif
