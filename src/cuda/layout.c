/* cuda/layout.c: a place's memory, counted before any device is opened. What lasts lies first, then the
 * data set, then a region for each model whose parts are used several times in a step, and by
 * evaluation: whichever model works first, it works in its own. */
#include "cuda/cuda_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK       1024                /* images of evaluation at a time, where there is room */
#define CHUNK_BYTES ((size_t)256 << 20) /* that evaluation may take beyond what training takes */

static size_t size_of(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

struct cuda_conv cuda_conv_of(const struct net_layer *l, int models, int n, enum cuda_math math)
{
    if (l->op == NET_DENSE)
        return (struct cuda_conv){.models = models,
                                  .n = n,
                                  .h = 1,
                                  .w = 1,
                                  .c = (int)size_of(&l->in),
                                  .oh = 1,
                                  .ow = 1,
                                  .oc = l->out.c,
                                  .k = 1,
                                  .stride = 1,
                                  .math = math};
    return (struct cuda_conv){.models = models,
                              .n = n,
                              .h = l->in.h,
                              .w = l->in.w,
                              .c = l->in.c,
                              .oh = l->out.h,
                              .ow = l->out.w,
                              .oc = l->out.c,
                              .k = l->k,
                              .stride = l->stride,
                              .pad_top = l->pad_top,
                              .pad_left = l->pad_left,
                              .pad_bottom = l->pad_bottom,
                              .pad_right = l->pad_right,
                              .math = math};
}

struct cuda_block cuda_block_of(const struct net *net, const struct cuda_piece *p, int models,
                                int n, enum cuda_math math)
{
    return (struct cuda_block){.conv = cuda_conv_of(&net->layer[p->head], models, n, math),
                               .max = net->layer[p->pool].op == NET_MAXPOOL};
}

struct cuda_shape cuda_shape_of(const struct net_layer *l, int models, int n, enum cuda_math math)
{
    return (struct cuda_shape){
        .models = models, .n = n, .h = l->in.h, .w = l->in.w, .c = l->in.c, .math = math};
}

/* ---- what lasts ---- */

/* The next part of the block, of n bytes. */
static size_t part(struct cuda_layout *l, size_t n)
{
    size_t at = l->bytes;

    l->bytes += cuda_round(n, 256);
    return at;
}

static void place_tensors(struct cuda_layout *l, const struct net *net)
{
    l->param_at = mem_new((size_t)net->params + 1, sizeof *l->param_at);
    l->stat_at = mem_new((size_t)net->stats + 1, sizeof *l->stat_at);
    for (int i = 0; i < net->params; i++) {
        l->param_at[i] = l->params;
        l->params += cuda_round(net->param[i].count, CUDA_ALIGN);
    }
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *layer = &net->layer[i];

        if (layer->op != NET_BATCHNORM)
            continue;
        l->stat_at[layer->mean] = l->stats;
        l->stat_at[layer->var] = l->stats + (size_t)layer->out.c;
        l->stats += cuda_round(2 * (size_t)layer->out.c, CUDA_ALIGN);
    }
}

static int dropouts(const struct net *net)
{
    int n = 0;

    for (int i = 0; i < net->layers; i++)
        n += net->layer[i].op == NET_DROPOUT;
    return n;
}

static void place_state(struct cuda_layout *l, const struct backend_plan *plan,
                        const struct cuda_share *share)
{
    size_t models = (size_t)l->models, params = models * l->params, stats = models * l->stats;

    l->param = part(l, params * 4);
    l->half = l->math == CUDA_BF16 ? part(l, params * 2) : SIZE_MAX;
    l->reduce = params + stats + CUDA_ALIGN;
    l->gradient = part(l, l->reduce * 4);
    l->batch_stats = l->gradient + params * 4;
    l->flag = l->batch_stats + stats * 4;
    for (int i = 0; i < 2; i++)
        l->slot[i] = i < backend_slots(plan->optimizer) ? part(l, params * 4) : SIZE_MAX;
    l->running = part(l, stats * 4);
    l->parts = cuda_hooks.separate && share->shards > 1
                   ? part(l, (size_t)share->shards * params * 4)
                   : SIZE_MAX;
    l->order = part(l, models * plan->data->train.count * 4);
    l->next = part(l, models * plan->data->train.count * 4);
    l->label_turn = cuda_round(models * (size_t)l->images, CUDA_ALIGN);
    l->label = part(l, 2 * l->label_turn * 2);
    l->clock = part(l, sizeof(struct dev_clock) + CUDA_SPAN * sizeof(double));
    l->rate = l->clock + sizeof(struct dev_clock);
    l->key = part(l, (size_t)dropouts(plan->net) * models * 8);
}

