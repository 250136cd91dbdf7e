/* A script of keys, turn by turn. */
#include "tests/unit/record/help.h"
#include "ui/app/app_int.h"

static uint64_t now = 1000000000;
static uint64_t stopped_ns(void)
{
    return now;
}

/* The loop looks at what runs, and draws, as often as without a script; when it goes on its clock says alone. */
TEST(while_a_script_sleeps_the_program_lives_on)
{
    char *folder = help_folder(), *path = io_path(folder, "script"),
         *saved = io_path(folder, "saved");
    char *words = mem_textf("sleep 250\nsave %s\nkeys p\n", saved);
    struct app_int own = {0};
    struct app app = {.own = &own, .config = {.ns = stopped_ns}};
    struct script *script = NULL;
    struct key key = {0};
    struct err e;
    int ms;

    grid_init(&own.grid, 1, 1, false);
    help_put(folder, "script", words, strlen(words));
    REQUIRE_OK(script_open(&script, path, &e));
    for (int i = 0; i < 2; i++, now += 100000000) {
        ms = 100;
        CHECK(!script_next(script, &app, &key, &ms));
        CHECK_INT(ms, 100);
    }
    ms = 100;
    CHECK(!script_next(script, &app, &key, &ms));
    CHECK(ms > 0 && ms <= 51);
    CHECK(!io_exists(saved));
    now += 50000000;
    ms = 100;
    CHECK(script_next(script, &app, &key, &ms));
    CHECK_INT(key.code, 'p');
    CHECK(io_exists(saved));
    script_close(script);
    grid_free(&own.grid);
    free(words);
    free(saved);
    free(path);
    help_remove(folder);
}
