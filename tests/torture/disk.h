/* tests/torture/disk.h: stands in the table of base/io.h, does each operation for real and writes it down: what there
 * is to lose when power is cut (outage.h). */
#ifndef CHORUS_TORTURE_DISK_H
#define CHORUS_TORTURE_DISK_H

#include "base/io.h"
#include "base/mem.h"
#include "tests/torture/dice.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define DISK_FDS  4096
#define DISK_NONE (-1)

enum disk_kind {
    DISK_WRITE,
    DISK_CUT,
    DISK_NAME,
    DISK_REMOVE,
    DISK_RENAME,
    DISK_SYNC,
    DISK_UNLOCK
};

struct disk_op {
    enum disk_kind kind;
    int node;       /* the file or the folder that is written, named, moved, removed or synced */
    int folder, to; /* where the name stands; where a rename moves it */
    char *name, *new_name;
    size_t at, n; /* of bytes; at: the length after a cut */
    char *bytes;
    int on_disk; /* the number of the sync behind it; INT_MAX: none came */
};

struct disk_name {
    int folder, node;
    const char *name;
};
/* Which names and bytes there are. Node 0 is the folder that all lies in. */
struct disk_view {
    struct disk_name *name;
    size_t names, name_room;
    struct text *bytes; /* by node */
};

struct disk {
    char *root;
    struct disk_op *op;
    size_t ops, op_room, first; /* those before the first made what was there already */
    bool *is_folder;            /* by node */
    size_t nodes, node_room;
    struct disk_view live;
    size_t live_room;
};

static struct disk *disk;         /* that operations are written down on; NULL: on none */
static struct io_table disk_real; /* the real calls, but that nothing is synced */
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static int disk_node_of[DISK_FDS]; /* a descriptor's node + 1 */
static bool disk_appends[DISK_FDS];

/* ---- views ---- */

static inline struct disk_name *disk_find(const struct disk_view *v, int folder, const char *name)
{
    for (size_t i = 0; i < v->names; i++)
        if (v->name[i].folder == folder && !strcmp(v->name[i].name, name))
            return &v->name[i];
    return NULL;
}

static inline void disk_take_name(struct disk_view *v, int folder, const char *name, int node)
{
    struct disk_name *at = disk_find(v, folder, name);

    if (at && (node == DISK_NONE || at->node == node))
        *at = v->name[--v->names];
}

static inline void disk_put_name(struct disk_view *v, int folder, const char *name, int node)
{
    disk_take_name(v, folder, name, DISK_NONE);
    v->name = mem_grow(v->name, &v->name_room, v->names + 1, sizeof *v->name);
    v->name[v->names++] = (struct disk_name){folder, node, name};
}

static inline void disk_set_length(struct text *t, size_t n)
{
    static const char zeros[4096];

    while (t->n < n)
        text_add_n(t, zeros, n - t->n < sizeof zeros ? n - t->n : sizeof zeros);
    t->n = n;
    if (t->s)
        t->s[n] = 0;
}

static inline void disk_put_bytes(struct text *t, size_t at, const char *bytes, size_t n)
{
    if (t->n < at + n)
        disk_set_length(t, at + n);
    if (n)
        memcpy(t->s + at, bytes, n);
}

static inline void disk_apply_name(struct disk_view *v, const struct disk_op *o)
{
    if (o->kind == DISK_NAME)
        disk_put_name(v, o->folder, o->name, o->node);
    else if (o->kind == DISK_REMOVE)
        disk_take_name(v, o->folder, o->name, o->node);
    else if (o->kind == DISK_RENAME) {
        disk_take_name(v, o->folder, o->name, o->node);
        disk_put_name(v, o->to, o->new_name, o->node);
    }
}

/* Everything that was done, as a program sees it. */
static inline void disk_apply(struct disk_view *v, const struct disk_op *o)
{
    if (o->kind == DISK_WRITE)
        disk_put_bytes(&v->bytes[o->node], o->at, o->bytes, o->n);
    else if (o->kind == DISK_CUT)
        disk_set_length(&v->bytes[o->node], o->at);
    else
        disk_apply_name(v, o); /* nothing for a sync or a lock */
}

static inline struct disk_view disk_new_view(const struct disk *d)
{
    return (struct disk_view){.bytes = mem_new(d->nodes + 1, sizeof(struct text))};
}

static inline void disk_free_view(struct disk_view *v, size_t nodes)
{
    for (size_t i = 0; i < nodes; i++)
        text_free(&v->bytes[i]);
    free(v->bytes);
    free(v->name);
    *v = (struct disk_view){0};
}

/* The node of a path below the root, "" the root; DISK_NONE: there is none. */
static inline int disk_look(const struct disk_view *v, const char *path)
{
    int node = 0;

    while (*path) {
        size_t n = strcspn(path, "/");
        char *part = mem_text_n(path, n);
        const struct disk_name *at = disk_find(v, node, part);

        free(part);
        if (!at)
            return DISK_NONE;
        node = at->node;
        path += n + (path[n] == '/');
    }
    return node;
}

/* ---- writing down ---- */

