/* draw/plot/plot_label.c: what stands beside ticks: numbers, powers, times. */
#include "draw/plot/plot_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The power of ten of the last digit that multiples of step need. */
static int last_digit(double step)
{
    int place = (int)floor(log10(step) + 1e-9), end = place - 4;

    for (; place > end; place--) {
        double n = step / pow(10, place);

        if (fabs(n - round(n)) < 1e-6 * n)
            break;
    }
    return place;
}

/* Digits behind the point that multiples of step need. */
static int digits_of(double step)
{
    int place = last_digit(step);

    return place < 0 ? -place : 0;
}

static const struct unit {
    double size;
    const char *name;
} units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};

static const struct unit *unit_of(double largest)
{
    int i = 0;

    if (largest < 10000 || largest >= 1e12)
        return &units[3];
    while (largest < units[i].size)
        i++;
    return &units[i];
}

static double label_unit(const struct plot_axis *a)
{
    return a->per_cent ? 100 : 1;
}

/* Of what labels say. */
static double largest_of(const struct plot_axis *a)
{
    return a->ticks ? label_unit(a) * fmax(fabs(a->tick[0]), fabs(a->tick[a->ticks - 1])) : 0;
}

/* With all digits that a step needs, so that no two ticks read the same. Where there are many zeros in
 * front or behind, powers of ten say how many. */
static void put_number(double v, double step, double largest, char out[PLOT_LABEL])
{
    int digits = digits_of(step);

    if (largest < 1e12 && (digits < 7 || largest >= 1e-3))
        snprintf(out, PLOT_LABEL, "%.*f", digits, v);
    else if (v == 0)
        snprintf(out, PLOT_LABEL, "0");
    else
        snprintf(out, PLOT_LABEL, "%.*e", (int)floor(log10(largest) + 1e-9) - last_digit(step), v);
}

/* All labels with as many digits as their step (in the axis' unit) needs, in one unit: 0, 0.5M, 1.0M. */
static void label_numbers(struct plot_axis *a)
{
    double step = label_unit(a) * a->step, largest = largest_of(a);
    const struct unit *unit = unit_of(largest);
    int digits = digits_of(step / unit->size);

    for (int i = 0; i < a->ticks; i++) {
        double v = label_unit(a) * a->tick[i];

        if (digits > 3 || unit->size == 1) /* so near to each other that a unit hides nothing */
            put_number(v, step, largest, a->label[i]);
        else
            snprintf(a->label[i], PLOT_LABEL, "%.*f%s", v == 0 ? 0 : digits, v / unit->size,
                     v == 0 ? "" : unit->name);
    }
}

/* 90 as 1:30, 5400 as 1:30 h. largest: of all labels of an axis, which have one unit. */
static void label_time(double seconds, double step, double largest, char out[PLOT_LABEL])
{
    const char *sign = seconds < 0 ? "-" : "";
    double v = fabs(seconds), whole = floor(v + 1e-6 * step);
    char number[PLOT_LABEL];

    if (v == 0)
        snprintf(out, PLOT_LABEL, "0");
    else if (!(step > 0))
        snprintf(out, PLOT_LABEL, "%s%.6g s", sign, v);
    else if (step < 1 || (step < 60 && step != floor(step)) ||
             (fmod(step, 86400) != 0 && largest >= 1e9)) {
        put_number(v, step, largest, number);
        snprintf(out, PLOT_LABEL, "%s%.20s s", sign, number);
    } else if (largest <= 90)
        snprintf(out, PLOT_LABEL, "%s%.0f s", sign, whole);
    else if (fmod(step, 86400) == 0 && largest >= 2 * 86400)
        snprintf(out, PLOT_LABEL, "%s%.0f d", sign, whole / 86400);
    else if (fmod(step, 3600) == 0)
        snprintf(out, PLOT_LABEL, "%s%.0f h", sign, whole / 3600);
    else if (fmod(step, 60) == 0 && largest < 7200)
        snprintf(out, PLOT_LABEL, "%s%.0f min", sign, whole / 60);
    else if (largest < 3600)
        snprintf(out, PLOT_LABEL, "%s%.0f:%02.0f", sign, floor(whole / 60), fmod(whole, 60));
    else if (fmod(step, 60) == 0)
        snprintf(out, PLOT_LABEL, "%s%.0f:%02.0f h", sign, floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60));
    else
        snprintf(out, PLOT_LABEL, "%s%.0f:%02.0f:%02.0f", sign, floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60), fmod(whole, 60));
}

/* Powers: each in its own unit, or none where the largest has none. */
static void label_powers(struct plot_axis *a)
{
    const struct unit *plain = unit_of(1);

    for (int i = 0; i < a->ticks; i++) {
        double v = label_unit(a) * a->tick[i];
        const struct unit *own = largest_of(a) >= 1e12 ? plain : unit_of(fabs(v));

        snprintf(a->label[i], PLOT_LABEL, "%.6g%s", v / own->size, own->name);
    }
}

void plot_label(struct plot_axis *a, enum plot_unit unit)
{
    if (unit == PLOT_TIME)
        for (int i = 0; i < a->ticks; i++)
            label_time(a->tick[i], a->step, largest_of(a), a->label[i]);
    else if (a->step > 0)
        label_numbers(a);
    else
        label_powers(a);
}

void plot_number(double v, bool per_cent, char out[PLOT_LABEL])
{
    const struct unit *unit = unit_of(fabs(v));
    double size = fabs(v) / unit->size;
    int digits = size > 0 ? 3 - (int)floor(log10(size)) : 0;
    char number[TEXT_NUMBER_ROOM];

    if (!isfinite(v))
        snprintf(out, PLOT_LABEL, "-");
    else if (per_cent)
        snprintf(out, PLOT_LABEL, "%s", text_fixed(number, 100 * v, 2));
    else if (size > 0 && (size < 1e-3 || size >= 10000))
        snprintf(out, PLOT_LABEL, "%.2e", v);
    else
        snprintf(out, PLOT_LABEL, "%.15s%s",
                 text_fixed(number, v / unit->size,
                            digits < 0   ? 0
                            : digits > 4 ? 4
                                         : digits),
                 unit->name);
}

void plot_x_text(const struct plot *p, double x, char out[PLOT_LABEL])
{
    char number[TEXT_NUMBER_ROOM];
    double step = x != 0 && fabs(x) < 10 ? pow(10, floor(log10(fabs(x))) - 2) : 1;

    if (p->x_unit == PLOT_TIME)
        label_time(round(x / step) * step, step, fabs(x), out);
    else if (p->whole_x && (x == floor(x) || fabs(x) >= 1000) && fabs(x) < 1e15)
        snprintf(out, PLOT_LABEL, "%s%s", x < 0 ? "-" : "",
                 text_count(number, (uint64_t)(fabs(x) + 0.5)));
    else
        snprintf(out, PLOT_LABEL, "%.5g", x);
}
