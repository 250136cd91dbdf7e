/* record/queue/queue_int.h: what queue.c, queue_edit.c and queue_own.c share. */
#ifndef CHORUS_RECORD_QUEUE_QUEUE_INT_H
#define CHORUS_RECORD_QUEUE_QUEUE_INT_H

#include "record/queue/queue.h"

#include <sys/stat.h>

#define RECORD_QUEUE_TEXT (4 << 20) /* bytes, as of any experiment */

char *record_queue_folder(const char *results);
/* A file of the queue's folder to lock; both are made where they are missing. */
enum err_code record_queue_open_lock(const char *results, const char *name, int *fd,
                                     struct err *e) MUST_USE;
void record_queue_unlock(int fd); /* and closes it; -1: nothing */
/* Of a file or folder: stays when it is renamed. */
uint64_t record_queue_id(const struct stat *st);

/* What stands in the queue, in its order and not read. */
enum err_code record_queue_scan(const char *results, struct record_queued **out, size_t *count,
                                struct err *e) MUST_USE;

#endif