static inline struct disk_op *disk_add(enum disk_kind kind, int node)
{
    disk->op = mem_grow(disk->op, &disk->op_room, disk->ops + 1, sizeof *disk->op);
    disk->op[disk->ops] = (struct disk_op){.kind = kind, .node = node, .on_disk = INT_MAX};
    return &disk->op[disk->ops++];
}

static inline int disk_new_node(bool is_folder)
{
    disk->is_folder = mem_grow(disk->is_folder, &disk->node_room, disk->nodes + 1, sizeof(bool));
    disk->live.bytes =
        mem_grow(disk->live.bytes, &disk->live_room, disk->nodes + 1, sizeof(struct text));
    disk->is_folder[disk->nodes] = is_folder;
    disk->live.bytes[disk->nodes] = (struct text){0};
    return (int)disk->nodes++;
}

/* What lies below the root: its folder's node and its name there; NULL: it does not. */
static inline const char *disk_place(const char *path, int *folder)
{
    size_t n = disk ? strlen(disk->root) : 0;
    const char *last;
    char *above;

    if (!disk || strncmp(path, disk->root, n) != 0 || path[n] != '/')
        return NULL;
    last = strrchr(path, '/') + 1;
    above = mem_text_n(path + n + 1,
                       last - path > (ptrdiff_t)n + 1 ? (size_t)(last - path) - n - 2 : 0);
    *folder = disk_look(&disk->live, above);
    free(above);
    return *folder == DISK_NONE ? NULL : last;
}

static inline int disk_node_at(const char *path)
{
    int folder;
    const char *name = disk_place(path, &folder);
    const struct disk_name *at = name ? disk_find(&disk->live, folder, name) : NULL;

    if (disk && !strcmp(path, disk->root))
        return 0;
    return at ? at->node : DISK_NONE;
}

static inline void disk_note_name(const char *path, bool is_folder)
{
    int folder;
    const char *name = disk_place(path, &folder);
    struct disk_op *o;

    if (!name)
        return;
    o = disk_add(DISK_NAME, disk_new_node(is_folder));
    o->folder = folder;
    o->name = mem_text(name);
    disk_apply(&disk->live, o);
}

static inline void disk_note_write(int node, size_t at, const void *from, size_t n)
{
    struct disk_op *o = disk_add(DISK_WRITE, node);

    o->at = at;
    o->n = n;
    o->bytes = mem_new(n + 1, 1);
    memcpy(o->bytes, from, n);
    disk_apply(&disk->live, o);
}

static inline void disk_note_cut(int node, size_t length)
{
    struct disk_op *o = disk_add(DISK_CUT, node);

    o->at = length;
    disk_apply(&disk->live, o);
}

static inline void disk_note_sync(int node)
{
    int number = (int)disk->ops;

    for (size_t i = 0; i < disk->ops; i++) {
        struct disk_op *o = &disk->op[i];
        bool mine = o->kind <= DISK_CUT ? o->node == node
                    : o->kind >= DISK_SYNC
                        ? false
                        : o->folder == node || (o->kind == DISK_RENAME && o->to == node);

        if (mine && o->on_disk == INT_MAX)
            o->on_disk = number;
    }
    disk_add(DISK_SYNC, node);
}

static inline int disk_open(const char *path, int flags, mode_t mode)
{
    int fd, node;

    pthread_mutex_lock(&disk_lock);
    fd = disk_real.open(path, flags, mode);
    if (disk && fd >= 0 && fd < DISK_FDS) {
        node = disk_node_at(path);
        if (node == DISK_NONE && flags & O_CREAT)
            disk_note_name(path, false);
        else if (node > 0 && flags & O_TRUNC && disk->live.bytes[node].n)
            disk_note_cut(node, 0);
        disk_node_of[fd] = disk_node_at(path) + 1;
        disk_appends[fd] = flags & O_APPEND;
    }
    pthread_mutex_unlock(&disk_lock);
    return fd;
}

static inline ssize_t disk_write(int fd, const void *from, size_t n)
{
    ssize_t wrote;

    pthread_mutex_lock(&disk_lock);
    if (disk && fd >= 0 && fd < DISK_FDS && disk_node_of[fd]) {
        int node = disk_node_of[fd] - 1;
        size_t at = disk_appends[fd] ? disk->live.bytes[node].n : (size_t)lseek(fd, 0, SEEK_CUR);

        wrote = disk_real.write(fd, from, n);
        if (wrote > 0)
            disk_note_write(node, at, from, (size_t)wrote);
    } else {
        wrote = disk_real.write(fd, from, n);
    }
    pthread_mutex_unlock(&disk_lock);
    return wrote;
}

