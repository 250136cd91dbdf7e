/* base/system/thread.h: threads with a second stack for signals, so that whoever handles a crash can do so when
 * the first one is full. */
#ifndef CHORUS_BASE_SYSTEM_THREAD_H
#define CHORUS_BASE_SYSTEM_THREAD_H

#include <pthread.h>

/* As pthread_create with no attributes; the number of an error, or 0. */
int thread_start(pthread_t *thread, void *(*begin)(void *), void *user);

#endif
