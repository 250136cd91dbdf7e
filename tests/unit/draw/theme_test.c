/* Whether the colours can be read: contrasts as WCAG 2 counts them, on grounds that terminals have, and
 * what is left of differences for eyes that lack a kind of cone. */
#include "tests/test.h"

#include "base/mem.h"
#include "draw/grid.h"
#include "draw/ink/ink.h"
#include "draw/theme.h"

struct rgb {
    double v[3]; /* linear light */
};

static struct rgb of(unsigned colour)
{
    struct rgb c;

    for (int i = 0; i < 3; i++) {
        double s = (colour >> (16 - 8 * i) & 255) / 255.0;

        c.v[i] = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
    }
    return c;
}

static double light_of(unsigned colour)
{
    struct rgb c = of(colour);

    return 0.2126 * c.v[0] + 0.7152 * c.v[1] + 0.0722 * c.v[2];
}

static double contrast(unsigned a, unsigned b)
{
    double x = light_of(a) + 0.05, y = light_of(b) + 0.05;

    return x > y ? x / y : y / x;
}

/* Of the sixteen: this program's for pictures, xterm's, those of a PC's text screen. */
static unsigned first_of(int palette, short colour)
{
    static const unsigned xterm[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                       0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                       0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const unsigned pc[16] = {0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa,
                                    0x00aaaa, 0xaaaaaa, 0x555555, 0xff5555, 0x55ff55, 0xffff55,
                                    0x5555ff, 0xff55ff, 0x55ffff, 0xffffff};

    return palette == 0 || colour > 15 ? theme_rgb(colour)
           : palette == 1              ? xterm[colour]
                                       : pc[colour];
}

static const char *const role_names[GRID_ROLES] = {
    "text",   "dim",   "head",   "border", "focus",   "key",     "chosen",  "field",
    "marked", "good",  "warn",   "bad",    "bar",     "rest",    "title",   "status",
    "rule",   "curve", "curve1", "curve2", "curve3",  "curve4",  "curve5",  "pixel",
    "shade0", "shade", "shade2", "shade3", "shade4",  "shade5",  "shade6",  "shade7",
    "shade8", "shade", "shade",  "shade",  "shade12", "shade13", "shade14", "shade15"};

/* What each must have: words 4.5, large or thin shapes 3, frames that they are seen. */
static double wanted(int role)
{
    if (role == GRID_BORDER || role == GRID_REST)
        return 1.3;
    if (role == GRID_BAR || role == GRID_RULE ||
        (role >= GRID_SERIES && role < GRID_SERIES + GRID_SERIES_COLOURS))
        return 3;
    return 4.5;
}

TEST(words_can_be_read_on_dark_and_light_grounds)
{
    static const unsigned grounds[2][3] = {{0x000000, 0x121418, 0x1e1e1e},
                                           {0xffffff, 0xfafafa, 0xfdf6e3}};

    for (int light = 0; light < 2; light++)
        for (int i = 0; i < 3; i++)
            for (int role = 1; role < GRID_ROLES; role++) {
                const struct theme_role *r = theme_role(light, role);
                unsigned ground = r->ground >= 0 ? theme_rgb(r->ground) : grounds[light][i];
                double is;

                if (role == GRID_PIXEL || r->text < 0)
                    continue;
                is = contrast(theme_rgb(r->text), ground);
                if (is < wanted(role))
                    TEST_FAILED("%s on %s ground %06x: %.2f, not %.1f", role_names[role],
                                light ? "light" : "dark", ground, is, wanted(role));
            }
}

/* Eight colours are what a terminal makes of them: words on grounds of the program's own are readable
 * with each of three palettes; bold is the brighter half on most. */
TEST(eight_colours_can_be_read_where_the_ground_is_ours)
{
    for (int light = 0; light < 2; light++)
        for (int palette = 0; palette < 3; palette++)
            for (int role = 0; role < GRID_ROLES; role++) {
                const struct theme_role *r = theme_role(light, role);
                double is;

                if (r->ground8 < 0)
                    continue;
                is = contrast(first_of(palette, r->text8), first_of(palette, r->ground8));
                if (is < 3)
                    TEST_FAILED("%s of eight colours, palette %d, theme %d: %.2f", role_names[role],
                                palette, light, is);
            }
}

/* On the terminal's own ground none may fade: yellow does on white, blue on black. No two curves alike. */
TEST(eight_colours_can_be_seen_on_dark_and_light_grounds)
{
    for (int light = 0; light < 2; light++)
        for (int palette = 0; palette < 3; palette++)
            for (int role = 0; role < GRID_SERIES + GRID_SERIES_COLOURS; role++) {
                const struct theme_role *r = theme_role(light, role);
                double is;

                if (r->ground8 >= 0 || r->text8 < 0)
                    continue;
                is = contrast(first_of(palette, r->text8), light ? 0xffffff : 0x000000);
                if (is < (light ? 1.9 : 2.5))
                    TEST_FAILED("%s of eight colours, palette %d, theme %d: %.2f", role_names[role],
                                palette, light, is);
                for (int other = GRID_SERIES; role >= GRID_SERIES && other < role; other++)
                    CHECK(theme_role(light, other)->text8 != r->text8);
            }
}

/* Without colours what must stand out has an attribute: no role of a chosen row, an open field, a key, a
 * marked row, a title or what is wrong looks as text does. */
TEST(without_colours_what_matters_stands_out)
{
    static const int roles[] = {GRID_HEAD,   GRID_FOCUS, GRID_KEY, GRID_CHOSEN, GRID_FIELD,
                                GRID_MARKED, GRID_WARN,  GRID_BAD, GRID_TITLE,  GRID_RULE};

    for (int light = 0; light < 2; light++)
        for (size_t i = 0; i < MEM_COUNT(roles); i++)
            CHECK(theme_role(light, roles[i])->mono);
}

/* Defaults, frames without the focus, what is left of a bar: also where there is no grey. */
TEST(what_matters_less_stands_back_without_greys)
{
    static const int roles[] = {GRID_DIM, GRID_BORDER, GRID_REST};

    for (int light = 0; light < 2; light++)
        for (size_t i = 0; i < MEM_COUNT(roles); i++) {
            CHECK_INT(theme_role(light, roles[i])->mono, THEME_DIM);
            CHECK_INT(theme_role(light, roles[i])->style8, THEME_DIM);
        }
}

/* As eyes see it that lack cones for red, green or blue: Viénot 1999; Machado 2009. */
static struct rgb seen(struct rgb c, int eyes)
{
    static const double by[4][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
        {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
        {{1.255528, -0.076749, -0.178779},
         {-0.078411, 0.930809, 0.147602},
         {0.004733, 0.691367, 0.303900}}};
    struct rgb out;

    for (int i = 0; i < 3; i++) {
        out.v[i] = 0;
        for (int k = 0; k < 3; k++)
            out.v[i] += by[eyes][i][k] * c.v[k];
        out.v[i] = out.v[i] < 0 ? 0 : out.v[i] > 1 ? 1 : out.v[i];
    }
    return out;
}

static double lab_part(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* CIE 1976: a difference of 2.3 can just be seen. */
static double difference(struct rgb a, struct rgb b)
{
    struct rgb c[2] = {a, b};
    double lab[2][3];

    for (int i = 0; i < 2; i++) {
        double x = (0.4124 * c[i].v[0] + 0.3576 * c[i].v[1] + 0.1805 * c[i].v[2]) / 0.9505,
               y = 0.2126 * c[i].v[0] + 0.7152 * c[i].v[1] + 0.0722 * c[i].v[2],
               z = (0.0193 * c[i].v[0] + 0.1192 * c[i].v[1] + 0.9505 * c[i].v[2]) / 1.089;

        lab[i][0] = 116 * lab_part(y) - 16;
        lab[i][1] = 500 * (lab_part(x) - lab_part(y));
        lab[i][2] = 200 * (lab_part(y) - lab_part(z));
    }
    return sqrt(pow(lab[0][0] - lab[1][0], 2) + pow(lab[0][1] - lab[1][1], 2) +
                pow(lab[0][2] - lab[1][2], 2));
}

static const char *const eyes_names[4] = {"all cones", "no red", "no green", "no blue"};

static void check_apart(const int *roles, size_t n, double limit)
{
    for (int light = 0; light < 2; light++)
        for (int eyes = 0; eyes < 4; eyes++) {
            double least = INFINITY;
            int x = 0, y = 0;

            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < a; b++) {
                    double d =
                        difference(seen(of(theme_rgb(theme_role(light, roles[a])->text)), eyes),
                                   seen(of(theme_rgb(theme_role(light, roles[b])->text)), eyes));

                    if (d < least) {
                        least = d;
                        x = roles[a];
                        y = roles[b];
                    }
                }
            printf("  %s, %s: the nearest are %s and %s, %.1f apart\n", light ? "light" : "dark",
                   eyes_names[eyes], role_names[x], role_names[y], least);
            CHECK(least >= limit);
        }
}

TEST(curves_differ_for_the_colour_blind)
{
    static const int roles[] = {GRID_SERIES,     GRID_SERIES + 1, GRID_SERIES + 2,
                                GRID_SERIES + 3, GRID_SERIES + 4, GRID_SERIES + 5};

    check_apart(roles, MEM_COUNT(roles), 10);
}

/* On paper, and on a page's dark ground where the SVG itself says which colours it takes then. */
TEST(figures_differ_for_the_colour_blind)
{
    for (int eyes = 0; eyes < 4; eyes++)
        for (int a = 0; a < INK_ROLES; a++) {
            CHECK(contrast(ink_role(a, false), 0xffffff) >= 3);
            for (int b = 0; b < a; b++) {
                double d = difference(seen(of(ink_role(a, false)), eyes),
                                      seen(of(ink_role(b, false)), eyes));

                if (d < 10)
                    TEST_FAILED("%s: curves %d and %d of a figure are %.1f apart", eyes_names[eyes],
                                a, b, d);
            }
        }
}

TEST(good_and_bad_differ_for_the_colour_blind)
{
    static const int roles[] = {GRID_GOOD, GRID_BAD};

    check_apart(roles, MEM_COUNT(roles), 10);
}

/* A board's order is one of light, for every eye; what is high is light on dark and on light grounds, as in
 * figures. No two steps alike. Without blue two steps may be as light as each other: what stands in
 * for those eyes is itself no better than that. */
TEST(shades_rise_in_light)
{
    for (int light = 0; light < 2; light++)
        for (int eyes = 0; eyes < 4; eyes++)
            for (int i = 1; i < GRID_SHADES; i++) {
                struct rgb c[2];
                double l[2];

                for (int k = 0; k < 2; k++) {
                    c[k] = seen(of(theme_rgb(theme_role(light, GRID_SHADE + i - 1 + k)->ground)),
                                eyes);
                    l[k] = 0.2126 * c[k].v[0] + 0.7152 * c[k].v[1] + 0.0722 * c[k].v[2];
                }
                if (l[0] - l[1] > (eyes == 3 ? 0.01 : 0))
                    TEST_FAILED("%s, %s: shade %d is no step from %d: %.4f, %.4f",
                                light ? "light" : "dark", eyes_names[eyes], i, i - 1, l[1], l[0]);
                CHECK(difference(c[0], c[1]) >= 2.3 || eyes);
            }
}
