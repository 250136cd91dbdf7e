/* cpu/cpu.c: the table: sessions are opened, spoken to and closed here. */
#include "cpu/cpu_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *cpu_isa(void)
{
    const struct cpu_kernels *k = cpu_kernels_choose();
    return k ? k->name : "none";
}

static enum err_code cpu_can(const struct backend_plan *p, struct err *e)
{
    if (!cpu_kernels_choose())
        return err_set(e, ERR_INPUT,
                       "CHORUS_ISA=%s: this processor or this program has no such kernels (avx512, "
                       "avx2 and base are known)",
                       getenv("CHORUS_ISA"));
    if (p->precision == SPEC_BF16)
        return err_set(e, ERR_INPUT,
                       "precision = bf16: the CPU backend computes in fp32; use precision = fp32");
    if (p->precision == SPEC_FP64)
        return err_set(e, ERR_INPUT, "precision = fp64 needs backend = ref");
    return ERR_OK;
}

/* Geometry. */

static struct cpu_conv conv_of(const struct net_layer *l)
{
    return (struct cpu_conv){.cin = l->in.c,
                             .cout = l->out.c,
                             .k = l->k,
                             .stride = l->stride,
                             .in_h = l->in.h + l->pad_top + l->pad_bottom,
                             .in_w = l->in.w + l->pad_left + l->pad_right,
                             .out_h = l->out.h,
                             .out_w = l->out.w};
}

static struct cpu_conv back_of(const struct net_layer *l)
{
    return (struct cpu_conv){.cin = l->out.c,
                             .cout = l->in.c,
                             .k = l->k,
                             .stride = 1,
                             .in_h = l->in.h + l->k - 1,
                             .in_w = l->in.w + l->k - 1,
                             .out_h = l->in.h,
                             .out_w = l->in.w};
}

