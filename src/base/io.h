/* base/io.h: every file operation goes through one small table, so that a test can make any of them
 * fail, and through a few helpers that do the safe thing. A signal interrupts none but lock. */
#ifndef CHORUS_BASE_IO_H
#define CHORUS_BASE_IO_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct io_table {
    int (*open)(const char *path, int flags, mode_t mode);
    ssize_t (*read)(int fd, void *to, size_t n);
    ssize_t (*write)(int fd, const void *from, size_t n);
    off_t (*seek)(int fd, off_t offset, int whence);
    int (*sync)(int fd);
    int (*truncate)(int fd, off_t length);
    int (*close)(int fd);
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int (*mkdir)(const char *path, mode_t mode);
    int (*rmdir)(const char *path);
    int (*stat)(const char *path, struct stat *st);
    int (*fstat)(int fd, struct stat *st);
    int (*lock)(int fd, int operation); /* flock */
};
extern struct io_table io; /* the real calls; only tests write to it */

/* The whole of a regular file, a 0 byte behind it. More than limit bytes is an error. The caller
 * frees *bytes. A missing file is ERR_INPUT with e->sys ENOENT. */
enum err_code io_read_file(const char *path, size_t limit, char **bytes, size_t *n,
                           struct err *e) MUST_USE;
/* Opens a file that chorus itself keeps in a results folder, to write to it in place or to read from it.
 * A link is not followed, only a regular file is opened, and a pipe makes nobody wait. A folder on the
 * way to the file may be a link: users move runs to other disks. A failed open leaves -1 in *fd. */
enum err_code io_open_own(const char *path, int flags, int *fd, struct err *e) MUST_USE;
/* How many of n bytes were written, through short writes; fewer than n: errno says why. */
size_t io_write_most(int fd, const void *bytes, size_t n) MUST_USE;
/* All n bytes, or an error. */
enum err_code io_write_all(int fd, const void *bytes, size_t n, const char *path,
                           struct err *e) MUST_USE;
/* Temporary file beside it, write, sync, rename, sync of the folder: the old content or the new,
 * never half. For a path that the user names: a link is followed, so that it stays a link. */
enum err_code io_replace_file(const char *path, const void *bytes, size_t n,
                              struct err *e) MUST_USE;
/* The same for a file that chorus itself keeps in a results folder: a link is replaced by the file. */
enum err_code io_replace_own(const char *path, const void *bytes, size_t n, struct err *e) MUST_USE;
/* As io_replace_file for a file that is written piece by piece: it takes its place when it is finished, and is
 * nowhere when it is dropped. finish and drop free it; a failed open needs neither. */
struct io_draft {
    char *target, *path, *temporary;
    int fd;
};
enum err_code io_draft_open(struct io_draft *d, const char *path, struct err *e) MUST_USE;
enum err_code io_draft_add(struct io_draft *d, const void *bytes, size_t n, struct err *e) MUST_USE;
enum err_code io_draft_finish(struct io_draft *d, struct err *e) MUST_USE;
void io_draft_drop(struct io_draft *d);
/* An error at the file path, which really lies at target, says which folder is missing where it is that.
 * Any other stays as it is. Returns the error's code. */
enum err_code io_say_no_folder(const char *path, const char *target, struct err *e);
/* Where a file that is replaced by renaming really lies: a link is followed, so that it stays a link.
 * What is there and is no regular file (a device, a folder) is refused. The caller frees it. */
enum err_code io_real_target(const char *path, char **target, struct err *e) MUST_USE;
enum err_code io_sync_folder(const char *path, struct err *e) MUST_USE;
/* As mkdir -p; the names of new folders are on the disk. */
enum err_code io_make_folders(const char *path, struct err *e) MUST_USE;
/* Also where a disk or a lack of memory hides whether it does: who opens it then is told why it cannot. */
bool io_exists(const char *path);
/* Whether a regular file is there and not empty: who replaces it would lose something. */
bool io_has_content(const char *path);
bool io_is_folder(const char *path);

/* The whole content of an open file of n bytes, read-only, freed by io_unmap; NULL where that cannot
 * be had. Mapped where the file lies on a disk of this machine, so that processes share it. *mapped:
 * it is; elsewhere it was read, because a page of a file on another machine may be gone by the time
 * it is asked for, and that ends a process. */
void *io_map(int fd, size_t n, bool *mapped);
/* Makes it this process's own, to be written to; the file stays as it is. False: no memory. */
bool io_map_own(void *at, size_t n, bool mapped);
void io_unmap(void *at, size_t n, bool mapped);

/* The names in a folder but "." and "..", sorted by bytes. Freed by io_free_names. */
enum err_code io_list_folder(const char *path, char ***names, size_t *count,
                             struct err *e) MUST_USE;
/* The same; a folder that is not there has none. */
enum err_code io_list_if_there(const char *path, char ***names, size_t *count,
                               struct err *e) MUST_USE;
void io_free_names(char **names, size_t count);

/* Files half written by programs that were killed: those whose names the caller takes for such. */
void io_remove_leftovers(const char *folder, bool (*is_leftover)(const char *name));
/* "sweep.csv.tmp-HOST-1234", of a process of this machine that is dead. */
bool io_is_of_dead(const char *name);
/* PATH.tmp-HOST-PID: the name for a draft of this process. The caller frees it. */
char *io_temporary(const char *path);
/* Removes the drafts of PATH that dead processes left. */
void io_remove_drafts(const char *path);

/* "a/b" from "a" and "b", or b alone where it is absolute. The caller frees it. */
char *io_path(const char *folder, const char *name);
/* "~/a" in the home folder, any other as it is. The caller frees it. */
char *io_home_path(const char *path);
/* What stands behind the last slash of a path, or all of it. */
const char *io_last_part(const char *path);
/* The folder part of a path ("." where it has none). The caller frees it. */
char *io_folder_of(const char *path);
/* Where the user's programs keep what can be made again: CHORUS_CACHE, or chorus in
 * $XDG_CACHE_HOME or ~/.cache; NULL: nowhere ("off"). It may not be there yet. The caller frees it. */
char *io_cache_folder(void);

#endif
