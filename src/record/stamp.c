/* record/stamp.c: which content of a file it was. */
#include "record/stamp.h"

#define SETTLED_S 2 /* some file systems count whole seconds */

void record_stamp_of(struct record_stamp *stamp, const struct stat *st)
{
    stamp->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    stamp->ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
    stamp->size = (int64_t)st->st_size;
    stamp->inode = (int64_t)st->st_ino;
}

bool record_stamp_same(const struct record_stamp *a, const struct record_stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->size == b->size &&
           a->inode == b->inode;
}

bool record_stamp_settled(const struct record_stamp *stamp, double now)
{
    double limit = (now - SETTLED_S) * 1e9;

    return (double)stamp->mtime_ns < limit && (double)stamp->ctime_ns < limit;
}
