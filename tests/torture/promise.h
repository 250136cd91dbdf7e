/* tests/torture/promise.h: what the syncs of a story promise: names and bytes that no power cut takes any more. */
#ifndef CHORUS_TORTURE_PROMISE_H
#define CHORUS_TORTURE_PROMISE_H

#include "record/run/checkpoint.h"
#include "tests/torture/disk.h"

/* What a sync promised. */
struct promise {
    size_t at;   /* the sync's number */
    char *path;  /* below the root */
    char *bytes; /* of a file that rows are added to; NULL: only that it is there */
    size_t n;
    int64_t step; /* of a checkpoint in the folder path; -1: it is none */
};

static struct promise *promise;
static size_t promises, promise_room;

/* A file that was renamed to its place, as it was then. */
struct placed {
    int node;
    char *bytes;
    size_t n;
};
static struct placed *placed;
static size_t placings, placed_room;

static inline bool is_draft(const char *path)
{
    return strstr(path, ".tmp") || io_last_part(path)[0] == '.' || strstr(path, "/.");
}

static inline struct promise *add_promise(size_t at, char *path)
{
    promise = mem_grow(promise, &promise_room, promises + 1, sizeof *promise);
    promise[promises] = (struct promise){.at = at, .path = path, .step = -1};
    return &promise[promises++];
}

/* The path of a node below the root; NULL: it has no name. */
static inline char *path_of(const struct disk_view *v, int node)
{
    char *above, *path = NULL;

    if (!node)
        return mem_text("");
    for (size_t i = 0; i < v->names && !path; i++) {
        if (v->name[i].node != node || !(above = path_of(v, v->name[i].folder)))
            continue;
        path = *above ? mem_textf("%s/%s", above, v->name[i].name) : mem_text(v->name[i].name);
        free(above);
    }
    return path;
}

static inline int64_t step_of(const struct text *t)
{
    static const char key[] = "\"" RECORD_NOTE_STEP "\":\"";
    const char *at = t->n ? memmem(t->s, t->n, key, sizeof key - 1) : NULL;

    return at ? strtoll(at + sizeof key - 1, NULL, 10) : -1;
}

static inline bool gets_rows(const char *path)
{
    return !strcmp(io_last_part(path), "epochs.csv") || !strcmp(io_last_part(path), "ledger.csv");
}

/* Checkpoints move while the next one takes its place, items of a queue when they are moved: they are looked at by
 * themselves. */
static inline bool moves(const char *path)
{
    return !strncmp(io_last_part(path), "checkpoint.", 11) || text_ends_with(path, ".ini.bad") ||
           (strstr(path, "/queue/") && text_ends_with(path, ".ini"));
}

static inline void promise_file(const struct disk_view *v, size_t at, int node)
{
    char *path = path_of(v, node);
    struct promise *p;

    if (!path || is_draft(path) || moves(path)) {
        free(path);
        return;
    }
    p = add_promise(at, path);
    if (gets_rows(path) && v->bytes[node].n) {
        p->n = v->bytes[node].n;
        p->bytes = mem_text_n(v->bytes[node].s, p->n);
    }
}

static inline void promise_names(const struct disk *d, const struct disk_view *v, size_t at,
                                 int folder)
{
    char *above = path_of(v, folder);

    for (size_t i = 0; above && i < v->names; i++) {
        const struct disk_name *n = &v->name[i];
        char *path = io_path(above, n->name);

        if (n->folder == folder && !strcmp(n->name, "checkpoint.safetensors") && !is_draft(path))
            add_promise(at, mem_text(above))->step = step_of(&v->bytes[n->node]);
        if (n->folder == folder && !is_draft(path) && !moves(path))
            (void)add_promise(at, mem_text(path));
        free(path);
    }
    (void)d;
    free(above);
}

/* A ledger that is given to others has its lines on the disk. */
static inline bool has_lines(const struct disk_view *v, int node)
{
    char *path = path_of(v, node);
    const struct text *t = &v->bytes[node];
    bool has = path && text_ends_with(path, "/ledger.csv") && t->n &&
               memchr(t->s, '\n', t->n) != t->s + t->n - 1;

    free(path);
    return has;
}

static inline void note_placed(const struct disk_view *v, const struct disk_op *o)
{
    if (!strstr(o->name, ".tmp") || !strcmp(o->new_name, ".index"))
        return;
    placed = mem_grow(placed, &placed_room, placings + 1, sizeof *placed);
    placed[placings].node = o->node;
    placed[placings].n = v->bytes[o->node].n;
    placed[placings].bytes = mem_new(placed[placings].n + 1, 1);
    if (placed[placings].n)
        memcpy(placed[placings].bytes, v->bytes[o->node].s, placed[placings].n);
    placings++;
}

static inline void read_promises(const struct disk *d)
{
    struct disk_view v = disk_new_view(d);

    for (size_t i = 0; i < d->ops; i++) {
        const struct disk_op *o = &d->op[i];

        disk_apply(&v, o);
        if (o->kind == DISK_RENAME && !d->is_folder[o->node])
            note_placed(&v, o);
        if (o->kind == DISK_SYNC && d->is_folder[o->node])
            promise_names(d, &v, i, o->node);
        else if (o->kind == DISK_SYNC || (o->kind == DISK_UNLOCK && has_lines(&v, o->node)))
            promise_file(&v, i, o->node);
    }
    disk_free_view(&v, d->nodes);
}

static inline void forget_promises(void)
{
    while (promises) {
        promises--;
        free(promise[promises].path);
        free(promise[promises].bytes);
    }
    while (placings)
        free(placed[--placings].bytes);
}

#endif
