/* cuda/program.c: the list of launches that is a step, and the forward half of it, which evaluation
 * has too. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct cuda_view none = {NULL, 0};

static size_t size_of(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* ---- where things lie ---- */

static struct cuda_view view(const struct cuda_writer *w, size_t offset, size_t stride)
{
    return (struct cuda_view){w->p->memory + offset, stride};
}

struct cuda_view cuda_write_tensor(const struct cuda_writer *w, int piece)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_slot *out = w->training ? l->out : l->eval_out;

    while (!w->training && piece >= 0 && w->net->layer[l->pieces.at[piece].head].op == NET_DROPOUT)
        piece = l->pieces.at[piece].x;
    if (piece < 0)
        return view(w, w->training ? l->pixels.at : l->eval_pixels.at,
                    w->own ? cuda_stride((size_t)w->n * size_of(&w->net->input)) : 0);
    return view(w, out[piece].at,
                cuda_stride((size_t)w->n * size_of(&w->net->layer[l->pieces.at[piece].tail].out)));
}

struct cuda_view cuda_write_mask(const struct cuda_writer *w, int piece)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct net_shape *out = &w->net->layer[l->pieces.at[piece].tail].out;

    return w->training ? view(w, l->mask[piece].at, cuda_stride((size_t)w->n * size_of(out)))
                       : none;
}

struct cuda_view cuda_write_param(const struct cuda_writer *w, int tensor)
{
    const struct cuda_layout *l = &w->p->layout;

    return tensor == NET_NONE ? none : view(w, l->param + l->param_at[tensor] * 4, l->params);
}

struct cuda_view cuda_write_weight(const struct cuda_writer *w, int tensor)
{
    const struct cuda_layout *l = &w->p->layout;

    return l->math == CUDA_BF16 ? view(w, l->half + l->param_at[tensor] * 2, l->params)
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
            .mean = view(w, l->running + l->stat_at[head->mean] * 4, l->stats),
            .var = view(w, l->running + l->stat_at[head->var] * 4, l->stats)};
    return (struct cuda_norm_stats){.mean = view(w, at, stride),
                                    .var = view(w, at + channels * 4, stride),
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
    const struct cuda_norm b = {.groups = l->groups};
    struct cuda_shape s = cuda_shape_of(head, l->models, w->n, l->math);
    size_t channels = (size_t)head->out.c;
    struct cuda_norm_stats stats = cuda_write_stats(w, piece);
    struct cuda_view sums = view(w, l->norm_sums + l->norm_at[piece], channels);
    void *scratch = w->p->memory + l->scratch;
    double factor = plan->mode == SPEC_ENSEMBLE ? 1.0
                    : plan->sync_bn             ? 1.0 / w->p->session->places
                                                : 1.0 / plan->devices;

    if (cuda_write_synced(w)) {
        double count = cuda_write_count(w, head);

        cuda_norm_sum(w->list, &s, x, scratch, sums);
        cuda_write_sum(w, sums.p, channels);
        cuda_norm_mean(w->list, &s, count, sums, stats.mean);
        cuda_norm_squares(w->list, &s, x, scratch, stats.mean, sums);
        cuda_write_sum(w, sums.p, channels);
        cuda_norm_variance(w->list, &s, count, sums, stats.mean);
    } else {
        cuda_norm_statistics(w->list, &s, &b, x, scratch, stats.mean);
    }
    cuda_norm_batch_mean(w->list, &s, &b, factor, &stats,
                         view(w, l->batch_stats + l->stat_at[head->mean] * 4, l->stats));
}

static void write_norm(const struct cuda_writer *w, int piece, struct cuda_view x,
                       struct cuda_view x2, struct cuda_view y)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_piece *p = &l->pieces.at[piece];
    const struct net_layer *head = &w->net->layer[p->head];
    struct cuda_shape s = cuda_shape_of(head, l->models, w->n, l->math);
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

/* (models, 2): the keys of a dropout layer. */
static const uint32_t *dropout_keys(const struct cuda_writer *w, int layer)
{
    const struct cuda_layout *l = &w->p->layout;
    const uint32_t *keys = (const uint32_t *)(const void *)(w->p->memory + l->key);

    return keys + (size_t)count_dropouts(w->net, layer) * (size_t)l->models * 2;
}

