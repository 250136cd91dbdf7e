/* cuda/data.c: the data set on a device, in the bytes that it has on the host. Where that is too much
 * for a GPU, the images of training lie in pinned memory of the host, once for all GPUs, and the kernels
 * that fetch a batch read them over the bus. */
#include "cuda/cuda_int.h"

#include "base/log.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

static const struct data_part *part_of(const struct data_set *set, int k)
{
    return k == 0 ? &set->train : k == 1 ? &set->valid : &set->test;
}

static size_t pixels_of(const struct data_set *set)
{
    return (size_t)set->shape.h * (size_t)set->shape.w * (size_t)set->shape.c;
}

static size_t image_bytes(const struct data_set *set, const struct data_part *p)
{
    return p->count * pixels_of(set) * data_element(set);
}

static size_t lut_bytes(const struct data_set *set)
{
    return data_element(set) == 1 ? (size_t)set->shape.c * 256 * sizeof(float) : 0;
}

/* Offsets of each part's images and labels, and behind the others of the table; returns all bytes. */
static size_t place(const struct data_set *set, bool streams, size_t offset[7])
{
    size_t at = cuda_round(lut_bytes(set), 256);

    offset[6] = 0;
    for (int k = 0; k < 3; k++) {
        const struct data_part *p = part_of(set, k);

        offset[2 * k] = at;
        at += k == 0 && streams ? 0 : cuda_round(image_bytes(set, p), 256);
        offset[2 * k + 1] = at;
        at += cuda_round(p->count * sizeof(uint16_t), 256);
    }
    return at;
}

size_t cuda_data_place(const struct backend_plan *plan, bool streams)
{
    size_t offset[7];

    return place(plan->data, streams, offset);
}

size_t cuda_data_streamed(const struct backend_plan *plan)
{
    return image_bytes(plan->data, &plan->data->train);
}

static const void *images_of(const struct data_part *p)
{
    return p->bytes ? (const void *)p->bytes : (const void *)p->values;
}

/* Pages that are pinned cannot be swapped: never so many that the system itself has none. */
static enum err_code pin(const struct cuda_place *p, struct err *e)
{
    struct backend_session *s = p->session;
    size_t bytes = cuda_data_streamed(&s->plan);
    size_t most = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    char want[TEXT_NUMBER_ROOM], have[TEXT_NUMBER_ROOM];

    if (bytes > most)
        return err_set(
            e, ERR_NOMEM,
            "cuda: %s of training images fit neither a GPU nor, pinned, the host's memory "
            "(%s at most): train_limit takes fewer",
            text_bytes(want, bytes), text_bytes(have, most));
    TRY(cuda_place_pinned(p, &s->streamed, NULL, bytes, e));
    memcpy(s->streamed, images_of(&s->plan.data->train), bytes);
    return ERR_OK;
}

/* *out: the images of training as this place's kernels read them. */
static enum err_code stream_images(struct cuda_place *p, char **out, struct err *e)
{
    struct backend_session *s = p->session;
    enum err_code code = ERR_OK;
    char bytes[TEXT_NUMBER_ROOM];

    pthread_mutex_lock(&s->lock);
    if (!s->streamed)
        code = pin(p, e);
    *out = s->streamed;
    pthread_mutex_unlock(&s->lock);
    if (code == ERR_OK)
        log_say(
            LOG_WARN,
            "GPU %d: the training images (%s) do not fit beside the rest: they stay in the host's "
            "memory, from which each step reads its own, which is slower",
            p->share.gpu, text_bytes(bytes, cuda_data_streamed(&s->plan)));
    return code;
}

enum err_code cuda_data_upload(struct cuda_place *p, struct err *e)
{
    const struct data_set *set = p->session->plan.data;
    char *at = p->memory + p->layout.data;
    size_t offset[7];

    place(set, p->share.streams, offset);
    if (set->lut)
        TRY(cuda_place_copy(p, at, set->lut, lut_bytes(set), "the data set's table", e));
    for (int k = 0; k < 3; k++) {
        const struct data_part *from = part_of(set, k);
        bool streams = k == 0 && p->share.streams;
        char *images = at + offset[2 * k];

        if (streams)
            TRY(stream_images(p, &images, e));
        p->part[k] = (struct cuda_images){.bytes = from->bytes ? (uint8_t *)images : NULL,
                                          .values = from->bytes ? NULL : (float *)(void *)images,
                                          .lut = (float *)(void *)at,
                                          .labels = (uint16_t *)(void *)(at + offset[2 * k + 1]),
                                          .count = from->count,
                                          .h = set->shape.h,
                                          .w = set->shape.w,
                                          .c = set->shape.c};
        if (!from->count)
            continue;
        if (!streams)
            TRY(cuda_place_copy(p, images, images_of(from), image_bytes(set, from), "images", e));
        TRY(cuda_place_copy(p, at + offset[2 * k + 1], from->labels, from->count * sizeof(uint16_t),
                            "labels", e));
    }
    return cuda_place_wait(p, e);
}
