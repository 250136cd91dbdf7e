/* cuda/dnn/dnn_plan.c: cuDNN's graph of one convolution, its candidates, and the plan that is taken. */
#include "cuda/dnn/dnn_plan.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 64
#define NOTES      16

/* A chain of calls: after the first that fails the rest does nothing. */
struct chain {
    const struct cuda_dnn_api *api;
    dnn_descriptor made[16]; /* discarded at the end */
    int n;
    int failed; /* cuDNN's status */
    char text[256];
};

static void check(struct chain *k, int status, const char *doing)
{
    char said[200] = "";

    if (!status)
        return;
    k->api->last_error(said, sizeof said);
    k->failed = status;
    snprintf(k->text, sizeof k->text, "%s: status %d%s%.150s", doing, status, *said ? ", " : "",
             said);
}

static dnn_descriptor begin(struct chain *k, int type)
{
    dnn_descriptor d = NULL;

    if (!k->failed)
        check(k, k->api->descriptor(type, &d), "a descriptor");
    if (d && k->n < (int)MEM_COUNT(k->made))
        k->made[k->n++] = d;
    return d;
}

static void put(struct chain *k, dnn_descriptor d, int name, int type, int64_t n,
                const void *values)
{
    if (!k->failed)
        check(k, k->api->set(d, name, type, n, values), "an attribute");
}

