/* Tensors under other names and in other layouts. */
#include "record/run/export.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* In what order the elements of one model's tensor go out: element i of the new tensor, whose axes
 * are out[], is the old one at the sum of index * stride. */
struct layout {
    int dims;         /* of the new tensor */
    size_t shape[8];  /* of the new tensor */
    int axes;         /* of the walk: shape may fold several of them into one */
    size_t walk[8];   /* sizes of the axes walked, outermost first */
    size_t stride[8]; /* in the old tensor, of each */
};

static void torch_layout(struct layout *l, const struct net *net, const struct net_tensor *t)
{
    const struct net_layer *layer = &net->layer[t->layer];

    if (t->kind == NET_KERNEL && layer->op == NET_CONV) { /* (h, w, in, out) -> (out, in, h, w) */
        size_t h = t->shape[0], w = t->shape[1], in = t->shape[2], out = t->shape[3];
        *l = (struct layout){.dims = 4,
                             .shape = {out, in, h, w},
                             .axes = 4,
                             .walk = {out, in, h, w},
                             .stride = {1, out, w * in * out, in * out}};
    } else if (t->kind == NET_KERNEL && layer->op == NET_DENSE) {
        /* (h * w * c, out) -> (out, c * h * w): PyTorch flattens (c, h, w) */
        size_t h = (size_t)layer->in.h, w = (size_t)layer->in.w, c = (size_t)layer->in.c;
        size_t out = t->shape[1];
        *l = (struct layout){.dims = 2,
                             .shape = {out, t->shape[0]},
                             .axes = 4,
                             .walk = {out, c, h, w},
                             .stride = {1, out, w * c * out, c * out}};
    } else {
        *l = (struct layout){.dims = t->dims, .axes = t->dims};
        for (size_t i = (size_t)t->dims, stride = 1; i > 0; stride *= t->shape[--i]) {
            l->shape[i - 1] = l->walk[i - 1] = t->shape[i - 1];
            l->stride[i - 1] = stride;
        }
    }
}

static void copy_layout(const struct layout *l, size_t element, const char *from, char *to)
{
    size_t at[8] = {0}, n = 1;

    for (int i = 0; i < l->axes; i++)
        n *= l->walk[i];
    for (size_t i = 0; i < n; i++) {
        size_t place = 0;
        for (int a = 0; a < l->axes; a++)
            place += at[a] * l->stride[a];
        memcpy(to + i * element, from + place * element, element);
        for (int a = l->axes - 1; a >= 0 && ++at[a] == l->walk[a]; a--)
            at[a] = 0;
    }
}

/* "batch_stats/BatchNorm_0/mean" -> "BatchNorm_0.running_mean" */
static char *torch_name(const char *name)
{
    static const char *const words[][2] = {{"kernel", "weight"},
                                           {"scale", "weight"},
                                           {"bias", "bias"},
                                           {"mean", "running_mean"},
                                           {"var", "running_var"}};
    char *dotted, *last;
    char *out;

    if (!strncmp(name, "batch_stats/", 12))
        name += 12;
    dotted = mem_text(name);
    for (char *c = dotted; *c; c++) {
        if (*c == '/')
            *c = '.';
    }
    last = strrchr(dotted, '.');
    for (size_t i = 0; last && i < MEM_COUNT(words); i++) {
        if (strcmp(last + 1, words[i][0]) != 0)
            continue;
        *last = 0;
        out = mem_textf("%s.%s", dotted, words[i][1]);
        free(dotted);
        return out;
    }
    return dotted;
}

static const struct net_tensor *find_in_net(const struct net *net, const char *name)
{
    for (int i = 0; i < net->params; i++) {
        if (!strcmp(net->param[i].name, name))
            return &net->param[i];
    }
    for (int i = 0; i < net->stats; i++) {
        if (!strcmp(net->stat[i].name, name))
            return &net->stat[i];
    }
    return NULL;
}

struct exporter {
    struct record_pack *p;
    bool ensemble;
    size_t members; /* in the file; 1 without an axis for them */
    int member;
    const struct net *net; /* with torch, else NULL */
};

