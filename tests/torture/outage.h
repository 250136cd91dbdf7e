/* tests/torture/outage.h: power is cut. From what disk.h wrote down it makes folders as they may stand there then.
 *
 * What counts as on the disk, however power is cut:
 *   the bytes and the length of a file: those that were there when the file was synced last (fsync or fdatasync);
 *   a name in a folder (a file or a folder made, renamed, removed): when that folder itself was synced behind it;
 *   of a rename from one folder to another: when either of the two was synced.
 * Of all that came later any part may be there, in any order: a write by pieces of 512 bytes, each new, old, or zeros
 * where the file was shorter; any of the lengths that the file had since; a cut, a name, a rename each or not. A rename
 * is whole or not at all, as on every file system with a journal. */
#ifndef CHORUS_TORTURE_OUTAGE_H
#define CHORUS_TORTURE_OUTAGE_H

#include "base/hash.h"
#include "tests/torture/disk.h"

#define OUTAGE_PIECE 512

/* What became of an operation that no sync is behind, by the mood of this cut. */
static inline bool outage_spares(struct dice *dice, unsigned percent)
{
    return dice_percent(dice, percent);
}

static inline void outage_tear(struct text *t, const struct disk_op *o, struct dice *dice,
                               unsigned percent)
{
    for (size_t from = o->at, end = o->at + o->n, to; from < end; from = to) {
        to = (from / OUTAGE_PIECE + 1) * OUTAGE_PIECE;
        to = to < end ? to : end;
        if (outage_spares(dice, percent))
            disk_put_bytes(t, from, o->bytes + (from - o->at), to - from);
    }
}

static inline void outage_lose(struct disk_view *v, const struct disk_op *o, struct dice *dice,
                               unsigned percent, size_t *length)
{
    struct text *t = &v->bytes[o->node];
    bool longer = o->kind == DISK_CUT || o->at + o->n > *length;

    if (o->kind > DISK_CUT) {
        if (outage_spares(dice, percent))
            disk_apply_name(v, o);
        return;
    }
    if (o->kind == DISK_WRITE)
        outage_tear(t, o, dice, percent);
    else if (t->n > o->at && outage_spares(dice, percent))
        memset(t->s + o->at, 0, t->n - o->at);
    if (longer && outage_spares(dice, percent))
        *length = o->at + (o->kind == DISK_WRITE ? o->n : 0);
}

/* Power is cut when the first `at` operations were done. */
static inline struct disk_view outage_cut(const struct disk *d, size_t at, struct dice *dice)
{
    static const unsigned moods[] = {0, 100, 50, 50, 90, 10};
    struct disk_view v = disk_new_view(d);
    size_t *length = mem_new(d->nodes + 1, sizeof *length);
    unsigned percent = moods[dice_below(dice, MEM_COUNT(moods))];

    for (size_t i = 0; i < at; i++) {
        const struct disk_op *o = &d->op[i];

        if (o->kind >= DISK_SYNC)
            continue;
        if (o->on_disk < (int)at)
            disk_apply(&v, o);
        else
            outage_lose(&v, o, dice, percent, &length[o->node]);
        if (o->on_disk < (int)at)
            length[o->node] = v.bytes[o->node].n;
    }
    for (size_t i = 0; i < d->nodes; i++)
        if (!d->is_folder[i])
            disk_set_length(&v.bytes[i], length[i]);
    free(length);
    return v;
}

/* What programs saw when the first `at` operations were done. */
static inline struct disk_view outage_seen(const struct disk *d, size_t at)
{
    struct disk_view v = disk_new_view(d);

    for (size_t i = 0; i < at; i++)
        disk_apply(&v, &d->op[i]);
    return v;
}

static inline void outage_write(const char *path, const struct text *t)
{
    int fd = disk_real.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0 || (t->n && disk_real.write(fd, t->s, t->n) != (ssize_t)t->n) ||
        disk_real.close(fd)) {
        perror(path);
        exit(1);
    }
}

/* What stands below the folder that states are made in: of the next state only what differs is written. */
struct outage_file {
    char *path;
    uint64_t hash;
    bool is_folder, stays;
};
static struct outage_file *outage_file;
static size_t outage_files, outage_room;

static inline struct outage_file *outage_find(const char *path)
{
    for (size_t i = 0; i < outage_files; i++)
        if (!strcmp(outage_file[i].path, path))
            return &outage_file[i];
    return NULL;
}

static inline void outage_put(const struct disk *d, const struct disk_view *v, int node,
                              const char *path)
{
    const struct text *t = &v->bytes[node];
    uint64_t hash = hash_quick(text_str(t), t->n);
    struct outage_file *f = outage_find(path);
    bool same = f && f->hash == hash && f->is_folder == d->is_folder[node];

    if (!f) {
        outage_file = mem_grow(outage_file, &outage_room, outage_files + 1, sizeof *outage_file);
        f = &outage_file[outage_files++];
        f->path = mem_text(path);
    }
    f->hash = hash;
    f->is_folder = d->is_folder[node];
    f->stays = true;
    if (!same && f->is_folder)
        (void)disk_real.mkdir(path, 0777);
    else if (!same)
        outage_write(path, t);
}

static inline void outage_put_all(const struct disk *d, const struct disk_view *v, int from,
                                  const char *path)
{
    outage_put(d, v, from, path);
    for (size_t i = 0; i < v->names; i++) {
        const struct disk_name *at = &v->name[i];
        char *below;

        if (at->folder != from)
            continue;
        below = io_path(path, at->name);
        if (d->is_folder[at->node])
            outage_put_all(d, v, at->node, below);
        else
            outage_put(d, v, at->node, below);
        free(below);
    }
}

/* Nothing that was made there is known any more. */
static inline void outage_forget(void)
{
    while (outage_files)
        free(outage_file[--outage_files].path);
}

static inline void outage_take_away(struct outage_file *f)
{
    (void)(f->is_folder ? disk_real.rmdir(f->path) : disk_real.unlink(f->path));
    free(f->path);
    *f = outage_file[--outage_files];
}

/* The view as folders and files under that path. Of what was made there before, only what differs changes. */
static inline void outage_make(const struct disk *d, const struct disk_view *v, const char *path)
{
    for (size_t i = 0; i < outage_files; i++)
        outage_file[i].stays = false;
    outage_put_all(d, v, 0, path);
    for (int folders = 0; folders < 2; folders++) /* files first */
        for (size_t i = outage_files; i-- > 0;)
            if (!outage_file[i].stays && outage_file[i].is_folder == folders)
                outage_take_away(&outage_file[i]);
}

#endif