static void put_descriptor(struct chain *k, dnn_descriptor d, int name, dnn_descriptor value)
{
    put(k, d, name, DNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static void finish(struct chain *k, dnn_descriptor d, const char *what)
{
    if (!k->failed)
        check(k, k->api->finalize(d), what);
}

static void end(struct chain *k)
{
    while (k->n > 0)
        k->api->discard(k->made[--k->n]);
}

static enum err_code start(struct chain *k, struct err *e)
{
    *k = (struct chain){.api = cuda_dnn_api(e)};
    return k->api ? ERR_OK : e ? e->code : ERR_FAILED;
}

static dnn_descriptor tensor(struct chain *k, int64_t uid, int type, const int64_t dims[4],
                             const int64_t strides[4])
{
    const int64_t aligned = 16;
    dnn_descriptor d = begin(k, DNN_TENSOR_DESCRIPTOR);

    put(k, d, DNN_TENSOR_DATA_TYPE, DNN_TYPE_DATA_TYPE, 1, &type);
    put(k, d, DNN_TENSOR_DIMENSIONS, DNN_TYPE_INT64, 4, dims);
    put(k, d, DNN_TENSOR_STRIDES, DNN_TYPE_INT64, 4, strides);
    put(k, d, DNN_TENSOR_UNIQUE_ID, DNN_TYPE_INT64, 1, &uid);
    put(k, d, DNN_TENSOR_BYTE_ALIGNMENT, DNN_TYPE_INT64, 1, &aligned);
    finish(k, d, "a tensor");
    return d;
}

static dnn_descriptor window(struct chain *k, const struct cuda_conv *c)
{
    const int64_t dims = 2, one[2] = {1, 1}, stride[2] = {c->stride, c->stride};
    const int64_t before[2] = {c->pad_top, c->pad_left};
    const int64_t after[2] = {c->pad_bottom, c->pad_right};
    const int type = DNN_DATA_FLOAT, mode = DNN_CROSS_CORRELATION;
    dnn_descriptor d = begin(k, DNN_CONVOLUTION_DESCRIPTOR);

    put(k, d, DNN_CONVOLUTION_SPATIAL_DIMS, DNN_TYPE_INT64, 1, &dims);
    put(k, d, DNN_CONVOLUTION_COMP_TYPE, DNN_TYPE_DATA_TYPE, 1, &type);
    put(k, d, DNN_CONVOLUTION_CONV_MODE, DNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    put(k, d, DNN_CONVOLUTION_PRE_PADDINGS, DNN_TYPE_INT64, 2, before);
    put(k, d, DNN_CONVOLUTION_POST_PADDINGS, DNN_TYPE_INT64, 2, after);
    put(k, d, DNN_CONVOLUTION_DILATIONS, DNN_TYPE_INT64, 2, one);
    put(k, d, DNN_CONVOLUTION_FILTER_STRIDES, DNN_TYPE_INT64, 2, stride);
    finish(k, d, "a convolution");
    return d;
}

/* The operation: attributes of the three passes stand in the same order from their first one on. */
static dnn_descriptor operation(struct chain *k, const struct cuda_conv *c, enum cuda_dnn_pass pass)
{
    static const struct {
        int type, first, w, x, y;
    } kinds[CUDA_DNN_PASSES] = {
        {DNN_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, DNN_OPERATION_CONVOLUTION_FORWARD_ALPHA, 3,
         4, 5},
        {DNN_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
         DNN_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 3, 4, 5},
        {DNN_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
         DNN_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 3, 4, 5},
    };
    const int64_t x[4] = {c->n, c->c, c->h, c->w}, y[4] = {c->n, c->oc, c->oh, c->ow};
    const int64_t w[4] = {c->oc, c->c, c->k, c->k};
    const int64_t xs[4] = {(int64_t)c->h * c->w * c->c, 1, (int64_t)c->w * c->c, c->c};
    const int64_t ys[4] = {(int64_t)c->oh * c->ow * c->oc, 1, (int64_t)c->ow * c->oc, c->oc};
    const int64_t ws[4] = {(int64_t)c->k * c->k * c->c, 1, (int64_t)c->k * c->c, c->c};
    const int type = c->math == CUDA_BF16 ? DNN_DATA_BFLOAT16 : DNN_DATA_FLOAT;
    const float alpha = 1, beta = 0;
    dnn_descriptor tx = tensor(k, CUDA_DNN_X, type, x, xs);
    dnn_descriptor tw = tensor(k, CUDA_DNN_W, type, w, ws);
    dnn_descriptor ty = tensor(k, CUDA_DNN_Y, type, y, ys), cd = window(k, c);
    dnn_descriptor d = begin(k, kinds[pass].type);
    int first = kinds[pass].first;

    put(k, d, first, DNN_TYPE_FLOAT, 1, &alpha);
    put(k, d, first + 1, DNN_TYPE_FLOAT, 1, &beta);
    put_descriptor(k, d, first + 2, cd);
    put_descriptor(k, d, first + kinds[pass].w, tw);
    put_descriptor(k, d, first + kinds[pass].x, tx);
    put_descriptor(k, d, first + kinds[pass].y, ty);
    finish(k, d, "the operation");
    return d;
}

/* Whether the engine's arithmetic is the one that was asked for, the same in every run. */
static bool suits(const struct cuda_dnn_api *api, dnn_descriptor config, enum cuda_math math,
                  int64_t *engine)
{
    dnn_descriptor e = NULL;
    int notes[NOTES];
    int64_t n = 0, got = 0;
    bool tensor_core = false, good = true;

    if (api->descriptor(DNN_ENGINE_DESCRIPTOR, &e))
        return false;
    api->get(config, DNN_ENGINECFG_ENGINE, DNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &e);
    api->get(e, DNN_ENGINE_GLOBAL_INDEX, DNN_TYPE_INT64, 1, &got, engine);
    if (api->get(e, DNN_ENGINE_NUMERICAL_NOTE, DNN_TYPE_NUMERICAL_NOTE, NOTES, &n, notes))
        good = false;
    for (int64_t i = 0; i < n && i < NOTES; i++) {
        tensor_core = tensor_core || notes[i] == DNN_NOTE_TENSOR_CORE;
        good = good && notes[i] != DNN_NOTE_NONDETERMINISTIC && notes[i] != DNN_NOTE_WINOGRAD &&
               notes[i] != DNN_NOTE_REDUCED_PRECISION_REDUCTION;
    }
    api->discard(e);
    return good && tensor_core == (math != CUDA_FP32);
}

static void put_device(struct chain *k, dnn_descriptor d, const struct cuda_dnn_for *who,
                       int handle, int device)
{
    if (who->handle && handle >= 0)
        put(k, d, handle, DNN_TYPE_HANDLE, 1, &who->handle);
    else if (!who->handle && device >= 0)
        put_descriptor(k, d, device, who->device);
}

/* The plan of a candidate, or NULL where cuDNN cannot build it or it wants too much. */
static dnn_descriptor try_plan(const struct cuda_dnn_api *api, const struct cuda_dnn_for *who,
                               dnn_descriptor config, size_t most, size_t *workspace)
{
    struct chain k = {.api = api};
    dnn_descriptor plan = begin(&k, DNN_EXECUTION_PLAN_DESCRIPTOR);
    int64_t bytes = 0, n = 0;

    put_descriptor(&k, plan, DNN_EXECUTION_PLAN_ENGINE_CONFIG, config);
    put_device(&k, plan, who, DNN_EXECUTION_PLAN_HANDLE, DNN_EXECUTION_PLAN_DEVICEPROP);
    finish(&k, plan, "the plan");
    if (!k.failed)
        check(&k, api->get(plan, DNN_EXECUTION_PLAN_WORKSPACE_SIZE, DNN_TYPE_INT64, 1, &n, &bytes),
              "its workspace");
    if (!k.failed && bytes >= 0 && (size_t)bytes <= most) {
        *workspace = (size_t)bytes;
        return plan;
    }
    end(&k);
    return NULL;
}

/* out: (room), all alike in their counts. Returns how many plans there are. */
static int choose(struct cuda_dnn_plan *out, int room, struct chain *k,
                  const struct cuda_dnn_for *who, dnn_descriptor heuristics, enum cuda_math math,
                  size_t most)
{
    dnn_descriptor config[CANDIDATES] = {NULL};
    int64_t n = 0, got = 0, engine;
    int plans = 0, usable = 0;

    check(k,
          k->api->get(heuristics, DNN_ENGINEHEUR_RESULTS, DNN_TYPE_BACKEND_DESCRIPTOR, 0, &n, NULL),
          "counting candidates");
    if (n > CANDIDATES)
        n = CANDIDATES;
    for (int64_t i = 0; i < n && !k->failed; i++)
        check(k, k->api->descriptor(DNN_ENGINECFG_DESCRIPTOR, &config[i]), "a candidate");
    if (!k->failed)
        check(k,
              k->api->get(heuristics, DNN_ENGINEHEUR_RESULTS, DNN_TYPE_BACKEND_DESCRIPTOR, n, &got,
                          config),
              "candidates");
    for (int64_t i = 0; i < got && !k->failed; i++) {
        if (!suits(k->api, config[i], math, &engine))
            continue;
        usable++;
        if (plans < room &&
            (out[plans].plan = try_plan(k->api, who, config[i], most, &out[plans].workspace)))
            out[plans++].engine = engine;
    }
    for (int i = 0; i < room; i++) {
        out[i].candidates = (int)got;
        out[i].usable = usable;
    }
    for (int64_t i = 0; i < n; i++)
        if (config[i])
            k->api->discard(config[i]);
    return plans;
}

int cuda_dnn_plans_make(struct cuda_dnn_plan *out, int room, const struct cuda_dnn_for *who,
                        const struct cuda_conv *c, enum cuda_dnn_pass pass, size_t most,
                        struct err *e)
{
    const int mode = DNN_HEUR_MODE_A;
    dnn_descriptor op, graph, heuristics;
    struct chain k;
    char name[CUDA_DNN_NAME];
    int plans = 0;

    memset(out, 0, (size_t)room * sizeof *out);
    if (start(&k, e) != ERR_OK)
        return 0;
    op = operation(&k, c, pass);
    graph = begin(&k, DNN_OPERATIONGRAPH_DESCRIPTOR);
    put_descriptor(&k, graph, DNN_OPERATIONGRAPH_OPS, op);
    put_device(&k, graph, who, DNN_OPERATIONGRAPH_HANDLE, -1);
    finish(&k, graph, "the graph");
    heuristics = begin(&k, DNN_ENGINEHEUR_DESCRIPTOR);
    put_descriptor(&k, heuristics, DNN_ENGINEHEUR_OPERATION_GRAPH, graph);
    put(&k, heuristics, DNN_ENGINEHEUR_MODE, DNN_TYPE_HEUR_MODE, 1, &mode);
    put_device(&k, heuristics, who, -1, DNN_ENGINEHEUR_DEVICEPROP);
    finish(&k, heuristics, "heuristics");
    if (!k.failed)
        plans = choose(out, room, &k, who, heuristics, c->math, most);
    end(&k);
    cuda_dnn_name(c, pass, name);
    if (k.failed)
        err_set(e, ERR_FAILED, "cuDNN cannot plan %s: %s", name, k.text);
    else if (!plans)
        err_set(e, ERR_FAILED,
                "cuDNN has no plan for %s that gives the same bits each time: %d candidates, "
                "%d of that arithmetic, none within %zu bytes of workspace",
                name, out->candidates, out->usable, most);
    return plans;
}

enum err_code cuda_dnn_plan_make(struct cuda_dnn_plan *out, const struct cuda_dnn_for *who,
                                 const struct cuda_conv *c, enum cuda_dnn_pass pass, size_t most,
                                 struct err *e)
{
    struct err why = {0};

    if (cuda_dnn_plans_make(out, 1, who, c, pass, most, &why))
        return ERR_OK;
    return err_set(e, why.code, "%s", why.text);
}

enum err_code cuda_dnn_describe(const char *json, dnn_descriptor *out, struct err *e)
{
    struct chain k;

    TRY(start(&k, e));
    *out = begin(&k, DNN_DEVICEPROP_DESCRIPTOR);
    put(&k, *out, DNN_DEVICEPROP_JSON_REPRESENTATION, DNN_TYPE_CHAR, (int64_t)strlen(json), json);
    finish(&k, *out, "a described GPU");
    if (!k.failed)
        return ERR_OK;
    end(&k);
    *out = NULL;
    return err_set(e, ERR_FAILED, "cuDNN does not take the description of a GPU: %s", k.text);
}

enum err_code cuda_dnn_plan_save(const struct cuda_dnn_plan *p, char **json, size_t *bytes,
                                 struct err *e)
{
    const struct cuda_dnn_api *api = cuda_dnn_api(e);
    int64_t n = 0, got = 0;

    *json = NULL;
    if (!api)
        return ERR_FAILED;
    if (api->get(p->plan, DNN_EXECUTION_PLAN_JSON_REPRESENTATION, DNN_TYPE_CHAR, 0, &n, NULL) ||
        n <= 0)
        return err_set(e, ERR_FAILED, "cuDNN cannot write the plan of engine %lld down",
                       (long long)p->engine);
    *json = mem_new((size_t)n + 1, 1);
    if (api->get(p->plan, DNN_EXECUTION_PLAN_JSON_REPRESENTATION, DNN_TYPE_CHAR, n, &got, *json)) {
        free(*json);
        *json = NULL;
        return err_set(e, ERR_FAILED, "cuDNN cannot write the plan of engine %lld down",
                       (long long)p->engine);
    }
    *bytes = (size_t)got;
    return ERR_OK;
}

enum err_code cuda_dnn_plan_load(struct cuda_dnn_plan *out, const struct cuda_dnn_for *who,
                                 const char *json, size_t bytes, struct err *e)
{
    struct chain k;
    int64_t workspace = 0, n = 0;

    memset(out, 0, sizeof *out);
    out->engine = -1;
    TRY(start(&k, e));
    out->plan = begin(&k, DNN_EXECUTION_PLAN_DESCRIPTOR);
    put(&k, out->plan, DNN_EXECUTION_PLAN_JSON_REPRESENTATION, DNN_TYPE_CHAR, (int64_t)bytes, json);
    put_device(&k, out->plan, who, DNN_EXECUTION_PLAN_HANDLE, DNN_EXECUTION_PLAN_DEVICEPROP);
    finish(&k, out->plan, "a kept plan");
    if (!k.failed)
        check(&k,
              k.api->get(out->plan, DNN_EXECUTION_PLAN_WORKSPACE_SIZE, DNN_TYPE_INT64, 1, &n,
                         &workspace),
              "its workspace");
    if (!k.failed) {
        out->workspace = (size_t)workspace;
        return ERR_OK;
    }
    end(&k);
    out->plan = NULL;
    return err_set(e, ERR_FAILED, "cuDNN does not take a plan that was kept: %s", k.text);
}

/* In front of the engine stand the operation, which is told without it, and the GPU with its number, which
 * computes the same by whatever number. */
void cuda_dnn_plan_mark(struct cuda_dnn_plan *p)
{
    static const char from[] = "\"engine\"";
    char *json, *engine;
    size_t bytes;

    p->mark[0] = '\0';
    if (cuda_dnn_plan_save(p, &json, &bytes, NULL) != ERR_OK)
        return;
    engine = memmem(json, bytes, from, sizeof from - 1);
    if (!engine)
        engine = json;
    hash_digits(p->mark, sizeof p->mark, engine, bytes - (size_t)(engine - json));
    free(json);
}

void cuda_dnn_plan_free(struct cuda_dnn_plan *p)
{
    const struct cuda_dnn_api *api = cuda_dnn_api(NULL);

    if (api && p->plan)
        api->discard(p->plan);
    p->plan = NULL;
}

void cuda_dnn_name(const struct cuda_conv *c, enum cuda_dnn_pass pass, char out[CUDA_DNN_NAME])
{
    static const char *const passes[] = {"forward", "input", "weights"};
    static const char *const maths[] = {"fp32", "tf32", "bf16"};

    snprintf(out, CUDA_DNN_NAME, "%s-n%d-%dx%dx%d-%dx%dx%d-%dx%d-s%d-p%d.%d.%d.%d-%s", passes[pass],
             c->n, c->h, c->w, c->c, c->oh, c->ow, c->oc, c->k, c->k, c->stride, c->pad_top,
             c->pad_left, c->pad_bottom, c->pad_right, maths[c->math]);
}
