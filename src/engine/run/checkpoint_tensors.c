#include "engine/engine_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS  (sizeof(struct standing_counts) / sizeof(int64_t))
#define NUMBERS (sizeof(struct standing_numbers) / sizeof(double))

void sums_new(struct sums *s, const struct backend_plan *p)
{
    *s = (struct sums){.units = backend_units(p), .rows = p->members};
    s->loss = mem_new((size_t)s->units, sizeof *s->loss);
    s->right = mem_new((size_t)s->units, sizeof *s->right);
    s->ns = mem_new((size_t)s->units * 4, sizeof *s->ns);
    s->row_loss = mem_new((size_t)s->rows, sizeof *s->row_loss);
    s->row_right = mem_new((size_t)s->rows, sizeof *s->row_right);
}

void sums_free(struct sums *s)
{
    free(s->loss);
    free(s->right);
    free(s->ns);
    free(s->row_loss);
    free(s->row_right);
    *s = (struct sums){0};
}

void sums_copy(struct sums *to, const struct sums *from)
{
    size_t units = (size_t)from->units, rows = (size_t)from->rows;

    memcpy(to->loss, from->loss, units * sizeof *to->loss);
    memcpy(to->right, from->right, units * sizeof *to->right);
    memcpy(to->ns, from->ns, 4 * units * sizeof *to->ns);
    memcpy(to->row_loss, from->row_loss, rows * sizeof *to->row_loss);
    memcpy(to->row_right, from->row_right, rows * sizeof *to->row_right);
    to->row_images = from->row_images;
}

/* The tensors of a checkpoint that are the engine's own: one table for writing and reading. */
struct field {
    const char *name;
    enum safetensors_type type;
    size_t count;
    void *bytes;
};
#define FIELDS 8

static void fields_of(struct standing *at, struct sums *s, struct field f[FIELDS])
{
    size_t units = (size_t)s->units, rows = (size_t)s->rows;

    f[0] = (struct field){"engine/counts", SAFETENSORS_I64, COUNTS, &at->n};
    f[1] = (struct field){"engine/numbers", SAFETENSORS_F64, NUMBERS, &at->x};
    f[2] = (struct field){"engine/epoch_loss", SAFETENSORS_F64, units, s->loss};
    f[3] = (struct field){"engine/epoch_right", SAFETENSORS_I64, units, s->right};
    f[4] = (struct field){"engine/unit_ns", SAFETENSORS_I64, 4 * units, s->ns};
    f[5] = (struct field){"engine/row_loss", SAFETENSORS_F64, rows, s->row_loss};
    f[6] = (struct field){"engine/row_right", SAFETENSORS_I64, rows, s->row_right};
    f[7] = (struct field){"engine/row_images", SAFETENSORS_I64, 1, &s->row_images};
}

enum err_code snapshot_pack(const struct snapshot *s, const struct net *net,
                            struct record_pack *pack, struct err *e)
{
    struct standing at = s->at;
    struct sums sums = s->sums; /* borrows the arrays */
    struct field f[FIELDS];

    TRY(record_pack_weights(pack, &s->weights, net, e));
    fields_of(&at, &sums, f);
    for (int i = 0; i < FIELDS; i++)
        TRY(record_pack_tensor(pack, f[i].name, f[i].type, 1, &f[i].count, f[i].bytes, e));
    record_pack_int(pack, RECORD_NOTE_EPOCH, at.n.epoch);
    record_pack_int(pack, RECORD_NOTE_STEP, at.n.step);
    return ERR_OK;
}

static bool plausible(const struct standing *at, const struct sums *s)
{
    const struct standing_counts *n = &at->n;

    return n->step >= 0 && n->epoch >= 0 && n->batch >= 0 && n->row_step >= 0 &&
           n->row_step <= n->step && n->train_ns >= 0 && n->eval_ns >= 0 && n->wall_ns >= 0 &&
           n->epoch_ns >= 0 && n->best_epoch >= 0 && n->best_epoch <= n->epoch &&
           n->bad_epochs >= 0 && s->row_images >= 0;
}

enum err_code standing_unpack(const struct safetensors *s, struct standing *at, struct sums *sums,
                              struct err *e)
{
    struct field f[FIELDS];

    fields_of(at, sums, f);
    for (int i = 0; i < FIELDS; i++) {
        const struct safetensors_tensor *t = safetensors_find(s, f[i].name);

        if (!t || t->type != f[i].type || t->size != f[i].count * 8)
            return err_set(e, ERR_INPUT,
                           "the checkpoint's tensor %s is %s: it was written by another version or "
                           "for other settings",
                           f[i].name, t ? "of another size" : "missing");
        memcpy(f[i].bytes, t->bytes, t->size);
    }
    at->n.unused = 0;
    if (!plausible(at, sums))
        return err_set(e, ERR_INPUT,
                       "the checkpoint says epoch %lld, step %lld, batch %lld: that cannot be",
                       (long long)at->n.epoch, (long long)at->n.step, (long long)at->n.batch);
    return ERR_OK;
}

struct message *message_new(enum message_kind kind, const struct standing *at)
{
    struct message *m = mem_new(1, sizeof *m);

    m->kind = kind;
    if (at)
        m->at = *at;
    return m;
}

void message_free(struct message *m)
{
    if (!m)
        return;
    free(m->step);
    free(m->device);
    free(m->member);
    free(m->epoch);
    free(m->event);
    free(m->error);
    snapshot_free(m->snapshot);
    free(m);
}
