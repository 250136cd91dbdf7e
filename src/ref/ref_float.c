/* ref/ref_float.c: the naive backend in float. */
#include "ref/ref_real.h"

#define REAL    float
#define REF_OPS ref_float_ops

#include "ref/ref_layers.inc"
#include "ref/ref_pass.inc"
#include "ref/ref_update.inc"
#include "ref/ref_session.inc"
