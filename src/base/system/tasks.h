/* base/system/tasks.h: work that takes longer than a keystroke may: a thread does it in turn, and what it found
 * is taken up by the main thread. What may wait for others (a lock, a process that is asked) has a
 * thread of its own, so that it keeps nothing else waiting, and so has what goes to places that people
 * name: whatever disk they lie on. */
#ifndef CHORUS_BASE_SYSTEM_TASKS_H
#define CHORUS_BASE_SYSTEM_TASKS_H

#include <stdbool.h>

struct tasks;

struct tasks *tasks_new(void); /* NULL: no thread can be started, and errno says why */
/* All but what somebody asked for ends now. Whether it has within so many ms; it may be asked again. */
bool tasks_end(struct tasks *t, int ms);
/* Waits for what is at work and for slow ones that wait; what has not begun else is dropped. done is
 * called with dropped for all of them. */
void tasks_free(struct tasks *t);
/* work runs on another thread and may touch arg alone; done runs on the main thread afterwards, from
 * tasks_take, and frees arg. */
void tasks_add(struct tasks *t, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg);
void tasks_add_slow(struct tasks *t, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
                    void *arg);
/* For what is looked at again and again, such as the rows of a run: it waits for nothing else, and its
 * end alone changes nothing that is seen. */
void tasks_add_live(struct tasks *t, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
                    void *arg);
/* For what a key asks of a place that a person named. What is done within a moment is done when this
 * returns (true), so that keys typed ahead find it so; the rest comes by tasks_take as always, and in
 * the order in which it was asked. */
bool tasks_try(struct tasks *t, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg);
/* For what is looked at there again and again while nobody presses a key: nobody waits for it, no key
 * either, and its end alone changes nothing that is seen. */
void tasks_add_place(struct tasks *t, void (*work)(void *arg),
                     void (*done)(void *arg, bool dropped), void *arg);
void tasks_patience(struct tasks *t, int ms); /* how long that moment is: for scripts and tests */
int tasks_fd(struct tasks *t);                /* readable where something is done */
bool tasks_take(struct tasks *t); /* calls what is done; false: nothing to be seen was */
bool tasks_idle(struct tasks *t);

#endif
