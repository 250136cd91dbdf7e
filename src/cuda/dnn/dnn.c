/* cuda/dnn/dnn.c: cuDNN's plans of a place, and their passes in a list of launches. */
#include "cuda/dnn/dnn.h"
#include "cuda/dnn/dnn_turn_args.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKSPACE ((size_t)256 << 20)
/* Plans of ResNet-18 for an H200 that was described want this and less; those without tensor cores a
 * copy of both images, in the order of their channels. */
#define USUAL_WORKSPACE ((size_t)4 << 20)
#define TRIED           8     /* plans of a pass that are timed, at most */
#define GRID_SIDE       65535 /* blocks along a grid's second side, at most */

struct pack { /* one execution: what a list's call points to */
    struct cuda_dnn *dnn;
    struct cuda_dnn_plan *plan;
    void *address[3]; /* X, W, Y */
    void *workspace;
    dnn_descriptor variant;
    struct pack *next;
};

struct cuda_dnn_layer {
    struct cuda_dnn *dnn;
    struct cuda_conv conv;
    struct cuda_dnn_plan plan[CUDA_DNN_PASSES];
    struct cuda_dnn_layer *next;
};

struct cuda_dnn {
    const struct cuda_dnn_api *api;
    struct cuda_dnn_for who;
    struct cuda_stream *stream;
    int number; /* of its GPU */
    int tune_ms;
    bool untuned, hangs;
    char *folder; /* where plans are kept; NULL: nowhere */
    struct cuda_dnn_layer *layers;
    struct pack *packs;
};

/* Letters and digits of a name, for a folder's. */
static void add_plain(struct text *t, const char *name)
{
    for (; *name; name++)
        text_addf(t, "%c",
                  (*name >= '0' && *name <= '9') || (*name >= 'A' && *name <= 'Z') ||
                          (*name >= 'a' && *name <= 'z')
                      ? *name
                      : '-');
}

static char *plans_folder(const struct cuda_gpu_facts *gpu, const char *driver, size_t version)
{
    char *cache = io_cache_folder(), *folder;
    struct text t = {0};

    if (!cache)
        return NULL;
    text_add(&t, "plans/");
    add_plain(&t, gpu->name);
    text_addf(&t, "-%d.%d-driver", gpu->major, gpu->minor);
    add_plain(&t, driver);
    text_addf(&t, "-cudnn%zu", version);
    folder = io_path(cache, text_str(&t));
    text_free(&t);
    free(cache);
    return folder;
}

/* Handles are made one after another: the library's own first steps are for one thread. */
static int make_handle(const struct cuda_dnn_api *api, void **handle)
{
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    int failed;

    pthread_mutex_lock(&alone);
    failed = api->create(handle);
    pthread_mutex_unlock(&alone);
    return failed;
}

enum err_code cuda_dnn_open(struct cuda_dnn **out, int number, const struct cuda_gpu_facts *gpu,
                            const char *driver, struct cuda_stream *s, int tune_ms, struct err *e)
{
    const struct cuda_dnn_api *api = cuda_dnn_usable(e);
    struct cuda_dnn *d;
    int failed;

    *out = NULL;
    if (!api)
        return ERR_FAILED;
    d = mem_new(1, sizeof *d);
    d->api = api;
    d->number = number;
    d->stream = s;
    d->tune_ms = tune_ms;
    failed = make_handle(api, &d->who.handle);
    if (!failed)
        failed = api->set_stream(d->who.handle, s);
    if (failed) {
        cuda_dnn_close(d);
        return err_set(e, ERR_FAILED, "cuDNN does not start on GPU %d: status %d", number, failed);
    }
    d->folder = plans_folder(gpu, driver, api->version());
    *out = d;
    return ERR_OK;
}

void cuda_dnn_untuned(struct cuda_dnn *d)
{
    d->untuned = true;
}

void cuda_dnn_close(struct cuda_dnn *d)
{
    if (!d)
        return;
    for (struct pack *p = d->packs, *next; p; p = next) {
        next = p->next;
        d->api->discard(p->variant);
        free(p);
    }
    for (struct cuda_dnn_layer *l = d->layers, *next; l; l = next) {
        next = l->next;
        for (int i = 0; i < CUDA_DNN_PASSES; i++)
            cuda_dnn_plan_free(&l->plan[i]);
        free(l);
    }
    if (d->who.handle)
        d->api->destroy(d->who.handle);
    free(d->folder);
    free(d);
}

