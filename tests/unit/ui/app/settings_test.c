#include "base/io.h"
#include "base/mem.h"
#include "tests/test.h"
#include "ui/app/settings.h"

#include <errno.h>
#include <unistd.h>

static char *new_folder(void)
{
    char *path = mem_textf("%s/settings-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

    return mkdtemp(path) ? path : NULL;
}

static char *read_all(const char *path)
{
    char *bytes = NULL;
    size_t n;

    if (io_read_file(path, 1 << 20, &bytes, &n, NULL) != ERR_OK)
        return mem_text("(none)");
    return bytes;
}

static void clear(char *folder, char *path)
{
    unlink(path);
    rmdir(folder);
    free(folder);
    free(path);
}

TEST(a_missing_file_means_the_defaults_and_is_not_made_for_nothing)
{
    char *folder = new_folder(), *path = io_path(folder, "settings");
    struct settings *s = settings_open(path);

    CHECK_STR(settings_get(s, "theme", "dark"), "dark");
    CHECK_INT(settings_number(s, "plot.smooth", 5), 5);
    CHECK(settings_is(s, "fold", true));
    CHECK(!settings_is(s, "fold", false));
    settings_close(s);
    CHECK(!io_exists(path));
    clear(folder, path);
}

TEST(what_is_set_comes_back)
{
    char *folder = new_folder(), *path = io_path(folder, "settings");
    struct settings *s = settings_open(path);
    struct err e;

    settings_set(s, "theme", "light");
    settings_set_number(s, "plot.smooth", -3);
    settings_set_is(s, "fold", true);
    settings_set(s, "columns", "a, b\\n = \n\\");
    CHECK_STR(settings_get(s, "theme", ""), "light");
    REQUIRE_OK(settings_save(s, &e));
    settings_close(s);
    s = settings_open(path);
    CHECK_STR(settings_get(s, "theme", ""), "light");
    CHECK_INT(settings_number(s, "plot.smooth", 5), -3);
    CHECK(settings_is(s, "fold", false));
    CHECK_STR(settings_get(s, "columns", ""), "a, b\\n = \n\\");
    settings_set(s, "theme", NULL);
    CHECK_STR(settings_get(s, "theme", "dark"), "dark");
    settings_close(s);
    s = settings_open(path);
    CHECK_STR(settings_get(s, "theme", "dark"), "dark");
    settings_close(s);
    clear(folder, path);
}

TEST(lines_of_others_are_kept_in_their_places)
{
    char *folder = new_folder(), *path = io_path(folder, "settings"), *bytes;
    static const char file[] = "# mine\nfrom-tomorrow = 1 = 2\n  theme=mono  \nno line of ours\n";
    struct settings *s;
    struct err e;

    REQUIRE_OK(io_replace_file(path, file, sizeof file - 1, &e));
    s = settings_open(path);
    CHECK_STR(settings_get(s, "theme", ""), "mono");
    CHECK_STR(settings_get(s, "from-tomorrow", ""), "1 = 2");
    settings_set(s, "theme", "dark");
    settings_set(s, "fold", "yes");
    settings_set(s, "bad name", "x"); /* would be no line of ours */
    REQUIRE_OK(settings_save(s, &e));
    bytes = read_all(path);
    CHECK_STR(bytes, "# mine\nfrom-tomorrow = 1 = 2\ntheme = dark\nno line of ours\nfold = yes\n");
    free(bytes);
    settings_close(s);
    clear(folder, path);
}

TEST(two_programs_keep_each_others_choices)
{
    char *folder = new_folder(), *path = io_path(folder, "settings");
    struct settings *a = settings_open(path), *b = settings_open(path);
    struct err e;

    settings_set(a, "theme", "light");
    settings_set(b, "plot.x", "images");
    REQUIRE_OK(settings_save(a, &e));
    REQUIRE_OK(settings_save(b, &e));
    settings_close(a);
    settings_close(b);
    a = settings_open(path);
    CHECK_STR(settings_get(a, "theme", ""), "light");
    CHECK_STR(settings_get(a, "plot.x", ""), "images");
    settings_close(a);
    clear(folder, path);
}

TEST(a_damaged_file_means_the_defaults_and_wrong_values_do)
{
    char *folder = new_folder(), *path = io_path(folder, "settings");
    static const char zero[] = "theme = mono\n\0\n", words[] = "smooth = many\nfold = perhaps\n";
    struct settings *s;
    struct err e;

    REQUIRE_OK(io_replace_file(path, zero, sizeof zero - 1, &e));
    s = settings_open(path);
    CHECK_STR(settings_get(s, "theme", "dark"), "dark");
    settings_close(s);
    REQUIRE_OK(io_replace_file(path, words, sizeof words - 1, &e));
    s = settings_open(path);
    CHECK_INT(settings_number(s, "smooth", 7), 7);
    CHECK(settings_is(s, "fold", true));
    settings_close(s);
    clear(folder, path);
}

static int no_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = ENOSPC;
    return -1;
}

TEST(a_save_that_fails_says_so_and_leaves_the_old_file)
{
    char *folder = new_folder(), *path = io_path(folder, "settings"), *bytes;
    struct settings *s = settings_open(path);
    struct io_table real = io;
    struct err e;

    settings_set(s, "theme", "light");
    REQUIRE_OK(settings_save(s, &e));
    settings_set(s, "theme", "dark");
    io.rename = no_rename;
    CHECK_INT(settings_save(s, &e), ERR_IO);
    CHECK_HAS(e.text, "settings");
    io = real;
    bytes = read_all(path);
    CHECK_STR(bytes, "theme = light\n");
    free(bytes);
    REQUIRE_OK(settings_save(s, &e)); /* still to be written */
    bytes = read_all(path);
    CHECK_STR(bytes, "theme = dark\n");
    free(bytes);
    settings_close(s);
    clear(folder, path);
}

TEST(the_users_own_file_lies_in_the_config_folder)
{
    char *folder = new_folder(), *made = io_path(folder, "chorus"),
         *path = io_path(made, "settings"), *old = getenv("XDG_CONFIG_HOME");
    struct settings *s;

    old = old ? mem_text(old) : NULL;
    setenv("XDG_CONFIG_HOME", folder, 1);
    s = settings_open(NULL);
    settings_set(s, "theme", "mono");
    settings_close(s);
    CHECK(io_exists(path));
    if (old)
        setenv("XDG_CONFIG_HOME", old, 1);
    else
        unsetenv("XDG_CONFIG_HOME");
    free(old);
    unlink(path);
    rmdir(made);
    free(made);
    rmdir(folder);
    free(folder);
    free(path);
}
