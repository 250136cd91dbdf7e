/* base/trace_int.h: the operations on files as a part of the trace. */
#ifndef CHORUS_BASE_TRACE_INT_H
#define CHORUS_BASE_TRACE_INT_H

/* From now on io tells what it does: 1 what changes something, 2 everything. */
void trace_io(void);

#endif
