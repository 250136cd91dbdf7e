/* tests/torture/kit/traced.c: is preloaded into a program, and attaches strace to it before its main begins. strace
 * counts calls per thread: those of the loader would be taken for the first ones of every other thread. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTACHED 77 /* what getpgrp returns as soon as strace sees calls; the options say so */

/* A grandchild: the program has no child that it knows nothing of. */
static void start_strace(const char *options)
{
    char command[1024];
    pid_t child;

    snprintf(command, sizeof command, "exec strace %s -p %ld >/dev/null 2>&1", options,
             (long)getpid());
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    child = fork();
    if (child == 0) {
        if (fork() == 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *options = getenv("TRACED");

    unsetenv("LD_PRELOAD");
    if (!options)
        return;
    start_strace(options);
    for (int tries = 0; tries < 100000 && getpgrp() != ATTACHED; tries++)
        usleep(100);
}
