/* Where models come from: built-in names, ./models, paths; and what keeps a file from being one. */
#include "net/net.h"

#include "tests/test.h"

#include <sys/stat.h>
#include <unistd.h>

static const char text[] = "input 3 8 9\ndense 7\n";

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
        TEST_FAILED("cannot write %s", path);
}

static void check_refused(const char *model, const char *error)
{
    struct err e = {0};
    struct net *net;
    struct net_shape s;

    CHECK_INT(net_open(&net, model, NULL, &e), ERR_INPUT);
    CHECK_INT(e.code, ERR_INPUT);
    CHECK_HAS(e.text, error);
    CHECK(!net);
    memset(&e, 0, sizeof e);
    CHECK_INT(net_demands(model, &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, error);
    CHECK(!s.h && !s.w && !s.c);
}

static void check_opens(const char *model, const char *name, size_t parameters)
{
    struct err e = {0};
    struct net *net;

    REQUIRE_OK(net_open(&net, model, NULL, &e));
    CHECK_STR(net->name, name);
    CHECK_INT(net->parameter_count, parameters);
    net_free(net);
}

/* In a folder of its own, left again at the end. */
static char home[4096], folder[4096];

static bool enter(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/chorus-net-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return getcwd(home, sizeof home) && mkdtemp(folder) && !chdir(folder) && !mkdir("models", 0777);
}

static void leave(void)
{
    unlink("models/mine.net");
    unlink("models/lenet.net");
    unlink("models/empty.net");
    unlink("other.net");
    unlink("plain");
    unlink(".net");
    rmdir("folder.net");
    rmdir("models");
    CHECK(!chdir(home) && !rmdir(folder));
}

TEST(names_and_paths)
{
    char path[5000];

    REQUIRE(enter());
    write_file("models/mine.net", text, strlen(text));
    write_file("models/lenet.net", text, strlen(text));
    write_file("other.net", text, strlen(text));
    write_file("plain", text, strlen(text));
    check_opens("lenet", "lenet", 129068); /* a built-in name stands for itself ... */
    check_opens("models/lenet.net", "lenet", 3 * 8 * 9 * 7 + 7); /* ... a path for the file */
    check_opens("mine", "mine", 3 * 8 * 9 * 7 + 7);
    check_opens("other.net", "other", 3 * 8 * 9 * 7 + 7);
    check_opens("./plain", "plain", 3 * 8 * 9 * 7 + 7);
    snprintf(path, sizeof path, "%s/other.net", folder);
    check_opens(path, "other", 3 * 8 * 9 * 7 + 7);
    check_refused("other", "model = other");
    check_refused("plain", "model = plain");
    check_refused("lenett", "did you mean lenet?");
    check_refused("", "the model's name is empty; built in are cnn, ");
    check_refused("\033[31m", "model = ^[[31m");
    check_refused("zzzzzzzzzz", "built in are cnn, lenet, ");
    leave();
}

TEST(files_that_are_no_models)
{
    size_t n = (1 << 20) + 1;
    char *large = malloc(n), *name = malloc(6000);

    REQUIRE(large && name && enter());
    memset(large, '\n', n);
    memset(name, 'x', 5999);
    name[5999] = 0;
    write_file("models/empty.net", "", 0);
    write_file("other.net", large, n);
    CHECK(!mkdir("folder.net", 0777));
    check_refused("missing.net", "model = missing.net: there is no such file; `chorus models`");
    check_refused("no/such/model", "model = no/such/model: there is no such file");
    check_refused("other.net/model", "cannot open other.net/model: Not a directory");
    check_refused("folder.net", "folder.net is a folder: name a .net file in it; `chorus models`");
    check_refused("other.net", "other.net");
    check_refused("./", "./");
    check_refused(name, "model = xxxxxx");
    name[0] = '/';
    check_refused(name, "cannot open /xxxxxx");
    if (geteuid() != 0) {
        write_file("plain", text, strlen(text));
        CHECK(!chmod("plain", 0));
        check_refused("./plain", "Permission denied");
    }
    leave();
    free(large);
    free(name);
}

TEST(an_empty_file)
{
    struct err e = {0};
    struct net *net;

    REQUIRE(enter());
    write_file("models/empty.net", "", 0);
    CHECK_INT(net_open(&net, "empty", NULL, &e), ERR_INPUT);
    CHECK_STR(e.text, "models/empty.net: there is no layer in the text");
    leave();
}

TEST(demands_of_models)
{
    static const char late[] = "# a comment\n\nparam w 3\ninit lecun\ninput 2 5 6\nconv 1 100\n";
    static const char never[] = "# a comment\nconv 1 1\n";
    static const char bad[] = "input 1 28\n";
    struct net_shape s = {1, 1, 1};
    struct err e = {0};

    REQUIRE_OK(net_demands("lenet", &s, &e));
    CHECK(s.h == 0 && s.w == 0 && s.c == 0);
    REQUIRE(enter());
    write_file("other.net", late, strlen(late));
    CHECK_INT(net_demands("other.net", &s, &e), ERR_OK);
    CHECK(s.c == 2 && s.h == 5 && s.w == 6);
    write_file("other.net", never, strlen(never));
    CHECK_INT(net_demands("other.net", &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, "other.net:2: conv 1 1: the input must be said first");
    write_file("other.net", bad, strlen(bad));
    CHECK_INT(net_demands("other.net", &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, "other.net:1: input 1 28: the width is missing");
    leave();
}
