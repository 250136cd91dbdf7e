/* Numbers as text and back. printf and strtod follow the locale, so they run in the C locale here. */
#include "base/text.h"

#include <float.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t number_locale;
static pthread_once_t number_once = PTHREAD_ONCE_INIT;

static void number_make_locale(void)
{
    number_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t number_c(void)
{
    pthread_once(&number_once, number_make_locale);
    return number_locale;
}

static bool number_special(char out[TEXT_NUMBER_ROOM], double value)
{
    if (isfinite(value))
        return false;
    strcpy(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return true;
}

/* The C library's exponents ("1e-05", as Python writes them) but for whole numbers that a double, or
 * a float, holds exactly: 10, not "1e+01". */
const char *text_double(char out[TEXT_NUMBER_ROOM], double value)
{
    if (number_special(out, value))
        return out;
    locale_t before = uselocale(number_c());
    /* What fewer digits tell, 15 tell too, without zeros behind them; but for numbers that hold fewer. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(out, TEXT_NUMBER_ROOM, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    if (fabs(value) < 1e15 && value == floor(value))
        snprintf(out, TEXT_NUMBER_ROOM, "%.0f", value);
    uselocale(before);
    return out;
}

const char *text_float(char out[TEXT_NUMBER_ROOM], float value)
{
    if (number_special(out, (double)value))
        return out;
    locale_t before = uselocale(number_c());
    for (int digits = fabsf(value) < FLT_MIN ? 1 : 6; digits <= 9; digits++) {
        snprintf(out, TEXT_NUMBER_ROOM, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            break;
    }
    if (fabsf(value) < 1e7f && value == floorf(value))
        snprintf(out, TEXT_NUMBER_ROOM, "%.0f", (double)value);
    uselocale(before);
    return out;
}

bool text_to_double(const char *s, double *value)
{
    const char *digits = s + (*s == '-' || *s == '+');
    char *end;

    if (!strcmp(digits, "nan") || !strcmp(digits, "inf")) {
        *value = *digits == 'n' ? NAN : *s == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (!*digits || strspn(digits, "0123456789.eE+-") != strlen(digits) ||
        !strpbrk(digits, "0123456789"))
        return false;
    locale_t before = uselocale(number_c());
    double read = strtod(s, &end);
    uselocale(before);
    if (*end)
        return false;
    *value = read;
    return true;
}

bool text_to_uint(const char *s, uint64_t *value)
{
    uint64_t sum = 0;

    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*s - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool text_to_int(const char *s, int64_t *value)
{
    uint64_t size;
    bool negative = *s == '-';

    if (!text_to_uint(s + (*s == '-' || *s == '+'), &size))
        return false;
    if (size > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

const char *text_count(char out[TEXT_NUMBER_ROOM], uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *to = out;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

const char *text_fixed(char out[TEXT_NUMBER_ROOM], double value, int digits)
{
    double unit = pow(10, digits), units = floor(fabs(value) * unit + 0.501);

    if (!(units < 1e15)) /* a double has no more digits */
        return text_double(out, value);
    locale_t before = uselocale(number_c());
    snprintf(out, TEXT_NUMBER_ROOM, "%.*f", digits, units ? copysign(units / unit, value) : 0);
    uselocale(before);
    return out;
}

void text_add_fixed(struct text *t, double value, int digits)
{
    char number[TEXT_NUMBER_ROOM];

    text_add(t, text_fixed(number, value, digits));
}

const char *text_bytes(char out[TEXT_NUMBER_ROOM], uint64_t bytes)
{
    static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)bytes;
    int i = -1;

    if (bytes < 1000) {
        snprintf(out, TEXT_NUMBER_ROOM, "%d bytes", (int)bytes);
        return out;
    }
    do {
        size /= 1000;
        i++;
    } while (size >= 999.95 && i < 5);
    locale_t before = uselocale(number_c());
    snprintf(out, TEXT_NUMBER_ROOM, size < 99.95 ? "%.1f %s" : "%.0f %s", size, unit[i]);
    uselocale(before);
    return out;
}
