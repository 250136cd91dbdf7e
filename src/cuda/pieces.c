/* cuda/pieces.c: which layers one kernel makes together. What is added and the relu or tanh behind a
 * layer belong to its kernel where nobody else reads what lies between:
 *
 *     conv or dense, then relu or tanh          batch norm, then relu or tanh
 *     sum, then relu or tanh                    batch norm, then a sum, then relu or tanh
 *     conv, then relu or tanh, then a pool of 2 x 2 (cuda/launch/block.h)
 *
 * A piece is worked on where its last layer stands, so that all it reads is there. Gradients go the
 * other way round: a piece's is kept in front of its relu, where its head needs it; whoever reads the
 * piece multiplies by the relu's derivative in passing, if all who read it can. */
#include "cuda/cuda_int.h"

#include "base/mem.h"

#include <stdlib.h>

/* (layers): how many layers read each one, and the last that does. */
static void count_readers(const struct net *net, int *readers, int *reader)
{
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];
        const int src[2] = {l->src, l->op == NET_ADD ? l->src2 : NET_NONE};

        for (int k = 0; k < 2; k++)
            if (src[k] >= 0) {
                readers[src[k]]++;
                reader[src[k]] = i;
            }
    }
}

/* The layer that alone reads `layer`, or NET_NONE. */
static int sole_reader(const int *readers, const int *reader, int layer)
{
    return readers[layer] == 1 ? reader[layer] : NET_NONE;
}

static bool is_pool(enum net_op op)
{
    return op == NET_AVGPOOL || op == NET_MAXPOOL;
}

enum cuda_act cuda_act_of(enum net_op op)
{
    return op == NET_RELU ? CUDA_RELU : op == NET_TANH ? CUDA_TANH : CUDA_LINEAR;
}

/* Whether a convolution's kernel can make the layer that reads `tail`, itself or its activation. */
static bool can_pool(const struct net *net, int conv, int tail, int next)
{
    const struct net_layer *pool = &net->layer[next];
    struct cuda_block b = {.conv = {.oc = net->layer[conv].out.c}, .max = pool->op == NET_MAXPOOL};

    return is_pool(pool->op) && pool->k == 2 && pool->stride == 2 &&
           cuda_block_can(&b, cuda_act_of(net->layer[tail].op));
}

/* of[i]: the head that layer i's work is part of; added: head of a norm -> the sum behind it. */
static void find_heads(const struct net *net, const int *readers, const int *reader, bool apart,
                       int *of)
{
    for (int i = 0; i < net->layers; i++)
        of[i] = i;
    for (int i = 0; i < net->layers; i++) {
        enum net_op op = net->layer[i].op;
        int tail = i, next;

        if (of[i] != i ||
            !(op == NET_CONV || op == NET_DENSE || op == NET_BATCHNORM || op == NET_ADD))
            continue;
        next = sole_reader(readers, reader, tail);
        if (op == NET_BATCHNORM && next >= 0 && net->layer[next].op == NET_ADD &&
            of[next] == next) {
            of[next] = i;
            tail = next;
            next = sole_reader(readers, reader, tail);
        }
        if (next >= 0 && cuda_act_of(net->layer[next].op) != CUDA_LINEAR) {
            of[next] = i;
            tail = next;
            next = sole_reader(readers, reader, tail);
        }
        if (op == NET_CONV && !apart && next >= 0 && can_pool(net, i, tail, next))
            of[next] = i;
    }
}

/* The piece that a layer reads. */
static int read_piece(const int *of, int layer)
{
    return layer < 0 ? NET_IMAGES : of[layer];
}

