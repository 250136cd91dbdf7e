/* cuda/share.c: which GPU computes what. Neighbouring devices share a GPU, so that a place's part of a
 * batch is one piece of it. */
#include "cuda/cuda_int.h"

#include "base/text.h"

#include <string.h>

int cuda_usable_gpus(int gpu[CUDA_GPUS], struct err *why)
{
    const struct cuda_rt *rt = cuda_rt();
    int count = 0, usable = 0, error = rt->count(&count);
    char said[200] = "";

    if (error) {
        err_set(why, ERR_FAILED, "no GPU can be used: %s", rt->text(error));
        return 0;
    }
    for (int i = 0; i < count && i < CUDA_GPUS; i++) {
        struct cuda_gpu_facts facts;

        if (!cuda_gpu_usable(i, &facts, said, sizeof said))
            gpu[usable++] = i;
    }
    if (!usable)
        err_set(why, ERR_FAILED, "no GPU can be used: %s", count ? said : "there is none");
    return usable;
}

static enum err_code check(const struct backend_plan *plan, struct err *e)
{
    if (plan->devices < 1 || plan->first_device != 0 ||
        (plan->all_devices != 0 && plan->all_devices != plan->devices))
        return err_set(e, ERR_INPUT,
                       "backend cuda holds all devices of a run in one process, not %d of %d",
                       plan->devices, plan->all_devices);
    if (plan->mode == SPEC_ENSEMBLE ? plan->members < plan->devices : plan->members != 1)
        return err_set(e, ERR_INPUT, "backend cuda cannot place %d members on %d devices",
                       plan->members, plan->devices);
    if (plan->batch < 1 ||
        (plan->mode != SPEC_ENSEMBLE && plan->batch % (size_t)plan->devices != 0))
        return err_set(e, ERR_INPUT,
                       "a batch of %zu images does not divide among %d devices: take a multiple",
                       plan->batch, plan->devices);
    if (plan->batch > 1 << 24)
        return err_set(e, ERR_INPUT,
                       "a batch of %zu images is more than the %d that backend cuda takes",
                       plan->batch, 1 << 24);
    return ERR_OK;
}

/* The GPUs of the session, one a place. */
static enum err_code choose(const struct backend_plan *plan, const int *gpu, int usable,
                            struct cuda_share *out, int *places, struct err *e)
{
    int n = plan->gpus > 0 ? plan->gpus : usable;

    if (n > plan->devices)
        n = plan->devices;
    if (n > CUDA_PLACES)
        n = CUDA_PLACES;
    if (usable < 1)
        return err_set(e, ERR_FAILED, "there is no GPU that backend cuda can use");
    for (int i = 0; i < n; i++) {
        out[i].gpu = plan->gpus > 0 ? plan->gpu[i] : gpu[i];
        for (int k = 0; k < i; k++)
            if (out[k].gpu == out[i].gpu)
                return err_set(e, ERR_INPUT,
                               "GPU %d is named twice: devices = N makes virtual devices",
                               out[i].gpu);
        for (int k = 0; k <= usable; k++) {
            if (k == usable)
                return err_set(e, ERR_INPUT, "GPU %d is not one of the %d that can be used",
                               out[i].gpu, usable);
            if (gpu[k] == out[i].gpu)
                break;
        }
    }
    *places = n;
    return ERR_OK;
}

int cuda_place_of(const struct backend_plan *plan, int device, int places)
{
    return (int)((int64_t)device * places / plan->devices);
}

enum err_code cuda_share(const struct backend_plan *plan, const int *gpu, int usable,
                         struct cuda_share *out, int *places, struct err *e)
{
    size_t shard;

    TRY(check(plan, e));
    memset(out, 0, CUDA_PLACES * sizeof *out);
    TRY(choose(plan, gpu, usable, out, places, e));
    if (plan->mode == SPEC_ENSEMBLE) {
        for (int m = 0; m < plan->members; m++) {
            int device = plan->member_device ? plan->member_device[m] : m % plan->devices;
            struct cuda_share *s = &out[cuda_place_of(plan, device, *places)];

            if (s->models == CUDA_MODELS)
                return err_set(e, ERR_INPUT, "%d members on %d GPU%s: one holds %d at most",
                               plan->members, *places, text_s(*places), CUDA_MODELS);
            s->model[s->models++] = m;
        }
        for (int i = 0; i < *places; i++) {
            out[i].shards = 1;
            out[i].images = (int)plan->batch;
        }
        return ERR_OK;
    }
    shard = plan->batch / (size_t)plan->devices;
    for (int d = plan->devices - 1; d >= 0; d--) {
        struct cuda_share *s = &out[cuda_place_of(plan, d, *places)];

        s->models = 1;
        s->shards++;
        s->first_shard = d;
        s->images += (int)shard;
        s->first_image = d * (int)shard;
    }
    return ERR_OK;
}
