/* tests/twin/warp.cpp: what the 32 lanes of a warp do together: products, matrices, shuffles. */
#include "tests/twin/emu_int.h"

#include <math.h>

static float half_float(uint32_t u)
{
    return emu_float(u << 16);
}

/* Tensor cores do not round: they cut off what fp32 has no room for. */
static float cut(double sum)
{
    float f = (float)sum;
    uint32_t u;

    memcpy(&u, &f, 4);
    return emu_float(u - ((fabs((double)f) > fabs(sum)) & (f - f == 0)));
}

/* c += a b, each sum of products at once. */
template <int K>
static void multiply(float (&c)[16][8], const float (&a)[16][K], const float (&b)[K][8])
{
    for (int i = 0; i < 16; i++) {
        double sum[8];

        for (int j = 0; j < 8; j++)
            sum[j] = (double)c[i][j];
        for (int k = 0; k < K; k++)
            for (int j = 0; j < 8; j++)
                sum[j] += (double)a[i][k] * (double)b[k][j];
        for (int j = 0; j < 8; j++)
            c[i][j] = cut(sum[j]);
    }
}

/* The fragments of mma.sync, as the PTX manual lays them over the lanes: g = lane / 4, q = lane % 4. */
static void multiply_tf32(emu_meeting *const of[32])
{
    float a[16][8], b[8][8], c[16][8];

    for (int l = 0; l < 32; l++) {
        int g = l >> 2, q = l & 3;

        for (int i = 0; i < 4; i++) {
            a[g + (i & 1) * 8][q + (i >> 1) * 4] = emu_float(of[l]->a[i]);
            c[g + (i >> 1) * 8][q * 2 + (i & 1)] = of[l]->c[i];
        }
        for (int i = 0; i < 2; i++)
            b[q + i * 4][g] = emu_float(of[l]->b[i]);
    }
    multiply(c, a, b);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++)
            of[l]->c[i] = c[(l >> 2) + (i >> 1) * 8][(l & 3) * 2 + (i & 1)];
}

static void multiply_bf16(emu_meeting *const of[32])
{
    float a[16][16], b[16][8], c[16][8];

    for (int l = 0; l < 32; l++) {
        int g = l >> 2, q = l & 3;

        for (int i = 0; i < 4; i++) {
            int row = g + (i & 1) * 8, col = q * 2 + (i >> 1) * 8;

            a[row][col] = half_float(of[l]->a[i] & 0xffffu);
            a[row][col + 1] = half_float(of[l]->a[i] >> 16);
            c[g + (i >> 1) * 8][q * 2 + (i & 1)] = of[l]->c[i];
        }
        for (int i = 0; i < 2; i++) {
            b[q * 2 + i * 8][g] = half_float(of[l]->b[i] & 0xffffu);
            b[q * 2 + i * 8 + 1][g] = half_float(of[l]->b[i] >> 16);
        }
    }
    multiply(c, a, b);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++)
            of[l]->c[i] = c[(l >> 2) + (i >> 1) * 8][(l & 3) * 2 + (i & 1)];
}

/* Lanes 8i ... 8i + 7 name the rows of matrix i. */
static void load_matrices(emu_meeting *const of[32], bool turned_round)
{
    for (int i = 0; i < 4; i++) {
        uint16_t at[8][8];

        for (int row = 0; row < 8; row++)
            memcpy(at[row], of[i * 8 + row]->row, 16);
        for (int l = 0; l < 32; l++) {
            int g = l >> 2, q = l & 3;

            of[l]->r[i] = turned_round ? at[q * 2][g] | (uint32_t)at[q * 2 + 1][g] << 16
                                       : at[g][q * 2] | (uint32_t)at[g][q * 2 + 1] << 16;
        }
    }
}

void emu_work(emu_meeting *const of[32])
{
    bool any = false;

    switch (of[0]->kind) {
    case EMU_SYNC_WARP:
        break;
    case EMU_SHFL: {
        uint64_t was[32];

        for (int l = 0; l < 32; l++)
            was[l] = of[l]->value;
        for (int l = 0; l < 32; l++)
            of[l]->value = was[of[l]->from];
        break;
    }
    case EMU_ANY:
        for (int l = 0; l < 32; l++)
            any = any || of[l]->value;
        for (int l = 0; l < 32; l++)
            of[l]->value = any;
        break;
    case EMU_TF32:
        multiply_tf32(of);
        break;
    case EMU_BF16:
        multiply_bf16(of);
        break;
    case EMU_LDMATRIX:
    case EMU_LDMATRIX_T:
        load_matrices(of, of[0]->kind == EMU_LDMATRIX_T);
        break;
    }
}