static size_t elements(const struct net_shape *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static bool overwrites(const struct net *net, int i)
{
    const struct net_layer *l = &net->layer[i];
    int readers = 0;

    if (l->op != NET_RELU || l->src < 0)
        return false;
    for (int j = 0; j < net->layers; j++)
        readers += (net->layer[j].src == l->src) + (net->layer[j].src2 == l->src);
    /* a layer that needs its own output to go backward must keep it */
    enum net_op op = net->layer[l->src].op;
    return readers == 1 && (op == NET_CONV || op == NET_DENSE || op == NET_BATCHNORM ||
                            op == NET_ADD || op == NET_AVGPOOL);
}

static size_t round_up(size_t n)
{
    return (n + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

static void lay_out(struct backend_session *s)
{
    const struct net *net = s->plan.net;
    bool *written = mem_new((size_t)net->layers, sizeof *written);

    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];
        struct cpu_layer *c = &s->layer[i];
        c->l = l;
        c->in = elements(&l->in);
        c->out = elements(&l->out);
        c->first = l->src == NET_IMAGES;
        c->in_place = overwrites(net, i);
        if (l->kernel >= 0)
            c->kernel = net->param[l->kernel].offset;
        if (l->bias >= 0)
            c->bias = net->param[l->bias].offset;
        if (l->op == NET_BATCHNORM) {
            c->mean = net->stat[l->mean].offset;
            c->var = net->stat[l->var].offset;
            s->norm = true;
        }
        if (l->op == NET_CONV) {
            c->conv = conv_of(l);
            c->back = back_of(l);
            c->padded = l->pad_top || l->pad_bottom || l->pad_left || l->pad_right;
            c->pack = s->packed_count;
            s->packed_count += round_up(s->k->conv_packed(&c->conv));
            c->pack_back = s->packed_count;
            if (!c->first)
                s->packed_count += round_up(s->k->conv_packed(&c->back));
        }
    }
    for (int i = net->layers - 1; i >= 0; i--) { /* who writes a gradient first, who adds to it */
        const struct net_layer *l = &net->layer[i];
        if (l->src >= 0) {
            s->layer[i].add = written[l->src];
            written[l->src] = true;
        }
        if (l->src2 >= 0) {
            s->layer[i].add2 = written[l->src2];
            written[l->src2] = true;
        }
    }
    free(written);
}

/* Floats that a worker needs for one group. */
static size_t group_floats(const struct backend_session *s)
{
    size_t n = elements(&s->plan.net->input);

    for (int i = 0; i < s->layers; i++) {
        const struct cpu_layer *c = &s->layer[i];
        n += c->out * (c->in_place ? 1 : 2);
        if (c->padded)
            n += (size_t)c->conv.in_h * (size_t)c->conv.in_w * (size_t)c->conv.cin;
    }
    return n * CPU_LANES;
}

#define CACHE_FLOATS ((size_t)1 << 19) /* 2 MiB: what a core's share of the caches holds */

static int groups_at_a_time(const struct backend_session *s, int share)
{
    size_t fit = CACHE_FLOATS / group_floats(s);
    bool pictures = false;

    for (int i = 0; i < s->layers; i++)
        pictures = pictures || s->layer[i].l->op == NET_CONV;
    if (s->norm || fit >= (size_t)share)
        return share; /* batch norm looks at all groups at once */
    if (!pictures && share <= 16)
        return share; /* dense weights are read once for all groups */
    return fit < 1 ? 1 : (int)fit;
}

/* Memory: every piece is noted, so that close and a failed open free the same way. */

static void *take(struct backend_session *s, size_t count, size_t size)
{
    void *p = s->failed_bytes ? NULL : mem_try(count, size);

    if (!p) {
        if (!s->failed_bytes && __builtin_mul_overflow(count, size, &s->failed_bytes))
            s->failed_bytes = SIZE_MAX;
        return NULL;
    }
    s->memory = mem_grow(s->memory, &s->memory_room, s->pieces + 1, sizeof *s->memory);
    s->memory[s->pieces++] = p;
    return p;
}

static void equip_worker(struct backend_session *s, struct cpu_worker *w)
{
    size_t n = (size_t)w->groups * CPU_LANES, layers = (size_t)s->layers, spread = 0, dense = 0;

    w->images = take(s, n * elements(&s->plan.net->input), sizeof *w->images);
    w->act = take(s, layers, sizeof *w->act);
    w->grad = take(s, layers, sizeof *w->grad);
    w->frame = take(s, layers, sizeof *w->frame);
    w->keep = take(s, layers, sizeof *w->keep);
    w->dparam = take(s, round_up(s->params), sizeof *w->dparam);
    w->picture = take(s, elements(&s->plan.net->input), sizeof *w->picture);
    for (int i = 0; i < s->layers && !s->failed_bytes; i++) {
        const struct cpu_layer *c = &s->layer[i];
        w->act[i] = c->in_place ? w->act[c->l->src] : take(s, n * c->out, sizeof **w->act);
        w->grad[i] = take(s, n * c->out, sizeof **w->grad);
        if (c->padded)
            w->frame[i] =
                take(s, n * (size_t)c->conv.in_h * (size_t)c->conv.in_w * (size_t)c->conv.cin,
                     sizeof **w->frame);
        if (c->l->op == NET_DROPOUT)
            w->keep[i] = take(s, (size_t)w->groups * c->out, sizeof **w->keep);
        if (c->l->op == NET_CONV && !c->first) {
            size_t want = (size_t)c->back.in_h * (size_t)c->back.in_w * (size_t)c->back.cin;
            spread = want > spread ? want : spread;
        }
        if (c->l->op == NET_DENSE && c->out > dense)
            dense = c->out;
    }
    w->spread = take(s, spread * CPU_LANES, sizeof *w->spread);
    w->scratch = take(s, n * round_up(dense), sizeof *w->scratch);
}

static void equip_team(struct backend_session *s, struct cpu_team *t)
{
    size_t channels = 0;

    for (int i = 0; i < s->layers; i++) {
        if (s->layer[i].l->op == NET_BATCHNORM && (size_t)s->layer[i].l->in.c > channels)
            channels = (size_t)s->layer[i].l->in.c;
    }
    t->s = s;
    t->sums = take(s, 2 * channels * (size_t)s->batch_groups, sizeof *t->sums);
    t->norm = take(s, 2 * channels * (size_t)s->batch_groups, sizeof *t->norm);
    t->next_stat = take(s, s->stats, sizeof *t->next_stat);
    t->image_loss = take(s, s->plan.batch, sizeof *t->image_loss);
    t->image_right = take(s, s->plan.batch, sizeof *t->image_right);
    t->worker = take(s, (size_t)t->size, sizeof *t->worker);
    for (int r = 0; r < t->size && !s->failed_bytes; r++) {
        int share = (s->batch_groups + t->size - 1) / t->size;
        t->worker[r] = (struct cpu_worker){.team = t, .rank = r};
        t->worker[r].groups = groups_at_a_time(s, share);
        s->whole = t->worker[r].groups == share;
        equip_worker(s, &t->worker[r]);
    }
}

static void equip_models(struct backend_session *s)
{
    int slots = backend_slots(s->plan.optimizer);

    s->model = take(s, (size_t)s->plan.members, sizeof *s->model);
    for (int m = 0; m < s->plan.members && !s->failed_bytes; m++) {
        struct cpu_model *model = &s->model[m];
        model->param = take(s, s->params, sizeof *model->param);
        model->stat = take(s, s->stats, sizeof *model->stat);
        model->packed = take(s, s->packed_count, sizeof *model->packed);
        if (slots > 0)
            model->slot1 = take(s, s->params, sizeof *model->slot1);
        if (slots > 1)
            model->slot2 = take(s, s->params, sizeof *model->slot2);
        model->key = s->plan.model_key[m];
    }
}

static int threads_of(const struct backend_plan *p)
{
    return p->threads < 1 ? 1 : p->threads > 256 ? 256 : p->threads;
}

/* All threads on one model after the other; or, where the members share out evenly, each thread on
 * members of its own, without a barrier. */
static void arrange(struct backend_session *s)
{
    const struct backend_plan *p = &s->plan;
    bool alone = p->mode == SPEC_ENSEMBLE && p->members % s->threads == 0;

    s->split = p->mode == SPEC_DATA_PARALLEL && s->norm && !p->sync_bn && p->devices > 1;
    s->group_images = s->split ? p->batch / (size_t)p->devices : p->batch;
    s->batch_groups =
        (int)((s->group_images + CPU_LANES - 1) / CPU_LANES) * (s->split ? p->devices : 1);
    s->teams = alone ? s->threads : 1;
    s->team = take(s, (size_t)s->teams, sizeof *s->team);
    for (int t = 0; t < s->teams && !s->failed_bytes; t++) {
        s->team[t].size = alone ? 1 : s->threads;
        s->team[t].first_model = t;
        s->team[t].model_step = s->teams;
        equip_team(s, &s->team[t]);
    }
}

/* Threads. */

struct cpu_thread {
    struct backend_session *s;
    struct cpu_worker *w;
};

static void *thread_main(void *user)
{
    struct cpu_thread mine = *(struct cpu_thread *)user;
    struct backend_session *s = mine.s;
    unsigned seen = 0;

    free(user);
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (s->job_number == seen)
            pthread_cond_wait(&s->wake, &s->lock);
        seen = s->job_number;
        struct cpu_job job = s->job;
        pthread_mutex_unlock(&s->lock);
        if (job.kind == CPU_QUIT)
            return NULL;
        if (job.kind == CPU_TRAIN)
            cpu_train(mine.w, &job);
        else if (job.kind == CPU_EVALUATE)
            cpu_evaluate(mine.w, &job);
        else
            for (int m = mine.w->team->first_model; m < s->plan.members;
                 m += mine.w->team->model_step)
                cpu_pack(mine.w, &s->model[m]);
        pthread_mutex_lock(&s->lock);
        if (--s->running == 0)
            pthread_cond_signal(&s->done);
        pthread_mutex_unlock(&s->lock);
    }
}

