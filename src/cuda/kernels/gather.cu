/* cuda/kernels/gather.cu: images of the resident data set into a batch, a block an image. */
#include "cuda/kernels/gather_image.h"

template <typename T> DEV void plain(const gather_args &a)
{
    size_t i = (size_t)*a.at + blockIdx.x;
    gather_look v = {0, 0, 0, 0, 0, 0, 0};

    gather_pixels(a, i < a.from.count ? i : a.from.count - 1, v, (T *)a.x + blockIdx.x * a.size);
}

KERNEL(k_gather_float, struct gather_args, 256)
{
    gather_image<float>(a, blockIdx.x);
}

KERNEL(k_gather_bf16, struct gather_args, 256)
{
    gather_image<dev_bf16>(a, blockIdx.x);
}

KERNEL(k_gather_plain_float, struct gather_args, 256)
{
    plain<float>(a);
}

KERNEL(k_gather_plain_bf16, struct gather_args, 256)
{
    plain<dev_bf16>(a);
}