bool cuda_dnn_suits(const struct cuda_conv *c)
{
    size_t rows = (size_t)c->k * (size_t)c->k * (size_t)c->c, columns = (size_t)c->oc;

    /* Blocks that turn the weights, along a grid's second side. */
    if (rows > GRID_SIDE * TURN_TILE || columns > GRID_SIDE * TURN_TILE)
        return false;
    return c->c % 8 == 0 && c->oc % 8 == 0 && c->c >= 32 && c->oc >= 32 && c->h * c->w > 1;
}

/* ---- plans, kept ---- */

/* One that was picked by its time stands beside the first one, and goes before it. */
static char *kept_path(const struct cuda_dnn *d, const char *name, bool tuned)
{
    char *file, *path;

    if (!d->folder)
        return NULL;
    file = mem_textf("%s%s", name, tuned ? ".tuned" : "");
    path = io_path(d->folder, file);
    free(file);
    return path;
}

/* A kept plan: a checksum of the rest on a line; whose plan it is on the next, which its path says too;
 * its engine's number; then cuDNN's text. cuDNN builds whatever plan a text is of, and many a text with
 * another digit in it: it would be computed with as it is. */
static void add_whose(struct text *t, const struct cuda_dnn *d, const char *path)
{
    text_addf(t, "%s\n", path + (strrchr(d->folder, '/') + 1 - d->folder));
}

/* Behind the checksum and whose it is; NULL where one of them is another. */
static char *open_kept(const struct cuda_dnn *d, const char *path, char *bytes, size_t n)
{
    char sum[65];
    struct text whose = {0};
    char *body = n >= sizeof sum ? bytes + sizeof sum : NULL;

    add_whose(&whose, d, path);
    if (body) {
        hash_digits(sum, sizeof sum, body, n - sizeof sum);
        if (memcmp(bytes, sum, 64) != 0 || bytes[64] != '\n' || n - sizeof sum < whose.n ||
            memcmp(body, whose.s, whose.n) != 0)
            body = NULL;
        else
            body += whose.n;
    }
    text_free(&whose);
    return body;
}

static bool load_kept(struct cuda_dnn *d, const char *name, bool tuned, struct cuda_dnn_plan *plan)
{
    char *path = kept_path(d, name, tuned), *bytes = NULL, *body, *line;
    size_t n = 0;
    bool there =
        path && io_exists(path) && io_read_file(path, (size_t)16 << 20, &bytes, &n, NULL) == ERR_OK;
    bool good;

    body = there ? open_kept(d, path, bytes, n) : NULL;
    if (there && !body)
        log_say(LOG_WARN, "%s is damaged or another convolution's: %s", path,
                tuned ? "`chorus bench --tune` may time its plans anew" : "its plan is made anew");
    good =
        body && (line = memchr(body, '\n', (size_t)(bytes + n - body))) &&
        cuda_dnn_plan_load(plan, &d->who, line + 1, (size_t)(bytes + n - line - 1), NULL) == ERR_OK;

    if (good) {
        plan->engine = strtoll(body, NULL, 10);
        plan->tuned = tuned;
    }
    free(bytes);
    free(path);
    return good;
}

static void keep(struct cuda_dnn *d, const char *name, const struct cuda_dnn_plan *plan)
{
    char *path = kept_path(d, name, plan->tuned), *json = NULL, sum[65];
    struct text body = {0}, t = {0};
    size_t bytes = 0;

    /* Where the cache cannot be written, plans are made anew next time. */
    if (path && cuda_dnn_plan_save(plan, &json, &bytes, NULL) == ERR_OK &&
        io_make_folders(d->folder, NULL) == ERR_OK) {
        add_whose(&body, d, path);
        text_addf(&body, "%lld\n", (long long)plan->engine);
        text_add_n(&body, json, bytes);
        hash_digits(sum, sizeof sum, body.s, body.n);
        text_addf(&t, "%s\n", sum);
        text_add_n(&t, body.s, body.n);
        (void)!io_replace_file(path, t.s, t.n, NULL);
    }
    text_free(&body);
    text_free(&t);
    free(json);
    free(path);
}

/* The quickest of the first plans; false where they could not be timed. */
static bool tune(struct cuda_dnn *d, const struct cuda_conv *c, enum cuda_dnn_pass pass,
                 struct cuda_dnn_plan *out)
{
    struct cuda_dnn_plan plan[TRIED];
    int n = cuda_dnn_plans_make(plan, TRIED, &d->who, c, pass, WORKSPACE, NULL);
    int best = cuda_dnn_quickest(&d->who, d->stream, d->tune_ms, c, plan, n);

