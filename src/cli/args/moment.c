/* cli/args/moment.c: moments as people write them: "yesterday", "3h", "2026-11-20T10:15". */
#include "cli/args/moment.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY 86400.0

/* "90min", "3h", "2d", "1w" ago. */
static bool take_span(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1},       {"min", 60},  {"m", 60},     {"h", 3600},     {"d", DAY},
                 {"w", 7 * DAY}, {"day", DAY}, {"days", DAY}, {"hours", 3600}, {"weeks", 7 * DAY}};
    size_t n = strspn(text, "0123456789.");
    char number[32];
    double count;

    if (!n || n >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    if (!text_to_double(number, &count))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(text + n, units[i].unit)) {
            *seconds = count * units[i].seconds;
            return true;
        }
    }
    return false;
}

/* "2026-11-20", "2026-11-20T10:15", "2026-11-20 10:15:30Z", all UTC. */
static bool take_date(const char *text, double *wall)
{
    static const char *const shapes[] = {"2222-22-22", "2222-22-22T22:22", "2222-22-22T22:22:22"};
    char copy[32];
    struct tm tm = {0};
    size_t n = strlen(text);
    bool shaped = false;

    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n + 1);
    if (n > 10 && copy[n - 1] == 'Z')
        copy[--n] = 0;
    if (n > 10 && copy[10] == ' ')
        copy[10] = 'T';
    for (size_t i = 0; i < 3 && !shaped; i++) {
        shaped = n == strlen(shapes[i]);
        for (size_t j = 0; j < n && shaped; j++)
            shaped =
                shapes[i][j] == '2' ? copy[j] >= '0' && copy[j] <= '9' : copy[j] == shapes[i][j];
    }
    if (!shaped)
        return false;
    tm.tm_year = atoi(copy) - 1900;
    tm.tm_mon = atoi(copy + 5) - 1;
    tm.tm_mday = atoi(copy + 8);
    tm.tm_hour = n > 10 ? atoi(copy + 11) : 0;
    tm.tm_min = n > 13 ? atoi(copy + 14) : 0;
    tm.tm_sec = n > 16 ? atoi(copy + 17) : 0;
    if (tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    *wall = (double)timegm(&tm);
    return true;
}

bool cli_moment(const char *text, double now, double *wall)
{
    double seconds, today = floor(now / DAY) * DAY;

    if (!strcmp(text, "today"))
        *wall = today;
    else if (!strcmp(text, "yesterday"))
        *wall = today - DAY;
    else if (take_span(text, &seconds))
        *wall = now - seconds;
    else
        return take_date(text, wall);
    return true;
}
