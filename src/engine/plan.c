#include "engine/plan.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/places.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plan_cores(void)
{
    cpu_set_t set;
    long n;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

const char *plan_crowding(const struct plan *p, int cells, int cores, char out[PLAN_CROWDING_ROOM])
{
    int share = cells < 2 ? cores : cells < cores ? cores / cells : 1;
    char each[32] = "";

    out[0] = '\0';
    if (strcmp(p->backend->name, "cpu") != 0 || p->session.threads <= share)
        return out;
    if (cells > 1)
        snprintf(each, sizeof each, "%s cells of ", TEXT_COUNT(cells));
    snprintf(out, PLAN_CROWDING_ROOM, "%s%d threads%s on %d core%s: threads = all is faster", each,
             p->session.threads, cells > 1 ? " each" : "", cores, text_s(cores));
    return out;
}

static void resolve_threads(struct spec *s)
{
    if (s->threads_kind == SPEC_THREADS_ALL)
        s->threads = plan_cores();
    else if (s->threads_kind == SPEC_THREADS_PER_DEVICE)
        s->threads *= s->devices;
    s->threads_kind = SPEC_THREADS_COUNT;
}

static bool wants_gpus(const struct spec *s)
{
    return s->backend == SPEC_CUDA || (s->gpus && s->backend == SPEC_AUTO);
}

static enum err_code no_cuda(const struct spec *s, const char *why, struct err *e)
{
    const char *key = s->gpus ? "devices" : "backend";
    struct text value = {0};

    spec_value(s, spec_key_find(key), &value);
    err_set(e, ERR_FAILED, "%s = %.80s: no CUDA device here: %.700s", key, text_str(&value), why);
    text_free(&value);
    return ERR_FAILED;
}

enum err_code plan_find_gpus(const struct spec *s, const struct backend *const *backends, int *gpus,
                             struct err *e)
{
    struct err why = {.text = "this program was built without it"};

    *gpus = 0;
    if (!wants_gpus(s))
        return ERR_OK;
    while (*backends && !(*backends)->gpus)
        backends++;
    if (*backends)
        *gpus = (*backends)->gpus(&why);
    if (*gpus < 1)
        return no_cuda(s, why.text, e);
    for (int i = 0; i < s->gpus; i++)
        if ((*backends)->gpu(s->gpu[i], &why) != ERR_OK)
            return err_set(e, ERR_FAILED, "devices: %.400s", why.text);
    return ERR_OK;
}

static enum err_code advise_cpu(const struct spec *s, const char *why, struct err *e)
{
    char count[40] = "";

    if (s->gpus)
        snprintf(count, sizeof count, " with devices = %d", s->devices);
    return err_set(e, ERR_FAILED,
                   "%.800s; backend = cpu%s trains on the processor, with virtual devices where "
                   "there are several",
                   why, count);
}

/* Whether a backend has a GPU; real: how many devices it has. */
static enum err_code count_gpus(struct plan *p, const struct backend *b, struct err *why)
{
    const struct spec *s = &p->spec;
    int gpus = b->gpus(why);

    if (gpus < 1) {
        if (s->backend == SPEC_AUTO && why->code == ERR_FAILED)
            snprintf(p->note, sizeof p->note, "%.300s; training on the CPU", why->text);
        return ERR_FAILED;
    }
    p->real_devices = s->gpus ? s->gpus : gpus < s->devices ? gpus : s->devices;
    return ERR_OK;
}

static enum spec_backend backend_kind_of(const char *name)
{
    for (int b = SPEC_CPU; b <= SPEC_FAKE; b++)
        if (!strcmp(name, spec_backend_word((enum spec_backend)b)))
            return (enum spec_backend)b;
    return SPEC_AUTO;
}

/* Of backend = auto: what was passed over, and what it then was. */
static void say_why(struct plan *p, const struct backend *b, const char *passed)
{
    if (b->gpus)
        snprintf(p->why, sizeof p->why, "there are GPUs");
    else if (*passed)
        snprintf(p->why, sizeof p->why, "no CUDA device here: %.300s", passed);
    else
        snprintf(p->why, sizeof p->why, "it is the first that can");
}

/* auto: the first that can. Where there is another one, the fake one is never chosen, nor the slow ref
 * but for fp64, which it alone has. */
static enum err_code choose_backend(struct plan *p, const struct backend *const *backends,
                                    struct err *e)
{
    struct spec *s = &p->spec;
    const char *word = spec_backend_word(s->backend);
    enum err_code first = ERR_OK;
    struct err passed = {0};

    for (int i = 0; backends[i]; i++) {
        const struct backend *b = backends[i];
        struct err why = {0};

        if (wants_gpus(s) ? !b->gpus : s->backend != SPEC_AUTO && strcmp(b->name, word))
            continue;
        if (s->backend == SPEC_AUTO && i > 0 &&
            (!strcmp(b->name, "fake") || (!strcmp(b->name, "ref") && s->precision != SPEC_FP64)))
            continue;
        /* tf32 is what tensor cores do: elsewhere it is fp32, and is called so. */
        p->session.precision = s->precision == SPEC_TF32 && !b->gpus ? SPEC_FP32 : s->precision;
        p->real_devices = 1;
        if (b->gpus && count_gpus(p, b, &why) != ERR_OK) {
            passed = why;
            if (!wants_gpus(s))
                continue;
        } else if (b->can(&p->session, &why) == ERR_OK) {
            p->backend = b;
            if (s->backend == SPEC_AUTO)
                say_why(p, b, p->note[0] ? p->note : passed.text);
            s->backend = backend_kind_of(b->name);
            return ERR_OK;
        } else if (b->gpus) {
            snprintf(p->note, sizeof p->note, "not on the GPU: %.350s", why.text);
        }
        if (first == ERR_OK) {
            first = why.code;
            if (e)
                *e = why;
        }
    }
    if (first != ERR_OK)
        return first;
    return err_set(e, ERR_FAILED, "backend = %s: this program was built without it", word);
}

static enum err_code refuse_batch(const struct plan *p, int64_t batch, struct err *e)
{
    int64_t each = p->spec.mode == SPEC_ENSEMBLE ? 1 : p->spec.devices;
    int64_t most = p->train_images / each * each;
    char next[64];

    if (most)
        snprintf(next, sizeof next, "batch=%lld is the most", (long long)most);
    else
        snprintf(next, sizeof next, "devices=%lld is the most", (long long)p->train_images);
    return err_set(e, ERR_INPUT,
                   "batch = %lld is more than the %lld image%s left for training: an update needs "
                   "a whole batch; %s",
                   (long long)batch, (long long)p->train_images, text_s(p->train_images), next);
}

static enum err_code check_batch(struct plan *p, struct err *e)
{
    struct spec *s = &p->spec;
    int64_t batch = spec_batch(s);

    if (p->train_images && batch > p->train_images)
        return refuse_batch(p, batch, e);
    s->batch = batch;
    s->batch_per_device = false;
    return ERR_OK;
}

/* The columns of a table are no neighbours. */
static enum err_code check_augment(const struct plan *p, struct err *e)
{
    const struct net_shape *s = &p->session.data->shape;
    struct text value = {0};
    enum err_code code = ERR_OK;

    if (p->spec.augment && s->h == 1 && s->w == 1) {
        spec_value(&p->spec, spec_key_find("augment"), &value);
        code = err_set(e, ERR_INPUT,
                       "augment = %s: it is for images, and %s is a table of %d column%s; leave it "
                       "out (augment = none)",
                       text_str(&value), p->session.data->name, s->c, text_s(s->c));
    }
    text_free(&value);
    return code;
}

static enum err_code get_net(const struct plan_source *from, const char *model,
                             const struct net_wants *wants, struct net **out, struct err *e)
{
    if (from->net)
        return from->net(from->user, model, wants, out, e);
    return net_open(out, model, wants, e);
}

/* A model for images has no use for the columns of a table, which look to it like one pixel: it would
 * fit, were they images, of the shape that it wants. */
static enum err_code blame_table(const struct plan *p, const struct data_set *data,
                                 const struct plan_source *from, struct net_shape wanted,
                                 enum err_code code, struct err *e)
{
    bool demands = wanted.h > 1 && wanted.w > 1;
    struct net_wants images = {.spec = &p->spec,
                               .input = demands ? wanted : (struct net_shape){28, 28, 1},
                               .classes = data->classes};
    struct net *net;
    struct err why;

    if (code != ERR_INPUT || data->shape.h != 1 || data->shape.w != 1 || data->shape.c < 2 ||
        get_net(from, p->spec.model, &images, &net, NULL) != ERR_OK)
        return code;
    if (!from->net)
        net_free(net);
    if (!e)
        return code;
    why = *e;
    return err_set(e, ERR_INPUT,
                   "model = %s takes images, C x H x W, and the table %s has %d columns beside the "
                   "label; model=mlp takes it (%s)",
                   p->spec.model, data->name, data->shape.c, why.text);
}

static enum err_code open_data_and_net(struct plan *p, const struct data_places *places,
                                       const struct plan_source *from, struct err *e)
{
    struct net_wants wants = {.spec = &p->spec};
    const struct data_set *data = &p->facts;
    struct net_shape wanted;

    TRY(from->demands ? from->demands(from->user, p->spec.model, &wanted, e)
                      : net_demands(p->spec.model, &wanted, e));
    if (from->peek) {
        TRY(from->peek(from->user, &p->facts, &p->spec, places, wanted, e));
    } else {
        TRY(data_open(&p->data, &p->spec, places, wanted, e));
        data = p->data;
    }
    wants.input = data->shape;
    wants.classes = data->classes;
    p->net_lent = from->net != NULL;
    TRY(blame_table(p, data, from, wanted, get_net(from, p->spec.model, &wants, &p->net, e), e));
    p->train_images = (int64_t)data->train.count;
    p->valid_images = (int64_t)data->valid.count;
    p->test_images = (int64_t)data->test.count;
    p->spec.normalize = data->normalize;
    p->session.data = data;
    p->session.net = p->net;
    if (p->test_images == 0)
        return err_set(e, ERR_INPUT, "data = %s holds no test images to evaluate on", p->spec.data);
    return ERR_OK;
}

static void fill_session(struct plan *p, int members)
{
    const struct spec *s = &p->spec;
    struct backend_plan *b = &p->session;

    p->member_device = mem_new((size_t)members, sizeof *p->member_device);
    p->model_key = mem_new((size_t)members, sizeof *p->model_key);
    for (int m = 0; m < members; m++) {
        p->member_device[m] = m % s->devices;
        p->model_key[m] = net_model_key(s->seed, s->mode == SPEC_ENSEMBLE ? members : 0, m);
    }
    b->mode = s->mode;
    b->optimizer = s->optimizer;
    b->momentum = s->momentum;
    b->beta1 = s->beta1;
    b->beta2 = s->beta2;
    b->epsilon = s->epsilon;
    b->weight_decay = s->weight_decay;
    b->grad_clip = s->grad_clip;
    b->sum_loss = s->loss_reduction == SPEC_SUM;
    b->sync_bn = s->sync_bn;
    b->augment = s->augment;
    b->crop_pad = s->crop_pad;
    b->batch = (size_t)s->batch;
    b->devices = b->all_devices = s->devices;
    b->members = members;
    b->own_orders = s->member_order == SPEC_OWN && s->shuffle && members > 1;
    b->member_device = p->member_device;
    b->model_key = p->model_key;
    b->threads = s->threads;
    b->gpu = s->gpu;
    b->gpus = s->gpus;
}

static enum err_code make(struct plan *p, const struct data_places *places,
                          const struct backend *const *backends, const struct plan_source *from,
                          struct err *e)
{
    static const char *const precisions[] = {"fp32", "tf32", "bf16", "fp64"};
    struct spec *s = &p->spec;
    int members, gpus;
    struct err why;

    TRY(spec_check(s, e));
    if (plan_find_gpus(s, backends, &gpus, &why) != ERR_OK) /* told before anything is opened */
        return gpus ? err_set(e, why.code, "%s", why.text) : advise_cpu(s, why.text, e);
    members = 1;
    if (s->mode == SPEC_ENSEMBLE)
        members = s->members = s->members ? s->members : s->devices;
    TRY(open_data_and_net(p, places, from, e));
    TRY(check_batch(p, e));
    TRY(check_augment(p, e));
    resolve_threads(s);
    fill_session(p, members);
    TRY(choose_backend(p, backends, e));
    snprintf(p->precision_used, sizeof p->precision_used, "%s", precisions[p->session.precision]);

    p->batch_per_device = s->mode == SPEC_ENSEMBLE ? s->batch : s->batch / s->devices;
    p->steps_per_epoch = p->train_images / s->batch;
    p->dropped = p->train_images - p->steps_per_epoch * s->batch;
    p->total_steps = s->epochs * p->steps_per_epoch;
    p->base_lr = spec_base_lr(s, s->batch);
    return ERR_OK;
}

enum err_code plan_make_with(struct plan **out, const struct spec *spec,
                             const struct data_places *places,
                             const struct backend *const *backends, const struct plan_source *from,
                             struct err *e)
{
    struct plan *p = mem_new(1, sizeof *p);
    enum err_code code;

    *out = NULL;
    p->spec = *spec;
    code = make(p, places, backends, from, e);
    if (code != ERR_OK) {
        spec_locate(spec, e);
        plan_free(p);
    } else {
        *out = p;
    }
    return code;
}

static enum err_code just_peek(void *user, struct data_set *facts, const struct spec *spec,
                               const struct data_places *places, struct net_shape wanted,
                               struct err *e)
{
    (void)user;
    return data_peek(facts, spec, places, wanted, e);
}

enum err_code plan_make(struct plan **out, const struct spec *spec,
                        const struct data_places *places, const struct backend *const *backends,
                        bool open_data, struct err *e)
{
    const struct plan_source from = {.peek = open_data ? NULL : just_peek};

    return plan_make_with(out, spec, places, backends, &from, e);
}

void plan_share_gpus(struct plan *p, int share, int shares)
{
    const struct backend *b = p->backend;
    int gpus = b->gpus ? b->gpus(NULL) : 0, each, first;

    if (gpus < 1 || shares < 2 || p->spec.gpus)
        return;
    each = gpus / shares > 1 ? gpus / shares : 1;
    each = each < p->spec.devices ? each : p->spec.devices;
    each = each < SPEC_DEVICES ? each : SPEC_DEVICES;
    first = gpus / shares > 1 ? share * (gpus / shares) : share % gpus;
    p->session.gpus = 0;
    for (int gpu = 0, nth = 0; gpu < SPEC_DEVICES && p->session.gpus < each; gpu++)
        if (b->gpu(gpu, NULL) == ERR_OK && nth++ >= first)
            p->shared_gpu[p->session.gpus++] = gpu;
    p->session.gpu = p->shared_gpu;
    p->real_devices = p->session.gpus;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    if (!p->net_lent)
        net_free(p->net);
    data_close(p->data);
    free(p->member_device);
    free(p->model_key);
    free(p);
}

void plan_add_ini(const struct spec *resolved, struct text *out)
{
    struct spec *s = mem_new(1, sizeof *s);

    *s = *resolved;
    snprintf(s->model, sizeof s->model, "model.net");
    spec_write(s, out);
    free(s);
}

static void add_layers(struct text *t, const struct net *net)
{
    text_addf(t, "input %d %d %d init %d", net->input.h, net->input.w, net->input.c,
              (int)net->init);
    text_addf(t, " %.17g\n", net->init_std);
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];

        text_addf(t, "%d %d %d %d %d %d %d %d %d %d %d %d %d %.17g %d\n", (int)l->op, l->src,
                  l->src2, l->out.h, l->out.w, l->out.c, l->k, l->stride, l->pad_top, l->pad_bottom,
                  l->pad_left, l->pad_right, l->bias != NET_NONE, l->rate, l->dropout);
    }
}