static void place_norms(struct cuda_layout *l, const struct net *net)
{
    size_t bytes = 0;

    l->norm_at = mem_new((size_t)l->pieces.n, sizeof *l->norm_at);
    for (int i = 0; i < l->pieces.n; i++) {
        const struct net_layer *head = &net->layer[l->pieces.at[i].head];

        l->norm_at[i] = bytes;
        if (head->op == NET_BATCHNORM)
            bytes += cuda_round((size_t)l->models * (size_t)l->groups * 2 * (size_t)head->out.c * 4,
                                256);
    }
    l->norm_stats = part(l, bytes);
    l->norm_sums = part(l, bytes);
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Of weights' gradients; of two at a time where they go side by side. */
static void job_room(struct cuda_layout *l, const struct cuda_job *weights)
{
    struct cuda_conv c = weights->block ? cuda_block_conv(&weights->b) : weights->b.conv;
    struct cuda_job job = *weights;

    job.kind = CUDA_JOB_WEIGHTS;
    l->scratch_bytes =
        most(l->scratch_bytes, l->sides ? cuda_job_scratch(&job) : cuda_conv_scratch(&c));
    l->turn_bytes = most(l->turn_bytes, l->sides ? cuda_job_turns(&job) : cuda_conv_turns(&c));
}

static bool has_norm(const struct net *net)
{
    for (int i = 0; i < net->layers; i++)
        if (net->layer[i].op == NET_BATCHNORM)
            return true;
    return false;
}

static void place_scratch(struct cuda_layout *l, const struct backend_plan *plan,
                          const struct cuda_share *share)
{
    const struct net *net = plan->net;
    struct cuda_tail tail = {.models = l->models, .n = l->images, .shards = share->shards};
    struct cuda_update u = {.models = l->models,
                            .n = l->params,
                            .optimizer = plan->optimizer,
                            .grad_clip = plan->grad_clip,
                            .stats = l->stats};

    l->scratch_bytes = most(cuda_update_scratch(&u), cuda_tail_scratch(&tail));
    l->turn_bytes = cuda_tail_turns(&tail);
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *layer = &net->layer[i];

        if (layer->op == NET_CONV || layer->op == NET_DENSE) {
            struct cuda_job job = {
                .b = {.conv = cuda_conv_of(layer, l->models, l->images, l->math)}};

            job_room(l, &job);
        } else if (layer->op == NET_BATCHNORM) {
            struct cuda_shape s = cuda_shape_of(layer, l->models, l->images, l->math);
            struct cuda_norm b = {.groups = l->groups};

            l->scratch_bytes = most(l->scratch_bytes, cuda_norm_scratch(&s, &b));
        }
    }
    for (int i = 0; i < l->pieces.n; i++)
        if (l->pieces.at[i].pool >= 0) {
            struct cuda_job job = {
                .block = true,
                .b = cuda_block_of(net, &l->pieces.at[i], l->models, l->images, l->math)};

            job_room(l, &job);
        }
    l->half_scratch = cuda_round(l->scratch_bytes, 256);
    l->half_turns = cuda_round(l->turn_bytes, 256);
    if (l->sides) {
        l->scratch_bytes = 2 * l->half_scratch;
        l->turn_bytes = 2 * l->half_turns;
    }
    l->turns = part(l, CUDA_TICK_TURN + l->turn_bytes);
    l->scratch = part(l, l->scratch_bytes);
}

