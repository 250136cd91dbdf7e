/* record/stamp.h: which content of a file it was, by what the disk says of the file. */
#ifndef CHORUS_RECORD_STAMP_H
#define CHORUS_RECORD_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct record_stamp { /* which content of a file it was */
    int64_t mtime_ns, ctime_ns, size, inode;
};
void record_stamp_of(struct record_stamp *stamp, const struct stat *st);
bool record_stamp_same(const struct record_stamp *a, const struct record_stamp *b);
/* Whether it is old enough that a later change must show in it: a file that was written twice
 * within one tick of the disk's clock has the same times. now: clock_wall before the file was read. */
bool record_stamp_settled(const struct record_stamp *stamp, double now);

#endif
