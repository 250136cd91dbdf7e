/* Plots of any size and of any values: nothing outside the frame, no character that is none, no end of
 * the program. */
#include "tests/test.h"

#include "base/mem.h"
#include "draw/figure.h"

#define MOST   6
#define POINTS 400

static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % below);
}

static double draw_odd(void)
{
    static const double odd[] = {NAN,     INFINITY, -INFINITY, 0,      -0.0,  5e-324,
                                 -5e-324, 1e-310,   1e308,     -1e308, 1e300, -1e300,
                                 1.1e300, 1e-300,   1,         -1};

    return odd[draw(MEM_COUNT(odd))];
}

static double draw_value(unsigned kind)
{
    double u = (double)draw(1 << 30) / (1 << 30);

    switch (kind) {
    case 0:
        return u;
    case 1:
        return draw(20) ? u : NAN;
    case 2:
        return draw_odd();
    case 3:
        return ldexp(u - 0.5, (int)draw(2100) - 1074);
    case 4:
        return 7;
    default:
        return draw(3) ? 1e15 + draw(4) : draw_odd();
    }
}

static double xs[MOST][POINTS], ys[MOST][POINTS];
static const char *const labels[] = {"",
                                     NULL,
                                     "train",
                                     "a-very-long-name-of-a-run",
                                     "\xff\x80",
                                     "gr\xc3\xbc\xc3\x9f",
                                     "\033[31m\xe2\x80\xae",
                                     "\xe6\xbc\xa2"};

static void make_series(struct plot_series *s, int k)
{
    unsigned kind_x = draw(8), kind_y = draw(6);
    size_t n = draw(3) ? draw(12) : draw(POINTS + 1);

    for (size_t i = 0; i < n; i++) {
        xs[k][i] = kind_x < 6 ? draw_value(kind_x) : (double)i;
        ys[k][i] = draw_value(kind_y);
    }
    *s = (struct plot_series){.label = labels[draw(MEM_COUNT(labels))],
                              .x = xs[k],
                              .y = ys[k],
                              .n = n,
                              .colour = (int)draw(50) - 2,
                              .dashed = draw(4) == 0,
                              .weight = (enum plot_weight)draw(3)};
}

static bool check_cells(const struct plot *p, const struct plot_cell *cells, size_t guard)
{
    size_t n = (size_t)(p->columns * p->rows);

    for (size_t i = 0; i < n; i++) {
        uint32_t c = cells[i].code;

        if (cells[i].colour < PLOT_CURSOR || cells[i].colour >= PLOT_ROLES)
            return false;
        if (c && (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) || c > 0x10ffff ||
                  (p->level == PLOT_ASCII && c > 0x7e)))
            return false;
        if ((p->columns < PLOT_LEAST_COLUMNS || p->rows < PLOT_LEAST_ROWS) && c)
            return false;
    }
    for (size_t i = n; i < n + guard; i++)
        if (cells[i].code != 0xdead)
            return false;
    return true;
}

TEST(any_size_and_any_values)
{
    enum { GUARD = 400 };
    const char *rounds = getenv("CHORUS_FUZZ");
    long most = rounds ? atol(rounds) : getenv("CHORUS_TEST_ALL") ? 2000 : 700;

    for (long round = 0; round < most; round++) {
        struct plot_series s[MOST];
        struct plot_band band;
        struct plot p = {.series = s};
        struct plot_cell *cells;
        struct text t = {0};
        double values[MOST];
        size_t n;
        bool fine;

        state = (uint64_t)round * 2654435761u + 12345;
        p.title = labels[draw(MEM_COUNT(labels))];
        p.x_label = labels[draw(MEM_COUNT(labels))];
        p.count = (int)draw(MOST + 1);
        p.log_y = draw(2);
        p.zero_y = draw(4) == 0;
        p.whole_x = draw(2);
        p.x_unit = draw(3) ? PLOT_NUMBER : PLOT_TIME;
        p.x_lo = draw(3) ? 0 : draw_value(draw(6));
        p.x_hi = draw(3) ? 0 : draw_value(draw(6));
        p.front = (int)draw(10) - 2;
        p.values = draw(2);
        p.cursor = draw(2);
        p.cursor_x = draw_value(draw(6));
        p.level = (enum plot_level)draw(3);
        p.columns = (int)(draw(4) ? draw(60) : draw(300)) + 1;
        p.rows = (int)(draw(4) ? draw(20) : draw(100)) + 1;
        for (int k = 0; k < p.count; k++)
            make_series(&s[k], k);
        if (p.count && draw(3) == 0) {
            band = (struct plot_band){s[0].x, s[0].y, s[p.count - 1].y,
                                      s[0].n < s[p.count - 1].n ? s[0].n : s[p.count - 1].n,
                                      (int)draw(9)};
            p.band = &band;
            p.bands = 1;
        }
        n = (size_t)(p.columns * p.rows);
        cells = mem_new(n + GUARD, sizeof *cells);
        for (size_t i = 0; i < n + GUARD; i++)
            cells[i] = (struct plot_cell){0xdead, 99};
        plot_draw(&p, cells);
        fine = check_cells(&p, cells, GUARD);
        plot_read(&p, values);
        for (int k = 0; k < p.count; k++)
            fine &= !isinf(values[k]);
        p.cursor_x = plot_step_cursor(&p, (int)draw(40) - 20);
        fine &= isnan(p.cursor_x) || isfinite(p.cursor_x);
        plot_cursor_at(&p, (int)draw(400) - 50);
        if (draw(10) == 0) {
            figure_svg(&(struct figure){&(struct figure_panel){.plot = &p}, 1, 100, 60, false}, &t);
            fine &= !strstr(text_str(&t), "nan") && !strstr(text_str(&t), "inf");
        }
        text_free(&t);
        free(cells);
        if (!fine) {
            TEST_FAILED("round %ld: %dx%d", round, p.columns, p.rows);
            return;
        }
    }
}
