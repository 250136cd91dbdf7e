/* A layer joins the net: its shape is inferred, its name and its tensors follow Flax. */
#include "net/net_int.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

const char *net_op_name(enum net_op op)
{
    static const char *const name[] = {
        [NET_CONV] = "conv",
        [NET_DENSE] = "dense",
        [NET_RELU] = "relu",
        [NET_TANH] = "tanh",
        [NET_AVGPOOL] = "avgpool",
        [NET_MAXPOOL] = "maxpool",
        [NET_GLOBALAVGPOOL] = "globalavgpool",
        [NET_BATCHNORM] = "batchnorm",
        [NET_DROPOUT] = "dropout",
        [NET_ADD] = "residual",
    };

    return name[op];
}

void net_shape_text(const struct net_shape *s, char out[48])
{
    snprintf(out, 48, "%dx%dx%d", s->h, s->w, s->c);
}

static uint64_t elements(struct net_shape s)
{
    return (uint64_t)s.h * (uint64_t)s.w * (uint64_t)s.c;
}

/* The key of a parameter folds in the first four bytes of SHA-1 of the names on the path from the
 * model to the layer, with nothing between them, and the parameter's ordinal in its layer, which
 * counts from 1. */
static uint32_t fold_of(const char *layer, unsigned char ordinal)
{
    char path[sizeof((struct net_layer *)0)->name + 1];
    uint8_t digest[20];
    size_t n = 0;

    for (; *layer; layer++)
        if (*layer != '/')
            path[n++] = *layer;
    path[n++] = (char)ordinal;
    hash_sha1(path, n, digest);
    return (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
           digest[3];
}

/* Appends a tensor of net->param or, for mean and variance, of net->stat. Returns its number. */
static int add_tensor(struct net_reader *r, struct net_tensor t, const char *name)
{
    struct net *net = r->net;
    const struct net_layer *layer = &net->layer[t.layer];
    bool stat = t.kind == NET_MEAN || t.kind == NET_VAR;

    snprintf(t.name, sizeof t.name, "%s%s/%s", stat ? "batch_stats/" : "", layer->name, name);
    t.count = 1;
    for (int i = 0; i < t.dims; i++)
        t.count *= t.shape[i];
    if (stat) {
        t.offset = net->stat_count;
        net->stat_count += t.count;
        net->stat = mem_grow(net->stat, &r->stat_room, (size_t)net->stats + 1, sizeof t);
        net->stat[net->stats] = t;
        return net->stats++;
    }
    t.fold = fold_of(layer->name, t.kind == NET_BIAS ? 2 : 1);
    t.offset = net->parameter_count;
    net->parameter_count += t.count;
    net->param = mem_grow(net->param, &r->param_room, (size_t)net->params + 1, sizeof t);
    net->param[net->params] = t;
    return net->params++;
}

static enum err_code name_layer(struct net_reader *r, struct net_layer *l)
{
    struct net_scope *scope = &r->scope[r->depth];
    const char *kind = NULL;
    int number = 0;

    if (l->op == NET_CONV) {
        kind = "Conv";
        number = scope->convs++;
    } else if (l->op == NET_DENSE) {
        kind = "Dense";
        number = scope->denses++;
    } else if (l->op == NET_BATCHNORM) {
        kind = "BatchNorm";
        number = scope->batchnorms++;
    } else if (l->op == NET_ADD) {
        /* the scope's own name, without its slash */
        snprintf(l->name, sizeof l->name, "%.*s", (int)strlen(scope->path) - 1, scope->path);
        return ERR_OK;
    }
    if (!kind) {
        snprintf(l->name, sizeof l->name, "%s at line %d", net_op_name(l->op), l->line);
        return ERR_OK;
    }
    if (snprintf(l->name, sizeof l->name, "%s%s_%d", scope->path, kind, number) >=
        (int)sizeof l->name)
        return net_refuse(r,
                          "the layer's name would be longer than %zu letters; put fewer "
                          "residual blocks into each other",
                          sizeof l->name - 1);
    return ERR_OK;
}

/* How often a window of k fits into size numbers, and the padding that `same` asks for: as many
 * windows as there are strides, the odd one of the padding behind. */
static bool fit_window(const struct net_line *line, int size, int *out, int *before, int *behind)
{
    int64_t padded;

    *before = *behind = line->pad;
    if (line->same) {
        int64_t windows = ((int64_t)size + line->stride - 1) / line->stride;
        int64_t missing = (windows - 1) * line->stride + line->k - size;

        if (missing < 0)
            missing = 0;
        *before = (int)(missing / 2);
        *behind = (int)(missing - missing / 2);
    }
    padded = (int64_t)size + *before + *behind;
    if (padded < line->k)
        return false;
    *out = (int)((padded - line->k) / line->stride + 1);
    return true;
}

static enum err_code infer_window(struct net_reader *r, const struct net_line *line,
                                  struct net_layer *l)
{
    const char *what = line->op == NET_CONV ? "kernel" : "window";
    char in[48];

    l->k = line->k;
    l->stride = line->stride;
    if (fit_window(line, l->in.h, &l->out.h, &l->pad_top, &l->pad_bottom) &&
        fit_window(line, l->in.w, &l->out.w, &l->pad_left, &l->pad_right))
        return ERR_OK;
    net_shape_text(&l->in, in);
    if (line->pad)
        return net_refuse(r, "a %s of %dx%d does not fit into %s with %d padded at each side", what,
                          line->k, line->k, in, line->pad);
    return net_refuse(r, "a %s of %dx%d does not fit into %s", what, line->k, line->k, in);
}

static enum err_code infer(struct net_reader *r, const struct net_line *line, struct net_layer *l)
{
    switch (line->op) {
    case NET_CONV:
        l->out.c = line->outputs;
        return infer_window(r, line, l);
    case NET_AVGPOOL:
    case NET_MAXPOOL:
        return infer_window(r, line, l);
    case NET_DENSE:
        l->out = (struct net_shape){1, 1, line->outputs};
        return ERR_OK;
    case NET_GLOBALAVGPOOL:
        l->out = (struct net_shape){1, 1, l->in.c};
        return ERR_OK;
    case NET_DROPOUT:
        l->rate = line->rate;
        l->dropout = r->dropouts++;
        return ERR_OK;
    case NET_RELU:
    case NET_TANH:
    case NET_BATCHNORM:
    case NET_ADD:
        break;
    }
    return ERR_OK;
}

/* Both factors are below 2^60. */
static bool beyond(uint64_t a, uint64_t b, uint64_t most)
{
    return b && a > most / b;
}

static enum err_code check_size(struct net_reader *r, const struct net_layer *l)
{
    uint64_t inputs =
        l->op == NET_CONV ? (uint64_t)l->k * (uint64_t)l->k * (uint64_t)l->in.c : elements(l->in);
    uint64_t area = (uint64_t)l->out.h * (uint64_t)l->out.w, outputs = (uint64_t)l->out.c;
    char in[48], out[48], most[TEXT_NUMBER_ROOM];

    net_shape_text(&l->in, in);
    net_shape_text(&l->out, out);
    if (beyond(area, outputs, NET_MOST_ELEMENTS))
        return net_refuse(r, "%s becomes %s, more than the %s numbers that are allowed", in, out,
                          text_count(most, NET_MOST_ELEMENTS));
    uint64_t framed = (uint64_t)(l->in.h + l->pad_top + l->pad_bottom) *
                      (uint64_t)(l->in.w + l->pad_left + l->pad_right);
    if (beyond(framed, (uint64_t)l->in.c, NET_MOST_ELEMENTS))
        return net_refuse(r, "%s is padded to %dx%dx%d, more than the %s numbers that are allowed",
                          in, l->in.h + l->pad_top + l->pad_bottom,
                          l->in.w + l->pad_left + l->pad_right, l->in.c,
                          text_count(most, NET_MOST_ELEMENTS));
    if ((l->op == NET_CONV || l->op == NET_DENSE) &&
        (beyond(inputs, outputs, NET_MOST_PARAMETERS) ||
         r->net->parameter_count + inputs * outputs > NET_MOST_PARAMETERS))
        return net_refuse(r,
                          "from %s to %s the model gets more than the %s parameters that are "
                          "allowed",
                          in, out, text_count(most, NET_MOST_PARAMETERS));
    return ERR_OK;
}

static void add_tensors(struct net_reader *r, int number, bool bias)
{
    /* the layer table may not move here: tensors live in tables of their own */
    struct net_layer *l = &r->net->layer[number];
    size_t in = (size_t)l->in.c, out = (size_t)l->out.c, k = (size_t)l->k;
    struct net_tensor t = {.layer = number};

    if (l->op == NET_CONV) {
        t.dims = 4;
        t.shape[0] = t.shape[1] = k;
        t.shape[2] = in;
        t.shape[3] = out;
        t.fan_in = k * k * in;
        t.fan_out = k * k * out;
    } else if (l->op == NET_DENSE) {
        t.dims = 2;
        t.fan_in = t.shape[0] = (size_t)elements(l->in);
        t.fan_out = t.shape[1] = out;
    } else if (l->op != NET_BATCHNORM) {
        return;
    }
    if (t.dims) {
        t.kind = NET_KERNEL;
        l->kernel = add_tensor(r, t, "kernel");
    }
    t = (struct net_tensor){.layer = number, .dims = 1, .shape = {out}};
    if (l->op == NET_BATCHNORM) {
        t.kind = NET_SCALE;
        l->kernel = add_tensor(r, t, "scale");
        t.kind = NET_MEAN;
        l->mean = add_tensor(r, t, "mean");
        t.kind = NET_VAR;
        l->var = add_tensor(r, t, "var");
    }
    t.kind = NET_BIAS;
    if (bias)
        l->bias = add_tensor(r, t, "bias");
}

static enum err_code append(struct net_reader *r, struct net_layer l, bool bias)
{
    struct net *net = r->net;

    if (net->layers == NET_MOST_LAYERS)
        return net_refuse(r, "more than %d layers", NET_MOST_LAYERS);
    TRY(check_size(r, &l));
    TRY(name_layer(r, &l));
    net->layer = mem_grow(net->layer, &r->layer_room, (size_t)net->layers + 1, sizeof l);
    net->layer[net->layers] = l;
    r->at = net->layers++;
    r->shape = l.out;
    add_tensors(r, r->at, bias);
    return ERR_OK;
}

static struct net_layer blank(struct net_reader *r, enum net_op op)
{
    return (struct net_layer){.op = op,
                              .src = r->at,
                              .src2 = NET_NONE,
                              .in = r->shape,
                              .out = r->shape,
                              .dropout = -1,
                              .kernel = NET_NONE,
                              .bias = NET_NONE,
                              .mean = NET_NONE,
                              .var = NET_NONE,
                              .line = r->line};
}

static enum err_code need_input(struct net_reader *r)
{
    if (r->input_line)
        return ERR_OK;
    return net_refuse(r, "the input must be said first; write input auto in front of it");
}

enum err_code net_add_layer(struct net_reader *r, const struct net_line *line)
{
    struct net_layer l = blank(r, line->op);

    TRY(need_input(r));
    TRY(infer(r, line, &l));
    return append(r, l, line->bias || line->op == NET_BATCHNORM);
}

enum err_code net_open_block(struct net_reader *r)
{
    struct net_scope *outer = &r->scope[r->depth], *scope = outer + 1;

    TRY(need_input(r));
    if (r->depth == NET_MOST_DEPTH)
        return net_refuse(r, "more than %d residual blocks in each other", NET_MOST_DEPTH);
    *scope = (struct net_scope){.line = r->line, .from = r->at, .from_shape = r->shape};
    if (snprintf(scope->path, sizeof scope->path, "%sResidual_%d/", outer->path,
                 outer->residuals) >= (int)sizeof scope->path)
        return net_refuse(r,
                          "the block's name would be longer than %zu letters; put fewer "
                          "residual blocks into each other",
                          sizeof scope->path - 1);
    outer->residuals++;
    r->depth++;
    return ERR_OK;
}

enum err_code net_open_shortcut(struct net_reader *r)
{
    struct net_scope *scope = &r->scope[r->depth];

    if (!r->depth)
        return net_refuse(r, "no residual block is open here");
    if (scope->shortcut)
        return net_refuse(r, "the block of line %d has a shortcut already", scope->line);
    if (r->at == scope->from)
        return net_refuse(r, "the block of line %d is empty; put a layer into it", scope->line);
    scope->shortcut = true;
    scope->body = r->at;
    scope->body_shape = r->shape;
    r->at = scope->from;
    r->shape = scope->from_shape;
    return ERR_OK;
}

enum err_code net_close_block(struct net_reader *r)
{
    struct net_scope *scope = &r->scope[r->depth];
    struct net_layer l;
    int body = r->at, around = scope->from;
    struct net_shape one = r->shape, two = scope->from_shape;

    if (!r->depth)
        return net_refuse(r, "no residual block is open here");
    if (r->at == scope->from)
        return net_refuse(r, "the %s of line %d is empty; %s",
                          scope->shortcut ? "shortcut of the block" : "block", scope->line,
                          scope->shortcut ? "write } alone to add the block's input"
                                          : "put a layer into it");
    if (scope->shortcut) {
        body = scope->body;
        around = r->at;
        one = scope->body_shape;
        two = r->shape;
    }
    if (one.h != two.h || one.w != two.w || one.c != two.c) {
        char a[48], b[48];

        net_shape_text(&one, a);
        net_shape_text(&two, b);
        return net_refuse(r,
                          "the block of line %d ends with %s and its %s with %s; both must be "
                          "equal%s",
                          scope->line, a, scope->shortcut ? "shortcut" : "input begins", b,
                          scope->shortcut ? "" : ", or write a shortcut");
    }
    l = blank(r, NET_ADD);
    l.src = body;
    l.src2 = around;
    l.in = l.out = one;
    TRY(append(r, l, false));
    r->depth--;
    return ERR_OK;
}

/* 2 a multiply-add, of conv and dense alone. A layer whose inputs come from no parameter needs no
 * gradient of them: the first one, and the shortcut around it. */
void net_count_flops(struct net *net)
{
    for (int i = 0; i < net->layers; i++) {
        struct net_layer *l = &net->layer[i];
        bool before = (l->src >= 0 && net->layer[l->src].learns) ||
                      (l->src2 >= 0 && net->layer[l->src2].learns);
        double work = 0;

        l->learns = before || l->kernel >= 0;
        if (l->op == NET_CONV)
            work = 2.0 * l->k * l->k * l->in.c * (double)elements(l->out);
        else if (l->op == NET_DENSE)
            work = 2.0 * (double)elements(l->in) * l->out.c;
        net->flops_forward += work;
        l->flops = work * (before ? 3 : 2);
        net->flops += l->flops;
    }
}
