/* cuda/dnn/dnn_place.c: which of a place's convolutions go through cuDNN, and what our own kernels do
 * around them: biases and activations behind, sums for biases, gates and additions of gradients.
 * Evaluation, whose chunks have other sizes, has plans of its own. */
#include "cuda/cuda_int.h"
#include "cuda/dnn/dnn.h"
#include "cuda/dnn/dnn_bias_args.h"
#include "cuda/kernels/grid.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- plans ---- */

static struct cuda_shape output_of(const struct cuda_conv *c)
{
    return (struct cuda_shape){
        .models = c->models, .n = c->n, .h = c->oh, .w = c->ow, .c = c->oc, .math = c->math};
}

static struct cuda_shape input_of(const struct cuda_conv *c)
{
    return (struct cuda_shape){
        .models = c->models, .n = c->n, .h = c->h, .w = c->w, .c = c->c, .math = c->math};
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t elements_of(const struct cuda_shape *s)
{
    return (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* Scratch: cuDNN's, and behind it a gradient that is to be added to another; for the sum of a bias's
 * gradient the whole is free again. */
static size_t aside(const struct cuda_dnn_layer *l)
{
    return cuda_round(cuda_dnn_scratch(l), 256);
}

/* own: cuDNN's. */
static size_t scratch_of(size_t own, const struct cuda_conv *c)
{
    const struct cuda_norm one = {.groups = 1};
    struct cuda_shape in = input_of(c), out = output_of(c);
    size_t sums = cuda_norm_scratch(&out, &one), bytes = cuda_round(own, 256);

    bytes += (size_t)c->models * cuda_stride(elements_of(&in)) * cuda_element(c->math);
    return bytes > sums ? bytes : sums;
}

/* Whether a layer is for cuDNN; *c: it. What is made with the pool behind it is our own. */
static bool suits(const struct net *net, const struct cuda_layout *l, int layer,
                  struct cuda_conv *c)
{
    *c = cuda_conv_of(&net->layer[layer], l->models, l->images, l->math);
    return net->layer[layer].op == NET_CONV && cuda_dnn_suits(c) &&
           l->pieces.at[l->pieces.of[layer]].pool < 0;
}

size_t cuda_dnn_expected(const struct net *net, const struct cuda_layout *l)
{
    size_t bytes = 0;

    for (int i = 0; i < net->layers; i++) {
        struct cuda_conv c;

        if (suits(net, l, i, &c))
            bytes = most(bytes, scratch_of(cuda_dnn_usual(&c), &c));
    }
    return bytes;
}

static void drop(struct cuda_place *p)
{
    cuda_dnn_close(p->dnn);
    free(p->dnn_layer);
    free(p->dnn_evaluate);
    p->dnn = NULL;
    p->dnn_layer = p->dnn_evaluate = NULL;
}

/* Plans of a layer; bytes of scratch that they want. */
static size_t plan_layer(struct cuda_place *p, int layer, struct cuda_conv c)
{
    size_t layers = (size_t)p->session->plan.net->layers, bytes = 0;

    if (!p->dnn_layer) {
        p->dnn_layer = mem_new(layers, sizeof *p->dnn_layer);
        p->dnn_evaluate = mem_new(layers, sizeof *p->dnn_evaluate);
    }
    p->dnn_layer[layer] = cuda_dnn_layer(p->dnn, &c, CUDA_DNN_PASSES);
    if (p->dnn_layer[layer])
        bytes = scratch_of(cuda_dnn_scratch(p->dnn_layer[layer]), &c);
    if (cuda_dnn_hangs(p->dnn))
        return bytes;
    c.n = p->layout.evaluate;
    p->dnn_evaluate[layer] = cuda_dnn_layer(p->dnn, &c, CUDA_DNN_FORWARD + 1);
    return p->dnn_evaluate[layer] ? most(bytes, cuda_dnn_scratch(p->dnn_evaluate[layer])) : bytes;
}

/* A run that went by our own kernels alone goes on with them, for the same bits. */
bool cuda_dnn_wanted(const struct backend_plan *plan)
{
    return cuda_dnn_version() && (!plan->plans || plan->plans[0]);
}

static bool open_dnn(struct cuda_place *p, const struct cuda_gpu_facts *facts, const char *driver)
{
    const struct backend_plan *plan = &p->session->plan;
    int tune_ms = plan->tune ? cuda_limit_ms(p->session->hooks.limit_ms) : 0;

    if (!cuda_dnn_wanted(plan) ||
        cuda_dnn_open(&p->dnn, p->share.gpu, facts, driver, p->stream, tune_ms, NULL) != ERR_OK)
        return false;
    if (plan->plans && !strstr(plan->plans, " tuned:"))
        cuda_dnn_untuned(p->dnn);
    return true;
}

bool cuda_place_plan(struct cuda_place *p)
{
    const struct net *net = p->session->plan.net;
    const struct cuda_layout *l = &p->layout;
    struct cuda_gpu_facts facts;
    size_t bytes = 0, unused = 0, libraries, total;
    char driver[32];
    bool any = false;

    if (cuda_rt()->facts(p->share.gpu, &facts) || !cuda_gauge_driver(driver))
        return true;
    for (int i = 0; i < net->layers; i++) {
        struct cuda_conv c;

        if (!suits(net, l, i, &c))
            continue;
        if (!p->dnn && !open_dnn(p, &facts, driver))
            return true;
        bytes = most(bytes, plan_layer(p, i, c));
        if (cuda_dnn_hangs(p->dnn))
            return false;
        any = any || p->dnn_layer[i] || p->dnn_evaluate[i];
    }
    /* Where memory is too short for its workspace, our own kernels may still have enough. */
    libraries = cuda_need_libraries(&p->session->plan, l, p->session->places, true);
    if (!any || cuda_rt()->memory(&unused, &total) ||
        (bytes > l->scratch_bytes ? bytes : 0) + l->bytes + libraries > unused)
        drop(p);
    else
        cuda_layout_scratch(&p->layout, bytes);
    return true;
}

void cuda_place_unplan(struct cuda_place *p)
{
    drop(p);
}

/* ---- passes ---- */

static struct cuda_dnn_layer *layer_of(const struct cuda_writer *w, int layer,
                                       enum cuda_dnn_pass pass)
{
    struct cuda_dnn_layer **layers = w->training ? w->p->dnn_layer : w->p->dnn_evaluate;

    return layers && cuda_dnn_has(layers[layer], pass) ? layers[layer] : NULL;
}

static struct cuda_conv conv_of(const struct cuda_writer *w, int layer)
{
    const struct cuda_layout *l = &w->p->layout;

    return cuda_conv_of(&w->net->layer[layer], w->models, w->n, l->math);
}

static void add_bias(const struct cuda_writer *w, const struct cuda_conv *c, struct cuda_view bias,
                     enum cuda_act act, struct cuda_view y)
{
    const struct dev_kernel *kernel = c->math == CUDA_BF16 ? &k_dnn_bias_bf16 : &k_dnn_bias_float;
    struct cuda_shape out = output_of(c);
    struct dnn_bias a = {.n = elements_of(&out),
                         .c = c->oc,
                         .act = (int)act,
                         .bias = bias.p,
                         .y = y.p,
                         .bias_stride = bias.stride,
                         .y_stride = y.stride};

    if (bias.p)
        cuda_list_add(w->list, kernel,
                      grid_parts(a.n, (size_t)kernel->threads * 16 / cuda_element(c->math)), 1,
                      (size_t)c->models, 0, &a, sizeof a);
    else if (act != CUDA_LINEAR)
        cuda_act_forward(w->list, &out, act, y, y);
}

bool cuda_write_dnn_forward(const struct cuda_writer *w, int layer, struct cuda_view x,
                            enum cuda_act act, struct cuda_view y)
{
    struct cuda_dnn_layer *l = layer_of(w, layer, CUDA_DNN_FORWARD);
    struct cuda_conv c = conv_of(w, layer);

    if (!l)
        return false;
    cuda_dnn_run(w->list, l, CUDA_DNN_FORWARD, w->models, x,
                 cuda_write_weight(w, w->net->layer[layer].kernel), y,
                 w->p->memory + w->p->layout.scratch);
    add_bias(w, &c, cuda_write_param(w, w->net->layer[layer].bias), act, y);
    return true;
}

bool cuda_write_dnn_weights(const struct cuda_writer *w, int layer, struct cuda_view x,
                            struct cuda_view dy, struct cuda_view dweight, struct cuda_view dbias)
{
    struct cuda_dnn_layer *l = layer_of(w, layer, CUDA_DNN_WEIGHTS);
    struct cuda_conv c = conv_of(w, layer);
    struct cuda_shape out = output_of(&c);
    void *scratch = w->p->memory + w->p->layout.scratch;

    if (!l)
        return false;
    cuda_dnn_run(w->list, l, CUDA_DNN_WEIGHTS, w->models, x, dweight, dy, scratch);
    if (dbias.p)
        cuda_norm_sum(w->list, &out, dy, scratch, dbias);
    return true;
}

bool cuda_write_dnn_input(const struct cuda_writer *w, int layer, struct cuda_view dy,
                          struct cuda_view gate, enum cuda_act act, bool add, struct cuda_view dx)
{
    struct cuda_dnn_layer *l = layer_of(w, layer, CUDA_DNN_INPUT);
    struct cuda_conv c = conv_of(w, layer);
    struct cuda_shape in = input_of(&c);
    char *scratch = w->p->memory + w->p->layout.scratch;
    struct cuda_view to = dx;

    if (!l)
        return false;
    if (add)
        to = (struct cuda_view){scratch + aside(l), cuda_stride(elements_of(&in))};
    cuda_dnn_run(w->list, l, CUDA_DNN_INPUT, w->models, to,
                 cuda_write_weight(w, w->net->layer[layer].kernel), dy, scratch);
    if (gate.p || add)
        cuda_act_backward(w->list, &in, gate.p ? act : CUDA_LINEAR, gate, to, add, dx);
    return true;
}

/* ---- what they are ---- */

static void add_engine(const struct cuda_dnn_layer *l, int pass, struct text *out,
                       struct text *marks)
{
    int64_t engine = cuda_dnn_engine(l, (enum cuda_dnn_pass)pass);

    text_addf(marks, "/%s", cuda_dnn_mark(l, (enum cuda_dnn_pass)pass));
    if (engine >= 0)
        text_addf(out, "%lld", (long long)engine);
    else
        text_add(out, "-");
}

static void add_layers(const struct cuda_place *p, struct text *out)
{
    const struct net *net = p->session->plan.net;
    struct text marks = {0};
    char mark[9];

    for (int i = 0; p->dnn_layer && i < net->layers; i++) {
        if (!p->dnn_layer[i] && !p->dnn_evaluate[i])
            continue;
        for (int pass = 0; pass < CUDA_DNN_PASSES; pass++) {
            text_add(out, pass ? "/" : " ");
            add_engine(p->dnn_layer[i], pass, out, &marks);
        }
        text_add(out, "/");
        add_engine(p->dnn_evaluate[i], CUDA_DNN_FORWARD, out, &marks);
    }
    if (marks.n) {
        hash_digits(mark, sizeof mark, marks.s, marks.n);
        text_addf(out, " #%s", mark);
    }
    text_free(&marks);
}

/* "cudnn 91900: 67/71/58/67 67/71/-/67 #1b2c3d4e": the engines of each layer's three passes and of
 * evaluation, and a hash of the ways in which they compute; those of other places behind a bar where they
 * have others. "cudnn 91900 tuned: ...": some of them were picked by their times. */
void cuda_plans(struct backend_session *s, struct text *out)
{
    struct text first = {0};

    for (int i = 0; i < s->places; i++) {
        struct text one = {0};

        if (s->place[i].dnn)
            text_addf(&one, "cudnn %d%s:", cuda_dnn_version(),
                      cuda_dnn_tuned(s->place[i].dnn) ? " tuned" : "");
        add_layers(&s->place[i], &one);
        if (i == 0)
            text_add(out, text_str(&one));
        else if (strcmp(text_str(&one), text_str(&first)) != 0)
            text_addf(out, " | %s", text_str(&one));
        if (i == 0)
            first = one;
        else
            text_free(&one);
    }
    text_free(&first);
}
