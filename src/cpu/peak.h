/* cpu/peak.h: what this processor's arithmetic can do at most, for those who compare with it. */
#ifndef CHORUS_CPU_PEAK_H
#define CHORUS_CPU_PEAK_H

/* fp32 operations a second (a multiply-add counts two) of `threads` threads at once, from registers,
 * with the widest vectors of this machine whatever CHORUS_ISA says. Each thread counts its best burst
 * of a millisecond within `seconds`, so that other load on the machine lowers it little. 0 where no
 * thread can be started. */
double cpu_peak_flops(int threads, double seconds);

/* The same of the calling thread alone and by its own time, with one instruction set ("avx512",
 * "avx2", "base"); 0 where the machine lacks it. */
double cpu_peak_flops_of(const char *isa, double seconds);

/* Of the vectors that cpu_peak_flops used: "avx512", "avx2" (both with FMA), "base". */
const char *cpu_peak_isa(void);

#endif
