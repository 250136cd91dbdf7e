/* cpu/kernels/amx/amx.c: the tiles' kernels with the processor's instructions. */
#if defined __AMX_TILE__ && defined __AMX_BF16__
#define TILES      cpu_tiles_amx
#define TILES_NAME "amx"
#include "cpu/kernels/amx/amx.inc"
#endif
typedef int kernels_amx_may_be_empty;
