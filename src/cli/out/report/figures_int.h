/* cli/out/report/figures_int.h: what the figures are made with. */
#ifndef CHORUS_CLI_OUT_REPORT_FIGURES_INT_H
#define CHORUS_CLI_OUT_REPORT_FIGURES_INT_H

#include "cli/out/report/figures.h"

/* The figure's: they go with it. */
double *figures_vector(struct figures *f, size_t n);
const char *figures_keep(struct figures *f, char *word); /* takes the word over */

#endif
