/* cpu/kernels/amx/dot.c: the tiles' kernels where tiles are vectors that vdpbf16ps multiplies. */
#if defined __x86_64__ && defined __GNUC__
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma,prfchw,avx512bf16")
#define TILES      cpu_tiles_dot
#define TILES_NAME "avx512bf16-dot"
#define AMX_DOT
#include "cpu/kernels/amx/amx.inc"
#endif
typedef int kernels_amx_dot_may_be_empty;
