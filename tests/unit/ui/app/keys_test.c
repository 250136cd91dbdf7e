/* One table holds keys and help: what stands there is a key, once, with a sentence. */
#include "tests/test.h"

#include "base/mem.h"
#include "ui/app/app_int.h"
#include "ui/screens.h"

TEST(every_key_of_every_screen_is_one_and_explained)
{
    for (int s = 0; s < SCREENS; s++) {
        const struct screen *screen = ui_screens[s];
        struct text seen = {0};

        CHECK(screen->name && screen->about && screen->keys);
        for (const struct screen_key *k = screen->keys; k->keys; k++) {
            char *copy = mem_text(k->keys), *rest = copy;

            if (!k->help || strlen(k->help) < 4)
                TEST_FAILED("%s: nothing is said of %s", screen->name, k->keys);
            for (char *word; (word = strsep(&rest, " "));) {
                char *once = mem_textf(" %s ", word);
                struct key key;

                if (!key_parse(word, &key))
                    TEST_FAILED("%s: %s is no key", screen->name, word);
                if (strstr(text_str(&seen), once))
                    TEST_FAILED("%s: %s stands there twice", screen->name, word);
                text_add(&seen, once);
                free(once);
            }
            free(copy);
        }
        text_free(&seen);
    }
}

TEST(the_key_for_pictures_names_the_files_that_can_be_read)
{
    const struct screen_key *k = ui_screens[SCREEN_PREDICT]->keys;

    while (k->keys && strcmp(k->keys, "i") != 0)
        k++;
    REQUIRE(k->keys);
    CHECK_HAS(k->help, "PNG, PGM or PPM");
    CHECK(!strstr(k->help, "IDX"));
}

TEST(two_quick_clicks_are_a_double_one_and_a_third_is_none)
{
    struct key_clicks c = {0};

    CHECK(!key_clicks_again(&c, 0, 0, 10)); /* the machine has just started */
    CHECK(key_clicks_again(&c, 0, 0, 100));
    CHECK(!key_clicks_again(&c, 0, 0, 200));
    CHECK(key_clicks_again(&c, 0, 0, 300));
    CHECK(!key_clicks_again(&c, 5, 7, 1000));
    CHECK(!key_clicks_again(&c, 5, 8, 1100)); /* elsewhere */
    CHECK(!key_clicks_again(&c, 5, 8, 1500)); /* not so quick */
    CHECK(key_clicks_again(&c, 5, 8, 1899));
}
