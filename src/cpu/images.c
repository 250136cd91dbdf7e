/* cpu/images.c: images of the data set into lanes. */
#include "cpu/session_int.h"

/* One image into its lane; place: in the epoch, for augmentation. */
static void take_image(struct cpu_worker *w, const struct data_part *part, size_t index,
                       const struct backend_span *span, uint64_t place, float *to)
{
    const struct backend_plan *p = &w->team->s->plan;
    struct net_shape shape = p->data->shape;
    size_t pixels = (size_t)shape.h * (size_t)shape.w, c = (size_t)shape.c;

    if (span && p->augment)
        data_image_augmented(p->data, part, index, p->augment, p->crop_pad, span->order_key, place,
                             w->picture);
    else
        data_image(p->data, part, index, w->picture);
    for (size_t ch = 0; ch < c; ch++) {
        for (size_t i = 0; i < pixels; i++)
            to[(ch * pixels + i) * w->team->s->lanes] = w->picture[i * c + ch];
    }
}

void cpu_take_group(struct cpu_worker *w, const struct data_part *part, const uint32_t *index,
                    int lanes, const struct backend_span *span, uint64_t first, int place)
{
    const struct backend_session *s = w->team->s;
    const struct data_set *set = s->plan.data;
    struct net_shape shape = set->shape;
    size_t pixels = (size_t)shape.h * (size_t)shape.w, floats = pixels * (size_t)shape.c;
    float *to = cpu_act(w, NET_IMAGES, place);

    if (shape.c == 1 && part->bytes && !(span && s->plan.augment)) {
        const uint8_t *image[CPU_LANES] = {NULL};
        float rounded[256];
        for (int lane = 0; lane < lanes; lane++)
            image[lane] = part->bytes + (size_t)index[lane] * pixels;
        if (s->bf16)
            s->k->round_bf16(256, set->lut, rounded);
        s->k->decode(image, pixels, s->bf16 ? rounded : set->lut, to);
        return;
    }
    for (int lane = 0; lane < lanes; lane++)
        take_image(w, part, index[lane], span, first + (uint64_t)lane, to + lane);
    for (size_t i = 0; i < floats; i++) {
        for (size_t lane = (size_t)lanes; lane < s->lanes; lane++)
            to[i * s->lanes + lane] = 0;
    }
    if (s->bf16)
        s->k->round_bf16(floats * s->lanes, to, to);
}