static void run_job(struct backend_session *s, struct cpu_job job)
{
    pthread_mutex_lock(&s->lock);
    for (int t = 0; t < s->teams; t++)
        atomic_store(&s->team[t].abandon, false);
    s->job = job;
    s->job_number++;
    s->running = s->started;
    s->ending = false;
    s->furthest = -1;
    pthread_cond_broadcast(&s->wake);
    while (s->running && job.kind != CPU_QUIT)
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static bool start_threads(struct backend_session *s)
{
    s->thread = take(s, (size_t)s->threads, sizeof *s->thread);
    for (int i = 0; i < s->threads && s->thread; i++) {
        struct cpu_team *t = &s->team[s->teams > 1 ? i : 0];
        struct cpu_thread *mine = mem_new(1, sizeof *mine);
        *mine = (struct cpu_thread){s, &t->worker[s->teams > 1 ? 0 : i]};
        if (pthread_create(&s->thread[i], NULL, thread_main, mine)) {
            free(mine);
            return false;
        }
        s->started++;
    }
    return s->started == s->threads;
}

static void cpu_close(struct backend_session *s)
{
    if (!s)
        return;
    if (s->started) {
        run_job(s, (struct cpu_job){.kind = CPU_QUIT});
        for (int i = 0; i < s->started; i++)
            pthread_join(s->thread[i], NULL);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->done);
    for (size_t i = 0; i < s->pieces; i++)
        free(s->memory[i]);
    free(s->memory);
    free(s->layer);
    free(s);
}

static struct backend_session *session_new(const struct backend_plan *plan)
{
    struct backend_session *s = mem_new(1, sizeof *s);

    s->plan = *plan;
    s->k = cpu_kernels_choose();
    s->layers = plan->net->layers;
    s->params = plan->net->parameter_count;
    s->stats = plan->net->stat_count;
    s->threads = threads_of(plan);
    s->layer = mem_new((size_t)s->layers, sizeof *s->layer);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->done, NULL);
    lay_out(s);
    return s;
}

