/* ref/ref_double.c: the naive backend in double: what Flax's losses are compared with. */
#include "ref/ref_real.h"

#define REAL    double
#define REF_OPS ref_double_ops

#include "ref/ref_layers.inc"
#include "ref/ref_pass.inc"
#include "ref/ref_update.inc"
#include "ref/ref_session.inc"