/* ---- what a model needs for a while. Of P pieces, piece i works forward at time i, backward at 2 P - i;
 *      the images are gathered at -1 and losses taken at P ---- */

static size_t tensor_bytes(const struct cuda_layout *l, const struct net_shape *shape, int n)
{
    return cuda_stride((size_t)n * size_of(shape)) * cuda_element(l->math);
}

/* Whether a piece looks at what it read once more when it works backwards. */
static bool reads_again(const struct cuda_layout *l, const struct net *net, int piece)
{
    const struct cuda_piece *p = &l->pieces.at[piece];
    enum net_op op = net->layer[p->head].op;

    return op == NET_CONV || op == NET_DENSE || op == NET_BATCHNORM || op == NET_MAXPOOL ||
           (p->x >= 0 && l->pieces.at[p->x].gated);
}

static void until(struct cuda_slot *s, int time)
{
    if (time > s->to)
        s->to = time;
}

/* How much longer the weights' gradient may be put off, to go beside the work behind it. */
static int later(const struct cuda_layout *l, const struct net *net, int piece)
{
    enum net_op op = net->layer[l->pieces.at[piece].head].op;

    return l->sides && (op == NET_CONV || op == NET_DENSE);
}

static void time_outputs(struct cuda_layout *l, const struct net *net)
{
    int n = l->pieces.n;

    l->pixels =
        (struct cuda_slot){.bytes = tensor_bytes(l, &net->input, l->images), .from = -1, .to = -1};
    l->pixel_turn = l->pixels.bytes / cuda_element(l->math);
    if (l->sides) { /* those of the next step are fetched while these are still read */
        l->pixels.bytes *= 2;
        l->pixels.to = 2 * n + 1;
    }
    if (l->models > 1) /* another one may read the same images after all this */
        l->pixels.to = 2 * n + 1;
    for (int i = 0; i < n; i++) {
        const struct cuda_piece *p = &l->pieces.at[i];
        struct cuda_slot *x = p->x >= 0 ? &l->out[p->x] : &l->pixels;

        l->out[i] = (struct cuda_slot){
            .bytes = tensor_bytes(l, &net->layer[p->tail].out, l->images), .from = i, .to = i};
        if ((cuda_piece_derives(p) && !p->gated) ||
            cuda_act_of(net->layer[p->head].op) != CUDA_LINEAR)
            until(&l->out[i], 2 * n - i);
        until(x, reads_again(l, net, i) ? 2 * n - i + later(l, net, i) : i);
        if (p->x2 != NET_NONE)
            until(p->x2 >= 0 ? &l->out[p->x2] : &l->pixels, i);
    }
    until(&l->out[n - 1], 2 * n); /* the logits are small, and peek always shows them */
}

/* The piece in whose memory a gradient lies. */
static int home_of(const struct cuda_layout *l, int piece)
{
    while (l->pieces.at[piece].same >= 0)
        piece = l->pieces.at[piece].same;
    return piece;
}

/* slot.from and .to are times of the first writing and the last reading. */
static void time_gradients(struct cuda_layout *l, const struct net *net)
{
    int n = l->pieces.n;

    for (int i = 0; i < n; i++)
        l->grad[i] = (struct cuda_slot){
            .bytes = cuda_piece_learns(net, &l->pieces, i)
                         ? tensor_bytes(l, &net->layer[l->pieces.at[i].tail].out, l->images)
                         : 0,
            .from = i == n - 1 ? n : 2 * n - i,
            .to = 2 * n - i + later(l, net, i)};
    for (int i = n - 1; i >= 0; i--) {
        const struct cuda_piece *p = &l->pieces.at[i];
        const int read[2] = {p->x, p->x2};

        const int when = i == n - 1 ? n : 2 * n - i; /* the last one may be made with the losses */

        for (int k = 0; k < 2; k++)
            if (read[k] >= 0 && l->grad[read[k]].from > when)
                l->grad[read[k]].from = when;
    }
    for (int i = 0; i < n; i++) {
        int home = home_of(l, i);

        if (home != i) {
            until(&l->grad[home], l->grad[i].to);
            l->grad[i].bytes = 0;
        }
    }
}