void cuda_write_dropout(const struct cuda_writer *w, int piece, struct cuda_view from, bool add,
                        struct cuda_view to)
{
    const struct cuda_layout *l = &w->p->layout;
    int layer = l->pieces.at[piece].head;
    struct cuda_shape s = cuda_shape_of(&w->net->layer[layer], l->models, w->n, l->math);

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

static void write_piece(const struct cuda_writer *w, int piece)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_piece *p = &l->pieces.at[piece];
    const struct net_layer *head = &w->net->layer[p->head];
    struct cuda_shape s = cuda_shape_of(head, l->models, w->n, l->math);
    struct cuda_view x = cuda_write_tensor(w, p->x), y = cuda_write_tensor(w, piece);
    struct cuda_view x2 = p->x2 == NET_NONE ? none : cuda_write_tensor(w, p->x2);

    switch (head->op) {
    case NET_CONV:
    case NET_DENSE: {
        struct cuda_conv c = cuda_conv_of(head, l->models, w->n, l->math);
        struct cuda_view weight = cuda_write_weight(w, head->kernel);
        struct cuda_view bias = cuda_write_param(w, head->bias);

        if (p->pool >= 0) {
            struct cuda_block b = cuda_block_of(w->net, p, l->models, w->n, l->math);

            cuda_block_forward(w->list, &b, x, weight, bias, p->act, y, cuda_write_mask(w, piece));
        } else if (!cuda_write_dnn_forward(w, p->head, x, p->act, y)) {
            cuda_conv_forward(w->list, &c, x, weight, bias, p->act, y);
        }
        break;
    }
    case NET_RELU:
    case NET_TANH:
        cuda_act_forward(w->list, &s, head->op == NET_RELU ? CUDA_RELU : CUDA_TANH, x, y);
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

/* ---- the whole step ---- */

static void write_gather(const struct cuda_writer *w, struct cuda_list *list,
                         const struct dev_clock *clock)
{
    const struct cuda_place *p = w->p;
    const struct cuda_layout *l = &p->layout;
    const struct backend_plan *plan = &p->session->plan;
    struct cuda_gather g = {
        .from = p->part[0],
        .math = l->math,
        .models = w->own ? l->models : 1,
        .n = l->images,
        .batch = plan->batch,
        .first = (size_t)p->share.first_image,
        .order = (const uint32_t *)(const void *)(p->memory + l->order),
        .order_stride = plan->data->train.count,
        .augment = plan->augment,
        .crop_pad = plan->crop_pad,
        .x_turn = w->ahead ? l->pixel_turn : 0,
        .label_turn = w->ahead ? l->label_turn : 0,
    };
    struct cuda_view x = cuda_write_tensor(w, NET_IMAGES);
    uint16_t *label = (uint16_t *)(void *)(p->memory + l->label);

    cuda_gather(list, &g, clock, x, label);
    if (w->ahead) {
        struct gather_args next = cuda_gather_args(&g, clock, x, label);

        cuda_jobs_gather(w->list, &next, g.n);
    }
}

/* Of an image's loss in the gradient. */
static float loss_weight(const struct backend_plan *plan)
{
    int devices = plan->mode == SPEC_ENSEMBLE ? 1 : plan->devices;
    double shard = (double)plan->batch / devices;

    return (float)(plan->sum_loss ? 1.0 / devices : 1.0 / (shard * devices));
}

static void write_loss(const struct cuda_writer *w, const struct dev_clock *clock)
{
    const struct cuda_place *p = w->p;
    const struct cuda_layout *l = &p->layout;
    size_t outputs = size_of(&w->net->layer[w->net->layers - 1].out);
    struct cuda_loss c = {
        .math = l->math,
        .models = l->models,
        .n = l->images,
        .outputs = (int)outputs,
        .shards = p->share.shards,
        .weight = loss_weight(&p->session->plan),
    };

    cuda_loss(w->list, &c, clock, cuda_write_tensor(w, l->pieces.n - 1),
              (const uint16_t *)(const void *)(p->memory + l->label),
              w->own ? (size_t)l->images : 0,
              view(w, l->grad[l->pieces.n - 1].at, cuda_stride((size_t)w->n * outputs)),
              p->result_device, (float *)(void *)(p->memory + l->flag));
}

/* The last piece where one kernel makes it, the loss, and the gradient of what it reads. */
static bool tail_of(const struct cuda_writer *w, struct cuda_tail *t)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct cuda_piece *last = &l->pieces.at[l->pieces.n - 1];
    const struct net_layer *head = &w->net->layer[last->head];

    if (head->op != NET_DENSE || last->act != CUDA_LINEAR)
        return false;
    *t = (struct cuda_tail){
        .math = l->math,
        .models = l->models,
        .n = l->images,
        .c = (int)size_of(&head->in),
        .outputs = head->out.c,
        .shards = w->p->share.shards,
        .weight = loss_weight(&w->p->session->plan),
    };
    if (last->x >= 0) {
        t->act = l->pieces.at[last->x].act;
        t->gated = l->pieces.at[last->x].gated;
    }
    return cuda_tail_can(t);
}

static void write_tail(const struct cuda_writer *w, const struct cuda_tail *t,
                       const struct dev_clock *clock)
{
    const struct cuda_place *p = w->p;
    const struct cuda_layout *l = &p->layout;
    int last = l->pieces.n - 1, x = l->pieces.at[last].x;
    const struct net_layer *head = &w->net->layer[l->pieces.at[last].head];
    size_t in = cuda_stride((size_t)w->n * (size_t)t->c);
    struct cuda_tail_at at = {
        .x = cuda_write_tensor(w, x),
        .weight = cuda_write_weight(w, head->kernel),
        .bias = cuda_write_param(w, head->bias),
        .z = cuda_write_tensor(w, last),
        .dz = view(w, l->grad[last].at, cuda_stride((size_t)w->n * (size_t)t->outputs)),
        .dx = x >= 0 ? view(w, l->grad[x].at, in) : none,
        .label = (const uint16_t *)(const void *)(p->memory + l->label),
        .label_stride = w->own ? (size_t)l->images : 0,
        .label_turn = w->ahead ? l->label_turn : 0,
        .scratch = p->memory + l->scratch,
        .turns = (uint32_t *)(void *)(p->memory + l->turns + CUDA_TICK_TURN),
    };

    cuda_tail(w->list, t, clock, &at, p->result_device, (float *)(void *)(p->memory + l->flag));
}

static struct cuda_update update_of(const struct cuda_place *p)
{
    const struct backend_plan *plan = &p->session->plan;

