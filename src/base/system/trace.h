/* base/system/trace.h: what happens inside, line by line, for who looks for a fault. CHORUS_TRACE=engine,record:2
 * names rooms, and how much of each (1 where it is not said); CHORUS_TRACE_FILE names the file, to which all
 * processes append (stderr). A line:
 *     04:31:07.123456 1234/1240 engine 2026-11-20-101530-412-lenet-7f3a: goes on at step 120
 * is the time (UTC), process and thread, the room, and the work that the thread is at, where it is at one. */
#ifndef CHORUS_BASE_SYSTEM_TRACE_H
#define CHORUS_BASE_SYSTEM_TRACE_H

#include "base/err.h"

enum trace_room {
    TRACE_IO,
    TRACE_RECORD,
    TRACE_ENGINE,
    TRACE_WIRE,
    TRACE_UI,
    TRACE_CLI,
    TRACE_ROOMS
};
extern unsigned char trace_level[TRACE_ROOMS]; /* written by trace_start alone */

/* Reads the variables. Before any thread starts. */
enum err_code trace_start(struct err *e) MUST_USE;
/* Behind it: lets the table io tell what it does, where the room io is asked for (1: what changes something). */
void trace_io(void);
/* What this thread is at from now on; NULL: nothing. */
void trace_work(const char *name);
/* Keeps errno. */
void trace_say(enum trace_room room, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Costs a load and a comparison where nobody asked. */
#define TRACE(room, level, ...)                                                                    \
    do {                                                                                           \
        if (trace_level[TRACE_##room] >= (level))                                                  \
            trace_say(TRACE_##room, __VA_ARGS__);                                                  \
    } while (0)

#endif
