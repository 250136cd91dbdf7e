/* ref/ref_real.h: what ref_float.c and ref_double.c include before the shared source. */
#ifndef CHORUS_REF_REAL_H
#define CHORUS_REF_REAL_H

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "ref/ref_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h> /* exp, log, sqrt, tanh of a REAL in its own precision */

#endif