    return (struct cuda_update){
        .models = p->layout.models,
        .n = p->layout.params,
        .optimizer = plan->optimizer,
        .momentum = plan->momentum,
        .beta1 = plan->beta1,
        .beta2 = plan->beta2,
        .epsilon = plan->epsilon,
        .weight_decay = plan->weight_decay,
        .grad_clip = plan->grad_clip,
        .stats = p->layout.stats,
    };
}

/* Whether each gradient's kernel can end with the new weights: nothing is summed over places or
 * virtual devices first, no norm of all gradients is needed, and all parameters are those of
 * convolutions and dense layers of our own kernels. */
static bool can_update_here(const struct cuda_writer *w)
{
    const struct cuda_place *p = w->p;

    if (p->session->hooks.late || p->group || p->layout.parts != SIZE_MAX ||
        p->session->plan.grad_clip > 0)
        return false;
    for (int i = 0; i < w->net->layers; i++)
        if (w->net->layer[i].op == NET_BATCHNORM || (p->dnn_layer && p->dnn_layer[i]))
            return false;
    return true;
}

static void *slot_at(const struct cuda_place *p, size_t at)
{
    return at == SIZE_MAX ? NULL : p->memory + at;
}

static struct update_here update_here(const struct cuda_place *p, const struct dev_clock *clock)
{
    const struct cuda_layout *l = &p->layout;
    struct cuda_update u = update_of(p);

