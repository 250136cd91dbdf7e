#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void err_format(struct err *e, const char *fmt,
                                                             va_list args)
{
    vsnprintf(e->text, sizeof e->text, fmt, args);
}

enum err_code err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list args;

    if (!e)
        return code;
    e->code = code;
    e->sys = 0;
    va_start(args, fmt);
    err_format(e, fmt, args);
    va_end(args);
    return code;
}

enum err_code err_errno(struct err *e, const char *fmt, ...)
{
    int sys = errno;
    va_list args;

    if (!e)
        return ERR_IO;
    e->code = ERR_IO;
    e->sys = sys;
    va_start(args, fmt);
    err_format(e, fmt, args);
    va_end(args);
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %s", strerror(sys));
    return ERR_IO;
}

enum err_code err_context(struct err *e, const char *fmt, ...)
{
    char before[sizeof e->text];
    va_list args;

    if (!e)
        return ERR_FAILED;
    snprintf(before, sizeof before, "%s", e->text);
    va_start(args, fmt);
    err_format(e, fmt, args);
    va_end(args);
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %s", before);
    return e->code;
}

int err_exit_code(enum err_code code)
{
    switch (code) {
    case ERR_OK:
        return 0;
    case ERR_INPUT:
        return 2;
    case ERR_DIVERGED:
        return 3;
    case ERR_STOPPED:
        return 130;
    case ERR_TERMINATED:
        return 143;
    case ERR_FAILED:
    case ERR_IO:
    case ERR_NOMEM:
    case ERR_STUCK:
        break;
    }
    return 1;
}