static void time_masks(struct cuda_layout *l, const struct net *net)
{
    for (int i = 0; i < l->pieces.n; i++) {
        const struct cuda_piece *p = &l->pieces.at[i];
        size_t elements = p->pool < 0 ? 0 : (size_t)l->images * size_of(&net->layer[p->pool].out);

        l->mask[i] = (struct cuda_slot){.bytes = cuda_stride(elements),
                                        .from = i,
                                        .to = 2 * l->pieces.n - i + later(l, net, i)};
    }
}

static void place_training(struct cuda_layout *l, const struct net *net)
{
    int n = l->pieces.n;
    struct cuda_slot *all = mem_new(3 * (size_t)n + 1, sizeof *all);

    l->out = mem_new((size_t)n, sizeof *l->out);
    l->grad = mem_new((size_t)n, sizeof *l->grad);
    l->mask = mem_new((size_t)n, sizeof *l->mask);
    time_outputs(l, net);
    time_gradients(l, net);
    time_masks(l, net);
    all[0] = l->pixels;
    memcpy(all + 1, l->out, (size_t)n * sizeof *all);
    memcpy(all + 1 + n, l->grad, (size_t)n * sizeof *all);
    memcpy(all + 1 + 2 * n, l->mask, (size_t)n * sizeof *all);
    l->between = cuda_slots_place(all, 3 * n + 1, cuda_hooks.keep);
    l->pixels = all[0];
    memcpy(l->out, all + 1, (size_t)n * sizeof *all);
    memcpy(l->grad, all + 1 + n, (size_t)n * sizeof *all);
    memcpy(l->mask, all + 1 + 2 * n, (size_t)n * sizeof *all);
    for (int i = 0; i < n; i++) {
        int home = home_of(l, i);

        if (home != i) { /* who took the memory over sees it whole */
            l->grad[i].at = l->grad[home].at;
            l->grad[i].intact = l->grad[home].intact;
        }
    }
    for (int i = 0; i < n; i++)
        if (l->pieces.at[i].same >= 0)
            l->grad[l->pieces.at[i].same].intact = false;
    free(all);
}

/* The same for evaluation of `images` images, at times of 0 ... P - 1. */
static size_t place_evaluation(struct cuda_layout *l, const struct net *net, int images)
{
    int n = l->pieces.n;
    struct cuda_slot *all = mem_new((size_t)n + 1, sizeof *all);
    size_t bytes;

    all[0] = (struct cuda_slot){
        .bytes = tensor_bytes(l, &net->input, images), .from = -1, .to = l->models > 1 ? n : -1};
    for (int i = 0; i < n; i++) {
        const struct cuda_piece *p = &l->pieces.at[i];

        all[1 + i] = (struct cuda_slot){.bytes = tensor_bytes(l, &net->layer[p->tail].out, images),
                                        .from = i,
                                        .to = i == n - 1 ? n : i};
        for (int k = 0; k < 2; k++) {
            int read = k ? p->x2 : p->x;

            if (read != NET_NONE)
                until(&all[1 + read], i); /* NET_IMAGES is -1 */
        }
    }
    for (int i = n - 1; i >= 0; i--) { /* dropout lets pass: who reads it reads what it would */
        const struct cuda_piece *p = &l->pieces.at[i];

        if (net->layer[p->head].op == NET_DROPOUT) {
            until(&all[1 + p->x], all[1 + i].to);
            all[1 + i].bytes = 0;
        }
    }
    bytes = cuda_slots_place(all, n + 1, false);
    l->eval_pixels = all[0];
    memcpy(l->eval_out, all + 1, (size_t)n * sizeof *all);
    free(all);
    return bytes;
}

