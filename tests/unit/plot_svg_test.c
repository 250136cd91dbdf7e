#include "tests/test.h"

#include "base/mem.h"
#include "ui/plot.h"

static double xs[6] = {1, 2, 3, 4, 5, 6}, ys[6] = {1, 0.5, NAN, 0.3, 0.2, 0.1};

static struct plot sample(struct plot_series *s)
{
    *s = (struct plot_series){"test", xs, ys, 6, 0, false};
    return (struct plot){.title = "loss", .x_label = "epoch", .series = s, .count = 1};
}

static int count(const char *s, const char *part)
{
    int n = 0;

    for (; (s = strstr(s, part)); s++)
        n++;
    return n;
}

/* Every tag is closed in order: enough to catch what our writer could get wrong. */
static bool balanced(const char *s)
{
    char open[16][16];
    int depth = 0;

    while ((s = strchr(s, '<'))) {
        const char *end = strchr(s, '>');
        char name[16] = "";

        if (!end)
            return false;
        if (end[-1] == '/') {
            s = end;
            continue;
        }
        sscanf(s + 1 + (s[1] == '/'), "%15[a-z]", name);
        if (s[1] == '/') {
            if (!depth || strcmp(open[--depth], name) != 0)
                return false;
        } else {
            if (depth == 16)
                return false;
            strcpy(open[depth++], name);
        }
        s = end;
    }
    return depth == 0;
}

TEST(document)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};

    plot_svg(&p, 120, 80, &t);
    CHECK(!strncmp(text_str(&t), "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39));
    CHECK_HAS(text_str(&t), "width=\"120mm\" height=\"80mm\"");
    CHECK_HAS(text_str(&t), "prefers-color-scheme: dark");
    CHECK_HAS(text_str(&t), ">epoch</text>");
    CHECK_HAS(text_str(&t), ">test</text>");
    CHECK_HAS(text_str(&t), ">loss</text>");
    CHECK(balanced(text_str(&t)));
    /* Nothing is fetched. */
    CHECK_INT(count(text_str(&t), "http"), 1);
    CHECK(!strstr(text_str(&t), "url("));
    text_free(&t);
}

TEST(gap_breaks_the_line)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};
    char *line;

    plot_svg(&p, 120, 80, &t);
    line = strstr(text_str(&t), "<path class=\"line c0\" d=\"M");
    REQUIRE(line != NULL);
    line = strstr(line + 1, "<path class=\"line c0\" d=\"M"); /* behind the legend's */
    REQUIRE(line != NULL);
    *strchr(line, '>') = 0;
    CHECK_INT(count(line, "M"), 2);
    CHECK_INT(count(line, "L"), 3);
    text_free(&t);
}

TEST(labels_are_escaped)
{
    struct plot_series s;
    struct plot p = sample(&s);
    struct text t = {0};

    s.label = "a<script>&\"\033";
    p.title = "</text>";
    plot_svg(&p, 120, 80, &t);
    CHECK(!strstr(text_str(&t), "<script"));
    CHECK_HAS(text_str(&t), "a&lt;script&gt;&amp;&quot;^[");
    CHECK_HAS(text_str(&t), "&lt;/text&gt;");
    CHECK(!strchr(text_str(&t), 033));
    CHECK(balanced(text_str(&t)));
    text_free(&t);
}

TEST(panels)
{
    struct plot_series s[3];
    struct plot p[3] = {sample(&s[0]), sample(&s[1]), sample(&s[2])};
    struct text t = {0};

    p[1].title = "accuracy";
    s[1].dashed = true;
    s[2].n = 0;
    plot_svg_panels(p, 3, 210, 80, &t);
    CHECK_HAS(text_str(&t), "accuracy");
    CHECK_HAS(text_str(&t), "stroke-dasharray");
    CHECK_HAS(text_str(&t), "no values yet");
    CHECK(balanced(text_str(&t)));
    text_free(&t);
}

TEST(sizes)
{
    static const double sizes[][2] = {{1, 1}, {10, 5}, {84, 60}, {1000, 1000}};

    for (size_t i = 0; i < MEM_COUNT(sizes); i++) {
        struct plot_series s;
        struct plot p = sample(&s);
        struct text t = {0};

        plot_svg(&p, sizes[i][0], sizes[i][1], &t);
        CHECK(balanced(text_str(&t)));
        text_free(&t);
    }
}