static inline int disk_sync(int fd)
{
    pthread_mutex_lock(&disk_lock);
    if (disk && fd >= 0 && fd < DISK_FDS && disk_node_of[fd])
        disk_note_sync(disk_node_of[fd] - 1);
    pthread_mutex_unlock(&disk_lock);
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

static inline int disk_truncate(int fd, off_t length)
{
    int result;

    pthread_mutex_lock(&disk_lock);
    result = disk_real.truncate(fd, length);
    if (disk && !result && fd >= 0 && fd < DISK_FDS && disk_node_of[fd])
        disk_note_cut(disk_node_of[fd] - 1, (size_t)length);
    pthread_mutex_unlock(&disk_lock);
    return result;
}

/* Whoever has the lock next sees what was done under it. */
static inline int disk_flock(int fd, int operation)
{
    int result;

    if (!(operation & LOCK_UN))
        return disk_real.lock(fd, operation); /* which may wait */
    pthread_mutex_lock(&disk_lock);
    result = disk_real.lock(fd, operation);
    if (disk && fd >= 0 && fd < DISK_FDS && disk_node_of[fd])
        disk_add(DISK_UNLOCK, disk_node_of[fd] - 1);
    pthread_mutex_unlock(&disk_lock);
    return result;
}

static inline int disk_close(int fd)
{
    int result;

    pthread_mutex_lock(&disk_lock);
    if (fd >= 0 && fd < DISK_FDS)
        disk_node_of[fd] = 0;
    result = disk_real.close(fd);
    pthread_mutex_unlock(&disk_lock);
    return result;
}

static inline int disk_rename(const char *from, const char *to)
{
    int result, folder, to_folder;

    pthread_mutex_lock(&disk_lock);
    result = disk_real.rename(from, to);
    if (disk && !result) {
        int node = disk_node_at(from);
        const char *name = disk_place(from, &folder), *new_name = disk_place(to, &to_folder);

        if (name && new_name && node > 0) {
            struct disk_op *o = disk_add(DISK_RENAME, node);

            o->folder = folder;
            o->to = to_folder;
            o->name = mem_text(name);
            o->new_name = mem_text(new_name);
            disk_apply(&disk->live, o);
        }
    }
    pthread_mutex_unlock(&disk_lock);
    return result;
}

static inline int disk_remove(int (*real)(const char *path), const char *path)
{
    int result, folder;

    pthread_mutex_lock(&disk_lock);
    result = real(path);
    if (disk && !result) {
        int node = disk_node_at(path);
        const char *name = disk_place(path, &folder);

        if (name && node > 0) {
            struct disk_op *o = disk_add(DISK_REMOVE, node);

            o->folder = folder;
            o->name = mem_text(name);
            disk_apply(&disk->live, o);
        }
    }
    pthread_mutex_unlock(&disk_lock);
    return result;
}

static inline int disk_unlink(const char *path)
{
    return disk_remove(disk_real.unlink, path);
}

static inline int disk_rmdir(const char *path)
{
    return disk_remove(disk_real.rmdir, path);
}

static inline int disk_mkdir(const char *path, mode_t mode)
{
    int result;

    pthread_mutex_lock(&disk_lock);
    result = disk_real.mkdir(path, mode);
    if (disk && !result)
        disk_note_name(path, true);
    pthread_mutex_unlock(&disk_lock);
    return result;
}

/* Once, before anything is opened: the disk stands in the table from here on. */
static inline void disk_install(void)
{
    disk_real = io;
    io.open = disk_open;
    io.write = disk_write;
    io.sync = disk_sync;
    io.truncate = disk_truncate;
    io.close = disk_close;
    io.rename = disk_rename;
    io.unlink = disk_unlink;
    io.rmdir = disk_rmdir;
    io.mkdir = disk_mkdir;
    io.lock = disk_flock;
}

/* How many operations there were so far. */
static inline size_t disk_now(void)
{
    size_t n;

    pthread_mutex_lock(&disk_lock);
    n = disk->ops;
    pthread_mutex_unlock(&disk_lock);
    return n;
}

static inline void disk_take_there(const char *path)
{
    char **names, *bytes;
    size_t n, size;

    if (io_list_folder(path, &names, &n, NULL) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char *below = io_path(path, names[i]);
        bool is_folder = io_is_folder(below);

        disk_note_name(below, is_folder);
        if (!is_folder && io_read_file(below, 1 << 28, &bytes, &size, NULL) == ERR_OK) {
            disk_note_write(disk_node_at(below), 0, bytes, size);
            free(bytes);
        }
        if (is_folder)
            disk_take_there(below);
        free(below);
    }
    io_free_names(names, n);
}

/* From now on all that happens below root is written down. What is there already is on the disk. */
static inline void disk_begin(struct disk *d, const char *root)
{
    *d = (struct disk){.root = mem_text(root)};
    disk = d; /* nobody else works on files now */
    (void)disk_new_node(true);
    disk_take_there(root);
    d->first = d->ops;
    for (size_t i = 0; i < d->ops; i++)
        d->op[i].on_disk = 0;
}

static inline void disk_end(void)
{
    pthread_mutex_lock(&disk_lock);
    disk = NULL;
    memset(disk_node_of, 0, sizeof disk_node_of);
    pthread_mutex_unlock(&disk_lock);
}

static inline void disk_free(struct disk *d)
{
    for (size_t i = 0; i < d->ops; i++) {
        free(d->op[i].name);
        free(d->op[i].new_name);
        free(d->op[i].bytes);
    }
    disk_free_view(&d->live, d->nodes);
    free(d->op);
    free(d->is_folder);
    free(d->root);
}

#endif
