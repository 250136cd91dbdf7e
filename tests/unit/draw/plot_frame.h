/* tests/unit/draw/plot_frame.h: frames are compared with tests/fixtures/plot/NAME.txt; with CHORUS_UPDATE=1
 * those are written instead, to be looked at. */
#ifndef CHORUS_TESTS_UNIT_DRAW_PLOT_FRAME_H
#define CHORUS_TESTS_UNIT_DRAW_PLOT_FRAME_H

#include "tests/test.h"

#include "base/io.h"
#include "base/mem.h"
#include "draw/plot/plot.h"

static void compare(const char *name, const struct text *got)
{
    char *path = mem_textf("tests/fixtures/plot/%s.txt", name), *want = NULL;
    const char *update = getenv("CHORUS_UPDATE");
    size_t n;
    struct err e;

    if (update && *update == '1') {
        if (io_replace_file(path, text_str(got), got->n, &e) != ERR_OK)
            TEST_FAILED("%s", e.text);
    } else if (io_read_file(path, 1 << 20, &want, &n, &e) != ERR_OK) {
        TEST_FAILED("%s", e.text);
    } else if (n != got->n || memcmp(want, text_str(got), n) != 0) {
        TEST_FAILED("%s differs:\n%s\nwanted:\n%s", name, text_str(got), want);
    }
    free(want);
    free(path);
}

static void check(const char *name, const struct plot *p)
{
    struct text t = {0};

    plot_text(p, false, &t);
    compare(name, &t);
    text_free(&t);
}

#endif
