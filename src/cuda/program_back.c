/* cuda/program_back.c: the backward half of a step: from the gradient of the last piece to those of
 * all parameters. A piece's gradient is complete when its turn comes, since whoever reads it stands
 * behind it; the first of them writes it, the others add. Pieces without parameters in them or in
 * front have none. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <stdlib.h>

static const struct cuda_view none = {NULL, 0};

struct back {
    struct cuda_writer *w;
    const struct cuda_layout *l;
    bool *written; /* (pieces): somebody wrote this gradient */
    /* The last weights' gradient, if it waits for work to go beside. Updating makes it last anyway. */
    struct cuda_job late;
    bool waits;
};

static size_t size_of(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static const struct net_layer *head_of(const struct back *b, int piece)
{
    return &b->w->net->layer[b->l->pieces.at[piece].head];
}

/* Where the gradient of what a piece reads goes, if it goes anywhere. */
struct target {
    struct cuda_view dx, gate;
    enum cuda_act act;
    bool add;
};

static bool target_of(struct back *b, int read, struct target *t)
{
    if (!cuda_piece_learns(b->w->net, &b->l->pieces, read))
        return false;
    *t = (struct target){.dx = cuda_write_gradient(b->w, read), .add = b->written[read]};
    if (b->l->pieces.at[read].gated) {
        t->gate = cuda_write_tensor(b->w, read);
        t->act = b->l->pieces.at[read].act;
    }
    b->written[read] = true;
    return true;
}

/* dy itself is the gradient of piece `read`: the same memory, or a copy. */
static void hand_on(struct back *b, int piece, int read, struct cuda_view dy)
{
    struct cuda_shape s = cuda_shape_of(&b->w->net->layer[b->l->pieces.at[piece].tail],
                                        b->w->models, b->w->n, b->l->math);
    struct target t;

    if (!target_of(b, read, &t) || b->l->pieces.at[read].same == piece)
        return;
    cuda_add_to(b->w->list, &s, dy, t.add, t.dx);
}

/* ---- convolution and dense ---- */

static struct cuda_view parameter_gradient(const struct back *b, int tensor)
{
    return tensor == NET_NONE
               ? none
               : cuda_write_floats(b->w, b->l->gradient + b->l->param_at[tensor] * 4, b->l->params);
}

/* Virtual device `shard`'s own. */
static struct cuda_view part_gradient(const struct back *b, int tensor, int shard)
{
    size_t at = (size_t)shard * b->l->params;

    if (tensor == NET_NONE)
        return none;
    return cuda_write_floats(b->w, b->l->parts + (at + b->l->param_at[tensor]) * 4, b->l->params);
}

static struct cuda_view images_from(const struct back *b, struct cuda_view v, size_t first,
                                    const struct net_shape *shape)
{
    return (struct cuda_view){(char *)v.p + first * size_of(shape) * cuda_element(b->l->math),
                              v.stride};
}

/* Where a layer's gradient goes; shard: a virtual device's own; -1: the place's. */
static struct cuda_weights weights_of(const struct back *b, const struct net_layer *head, int shard)
{
    bool own = shard >= 0;

    return (struct cuda_weights){
        .dweight =
            own ? part_gradient(b, head->kernel, shard) : parameter_gradient(b, head->kernel),
        .dbias = own ? part_gradient(b, head->bias, shard) : parameter_gradient(b, head->bias),
        .scratch = b->w->p->memory + b->l->scratch,
        .turns = (uint32_t *)(void *)(b->w->p->memory + b->l->turns + CUDA_TICK_TURN),
        .update = b->w->update,
    };
}

static void conv_weights(struct back *b, int layer, struct cuda_view x, struct cuda_view dy)
{
    const struct net_layer *head = &b->w->net->layer[layer];
    struct cuda_conv c = cuda_conv_of(head, b->w->models, b->w->n, b->l->math);
    int shards = b->w->p->share.shards;

    if (b->l->parts == SIZE_MAX) {
        struct cuda_weights to = weights_of(b, head, -1);

        if (!cuda_write_dnn_weights(b->w, layer, x, dy, to.dweight, to.dbias))
            cuda_conv_weights(b->w->list, &c, x, dy, &to);
        return;
    }
    c.n /= shards;
    for (int k = 0; k < shards; k++) {
        size_t first = (size_t)k * (size_t)c.n;
        struct cuda_weights to = weights_of(b, head, k);

        cuda_conv_weights(b->w->list, &c, images_from(b, x, first, &head->in),
                          images_from(b, dy, first, &head->out), &to);
    }
}

static void block_weights(struct back *b, int piece, struct cuda_view dy)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    const struct net_layer *head = head_of(b, piece);
    struct cuda_block part = cuda_block_of(b->w->net, p, b->w->models, b->w->n, b->l->math);
    struct cuda_view x = cuda_write_tensor(b->w, p->x), mask = cuda_write_mask(b->w, piece);
    const struct net_shape *out = &b->w->net->layer[p->pool].out;
    bool parts = b->l->parts != SIZE_MAX;
    int shards = parts ? b->w->p->share.shards : 1;

    part.conv.n /= shards;
    for (int k = 0; k < shards; k++) {
        size_t first = (size_t)k * (size_t)part.conv.n;
        struct cuda_view of = {(char *)mask.p + first * size_of(out), mask.stride};
        struct cuda_weights to = weights_of(b, head, parts ? k : -1);

        cuda_block_weights(b->w->list, &part, images_from(b, x, first, &head->in),
                           images_from(b, dy, first, out), of, &to);
    }
}

