/* cuda/program.c: the list of launches that is a step: images, the forward half, losses, the backward
 * half, the update, the clock. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct cuda_view none = {NULL, 0};

static size_t size_of(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

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
              w->own ? (size_t)l->images : 0, cuda_write_gradient(w, l->pieces.n - 1),
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
    struct cuda_tail_at at = {
        .x = cuda_write_tensor(w, x),
        .weight = cuda_write_weight(w, head->kernel),
        .bias = cuda_write_param(w, head->bias),
        .z = cuda_write_tensor(w, last),
        .dz = cuda_write_gradient(w, last),
        .dx = cuda_piece_learns(w->net, &l->pieces, x) ? cuda_write_gradient(w, x) : none,
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
                p->memory + l->scratch, cuda_write_floats(w, l->gradient, l->params),
                cuda_write_floats(w, l->param, l->params),
                l->slot[0] == SIZE_MAX ? none : cuda_write_floats(w, l->slot[0], l->params),
                l->slot[1] == SIZE_MAX ? none : cuda_write_floats(w, l->slot[1], l->params),
                l->half == SIZE_MAX ? none : cuda_write_floats(w, l->half, l->params),
                cuda_write_floats(w, l->batch_stats, l->stats),
                cuda_write_floats(w, l->running, l->stats));
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

/* Up to the gradients, all models in each launch. */
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

        cuda_write_piece(w, i);
        if (w->ahead && i == 0)
            cuda_conv_turn(w->list, &turn);
    }
    if (w->tail)
        write_tail(w, tail, clock);
    else
        write_loss(w, clock);
    cuda_write_back(w);
}

/* ---- members one after another ---- */

static struct cuda_writer of_model(const struct cuda_writer *all, int model)
{
    struct cuda_writer w = *all;

    w.model = model;
    w.models = 1;
    return w;
}

static void write_forward(const struct cuda_writer *w)
{
    for (int i = 0; i < w->p->layout.pieces.n; i++)
        cuda_write_piece(w, i);
}

/* A step up to the gradients, member by member: what a member's launch writes is still in the cache when
 * its next one reads it. */
static void write_in_turn(struct cuda_writer *all, const struct dev_clock *clock)
{
    struct cuda_program *program = &all->p->program;

    write_gather(all, all->list, clock);
    program->cut[0] = program->step.n;
    for (int m = 0; m < all->models; m++) {
        const struct cuda_writer one = of_model(all, m);

        write_forward(&one);
    }
    write_loss(all, clock);
    for (int m = 0; m < all->models; m++) {
        struct cuda_writer one = of_model(all, m);

        cuda_write_back(&one);
    }
}

/* Whether one member fills the GPU. A launch is computed in waves of as many blocks as the GPU has room
 * for, two of most kernels on a processor: one member after another is right where that takes hardly
 * more waves than all of them in each launch. */
static bool fills(const struct cuda_writer *all)
{
    const struct cuda_place *p = all->p;
    struct cuda_gpu_facts facts;
    struct cuda_list list = {0};
    struct cuda_writer one = of_model(all, 0);
    size_t models = (size_t)all->models, in_turn = 0, together = 0, room;

    if (cuda_rt()->facts(p->share.gpu, &facts) || facts.processors < 1)
        return false;
    one.list = &list;
    one.tail = one.ahead = false;
    one.update = NULL;
    write_forward(&one);
    cuda_write_back(&one);
    room = 2 * (size_t)facts.processors;
    for (size_t i = 0; i < list.n; i++) {
        const struct cuda_launch *l = &list.at[i];
        size_t blocks = (size_t)l->grid[0] * l->grid[1] * l->grid[2];

        if (!l->kernel) /* cuDNN's are one after another anyway */
            continue;
        in_turn += models * ((blocks + room - 1) / room);
        together += (models * blocks + room - 1) / room;
    }
    cuda_list_free(&list);
    return in_turn <= together + together / 10;
}

static bool takes_turns(const struct cuda_writer *all)
{
    int wanted = all->p->session->hooks.in_turn;

    if (all->models < 2 || wanted < 0)
        return false;
    return wanted > 0 || fills(all);
}

/* ---- the whole ---- */

static void write_together(struct cuda_writer *w, const struct update_here *here,
                           const struct dev_clock *clock)
{
    struct cuda_program *program = &w->p->program;
    struct cuda_tail tail;

    w->tail = tail_of(w, &tail);
    w->update = can_update_here(w) ? here : NULL;
    w->ahead = can_fetch_ahead(w);
    write_step(w, &tail, clock);
    if (w->ahead && cuda_jobs_last(&program->step)) {
        write_gather(w, &program->begin, clock);
    } else if (w->ahead) { /* no launch at the end that could do it */
        w->ahead = false;
        cuda_list_free(&program->step);
        write_step(w, &tail, clock);
    }
}

static void write_evaluation(struct cuda_place *p)
{
    const struct cuda_writer all = {.p = p,
                                    .net = p->session->plan.net,
                                    .list = &p->program.evaluate,
                                    .n = p->layout.evaluate,
                                    .models = p->layout.models};

    for (int m = 0; m < (p->program.in_turn ? all.models : 1); m++) {
        const struct cuda_writer one = p->program.in_turn ? of_model(&all, m) : all;

        write_forward(&one);
    }
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
                            .models = l->models,
                            .training = true,
                            .own = own};
    const struct update_here here = update_here(p, clock);

    *program = (struct cuda_program){0};
    program->sum = mem_new(count_sums(w.net), sizeof *program->sum);
    program->in_turn = takes_turns(&w);
    if (program->in_turn)
        write_in_turn(&w, clock);
    else
        write_together(&w, &here, clock);
    program->cut[1] = program->step.n;
    cuda_write_sum(&w, (float *)(void *)(p->memory + l->gradient), l->reduce);
    program->cut[2] = program->step.n;
    if (!w.update)
        write_update(&w, clock);
    write_tick(&w, clock);
    write_evaluation(p);
}

void cuda_program_free(struct cuda_program *p)
{
    cuda_list_free(&p->step);
    cuda_list_free(&p->begin);
    cuda_list_free(&p->evaluate);
    free(p->sum);
    *p = (struct cuda_program){0};
}
