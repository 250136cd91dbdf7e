/* tests/twin/cudnn.h: what tests tell the twin of cuDNN, and ask of it. Without being switched on there
 * is no cuDNN for sessions on the twin; from the command line CHORUS_TWIN_CUDNN=1 does. */
#ifndef CHORUS_TESTS_TWIN_CUDNN_H
#define CHORUS_TESTS_TWIN_CUDNN_H

#include <stdbool.h>

enum twin_dnn_fault {
    TWIN_DNN_FINE,
    TWIN_DNN_CREATE,  /* no handle can be made */
    TWIN_DNN_EXECUTE, /* the n-th execution (1: the next) is refused */
    TWIN_DNN_HANG,    /* the n-th execution never ends */
    TWIN_DNN_PLAN,    /* no plan of such a pass (n: enum cuda_dnn_pass) can be built */
};

/* Everything anew, and whether there is a library. While one is on, handles are its own. */
void twin_dnn(bool on);
/* The engine's executions take so much longer (0: no engine's do). */
void twin_dnn_slow(int engine, double ms);
void twin_dnn_fail(enum twin_dnn_fault fault, long n);

struct twin_dnn_counts {
    int handles, descriptors; /* that live */
    long executed[3];         /* run, those of graphs too: by enum cuda_dnn_pass */
    long made, loaded;        /* plans, by heuristics and from text */
    char wrong[200];          /* the last thing that the library must not be asked, or "" */
};
struct twin_dnn_counts twin_dnn_counted(void);

#endif