/* The gradient of what a piece reads, if it goes anywhere and is not made with the loss. */
static bool input_job(struct back *b, int piece, struct cuda_view dy, struct cuda_job *j)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    const struct net_layer *head = head_of(b, piece);
    struct target t;

    if (!target_of(b, p->x, &t) || (b->w->tail && piece == b->l->pieces.n - 1))
        return false;
    *j = (struct cuda_job){.kind = CUDA_JOB_INPUT,
                           .block = p->pool >= 0,
                           .dy = dy,
                           .weight = cuda_write_weight(b->w, head->kernel),
                           .gate = t.gate,
                           .act = t.act,
                           .add = t.add,
                           .dx = t.dx};
    if (j->block) {
        j->b = cuda_block_of(b->w->net, p, b->w->models, b->w->n, b->l->math);
        j->mask = cuda_write_mask(b->w, piece);
    } else {
        j->b.conv = cuda_conv_of(head, b->w->models, b->w->n, b->l->math);
    }
    return true;
}

static struct cuda_job weights_job(const struct back *b, int piece, struct cuda_view dy)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    const struct net_layer *head = head_of(b, piece);
    struct cuda_job j = {.kind = CUDA_JOB_WEIGHTS,
                         .block = p->pool >= 0,
                         .x = cuda_write_tensor(b->w, p->x),
                         .dy = dy,
                         .to = weights_of(b, head, -1)};

    if (p->x == NET_IMAGES)
        j.turn = cuda_write_turn(b->w);
    if (j.block) {
        j.b = cuda_block_of(b->w->net, p, b->w->models, b->w->n, b->l->math);
        j.mask = cuda_write_mask(b->w, piece);
    } else {
        j.b.conv = cuda_conv_of(head, b->w->models, b->w->n, b->l->math);
    }
    return j;
}

/* The job, and what waits for one. */
static void write_job(struct back *b, const struct cuda_job *j)
{
    bool weights = j->kind == CUDA_JOB_WEIGHTS;
    const struct cuda_job *first = weights ? &b->late : j, *second = weights ? j : &b->late;
    bool waits = b->waits;

    b->waits = false;
    if (!waits) {
        cuda_job_write(b->w->list, j);
    } else if (b->w->p->session->hooks.alone || !cuda_jobs_write(b->w->list, first, second)) {
        cuda_job_write(b->w->list, first);
        cuda_job_write(b->w->list, second);
    }
    if (weights || waits)
        b->w->weights = b->w->list->n;
}

static void write_late(struct back *b)
{
    struct cuda_job late = b->late;

    if (!b->waits)
        return;
    b->waits = false;
    write_job(b, &late);
}

/* Where each gradient of weights ends with new ones: it stands behind that of the input, which needs
 * the old, and goes beside what comes next. */
static void product_beside(struct back *b, int piece, struct cuda_view dy)
{
    struct cuda_job input, weights = weights_job(b, piece, dy);

    if (input_job(b, piece, dy, &input)) {
        write_job(b, &input);
    } else if (b->waits) {
        weights.to.scratch = (char *)weights.to.scratch + b->l->half_scratch;
        weights.to.turns += b->l->half_turns / sizeof *weights.to.turns;
        write_job(b, &weights);
        return;
    }
    b->late = weights;
    b->waits = true;
}

static void product_back(struct back *b, int piece, struct cuda_view dy)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    struct cuda_job j;

    if (b->w->update) {
        product_beside(b, piece, dy);
        return;
    }
    if (p->pool >= 0)
        block_weights(b, piece, dy);
    else
        conv_weights(b, p->head, cuda_write_tensor(b->w, p->x), dy);
    if (input_job(b, piece, dy, &j) &&
        (j.block || !cuda_write_dnn_input(b->w, p->head, dy, j.gate, j.act, j.add, j.dx)))
        cuda_job_write(b->w->list, &j);
}

/* ---- batch norm ---- */

/* Each virtual device's sums are its own part's gradient; where all share their statistics they
 * stand in the first part, the others stay zero. */
static void part_parameters(struct back *b, const struct net_layer *head,
                            const struct cuda_shape *s, struct cuda_view sums)
{
    const struct cuda_norm one = {.groups = 1};
    struct cuda_shape part = *s;

    part.n /= b->l->groups;
    for (int k = 0; k < b->l->groups; k++) {
        struct cuda_view of = {(float *)sums.p + (size_t)k * 2 * (size_t)s->c, sums.stride};

        cuda_norm_gradient(b->w->list, &part, &one, of, part_gradient(b, head->kernel, k),
                           part_gradient(b, head->bias, k));
    }
}

