#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static log_sink *log_where; /* under log_lock, as log_user */
static void *log_user;

void log_to(log_sink *sink, void *user)
{
    pthread_mutex_lock(&log_lock);
    log_where = sink;
    log_user = user;
    pthread_mutex_unlock(&log_lock);
}

void log_say(enum log_level level, const char *fmt, ...)
{
    char line[2048];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    pthread_mutex_lock(&log_lock);
    if (log_where)
        log_where(log_user, level, line);
    pthread_mutex_unlock(&log_lock);
}