    return cuda_update_here(&u, clock, (const double *)(const void *)(p->memory + l->rate),
                            p->memory + l->gradient, p->memory + l->param, slot_at(p, l->slot[0]),
                            slot_at(p, l->slot[1]), slot_at(p, l->half));
}

static void write_update(const struct cuda_writer *w, const struct dev_clock *clock)
{
    const struct cuda_place *p = w->p;
    const struct cuda_layout *l = &p->layout;
    struct cuda_update u = update_of(p);

    cuda_update(w->list, &u, clock, (const double *)(const void *)(p->memory + l->rate),
                p->memory + l->scratch, view(w, l->gradient, l->params),
                view(w, l->param, l->params),
                l->slot[0] == SIZE_MAX ? none : view(w, l->slot[0], l->params),
                l->slot[1] == SIZE_MAX ? none : view(w, l->slot[1], l->params),
                l->half == SIZE_MAX ? none : view(w, l->half, l->params),
                view(w, l->batch_stats, l->stats), view(w, l->running, l->stats));
}

/* By the last gradient's kernel where that ends the step, else by one of its own. */
static void write_tick(const struct cuda_writer *w, struct dev_clock *clock)
{
    const struct cuda_layout *l = &w->p->layout;
    const struct tick_args tick = {
        .clock = clock,
        .flag = (const float *)(const void *)(w->p->memory + l->flag),
        .turn = (uint32_t *)(void *)(w->p->memory + l->turns),
    };

    if (w->update && cuda_jobs_last(w->list))
        cuda_jobs_tick(w->list, &tick);
    else if (w->update && w->weights == w->list->n)
        cuda_conv_tick(w->list, &tick);
    else
        cuda_tick(w->list, clock, tick.flag);
}

/* One sum a step, and three a synchronised batch norm. */
static size_t count_sums(const struct net *net)
{
    size_t n = 1;

    for (int i = 0; i < net->layers; i++)
        n += net->layer[i].op == NET_BATCHNORM ? 3 : 0;
    return n;
}

/* Whether the images of the next step can be fetched while this one still reads its own: only the
 * first piece may read them, and only the kernel of the last one their labels. */
static bool can_fetch_ahead(const struct cuda_writer *w)
{
    const struct cuda_pieces *pieces = &w->p->layout.pieces;
    enum net_op op = w->net->layer[pieces->at[0].head].op;
    int readers = 0;

    for (int i = 0; i < pieces->n; i++)
        readers += (pieces->at[i].x == NET_IMAGES) + (pieces->at[i].x2 == NET_IMAGES);
    return w->update && w->tail && pieces->n > 1 && w->p->layout.sides && readers == 1 &&
           pieces->at[0].x == NET_IMAGES && (op == NET_CONV || op == NET_DENSE);
}

struct cuda_turn cuda_write_turn(const struct cuda_writer *w)
{
    const struct cuda_layout *l = &w->p->layout;

    if (!w->ahead)
        return (struct cuda_turn){0};
    return (struct cuda_turn){(const struct dev_clock *)(void *)(w->p->memory + l->clock),
                              l->pixel_turn};
}

/* Up to the gradients. */
static void write_step(struct cuda_writer *w, const struct cuda_tail *tail,
                       const struct dev_clock *clock)
{
    const struct cuda_layout *l = &w->p->layout;
    struct cuda_program *program = &w->p->program;

    if (!w->ahead)
        write_gather(w, w->list, clock);
    program->cut[0] = program->step.n;
    for (int i = 0; i < l->pieces.n - w->tail; i++) {
        const struct cuda_turn turn = cuda_write_turn(w);

        write_piece(w, i);
        if (w->ahead && i == 0)
            cuda_conv_turn(w->list, &turn);
    }
    if (w->tail)
        write_tail(w, tail, clock);
    else
        write_loss(w, clock);
    cuda_write_back(w);
}

void cuda_program_make(struct cuda_place *p, bool own)
{
    const struct cuda_layout *l = &p->layout;
    struct cuda_program *program = &p->program;
    struct dev_clock *clock = (struct dev_clock *)(void *)(p->memory + l->clock);
    struct cuda_writer w = {.p = p,
                            .net = p->session->plan.net,
                            .list = &program->step,
                            .n = l->images,
                            .training = true,
                            .own = own};
    const struct update_here here = update_here(p, clock);
    struct cuda_tail tail;

    *program = (struct cuda_program){0};
    program->sum = mem_new(count_sums(w.net), sizeof *program->sum);
    w.tail = tail_of(&w, &tail);
    w.update = can_update_here(&w) ? &here : NULL;
    w.ahead = can_fetch_ahead(&w);
    write_step(&w, &tail, clock);
    if (w.ahead && cuda_jobs_last(&program->step)) {
        write_gather(&w, &program->begin, clock);
    } else if (w.ahead) { /* no launch at the end that could do it */
        w.ahead = false;
        cuda_list_free(&program->step);
        write_step(&w, &tail, clock);
    }
    program->cut[1] = program->step.n;
    cuda_write_sum(&w, (float *)(void *)(p->memory + l->gradient), l->reduce);
    program->cut[2] = program->step.n;
    if (!w.update)
        write_update(&w, clock);
    write_tick(&w, clock);

    w = (struct cuda_writer){.p = p, .net = w.net, .list = &program->evaluate, .n = l->evaluate};
    for (int i = 0; i < l->pieces.n; i++)
        write_piece(&w, i);
}

void cuda_program_free(struct cuda_program *p)
{
    cuda_list_free(&p->step);
    cuda_list_free(&p->begin);
    cuda_list_free(&p->evaluate);
    free(p->sum);
    *p = (struct cuda_program){0};
}
