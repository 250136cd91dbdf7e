/* cuda/dnn/dnn_turn.cu: a matrix turned, tile by tile through shared memory. */
#include "cuda/dnn/dnn_turn_args.h"

#include "cuda/kernels/dev.h"

template <class From, class To> DEV void turn(const struct k_turn &a)
{
    SHARED(float, tile); /* (32, 33): a column less would put a tile's column into one bank */
    int x = (int)threadIdx.x % TURN_TILE, y = (int)threadIdx.x / TURN_TILE;
    int column = (int)blockIdx.x * TURN_TILE, row = (int)blockIdx.y * TURN_TILE;
    int step = (int)blockDim.x / TURN_TILE;
    const From *from = (const From *)a.from;
    To *to = (To *)a.to;

    for (int i = y; i < TURN_TILE; i += step)
        if (row + i < a.rows && column + x < a.columns)
            tile[i * (TURN_TILE + 1) + x] =
                dev_float(from[(size_t)(row + i) * (size_t)a.columns + (size_t)(column + x)]);
    dev_sync();
    for (int i = y; i < TURN_TILE; i += step)
        if (column + i < a.columns && row + x < a.rows)
            to[(size_t)(column + i) * (size_t)a.rows + (size_t)(row + x)] =
                dev_to<To>(tile[x * (TURN_TILE + 1) + i]);
}

KERNEL(k_turn_f32, struct k_turn, 256)
{
    turn<float, float>(a);
}

KERNEL(k_turn_b16, struct k_turn, 256)
{
    turn<struct dev_bf16, struct dev_bf16>(a);
}

KERNEL(k_turn_b16_to_f32, struct k_turn, 256)
{
    turn<struct dev_bf16, float>(a);
}
