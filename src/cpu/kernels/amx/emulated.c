/* cpu/kernels/amx/emulated.c: the tiles' kernels with tiles in plain C, for tests. */
#ifdef __AVX512BF16__
#define TILES      cpu_tiles_emulated
#define TILES_NAME "amx-emulated"
#include "cpu/kernels/amx/amx.inc"
#endif
typedef int kernels_amx_emulated_may_be_empty;