static void norm_back(struct back *b, int piece, struct cuda_view dy)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    const struct net_layer *head = head_of(b, piece);
    struct cuda_shape s = cuda_shape_of(head, b->w->models, b->w->n, b->l->math);
    struct cuda_norm all = {.groups = b->l->groups};
    struct cuda_norm_stats stats = cuda_write_stats(b->w, piece);
    size_t values = (size_t)b->l->groups * 2 * (size_t)s.c;
    struct cuda_view x = cuda_write_tensor(b->w, p->x);
    struct cuda_view sums = cuda_write_floats(b->w, b->l->norm_sums + b->l->norm_at[piece], values);
    bool parts = b->l->parts != SIZE_MAX;
    struct target t;

    if (!parts) {
        all.dscale = parameter_gradient(b, head->kernel);
        all.dbias = parameter_gradient(b, head->bias);
    }
    cuda_norm_back_sums(b->w->list, &s, &all, x, &stats, dy, b->w->p->memory + b->l->scratch, sums);
    if (parts)
        part_parameters(b, head, &s, sums);
    if (cuda_write_synced(b->w))
        cuda_write_sum(b->w, sums.p, values);
    if (target_of(b, p->x, &t))
        cuda_norm_back_input(b->w->list, &s, &all, cuda_write_count(b->w, head), x, &stats,
                             cuda_write_param(b->w, head->kernel), sums, dy, t.add, t.dx);
    if (p->x2 != NET_NONE)
        hand_on(b, piece, p->x2, dy);
}

/* ---- the rest ---- */

static void pool_back(struct back *b, int piece, struct cuda_view dy)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    const struct net_layer *head = head_of(b, piece);
    struct cuda_shape s = cuda_shape_of(head, b->w->models, b->w->n, b->l->math);
    struct cuda_pool pool = cuda_pool_of(head);
    struct target t;

    if (!target_of(b, p->x, &t))
        return;
    if (head->op == NET_GLOBALAVGPOOL)
        cuda_mean_backward(b->w->list, &s, dy, t.gate, t.act, t.add, t.dx);
    else
        cuda_pool_backward(b->w->list, &s, &pool,
                           head->op == NET_MAXPOOL ? cuda_write_tensor(b->w, p->x) : none, dy,
                           t.gate, t.act, t.add, t.dx);
}

static void act_back(struct back *b, int piece, struct cuda_view dy)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    const struct net_layer *head = head_of(b, piece);
    struct cuda_shape s = cuda_shape_of(head, b->w->models, b->w->n, b->l->math);
    struct target t;

    if (target_of(b, p->x, &t))
        cuda_act_backward(b->w->list, &s, cuda_act_of(head->op), cuda_write_tensor(b->w, piece), dy,
                          t.add, t.dx);
}

static void piece_back(struct back *b, int piece)
{
    const struct cuda_piece *p = &b->l->pieces.at[piece];
    struct cuda_view dy = cuda_write_gradient(b->w, piece);
    enum net_op op = head_of(b, piece)->op;
    struct target t;

    if (op != NET_CONV && op != NET_DENSE)
        write_late(b);
    if (cuda_piece_derives(p) && !p->gated) {
        const struct net_shape *out = &b->w->net->layer[p->tail].out;
        struct cuda_shape s = {b->w->models, b->w->n, out->h, out->w, out->c, b->l->math};

        cuda_act_backward(b->w->list, &s, p->act, cuda_write_tensor(b->w, piece), dy, false, dy);
    }
    switch (op) {
    case NET_CONV:
    case NET_DENSE:
        product_back(b, piece, dy);
        break;
    case NET_BATCHNORM:
        norm_back(b, piece, dy);
        break;
    case NET_AVGPOOL:
    case NET_MAXPOOL:
    case NET_GLOBALAVGPOOL:
        pool_back(b, piece, dy);
        break;
    case NET_RELU:
    case NET_TANH:
        act_back(b, piece, dy);
        break;
    case NET_DROPOUT:
        if (target_of(b, p->x, &t))
            cuda_write_dropout(b->w, piece, dy, t.add, t.dx);
        break;
    case NET_ADD:
        hand_on(b, piece, p->x, dy);
        hand_on(b, piece, p->x2, dy);
        break;
    }
}

void cuda_write_back(struct cuda_writer *w)
{
    const struct cuda_layout *l = &w->p->layout;
    struct back b = {.w = w, .l = l, .written = mem_new((size_t)l->pieces.n, 1)};

    for (int i = l->pieces.n - 1; i >= 0; i--)
        if (cuda_piece_learns(w->net, &l->pieces, i))
            piece_back(&b, i);
        else /* what waits is there until now: the piece before this one may write where it lay */
            write_late(&b);
    write_late(&b);
    if (l->parts != SIZE_MAX)
        cuda_mean_parts(w->list, w->p->share.shards, l->params, 1.0,
                        (const float *)(const void *)(w->p->memory + l->parts),
                        (float *)(void *)(w->p->memory + l->gradient));
    free(b.written);
}
