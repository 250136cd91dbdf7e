/* cuda/data.c: the data set on a device, in the bytes that it has on the host. */
#include "cuda/cuda_int.h"

#include <string.h>

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
    return p->count * pixels_of(set) * (set->lut || p->bytes ? 1 : sizeof(float));
}

static size_t lut_bytes(const struct data_set *set)
{
    return set->lut ? (size_t)set->shape.c * 256 * sizeof(float) : 0;
}

/* Offsets of each part's images and labels, and behind the others of the table; returns all bytes. */
static size_t place(const struct data_set *set, size_t offset[7])
{
    size_t at = cuda_round(lut_bytes(set), 256);

    offset[6] = 0;
    for (int k = 0; k < 3; k++) {
        const struct data_part *p = part_of(set, k);

        offset[2 * k] = at;
        at += cuda_round(image_bytes(set, p), 256);
        offset[2 * k + 1] = at;
        at += cuda_round(p->count * sizeof(uint16_t), 256);
    }
    return at;
}

size_t cuda_data_place(const struct backend_plan *plan)
{
    size_t offset[7];

    return place(plan->data, offset);
}

enum err_code cuda_data_upload(struct cuda_place *p, struct err *e)
{
    const struct data_set *set = p->session->plan.data;
    char *at = p->memory + p->layout.data;
    size_t offset[7];

    place(set, offset);
    if (set->lut)
        TRY(cuda_place_copy(p, at, set->lut, lut_bytes(set), "the data set's table", e));
    for (int k = 0; k < 3; k++) {
        const struct data_part *from = part_of(set, k);
        const void *images = from->bytes ? (const void *)from->bytes : (const void *)from->values;

        p->part[k] = (struct cuda_images){
            .bytes = from->bytes ? (uint8_t *)at + offset[2 * k] : NULL,
            .values = from->bytes ? NULL : (float *)(void *)(at + offset[2 * k]),
            .lut = (float *)(void *)at,
            .labels = (uint16_t *)(void *)(at + offset[2 * k + 1]),
            .count = from->count,
            .h = set->shape.h,
            .w = set->shape.w,
            .c = set->shape.c};
        if (!from->count)
            continue;
        TRY(cuda_place_copy(p, at + offset[2 * k], images, image_bytes(set, from), "images", e));
        TRY(cuda_place_copy(p, at + offset[2 * k + 1], from->labels, from->count * sizeof(uint16_t),
                            "labels", e));
    }
    return cuda_place_wait(p, e);
}