static void fill_piece(struct cuda_piece *p, const struct net *net, const int *of, int head,
                       int tail)
{
    const struct net_layer *l = &net->layer[head];
    int act = tail;

    *p = (struct cuda_piece){
        .head = head, .tail = tail, .x2 = NET_NONE, .pool = NET_NONE, .same = -1};
    if (tail != head && is_pool(net->layer[tail].op)) {
        p->pool = tail;
        act = net->layer[tail].src;
    }
    p->x = read_piece(of, l->src);
    if (l->op == NET_ADD)
        p->x2 = read_piece(of, l->src2);
    for (int i = head + 1; l->op == NET_BATCHNORM && i <= tail; i++) {
        const struct net_layer *sum = &net->layer[i];

        if (sum->op == NET_ADD && sum->src == head)
            p->x2 = read_piece(of, sum->src2);
        else if (sum->op == NET_ADD && sum->src2 == head)
            p->x2 = read_piece(of, sum->src);
    }
    if (act != head)
        p->act = cuda_act_of(net->layer[act].op);
}

/* Whether the backward kernel of a piece can gate the gradient of what it reads. */
static bool can_gate(const struct net *net, const struct cuda_piece *p)
{
    switch (net->layer[p->head].op) {
    case NET_CONV:
    case NET_DENSE:
    case NET_AVGPOOL:
    case NET_MAXPOOL:
    case NET_GLOBALAVGPOOL:
        return true;
    default:
        return false;
    }
}

static void find_gates(struct cuda_pieces *p, const struct net *net)
{
    for (int i = 0; i < p->n; i++)
        p->at[i].gated = cuda_piece_derives(&p->at[i]) && i != p->n - 1;
    for (int i = 0; i < p->n; i++) {
        const struct cuda_piece *reader = &p->at[i];

        if (reader->x >= 0 && !can_gate(net, reader))
            p->at[reader->x].gated = false;
        if (reader->x2 >= 0)
            p->at[reader->x2].gated = false;
    }
}

/* What a sum, or an activation of its own, hands on is what it got: it can hand on the memory too, to
 * one of those it reads that has no gradient yet, since nobody behind it will look there again. */
static void find_same(struct cuda_pieces *p, const struct net *net)
{
    bool *has = mem_new((size_t)p->n, sizeof *has);

    for (int i = p->n - 1; i >= 0; i--) {
        const struct cuda_piece *at = &p->at[i];
        enum net_op op = net->layer[at->head].op;
        int hand[2] = {at->x2, op == NET_ADD || cuda_act_of(op) != CUDA_LINEAR ? at->x : NET_NONE};

        for (int k = 0; k < 2; k++)
            if (hand[k] >= 0 && !has[hand[k]] && at->x != at->x2) {
                p->at[hand[k]].same = i;
                break;
            }
        if (at->x >= 0)
            has[at->x] = true;
        if (at->x2 >= 0)
            has[at->x2] = true;
    }
    free(has);
}

void cuda_pieces_make(struct cuda_pieces *out, const struct net *net, bool keep, bool apart)
{
    size_t layers = (size_t)net->layers;
    int *readers = mem_new(layers, sizeof *readers), *reader = mem_new(layers, sizeof *reader);
    int *head = mem_new(layers, sizeof *head), *tail = mem_new(layers, sizeof *tail);

    *out = (struct cuda_pieces){.at = mem_new(layers, sizeof *out->at),
                                .of = mem_new(layers, sizeof *out->of)};
    count_readers(net, readers, reader);
    find_heads(net, readers, reader, apart, head);
    for (int i = 0; i < net->layers; i++)
        tail[head[i]] = i;
    for (int i = 0; i < net->layers; i++) /* in the order of their tails */
        if (tail[head[i]] == i) {
            for (int k = head[i]; k <= i; k++)
                if (head[k] == head[i])
                    out->of[k] = out->n;
            fill_piece(&out->at[out->n++], net, out->of, head[i], i);
        }
    find_gates(out, net);
    if (!keep)
        find_same(out, net);
    free(readers);
    free(reader);
    free(head);
    free(tail);
}

void cuda_pieces_free(struct cuda_pieces *p)
{
    free(p->at);
    free(p->of);
    *p = (struct cuda_pieces){0};
}