    d->hangs = best == CUDA_DNN_NO_ANSWER;
    for (int i = 0; i < n && !d->hangs; i++)
        if (i != best)
            cuda_dnn_plan_free(&plan[i]);
    if (best < 0)
        return false;
    *out = plan[best];
    out->tuned = true;
    return true;
}

/* Layers of one shape have one plan, whose file this session wrote. */
static bool planned_before(const struct cuda_dnn *d, const char *name, enum cuda_dnn_pass pass)
{
    for (const struct cuda_dnn_layer *l = d->layers; l; l = l->next) {
        char other[CUDA_DNN_NAME];

        cuda_dnn_name(&l->conv, pass, other);
        if (l->plan[pass].plan && !strcmp(other, name))
            return true;
    }
    return false;
}

static void take_plan(struct cuda_dnn *d, const struct cuda_conv *c, enum cuda_dnn_pass pass,
                      struct cuda_dnn_plan *out)
{
    char name[CUDA_DNN_NAME];
    bool timed;

    cuda_dnn_name(c, pass, name);
    timed = d->tune_ms && !planned_before(d, name, pass) && tune(d, c, pass, out);
    if (d->hangs || (!timed && ((!d->untuned && load_kept(d, name, true, out)) ||
                                load_kept(d, name, false, out))))
        return;
    if (timed || cuda_dnn_plan_make(out, &d->who, c, pass, WORKSPACE, NULL) == ERR_OK)
        keep(d, name, out);
}

bool cuda_dnn_hangs(const struct cuda_dnn *d)
{
    return d->hangs;
}

struct cuda_dnn_layer *cuda_dnn_layer(struct cuda_dnn *d, const struct cuda_conv *c, int passes)
{
    struct cuda_dnn_layer *l = mem_new(1, sizeof *l);
    bool any = false;

    l->dnn = d;
    l->conv = *c;
    for (int pass = 0; pass < passes && !d->hangs; pass++) {
        take_plan(d, c, (enum cuda_dnn_pass)pass, &l->plan[pass]);
        if (!l->plan[pass].plan)
            continue;
        cuda_dnn_plan_mark(&l->plan[pass]);
        any = true;
    }
    if (!any) {
        free(l);
        return NULL;
    }
    l->next = d->layers;
    d->layers = l;
    return l;
}

bool cuda_dnn_has(const struct cuda_dnn_layer *l, enum cuda_dnn_pass pass)
{
    return l && l->plan[pass].plan;
}

/* ---- passes ---- */

static size_t weight_bytes(const struct cuda_conv *c)
{
    size_t n = (size_t)c->k * (size_t)c->k * (size_t)c->c * (size_t)c->oc;

    return (n * cuda_element(c->math) + 255) / 256 * 256;
}

size_t cuda_dnn_scratch(const struct cuda_dnn_layer *l)
{
    size_t most = 0;

    for (int i = 0; i < CUDA_DNN_PASSES; i++)
        if (l->plan[i].workspace > most)
            most = l->plan[i].workspace;
    return weight_bytes(&l->conv) + most;
}

size_t cuda_dnn_usual(const struct cuda_conv *c)
{
    size_t x = (size_t)c->n * (size_t)c->h * (size_t)c->w * (size_t)c->c;
    size_t y = (size_t)c->n * (size_t)c->oh * (size_t)c->ow * (size_t)c->oc;

    return weight_bytes(c) + (c->math == CUDA_FP32 ? (x + y) * sizeof(float) : USUAL_WORKSPACE);
}

static enum err_code execute(void *user, struct cuda_stream *s, struct err *e)
{
    struct pack *p = user;
    const struct cuda_dnn_api *api = p->dnn->api;
    char said[200] = "";
    int status;

    (void)s; /* the handle's own */
    status = api->execute(p->dnn->who.handle, p->plan->plan, p->variant);
    if (!status)
        return ERR_OK;
    api->last_error(said, sizeof said);
    return err_set(
        e, ERR_FAILED,
        "cuDNN cannot compute a convolution on GPU %d (engine %lld, status %d): %s; CHORUS_CUDNN=off "
        "takes chorus's own kernels",
        p->dnn->number, (long long)p->plan->engine, status, said);
}

enum err_code cuda_dnn_load(struct cuda_dnn *d, struct err *e)
{
    for (struct pack *p = d->packs; p; p = p->next) {
        if (p->plan->executed)
            continue;
        TRY(execute(p, d->stream, e));
        p->plan->executed = true;
    }
    return ERR_OK;
}

