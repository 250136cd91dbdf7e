#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

/* Written around a stop, by a handler or by whoever stops the program; read by all who count work. */
static _Atomic uint64_t stood_ns; /* in all */
static _Atomic uint64_t held_ns; /* what clock_work_ns says until the stop is counted; 0: no stop */

uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_work_ns(void)
{
    uint64_t stood, held, now;

    do { /* again where a stop or its end came in between */
        stood = stood_ns;
        held = held_ns;
        now = clock_ns();
    } while (held != held_ns || stood != stood_ns);
    return held ? held : now - stood;
}

void clock_work_stops(void)
{
    held_ns = clock_work_ns();
}

void clock_work_goes(void)
{
    if (held_ns)
        stood_ns = clock_ns() - held_ns;
    held_ns = 0;
}

double clock_wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void clock_sleep_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

static void clock_parts(double wall, struct tm *tm, int *ms)
{
    double whole = floor(wall);
    time_t seconds = (time_t)whole;

    *ms = (int)((wall - whole) * 1000);
    gmtime_r(&seconds, tm);
}

void clock_utc(char out[CLOCK_UTC_ROOM], double wall)
{
    struct tm tm;
    int ms;
    char date[24];

    clock_parts(wall, &tm, &ms);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, CLOCK_UTC_ROOM, "%s.%03dZ", date, ms);
}

void clock_stamp(char out[CLOCK_UTC_ROOM], double wall)
{
    struct tm tm;
    int ms;
    char date[24];

    clock_parts(wall, &tm, &ms);
    strftime(date, sizeof date, "%Y-%m-%d-%H%M%S", &tm);
    snprintf(out, CLOCK_UTC_ROOM, "%s-%03d", date, ms);
}

void clock_span(char out[CLOCK_UTC_ROOM], double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e12) {
        snprintf(out, CLOCK_UTC_ROOM, "?");
    } else if (seconds < 9.995) {
        snprintf(out, CLOCK_UTC_ROOM, "%.2f s", seconds);
    } else if (seconds < 59.5) {
        snprintf(out, CLOCK_UTC_ROOM, "%.0f s", seconds);
    } else {
        long long s = llround(seconds);
        if (s < 3600)
            snprintf(out, CLOCK_UTC_ROOM, "%lld:%02lld", s / 60, s % 60);
        else if (s < 86400)
            snprintf(out, CLOCK_UTC_ROOM, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
        else
            snprintf(out, CLOCK_UTC_ROOM, "%lld d %02lld:%02lld", s / 86400, s / 3600 % 24,
                     s / 60 % 60);
    }
}

const char *clock_age(char out[CLOCK_UTC_ROOM], double now, const char *utc)
{
    static const struct {
        double below, seconds;
        const char *unit;
    } parts[] = {{60, 1, "s"}, {3600, 60, "min"}, {48 * 3600, 3600, "h"}, {INFINITY, 86400, "d"}};
    struct tm tm = {0};
    double age;
    int i = 0;

    out[0] = 0;
    if (sscanf(utc, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6)
        return out;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    age = fmax(now - (double)timegm(&tm), 0); /* another machine's clock */
    while (age >= parts[i].below)
        i++;
    snprintf(out, CLOCK_UTC_ROOM, "%.0f %s", floor(age / parts[i].seconds), parts[i].unit);
    return out;
}
