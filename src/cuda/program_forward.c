/* cuda/program_forward.c: where a step's tensors lie, and its forward half, which evaluation has too. */
#include "cuda/cuda_int.h"

static const struct cuda_view none = {NULL, 0};

/* ---- where things lie ---- */

struct cuda_view cuda_write_view(const struct cuda_writer *w, size_t offset, size_t stride,
                                 size_t element)
{
    return (struct cuda_view){w->p->memory + offset + (size_t)w->model * stride * element, stride};
}

struct cuda_view cuda_write_floats(const struct cuda_writer *w, size_t offset, size_t stride)
{
    return cuda_write_view(w, offset, stride, sizeof(float));
}

struct cuda_view cuda_write_slot(const struct cuda_writer *w, const struct cuda_slot *s,
                                 size_t element)
{
    return cuda_write_view(w, s->at, w->p->layout.between / element, element);
}

struct cuda_view cuda_write_gradient(const struct cuda_writer *w, int piece)
{
    return cuda_write_slot(w, &w->p->layout.grad[piece], cuda_element(w->p->layout.math));
}

struct cuda_view cuda_write_tensor(const struct cuda_writer *w, int piece)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_slot *out = w->training ? l->out : l->eval_out;
    size_t element = cuda_element(l->math);

    while (!w->training && piece >= 0 && w->net->layer[l->pieces.at[piece].head].op == NET_DROPOUT)
        piece = l->pieces.at[piece].x;
    if (piece >= 0)
        return cuda_write_slot(w, &out[piece], element);
    if (w->own)
        return cuda_write_slot(w, w->training ? &l->pixels : &l->eval_pixels, element);
    return cuda_write_view(w, w->training ? l->pixels.at : l->eval_pixels.at, 0, element);
}

struct cuda_view cuda_write_mask(const struct cuda_writer *w, int piece)
{
    return w->training ? cuda_write_slot(w, &w->p->layout.mask[piece], 1) : none;
}

struct cuda_view cuda_write_param(const struct cuda_writer *w, int tensor)
{
    const struct cuda_layout *l = &w->p->layout;

    return tensor == NET_NONE ? none
                              : cuda_write_floats(w, l->param + l->param_at[tensor] * 4, l->params);
}

struct cuda_view cuda_write_weight(const struct cuda_writer *w, int tensor)
{
    const struct cuda_layout *l = &w->p->layout;

    return l->math == CUDA_BF16
               ? cuda_write_view(w, l->half + l->param_at[tensor] * 2, l->params, 2)
               : cuda_write_param(w, tensor);
}

struct cuda_norm_stats cuda_write_stats(const struct cuda_writer *w, int piece)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct net_layer *head = &w->net->layer[l->pieces.at[piece].head];
    size_t channels = (size_t)head->out.c, stride = (size_t)l->groups * 2 * channels;
    size_t at = l->norm_stats + l->norm_at[piece];

    if (!w->training)
        return (struct cuda_norm_stats){
            .mean = cuda_write_floats(w, l->running + l->stat_at[head->mean] * 4, l->stats),
            .var = cuda_write_floats(w, l->running + l->stat_at[head->var] * 4, l->stats)};
    return (struct cuda_norm_stats){.mean = cuda_write_floats(w, at, stride),
                                    .var = cuda_write_floats(w, at + channels * 4, stride),
                                    .group_stride = 2 * channels};
}

/* ---- sums over places ---- */

static enum err_code sum_up(void *user, struct cuda_stream *s, struct err *e)
{
    const struct cuda_sum *sum = user;

    return cuda_group_sum(sum->place->group, sum->place->number, sum->buffer, sum->count, s, e);
}

void cuda_write_sum(const struct cuda_writer *w, float *buffer, size_t count)
{
    struct cuda_program *p = &w->p->program;

    if (!w->p->group)
        return;
    p->sum[p->sums] = (struct cuda_sum){w->p, buffer, count};
    cuda_list_call(w->list, sum_up, &p->sum[p->sums++]);
}

bool cuda_write_synced(const struct cuda_writer *w)
{
    return w->p->session->plan.sync_bn && w->p->group != NULL;
}

double cuda_write_count(const struct cuda_writer *w, const struct net_layer *norm)
{
    const struct backend_plan *plan = &w->p->session->plan;
    size_t images = plan->mode == SPEC_ENSEMBLE || plan->sync_bn
                        ? plan->batch
                        : plan->batch / (size_t)plan->devices;

    return (double)images * norm->in.h * norm->in.w;
}

/* ---- forward ---- */