static enum err_code cpu_open(const struct backend_plan *plan, struct backend_session **out,
                              struct err *e)
{
    *out = NULL;
    TRY(cpu_can(plan, e));
    struct backend_session *s = session_new(plan);
    equip_models(s);
    arrange(s);
    if (s->failed_bytes) {
        size_t bytes = s->failed_bytes;
        cpu_close(s);
        return err_set(e, ERR_NOMEM,
                       "out of memory: %zu bytes more were wanted for batch %zu, %d members and "
                       "%d threads; try a smaller batch",
                       bytes, plan->batch, plan->members, plan->threads);
    }
    if (!start_threads(s)) {
        cpu_close(s);
        return err_set(e, ERR_FAILED, "cannot start %d threads", plan->threads);
    }
    *out = s;
    return ERR_OK;
}

static enum err_code cpu_estimate(const struct backend_plan *p, struct backend_estimate *out,
                                  struct err *e)
{
    TRY(cpu_can(p, e));
    struct backend_session *s = session_new(p);
    int slots = backend_slots(p->optimizer);
    size_t groups = p->batch / CPU_LANES + 1;
    size_t share = groups / (size_t)s->threads + 1, held;
    size_t params = (s->params * (size_t)(1 + slots) + s->packed_count) * (size_t)p->members;

    s->batch_groups = (int)groups;
    held = (size_t)groups_at_a_time(s, (int)share);
    *out = (struct backend_estimate){.places = 1};
    out->bytes[0] =
        (params + (size_t)s->threads * (s->params + held * group_floats(s))) * sizeof(float);
    if (p->data) {
        size_t images = p->data->train.count + p->data->valid.count + p->data->test.count;
        out->bytes[0] += images * elements(&p->data->shape) * (p->data->lut ? 1 : sizeof(float));
    }
    cpu_close(s);
    return ERR_OK;
}

static enum err_code cpu_run_train(struct backend_session *s, const struct backend_span *span,
                                   struct backend_step *results, size_t *done, struct err *e)
{
    (void)e;
    run_job(s, (struct cpu_job){
                   .kind = CPU_TRAIN, .span = span, .results = results, .stop = span->stop});
    *done = (size_t)(s->furthest + 1);
    s->trained = s->trained || *done;
    return ERR_OK;
}

static enum err_code cpu_run_evaluate(struct backend_session *s, const struct data_part *part,
                                      size_t first, size_t count, const atomic_bool *stop,
                                      float *logits, struct err *e)
{
    s->trained = false; /* the buffers hold other images from here on */
    run_job(s, (struct cpu_job){.kind = CPU_EVALUATE,
                                .part = part,
                                .first = first,
                                .count = count,
                                .stop = stop,
                                .logits = logits});
    if (stop && atomic_load(stop))
        return err_set(e, ERR_STOPPED, "stopped while evaluating");
    return ERR_OK;
}

/* Flax's rows of a dense kernel behind pictures are (h, w, c), ours (c, h, w). */
static void copy_tensor(const struct backend_session *s, const struct net_tensor *t, float *flat,
                        float *theirs, bool set)
{
    const struct net_layer *l = &s->plan.net->layer[t->layer];
    const struct net_shape *in = &l->in;

    if (l->op != NET_DENSE || t->kind != NET_KERNEL) {
        if (set)
            memcpy(flat, theirs, t->count * sizeof *flat);
        else
            memcpy(theirs, flat, t->count * sizeof *flat);
        return;
    }
    size_t width = t->shape[1];
    for (int c = 0; c < in->c; c++) {
        for (int y = 0; y < in->h; y++) {
            for (int x = 0; x < in->w; x++) {
                float *ours =
                    flat +
                    (((size_t)c * (size_t)in->h + (size_t)y) * (size_t)in->w + (size_t)x) * width;
                float *flax =
                    theirs +
                    (((size_t)y * (size_t)in->w + (size_t)x) * (size_t)in->c + (size_t)c) * width;
                memcpy(set ? ours : flax, set ? flax : ours, width * sizeof *flat);
            }
        }
    }
}

