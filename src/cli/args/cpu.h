/* cli/args/cpu.h: the processor that this program runs on. */
#ifndef CHORUS_CLI_ARGS_CPU_H
#define CHORUS_CLI_ARGS_CPU_H

#include "base/err.h"
#include "base/text.h"

void cli_cpu_name(struct text *out); /* "AMD EPYC ..." */
/* CHORUS_ISA may name what nothing here can compute with. */
enum err_code cli_check_isa(struct err *e) MUST_USE;

#endif
