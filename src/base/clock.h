/* base/clock.h: durations come from the monotonic clock, times for people and files are UTC. */
#ifndef CHORUS_BASE_CLOCK_H
#define CHORUS_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void); /* monotonic */
/* The same, but it stands still while Ctrl-Z (SIGTSTP) keeps the whole program stopped: for what counts
 * work. A value read just before a stop may exceed the next one: differences are signed. */
uint64_t clock_work_ns(void);
void clock_work_stops(void); /* right before the program stops itself; also from a handler */
void clock_work_goes(void);  /* and right behind */
double clock_wall(void); /* seconds since 1970, UTC; only ever shown or written, never subtracted */
void clock_sleep_ms(int ms);

/* "2026-11-20T10:15:30.412Z" */
#define CLOCK_UTC_ROOM 32
void clock_utc(char out[CLOCK_UTC_ROOM], double wall);
/* "2026-11-20-101530-412": for the name of a run folder */
void clock_stamp(char out[CLOCK_UTC_ROOM], double wall);
/* "0.42 s", "12 s", "3:07", "1:02:09", "2 d 03:10": for people */
void clock_span(char out[CLOCK_UTC_ROOM], double seconds);
/* "12 s", "5 min", "3 h", "2 d" from a time as clock_utc writes it to now; "" where it cannot be read. */
const char *clock_age(char out[CLOCK_UTC_ROOM], double now, const char *utc);

#endif
