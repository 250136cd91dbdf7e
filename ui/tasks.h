/* ui/tasks.h: work that takes longer than a keystroke may: one thread does it in turn, and what it
 * found is taken up by the main thread. */
#ifndef CHORUS_UI_TASKS_H
#define CHORUS_UI_TASKS_H

#include <stdbool.h>

struct tasks;

struct tasks *tasks_new(void);
/* Waits for what is at work; what has not begun is dropped, its done is called with dropped. */
void tasks_free(struct tasks *t);
/* work runs on the other thread and may touch arg alone; done runs on the main thread afterwards, from
 * tasks_take, and frees arg. */
void tasks_add(struct tasks *t, void (*work)(void *arg), void (*done)(void *arg, bool dropped),
               void *arg);
int tasks_fd(struct tasks *t);    /* readable where something is done */
bool tasks_take(struct tasks *t); /* calls what is done; false: nothing was */
bool tasks_idle(struct tasks *t);

#endif
