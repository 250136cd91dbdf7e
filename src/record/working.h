/* record/working.h: who computes on this machine. Every engine that does holds a locked file in the
 * user's cache folder that names its run; a file without a lock is a dead process's. Where there is no
 * such folder nobody is seen, which is no error. */
#ifndef CHORUS_RECORD_WORKING_H
#define CHORUS_RECORD_WORKING_H

#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_working {
    int64_t pid;
    char results[1024]; /* the folder of its runs, absolute */
    char run[1024]; /* path of a run's folder, or a paused sweep's; empty: it is being prepared */
    int runs;       /* that compute there; 0 with a run: it is paused */
    bool full;      /* that run waits for room on the disk */
    enum wire_wish wish; /* what it was told */
    struct wire_sweep_status
        sweep; /* that it works on; without its path, number and reasons. No name: none */
};

/* Those of other processes of this user on this machine. Returns how many there are; freed by free().
 * Costs a listing of a small folder and a few opens. */
size_t record_working_list(struct record_working **out);
/* The same without those whose runs are paused: they have their results, but not the machine. */
size_t record_computing_list(struct record_working **out);
/* It has its results, but not the machine. */
bool record_working_paused(const struct record_working *w);
/* Whether the run of that folder waits for room, and (NULL: no matter) what it was told, as who works on it
 * tells; else that it runs. */
bool record_working_full(const char *run, enum wire_wish *wish);
/* How that sweep stands, as a program that works on it tells: of several the one that is most at work. False:
 * none does, and that of this process stands on its wire. */
bool record_working_sweep(const char *results, const char *name, struct wire_sweep_status *out);
/* Whether both folders are the same one; a results folder as in record_working. */
bool record_working_same(const char *results, const char *other);

/* Of one who computes. */
struct record_work;
struct record_work *record_work_new(const char *results);
/* run: the folder of a run that is at work ("" while it is being prepared), one of so many, or of a
 * paused one with 0; NULL: none is. */
void record_work_set(struct record_work *w, const char *run, int runs);
void record_work_set_wish(struct record_work *w, bool full, enum wire_wish wish);
/* The sweep that is worked on; NULL: none. */
void record_work_set_sweep(struct record_work *w, const struct wire_sweep_status *s);
/* Begins where no other process of this user computes on this machine; of several that ask for it at the
 * same time one does. False: not now. */
bool record_work_claim(struct record_work *w);
void record_work_free(struct record_work *w);

/* Who takes from the queue of a results folder as soon as nobody computes there: the same files in
 * another folder. The pid of one of them other than this process; 0: nobody does. */
struct record_work *record_taking_new(const char *results);
int64_t record_taking_pid(const char *results);

#endif