/* What a table calls its classes and columns: its checksum counts them only. A set that is known by
 * name has the same ones always. */
static void add_names(struct text *t, const struct data_set *data)
{
    if (!data->class_names || data_known_find(data->name))
        return;
    for (int i = 0; i < data->classes; i++) {
        text_add(t, "class ");
        text_add_json(t, data->class_names[i]);
        text_add(t, "\n");
    }
    for (size_t i = 0, n = (size_t)data->shape.h * (size_t)data->shape.w * (size_t)data->shape.c;
         data->column_names && i < n; i++) {
        text_add(t, "column ");
        text_add_json(t, data->column_names[i]);
        text_add(t, "\n");
    }
}

void plan_network_hash(const struct plan *p, char out[PLAN_PART_ROOM])
{
    struct text t = {0};

    add_layers(&t, p->net);
    out[0] = '#';
    hash_digits(out + 1, PLAN_PART_ROOM - 1, text_str(&t), t.n);
    text_free(&t);
}

void plan_data_hash(const struct plan *p, char out[PLAN_PART_ROOM])
{
    out[0] = '\0';
    if (strcmp(p->spec.data, "synthetic") != 0)
        snprintf(out, PLAN_PART_ROOM, "#%.8s", p->session.data->checksum);
}

void plan_hash(const struct plan *p, char out[17])
{
    struct text t = {0}, value = {0};

    for (int k = 0; spec_keys[k].name; k++) {
        const char *key = spec_keys[k].name;

        /* The layers and the data's checksum stand for these two. */
        if (!spec_key_names(key) || !strcmp(key, "model") || !strcmp(key, "data") ||
            !spec_applies(&p->spec, k))
            continue;
        text_clear(&value);
        spec_value(&p->spec, k, &value);
        text_addf(&t, "%s=%s\n", key, text_str(&value));
    }
    add_layers(&t, p->net);
    /* The checksum is of the bytes that are trained and tested on. */
    text_addf(&t, "data %s\n", p->session.data->checksum);
    add_names(&t, p->session.data);
    hash_digits(out, 17, text_str(&t), t.n);
    text_free(&t);
    text_free(&value);
}