/* Mean and variance of the batch, of each virtual device or over all. */
static void take_statistics(const struct cuda_writer *w, int piece, struct cuda_view x)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct backend_plan *plan = &w->p->session->plan;
    const struct net_layer *head = &w->net->layer[l->pieces.at[piece].head];
    const struct cuda_norm b = {
        .groups = l->groups,
        .mean_stats = cuda_write_floats(w, l->batch_stats + l->stat_at[head->mean] * 4, l->stats),
        .mean_factor = plan->mode == SPEC_ENSEMBLE ? 1.0
                       : plan->sync_bn             ? 1.0 / w->p->session->places
                                                   : 1.0 / plan->devices,
    };
    struct cuda_shape s = cuda_shape_of(head, w->models, w->n, l->math);
    size_t channels = (size_t)head->out.c;
    struct cuda_norm_stats stats = cuda_write_stats(w, piece);
    struct cuda_view sums = cuda_write_floats(w, l->norm_sums + l->norm_at[piece], channels);
    void *scratch = w->p->memory + l->scratch;

    if (cuda_write_synced(w)) {
        double count = cuda_write_count(w, head);

        cuda_norm_sum(w->list, &s, x, scratch, sums);
        cuda_write_sum(w, sums.p, channels);
        cuda_norm_mean(w->list, &s, count, sums, stats.mean);
        cuda_norm_squares(w->list, &s, x, scratch, stats.mean, sums);
        cuda_write_sum(w, sums.p, channels);
        cuda_norm_variance(w->list, &s, count, sums, stats.mean);
        cuda_norm_batch_mean(w->list, &s, &b, b.mean_factor, &stats, b.mean_stats);
    } else {
        cuda_norm_statistics(w->list, &s, &b, x, scratch, stats.mean);
    }
}

static void write_norm(const struct cuda_writer *w, int piece, struct cuda_view x,
                       struct cuda_view x2, struct cuda_view y)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_piece *p = &l->pieces.at[piece];
    const struct net_layer *head = &w->net->layer[p->head];
    struct cuda_shape s = cuda_shape_of(head, w->models, w->n, l->math);
    const struct cuda_norm b = {.groups = w->training ? l->groups : 1};
    struct cuda_norm_stats stats = cuda_write_stats(w, piece);

    if (w->training)
        take_statistics(w, piece, x);
    cuda_norm_forward(w->list, &s, &b, x, &stats, cuda_write_param(w, head->kernel),
                      cuda_write_param(w, head->bias), x2, p->act, y);
}

static int count_dropouts(const struct net *net, int before)
{
    int n = 0;

    for (int i = 0; i < before; i++)
        n += net->layer[i].op == NET_DROPOUT;
    return n;
}

/* (models, 2): the keys of a dropout layer, from the writer's first model on. */
static const uint32_t *dropout_keys(const struct cuda_writer *w, int layer)
{
    const struct cuda_layout *l = &w->p->layout;
    const uint32_t *keys = (const uint32_t *)(const void *)(w->p->memory + l->key);

    return keys +
           ((size_t)count_dropouts(w->net, layer) * (size_t)l->models + (size_t)w->model) * 2;
}

void cuda_write_dropout(const struct cuda_writer *w, int piece, struct cuda_view from, bool add,
                        struct cuda_view to)
{
    const struct cuda_layout *l = &w->p->layout;
    int layer = l->pieces.at[piece].head;
    struct cuda_shape s = cuda_shape_of(&w->net->layer[layer], w->models, w->n, l->math);

    cuda_dropout(w->list, &s, w->net->layer[layer].rate, dropout_keys(w, layer),
                 (const struct dev_clock *)(const void *)(w->p->memory + l->clock),
                 (size_t)w->p->share.first_image, from, add, to);
}

struct cuda_pool cuda_pool_of(const struct net_layer *l)
{
    return (struct cuda_pool){.k = l->k,
                              .stride = l->stride,
                              .oh = l->out.h,
                              .ow = l->out.w,
                              .max = l->op == NET_MAXPOOL};
}

void cuda_write_piece(const struct cuda_writer *w, int piece)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_piece *p = &l->pieces.at[piece];
    const struct net_layer *head = &w->net->layer[p->head];
    struct cuda_shape s = cuda_shape_of(head, w->models, w->n, l->math);
    struct cuda_view x = cuda_write_tensor(w, p->x), y = cuda_write_tensor(w, piece);
    struct cuda_view x2 = p->x2 == NET_NONE ? none : cuda_write_tensor(w, p->x2);

    switch (head->op) {
    case NET_CONV:
    case NET_DENSE: {
        struct cuda_conv c = cuda_conv_of(head, w->models, w->n, l->math);
        struct cuda_view weight = cuda_write_weight(w, head->kernel);
        struct cuda_view bias = cuda_write_param(w, head->bias);

        if (p->pool >= 0) {
            struct cuda_block b = cuda_block_of(w->net, p, w->models, w->n, l->math);

            cuda_block_forward(w->list, &b, x, weight, bias, p->act, y, cuda_write_mask(w, piece));
        } else if (!cuda_write_dnn_forward(w, p->head, x, p->act, y)) {
            cuda_conv_forward(w->list, &c, x, weight, bias, p->act, y);
        }
        break;
    }
    case NET_RELU:
    case NET_TANH:
        cuda_act_forward(w->list, &s, cuda_act_of(head->op), x, y);
        break;
    case NET_AVGPOOL:
    case NET_MAXPOOL: {
        struct cuda_pool pool = cuda_pool_of(head);

        cuda_pool_forward(w->list, &s, &pool, x, y);
        break;
    }
    case NET_GLOBALAVGPOOL:
        cuda_mean_forward(w->list, &s, x, y);
        break;
    case NET_BATCHNORM:
        write_norm(w, piece, x, x2, y);
        break;
    case NET_DROPOUT:
        if (w->training)
            cuda_write_dropout(w, piece, x, false, y);
        break;
    case NET_ADD:
        cuda_add_forward(w->list, &s, x, x2, p->act, y);
        break;
    }
}