/* So many images a launch of evaluation may have: its kernels' numbers of pixels have an end. */
static size_t most_images(const struct net *net)
{
    size_t pixels = 1;

    for (int i = 0; i < net->layers; i++) {
        const struct net_shape *in = &net->layer[i].in, *out = &net->layer[i].out;

        pixels = most(pixels, most((size_t)in->h * (size_t)in->w, (size_t)out->h * (size_t)out->w));
    }
    return (size_t)CUDA_PIXELS / pixels;
}

static void place_arena(struct cuda_layout *l, const struct backend_plan *plan)
{
    size_t images = most(plan->data->valid.count, plan->data->test.count), bytes;
    size_t at_once = most_images(plan->net) < CHUNK ? most_images(plan->net) : CHUNK;

    place_training(l, plan->net);
    l->eval_out = mem_new((size_t)l->pieces.n, sizeof *l->eval_out);
    l->evaluate = (int)most(1, images < at_once ? images : at_once);
    for (;;) {
        bytes = place_evaluation(l, plan->net, l->evaluate);
        if (bytes <= most(l->between, CHUNK_BYTES / (size_t)l->models) || l->evaluate == 1)
            break;
        l->evaluate = (l->evaluate + 1) / 2;
    }
    l->between = cuda_round(most(l->between, bytes), 256);
    l->arena = (size_t)l->models * l->between;
}

/* Moves all slots to where the region begins. */
static void shift(struct cuda_layout *l, size_t at)
{
    l->pixels.at += at;
    l->eval_pixels.at += at;
    for (int i = 0; i < l->pieces.n; i++) {
        l->out[i].at += at;
        l->grad[i].at += at;
        l->mask[i].at += at;
        l->eval_out[i].at += at;
    }
}

/* Sizes are computed in 64 bits; nothing that could be had comes near this. */
static enum err_code check_sizes(const struct backend_plan *plan, const struct cuda_share *share,
                                 struct err *e)
{
    const struct net *net = plan->net;
    double numbers = 0, params = 6.0 * (double)net->parameter_count;

    for (int i = 0; i < net->layers; i++)
        numbers += 4 * (double)size_of(&net->layer[i].out);
    numbers = (numbers * share->images + params) * share->models;
    if (numbers * 4 > 1e15)
        return err_set(e, ERR_NOMEM,
                       "cuda: about %.0f TB on GPU %d for %d models of %zu parameters and batches "
                       "of %d images: no GPU has that",
                       numbers * 4e-12, share->gpu, share->models, net->parameter_count,
                       share->images);
    return ERR_OK;
}

enum err_code cuda_layout_make(struct cuda_layout *out, const struct backend_plan *plan,
                               const struct cuda_share *share, struct err *e)
{
    struct cuda_layout *l = out;

    *l = (struct cuda_layout){.models = share->models, .images = share->images};
    TRY(check_sizes(plan, share, e));
    l->math = plan->precision == SPEC_BF16   ? CUDA_BF16
              : plan->precision == SPEC_TF32 ? CUDA_TF32
                                             : CUDA_FP32;
    l->groups = plan->sync_bn ? 1 : share->shards;
    cuda_pieces_make(&l->pieces, plan->net, cuda_hooks.keep, cuda_hooks.apart);
    l->sides = !has_norm(plan->net);
    place_tensors(l, plan->net);
    place_state(l, plan, share);
    place_norms(l, plan->net);
    place_scratch(l, plan, share);
    l->lasting = l->bytes;
    l->data_bytes = cuda_data_place(plan, share->streams);
    l->data = part(l, l->data_bytes);
    place_arena(l, plan);
    shift(l, part(l, l->arena));
    return ERR_OK;
}

void cuda_layout_scratch(struct cuda_layout *l, size_t bytes)
{
    if (bytes <= l->scratch_bytes)
        return;
    l->scratch_bytes = bytes;
    l->scratch = part(l, bytes);
}

void cuda_layout_free(struct cuda_layout *l)
{
    cuda_pieces_free(&l->pieces);
    free(l->param_at);
    free(l->stat_at);
    free(l->norm_at);
    free(l->out);
    free(l->grad);
    free(l->mask);
    free(l->eval_out);
    *l = (struct cuda_layout){0};
}