static enum err_code find_layout(const struct exporter *x, const struct safetensors_tensor *t,
                                 const char *name, struct layout *l, struct err *e)
{
    const struct net_tensor *in_net;
    int axis = x->ensemble ? 1 : 0;
    size_t n = 1, want = 1;

    for (int d = axis; d < t->dims; d++)
        n *= t->shape[d];
    if (!x->net) {
        *l = (struct layout){.dims = t->dims - axis, .axes = 1, .walk = {n}, .stride = {1}};
        for (int d = axis; d < t->dims; d++)
            l->shape[d - axis] = t->shape[d];
        return ERR_OK;
    }
    in_net = find_in_net(x->net, name);
    if (in_net) {
        torch_layout(l, x->net, in_net);
        for (int a = 0; a < l->axes; a++)
            want *= l->walk[a];
    }
    if (!in_net || in_net->count != n || want != n)
        return err_set(e, ERR_INPUT,
                       "the checkpoint's tensor '%s' does not fit the run's model.net", t->name);
    return ERR_OK;
}

static enum err_code export_tensor(const struct exporter *x, const struct safetensors_tensor *t,
                                   const char *name, struct err *e)
{
    struct layout l = {0};
    size_t shape[9], element = safetensors_size(t->type), one, many, total;
    int dims = 0;
    char *bytes, *out_name;
    enum err_code code;

    if (x->ensemble && (t->dims == 0 || t->shape[0] != x->members))
        return err_set(e, ERR_INPUT, "the checkpoint's tensor '%s' has not one part a member",
                       t->name);
    TRY(find_layout(x, t, name, &l, e));
    one = t->size / x->members;
    many = x->ensemble && x->member == RECORD_ALL_MEMBERS ? x->members : 1;
    if (x->ensemble && x->member == RECORD_ALL_MEMBERS)
        shape[dims++] = many;
    for (int d = 0; d < l.dims; d++)
        shape[dims++] = l.shape[d];
    total = many * one;
    bytes = mem_try(total > 0 ? total : 1, 1);
    if (!bytes)
        return err_set(e, ERR_NOMEM, "no memory for the %zu bytes of tensor '%s'", many * one,
                       name);
    for (size_t m = 0; m < many; m++) {
        size_t from = x->member == RECORD_ALL_MEMBERS ? m : (size_t)x->member;
        copy_layout(&l, element, (const char *)t->bytes + from * one, bytes + m * one);
    }
    out_name = x->net ? torch_name(name) : mem_text(name);
    code = record_pack_tensor(x->p, out_name, t->type, dims, shape, bytes, e);
    free(out_name);
    free(bytes);
    return code;
}

enum err_code record_export(struct record_pack *p, const struct safetensors *s, int member,
                            bool torch, const struct net *net, struct err *e)
{
    struct exporter x = {.p = p, .members = 1, .member = member, .net = torch ? net : NULL};
    int64_t members = 0;

    if (!record_unpack_int(s, RECORD_NOTE_MEMBERS, &members) || members < 0 || members > 1 << 20)
        return err_set(e, ERR_INPUT, "the checkpoint does not say how many members it holds");
    if (members > 0) {
        x.ensemble = true;
        x.members = (size_t)members;
    }
    if (member != RECORD_ALL_MEMBERS && !x.ensemble)
        return err_set(e, ERR_INPUT, "the run is a single model: it has no member %d", member);
    if (member != RECORD_ALL_MEMBERS && (member < 0 || member >= members))
        return err_set(e, ERR_INPUT, "there is no member %d: the members are 0 to %" PRId64, member,
                       members - 1);
    for (size_t i = 0; i < s->tensors; i++) {
        const struct safetensors_tensor *t = &s->tensor[i];
        if (!strncmp(t->name, "params/", 7))
            TRY(export_tensor(&x, t, t->name + 7, e));
        else if (!strncmp(t->name, "batch_stats/", 12))
            TRY(export_tensor(&x, t, t->name, e));
    }
    if (p->tensors == 0)
        return err_set(e, ERR_INPUT, "the checkpoint holds no parameters");
    return ERR_OK;
}