static enum err_code cpu_state(struct backend_session *s, int member, enum backend_kind kind,
                               bool set, void *buffer, struct err *e)
{
    struct cpu_model *m = &s->model[member];
    float *flat = kind == BACKEND_PARAMS  ? m->param
                  : kind == BACKEND_SLOT1 ? m->slot1
                  : kind == BACKEND_SLOT2 ? m->slot2
                                          : m->stat;

    if (member < 0 || member >= s->plan.members)
        return err_set(e, ERR_FAILED, "member %d of %d was asked for", member, s->plan.members);
    if (!flat)
        return err_set(e, ERR_FAILED, "this optimizer has no such state");
    if (kind == BACKEND_STATS) {
        memcpy(set ? (void *)flat : buffer, set ? buffer : (void *)flat, s->stats * sizeof *flat);
        return ERR_OK;
    }
    for (int i = 0; i < s->plan.net->params; i++) {
        const struct net_tensor *t = &s->plan.net->param[i];
        copy_tensor(s, t, flat + t->offset, (float *)buffer + t->offset, set);
    }
    if (set && kind == BACKEND_PARAMS)
        run_job(s, (struct cpu_job){.kind = CPU_PACK});
    return ERR_OK;
}

/* For tests. */

static void peek_tensor(const struct backend_session *s, const struct cpu_team *t, int tensor,
                        double *out)
{
    const struct net_tensor *p = &s->plan.net->param[tensor];
    float *copy = mem_new(p->count, sizeof *copy);

    copy_tensor(s, p, t->worker[0].dparam + p->offset, copy, false);
    for (size_t i = 0; i < p->count; i++)
        out[i] = (double)copy[i];
    free(copy);
}

static void peek_pixels(const struct backend_session *s, const struct cpu_team *t, int layer,
                        bool gradient, double *out)
{
    const struct cpu_layer *c = &s->layer[layer];
    int channels = c->l->out.c, pixels = c->l->out.h * c->l->out.w;

    for (int r = 0; r < t->size; r++) {
        int from, to;
        cpu_share(s->batch_groups, t->size, r, &from, &to);
        const float *held = gradient ? t->worker[r].grad[layer] : t->worker[r].act[layer];
        for (int g = from; g < to; g++, held += c->out * CPU_LANES) {
            size_t first;
            int lanes;
            cpu_group(s, g, &first, &lanes);
            for (int lane = 0; lane < lanes; lane++) {
                double *image = out + (first + (size_t)lane) * c->out;
                for (int ch = 0; ch < channels; ch++) {
                    for (int i = 0; i < pixels; i++)
                        image[i * channels + ch] =
                            (double)held[(ch * pixels + i) * CPU_LANES + lane];
                }
            }
        }
    }
}

static enum err_code cpu_peek(struct backend_session *s, int member, int layer,
                              enum backend_what what, double *out, size_t n,
                              enum backend_peek *answer, struct err *e)
{
    const struct cpu_team *t = &s->team[s->teams > 1 ? member % s->teams : 0];
    bool latest = member + t->model_step >= s->plan.members, pixels, kept;
    size_t want;

    *answer = BACKEND_FUSED;
    if (!s->trained)
        return err_set(e, ERR_FAILED, "peek: no batch was trained last");
    if (layer < 0 || layer >= s->layers)
        return err_set(e, ERR_FAILED, "peek: layer %d of %d", layer, s->layers);
    const struct cpu_layer *c = &s->layer[layer];
    pixels = what == BACKEND_OUTPUT || what == BACKEND_GRAD_OUTPUT;
    int tensor = what == BACKEND_GRAD_KERNEL ? c->l->kernel : c->l->bias;
    if (!pixels && tensor < 0)
        return err_set(e, ERR_FAILED, "peek: %s has no such tensor", c->l->name);
    want = pixels ? s->plan.batch * c->out : s->plan.net->param[tensor].count;
    if (n != want)
        return err_set(e, ERR_FAILED, "peek: %s has %zu numbers there, not %zu", c->l->name, want,
                       n);
    kept = latest && (s->whole || !pixels);
    for (int i = 0; what == BACKEND_OUTPUT && i < s->layers; i++)
        kept = kept && !(s->layer[i].in_place && s->layer[i].l->src == layer);
    if (!kept)
        return ERR_OK;
    if (pixels)
        peek_pixels(s, t, layer, what == BACKEND_GRAD_OUTPUT, out);
    else
        peek_tensor(s, t, tensor, out);
    *answer = BACKEND_PEEKED;
    return ERR_OK;
}

const struct backend cpu_backend = {
    .name = "cpu",
    .can = cpu_can,
    .estimate = cpu_estimate,
    .isa = cpu_isa,
    .open = cpu_open,
    .close = cpu_close,
    .train = cpu_run_train,
    .evaluate = cpu_run_evaluate,
    .state = cpu_state,
    .peek = cpu_peek,
};