static void add_pack(struct cuda_list *list, struct cuda_dnn *d, struct cuda_dnn_plan *plan,
                     void *x, void *w, void *y, void *workspace)
{
    const int64_t uids[3] = {CUDA_DNN_X, CUDA_DNN_W, CUDA_DNN_Y};
    struct pack *p = mem_new(1, sizeof *p);

    *p = (struct pack){d, plan, {x, w, y}, workspace, NULL, d->packs};
    d->packs = p;
    /* What fails here fails in execute, which says so. */
    if (!d->api->descriptor(DNN_VARIANT_PACK_DESCRIPTOR, &p->variant)) {
        d->api->set(p->variant, DNN_VARIANT_PACK_DATA_POINTERS, DNN_TYPE_VOID_PTR, 3, p->address);
        d->api->set(p->variant, DNN_VARIANT_PACK_UNIQUE_IDS, DNN_TYPE_INT64, 3, uids);
        d->api->set(p->variant, DNN_VARIANT_PACK_WORKSPACE, DNN_TYPE_VOID_PTR, 1, &p->workspace);
        d->api->finalize(p->variant);
    }
    cuda_list_call(list, execute, p);
}

static void add_turn(struct cuda_list *list, const struct dev_kernel *kernel, const void *from,
                     void *to, int rows, int columns)
{
    const struct k_turn a = {from, to, rows, columns};

    cuda_list_add(list, kernel, (size_t)(columns + TURN_TILE - 1) / TURN_TILE,
                  (size_t)(rows + TURN_TILE - 1) / TURN_TILE, 1,
                  TURN_TILE * (TURN_TILE + 1) * sizeof(float), &a, sizeof a);
}

static void *model_of(struct cuda_view v, int m, size_t element)
{
    return (char *)v.p + (size_t)m * v.stride * element;
}

void cuda_dnn_run(struct cuda_list *list, struct cuda_dnn_layer *l, enum cuda_dnn_pass pass,
                  int models, struct cuda_view x, struct cuda_view w, struct cuda_view y,
                  void *scratch)
{
    const struct cuda_conv *c = &l->conv;
    size_t element = cuda_element(c->math);
    int rows = c->k * c->k * c->c; /* of a kernel as Flax has it */
    void *turned = scratch, *workspace = (char *)scratch + weight_bytes(c);
    bool half = c->math == CUDA_BF16;

    for (int m = 0; m < models; m++) {
        void *xm = model_of(x, m, element), *ym = model_of(y, m, element);

        if (pass != CUDA_DNN_WEIGHTS)
            add_turn(list, half ? &k_turn_b16 : &k_turn_f32, model_of(w, m, element), turned, rows,
                     c->oc);
        add_pack(list, l->dnn, &l->plan[pass], xm, turned, ym, workspace);
        if (pass == CUDA_DNN_WEIGHTS)
            add_turn(list, half ? &k_turn_b16_to_f32 : &k_turn_f32, turned,
                     model_of(w, m, sizeof(float)), c->oc, rows);
    }
}

bool cuda_dnn_tuned(const struct cuda_dnn *d)
{
    for (const struct cuda_dnn_layer *l = d->layers; l; l = l->next)
        for (int pass = 0; pass < CUDA_DNN_PASSES; pass++)
            if (l->plan[pass].plan && l->plan[pass].tuned)
                return true;
    return false;
}

int64_t cuda_dnn_engine(const struct cuda_dnn_layer *l, enum cuda_dnn_pass pass)
{
    return cuda_dnn_has(l, pass) ? l->plan[pass].engine : -1;
}

const char *cuda_dnn_mark(const struct cuda_dnn_layer *l, enum cuda_dnn_pass pass)
{
    return cuda_dnn_has(l, pass) ? l->plan[pass].mark : "";
}

void cuda_dnn_names(const struct cuda_dnn *d, struct text *out)
{
    for (const struct cuda_dnn_layer *l = d->layers; l; l = l->next)
        for (int pass = 0; pass < CUDA_DNN_PASSES; pass++) {
            char name[CUDA_DNN_NAME];

            if (!l->plan[pass].plan)
                continue;
            cuda_dnn_name(&l->conv, (enum cuda_dnn_pass)pass, name);
            text_addf(out, "%s%s:%lld", out->n ? " " : "", name, (long long)l->plan[pass].engine);
        }
}
